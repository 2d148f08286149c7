"""Python in a chat: what comes back, that variables live on, how they are made anew, and what is
told when it cannot be done."""

from __future__ import annotations

import datetime
import os
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from leaf.app import Leaf
from leaf.errors import (
    CodeError,
    InvalidInputError,
    LeafError,
    NotFoundError,
    RunError,
    SandboxError,
    SandboxMemoryError,
    SandboxTimeoutError,
)
from leaf.provenance.coverage import covered_of, missing
from leaf.sandbox import frames
from leaf.sandbox.confine import confinement
from leaf.sandbox.namespace import PythonCell
from leaf.sandbox.packages import InstallPlan, Packages
from leaf.sandbox.sessions import Sessions
from leaf.settings import Settings
from leaf.store import cells, consents, messages, open_store, users
from leaf.store.chat_packages import ChatPackages
from leaf.store.model import Message, Scope
from leaf.tables.lineage import rests_on
from leaf.tables.notebooks import Notebooks
from leaf.tables.paging import RowsWanted
from leaf.tools import registry
from leaf.tools.base import Hooks, ToolOutput, context_of
from leaf.tools.permissions import Permissions
from leaf.tools.printed import size_in_words, without_encoded
from tests.files_server import images_of
from tests.leaf_kit import SALES, add, finished, opened, text_of
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import wait_until

pytestmark = pytest.mark.skipif(
    confinement().kind != "landlock", reason="this machine cannot confine Python"
)
NOTES = "Größe: 12 m²\nsecond line\n".encode()


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    with opened(tmp_path_factory.mktemp("home")) as app:
        yield app


class Chat:
    """A chat with two files, whose cells are run as a model would run them."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf
        self.scope: Scope = leaf.local_scope()
        self.id = leaf.session(self.scope).chats.create().id
        files = [
            add(leaf.session(self.scope), "sales.csv", SALES),
            add(leaf.session(self.scope), "notes.txt", NOTES),
        ]
        leaf.session(self.scope).attached.add(self.id, [f.id for f in files])
        self.files = files
        self.python: Notebooks = leaf._house.python  # type: ignore[assignment]
        self.calls = 0
        self.shown: list[tuple[str, dict[str, Any]]] = []
        self.said: list[str] = []
        """How far long work was, line by line."""
        self.answer = self.ask()

    def ask(self, parent_id: str | None = None) -> Message:
        part = {"type": "text", "text": "?", "state": "done"}
        exchange = messages.add_exchange(
            self.leaf._house.store.db, self.scope, self.id, [part], parent_id=parent_id
        )
        self.answer = exchange.answer
        return self.answer

    def tool(
        self,
        name: str,
        given: dict[str, Any],
        *,
        key: str = "",
        stop: threading.Event | None = None,
    ) -> ToolOutput:
        self.calls += 1
        hooks = Hooks(
            key or f"{self.answer.id}/tool-{self.calls}-1-{name}", self._show, self.said.append
        )
        there = self.leaf._house.library.chat_files(self.scope, self.id, deleted=True)
        context = context_of(
            self.scope,
            self.id,
            there,
            self.leaf._house.library,
            self.leaf._house.tables,
            self.leaf._house.drive,
            self.leaf._house.documents,
            stop or threading.Event(),
            hooks,
            self.answer.id,
            self.python,
            Permissions(self.leaf._house.store.db),
        )
        return registry.run(name, given, context)

    def __call__(self, code: str, **given: Any) -> ToolOutput:
        key, stop = given.pop("key", ""), given.pop("stop", None)
        return self.tool("run_python", {"code": code, **given}, key=key, stop=stop)

    def fails(self, code: str, **given: Any) -> str:
        with pytest.raises(CodeError) as caught:
            self(code, **given)
        return str(caught.value)

    def _show(self, name: str, data_id: str, data: dict[str, Any]) -> None:
        self.shown.append((name, data))


@pytest.fixture
def chat(leaf: Leaf) -> Chat:
    return Chat(leaf)


# --- what comes back


def test_prints_and_the_last_expression_come_back(chat: Chat) -> None:
    output = chat("print('hello')\n[n * n for n in range(5)]")
    assert output.data.python["printed"] == "hello\n"
    assert output.data.python["value"] == "[0, 1, 4, 9, 16]"
    assert "hello" in output.text
    assert "[0, 1, 4, 9, 16]" in output.text
    assert not chat("7;").data.python["value"]


def test_a_table_is_a_frame_under_its_sql_name_and_is_named_as_a_source(chat: Chat) -> None:
    output = chat("float(sales.revenue.sum())")
    assert output.data.python["value"] == "700.0"
    assert [(s.handle, s.action) for s in output.sources] == [("f1", "computed")]
    assert [(c.seen, c.total) for c in output.coverage] == [(4, 4)]


def test_the_first_rows_of_a_frame_are_not_all(chat: Chat) -> None:
    def seen(code: str) -> tuple[int, int]:
        cover = chat(code).coverage[0]
        return cover.seen, cover.total

    assert seen("sales.head(3)") == (3, 4)
    assert seen("few = sales[:2]") == (2, 4)
    assert seen("few.revenue.sum()") == (2, 4)
    assert seen("query('SELECT sum(revenue) FROM r1')") == (3, 4)
    assert seen("sales.revenue.sum()") == (4, 4)
    assert seen("sales.tail(1)") == (1, 4)


def test_a_frame_is_kept_as_a_result_that_opens_exports_and_charts(
    chat: Chat, tmp_path: Path
) -> None:
    output = chat("by_region = sales.groupby('region').revenue.sum().sort_values()\nby_region")
    (table,) = output.data.tables
    assert table["columns"] == ["region", "revenue"]
    assert table["rows"] == [["East", 49.5], ["South", 250.5], ["North", 400.0]]
    assert table["name"] == "by_region"
    page = chat.leaf.session(chat.scope).results.page(chat.id, table["result_id"])
    assert page.rows == table["rows"]
    assert (
        chat.leaf.session(chat.scope)
        .results.export(chat.id, table["result_id"], into=tmp_path)
        .read_text()
        .splitlines()[1]
        == "East,49.5"
    )
    spec = {"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"field": "revenue"}}}
    assert (
        chat.tool("make_chart", {"spec": spec, "result_id": table["result_id"]}).data.chart["total"]
        == 3
    )


def test_what_is_made_of_a_table_in_a_later_cell_still_names_it(chat: Chat) -> None:
    chat("north = sales[sales.region == 'North']")
    output = chat("totals = north.groupby('month').revenue.sum().reset_index()\ntotals")
    assert [(s.handle, s.action) for s in output.sources] == [("f1", "computed")]
    kept = chat.leaf._house.tables.results.about(
        chat.scope, chat.id, output.data.tables[0]["result_id"]
    )
    assert [(t["name"], len(t["sha256"])) for t in kept["tables"]] == [("sales", 64)]
    assert kept["code"].startswith("totals = ")
    assert not chat("1 + 1").sources
    assert [s.handle for s in chat("text = open(open_file('f2')).read()\nlen(text)").sources] == [
        "f2"
    ]
    assert [s.handle for s in chat("text.upper()").sources] == ["f2"]


BOTH = {"sales", "costs"}


@pytest.mark.parametrize(
    ("cells", "tables", "files"),
    [
        (["a = sales", "b = a", "b.sum()"], {"sales"}, set()),
        (["a = sales", "a = 1", "a"], set(), set()),
        (["found = []", "found.append(sales.sum())", "found"], {"sales"}, set()),
        (["d = {}", "d['x'] = sales", "d"], {"sales"}, set()),
        (["def f():\n    return sales.sum()", "f()"], {"sales"}, set()),
        (["a = query('SELECT * FROM costs')", "a.x.y = 1", "a"], {"costs"}, set()),
        (["a = open_file('f2')", "a"], set(), {"f2"}),
        (["costs", "sales_2"], set(), set()),
        (["x = (", "sales"], {"sales"}, set()),
        (["n = sales.n.sum()", "n += 1", "n"], {"sales"}, set()),
        (["n = sales.n.sum()", "if costs.n.sum():\n    n = costs.n.sum()", "n"], BOTH, set()),
        (["n = sales.n.sum()", "def f():\n    n = 1\nf()", "n"], {"sales"}, set()),
        (["query('SELECT sum(n) FROM Sales')"], {"sales"}, set()),
        (["for h in ('f1', 'f2'):\n    open_file(h)"], set(), {"f1", "f2"}),
        (["f = {'a': 'f1'}", "for h in f.values():\n    open_file(h)"], set(), {"a", "f1"}),
    ],
)
def test_what_a_cell_rests_on_is_found_through_its_variables(
    cells: list[str], tables: set[str], files: set[str]
) -> None:
    assert rests_on([(code, ()) for code in cells], {"sales", "costs"}) == (tables, files)


def test_ten_million_rows_are_kept(chat: Chat) -> None:
    (table,) = chat("pd.DataFrame({'n': np.arange(10_000_000)})").data.tables
    assert table["total"] == 10_000_000
    last = chat.leaf.session(chat.scope).results.page(
        chat.id, table["result_id"], RowsWanted(9_999_999, 1)
    )
    assert last.rows == [[9_999_999]]


def test_several_frames_are_kept_when_they_are_displayed(chat: Chat) -> None:
    output = chat("display(sales.head(1), 'between')\nsales.head(2)")
    assert [t["total"] for t in output.data.tables] == [1, 2]
    assert "between" in output.data.python["printed"]


def test_a_frame_is_kept_as_it_was_when_it_was_displayed(chat: Chat) -> None:
    code = """
