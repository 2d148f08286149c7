"""An answer on its way to the screen: what is shown while it grows is what is drawn in the end, for
all who look and whenever."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
import pytest
from websockets import ConnectionClosed, InvalidStatus

from leaf.agent.events import Chunk, chunk, reduce
from leaf.errors import NotFoundError
from leaf.runs.board import ELSEWHERE
from leaf.runs.run import Run
from leaf.ui import markdown, marks, state
from leaf.ui.items import items
from leaf.ui.live import desk, route, text, tickets
from leaf.ui.live.desk import LiveAnswers
from leaf.ui.live.document import LiveDocument
from leaf.ui.live.encoder import Encoder
from leaf.ui.live.html import pieces
from leaf.ui.live.route import ConnectionLimits
from leaf.ui.live.tickets import LIFETIME, Ticket, Tickets
from leaf.ui.visitors import Rules
from tests.live_kit import FakeAccess, Screen, Served, follow, run_of, said, serving, wait_until

PROSE = "\n\n".join(
    f"Paragraph {i} with **bold**, `code`, a [link](https://example.org/{i}) and $5."
    for i in range(60)
)
MIXED = """# Heading

Words before a list:

- one
- two with **bold**
  - nested

1. first

| region | revenue |
|---|---:|
| North | 300 |
| South | 120 |

Then code:

```sql
SELECT 1

FROM x
```

> quoted

$$
a = b
$$

