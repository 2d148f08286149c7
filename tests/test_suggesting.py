"""Questions that are offered, to begin with and after an answer: each is answered, with the figures of
the statement that it carries; what a file holds before anybody asks."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from leaf.agent.proposals.roles import roles_of, steps_of
from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.app import Leaf
from leaf.errors import NotFoundError
from leaf.sessions.session import Session
from leaf.sessions.suggesting import Suggested
from leaf.shapes.part_values import data_of
from leaf.shapes.results import TableShown
from leaf.store.model import File, Message
from tests.leaf_kit import SALES, add, finished, opened, text_of

FOREIGN = Path(__file__).parents[2] / "shared" / "data" / "foreign"
CORPORA = {
    "dabench/tables": "*.csv",
    "strudel/csv": "*.csv",
    "fuste/csv": "*.csv",
    "poi": "*.xlsx",
}
EACH, LARGEST = 2, 400_000
SHOPS = b"shop_id,shop_code,year,opened,country,share_percent,revenue,customer\n" + b"".join(
    b"%d,%d,%d,%d-%02d-%02d,%s,%0.1f,%d,c%d\n"
    % (
        1000 + i,
        70000 + i * 7,
        2019 + i % 4,
        2019 + i % 4,
        i % 12 + 1,
        i % 27 + 1,
        (b"Norway", b"Peru", b"Chad")[i * 7 % 3],
        i % 9 * 1.5,
        100 + i * i % 991,
        i % 40,
    )
    for i in range(400)
)


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    with opened(tmp_path / "home") as opened_leaf:
        yield opened_leaf


@pytest.fixture
def session(leaf: Leaf) -> Session:
    return leaf.session(leaf.local_scope())


def ask(session: Session, text: str, files: Sequence[File], chat_id: str = "") -> Message:
    chat_id = chat_id or session.chats.create().id
    return finished(session, session.messages.send(chat_id, text, [f.id for f in files]).id)


def all_queried(message: Message) -> list[TableShown]:
    return [table for part in message.parts if (table := data_of(part).get("table"))]


def queried(message: Message) -> TableShown:
    return all_queried(message)[-1]


def check(session: Session, one: Suggested, files: Sequence[File], chat_id: str = "") -> None:
    """Asked as it stands it is answered, with the very figures of its statement."""
    answer = ask(session, one.question, files, chat_id)
    text = text_of(answer)
    assert answer.status == "completed"
    assert "I did not understand" not in text, (one.question, text)
    if one.sql:
        assert "Read as: " in text, (one.question, text)
        typed = queried(ask(session, one.sql, files, answer.chat_id))
        # what may be a total is looked up by statements of its own, after the one that was asked for
        assert typed["rows"] in [table["rows"] for table in all_queried(answer)], one
        assert typed["rows"], one


def foreign() -> list[Path]:
    return [
        path
        for folder, pattern in CORPORA.items()
        for path in [
            p for p in sorted((FOREIGN / folder).glob(pattern)) if p.stat().st_size < LARGEST
        ][::7][:EACH]
    ]


@pytest.mark.timeout(600)
@pytest.mark.skipif(not FOREIGN.is_dir(), reason="needs the foreign files")
def test_every_suggestion_of_foreign_tables_is_answered_with_its_own_figures(
    session: Session,
) -> None:
    offered = 0
    for path in foreign():
        file = session.files.add_path(path).file
        chat = session.chats.create()
        for one in session.files.suggestions([file]):
            check(session, one, [file], chat.id)
            offered += bool(one.sql)
    assert offered > 10


def test_nothing_is_grouped_by_what_is_unique_and_no_codes_are_added_up(session: Session) -> None:
    file = add(session, "shops.csv", SHOPS)
    found = session.files.suggestions([file])
    assert len(found) == 3
    for one in found:
        check(session, one, [file])
        said = one.question.casefold()
        assert not {"shop", "code", "percent"} & set(said.replace("_", " ").split())
        assert "total year" not in said
    assert any("revenue" in one.question and "country" in one.question for one in found)


def test_columns_have_the_roles_that_a_person_gives_them() -> None:
    def column(
        name: str, sql_type: str, kind: str, distinct: int, low: object, high: object
    ) -> AskedColumn:
        words = tuple(name.casefold().split())
        return AskedColumn(name, sql_type, kind, words, distinct, 0, low, high, ("North", "South"))

    table = AskedTable(
        "t",
        "f1",
        "t.csv",
        1000,
        (
            column("row", "BIGINT", "figure", 1000, 1, 1000),
            column("serial code", "BIGINT", "figure", 900, 5, 99999),
            column("season", "BIGINT", "figure", 30, 1990, 2020),
            column("rating", "BIGINT", "figure", 5, 1, 5),
            column("weight", "DOUBLE", "figure", 700, 1.5, 99.25),
            column("sales", "BIGINT", "figure", 300, 1, 900),
            column("region", "VARCHAR", "text", 4, None, None),
            column("city", "VARCHAR", "text", 200, None, None),
            column("person", "VARCHAR", "text", 1000, None, None),
            column("remark", "VARCHAR", "text", 800, None, None),
            column("day", "DATE", "date", 300, "2023-01-01", "2024-01-31"),
        ),
    )
    roles = roles_of(table)
    assert [c.name for c in roles.measures] == ["sales", "weight"]
    assert [c.name for c in roles.categories] == ["region", "rating"]
    assert [c.name for c in roles.names] == ["city"]
    assert [c.name for c in roles.keys] == ["person"]
    assert [c.name for c in roles.times] == ["day"]
    assert steps_of(roles.times[0])[0] == "month"


def test_texts_are_asked_about_their_headings(session: Session) -> None:
    text = b"# Handbook\n\nHello.\n\n## Returns\n\nWithin ten days.\n\n## Shipping\n\nBy train.\n"
    file = add(session, "handbook.md", text)
    found = session.files.suggestions([file])
    assert [one.question for one in found] == [
        "What are the main points of handbook.md?",
        "What does handbook.md say about Returns?",
        "What does handbook.md say about Shipping?",
    ]
    assert "Within ten days" in text_of(ask(session, found[1].question, [file]))


def test_rich_text_is_asked_about_as_a_text(session: Session) -> None:
    file = add(session, "lease.rtf", rb"{\rtf1\ansi The lease ends in May.\par}")
    (one,) = session.files.suggestions([file])
    assert one.question == "What are the main points of lease.rtf?"


def test_several_files_are_each_asked_about_and_named_where_they_must_be(session: Session) -> None:
    files = [add(session, "north.csv", SALES), add(session, "south.csv", SALES.replace(b"1", b"2"))]
    found = session.files.suggestions(files)
    assert len(found) == 3
    assert {
        name for one in found for name in ("north.csv", "south.csv") if name in one.question
    } == {
        "north.csv",
        "south.csv",
    }
    for one in found:
        check(session, one, files)


def test_two_tables_with_a_key_in_common_are_compared(session: Session) -> None:
    rows = [(("North", "South", "East")[i % 3], i) for i in range(60)]
    sales = "region,revenue\n" + "\n".join(f"{r},{100 + i}" for r, i in rows)
    costs = "region,revenue\n" + "\n".join(f"{r},{50 + i * 2}" for r, i in rows[:40])
    files = [add(session, "sales.csv", sales.encode()), add(session, "costs.csv", costs.encode())]
    found = session.files.suggestions(files)
    [one] = [one for one in found if one.question.startswith("Compare ")]
    assert (
        one.question
        == "Compare total revenue in sales.csv with total revenue in costs.csv by region"
    )
    check(session, one, files)
    compared = queried(ask(session, one.question, files))
    north = sum(100 + i for r, i in rows if r == "North")
    assert [row[1] for row in compared["rows"] if row[0] == "North"] == [north]


def test_tables_that_measure_different_things_are_not_compared(session: Session) -> None:
    rows = [(("North", "South", "East")[i % 3], i) for i in range(60)]
    sales = "region,revenue\n" + "\n".join(f"{r},{100 + i}" for r, i in rows)
    rain = "region,rainfall,col 2\n" + "\n".join(f"{r},{i * 3 % 50}.5,{i}.25" for r, i in rows)
    files = [add(session, "sales.csv", sales.encode()), add(session, "rain.csv", rain.encode())]
    found = session.files.suggestions(files)
    assert found
    assert not [
        one for one in found if one.question.startswith("Compare ") or "col" in one.question
    ]


def test_three_questions_follow_an_answer_and_each_is_answered(session: Session) -> None:
    file = add(session, "shops.csv", SHOPS)
    chat = session.chats.create()
    answer = ask(session, "total revenue by country", [file], chat.id)
    found = session.messages.follow_ups(answer.id)
    assert len(found) == 3
    assert len({one.question for one in found}) == 3
    assert not any(one.question.casefold() == "total revenue by country" for one in found)
    assert any(one.question.startswith("Draw ") for one in found)
    for one in found:
        check(session, one, [file])


def test_a_chart_that_is_offered_is_drawn(session: Session) -> None:
    file = add(session, "shops.csv", SHOPS)
    answer = ask(session, "Draw total revenue by country as a chart", [file])
    chart = next(chart for part in answer.parts if (chart := data_of(part).get("chart")))
    assert len(chart["rows"]) == 3


def test_a_year_is_compared_with_the_one_before(session: Session) -> None:
    file = add(session, "shops.csv", SHOPS)
    answer = ask(session, "total revenue by country where opened in 2021", [file])
    found = session.messages.follow_ups(answer.id)
    assert "2020" in found[0].question
    check(session, found[0], [file])


def test_statements_of_a_model_are_followed_as_well(session: Session) -> None:
    file = add(session, "shops.csv", SHOPS)
    sql = "SELECT country, avg(revenue) AS a FROM shops WHERE year(opened) = 2021 GROUP BY country"
    answer = ask(session, sql, [file])
    found = session.messages.follow_ups(answer.id)
    assert len(found) == 3
    assert "verage revenue" in found[0].question
    assert "2020" in found[0].question


@pytest.mark.parametrize("question", ["what is the flavour of money", "SELECT nothing FROM shops"])
def test_nothing_follows_an_answer_that_asked_back_or_failed(
    session: Session, question: str
) -> None:
    file = add(session, "shops.csv", SHOPS)
    answer = ask(session, question, [file])
    assert session.messages.follow_ups(answer.id) == []


def test_questions_that_were_asked_are_not_offered_again(session: Session) -> None:
    file = add(session, "shops.csv", SHOPS)
    chat = session.chats.create()
    first = ask(session, "total revenue by country", [file], chat.id)
    offered = session.messages.follow_ups(first.id)[0]
    again = ask(session, offered.question, [], chat.id)
    assert offered not in session.messages.follow_ups(again.id)


def test_follow_ups_are_for_those_who_see_the_chat(session: Session) -> None:
    with pytest.raises(NotFoundError):
        session.messages.follow_ups("no-such-message")


def days(missing: Sequence[int], total: bool = False) -> bytes:
    rows = [
        f"2024-{1 + i // 28:02d}-{1 + i % 28:02d},{('a', 'b')[i % 2]},{i * 3 % 17}.5"
        for i in range(28 * 3)
        if i not in missing
    ]
    return ("day,kind,sales\n" + "\n".join(rows) + ("\nTotal,,999\n" if total else "\n")).encode()


def test_an_overview_says_dates_gaps_and_draws_one_chart(session: Session) -> None:
    file = add(session, "days.csv", days(range(10, 15)))
    [table] = session.files.overview(file.id).tables
    dates = table.facts.dates
    assert (table.rows, table.columns) == (79, 3)
    assert dates is not None
    assert (dates.first, dates.last, dates.step) == ("2024-01-01", "2024-03-28", "day")
    assert dates.missing == 5 + 3 + 1
    assert dates.gaps[0] == ("2024-01-11", "2024-01-15")
    assert table.facts.chart is not None
    assert session.files.overview(file.id).tables == (table,)


def test_an_overview_is_kept_beside_the_table_and_goes_with_it(
    leaf: Leaf, session: Session
) -> None:
    file = add(session, "days.csv", days(()))
    session.files.overview(file.id)
    home = leaf.settings.home
    assert len(list(home.rglob("*.overview-*.json"))) == 1
    session.files.delete(file.id)
    session.files.purge(file.id)
    assert not list(home.rglob("*.overview-*.json"))


def test_an_overview_says_what_is_doubtful_and_what_was_left_out(session: Session) -> None:
    rows = b"region,sales\nNorth,100\nSouth,120\nNorth,200\nTotal,420\n"
    [table] = session.files.overview(add(session, "totals.csv", rows).id).tables
    assert "1 left out as a total" in table.left_out


def test_an_overview_of_a_text_names_its_headings(session: Session) -> None:
    file = add(
        session, "notes.md", b"# Title\n\n## First part\n\nWords.\n\n## Second part\n\nMore.\n"
    )
    assert session.files.overview(file.id).headings == ("First part", "Second part")


def test_a_file_that_cannot_be_read_has_no_overview_and_no_suggestion(session: Session) -> None:
    file = session.files.add("broken.xlsx", io.BytesIO(b"PK\x03\x04 no workbook")).file
    assert session.files.suggestions([file]) == []
    assert session.files.overview(file.id).tables == ()