t = pd.DataFrame({'a': [1, 2]})
display(t)
t['a'] = 0
t.loc[0, 'a'] = 9
display(t)
"""
    tables = chat(code).data.tables
    assert [t["rows"] for t in tables] == [[[1], [2]], [[9], [0]]]
    assert [t["name"] for t in tables] == ["t", "t"]


FRAMES: list[tuple[str, list[str] | None, Any]] = [
    ("pd.DataFrame({'a': [1, 'x', None]})", ["a"], [["1"], ["x"], [None]]),
    ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", ["a", "a_2"], [[1, 2]]),
    (
        "sales.pivot_table(index='region', columns='month', values='revenue', "
        "aggfunc='sum').head(1)",
        None,
        1,
    ),
    ("pd.DataFrame({('a', 'b'): [1]})", ["a_b"], [[1]]),
    ("pd.DataFrame({'d': pd.to_datetime(['2025-01-31'])})", ["d"], [["2025-01-31T00:00:00"]]),
    ("pd.Series([1.5], name=7)", ["7"], [[1.5]]),
    ("pd.DataFrame({'a': []})", ["a"], []),
    ("pd.DataFrame({'n': [1]}).set_index(pd.Index(['k'], name='n'))", ["n_index", "n"], [["k", 1]]),
    ("pd.DataFrame({'o': [object()]})", ["o"], 1),
    # an hour, a month or a bin is no bare number
    ("pd.DataFrame({'p': pd.period_range('2025-01', periods=1, freq='M')})", ["p"], [["2025-01"]]),
    ("pd.DataFrame({'t': [pd.Timedelta('1h'), None]})", ["t"], [["0 days 01:00:00"], [None]]),
    ("pd.DataFrame({'b': pd.cut([1, 9], [0, 5])})", ["b"], [["(0, 5]"], [None]]),
    ("pd.DataFrame({'s': pd.arrays.SparseArray([0, 1])})", ["s"], [[0], [1]]),
    ("pd.DataFrame({'d': [{}]})", ["d"], [["{}"]]),
    (
        "import datetime as dt\npd.DataFrame({'m': [dt.date(2025, 1, 1), dt.datetime(2025, 1, 2, 5)]})",
        ["m"],
        [["2025-01-01"], ["2025-01-02 05:00:00"]],
    ),
    ("pd.DataFrame({'d': [dt.date(2025, 1, 1), pd.NaT]})", ["d"], [["2025-01-01"], [None]]),
]


def test_frames_of_every_shape_are_kept(chat: Chat) -> None:
    for code, columns, rows in FRAMES:
        (table,) = chat(code).data.tables
        if columns is not None:
            assert table["columns"] == columns
        assert len(table["rows"]) == rows if isinstance(rows, int) else table["rows"] == rows


def test_what_is_missing_in_a_column_of_mixed_types_stays_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, "x", float("nan"), None, pd.NA, pd.NaT, [1]]})
    frames.write(frame, tmp_path / "t.parquet")
    kept = pd.read_parquet(tmp_path / "t.parquet")["a"]
    assert [None if missing else v for v, missing in zip(kept, kept.isna(), strict=True)] == [
        *("1", "x"),
        *[None] * 4,
        "[1]",
    ]


def test_long_numbers_stay_two_where_one_is_missing(tmp_path: Path) -> None:
    """A float would hold both of them as one."""
    ids = [12345678901234567, 12345678901234569, None]
    table = {"path": str(tmp_path / "t.parquet"), "view": "", "numbered": ""}
    pd.DataFrame({"id": pd.array(ids, dtype="Int64"), "n": [1, 2, None]}).to_parquet(table["path"])
    read = frames.read(table)
    asked = frames.query("SELECT id, n FROM t", {"t": table}, {})
    for frame in (read, asked):
        assert frame["id"].dropna().tolist() == ids[:2]
        assert frame["id"].isna().sum() == 1
        assert frame["n"].dtype == float, "small ones are as pandas has them"
    summed = frames.query("SELECT sum(id) AS s FROM t WHERE n = 1", {"t": table}, {})
    assert summed["s"].tolist() == ids[:1]
    frames.write(asked, tmp_path / "kept.parquet")
    assert frames.read({**table, "path": str(tmp_path / "kept.parquet")})["id"][0] == ids[0]


def test_query_runs_sql_over_tables_and_frames(chat: Chat) -> None:
    assert chat("query('SELECT max(revenue) AS m FROM sales').m[0]").data.python["value"] == "300.0"
    assert (
        chat(
            "x = pd.DataFrame({'a': [1, 2]})\nquery('SELECT sum(a) AS s FROM x').s[0]"
        ).data.python["value"]
        == "3.0"
    )


def test_query_sees_a_table_as_the_code_has_changed_it(chat: Chat) -> None:
    """Else a figure would be that of rows which the code has taken out."""
    whole = "query('SELECT sum(revenue) AS s FROM sales').s[0]"
    for code, total in (
        ("sales.sort_index()\n", "700.0"),
        ("sales.loc[0, 'revenue'] = 0\n", "600.0"),
        ("sales = sales[sales.region == 'South']\n", "250.5"),
        ("sales['revenue'] = -1.5\n", "-1.5"),
        ("sales = table('sales')\n", "700.0"),
    ):
        assert chat(code + whole).data.python["value"] == total, code
    assert chat("query('SELECT count(*) AS n FROM sales__all').n[0]").data.python["value"] == "4"


def test_query_looks_at_every_object_of_a_column() -> None:
    """It read a late 2.5 as 2, and a moment as its day, where thousands of others came before."""
    moments = [datetime.date(2025, 1, 1)] * 5001 + [datetime.datetime(2025, 2, 2, 5)]
    for values, last in (
        ([1] * 5001 + [2.5], 2.5),
        ([Decimal("1.1")] * 5001 + [Decimal("123456.789")], 123456.789),
        (moments, pd.Timestamp(moments[-1])),
        (["a"] * 5001 + ["b"], "b"),
    ):
        frame = pd.DataFrame({"v": pd.Series(values, dtype=object)})
        assert frames.query("SELECT max(v) AS m FROM t", {}, {"t": frame})["m"][0] == last


def test_query_looks_at_no_more_than_its_sql_names(chat: Chat) -> None:
    """Not at what has a name that is in another word there; and a month or a bin is a text to it."""
    months = (
        "e = pd.DataFrame({'p': pd.period_range('2025-01', periods=2, freq='M'), 'v': [1, 2]})\n"
    )
    chat(months + "e2 = pd.DataFrame({'a': [1]}).set_axis([('a', 1)], axis=1)")
    output = chat("query('SELECT max(revenue) AS m FROM SALES').m[0]")
    assert output.data.python["value"] == "300.0"
    assert [s.handle for s in output.sources] == ["f1"]
    assert chat("query('SELECT p FROM e WHERE v = 2').p[0]").data.python["value"] == "'2025-02'"


SUBTOTALS = (
    b"region,product,qty,amount\nNorth,A,1,10.5\nNorth,B,2,20\nNorth Total,,3,30.5\n"
    b"South,A,4,7\nSouth,B,5,8\nSouth Total,,9,15\nGrand Total,,12,45.5\n"
)


def test_python_sees_the_rows_that_sql_sees(chat: Chat) -> None:
    chat.leaf.session(chat.scope).attached.add(
        chat.id, [add(chat.leaf.session(chat.scope), "totals.csv", SUBTOTALS).id]
    )
    output = chat(
        "(totals.columns.tolist(), float(totals.amount.sum()), query('SELECT count(*) AS n FROM "
        "totals').n[0])"
    )
    assert (
        output.data.python["value"] == "(['region', 'product', 'qty', 'amount'], 45.5, np.int64(4))"
    )
    assert (
        "On totals: 2 left out as subtotals, 1 as a total (rows 4, 7-8); totals__all has them"
        in output.text
    )
    assert (output.coverage[0].seen, output.coverage[0].total) == (4, 7)
    assert output.coverage[0].excluded == "2 left out as subtotals, 1 as a total"
    output = chat("totals__all[['_row', '_kind']].values.tolist()")
    assert output.data.python["value"].startswith("[[2, 'data'], [3, 'data'], [4, 'subtotal']")
    assert "left out" not in output.text
    assert (output.coverage[0].seen, output.coverage[0].total) == (7, 7)
    assert (
        chat("query('SELECT _row FROM totals ORDER BY 1')._row.tolist()").data.python["value"]
        == "[2, 3, 5, 6]"
    )
    assert (
        chat("query('SELECT _row FROM sales')._row.tolist()").data.python["value"] == "[2, 3, 4, 5]"
    )


def test_a_figure_is_kept_as_a_picture_that_the_page_can_show(chat: Chat) -> None:
    output = chat("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()")
    (picture,) = output.pictures
    assert (picture.width, picture.height) == (704, 528)
    assert (
        chat.leaf.session(chat.scope).python.figure(chat.id, picture.sha256).startswith(b"\x89PNG")
    )
    assert not output.data.python["printed"]
    assert not chat("1").pictures


WRITES = """
import os
import matplotlib.pyplot as plt
sales.groupby("month", as_index=False).revenue.sum().to_csv("by month.csv", index=False)
os.makedirs("more", exist_ok=True)
with open("more/notes.txt", "w") as file:
    file.write("seven")
