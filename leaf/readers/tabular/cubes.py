"""Long tables in which some rows sum others by what a column says: `T` beside `M` and `F`, *All ages*
beside its age groups, as statistics offices write cubes.

The parts of such a sum stand anywhere in the table, so that no search of rows beside one another finds
them. The columns that tell rows apart are found first; then, for each of these, a member is held
against the sum of all others, in every combination of what the other columns say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leaf.readers.tabular.labels import label_of
from leaf.readers.tabular.sql import literal

if TYPE_CHECKING:
    import numpy as np

    from leaf.readers.tabular.table_file import Bools, Floats, TableFile

    Ints = np.ndarray[Any, np.dtype[np.int64]]

ROWS = 300_000
"""Of the longest table that is looked at."""
_FEWEST = 6
_UNCALLED = 600_000
"""Texts of the largest table in which sums are looked for that nothing calls so."""
_COLUMNS, _MEMBERS = 40, 500
"""Columns that are looked at, and different texts of one whose members may be sums."""
_VALUES = 12
"""Columns of numbers that are added up."""
_CELLS = 4_000_000
"""Combinations of members with all else."""
_PROOF = 24.0
"""Bits of agreement from which on it is no chance; each sum gives as many as it has digits, in twos, and
twenty at most."""
_SUMS = 3
"""Sums that agree, at least."""
NO_VALUE = ""
"""The member of rows in which a column says nothing: where a table names a province only in the rows
of provinces, the rows without one are those of the country."""
_NEARLY_ALL = 0.97
_SOME = 0.3
"""Part of the sums that agree: where a cube holds rates as well, a total adds up for the counts alone."""
_CODE = re.compile(r"[A-Z0-9][A-Z0-9._-]{0,14}", re.ASCII)
_CALLED = re.compile(
    r"(?i)_?t|tot(?:al)?s?|(?:all|both|alle|beide|tous|toutes|les deux|todos|todas|ambos|ambas)\b.*"
    r"|total\b.*|.*\btotal|insgesamt.*|zusammen|ensemble"
)
"""What the member that sums all others is called; no proof by itself."""


@dataclass(frozen=True)
class CubeTotal:
    """A member of a column whose rows sum those of its others."""

    column: int
    member: str
    parts: tuple[str, ...]
    rows: tuple[int, ...]
    """Those that are sums, by position."""
    proven: bool
    """Whether it is called a total as well, and each of its rows is one."""
    more: int = 0
    """Further members that are sums of those whose codes begin with theirs; their rows are among
    these."""


def cube_totals(table: TableFile) -> list[CubeTotal]:
    """The members of a table's columns of text that are the sum of all others; none where no columns
    tell its rows apart."""
    import numpy as np

    if not _FEWEST <= table.rows <= ROWS or not table.texts or not table.numeric:
        return []
    if table.rows * len(table.texts) > _UNCALLED and not _calls_totals(table):
        return []
    if not _of_few_members(table):
        return []
    keys = _keys(table)
    if len(keys) < 2:
        return []
    numbers = [index for index in table.numeric if index not in keys][:_VALUES]
    held = [
        index
        for index, (_, members) in keys.items()
        if index in table.texts and 3 <= len(members) <= _MEMBERS
    ]
    if not numbers or not held:
        return []
    values = table.numbers(numbers)
    steps = [step_of(values[:, at]) for at in range(len(numbers))]
    result = []
    for index in held:
        codes, members = keys[index]
        others = [one for key, (one, _) in keys.items() if key != index]
        groups = np.unique(_combined(others), return_inverse=True)[1]
        axis = _Axis(index, members, codes, groups)
        if axis.shape[0] * axis.shape[1] <= _CELLS:
            result += _sums_of(axis, values, steps)
    return result


def _keys(table: TableFile) -> dict[int, tuple[Ints, list[str]]]:
    """The columns that together tell all rows apart, each as codes and what they stand for: those of
    time first, then those with few members, those with gaps last: beside *Total* an office leaves the
    code empty. Empty where none do."""
    import numpy as np

    times = [index for index in range(len(table.names[:_COLUMNS])) if _is_time(table, index)]
    texts = [index for index in table.texts if index < _COLUMNS]
    some = [*times, *texts]
    names = list(map(table.column, some))
    counts = table.asked(", ".join(f"count(DISTINCT {name}), count({name})" for name in names))[0]
    distinct: dict[int, int] = {}
    gapped = set()
    for index, members, filled in zip(some, counts[::2], counts[1::2], strict=True):
        gaps = filled < table.rows
        if 1 < members + gaps < table.rows and (index in texts or not gaps):
            distinct[index] = members + gaps
            gapped |= {index} if gaps else set()
    times = [index for index in times if index in distinct]
    in_words = sorted(
        (index for index in texts if index in distinct),
        key=lambda index: (index in gapped, distinct[index]),
    )
    chosen: dict[int, tuple[Ints, list[str]]] = {}
    apart = 1
    for index in (*times, *in_words):
        codes, words = _coded(table, index)
        combined = _combined([*(one for one, _ in chosen.values()), codes])
        now = len(np.unique(combined))
        if now > apart:
            chosen[index], apart = (codes, words), now
        if apart == table.rows:
            return chosen
    return {}


def _calls_totals(table: TableFile) -> bool:
    """Whether a column has a member that is called a total: a quick look, before all is counted."""
    return any(
        _is_called(str(member))
        for index in _of_few_members(table)
        for (member,) in table.asked(f"DISTINCT {table.column(index)}")
    )


def _of_few_members(table: TableFile) -> list[int]:
    """Columns of text with about so few members that these may be sums."""
    texts = table.texts[:_COLUMNS]
    counts = ", ".join(f"approx_count_distinct({table.column(index)})" for index in texts)
    most = 1.2 * _MEMBERS
    return [i for i, n in zip(texts, table.asked(counts)[0], strict=True) if n <= most]


def _is_time(table: TableFile, index: int) -> bool:
    """Whether a column holds days, or years as whole numbers."""
    kind = table.types[index]
    if kind.startswith(("DATE", "TIMESTAMP")):
        return True
    if index not in table.numeric or not kind.startswith(("BIGINT", "INTEGER", "SMALLINT")):
        return False
    name = table.column(index)
    least, most = table.asked(f"min({name}), max({name})")[0]
    return bool(1500 <= least <= most <= 2200)


def _coded(table: TableFile, index: int) -> tuple[Ints, list[str]]:
    import numpy as np

    name = table.column(index)
    arrow = table.connection.sql(
        f"SELECT coalesce(CAST({name} AS VARCHAR), {literal(NO_VALUE)}) AS v FROM {table.relation}"
    ).to_arrow_table()
    column = arrow.column("v").combine_chunks().dictionary_encode()
    return np.asarray(column.indices, dtype=np.int64), list(map(str, column.dictionary.to_pylist()))


def _combined(columns: Sequence[Ints]) -> Ints:
    """One number for each combination of some columns' codes; made dense at each step, so that it
    never grows beyond the rows' count times one column's members."""
    import numpy as np

    combined = columns[0]
    for codes in columns[1:]:
        combined = np.unique(combined, return_inverse=True)[1] * (int(codes.max()) + 1) + codes
    return combined


def step_of(values: Floats) -> float:
    """What the numbers of a column are rounded to: 1, 0.1, and so on, or 5, 10, 100, 1000."""
    import numpy as np

    some = values[~np.isnan(values)][:2_000]
    whole = next((n for n in (1000.0, 100.0, 10.0, 5.0) if (some % n == 0).all()), 0.0)
    return whole or next((10.0**-n for n in range(7) if (np.round(some, n) == some).all()), 1e-6)


@dataclass(frozen=True)
class _Axis:
    """A column whose members are held against each other."""

    column: int
    members: Sequence[str]
    codes: Ints
    """By row, which member."""
    groups: Ints
    """By row, which combination of what the other columns say."""

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.groups.max()) + 1, len(self.members)

    def cells(self, values: Floats) -> Floats:
        """The numbers of a column, combinations × members; NaN where there is none."""
        import numpy as np

        cells = np.full(self.shape, np.nan)
        cells[self.groups, self.codes] = values
        return cells

    @cached_property
    def there(self) -> Bools:
        """Which combinations × members the table has a row of."""
        import numpy as np

        there = np.zeros(self.shape, dtype=bool)
        there[self.groups, self.codes] = True
        return there

    def rows(self, member: int, agree: Bools) -> list[int]:
        """Rows of a member in some combinations."""
        import numpy as np

        return [int(n) for n in np.flatnonzero((self.codes == member) & agree[self.groups])]


def _sums_of(axis: _Axis, values: Floats, steps: Sequence[float]) -> list[CubeTotal]:
    """Of one column: sums by their codes, then members that sum all others, or all that are no part
    of another. Members that are called totals are left out of one another's parts."""
    members = axis.members
    called = [n for n, member in enumerate(members) if _is_called(member)]
    children = {
        one: parts
        for one, parts in _by_codes(members).items()
        if len(parts) > 1 and one not in called
    }
    columns = [(axis.cells(values[:, at]), step) for at, step in enumerate(steps)]
    nested = _proven_of(
        (one, _evidence(cells, one, parts, step, axis.there, sure=False))
        for cells, step in columns
        for one, parts in children.items()
    )
    inner = {part for one in nested for part in children[one]}
    pool = [n for n in range(len(members)) if n not in inner]
    plain = [n for n in pool if n not in called]
    sums = _proven_of(
        (one, _evidence(cells, one, parts, step, axis.there, sure=one in called))
        for cells, step in columns
        for one in _candidates(cells, pool, called, step, axis.there)
        for parts in [[n for n in plain if n != one]]
    )
    result = []
    for one, agree in sums.items():
        if one in nested:
            continue
        rows = axis.rows(one, agree)
        whole = len(rows) == int((axis.codes == one).sum())
        summed = [members[n] for n in plain if n != one]
        result.append(
            CubeTotal(
                axis.column, members[one], tuple(summed), tuple(rows), whole and one in called
            )
        )
    if nested:
        first = max(nested, key=lambda one: len(children[one]))
        rows = sorted(row for one, agree in nested.items() for row in axis.rows(one, agree))
        summed = [members[n] for n in children[first]]
        result.append(
            CubeTotal(
                axis.column, members[first], tuple(summed), tuple(rows), False, len(nested) - 1
            )
        )
    return result


