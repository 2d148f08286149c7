"""Figures of scripted answers matched to the results of real queries: true ones must have a
receipt, planted wrong ones must not.

Each answer speaks of one to three results over a seeded table, with figures that are exact,
rounded, scaled, percentages, dates, German or English, or that follow from others: differences,
ratios, shares, growth, totals, averages. Into every answer wrong ones are planted: two digits
swapped, rounded the wrong way, a share or growth that is off, a total with one row counted twice,
another day. The baseline looks whether the figure stands in the results as it is written.

Then a chat of 100 questions with planted figures (`_receipts.chat`), and sentences in four
languages about changes, true ones and such that turn the direction round, over tables that nobody
here made where those are at hand (`_receipts.directions`).
"""

from __future__ import annotations

import calendar
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow

from bench._figures import Figure, Report
from bench._receipts import chat, directions
from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.figures import figures
from leaf.provenance.receipts.match import match
from leaf.shapes.results import SourceUsed, TableShown

ANSWERS = 48
MATCHED, MILLISECONDS = 0.99, 50.0
"""Targets: part of the true figures that have a receipt, and the time for one answer."""
REGIONS = ["North", "South", "East", "West", "Centre", "Coast", "Islands", "Highlands"]
PRODUCTS = [
    "Lamp",
    "Desk",
    "Chair",
    "Shelf",
    "Couch",
    "Mirror",
    "Carpet",
    "Stool",
    "Drawer",
    "Clock",
]
MONTHS = list(calendar.month_name)[1:]


@dataclass
class Answer:
    """A text that grows, and for each of its figures whether it is true, and of what sort."""

    text: str = ""
    truth: dict[int, tuple[str, bool]] = field(default_factory=dict)
    """Start of the figure -> (sort, true)."""

    def say(self, text: str) -> Answer:
        self.text += text
        return self

    def fig(self, written: str, sort: str, true: bool = True) -> Answer:
        self.truth[len(self.text)] = (sort, true)
        self.text += written
        return self


