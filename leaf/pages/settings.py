"""Who is in the workspace, what is connected, what works on this machine, and where the data lies."""

import streamlit as st

from leaf.ui import budget, connection, markdown, words, workspace
from leaf.ui.state import checks, leaf, session

app = leaf()
settings = app.settings

st.title("Settings", anchor=False)

workspace.draw()

st.header("Model", anchor=False)
if settings.keyless:
    st.markdown(
        "No model is connected. **Rules answer:** they search, describe, add up and run the SQL that you type, "
        "and say what they used."
    )
else:
    endpoint = (settings.model_place or "https://api.anthropic.com").replace("`", "")
    profile = settings.profile_for(app.default_model())
    st.markdown(f"Connected to `{endpoint}` with the profile `{profile}`.")
    names = {model.id: model.name for model in app.models()}
    default = app.default_model()
    names.setdefault(default, default)
    chosen = st.selectbox(
        "Model for new chats",
        list(names),
        index=list(names).index(default),
        format_func=lambda i: names[i],
        key="default-model",
        width=420,
    )
    if chosen and chosen != default:
        app.set_default_model(chosen)
        st.toast(f"New chats are answered by {markdown.label(names[chosen])}.", icon=":material/check:")

with st.expander("Connect a model" if settings.keyless else "Connect another model", type="compact", key="connect"):
    st.markdown(
        "Leaf reads its key from the environment or from `.streamlit/secrets.toml` when it starts, never from this page, "
        "so that no key passes through the browser. Set one of these and start Leaf again."
    )
    st.caption("Claude, with a key of your own")
    st.code('ANTHROPIC_API_KEY="sk-ant-…"', language="bash")
    st.caption("Any server that speaks the Messages API: Ollama, LM Studio, llama.cpp, vLLM, LiteLLM")
    st.code('LEAF_MODEL_URL="http://localhost:11434"\nLEAF_MODEL="name-of-the-model"', language="bash")

st.header("Google Drive", anchor=False)
connection.draw_card(session().drive.connection())

st.header("What works here", anchor=False)
for check in checks():
    icon = ":green[:material/check_circle:]" if check.ok else ":orange[:material/warning:]"
    state = "works" if check.ok else "does not work"
    st.markdown(f"{icon} **{markdown.literal(check.name)}** ({state}): {markdown.literal(check.text)}")

st.header("Answers", anchor=False)
st.markdown(words.load(app.load(), settings.runs_per_user, settings.runs))

st.page_link(budget.PAGE, label="Usage and budgets", icon=":material/bar_chart:")

st.header("Your data", anchor=False)
st.markdown(f"Everything stays in this folder: `{str(settings.home).replace('`', '')}`")
st.caption("Chats, files, tables and results. Copy the folder to make a backup; stop Leaf before you do.")
if not settings.keyless:
    st.caption("What tools read from your files for a question is sent to the model server above, and nowhere else.")
