"""Tables and columns as the rules see them, from the data of describe_table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from leaf.agent.rules.words import bare, name_words, word_set

Json = dict[str, Any]

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
)
_NOT_SUMMED = word_set(
    """
    price rate ratio percent percentage pct share age score rating grade gpa temperature temp average avg mean median
    year index lat latitude lon longitude salary wage height speed density per preis alter anteil quote note jahr
    gehalt weight
    """
)


@dataclass(frozen=True)
class Column:
    """A column, and what is known of its values."""

    name: str
    type: str
    kind: str
    """`number`, `date`, `text` or `bool`."""
    distinct: int = 0
    nulls: int = 0
    min: Any = None
    max: Any = None
    mean: float | None = None
    values: tuple[str, ...] = ()
    """Values known from the profile: the most frequent, and those of the sample."""
    top: tuple[tuple[Any, int], ...] = ()
    words: tuple[str, ...] = field(default=())
    text_date: bool = False
    """Dates that are stored as text."""

    @property
    def sql(self) -> str:
        quoted = '"' + self.name.replace('"', '""') + '"'
        return f"TRY_CAST({quoted} AS TIMESTAMP)" if self.text_date else quoted

    @property
    def is_prose(self) -> bool:
        """Whether the cells are sentences rather than values."""
        return bool(self.values) and sum(map(len, self.values)) > 60 * len(self.values)

    @property
    def is_year(self) -> bool:
        """Whole numbers that are years."""
        named = bool({"year", "jahr", "yr"} & set(self.words))
        return self.kind == "number" and named and _within(self.min, 1500) and _within(self.max, 1500)

    @property
    def is_id(self) -> bool:
        return bool(self.words) and self.words[-1] in ("id", "no", "nr", "key", "code", "zip", "index", "postcode", "plz")

    @property
    def is_measure(self) -> bool:
        return self.kind == "number" and not self.is_id and not self.is_year

    @property
    def summed(self) -> bool:
        """Whether adding its values up makes sense: revenue does, a price or an age does not."""
        return not _NOT_SUMMED & set(self.words)


@dataclass(frozen=True)
class TableProfile:
    """A table that SQL can reach."""

    name: str
    handle: str
    file_name: str
    rows: int
    columns: tuple[Column, ...]

    @property
    def sql(self) -> str:
        return '"' + self.name.replace('"', '""') + '"'

    @property
    def words(self) -> tuple[str, ...]:
        return name_words(re.sub(r"\.\w{1,8}$", "", self.file_name))

    def of_kind(self, *kinds: str) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]

    @property
    def measures(self) -> list[Column]:
        return [column for column in self.columns if column.is_measure]


def read_profile(profile: Json, handle: str, file_name: str) -> TableProfile:
    """From `data["profile"]` of describe_table."""
    sample = profile.get("sample") or []
    columns = [_column(c, [row[i] for row in sample if i < len(row)]) for i, c in enumerate(profile["columns"])]
    return TableProfile(profile["name"], handle, file_name, int(profile["rows"]), tuple(columns))


def _column(c: Json, sample: list[Any]) -> Column:
    top = tuple((value, int(count)) for value, count in c.get("top") or ())
    seen = [str(v) for v in (*(value for value, _ in top), *sample) if v is not None]
    text_date = c["type"] == "VARCHAR" and bool(seen) and all(_ISO_DATE.fullmatch(v) for v in seen)
    return Column(
        name=c["name"],
        type=c["type"],
        kind="date" if text_date else _kind(c["type"]),
        distinct=int(c.get("distinct") or 0),
        nulls=int(c.get("nulls") or 0),
        min=c.get("min"),
        max=c.get("max"),
        mean=c.get("mean"),
        values=tuple(dict.fromkeys(seen)) if _kind(c["type"]) == "text" and not text_date else (),
        top=top,
        words=name_words(c["name"]),
        text_date=text_date,
    )


def _kind(sql_type: str) -> str:
    if sql_type.startswith((*_NUMBERS, "DECIMAL")):
        return "number"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    return "bool" if sql_type == "BOOLEAN" else "text"


def _within(value: Any, least: int) -> bool:
    try:
        return least <= float(value) <= 2200
    except (TypeError, ValueError):
        return False


def find_value(column: Column, words: str) -> str | None:
    """The column's value that these words are, whatever their case, accents and punctuation."""
    wanted = bare(words)
    return next((value for value in column.values if bare(value) == wanted), None) if wanted else None
