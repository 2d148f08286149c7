"""The gate before every page, and what stands there for those who are not signed in."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitAuthError

from leaf.errors import LeafError, SignInError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.ui import browser, frame, markdown, sign_in, state

PROVIDERS = {
    "accounts.google.com": "Google",
    "login.microsoftonline.com": "Microsoft",
    "okta.com": "Okta",
    "auth0.com": "Auth0",
    "gitlab.com": "GitLab",
    "appleid.apple.com": "Apple",
}
"""Names of login providers by the end of their host."""
POINTS = (
    (
        ":material/folder_open:",
        mark("Drop in tables, PDFs, documents and mails, and ask in plain words."),
    ),
    (
        ":material/fact_check:",
        mark("Every answer shows the rows, pages and queries behind it, and what was not read."),
    ),
    (
        ":material/group:",
        mark("Chats are yours alone until you share one with people of your workspace."),
    ),
)


def admit(chat_id: str) -> None:
    """Let this browser in, or draw why not and end the run. `chat_id` is where its address
    leads."""
    _take_trouble()
    try:
        visit = state.enter()
    except SignInError as e:
        _draw_landing(e)
        st.stop()
    except LeafError as e:
        frame.draw_not_ready(e)
        st.stop()
    st.session_state.pop("sign-in-trouble", None)
    if visit is not None:
        browser.return_to_place(state.path_of("/"))
        state.follow_link(chat_id)


def providers(auth: Mapping[str, object]) -> dict[str, str]:
    """Key for `st.login` -> name for a person, of every login provider in the `[auth]` section;
    empty is the unnamed one."""
    sections = {"": auth} if "server_metadata_url" in auth else {}
    sections |= {
        key: part
        for key, part in auth.items()
        if isinstance(part, Mapping) and "server_metadata_url" in part
    }
    return {key: _name(key, str(part["server_metadata_url"])) for key, part in sections.items()}


def _name(key: str, address: str) -> str:
    host = urlsplit(address).hostname or ""
    known = next(
        (name for end, name in PROVIDERS.items() if host == end or host.endswith(f".{end}")), ""
    )
    return known or key.replace("-", " ").capitalize()


def _draw_landing(problem: SignInError) -> None:
    """What Leaf is, why one stands here, and the way in."""
    with st.container(key="landing", gap="medium"):
        st.title(t("Ask your files"), anchor=False)
        st.markdown(
            t(
                "Leaf is a data analyst in the browser. It opens just what it needs of "
                "your files and shows its work."
            )
        )
        if trouble := st.session_state.get("sign-in-trouble"):
            st.warning(markdown.paragraph(t(trouble)), icon=":material/warning:")
        elif problem.reason != "none":
            st.warning(markdown.paragraph(told(problem)), icon=":material/lock:")
        if problem.reason == "refused":
            _draw_leave()
        else:
            _draw_buttons()
        with st.container(key="landing-points", gap="small"):
            for icon, text in POINTS:
                st.markdown(f"{icon} {t(text)}")
    if problem.reason != "refused":
        browser.keep_place()


def _take_trouble() -> None:
    """If a sign-in has just failed: keep what is to be said of it, and clear it from the
    address."""
    word = st.query_params.pop(sign_in.PARAMETER, None)
    if word in sign_in.TROUBLES:
        st.session_state["sign-in-trouble"] = sign_in.TROUBLES[word]


def _draw_buttons() -> None:
    """One for each provider, the first one green."""
    name_of = providers(state.auth_section())
    if not name_of:
        st.warning(
            t(
                "Sign-in is not set up completely: `[auth]` in the secrets names no "
                "login provider. See docs/sign-in.md."
            )
        )
    with st.container(horizontal=True, key="sign-in"):
        for number, (key, name) in enumerate(name_of.items()):
            label = t("Sign in with {name}", name=markdown.label(name)) if name else t("Sign in")
            if st.button(
                label,
                key=f"sign-in-{key}",
                type="secondary" if number else "primary",
                icon=":material/login:",
            ):
                _sign_in(key)


def _sign_in(key: str) -> None:
    try:
        st.login(key or None)
    except StreamlitAuthError as e:
        st.warning(t("Sign-in is not set up completely. {e}", e=markdown.paragraph(str(e))))


def _draw_leave() -> None:
    if st.button(
        t("Sign out and use another account"),
        key="sign-out",
        type="primary",
        icon=":material/logout:",
    ):
        st.logout()
