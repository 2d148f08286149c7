"""What is wrong, doubled or hidden in a table that stands on disk: rows of totals marked, and every finding with its cells.

Called once for each table after its columns have their types. A table without totals and gaps keeps its Parquet as it is; of
another one `_row` and `_kind` are added. Linear in rows, in numbers of one column type at a time; large tables are searched for
words by DuckDB and only their candidates are looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.formats.base import KIND, ROW, Note, TableInfo
from leaf.formats.cells import column_letter, places
from leaf.formats.columns import identifier, literal
from leaf.formats.labels import HINT, LONGEST, REST, Label, label_of
from leaf.formats.totals import Doubt, Mark, Sign, find

if TYPE_CHECKING:
    import duckdb
    import numpy as np

    from leaf.formats.grid import Block
    from leaf.formats.spans import Span

    Floats = np.ndarray[Any, np.dtype[np.float64]]

LABEL_COLUMNS = 8
"""Text columns, from the left, in which words such as Total are looked for."""
MAX_CELLS = 40_000_000
"""Numbers held at a time; of longer tables fewer columns are summed."""
WHOLE_ROWS = 1_000_000
"""Up to here rows are judged by their numbers alone as well, and searched for duplicates."""
LISTED = 1_000
_FEW = 100_000
"""Different texts of a column that are looked at one by one."""
_NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
_KEY = re.compile(r"(?i)(?:^|[\W_])(?:id|ids|key|uuid|guid|sku|code|nr|no|num|number|nummer|invoice|rechnung)\.?$")
_DAY = re.compile(r"(?i)(?:^|[\W_])(?:date|datum|day|tag|fecha|data|dato|am|on|at|dt|period|month|monat)(?:$|[\W_])")
_RATE = re.compile(
    r"(?i)%|percent|\bpct|prozent|pourcent|porcent|\bshare\b|\banteil|\brates?\b|\bratio|\bquote|average|\bavg|\bmean\b|"
    r"median|durchschnitt|"
    r"price|preis|\bprix|precio|prezzo|\bper\b|\bindex\b|\brank|\byear\b|\bjahr\b|latitude|longitude|\blat\b|\blon\b|"
    r"change from|growth"
)
"""Names of columns that are not added up."""
_ORDINARY = 200
"""Rows with one word beside filled key cells from which on it is a value like others."""
_NAMED = 200_000
"""Rows up to which names beside words are compared with the names of the parts."""
_SERIAL = (20_000, 60_000)
"""Spreadsheet days between 1954 and 2064."""


_LOOKED_AT = 5_000
"""Rows from all over a table that tell whether a column of text holds numbers."""


@dataclass(frozen=True)
class Place:
    """Where a table stands in its file."""

    sheet: str
    """Empty outside of spreadsheets."""
    top: int
    """First row of the table, its header included, 1-based."""
    bottom: int
    columns: tuple[int, ...]
    """Columns of the sheet, 0-based, in the order of the table's."""
    header_rows: int = 0

    def column(self, index: int) -> str:
        """`B5:B100`: the values of one column."""
        letter = column_letter(self.columns[index]) if index < len(self.columns) else "?"
        return f"{letter}{self.top + self.header_rows}:{letter}{self.bottom}"

    def rows(self, runs: Sequence[tuple[int, int]]) -> str:
        """`A7:F7, A14:F15`: rows, first and last of each run, from the table's first column to its last."""
        left, right = column_letter(min(self.columns, default=0)), column_letter(max(self.columns, default=0))
        return ", ".join(f"{left}{a}:{right}{b}" for a, b in runs)