A last line, with ~~nothing~~ `` `ticks` `` in it."""
TEXTS = {
    "prose": PROSE,
    "mixed": MIXED,
    "long": PROSE + "\n\n" + MIXED + "\n\n" + PROSE,
    "code never closed": "See:\n\n```python\nprint('a')\n\nfor x in y:\n    print(x)\n",
    "code that almost closes": "````\n```\nstill code\n````\nafter\n~~~\nx\n~~\n",
    "fence without a line": "Words\n```",
    "right to left": "שלום עולם **מודגש** ועוד.\n\nمرحبا بالعالم\n\n- פריט\n- عنصر",
    "hostile": "<img src=x onerror=alert(1)> ![p](https://evil.example/p.png) "
    "[j](javascript:alert(1)) [d](data:text/html,x) "
    "<script>x</script>",
    "blank": "   \n\n  \n",
    "marks of our own": "a \ue0c11:x\ue0c2 b \ue0c30\ue0c4c\ue0c5",
    "bars": "| a | b |\n|---|---|\n| 1 |\n\n|",
    "carriage returns": "a\r\nb\r\n\r\nc\u2028d",
}


def encoded(chunks: Sequence[Chunk]) -> Screen:
    """What a viewer sees at the end who came at the end."""
    encoder = Encoder(run_of(chunks))
    encoder.advance(time.perf_counter())
    screen = Screen()
    screen.catch_up(encoder)
    return screen


def drawn(run: Run) -> list[tuple[str, Any]]:
    """What the page draws of it: kinds, and for texts their HTML, for code the code."""
    found: list[tuple[str, Any]] = []
    for item in items(reduce(run.read().chunks)):
        if item.kind == "text":
            html = pieces(marks.drawn(markdown.safe(item.text), run.message_id))
            found.append(("text", [(piece.level, piece.html) for piece in html]))
        elif item.kind == "code":
            found.append(("code", item.text))
        else:
            found.append((item.kind, None))
    return found


def seen(screen: Screen) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for node_id in screen.order:
        node = screen.nodes[node_id]
        if node.parent:
            continue
        assert node.kind != "text" or not node.words
        held = {"text": [(level, html) for level, html in node.pieces], "code": node.words}.get(
            node.kind
        )
        found.append((node.kind, held))
    return found


@pytest.mark.parametrize("size", [1, 3, 17, 100_000])
@pytest.mark.parametrize("name", TEXTS)
def test_what_grew_is_what_is_drawn_in_the_end(name: str, size: int) -> None:
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()
    for c in [
        chunk("start"),
        chunk("start-step", step=1),
        *said(TEXTS[name], size),
        chunk("finish"),
    ]:
        run.emit(c)
        encoder.advance(time.perf_counter())
        screen.catch_up(encoder)
    assert screen.done
    assert seen(screen) == drawn(run)
    assert screen.tail == ["", ""]


def test_raw_html_pictures_and_forbidden_links_are_text() -> None:
    html = encoded([*said(TEXTS["hostile"], 4), chunk("finish")]).text()
    assert "<img" not in html
    assert "<script" not in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html
    assert 'href="https://evil.example/p.png" target="_blank" rel="noopener noreferrer"' in html


def test_words_are_there_before_their_block_is_made_anew() -> None:
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()
    run.emit(chunk("text-start", id="text-1-0"))
    for word in ("Some ", "plain ", "words ", "come "):
        run.emit(chunk("text-delta", id="text-1-0", delta=word))
        encoder.advance(time.perf_counter())
        screen.catch_up(encoder)
        assert word.strip() in screen.text()


def test_whoever_comes_late_is_slow_or_was_away_sees_the_same_as_who_saw_every_number() -> None:
    chance = random.Random(7)
    run = Run("m1")
    encoder = Encoder(run)
    steady, slow = Screen(), [Screen() for _ in range(5)]
    calls = [chunk("tool-input-start", toolCallId=f"c{i}", toolName="list_files") for i in range(3)]
    outputs = [
        chunk(
            "tool-output-available", toolCallId=f"c{i}", output={"text": "", "summary": f"Step {i}"}
        )
        for i in (1, 0, 2)
    ]
    for c in [
        *said(TEXTS["long"], 9),
        *calls,
        *outputs,
        *said(MIXED, 5, "text-2-0"),
        chunk("finish"),
    ]:
        run.emit(c)
        encoder.advance(time.perf_counter())
        steady.catch_up(encoder)
        for screen in slow:
            if chance.random() < 0.02:
                screen.catch_up(encoder)
                assert screen.shown() == steady.shown()
    late = Screen()
    late.catch_up(encoder)
    assert late.shown() == steady.shown()


@pytest.mark.parametrize("gap", ["\n\n", ".\n\n ", ".\n \n"])
@pytest.mark.parametrize("word", ["word{}", "слово{}", "كلمة{}", "第{}个词", "शब्द{}"])
def test_what_is_finished_is_sent_once_and_a_word_costs_the_same_at_the_end_as_at_the_beginning(
    word: str, gap: str
) -> None:
    words = "".join(word.format(i) + (gap if i % 40 == 0 else " ") for i in range(1, 8_000))
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()
    run.emit(chunk("text-start", id="text-1-0"))
    sizes, rendered = [], dict[int, set[int]]()
    for at in range(0, len(words), 60):
        run.emit(chunk("text-delta", id="text-1-0", delta=words[at : at + 60]))
        encoder.advance(time.perf_counter())
        frame = screen.catch_up(encoder)
        sizes.append(len(frame))
        for operation in orjson.loads(frame)["do"]:
            if operation[0] == "t":
                rendered.setdefault(operation[1], set()).add(len(sizes))
    # The open block at most: how often that is drawn is the clock's.
    assert len(words) > 45_000 > 10 * max(sizes)
    assert len(rendered) > 20
    last = max(rendered)
    assert all(
        max(at) < min(rendered[node + 2]) for node, at in rendered.items() if node + 2 <= last
    )


def test_code_that_is_never_closed_is_only_added_to() -> None:
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()
    sent = 0
    text = "```\n" + "x = 1\n" * 5_000
    for c in said(text, 7):
        run.emit(c)
        encoder.advance(time.perf_counter())
        sent += sum(
            len(operation[2])
            for operation in orjson.loads(screen.catch_up(encoder))["do"]
            if operation[0] == "a"
        )
    assert screen.of("code")[0].words == text.removeprefix("```\n").rstrip("\n")
    assert sent == len(screen.of("code")[0].words)


def test_a_table_of_five_thousand_columns_is_drawn() -> None:
    row = "|" + "|".join(str(i) for i in range(5_000)) + "|\n"
    screen = encoded([*said(row + "|" + "---|" * 5_000 + "\n" + row * 3, 4_000), chunk("finish")])
    assert [html.count("<td>") for _, html in screen.of("text")[0].pieces] == [
        0,
        5_000,
        5_000,
        5_000,
    ]


def test_a_step_that_begins_again_takes_back_what_it_had_shown() -> None:
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()
    kept = [chunk("start-step", step=1), *said("Kept words.", 4), chunk("start-step", step=2)]
    lost = said("Lost words that were", 5, "text-2-0")[:-1]
    for c in [*kept, *lost]:
        run.emit(c)
        encoder.advance(time.perf_counter())
        screen.catch_up(encoder)
    assert "Lost" in screen.text()
    before = screen.milestone
    for c in [
        chunk("data-reset-step", data={"step": 2}),
        *said("New words.", 4, "text-2-0"),
        chunk("finish"),
    ]:
        run.emit(c)
        encoder.advance(time.perf_counter())
        screen.catch_up(encoder)
    assert seen(screen) == drawn(run)
    assert "Lost" not in screen.text()
    assert screen.milestone > before


def test_steps_say_what_they_do_charts_have_a_place_and_the_page_is_told_when_there_is_more_to_draw() -> (
    None
):
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()

    def show(*chunks: Chunk) -> None:
        for c in chunks:
            run.emit(c)
        encoder.advance(time.perf_counter())
        screen.catch_up(encoder)

    show(chunk("tool-input-start", toolCallId="a", toolName="query_tables"))
    show(chunk("tool-input-start", toolCallId="b", toolName="make_chart"))
    assert [node.fields["working"] for node in screen.of("step")] == [True, True]
    assert screen.milestone == 0
    show(chunk("data-progress", id="b", data={"text": "half of it"}))
    assert screen.tail == ["progress", "half of it"]
    chart = {"spec": {"mark": "bar"}, "columns": [], "rows": []}
    show(
        chunk(
            "tool-output-available",
            toolCallId="b",
            output={"summary": "Drew it", "seconds": 1.0, "data": {"chart": chart}},
        )
    )
    assert [screen.nodes[i].kind for i in screen.order] == ["step", "step", "chart"]
    assert screen.of("step")[1].fields["said"] == "Drew it · 1 s"
    assert screen.milestone == 4
    show(chunk("data-progress", id="a", data={"text": "half of it"}))
    show(chunk("data-progress", id="a", data={"text": ""}))
    assert screen.tail == ["waiting", ""]
    show(chunk("tool-output-error", toolCallId="a", errorText="no"))
    assert screen.of("step")[0].fields["said"].endswith("did not work: no")
    assert screen.tail == ["waiting", ""]
    show(chunk("data-consent", id="q", data={"state": "waiting", "question": "?", "key": "k"}))
    assert screen.tail == ["", ""]
    assert screen.milestone == 8
    show(
        chunk("data-status", id="s", data={"text": "Trying again"}),
        chunk("data-consent", id="q", data={"state": "allowed"}),
    )
    assert screen.tail == ["status", "Trying again"]


def test_a_document_grows_in_a_place_of_its_own() -> None:
    run = Run("m1")
    encoder, screen = Encoder(run), Screen()
    begun = chunk(
        "data-document", id="d", data={"state": "writing", "kind": "text", "title": "Report"}
    )
    deltas = [
        chunk("data-document-delta", id="d", data={"delta": piece})
        for piece in ("# A rep", "ort\n\nwith **wo", "rds**\n")
    ]
    for c in [begun, *deltas]:
        run.emit(c)
        follow(encoder, screen)
    inside = screen.of("text")[0]
    assert inside.parent == screen.order[0]
    assert ["".join(html for _, html in inside.pieces)] == [
        "<h1>A report</h1><p>with <strong>words</strong></p>"
    ]
    run.emit(
        chunk(
            "data-document",
            id="d",
            data={"state": "done", "kind": "text", "title": "Report", "version": 1},
        )
    )
    encoder.advance(time.perf_counter())
    screen.catch_up(encoder)
    assert [(node.kind, node.fields["over"]) for node in screen.nodes.values()] == [
        ("writing", True)
    ]
    assert screen.milestone == 5


def test_one_slow_drawing_holds_no_words_back_and_slow_ones_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the first of a process is slow, and one on a machine that was busy just then."""
    now, costs = 100.0, [2.0, 0.0, 2.0, 0.0, 2.0, 2.0]

    def slow(html: str) -> list[Any]:
        nonlocal now
        now += costs.pop(0)
        return pieces(html)

    monkeypatch.setattr(text, "pieces", slow)
    grown = text.GrowingText(LiveDocument(), "m1", clock=lambda: now)
    rests = []
    while costs:
        grown.feed("some **words** ")
        grown.draw()
        grown.feed("**more** ")
        due = grown.draw()
        assert due is not None
        rests.append(due - now)
        now = due
    assert rests == pytest.approx([*[text.PATCH] * 5, 2.0 * text.SHARE])


