"""Kept results under their names: a query or code reads `r1` as a table, and what it rests on comes
with it."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import LeafError, NotFoundError, ResultGoneError
from leaf.store import results as rows
from leaf.store import users
from leaf.store.model import Scope
from leaf.store.objects.base import key_of
from leaf.tables.again import Recomputed
from leaf.tools import registry
from leaf.tools.base import Hooks, ToolOutput, context_of
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
        named = [
            add(self.leaf.session(self.scope), name.replace("__", "."), content).id
            for name, content in files.items()
        ]
        if named:
            self.leaf.session(self.scope).attached.add(self.id, named)

    def sql(self, sql: str) -> ToolOutput:
        return self.leaf.session(self.scope).tools.run(
            "query_tables", {"sql": sql}, chat_id=self.id
        )

    def rows(self, sql: str) -> list[list[Any]]:
        return self.sql(sql).data.table["rows"]  # type: ignore[no-any-return]

    def python(self, code: str) -> ToolOutput:
        return self.leaf.session(self.scope).tools.run(
            "run_python", {"code": code}, chat_id=self.id
        )

    def call(self, key: str, name: str, given: dict[str, Any]) -> ToolOutput:
        """As an answer makes a call, each time that it is carried out."""
        house, message_id = self.leaf._house, key.partition("/")[0]
        rooms = (house.library, house.tables, house.drive, house.documents)
        files = house.library.chat_files(self.scope, self.id)
        context = context_of(
            self.scope,
            self.id,
            files,
            *rooms,
            threading.Event(),
            Hooks(key=key),
            message_id,
            house.python,
        )
        return registry.run(name, given, context)

    @property
    def folder(self) -> Path:
        return self.leaf._house.tables.results.folder(self.scope, self.id)

    def blob(self, name: str) -> Path:
        """Where the rows of a result are, or were."""
        house = self.leaf._house
        one = house.tables.results.get(self.scope, self.id, name)
        return house.store.blobs.folder.path(key_of(self.scope.workspace_id, one.row.sha256))

    def lose(self, *names: str) -> None:
        blobs = self.leaf._house.store.blobs
        for name in names:
            blobs.delete(self.scope.workspace_id, self.blob(name).name)

    def recompute(self, name: str) -> Recomputed:
        return self.leaf.session(self.scope).results.recompute(self.id, name)


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory, module_kept: dict[str, Any]) -> Iterator[Leaf]:
    with opened(tmp_path_factory.mktemp("home"), **module_kept) as opened_leaf:
        yield opened_leaf


@pytest.fixture
def chat(leaf: Leaf) -> Chat:
    return Chat(leaf, sales__csv=SALES)


def test_a_later_query_reads_a_result_by_its_name(chat: Chat) -> None:
    assert "Result r1: 3 rows" in chat.sql(BY_REGION).text
    found = chat.sql("SELECT max(total) FROM r1")
    assert found.data.table["rows"] == [[400.0]]
    assert "Scanned sales (4 rows). Read result r1 (3 rows)" in found.text
    assert [(s.name, s.action) for s in found.sources] == [("sales.csv", "queried")]
    assert [(c.name, c.seen, c.total) for c in found.coverage] == [("sales.csv", 4, 4)]
    assert chat.rows("SELECT total * 2 FROM R1 WHERE region = 'East'") == [[99.0]]


def test_results_of_results_keep_their_files(chat: Chat) -> None:
    chat.sql(BY_REGION)
    chat.sql("SELECT * FROM r1 WHERE total > 100")
    found = chat.sql("SELECT count(*) FROM r2")
    assert found.data.table["rows"] == [[2]]
    assert [c.name for c in found.coverage] == ["sales.csv"]


def test_a_result_and_a_table_are_joined_and_both_are_sources(chat: Chat) -> None:
    chat.add(costs__csv=b"region,cost\nNorth,10\nSouth,20\n")
    chat.sql(BY_REGION)
    found = chat.sql(
        "SELECT r.region, r.total - c.cost FROM r1 r JOIN costs c USING (region) ORDER BY 1"
    )
    assert found.data.table["rows"] == [["North", 390.0], ["South", 230.5]]
    assert {s.name for s in found.sources} == {"sales.csv", "costs.csv"}


@pytest.mark.parametrize(
    "sql",
    ["SELECT count(*) FROM sales r1", "WITH r1 AS (SELECT 1 AS a) SELECT count(*) FROM r1, sales"],
)
def test_an_alias_or_a_common_table_of_that_name_is_no_result(chat: Chat, sql: str) -> None:
    chat.sql("SELECT 1 AS a WHERE false")
    found = chat.sql(sql)
    assert found.data.table["rows"] == [[4]]
    assert "Read result" not in found.text


def test_what_was_left_out_of_a_result_is_left_out_of_a_query_over_it(
    leaf: Leaf,
    workbook: bytes,  # noqa: F811
) -> None:
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
    assert found.data.python["value"] == "449.5" or "449.5" in found.text
    assert [(c.name, c.seen) for c in found.coverage] == [("sales.csv", 4)]
    assert "Result r2" in chat.python("r1[r1.total > 100]").text
    assert chat.rows("SELECT count(*) FROM r2") == [[2]]
    assert [c.name for c in chat.sql("FROM r2").coverage] == ["sales.csv"]


def test_a_variable_goes_before_a_result_of_its_name(chat: Chat) -> None:
    chat.sql(BY_REGION)
    assert (
        "7"
        in chat.python("r1 = pd.DataFrame({'n': [7]})\nint(query('SELECT n FROM r1').n[0])").text
    )


def test_an_unknown_result_is_answered_with_those_there_are(chat: Chat) -> None:
    chat.sql(BY_REGION)
    with pytest.raises(NotFoundError, match=r"No result 'r9' in this chat. There is r1"):
        chat.sql("SELECT * FROM r9")


def test_calls_of_one_turn_do_not_take_each_others_results_for_the_ones_meant(
    tmp_path: Path,
) -> None:
    """Which of them is r1 is a race, so none is, until the turn is over."""
    turns = [
        Turn.call(
            ("query_tables", {"sql": BY_REGION}),
            ("query_tables", {"sql": "SELECT count(*) FROM r1"}),
            ("make_chart", {"result_id": "r1", "spec": {"mark": "bar"}}),
            ("run_python", {"code": "len(r1)"}),
        ),
        Turn.call(
            ("query_tables", {"sql": "SELECT sum(total) AS s FROM r1"}),
            ("run_python", {"code": "len(r1)"}),
        ),
        Turn.say("Together 700."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        scope = leaf.local_scope()
        session = leaf.session(scope)
        chat = session.chats.create()
        file = add(session, "sales.csv", SALES).id
        answer = finished(session, session.messages.send(chat.id, "By region?", file_ids=[file]).id)
    tools = [p for p in answer.parts if p["type"].startswith("tool-")]
    assert ["one turn do not see" in p.get("errorText", "") for p in tools[:4]] == [
        False,
        True,
        True,
        True,
    ]
    assert tools[4]["output"]["data"]["table"]["rows"] == [[700]]
    assert "3" in tools[5]["output"]["text"]


def test_a_chart_of_a_result_whose_rows_are_gone_says_what_to_do(chat: Chat) -> None:
    chat.sql(BY_REGION)
    chat.lose("r1")
    with pytest.raises(NotFoundError, match=r"The rows of r1 are gone.*Run its query again"):
        chat.leaf.session(chat.scope).tools.run(
            "make_chart", {"result_id": "r1", "spec": {"mark": "bar"}}, chat_id=chat.id
        )


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
    assert found.data.table["rows"] == [[18]]
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
        chat.lose("r1", "r2")
        found = chat.sql("SELECT sum(total) FROM r2")
        assert found.data.table["rows"] == [[650.5]]
        assert (
            "The rows of r2 are gone: their file is missing from the data folder. Its query gave "
            "the very same rows again." in found.text
        )
        assert chat.blob("r1").is_file()


def test_rows_that_are_gone_and_cannot_be_made_again_are_said_to_be(chat: Chat) -> None:
    chat.sql(BY_REGION)
    chat.python("pd.DataFrame({'a': [1]})")
    chat.lose("r2")
    with pytest.raises(NotFoundError, match=r"The rows of r2 are gone.*Run its code again"):
        chat.sql("FROM r2")


def test_a_file_that_was_deleted_since_is_still_the_source_and_is_said_to_be_gone(
    leaf: Leaf,
) -> None:
    chat = Chat(leaf, short__csv=b"a,b\n1,2\n3,4\n")
    chat.sql("SELECT sum(a) AS s FROM short")
    leaf.session(chat.scope).files.delete(
        leaf.session(chat.scope).attached.list(chat.id)[0].file.id
    )
    found = chat.sql("SELECT s FROM r1")
    assert found.data.table["rows"] == [[4]]
    assert "short.csv, which r1 was made from, was deleted since." in found.text
    assert [(s.name, s.handle) for s in found.sources] == [("short.csv", "f1")]
    assert [(c.seen, c.total) for c in found.coverage] == [(2, 2)]


def test_no_other_chat_or_workspace_reaches_a_result(leaf: Leaf, chat: Chat) -> None:
    chat.sql(BY_REGION)
    other = Chat(leaf, costs__csv=b"a,b\n1,2\n")
    for sql in ("FROM r1", f"FROM '{chat.folder}/r1.parquet'", 'FROM "r1.parquet"'):
        with pytest.raises(LeafError) as refused:
            other.sql(sql)
        assert str(chat.folder) not in str(refused.value).replace(
            f"{chat.folder}/r1.parquet", ""
        )  # what was asked for
    with pytest.raises(LeafError):
        other.python("r1")
    stranger = Scope("another-workspace", "another-user")
    assert leaf._house.tables.queries.results_named(stranger, chat.id, "FROM r1", ()) == {}
    with pytest.raises(NotFoundError):
        leaf.session(stranger).tools.run("query_tables", {"sql": "FROM r1"}, chat_id=chat.id)
    assert list(leaf._house.tables.queries.results_named(chat.scope, chat.id, "FROM r1", ())) == [
        "r1"
    ]


def test_an_answer_over_a_result_of_an_earlier_answer_rests_on_its_file(tmp_path: Path) -> None:
    turns = [
        Turn.call(("query_tables", {"sql": BY_REGION})),
        Turn.say("North made 400."),
        Turn.call(("query_tables", {"sql": "SELECT sum(total) AS s FROM r1"})),
        Turn.say("Together 700."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
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


# --- numbers and rows that are lost


def test_a_lost_folder_never_begins_at_r1_again(tmp_path: Path, kept: dict[str, Any]) -> None:
    with opened(tmp_path, **kept) as leaf:
        chat = Chat(leaf, sales__csv=SALES)
        chat.sql(BY_REGION)
        chat.python("pd.DataFrame({'a': [1]})")
        chat.lose("r1", "r2")
        shutil.rmtree(chat.folder, ignore_errors=True)
        assert chat.sql("SELECT 1 AS other").data.table["result_id"] == "r3"
        session = leaf.session(chat.scope)
        for open_again in (
            lambda: session.results.page(chat.id, "r2"),
            lambda: session.results.export(chat.id, "r2", into=tmp_path),
            lambda: session.results.export(chat.id, "r2", "parquet", into=tmp_path),
            lambda: chat.sql("FROM r2"),
            lambda: session.tools.run(
                "make_chart", {"result_id": "r2", "spec": {"mark": "bar"}}, chat_id=chat.id
            ),
        ):
            with pytest.raises(
                ResultGoneError, match=r"^The rows of r2 are gone: .*\. Run its code"
            ):
                open_again()
        with pytest.raises(LeafError, match=r"The rows of r2 are gone"):
            chat.python("len(r2)")
        assert f"missing from {leaf._house.store.blobs.whereabouts}" in str(
            session.results.gone(chat.id, "r1")
        )
        assert session.results.gone(chat.id, "r3") is None


def test_a_row_says_who_made_a_result_and_what_it_is(tmp_path: Path, kept: dict[str, Any]) -> None:
    turns = [Turn.call(("query_tables", {"sql": BY_REGION})), Turn.say("North made 400.")]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, model_url=server.url, api_key="k", **kept) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        file = add(session, "sales.csv", SALES).id
        answer = finished(session, session.messages.send(chat.id, "By region?", [file]).id)
        store = leaf._house.store
        (row,) = rows.find(store.db, session.scope, chat.id, [1])
        parquet = store.blobs.local(session.scope.workspace_id, row.sha256)
        assert row.message_id == answer.id
        assert hashlib.sha256(parquet.read_bytes()).hexdigest() == row.sha256
        assert (row.about["sql"], row.about["total"], row.version) == (BY_REGION, 3, rows.VERSION)
        assert row.about["columns"] == ["region", "total"]


def test_a_call_that_is_carried_out_again_keeps_each_thing_once(
    tmp_path: Path, kept: dict[str, Any]
) -> None:
    """As after a kill between what it kept and the record of its step."""
    writes = "import time\nopen('at.txt', 'w').write(str(time.time_ns()))\nsales.head(2)"
    with opened(tmp_path, **kept) as leaf:
        chat = Chat(leaf, sales__csv=SALES)
        db = leaf._house.store.db
        for _ in range(2):
            queried = chat.call("m1/tool-1-1-query_tables", "query_tables", {"sql": BY_REGION})
            assert "Result r1: 3 rows" in queried.text
        for _ in range(2):
            ran = chat.call("m1/tool-2-1-run_python", "run_python", {"code": writes})
            assert [table["result_id"] for table in ran.data.tables] == ["r2"]
            (made,) = ran.data.written
        assert rows.numbers(db, chat.scope, chat.id) == [1, 2]
        kept = db.read("SELECT sha256, call FROM made_files")
        assert [(one["sha256"], one["call"]) for one in kept] == [
            (made["sha256"], "m1/tool-2-1-run_python")
        ]
        written = leaf.session(chat.scope).python.written(chat.id, made["sha256"], "at.txt")
        assert written.stat().st_size == made["size"]
        assert chat.rows("SELECT * FROM r1") == queried.data.table["rows"]
        other = chat.call("m1/tool-3-1-run_python", "run_python", {"code": writes})
        assert [table["result_id"] for table in other.data.tables] == ["r4"]
        assert len(db.read("SELECT sha256 FROM made_files")) == 2


def test_a_blob_with_other_bytes_is_not_taken_for_the_result(chat: Chat, tmp_path: Path) -> None:
    if chat.leaf.settings.database_url:
        pytest.skip("bytes that were altered elsewhere are told in test_storage_house")
    chat.sql(BY_REGION)
    chat.sql("SELECT 'another' AS query")
    other, blob = chat.blob("r2").read_bytes(), chat.blob("r1")
    blob.chmod(0o644)
    blob.write_bytes(other)
    session = chat.leaf.session(chat.scope)
    with pytest.raises(
        ResultGoneError, match="The rows of r1 are gone: their file holds something"
    ):
        session.results.page(chat.id, "r1")
    with pytest.raises(ResultGoneError):
        session.results.export(chat.id, "r1", into=tmp_path)
    outcome = chat.recompute("r1")
    assert (outcome.outcome, outcome.kept_as) == ("same", "")
    assert "are back" in outcome.text
    assert session.results.page(chat.id, "r1").rows[0][0] == "East"


def test_rows_computed_again_that_differ_are_a_new_result(leaf: Leaf) -> None:
    chat = Chat(leaf, sales__csv=SALES)
    chat.sql("SELECT count(*) AS n, random() AS chance FROM sales")
    chat.lose("r1")
    outcome = chat.recompute("r1")
    assert (outcome.outcome, outcome.kept_as) == ("different", "r2")
    assert "not those that were recorded to the byte. They are the new result r2" in outcome.text
    session = leaf.session(chat.scope)
    assert session.results.page(chat.id, "r2").rows[0][0] == 4
    with pytest.raises(ResultGoneError):
        session.results.page(chat.id, "r1")


def test_a_query_over_a_file_that_was_deleted_is_said_not_to_run_again(leaf: Leaf) -> None:
    chat = Chat(leaf, orders__csv=b"a,b\n1,2\n3,4\n")
    chat.sql("SELECT sum(a) AS s FROM orders")
    chat.lose("r1")
    session = leaf.session(chat.scope)
    session.files.delete(session.attached.list(chat.id)[0].file.id)
    assert chat.recompute("r1").outcome == "gone"
    with pytest.raises(ResultGoneError):
        chat.sql("FROM r1")


def test_a_frame_whose_rows_are_gone_is_made_again_by_its_cell(tmp_path: Path) -> None:
    turns = [
        Turn.call(("run_python", {"code": "sales.groupby('region').revenue.sum().reset_index()"})),
        Turn.say("Done."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        chat = Chat(leaf, sales__csv=SALES)
        session = leaf.session(chat.scope)
        finished(session, session.messages.send(chat.id, "By region?").id)
        before = session.results.page(chat.id, "r1").rows
        chat.lose("r1")
        outcome = chat.recompute("r1")
        name = outcome.kept_as or "r1"
        assert session.results.page(chat.id, name).rows == before


def test_two_processes_on_one_database_never_give_a_number_twice(
    tmp_path: Path, postgres_url: str
) -> None:
    with (
        opened(tmp_path / "one", database_url=postgres_url) as one,
        opened(tmp_path / "two", database_url=postgres_url) as two,
    ):
        chat = Chat(one)
        there = Chat.__new__(Chat)
        there.leaf, there.scope, there.id = two, chat.scope, chat.id
        with ThreadPoolExecutor(4) as threads:
            made = list(
                threads.map(
                    lambda n: (chat, there)[n % 2].sql(f"SELECT {n} AS n").data.table, range(8)
                )
            )
        named = {str(table["result_id"]): table["rows"] for table in made}
        assert sorted(named) == [f"r{number}" for number in range(1, 9)]
        opened_rows = {}
        for name, rows_made in named.items():
            for side in (one, two):
                results = side.session(chat.scope).results
                if results.gone(chat.id, name) is None:
                    opened_rows[name] = results.page(chat.id, name).rows
                    assert opened_rows[name] == rows_made
        assert sorted(opened_rows) == sorted(named)


def test_a_purged_chat_leaves_only_bytes_that_something_else_is_made_of(
    tmp_path: Path, kept: dict[str, Any]
) -> None:
    with opened(tmp_path, **kept) as leaf:
        chat, other = Chat(leaf, sales__csv=SALES), Chat(leaf)
        chat.sql("SELECT 1 AS shared")
        other.sql("SELECT 1 AS shared")
        chat.sql(BY_REGION)
        chat.sql("SELECT 2 AS uploaded")
        session = leaf.session(chat.scope)
        session.results.export(chat.id, "r2", into=tmp_path)
        blobs = {name: chat.blob(name) for name in ("r1", "r2", "r3")}
        assert blobs["r1"] == other.blob("r1")
        add(
            session,
            "r3.parquet",
            session.results.export(chat.id, "r3", "parquet", into=tmp_path).read_bytes(),
        )
        session.chats.purge(chat.id)
        place, workspace = leaf._house.store.blobs, chat.scope.workspace_id
        assert {name: place.exists(workspace, blob.name) for name, blob in blobs.items()} == {
            "r1": True,
            "r2": False,
            "r3": True,
        }
        assert not chat.folder.exists()
        with leaf._house.store.db.transaction() as tx:
            left = tx.read("SELECT chat_id FROM results UNION SELECT chat_id FROM result_numbers")
        assert [row["chat_id"] for row in left] == [other.id]
        assert session.results.page(other.id, "r1").rows == [[1]]


def test_a_stranger_gets_no_row_and_no_number(tmp_path: Path, kept: dict[str, Any]) -> None:
    with opened(tmp_path, **kept) as leaf:
        chat = Chat(leaf, sales__csv=SALES)
        chat.sql(BY_REGION)
        db = leaf._house.store.db
        stranger = users.ensure_user(db, "eve@example.org", "Eve")
        forger = Scope(chat.scope.workspace_id, stranger.user_id)
        for scope in (stranger, forger):
            assert rows.find(db, scope, chat.id, [1]) == []
            assert rows.numbers(db, scope, chat.id) == []
            assert rows.parts_said(db, scope, chat.id) == []
            assert rows.standing(db, scope, chat.id) is None
            for write in (
                lambda s: rows.add(db, s, chat.id, rows.ResultRow(0, {})),
                lambda s: rows.adopt(db, s, chat.id, [], 7),
                lambda s: rows.number_from(db, s, chat.id, 7),
            ):
                with pytest.raises(NotFoundError):
                    write(scope)
        assert chat.sql("SELECT 1").data.table["result_id"] == "r2"


def test_results_outside_of_chats_are_the_callers_alone(leaf: Leaf) -> None:
    db = leaf._house.store.db
    own = leaf.local_scope()
    leaf.session(own).tools.run("query_tables", {"sql": "SELECT 'secret' AS s"})
    with db.transaction() as tx:
        tx.execute(
            "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) "
            "VALUES (:w, 'bob', 'member', now())",
            {"w": own.workspace_id},
        )
    colleague = Scope(own.workspace_id, "bob")
    assert rows.numbers(db, own, rows.OUTSIDE)
    assert rows.numbers(db, colleague, rows.OUTSIDE) == []
