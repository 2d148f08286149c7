"""The connection to a model: what answers, the form by which a person connects one, and the way to it
from a chat."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

from leaf.agent.connections import ModelConnection, ModelDraft
from leaf.errors import LeafError
from leaf.language.problems import said, told
from leaf.language.text import mark, t
from leaf.settings import DEFAULT_MODEL
from leaf.ui import clock, markdown, words
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import leaf, login_needed, session
from leaf.ui.toasts import toast

SETTINGS_PAGE = Path(__file__).resolve().parents[1] / "pages" / "settings.py"
WITHOUT = mark(
    "**Without a model** Leaf answers simple questions about tables (sums, "
    "averages, the largest, by group), searches texts and runs the SQL that you "
    "type."
)
WITH = mark(
    "**A model adds** questions in your own words, answers in several steps over "
    "many files, charts, calculations in Python and written documents."
)
ASK_OPERATOR = mark("Whoever runs this Leaf can connect one.")
KINDS: dict[Literal["anthropic", "server"], str] = {
    "anthropic": "Anthropic",
    "server": mark("A server of your own"),
}
EXAMPLE = "http://localhost:11434"
RESULT = "model-result"
"""What the last press found: `(provider, whether it works, what is said)`."""
OFFERED = "model-offered"
"""Which models the tested server offers: `(kind, address, (id, name), …)`."""


def draw() -> None:
    """The part of the settings page."""
    connection = session().models.connection()
    with st.container(border=True, key="model-card"):
        _draw_used(connection)
        if connection.source != "none":
            _draw_default(connection)
        if connection.source == "own":
            _draw_remove(connection)
    if not connection.allowed:
        st.caption(
            t("Connections of your own are switched off here (LEAF_OWN_MODELS).")
            if connection.source != "none"
            else t(ASK_OPERATOR)
        )
    elif connection.source == "none":
        _draw_form(connection)
    else:
        label = (
            t("Change the connection") if connection.source == "own" else t("Connect another model")
        )
        busy = RESULT in st.session_state
        with st.expander(label, type="compact", key="model-change", expanded=busy):
            _draw_form(connection)


def offer(key: str) -> None:
    """The way to the form from where a model is missing; nothing where people may not connect
    one."""
    if session().models.connection().allowed and st.button(
        t("Connect a model"), key=key, type="tertiary", icon=":material/add_link:"
    ):
        st.switch_page(SETTINGS_PAGE)


def draw_welcome() -> None:
    """On the page of a new chat, where no model is connected: what works, and what a model adds."""
    with st.container(key="welcome-model", gap="xsmall"):
        st.caption(t(WITHOUT))
        st.caption(t(WITH))
        if session().models.connection().allowed:
            offer("welcome-connect")
        else:
            st.caption(t(ASK_OPERATOR))


def _draw_used(connection: ModelConnection) -> None:
    place = _shown(connection.place)
    if connection.source == "none":
        st.markdown(t("**No model is connected.**"))
        st.markdown(f"{t(WITHOUT)}\n\n{t(WITH)}")
    elif connection.source == "environment":
        named = "LEAF_MODEL_URL" if leaf().settings.model_url else "ANTHROPIC_API_KEY"
        st.markdown(t(":green[:material/check_circle:] **Connected** to {place}.", place=place))
        saved = t(" A connection that you save here answers you in its place.")
        st.caption(
            t("The connection is set where Leaf runs (`{named}`) and is in use.", named=named)
            + (saved if connection.allowed else "")
        )
    elif connection.why:
        st.markdown(
            t(
                ":orange[:material/warning:] **Your connection to {place} cannot be used.** {why}",
                place=place,
                why=markdown.paragraph(said(connection.why)),
            )
        )
    else:
        since = (
            t(" since {at}", at=words.when(connection.since, clock.today()))
            if connection.since
            else ""
        )
        st.markdown(
            t(
                ":green[:material/check_circle:] **Connected** to {place}{since}.",
                place=place,
                since=since,
            )
        )
        key = (
            t("its key ends in `{ends}`", ends=_plain(connection.ends))
            if connection.ends
            else t("it has no key")
        )
        rest = t(
            " Removed, {environment} answers you again, as set where Leaf runs.",
            environment=_shown(connection.environment),
        )
        st.caption(
            t("The connection is yours alone; {key}.", key=key)
            + (rest if connection.environment else "")
        )


def _draw_default(connection: ModelConnection) -> None:
    """The model of new chats, for whoever may choose it."""
    models = session().models
    default = models.default()
    names = {model.id: model.name for model in models.list()}
    names.setdefault(default, default)
    shared = connection.source == "environment" and login_needed()
    chosen = st.selectbox(
        t("Model for new chats"),
        list(names),
        index=list(names).index(default),
        format_func=lambda i: names[i],
        # another one where it was chosen elsewhere: what this one still holds is not a choice
        key=f"default-model-{connection.source}-{_round()}-{default}",
        width=420,
        disabled=shared,
        help=t("Whoever runs Leaf chooses it (LEAF_MODEL); each chat can have another.")
        if shared
        else None,
    )
    if chosen and chosen != default:
        models.set_default(chosen)
        toast(
            t("New chats are answered by {model}.", model=markdown.label(names[chosen])),
            ":material/check:",
        )


def _draw_form(connection: ModelConnection) -> None:
    own = connection if connection.source == "own" else None
    kind = st.segmented_control(
        t("Provider"),
        list(KINDS),
        default=own.kind if own else "anthropic",
        format_func=lambda one: t(KINDS[one]),
        key=f"model-kind-{_round()}",
        required=True,
    )
    if kind == "server":
        st.caption(
            t(
                "Any server that speaks the Messages API: Ollama, LM Studio, "
                "llama.cpp, vLLM, LiteLLM."
            )
            + (
                t(" Its address begins with https:// and is reached over the internet.")
                if connection.restricted
                else ""
            )
        )
    with st.form(f"model-form-{_round()}", border=False):
        draft = _draw_fields(connection, kind or "anthropic")
        with st.container(horizontal=True, key="model-buttons"):
            tested = st.form_submit_button(t("Test"), icon=":material/network_check:")
            saved = st.form_submit_button(t("Save"), type="primary", icon=":material/check:")
    if tested:
        _test(draft)
    elif saved:
        _save(draft)
    _say_result(kind or "anthropic")


def _draw_fields(connection: ModelConnection, kind: Literal["anthropic", "server"]) -> ModelDraft:
    own = connection if connection.source == "own" and connection.kind == kind else None
    url = ""
    if kind == "server":
        url = st.text_input(
            t("Address"),
            value=own.place if own else "",
            placeholder="https://models.example.org" if connection.restricted else EXAMPLE,
            key=f"model-url-{_round()}",
        )
    key = st.text_input(
        t("Key") if kind == "anthropic" else t("Key, if the server wants one"),
        type="password",
        placeholder=t("Kept; ends in {ends}", ends=own.ends) if own and own.ends else "",
        key=f"model-key-{kind}-{_round()}",
        help=t(
            "It is kept encrypted where Leaf keeps its data and sent to this server "
            "alone. It is never shown again; only its last four characters are."
        ),
    )
    offered = _offered(own, kind, url)
    default = session().models.default() if own else ""
    return ModelDraft(kind, url, key, _draw_model(kind, offered, default), offered)


def _draw_model(
    kind: Literal["anthropic", "server"], offered: tuple[tuple[str, str], ...], default: str
) -> str:
    """A choice where the server says what it has, which is known once it was tested; else a field."""
    help_text = t("For chats that have no model of their own")
    if not offered:
        return st.text_input(
            t("Model"),
            value=default or (DEFAULT_MODEL if kind == "anthropic" else ""),
            placeholder=t("Test shows what the server has"),
            key=f"model-name-{kind}-{_round()}",
            help=help_text,
        )
    names = dict(offered)
    wanted = str(st.session_state.get("model-wanted", "") or default)
    names.setdefault(wanted, wanted)
    chosen = st.selectbox(
        t("Model"),
        [name for name in names if name],
        index=list(names).index(wanted) if wanted else 0,
        format_func=lambda one: names.get(one, one),
        accept_new_options=True,
        key=f"model-pick-{kind}-{_round()}",
        help=help_text,
    )
    return chosen or ""


def _offered(own: ModelConnection | None, kind: str, url: str) -> tuple[tuple[str, str], ...]:
    """What the tested server has, else what the kept one had."""
    seen = st.session_state.get(OFFERED)
    if seen and seen[:2] == (kind, url):
        return tuple(seen[2])
    return own.models if own and (kind == "anthropic" or url == own.place) else ()


def _test(draft: ModelDraft) -> None:
    try:
        with st.spinner(t("Asking the server")):
            trial = session().models.test(draft)
    except LeafError as e:
        st.session_state[RESULT] = (draft.kind, False, told(e))
    else:
        st.session_state[OFFERED] = (draft.kind, draft.url, trial.models)
        st.session_state["model-wanted"] = trial.model
        count = words.count(len(trial.models), "model") if trial.models else ""
        st.session_state[RESULT] = (
            draft.kind,
            True,
            t("{model} answered {duration}.", model=trial.model, duration=trial.duration)
            + (
                t(" The server offers {count}.", count=count)
                if count
                else t(" The server does not list its models.")
            ),
        )
    redraw()


def _save(draft: ModelDraft) -> None:
    try:
        session().models.save(draft)
    except LeafError as e:
        st.session_state[RESULT] = (draft.kind, False, told(e))
        redraw()
    _begin_anew()
    model = markdown.label(session().models.default())
    toast(t("Saved: your next question is answered by {model}.", model=model), ":material/check:")
    redraw()


def _say_result(kind: str) -> None:
    about, works, message = st.session_state.get(RESULT, ("", False, ""))
    if about != kind:
        return
    if works:
        st.success(markdown.label(message, 800), icon=":material/check_circle:")
    else:
        st.warning(markdown.label(message, 800), icon=":material/warning:")


def _draw_remove(connection: ModelConnection) -> None:
    if st.button(t("Remove"), key="model-remove", icon=":material/link_off:"):
        _remove(connection)


@dialog("Remove this connection?")
def _remove(connection: ModelConnection) -> None:
    after = (
        t(
            "{environment} answers you then, as set where Leaf runs.",
            environment=_shown(connection.environment),
        )
        if connection.environment
        else t("Simple questions are still answered, without a model.")
    )
    st.markdown(
        t(
            "Leaf forgets the connection to {place} and its key. {after} Answers that "
            "are being written are still finished by it.",
            place=_shown(connection.place),
            after=after,
        )
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(t("Keep it"), key="model-keep", type="tertiary"):
            redraw()
        if st.button(t("Remove"), key="model-remove-sure", type="primary"):
            session().models.remove()
            _begin_anew()
            redraw()


def _round() -> int:
    """Fields of a later one are new ones: what was typed into the earlier, a key above all, is
    dropped."""
    return int(st.session_state.get("model-round", 0))


def _begin_anew() -> None:
    for key in [str(key) for key in st.session_state]:
        if key.startswith(("model-key-", "model-url-", "model-name-", "model-pick-")):
            del st.session_state[key]
    for key in (RESULT, OFFERED, "model-wanted", "new-chat-model", "checks"):
        st.session_state.pop(key, None)
    st.session_state["model-round"] = _round() + 1


def _shown(place: str) -> str:
    return f"`{_plain(place)}`"


def _plain(text: str) -> str:
    return text.replace("`", "")
