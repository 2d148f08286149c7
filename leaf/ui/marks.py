"""Numbered marks in an answer's text: links that only Leaf can make, and the listener that opens what they stand for.

A mark is drawn as a Markdown link to a fragment of the page, put in after the model's text was made safe: links to fragments in
that text are broken by then, so nothing that a model writes becomes a mark. Elements of the page cannot run Python when a link in
their text is followed; one component listens for all of them and hands over which it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from leaf.agent.cited import Text, citation_of
from leaf.errors import LeafError
from leaf.store.model import Scope
from leaf.ui import preview
from leaf.ui.state import leaf

FRAGMENT = "#leaf-cite-"
_OPEN, _CLOSE = "\ue0c1", "\ue0c2"
"""Stand around a mark in the text of an item. They are for private use, and taken out of what a model says."""
_HELD = re.compile(rf"{_OPEN}(\d+)([?…]?):([\w-]+){_CLOSE}")
_ADDRESS_END = re.compile(r"(?:https?://|www\.|@)\S*$")

LISTEN_JS = """
const FRAGMENT = "#leaf-cite-"

function name(link) {
  const text = link.textContent.replace(/[\\[\\]]/g, "")
  if (link.dataset.leafCite === text) return
  link.dataset.leafCite = text
  const what = text.endsWith("?") ? ", not verified" : ""
  link.setAttribute("aria-label", `Source ${text.replace("?", "")}${what}: open the quoted place`)
  link.title = text.endsWith("?") ? "Not verified: open the source" : "Open the quoted place"
}

export default function ({ setTriggerValue }) {
  window.__leafCite?.()
  const onClick = (event) => {
    const link = event.target instanceof Element ? event.target.closest(`a[href^="${FRAGMENT}"]`) : null
    if (!link) return
    event.preventDefault()
    event.stopPropagation()
    setTriggerValue("cited", link.getAttribute("href").slice(FRAGMENT.length))
  }
  const nameAll = () => document.querySelectorAll(`a[href^="${FRAGMENT}"]`).forEach(name)
  let waiting = 0
  const observer = new MutationObserver(() => { waiting ||= setTimeout(() => { waiting = 0; nameAll() }, 100) })
  document.addEventListener("click", onClick, true)
  observer.observe(document.body, { childList: true, characterData: true, subtree: true })
  nameAll()
  const stop = () => {
    document.removeEventListener("click", onClick, true)
    observer.disconnect()
    clearTimeout(waiting)
    if (window.__leafCite === stop) delete window.__leafCite
  }
  window.__leafCite = stop
  return stop
}
"""


def held(text: Text) -> str:
    """The text with its marks in a form that survives until it is drawn; whatever looks like one in it is taken out."""
    pieces: list[str] = []
    at = 0
    last: tuple[int, str] | None = None
    for mark in text.marks:
        state = {True: "", False: "?"}.get(mark.citation["verified"], "")
        shown = f"{mark.citation['citation']}{state}"
        pieces.append(_without(text.text[at : mark.at]))
        at = mark.at
        if (mark.at, shown) != last:
            pieces.append(f"{_OPEN}{shown}:{mark.source_id}{_CLOSE}")
        last = (mark.at, shown)
    return "".join([*pieces, _without(text.text[at:])])


def _without(text: str) -> str:
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def taken_out(text: str) -> tuple[str, str]:
    """A piece of code without marks, and the marks that stood in it."""
    return _HELD.sub("", text), "".join(found[0] for found in _HELD.finditer(text))


def drawn(text: str, message_id: str) -> str:
    """Markdown that was made safe, its marks as links."""

    def link(found: re.Match[str]) -> str:
        before = found.string[: found.start()]
        blank = " " if _ADDRESS_END.search(before[-200:]) else "\u202f"  # a mark must not touch `!` or an address
        return f"{blank}[\\[{found[1]}{found[2]}\\]]({FRAGMENT}{message_id}.{found[3]})"

    return _HELD.sub(link, text)


@cache
def _listener() -> Any:
    import streamlit as st

    return st.components.v2.component("leaf_marks", html="<span></span>", js=LISTEN_JS, isolate_styles=False)


def listen(scope: Scope) -> None:
    """Open the quoted place whose mark was followed just now. Call once a page, before the preview is drawn."""
    import streamlit as st

    with st.container(key="marks"):
        picked = _listener()(key="leaf-marks", data={}, on_cited_change=lambda: None)
    message_id, _, source_id = str(getattr(picked, "cited", "") or "").partition(".")
    if source_id and (found := _find(scope, message_id, source_id)):
        show(found)


def show(found: Mapping[str, Any]) -> None:
    """Let the preview show what is cited; of a file that is not there it says so."""
    import streamlit as st

    if found["file_id"]:
        preview.show(found["file_id"], found["cited_place"] or found["place"], found["quote"])
    else:
        st.toast(f"There is no file {found['handle']} in this chat.", icon=":material/help:")


def _find(scope: Scope, message_id: str, source_id: str) -> Mapping[str, Any] | None:
    import streamlit as st

    follower = st.session_state.get(f"live-{message_id}")
    try:
        parts: Sequence[Mapping[str, Any]] = follower.parts if follower else leaf().message(scope, message_id).parts
    except LeafError:
        return None
    part = next((p for p in parts if p["type"] == "source-document" and p.get("sourceId") == source_id), None)
    return citation_of(part) if part else None
