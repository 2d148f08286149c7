"""SQL and Python in the habits of other systems, through the real tools: each call works, or its
error mends it in one turn."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import LeafError
from leaf.tables import child, dialects, meanings
from leaf.tables.mentions import known_as
from leaf.tables.sql import calls
from leaf.tools.base import ToolOutput
from tests.leaf_kit import add, opened

TITANIC = "Name,Sex,Age,Fare,Boarded,Day seen,Paid\n" + "".join(
    f"P{i},{'male' if i % 3 else 'female'},{20 + i},{i * 1.5},2024-0{i % 9 + 1}-1{i % 9},"
    f"1{i % 9}.0{i % 9 + 1}.2024{' ca.' if i == 7 else ''},{'n/k' if i == 5 else i}\n"
    for i in range(1, 31)
)
STREETS = "Straße,Größe m²\nÄ,1\nß,2\n"
BOOKS = {
    "titanic.csv": TITANIC,
    "Übersicht é 2024.csv": STREETS,
    "数据.csv": "列,値\n甲,1\n乙,2\n",
    "note.txt": "Hello.",
}
COUNT = "SELECT count(*) FROM "


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    with opened(tmp_path_factory.mktemp("home")) as opened_leaf:
        yield opened_leaf


@pytest.fixture(scope="module")
def run(leaf: Leaf) -> Any:
    session = leaf.session(leaf.local_scope())
    ids = [add(session, name, text.encode()).id for name, text in BOOKS.items()]

    def run_tool(tool_name: str, **given: Any) -> ToolOutput:
        return session.tools.run(tool_name, given, file_ids=ids)

    return run_tool


@pytest.fixture(scope="module")
def ask(leaf: Leaf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The child's own function without its child, which costs more than a hundred statements."""
    scope = leaf.local_scope()
    session = leaf.session(scope)
    there = leaf._house.library.as_chat_files(
        [add(session, name, text.encode()) for name, text in BOOKS.items()]
    )
    tables = leaf._house.tables.of(scope, there).tables
    paths, known = {t.name: str(t.parquet) for t in tables}, known_as(there, tables)
    rows = {t.name: t.mark for t in tables}

    def query(sql: str) -> dict[str, Any]:
        return child.query(
            sql, paths, list(paths), str(tmp_path_factory.mktemp("out")), 60, 512, rows, known
        )

    return query


