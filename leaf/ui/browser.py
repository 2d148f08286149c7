"""The two things that only a script in the browser can do: fill the clipboard, and put the cursor into the composer.

Components run as blobs of this origin, which the content security policy allows. Data reaches them as data, never as code.
"""

from __future__ import annotations

from functools import cache
from typing import Any

COPY_HTML = '<button type="button" title="Copy this answer" aria-label="Copy this answer"></button>'

COPY_CSS = """
button { all: unset; box-sizing: border-box; cursor: pointer; display: inline-flex; align-items: center; justify-content: center;
  width: 2rem; height: 2rem; border-radius: 0.5rem; color: var(--st-text-color); opacity: 0.7; }
button:hover, button:focus-visible { opacity: 1; background: var(--st-secondary-background-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); }
svg { width: 1.05rem; height: 1.05rem; }
"""

COPY_JS = """
const STYLE = 'fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round"'
const icon = (shape) => `<svg viewBox="0 0 24 24" ${STYLE} aria-hidden="true">${shape}</svg>`
const COPY = icon('<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>')
const DONE = icon('<path d="M5 12.5l4.5 4.5L19 7.5"/>')

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

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  if (!button.firstChild) button.innerHTML = COPY
  button.onclick = async () => {
    await copy(data.text)
    button.innerHTML = DONE
    button.setAttribute("aria-label", "Copied")
    setTimeout(() => { button.innerHTML = COPY; button.setAttribute("aria-label", "Copy this answer") }, 1600)
  }
}
"""

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


@cache
def _copy() -> Any:
    import streamlit as st

    return st.components.v2.component("leaf_copy", html=COPY_HTML, css=COPY_CSS, js=COPY_JS)


@cache
def _focus() -> Any:
    import streamlit as st

    return st.components.v2.component("leaf_focus", html="<span></span>", js=FOCUS_JS, isolate_styles=False)


def copy_button(text: str, key: str) -> None:
    """A button that puts `text` on the clipboard."""
    _copy()(key=key, data={"text": text}, width="content")


def focus_composer(key: str) -> None:
    """Put the cursor into the composer once, when the element with this key first appears."""
    _focus()(key=key, data={}, width="content")