def examine(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    info: TableInfo,
    numbers: Sequence[int],
    place: Place,
    soft: Mapping[int, str] | None = None,
    headings: Sequence[int] = (),
) -> TableInfo:
    """The table with its rows marked and its findings.

    `numbers` are the rows' numbers in the file; `soft` are words that were taken out of columns of numbers or dates, by position;
    `headings` are positions of rows that are headings of others.
    """
    target = folder / info.parquet
    table = _Table(connection, target, info.columns, info.rows)
    marks, doubts = table.totals(soft or {})
    marks = {row: Mark("heading") for row in headings if row < info.rows} | marks
    doubts = {row: doubt for row, doubt in doubts.items() if row not in marks}
    regular = not len(numbers) or numbers[-1] - numbers[0] == len(numbers) - 1
    notes = [*info.notes, *_total_notes(marks, doubts, numbers), *_differing(info, table.summed, marks, doubts, numbers, place)]
    if info.rows <= WHOLE_ROWS:
        notes += [_located(n, info.columns, place, numbers) for n in table.findings(set(marks))]
    notes = [locate(n, info.columns, place) for n in notes]
    if marks or not regular:
        _add_columns(connection, target, numbers, marks)
    kinds = _by_kind(marks, numbers)
    doubted = dict(info.doubtful) | _by_kind(doubts, numbers)
    counts = dict(info.doubtful_counts) | {kind: len(found) for kind, found in _by_kind(doubts, numbers).items()}
    return replace(
        info,
        rows=info.rows - len(marks),
        notes=tuple(notes),
        first_row=numbers[0] if len(numbers) else 1,
        marked=bool(marks) or not regular,
        left_out=tuple((kind, tuple(found[:LISTED])) for kind, found in kinds.items()),
        left_out_counts=tuple((kind, len(found)) for kind, found in kinds.items()),
        doubtful=tuple((kind, tuple(found[:LISTED])) for kind, found in doubted.items()),
        doubtful_counts=tuple(counts.items()),
    )


def _by_kind(found: Mapping[int, Mark] | Mapping[int, Doubt], numbers: Sequence[int]) -> dict[str, list[int]]:
    kinds: dict[str, list[int]] = {}
    for row in sorted(found):
        kinds.setdefault(found[row].kind, []).append(numbers[row])
    return kinds


def locate(note: Note, columns: Sequence[tuple[str, str]], place: Place) -> Note:
    """A note with its cells, where it names rows or columns only."""
    if note.cells:
        return note
    if note.place.startswith("sheet "):
        return replace(note, cells=note.place.partition("!")[2])
    shown, _, more = note.place.partition(" and ")
    found = [(int(a), int(b or a)) for a, b in re.findall(r"\b(\d+)(?:-(\d+))?", shown)]
    if note.place.startswith("row") and found:
        cells = place.rows(found) + (f" and {more}" if more else "")
    else:
        # Notes on columns quote their names.
        cells = ", ".join(place.column(i) for i, (name, _) in enumerate(columns) if f"'{name}'" in note.text)
    if not cells:
        return note
    if not place.sheet:
        rows = f"rows {place.top + place.header_rows}-{place.bottom}"
        return note if note.place else replace(note, place=rows)
    return replace(note, place=f"sheet {place.sheet}!{cells}", cells=cells)


def _located(finding: _Found, columns: Sequence[tuple[str, str]], place: Place, numbers: Sequence[int]) -> Note:
    """A finding of positions as a note of rows of the file."""
    rows = [numbers[r] for r in finding.rows]
    said = places(rows) if rows else ""
    note = Note(finding.kind, finding.text, finding.count, said)
    if finding.column >= 0 and place.sheet:
        letter = column_letter(place.columns[finding.column])
        cells = (
            ", ".join(f"{letter}{a}" if a == b else f"{letter}{a}:{letter}{b}" for a, b in _runs(rows)[:12])
            if rows
            else place.column(finding.column)
        )
        return replace(note, place=f"sheet {place.sheet}!{cells}", cells=cells)
    return note


@dataclass(frozen=True)
class _Found:
    kind: str
    text: str
    count: int
    rows: tuple[int, ...] = ()
    column: int = -1