plt.plot([1, 2]); plt.savefig("plot.png"); plt.close("all")
os.symlink("/etc/passwd", "link.csv")
"""


def test_files_that_a_cell_writes_are_kept_and_named(chat: Chat) -> None:
    output = chat(WRITES)
    written = {file["name"]: file for file in output.data.written}
    assert list(written) == ["by month.csv", "plot.png", "notes.txt"]
    assert "by month.csv (" in output.text
    assert "wrote by month.csv" in output.summary
    path = chat.leaf.session(chat.scope).python.written(
        chat.id, written["notes.txt"]["sha256"], "notes.txt"
    )
    assert (path.read_bytes(), written["notes.txt"]["size"]) == (b"seven", 5)
    assert chat("1 + 1").data.written == []
    again = chat("open('more/notes.txt', 'a').write('!')").data.written
    assert [(file["name"], file["size"]) for file in again] == [("notes.txt", 6)]


def test_a_written_file_is_added_to_the_chat_and_read_there(chat: Chat) -> None:
    (made,) = chat("sales.head(2).to_csv('top.csv', index=False)").data.written
    file = chat.leaf.session(chat.scope).python.keep(chat.id, made["sha256"], made["name"])
    assert file.name == "top.csv"
    assert chat("len(top)").data.python["value"] == "2"
    chat.leaf.session(chat.scope).files.purge(file.id)
    assert (
        chat.leaf.session(chat.scope).python.written(chat.id, made["sha256"], made["name"]).exists()
    )


def test_a_figure_is_shown_in_its_own_chat_alone(tmp_path: Path) -> None:
    # Of its own: deleting a chat opens the run database, of which a process has one.
    with opened(tmp_path) as leaf:
        chat = Chat(leaf)
        (picture,) = chat(
            "import matplotlib.pyplot as plt\nplt.plot([9, 1, 7])\nplt.show()"
        ).pictures
        other, own = Chat(chat.leaf), chat.leaf.session(chat.scope)
        db = chat.leaf._house.store.db
        for earlier in (False, True):
            if earlier:  # as versions kept it that did not name the chat: a finished answer does
                with db.transaction(chat.scope) as tx:
                    tx.execute(
                        "UPDATE derived_pictures SET source_sha256 = :source WHERE sha256 = :sha256",
                        {"source": f"figure:{picture.sha256}", "sha256": picture.sha256},
                    )
                with pytest.raises(NotFoundError):
                    own.python.figure(chat.id, picture.sha256)
                part = {"type": "text", "text": picture.sha256, "state": "done"}
                messages.finish(
                    db,
                    chat.scope,
                    chat.answer.id,
                    parts=[part],
                    raw=[],
                    usage={},
                    status="completed",
                )
            assert own.python.figure(chat.id, picture.sha256).startswith(b"\x89PNG")
            with pytest.raises(NotFoundError):
                own.python.figure(other.id, picture.sha256)
            with pytest.raises(NotFoundError):
                own.files.seen_picture(picture.sha256)
        own.chats.purge(chat.id)
        left = db.read("SELECT sha256 FROM derived_pictures")
        assert picture.sha256 not in {row["sha256"] for row in left}


def test_what_is_too_much_to_keep_is_said(chat: Chat) -> None:
    output = chat(
        "for i in range(12): open(f'{i:02}.txt', 'w').write(str(i))\nopen('a.bin', "
        "'wb').truncate(30 * 1024**2)"
    )
    assert [file["name"] for file in output.data.written] == [f"{i:02}.txt" for i in range(10)]
    (note,) = [note for note in output.data.python["notes"] if note.startswith("Not kept")]
    assert all(name in note for name in ("10.txt (2 bytes)", "11.txt", "a.bin (30 MB)"))
    assert note in output.text


def test_files_of_a_cell_that_failed_are_not_kept(chat: Chat) -> None:
    chat.fails("open('half.txt', 'w').write('x'); 1 / 0")
    assert chat("1").data.written == []


def test_another_chat_and_another_person_do_not_get_a_written_file(chat: Chat) -> None:
    (made,) = chat("open('secret.txt', 'w').write('mine')").data.written
    other = Chat(chat.leaf)
    with pytest.raises(NotFoundError):
        chat.leaf.session(chat.scope).python.written(other.id, made["sha256"], made["name"])
    stranger = users.ensure_user(chat.leaf._house.store.db, "other@example.org", "Other")
    with pytest.raises(NotFoundError):
        chat.leaf.session(stranger).python.written(chat.id, made["sha256"], made["name"])


def test_written_files_survive_a_restart_and_go_with_their_chat(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        chat = Chat(first)
        (made,) = chat("open('kept.txt', 'w').write('kept')").data.written
    with opened(tmp_path) as second:
        path = second.session(chat.scope).python.written(chat.id, made["sha256"], "kept.txt")
        assert path.read_text() == "kept"
        second.session(chat.scope).chats.purge(chat.id)
        with pytest.raises(NotFoundError):
            second.session(chat.scope).python.written(chat.id, made["sha256"], "kept.txt")


def test_a_raw_file_is_opened_by_its_handle(chat: Chat) -> None:
    assert (
        "Größe"
        in chat("open(open_file('f2'), encoding='utf-8').read()", files=["f2"]).data.python["value"]
    )
    assert "FileNotFoundError" in chat.fails(
        "open('/etc/passwd')"
    ) or "PermissionError" in chat.fails("open('/etc/passwd')")
    with pytest.raises(NotFoundError, match="f9"):
        chat("1", files=["f9"])


def test_libraries_are_at_hand(chat: Chat) -> None:
    code = """
        import numpy as np
        import statsmodels.api as sm
        from scipy import stats
        from sklearn.linear_model import LinearRegression
        x = np.arange(20.0)
        y = 3 * x + 1
        model = LinearRegression(n_jobs=-1).fit(x.reshape(-1, 1), y)
        ols = sm.OLS(y, sm.add_constant(x)).fit()
        (round(float(model.coef_[0]), 6), round(float(ols.params[1]), 6), round(float(stats.linregress(x, y).slope), 6))
    """
    assert (
        chat("\n".join(line.strip() for line in code.strip().splitlines())).data.python["value"]
        == "(3.0, 3.0, 3.0)"
    )


def test_what_was_cut_is_said(chat: Chat) -> None:
    output = chat("line = 'x y ' * 250_000\nfor _ in range(1200):\n    print(line)")
    assert "Printed 1.2 GB; the first 20,000 characters are kept" in output.text
    assert len(output.data.python["printed"]) == 20_000
    assert len(output.text) < 15_000
    assert size_in_words(1_200_000_000) == "1.2 GB"


def test_what_is_printed_over_itself_stands_in_lines(chat: Chat) -> None:
    assert chat("print('total: 5\\r6\\r\\n7')").data.python["printed"] == "total: 5\n6\n7\n"


def test_encoded_bytes_are_not_sent_to_the_model(chat: Chat) -> None:
    output = chat(
        "import base64, os\nprint(base64.b64encode(os.urandom(3_000)).decode())\nprint('after')"
    )
    assert "[4,000 characters without a space]" in output.text
    assert "after" in output.text
    assert "encoded data" in without_encoded(
        ("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n" * 5) + "end"
    )


# --- errors


def test_an_error_names_the_line_of_the_cell(chat: Chat) -> None:
    said = chat.fails("def half(a):\n    return a / 0\n\nprint('before')\nhalf(1)")
    assert said.startswith("ZeroDivisionError on line 2: division by zero")
    assert "<cell 1>, line 5" in said
    assert "before" in said
    assert "cells.py" not in said


def test_an_error_deep_in_a_library_shows_its_last_frames_and_no_path_of_the_machine(
    chat: Chat,
) -> None:
    said = chat.fails("sales['no_such_column']")
    assert said.startswith("KeyError on line 1: 'no_such_column'")
    assert "pandas/core" in said
    assert "site-packages" not in said
    assert str(Path.home()) not in said


def test_other_ways_to_fail_are_told_in_a_sentence(chat: Chat) -> None:
    for code, word in (
        ("x = (", "SyntaxError on line 1"),
        ("exit()", "SystemExit"),
        ("raise SystemExit(3)", "SystemExit"),
    ):
        assert word in chat.fails(code)


def test_what_a_failed_cell_has_changed_is_said(chat: Chat) -> None:
    """It stays as in any notebook: the same line run again would count twice, without a word."""
    doubled = "sales['revenue'] = sales.revenue * 2\n"
    assert "before that line stays in the variables" in chat.fails(doubled + "1 / 0")
    assert chat("float(sales.revenue.sum())").data.python["value"] == "1400.0"
    assert "stays in the variables" not in chat.fails("1 / 0")
    assert "stays in the variables" not in chat.fails(doubled + "x = (")


HOSTILE = "class Odd(Exception):\n    def __str__(self):\n        raise SystemExit\nraise Odd"


def test_what_fails_oddly_ends_no_process(chat: Chat) -> None:
    chat("kept_on = 7")
    assert "must be str" in chat.fails("import sys\nsys.stdout.write(b'x')")
    assert "Odd on line 4" in chat.fails(HOSTILE)
    assert not chat("for _ in range(600):\n    open_file('f2')\nkept_on").data.python["rebuilt"]


def test_an_error_that_the_limits_explain_says_what_to_do(chat: Chat) -> None:
    for code, sentence in (
        ("import os\nos.fork()", "cannot start others"),
        ("import subprocess\nsubprocess.run(['ls'])", "cannot start others"),
        ("import multiprocessing\nmultiprocessing.Pool(2)", "cannot start others"),
        ("pd.read_csv('https://example.org/x.csv')", "no network"),
        ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "no network"),
        ("open(open_file('f2'), 'a')", "read and not changed"),
        ("open('/etc/passwd')", "Only the working folder"),
        ("open('holes', 'wb').truncate(10**12)", "may not be that large"),
        ("b'x' * 10**12", "more memory than it may have"),
        ("import seaborn", "add_package can install seaborn"),
        ("import umap.plot", "add_package can install umap-learn"),
        ("import seabron", "Did you mean 'seaborn'"),
        ("import torch", "No package 'torch' in the list"),
    ):
        assert sentence in chat.fails(code).partition("\n")[0]
    assert "." not in chat.fails("1 / 0").partition("\n")[0]


def test_an_unknown_table_names_those_there_are(chat: Chat) -> None:
    assert "there is sales" in chat.fails("table('sails')")


def test_a_table_whose_file_was_deleted_is_said_to_be(chat: Chat) -> None:
    chat.leaf.session(chat.scope).files.delete(chat.files[0].id)
    try:
        with pytest.raises(NotFoundError, match=r"sales\.csv was deleted"):
            chat("sales.revenue.sum()")
    finally:
        chat.leaf.session(chat.scope).files.restore(chat.files[0].id)


def test_data_that_the_code_changes_stays_unchanged_on_disk(chat: Chat) -> None:
    chat("sales['revenue'] = 0\nsales.drop(columns='month', inplace=True)")
    assert chat("float(sales.revenue.sum())").data.python["value"] == "0.0"
    assert chat("float(table('sales').revenue.sum())").data.python["value"] == "700.0"
    assert "300" in chat.tool("query_tables", {"sql": "SELECT max(revenue) FROM sales"}).text


def test_an_input_cannot_be_deleted_or_changed(chat: Chat) -> None:
    for act in (
        "os.remove(p)",
        "open(p, 'a')",
        "os.truncate(p, 0)",
        "os.rename(p, 'x')",
        "os.chmod(p, 0o777)",
    ):
        assert "Permission" in chat.fails(f"import os\np = open_file('f2')\n{act}")
    path = chat.leaf.session(chat.scope).files.path(chat.files[1].id)
    assert path.read_bytes() == NOTES


# --- limits


def test_code_that_never_ends_is_ended_and_the_chat_goes_on(chat: Chat) -> None:
    chat("kept = 42")
    began = time.monotonic()
    with pytest.raises(SandboxTimeoutError, match="more than 1 seconds"):
        chat("while True:\n    pass", timeout=1)
    assert time.monotonic() - began < 6
    output = chat("kept")
    assert output.data.python["value"] == "42"
    assert "rebuilt from 1 cell" in output.text


def test_stop_ends_a_cell_within_a_second(chat: Chat) -> None:
    chat("1")
    stop = threading.Event()
    stopped_at: list[float] = []
    threading.Timer(0.5, lambda: (stopped_at.append(time.monotonic()), stop.set())).start()
    with pytest.raises(RunError):
        chat("import time\ntime.sleep(60)", stop=stop)
    assert time.monotonic() - stopped_at[0] < 1.0


def test_too_much_memory_is_named_as_such(tmp_path: Path, leaf: Leaf) -> None:
    from leaf.sandbox.limits import CallLimits

    sessions = Sessions(tmp_path, limits=CallLimits(seconds=20, memory_mb=300))
    try:
        for code in (
            "b = [bytearray(10_000_000) for _ in range(200)]",
            "import mmap\nm = mmap.mmap(-1, 2**30)\nm.write(b'x' * 2**30)",
        ):
            with pytest.raises(SandboxMemoryError, match="300 MB"):
                sessions.run(
                    "c", PythonCell("k", code), [], lambda kind, name: {}, tmp_path / "out"
                )
    finally:
        sessions.close()


def test_what_a_cell_leaves_running_stands_still_between_cells(chat: Chat) -> None:
    count = "def count():\n    while True:\n        pass\n"
    chat(f"import threading\n{count}threading.Thread(target=count, daemon=True).start()")
    pid = chat.python.sessions.pids()[-1]
    wait_until(lambda: _state(pid) == "T")
    before = _cpu(pid)
    time.sleep(0.5)
    assert _cpu(pid) == before


# --- variables live on


def test_variables_live_on_from_call_to_call(chat: Chat) -> None:
    chat("x = 20\ndef double(n):\n    return 2 * n")
    output = chat("double(x) + 2")
    assert output.data.python["value"] == "42"
    assert output.data.python["rebuilt"] == 0


def test_chats_do_not_see_each_other(leaf: Leaf) -> None:
    first, second = Chat(leaf), Chat(leaf)
    first("mine = 1\nopen('left.txt', 'w').write('x')")
    assert "NameError" in second.fails("mine")
    assert chat_files_of(second) == "[]"
    box = "/".join(os.path.abspath(str(leaf.settings.home)).split("/"))
    assert "Permission" in second.fails(f"import os\nos.listdir({box!r} + '/boxes')")


def chat_files_of(chat: Chat) -> str:
    return str(
        chat("import os\n[n for n in os.listdir('.') if not n.startswith('.')]").data.python[
            "value"
        ]
    )


def test_a_new_leaf_rebuilds_the_variables_from_the_successful_cells(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        chat = Chat(first)
        chat("a = 1\nprint('once')")
        chat.fails("b = 2\nraise ValueError('not kept')")
        chat("c = a + len(sales)")
    with opened(tmp_path) as second:
        again = Chat.__new__(Chat)
        again.__dict__.update(chat.__dict__, leaf=second, python=second._house.python)
        output = again("(a, c, 'b' in globals())")
        assert output.data.python["value"] == "(1, 5, False)"
        assert output.data.python["rebuilt"] == 2
        rebuilding = [f"Rebuilding the variables: cell {n} of 2" for n in (1, 2)]
        assert again.said == [*rebuilding, ""], "what goes on then is the cell itself"
        assert "once" not in output.data.python["printed"]
        assert [c.handle for c in output.sources] == ["f1"]


def test_another_branch_has_its_own_variables(chat: Chat) -> None:
    chat("x = 'first question'")
    first = chat.answer
    chat.ask()
    chat("x = x + ', then one branch'")
    chat.ask(parent_id=first.id)
    output = chat("x")
    assert output.data.python["value"] == "'first question'"
    assert output.data.python["rebuilt"] == 1


def test_a_call_that_runs_again_under_its_key_is_kept_once(chat: Chat) -> None:
    chat("n = 1")
    chat("n += 1", key=f"{chat.answer.id}/again")
    chat("n += 1", key=f"{chat.answer.id}/again")
    assert chat("n").data.python["value"] == "2"
    kept = cells.of_messages(chat.leaf._house.store.db, chat.scope, chat.id, [chat.answer.id])
    assert [c.code for c in kept] == ["n = 1", "n += 1", "n"]


def test_an_answer_that_goes_on_from_another_takes_over_its_cells(chat: Chat) -> None:
    chat("taken = 'over'")
    old = chat.answer
    new = messages.add_answer(chat.leaf._house.store.db, chat.scope, old.parent_id)
    for _ in range(2):
        cells.adopt(chat.leaf._house.store.db, old.id, new.id)
    chat.answer = new
    assert chat("taken").data.python["value"] == "'over'"


def test_a_cell_that_cannot_run_again_is_said(chat: Chat) -> None:
    chat("import os\nassert not os.path.exists('/nowhere')\nz = 1")
    chat("import os, time\nstarted = time.time()")
    db = chat.leaf._house.store.db
    with db.transaction() as tx:
        tx.execute(
            "UPDATE cells SET code = 'undefined_name' WHERE code LIKE '%z = 1' AND chat_id = :c",
            {"c": chat.id},
        )
    chat.python.forget(chat.scope, chat.id)
    output = chat("started > 0")
    assert output.data.python["value"] == "True"
    assert "Cell 1 did not run again: NameError" in output.text


def test_sessions_that_were_used_least_recently_make_room(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, count=2, idle_seconds=900)
    try:
        for chat in ("a", "b", "a", "c"):
            sessions.run(
                chat,
                PythonCell(f"{chat}{time.monotonic()}", "x = 1"),
                [],
                lambda kind, name: {},
                tmp_path / "out",
            )
        assert set(sessions.chats()) == {"a", "c"}
    finally:
        sessions.close()


def test_idle_sessions_end(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, idle_seconds=0.5)
    try:
        sessions.run("a", PythonCell("k", "x = 1"), [], lambda kind, name: {}, tmp_path / "out")
        assert sessions.chats()
        deadline = time.monotonic() + 10
        while sessions.chats() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not sessions.chats()
    finally:
        sessions.close()


def test_cells_of_one_chat_take_turns(chat: Chat) -> None:
    chat("import time\nlog = []")
    code = "log.append('in')\ntime.sleep(0.2)\nlog.append('out')"
    threads = [
        threading.Thread(target=chat, args=(code,), kwargs={"key": f"{chat.answer.id}/{n}"})
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert chat("log == ['in', 'out'] * 3").data.python["value"] == "True"


# --- what is said is not believed


WRITE_EVERYWHERE = (
    "import contextlib, os\nfor fd in range(3, 20):\n    with contextlib.suppress(OSError):\n "
    "       os.write(fd, "
)


@pytest.mark.parametrize(
    "code",
    [
        WRITE_EVERYWHERE + "b'{\"id\": 1}\\n')",
        WRITE_EVERYWHERE + "b'rubbish\\n')",
        "import os\nos._exit(0)",
        "import ctypes\nctypes.string_at(0)",
    ],
)
def test_a_child_that_was_taken_over_is_only_an_error(chat: Chat, code: str) -> None:
    with pytest.raises(LeafError):
        chat(code)
    assert chat("1 + 1").data.python["value"] == "2"


FORGED = [
    "os.symlink('/etc/passwd', out + '/frame1.parquet')",
    "os.mkfifo(out + '/frame1.parquet')",
    "os.mkdir(out + '/frame1.parquet')",
    "open(out + '/frame1.parquet', 'wb').truncate(10**8)",
    "open(out + '/frame1.parquet', 'wb').write(b'PAR1 nothing PAR1')",
    "open(out + '/frame1.parquet', 'wb').write(__import__('pickle').dumps(print))",
]


def test_a_forged_frame_is_refused(chat: Chat) -> None:
    for patch in FORGED:
        code = f"""