@dataclass(frozen=True)
class _Evidence:
    """How far a member is the sum of its parts in one column of numbers."""

    agree: Bools
    """By combination."""
    sums: int
    """Combinations that test it and agree."""
    bits: float
    enough: float
    """Bits from which on it is no chance."""
    whole: bool
    """Whether nearly all that test it agree, so that other columns may add to it."""
    alone: bool
    """Whether it is proof by itself, but for `bits`."""

    @property
    def proves(self) -> bool:
        return self.alone and self.sums >= _SUMS and self.bits >= self.enough


def _proven_of(evidence: Iterable[tuple[int, _Evidence | None]]) -> dict[int, Bools]:
    """By member, in which combinations it is a sum: proven by one column of numbers, or by several
    together, as where each year has a column and there are two combinations."""
    by_member: dict[int, list[_Evidence]] = {}
    for member, one in evidence:
        if one is not None:
            by_member.setdefault(member, []).append(one)
    proven: dict[int, Bools] = {}
    for member, several in by_member.items():
        those = [one for one in several if one.proves]
        if not those:
            those = [one for one in several if one.whole]
            sums, bits = sum(one.sums for one in those), sum(one.bits for one in those)
            if sums < _SUMS or bits < those[0].enough:
                continue
        proven[member] = those[0].agree
        for one in those[1:]:
            proven[member] = proven[member] | one.agree
    return proven


