"""The numbers behind charts of presentations, each at the place at which it is drawn."""

from __future__ import annotations

from lxml import etree

from leaf.readers.documents.chart_rows import chart_rows


def points(*values: object, code: str = "") -> str:
    inner = "".join(
        f'<pt idx="{i}"><v>{value}</v></pt>' for i, value in enumerate(values) if value != ""
    )
    return (f"<formatCode>{code}</formatCode>" if code else "") + inner


def series(name: str, **parts: str) -> str:
    inner = "".join(f"<{key}>{value}</{key}>" for key, value in parts.items())
    return f"<ser><tx>{points(name)}</tx>{inner}</ser>"


def rows(inner: str) -> list[list[str]]:
    return chart_rows(etree.fromstring(f"<chartSpace>{inner}</chartSpace>"))


def test_series_of_points_keep_their_own_places() -> None:
    first = series("A", xVal=points(1, 2), yVal=points(10, 20))
    second = series("B", xVal=points(7, 8), yVal=points(5, 6), bubbleSize=points(3, 4))
    assert rows(first + second) == [
        ["", "A", "B", "B (size)"],
        ["1", "10", "", ""],
        ["2", "20", "", ""],
        ["7", "", "5", "3"],
        ["8", "", "6", "4"],
    ]


def test_series_at_the_same_places_share_their_rows() -> None:
    cat = points("Q1", "Q2")
    found = rows(series("A", cat=cat, val=points(1, 2)) + series("B", val=points(3, 4)))
    assert found == [["", "A", "B"], ["Q1", "1", "3"], ["Q2", "2", "4"]]


def test_categories_of_several_levels_keep_the_outer_ones() -> None:
    inner = points("Q1", "Q2", "Q1", "Q2")
    levels = "".join(
        f"<lvl>{level}</lvl>" for level in (inner, points("H", ""), points("2022", "", "2023"))
    )
    assert rows(series("A", cat=levels, val=points(1, 2, 3, 4)))[1:] == [
        ["2022", "H", "Q1", "1"],
        ["2022", "H", "Q2", "2"],
        ["2023", "", "Q1", "3"],
        ["2023", "", "Q2", "4"],
    ]


def test_dates_are_dates_and_other_formats_are_numbers() -> None:
    def labels(code: str, before: str = "") -> list[str]:
        cat = points(44927, "44958.5", code=code)
        return [row[0] for row in rows(before + series("A", cat=cat, val=points(1, 2)))[1:]]

    assert labels("m/d/yyyy") == ["2023-01-01", "2023-02-01 12:00:00"]
    assert labels("[$-409]mmm\\-yy;@")[0] == "2023-01-01"
    assert labels("yyyy", '<date1904 val="1"/>')[0] == "2027-01-02"
    for code in ("General", '0.0 "days"', "#,##0_);[Red]-#", "[h]:mm", ""):
        assert labels(code) == ["44927", "44958.5"]
