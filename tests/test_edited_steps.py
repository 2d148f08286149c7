"""Steps of answers that a person edits and runs, on both databases: what comes of one stands beside
the step, which stays as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.runs.edited import StepEditor, part_of
from leaf.sandbox.confine import confinement
from leaf.sessions.session import Session
from leaf.store import edited_steps
from leaf.store.edited_steps import LOST, EditedStep
from leaf.store.model import Message
from leaf.tables.paging import RowsWanted
from leaf.tools.base import ToolContext, ToolOutput
from tests import postgres
from tests.leaf_kit import CLAIMS, SALES, add, finished, opened
from tests.live_kit import wait_until
from tests.messages_server import MessagesServer, Turn

SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY region"
EDITED = "SELECT region, max(revenue) AS most FROM sales GROUP BY region ORDER BY region"
SPEC = {"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"field": "revenue"}}}
PYTHON = confinement().kind == "landlock"
needs_python = pytest.mark.skipif(not PYTHON, reason="Python is offered only where it is confined")
TURNS = [
    Turn.call(("query_tables", {"sql": SQL}), "list_files"),
    Turn.call(("make_chart", {"spec": SPEC, "sql": SQL})),
    *(
        [
            Turn.call(("run_python", {"code": "factor = 2"})),
            Turn.call(("run_python", {"code": "sales.revenue.max() * factor"})),
            Turn.call(("run_python", {"code": "factor = 7; nothing_of_this_name"})),
        ]
        if PYTHON
        else []
    ),
    Turn.say("North has 400."),
]


@dataclass
class Desk:
    """An answer with steps, and who may see it."""

    leaf: Leaf
    ann: Session
    ben: Session
    """A member of the workspace, outside the chat at first."""
    answer: Message

    def call(self, tool: str, number: int = 0) -> str:
        """The id of the answer's call of this tool, from 0."""
        calls = [p for p in self.answer.parts if p["type"] == f"tool-{tool}"]
        return str(calls[number].get("toolCallId"))

    def run(self, call_id: str, code: str) -> EditedStep:
        """Ann edits a step and waits for what comes of it."""
        step = self.ann.edits.run(self.answer.id, call_id, code)
        return self.ann.edits.wait(step.id, 60)

    def rows(self, result_id: str) -> list[list[Any]]:
        wanted = RowsWanted(limit=10)
        return self.ann.results.page(self.answer.chat_id, result_id, wanted).rows


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def desk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    url = ""
    if request.param == "postgres":
        url = postgres.of_test(request)
    home = tmp_path_factory.mktemp("edited")
    with (
        MessagesServer(TURNS) as server,
        opened(home, api_key="k", model_url=server.url, database_url=url) as leaf,
    ):
        people = [
            {**CLAIMS, "sub": who, "name": who, "email": f"{who}@example.org"} for who in "ab"
        ]
        ann = leaf.session(leaf.sign_in({**people[0], "name": "Ann"}).scope)
        ann.team.invite("b@example.org")
        ben = leaf.session(leaf.sign_in({**people[1], "name": "Ben"}).scope)
        chat = ann.chats.create()
        file = add(ann, "sales.csv", SALES)
        asked = ann.messages.send(chat.id, "Revenue by region?", [file.id])
        yield Desk(leaf, ann, ben, finished(ann, asked.id, 150))


def result_of(step: EditedStep) -> dict[str, Any]:
    assert step.output is not None, step.error
    found: dict[str, Any] = step.output["data"]["table"]
    return found


