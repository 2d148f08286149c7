"""How much of what its steps gave the model was shown, where that is not all of it: the first rows
of a result or some of its pages, the rows of a table that one step read while another read all, the
rows that a chart draws, and what Python printed. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from leaf.provenance.coverage import key_of, left_out, merge_coverage, unite
from leaf.shapes.parts import PrintedSeen, ResultSeen
from leaf.shapes.results import Covered, Output, TableShown, tables_of

_Table = tuple[str, str]
"""File and SQL name."""

PROSE = 4
"""Words from which a text is one that has to be read: no name, no key."""
SENTENCE = 6
"""Words of a text that nobody ranks: the first by their date are some of those to be read."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_PAGE = re.compile(r"(?:\s+(?:limit\s+\d+|offset\s+\d+(?:\s+rows?)?))+\s*;?\s*$")
_WHOLE = re.compile(r"(?:select \* )?from (r\d+)")
_RESULT = re.compile(r"\b(?:from|join)\s+(r\d+)\b")
_GATHERED = re.compile(r"\b(?:string_agg|group_concat|listagg|list|array_agg)\s*\(")
_FRAME = re.compile(r"^\[(\d+) rows x \d+ columns\]$|^(?:.*, )?Length: (\d+)(?:, dtype: .*)?$")
_DOTS = re.compile(r"^\s*(?:\.{2,3})(?:\s+\.{2,3})*\s*\\?$|^\.\.\s")


