"""Marks in an answer's text: numbers of citations, and figures with or without a receipt; links
that only Leaf can make, and the listener that opens what they stand for.

A mark is drawn as a Markdown link to a fragment of the page, put in after the model's text was made
safe: links to fragments in that text are broken by then, so nothing that a model writes becomes a
mark. Elements of the page cannot run Python when a link in their text is followed; one component
listens for all of them and hands over which it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from leaf.agent.events import compact, reduce
from leaf.errors import LeafError
from leaf.language.text import t
from leaf.provenance.citations import Text, citation_of
from leaf.shapes.harmless import JOINER
from leaf.shapes.part_values import is_source
from leaf.shapes.parts import Cited, Part, ReceiptKept
from leaf.ui import preview
from leaf.ui.spoken import PRELUDE, spoken
from leaf.ui.state import session
from leaf.ui.toasts import toast

FRAGMENT = "#leaf-cite-"
_OPEN, _CLOSE = "\ue0c1", "\ue0c2"
"""Stand around a mark in the text of an item. They are for private use, and taken out of what a
model says."""
_HELD = re.compile(rf"{_OPEN}(\d+)([?…]?):([\w-]+){_CLOSE}")
EVIDENCE = "#leaf-evidence-"
"""Before the id of an answer and the section of its evidence that a link opens."""
FIGURE, UNRECEIPTED, AGAINST = "#leaf-figure-", "#leaf-unreceipted-", "#leaf-against-"
_BEGIN, _THEN, _END = "\ue0c3", "\ue0c4", "\ue0c5"
"""Around a figure: `BEGIN number of its receipt, "?" where it has none, "!" where the results
contradict it THEN figure END`."""
_FIGURE_HELD = re.compile(rf"{_BEGIN}(\d+)([?!]?){_THEN}([^{_END}]*){_END}")
_FORMULA = re.compile(r"(?<![\\$])\$(?![\s\d$])[^$\n]+\$")
_ADDRESS_END = re.compile(r"(?:https?://|www\.|@)\S*$")

LISTEN_JS = """
const KINDS = [
  ["#leaf-cite-", "cited"],
  ["#leaf-figure-", "figure"],
  ["#leaf-unreceipted-", "figure"],
  ["#leaf-against-", "figure"],
  ["#leaf-evidence-", "evidence"],
]
const ANY = KINDS.map(([start]) => `a[href^="${start}"]`).join(",")

function words(link, text) {
  const href = link.getAttribute("href")
  if (href.startsWith("#leaf-figure-")) return [t("{text}: open its receipt", { text }), t("Open the receipt of this figure")]
  if (href.startsWith("#leaf-unreceipted-"))
    return [
      t("{text}: no receipt was found for this figure", { text }),
      t("No receipt: this figure was not found in what the tools gave"),
    ]
  if (href.startsWith("#leaf-against-"))
    return [t("{text}: the results say the opposite, open its receipt", { text }), t("The results say the opposite of the text")]
  if (href.startsWith("#leaf-evidence-"))
    return text === "⋯" ? [t("All details of this answer"), t("All details")] : [text, t("Show the details")]
  const number = text.replace(/[\\[\\]]/g, "")
  return number.endsWith("?")
    ? [t("Source {n}, not verified: open the quoted place", { n: number.replace("?", "") }), t("Not verified: open the source")]
    : [t("Source {n}: open the quoted place", { n: number }), t("Open the quoted place")]
}

function name(link) {
  const text = link.textContent
  if (link.dataset.leafMark === text) return
  link.dataset.leafMark = text
  const [label, title] = words(link, text)
  link.setAttribute("aria-label", label)
  link.title = title
}