@pytest.mark.parametrize(
    ("sql", "first", "said"),
    [
        (COUNT + '"titanic.csv"', 30, '"titanic.csv" was read as the table titanic.'),
        (COUNT + "titanic.csv", 30, "titanic.csv was read as the table titanic."),
        (COUNT + "'titanic.csv'", 30, "was read as the table titanic."),
        (COUNT + "'data/Titanic.CSV' t WHERE t.Age > 30", 20, "was read as the table titanic."),
        (COUNT + "read_csv('titanic.csv')", 30, "was read as the table titanic."),
        (COUNT + "f1", 30, "f1 was read as the table titanic."),
        (COUNT + '"Übersicht é 2024.csv"', 2, "was read as the table ubersicht_e_2024."),
        (COUNT + "Übersicht é 2024.csv", 2, "was read as the table ubersicht_e_2024."),
        (COUNT + "'Übersicht é 2024.csv'", 2, "was read as the table ubersicht_e_2024."),
        (COUNT + '"Übersicht é 2024"', 2, "was read as the table ubersicht_e_2024."),
        (COUNT + '"数据.csv" WHERE "列" = "甲"', 1, "was read as the text '甲'."),
        (COUNT + "数据.csv", 2, "was read as the table"),
        (COUNT + 'titanic WHERE Sex="male"', 20, "\"male\" was read as the text 'male'."),
        (
            COUNT + 'titanic t WHERE t."Sex" = "male" AND Age > 1',
            20,
            "was read as the text 'male'.",
        ),
        (
            COUNT + 'titanic WHERE Sex IN ("male", "female")',
            30,
            "\"female\" was read as the text 'female'.",
        ),
        (COUNT + 'titanic WHERE Name LIKE "P1%"', 11, "was read as the text 'P1%'."),
        (COUNT + '"Übersicht é 2024.csv" WHERE "Straße"="ß"', 1, "was read as the text 'ß'."),
        (COUNT + "`titanic` WHERE `Day seen` = '11.02.2024'", 4, ""),
        (COUNT + "[titanic] WHERE [Sex] = 'male'", 20, '[Sex] was read as the name "Sex".'),
        (
            COUNT + "titanic WHERE [Day seen] LIKE '%2024'",
            29,
            '[Day seen] was read as the name "Day seen".',
        ),
        (
            "SELECT sum([Größe m²]) FROM ubersicht_e_2024",
            3,
            '[Größe m²] was read as the name "Größe m²".',
        ),
        (
            "SELECT round(STDEV(Age), 6) FROM titanic",
            8.803408,
            "STDEV(Age) was read as stddev_samp(Age).",
        ),
        (
            "SELECT sum(ISNULL(Age, 0)) FROM titanic",
            1065,
            "ISNULL(Age, 0) was read as coalesce(Age, 0).",
        ),
        (COUNT + "titanic WHERE ISNULL(Age)", 0, "was read as (Age IS NULL)."),
        ("SELECT TOP 5 Age FROM titanic ORDER BY Age DESC", 50, "TOP was read as LIMIT 5."),
        (
            "SELECT DISTINCT TOP (1) Sex FROM titanic ORDER BY Sex",
            "female",
            "TOP was read as LIMIT 1.",
        ),
        ("SELECT Age FROM titanic ORDER BY Age LIMIT 2, 3", 23, "was read as LIMIT 3 OFFSET 2."),
        ("SELECT DATEDIFF(day, '2024-01-01', '2024-03-01')", 60, "DATEDIFF(day, "),
        ("SELECT DATEDIFF('2024-03-01', '2024-01-01')", 60, "was read as date_diff('day', "),
        (
            "SELECT TIMESTAMPDIFF(YEAR, '2000-12-31', '2024-01-01')",
            23,
            "was read as date_sub('year', ",
        ),
        ("SELECT DATEADD(month, 1, DATE '2024-01-31')::DATE::VARCHAR", "2024-02-29", "was read as"),
        (
            "SELECT strftime('%Y', '2024-05-06')",
            "2024",
            "was read as strftime(CAST('2024-05-06' AS TIMESTAMP), '%Y').",
        ),
        ("SELECT strftime('%Y-%m', max(Boarded)) FROM titanic", "2024-09", ""),
        (
            "SELECT DATE_FORMAT(max(Boarded), '%Y-%m') FROM titanic",
            "2024-09",
            "was read as strftime(",
        ),
        ("SELECT IIF(1 > 0, 'a', 'b')", "a", "was read as CASE WHEN"),
        ("SELECT CONVERT(int, '12')", 12, "was read as CAST('12' AS int)."),
        ("SELECT CHARINDEX('l', 'hello')", 3, "was read as strpos('hello', 'l')."),
        (
            COUNT + "titanic WHERE Name REGEXP '^P1'",
            11,
            "was read as regexp_matches(Name, '^P1'): capitals count.",
        ),
        (
            COUNT + "titanic WHERE Day seen LIKE '%2024'",
            29,
            'Day seen was read as the name "Day seen".',
        ),
        (
            COUNT + "titanic t WHERE t.day_seen LIKE '%2024'",
            29,
            'day_seen was read as the column "Day seen".',
        ),
        (COUNT + "dbo.titanic", 30, "dbo.titanic was read as the table titanic."),
        (COUNT + "[dbo].[titanic]", 30, "[dbo].[titanic] was read as the table titanic."),
        (COUNT + 'titanic t, "数据.csv" b', 60, "was read as the table"),
        (COUNT + "titanic WITH (NOLOCK)", 30, "WITH (NOLOCK) was taken away."),
        ("SELECT 1 FROM DUAL", 1, "FROM DUAL was taken away."),
        ("```sql\nSELECT 2\n```", 2, "The fence around the statement was taken away."),
        (COUNT + "titanic WHERE Sex = ‘male’ AND Name <> '‘'", 20, "‘male’ was read as 'male'."),
        (COUNT + "titanic WHERE Sex = “male”", 20, "\"male\" was read as the text 'male'."),
        (
            'SELECT count(CASE WHEN Sex = "male" THEN 1 END) AS "male" FROM titanic',
            20,
            "was read as the text 'male'.",
        ),
        (
            "SELECT * FROM (SELECT TOP 3 Age FROM titanic ORDER BY Age DESC) x ORDER BY Age",
            48,
            "TOP was read as LIMIT 3.",
        ),
        (
            "WITH a AS (FROM titanic) SELECT TOP (2) Age FROM a ORDER BY Age -- the least",
            21,
            "TOP was read as LIMIT 2.",
        ),
        ("SELECT Age FROM titanic ORDER BY Age LIMIT 2, 3;", 23, "was read as LIMIT 3 OFFSET 2."),
        (
            "SELECT max(a) FROM (SELECT Age AS a FROM titanic ORDER BY 1 LIMIT 2,3)",
            25,
            "was read as LIMIT 3 OFFSET 2.",
        ),
        (
            "SELECT LISTAGG(Sex, '/') WITHIN GROUP (ORDER BY Age) FROM titanic WHERE Age < 24",
            "male/male/female",
            "was read as",
        ),
        (
            "SELECT GROUP_CONCAT(DISTINCT Sex ORDER BY Sex DESC SEPARATOR '; ') FROM titanic",
            "male; female",
            "was read as string_agg(DISTINCT Sex, '; ' ORDER BY Sex DESC).",
        ),
        (
            COUNT + "titanic WHERE Name ILIKE ANY ('p1', 'p2%')",
            12,
            "was read as (Name ILIKE 'p1' OR Name ILIKE 'p2%').",
        ),
        ("SELECT -7 DIV 2 + 7 MOD 4", 0, "DIV was read as //."),
        (COUNT + "titanic WHERE Sex = 'male' && Age > 40", 6, "&& was read as AND."),
        (
            "SELECT DATE_SUB(DATE '2024-03-31', INTERVAL 1 MONTH)::DATE::VARCHAR",
            "2024-02-29",
            "was read as",
        ),
        ("SELECT DATE_DIFF('2024-03-01', '2024-01-01', DAY)", 60, "was read as date_diff('day', "),
        (
            "SELECT DATETRUNC(month, max(Boarded))::DATE::VARCHAR FROM titanic",
            "2024-09-01",
            "was read as date_trunc('month', ",
        ),
        (
            "SELECT DATE_FORMAT(max(Boarded), '%d.%m. %H:%i') FROM titanic",
            "18.09. 00:00",
            "'%d.%m. %H:%M').",
        ),
        (
            "SELECT CONVERT(VARCHAR(7), max(Boarded), 120) FROM titanic",
            "2024-09",
            "was read as left(strftime(",
        ),
        ("SELECT CONVERT('12', SIGNED)", 12, "was read as CAST('12' AS BIGINT)."),
        ("SELECT SAFE_CAST('x' AS INT64)", None, "SAFE_CAST was read as TRY_CAST."),
        ("SELECT 1 MINUS SELECT 2", 1, "MINUS was read as EXCEPT."),
        ("SELECT NVL2(NULL, 'a', 'b')", "b", "was read as CASE WHEN NULL IS NOT NULL"),
    ],
)
def test_what_can_mean_one_thing_only_runs_and_is_said(
    ask: Any, sql: str, first: Any, said: str
) -> None:
    answer = ask(sql)
    assert answer["rows"][0][0] == first
    assert said in " ".join(answer["said"])
    again = ask(answer["sql"])
    assert (again["rows"], again["said"]) == (answer["rows"], [])


