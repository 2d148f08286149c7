"""Figures in the tables of a text: of the column whose name stands above them, and of the row whose
name stands before them; and signs that tell gains from losses."""

from __future__ import annotations

from typing import Any

import pytest

from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.grids import cell_at, cells_of
from leaf.provenance.receipts.match import match
from leaf.provenance.receipts.outline import labels_at, outline_of
from tests.test_receipts import query
from tests.test_receipts_derived import earlier, kinds

SALES = query(
    ["region", "revenue", "orders", "profit"],
    [
        ["North", 1204, 310, -45.2],
        ["South", 1350, 287, 88.4],
        ["East", 980, 412, 120.75],
        ["West", 2210, 198, -310.5],
    ],
)
YEARS = query(
    ["region", "year", "revenue"],
    [["North", 2023, 4312], ["North", 2024, 5127], ["South", 2023, 3904], ["South", 2024, 6218]],
)
PARTS = query(["part", "qty"], [["YY-5315", 1204], ["YY-3522", 1350], ["QX-1020", 1480]])


def table(*rows: str) -> str:
    head, *others = (f"| {row} |" for row in rows)
    return "\n".join(["Here it is:", "", head, "|" + "---|" * rows[0].count("|") + "---|", *others])


def of_cells(text: str, *evidence: Evidence) -> list[Any]:
    """What has a receipt, without the years of a head."""
    receipts = match([text], evidence)
    return [r.kind != "none" for r in receipts if r.text.strip() not in ("2023", "2024")]


@pytest.mark.parametrize(
    ("rows", "one"),
    [
        (("Region | Revenue | Orders", "North | 1,204 | 310", "South | 1,350 | 287"), SALES),
        (("Region | Umsatz | Anzahl", "North | 1.204 | 310", "South | 1.350 | 287"), SALES),
        (("Measure | North | South", "Revenue | 1,204 | 1,350", "Orders | 310 | 287"), SALES),
        (("Region | 2023 | 2024", "North | 4,312 | 5,127", "South | 3,904 | 6,218"), YEARS),
        (("Year | North | South", "2023 | 4,312 | 3,904", "2024 | 5,127 | 6,218"), YEARS),
        (("Part | Quantity", "**YY-5315** | 1,204", "`YY-3522` | 1,350", "QX-1020 | 1,480"), PARTS),
    ],
)
def test_a_table_that_is_right_has_its_receipts_and_one_with_cells_changed_has_none(
    rows: tuple[str, ...], one: Evidence
) -> None:
    assert all(of_cells(table(*rows), one))
    head, *others = ([cell.strip() for cell in row.split("|")] for row in rows)
    if "Umsatz" not in head and len(head) > 2:
        aside = [" | ".join([row[0], *row[2:], row[1]]) for row in others]
        assert not any(of_cells(table(rows[0], *aside), one))
    down = [
        " | ".join([row[0], *other[1:]])
        for row, other in zip(others, [*others[1:], others[0]], strict=True)
    ]
    assert not any(of_cells(table(rows[0], *down), one))


def test_other_cells_of_a_row_and_words_for_another_one_lead_to_it() -> None:
    rows = ("Month | Revenue | Previous month", "2024-02 | 1,350 | 1,204")
    months = query(["month", "revenue"], [["2024-01", 1204], ["2024-02", 1350], ["2024-03", 980]])
    assert kinds(table(*rows), months) == ["exact"] * 3
    text = table("Region | Revenue | Next", "North | 1,204 | South with 1,350")
    assert kinds(text, SALES) == ["exact", "exact"]


def test_a_table_of_an_earlier_result_is_read_in_the_same_way() -> None:
    once = earlier(SALES)
    assert kinds(table("Region | Revenue", "North | 1,204"), once) == ["exact"]
    assert kinds(table("Region | Orders", "North | 1,204"), once) == ["none"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The profit of South was 88.4", "exact"),
        ("The profit of South was +88.4", "exact"),
        ("The profit of South was −88.4", "none"),
        ("The profit of South was -88.4", "none"),
        ("The profit of North was −45.2", "exact"),
        ("The profit of North was +45.2", "none"),
        ("North lost 45.2", "exact"),
        (table("Region | Profit", "North | −45.2"), "exact"),
        (table("Region | Profit (in $)", "North | 45.2"), "none"),
        (table("Region | Profit", "North | (45.2)"), "exact"),
        (table("Region | Loss", "North | 45.2"), "exact"),
    ],
)
def test_a_sign_is_kept_where_a_column_holds_gains_and_losses(text: str, kind: str) -> None:
    assert kinds(text, SALES) == [kind]


def test_where_all_are_negative_a_sign_may_be_left_out() -> None:
    costs = query(["region", "costs"], [["North", -1204.5], ["South", -1350.5]])
    assert kinds(table("Region | Costs", "North | 1,204.5"), costs) == ["exact"]