def cited(number: int, verified: bool | None = None) -> Chunk:
    leaf = {
        "citation": number,
        "verified": verified,
        "source": f"f1#page {number}",
        "file_id": "f",
        "quote": "",
    }
    return chunk("source-document", sourceId=f"s{number}", providerMetadata={"leaf": leaf})


def test_citations_stand_behind_the_words_that_they_belong_to() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    run = run_of(
        [
            *said("First claim.\n\n", 4, "text-1-0"),
            cited(1),
            *said("Second **claim**", 3, "text-1-1"),
            cited(2, False),
            *said(" goes on.\n\n" + table, 5, "text-1-2"),
            cited(3),
            *said("\nEnd.", 2, "text-1-3"),
            chunk("finish"),
        ]
    )
    encoder, screen = Encoder(run), Screen()
    encoder.advance(time.perf_counter())
    screen.catch_up(encoder)
    assert seen(screen) == drawn(run)
    assert screen.text().count("#leaf-cite-m1.s") == 3


def test_thoughts_and_other_parts_keep_their_order() -> None:
    thought = [
        chunk("reasoning-start", id="r"),
        chunk("reasoning-delta", id="r", delta="I think"),
        chunk("reasoning-end", id="r"),
    ]
    run = run_of(
        [
            *thought,
            *said("So it is.", 3),
            chunk("data-questions", id="q", data=["A?"]),
            chunk("finish"),
        ]
    )
    encoder, screen = Encoder(run), Screen()
    encoder.advance(time.perf_counter())
    screen.catch_up(encoder)
    assert [screen.nodes[i].kind for i in screen.order] == ["thought", "text", "space"]
    assert len(screen.order) == len(items(reduce(run.read().chunks)))


