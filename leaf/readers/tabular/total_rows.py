"""Which rows of a written table may be totals: words in its columns of text and gaps in its keys,
held against its numbers and formulas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leaf.readers.tabular.formulas import RowSum, confirmed
from leaf.readers.tabular.labels import (
    COUNTRIES,
    HINT,
    LONGEST,
    REST,
    Label,
    is_country,
    is_share,
    label_of,
)
from leaf.readers.tabular.overlaps import MOST_ROWS
from leaf.readers.tabular.sql import literal
from leaf.readers.tabular.sums import SEARCHED, Sign
from leaf.readers.tabular.table_file import KEY, TableFile, bare
from leaf.readers.tabular.totals import DoubtfulRow, ProvenRow, find

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import SumSpan
    from leaf.readers.tabular.table_file import Bools, Floats

LABEL_COLUMNS = 8
"""Text columns, from the left, in which words such as Total are looked for."""
MAX_CELLS = 14_000_000
"""Numbers held at a time, each of which takes up to fifty bytes; of longer tables fewer columns are
summed."""
SUMMED_ROWS = 7_000_000
"""Rows up to which any column is added up; words in longer tables are named, and no row is left
out."""
_FEW = 100_000
"""Different texts of a column that are looked at one by one."""
_RATE = re.compile(
    r"(?i)%|percent|\bpct|prozent|pourcent|porcent|\bshare\b|\banteil|\brates?\b|\bratio|\bquote|average|\bavg|\bmean\b|"
    r"median|durchschnitt|"
    r"price|preis|\bprix|precio|prezzo|\bper\b|\bindex\b|\brank|\byear\b|\bjahr\b|latitude|longitude|\blat\b|\blon\b|"
    r"change from|growth"
)
"""Names of columns that are not added up."""
_ORDINARY = 200
"""Rows with one word beside filled key cells from which on it is a value like others."""
_MOST_CALLED = 10_000
"""Rows with a word that are held against others; where there are more, as in records of *Male*,
*Female* and *Total*, all of them are named, and none is left out."""
_NAMED = 200_000
"""Rows up to which names beside words are compared with the names of the parts."""
_SPREADS = (
    *("sd", "s.d.", "std dev", "std. dev.", "st. dev.", "standard deviation", "standardabweichung"),
    *("stabw", "stabw.", "écart-type", "écart type", "desviación estándar", "desviación típica"),
    *("desv. est.", "desv. típ."),
)
"""How rows of standard deviations are called, in lower case, beside what `labels` knows."""
_BESIDE_MEANS = ", ".join(map(literal, (*_SPREADS, "n", "n =", "n=")))
"""The same with words for a number of values: what is called so is a summary below a mean alone."""
_NEAR_MEANS = 3
"""Rows below a mean in which it is one."""
_UNHINTED = 300
"""Cells that are looked at one by one sooner than the pattern for all of them is made ready."""
_LOOKED_AT = 5_000
"""Rows from all over a table that tell whether a column of text holds numbers."""


class TotalRows:
    """The search for totals in one table."""

    def __init__(
        self, table: TableFile, sums: Mapping[int, Sequence[RowSum]] | None = None
    ) -> None:
        """`sums` are rows whose formulas add up others, by position."""
        self.table = table
        self.formulas = sums or {}
        self.summed: list[int] = []
        """Columns that were added up."""

    def labels(self, soft: Mapping[int, str]) -> dict[int, tuple[Label, int]]:
        """Row -> word and its column; -1 where it stood in place of a number or a date."""
        labels: dict[int, tuple[Label, int]] = {
            row: (label, -1) for row, text in soft.items() if (label := label_of(text))
        }
        for index, words in self._words(self.table.texts[:LABEL_COLUMNS]).items():
            column = self.table.column(index)
            rows = self._holding(column, list(words))
            most = max(1, self.table.rows // 2)
            if len(rows) > most:
                # Where most rows are called subtotals, they are what the table is about.
                words = {
                    text: label
                    for text, label in words.items()
                    if label.exact and label.kind == "total"
                }
                rows = self._holding(column, list(words)) if words else []
            if len(rows) > most:
                continue
            for row, text in rows:
                label = words[text]
                if row not in labels or (label.exact and not labels[row][0].exact):
                    labels[row] = (label, index)
        return labels | self._spreads(labels)

    def _spreads(self, labels: Mapping[int, tuple[Label, int]]) -> dict[int, tuple[Label, int]]:
        """Rows called `SD` or `N` below one called a mean: by themselves they are South Dakota and
        the north."""
        means = {
            row: index
            for row, (label, index) in labels.items()
            if label.exact and label.kind == "average" and index >= 0
        }
        spreads: dict[int, tuple[Label, int]] = {}
        for index in set(means.values()):
            near = {
                row
                for mean, at in means.items()
                if at == index
                for row in range(mean + 1, mean + _NEAR_MEANS + 1)
            }
            name = f"lower(trim({self.table.column(index)}))"
            rest = f"WHERE {name} IN ({_BESIDE_MEANS}) LIMIT {_ORDINARY}"
            for row, text in self.table.asked(
                f"{self.table.number}, {self.table.column(index)}", rest
            ):
                if int(row) in near and int(row) not in labels:
                    name = text.strip()
                    word = "std" if name.lower() in _SPREADS else "n"
                    spreads[int(row)] = (Label("average", True, name, False, word=word), index)
        return spreads

    def _holding(self, column: str, texts: Sequence[str]) -> list[tuple[int, str]]:
        """Rows with one of these texts; at most a few more than half of all."""
        listed = ", ".join(literal(text) for text in texts)
        rest = f"WHERE {column} IN ({listed}) LIMIT {self.table.rows // 2 + 2}"
        return [
            (int(row), str(text))
            for row, text in self.table.asked(f"{self.table.number}, {column}", rest)
        ]

    def _words(self, columns: Sequence[int]) -> dict[int, dict[str, Label]]:
        """By column, the different texts that are words for totals or averages; columns without one
        are left out."""
        if not columns:
            return {}
        # In a long table few texts are told apart faster than all of its rows are searched.
        few = (
            []
            if self.table.whole
            else [i for i in columns if not self._varied(self.table.column(i))]
        )
        texts = {i: words for i in few if len(words := self._different(i)) <= _FEW}
        texts |= self._like_words([i for i in columns if i not in texts])
        labels = {
            i: {
                text: label
                for text in texts.get(i, ())
                if (label := label_of(text)) and (i == columns[0] or not is_share(label))
            }  # beside names, `%` is what a row is counted in
            for i in columns
        }
        for i, called in labels.items():
            if any(map(is_country, called.values())) and self._lists_countries(i):
                labels[i] = {text: label for text, label in called.items() if not is_country(label)}
        return {i: words for i, words in labels.items() if words}

    def _lists_countries(self, index: int) -> bool:
        """Whether a column holds names of some countries."""
        name = f"lower(trim({self.table.column(index)}))"
        listed = ", ".join(map(literal, COUNTRIES))
        return (
            int(self.table.asked(f"count(DISTINCT {name})", f"WHERE {name} IN ({listed})")[0][0])
            > 1
        )

    def _different(self, index: int) -> list[str]:
        column = self.table.column(index)
        return [
            text
            for (text,) in self.table.asked(
                f"DISTINCT {column}", f"WHERE {column} IS NOT NULL LIMIT {_FEW + 1}"
            )
        ]

    def _like_words(self, columns: Sequence[int]) -> dict[int, list[str]]:
        """Of each column, the texts that may be words for totals: in one query, as the pattern
        takes time to be made ready. For few texts that is not worth it."""
        texts: dict[int, list[str]] = {i: [] for i in columns}
        if not columns:
            return texts
        parts = [
            f"SELECT DISTINCT {i} AS i, {x} AS x FROM {self.table.relation} WHERE length({x}) "
            f"<= {LONGEST}"
            for i in columns
            for x in [self.table.column(i)]
        ]
        query = " UNION ALL ".join(parts)
        if self.table.rows * len(columns) > _UNHINTED:
            query = (
                f"WITH t AS MATERIALIZED ({query}) SELECT i, x FROM t WHERE "
                f"regexp_matches(x, {literal(HINT)}) LIMIT {5_000 * len(columns)}"
            )
        for i, text in self.table.connection.execute(query).fetchall():
            texts[i].append(text)
        return texts

    def _varied(self, column: str) -> bool:
        """Whether a column of a long table holds many different texts, told from its beginning."""
        query = (
            f"SELECT count(DISTINCT {column}) FROM (SELECT {column} FROM "
            f"{self.table.relation} LIMIT 100000)"
        )
        return int(self.table.connection.execute(query).fetchall()[0][0]) > 2_000

    def find(self, soft: Mapping[int, str]) -> tuple[dict[int, ProvenRow], dict[int, DoubtfulRow]]:
        """Rows that are proven to be totals or averages, and rows that may be."""
        import numpy as np

        if not self.table.rows:
            return {}, {}
        labels = self.labels(soft)
        if self.table.rows == 1:  # a block of its own: nothing is left to prove it by
            return {}, {
                row: DoubtfulRow("total", True)
                for row, (label, _) in labels.items()
                if label.exact and label.sure
            }
        if len(labels) > _MOST_CALLED or self.table.rows > SUMMED_ROWS:
            return {}, {row: DoubtfulRow("total", True) for row in labels}
        nearly = self._nearly_numbers()
        columns = sorted([*self.table.numeric, *nearly])[: max(2, MAX_CELLS // self.table.rows)]
        signed = labels or self.formulas
        if not columns or (not self.table.whole and not signed):
            return {}, {}
        named = self._key_names(columns)
        keys = [i for i in range(len(self.table.types)) if i not in columns or i in named][
            :LABEL_COLUMNS
        ]
        empty = {index: self.table.empty(index) for index in keys}
        if not signed and not self._gaps(empty).any() and self._long():
            return {}, {}
        values = self.table.numbers(columns)
        self.summed = columns
        steps = np.array([_step(values[:, c]) for c in range(len(columns))])
        rates = np.array(
            [
                index in named or self._is_rate(index, values[:, c])
                for c, index in enumerate(columns)
            ]
        )
        formulas = confirmed(self.formulas, values, columns)
        signs = self._signs(labels, empty, values, nearly)
        regular = _regular(empty)
        for row in formulas:
            sign = signs.get(row) or Sign(None, keys=_keys(row, regular))
            signs[row] = replace(sign, formula=True)
        names = _Names(self.table, [i for i in self.table.texts if i not in nearly][:4])
        return find(
            values,
            steps,
            rates,
            signs,
            lambda row, span: names.shared(signs[row].label, span),
            names.rest,
            formulas,
        )

    def _nearly_numbers(self) -> set[int]:
        """Columns of text that hold numbers in most of their cells: a few words do not keep the
        others from being added up."""
        some = self.table.texts[:200] if self.table.whole else []
        if self.table.rows > _LOOKED_AT:
            some = [i for i in some if self._holds_numbers(i)]
        if not some:
            return set()
        counts = self.table.asked(", ".join(self._counts(i) for i in some))[0]
        return {
            i
            for i, good, total in zip(some, counts[::2], counts[1::2], strict=True)
            if good >= 2 and 2 * good > total
        }

    def _holds_numbers(self, index: int) -> bool:
        """Whether any of some rows from all over a long table holds a number; a column of mostly
        numbers shows one."""
        step = self.table.rows // _LOOKED_AT
        every = f"WHERE {self.table.number} % {step} = 0"
        [(good, total)] = self.table.asked(self._counts(index), every)
        return bool(good) or total < 100

    def _counts(self, index: int) -> str:
        """SQL: how many values of a column of text are numbers, and how many there are."""
        return (
            f"count(TRY_CAST({bare(self.table.names[index])} AS DOUBLE)), "
            f"count({self.table.column(index)})"
        )

    def _key_names(self, columns: Sequence[int]) -> set[int]:
        """Columns that are called keys; a word that most columns of numbers end with, as in
        `Ontario number`, is their unit."""
        words = {
            i: match[0].strip(" ._").lower()
            for i in columns
            if (match := KEY.search(self.table.names[i]))
        }
        count = Counter(words.values())
        return {
            i for i, word in words.items() if count[word] < 2 or 2 * count[word] <= len(columns)
        }

    def _is_rate(self, index: int, values: Floats) -> bool:
        """Whether a column does not add up, by its name or its values: a rate, a price, a year, a
        number of a thing."""
        import numpy as np

        if _RATE.search(self.table.names[index]):
            return True
        numbers = values[~np.isnan(values)]
        return len(numbers) > 2 and bool(
            ((numbers >= 1900) & (numbers <= 2100) & (numbers == np.round(numbers))).all()
        )

    def _long(self) -> bool:
        """Whether so many rows hold numbers that without a word or a gap none of them is looked
        for."""
        if self.table.rows <= SEARCHED:
            return False
        counts = ", ".join(
            f"count(*) FILTER (isfinite(CAST({self.table.column(i)} AS DOUBLE)))"
            for i in self.table.numeric[:8]
        )
        return bool(counts) and max(self.table.asked(counts)[0]) > MOST_ROWS

    def _gaps(self, empty: Mapping[int, Bools]) -> Bools:
        """By row, whether half of its keys are empty, of those that most rows have."""
        import numpy as np

        regular = list(_regular(empty).values())
        return (
            np.asarray(np.mean(regular, axis=0) >= 0.5)
            if self.table.whole and regular
            else np.zeros(self.table.rows, dtype=bool)
        )

    def _signs(
        self,
        labels: Mapping[int, tuple[Label, int]],
        empty: Mapping[int, Bools],
        values: Floats,
        nearly: set[int],
    ) -> dict[int, Sign]:
        """What marks rows as totals before anything is added up; `empty` says where keys have no
        value."""
        import numpy as np

        regular = _regular(empty)
        times = Counter((label.text, index) for label, index in labels.values())
        signs: dict[int, Sign] = {}
        for row, (label, index) in labels.items():
            state = _keys(row, {k: flags for k, flags in regular.items() if k > index})
            left = [k for k in self.table.texts if k < index and k not in nearly]
            stub = all(k in empty and empty[k][row] for k in left)
            often = times[label.text, index]
            if often <= _ORDINARY or state >= 0:
                signs[row] = Sign(label, index, stub, state, often)
        blank = self._gaps(empty) & ~np.isnan(values).all(axis=1)
        if blank.mean() < 0.5:  # two rows to a group and a total of all are 3 of 7
            signs |= {
                int(row): Sign(None, keys=1)
                for row in np.flatnonzero(blank)
                if int(row) not in signs
            }
        return signs


class _Names:
    """Cells of names, for words such as `North total` that name their parts."""

    def __init__(self, table: TableFile, columns: Sequence[int]) -> None:
        self._table, self._columns = table, columns
        self._cells: list[list[str]] | None = None

    def shared(self, label: Label | None, span: SumSpan) -> bool:
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
            names = (
                ", ".join(f"lower(trim({self._table.column(i)}))" for i in self._columns) or "''"
            )
            self._cells = [[cell or "" for cell in row] for row in self._table.asked(names)]
        return self._cells


def _regular(empty: Mapping[int, Bools]) -> dict[int, Bools]:
    """Of keys, those that most rows have."""
    return {index: flags for index, flags in empty.items() if flags.mean() < 0.5}


def _keys(row: int, empty: Mapping[int, Bools]) -> int:
    """`Sign.keys` of a row."""
    flags = [at[row] for at in empty.values()]
    if not flags:
        return 0
    return 1 if sum(flags) / len(flags) >= 0.6 else 0 if any(flags) else -1


def _step(column: Floats) -> float:
    """The smallest step that a column's numbers are printed with, up to four decimals; 0 for finer
    ones."""
    import numpy as np

    sample = column[~np.isnan(column)][:2_000]
    for decimals in range(5):
        if np.allclose(sample, np.round(sample, decimals), rtol=0, atol=1e-9):
            return float(10.0**-decimals)
    return 0.0
