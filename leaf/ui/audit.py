"""The audit log in Settings, for owners: newest first, by kind and person, page by page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from leaf.language.text import in_digits, mark, t
from leaf.store.audit import KINDS, AuditLine
from leaf.store.model import Member
from leaf.ui import downloads, markdown
from leaf.ui.state import current_visit, session

OPERATIONS_PAGE = Path(__file__).resolve().parents[1] / "pages" / "operations.py"
LINES = 12
"""On a page: what stands below is not pushed away, and nothing scrolls within the page, which a
keyboard could not do."""
KIND_NAMES = {
    "": mark("Everything"),
    "sign-in": mark("Sign-ins"),
    "people": mark("People and sharing"),
    "drive": "Google Drive",
    "export": mark("Exports and downloads"),
    "deletion": mark("Deletions"),
    "settings": mark("Settings"),
    "operation": mark("Backups"),
}


def draw() -> None:
    """Nothing for a member who is no owner; where one person alone uses Leaf, the way to the log on
    the operator's page, which holds all of it."""
    if current_visit() is None and session().operations.allowed():
        st.page_link(OPERATIONS_PAGE, label=t("Audit log, under Operations"), icon=":material/dns:")
        return
    members = session().team.members()
    mine = session().scope.user_id
    if not any(m.user_id == mine and m.role == "owner" for m in members):
        return
    st.header(t("Audit log"), anchor=False)
    st.caption(
        t(
            "Who signed in, shared, exported, deleted and changed settings in this "
            "workspace. What was asked, read or written stands nowhere in it."
        )
    )
    kind, person = _draw_choice(members)
    count = session().team.audit_count(kind=kind, person=person)
    if not count:
        st.caption(t("Nothing of this was written down yet."))
        return
    number = 1
    if count > LINES:
        number = st.pagination((count + LINES - 1) // LINES, key=f"audit-page-{kind}-{person}")
    lines = session().team.audit(kind=kind, person=person, limit=LINES, offset=(number - 1) * LINES)
    draw_lines(lines, {m.user_id: m.name for m in members}, "audit-lines")
    downloads.button(
        t("All {count} as CSV", count=in_digits(count)) if count > 1 else t("As CSV"),
        downloads.place("audit", kind=kind, person=person),
        key="audit-csv",
    )


def _draw_choice(members: list[Member]) -> tuple[str, str]:
    names = {"": t("Everybody"), **{m.user_id: m.name for m in members}}
    with st.container(horizontal=True, key="audit-choice"):
        kind = st.selectbox(
            t("What"),
            ["", *KINDS],
            format_func=lambda k: t(KIND_NAMES[k]),
            key="audit-kind",
            width=240,
        )
        person = ""
        if current_visit() is not None:
            person = st.selectbox(
                t("Who"), list(names), format_func=lambda i: names[i], key="audit-person", width=240
            )
    return kind or "", person or ""


def draw_lines(found: list[AuditLine], names: dict[str, str], key: str) -> None:
    """A table; ids are what lines tell of, so that names of deleted things stand nowhere."""
    rows = [
        t("| When (UTC) | Who | What | On |"),
        "|---|---|---|---|",
        *(
            f"| {line.happened_at:%Y-%m-%d %H:%M:%S} | {_who(line, names)} "
            f"| {markdown.label(t(line.action), 60)}{t(', refused') if line.outcome == 'refused' else ''} "
            f"| {markdown.label(_subject(line, names), 90)} |"
            for line in found
        ),
    ]
    with st.container(key=key):
        st.markdown("\n".join(rows))


def _who(line: AuditLine, names: dict[str, str]) -> str:
    return markdown.label(names.get(line.user_id) or line.who or line.user_id[:8] or "–", 40)


def _subject(line: AuditLine, names: dict[str, str]) -> str:
    """People by name, other things by the end of their id, which tells them apart."""
    return " ".join(names.get(one) or _short_id(one) for one in line.subject.split())


def _short_id(subject: str) -> str:
    """The end of a long id; other words as they are."""
    return f"…{subject[-8:]}" if len(subject) > 30 and "@" not in subject else subject