# Tickets


def ticket_for(run: Run | None = None) -> Ticket:
    return Ticket("u1", "w1", "m1", FakeAccess(run))


def test_a_ticket_is_good_once_and_for_some_minutes() -> None:
    now = [0.0]
    made = Tickets(lambda: now[0])
    first, second = made.make(ticket_for()), made.make(ticket_for())
    assert first != second
    assert made.take(first) is not None
    assert made.take(first) is None
    now[0] = LIFETIME + 1
    assert made.take(second) is None
    assert made.take("") is None


def test_tickets_that_nobody_uses_take_no_room_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "MOST", 100)
    now = [0.0]
    made = Tickets(lambda: now[0])
    words = [made.make(ticket_for()) for _ in range(300)]
    assert len(made._made) == 100
    assert made.take(words[-1]) is not None
    now[0] = LIFETIME + 1
    made.make(ticket_for())
    assert len(made._made) == 1


# The door

LIVE = [chunk("start"), chunk("text-start", id="text-1-0")]


def watch(live: Any, screen: Screen | None = None) -> Screen:
    """Hear it to its end."""
    screen = screen or Screen()
    for frame in live:
        screen.take(orjson.loads(frame))
    return screen


def test_a_viewer_hears_an_answer_from_its_beginning_to_its_end_and_goes_on_after_a_cut() -> None:
    run = run_of(LIVE)
    with serving() as served:
        screen = Screen()
        with served.connect(served.ticket(run)) as live:
            run.emit(chunk("text-delta", id="text-1-0", delta="Before the cut, "))
            while "cut" not in screen.text():
                screen.take(orjson.loads(live.recv(10)))
        run.emit(chunk("text-delta", id="text-1-0", delta="and after **it**."))
        with served.connect(screen.ticket, f"?epoch={screen.epoch}&seen={screen.number}") as live:
            run.emit(chunk("text-end", id="text-1-0"))
            run.emit(chunk("finish"))
            watch(live, screen)
        assert screen.done
        assert screen.text() == "<p>Before the cut, and after <strong>it</strong>.</p>"
        with served.connect(served.ticket(run), "?epoch=another&seen=7") as live:
            assert watch(live).text() == screen.text()


def closed(live: Any) -> int | None:
    """How the other side ended it."""
    with suppress(ConnectionClosed):
        while True:
            live.recv(10)
    return live.close_code