export default function ({ data, setTriggerValue }) {
  speak(data)
  window.__leafMarks?.()
  const open = (href) => {
    const [start, trigger] = KINDS.find(([start]) => href.startsWith(start))
    setTriggerValue(trigger, href.slice(start.length))
  }
  // A mark that was followed before anything listened has become the fragment of the address.
  if (KINDS.some(([start]) => location.hash.startsWith(start))) {
    open(location.hash)
    history.replaceState(history.state, "", location.pathname + location.search)
  }
  const onClick = (event) => {
    const link = event.target instanceof Element ? event.target.closest(ANY) : null
    if (!link) return
    event.preventDefault()
    event.stopPropagation()
    open(link.getAttribute("href"))
  }
  const nameAll = () => document.querySelectorAll(ANY).forEach(name)
  let waiting = 0
  const observer = new MutationObserver(() => { waiting ||= setTimeout(() => { waiting = 0; nameAll() }, 100) })
  document.addEventListener("click", onClick, true)
  observer.observe(document.body, { childList: true, characterData: true, subtree: true })
  nameAll()
  const stop = () => {
    document.removeEventListener("click", onClick, true)
    observer.disconnect()
    clearTimeout(waiting)
    if (window.__leafMarks === stop) delete window.__leafMarks
  }
  window.__leafMarks = stop
  return stop
}
"""


def held(text: Text, receipts: Sequence[tuple[int, ReceiptKept]] = ()) -> str:
    """The text with its marks in a form that survives until it is drawn; whatever looks like one in
    it is taken out.

    `receipts` are those of this text, each with its number among all of the answer.
    """
    plain = list(_not_here(text.text)) if receipts else []
    puts: list[tuple[int, int, str]] = []
    for number, receipt in receipts:
        start, end = int(receipt["start"]), int(receipt["end"])
        if end > len(text.text) or any(first < end and start < last for first, last in plain):
            continue
        state = "!" if receipt.get("against") else "?" if receipt["kind"] == "none" else ""
        puts += [(start, 2, f"{_BEGIN}{number}{state}{_THEN}"), (end, 0, _END)]
    last: tuple[int, str] | None = None
    for mark in text.marks:
        shown = _shown(mark.citation)
        if (mark.at, shown) != last:
            puts.append((mark.at, 1, held_mark(mark.citation, mark.source_id)))
        last = (mark.at, shown)
    pieces: list[str] = []
    at = 0
    for place, _, put in sorted(puts, key=lambda insertion: insertion[:2]):
        pieces += [without(text.text[at:place]), put]
        at = place
    return "".join([*pieces, without(text.text[at:])])


def _not_here(text: str) -> Iterator[tuple[int, int]]:
    """Where a link cannot stand: in a formula, and in another link. Figures there stay plain."""
    yield from (match.span() for match in _FORMULA.finditer(text))
    begin = 0
    for line in text.split("\n"):
        if "](" in line or "][" in line:
            yield from ((begin + at, begin + end) for at, end in _links(line))
        begin += len(line) + 1


def _links(line: str) -> Iterator[tuple[int, int]]:
    """`[words](address)` and `[words][name]`. Each character is looked at once, however many
    brackets are never closed."""
    opened, closed, addressed, named = (_Next(line, mark) for mark in "[])]")
    at = opened.after(0)
    while (close := closed.after(at)) < len(line):
        kind = line[close + 1 : close + 2]
        ends = {"(": addressed, "[": named}.get(kind)
        end = ends.after(close + 2) if ends else len(line)
        if end < len(line):
            yield at, end + 1
        at = opened.after(end + 1 if end < len(line) else at + 1)


class _Next:
    """Where a character comes next; it is asked from places that only go forward."""

    def __init__(self, line: str, mark: str) -> None:
        self._line, self._mark, self._found = line, mark, -1

    def after(self, place: int) -> int:
        """At this place or behind it; the length of the line where it comes no more."""
        if self._found < place:
            position = self._line.find(self._mark, place)
            self._found = position if position >= 0 else len(self._line)
        return self._found


def held_mark(citation: Cited, source_id: str) -> str:
    """One citation in that form."""
    return f"{_OPEN}{_shown(citation)}:{source_id}{_CLOSE}"


def _shown(citation: Cited) -> str:
    return f"{citation['citation']}{'?' if citation['verified'] is False else ''}"


def without(text: str) -> str:
    """A model's text without what looks like a mark in that form."""
    return re.sub(f"[{_OPEN}{_CLOSE}{_BEGIN}{_THEN}{_END}]", "", text)


def taken_out(text: str) -> tuple[str, str]:
    """A piece of code without marks, and the citations that stood in it."""
    return _HELD.sub("", _FIGURE_HELD.sub(r"\3", text)), "".join(
        match[0] for match in _HELD.finditer(text)
    )


def drawn(text: str, message_id: str) -> str:
    """Markdown that was made safe, its marks as links."""

    def link(found: re.Match[str]) -> str:
        before = found.string[max(0, found.start() - 200) : found.start()]
        blank = (
            " " if _ADDRESS_END.search(before) else "\u202f"
        )  # a mark must not touch `!` or an address
        return f"{blank}[\\[{found[1]}{found[2]}\\]]({FRAGMENT}{message_id}.{found[3]})"

    def figure(found: re.Match[str]) -> str:
        apart = (
            JOINER if found.string[max(0, found.start() - 1) : found.start()] in ("!", "]") else ""
        )
        start = {"?": UNRECEIPTED, "!": AGAINST}.get(found[2], FIGURE)
        return f"{apart}[{found[3]}]({start}{message_id}.{found[1]})"

    return _HELD.sub(link, _FIGURE_HELD.sub(figure, text))


@cache
def _listener() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_marks", html="<span></span>", js=PRELUDE + LISTEN_JS, isolate_styles=False
    )


def listen() -> None:
    """Open the quoted place or the receipt whose mark was followed just now. Call once a page,
    before the preview is drawn."""
    import streamlit as st

    with st.container(key="marks"):
        picked = _listener()(
            key="leaf-marks",
            data=spoken(LISTEN_JS),
            on_cited_change=lambda: None,
            on_figure_change=lambda: None,
            on_evidence_change=lambda: None,
        )
    message_id, _, source_id = str(getattr(picked, "cited", "") or "").partition(".")
    if source_id and (citation := _find(message_id, source_id)):
        show(citation)
    message_id, _, number = str(getattr(picked, "figure", "") or "").partition(".")
    if number.isdigit():
        preview.show_receipt(message_id, int(number))
    message_id, _, section = str(getattr(picked, "evidence", "") or "").partition(".")
    if section:
        preview.show_evidence(message_id, section)


def show(found: Cited) -> None:
    """Let the preview show what is cited; of a file that is not there it says so."""

    if found["file_id"]:
        preview.show(found["file_id"], found["cited_place"] or found["place"], found["quote"])
    else:
        toast(
            t("There is no file {handle} in this chat.", handle=found["handle"]),
            icon=":material/help:",
        )


def _find(message_id: str, source_id: str) -> Cited | None:
    try:
        run = session().messages.watch(message_id)
        parts: Sequence[Part] = reduce(compact(run.read().chunks)) if run else ()
        parts = parts or session().messages.get(message_id).parts
    except LeafError:
        return None
    part = next((p for p in parts if is_source(p) and p["sourceId"] == source_id), None)
    return citation_of(part) if part else None
