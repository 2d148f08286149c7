"""What many people need, counted with the kept figures of `answer_cost`: the tables of
`docs/scaling.md`, which `make docs` writes. Nothing of Leaf is imported here.

What is assumed of people stands here as constants, which the page names; all else was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench._figures import Figure
from bench._results import Result

STATEMENTS = "statements of PostgreSQL"
WRITTEN = "rows that it writes"
LOG = "its log"
DATABASE = "its processor"
LEAF = "processor of the Leafs"
REQUESTS = "requests to the bucket"
PLAIN = "a plain answer, streamed for 4 s"
LONG = "a plain answer, streamed for 20 s"
QUERY = "the same as the first, with a query"
UPLOAD = "… with a query of a file of 50 kB that comes with the question"
IDLE = "two Leafs and an open page, nothing asked"

PEOPLE = (100, 1_000, 10_000)
ACTIVE = 0.10
"""Part of all people who work with it in the busiest hour."""
QUESTIONS = 12
"""That each of them asks in that hour."""
UPLOADS = 0.2
"""Part of the questions that bring a file."""
WRITING = 30.0
"""Seconds for which an answer is under way; 20 of them its words come."""
RUNS = 20
"""Answers that one Leaf writes at once: `LEAF_RUNS`."""
CONNECTIONS = 31
"""That one Leaf may open: ten for the history, twenty for the runs, one that listens."""
POSTGRES_CONNECTIONS = 97
"""That PostgreSQL takes with its defaults."""
DAY = 8 * 3600
"""Seconds of the busiest hour in a day, as if it lasted for eight."""


@dataclass(frozen=True)
class Each:
    """What one answer of the model takes."""

    statements: float
    written: float
    log: float
    """Bytes."""
    database: float
    """Seconds of processor."""
    leaf: float
    requests: float


def scaling_tables(every: list[Result]) -> str:
    """The page's tables; a sentence where nothing was kept."""
    found = next((result for result in every if result.bench == "answer_cost"), None)
    if found is None:
        return "`python -m bench.answer_cost` has kept no figures of this code."
    each = _each(found.figures)
    return "\n".join([_needed(each), "", _limits(each)])


def _each(figures: list[Figure]) -> Each:
    """Twenty seconds of words after a query, and a file now and then."""
    known = {(figure.subject, figure.what): figure.value for figure in figures}

    def of(what: str) -> float:
        query = known[LONG, what] + known[QUERY, what] - known[PLAIN, what]
        return query + UPLOADS * (known[UPLOAD, what] - known[QUERY, what])

    return Each(
        of(STATEMENTS),
        of(WRITTEN),
        of(LOG) * 1000,
        of(DATABASE) / 1000,
        of(LEAF) / 1000,
        of(REQUESTS),
    )


def _rate(people: float) -> float:
    """Answers that begin in a second of the busiest hour."""
    return people * ACTIVE * QUESTIONS / 3600


def _leafs(people: float, each: Each) -> float:
    """Processes: by their places for answers, or by the processor that one can use."""
    return max(_rate(people) * WRITING / RUNS, _rate(people) * each.leaf)


def _needed(each: Each) -> str:
    lines: list[tuple[str, Callable[[float], str]]] = [
        ("open pages", lambda n: f"{n * ACTIVE:,.0f}"),
        ("answers that begin in a second", lambda n: f"{_rate(n):.2f}"),
        ("answers at once", lambda n: f"{_rate(n) * WRITING:,.0f}"),
        ("cores that the Leafs use", lambda n: f"{_rate(n) * each.leaf:.1f}"),
        ("Leafs, one core each, and one to spare", lambda n: f"{_whole(_leafs(n, each)) + 1}"),
        ("statements a second", lambda n: f"{_rate(n) * each.statements:,.0f}"),
        ("rows written a second", lambda n: f"{_rate(n) * each.written:,.0f}"),
        ("cores that PostgreSQL uses", lambda n: f"{_rate(n) * each.database:.2f}"),
        ("log of PostgreSQL a day", lambda n: f"{_rate(n) * each.log * DAY / 1e9:,.1f} GB"),
        (
            "connections that they may open",
            lambda n: f"{(_whole(_leafs(n, each)) + 1) * CONNECTIONS:,}",
        ),
        ("requests to the bucket a second", lambda n: f"{_rate(n) * each.requests:.1f}"),
    ]
    head = "| in the busiest hour | " + " | ".join(f"{n:,} people" for n in PEOPLE) + " |"
    rows = [
        "| " + " | ".join([name, *(written(n) for n in PEOPLE)]) + " |" for name, written in lines
    ]
    return "\n".join([head, "|---|" + "---|" * len(PEOPLE), *rows])


def _limits(each: Each) -> str:
    """What ends first, where more and more people come."""
    a_person = _rate(1)
    reached = {
        "answers at once in one Leaf (`LEAF_RUNS` = 20)": RUNS / WRITING / a_person,
        "one core, all that one Leaf can use": 1 / each.leaf / a_person,
        "connections of PostgreSQL at its default of 100": _people_of_connections(each),
        "one core of PostgreSQL": 1 / each.database / a_person,
        "eight cores of PostgreSQL": 8 / each.database / a_person,
    }
    rows = sorted(reached.items(), key=lambda one: one[1])
    head = "| limit, the first above | reached with so many people |\n|---|---|"
    return "\n".join([head, *(f"| {name} | {_rounded(count):,} |" for name, count in rows)])


def _people_of_connections(each: Each) -> float:
    """With how many people more Leafs are needed than PostgreSQL takes connections of."""
    leafs = POSTGRES_CONNECTIONS // CONNECTIONS - 1
    return leafs / _leafs(1, each)


def _whole(number: float) -> int:
    return max(1, -int(-number // 1))


def _rounded(number: float) -> int:
    """Two digits: the rest would be false precision."""
    digits = max(0, len(str(int(number))) - 2)
    return int(round(number, -digits))