@pytest.mark.parametrize("words", ["", "a-stranger's", "used"])
def test_a_strangers_and_a_used_ticket_are_nobodys(words: str) -> None:
    run = run_of(LIVE)
    with serving() as served:
        if words == "used":
            words = served.ticket(run)
            served.connect(words).close()
        with pytest.raises((InvalidStatus, ValueError)) as refused:
            served.connect(words)
        assert (
            not isinstance(refused.value, InvalidStatus)
            or refused.value.response.status_code == 403
        )


def test_a_page_of_another_origin_is_refused_even_with_a_ticket() -> None:
    with serving() as served:
        words = served.ticket(run_of(LIVE))
        with pytest.raises(InvalidStatus) as refused:
            served.connect(words, origin="https://evil.example")
        assert refused.value.response.status_code == 403
        served.connect(
            words, origin=served.address.replace("ws://", "http://").removesuffix("/_leaf/live")
        ).close()


def test_without_sign_in_another_machines_name_is_refused() -> None:
    with serving(rules=Rules()) as served, pytest.raises(InvalidStatus) as refused:
        served.connect(
            served.ticket(run_of(LIVE)), additional_headers={"x-forwarded-for": "203.0.113.9"}
        )
    assert refused.value.response.status_code == 403


def refusal(served: Served, ticket: str) -> int:
    """The status of a connection that is not let in."""
    with pytest.raises(InvalidStatus) as refused:
        served.connect(ticket)
    return refused.value.response.status_code


def test_two_hundred_connections_of_nobody_in_particular_are_refused_and_the_others_go_on() -> None:
    run = run_of(LIVE)
    with serving(ConnectionLimits(answer=3, user=5, total=8)) as served:
        mine = [served.connect(served.ticket(run)) for _ in range(3)]
        tried = [ticket for _ in range(100) for ticket in ("nobody", served.ticket(run))]
        with ThreadPoolExecutor(20) as storm:
            assert {*storm.map(partial(refusal, served), tried)} == {403}
        more = [served.connect(served.ticket(run, message=f"n{i}")) for i in range(2)]
        with pytest.raises(InvalidStatus):
            served.connect(served.ticket(run, message="m9"))
        others = [served.connect(served.ticket(run, user=f"u{i}")) for i in range(2, 5)]
        with pytest.raises(InvalidStatus):
            served.connect(served.ticket(run, user="u9"))
        run.emit(chunk("text-delta", id="text-1-0", delta="All well."))
        run.emit(chunk("finish"))
        for live in [*mine, *more, *others]:
            assert "All well." in watch(live).text()
        wait_until(lambda: served.answers.door.connections == 0)
        assert served.answers.door.refused == {"ticket": 100, "limit": 102}
        assert served.answers.hub.watched == 0


def test_whoever_talks_is_sent_away() -> None:
    with serving() as served, served.connect(served.ticket(run_of(LIVE))) as live:
        live.send("x" * 100_000)
        assert closed(live) == 1006  # cut


@pytest.mark.parametrize("how", ["a change", "the time"])
def test_whoever_loses_their_access_is_sent_away(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "LOOK", 0.1)
    access = FakeAccess(run_of(LIVE))
    with serving() as served:
        ends_at = time.time() + 0.5 if how == "the time" else None
        with served.connect(served.ticket(access, ends_at=ends_at)) as live:
            live.recv(10)
            access.problem = NotFoundError("No message.")
            if how == "a change":
                served.position[0] += 1
            assert closed(live) == route.NOT_ALLOWED
        access.problem = None
    access.problem = NotFoundError("No message.")
    with serving() as served, pytest.raises(InvalidStatus):
        served.connect(served.ticket(access))


def test_an_answer_that_is_over_or_not_streamed_yet_says_so_or_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(route, "NOT_HERE", 0.05)
    with serving() as served:
        with served.connect(served.ticket(FakeAccess(None, "completed"))) as live:
            assert watch(live).done
        access = FakeAccess(None, "pending")
        with served.connect(served.ticket(access)) as live:
            access.run = run_of([*said("Here it is.", 3), chunk("finish")])
            assert watch(live).text() == "<p>Here it is.</p>"