@dataclass
class _ResultShown:
    """What was shown of the rows that a statement gives, in one page or several."""

    names: dict[str, None] = field(default_factory=dict)
    """Of the files that it reads."""
    total: int = 0
    ranges: list[list[int]] = field(default_factory=list)
    cut: dict[int, int] = field(default_factory=dict)
    """First row of a page -> texts in it that were cut."""
    is_cut: bool = False
    """Whether a page held more than was shown of it."""
    may_go_on: bool = False
    """Whether a limit left out nobody knows how many."""
    results: set[str] = field(default_factory=set)
    has_texts: bool = False
    gathers: bool = False
    """Whether a cell may hold texts of many rows."""
    tables: set[_Table] = field(default_factory=set)

    def add(self, table: TableShown) -> None:
        rows, offset = table.get("total", 0), table.get("offset", 0)
        shown = _shown(table)
        of = table.get("of", 0) if not table.get("ranked") or _has_texts(table, SENTENCE) else 0
        self.total = max(self.total, of, offset + rows)
        self.may_go_on = self.may_go_on or of < 0
        if shown:
            self.ranges = unite([*self.ranges, [offset + 1, offset + shown]])
        self.cut[offset] = table.get("cut", 0)
        self.results.add(table.get("result_id", ""))
        self.has_texts = self.has_texts or _has_texts(table, PROSE)
        self.is_cut = self.is_cut or shown < rows
        self.gathers = self.gathers or bool(_GATHERED.search(table.get("sql", "").casefold()))
        for one in table.get("scanned") or ():
            self.names[one.get("file") or one["name"]] = None
            self.tables.add((one["file_id"], one["name"]))

    @property
    def seen(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def told(self, *, looked: bool) -> ResultSeen:
        told: ResultSeen = {
            "name": ", ".join(self.names),
            "seen": self.seen,
            "total": self.total,
            "cut": sum(self.cut.values()),
            "looked": looked,
        }
        if self.ranges and (len(self.ranges) > 1 or self.ranges[0][0] > 1):
            told["apart"] = True
        if self.may_go_on and self.seen == self.total:
            told["more"] = True
        if self.gathers and told["cut"]:
            told["gathered"] = True
        return told


def results(
    outputs: Iterable[Output], charts: Collection[str], short: Collection[_Table], *, looked: bool
) -> Iterator[ResultSeen]:
    """The results of which the model was not shown all, but for those that a chart draws; of a
    table in `short` it is said already that it was not read whole."""
    by_statement: dict[str, _ResultShown] = {}
    statements: dict[str, str] = {}
    for table in (table for output in outputs for table in tables_of(output.get("data") or {})):
        name = table.get("result_id", "")
        statement = _statement(table, statements)
        statements[name] = statement
        if name not in charts:
            by_statement.setdefault(statement, _ResultShown()).add(table)
    for statement, one in by_statement.items():
        others = " ".join(text for text in by_statement if text != statement)
        if not one.has_texts and one.results & set(_RESULT.findall(others)):
            continue  # what is said comes from the statement that read all of it
        is_said = not one.is_cut and bool(one.tables & set(short))
        is_part = one.may_go_on or one.seen < one.total
        if (is_part and one.seen and not is_said) or any(one.cut.values()):
            yield one.told(looked=looked)


def _statement(table: TableShown, statements: Mapping[str, str]) -> str:
    """What is the same for all pages of a result: its statement without their limits."""
    text = " ".join(table.get("sql", "").casefold().split())
    if not text:
        return f"result {table.get('result_id', '')} {table.get('name', '')} {id(table)}"
    text = _PAGE.sub("", text)
    whole = _WHOLE.fullmatch(text)
    return statements.get(whole.group(1), text) if whole else text


def _shown(table: TableShown) -> int:
    rows = table.get("total", 0)
    return table.get("shown", min(rows, len(table["rows"])))


def drawn(outputs: Sequence[Output]) -> Iterator[ResultSeen]:
    """The results of which a chart draws the first rows alone."""
    files: dict[str, str] = {}
    for output in outputs:
        for table in tables_of(output.get("data") or {}):
            names = dict.fromkeys(o.get("file") or o["name"] for o in table.get("scanned") or ())
            files[table.get("result_id", "")] = ", ".join(names)
    for output in outputs:
        chart = (output.get("data") or {}).get("chart")
        shown = len(chart.get("rows", ())) if chart else 0
        if chart and shown < chart.get("total", 0):
            yield {
                "name": files.get(chart.get("result_id", ""), ""),
                "seen": shown,
                "total": chart["total"],
                "cut": 0,
                "looked": False,
                "drawn": True,
            }


def tables(
    outputs: Iterable[Output], covered: Iterable[Covered], *, looked: bool
) -> Iterator[ResultSeen]:
    """The tables that some steps read in part, where another read more of them: a count of all rows
    makes no sample of their texts one of all."""
    most = {key_of(cover): cover["seen"] for cover in covered}
    some: list[Output] = []
    for output in outputs:
        if any(table.get("of") for table in tables_of(output.get("data") or {})):
            continue  # what was left out is said of its result
        part = [cover for cover in output.get("coverage") or () if is_short(cover)]
        some += [{**output, "coverage": part}] if part else []
    for cover in merge_coverage(some):
        if cover["seen"] < most.get(key_of(cover), 0):
            yield {
                "name": str(cover["name"]),
                "seen": cover["seen"],
                "total": cover["total"] - left_out(cover.get("excluded", "")),
                "cut": 0,
                "looked": looked,
                "apart": True,
            }


def is_short(cover: Covered) -> bool:
    """Whether not all rows of data of a table were read."""
    whole = cover["total"] - left_out(cover.get("excluded", ""))
    return cover["unit"] == "rows" and cover["seen"] < whole


def printed(outputs: Iterable[Output], *, looked: bool) -> Iterator[PrintedSeen]:
    """What Python printed and the model was not sent."""
    for output in outputs:
        python = (output.get("data") or {}).get("python") or {}
        total, unseen = python.get("characters", 0), python.get("unseen", 0)
        if unseen:
            yield {"seen": total - unseen, "total": total, "looked": looked}


def abridged(outputs: Iterable[Output], *, looked: bool) -> Iterator[ResultSeen]:
    """Tables of texts that pandas printed with dots in place of most of their rows."""
    for output in outputs:
        python = (output.get("data") or {}).get("python") or {}
        lines = [*python.get("printed", "").splitlines(), *python.get("value", "").splitlines()]
        if _is_prose(line for line in lines if line.strip()):
            for seen, total in _abridged(lines):
                yield {
                    "name": "",
                    "seen": seen,
                    "total": total,
                    "cut": 0,
                    "looked": looked,
                    "apart": True,
                }


def _abridged(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(rows printed, all rows) of each table that is printed in part: as many stand above the dots
    as below."""
    below = -1
    for line in lines:
        if _DOTS.match(line):
            below = 0
        elif (end := _FRAME.match(line.strip())) and below >= 0:
            total = int(end.group(1) or end.group(2))
            if 0 < 2 * below < total:
                yield 2 * below, total
            below = -1
        elif below >= 0 and line.strip():
            below += 1


def reads_texts(output: Output) -> bool:
    """Whether a step gave texts that have to be read: sentences in half of its columns, or in half
    of what was printed."""
    data = output.get("data") or {}
    if any(_has_texts(table, PROSE) for table in tables_of(data)):
        return True
    lines = (data.get("python") or {}).get("printed", "").splitlines()
    return _is_prose(line for line in lines if line.strip())


def _has_texts(table: TableShown, words: int) -> bool:
    columns = list(zip(*table["rows"], strict=False))
    prose = [_is_prose((c for c in column if isinstance(c, str)), words) for column in columns]
    return bool(prose) and 2 * sum(prose) >= len(prose)


def _is_prose(texts: Iterable[str], words: int = PROSE) -> bool:
    long = [len(_WORD.findall(text[:400])) >= words for text in texts]
    return len(long) > 1 and 2 * sum(long) >= len(long)
