"""Boards, on both databases: what is pinned, who sees it, what comes of computing it again, and what
is handed over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pypdfium2 as pdfium
import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.exports import boards as exports
from leaf.keeping.expired import forget_expired
from leaf.provenance import pins
from leaf.sandbox.confine import confinement
from leaf.sessions.boards import PinShown
from leaf.sessions.session import Session
from leaf.shapes.pins import PinContent
from leaf.store import boards as store
from leaf.store.boards import MOST_PINS, Pin, PinDraft
from leaf.store.database import now
from leaf.store.model import Message
from tests.filled import Filled, to_fill
from tests.leaf_kit import CLAIMS, SALES, add, finished
from tests.messages_server import Turn

SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY region"
WIDE = "SELECT * FROM wide"
SPEC = {
    "mark": "bar",
    "title": "Revenue by region",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "revenue", "type": "quantitative"},
    },
}
CODE = "print('computed')\nsales.groupby('region', as_index=False).revenue.max()"
TWICE = "r1.assign(twice=r1.revenue * 2)"
NEWER = SALES + b"West,2025-03,1000\n"
ARABIC = "الإيرادات حسب المنطقة 📈 <b>&"
PYTHON = confinement().kind == "landlock"
TURNS = [
    Turn.call(("query_tables", {"sql": SQL}), ("make_chart", {"spec": SPEC, "sql": SQL})),
    *([Turn.call(("run_python", {"code": CODE}))] if PYTHON else []),
    Turn.call(("query_tables", {"sql": WIDE})),
    *([Turn.call(("run_python", {"code": TWICE}))] if PYTHON else []),
    Turn.say("North has 400."),
]


@dataclass
class Desk:
    """A chat with results, its host, and a member outside of it."""

    leaf: Leaf
    ann: Session
    ben: Session
    chat_id: str
    answer: Message

    def result(self, tool: str) -> str:
        """The name of what the first call of a tool gave."""
        data = next(
            p["output"]["data"]  # type: ignore[typeddict-item]
            for p in self.answer.parts
            if p["type"] == f"tool-{tool}"
        )
        table = data.get("table") or data.get("chart") or data["tables"][0]
        return str(table["result_id"])

    def board(self, name: str) -> str:
        return self.ann.boards.create(name).id

    def pin(self, board_id: str, tool: str = "query_tables", spec: Any = None) -> Pin:
        made, _, _ = self.ann.boards.pin(self.chat_id, self.result(tool), spec, board_id)
        return made

    def shown(self, board_id: str) -> list[PinShown]:
        return list(self.ann.boards.pins(board_id))


@dataclass(frozen=True)
class Asked:
    """The chat, before anything of it is pinned."""

    filled: Filled
    chat_id: str
    answer_id: str


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asked]:
    with to_fill(request, tmp_path_factory.mktemp("boards"), TURNS) as filled:
        with filled.first() as leaf:
            ann = leaf.session(leaf.sign_in(person("a", "Ann")).scope)
            ann.team.invite("b@example.org")
            chat = ann.chats.create()
            columns = ",".join(f"c{n}" for n in range(300))
            wide = f"{columns}\n{','.join('7' * 300)}\n".encode()
            files = [add(ann, "sales.csv", SALES), add(ann, "wide.csv", wide)]
            sent = ann.messages.send(chat.id, "Revenue by region?", [file.id for file in files])
            answer = finished(ann, sent.id, 150)
            assert answer.status == "completed", answer.error
        yield Asked(filled, chat.id, answer.id)


@pytest.fixture
def desk(asked: Asked, tmp_path: Path) -> Iterator[Desk]:
    with asked.filled.copied(tmp_path / "home") as leaf:
        ann, ben = (
            leaf.session(leaf.sign_in(person(who, name)).scope)
            for who, name in (("a", "Ann"), ("b", "Ben"))
        )
        yield Desk(leaf, ann, ben, asked.chat_id, ann.messages.get(asked.answer_id))


def person(who: str, name: str) -> dict[str, Any]:
    return {**CLAIMS, "sub": who, "name": name, "email": f"{who}@example.org"}


def content_of(pin: Pin) -> PinContent:
    assert pin.content is not None
    return pin.content


def draft(chat_id: str, number: int) -> PinDraft:
    content: PinContent = {
        "columns": ["a"],
        "types": ["BIGINT"],
        "rows": [[number]],
        "total": 1,
        "wide": 1,
        "sql": "SELECT 1",
        "code": "",
        "covered": [],
        "sources": [],
        "said": [],
        "seconds": 0.0,
        "computed_at": now().isoformat(),
    }
    return PinDraft(chat_id, "", f"r{number}", "0" * 64, "table", f"Pin {number}", content)


def test_the_first_pin_makes_a_board_and_holds_what_the_result_rests_on(desk: Desk) -> None:
    made, board, new = desk.ann.boards.pin(desk.chat_id, desk.result("query_tables"))
    assert (board.name, board.own, board.shared, board.pins, new) == ("Board", True, False, 1, True)
    content = content_of(made)
    assert made.title == "Revenue by region?"
    assert made.message_id == desk.answer.id
    assert (content["columns"], content["total"]) == (["region", "revenue"], 3)
    assert content["rows"] == [["East", 49.5], ["North", 400.0], ["South", 250.5]]
    assert content["sql"].strip() == SQL
    assert pins.line(content) == "4 of 4 rows of sales.csv"
    assert re.match(
        r"sales\.csv, .*4 of 4 rows · content [0-9a-f]{12}$", pins.source(content["sources"][0])
    )
    again, _, new = desk.ann.boards.pin(desk.chat_id, desk.result("query_tables"))
    assert (again.id, new) == (made.id, False)
    chart, _, new = desk.ann.boards.pin(desk.chat_id, desk.result("make_chart"), SPEC)
    assert (chart.kind, chart.title, new) == ("chart", "Revenue by region", True)
    assert content_of(chart)["spec"]["mark"]
    (same, drawn) = desk.shown(board.id)
    assert (same.pin, list(same.stale), same.gone) == (made, [], "")
    assert not drawn.gone


def test_two_tabs_that_pin_first_at_once_make_one_board(desk: Desk) -> None:
    ready, db = Barrier(4), desk.leaf._house.store.db

    def pin(number: int) -> None:
        db.read("SELECT 1 AS one")  # with a connection at hand
        ready.wait(10)
        store.add(db, desk.ann.scope, "", draft(desk.chat_id, number))

    threads = [Thread(target=pin, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (board,) = desk.ann.boards.list()
    assert board.pins == 4


def test_a_wide_result_is_pinned_by_its_first_columns_and_says_so(desk: Desk) -> None:
    calls = [p for p in desk.answer.parts if p["type"] == "tool-query_tables"]
    name = calls[-1]["output"]["data"]["table"]["result_id"]  # type: ignore[typeddict-item]
    made, _, _ = desk.ann.boards.pin(desk.chat_id, name)
    content = content_of(made)
    assert (len(content["columns"]), content["wide"], len(content["rows"][0])) == (40, 300, 40)
    assert pins.extent(content) == "1 row, the first 40 of 300 columns"
    assert (
        "1 row, the first 8 of 300 columns"
        in exports.document("B", [exports.PinTold("Wide", content, "", None)], now()).text
    )


def test_nobody_else_sees_a_board_until_it_is_shared_and_nobody_else_changes_it(desk: Desk) -> None:
    board = desk.board("Ours")
    made = desk.pin(board)
    assert desk.ben.boards.list() == []
    for call in (desk.ben.boards.get, desk.ben.boards.pins, desk.ben.boards.delete):
        with pytest.raises(NotFoundError):
            call(board)
    desk.ann.boards.share(board, True)
    (seen,) = desk.ben.boards.list()
    assert (seen.id, seen.own, seen.author) == (board, False, "Ann")
    (shown,) = desk.ben.boards.pins(board)
    assert content_of(shown.pin)["rows"] == content_of(made)["rows"]
    assert shown.pin.chat_title is None
    assert b"North" in desk.ben.boards.export(board, "html")
    attempts: list[Callable[[], object]] = [
        lambda: desk.ben.boards.rename(board, "Mine"),
        lambda: desk.ben.boards.share(board, False),
        lambda: desk.ben.boards.rename_pin(made.id, "Mine"),
        lambda: desk.ben.boards.move(made.id, 1),
        lambda: desk.ben.boards.remove(made.id),
        lambda: desk.ben.boards.recompute(made.id),
        lambda: desk.ben.boards.pin(desk.chat_id, desk.result("query_tables")),
    ]
    for attempt in attempts:
        with pytest.raises(NotFoundError):
            attempt()
    desk.ann.boards.share(board, False)
    assert desk.ben.boards.list() == []
    actions = [line.action for line in desk.ann.team.audit()]
    assert {"board shared", "board no longer shared", "board exported"} <= set(actions)


def test_a_board_shows_nothing_of_a_chat_that_its_maker_cannot_open(desk: Desk) -> None:
    desk.ann.chats.add_participant(desk.chat_id, "b@example.org")
    made, board, _ = desk.ben.boards.pin(desk.chat_id, desk.result("query_tables"))
    desk.ben.boards.share(board.id, True)
    assert content_of(desk.shown(board.id)[0].pin)
    desk.ann.chats.remove_participant(desk.chat_id, desk.ben.scope.user_id)
    for session in (desk.ann, desk.ben):
        (left,) = session.boards.pins(board.id)
        assert (left.pin.state, left.pin.content, left.pin.earlier) == ("left", None, None)
        assert left.pin.title == (made.title if session is desk.ben else "")
        exported = session.boards.export(board.id, "html").decode()
        assert "takes no part" in exported
        assert "North" not in exported
        assert made.title not in exported
    with pytest.raises(NotFoundError):
        desk.ben.boards.recompute(made.id)


def test_pins_go_away_and_come_back_with_their_chat_and_are_deleted_with_it(desk: Desk) -> None:
    board = desk.board("Kept")
    desk.ann.boards.share(board, True)
    desk.pin(board)
    desk.ann.chats.delete(desk.chat_id)
    (put_away,) = desk.shown(board)
    assert (put_away.pin.state, put_away.pin.content) == ("deleted", None)
    assert "restored" in desk.ann.boards.export(board, "html").decode()
    desk.ann.chats.restore(desk.chat_id)
    assert content_of(desk.shown(board)[0].pin)
    desk.ann.chats.delete(desk.chat_id)
    desk.ann.chats.purge(desk.chat_id)
    assert desk.shown(board) == []
    assert desk.ben.boards.get(board).pins == 0


def test_recompute_shows_the_same_or_what_a_newer_file_gives_and_what_was_there(desk: Desk) -> None:
    board = desk.board("Again")
    made = desk.pin(board)
    chart = desk.pin(board, "make_chart", SPEC)
    before = desk.ann.messages.get(desk.answer.id)
    same = desk.ann.boards.recompute(made.id)
    assert same.outcome is not None
    assert (same.outcome["outcome"], same.result, same.earlier) == ("same", made.result, None)
    desk.ann.files.add("sales.csv", BytesIO(NEWER))
    (stale, _) = desk.shown(board)
    assert "A newer sales.csv was added" in stale.stale[0]
    other = desk.ann.boards.recompute(made.id)
    assert other.outcome is not None
    assert other.outcome["outcome"] == "different"
    assert other.outcome["text"] == (
        "Computed again, there are 4 rows in place of 3. sales.csv changed since."
    )
    assert other.earlier == same.content
    assert content_of(other)["rows"][-1] == ["West", 1000.0]
    assert pins.line(content_of(other)).startswith("5 of 5 rows of sales")
    assert other.result != made.result
    assert not desk.shown(board)[0].stale
    assert desk.ann.results.page(desk.chat_id, made.result).total == 3
    drawn = desk.ann.boards.recompute(chart.id)
    assert content_of(drawn)["rows"][-1] == ["West", 1000.0]
    assert desk.ann.messages.get(desk.answer.id) == before
    third = desk.ann.boards.recompute(made.id)
    assert third.outcome is not None
    assert (third.outcome["outcome"], third.result) == ("same", other.result)
    desk.ann.files.add("sales.csv", BytesIO(b"region,month\nNorth,2025-01\n"))
    failed = desk.ann.boards.recompute(made.id)
    assert failed.outcome is not None
    assert failed.outcome["outcome"] == "failed"
    assert "revenue" in failed.outcome["text"]
    assert failed.content == third.content


@pytest.mark.skipif(not PYTHON, reason="Python is offered only where it is confined")
def test_a_table_of_python_is_computed_again_over_the_newer_file_and_once_more(desk: Desk) -> None:
    board = desk.board("Python")
    made = desk.pin(board, "run_python")
    assert content_of(made)["code"].strip() == CODE
    desk.ann.files.add("sales.csv", BytesIO(NEWER))
    other = desk.ann.boards.recompute(made.id)
    assert other.outcome is not None
    assert other.outcome["outcome"] == "different", other.outcome
    assert ["West", 1000] in [[r, int(n)] for r, n in content_of(other)["rows"]]
    assert not desk.shown(board)[0].stale
    same = desk.ann.boards.recompute(made.id)
    assert same.outcome is not None
    assert (same.outcome["outcome"], same.result) == ("same", other.result), same.outcome


@pytest.mark.parametrize("made_by", ["sql", *(["python"] if PYTHON else [])])
def test_what_was_made_of_a_result_is_computed_again_from_the_newer_file(
    desk: Desk, made_by: str
) -> None:
    """It was made of the rows that the result before had, and said to rest on the newer file."""
    board = desk.board("Chain")
    if made_by == "sql":
        sql = "SELECT region, revenue * 2 AS twice FROM r1"
        name = desk.ann.tools.run("query_tables", {"sql": sql}, chat_id=desk.chat_id).data.table[
            "result_id"
        ]
        sql = f"SELECT max(twice) AS most FROM {name}"
        name = desk.ann.tools.run("query_tables", {"sql": sql}, chat_id=desk.chat_id).data.table[
            "result_id"
        ]
    else:
        calls = [p for p in desk.answer.parts if p["type"] == "tool-run_python"]
        name = calls[-1]["output"]["data"]["tables"][0]["result_id"]  # type: ignore[typeddict-item]
    made, _, _ = desk.ann.boards.pin(desk.chat_id, name, None, board)
    assert content_of(made)["rows"][0][-1] in (99.0, 800.0)
    desk.ann.files.add("sales.csv", BytesIO(NEWER))
    assert desk.shown(board)[0].stale
    other = desk.ann.boards.recompute(made.id)
    assert other.outcome is not None
    assert other.outcome["outcome"] == "different", other.outcome
    assert content_of(other)["rows"][-1][-1] == 2000.0
    assert pins.line(content_of(other)).startswith("5 of 5 rows of sales")
    assert not desk.shown(board)[0].stale
    same = desk.ann.boards.recompute(made.id)
    assert same.outcome is not None
    assert (same.outcome["outcome"], same.result) == ("same", other.result), same.outcome
    desk.ann.files.add("sales.csv", BytesIO(SALES + b"West,2025-03,3000\n"))
    third = desk.ann.boards.recompute(made.id)
    assert content_of(third)["rows"][-1][-1] == 6000.0
    assert not desk.shown(board)[0].stale


def test_a_chart_of_a_column_whose_name_has_two_lines_is_pinned_with_it(desk: Desk) -> None:
    sql = 'SELECT region, revenue AS "Revenue\n(EUR) [2025]" FROM sales'
    table = desk.ann.tools.run("query_tables", {"sql": sql}, chat_id=desk.chat_id).data.table
    spec = {
        "mark": "bar",
        "encoding": {"x": {"field": "region"}, "y": {"field": "Revenue\n(EUR) [2025]"}},
    }
    made, _, _ = desk.ann.boards.pin(desk.chat_id, table["result_id"], spec)
    assert content_of(made)["columns"] == ["region", "Revenue\n(EUR) [2025]"]


def test_rows_that_are_gone_are_said_and_computed_again(desk: Desk) -> None:
    if desk.leaf.settings.database_url:
        pytest.skip("the bytes are rows of the database then: see test_storage")
    board = desk.board("Gone")
    made = desk.pin(board)
    blobs, scope = desk.leaf._house.store.blobs, desk.ann.scope
    path = blobs.local(scope.workspace_id, made.sha256)
    held = Path(str(path))
    held.chmod(0o600)
    held.unlink()
    (shown,) = desk.shown(board)
    assert f"The rows of {made.result} are gone" in shown.gone
    assert content_of(shown.pin)["total"] == 3
    again = desk.ann.boards.recompute(made.id)
    assert again.outcome is not None
    assert again.outcome["outcome"] in ("same", "different")
    assert desk.shown(board)[0].gone == ""


def test_what_a_removed_pin_shows_is_kept_for_a_day(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, stays = desk.pin(desk.board("Ours")), desk.pin(desk.board("Another"))
    desk.ann.boards.remove(made.id)
    house = desk.leaf._house
    forget_expired(house.store)
    desk.ann.boards.restore(made.id)
    desk.ann.boards.remove(made.id)
    before = house.store.db.changes.position
    monkeypatch.setattr(store, "now", lambda: now() + timedelta(days=1, minutes=1))
    forget_expired(house.store)
    assert house.store.db.read("SELECT id FROM board_pins") == [{"id": stays.id}]
    assert house.store.db.changes.newest(desk.ann.scope.workspace_id, ["boards"]) > before
    with pytest.raises(NotFoundError):
        desk.ann.boards.restore(made.id)


def test_pins_are_renamed_moved_removed_and_brought_back(desk: Desk) -> None:
    board = desk.board("Order")
    db, scope = desk.leaf._house.store.db, desk.ann.scope
    made = [store.add(db, scope, board, draft(desk.chat_id, n))[0].id for n in range(1, 6)]

    def order() -> list[str]:
        return [shown.pin.title.removeprefix("Pin ") for shown in desk.shown(board)]

    desk.ann.boards.move(made[0], 1)
    assert order() == ["2", "1", "3", "4", "5"]
    desk.ann.boards.move(made[4], -99)
    assert order() == ["5", "2", "1", "3", "4"]
    desk.ann.boards.remove(made[1])
    assert order() == ["5", "1", "3", "4"]
    with pytest.raises(NotFoundError):
        desk.ann.boards.remove(made[1])
    desk.ann.boards.restore(made[1])
    assert sorted(order()) == ["1", "2", "3", "4", "5"]
    desk.ann.boards.rename_pin(made[2], f"  {ARABIC}\n")
    assert ARABIC in order()
    with pytest.raises(InvalidInputError, match="needs a title"):
        desk.ann.boards.rename_pin(made[2], " \n")
    desk.ann.boards.delete(board)
    with pytest.raises(NotFoundError):
        desk.ann.boards.move(made[0], 1)


def test_two_tabs_that_reorder_at_once_leave_every_pin_in_one_place(desk: Desk) -> None:
    board = desk.board("Busy")
    db, scope = desk.leaf._house.store.db, desk.ann.scope
    made = [store.add(db, scope, board, draft(desk.chat_id, n))[0].id for n in range(1, 9)]
    problems: list[LeafError] = []

    def moves(ids: list[str], steps: int) -> None:
        for pin_id in ids:
            try:
                desk.ann.boards.move(pin_id, steps)
            except LeafError as e:
                problems.append(e)

    tabs = [Thread(target=moves, args=(made * 2, 1)), Thread(target=moves, args=(made[::-1], -2))]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert problems == []
    places = db.read("SELECT place FROM board_pins ORDER BY place")
    assert [row["place"] for row in places] == list(range(1, 9))


def test_a_full_board_refuses_another_pin_and_is_read_in_pieces(desk: Desk) -> None:
    board = desk.board("Full")
    db, scope = desk.leaf._house.store.db, desk.ann.scope
    for number in range(1, MOST_PINS + 1):
        store.add(db, scope, board, draft(desk.chat_id, number))
    with pytest.raises(InvalidInputError, match="200 pins"):
        desk.pin(board, "make_chart", SPEC)
    assert [s.pin.result for s in desk.ann.boards.pins(board, 180, 20)] == [
        f"r{number}" for number in range(181, 201)
    ]
    assert desk.ann.boards.export(board, "html").count(b"<section>") == MOST_PINS


def test_an_export_fetches_nothing_and_shows_words_as_words(desk: Desk) -> None:
    board = desk.board("<script>alert(1)</script> ![x](https://evil.example/a.png)")
    made = desk.pin(board)
    desk.ann.boards.rename_pin(made.id, ARABIC)
    desk.pin(board, "make_chart", SPEC)
    page = desk.ann.boards.export(board, "html").decode()
    assert "<script" not in page
    assert "الإيرادات" in page
    assert "📈 &lt;b&gt;&amp;" in page
    assert re.findall(r'(?:src|href)="(?!data:image/png;base64,)', page) == []
    assert page.count('src="data:image/png;base64,') == 1
    for said in ("4 of 4 rows of sales.csv", "GROUP BY region", "Computed on", "content "):
        assert said in page, said
    pdf = pdfium.PdfDocument(desk.ann.boards.export(board, "pdf"))
    text = "\n".join(p.get_textpage().get_text_range() for p in pdf)
    assert "Revenue by region" in text
    assert "4 of 4 rows of sales.csv" in text
    assert "<script>alert(1)</script>" in text.replace("\r\n", " ")
    assert desk.ann.boards.export(board, "docx")[:2] == b"PK"


def test_a_result_or_spec_that_is_none_is_refused(desk: Desk) -> None:
    with pytest.raises(NotFoundError):
        desk.ann.boards.pin(desk.chat_id, "r99")
    with pytest.raises(LeafError):
        desk.ann.boards.pin(
            desk.chat_id, desk.result("query_tables"), {"mark": "bar", "data": {"url": "x"}}
        )
    with pytest.raises(NotFoundError):
        desk.ann.boards.pin(desk.chat_id, desk.result("query_tables"), None, "no board")
    with pytest.raises(InvalidInputError, match="needs a name"):
        desk.ann.boards.create("  ")
    assert desk.ann.boards.list() == []
