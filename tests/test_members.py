"""Who signed in, who belongs to a workspace and who takes part in a chat, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from leaf.errors import InvalidInputError, NotFoundError, SignInError
from leaf.identity import identify
from leaf.settings import Settings
from leaf.settings.mail import one_form
from leaf.store import (
    Store,
    accounts,
    chat_files,
    chats,
    files,
    links,
    logins,
    members,
    messages,
    participants,
)
from leaf.store.model import Scope, Visit
from tests.removal_kit import purge_chat
from tests.test_store import add_file, snapshot, text

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EXPIRES = int(NOW.timestamp()) + 3600


def claims(who: str = "Ann Example", **changed: Any) -> dict[str, Any]:
    """What a provider says of somebody; each call is a sign-in of its own only if `nonce` says
    so."""
    first = who.split()[0]
    return {
        "is_logged_in": True,
        "iss": "https://login.example.org",
        "sub": f"sub-{first.lower()}",
        "aud": "leaf",
        "iat": EXPIRES - 3600,
        "exp": EXPIRES,
        "nonce": f"nonce-{first}",
        "email": f"{first.lower()}@example.org",
        "email_verified": True,
        "name": who,
        "given_name": first,
    } | changed


def sign_in(
    store: Store, who: str = "Ann Example", *, workspace: str = "", **changed: Any
) -> Visit:
    identity = identify(claims(who, **changed), Settings(), NOW)
    visit = logins.find(store.db, identity, workspace)
    if visit is None:
        logins.begin(store.db, identity)
        visit = logins.find(store.db, identity, workspace)
    assert visit is not None
    return visit


def join(store: Store, owner: Scope, name: str) -> Scope:
    """Somebody who was invited and has signed in since."""
    members.invite(store.db, owner, f"{name.lower()}@example.org")
    return sign_in(store, name).scope


@pytest.fixture
def ann(store: Store) -> Scope:
    return sign_in(store).scope


# Claims


@pytest.mark.parametrize(
    ("changed", "reason", "said"),
    [
        ({"is_logged_in": False}, "none", "not signed in"),
        ({"is_logged_in": "true"}, "none", "not signed in"),
        ({"exp": int(NOW.timestamp())}, "expired", "Sign in again"),
        ({"exp": None}, "refused", "until when"),
        ({"exp": True}, "refused", "until when"),
        ({"email": None}, "refused", "e-mail address"),
        ({"email": "local"}, "refused", "not an e-mail address"),
        ({"email": "a@b@example.org"}, "refused", "not an e-mail address"),
        ({"email": "mi\u212ae@example.org"}, "refused", "not an e-mail address"),
        ({"email": "a\u200bnn@example.org"}, "refused", "not an e-mail address"),
        ({"email": "a\ud800nn@example.org"}, "refused", "not an e-mail address"),
        ({"email_verified": False}, "refused", "not verified"),
        ({"email_verified": "false"}, "refused", "not verified"),
        ({"sub": ""}, "refused", "which account"),
        ({"iss": None}, "refused", "which account"),
    ],
)
def test_a_login_that_does_not_hold_is_refused_with_a_sentence(
    changed: dict[str, Any], reason: str, said: str
) -> None:
    with pytest.raises(SignInError, match=said) as caught:
        identify(claims(**changed), Settings(), NOW)
    assert caught.value.reason == reason


def test_nobody_is_signed_in_without_claims() -> None:
    with pytest.raises(SignInError) as caught:
        identify({}, Settings(), NOW)
    assert caught.value.reason == "none"


@pytest.mark.parametrize(
    ("changed", "name", "first"),
    [
        ({}, "Ann Example", "Ann"),
        ({"given_name": None}, "Ann Example", "Ann"),
        ({"name": " \n ", "given_name": None}, "ann", "ann"),
        ({"name": None, "given_name": "Mary Ann"}, "Mary Ann", "Mary Ann"),
    ],
)
def test_a_name_is_made_of_what_the_provider_tells(
    changed: dict[str, Any], name: str, first: str
) -> None:
    identity = identify(claims(**changed), Settings(), NOW)
    assert (identity.name, identity.first_name) == (name, first)


@pytest.mark.parametrize(
    ("domains", "emails", "address", "let_in"),
    [
        ((), (), "anyone@anywhere.net", True),
        (("example.org",), (), "Ann@Example.org", True),
        (("example.org",), (), "ann@sub.example.org", False),
        (("example.org",), (), "ann@evilexample.org", False),
        (("example.org",), ("guest@other.net",), "guest@other.net", True),
        ((), ("jos\u00e9@other.net",), "jose\u0301@other.net", True),
        ((), ("guest@other.net",), "ann@other.net", False),
    ],
)
def test_only_allowed_addresses_are_let_in(
    domains: tuple[str, ...], emails: tuple[str, ...], address: str, let_in: bool
) -> None:
    settings = Settings(allowed_domains=domains, allowed_emails=emails)
    if let_in:
        assert identify(claims(email=address), settings, NOW).email == one_form(address)
    else:
        with pytest.raises(SignInError, match="may not use this Leaf") as caught:
            identify(claims(email=address), settings, NOW)
        assert caught.value.reason == "refused"


def test_a_session_may_last_longer_than_the_token_if_settings_say_so() -> None:
    later = datetime.fromtimestamp(EXPIRES + 3600, UTC)
    with pytest.raises(SignInError, match="expired"):
        identify(claims(), Settings(), later)
    assert identify(claims(), Settings(session_hours=12), later).subject == "sub-ann"
    with pytest.raises(SignInError, match="expired"):
        identify(claims(), Settings(session_hours=1.5), later)


def test_every_sign_in_has_an_id_of_its_own_that_does_not_tell_its_claims() -> None:
    first, again, other = (
        identify(claims(nonce=n), Settings(), NOW).login_id for n in ("one", "one", "two")
    )
    assert first == again != other
    assert "one" not in first


# Signing in


def test_the_first_sign_in_makes_the_user_and_their_workspace_and_later_ones_find_them(
    store: Store,
) -> None:
    visit = sign_in(store)
    assert (visit.user.email, visit.user.name) == ("ann@example.org", "Ann Example")
    assert [(w.name, w.role) for w in members.memberships(store.db, visit.scope)] == [
        ("Ann's Workspace", "owner")
    ]
    again = sign_in(store, nonce="later", email="ANN@example.org")
    assert (again.scope, again.user) == (visit.scope, visit.user)


def test_two_tabs_that_sign_in_at_once_make_one_user_and_one_workspace(store: Store) -> None:
    barrier = threading.Barrier(6)

    def tab(_: int) -> Visit:
        barrier.wait()
        return sign_in(store)

    with ThreadPoolExecutor(6) as pool:
        visits = list(pool.map(tab, range(6)))
    assert len(set(visits)) == 1
    assert store.db.read("SELECT count(*) AS n FROM workspaces") == [{"n": 1}]


def test_an_account_is_found_by_its_subject_when_its_address_changes(store: Store) -> None:
    before = sign_in(store)
    after = sign_in(store, nonce="later", email="ann.new@example.org")
    assert after.scope == before.scope
    assert after.user.email == "ann.new@example.org"
    bob = sign_in(store, "Bob", email="bob@example.org")
    taken = sign_in(store, "Bob", nonce="later", email="ann.new@example.org")
    assert (taken.user.id, taken.user.email) == (bob.user.id, "bob@example.org")


def test_an_address_that_passed_to_another_account_does_not_open_the_old_one(store: Store) -> None:
    old = sign_in(store)
    with pytest.raises(SignInError, match="already used here by another account") as caught:
        sign_in(store, sub="somebody-new", nonce="new")
    assert caught.value.reason == "refused"
    assert logins.unscoped_unlink(store.db, "Ann@example.org")
    assert sign_in(store, sub="somebody-new", nonce="new").scope == old.scope
    with pytest.raises(SignInError, match="signed out"):
        sign_in(store)
    assert not logins.unscoped_unlink(store.db, "nobody@example.org")


def test_a_second_provider_opens_an_account_only_if_it_vouches_for_the_address(
    store: Store,
) -> None:
    first = sign_in(store)
    other = {"iss": "https://other.example.net", "sub": "77"}
    with pytest.raises(SignInError, match="already used"):
        sign_in(store, nonce="a", email_verified=None, **other)
    assert sign_in(store, nonce="b", **other).scope == first.scope


def test_signing_out_ends_that_sign_in_only_and_everywhere_ends_all(store: Store) -> None:
    laptop, phone = sign_in(store, nonce="laptop"), sign_in(store, nonce="phone")
    logins.end(store.db, laptop)
    with pytest.raises(SignInError) as caught:
        sign_in(store, nonce="laptop")
    assert caught.value.reason == "ended"
    assert sign_in(store, nonce="phone").scope == phone.scope
    logins.end_all(store.db, phone)
    with pytest.raises(SignInError):
        sign_in(store, nonce="phone")
    assert sign_in(store, nonce="anew").scope == laptop.scope


def test_nobody_ends_the_sign_in_of_another(store: Store) -> None:
    ann, bob = sign_in(store), sign_in(store, "Bob")
    logins.end(store.db, Visit(bob.user, bob.scope, ann.login_id))
    assert sign_in(store) == ann


def test_a_page_that_is_still_open_does_not_make_a_purged_account_again(store: Store) -> None:
    workspace = sign_in(store, "Bob").scope.workspace_id
    with store.db.transaction() as tx:
        tx.concerns([workspace])
        accounts.remove_account(tx, "bob@example.org")
    with pytest.raises(SignInError, match="signed out"):
        sign_in(store, "Bob")
    assert store.db.read("SELECT id FROM users UNION ALL SELECT id FROM workspaces") == []
    assert store.db.read("SELECT user_id, workspace_id FROM logins") == [
        {"user_id": "", "workspace_id": ""}
    ]
    assert sign_in(store, "Bob", nonce="next").scope.workspace_id != workspace


# Workspaces


def test_an_invitation_is_accepted_at_the_next_sign_in(store: Store, ann: Scope) -> None:
    own = sign_in(store, "Bob").scope
    for address in ("Bob@Example.org ", "bob@example.org", "cy@example.org"):
        members.invite(store.db, ann, address)
    assert [(i.email, i.invited_by) for i in members.list_invitations(store.db, ann)] == [
        ("bob@example.org", "Ann Example"),
        ("cy@example.org", "Ann Example"),
    ]
    assert sign_in(store, "Bob").scope == own
    assert sign_in(store, "Bob", nonce="next").scope == own, "his next files stay with him"
    bob = sign_in(store, "Bob", nonce="next", workspace=ann.workspace_id).scope
    cy = sign_in(store, "Cy").scope
    assert bob.workspace_id == cy.workspace_id == ann.workspace_id
    assert members.list_invitations(store.db, ann) == []
    assert [(m.name, m.role) for m in members.list_members(store.db, bob)] == [
        ("Ann Example", "owner"),
        ("Bob", "member"),
        ("Cy", "member"),
    ]
    assert {w.name for w in members.memberships(store.db, cy)} == {
        "Ann's Workspace",
        "Cy's Workspace",
    }
    with pytest.raises(InvalidInputError, match="member already"):
        members.invite(store.db, ann, "bob@example.org")


@pytest.mark.parametrize("invited", ["jose\u0301@example.org", "JOS\u00c9@example.org"])
def test_an_address_is_one_however_its_letters_are_written(
    store: Store, ann: Scope, invited: str
) -> None:
    members.invite(store.db, ann, invited)
    jose = sign_in(store, "Jos\u00e9").scope
    assert jose.workspace_id == ann.workspace_id
    with pytest.raises(InvalidInputError, match="member already"):
        members.invite(store.db, ann, invited)
    assert logins.unscoped_unlink(store.db, invited)


def test_an_address_that_only_looks_like_one_opens_no_account(store: Store) -> None:
    mike = sign_in(store, "Mike").user.id
    with pytest.raises(SignInError, match="not an e-mail address"):
        sign_in(store, "Evil", email="mi\u212ae@example.org", iss="https://other.example")
    assert sign_in(store, "Mike", nonce="next").user.id == mike


def test_an_invitation_that_was_taken_back_opens_nothing(store: Store, ann: Scope) -> None:
    members.invite(store.db, ann, "bob@example.org")
    (invitation,) = members.list_invitations(store.db, ann)
    members.withdraw(store.db, ann, invitation.id)
    assert sign_in(store, "Bob").scope.workspace_id != ann.workspace_id


@pytest.mark.parametrize(
    "address", ["", "ann", "ann@", "@example.org", "a b@example.org", "ann@example.org\nbcc: x@y.z"]
)
def test_what_is_no_address_cannot_be_invited(store: Store, ann: Scope, address: str) -> None:
    with pytest.raises(InvalidInputError, match="not an e-mail address"):
        members.invite(store.db, ann, address)


def test_the_workspace_that_was_chosen_is_open_in_new_tabs_and_after_the_next_sign_in(
    store: Store, ann: Scope
) -> None:
    own = sign_in(store, "Bob").scope
    members.invite(store.db, ann, "bob@example.org")
    visit = sign_in(store, "Bob", nonce="next")
    assert visit.scope == own
    logins.remember_workspace(store.db, visit, ann.workspace_id)
    for nonce in ("next", "third"):
        assert sign_in(store, "Bob", nonce=nonce).scope.workspace_id == ann.workspace_id
    assert sign_in(store, "Bob", nonce="third", workspace=own.workspace_id).scope == own
    stranger = sign_in(store, "Eve")
    assert sign_in(store, "Eve", workspace=ann.workspace_id).scope == stranger.scope
    with pytest.raises(NotFoundError):
        logins.remember_workspace(store.db, stranger, ann.workspace_id)


def test_owners_only_change_who_belongs(store: Store, ann: Scope) -> None:
    bob, cy = join(store, ann, "Bob"), join(store, ann, "Cy")
    members.invite(store.db, ann, "dan@example.org")
    (invitation,) = members.list_invitations(store.db, ann)
    for call in (
        lambda: members.invite(store.db, bob, "eve@example.org"),
        lambda: members.withdraw(store.db, bob, invitation.id),
        lambda: members.remove(store.db, bob, cy.user_id),
        lambda: members.set_role(store.db, bob, bob.user_id, "owner"),
        lambda: members.rename(store.db, bob, "Bob's"),
    ):
        with pytest.raises(InvalidInputError, match="Only an owner"):
            call()
    members.set_role(store.db, ann, bob.user_id, "owner")
    members.rename(store.db, bob, " The  team ")
    assert "The team" in [w.name for w in members.memberships(store.db, ann)]
    with pytest.raises(InvalidInputError, match="needs a name"):
        members.rename(store.db, bob, " ")


def test_the_last_owner_stays(store: Store, ann: Scope) -> None:
    bob = join(store, ann, "Bob")
    for call in (
        lambda: members.remove(store.db, ann, ann.user_id),
        lambda: members.set_role(store.db, ann, ann.user_id, "member"),
    ):
        with pytest.raises(InvalidInputError, match="needs an owner"):
            call()
    members.set_role(store.db, ann, bob.user_id, "owner")
    members.remove(store.db, ann, ann.user_id)
    assert [m.role for m in members.list_members(store.db, bob)] == ["owner"]


def test_two_owners_who_leave_at_once_leave_one_behind(store: Store, ann: Scope) -> None:
    bob = join(store, ann, "Bob")
    members.set_role(store.db, ann, bob.user_id, "owner")
    barrier = threading.Barrier(2)

    def leave(scope: Scope) -> bool:
        barrier.wait()
        try:
            members.remove(store.db, scope, scope.user_id)
        except InvalidInputError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(leave, (ann, bob))) == [False, True]


def test_whoever_has_left_every_workspace_gets_one_of_their_own(store: Store, ann: Scope) -> None:
    bob = join(store, ann, "Bob")
    own = next(w for w in members.memberships(store.db, bob) if w.role == "owner")
    home = Scope(own.workspace_id, bob.user_id)
    cy = join(store, home, "Cy")
    members.set_role(store.db, home, cy.user_id, "owner")
    members.remove(store.db, home, bob.user_id)
    members.remove(store.db, ann, bob.user_id)
    fresh = sign_in(store, "Bob").scope
    assert fresh.workspace_id not in (ann.workspace_id, own.workspace_id)
    assert [w.name for w in members.memberships(store.db, fresh)] == ["Bob's Workspace"]


# Chats


def test_a_shared_chat_is_seen_by_those_who_take_part_and_says_who_asked(
    store: Store, ann: Scope
) -> None:
    bob, cy = join(store, ann, "Bob"), join(store, ann, "Cy")
    chat = chats.create(store.db, ann, title="Sales")
    messages.add_exchange(store.db, ann, chat.id, text("How much?"))
    assert not chats.get(store.db, ann, chat.id).shared
    participants.add(store.db, ann, chat.id, "BOB@example.org")
    assert chats.get(store.db, ann, chat.id).shared
    messages.add_exchange(store.db, bob, chat.id, text("And now?"))
    assert [c.shared for c in chats.list_chats(store.db, bob)] == [True]
    assert chats.list_chats(store.db, cy) == []
    names = participants.authors(store.db, bob, chat.id)
    asked = [m for m in messages.thread(store.db, ann, chat.id).messages if m.role == "user"]
    assert [names[m.user_id] for m in asked] == ["Ann Example", "Bob"]
    assert [(p.name, p.host) for p in participants.list_participants(store.db, bob, chat.id)] == [
        ("Ann Example", True),
        ("Bob", False),
    ]


def test_only_members_can_be_brought_into_a_chat(store: Store, ann: Scope) -> None:
    sign_in(store, "Eve")
    chat = chats.create(store.db, ann)
    with pytest.raises(NotFoundError, match="not a member of this workspace"):
        participants.add(store.db, ann, chat.id, "eve@example.org")


def test_a_clock_that_was_set_back_changes_neither_the_host_nor_which_answer_is_the_newest(
    store: Store, ann: Scope
) -> None:
    bob, cy = join(store, ann, "Bob"), join(store, ann, "Cy")
    chat = chats.create(store.db, ann)
    asked = messages.add_exchange(store.db, ann, chat.id, text("How much?"))
    messages.stop_pending(store.db, ann, asked.answer.id)
    for table in ("chat_participants", "messages", "chats"):
        ahead(store, ann, table, "created_at")
    ahead(store, ann, "chats", "updated_at")
    participants.add(store.db, ann, chat.id, "bob@example.org")
    links.set_open(store.db, ann, chat.id, True)
    links.join(store.db, cy, chat.id)
    for one in (ann, bob, cy):
        there = participants.list_participants(store.db, one, chat.id)
        assert [p.name for p in there] == ["Ann Example", "Bob", "Cy"]
        assert chats.host_of(store.db, chat.id)[0] == ann.user_id
    with pytest.raises(InvalidInputError, match="shared by Ann Example"):
        chats.delete(store.db, bob, chat.id)
    again = messages.add_answer(store.db, ann, asked.question.id)
    assert messages.siblings(store.db, ann, again.id) == (asked.answer.id, again.id)
    assert messages.newest_below(store.db, ann, asked.question.id) == again.id


def ahead(store: Store, scope: Scope, table: str, column: str) -> None:
    """What is kept was written by a clock that was a day ahead."""
    with store.db.transaction(scope) as tx:
        tx.execute(f"UPDATE {table} SET {column} = {column} + INTERVAL '1 day'")


def test_the_host_takes_others_out_and_everybody_may_leave_but_the_last(
    store: Store, ann: Scope
) -> None:
    bob, cy = join(store, ann, "Bob"), join(store, ann, "Cy")
    chat = chats.create(store.db, ann)
    participants.add(store.db, ann, chat.id, "bob@example.org")
    participants.add(store.db, bob, chat.id, "cy@example.org")
    for call in (
        lambda: participants.remove(store.db, bob, chat.id, cy.user_id),
        lambda: chats.delete(store.db, bob, chat.id),
        lambda: purge_chat(store.db, bob, chat.id),
    ):
        with pytest.raises(InvalidInputError, match="shared by Ann Example"):
            call()
    participants.remove(store.db, ann, chat.id, cy.user_id)
    with pytest.raises(NotFoundError):
        chats.get(store.db, cy, chat.id)
    participants.remove(store.db, ann, chat.id, ann.user_id)
    assert [p.host for p in participants.list_participants(store.db, bob, chat.id)] == [True]
    with pytest.raises(InvalidInputError, match="Nobody else"):
        participants.remove(store.db, bob, chat.id, bob.user_id)
    assert chats.delete(store.db, bob, chat.id).deleted_at is not None


def test_an_answer_for_somebody_who_is_taken_out_is_ended(store: Store, ann: Scope) -> None:
    bob = join(store, ann, "Bob")
    chat, other = chats.create(store.db, ann), chats.create(store.db, bob)
    participants.add(store.db, ann, chat.id, "bob@example.org")
    mine = messages.add_exchange(store.db, ann, chat.id, text("?")).answer
    theirs = messages.add_exchange(store.db, bob, chat.id, text("?")).answer
    elsewhere = messages.add_exchange(store.db, bob, other.id, text("?")).answer
    assert participants.remove(store.db, ann, chat.id, bob.user_id) == [theirs.id]
    assert messages.get(store.db, ann, theirs.id).status == "stopped"
    assert messages.get(store.db, ann, mine.id).status == "pending"
    assert members.remove(store.db, ann, bob.user_id) == [elsewhere.id]
    assert [u.message.id for u in messages.unscoped_unfinished(store.db)] == [mine.id]


def test_a_removed_member_reaches_nothing_by_any_id_and_comes_back_to_their_own_chats(
    store: Store, ann: Scope
) -> None:
    bob = join(store, ann, "Bob")
    shared, own = (
        chats.create(store.db, ann, title="shared"),
        chats.create(store.db, bob, title="own"),
    )
    participants.add(store.db, ann, shared.id, "bob@example.org")
    file = add_file(store, bob, "bob.csv")
    chat_files.attach(store.db, bob, shared.id, [file.id])
    answers = [
        messages.add_exchange(store.db, bob, c.id, text("?")).answer.id for c in (shared, own)
    ]
    members.remove(store.db, ann, bob.user_id)
    before = snapshot(store)
    for call in everything(store, ann, shared.id, answers[0], file.id) + everything(
        store, ann, own.id, answers[1], file.id
    ):
        with pytest.raises(NotFoundError):
            call(bob)
    check_sees_nothing(store, bob)
    assert snapshot(store) == before
    assert sign_in(store, "Bob", workspace=bob.workspace_id).scope.workspace_id != bob.workspace_id
    members.invite(store.db, ann, "bob@example.org")
    assert sign_in(store, "Bob", nonce="back").scope == bob
    assert [c.title for c in chats.list_chats(store.db, bob)] == ["own"]


def test_a_stranger_reaches_nothing_by_any_id(store: Store, ann: Scope) -> None:
    chat = chats.create(store.db, ann, title="secret")
    file = add_file(store, ann, "secret.csv")
    chat_files.attach(store.db, ann, chat.id, [file.id])
    answer = messages.add_exchange(store.db, ann, chat.id, text("secret")).answer.id
    members.invite(store.db, ann, "bob@example.org")
    eve = sign_in(store, "Eve").scope
    before = snapshot(store)
    calls = everything(store, ann, chat.id, answer, file.id)
    for scope in (
        Scope(ann.workspace_id, eve.user_id),
        Scope(eve.workspace_id, ann.user_id),
        Scope("", ""),
        eve,
    ):
        for call in calls:
            with pytest.raises((NotFoundError, InvalidInputError)) as caught:
                call(scope)
            assert "secret" not in str(caught.value)
    check_sees_nothing(store, Scope(ann.workspace_id, eve.user_id))
    assert members.list_invitations(store.db, eve) == []
    assert [m.name for m in members.list_members(store.db, eve)] == ["Eve"]
    assert snapshot(store) == before


def test_a_colleague_who_does_not_take_part_reaches_the_chat_by_no_call(
    store: Store, ann: Scope
) -> None:
    bob = join(store, ann, "Bob")
    chat = chats.create(store.db, ann)
    answer = messages.add_exchange(store.db, ann, chat.id, text("?")).answer.id
    for call in of_chat(store, ann, chat.id, answer):
        with pytest.raises(NotFoundError):
            call(bob)
    assert chats.list_chats(store.db, bob, query="?") == []


def of_chat(
    store: Store, owner: Scope, chat_id: str, answer: str
) -> list[Callable[[Scope], object]]:
    db = store.db
    return [
        lambda s: chats.get(db, s, chat_id),
        lambda s: chats.rename(db, s, chat_id, "mine"),
        lambda s: chats.delete(db, s, chat_id),
        lambda s: chats.restore(db, s, chat_id),
        lambda s: purge_chat(db, s, chat_id),
        lambda s: messages.add_exchange(db, s, chat_id, text("?")),
        lambda s: messages.get(db, s, answer),
        lambda s: messages.thread(db, s, chat_id),
        lambda s: messages.finish(db, s, answer, parts=[], raw=[], usage={}, status="stopped"),
        lambda s: messages.set_feedback(db, s, answer, 1),
        lambda s: chat_files.list_chat_files(db, s, chat_id),
        lambda s: participants.list_participants(db, s, chat_id),
        lambda s: participants.authors(db, s, chat_id),
        lambda s: participants.add(db, s, chat_id, "eve@example.org"),
        lambda s: participants.remove(db, s, chat_id, owner.user_id),
        lambda s: participants.remove(db, s, chat_id, s.user_id),
    ]


def everything(
    store: Store, owner: Scope, chat_id: str, answer: str, file_id: str
) -> list[Callable[[Scope], object]]:
    """A call of each kind on what belongs to the owner's workspace; every one must fail for
    somebody who does not."""
    db = store.db
    return [
        *of_chat(store, owner, chat_id, answer),
        lambda s: files.get(db, s, file_id),
        lambda s: files.delete(db, s, file_id),
        lambda s: members.remove(db, s, owner.user_id),
        lambda s: members.set_role(db, s, owner.user_id, "member"),
        lambda s: members.withdraw(db, s, "any"),
    ]


def check_sees_nothing(store: Store, scope: Scope) -> None:
    """For a scope that names a workspace in which its user is not."""
    assert chats.list_chats(store.db, scope) == []
    assert files.list_files(store.db, scope) == []
    assert members.list_members(store.db, scope) == []
    assert members.list_invitations(store.db, scope) == []
    calls: list[Callable[[], object]] = [
        lambda: chats.create(store.db, scope),
        lambda: members.invite(store.db, scope, "x@example.org"),
        lambda: members.rename(store.db, scope, "mine"),
    ]
    for call in calls:
        with pytest.raises(NotFoundError):
            call()
