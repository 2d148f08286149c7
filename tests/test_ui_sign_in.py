"""The gate and the pages behind it, drawn by Streamlit's own test runner."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leaf import settings
from leaf.app import Leaf
from leaf.errors import InvalidInputError, NotFoundError
from leaf.shapes.harmless import JOINER
from leaf.store.model import Scope
from leaf.ui import gate, state
from leaf.wiring import build
from tests.leaf_kit import finished, opened

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60
NOW = int(time.time())
PROVIDER = {
    "client_id": "leaf",
    "client_secret": "x",
    "server_metadata_url": "https://accounts.google.com/.well-known/x",
}
AUTH = {"redirect_uri": "http://localhost:8501/oauth2callback", "cookie_secret": "y" * 32}


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    app = build(
        settings.load({"LEAF_HOME": str(tmp_path / "home"), "LEAF_ALLOWED_DOMAINS": "example.org"})
    )
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    yield app
    state.close()
    delattr(sys, state.REGISTRY)


def claims(who: str, **changed: Any) -> dict[str, Any]:
    return {
        "is_logged_in": True,
        "iss": "https://login.example.org",
        "sub": who,
        "iat": NOW,
        "exp": NOW + 3600,
        "nonce": f"nonce-of-{who}",
        "email": f"{who.lower()}@example.org",
        "email_verified": True,
        "name": who,
    } | changed


def open_page(
    user: dict[str, Any] | None, path: str = "", auth: dict[str, Any] | None = None, **query: str
) -> AppTest:
    page = AppTest.from_file(str(ROOT / "leaf" / "ui" / "shell.py"), default_timeout=PATIENCE)
    page.secrets["auth"] = auth or {**AUTH, "google": PROVIDER}
    page.user = user or {"is_logged_in": False}
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    if path:
        page.switch_page(str(ROOT / "leaf" / "pages" / f"{path}.py"))
        page.run()
    assert not page.exception
    return page


def words_of(page: AppTest) -> str:
    kinds = (page.title, page.header, page.markdown, page.caption, page.warning)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def labels_of(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


@pytest.mark.parametrize("path", ["", "files", "settings"])
def test_every_page_is_behind_the_gate(leaf: Leaf, path: str) -> None:
    page = open_page(None, path)
    assert page.title[0].value == "Ask your files"
    assert labels_of(page) == ["Sign in with Google"]
    assert not page.sidebar.button
    assert not page.warning


def test_each_provider_has_its_button() -> None:
    company = {**PROVIDER, "server_metadata_url": "https://login.firm.example/.well-known/x"}
    tenant = {**PROVIDER, "server_metadata_url": "https://dev-1.okta.com/.well-known/x"}
    assert gate.providers({**AUTH, "my-firm": company, "second": tenant}) == {
        "my-firm": "My firm",
        "second": "Okta",
    }
    assert gate.providers({**AUTH, **company}) == {"": ""}
    assert gate.providers({**AUTH, **PROVIDER}) == {"": "Google"}


def test_a_sign_in_without_provider_says_what_is_missing(leaf: Leaf) -> None:
    page = open_page(None, auth={"cookie_secret": "z"})
    assert "not set up completely" in words_of(page)
    assert labels_of(page) == []


def test_the_first_sign_in_opens_a_workspace_of_ones_own(leaf: Leaf) -> None:
    page = open_page(claims("Ann"), "settings")
    assert "Ann's Workspace" in words_of(page)
    assert "ann@example.org" in words_of(page).replace(JOINER, "")


@pytest.mark.parametrize(
    ("changed", "said", "buttons"),
    [
        ({"exp": 1}, "Your sign-in has expired.", ["Sign in with Google"]),
        ({"email_verified": False}, "is not verified", ["Sign out and use another account"]),
        (
            {"email": "eve@evil.org"},
            "eve@evil.org may not use this Leaf",
            ["Sign out and use another account"],
        ),
    ],
)
def test_who_is_not_let_in_reads_why_and_what_to_do(
    leaf: Leaf, changed: dict[str, Any], said: str, buttons: list[str]
) -> None:
    page = open_page(claims("Ann", **changed))
    assert said in words_of(page)
    assert labels_of(page) == buttons
    assert not page.sidebar.button


def test_a_sign_in_that_expires_meets_the_gate_at_the_next_action(leaf: Leaf) -> None:
    page = open_page(claims("Ann"))
    assert page.title[0].value == "What do you want to know?"
    page.user = claims("Ann", exp=NOW - 1)
    page.button(key="new-chat").click().run()
    assert "Your sign-in has expired." in words_of(page)


def test_signing_out_in_one_tab_ends_the_other_at_its_next_action(leaf: Leaf) -> None:
    first, second = open_page(claims("Ann")), open_page(claims("Ann"))
    other_device = open_page(claims("Ann", nonce="phone"))
    leaf.sign_out(leaf.sign_in(claims("Ann")))
    for page in (first, second):
        page.button(key="new-chat").click().run()
        assert "You are signed out." in words_of(page)
        assert labels_of(page) == ["Sign in with Google"]
    other_device.run()
    assert other_device.title[0].value == "What do you want to know?"


def test_a_download_that_was_drawn_before_the_sign_out_gives_nothing(leaf: Leaf) -> None:
    visit = leaf.sign_in(claims("Ann"))
    page = AppTest.from_string(
        "import streamlit as st\nfrom leaf.ui.state import later\n"
        "st.session_state['made'] = later(lambda own: own.team.user().email)",
        default_timeout=PATIENCE,
    )
    page.secrets["auth"] = {**AUTH, "google": PROVIDER}
    page.user = claims("Ann")
    page.run()
    download = page.session_state["made"]
    assert download() == visit.user.email
    leaf.sign_out(visit)
    with pytest.raises(Exception, match="signed out"):
        download()


def field(page: AppTest) -> Any:
    return next(t for t in page.text_input if t.label == "Invite by e-mail")


def test_owners_invite_and_remove_on_the_settings_page(leaf: Leaf) -> None:
    page = open_page(claims("Ann"), "settings")
    field(page).set_value("bob@example.org")
    next(b for b in page.button if b.label == "Invite").click().run()
    assert "joins at the next sign-in" in words_of(page)
    field(page).set_value("eve@evil.org")
    next(b for b in page.button if b.label == "Invite").click().run()
    assert "eve@evil.org may not sign in here." in words_of(page)
    bob = leaf.sign_in(claims("Bob"))
    page.run()
    assert "joins at the next sign-in" not in words_of(page)
    theirs = open_page(claims("Bob"), "settings")
    assert "Invite" not in labels_of(theirs)
    ann = leaf.sign_in(claims("Ann"))
    leaf.session(ann.scope).team.remove(bob.user.id)
    theirs.run()
    assert "Ann's Workspace" not in words_of(theirs)
    assert "Bob's Workspace" in words_of(theirs)


def shared_chat(leaf: Leaf) -> tuple[Scope, Scope, str]:
    """Ann and Bob of Ann's workspace, and a chat that she began and shared with him."""
    ann = leaf.sign_in(claims("Ann")).scope
    leaf.session(ann).team.invite("bob@example.org")
    bob = leaf.sign_in(claims("Bob")).scope
    chat = leaf.session(ann).chats.create()
    finished(leaf.session(ann), leaf.session(ann).messages.send(chat.id, "hello from me").id)
    leaf.session(ann).chats.add_participant(chat.id, "bob@example.org")
    return ann, bob, chat.id