def test_a_mended_statement_is_told_to_model_and_page(run: Any) -> None:
    output = run("query_tables", sql=COUNT + 'titanic.csv WHERE Sex="male"')
    told = ["titanic.csv was read as the table titanic.", "\"male\" was read as the text 'male'."]
    assert output.data.table["said"] == told
    assert all(sentence in output.text for sentence in told)
    assert output.data.table["sql"] == COUNT + "\"titanic\" WHERE Sex='male'"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT Fair FROM titanic", "No column 'Fair' in titanic. Did you mean 'Fare'"),
        (COUNT + 'titanic WHERE Fare = "Fair"', "If it is a text, write 'Fair'"),
        ('SELECT count("Sexes") FROM titanic', "No column 'Sexes'"),
        ('SELECT "male", count(*) FROM titanic', "No column 'male'"),
        ('SELECT "Grösse" FROM ubersicht_e_2024', "Did you mean 'Größe m²'"),
        (
            "SELECT std(Age) FROM titanic",
            "Write stddev_samp (of a sample, as in pandas) or stddev_pop",
        ),
        ("SELECT TO_CHAR(Boarded, 'YYYY') FROM titanic", "Write strftime(x, '%Y-%m-%d')."),
        (
            "SELECT DATE_FORMAT(Boarded, '%M') FROM titanic",
            "Write strftime(x, '%Y-%m-%d'): codes with %, as in C.",
        ),
        (
            'SELECT year("Day seen") FROM titanic',
            '"Day seen" is text: write try_strptime("Day seen", \'%d.%m.%Y\')',
        ),
        (
            "SELECT avg(Paid) FROM titanic",
            '"Paid" is text: write TRY_CAST("Paid" AS DOUBLE) (1 of 30 values are no numbers',
        ),
        ("SELECT CONVERT(int, Fare) FROM titanic", "a CAST to INTEGER rounds: trunc(x) cuts."),
        (
            "SELECT DATEDIFF(week, Boarded, '2025-01-01') FROM titanic",
            "Write the part of a date as a text: 'week'; weeks begin on Monday",
        ),
        ("SELECT Name + ' ' + Sex FROM titanic", "Texts are joined with ||"),
        ("SELECT Boarded - '2024-01-01' FROM titanic", "Write DATE '2024-01-31' for a day"),
        (COUNT + "titanic WHERE Boarded > '01/02/2024'", '"01/02/2024"'),
        (COUNT + "titanic WHERE Boarded LIKE '2024-01%'", "CAST(x AS VARCHAR) LIKE '2024-01%'"),
        (
            COUNT + 'titanic WHERE Sex = "Age"',
            "\"Age\" was read as the column Age: write 'Age' for the text.",
        ),
        (COUNT + 'titanic WHERE Sex = "titanic"', "write 'titanic' for the text."),
        (
            "SELECT TOP 3 WITH TIES Age FROM titanic ORDER BY Age",
            "Write QUALIFY rank() OVER (ORDER BY x DESC) <= 3",
        ),
        ("SELECT SUBSTRING_INDEX(Name, ',', 1) FROM titanic", "Write split_part(x, ',', 1)."),
        ("SELECT LAG(Age) FROM titanic", "Write lag(x) OVER (ORDER BY y)"),
        (COUNT + "titanic WHERE sum(Age) > 1", "Write HAVING"),
        (COUNT + "titanic WHERE ROWNUM < 5", "Write LIMIT 5, or row_number()"),
        (
            "SELECT REGEXP_LIKE(Name, 'P') FROM titanic",
            "regexp_matches(x, 'a') for a match anywhere",
        ),
        (
            "SELECT max(Age) AS oldest person FROM titanic",
            "A name of several words needs double quotes.",
        ),
        ("SELECT Sexy, group FROM titanic", "syntax error"),
        (COUNT + "titanik", "No table 'titanik' in this chat. Did you mean 'titanic'?"),
    ],
)
def test_what_can_mean_several_things_is_answered_with_what_to_write(
    ask: Any, sql: str, said: str
) -> None:
    with pytest.raises(LeafError) as error:
        ask(sql)
    assert said in str(error.value)
    assert "Candidate" not in str(error.value)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            COUNT + "titanic WHERE 'Sex' = 'male'",
            "'Sex' is a text here: write \"Sex\" for the column.",
        ),
        (COUNT + "titanic WHERE Age > 1 AND 'Sex' = 'male'", "'Sex' is a text here"),
        ("SELECT 'sex', count(*) FROM titanic GROUP BY 'sex'", "'sex' is a text here"),
        ("SELECT count(DISTINCT 'Sex') FROM titanic", "'Sex' is a text here"),
        ("SELECT 'Sex' AS what, count(*) FROM titanic", ""),
        (COUNT + "titanic WHERE Sex IN ('Sex', 'Age')", ""),
        ("SELECT concat('Age', ': ', Age) FROM titanic", ""),
        ("SELECT 'Age', avg(Age) FROM titanic UNION ALL SELECT 'Fare', avg(Fare) FROM titanic", ""),
        ('SELECT Sex AS "male" FROM titanic WHERE Sex = "male"', "write 'male' for the text."),
        (
            COUNT + 'titanic WHERE Name = "Sex"',
            "\"Sex\" was read as the column Sex: write 'Sex' for the text.",
        ),
        (COUNT + 'titanic WHERE "Name" = "Sex"', ""),
        ("SELECT a b FROM (SELECT 1 AS a)", ""),
        ("SELECT dayofweek(Boarded) FROM titanic", "dayofweek counts from Sunday = 0"),
        ("SELECT log(100)", "log(x) is to base 10 here"),
        ("SELECT log(2, 8)", ""),
        ("SELECT regexp_replace('a1b2', '[0-9]', '')", "replaces the first match only"),
        ("SELECT regexp_replace('a1b2', '[0-9]', '', 'g')", ""),
        ("SELECT count(regexp_extract(Name, 'x')) FROM titanic", "gives '' and not NULL"),
        ("SELECT CAST(Age / 10 AS INT) * 10 FROM titanic", "A CAST to INTEGER rounds"),
        ("SELECT CAST(Age AS INT) FROM titanic", ""),
        (
            "SELECT CAST(Boarded AS VARCHAR(7)) FROM titanic",
            "VARCHAR(7) does not cut a text: left(x, 7) does.",
        ),
        ("SELECT CAST(Age AS VARCHAR(255)) FROM titanic", ""),
        (COUNT + "titanic WHERE Age = NULL", "A comparison with NULL is never true"),
        (COUNT + "titanic WHERE Name = '= NULL'", ""),
        (
            COUNT + "titanic WHERE Name SIMILAR TO 'P%'",
            "SIMILAR TO takes a regular expression here",
        ),
        ("SELECT substr(Name, 0, 2) FROM titanic", "Places in a text count from 1"),
    ],
)
def test_what_means_something_else_here_is_said_with_its_rows(
    ask: Any, sql: str, said: str
) -> None:
    told = ask(sql)["said"]
    assert [said in sentence for sentence in told] == ([True] if said else [])