def test_edited_steps_are_there_after_a_restart_and_the_model_hears_nothing(
    tmp_path: Path,
) -> None:
    """First, since a process writes the answers of one data folder at a time."""
    turns = [Turn.call(("query_tables", {"sql": SQL})), Turn.say("Done."), Turn.say("Again.")]
    with MessagesServer(turns) as server:
        given = {"api_key": "k", "model_url": server.url}
        with opened(tmp_path, **given) as leaf:
            own = leaf.session(leaf.local_scope())
            chat = own.chats.create()
            sent = own.messages.send(chat.id, "What?", [add(own, "sales.csv", SALES).id])
            answer = finished(own, sent.id)
            call = next(
                str(p.get("toolCallId")) for p in answer.parts if p["type"] == "tool-query_tables"
            )
            step = own.edits.run(answer.id, call, EDITED)
            step = own.edits.wait(step.id, 60)
        with opened(tmp_path, **given) as leaf:
            own = leaf.session(leaf.local_scope())
            assert own.edits.of(answer.id) == [step]
            assert result_of(step)["result_id"] == "r2"
            assert own.results.page(chat.id, "r2").rows == result_of(step)["rows"]
            finished(own, own.messages.send(chat.id, "And now?").id)
            sent_to_model = str(server.requests[-1].body["messages"])
            assert "max(revenue)" not in sent_to_model
            assert "r2" not in sent_to_model


def test_edited_sql_gives_a_result_of_its_own_with_what_it_read(desk: Desk, tmp_path: Path) -> None:
    before = desk.ann.messages.get(desk.answer.id)
    step = desk.run(desk.call("query_tables"), EDITED)
    assert (step.state, step.author, step.given, step.error) == ("done", "Ann", {"sql": EDITED}, "")
    table = result_of(step)
    assert table["rows"] == [["East", 49.5], ["North", 300], ["South", 250.5]]
    assert desk.rows(table["result_id"]) == table["rows"]
    assert step.output is not None
    (covered,) = step.output["coverage"]
    assert (covered["name"], covered["seen"], covered["total"]) == ("sales.csv", 4, 4)
    assert step.output["sources"][0]["query"] == EDITED
    assert desk.ann.messages.get(desk.answer.id) == before
    assert desk.ann.edits.get(step.id) == step
    assert step in desk.ann.edits.of(desk.answer.id)
    again = desk.ann.results.recompute(desk.answer.chat_id, table["result_id"])
    assert again.outcome == "same"
    exported = desk.ann.results.export(desk.answer.chat_id, table["result_id"], into=tmp_path)
    assert exported.read_text().splitlines()[0] == "region,most"
    page = desk.ann.results.page(desk.answer.chat_id, table["result_id"])
    assert (page.edited, page.sql) == (step.id, EDITED)
    workbook = desk.ann.results.export(
        desk.answer.chat_id, table["result_id"], "xlsx", into=tmp_path
    )
    sheet = load_workbook(workbook).worksheets[-1]
    assert [cell.value for cell in sheet[1]][:2] == ["Query, edited by a person", EDITED]


