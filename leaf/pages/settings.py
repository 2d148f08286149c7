"""Who is in the workspace, what is connected, what works on this machine, and where the data
lies."""

import streamlit as st

from leaf.ui import audit, budget, connection, deleted, markdown, model, space, words, workspace
from leaf.ui.state import checks, leaf, live, session

app = leaf()
settings = app.settings

st.title("Settings", anchor=False)

workspace.draw()
audit.draw()

st.header("Model", anchor=False)
model.draw()
with st.expander("Set it where Leaf runs instead", type="compact", key="connect"):
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

st.header("Google Drive", anchor=False)
connection.draw_card(session().drive.connection())

st.header("What works here", anchor=False)
for check in checks():
    icon = ":green[:material/check_circle:]" if check.ok else ":orange[:material/warning:]"
    state = "works" if check.ok else "does not work"
    st.markdown(
        f"{icon} **{markdown.literal(check.name)}** ({state}): {markdown.literal(check.text)}"
    )

pushed, how = live().standing(str(st.session_state.get("live-polled", "")))
state = ":green[:material/check_circle:]" if pushed else ":orange[:material/warning:]"
st.markdown(
    f"{state} **Live answers** ({'work' if pushed else 'come more slowly'}): "
    f"{markdown.literal(how)}"
)

st.header("Answers", anchor=False)
st.markdown(words.load(app.load(), settings.runs_per_user, settings.runs))

st.page_link(budget.PAGE, label="Usage and budgets", icon=":material/bar_chart:")

st.header("Deleted", anchor=False)
deleted.draw()

st.header("Your data", anchor=False)
st.markdown(f"Everything stays in this folder: `{str(settings.home).replace('`', '')}`")
st.caption(
    "Chats, files, tables and results. `python -m leaf backup TARGET` saves all of it while Leaf "
    "runs."
)
space.draw(app.space())
if not session().models.keyless():
    st.caption(
        "What tools read from your files for a question is sent to the model server above, and "
        "nowhere else."
    )
