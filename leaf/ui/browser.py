"""What only the browser can do: fill the clipboard, put the cursor into the composer, give back
what was typed there, come back after a sign-in, and go to another site in the same tab.

Components run as blobs of this origin, which the content security policy allows. Data reaches them
as data, never as code.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from leaf.ui.spoken import PRELUDE, spoken

COPY_HTML = '<button type="button" ></button>'

COPY_CSS = """
button { all: unset; box-sizing: border-box; cursor: pointer; display: inline-flex; align-items: center; justify-content: center;
  width: 2rem; height: 2rem; border-radius: 0.5rem; color: var(--st-text-color); opacity: 0.7; }
button:hover, button:focus-visible { opacity: 1; background: var(--st-secondary-background-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); }
svg { width: 1.05rem; height: 1.05rem; }
"""

CLIPBOARD_JS = """
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement("textarea")
    area.value = text
    document.body.append(area)
    area.select()
    document.execCommand("copy")
    area.remove()
  }
}
"""

COPY_JS = (
    CLIPBOARD_JS
    + """
const STYLE = 'fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round"'
const icon = (shape) => `<svg viewBox="0 0 24 24" ${STYLE} aria-hidden="true">${shape}</svg>`
const COPY = icon('<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>')
const DONE = icon('<path d="M5 12.5l4.5 4.5L19 7.5"/>')

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  speak(data)
  if (!button.firstChild) button.innerHTML = COPY
  button.title = t("Copy this answer")
  button.setAttribute("aria-label", button.title)
  button.onclick = async () => {
    await copy(data.text)
    button.innerHTML = DONE
    button.setAttribute("aria-label", t("Copied"))
    setTimeout(() => { button.innerHTML = COPY; button.setAttribute("aria-label", t("Copy this answer")) }, 1600)
  }
}
"""
)

FOCUS_JS = """
export default function ({ data, parentElement }) {
  if (parentElement.dataset?.done || !window.matchMedia("(pointer: fine)").matches) return
  if (parentElement.dataset) parentElement.dataset.done = "1"
  const started = Date.now()
  const look = () => {
    const field = document.querySelector('[data-testid="stChatInputTextArea"]')
    const taken = document.activeElement && document.activeElement !== document.body
    if (field && !taken) field.focus()
    else if (!field && Date.now() - started < 3000) setTimeout(look, 60)
  }
  look()
}
"""


GIVE_BACK_HTML = '<section hidden><p></p><button type="button"></button></section>'

GIVE_BACK_CSS = """
section { display: flex; align-items: center; gap: 0.5rem; padding: 0.2rem 0.25rem; font-size: 0.9rem; }
section[hidden] { display: none; }
p { margin: 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
button { all: unset; cursor: pointer; padding: 0.15rem 0.6rem; border-radius: 0.5rem; color: var(--st-link-color); }
button:hover, button:focus-visible { background: var(--st-secondary-background-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); }
"""

GIVE_BACK_JS = (
    CLIPBOARD_JS
    + """
const fill = (field, text) => {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text)
  field.dispatchEvent(new Event("input", { bubbles: true }))
  field.focus()
}

export default function ({ data, parentElement }) {
  const row = parentElement.querySelector("section")
  if (row.dataset.done === data.id) return
  speak(data)
  row.dataset.done = data.id
  const field = document.querySelector('[data-testid="stChatInputTextArea"]')
  row.hidden = Boolean(field && !field.value)
  if (row.hidden) return fill(field, data.text)
  row.querySelector("p").textContent = t("Withdrawn: “{text}”", data)
  const button = row.querySelector("button")
  button.textContent = t("Copy")
  button.onclick = async () => { await copy(data.text); button.textContent = t("Copied") }
}
"""
)


CLEAN_ADDRESS_JS = """
export default function ({ data }) {
  const here = new URL(location.href)
  if (data.gone && here.searchParams.get("chat")) dispatchEvent(new Event("leaf-chat-gone")) // to draft.js
  for (const name of data.drop) here.searchParams.delete(name)
  if (here.href !== location.href) history.replaceState(history.state, "", here)
}
"""


KEEP_PLACE_JS = """
export default function ({ data }) {
  speak(data)
  sessionStorage.setItem("leaf-place", location.pathname + location.search)
}
"""

RETURN_JS = """
export default function ({ data }) {
  const place = sessionStorage.getItem("leaf-place")
  sessionStorage.removeItem("leaf-place")
  const bare = (path) => path.replace(/\\/$/, "")
  // Whoever went elsewhere before this one could look is led nowhere any more.
  if (bare(location.pathname) !== bare(data.front)) return
  if (place && place !== location.pathname + location.search && /^\\/(?!\\/)/.test(place)) location.replace(place)
}
"""

RELOAD_JS = """
export default function () {
  location.reload()
}
"""


@cache
def _reload() -> Any:
    import streamlit as st

    return st.components.v2.component("leaf_reload", html="<span></span>", js=RELOAD_JS)


def reload() -> None:
    """Have the browser load this page anew, and with it all that its scripts have drawn."""
    _reload()(key="leaf-reload", data={})


@cache
def _copy() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_copy", html=COPY_HTML, css=COPY_CSS, js=PRELUDE + COPY_JS
    )


@cache
def _focus() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_focus", html="<span></span>", js=FOCUS_JS, isolate_styles=False
    )


@cache
def _give_back() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_give_back", html=GIVE_BACK_HTML, css=GIVE_BACK_CSS, js=PRELUDE + GIVE_BACK_JS
    )


def copy_button(text: str, key: str) -> None:
    """A button that puts `text` on the clipboard."""
    _copy()(key=key, data={"text": text, **spoken(COPY_JS)}, width="content")


def focus_composer(key: str) -> None:
    """Put the cursor into the composer once, when the element with this key first appears."""
    _focus()(key=key, data={}, width="content")


def give_back(text: str, text_id: str) -> None:
    """Put a text into the composer, once for each id. If something is being written there, offer to
    copy it instead."""
    _give_back()(key="given-back-text", data={"text": text, "id": text_id, **spoken(GIVE_BACK_JS)})


@cache
def _keep_place() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_keep_place", html="<span></span>", js=PRELUDE + KEEP_PLACE_JS
    )


@cache
def _return() -> Any:
    import streamlit as st

    return st.components.v2.component("leaf_return", html="<span></span>", js=RETURN_JS)


@cache
def _clean_address() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_clean_address", html="<span></span>", js=CLEAN_ADDRESS_JS, isolate_styles=False
    )


def clean_address(*names: str, gone: bool = False) -> None:
    """Take parameters that lead nowhere here out of the address, in the place in the history where
    it stands: an address that the script changes is a step of its own, from which Back would lead
    to the one before, which changes it again. `gone`: the chat there is no more, and what is half
    written in it belongs to the new one that is drawn."""
    import streamlit as st

    with st.container(key="clean-address"):
        _clean_address()(key="leaf-clean-address", data={"drop": list(names), "gone": gone})


def keep_place() -> None:
    """Remember the address of this tab while its user goes to a login provider, who sends them back
    to the front page."""
    _keep_place()(key="keep-place", data=spoken(KEEP_PLACE_JS))


def return_to_place(front: str) -> None:
    """Go where this tab was before the sign-in, if it stands on the front page, given by its path."""
    _return()(key="return-to-place", data={"front": front})


def leave_for(address: str) -> None:
    """Let this tab go to another site, as Streamlit's own login does; a link drawn on the page
    would open a second tab."""
    context = get_script_run_ctx()
    if context is not None:
        message = ForwardMsg()
        message.auth_redirect.url = address
        context.enqueue(message)
