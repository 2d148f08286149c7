"""Usage as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO

from leaf.budgets.budgets import UsageReport
from leaf.shapes.harmless import inert

COLUMNS = (
    "day",
    "model",
    "answers",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "usd",
    "tokens_without_known_price",
)


def days_csv(report: UsageReport) -> str:
    """A row for each day and model, oldest first; `usd` is the sum of what has a known price."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in report.days:
        t = row.total
        figures = (
            t.answers,
            t.input_tokens,
            t.cached_tokens,
            t.output_tokens,
            f"{t.cost:.6f}",
            t.unpriced_tokens,
        )
        writer.writerow([row.day.isoformat(), inert(row.model), *figures])
    return out.getvalue()