def test_tables_are_read_as_they_are_written() -> None:
    text = "a | b\n--- | :--:\n1 | x \\| y\n\n| c |\n|---|\n| 2 |\n| 3 | 4 |\nno | table"
    cells = cells_of(text)
    spans = [(text[slice(*c.head)].strip(), text[slice(*c.own)].strip()) for c in cells]
    assert spans == [("a", "1"), ("b", "x \\| y"), ("c", "2"), ("c", "3"), ("c", "no")]
    assert cell_at(cells, text.index("2")) == cells[2]
    assert cell_at(cells, 0) is None
    assert cells_of("no table | here") == []


def sections(form: str, *rows: tuple[str, str, str]) -> str:
    return "\n\n".join(form.format(*row) for row in rows)


@pytest.mark.parametrize(
    "form",
    [
        "### {}\n\n- Revenue: {}\n- Orders: {}",
        "**{}**\n- Revenue: {}\n- Orders: {}",
        "**{}:**\nIt made {} of {} orders.",
        "- {}:\n  - Revenue: {}\n  - Orders: {}",
        "- **{}**: revenue {}, orders {}",
        "1. {} – {} and {} orders",
    ],
)
def test_what_stands_under_the_name_of_a_row_is_of_that_row(form: str) -> None:
    right = [("North", "1,204", "310"), ("South", "1,350", "287"), ("West", "2,210", "198")]
    assert all(of_cells(sections(form, *right), SALES))
    others = [*right[1:], right[0]]
    wrong = [(row[0], *other[1:]) for row, other in zip(right, others, strict=True)]
    assert not any(of_cells(sections(form, *wrong), SALES))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### Revenue\n\n- North: 1,204\n- South: 1,350", ["exact", "exact"]),
        ("### Orders\n\n- North: 1,204\n- South: 1,350", ["none", "none"]),
        ("### Orders\n\n- North: 310 (1,204)\n- South: 287 (revenue 1,350)", ["exact"] * 4),
        ("### North\n\nSouth made 1,350.", ["exact"]),
        ("### North\n\nIt made 1,204, the next one 1,350.", ["exact", "exact"]),
        ("### North\n\n- Revenue: 1,204\n- Best region: 2,210", ["exact", "exact"]),
        ("### North\n\nIt made 1,204.\n\nFurther down stands 1,350.", ["exact", "exact"]),
        ("### North\n\nIt made 1,350.", ["none"]),
        ("- **North**: 1,204 (South: 1,350)", ["exact", "exact"]),
    ],
)
def test_a_line_under_a_name_may_speak_of_others_by_theirs(text: str, expected: list[str]) -> None:
    assert kinds(text, SALES) == expected


def test_lines_stand_under_what_is_above_them() -> None:
    text = "# A\n## B ##\n**C:**\none\n\n- D:\n  - x: two\n- three\n\nfour\n## E\nfive"
    lines = outline_of(text)

    def at(word: str) -> tuple[str, ...]:
        return labels_at(lines, text.index(word))

    assert at("one") == ("C", "B", "A")
    assert at("two") == ("x", "D", "C", "B", "A")
    assert at("three") == ("C", "B", "A")
    assert at("four") == ()
    assert at("five") == ("E",)
    assert labels_at([], 0) == ()


@pytest.mark.parametrize(
    ("sql", "column", "numbers", "kind"),
    [
        ("SELECT s, a / b AS rate FROM t", "rate", (0.05, 0.12), "none"),
        ("SELECT s, avg(CASE WHEN x THEN 1 END) AS rate FROM t", "rate", (0.05, 0.12), "none"),
        ("SELECT s, 100.0 * a / b AS rate FROM t", "rate", (0.05, 0.12), "exact"),
        ("SELECT s, a / b AS x, c AS rate FROM t", "rate", (0.05, 0.12), "exact"),
        ("SELECT s, rate FROM t WHERE c = 'N/A'", "rate", (0.05, 0.12), "exact"),
        ("SELECT s, share FROM t", "share", (0.05, 0.95), "none"),
        ("SELECT s, a / b AS share_pct FROM t", "share_pct", (0.05, 0.12), "exact"),
    ],
)
def test_a_part_of_one_is_no_such_percentage(
    sql: str, column: str, numbers: tuple[float, float], kind: str
) -> None:
    one = query(["s", column], [["Alpha", numbers[0]], ["Beta", numbers[1]]], sql=sql)
    word = column.partition("_")[0]
    assert kinds(f"The {word} of Alpha is 5.0 %", one) == ["exact"]
    assert kinds(f"The {word} of Alpha is 0.05 %", one) == [kind]