def test_a_shared_chat_names_who_asked_and_stands_with_an_icon_in_the_sidebar(leaf: Leaf) -> None:
    ann, bob, chat_id = shared_chat(leaf)
    finished(leaf.session(bob), leaf.session(bob).messages.send(chat_id, "and from me").id)
    alone = leaf.session(ann).chats.create()
    page = open_page(claims("Ann"), chat=chat_id)
    captions = [c.value for c in page.caption]
    assert "Ann" in captions
    assert "Bob" in captions
    icons = {b.key: b.icon for b in page.sidebar.button if (b.key or "").startswith("chat-")}
    assert icons[f"chat-{chat_id}"] == ":material/group:"
    assert icons[f"chat-{alone.id}"] != ":material/group:"


def test_a_link_opens_the_workspace_of_its_chat(leaf: Leaf) -> None:
    _ann, bob, chat_id = shared_chat(leaf)
    visit = leaf.sign_in(claims("Bob"))
    own = next(w for w in leaf.session(bob).team.workspaces() if w.role == "owner")
    leaf.choose_workspace(visit, own.workspace_id)
    assert open_page(claims("Bob")).sidebar.selectbox[0].value == own.workspace_id
    page = open_page(claims("Bob"), chat=chat_id)
    assert "hello from me" in words_of(page)
    assert page.sidebar.selectbox[0].value == bob.workspace_id


def test_another_workspace_is_opened_from_the_sidebar(leaf: Leaf) -> None:
    _ann, bob, chat_id = shared_chat(leaf)
    own = next(w for w in leaf.session(bob).team.workspaces() if w.role == "owner")
    page = open_page(claims("Bob"))
    assert f"chat-{chat_id}" in [b.key for b in page.sidebar.button]
    page.sidebar.selectbox[0].select(own.workspace_id).run()
    assert f"chat-{chat_id}" not in [b.key for b in page.sidebar.button]
    assert page.sidebar.selectbox[0].value == own.workspace_id


def test_a_tab_stays_in_its_workspace_whatever_other_tabs_open(leaf: Leaf) -> None:
    _ann, bob, chat_id = shared_chat(leaf)
    own = next(w for w in leaf.session(bob).team.workspaces() if w.role == "owner")
    page = open_page(claims("Bob"))
    leaf.choose_workspace(leaf.sign_in(claims("Bob")), own.workspace_id)
    assert open_page(claims("Bob")).sidebar.selectbox[0].value == own.workspace_id
    time.sleep(state.REMEMBERED)
    page.run()
    assert page.sidebar.selectbox[0].value == bob.workspace_id
    assert f"chat-{chat_id}" in [b.key for b in page.sidebar.button]


