"""What the pictures of the pages show: files, and a model that answers a question about each of
them. Its figures are counted here, so that they have receipts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
from openpyxl import Workbook

from bench._pdfs import column, pdf
from leaf.files.sample import sample_files
from tests.messages_server import Json, Turn

LEADS = "Which region leads, and who approves returns there?"
TOTALS = "What is the total of the quarter by region?"
CONTRACT = "What does the contract say about late delivery?"
MINUTES = "Write the minutes of this meeting"
SPREAD = "How far apart are the orders of shop, online and wholesale?"

BY_REGION = (
    "SELECT region, round(sum(revenue), 2) AS revenue, count(*) AS orders FROM sample_orders "
    "GROUP BY region ORDER BY revenue DESC"
)
CHART = {
    "mark": "bar",
    "title": "Revenue by region, 2025",
    "encoding": {
        "x": {"field": "revenue", "type": "quantitative"},
        "y": {"field": "region", "type": "nominal", "sort": "-x"},
    },
}
QUARTER = (
    'SELECT "Region", sum("July" + "August" + "September") AS total FROM q3_sales '
    'GROUP BY "Region" ORDER BY total DESC'
)
SHOPS = [
    ("North", "Harbour", 12_400, 11_950, 13_020),
    ("North", "Station", 8_310, 8_705, 9_140),
    ("North", "Old town", 5_280, 5_015, 5_490),
    ("South", "Market", 9_870, 10_220, 9_990),
    ("South", "Airport", 15_640, 16_105, 14_870),
]
PLOT = """# Plotted the revenue of an order by channel
import matplotlib.pyplot as plt
groups = {name: rows.revenue for name, rows in sample_orders.groupby("channel")}
plt.figure(figsize=(7, 3.2))
plt.boxplot(groups.values(), tick_labels=groups.keys(), orientation="horizontal", showfliers=False)
plt.xlabel("revenue of an order")
sample_orders.groupby("channel").revenue.median().round(2)"""
CLAUSE = "For each full week of delay the supplier pays 1.5 percent of the order's value"
CONTRACT_PAGES = (
    ("Framework contract", "", "between Linden Foods and the supplier named in schedule A.", ""),
    (
        "4. Delivery",
        "",
        "Goods are delivered to the warehouse in Ulm within 14 days of the order.",
        "The supplier says without delay when a date cannot be kept.",
        "",
        "5. Delay",
        "",
        f"{CLAUSE},",
        "at most 9 percent. It is due without proof of damage.",
        "After six weeks the buyer may withdraw from the order.",
    ),
)
CALL = """WEBVTT

00:00:04.000 --> 00:00:16.000
<v Anna>We open the second shop in May. The lease is signed.

00:02:10.000 --> 00:02:25.000
<v Ben>I order the shelves by Friday. We still do not know who runs the opening.
"""
WRITTEN = """# Second shop: planning call

## Decisions

- The second shop opens in May; the lease is signed. [00:00:04]

## Tasks

| Task | Owner | Date |
|---|---|---|
| Order the shelves | Ben | Friday |

## Open questions

