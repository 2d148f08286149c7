"""Tables and columns as the rules see them, from the data of describe_table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaf.agent.rules.words import ADDED_UP, CHANGES, GENERIC, fold, same_word, split_words

Json = dict[str, Any]

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINY",
    "USMALL",
    "UINT",
    "UBIG",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
)
_IDS = frozenset(
    "id key code zip zipcode postcode plz index nr no nummer number phone lat lon lng long latitude longitude fips".split()
)
_YEARS = frozenset("year yr jahr annee ano".split())
_RATES = (
    "class",
    "rank",
    "rating",
    "grade",
    "score",
    "level",
    "age",
    "percent",
    "percentage",
    "pct",
    "rate",
    "ratio",
    "temperature",
)
_OTHER_TIMES = frozenset(
    "birth born hire hired start end due expiry updated modified closed ship shipped delivery geburt naissance nacimiento".split()
)
GROUPED = 30
"""Most different whole numbers of a column that is grouped by."""


@dataclass(frozen=True)
class Column:
    """A column, and what is known of its values."""

    name: str
    type: str
    kind: str
    """`number`, `date`, `text` or `bool`."""
    words: tuple[str, ...] = ()
    distinct: int = 0
    nulls: int = 0
    min: Any = None
    max: Any = None
    mean: float | None = None
    top: tuple[tuple[Any, int], ...] = ()
    values: tuple[str, ...] = ()
    """Texts known from the profile: the most frequent, and those of the sample."""
    text_date: bool = False
    """Dates that are stored as text."""

    @property
    def sql(self) -> str:
        return f"TRY_CAST({quoted(self.name)} AS TIMESTAMP)" if self.text_date else quoted(self.name)

    @property
    def is_year(self) -> bool:
        return self.kind == "number" and bool(_YEARS & set(self.words)) and _in_history(self.min) and _in_history(self.max)

    @property
    def is_time(self) -> bool:
        """Whether “in 2023” can mean this column without naming it: a birthday or a day of hire is not when something was."""
        if self.kind == "date":
            return not _OTHER_TIMES & set(self.words)
        return self.is_year and set(self.words) <= _YEARS

    @property
    def is_id(self) -> bool:
        """Numbers and codes that name things: nothing is computed from them."""
        joined = "".join(self.words)
        return bool(self.words) and (self.words[-1] in _IDS or joined.endswith(("nummer", "numero")))

    @property
    def is_figure(self) -> bool:
        return self.kind == "number" and not self.is_id and not self.is_year

    @property
    def is_rate(self) -> bool:
        """Figures whose sum says nothing."""
        return bool(self.words) and self.words[-1].endswith(_RATES)

    @property
    def is_added_up(self) -> bool:
        core = [word for word in self.words if word not in GENERIC] or list(self.words)
        return self.is_figure and bool(core) and core[-1] in ADDED_UP and not CHANGES & set(self.words)

    @property
    def is_group(self) -> bool:
        if self.kind == "number" and not self.is_year:
            return "INT" in self.type and self.distinct <= GROUPED and not self.is_added_up
        return True


@dataclass(frozen=True)
class Table:
    """A table that SQL can reach."""

    name: str
    handle: str
    file_name: str
    rows: int
    columns: tuple[Column, ...]
    sheet: str = ""
    united: tuple[str, ...] = ()
    """SQL names of tables of the same shape that are read as one."""

    @property
    def source(self) -> str:
        """What to select from."""
        parts = " UNION ALL BY NAME ".join(f"SELECT * FROM {quoted(name)}" for name in self.united)
        return f"({parts})" if parts else quoted(self.name)

    @property
    def shape(self) -> tuple[tuple[str, str], ...]:
        return tuple((column.name, column.type) for column in self.columns)

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The ways to name it, as words."""
        stem = re.sub(r"\.\w{1,8}$", "", self.file_name)
        return [
            tuple(w.key for w in split_words(name)) for name in (self.file_name, stem, self.name, self.handle, self.sheet) if name
        ]

    @property
    def nouns(self) -> list[str]:
        """What one row is: `orders` of orders.csv, or of a column order_id without a repetition."""
        words = [w for w in name_words(re.sub(r"\.\w{1,8}$", "", self.file_name)) if not w[0].isdigit()]
        found = [words[-1]] if words and not {"by", "per", "of", "nach", "pro", "je", "par", "por"} & set(words) else []
        keys = [c for c in self.columns if c.is_id and c.nulls == 0 and c.distinct == self.rows > 1 and len(c.words) == 2]
        return [*found, *(c.words[0] + "s" for c in keys)]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def called(self, words: Sequence[str]) -> tuple[list[Column], bool]:
        """The columns that these words name equally well, and whether that has to be said because it is not quite their name."""
        asked, joined = tuple(words), "".join(words)
        exact = [c for c in self.columns if c.words == asked or "".join(c.words) == joined]
        plural = [c for c in self.columns if _same(asked, c.words)]
        core = [c for c in self.columns if _same(asked, tuple(w for w in c.words if w not in GENERIC))]
        ends = [c for c in self.columns if len(asked) < len(c.words) and _same(asked, c.words[-len(asked) :])]
        last = [c for c in ends if not CHANGES & set(c.words[: -len(asked)]) - {"unit"}]
        return next(
            ((found, found is not exact and found is not plural) for found in (exact, plural, core, last) if found), ([], False)
        )


