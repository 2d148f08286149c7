"""What is said of an answer where the model was shown a part of what its steps gave."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from leaf.agent.stubs import receipt
from leaf.language.text import speaking
from leaf.provenance import basis, partly
from leaf.provenance.coverage import covered_of, line, lines, missing, short, shown_alone
from leaf.store.model import Message
from leaf.tables.cuts import cut_of
from leaf.tables.firsts import limited
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]

WORDS = [
    "the",
    "delivery",
    "of",
    "my",
    "parcel",
    "was",
    "late",
    "and",
    "nobody",
    "answered",
    "the",
    "telephone",
]
SURVEY = "n,region,amount,comment\n" + "".join(
    f"{n},{'NSEW'[n % 4]},{n * 37 % 1009},{' '.join(WORDS[(n + i) % 12] for i in range(6))} {n}\n"
    for n in range(450)
)
MOOD = "Most of the comments are about late deliveries."


def answers(
    home: Path,
    *asked: tuple[Sequence[str | tuple[str, Json]], str],
    name: str = "survey.csv",
    content: bytes = SURVEY.encode(),
) -> list[Message]:
    """Answers of one chat: each the calls before it, SQL or another tool, and its text."""
    turns: list[Turn] = []
    for calls, text in asked:
        for call in calls:
            turns.append(
                Turn.call(("query_tables", {"sql": call}) if isinstance(call, str) else call)
            )
        turns.append(Turn.say(text))
    with (
        MessagesServer(turns) as server,
        opened(home / "home", model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        ids = [add(session, name, content).id]
        messages = [
            finished(
                session,
                session.messages.send(chat.id, "What about it?", file_ids=[] if n else ids).id,
            )
            for n in range(len(asked))
        ]
        assert server.refused == []
    return messages


def pages(order: str, *offsets: int) -> list[str]:
    return [f"SELECT comment FROM survey {order} LIMIT 150 OFFSET {n}" for n in offsets]


def test_a_count_of_all_rows_makes_no_sample_of_texts_one_of_all(tmp_path: Path) -> None:
    count = "SELECT count(*) AS c FROM survey"
    text = f"There are 450 comments. {MOOD}"
    total = f"The total is {sum(n * 37 % 1009 for n in range(450)):,}."
    told = [
        covered_of(message.parts)
        for message in answers(
            tmp_path,
            ([count, "SELECT comment FROM survey LIMIT 60"], text),
            ([count, "SELECT n, comment FROM survey"], text),
            ([count, "SELECT comment FROM survey USING SAMPLE 40"], text),
            (["SELECT * FROM survey LIMIT 5", "SELECT sum(amount) FROM survey"], total),
            (["SELECT * FROM survey", "SELECT sum(amount) FROM survey"], total),
        )
    ]
    assert [missing(shown_alone(one)) for one in told] == [
        ["looked at the first 60 of 450 rows of a result"],
        ["looked at the first 200 of 450 rows of a result"],
        ["looked at 40 of 450 rows"],
        [],
        [],
    ]


def test_pages_of_a_result_add_up(tmp_path: Path) -> None:
    told = [
        missing(covered_of(message.parts))
        for message in answers(
            tmp_path,
            (pages("", 0, 150, 300), MOOD),
            (pages("", 150), MOOD),
            (pages("ORDER BY n", 0, 150), MOOD),
            (["SELECT comment FROM survey ORDER BY n", *pages("ORDER BY n", 300)], MOOD),
            (
                [
                    "SELECT comment FROM survey",
                    "FROM r9 LIMIT 200 OFFSET 200",
                    "FROM r9 OFFSET 400",
                ],
                MOOD,
            ),
            (["SELECT n, amount FROM survey ORDER BY amount DESC LIMIT 5"], "The most is 1,008."),
            (["SELECT n, amount FROM survey ORDER BY amount DESC LIMIT 50"], "The most is 1,008."),
            (["SELECT comment FROM survey ORDER BY n DESC LIMIT 100"], MOOD),
        )
    ]
    assert told == [
        [],
        ["300 of 450 rows not read"],
        ["written from the first 300 of 450 rows of a result"],
        ["written from 350 of 450 rows"],
        [],
        [],
        [],
        ["written from the first 100 of 450 rows of a result"],
    ]


def test_a_limit_of_more_than_a_table_says_so(tmp_path: Path) -> None:
    told = [
        line(covered_of(message.parts))
        for message in answers(
            tmp_path,
            (["SELECT * FROM (SELECT comment FROM survey) LIMIT 50"], MOOD),
            (["SELECT region, count(*) FROM survey GROUP BY ALL LIMIT 2"], "There are some."),
        )
    ]
    assert told == [
        f"450 of 450 rows · written from the first {part} rows of a result"
        for part in ("50 of 450", "2 of 4")
    ]


def test_a_limit_of_rows_that_nobody_could_count_says_that_there_are_more() -> None:
    def table(result: str, offset: int, of: int) -> Json:
        rows = {"columns": ["a"], "rows": [[n] for n in range(10)], "total": 10, "shown": 10}
        return {**rows, "result_id": result, "sql": "SELECT 1", "offset": offset, "of": of}

    def said(*tables: Json) -> list[str]:
        outputs: Any = [{"data": {"table": one}} for one in tables]
        seen: Any = {"results": list(partly.results(outputs, (), (), looked=False))}
        return missing(seen)

    assert said(table("r1", 0, -1)) == ["written from 10 rows of a result that has more"]
    assert said(table("r1", 0, 10)) == []
    with speaking("es"):
        assert said(table("r1", 0, -1)) == [
            "leído para esta respuesta: 10 filas de un resultado que tiene más"
        ]


def test_rows_that_a_chart_does_not_draw_are_said() -> None:
    chart = {"spec": {}, "columns": ["a"], "rows": [[1]] * 50, "result_id": "r1", "total": 120}
    table = {"columns": ["a"], "rows": [[1]], "total": 120, "result_id": "r1", "scanned": []}
    outputs: Any = [{"data": {"table": table}}, {"data": {"chart": chart}}]
    drawn: Any = {"results": list(partly.drawn(outputs))}
    assert missing(drawn) == ["drawn from the first 50 of 120 rows of a result"]
    with speaking("de"):
        assert missing(drawn) == ["gezeichnet: die ersten 50 von 120 Zeilen eines Ergebnisses"]
    chart["total"] = 50
    assert list(partly.drawn(outputs)) == []


@pytest.mark.parametrize(
    ("printed", "rows"),
    [
        (
            "                 comment\n0  the parcel was very late\n1  the parcel was very late\n"
            "..                   ...\n8  the parcel was very late\n9  the parcel was very late\n\n"
            "[1590 rows x 1 columns]\n",
            [(4, 1590)],
        ),
        (
            "0    the parcel was very late\n          ...\n8    the parcel was very late\n"
            "Name: comment, Length: 900, dtype: object\n",
            [(2, 900)],
        ),
        ("0    17\n    ..\n8    12\nName: amount, Length: 900, dtype: int64\n", []),
        ("0    the parcel was very late\n1    the parcel was never there\n", []),
    ],
)
def test_texts_that_pandas_prints_with_dots_are_a_part(
    printed: str, rows: list[tuple[int, int]]
) -> None:
    outputs: Any = [{"data": {"python": {"printed": printed}}}]
    told = [(one["seen"], one["total"]) for one in partly.abridged(outputs, looked=False)]
    assert told == rows


def test_each_sheet_that_is_read_as_text_counts_by_itself(tmp_path: Path) -> None:
    """Its rows were added to those of the others, and sheets that nobody read were not named."""
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = "Data"
    for name, rows in (("Data", 41), ("Plan", 6), ("Old", 9), *((f"S{n}", 2) for n in range(30))):
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        for n in range(rows):
            sheet.append([f"a{n}", n] if n else ["name", "amount"])
    kept = BytesIO()
    book.save(kept)
    plan = ("read_file", {"file": "f1", "where": "sheet Plan"})
    data = ("read_file", {"file": "f1", "where": "sheet Data!A1:B10"})
    one, both, query = answers(
        tmp_path,
        ([plan], "It is a plan."),
        ([plan, data], "It is a plan."),
        (["SELECT sum(amount) FROM b__data", plan], "The total is 820."),
        name="b.xlsx",
        content=kept.getvalue(),
    )
    assert line(covered_of(one.parts)) == (
        "6 of 6 rows of the sheet · not touched: b.xlsx · Data, b.xlsx · Old, b.xlsx · S0 and 29 more"
    )
    assert [(c["name"], c["seen"], c["total"]) for c in covered_of(both.parts)["files"]] == [
        ("b.xlsx · Plan", 6, 6),
        ("b.xlsx · Data", 10, 41),
    ]
    assert missing(covered_of(query.parts)) == [
        "not read: b.xlsx · Old, b.xlsx · S0, b.xlsx · S1 and 28 more"
    ]
    with speaking("de"):
        assert line(covered_of(one.parts)).startswith("6 von 6 Zeilen des Blatts · ")


def test_a_line_is_read_once_its_end_is(tmp_path: Path) -> None:
    """A text of one long line said that all of it was read with its first words."""
    begun = ("read_file", {"file": "f1", "max_tokens": 500})
    [told] = answers(
        tmp_path,
        ([begun], "It is about words."),
        name="long.txt",
        content=("word " * 9_000 + "\nsecond\n").encode(),
    )
    assert line(covered_of(told.parts)) == "0 of 2 lines"


def test_of_a_file_that_python_opens_itself_nobody_knows_how_much_it_read() -> None:
    source = {"handle": "f1", "file_id": "a", "name": "a.csv", "place": "", "action": "computed"}
    output = {
        "sources": [source],
        "coverage": [],
        "data": {"python": {"printed": "The mean is 7."}},
    }
    cell = {
        "type": "tool-run_python",
        "toolCallId": "1",
        "state": "output-available",
        "input": {},
        "output": output,
    }
    parts: Any = [cell, {"type": "text", "id": "t", "text": "It is fine."}]
    told = basis.of_answer(parts, (), (), {"f1": "a.csv"}).covered
    assert line(told) == short(told) == lines(told)[0]
    assert short(told) == "How much of a.csv Python read is not known"
    assert missing(told) == []
    with speaking("fr"):
        assert short(told) == "On ne sait pas quelle part de a.csv Python a lue"


def test_a_folded_result_says_how_many_of_its_rows_were_shown() -> None:
    table = {"columns": ["a"], "rows": [], "result_id": "r1", "total": 1_590, "shown": 200}
    output: Any = {"data": {"table": table}}
    text = receipt({"name": "query_tables", "input": {}}, output, "x" * 900)
    assert "Its rows are kept as result r1; 200 of 1,590 were shown." in text


def test_texts_of_many_rows_in_one_cell_that_is_cut_are_a_warning(tmp_path: Path) -> None:
    """One cell with all comments, of which the model sees 200 characters, is no reading of them."""
    [told] = answers(tmp_path, (["SELECT string_agg(comment, '; ') FROM survey"], MOOD))
    assert missing(covered_of(told.parts)) == ["written from the beginning of 1 long text"]


def test_figures_of_a_result_that_another_query_read_whole_are_no_part(tmp_path: Path) -> None:
    """The first rows of it hold the figure by chance; the answer is not written from these."""
    calls = ["SELECT n, amount FROM survey", "SELECT max(amount) AS most FROM r1"]
    [told] = answers(tmp_path, (calls, "The most is 1,008 of all."))
    assert missing(covered_of(told.parts)) == []


@pytest.mark.parametrize(
    ("sql", "total", "cut"),
    [
        ("SELECT * FROM range(10) LIMIT 20", 10, (0, 10)),
        ("SELECT * FROM range(10) LIMIT 20 OFFSET 4", 6, (4, 10)),
        ("SELECT * FROM range(10) LIMIT 4 OFFSET 4", 4, (4, 10)),
        ("SELECT * FROM range(10) LIMIT 4 OFFSET 40", 0, (40, 10)),
        ("SELECT * FROM range(10) OFFSET 4", 6, (4, 10)),
        ("SELECT * FROM range(10) LIMIT 4", 4, (0, 10)),
        ("SELECT * FROM range(10) ORDER BY 1 LIMIT 4", 4, (0, 0)),
        ("SELECT * FROM range(10)", 10, (0, 0)),
    ],
)
def test_a_limit_leaves_out_so_many_rows(sql: str, total: int, cut: tuple[int, int]) -> None:
    with duckdb.connect() as con:
        of = cut_of(con, limited(con, sql), total, [])
    assert (of.offset, of.of) == cut
