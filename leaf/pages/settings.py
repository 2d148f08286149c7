"""Who is in the workspace, what is connected, prompts that were saved, how answers come, and what was
deleted. What whoever runs Leaf looks after stands in `operations.py`."""

import streamlit as st

from leaf.language.text import t
from leaf.ui import (
    audit,
    budget,
    connection,
    deleted,
    language_choice,
    links,
    look_choice,
    markdown,
    model,
    prompts,
    words,
    workspace,
)
from leaf.ui.state import leaf, live, session

app = leaf()
settings = app.settings

st.title(t("Settings"), anchor=False)

workspace.draw()
language_choice.draw()
look_choice.draw()
links.draw_all()
audit.draw()

st.header(t("Model"), anchor=False)
model.draw()
if not session().models.keyless():
    st.caption(
        t(
            "What tools read from your files for a question is sent to this model "
            "server, and nowhere else."
        )
    )

st.header(t("Saved prompts"), anchor=False)
prompts.draw_settings()

st.header("Google Drive", anchor=False)
connection.draw_card(session().drive.connection())

st.header(t("Answers"), anchor=False)
st.markdown(words.load(app.load(), settings.runs_per_user, settings.runs))
pushed, how = live().standing(str(st.session_state.get("live-polled", "")))
state = ":green[:material/check_circle:]" if pushed else ":orange[:material/warning:]"
st.markdown(
    f"{state} "
    + (
        t("**Live answers** (work): {how}", how=markdown.literal(how))
        if pushed
        else t("**Live answers** (come more slowly): {how}", how=markdown.literal(how))
    )
)

st.page_link(budget.PAGE, label=t("Usage and budgets"), icon=":material/bar_chart:")

st.header(t("Deleted"), anchor=False)
deleted.draw()