def _same(asked: Sequence[str], name: Sequence[str]) -> bool:
    return len(asked) == len(name) > 0 and all(map(same_word, asked, name))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def name_words(name: str) -> tuple[str, ...]:
    """`Net_Revenue (EUR)` -> net, revenue, eur."""
    return tuple(word.key for word in split_words(re.sub(r"[^\w]|_", " ", name)))


def read_table(profile: Json, handle: str, file_name: str) -> Table:
    """From `data["profile"]` of describe_table."""
    sample = profile.get("sample") or []
    columns = [_column(c, [row[i] for row in sample if i < len(row)]) for i, c in enumerate(profile["columns"])]
    place = re.match(r"sheet ([^!]+)", str(profile.get("place") or ""))
    return Table(profile["name"], handle, file_name, int(profile["rows"]), tuple(columns), place[1] if place else "")


def _column(c: Json, sample: list[Any]) -> Column:
    top = tuple((value, int(count)) for value, count in c.get("top") or ())
    seen = [str(v) for v in (*(value for value, _ in top), *sample) if v is not None]
    text_date = c["type"] == "VARCHAR" and bool(seen) and all(_ISO_DATE.fullmatch(v) for v in seen)
    kind = "date" if text_date else kind_of(c["type"])
    return Column(
        c["name"], c["type"], kind, name_words(c["name"]), int(c.get("distinct") or 0), int(c.get("nulls") or 0),
        c.get("min"), c.get("max"), c.get("mean"), top, tuple(dict.fromkeys(seen)) if kind == "text" else (), text_date,
    )  # fmt: skip


def kind_of(sql_type: str) -> str:
    if sql_type.startswith(_NUMBERS):
        return "number"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    return "bool" if sql_type == "BOOLEAN" else "text"


def _in_history(value: Any) -> bool:
    try:
        return 1500 <= float(value) <= 2200
    except (TypeError, ValueError):
        return False


def lookup_sql(table: Table, texts: Sequence[str]) -> str:
    """Which text columns hold these texts as whole cells, whatever their case and accents; empty where there is none."""
    wanted = ", ".join(map(literal, texts))
    parts = (
        f'SELECT {literal(c.name)} AS "column", {quoted(c.name)} AS "value" FROM {table.source} '
        f"WHERE strip_accents(lower(trim({quoted(c.name)}))) IN ({wanted}) GROUP BY 2"
        for c in table.columns
        if c.type == "VARCHAR"
    )
    return " UNION ALL ".join(parts) if wanted else ""


def shapes_sql(names: Sequence[str]) -> str:
    """The columns of tables that were not described."""
    parts = (f"SELECT '{name}' AS t, column_name, column_type FROM (DESCRIBE {quoted(name)})" for name in names)
    return " UNION ALL ".join(parts)


def known_values(table: Table, found: Sequence[Sequence[Any]] = ()) -> dict[str, dict[str, list[str]]]:
    """Folded text -> column -> the values that are written so, from the profile and from rows of `lookup_sql`."""
    known: dict[str, dict[str, list[str]]] = {}
    pairs = [(c.name, value) for c in table.columns for value in c.values] + [(str(c), str(v)) for c, v in found]
    for column, value in pairs:
        spelt = known.setdefault(fold(value), {}).setdefault(column, [])
        if value not in spelt:
            spelt.append(value)
    return known
