"""The pieces of the operator's page."""

from __future__ import annotations

import streamlit as st

from leaf.settings import VARIABLES, Settings
from leaf.store.audit import KINDS
from leaf.store.space import size
from leaf.ui import audit, downloads, markdown, space, words
from leaf.ui.state import checks, leaf, session

LIMITS = {
    "runs": "Answers that are written at once",
    "runs_per_user": "Answers of one person at once",
    "limits.turns": "Model turns of an answer",
    "limits.tool_calls": "Tool calls of an answer",
    "limits.seconds": "Seconds of an answer",
    "limits.tokens": "Tokens of an answer",
    "limits.money": "US dollars of an answer",
    "file_tokens": "Tokens of file content of an answer",
    "max_upload_bytes": "Largest file",
    "uploads_person": "Uploads of one person that wait",
    "uploads_total": "Uploads of everybody that wait",
    "archive_files": "Files out of one archive",
    "archive_bytes": "What one archive may unpack to",
    "disk_gb": "GB of the disk",
    "session_hours": "Hours of a sign-in",
    "audit_days": "Days of the audit log",
}
"""Settings that are limits, each as a person says it."""
BYTES = frozenset({"max_upload_bytes", "uploads_person", "uploads_total", "archive_bytes"})
NONE = {"disk_gb": "all of it", "session_hours": "as long as the provider says"}
"""What 0 means."""


def draw_checks() -> None:
    """What works on this machine, and what does not."""
    for check in checks():
        icon = ":green[:material/check_circle:]" if check.ok else ":orange[:material/warning:]"
        state = "works" if check.ok else "does not work"
        st.markdown(
            f"{icon} **{markdown.literal(check.name)}** ({state}): {markdown.literal(check.text)}"
        )


def draw_data() -> None:
    """Where it lies, and what room it takes."""
    home = str(leaf().settings.home).replace("`", "")
    st.markdown(f"Everything stays in this folder: `{home}`")
    st.caption(
        "Chats, files, tables and results. `python -m leaf backup TARGET` saves all of it while Leaf "
        "runs."
    )
    space.draw(leaf().space())


def draw_limits() -> None:
    """What is limited, and by which variable."""
    settings = leaf().settings
    st.markdown(words.load(leaf().load(), settings.runs_per_user, settings.runs))
    names = {path: name for name, path in reversed(VARIABLES.items())}
    rows = [
        f"| {meaning} | {_value(settings, path)} | `{names[path]}` |"
        for path, meaning in LIMITS.items()
    ]
    with st.expander("All limits", type="compact", key="limits"):
        st.markdown("\n".join(["| What | At most | Variable |", "|---|---:|---|", *rows]))
        st.caption(
            "They are read from the environment or from `.streamlit/secrets.toml` when Leaf starts. "
            "Budgets of a workspace are set by its owners, under *Usage*."
        )


def draw_environment() -> None:
    """How a model is connected for everybody."""
    st.markdown(
        "A connection for everybody is read from the environment or from "
        "`.streamlit/secrets.toml` when Leaf starts. Set one of these and start Leaf again."
    )
    st.caption("Claude, with a key of your own")
    st.code('ANTHROPIC_API_KEY="sk-ant-…"', language="bash")
    st.caption(
        "Any server that speaks the Messages API: Ollama, LM Studio, llama.cpp, vLLM, LiteLLM"
    )
    st.code(
        'LEAF_MODEL_URL="http://localhost:11434"\nLEAF_MODEL="name-of-the-model"', language="bash"
    )


def draw_audit() -> None:
    """Lines of all workspaces and of none, of one kind and about one address if asked."""
    with st.container(horizontal=True, key="all-audit-choice"):
        kind = st.selectbox(
            "What",
            ["", *KINDS],
            format_func=lambda k: audit.KIND_NAMES[k],
            key="all-audit-kind",
            width=240,
        )
        email = st.text_input(
            "E-mail address", key="all-audit-email", placeholder="Everybody", width=240
        )
    own = session().operations
    count = own.audit_count(kind=kind or "", email=email or "")
    if not count:
        st.caption("Nothing of this was written down yet.")
        return
    number = 1
    if count > audit.LINES:
        pages = (count + audit.LINES - 1) // audit.LINES
        number = st.pagination(pages, key=f"all-audit-page-{kind}-{email}")
    lines = own.audit(
        kind=kind or "",
        email=email or "",
        limit=audit.LINES,
        offset=(number - 1) * audit.LINES,
    )
    audit.draw_lines(lines, {}, "all-audit-lines")
    downloads.button(
        f"All {count:,} as CSV" if count > 1 else "As CSV",
        downloads.place("audit-of-all", kind=kind or "", email=email or ""),
        key="all-audit-csv",
    )


def _value(settings: Settings, path: str) -> str:
    value: object = settings
    for name in path.split("."):
        value = getattr(value, name)
    if not value and path in NONE:
        return NONE[path]
    if path in BYTES and isinstance(value, int):
        return size(value)
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}"
