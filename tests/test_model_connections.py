"""A person connects a model: it answers from the next question on, with their key and nobody else's,
and the key stands nowhere in clear."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaf.agent.connections import ModelDraft
from leaf.agent.models.reach import Reach
from leaf.agent.probe import probe
from leaf.errors import BudgetError, InvalidInputError, ModelError, NotFoundError
from leaf.settings import Allowance, Settings
from leaf.store import integrations
from leaf.store.model import Scope
from leaf.store.vault import KEY_FILE
from leaf.wiring import model_server
from tests.leaf_kit import SALES, add, finished, opened, text_of
from tests.messages_server import Failure, MessagesServer, Turn
from tests.models_kit import MARKER, asked, local, says, server_draft, signed_in
from tests.openai_server import REFUSALS, OpenAIServer
from tests.runs_kit import wait_until

# The journey


def test_the_next_question_is_answered_by_a_saved_connection_and_by_rules_once_it_is_removed(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as leaf, MessagesServer(says("From the model."), key=MARKER) as server:
        own = local(leaf)
        chat = own.chats.create()
        assert own.models.keyless()
        assert "No model is connected" in text_of(asked(own, chat_id=chat.id))

        found = own.models.test(server_draft(server.url))
        assert [name for name, _ in found.models] == list(server.models)
        assert own.models.keyless(), "a test keeps nothing"
        own.models.save(replace(server_draft(server.url), models=found.models))
        assert text_of(asked(own, chat_id=chat.id)) == "From the model."
        assert server.requests[-1].key == MARKER
        state = own.models.connection()
        assert (state.source, state.place, state.ends) == ("own", server.url, "WXYZ")
        assert state.models == found.models

        own.models.set_default("claude-opus-5-5")
        asked(own, chat_id=chat.id)
        assert server.requests[-1].body["model"] == "claude-opus-5-5"

        own.models.remove()
        assert "attach a table" in text_of(asked(own, chat_id=chat.id))
        assert own.models.connection().source == "none"


def test_a_connection_outlives_the_process(tmp_path: Path) -> None:
    with MessagesServer(says("Still here."), key=MARKER) as server:
        with opened(tmp_path) as leaf:
            local(leaf).models.save(server_draft(server.url))
        with opened(tmp_path) as leaf:
            assert text_of(asked(local(leaf))) == "Still here."


def test_the_environments_connection_answers_whoever_has_none_of_their_own(tmp_path: Path) -> None:
    with MessagesServer(says("env")) as env, MessagesServer(says("own")) as mine:
        settings = {"model_url": env.url, "api_key": "operators-key", "model_window": 50_000}
        with opened(tmp_path, **settings) as leaf:
            own = local(leaf)
            assert text_of(asked(own)) == "env"
            state = own.models.connection()
            assert (state.source, state.place) == ("environment", env.url)
            own.models.save(server_draft(mine.url))
            assert text_of(asked(own)) == "own"
            assert own.models.connection().environment == env.url
            own.models.remove()
            assert text_of(asked(own)) == "env"
    assert {r.key for r in env.requests} == {"operators-key"}
    assert {r.key for r in mine.requests} == {MARKER}


def test_a_model_chosen_for_another_server_gives_way_to_the_default(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf, MessagesServer(says("ok"), models=("llama",)) as server:
        own = local(leaf)
        chat = own.chats.create("claude-opus-5-5")
        own.models.save(
            replace(server_draft(server.url, model="llama"), models=(("llama", "Llama"),))
        )
        assert own.models.meant("claude-opus-5-5") == "llama"
        assert text_of(asked(own, chat_id=chat.id)) == "ok"


def test_a_running_answer_ends_on_the_connection_with_which_it_began(tmp_path: Path) -> None:
    long = Turn.call("list_files", text="Slowly, piece by piece.", pieces=20, delay=0.05)
    with (
        opened(tmp_path) as leaf,
        MessagesServer([long, Turn.say("First server.")]) as first,
        MessagesServer(says("Second server.")) as second,
    ):
        own = local(leaf)
        own.models.save(server_draft(first.url, "key-of-the-first"))
        answer = own.messages.send(own.chats.create().id, "hello")
        wait_until(lambda: bool(first.requests))
        own.models.save(server_draft(second.url, "key-of-the-second"))
        assert text_of(finished(own, answer.id)).endswith("First server.")
        assert {r.key for r in first.requests} == {"key-of-the-first"}
        assert text_of(asked(own)) == "Second server."


def test_an_answer_that_outlives_its_process_goes_on_with_the_connection_of_now(
    tmp_path: Path,
) -> None:
    turns = [Turn.call("list_files", text="Looking."), Turn.say("never", stall_after=1)]
    with MessagesServer(turns) as first, MessagesServer(says("Done."), models=("llama",)) as second:
        with opened(tmp_path) as leaf:
            own = local(leaf)
            own.models.save(server_draft(first.url, "key-of-the-first"))
            answer = own.messages.send(own.chats.create().id, "hello")
            wait_until(lambda: len(first.requests) == 2)
        with opened(tmp_path) as leaf:
            own = local(leaf)
            own.models.save(server_draft(second.url, "key-of-the-second", "llama"))
            leaf.launch()
            assert text_of(finished(own, answer.id)).endswith("Done.")
    assert [(r.key, r.body["model"]) for r in second.requests] == [("key-of-the-second", "llama")]


def test_an_answer_whose_connection_is_gone_after_a_restart_says_so(tmp_path: Path) -> None:
    turns = [Turn.call("list_files", text="Looking."), Turn.say("never", stall_after=1)]
    with MessagesServer(turns) as server:
        with opened(tmp_path) as leaf:
            own = local(leaf)
            own.models.save(server_draft(server.url))
            answer = own.messages.send(own.chats.create().id, "hello")
            wait_until(lambda: len(server.requests) == 2)
        with opened(tmp_path) as leaf:
            own = local(leaf)
            own.models.remove()
            leaf.launch()
            message = finished(own, answer.id)
    assert message.status == "error"
    assert "not connected any more" in message.error


# Whose key


def test_in_a_shared_chat_the_askers_connection_answers_and_pays(tmp_path: Path) -> None:
    settings = {"own_models": "on", "own_model_hosts": ("127.0.0.1",)}
    with MessagesServer(says("ok")) as server:
        common = {"model_url": server.url, "api_key": "operators-key", **settings}
        with opened(tmp_path, **common) as leaf:
            ann, bob, cai = (signed_in(leaf, name) for name in ("Ann", "Bob", "Cai"))
            scopes = [ann.scope]
            for other, mail in ((bob, "bob@example.org"), (cai, "cai@example.org")):
                ann.team.invite(mail)
                name = mail.partition("@")[0].title()
                other = signed_in(leaf, name)
                scopes.append(Scope(ann.scope.workspace_id, other.scope.user_id))
            ann, bob, cai = (leaf.session(scope) for scope in scopes)
            ann.models.save(server_draft(server.url, "key-of-ann"))
            bob.models.save(server_draft(server.url, "key-of-bob"))
            chat = ann.chats.create()
            for mail in ("bob@example.org", "cai@example.org"):
                ann.chats.add_participant(chat.id, mail)
            for person in (ann, bob, cai, ann):
                asked(person, chat_id=chat.id)
            keys = [request.key for request in server.requests]
            assert keys == ["key-of-ann", "key-of-bob", "operators-key", "key-of-ann"]
            for person, answers in ((ann, 2), (bob, 1), (cai, 1)):
                assert person.usage.report("all", "mine").total.answers == answers
            for person, ends in ((ann, ".ann"), (bob, ".bob"), (cai, "")):
                assert person.models.connection().ends in ("", ends, "-ann", "-bob")
            assert cai.models.connection().source == "environment"


def test_a_budget_counts_what_an_own_connection_uses(tmp_path: Path) -> None:
    allowed = Allowance(day_tokens=1)
    with opened(tmp_path, budget_user=allowed) as leaf, MessagesServer(says("ok")) as server:
        own = local(leaf)
        asked(own)  # rules cost nothing
        own.models.save(server_draft(server.url))
        asked(own)
        with pytest.raises(BudgetError):
            own.messages.send(own.chats.create().id, "again")


def test_where_people_sign_in_own_models_are_for_the_operator_to_allow(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        ann = signed_in(leaf, "Ann")
        assert not ann.models.connection().allowed
        for act in (ann.models.test, ann.models.save):
            with pytest.raises(InvalidInputError, match="LEAF_OWN_MODELS=on"):
                act(ModelDraft(key=MARKER, model="claude-sonnet-5-5"))
        assert local(leaf).models.connection().allowed
    with opened(tmp_path, own_models="off") as leaf:
        assert not local(leaf).models.connection().allowed
    with opened(tmp_path, allow_open=True) as leaf:
        assert not local(leaf).models.connection().allowed, "anybody may be the local user"


def test_a_connection_of_before_is_not_used_once_the_operator_switches_them_off(
    tmp_path: Path,
) -> None:
    with MessagesServer(says("own")) as server:
        with opened(tmp_path) as leaf:
            local(leaf).models.save(server_draft(server.url))
        with opened(tmp_path, own_models="off") as leaf:
            assert local(leaf).models.keyless()
            asked(local(leaf))
    assert server.requests == []


def test_nobody_else_reaches_a_connection(tmp_path: Path) -> None:
    with opened(tmp_path, own_models="on", own_model_hosts=("127.0.0.1",)) as leaf:
        ann, eve = signed_in(leaf, "Ann"), signed_in(leaf, "Eve")
        with MessagesServer(says("ok")) as server:
            ann.models.save(server_draft(server.url))
            forged = leaf.session(Scope(ann.scope.workspace_id, eve.scope.user_id))
            assert forged.models.connection().source == "none"
            for act in (forged.models.save, forged.models.test):
                with pytest.raises(NotFoundError):
                    act(server_draft(server.url))
            forged.models.remove()
            assert ann.models.connection().source == "own"


# The key


def test_the_key_stands_nowhere_in_clear(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def brain(_body: Any) -> Turn | Failure:
        return Failure(400, "invalid_request_error", f"bad header {MARKER} in request")

    with opened(tmp_path) as leaf, MessagesServer(brain, key=MARKER) as server:
        own = local(leaf)
        add(own, "sales.csv", SALES)
        chat = own.chats.create()
        own.models.save(server_draft(server.url))
        message = asked(own, chat_id=chat.id)
        assert message.status == "error"
        with pytest.raises(ModelError) as caught:
            own.models.test(server_draft(server.url))
        told = [
            repr(own.models.connection()),
            repr(server_draft(server.url)),
            str(caught.value),
            repr(message),
            own.chats.markdown(chat.id),
            repr(leaf.runs()),
            repr(leaf.run_steps(message.id)),
        ]
        row = integrations.get(leaf._db, own.scope, "model")
        assert row is not None
        told.append(repr(row))
    assert server.connections == 3
    for text in (*told, caplog.text):
        assert MARKER not in text
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert MARKER.encode() not in path.read_bytes(), path


def test_a_kept_key_goes_to_no_other_server(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf, MessagesServer(says("a")) as a, MessagesServer(says("b")) as b:
        own = local(leaf)
        own.models.save(server_draft(a.url))
        own.models.test(server_draft(a.url, key=""))
        own.models.test(server_draft(b.url, key=""))
        assert {r.key for r in a.requests} == {MARKER}
        assert MARKER not in {r.key for r in b.requests}
        own.models.save(server_draft(a.url, key="", model="claude-opus-5-5"))
        assert own.models.connection().ends == "WXYZ"


def test_headers_of_the_environment_are_not_for_a_persons_own_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway-Secret: operators")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "operators-token")
    with opened(tmp_path) as leaf, MessagesServer(says("ok")) as server:
        own = local(leaf)
        own.models.save(server_draft(server.url))
        asked(own)
        own.models.test(server_draft(server.url, key=""))
    assert len(server.requests) == 2
    for request in server.requests:
        assert "operators" not in repr(request.headers)


def test_without_the_key_of_the_vault_the_answer_says_what_to_do(tmp_path: Path) -> None:
    with MessagesServer(says("ok")) as server:
        with opened(tmp_path) as leaf:
            local(leaf).models.save(server_draft(server.url))
        (tmp_path / KEY_FILE).unlink()
        with opened(tmp_path) as leaf:
            message = asked(local(leaf))
            assert "key that opens" in local(leaf).models.connection().why
    assert message.status == "error"
    assert "Connect again" in message.error
    assert server.requests == []


@pytest.mark.parametrize("key", ["two words", "ключ", "line\nbreak", "x" * 5_000])
def test_what_can_be_no_key_is_refused_before_anything_is_sent(tmp_path: Path, key: str) -> None:
    with opened(tmp_path) as leaf, pytest.raises(InvalidInputError, match="not a key") as caught:
        local(leaf).models.save(ModelDraft(key=key, model="m"))
    assert key not in str(caught.value)


# What a test says

FAILURES: dict[str, tuple[Callable[[], Any], str]] = {
    "wrong key": (lambda: MessagesServer(key="another"), "refused the key (401)"),
    "model unknown": (lambda: MessagesServer(models=("llama",)), "has no model 'claude-sonnet"),
    "no credit": (
        lambda: MessagesServer([Failure(400, "x", "Your credit balance is too low")]),
        "no credit left",
    ),
    "not the API": (lambda: MessagesServer([Failure.garbage()]), "is not a Messages API stream"),
    "OpenAI's": (lambda: OpenAIServer(REFUSALS["ollama"]), "speaks only OpenAI's API"),
    "moved": (lambda: MessagesServer(moved_to="http://127.0.0.1:9"), "sends on to another address"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_has_its_own_sentence(tmp_path: Path, name: str) -> None:
    made, sentence = FAILURES[name]
    with opened(tmp_path) as leaf, made() as server, pytest.raises(ModelError) as caught:
        local(leaf).models.test(server_draft(server.url))
    assert sentence in str(caught.value)
    assert "LEAF_MODEL" not in str(caught.value)
    assert "ANTHROPIC_API_KEY" not in str(caught.value)


def test_no_such_host_and_nobody_there_have_their_sentences(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        for url, sentence in (
            ("http://nosuchhost.invalid:1", "no host named nosuchhost.invalid"),
            ("http://127.0.0.1:9", "cannot be reached"),
        ):
            with pytest.raises(ModelError, match=sentence):
                local(leaf).models.test(server_draft(url))


def test_a_slow_server_is_given_up_within_a_bounded_time() -> None:
    with MessagesServer(says("late"), slow=30) as server:
        for model in ("claude-sonnet-5-5", ""):
            settings = Settings(model_url=server.url)
            with pytest.raises(ModelError, match=r"did not answer within|sent nothing for"):
                probe(model_server(settings, Reach(True), 0.5), model, 0.5)
    with MessagesServer([Turn.say("x" * 400, pieces=400, delay=0.05)]) as server:
        settings = Settings(model_url=server.url)
        with pytest.raises(ModelError, match="did not answer within 1 seconds"):
            probe(model_server(settings, Reach(True), 5), "claude-sonnet-5-5", 1)


def test_a_server_without_a_list_is_asked_by_the_name_that_was_typed(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf, MessagesServer(says("ok"), lists=False) as server:
        own = local(leaf)
        assert own.models.test(server_draft(server.url)).models == ()
        with pytest.raises(InvalidInputError, match="Type the name"):
            own.models.test(ModelDraft("server", server.url, MARKER))
        with pytest.raises(InvalidInputError, match="not the name of a model"):
            own.models.save(ModelDraft("server", server.url, MARKER))


def test_a_draft_without_a_model_is_tested_with_the_first_that_is_offered(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf, MessagesServer(says("ok"), models=("llama", "qwen")) as server:
        assert local(leaf).models.test(ModelDraft("server", server.url)).model == "llama"


@pytest.mark.parametrize(
    ("draft", "sentence"),
    [
        (ModelDraft(model="claude-sonnet-5-5"), "A key is needed"),
        (ModelDraft("server", "", MARKER, "m"), "An address is needed"),
        (ModelDraft("server", "localhost:11434", MARKER, "m"), "without http://"),
        (ModelDraft("server", "http://me:pw@localhost:1", MARKER, "m"), "a user or a password"),
        (ModelDraft(key=MARKER, model="two words"), "not the name of a model"),
    ],
)
def test_a_draft_that_cannot_be_one_is_refused(
    tmp_path: Path, draft: ModelDraft, sentence: str
) -> None:
    with opened(tmp_path) as leaf, pytest.raises(InvalidInputError, match=sentence):
        local(leaf).models.save(draft)


def test_many_people_ask_side_by_side_each_with_their_own_key(tmp_path: Path) -> None:
    settings = {"own_models": "on", "own_model_hosts": ("127.0.0.1",)}
    with MessagesServer(says("ok")) as server, opened(tmp_path, **settings) as leaf:
        people = [signed_in(leaf, f"P{number}") for number in range(6)]
        for number, person in enumerate(people):
            person.models.save(server_draft(server.url, f"key-of-person-{number}"))
        threads = [
            threading.Thread(target=asked, args=(person, f"I am {number}"))
            for number, person in enumerate(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seen = {str(r.body["messages"][0]).partition("I am ")[2][:1]: r.key for r in server.requests}
    assert seen == {str(number): f"key-of-person-{number}" for number in range(6)}