def test_a_column_of_two_words_is_told_from_a_column_with_an_alias() -> None:
    assert meanings.cautions("SELECT Total Sales FROM t", ["Total", "Total Sales"]) == [
        'Total Sales was read as Total AS Sales: write "Total Sales".'
    ]
    assert (
        dialects.mended(
            "SELECT Total Sales, FROM FROM t", "syntax error", {}, ["Total", "Total Sales"]
        )
        is None
    )


def test_a_list_of_a_column_is_told_from_a_name_in_brackets(ask: Any) -> None:
    assert (
        '[Sex] makes a list of each value: write "Sex"'
        in ask("SELECT [Sex] FROM titanic LIMIT 1")["said"][0]
    )


def test_summarize_is_said_to_estimate(run: Any) -> None:
    assert (
        "quartiles and approx_unique are approximate"
        in run("query_tables", sql="SUMMARIZE titanic").text
    )


def test_a_text_where_a_table_belongs_is_answered_with_its_tools(run: Any) -> None:
    with pytest.raises(
        LeafError, match=r"'note.txt' has no table: read it with read_file or search_files\."
    ):
        run("query_tables", sql=COUNT + '"note.txt"')


def test_a_mended_statement_may_still_only_read(run: Any) -> None:
    with pytest.raises(LeafError, match="COPY is not possible"):
        run("query_tables", sql="COPY \"titanic.csv\" TO 'x.csv'")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('titanic["sex"]', "Did you mean 'Sex'? The columns are 'Name', 'Sex', 'Age'"),
        ('titanic[["Agee", "Sex"]]', "Did you mean 'Age'?"),
        ('titanic.groupby("sx").size()', "Did you mean 'Sex'?"),
        ("titanic.Agee", "Did you mean 'Age'?"),
        ('ubersicht_e_2024["Grösse m²"]', "Did you mean 'Größe m²'?"),
        (
            'pd.read_csv("titanic.csv")',
            'titanic.csv is the DataFrame titanic; its bytes are at open_file("f1").',
        ),
        ('pd.read_csv("Übersicht é 2024.csv")', "is the DataFrame ubersicht_e_2024;"),
        ('open("note.txt")', 'note.txt is at open_file("f4").'),
        ("df.head()", "The chat's tables are DataFrames already: titanic, ubersicht_e_2024"),
    ],
)
def test_an_error_of_code_names_what_to_write(run: Any, code: str, said: str) -> None:
    with pytest.raises(LeafError) as error:
        run("run_python", code=code)
    assert said in str(error.value)