def test_what_reads_a_result_of_an_edited_step_is_told_that_a_person_made_it(desk: Desk) -> None:
    made = result_of(desk.run(desk.call("query_tables"), EDITED))["result_id"]
    step = desk.run(desk.call("query_tables"), f"SELECT max(most) AS most FROM {made}")
    table = result_of(step)
    assert table["rows"] == [[300]]
    said = f"{made} comes from a step that a person edited and ran."
    assert said in table["said"]
    assert step.output is not None
    assert said in step.output["text"]
    spec = {"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"field": "most"}}}
    chat_id = desk.answer.chat_id
    chart = desk.ann.tools.run("make_chart", {"spec": spec, "result_id": made}, chat_id=chat_id)
    assert said in chart.text
    plain = desk.run(desk.call("query_tables"), SQL)
    assert not result_of(plain)["said"]


def test_a_chart_is_drawn_of_edited_sql(desk: Desk) -> None:
    sql = "SELECT region, count(*) AS revenue FROM sales GROUP BY region ORDER BY region"
    step = desk.run(desk.call("make_chart"), sql)
    assert step.output is not None, step.error
    assert step.output["data"]["chart"]["rows"] == [["East", 1], ["North", 2], ["South", 1]]
    assert step.output["data"]["chart"]["spec"]["mark"]["type"] == "bar"


def test_what_failed_says_why_holds_the_code_and_gives_way_to_the_next(desk: Desk) -> None:
    call = desk.call("query_tables")
    wrong = "SELECT revenu FROM sales"
    failed = desk.run(call, wrong)
    assert (failed.state, failed.given["sql"], failed.output) == ("failed", wrong, None)
    assert "revenu" in failed.error
    assert "revenue" in failed.error
    assert part_of(failed)["state"] == "output-error"
    other = desk.run(desk.call("make_chart"), "SELECT 1 WHERE FALSE")
    assert other.state == "failed"
    right = desk.run(call, EDITED)
    kept = [step.id for step in desk.ann.edits.of(desk.answer.id)]
    assert right.id in kept
    assert other.id in kept
    assert failed.id not in kept
    desk.ann.edits.discard(other.id)
    with pytest.raises(NotFoundError):
        desk.ann.edits.get(other.id)
    with pytest.raises(InvalidInputError, match="This step stays"):
        desk.ann.edits.discard(right.id)


@pytest.mark.parametrize(
    ("tool", "code", "said"),
    [
        ("list_files", "SELECT 1", "no SQL and no Python"),
        ("query_tables", "  \n", "nothing to run"),
        ("query_tables", "x" * 100_001, "longer than 100,000"),
        ("nothing", "SELECT 1", "No such step"),
    ],
)
def test_what_cannot_be_run_is_said_and_leaves_nothing(
    desk: Desk, tool: str, code: str, said: str
) -> None:
    call = desk.call(tool) if tool != "nothing" else "toolu_none"
    before = desk.ann.edits.of(desk.answer.id)
    with pytest.raises(LeafError, match=said):
        desk.ann.edits.run(desk.answer.id, call, code)
    assert desk.ann.edits.of(desk.answer.id) == before


@needs_python
def test_edited_python_runs_after_the_cells_before_it_and_changes_no_variable(desk: Desk) -> None:
    step = desk.run(desk.call("run_python", 1), "factor = factor + 1\nsales.assign(f=factor)")
    assert step.output is not None, step.error
    table = step.output["data"]["tables"][0]
    assert [row[-1] for row in table["rows"]] == [3, 3, 3, 3]
    assert step.output["data"]["python"]["cell"] == 2
    again = desk.run(desk.call("run_python", 1), "factor")
    assert again.output is not None
    assert again.output["data"]["python"]["value"] == "2"
    same = desk.ann.results.recompute(desk.answer.chat_id, table["result_id"])
    assert (same.outcome, same.text.startswith("Computed again")) == ("same", True)
    rows = desk.leaf._house.store.db.read(
        "SELECT count(*) AS n FROM cells WHERE chat_id = :chat", {"chat": desk.answer.chat_id}
    )
    assert rows[0]["n"] == 2


@needs_python
def test_a_cell_that_failed_is_mended(desk: Desk) -> None:
    step = desk.run(desk.call("run_python", 2), "factor * 21")
    assert step.output is not None, step.error
    assert step.output["data"]["python"]["value"] == "42"
    wrong = desk.run(desk.call("run_python", 2), "print(factor)\nfactor.nothing")
    assert wrong.error.startswith("AttributeError on line 2")
    assert "Printed before" in wrong.error
    desk.ann.edits.discard(wrong.id)


@needs_python
def test_a_running_step_is_stopped_and_keeps_its_code(desk: Desk) -> None:
    code = "import time\ntime.sleep(50)"
    call = desk.call("run_python", 1)
    step = desk.ann.edits.run(desk.answer.id, call, code)
    assert step.state == "running"
    with pytest.raises(InvalidInputError, match="still running"):
        desk.ann.edits.run(desk.answer.id, call, "1")
    with pytest.raises(InvalidInputError, match="This step stays"):
        desk.ann.edits.discard(step.id)
    desk.ann.edits.stop(step.id)
    over = desk.ann.edits.wait(step.id, 30)
    assert (over.state, over.error, over.given["code"]) == ("stopped", "Stopped.", code)
    desk.ann.edits.discard(over.id)


def test_only_who_takes_part_in_the_chat_sees_and_runs_steps(desk: Desk) -> None:
    call = desk.call("query_tables")
    step = desk.run(call, EDITED)
    attempts: list[Callable[[], object]] = [
        lambda: desk.ben.edits.run(desk.answer.id, call, SQL),
        lambda: desk.ben.edits.get(step.id),
        lambda: desk.ben.edits.wait(step.id, 0),
        lambda: desk.ben.edits.stop(step.id),
        lambda: desk.ben.edits.discard(step.id),
    ]
    for attempt in attempts:
        with pytest.raises(NotFoundError):
            attempt()
    assert desk.ben.edits.of(desk.answer.id) == []
    desk.ann.chats.add_participant(desk.answer.chat_id, "b@example.org")
    own = desk.ben.edits.run(desk.answer.id, call, "SELECT 1 AS one FROM nowhere")
    own = desk.ben.edits.wait(own.id, 60)
    assert (own.author, own.state) == ("Ben", "failed")
    with pytest.raises(InvalidInputError):
        desk.ann.edits.discard(own.id)
    desk.ben.edits.discard(own.id)
    desk.ann.chats.remove_participant(desk.answer.chat_id, desk.ben.scope.user_id)
    assert desk.ben.edits.of(desk.answer.id) == []


def slow(began: threading.Event) -> Any:
    """A tool that says how far it is and goes on until it is stopped."""

    def run(_name: str, _given: object, context: ToolContext) -> ToolOutput:
        context.progress("Reading sales.csv: half of it")
        began.set()
        context.stop.wait(60)
        raise LeafError("Stopped.")

    return run


def editor(leaf: Leaf, began: threading.Event) -> StepEditor:
    house = leaf._house
    rooms = (house.library, house.tables, house.drive, house.documents)
    return StepEditor(house.store, *rooms, run_tool=slow(began))


def test_another_process_sees_how_far_a_step_is_and_stops_it(desk: Desk) -> None:
    began = threading.Event()
    elsewhere = editor(desk.leaf, began)
    step = elsewhere.begin(desk.ann.scope, desk.answer.id, desk.call("query_tables"), SQL)
    assert began.wait(10)
    wait_until(lambda: desk.ann.edits.get(step.id).progress == "Reading sales.csv: half of it")
    desk.ann.edits.stop(step.id)
    wait_until(lambda: desk.ann.edits.get(step.id).state == "stopped")
    desk.ann.edits.discard(step.id)


def test_a_step_of_somebody_who_was_taken_out_runs_on_for_nobody(desk: Desk) -> None:
    desk.ann.chats.add_participant(desk.answer.chat_id, "b@example.org")
    began = threading.Event()
    elsewhere = editor(desk.leaf, began)
    step = elsewhere.begin(desk.ben.scope, desk.answer.id, desk.call("query_tables"), SQL)
    assert began.wait(10)
    desk.ann.chats.remove_participant(desk.answer.chat_id, desk.ben.scope.user_id)
    elsewhere.wait(step.id, 20)
    said = desk.ann.edits.get(step.id)
    assert (said.state, said.error) == ("stopped", "Stopped.")


def test_the_end_of_a_process_ends_its_steps_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()
    ending = editor(desk.leaf, began)
    call = desk.call("query_tables")
    step = ending.begin(desk.ann.scope, desk.answer.id, call, SQL)
    assert began.wait(10)
    ending.close()
    assert (desk.ann.edits.get(step.id).state, desk.ann.edits.get(step.id).error) == (
        "stopped",
        LOST,
    )
    with pytest.raises(LeafError, match="shutting down"):
        ending.begin(desk.ann.scope, desk.answer.id, call, SQL)
    # of one that was killed nothing is heard
    wanted = EditedStep(
        "", "", desk.answer.id, call, desk.ann.scope.user_id, "", "query_tables", {"sql": SQL},
        "running", step.made_at,
    )  # fmt: skip
    dead = edited_steps.begin(desk.leaf._house.store.db, desk.ann.scope, wanted)
    assert desk.ann.edits.get(dead.id).state == "running"
    monkeypatch.setattr(edited_steps, "SILENCE", -1.0)
    found = desk.ann.edits.get(dead.id)
    assert (found.state, found.error, found.given) == ("stopped", LOST, {"sql": SQL})
    assert desk.run(call, EDITED).state == "done"
    assert dead.id not in [step.id for step in desk.ann.edits.of(desk.answer.id)]
