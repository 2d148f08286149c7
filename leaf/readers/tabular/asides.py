"""Rows that are no records by what they are called and where they stand, though they sum no others:
weights and points above marks, balances carried from page to page, and what is left of income after
expenses. A word alone says nothing; such rows are kept and said to be doubtful, and left out only
where they are the difference of two sums to the last digit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import inf, log2
from typing import TYPE_CHECKING, Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.cubes import step_of
from leaf.readers.tabular.sql import literal
from leaf.readers.tabular.table_file import KEY, counted
from leaf.readers.tabular.totals import PROOF, ProvenRow

if TYPE_CHECKING:
    from leaf.readers.tabular.table_file import Floats, TableFile

ROWS = 100_000
"""Of the longest table that is looked at."""
_MOST = 20
"""Rows with such a word from which on it is a value like others."""
_NAMES, _COLUMNS = 4, 60
"""Columns of text, and of numbers, that are looked at."""
_USUAL = 0.8
"""Part of the rows that fill a column which all records fill."""
_FIRST, _LAST = 3, 8
"""Rows from the beginning and from the end in which weights and points stand."""
_SUMS = 6
"""Sums above a row of which it may be the difference."""
_POINTS = (
    r"(?:max(?:imum|\.)?|total|possible) (?:points?|marks?)(?: possible)?|(?:points?|marks?) (?:possible"
    r"|available)|max(?:imum|\.)? scores?|(?:max(?:imale|\.)?|mögliche|erreichbare) punkt(?:e|zahl)"
    r"|höchstpunktzahl|points? (?:max(?:imum|\.)?|possibles)|barème|punt(?:os|uación) (?:máx(?:imos|ima"
    r"|\.)?|posibles)"
)
_WEIGHTS = r"weights?|weighting|gewicht(?:e|ung)?|coefficients?|coeff?\.?|pondération|poids|peso|ponderación"
_CARRIED = (
    r"(?:balance )?(?:brought|carried)[ -](?:forward|down|over)|[bc]/(?:f|d|fwd)|balance [bc]/(?:f|d|fwd)"
    r"|(?:opening|closing|previous|starting|beginning|ending|initial|final) (?:balance|stock)"
    r"|(?:saldo)?(?:vor|über)trag|(?:anfangs|end|schluss|eröffnungs)(?:saldo|bestand)"
    r"|(?:alter|neuer|letzter) (?:saldo|(?:konto)?stand)|report(?: à nouveau)?|à reporter"
    r"|(?:ancien|nouveau) solde|solde (?:initial|final|précédent|reporté)"
    r"|saldo (?:anterior|inicial|final|precedente|iniziale|finale)|suma y sigue|a?riporto|transporte"
    r"|saldo (?:początkowe|końcowe)|(?:входящий|исходящий|начальный|конечный) остаток"
    r"|(?:остаток|сальдо) на (?:начало|конец)(?: периода| дня| месяца| года)?|期[初末][余餘][额額]|[前次]期繰越(?:金)?"
    r"|(?:dönem başı|dönem sonu|açılış|kapanış) bakiyesi"
)
_SPAN = (
    r"(?:balance (?:at|on)(?: the)? (?:start|beginning|end|close)(?: of(?: the)? (?:period|day|month|year|statement))?"
    r"|(?:saldo|(?:konto)?stand) (?:zu|am|zum) (?:beginn|anfang|ende)(?: des (?:zeitraums|monats|jahres|tages))?"
    r"|solde (?:en|au|de) (?:début|fin)(?: de(?: la)? (?:période|mois|journée|l['’](?:année|exercice)))?"
    r"|saldo a[lo] (?:inicio|comienzo|final|fin)(?: del? (?:per[ií]odo|mes|año|día|ejercicio))?)"
)
"""A balance that is called by the end of the time it stands at: `Balance at start of period`."""
_AT = (
    r"(?:[ ,:(]+(?:(?:as )?(?:at|of|on|per|am|vom|zum|au|du|al?) )?"
    r"(?:\d[\d./-]*|\d{1,2}\.? [^\W\d]{3,12}\.?(?: \d{4})?)\)?)?"
)
"""The day that may stand behind a balance: `Closing balance 31.12.`"""
_LEFT = (
    r"(?:net )?(?:result|profit|loss|surplus|deficit|balance)(?: (?:for|of) the (?:year|period|month))?"
    r"|(?:surplus|profit) ?(?:/|or|\() ?(?:deficit|loss)\)?(?: for the (?:year|period))?|net(?: income)?|difference"
    r"|(?:jahres)?(?:ergebnis|überschuss|fehlbetrag|gewinn|verlust)|gewinn ?/ ?verlust|saldo|differenz"
    r"|résultat(?: net| de l['’]exercice| de l['’]année)?|excédent|déficit|bénéfice(?: net)?|solde"
    r"|resultado(?: neto| del (?:ejercicio|año))?|beneficio(?: neto)?|superávit|utile(?: netto)?"
)
_KINDS = {
    name: re.compile(pattern)
    for name, pattern in (
        ("points", _POINTS),
        ("weights", _WEIGHTS),
        ("carried", f"(?:{_CARRIED}|{_SPAN}){_AT}"),
        ("left", _LEFT),
    )
}
_SAYS = {
    "points": "like the weights of columns or the points that can be had, not like a record",
    "carried": "a balance that is carried on, and moves nothing itself",
    "left": "what is left of the sums above",
}
_BALANCE = re.compile("balance|saldo|solde|stand|stock")


@dataclass(frozen=True)
class Asides:
    """What such rows of a table are."""

    proven: Mapping[int, ProvenRow]
    doubtful: Mapping[str, Sequence[int]]
    """By kind, positions of rows that are kept."""

    @property
    def rows(self) -> list[int]:
        """Those that are kept."""
        return [row for rows in self.doubtful.values() for row in rows]


def asides(table: TableFile, marks: Mapping[int, ProvenRow], doubts: Container[int] = ()) -> Asides:
    """Rows of a table that are called so, by position; `marks` are rows that are known to be no
    data, `doubts` rows that are doubtful already."""
    if not 3 < table.rows <= ROWS or not table.texts:
        return Asides({}, {})
    called = _called(table)
    here = {row: kind for row, kind in called.items() if row not in marks}
    if not here or len(called) > table.rows // 2:
        return Asides({}, {})
    rows = _Rows(table, marks, frozenset(called))
    differences = {row for row, kind in here.items() if kind == "left" and rows.is_difference(row)}
    doubtful: dict[str, list[int]] = {}
    for row, kind in sorted(here.items()):
        if row in differences or row in doubts:
            continue
        if kind in ("points", "weights") and rows.is_measure(row, sure=kind == "points"):
            doubtful.setdefault("points", []).append(row)
        elif kind == "carried" and rows.is_carried(row):
            doubtful.setdefault("carried", []).append(row)
        elif kind == "left" and rows.is_below_sums(row):
            doubtful.setdefault("left", []).append(row)
    return Asides({row: ProvenRow("total") for row in differences}, doubtful)


def aside_notes(rows: Asides, numbers: Sequence[int]) -> list[Note]:
    """What is said of them; `numbers` are the rows' numbers in the file."""
    notes = []
    if rows.proven:
        at = [numbers[row] for row in sorted(rows.proven)]
        are = "is" if len(at) == 1 else "are"
        text = (
            f"{counted(len(at))} {are} the difference of two sums above, and left out of queries."
        )
        notes.append(Note("difference-rows", text, len(at), places(at)))
    for kind, doubtful in rows.doubtful.items():
        at = [numbers[row] for row in doubtful]
        are = "is" if len(at) == 1 else "are"
        text = (
            f"Kept as data, but doubtful: {counted(len(at))} {are} called {_SAYS[kind]}. A sum over the "
            f"whole column may count things twice."
        )
        notes.append(Note("rows-doubtful", text, len(at), places(at)))
    return notes