@pytest.mark.parametrize("between", [False, True])
def test_an_answer_that_another_process_takes_over_is_followed_there(
    between: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`between`: for a while no process has it."""
    monkeypatch.setattr(route, "NOT_HERE", 0.05)
    first, second = run_of([*LIVE, *said("Cut here", 3)]), run_of(LIVE)
    access = FakeAccess(first)
    with serving() as served, served.connect(served.ticket(access)) as live:
        screen = Screen()
        while screen.text() != "<p>Cut here</p>":
            screen.take(orjson.loads(live.recv(10)))
        access.run = None if between else second
        first.emit(chunk("abort", reason=ELSEWHERE))
        if between:
            live.recv(10)  # what the first run ended with
            access.run = second
        second.emit(chunk("text-delta", id="text-1-0", delta="Anew"))
        while screen.text() != "<p>Anew</p>":
            screen.take(orjson.loads(live.recv(10)))
        assert not screen.done
        second.emit(chunk("text-delta", id="text-1-0", delta=", to the end."))
        second.emit(chunk("finish"))
        watch(live, screen)
    assert screen.text() == "<p>Anew, to the end.</p>"
    assert screen.done


def test_an_answer_that_ends_while_nobody_here_has_it_is_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(route, "NOT_HERE", 0.05)
    first = run_of(LIVE)
    access = FakeAccess(first)
    with serving() as served, served.connect(served.ticket(access)) as live:
        first.emit(chunk("abort", reason=ELSEWHERE))
        access.status = "completed"
        assert watch(live).done


def test_a_reader_that_does_not_read_costs_no_memory_and_gets_the_whole_when_it_does() -> None:
    run = run_of(LIVE)
    with (
        serving() as served,
        served.connect(served.ticket(run), max_queue=1, max_size=None) as live,
    ):
        words = "word " * 200
        for number in range(2_000):
            run.emit(chunk("text-delta", id="text-1-0", delta=f"{number} {words}\n\n"))
            if number % 100 == 0:
                time.sleep(0.02)
        run.emit(chunk("text-end", id="text-1-0"))
        run.emit(chunk("finish"))
        encoder = next(iter(served.answers.hub._watched.values())).encoder
        wait_until(lambda: encoder.done)
        numbers = encoder.number
        frames = list(live)
    screen = Screen()
    for frame in frames:
        screen.take(orjson.loads(frame))
    assert screen.text().count("<p>") == 2_000
    assert len(frames) <= numbers + 2
    assert not hasattr(encoder, "queue")


def test_a_reader_that_takes_nothing_for_long_is_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(route, "LOOK", 0.1)
    monkeypatch.setattr(route, "PATIENCE", 0.5)
    run = run_of(LIVE)
    with serving() as served, served.connect(served.ticket(run), max_queue=1) as live:
        answers = served.answers
        wait_until(lambda: answers.door.connections == 1)
        words = random.Random(7).randbytes(100_000).hex()
        number = 0

        def sent_away() -> bool:
            nonlocal number
            number += 1
            run.emit(chunk("text-delta", id="text-1-0", delta=f"{number} {words}\n\n"))
            time.sleep(0.05)
            return answers.door.connections == 0

        wait_until(sent_away)
        with suppress(ConnectionClosed):
            while True:
                live.recv(20)
    assert live.close_code in (route.SLOW, 1006)


def test_closing_sends_everybody_away_at_once() -> None:
    run = run_of(LIVE)
    began = time.monotonic()
    with serving() as served:
        live = served.connect(served.ticket(run))
        live.recv(10)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert closed(live) in (route.CLOSING, 1012)


def test_pages_that_are_drawn_side_by_side_share_their_tickets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow(LiveAnswers):
        def __init__(self, *given: Any) -> None:
            time.sleep(0.05)
            super().__init__(*given)

    monkeypatch.setattr(desk, "LiveAnswers", Slow)
    monkeypatch.delattr(sys, state.REGISTRY, raising=False)
    together = threading.Barrier(8)
    found: list[object] = []

    def draw() -> None:
        together.wait()
        found.append(state.live().tickets)

    pages = [threading.Thread(target=draw) for _ in range(8)]
    for page in pages:
        page.start()
    for page in pages:
        page.join()
    monkeypatch.delattr(sys, state.REGISTRY)
    assert (len(found), len(set(map(id, found)))) == (8, 1)
