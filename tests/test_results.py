"""Kept results under their names: a query or code reads `r1` as a table, and what it rests on comes with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import LeafError, NotFoundError
from leaf.store.model import Scope
from leaf.tools.base import ToolOutput
from tests.leaf_kit import SALES, add, finished, opened, text_of
from tests.messages_server import MessagesServer, Turn
from tests.test_coverage import SHEET, covered_of, workbook  # noqa: F401 - a fixture

BY_REGION = "SELECT region, sum(revenue) AS total FROM sales GROUP BY 1 ORDER BY 1"


class Chat:
    """A chat, and its tools as a model would call them."""

    def __init__(self, leaf: Leaf, scope: Scope | None = None, **files: bytes) -> None:
        self.leaf, self.scope = leaf, scope or leaf.local_scope()
        self.id = leaf.session(self.scope).chats.create().id
        self.add(**files)

    def add(self, **files: bytes) -> None:
        named = [add(self.leaf.session(self.scope), name.replace("__", "."), content).id for name, content in files.items()]
        if named:
            self.leaf.session(self.scope).attached.add(self.id, named)

    def sql(self, sql: str) -> ToolOutput:
        return self.leaf.session(self.scope).tools.run("query_tables", {"sql": sql}, chat_id=self.id)

    def rows(self, sql: str) -> list[list[Any]]:
        return self.sql(sql).data["table"]["rows"]  # type: ignore[no-any-return]

    def python(self, code: str) -> ToolOutput:
        return self.leaf.session(self.scope).tools.run("run_python", {"code": code}, chat_id=self.id)

    @property
    def folder(self) -> Path:
        return self.leaf._house.tables._folder(self.scope, self.id)


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    with opened(tmp_path_factory.mktemp("home")) as opened_leaf:
        yield opened_leaf


@pytest.fixture
def chat(leaf: Leaf) -> Chat:
    return Chat(leaf, sales__csv=SALES)


def test_a_later_query_reads_a_result_by_its_name(chat: Chat) -> None:
    assert "Result r1: 3 rows" in chat.sql(BY_REGION).text
    found = chat.sql("SELECT max(total) FROM r1")
    assert found.data["table"]["rows"] == [[400.0]]
    assert "Scanned sales (4 rows). Read result r1 (3 rows)" in found.text
    assert [(s.name, s.action) for s in found.sources] == [("sales.csv", "queried")]
    assert [(c.name, c.seen, c.total) for c in found.coverage] == [("sales.csv", 4, 4)]
    assert chat.rows("SELECT total * 2 FROM R1 WHERE region = 'East'") == [[99.0]]


def test_results_of_results_keep_their_files(chat: Chat) -> None:
    chat.sql(BY_REGION)
    chat.sql("SELECT * FROM r1 WHERE total > 100")
    found = chat.sql("SELECT count(*) FROM r2")
    assert found.data["table"]["rows"] == [[2]]
    assert [c.name for c in found.coverage] == ["sales.csv"]


def test_a_result_and_a_table_are_joined_and_both_are_sources(chat: Chat) -> None:
    chat.add(costs__csv=b"region,cost\nNorth,10\nSouth,20\n")
    chat.sql(BY_REGION)
    found = chat.sql("SELECT r.region, r.total - c.cost FROM r1 r JOIN costs c USING (region) ORDER BY 1")
    assert found.data["table"]["rows"] == [["North", 390.0], ["South", 230.5]]
    assert {s.name for s in found.sources} == {"sales.csv", "costs.csv"}


@pytest.mark.parametrize("sql", ["SELECT count(*) FROM sales r1", "WITH r1 AS (SELECT 1 AS a) SELECT count(*) FROM r1, sales"])
def test_an_alias_or_a_common_table_of_that_name_is_no_result(chat: Chat, sql: str) -> None:
    chat.sql("SELECT 1 AS a WHERE false")
    found = chat.sql(sql)
    assert found.data["table"]["rows"] == [[4]]
    assert "Read result" not in found.text


def test_what_was_left_out_of_a_result_is_left_out_of_a_query_over_it(leaf: Leaf, workbook: bytes) -> None:  # noqa: F811
    chat = Chat(leaf, q3__xlsx=workbook)
    chat.sql("SELECT region, sum(amount) AS total FROM q3__data GROUP BY 1")
    found = chat.sql("SELECT sum(total) FROM r1")
    assert [(c.seen, c.total) for c in found.coverage] == [(4, 8)]
    assert "2 left out as subtotals, 1 as a total" in found.coverage[0].excluded
    assert "left out as subtotals" in found.text
    chat.sql("SELECT * FROM q3__data__all")
    everything = chat.sql("SELECT count(*) FROM r3")
    assert [(c.seen, c.total) for c in everything.coverage] == [(7, 8)]
    assert len(SHEET) >= 8


def test_python_has_results_as_frames(chat: Chat) -> None:
    chat.sql(BY_REGION)
    found = chat.python("r1.total.max() + query('SELECT min(total) AS m FROM r1').m[0]")
    assert found.data["python"]["value"] == "449.5" or "449.5" in found.text
    assert [(c.name, c.seen) for c in found.coverage] == [("sales.csv", 4)]
    assert "Result r2" in chat.python("r1[r1.total > 100]").text
    assert chat.rows("SELECT count(*) FROM r2") == [[2]]
    assert [c.name for c in chat.sql("FROM r2").coverage] == ["sales.csv"]


def test_a_variable_goes_before_a_result_of_its_name(chat: Chat) -> None:
    chat.sql(BY_REGION)
    assert "7" in chat.python("r1 = pd.DataFrame({'n': [7]})\nint(query('SELECT n FROM r1').n[0])").text


def test_an_unknown_result_is_answered_with_those_there_are(chat: Chat) -> None:
    chat.sql(BY_REGION)
    with pytest.raises(NotFoundError, match=r"No result 'r9' in this chat. There is r1"):
        chat.sql("SELECT * FROM r9")


def test_calls_of_one_turn_do_not_take_each_others_results_for_the_ones_meant(tmp_path: Path) -> None:
    """Which of them is r1 is a race, so none is, until the turn is over."""
    turns = [
        Turn.call(
            ("query_tables", {"sql": BY_REGION}),
            ("query_tables", {"sql": "SELECT count(*) FROM r1"}),
            ("make_chart", {"result_id": "r1", "spec": {"mark": "bar"}}),
            ("run_python", {"code": "len(r1)"}),
        ),
        Turn.call(("query_tables", {"sql": "SELECT sum(total) AS s FROM r1"}), ("run_python", {"code": "len(r1)"})),
        Turn.say("Together 700."),
    ]
    with MessagesServer(turns) as server, opened(tmp_path, model_url=server.url, api_key="k") as leaf:
        scope = leaf.local_scope()
        session = leaf.session(scope)
        chat = session.chats.create()
        file = add(session, "sales.csv", SALES).id
        answer = finished(session, session.messages.send(chat.id, "By region?", file_ids=[file]).id)
    tools = [p for p in answer.parts if p["type"].startswith("tool-")]
    assert ["one turn do not see" in p.get("errorText", "") for p in tools[:4]] == [False, True, True, True]
    assert tools[4]["output"]["data"]["table"]["rows"] == [[700]]
    assert "3" in tools[5]["output"]["text"]


def test_a_chart_of_a_result_whose_rows_are_gone_says_what_to_do(chat: Chat) -> None:
    chat.sql(BY_REGION)
    (chat.folder / "r1.parquet").unlink()
    with pytest.raises(NotFoundError, match=r"The rows of r1 are gone.*Run its query again"):
        chat.leaf.session(chat.scope).tools.run("make_chart", {"result_id": "r1", "spec": {"mark": "bar"}}, chat_id=chat.id)


def test_a_result_that_ends_at_its_limit_is_not_taken_for_the_whole(chat: Chat) -> None:
    chat.sql("SELECT * FROM sales LIMIT 2")
    chat.sql("SELECT sum(revenue) AS s FROM r1")
    assert "r1 ends at its own LIMIT (2 rows): it is not the whole." in chat.sql("FROM r2").text
    assert "r1 ends at its own LIMIT" in chat.python("r1").text
    chat.sql("SELECT * FROM sales LIMIT 100")
    assert "LIMIT" not in chat.sql("SELECT count(*) FROM r5").text


def test_all_rows_of_a_result_are_read_and_not_those_shown(chat: Chat) -> None:
    chat.sql("SELECT i FROM range(100_000) t(i)")
    assert chat.rows("SELECT count(*), sum(i) FROM r1") == [[100_000, 4_999_950_000]]


def test_a_table_of_the_users_goes_before_a_result_of_its_name(chat: Chat) -> None:
    chat.sql(BY_REGION)
    chat.add(r1__csv=b"a\n5\n6\n7\n")
    found = chat.sql("SELECT sum(a) FROM r1")
    assert found.data["table"]["rows"] == [[18]]
    assert "r1 is the table of r1.csv here, not the result r1." in found.text
    assert "18" in chat.python("int(r1.a.sum())").text


def test_results_survive_a_restart_and_the_loss_of_their_rows(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        chat = Chat(leaf, sales__csv=SALES)
        chat.sql(BY_REGION)
        chat.sql("SELECT total FROM r1 WHERE total > 100")
    with opened(tmp_path) as leaf:
        chat.leaf = leaf
        assert chat.rows("SELECT count(*) FROM r2") == [[2]]
        for path in chat.folder.glob("*.parquet"):
            path.unlink()
        assert chat.rows("SELECT sum(total) FROM r2") == [[650.5]]
        assert (chat.folder / "r1.parquet").is_file()


def test_rows_that_are_gone_and_cannot_be_made_again_are_said_to_be(chat: Chat) -> None:
    chat.sql(BY_REGION)
    chat.python("pd.DataFrame({'a': [1]})")
    for path in chat.folder.glob("*.parquet"):
        path.unlink()
    with pytest.raises(NotFoundError, match=r"The rows of r2 are gone.*Run its code again"):
        chat.sql("FROM r2")


def test_a_file_that_was_deleted_since_is_still_the_source_and_is_said_to_be_gone(leaf: Leaf) -> None:
    chat = Chat(leaf, short__csv=b"a,b\n1,2\n3,4\n")
    chat.sql("SELECT sum(a) AS s FROM short")
    leaf.session(chat.scope).files.delete(leaf.session(chat.scope).attached.list(chat.id)[0].file.id)
    found = chat.sql("SELECT s FROM r1")
    assert found.data["table"]["rows"] == [[4]]
    assert "short.csv, which r1 was made from, was deleted since." in found.text
    assert [(s.name, s.handle) for s in found.sources] == [("short.csv", "f1")]
    assert [(c.seen, c.total) for c in found.coverage] == [(2, 2)]


def test_no_other_chat_or_workspace_reaches_a_result(leaf: Leaf, chat: Chat) -> None:
    chat.sql(BY_REGION)
    other = Chat(leaf, costs__csv=b"a,b\n1,2\n")
    for sql in ("FROM r1", f"FROM '{chat.folder}/r1.parquet'", 'FROM "r1.parquet"'):
        with pytest.raises(LeafError) as refused:
            other.sql(sql)
        assert str(chat.folder) not in str(refused.value).replace(f"{chat.folder}/r1.parquet", "")  # what was asked for
    with pytest.raises(LeafError):
        other.python("r1")
    stranger = Scope("another-workspace", "another-user")
    assert leaf._house.tables.results_named(stranger, chat.id, "FROM r1", ()) == []
    with pytest.raises(NotFoundError):
        leaf.session(stranger).tools.run("query_tables", {"sql": "FROM r1"}, chat_id=chat.id)
    assert [r.name for r in leaf._house.tables.results_named(chat.scope, chat.id, "FROM r1", ())] == ["r1"]


def test_an_answer_over_a_result_of_an_earlier_answer_rests_on_its_file(tmp_path: Path) -> None:
    turns = [
        Turn.call(("query_tables", {"sql": BY_REGION})),
        Turn.say("North made 400."),
        Turn.call(("query_tables", {"sql": "SELECT sum(total) AS s FROM r1"})),
        Turn.say("Together 700."),
    ]
    with MessagesServer(turns) as server, opened(tmp_path, model_url=server.url, api_key="k") as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        file = add(session, "sales.csv", SALES).id
        finished(session, session.messages.send(chat.id, "By region?", file_ids=[file]).id)
        answer = finished(session, session.messages.send(chat.id, "And together?").id)
    assert text_of(answer) == "Together 700."
    assert [(c["name"], c["seen"]) for c in covered_of(answer.parts)["files"]] == [("sales.csv", 4)]
    receipts = next(p for p in answer.parts if p["type"] == "data-receipts")["data"]["receipts"]
    assert [r["kind"] for r in receipts] == ["exact"]
    assert [p["filename"] for p in answer.parts if p["type"] == "source-document"] == ["sales.csv"]