def _by_codes(members: Sequence[str]) -> dict[int, list[int]]:
    """Members whose code others begin with, each with those right below it: `DE` above `DE1` and
    `DE2`, `C10` above `C101`. None of words."""
    texts = [member.strip().upper() for member in members]
    if sum(_CODE.fullmatch(text) is None for text in texts) > 0.1 * len(texts):
        return {}
    at = {text: n for n, text in enumerate(texts)}
    children: dict[int, list[int]] = {}
    for n, text in enumerate(texts):
        above = (at[text[:end]] for end in range(len(text) - 1, 0, -1) if text[:end] in at)
        if (parent := next(above, None)) is not None:
            children.setdefault(parent, []).append(n)
    return children


def _is_called(member: str) -> bool:
    text = member.strip()
    label = label_of(text)
    return bool(_CALLED.fullmatch(text)) or (label is not None and label.kind != "average")


def _candidates(
    cells: Floats, pool: Sequence[int], called: Sequence[int], step: float, there: Bools
) -> list[int]:
    """Members that may be sums: those that are called so, and those that are half of all together."""
    import numpy as np

    plain = [n for n in pool if n not in called]
    rest = cells[:, plain]
    filled = ~np.isnan(rest)
    whole = np.nansum(rest, axis=1)[:, None]
    near = np.abs(2 * np.nan_to_num(rest) - whole) <= _room(filled, step, exact=True)[:, None]
    gaps = (there[:, plain] & ~filled).any(axis=1)
    tested = filled & ((filled.sum(axis=1) > 2) & (near.any(axis=1) | ~gaps))[:, None]
    agree = (near & tested & (rest != 0)).sum(axis=0)
    half = np.flatnonzero((agree > 0) & (agree >= _NEARLY_ALL * tested.sum(axis=0)))
    return [*(n for n in called if n in set(pool)), *(plain[n] for n in half)]