class _Table:
    """A Parquet file that was just written, looked at column by column."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, columns: Sequence[tuple[str, str]], rows: int) -> None:
        self.connection, self.rows = connection, rows
        self.relation = f"read_parquet({literal(str(path))})"
        self.names = [name for name, _ in columns]
        self.types = [kind for _, kind in columns]
        self.texts = [i for i, kind in enumerate(self.types) if kind == "VARCHAR"]
        self.numeric = [i for i, kind in enumerate(self.types) if kind.startswith(_NUMERIC)]
        self.summed: list[int] = []
        """Columns that were added up."""

    def labels(self, soft: Mapping[int, str]) -> dict[int, tuple[Label, int]]:
        """Row -> word and its column; -1 where it stood in place of a number or a date."""
        labels: dict[int, tuple[Label, int]] = {row: (label, -1) for row, text in soft.items() if (label := label_of(text))}
        for index in self.texts[:LABEL_COLUMNS]:
            column = identifier(self.names[index])
            words = self._words(column)
            if not words:
                continue
            rows = self._holding(column, list(words))
            if 2 * len(rows) > max(2, self.rows):  # where most rows are called subtotals, they are what the table is about
                words = {text: label for text, label in words.items() if label.exact and label.kind == "total"}
                rows = self._holding(column, list(words)) if words else []
            if 2 * len(rows) > max(2, self.rows):
                continue
            for row, text in rows:
                label = words[text]
                if row not in labels or (label.exact and not labels[row][0].exact):
                    labels[row] = (label, index)
        return labels

    def _holding(self, column: str, texts: Sequence[str]) -> list[tuple[int, str]]:
        """Rows with one of these texts; at most a few more than half of all."""
        listed = ", ".join(literal(text) for text in texts)
        query = f"SELECT file_row_number, {column} FROM {self.relation} WHERE {column} IN ({listed}) LIMIT {self.rows // 2 + 2}"
        return [(int(row), str(text)) for row, text in self.connection.execute(query).fetchall()]

    def _words(self, column: str) -> dict[str, Label]:
        """The different texts of a column that are words for totals or averages."""
        different = f"SELECT DISTINCT {column} FROM {self.relation}"
        words = f"{different} WHERE length({column}) <= {LONGEST} AND regexp_matches({column}, {literal(HINT)}) LIMIT 5000"
        texts: list[tuple[str]] = []
        # In a long table few texts are told apart faster than all of its rows are searched.
        some = self.rows > WHOLE_ROWS and not self._varied(column)
        if some:
            texts = self.connection.execute(f"{different} WHERE {column} IS NOT NULL LIMIT {_FEW + 1}").fetchall()
        if not some or len(texts) > _FEW:
            texts = self.connection.execute(words).fetchall()
        found = ((text, label_of(text)) for (text,) in texts)
        return {text: label for text, label in found if label}

    def _varied(self, column: str) -> bool:
        """Whether a column of a long table holds many different texts, told from its beginning."""
        query = f"SELECT count(DISTINCT {column}) FROM (SELECT {column} FROM {self.relation} LIMIT 100000)"
        return int(self.connection.execute(query).fetchall()[0][0]) > 2_000

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Rows × columns; NaN where a cell is empty."""
        import numpy as np

        values = np.full((self.rows, len(columns)), np.nan, order="F")
        for at, index in enumerate(columns):
            text = self.types[index] == "VARCHAR"
            name = (
                f"TRY_CAST({_bare(self.names[index])} AS DOUBLE)" if text else f"CAST({identifier(self.names[index])} AS DOUBLE)"
            )
            select = f"SELECT {name} AS v FROM {self.relation}"
            found = self.connection.execute(select).fetchnumpy()["v"]
            values[:, at] = np.ma.filled(found, np.nan) if isinstance(found, np.ma.MaskedArray) else found
        values[~np.isfinite(values)] = np.nan
        return values

    def totals(self, soft: Mapping[int, str]) -> tuple[dict[int, Mark], dict[int, Doubt]]:
        """Rows that are proven to be totals or averages, and rows that may be."""
        import numpy as np

        labels = self.labels(soft) if self.rows else {}
        if self.rows == 1:  # a block of its own: nothing is left to prove it by
            return {}, {row: Doubt("total", True) for row, (label, _) in labels.items() if label.exact and label.sure}
        nearly = self._nearly_numbers()
        columns = sorted([*self.numeric, *nearly])[: max(2, MAX_CELLS // max(1, self.rows))]
        if self.rows < 2 or not columns or (self.rows > WHOLE_ROWS and not labels):
            return {}, {}
        values = self.numbers(columns)
        self.summed = columns
        steps = np.array([_step(values[:, c]) for c in range(len(columns))])
        named = self._key_names(columns)
        rates = np.array([index in named or self._is_rate(index, values[:, c]) for c, index in enumerate(columns)])
        keys = [i for i in range(len(self.types)) if i not in columns or i in named]
        signs = self._signs(labels, keys, values, nearly)
        names = _Names(self, [i for i in self.texts if i not in nearly][:4])
        return find(values, steps, rates, signs, lambda row, span: names.shared(signs[row].label, span), names.rest)

    def _nearly_numbers(self) -> set[int]:
        """Columns of text that hold numbers in most of their cells: a few words do not keep the others from being added up."""
        if not self.texts or self.rows > WHOLE_ROWS:
            return set()
        some = [i for i in self.texts[:200] if self._holds_numbers(i)]
        if not some:
            return set()
        counts = ", ".join(f"count(TRY_CAST({_bare(self.names[i])} AS DOUBLE)), count({identifier(self.names[i])})" for i in some)
        found = self.connection.execute(f"SELECT {counts} FROM {self.relation}").fetchall()[0]
        return {i for i, good, given in zip(some, found[::2], found[1::2], strict=True) if good >= 2 and 2 * good > given}

    def _holds_numbers(self, index: int) -> bool:
        """Whether any of some rows from all over the table holds a number; a column of mostly numbers shows one."""
        query = f"SELECT count({identifier(self.names[index])}), count(TRY_CAST({_bare(self.names[index])} AS DOUBLE))"
        step = max(1, self.rows // _LOOKED_AT)
        found = self.connection.execute(f"{query} FROM {self.relation} WHERE file_row_number % {step} = 0").fetchall()[0]
        return bool(found[1]) or found[0] < min(100, _LOOKED_AT // 10)

    def _key_names(self, columns: Sequence[int]) -> set[int]:
        """Columns that are called keys; a word that most columns of numbers end with, as in `Ontario number`, is their unit."""
        words = {i: found[0].strip(" ._").lower() for i in columns if (found := _KEY.search(self.names[i]))}
        count = Counter(words.values())
        return {i for i, word in words.items() if count[word] < 2 or 2 * count[word] <= len(columns)}

    def _is_rate(self, index: int, values: Floats) -> bool:
        """Whether a column does not add up, by its name or its values: a rate, a price, a year, a number of a thing."""
        import numpy as np

        if _RATE.search(self.names[index]):
            return True
        given = values[~np.isnan(values)]
        return len(given) > 2 and bool(((given >= 1900) & (given <= 2100) & (given == np.round(given))).all())

    def _signs(
        self, labels: Mapping[int, tuple[Label, int]], keys: Sequence[int], values: Floats, nearly: set[int]
    ) -> dict[int, Sign]:
        """What marks rows as totals before anything is added up."""
        import numpy as np

        keys = keys[:LABEL_COLUMNS]
        empty = {index: self._empty(index) for index in keys}
        regular = [index for index in keys if empty[index].mean() <= 0.4]
        times = Counter((label.text, index) for label, index in labels.values())
        signs: dict[int, Sign] = {}
        for row, (label, index) in labels.items():
            others = [empty[k][row] for k in regular if k > index]
            state = 0 if not others else 1 if np.mean(others) >= 0.6 else -1 if not any(others) else 0
            left = [k for k in self.texts if k < index and k not in nearly]
            stub = index < 0 or all(k in empty and empty[k][row] for k in left)
            often = times[label.text, index]
            if often <= _ORDINARY or state >= 0:
                signs[row] = Sign(label, index, stub, state, often)
        if self.rows <= WHOLE_ROWS and regular:
            share = np.mean([empty[k] for k in regular], axis=0)
            blank = (share >= 0.5) & ~np.isnan(values).all(axis=1)
            if blank.mean() <= 0.4:
                signs |= {int(row): Sign(None, keys=1) for row in np.flatnonzero(blank) if int(row) not in signs}
        return signs

    def _empty(self, index: int) -> Any:
        import numpy as np

        select = f"SELECT {identifier(self.names[index])} IS NULL AS v FROM {self.relation}"
        return np.asarray(self.connection.execute(select).fetchnumpy()["v"], dtype=bool)

    def findings(self, marked: set[int]) -> list[_Found]:
        """Of the rows of data: duplicates, repeated keys, columns that are sums, dates as numbers or in several orders."""
        import numpy as np

        data = np.ones(self.rows, dtype=bool)
        data[list(marked)] = False
        return [*self._duplicates(data), *self._sum_columns(data), *self._serials(data), *self._mixed_dates()]

    def _hashes(self, columns: Sequence[int]) -> Any:
        names = ", ".join(identifier(self.names[i]) for i in columns)
        return self.connection.execute(f"SELECT hash({names}) AS v FROM {self.relation}").fetchnumpy()["v"]

    def _duplicates(self, data: Any) -> list[_Found]:
        found = []
        again: set[int] = set()
        if self.rows > 2 and 1 < len(self.names) <= 200:
            again = set(_repeated(self._hashes(range(len(self.names))), data))
            if 0 < len(again) <= 0.5 * self.rows and len(self.names) > 1:
                text = f"{_rows(len(again))} {'are copies of others' if len(again) != 1 else 'is a copy of another'}."
                found.append(_Found("duplicate-rows", text, len(again), tuple(sorted(again))))
        left = data.copy()
        left[list(again)] = False
        for index in [i for i, name in enumerate(self.names[:50]) if _KEY.search(name)]:
            kind = self.types[index]
            if not kind.startswith(("VARCHAR", "BIGINT", "INTEGER", "UUID")) or left.sum() < 8:
                continue
            select = f"SELECT {identifier(self.names[index])} IS NOT NULL AS v FROM {self.relation}"
            filled = self.connection.execute(select).fetchnumpy()["v"].astype(bool) & left
            repeated = _repeated(self._hashes([index]), filled)
            if repeated and len(repeated) <= 0.1 * filled.sum():
                text = f"'{self.names[index]}' looks like a key, but {_rows(len(repeated))} hold a value that came before."
                found.append(_Found("duplicate-keys", text, len(repeated), tuple(repeated), index))
        return found

    def _sum_columns(self, data: Any) -> list[_Found]:
        """Columns that are, in each row, the sum of two or more columns beside them."""
        import numpy as np

        columns = self.numeric[:60]
        if len(columns) < 3 or data.sum() < 2:
            return []
        sample = np.flatnonzero(data)[:20_000]
        values = self.numbers(columns)[sample]
        found = []
        for at, index in enumerate(columns):
            given = ~np.isnan(values[:, at])
            if given.sum() < 2 or len(np.unique(values[given, at])) < 2:
                continue
            for step in (-1, 1):
                members = _summed(values[given], at, step)
                if members:
                    names = ", ".join(f"{self.names[columns[m]]}" for m in sorted(members)[:6])
                    more = f" and {len(members) - 6} more" if len(members) > 6 else ""
                    text = f"'{self.names[index]}' is the sum of {names}{more}: adding them all counts twice."
                    found.append(_Found("sum-columns", text, len(members), (), index))
                    break
        return found

    def _serials(self, data: Any) -> list[_Found]:
        import numpy as np

        found = []
        for index in self.numeric:
            if not _DAY.search(self.names[index]):
                continue
            values = self.numbers([index])[:, 0][data]
            values = values[~np.isnan(values)]
            if len(values) > 1 and ((values >= _SERIAL[0]) & (values <= _SERIAL[1])).all() and len(np.unique(values)) > 1:
                text = (
                    f"'{self.names[index]}' holds days as a spreadsheet counts them: "
                    f"DATE '1899-12-30' + CAST(\"{self.names[index]}\" AS INTEGER) gives the date."
                )
                found.append(_Found("date-serials", text, len(values), (), index))
        return found

    def _mixed_dates(self) -> list[_Found]:
        found = []
        for index in self.texts[:50]:
            column = identifier(self.names[index])
            if not any(_LIKE_DATE.search(str(value)) for (value,) in self._some(column)):
                continue
            orders = self._orders(column)
            dates = sum(orders.values())
            kinds = [k for k in orders if k != "either" and orders[k]]
            if dates < 2 or dates < 0.8 * self._filled(column) or len(kinds) < 2:
                continue
            said = ", ".join(f"{orders[k]:,} {_ORDERS[k]}" for k in orders if orders[k])
            text = f"'{self.names[index]}' holds dates in several orders ({said}) and stays text."
            found.append(_Found("dates-mixed", text, dates, (), index))
        return found

    def _some(self, column: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(f"SELECT {column} FROM {self.relation} WHERE {column} IS NOT NULL LIMIT 20").fetchall()

    def _filled(self, column: str) -> int:
        return int(self.connection.execute(f"SELECT count({column}) FROM {self.relation}").fetchall()[0][0])

    def _orders(self, column: str) -> dict[str, int]:
        """How many dates are written in which order."""
        x = f"trim({column})"
        slash = r"^(\d{1,2})[/-](\d{1,2})[/-](\d{2}|\d{4})$"
        a = f"TRY_CAST(regexp_extract({x}, {literal(slash)}, 1) AS INTEGER)"
        b = f"TRY_CAST(regexp_extract({x}, {literal(slash)}, 2) AS INTEGER)"
        tests = {
            "iso": rf"regexp_full_match({x}, '\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}')",
            "dots": rf"regexp_full_match({x}, '\d{{1,2}}\.\d{{1,2}}\.(\d{{2}}|\d{{4}})')",
            "words": rf"regexp_full_match({x}, '(\d{{1,2}}[ -][A-Za-z]{{3,9}}[ -]\d{{2,4}}|[A-Za-z]{{3,9}} \d{{1,2}}, \d{{4}})')",
            "dmy": f"({a} > 12 AND {a} <= 31 AND {b} <= 12)",
            "mdy": f"({b} > 12 AND {b} <= 31 AND {a} <= 12)",
            "either": f"({a} <= 12 AND {b} <= 12)",
        }
        select = ", ".join(f"count(*) FILTER (WHERE {test})" for test in tests.values())
        row = self.connection.execute(f"SELECT {select} FROM {self.relation}").fetchall()[0]
        return {name: int(n) for name, n in zip(tests, row, strict=True)}


_LIKE_DATE = re.compile(r"\w+[-/. ]+\w+[-/., ]+\d")
_ORDERS = {
    "iso": "with the year first",
    "dots": "with dots, day first",
    "words": "with the month as a word",
    "dmy": "with the day before the month",
    "mdy": "with the month before the day",
    "either": "that can be read both ways, as 03/04",
}


class _Names:
    """Cells of names, for words such as `North total` that name their parts."""

    def __init__(self, table: _Table, columns: Sequence[int]) -> None:
        self._table, self._columns = table, columns
        self._cells: list[list[str]] | None = None

    def shared(self, label: Label | None, span: Span) -> bool:
        """Whether all parts hold the name beside the word in one of their cells."""
        if label is None or not label.name or self._table.rows > _NAMED:
            return False
        parts = [self._rows()[row] for row in span.parts[:50]]
        return any(all(row[c] == label.name for row in parts) for c in range(len(self._columns)))

    def rest(self, row: int) -> bool:
        """Whether a row is called what is left of another: a profit, a balance, a net amount."""
        return any(len(cell) <= LONGEST and REST.search(cell) for cell in self._rows()[row])

    def _rows(self) -> list[list[str]]:
        if self._cells is None:
            names = ", ".join(f"lower(trim({identifier(self._table.names[i])}))" for i in self._columns) or "''"
            rows = self._table.connection.execute(f"SELECT {names} FROM {self._table.relation}").fetchall()
            self._cells = [[cell or "" for cell in row] for row in rows]
        return self._cells


def _bare(name: str) -> str:
    """SQL: a text without the marks of thousands."""
    return f"regexp_replace({identifier(name)}, '[, ]', '', 'g')"


def _summed(values: Floats, at: int, step: int) -> list[int]:
    """The neighbours to one side that add up to a column in (nearly) every row."""
    import numpy as np

    total = np.zeros(len(values))
    members: list[int] = []
    other = at + step
    while 0 <= other < values.shape[1] and len(members) < 40:
        total = total + np.nan_to_num(values[:, other])
        members.append(other)
        other += step
        if len(members) < 2:
            continue
        close = np.abs(total - values[:, at]) <= 1e-6 * np.maximum(1.0, np.abs(total)) + 0.0051 * bool((total % 1).any())
        if close.mean() >= 0.98:
            used = [m for m in members if np.nan_to_num(values[:, m]).any()]
            return used if len(used) > 1 else []
    return []


def _repeated(hashes: Any, data: Any) -> list[int]:
    """Positions of rows whose hash came before."""
    import numpy as np

    rows = np.flatnonzero(data)
    order = rows[np.argsort(hashes[rows], kind="stable")]
    same = hashes[order][1:] == hashes[order][:-1]
    return [int(r) for r in np.sort(order[1:][same])]


def _step(column: Floats) -> float:
    """The smallest step that a column's numbers are printed with, up to four decimals; 0 for finer ones."""
    import numpy as np

    sample = column[~np.isnan(column)][:2_000]
    for decimals in range(5):
        if np.allclose(sample, np.round(sample, decimals), rtol=0, atol=1e-9):
            return float(10.0**-decimals)
    return 0.0


def _total_notes(marks: Mapping[int, Mark], doubts: Mapping[int, Doubt], numbers: Sequence[int]) -> list[Note]:
    notes = []
    for kind, slug, what in (
        ("subtotal", "subtotal-rows", "subtotal"),
        ("total", "total-rows", "total"),
        ("note", "summary-rows", "average or other summary"),
        ("heading", "heading-rows", "heading"),
    ):
        at = [numbers[row] for row in sorted(marks) if marks[row].kind == kind]
        if at:
            text = f"{len(at):,} {what} row{'s' if len(at) != 1 else ''} {'are' if len(at) != 1 else 'is'} left out of queries."
            notes.append(Note(slug, text, len(at), places(at)))
    return notes + _doubt_notes(doubts, numbers)


def _doubt_notes(doubts: Mapping[int, Doubt], numbers: Sequence[int]) -> list[Note]:
    """One note for all rows that are kept and may be totals."""
    if not doubts:
        return []
    worded = [numbers[row] for row in sorted(doubts) if doubts[row].worded]
    summed = [numbers[row] for row in sorted(doubts) if not doubts[row].worded]
    at = sorted([*worded, *summed])
    said = []
    if worded:
        one = len(worded) == 1
        said.append(f"{_rows(len(worded))} {'is' if one else 'are'} called a total or an average, which the numbers do not prove")
    if summed:
        one = len(summed) == 1
        said.append(
            f"{_rows(len(summed))} {'equals' if one else 'equal'} the sum of rows nearby or {'is' if one else 'are'} summed twice"
        )
    text = f"Kept as data, but doubtful: {'; '.join(said)}. A sum over the whole column may count things twice."
    return [Note("totals-doubtful", text, len(at), places(at))]


def _differing(
    info: TableInfo,
    columns: Sequence[int],
    marks: Mapping[int, Mark],
    doubts: Mapping[int, Doubt],
    numbers: Sequence[int],
    place: Place,
) -> list[Note]:
    """Printed totals that their rows do not give."""
    found = [(row, *off) for row, mark in marks.items() for off in mark.off]
    found = sorted(found + [(row, *off) for row, doubt in doubts.items() if doubt.worded for off in doubt.off])
    if not found:
        return []
    said = "; ".join(
        f"'{info.columns[columns[c]][0]}' in row {numbers[row]} is {printed:,.10g}, its rows give {total:,.10g}"
        for row, c, printed, total in found[:3]
    )
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    text = f"{len(found):,} printed total{'s do' if len(found) != 1 else ' does'} not add up: {said}{more}."
    rows = sorted({numbers[row] for row, *_ in found})
    if not place.sheet:
        return [Note("totals-differ", text, len(found), places(rows))]
    cells = ", ".join(f"{column_letter(place.columns[columns[c]])}{numbers[row]}" for row, c, *_ in found[:12])
    return [Note("totals-differ", text, len(found), f"sheet {place.sheet}!{cells}", cells)]


def _add_columns(connection: duckdb.DuckDBPyConnection, target: Path, numbers: Sequence[int], marks: Mapping[int, Mark]) -> None:
    """Write the table anew with `_row` and `_kind`."""
    import numpy as np
    import pyarrow as pa

    from leaf.formats.columns import copy

    codes = np.zeros(len(numbers), dtype=np.int8)
    kinds = ["data", "subtotal", "total", "note", "heading"]
    for row, mark in marks.items():
        codes[row] = kinds.index(mark.kind)
    rows = pa.array(np.asarray(numbers, dtype=np.int64))
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(kinds)).cast(pa.string())
    connection.complete()
    connection.register("marks", pa.table({ROW: rows, KIND: column}))
    fresh = target.with_suffix(".marked")
    try:
        copy(connection, f"FROM read_parquet({literal(str(target))}) POSITIONAL JOIN marks", fresh)
    finally:
        connection.unregister("marks")
    fresh.replace(target)


def _rows(count: int) -> str:
    return f"{count:,} row{'s' if count != 1 else ''}"


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for n in sorted(numbers):
        if runs and n <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs


def called_totals(grid: Sequence[Sequence[Any]], block: Block, sheet: str = "") -> list[Note]:
    """Rows of a table that was only looked at whose first text is a word for totals; arithmetic says later if they are some."""
    known: dict[str, Label | None] = {}
    found: list[tuple[int, Label]] = []
    for i in block.body[:WHOLE_ROWS]:
        row = grid[i]
        for c in block.columns[:LABEL_COLUMNS]:
            cell = row[c] if c < len(row) else None
            if type(cell) is str and cell and cell[0] not in _STARTS and not cell.isspace():
                if cell not in known:
                    known[cell] = label_of(cell)
                label = known[cell]
                if label:
                    found.append((i + 1, label))
                break
    # A name such as Total Care proves nothing; beside a plain Total, North Total is one as well.
    if not any(label.exact for _, label in found):
        return []
    rows = [row for row, _ in found]
    one = len(rows) == 1
    text = f"{_rows(len(rows))} {'is' if one else 'are'} called a total or an average; queries leave out those that are one."
    place = Place(sheet, block.top + 1, block.bottom + 1, block.columns, block.header_rows)
    return [locate(Note("totals-called", text, len(rows), places(rows)), (), place)]


def counts_of_true(grid: Sequence[Sequence[Any]], body: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether the last row is called a total and says of columns of true and false how many are true: they would become text."""
    if len(body) < 3:
        return False
    last = grid[body[-1]]
    cells = {c: last[c] for c in columns if c < len(last) and last[c] not in (None, "")}
    numbers = {c: cell for c, cell in cells.items() if type(cell) in (int, float)}
    called = [cell for c, cell in cells.items() if c not in numbers]
    if not numbers or len(called) != 1 or type(called[0]) is not str or not label_of(called[0]):
        return False
    for c, count in numbers.items():
        values = [grid[i][c] for i in body[:-1] if c < len(grid[i]) and grid[i][c] not in (None, "")]
        if any(type(value) is not bool for value in values) or sum(values) != count:
            return False
    return True


def softened(grid: Sequence[Sequence[Any]], body: Sequence[int], hard: Sequence[int]) -> dict[int, dict[int, str]]:
    """Words such as Total in columns of numbers or dates: position in `body` -> column -> word. They would turn it into text."""
    found: dict[int, dict[int, str]] = {}
    for c in hard[:LABEL_COLUMNS]:
        for position, i in enumerate(body):
            row = grid[i]
            if c < len(row):
                cell = row[c]
                if type(cell) is str and cell and cell[0] not in _STARTS and (label := label_of(cell)) and label.exact:
                    found.setdefault(position, {})[c] = cell.strip()
    return found


_STARTS = frozenset("0123456789-+.$€£¥(")
