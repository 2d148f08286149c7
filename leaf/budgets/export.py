"""Usage as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO

from leaf.budgets.budgets import UsageReport

COLUMNS = ("day", "model", "answers", "input_tokens", "cached_tokens", "output_tokens", "usd", "tokens_without_known_price")


def days_csv(report: UsageReport) -> str:
    """A row for each day and model, oldest first; `usd` is the sum of what has a known price."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in report.days:
        t = row.total
        figures = (t.answers, t.input_tokens, t.cached_tokens, t.output_tokens, f"{t.cost:.6f}", t.unpriced_tokens)
        writer.writerow([row.day.isoformat(), _inert(row.model), *figures])
    return out.getvalue()


def _inert(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