def _room(filled: Bools, step: float, *, exact: bool) -> Floats:
    """By combination, how far a sum of rounded numbers may be off; `exact` for whole numbers that are
    counts."""
    import numpy as np

    parts = filled.sum(axis=1)
    return np.asarray(1e-9 + (0 * parts if exact and step == 1 else step * parts / 2), dtype=float)


def _evidence(
    cells: Floats, one: int, parts: Sequence[int], step: float, there: Bools, *, sure: bool
) -> _Evidence | None:
    """How far a member is the sum of its parts; None where nothing speaks for it. First as exact
    numbers; then as rounded ones, which proves less. `sure`: it is called a total, so that it may be
    one of a part of the combinations."""
    import numpy as np

    exact = _agreeing(cells, one, parts, step, there, sure=sure, exact=True)
    if exact is not None and (not sure or exact.agree[~np.isnan(cells[:, one])].all()):
        return exact
    rounded = _agreeing(cells, one, parts, step, there, sure=sure, exact=False)
    if exact is None or rounded is None:
        return exact or rounded
    return rounded if rounded.proves >= exact.proves else exact


def _agreeing(
    cells: Floats,
    one: int,
    parts: Sequence[int],
    step: float,
    there: Bools,
    *,
    sure: bool,
    exact: bool,
) -> _Evidence | None:
    """`there` says which cells have a row: one that has none of their numbers, being withheld, makes
    a sum untestable."""
    import numpy as np

    printed, rest = cells[:, one], cells[:, parts]
    filled = ~np.isnan(rest)
    both = ~np.isnan(printed) & filled.any(axis=1)
    room = _room(filled, step, exact=exact) + 1e-9 * np.abs(np.nan_to_num(printed))
    agree = both & (np.abs(np.nan_to_num(printed) - np.nansum(rest, axis=1)) <= room)
    gaps = (there[:, parts] & ~filled).any(axis=1)
    tested = both & (filled.sum(axis=1) > 1) & (np.nan_to_num(printed) != 0) & (agree | ~gaps)
    proof = agree & tested
    share = proof.sum() / max(1, tested.sum())
    if not proof.any() or share < (_SOME if sure else _NEARLY_ALL):
        return None
    bits = np.log2(1 + np.abs(printed[proof]) / (2 * room[proof] + step))
    whole = bool(share >= _NEARLY_ALL)
    return _Evidence(
        np.asarray(agree, dtype=bool),
        int(proof.sum()),
        float(np.minimum(bits, 20).sum()),
        _PROOF + float(np.log2(len(parts) + 1)),
        whole,
        whole or bool(np.median(bits) >= 6),
    )
