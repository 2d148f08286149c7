"""Several processes over one PostgreSQL: what one of them shows of questions and answers that wait or are
written in another."""

from __future__ import annotations

from tests.messages_server import MessagesServer
from tests.runs_kit import wait_for, wait_until
from tests.test_processes import PATIENT, Place, SlowModel, place

__all__ = ["place"]


def test_who_asked_a_full_process_sees_the_answer_grow_that_another_one_writes(
    place: Place,
) -> None:
    with MessagesServer(SlowModel(seconds=60)) as server:
        one, two = place.start(2, server.url, PATIENT, total=1)
        one.say("ask question-1")
        wait_for(place.statuses, ["streaming"])
        asked = one.say("ask question-2")
        wait_for(place.statuses, ["streaming"] * 2)
        wait_for(lambda: one.say(f"place {asked}"), "none")
        wait_until(lambda: "About question-2: word" in one.say(f"shown {asked}"))
        assert two.say(f"shown {asked}").startswith("About question-2: word")


def test_what_was_withdrawn_or_stopped_elsewhere_waits_in_no_queue(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=60)) as server:
        one, two = place.start(2, server.url, PATIENT)
        first = one.say("ask question-1")
        wait_for(place.statuses, ["streaming"])
        waits = [one.say(f"ask_after {first} question-{n}") for n in (2, 3, 4)]
        assert one.say("waits") == " ".join(waits)
        two.say(f"withdraw {waits[0]}")
        two.say(f"stop {waits[1]}")
        wait_for(lambda: one.say("waits"), waits[2])
        assert one.say(f"place {waits[2]}") == "1"


def test_where_a_question_stands_is_the_same_in_every_process(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=60)) as server:
        one, two = place.start(2, server.url, PATIENT)
        first = one.say("ask question-1")
        wait_for(place.statuses, ["streaming"])
        second = two.say(f"ask_after {first} question-2")
        third = one.say(f"ask_after {first} question-3")
        for process in (one, two):
            assert process.say(f"place {first}") == "none"
            assert process.say(f"place {second}") == "1"
            assert process.say(f"place {third}") == "2"
        for number in (4, 5):
            one.say(f"ask question-{number}")
        wait_until(lambda: place.statuses().count("streaming") == 3)
        fourth = two.say("ask question-6")
        assert [process.say(f"place {fourth}") for process in (one, two)] == ["0 person"] * 2


def test_a_chat_in_which_another_process_is_at_work_is_marked_everywhere(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=60)) as server:
        one, two = place.start(2, server.url, PATIENT)
        asked = one.say("ask question-1")
        (chat_id,) = place.rows("SELECT chat_id FROM messages WHERE id = %s", asked)[0]
        assert two.say("running") == chat_id
        one.say(f"stop {asked}")
        wait_for(place.statuses, ["stopped"])
        assert two.say("running") == ""
