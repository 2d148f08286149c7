"""What is said of a pinned result: how much of it is shown, what it rests on, what is doubtful. Page
and exports draw the same words."""

from __future__ import annotations

from datetime import datetime

from leaf.language import places, problems
from leaf.language.text import in_digits, mark, n_, t
from leaf.provenance import coverage
from leaf.shapes.parts import CoverageData
from leaf.shapes.pins import PinContent
from leaf.shapes.results import TableRead
from leaf.tables.sql import is_number

STATES = {
    "deleted": mark(
        "The chat that this comes from was deleted. It shows here again when the chat is restored, "
        "and goes with it when it is deleted for good."
    ),
    "left": mark(
        "Whose board this is takes no part in its chat any more, so nothing of it is shown."
    ),
}
"""Why nothing is shown of a pin."""


def extent(content: PinContent, rows: int = 0, columns: int = 0) -> str:
    """`3 rows`, `The first 50 of 1,204 rows, 40 of 5,000 columns`; of so many at most, if given."""
    held, wide = len(content["rows"]), len(content["columns"])
    shown, across = min(held, rows or held), min(wide, columns or wide)
    total, all_columns = content["total"], content["wide"]
    text = n_("{n} row", "{n} rows", total)
    if shown < total:
        text = t("The first {shown} of {rows}", shown=in_digits(shown), rows=text)
    if across < all_columns and "spec" not in content:
        part, whole = in_digits(across), in_digits(all_columns)
        text = t("{rows}, the first {shown} of {n} columns", rows=text, shown=part, n=whole)
    return text


def line(content: PinContent) -> str:
    """`5,000 of 5,000 rows of sales.csv`; what it rests on where it is no file."""
    return coverage.line(_covered(content), named=True) or t("Rests on no file")


def doubts(content: PinContent) -> list[str]:
    """What a reader has to know before they trust it."""
    covered = _covered(content)
    return [
        *map(problems.said, content["said"]),
        *coverage.doubts(covered),
        *coverage.missing(covered),
    ]


def notes(content: PinContent) -> list[str]:
    """How the tables were read, as far as it changes figures."""
    return coverage.notes(_covered(content))


def source(table: TableRead) -> str:
    """`sales.csv, sheet Data!A1:F9 · 8 of 8 rows · content 3f0c…`, as in an answer's sources."""
    at = places.place(table.get("place", ""))
    name = ", ".join(filter(None, (str(table.get("file") or table["name"]), at)))
    rows = n_("{n} row", "{n} rows", int(table.get("total") or 0))
    read = t("{read} of {rows}", read=in_digits(int(table["rows"])), rows=rows)
    content = t("content {sha256}", sha256=str(table.get("sha256") or "")[:12])
    return " · ".join([name, read, content])


def code(content: PinContent) -> tuple[str, str]:
    """What made it, and in which language."""
    if content["sql"]:
        return content["sql"].strip(), "sql"
    return content["code"].strip(), "python"


def computed_at(content: PinContent) -> datetime | None:
    """When; None where that was not recorded."""
    timestamp = content["computed_at"]
    return datetime.fromisoformat(timestamp) if timestamp else None


def numeric(content: PinContent) -> list[bool]:
    """Of each column whether it holds numbers."""
    kinds = [is_number(kind) for kind in content["types"]]
    return kinds or [False] * len(content["columns"])


def _covered(content: PinContent) -> CoverageData:
    return {"files": content["covered"]}