def _called(table: TableFile) -> dict[int, str]:
    """Rows with such a word in one of the first columns of text -> what kind of word it is."""
    names = [f"lower(trim({table.column(i)}, ' :\u00a0'))" for i in table.texts[:_NAMES]]
    pattern = literal("|".join(f"(?:{kind.pattern})" for kind in _KINDS.values()))
    matches = " OR ".join(f"regexp_full_match({name}, {pattern})" for name in names)
    asked = table.asked(f"{table.number}, {', '.join(names)}", f"WHERE {matches} LIMIT {_MOST + 1}")
    if len(asked) > _MOST:
        return {}
    times = Counter(text for _, *texts in asked for text in texts)
    called: dict[int, str] = {}
    for row, *texts in asked:
        for text in texts:
            kind = next((k for k, word in _KINDS.items() if text and word.fullmatch(text)), "")
            if kind and (kind != "left" or times[text] == 1):
                called.setdefault(int(row), kind)
                break
    return called


class _Rows:
    """A table's rows, held against those of data."""

    def __init__(
        self, table: TableFile, marks: Mapping[int, ProvenRow], called: frozenset[int]
    ) -> None:
        self._table, self._marks = table, marks
        self._others = [row for row in range(table.rows) if row not in marks and row not in called]
        self._columns = [i for i in table.numeric[:_COLUMNS] if not KEY.search(table.names[i])]

    def is_measure(self, row: int, *, sure: bool) -> bool:
        """Whether a row at either end is one of points that no other exceeds, or of weights that make
        a whole, or has nothing where records have names and numbers."""
        if not (row < _FIRST or row >= self._table.rows - _LAST):
            return False
        cells = self._cells(row)
        numbers = {
            i: number for i, cell in enumerate(cells) if (number := _number(cell)) is not None
        }
        keys = [i for i in self._keys if not _is_word(cells[i])]
        empty = [cells[i] is None for i in keys]
        if sure:
            bound = len(numbers) > 1 and all(self._most(i) <= n for i, n in numbers.items())
            return bool(numbers) and (bound or (bool(keys) and 2 * sum(empty) >= len(keys)))
        whole = sum(numbers.values())
        weighed = any(abs(whole - total) <= total / 1_000 for total in (1, 100))
        return len(numbers) > 2 and (weighed or (len(keys) > 1 and all(empty)))

    def is_carried(self, row: int) -> bool:
        """Whether a row holds a balance alone, or the one of the row above or below once more."""
        import numpy as np

        if len(self._columns) < 2:
            return self._is_at_the_end(row)
        if self._is_bare_at_an_end(row):
            return True
        values = np.nan_to_num(self._values)
        filled = values[self._others] != 0
        own = np.flatnonzero(values[row])
        for column in own:
            beside = np.delete(filled, column, axis=1).any(axis=1)
            if filled[:, column].mean() < _USUAL or beside.mean() < _USUAL:
                continue
            near = values[max(0, row - 1) : row + 2, column]
            if len(own) == 1 or int((near == values[row, column]).sum()) > 1:
                return True
        return False

    def is_difference(self, row: int) -> bool:
        """Whether all numbers of a row are one sum above less another."""
        import numpy as np

        sums = [
            r for r, mark in self._marks.items() if mark.kind in ("total", "subtotal") and r < row
        ]
        if not self._columns or len(sums) < 2:
            return False
        own = self._values[row]
        columns = np.flatnonzero(~np.isnan(own))
        steps = [step_of(self._values[:, c]) or 1e-6 for c in columns]
        bits = sum(log2(1 + abs(own[c]) / step) for c, step in zip(columns, steps, strict=True))
        if bits < PROOF:
            return False
        values = np.nan_to_num(self._values)
        return any(
            all(
                abs(values[one, c] - values[other, c] - own[c]) <= step / 100 + 1e-9 * abs(own[c])
                for c, step in zip(columns, steps, strict=True)
            )
            for one, other in permutations(sorted(sums)[-_SUMS:], 2)
        )

    def is_below_sums(self, row: int) -> bool:
        """Whether a row stands at the end of the table, right below a sum."""
        above = self._marks.get(row - 1)
        return (
            above is not None
            and above.kind in ("total", "subtotal")
            and all(other < row for other in self._others)
        )

    def _is_at_the_end(self, row: int) -> bool:
        """Whether a row is the first or the last of a table with days and one column of amounts."""
        days = any(kind.startswith(("DATE", "TIMESTAMP")) for kind in self._table.types)
        texts = [cell.lower() for cell in self._cells(row) if isinstance(cell, str)]
        balance = any(map(_BALANCE.search, texts))
        return (
            days
            and balance
            and len(self._columns) == 1
            and (row < min(self._others) or row > max(self._others))
        )

    def _is_bare_at_an_end(self, row: int) -> bool:
        """Whether a row is the first or the last of all, and has nothing but its word where each record
        has a name or a number of its own."""
        if min(self._others) < row < max(self._others):
            return False
        cells = self._cells(row)
        keys = [i for i in self._keys if not _is_word(cells[i])]
        return bool(keys) and all(cells[i] is None for i in keys)

    def _cells(self, row: int) -> tuple[Any, ...]:
        columns = ", ".join(map(self._table.column, range(len(self._table.types))))
        return self._table.asked(columns, f"WHERE {self._table.number} = {row}")[0]

    def _most(self, index: int) -> float:
        """The greatest number that other rows have in a column, written as text too."""
        import numpy as np

        values = self._table.numbers([index])[self._others, 0]
        return float(np.nanmax(values)) if not np.isnan(values).all() else -inf

    @cached_property
    def _values(self) -> Floats:
        return self._table.numbers(self._columns)

    @cached_property
    def _keys(self) -> list[int]:
        """Columns of names, and of numbers that tell rows apart, that most rows fill."""
        table = self._table
        keys = [i for i in table.numeric if KEY.search(table.names[i])]
        keys += [i for i in table.texts if not self._holds_numbers(i)]
        return [i for i in keys if table.filled(i)[self._others].mean() >= _USUAL]

    def _holds_numbers(self, index: int) -> bool:
        import numpy as np

        numbers = ~np.isnan(self._table.numbers([index])[self._others, 0])
        return bool(2 * numbers.sum() > self._table.filled(index)[self._others].sum())


def _number(cell: Any) -> float | None:
    """A cell's number, also where it is written as text."""
    if isinstance(cell, bool) or cell is None:
        return None
    try:
        return float(cell) if isinstance(cell, int | float | str) else None
    except ValueError:
        return None


def _is_word(cell: Any) -> bool:
    """Whether a cell is the word by which a row is called."""
    return isinstance(cell, str) and any(
        word.fullmatch(cell.strip(" :\u00a0").lower()) for word in _KINDS.values()
    )