import os, sys
cells = sys.modules['leaf.sandbox.cells']
def write(frame, path):
    out = str(path.parent)
    {patch}
    return []
cells.frames.write = write
sales
"""
        with pytest.raises(LeafError) as caught:
            chat(code)
        assert "root:" not in str(caught.value)


def test_a_forged_figure_is_refused(chat: Chat) -> None:
    code = """
import sys
cells = sys.modules['leaf.sandbox.cells']
def draw(out):
    (out / 'figure1.png').write_bytes(b'\\x89PNG\\r\\n\\x1a\\n' + b'x' * 1000)
    return ['figure1.png'], []
cells._draw_figures = draw
"""
    with pytest.raises(LeafError, match="figure"):
        chat(code)


def test_a_forged_answer_is_refused_and_the_next_call_begins_anew(chat: Chat) -> None:
    code = """
import sys
cells = sys.modules['leaf.sandbox.cells']
def run(self, request):
    return {"printed": "x" * 10**6, "characters": 10**30, "value": ["no text"], "frames": "f", "figures": [{}, "../../a.png"],
            "error": None, "notes": [1, "y" * 10_000], "seconds": "long"}
cells.Notebook.run = run
"""
    chat(code)
    with pytest.raises(SandboxError, match="an answer that cannot be read"):
        chat("1")


# --- packages


def test_a_package_off_the_list_is_refused_with_the_nearest_name(chat: Chat) -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'seaborn'"):
        chat.tool("add_package", {"name": "seabron"})
    with pytest.raises(InvalidInputError, match="not the name of a package"):
        chat.tool("add_package", {"name": "https://evil.example/x.whl"})


def test_the_base_set_never_changes(chat: Chat) -> None:
    assert "is there already" in chat.tool("add_package", {"name": "Pandas"}).text
    with pytest.raises(InvalidInputError, match="do not change"):
        chat.tool("add_package", {"name": "pandas", "version": "1.0.0"})
    with pytest.raises(InvalidInputError, match="do not change"):
        chat.tool("remove_package", {"name": "numpy"})
    with pytest.raises(NotFoundError, match="installed"):
        chat.tool("remove_package", {"name": "seaborn"})


class Wheels(Packages):
    """Packages whose wheels need no index."""

    def plan(
        self, workspace_id: str, chat_id: str, name: str, version: str, stop: threading.Event
    ) -> InstallPlan:
        return InstallPlan(name, version or "1.0", (("helper", "2.0"),))

    def _run_pip(self, arguments: Any, name: str, stop: threading.Event) -> None:
        target = Path(arguments[arguments.index("--target") + 1])
        for pin in arguments[arguments.index("--target") + 2 :]:
            folder = target / pin.partition("==")[0]
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text(f"version = {pin.partition('==')[2]!r}\n")
        (target / "pandas.py").write_text("raise SystemExit('shadowed')")


@pytest.fixture
def with_wheels(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> Chat:
    monkeypatch.setattr(chat.python, "packages", Wheels(chat.leaf.settings.home))
    return chat


def test_packages_are_installed_again_after_a_lost_disk(tmp_path: Path) -> None:
    store, stop = open_store(Settings(home=tmp_path)), threading.Event()
    lists = ChatPackages(store.db)

    def packages(disk: str) -> Wheels:
        return Wheels(tmp_path / disk, lists=lists)

    first = packages("one")
    assert first.ready("w", "c", stop) is None
    first.add("w", "c", first.plan("w", "c", "wheely", "", stop), stop)
    assert first.ready("w", "c", stop) == first.folder("w", "c")
    second = packages("two")
    assert second.installed("w", "c") == {"wheely": "1.0", "helper": "2.0"}
    again = second.ready("w", "c", stop)
    assert again is not None
    assert (again / "helper" / "__init__.py").read_text() == "version = '2.0'\n"
    second.remove("w", "c", "wheely", stop)
    changed = first.ready("w", "c", stop)
    assert changed is not None
    assert not (changed / "wheely").exists()
    assert packages("three").ready("w", "other", stop) is None
    store.close()


def test_packages_of_an_earlier_version_get_their_list_when_they_are_used(tmp_path: Path) -> None:
    store, stop = open_store(Settings(home=tmp_path)), threading.Event()
    earlier = Wheels(tmp_path)
    earlier.add("w", "c", earlier.plan("w", "c", "wheely", "", stop), stop)
    now = Wheels(tmp_path, lists=ChatPackages(store.db))
    assert now.installed("w", "c") == {"wheely": "1.0", "helper": "2.0"}
    assert now.ready("w", "c", stop) == earlier.folder("w", "c")
    assert ChatPackages(store.db).read("w", "c") == {"wheely": "1.0", "helper": "2.0"}
    store.close()


def decide(chat: Chat, allow: bool) -> threading.Thread:
    """Press a button as soon as the question is there."""

    def press() -> None:
        deadline = time.monotonic() + 20
        while (
            not any(data["state"] == "waiting" for _, data in chat.shown)
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        chat.leaf.session(chat.scope).messages.decide(chat.id, chat.shown[-1][1]["key"], allow)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


def test_a_package_is_installed_for_its_chat_alone_once_somebody_allows_it(
    with_wheels: Chat,
) -> None:
    chat = with_wheels
    chat("x = 'before'")
    pressed = decide(chat, True)
    output = chat.tool("add_package", {"name": "wheely"})
    pressed.join()
    assert output.text.startswith("Installed wheely 1.0 and, with it, helper 2.0 for this chat")
    assert [data["state"] for name, data in chat.shown if name == "consent"] == [
        "waiting",
        "allowed",
    ]
    assert (
        chat(
            "import wheely, helper\nimport pandas\n(wheely.version, helper.version, x)"
        ).data.python["value"]
        == "('1.0', '2.0', 'before')"
    )
    other = Chat(chat.leaf)
    assert "ModuleNotFoundError" in other.fails("import wheely")
    chat.tool("remove_package", {"name": "wheely"})
    assert "ModuleNotFoundError" in chat.fails("import wheely")
    assert chat("x").data.python["value"] == "'before'"


def test_another_version_of_a_package_takes_the_place_of_the_first(with_wheels: Chat) -> None:
    for version in ("1.0", "2.0"):
        pressed = decide(with_wheels, True)
        with_wheels.tool("add_package", {"name": "wheely", "version": version})
        pressed.join()
        with_wheels.shown.clear()
        assert with_wheels("import wheely\nwheely.version").data.python["value"] == repr(version)


def test_a_refused_package_is_not_installed(with_wheels: Chat) -> None:
    pressed = decide(with_wheels, False)
    with pytest.raises(InvalidInputError, match="The user refused it"):
        with_wheels.tool("add_package", {"name": "wheely"})
    pressed.join()
    assert "ModuleNotFoundError" in with_wheels.fails("import wheely")


def test_a_package_that_nobody_allows_is_not_installed(
    with_wheels: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaf.tools.permissions.WAIT_SECONDS", 0.2)
    with pytest.raises(InvalidInputError, match="Nobody allowed it"):
        with_wheels.tool("add_package", {"name": "wheely"}, key=f"{with_wheels.answer.id}/late")
    assert (
        with_wheels.leaf.session(with_wheels.scope).messages.decide(
            with_wheels.id, f"{with_wheels.answer.id}/late", True
        )
        is False
    )


def test_a_step_that_a_crash_interrupted_finds_what_was_said(with_wheels: Chat) -> None:
    chat, key = with_wheels, f"{with_wheels.answer.id}/interrupted"
    consents.ask(chat.leaf._house.store.db, chat.scope, chat.id, key, "Install it?")
    chat.leaf.session(chat.scope).messages.decide(chat.id, key, True)
    assert "Installed wheely" in chat.tool("add_package", {"name": "wheely"}, key=key).text


def test_somebody_else_cannot_allow_it(with_wheels: Chat) -> None:
    chat, key = with_wheels, f"{with_wheels.answer.id}/other"
    consents.ask(chat.leaf._house.store.db, chat.scope, chat.id, key, "Install it?")
    with pytest.raises(NotFoundError):
        chat.leaf.session(Scope(chat.scope.workspace_id, "stranger")).messages.decide(
            chat.id, key, True
        )
    with pytest.raises(NotFoundError):
        chat.leaf.session(chat.scope).messages.decide(
            chat.leaf.session(chat.scope).chats.create().id, key, True
        )


# --- through an answer


def test_an_answer_runs_python_and_keeps_its_cells(tmp_path: Path) -> None:
    turns = [
        Turn.call(("run_python", {"code": "total = float(sales.revenue.sum())"})),
        Turn.call(
            (
                "run_python",
                {"code": "print(total)\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);"},
            )
        ),
        Turn.say("It is 700."),
        Turn.call(("run_python", {"code": "total / 2"})),
        Turn.say("Half is 350."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat_id = session.chats.create().id
        file = add(session, "sales.csv", SALES)
        first = finished(session, session.messages.send(chat_id, "Total?", [file.id]).id, 180)
        assert text_of(first) == "It is 700."
        steps = [p for p in first.parts if p["type"] == "tool-run_python"]
        assert [p["output"]["data"]["python"]["cell"] for p in steps] == [1, 2]
        assert steps[1]["output"]["data"]["python"]["printed"] == "700.0\n"
        (image,) = images_of(server.requests[2].body)
        (figure,) = steps[1]["output"]["data"]["figures"]
        assert server.resolver.picture(image["source"]) == session.python.figure(
            chat_id, figure["sha256"]
        )
        second = finished(session, session.messages.send(chat_id, "And half of it?").id, 180)
        (step,) = [p for p in second.parts if p["type"] == "tool-run_python"]
        assert step["output"]["data"]["python"]["value"] == "350.0"
        assert step["output"]["data"]["python"]["rebuilt"] == 0


def test_an_answer_written_from_a_part_of_what_was_printed_says_so(tmp_path: Path) -> None:
    code = "print('abcdefghi ' * 2_000 + str(len(sales)))\nsales.loc[sales.index.repeat(100)]"
    turns = [Turn.call(("run_python", {"code": code})), Turn.say("It is all the same.")]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat_id = session.chats.create().id
        file = add(session, "sales.csv", SALES)
        answer = finished(session, session.messages.send(chat_id, "Well?", [file.id]).id, 180)
        rows = 100 * (SALES.decode().strip().count("\n"))
        assert missing(covered_of(answer.parts)) == [
            f"written from the first 50 of {rows:,} rows of a result",
            "written from the first 12,000 of 20,002 characters that Python printed",
        ]


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _cpu(pid: int) -> tuple[str, str]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[11], fields[12]


def test_figures_have_the_look_of_charts_unless_the_code_says_otherwise(chat: Chat) -> None:
    drawn = "import matplotlib.pyplot as plt\nimport matplotlib.colors as c\n"
    drawn += "bar = plt.bar(['a'], [1]{more})[0]\nc.to_hex(bar.get_facecolor())"
    assert chat(drawn.format(more="")).data.python["value"] == "'#1f6f4a'"
    assert chat(drawn.format(more=", color='red'")).data.python["value"] == "'#ff0000'"