def main() -> int:
    """Print the table; 1 if a target is missed."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    report = Report("receipts", ("leaf/provenance/receipts",), f"seed {seed}" if seed != 11 else "")
    chance = random.Random(seed)
    counts: dict[tuple[str, bool], list[bool]] = {}
    plain: list[tuple[bool, bool]] = []
    times: list[float] = []
    missed: list[str] = []
    for number in range(ANSWERS):
        answer, evidence, question = made(number, chance)
        began = time.process_time()
        receipts = match([answer.text], evidence, question)
        times.append((time.process_time() - began) * 1000)
        by_start = {receipt.start: receipt for receipt in receipts}
        cells = {
            str(c) for one in evidence for row in one.output["data"]["table"]["rows"] for c in row
        }
        for start, (sort, true) in answer.truth.items():
            receipt = by_start.get(start)
            has = receipt is not None and receipt.kind != "none"
            counts.setdefault((sort, true), []).append(has)
            end = next((f.end for f in figures(answer.text) if f.start == start), start)
            plain.append((true, answer.text[start:end].strip("€$% ").replace(",", "") in cells))
            if has != true:
                line = answer.text[answer.text.rfind("\n", 0, start) + 1 :].split("\n")[0]
                said = (
                    f"{receipt.kind} {receipt.how or receipt.column} = {receipt.value}"
                    if receipt
                    else "not seen as a figure"
                )
                missed.append(
                    f"{sort:9} {'true ' if true else 'WRONG'} {answer.text[start:end]!r} {said} | "
                    f"{line[:150]}"
                )
    for sort, true in sorted(counts):
        hits = counts[sort, true]
        print(
            f"     {sort:12} {'true ' if true else 'wrong'} {len(hits):4}  with a receipt "
            f"{sum(hits) / len(hits):6.1%}"
        )
    for line in missed:
        print("     missed:", line)
    right = [hit for (_, true), hits in counts.items() if true for hit in hits]
    wrong = [hit for (_, true), hits in counts.items() if not true for hit in hits]
    stands = {"as they stand in the results": sum(h for t, h in plain if t) / len(right)}
    name = f"{ANSWERS} scripted answers (exact, rounded, scaled, derived, dates, German)"
    return report.end(
        [
            Figure(name, "figures, enough to tell", len(right) + len(wrong), 300, shown="{:.0f}"),
            Figure(
                name,
                f"{len(right)} true ones that have a receipt",
                sum(right) / len(right),
                MATCHED,
                True,
                "{:.1%}",
                stands,
            ),
            Figure(
                name,
                f"{len(wrong)} planted wrong ones that have one",
                sum(wrong),
                0,
                False,
                "{:.0f}",
            ),
            *_times(name, times),
            *in_a_chat(seed),
            *of_directions(seed),
        ]
    )


def _times(name: str, times: list[float]) -> list[Figure]:
    return [
        Figure(name, "matching an answer, median", statistics.median(times), shown="{:.1f} ms"),
        Figure(name, "matching an answer, longest", max(times), MILLISECONDS, False, "{:.1f} ms"),
    ]


def in_a_chat(seed: int) -> list[Figure]:
    """The long chat."""
    found = chat.measure(seed)
    for (sort, true), hits in sorted(found.counts.items()):
        print(
            f"     chat: {sort:20} {'true ' if true else 'wrong'} {len(hits):4}  with a receipt "
            f"{sum(hits) / len(hits):6.1%}"
        )
    for line in found.lines:
        print("     missed:", line)
    own, recalled = found.counts["own", True], found.counts["recalled", True]
    wrong = [hit for (_, true), hits in found.counts.items() if not true for hit in hits]
    name = f"a chat of {chat.QUESTIONS} questions full of numbers"
    return [
        Figure(
            name, f"{len(own)} figures of its own steps, traced", sum(own), len(own), shown="{:.0f}"
        ),
        Figure(
            name,
            f"{len(recalled)} taken up from earlier answers, traced",
            sum(recalled) / len(recalled),
            0.9,
            True,
            "{:.1%}",
        ),
        Figure(
            name, f"{len(wrong)} planted ones that have a receipt", sum(wrong), 0, False, "{:.0f}"
        ),
        Figure(
            name,
            f"{found.unmarked} ordinals, list numbers and thresholds that have a mark",
            found.marked,
            0,
            False,
            "{:.0f}",
        ),
        *_times(name, found.times),
    ]


def of_directions(seed: int) -> list[Figure]:
    """Sentences about changes."""
    found = directions.measure(seed)
    for line in found.lines:
        print("     direction:", line)
    name = "sentences in four languages about changes"
    return [
        Figure(
            name, f"{found.true} true ones that raise an alarm", found.alarms, 0, False, "{:.0f}"
        ),
        Figure(
            name,
            f"{found.wrong} that turn a change round, found",
            found.caught / found.wrong,
            0.95,
            True,
            "{:.1%}",
        ),
    ]


def made(number: int, chance: random.Random) -> tuple[Answer, list[Evidence], str]:
    """One answer with the calls behind it and its question."""
    return (by_region, by_month, by_product, by_year)[number % 4](chance)


def table_of(db: Any, sql: str, number: int, scanned: int) -> Evidence:
    """What `query_tables` would give."""
    found = db.execute(sql)
    columns, types = [d[0] for d in found.description], [str(d[1]) for d in found.description]
    rows = [[str(c) if hasattr(c, "isoformat") else c for c in row] for row in found.fetchall()]
    table: TableShown = {
        "columns": columns,
        "types": types,
        "rows": rows[:200],
        "total": len(rows),
        "result_id": f"r{number}",
        "sql": sql,
        "scanned": [{"name": "sales", "rows": scanned, "file_id": "1"}],
    }
    source: SourceUsed = {
        "handle": "f1",
        "file_id": "1",
        "name": "sales.csv",
        "place": "",
        "action": "queried",
        "query": sql,
    }
    return Evidence(
        f"call{number}",
        "query_tables",
        {"sql": sql},
        {"text": "", "data": {"table": table}, "sources": [source]},
    )


def sales(chance: random.Random) -> tuple[Any, int]:
    """A table of sales in memory."""
    db = duckdb.connect()
    rows = chance.randrange(400, 2_000)
    db.execute(
        "CREATE TABLE sales (region TEXT, product TEXT, day DATE, units INT, revenue DOUBLE, "
        "cost DOUBLE)"
    )
    few = chance.sample(REGIONS, chance.randrange(4, 8))
    weights = [chance.uniform(0.5, 3) for _ in few]
    data = []
    for _ in range(rows):
        units = chance.randrange(1, 60)
        revenue = round(units * chance.uniform(9, 240), 2)
        day = f"{chance.choice((2023, 2024, 2025))}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
        region = chance.choices(few, weights)[0]
        data.append(
            (
                region,
                chance.choice(PRODUCTS),
                day,
                units,
                revenue,
                round(revenue * chance.uniform(0.4, 0.9), 2),
            )
        )
    columns = dict(
        zip(
            ("region", "product", "day", "units", "revenue", "cost"),
            map(list, zip(*data, strict=True)),
            strict=True,
        )
    )
    db.register("made", pyarrow.table(columns))
    db.execute("INSERT INTO sales SELECT * FROM made")
    return db, rows


def by_region(chance: random.Random) -> tuple[Answer, list[Evidence], str]:
    db, count = sales(chance)
    sql = (
        "SELECT region, sum(revenue) AS revenue, sum(units) AS units FROM sales GROUP BY "
        "region ORDER BY revenue DESC"
    )
    one = table_of(db, sql, 1, count)
    rows = one.output["data"]["table"]["rows"]
    total = sum(row[1] for row in rows)
    (a, ra, ua), (b, rb, _), last = rows[0], rows[1], rows[-1]
    answer = Answer()
    answer.say(f"**{a}** leads with revenue of ").fig(f"${ra:,.2f}", "exact").say(", about ").fig(
        mega(ra), "scaled"
    )
    answer.say(", which is ").fig(f"{ra / total:.1%}".replace("%", " %"), "share").say(
        " of the total of "
    )
    answer.fig(f"{total:,.0f}", "total").say(f". {b} follows with ").fig(
        f"{rb:,.0f}", "rounded"
    ).say(".\n\n")
    answer.say(f"- {a} is ahead of {b} by ").fig(f"{ra - rb:,.2f}", "difference").say(", or ")
    answer.fig(f"{(ra - rb) / rb:.1%}", "growth").say(f".\n- {a} sold ").fig(
        f"{ua:,} units", "exact"
    ).say(", at ")
    answer.fig(f"{ra / ua:,.2f}", "ratio").say(f" each.\n- {last[0]} comes last with ").fig(
        german(last[1]), "german"
    )
    answer.say(".\n\nThe figures come from ").fig(f"{count:,}", "counted").say(" rows.\n\n")
    answer.say(f"{b} sold units worth ").fig(swapped(f"{rb:,.2f}", chance), "swapped", False).say(
        ".\n"
    )
    answer.say(f"{last[0]} has ").fig(
        f"{(last[1] / total + chance.choice((0.013, -0.011, 0.021))):.1%}", "share", False
    )
    answer.say(" of all revenue.\n").say("The grand total is ").fig(
        f"{total + ra:,.0f}", "doubled", False
    ).say(".\n")
    answer.say(f"{a} made ").fig(misrounded(ra), "misrounded", False).say(".")
    return answer, [one], "Which region has most revenue?"


def by_month(chance: random.Random) -> tuple[Answer, list[Evidence], str]:
    db, count = sales(chance)
    sql = (
        "SELECT date_trunc('month', day)::DATE AS month, round(sum(revenue), 2) AS revenue, "
        "count(*) AS orders FROM sales "
        "WHERE year(day) = 2024 GROUP BY month ORDER BY month"
    )
    one = table_of(db, sql, 1, count)
    rows = one.output["data"]["table"]["rows"]
    best = max(rows, key=lambda row: row[1])
    first, last = rows[0], rows[-1]
    name = MONTHS[int(best[0][5:7]) - 1]
    total = sum(row[1] for row in rows)
    answer = Answer()
    answer.say("In ").fig("2024", "year").say(" the best month was ").fig(
        f"{name} 2024", "date"
    ).say(" with ")
    answer.fig(f"{best[1]:,.0f}", "rounded").say(" from ").fig(f"{best[2]} orders", "exact").say(
        ", "
    )
    answer.fig(f"{best[1] / best[2]:,.1f}", "ratio").say(
        " an order.\n\n| month | revenue | orders |\n|---|---|---|\n"
    )
    for row in rows[:4]:
        answer.say("| ").fig(row[0], "date").say(" | ").fig(f"{row[1]:,.2f}", "exact").say(
            " | "
        ).fig(str(row[2]), "exact").say(" |\n")
    answer.say("\nFrom ").fig("January 2024", "date").say(" to ").fig("December 2024", "date").say(
        " revenue moved from "
    )
    answer.fig(f"{first[1] / 1000:.1f}k", "scaled").say(" to ").fig(
        f"{last[1] / 1000:.1f}k", "scaled"
    ).say(", a change of ")
    answer.fig(f"{(last[1] - first[1]) / first[1]:.1%}", "growth").say(
        ".\nThe average month brought "
    )
    answer.fig(f"{total / len(rows):,.0f}", "average").say(".\n\n")
    answer.say("The whole year made ").fig(swapped(f"{total:,.0f}", chance), "swapped", False).say(
        ".\n"
    )
    answer.say(f"{name} saw ").fig(f"{best[2] + 7} orders", "count", False).say(".\n")
    answer.say("Data ends on ").fig("3 March 2026", "date", False).say(".")
    return answer, [one], "How did revenue develop in 2024?"


def by_product(chance: random.Random) -> tuple[Answer, list[Evidence], str]:
    db, count = sales(chance)
    sql = (
        "SELECT product, avg(revenue) AS avg_revenue, avg(cost) AS avg_cost, count(*) AS orders "
        "FROM sales "
        "GROUP BY 1 ORDER BY 2 DESC"
    )
    one = table_of(db, sql, 1, count)
    two = table_of(
        db,
        "SELECT avg((revenue - cost) / revenue) AS margin, median(units) AS median_units "
        "FROM sales",
        2,
        count,
    )
    rows = one.output["data"]["table"]["rows"]
    margin, median = two.output["data"]["table"]["rows"][0]
    (a, ra, ca, na), (b, rb, cb, nb) = rows[0], rows[2]
    orders = sum(row[3] for row in rows)
    answer = Answer()
    answer.say(f"An order of a {a} brings ").fig(f"{ra:,.1f}", "rounded").say(" and costs ").fig(
        f"{ca:,.1f}", "rounded"
    )
    answer.say(", so ").fig(f"{ra - ca:,.1f}", "difference").say(" remain.\n").say(
        f"For {b} it is "
    ).fig(f"{rb:,.2f}", "rounded")
    answer.say(", with ").fig(f"{nb} orders", "exact").say(", ").fig(
        f"{nb / orders:.0%}", "share"
    ).say(" of all.\n")
    answer.say("The margin is ").fig(f"{margin:.1%}", "percent").say(" on average; the median is ")
    answer.fig(f"{median:.0f} units", "exact").say(".\n").say(f"{a} and {b} together have ")
    answer.fig(f"{na + nb}", "sum").say(" of ").fig(f"{orders:,}", "total").say(
        " orders, and the ratio of their revenue is "
    )
    answer.fig(f"{ra / rb:.2f}", "ratio").say(".\n\n")
    answer.say(f"A {b} costs ").fig(f"{cb * 1.07:,.1f}", "other", False).say(".\n")
    answer.say("The margin of all is ").fig(f"{margin + 0.031:.1%}", "percent", False).say(".\n")
    answer.say(f"{a} had ").fig(swapped(str(na + 100), chance), "swapped", False).say(" orders.")
    return answer, [one, two], "Which product brings most?"


def by_year(chance: random.Random) -> tuple[Answer, list[Evidence], str]:
    db, count = sales(chance)
    sql = (
        "SELECT region, sum(revenue) FILTER (year(day) = 2024) AS revenue_2024, sum(revenue) "
        "FILTER (year(day) = 2025) "
        "AS revenue_2025 FROM sales GROUP BY region ORDER BY 3 DESC"
    )
    one = table_of(db, sql, 1, count)
    last_day = table_of(
        db, "SELECT min(day) AS first_day, max(day) AS last_day FROM sales", 2, count
    )
    rows = one.output["data"]["table"]["rows"]
    begin, end = last_day.output["data"]["table"]["rows"][0]
    a, x, y = rows[0]
    b, p, q = rows[1]
    answer = Answer()
    answer.say(f"{a} went from ").fig(f"€{x:,.0f}", "rounded").say(" in ").fig("2024", "year").say(
        " to "
    )
    answer.fig(f"€{y:,.0f}", "rounded").say(" in ").fig("2025", "year").say(", ").fig(
        f"{(y - x) / x:+.1%}", "growth"
    )
    answer.say(f".\n{b} made ").fig(mega(q), "scaled").say(" in ").fig("2025", "year").say(", ")
    answer.fig(f"{q / sum(r[2] for r in rows):.1%}", "share").say(" of the year.\n")
    answer.say("The data run from ").fig(written(begin), "date").say(" to ").fig(end, "date").say(
        ".\n"
    )
    answer.say(f"Umsatz {b}: ").fig(german(p), "german").say(" €.\n\n")
    answer.say(f"{a} in ").fig("2019", "year", False).say(" is not known. ")
    answer.say(f"{b} changed by ").fig(f"{(q - p) / p + 0.043:.1%}", "growth", False).say(".\n")
    answer.say(f"{a} made ").fig(misrounded(y), "misrounded", False).say(" in all.")
    return answer, [one, last_day], "Compare 2024 with 2025 by region"


def mega(value: float) -> str:
    return f"{value / 1e6:.2f} million" if value >= 1e6 else f"{value / 1e3:.1f}k"


def german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def written(day: str) -> str:
    return f"{int(day[8:10])} {MONTHS[int(day[5:7]) - 1]} {day[:4]}"


def swapped(number: str, chance: random.Random) -> str:
    """Two neighbouring digits that differ change places; the first ones, so that it is seen."""
    places = [
        i
        for i in range(len(number) - 1)
        if number[i].isdigit() and number[i + 1].isdigit() and number[i] != number[i + 1]
    ]
    places = [i for i in places if not (i == 0 and number[1] == "0")] or places
    i = places[0] if places else 0
    return number[:i] + number[i + 1] + number[i] + number[i + 2 :]


def misrounded(value: float) -> str:
    """In thousands with one decimal, one unit off."""
    right = round(value / 1000, 1)
    return f"{right + (0.1 if right * 1000 >= value else -0.1):.1f}k"


if __name__ == "__main__":
    sys.exit(main())