def test_what_was_meant_for_a_workspace_comes_into_no_other(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob, _ = shared_chat(leaf)
    monkeypatch.setattr(state, "_claims", lambda: claims("Bob"))
    monkeypatch.setattr(state, "login_needed", lambda: True)
    monkeypatch.setattr(state, "current_scope", lambda: bob)
    upload = state.later(lambda own: own.chats.create())
    assert upload().workspace_id == bob.workspace_id
    leaf.session(ann).team.remove(bob.user_id)
    with pytest.raises(NotFoundError, match="No such workspace"):
        upload()


def test_who_is_taken_out_of_the_open_chat_sees_it_no_more(leaf: Leaf) -> None:
    ann, bob, chat_id = shared_chat(leaf)
    page = open_page(claims("Bob"), chat=chat_id)
    assert "hello from me" in words_of(page)
    leaf.session(ann).chats.remove_participant(chat_id, bob.user_id)
    page.run()
    assert "hello from me" not in words_of(page)
    assert "was deleted or is not shared" in words_of(page)


def test_without_sign_in_there_are_no_people_to_show(tmp_path: Path) -> None:
    app = build(settings.load({"LEAF_HOME": str(tmp_path / "home")}))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    try:
        page = AppTest.from_file(
            str(ROOT / "leaf" / "ui" / "shell.py"), default_timeout=PATIENCE
        ).run()
        page.switch_page(str(ROOT / "leaf" / "pages" / "settings.py")).run()
        assert page.title[0].value == "Settings"
        assert "Workspace" not in words_of(page)
        assert not page.sidebar.selectbox
    finally:
        state.close()
        delattr(sys, state.REGISTRY)


def test_nobody_who_signs_in_chooses_the_model_of_everybody(tmp_path: Path) -> None:
    with opened(tmp_path, model_url="http://127.0.0.1:9") as leaf:
        models = leaf.session(leaf.sign_in(claims("Ann")).scope).models
        with pytest.raises(InvalidInputError, match="Whoever runs"):
            models.set_default("other")
        assert models.default() != "other"
        leaf.session(leaf.local_scope()).models.set_default("other")
        assert models.default() == "other"


def test_suggestions_and_transcripts_are_for_members(leaf: Leaf) -> None:
    ann, eve = (leaf.session(leaf.sign_in(claims(who)).scope) for who in ("Ann", "Bob"))
    file = ann.files.add_sample()[0]
    assert ann.files.suggestions([file])
    for ask in (lambda: eve.files.suggestions([file]), lambda: eve.transcripts.of(file)):
        with pytest.raises(NotFoundError):
            ask()


def test_owners_see_and_limit_everybodys_usage_and_members_their_own(leaf: Leaf) -> None:
    ann = leaf.sign_in(claims("Ann")).scope
    leaf.session(ann).team.invite("bob@example.org")
    leaf.sign_in(claims("Bob"))
    owners = open_page(claims("Ann"), "usage")
    assert [box.label for box in owners.selectbox if box.key == "budget-subject"] == ["Whose"]
    assert "The whole workspace: 0 answers" in words_of(owners)
    bob = next(
        v
        for v in leaf.session(leaf.sign_in(claims("Bob")).scope).team.workspaces()
        if v.workspace_id == ann.workspace_id
    )
    assert bob.role == "member"
    members = AppTest.from_file(str(ROOT / "leaf" / "ui" / "shell.py"), default_timeout=PATIENCE)
    members.secrets["auth"] = {**AUTH, "google": PROVIDER}
    members.user = claims("Bob")
    members.session_state["workspace"] = ann.workspace_id
    members.run()
    members.switch_page(str(ROOT / "leaf" / "pages" / "usage.py"))
    members.run()
    assert not members.exception
    assert members.title[0].value == "Usage"
    assert not [box for box in members.selectbox if box.key == "budget-subject"]
    assert "Set budgets" not in [expander.label for expander in members.expander]


def test_a_question_about_ones_drive_is_shown_to_nobody_else(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def question(of_user: str, chat_id: str) -> None:
        from leaf.ui import code

        code.consent(
            {
                "key": "k",
                "question": "Bring “walrus.csv” from your Google Drive into this chat?",
                "detail": "They can then open the whole file here.",
                "of_user": of_user,
                "icon": "add_to_drive",
                "state": "waiting",
            },
            chat_id,
        )

    ann, bob, chat_id = shared_chat(leaf)
    for scope, sees in ((ann, True), (bob, False)):
        monkeypatch.setattr("leaf.ui.code.session", lambda scope=scope: leaf.session(scope))
        page = AppTest.from_function(
            question, default_timeout=PATIENCE, args=(ann.user_id, chat_id)
        ).run()
        assert not page.exception
        assert ("walrus" in words_of(page)) is sees
        assert labels_of(page) == (["Allow", "Refuse"] if sees else [])
    assert "The answer waits for Ann's permission." in words_of(page)
