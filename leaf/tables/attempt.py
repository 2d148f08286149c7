"""One statement over its views, in the confined child."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.tables.connection import check_reading
from leaf.tables.cuts import cut_of
from leaf.tables.firsts import first_rows, limited
from leaf.tables.rows import ALL, KIND, ROW, all_rows, data_rows
from leaf.tables.sql import quoted, without_semicolon
from leaf.tables.touched import read_columns
from leaf.tables.values import BATCH, projection, type_name, unique, write

if TYPE_CHECKING:
    import duckdb

Json = dict[str, Any]


class Attempt:
    """One statement over its views."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        sql: str,
        tables: Mapping[str, str],
        rows: Mapping[str, Json],
    ) -> None:
        self.con, self.sql, self.tables, self.rows = con, sql, tables, rows
        self.used: list[str] = []
        """Names of the tables that it reads, as far as that was found out."""
        self.views_read: list[str] = []
        """The same with NAME__all for those of which it reads every row."""
        self._views: list[str] = []

    def run(self, path: Path) -> Json:
        """Write the whole result. Raises duckdb.Error, QueryError."""
        self.sql = without_semicolon(self.sql)
        check_reading(self.con, self.sql)
        used_names = self.views_read = self._make_views()
        relation = self.con.sql(self.sql)
        places = _kept(relation.columns)
        all_types = [type_name(t) for t in relation.types]
        columns, types = (
            unique([relation.columns[i - 1] for i in places]),
            [all_types[i - 1] for i in places],
        )
        read = read_columns(self.con, self.sql, self.columns())
        reader = relation.project(projection(columns, types, places)).to_arrow_reader(BATCH)
        shown, total, clipped = write(reader, path)
        root = limited(self.con, self.sql)
        cut = cut_of(self.con, root, total, self._results())
        own = [name for name in self.used if name in self.tables]
        about = {
            "columns": columns,
            "types": types,
            "rows": shown,
            "total": total,
            "clipped": clipped,
        }
        return {
            **about,
            "tables": self.used,
            "read": read,
            "first": first_rows(self.con, root, own, total, cut.of),
            **vars(cut),
            "data_only": [name for name in used_names if name in self.tables],
        }

    def _results(self) -> list[str]:
        """Names of kept results among its tables."""
        return [name for name, rows in self.rows.items() if rows.get("result")]

    def look(self) -> None:
        """Name the tables of a statement that could not be read so far that this was done."""
        if not self._views:
            self._make_views()

    def columns(self) -> list[str]:
        """Of the tables that it reads."""
        return [name for name, _ in self.typed()]

    def typed(self) -> list[tuple[str, str]]:
        """Columns of the tables that it reads, with their types."""
        views = [self.con.table(name) for name in self.used if name in self._views]
        return [
            (c, type_name(t))
            for view in views
            for c, t in zip(view.columns, view.types, strict=True)
        ]

    def reserved(self) -> list[str]:
        """Words that name no column without quotes."""
        rows = self.con.sql(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        ).fetchall()
        return [word for (word,) in rows]

    def drop_views(self) -> None:
        for name in self._views:
            self.con.execute(f"DROP VIEW {quoted(name)}")
        self._views = []

    def _make_views(self) -> list[str]:
        """Name every table; what of them the statement reads."""
        sql, tables = self.sql, self.tables
        everything = {
            f"{name}{ALL}": name
            for name in tables
            if f"{name}{ALL}" in sql.lower() and f"{name}{ALL}" not in tables
        }
        used_names = used_tables(self.con, sql, [*tables, *everything])
        self.used = list(dict.fromkeys(everything.get(name, name) for name in used_names))
        numbered = re.search(r"\b_row\b", sql) is not None
        views = {
            name: data_rows(path, self.rows.get(name, {}), numbered)
            for name, path in tables.items()
        }
        views |= {
            view: all_rows(tables[name], self.rows.get(name, {}))
            for view, name in everything.items()
        }
        for name, rows in views.items():
            self.con.execute(f"CREATE VIEW {quoted(name)} AS {rows}")
            self._views.append(name)
        return used_names


def _kept(columns: Sequence[str]) -> list[int]:
    """Places of a result's columns, from 1; `SELECT *, _row` gives `_row` twice, of which one is
    enough."""
    seen: set[str] = set()
    places = []
    for place, column in enumerate(columns, 1):
        name = re.sub(r"^(_row|_kind)[_:]\d+$", r"\1", column)
        if name in (ROW, KIND) and name in seen:
            continue
        seen.add(name)
        places.append(place)
    return places


def used_tables(con: duckdb.DuckDBPyConnection, sql: str, tables: Sequence[str]) -> list[str]:
    """The tables that the query reads. Asked before there are views: of a view DuckDB would name
    what is behind it."""
    import duckdb

    try:
        names = {name.lower() for name in con.get_table_names(sql)}
    except duckdb.Error:  # a PIVOT, or columns that only the tables themselves could tell
        names = {word.strip('"').lower() for word in re.findall(r'"[^"]+"|\w+', sql)}
    return [name for name in tables if name.lower() in names]
