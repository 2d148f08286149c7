"""Saved prompts: the dialog in which one is written, the list in Settings, and how one comes into the
composer."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.store.prompts import NAME_LENGTH, TEXT_LENGTH, Prompt, PromptDraft
from leaf.ui import markdown
from leaf.ui.controls import icon_button, icon_menu, say_problem, then_redraw
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import current_visit, session
from leaf.ui.toasts import toast

EDIT, DELETE = mark("Edit"), mark("Delete")
INSERTED = "inserted-prompt"
"""`(number, text)` of what the composer is to take in; the browser does so once for each number."""
UNDO = "deleted-prompt"
SHOWN_CHARACTERS = 140

INSERT_JS = """
// The window knows what was taken in: Streamlit may load this script anew, and a text comes in once.
const LAST = Symbol.for("leaf-inserted")

const write = (field, value) => {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, value)
  field.dispatchEvent(new Event("input", { bubbles: true }))
}

function insert(text, tries) {
  const field = document.querySelector('[data-testid="stChatInputTextArea"]')
  if (!field) return tries && setTimeout(() => insert(text, tries - 1), 60)
  // The same words already stand there where it was just saved, and its draft came back before it.
  const same = field.value.trim() === text.trim()
  const [start, end] = same ? [0, field.value.length]
    : [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length]
  const before = field.value.slice(0, start)
  const gap = before && !/\\s$/.test(before) ? "\\n" : ""
  write(field, before + gap + text + field.value.slice(end))
  const place = /\\{[^{}\\n]{1,60}\\}/.exec(text)
  const from = before.length + gap.length + (place ? place.index : text.length)
  const select = () => {
    field.focus()
    field.setSelectionRange(from, from + (place ? place[0].length : 0))
  }
  select()
  requestAnimationFrame(select) // once more when the page has taken the text in
}

export default function ({ data }) {
  if (data.id === window[LAST]) return
  window[LAST] = data.id
  insert(data.text, 50)
}
"""


def insert(text: str) -> None:
    """Let the next drawing of the chat put this where the cursor stands in the composer, and choose
    the first `{name}` in it."""
    st.session_state[INSERTED] = (str(time.time_ns()), text)


def draw_inserted() -> None:
    """In the composer."""
    if INSERTED in st.session_state:
        number, text = st.session_state[INSERTED]
        with st.container(key="insert-prompt"):
            _insert()(key="leaf-insert-prompt", data={"id": number, "text": text})


@cache
def _insert() -> Any:
    return st.components.v2.component(
        "leaf_insert_prompt", html="<span></span>", js=INSERT_JS, isolate_styles=False
    )


@dialog("Save as prompt")
def ask(text: str = "") -> None:
    """Save a question under a name."""
    _draw_form(PromptDraft("", text), "")


@dialog("Edit prompt")
def _edit(prompt: Prompt) -> None:
    _draw_form(PromptDraft(prompt.name, prompt.text, prompt.shared), prompt.id)


def _draw_form(draft: PromptDraft, prompt_id: str) -> None:
    with st.form(f"prompt-{prompt_id or 'new'}", border=False):
        name = st.text_input(
            t("Name"), value=draft.name, max_chars=NAME_LENGTH, placeholder=t("Its first words")
        )
        text = st.text_area(
            t("Prompt"),
            value=draft.text,
            max_chars=TEXT_LENGTH,
            height=160,
            help=t(
                "What stands in braces, such as {month}, is chosen when the prompt is inserted."
            ),
        )
        shared = False
        if current_visit() is not None:
            shared = st.checkbox(t("Share with everybody in this workspace"), value=draft.shared)
        if not st.form_submit_button(t("Save"), type="primary"):
            return
    new_draft = PromptDraft(name or "", text or "", bool(shared))
    try:
        if prompt_id:
            session().prompts.change(prompt_id, new_draft)
        else:
            session().prompts.save(new_draft)
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
        return
    toast(t("The prompt is saved."), icon=":material/bookmark_added:")
    redraw()


def draw_settings() -> None:
    """The list in Settings."""
    say_problem()
    _draw_undo()
    prompts = session().prompts.list()
    if not prompts:
        st.caption(
            t(
                "Questions that you save are listed on this page. **Save as prompt** is beside each "
                "question of a chat; **Prompts**, below the composer, puts one in."
            )
        )
    with st.container(key="prompts", gap=None):
        for prompt in prompts:
            _draw_row(prompt)
    if st.button(t("New prompt"), key="new-prompt", icon=":material/bookmark_add:"):
        ask()


def _draw_row(prompt: Prompt) -> None:
    name = markdown.label(prompt.name, NAME_LENGTH)
    whose = (
        ""
        if prompt.own
        else t("By {author} · ", author=markdown.label(prompt.author or t("somebody"), 40))
    )
    shared = t("Shared · ") if prompt.own and prompt.shared else ""
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"prompt-row-{prompt.id}"
    ):
        st.markdown(
            f"**{name}**  \n:small[{whose}{shared}{markdown.label(prompt.text, SHOWN_CHARACTERS)}]",
            width="stretch",
        )
        options = [EDIT, DELETE] if prompt.own else [DELETE] if _owner() else []
        if not options:
            return
        chosen = icon_menu(
            t("Change the prompt {name}", name=name), options, key=f"prompt-menu-{prompt.id}"
        )
    if chosen == EDIT:
        _edit(prompt)
    elif chosen == DELETE:
        then_redraw(_delete, prompt.id)


def _delete(prompt_id: str) -> None:
    gone = session().prompts.delete(prompt_id)
    if gone.own:
        st.session_state[UNDO] = gone


def _draw_undo() -> None:
    gone: Prompt | None = st.session_state.get(UNDO)
    if gone is None:
        return
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, border=True, key="undo-prompt"
    ):
        st.caption(t("Deleted “{name}”", name=markdown.label(gone.name, 60)), width="stretch")
        if st.button(t("Undo"), key="undo-prompt-button", type="tertiary"):
            del st.session_state[UNDO]
            draft = PromptDraft(gone.name, gone.text, gone.shared)
            then_redraw(session().prompts.save, draft)
        if icon_button(t("Leave it deleted"), "undo-prompt-close", "close"):
            del st.session_state[UNDO]
            redraw()


def _owner() -> bool:
    """Whether the reader owns the workspace."""
    mine = session().scope.user_id
    return any(m.user_id == mine and m.role == "owner" for m in session().team.members())