- Who runs the opening? [00:02:10]
"""


class Analyst:
    """A model that has read the files."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "orders.csv"
            path.write_bytes(sample_files()["sample_orders.csv"])
            orders = f"read_csv('{path}')"
            self._regions = duckdb.sql(BY_REGION.replace("sample_orders", orders)).fetchall()
            self._channels = duckdb.sql(
                f"SELECT channel, round(median(revenue), 2) FROM {orders} GROUP BY 1 ORDER BY 2 DESC"
            ).fetchall()

    def __call__(self, body: Json) -> Turn:
        if not body.get("tools"):
            return Turn.say(WRITTEN)
        question, answered = _asked(body)
        begins = {
            LEADS: ("make_chart", {"sql": BY_REGION, "spec": CHART}),
            TOTALS: ("query_tables", {"sql": QUARTER}),
            CONTRACT: ("read_file", {"file": "f1"}),
            SPREAD: ("run_python", {"code": PLOT}),
            MINUTES: (
                "create_document",
                {"title": "Planning call", "document_type": "meeting-summary", "files": ["f1"]},
            ),
        }
        if not answered and question == LEADS:
            policy = ("read_file", {"file": "f2"})
            thinking = "I add up the revenue by region and read the policy."
            return Turn.call(begins[LEADS], policy, thinking=thinking)
        if not answered:
            return Turn.call(begins[question])
        ends = {
            LEADS: self._leads,
            TOTALS: _totals,
            CONTRACT: _contract,
            SPREAD: self._spread,
            MINUTES: lambda: Turn.say("The minutes are written, with a time for each point."),
        }
        return ends[question]()

    def _leads(self) -> Turn:
        (first, most, _), (second, next_most, _) = self._regions[:2]
        share = most / sum(revenue for _, revenue, _ in self._regions)
        rows = "\n".join(
            f"| {region} | {revenue:,.2f} | {orders:,} |"
            for region, revenue, orders in self._regions
        )
        return Turn.say(
            f"**{first}** leads with a revenue of **{most:,.2f}**, {share:.1%} of the year's "
            f"total; {second} follows with "
            f"{next_most:,.2f}.\n\n| region | revenue | orders |\n|---|---:|---:|\n{rows}\n\n"
            f"In {first}, returns above 800 euros are approved by the region itself; elsewhere "
            f"the regional manager approves those above 500."
        )

    def _spread(self) -> Turn:
        said = ", ".join(f"{name} {median:,.2f}" for name, median in self._channels)
        return Turn.say(f"The middle order is worth, by channel: {said}.")


def _asked(body: Json) -> tuple[str, bool]:
    """The newest question, and whether tools have answered since."""
    answered = False
    for message in reversed(body["messages"]):
        if message["role"] != "user":
            continue
        blocks = message["content"]
        if isinstance(blocks, list) and any(b["type"] == "tool_result" for b in blocks):
            answered = True
            continue
        words = blocks if isinstance(blocks, str) else "\n".join(b.get("text", "") for b in blocks)
        return next(q for q in (LEADS, TOTALS, CONTRACT, MINUTES, SPREAD) if q in words), answered
    raise AssertionError("no question was asked")


def _totals() -> Turn:
    sums: dict[str, int] = {}
    for region, _, *months in SHOPS:
        sums[region] = sums.get(region, 0) + sum(months)
    said = " and ".join(f"**{region}** {total:,}" for region, total in sums.items())
    return Turn.say(
        f"In the third quarter {said}, {sum(sums.values()):,} together. The subtotals and the "
        "total in the sheet are not counted again."
    )


def _contract() -> Turn:
    return Turn.cite(
        "For each full week of delay the supplier pays ",
        ("1.5 percent of the order's value", CLAUSE),
        ", at most 9 percent, and ",
        (
            "after six weeks the order may be withdrawn",
            "After six weeks the buyer may withdraw from the order",
        ),
        ".",
    )


def write_files(folder: Path) -> None:
    """The workbook, the contract, the recording's words, and a folder of two years."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Q3"
    sheet.append(["Sales of the shops, third quarter 2025 (provisional)"])
    sheet.append([])
    sheet.append(["Region", "Shop", "July", "August", "September"])
    for region in ("North", "South"):
        shops = [row for row in SHOPS if row[0] == region]
        for row in shops:
            sheet.append(row)
        sheet.append([f"Total {region}", None, *(sum(month) for month in _months(shops))])
    sheet.append(["Total", None, *(sum(month) for month in _months(SHOPS))])
    sheet.row_dimensions[6].hidden = True
    book.save(folder / "Q3 sales.xlsx")
    (folder / "contract.pdf").write_bytes(pdf([column(60, page) for page in CONTRACT_PAGES]))
    (folder / "planning call.vtt").write_text(CALL, encoding="utf-8")
    for year in (2023, 2024):
        (folder / "shops" / str(year)).mkdir(parents=True)
        for quarter in range(1, 5):
            rows = [f"{name},{value + year + 90 * quarter}" for _, name, value, *_ in SHOPS]
            path = folder / "shops" / str(year) / f"sales-q{quarter}.csv"
            path.write_text("\n".join(["shop,revenue", *rows, ""]), encoding="utf-8")


def _months(rows: list[tuple[str, str, int, int, int]]) -> list[tuple[int, ...]]:
    return list(zip(*(row[2:] for row in rows), strict=True))
