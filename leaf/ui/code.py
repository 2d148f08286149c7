"""What Python did, for a person: what it printed, its figures, its errors, and what it asks before
it goes on."""

from __future__ import annotations

import re

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import said, told
from leaf.language.text import in_digits, n_, t
from leaf.shapes.parts import ConsentData, ToolPart
from leaf.shapes.results import Printed
from leaf.ui import downloads, markdown, words
from leaf.ui.items import figures_of, written_of
from leaf.ui.state import session
from leaf.ui.toasts import toast

TALL = 260
"""Height in pixels from which an output scrolls."""
LONG = 700
"""Characters from which an output is given that height."""


def draw_output(about: Printed) -> None:
    """What was printed, the value of the last line, and what has to be known about the
    variables."""
    if about.get("rebuilt"):
        cells = about["rebuilt"]
        st.caption(
            ":material/history: "
            + n_(
                "Variables rebuilt from {n} earlier cell",
                "Variables rebuilt from {n} earlier cells",
                cells,
            )
        )
    for lost in [*about.get("lost", ()), *about.get("notes", ())]:
        st.caption(markdown.paragraph(said(str(lost))))
    printed, characters = str(about.get("printed", "")), int(about.get("characters", 0))
    if printed.strip():
        _draw_text(
            t("Printed") if characters <= len(printed) else _cut(printed, characters), printed
        )
    if str(about.get("value", "")).strip():
        _draw_text(t("Value"), str(about["value"]))
    if not printed.strip() and not str(about.get("value", "")).strip():
        st.caption(t("Nothing was printed."))


def draw_error(text: str) -> None:
    """The first line in words, then the traceback from the cell on."""
    first, _, rest = text.partition("\n")
    st.markdown(f":red[:material/error_outline:] {markdown.paragraph(said(first))}")
    if rest.strip():
        st.code(
            rest, language=None, wrap_lines=True, height=TALL if len(rest) > LONG else "content"
        )


def figures(part: ToolPart, chat_id: str) -> None:
    """The figures that a step drew, one under the other."""
    for figure in figures_of(part):
        try:
            picture = session().python.figure(chat_id, str(figure["sha256"]))
        except LeafError as e:
            st.caption(markdown.paragraph(f"{figure['label']}: {told(e)}"))
            continue
        st.image(
            picture,
            width=min(int(figure["width"]), 760),
            alt=str(figure["label"]),
            output_format="PNG",
        )


def written(part: ToolPart, chat_id: str, key: str) -> None:
    """The files that a step wrote, to download or to add to the chat."""
    for number, file in enumerate(written_of(part)):
        name, sha256 = str(file["name"]), str(file["sha256"])
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            downloads.button(
                f"{markdown.label(name, 80)} · {words.size(int(file['size']))}",
                downloads.place("written", chat_id, sha256, name=name),
                key=f"written-{key}-{number}",
                type="tertiary",
            )
            if st.button(
                t("Add to files"),
                key=f"keep-{key}-{number}",
                type="tertiary",
                icon=":material/note_add:",
                help=t("Into the library and this chat, so that the next question can use it"),
            ):
                _keep(chat_id, sha256, name)


def _keep(chat_id: str, sha256: str, name: str) -> None:
    try:
        file = session().python.keep(chat_id, sha256, name)
    except LeafError as e:
        toast(markdown.paragraph(told(e)), icon=":material/warning:")
        return
    toast(
        t("{name} is among the files of this chat.", name=markdown.label(file.name, 80)),
        icon=":material/check:",
    )


def consent(asked: ConsentData, chat_id: str) -> None:
    """A question that a step waits with, and its two answers."""
    key = str(asked["key"])
    icon = re.sub(r"[^a-z0-9_]", "", asked.get("icon", "")) or "front_hand"
    of_user = asked.get("of_user", "")
    if of_user and of_user != session().scope.user_id:  # what it is about is theirs alone
        name = session().chats.authors(chat_id).get(of_user) or t("the person who asked")
        st.caption(
            f":material/{icon}: "
            + t("The answer waits for {name}'s permission.", name=markdown.label(name, 80))
        )
        return
    st.markdown(f":material/{icon}: **{markdown.label(str(asked['question']), 400)}**")
    st.caption(markdown.label(str(asked.get("detail", "")), 300))
    with st.container(horizontal=True, gap="small"):
        st.button(
            t("Allow"),
            key=f"allow-{key}",
            type="primary",
            on_click=_decide,
            args=(chat_id, key, True),
        )
        st.button(t("Refuse"), key=f"refuse-{key}", on_click=_decide, args=(chat_id, key, False))


def _decide(chat_id: str, key: str, allow: bool) -> None:
    try:
        allowed = session().messages.decide(chat_id, key, allow)
    except LeafError as e:
        toast(markdown.paragraph(told(e)), icon=":material/warning:")
        return
    if allowed != allow:
        toast(t("It was decided before."), icon=":material/info:")


def _draw_text(title: str, text: str) -> None:
    st.caption(title)
    st.code(
        text.rstrip(),
        language=None,
        wrap_lines=True,
        height=TALL if len(text) > LONG else "content",
    )


def _cut(printed: str, characters: int) -> str:
    return t(
        "Printed {characters} characters, of which the first {n} are kept",
        characters=in_digits(characters),
        n=in_digits(len(printed)),
    )