def test_calls_are_cut_where_they_begin_and_end() -> None:
    found = calls("SELECT f(a, g('x,)', [1, 2]), \"é(\") FROM t WHERE h()")
    assert [(c.name, c.arguments) for c in found] == [
        ("g", ("'x,)'", "[1, 2]")),
        ("f", ("a", "g('x,)', [1, 2])", '"é("')),
        ("h", ()),
    ]


def test_a_file_in_folders_is_named_by_the_end_of_its_path(leaf: Leaf) -> None:
    scope = leaf.local_scope()
    names = ("2023/sold.csv", "2024/sold.csv", "2024/Lager 中 📱.csv")
    ids = [
        leaf._house.library.add(
            scope, name.rpartition("/")[2], BytesIO(f"n\n{at}\n{at}\n".encode()), folder=name[:4]
        ).file.id
        for at, name in enumerate(names)
    ]

    def run_tool(tool_name: str, **given: Any) -> ToolOutput:
        return leaf.session(scope).tools.run(tool_name, given, file_ids=ids)

    for sql, count in (('"2024/sold.csv"', 2), ('"Lager 中 📱.csv"', 4), ("'Lager 中 📱'", 4)):
        assert run_tool("query_tables", sql=f"SELECT sum(n) FROM {sql}").data.table["rows"] == [
            [count]
        ]
    with pytest.raises(
        LeafError, match=r"those of that name are sold_2023, sold_2024\. Name the one that is meant"
    ):
        run_tool("query_tables", sql="FROM 'sold.csv'")
    with pytest.raises(
        LeafError,
        match=r"No file or table 'solid\.csv' in this chat. There is 'sold_2023', 'sold_2024', "
        r"'lager_中'\.",
    ):
        run_tool("query_tables", sql="FROM 'solid.csv'")
    with pytest.raises(LeafError, match=r"2024/sold\.csv is the DataFrame sold_2024"):
        run_tool("run_python", code='pd.read_csv("2024/sold.csv")')
    with pytest.raises(
        LeafError, match=r"Several files are named so: f1 2023/sold\.csv, f2 2024/sold\.csv"
    ):
        run_tool("run_python", code='pd.read_csv("sold.csv")')
    assert "1 file that matches" in run_tool("list_files", glob="2023/*").text
