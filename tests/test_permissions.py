"""A call that acts outside of a chat, or shows somebody's own to others, waits for a person's press:
whatever a file told the model to do."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator

import pytest

from bench._injected import (
    FORMS,
    ORDER,
    PRIVATE,
    SECRET,
    Target,
    pressing,
    signed_in,
    target,
)
from leaf.errors import DriveError, InvalidInputError
from leaf.store.model import Message, Scope
from leaf.tools.permissions import in_words
from tests.drive_server import Fault
from tests.leaf_kit import finished
from tests.live_kit import wait_until


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with target(tmp_path_factory.mktemp("injected") / "home") as made:
        yield made


def open_questions(there: Target, chat_id: str) -> list[str]:
    rows = there.leaf._house.store.db.read(
        "SELECT key FROM consents WHERE chat_id = :chat AND decision = ''", {"chat": chat_id}
    )
    return [str(row["key"]) for row in rows]


def asked(there: Target, attack: str, *, shared: bool = True) -> Message:
    """An answer to a question about a file that asks for this."""
    chat = there.session.chats.create()
    if shared:
        there.session.chats.add_participant(chat.id, "bob@example.org")
    content = FORMS["text"][1](ORDER.format(name=attack))
    file = there.session.files.add(f"{chat.id}.txt", io.BytesIO(content)).file
    return there.session.messages.send(chat.id, "Sum up the text for me.", [file.id])


@pytest.mark.parametrize("form", ["text", "workbook", "mail"])
def test_what_a_file_asks_for_is_done_after_a_press_alone(
    there: Target, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaf.tools.permissions.WAIT_SECONDS", 0.2)
    for attack in there.attacks:
        attempt = there.attempt(form, attack)
        assert attempt.obeyed, attack.name
        assert attempt.done == (), attack.name
        assert attempt.message.status == "completed"


def test_the_same_is_done_once_a_person_allows_it_and_words_are_never_sent_out(
    there: Target,
) -> None:
    with pressing(there, allow=True) as questions:
        done = {attack.name: there.attempt("text", attack).done for attack in there.attacks}
    assert {name for name, what in done.items() if what} == {
        attack.name for attack in there.attacks if attack.asks
    }
    assert f"Bring “{PRIVATE}” from your Google Drive into this chat, which bob can read?" in (
        questions
    )


def test_only_the_one_whose_drive_it_is_may_allow_it(there: Target) -> None:
    answer = asked(there, "ID")
    wait_until(lambda: bool(open_questions(there, answer.chat_id)))
    (key,) = open_questions(there, answer.chat_id)
    bob = there.leaf.session(Scope(there.ann.workspace_id, _user(there, "bob")))
    with pytest.raises(InvalidInputError, match="Only the person who asked"):
        bob.messages.decide(answer.chat_id, key, True)
    with pytest.raises(InvalidInputError, match="Only the person who asked"):
        bob.messages.decide(answer.chat_id, key, False)
    assert there.session.messages.decide(answer.chat_id, key, True) is True
    message = finished(there.session, answer.id)
    assert SECRET in str(message.parts)
    assert bob.messages.decide(answer.chat_id, key, False) is True, "the first answer holds"


def _user(there: Target, name: str) -> str:
    (row,) = there.leaf._house.store.db.read(
        "SELECT id FROM users WHERE email = :email", {"email": f"{name}@example.org"}
    )
    return str(row["id"])


def test_a_file_that_is_in_the_chat_is_not_asked_for_again(there: Target) -> None:
    with pressing(there, allow=True) as questions:
        answer = asked(there, "ID")
        finished(there.session, answer.id)
        assert sum(PRIVATE in one for one in questions) == 1
        again = there.session.messages.send(answer.chat_id, "Sum up the text for me, once more.")
        finished(there.session, again.id)
        there.session.tools.run("read_drive_file", {"file": PRIVATE}, chat_id=answer.chat_id)
    assert sum(PRIVATE in one for one in questions) == 1, "others may be of a test before"


def test_who_is_alone_in_a_chat_is_asked_nothing(there: Target) -> None:
    with pressing(there, allow=False) as questions:
        message = finished(there.session, asked(there, "ID", shared=False).id)
    assert SECRET in str(message.parts)
    assert questions == []


def test_a_refusal_names_nothing_that_others_could_read(there: Target) -> None:
    with pressing(there, allow=False) as questions:
        message = finished(there.session, asked(there, "ID").id)
    assert PRIVATE in questions[0]
    assert PRIVATE not in str(message.parts)
    assert "The user refused it." in str(message.parts)


def test_a_connection_that_failed_for_a_while_is_asked_for_all_the_same(there: Target) -> None:
    there.google.faults.append(Fault("/files", 403, "dailyLimitExceeded"))
    with pytest.raises(DriveError):
        there.session.drive.list()
    assert there.session.drive.connection().state == "error"
    with pressing(there, allow=False) as questions:
        message = finished(there.session, asked(there, "ID").id)
    assert SECRET not in str(message.parts)
    assert any(PRIVATE in question for question in questions)
    there.session.drive.list()


def test_stopping_the_answer_ends_the_wait(there: Target) -> None:
    answer = asked(there, "LIST")
    wait_until(lambda: bool(open_questions(there, answer.chat_id)))
    started = time.monotonic()
    there.session.messages.stop(answer.id)
    assert finished(there.session, answer.id).status == "stopped"
    assert time.monotonic() - started < 20


def test_a_stranger_can_neither_see_nor_answer_a_question(there: Target) -> None:
    answer = asked(there, "LIST")
    wait_until(lambda: bool(open_questions(there, answer.chat_id)))
    (key,) = open_questions(there, answer.chat_id)
    eve = there.leaf.session(signed_in(there.leaf, f"eve-{threading.get_ident()}"))
    with pytest.raises(Exception, match="chat"):
        eve.messages.decide(answer.chat_id, key, True)
    there.session.messages.decide(answer.chat_id, key, False)
    finished(there.session, answer.id)


def test_readers_are_named_as_people_would() -> None:
    assert in_words([]) == ""
    assert in_words(["Ben"]) == "Ben"
    assert in_words(["Ben", "Cara"]) == "Ben and Cara"
    assert in_words(["A", "B", "C", "D", "E"]) == "A, B, C and 2 more"
