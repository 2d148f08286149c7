"""Tools that work on tables: describe_table, query_tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, Field

from leaf.errors import FileError, InvalidInputError, NotFoundError, not_found
from leaf.files.library import name_key
from leaf.formats.base import KINDS, Note, holds_tables, may_hold_tables
from leaf.formats.notes import Effect, effect
from leaf.store.model import ChatFile
from leaf.tables.results import united
from leaf.tables.tables import ColumnProfile, Profile, QueryResult, Table, asks_which, in_order
from leaf.tools import remarks
from leaf.tools.base import Json, Source, Tool, ToolContext, ToolOutput, find_file, gone, quoted

TEXT_CHARACTERS = 20_000
"""Longest table text for the model, about 8,000 tokens."""
COLUMNS_DESCRIBED = 60
COLUMNS_SAMPLED = 25
TABLES_LISTED = 20
CELL_CHARACTERS = 200


class DescribeTableInput(BaseModel):
    file: str = Field(title="File", description="Handle (f1), name of the file, or SQL name of a table.")
    sheet: str = Field("", title="Sheet", description="Sheet or SQL table name, where the file holds several tables.")


def describe_table(context: ToolContext, given: DescribeTableInput) -> ToolOutput:
    """Schema, counts and a sample of one table, and the names of the file's other tables."""
    chat_file, wanted = _file_and_table(context, given)
    tables = _tables_of(context, chat_file)
    table = _choose(tables, wanted, chat_file)
    profile = context.tables.describe(context.scope, table, context.stop)
    others = [t for t in in_order(tables) if t.name != table.name]
    return ToolOutput(
        _describe(table, profile, others),
        f"Looked at the columns of {table.name}: {profile.rows:,} rows × {len(profile.columns)} columns",
        sources=(Source(table.handle, table.file_id, table.file_name, place_of(table), "described"),),
        coverage=(remarks.coverage(remarks.Reading(table)),),
        data={
            "profile": _profile_json(table, profile),
            "others": [t.name for t in others],
            "beside": beside_json(others),
            **findings_json(table),
            **remarks.of_columns(table).to_json(),
        },
    )


def _file_and_table(context: ToolContext, given: DescribeTableInput) -> tuple[ChatFile, str]:
    """The file, and the table or sheet wanted in it. A model often gives the SQL name where the file belongs."""
    name = given.file.strip().strip('"').lower()
    try:
        found = find_file(context, given.file)
    except NotFoundError:
        owner = max((c for c in context.files if name.startswith(c.slug)), key=lambda c: len(c.slug), default=None)
        if owner is None:
            raise
        return owner, given.sheet or name
    return found, given.sheet or (name if name == found.slug else "")


def _tables_of(context: ToolContext, chat_file: ChatFile) -> Sequence[Table]:
    """Raises FileError where the file holds no table."""
    file = chat_file.file
    if file.outline.get("error"):
        raise FileError(str(file.outline["error"]), str(file.outline.get("hint", "")))
    kind = KINDS.get(file.kind)
    if not may_hold_tables(file.kind, file.outline):
        label = kind.label if kind else "unknown kind of file"
        raise InvalidInputError(f"{file.name} is no table ({label}).", "Use read_file or search_files.")
    found = context.tables.of(context.scope, [chat_file], context.stop, context.progress)
    if file.id in found.failures:
        raise FileError(found.failures[file.id])
    if not found.tables:
        why = [str(n["text"]) for n in file.outline.get("notes") or () if n.get("kind") == "no-cached-values"]
        raise FileError(" ".join([f"{file.name} holds no table.", *why[:1]]), "Use read_file to see what it holds.")
    return found.tables


def _choose(tables: Sequence[Table], wanted: str, chat_file: ChatFile) -> Table:
    """The table with that SQL name, else the first of that sheet; without one the first of all, as `list_files` names them."""
    ordered = in_order(tables)
    asked = name_key(wanted)
    if not asked:
        return ordered[0]
    found = [t for t in ordered if name_key(t.name) == asked] or [t for t in ordered if name_key(t.sheet) == asked]
    if found:
        return found[0]
    if asked == chat_file.slug:
        return ordered[0]
    names = [name for t in tables for name in (t.sheet, t.name) if name]
    raise not_found("sheet or table", wanted, names, chat_file.file.name)


def place_of(table: Table) -> str:
    """Locator of a table in its file: `sheet Summary!A4:F1204`, `lines 3-1204`, `slide 3`."""
    if table.sheet and not table.inside:
        return f"sheet {table.sheet}!{table.place}" if table.place else f"sheet {table.sheet}"
    return table.place


def beside_json(tables: Sequence[Table]) -> list[Json]:
    """Tables of the same files that a call did not read, for what an answer did not touch."""
    return [{"file_id": t.file_id, "name": t.label, "table": t.name} for t in tables[:TABLES_LISTED]]


def _excluded_at(table: Table) -> str:
    """`2 left out as subtotals (rows 4, 7 of Q3.xlsx, sheet Data)`."""
    sheet = f", sheet {table.sheet}" if table.sheet else ""
    return f"{table.excluded} ({table.excluded_places} of {table.file_name}{sheet})"


def _describe(table: Table, profile: Profile, others: Sequence[Table]) -> str:
    place = place_of(table)
    hidden = ", hidden sheet" if table.hidden else ""
    lines = [
        f"Table {table.name} · {table.file_name} ({table.handle}){f', {place}' if place else ''}{hidden} · "
        f"{profile.rows:,} rows × {len(profile.columns)} columns; every row was scanned"
    ]
    if table.left_out:
        lines.append(f"Not counted: {_excluded_at(table)}; {table.name}__all has them, with _row and _kind.")
    if table.doubtful_counts:
        lines += [f"Doubtful: {doubt['text']}." for doubt in remarks.doubts(table)]
    said = [n for n in table.findings if not (table.doubtful_counts and effect(n.kind) is Effect.DOUBT)]
    lines += ["Notes: " + " ".join(remarks.sentence(table, n, remarks.PLACE) for n in said)] if said else []
    lines += _estimates(profile)
    lines.append("Columns:")
    lines += [_describe_column(column, profile) for column in profile.columns[:COLUMNS_DESCRIBED]]
    left = profile.columns[COLUMNS_DESCRIBED:]
    if left:
        unnamed = ", ".join(f'"{c.name}"' for c in left[:200])
        lines.append(f"… and {len(left)} more columns, not described: {unnamed}{' …' if len(left) > 200 else ''}")
    names = [c.name for c in profile.columns][:COLUMNS_SAMPLED]
    cut = f", first {COLUMNS_SAMPLED} columns" if len(profile.columns) > COLUMNS_SAMPLED else ""
    lines.append(f"First {len(profile.sample)} rows{cut}:")
    lines.append(text_table(names, [list(row)[:COLUMNS_SAMPLED] for row in profile.sample])[0])
    if others:
        listed = ", ".join(f"{t.name} ({t.rows:,} rows{', hidden' if t.hidden else ''})" for t in others[:TABLES_LISTED])
        more = f" and {len(others) - TABLES_LISTED} more" if len(others) > TABLES_LISTED else ""
        lines.append(f"Other tables of this file: {listed}{more}")
    return "\n".join(lines)


def _at(finding: Note) -> str:
    """Where a finding is, for the model: cells of the sheet, else rows."""
    place = finding.cells or finding.place
    return f" [{quoted(place, 120)}]" if place else ""


def _estimates(profile: Profile) -> list[str]:
    """What is not exact of a large table, and what is to be queried where it has to be."""
    if not profile.approximate:
        return []
    if profile.estimated:
        exact = "count(DISTINCT x) and quantile_cont(x, 0.5) in query_tables give exact ones"
        return [
            f"Note: numbers of distinct values and quartiles marked ≈ are estimates, a few percent off at most times; {exact}."
        ]
    exact = "count(DISTINCT x) in query_tables gives the exact one"
    return [
        f"Note: numbers of distinct values marked ≈ are estimates, a few percent off at most times; {exact}. All else is exact."
    ]


def _describe_column(column: ColumnProfile, profile: Profile) -> str:
    facts = [f"{column.nulls:,} nulls", f"{'≈' if profile.approximate else ''}{column.distinct:,} distinct"]
    if column.top:
        facts.append("top: " + ", ".join(f"{_cell(value)} ({count:,})" for value, count in column.top))
    if column.min is not None:
        facts.append(f"min {_cell(column.min)}, max {_cell(column.max)}")
        if column.mean is not None:
            facts.append(f"mean {column.mean:,.6g}")
        if column.std is not None:
            facts.append(f"std {column.std:,.6g}")
        if column.quartiles:
            facts.append(f"quartiles {'≈' if profile.estimated else ''}{', '.join(map(_figure, column.quartiles))}")
    if column.cast:
        facts.append(f"dates kept as text: {column.cast}")
    return f'- "{column.name}" {column.type} · ' + " · ".join(facts)


def _figure(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else _cell(value)


def findings_json(table: Table) -> Json:
    """What the page shows of how a table was read."""
    return {
        "notes": [f"{finding.text}{_at(finding)}" for finding in table.findings],
        "findings": [asdict(finding) for finding in table.findings],
    }


def _profile_json(table: Table, profile: Profile) -> Json:
    columns = [
        {
            "name": c.name,
            "type": c.type,
            "nulls": c.nulls,
            "distinct": c.distinct,
            "min": c.min,
            "max": c.max,
            "mean": c.mean,
            "std": c.std,
            "quartiles": list(c.quartiles),
            "top": [list(pair) for pair in c.top],
        }
        for c in profile.columns
    ]
    about = {
        "name": table.name,
        "file": table.file_name,
        "handle": table.handle,
        "file_id": table.file_id,
        "place": place_of(table),
    }
    return {**about, "rows": profile.rows, "columns": columns, "sample": [list(row) for row in profile.sample]}


class QueryTablesInput(BaseModel):
    sql: str = Field(description="One DuckDB SELECT statement.", min_length=1)


def query_tables(context: ToolContext, given: QueryTablesInput) -> ToolOutput:
    """Rows of a query with the true total; the whole result is kept under its id."""
    result = run_query(context, given.sql)
    text, shown = text_table(result.columns, result.rows)
    readings = readings_of(result)
    said = remarks.new(readings, context.hooks.told)
    used = ", ".join(f"{r.table.name} ({_how_many(r)})" for r in readings) or "no table"
    through = "".join(f" Read result {r.name} ({r.total:,} rows), which rests on that." for r in result.results)
    head = f"Result {result.result_id}: {result.total:,} rows; {shown:,} shown below. Scanned {used}.{through}"
    if result.clipped:
        head += f" {result.clipped:,} long cells are cut."
    return ToolOutput(
        "\n".join([head, *result.said, *_told_apart(context, given.sql), *said.spoken, text]),
        in_words(result),
        sources=_query_sources(result),
        coverage=tuple(remarks.coverage(r) for r in readings),
        data={"table": table_json(result), "beside": beside_json(result.beside), **said.to_json()},
    )


def _told_apart(context: ToolContext, sql: str) -> list[str]:
    """A word where a file's table has the name of a kept result."""
    kept = set(context.tables.result_names(context.scope, context.chat_id, context.turn))
    named = [c for c in context.files if c.slug in kept and re.search(rf"\b{c.slug}\b", sql, re.IGNORECASE)]
    return [f"{c.slug} is the table of {c.file.name} here, not the result {c.slug}." for c in named]


def readings_of(result: QueryResult) -> list[remarks.Reading]:
    """The tables that a query read, itself or through kept results, each with what it read of it."""
    return [remarks.Reading(t, t.name in result.data_only, _read(result, t)) for t in result.tables]


def _read(result: QueryResult, table: Table) -> frozenset[str] | None:
    """The columns of a table that a query reads, itself or through kept results; None for any."""
    through = [r.read for r in result.results if any((t.file_id, t.name) == (table.file_id, table.name) for t in r.tables)]
    own = not through or re.search(rf"(?<!\w){re.escape(table.name)}", result.sql, re.IGNORECASE)
    return united([*([result.read] if own else []), *through])


def _how_many(reading: remarks.Reading) -> str:
    """`8 rows`, `6 of 8 rows`."""
    read = remarks.coverage(reading)
    return f"{read.seen:,} rows" if read.seen == read.total else f"{read.seen:,} of {read.total:,} rows"


def run_query(context: ToolContext, sql: str) -> QueryResult:
    """Query the files that the SQL names. All are converted only if that fails, so that the error can name the nearest."""
    asked, whole = name_key(sql), asks_which(sql)
    behind = context.tables.files_behind(context.scope, context.chat_id, sql)
    words = set(re.findall(r"\w+", sql.lower()))

    def is_named(c: ChatFile) -> bool:
        stem = name_key(c.file.base.rpartition(".")[0] or c.file.base)
        return c.slug in sql.lower() or stem in asked or c.handle in words or c.file.id in behind

    named = [c for c in context.files if whole or is_named(c)]
    for deleted in context.deleted:
        if deleted.slug in sql.lower() and not any(deleted.slug in c.slug for c in named):
            raise gone(deleted)

    def ask(files: Sequence[ChatFile]) -> QueryResult:
        return context.tables.query(context.scope, context.chat_id, files, sql, context.stop, context.progress, turn=context.turn)

    try:
        return ask(named)
    except NotFoundError as e:
        if len(named) == len(context.files):
            raise _without_table(context, e) from e
    try:
        return ask(context.files)
    except NotFoundError as e:
        raise _without_table(context, e) from e


def _without_table(context: ToolContext, error: NotFoundError) -> NotFoundError:
    """The error, or what is said where the table that is not there is a file of another kind."""
    texts = [c.file.name for c in context.files if not holds_tables(c.file.kind, c.file.outline)]
    name = next((name for name in texts if f"'{name}'" in error.message), "")
    return NotFoundError(f"'{name}' has no table: read it with read_file or search_files.") if name else error


def table_json(result: QueryResult) -> Json:
    """What the page draws of a result."""
    return {
        "columns": result.columns,
        "types": result.types,
        "rows": result.rows,
        "total": result.total,
        "result_id": result.result_id,
        "seconds": result.seconds,
        "sql": result.sql,
        "clipped": result.clipped,
        "scanned": [_scanned(t, t.name in result.data_only) for t in result.tables],
        "left_out": [f"{t.name}: {_excluded_at(t)}" for t in result.tables if t.name in result.data_only and t.left_out],
        "places": list(result.places),
        "said": list(result.said),
    }


def _scanned(table: Table, data_only: bool) -> Json:
    """Where a result's rows come from: table, file as it was then, place in it, and how many rows were read of how many."""
    read = remarks.coverage(remarks.Reading(table, data_only))
    about = {"name": table.name, "file": table.file_name, "file_id": table.file_id, "sha256": table.sha256}
    return {**about, "sheet": table.sheet, "place": place_of(table), "rows": read.seen, "total": read.total}


def _query_sources(result: QueryResult) -> tuple[Source, ...]:
    return tuple(Source(t.handle, t.file_id, t.file_name, place_of(t), "queried", query=result.sql) for t in result.tables)


_VERBS = (
    (r"\bsum\(\s*\"?([\w .%-]+?)\"?\s*\)", "Summed {}"),
    (r"\bavg\(\s*\"?([\w .%-]+?)\"?\s*\)", "Averaged {}"),
    (r"\bmedian\(\s*\"?([\w .%-]+?)\"?\s*\)", "Took the median of {}"),
    (r"\bmax\(\s*\"?([\w .%-]+?)\"?\s*\)", "Found the largest {}"),
    (r"\bmin\(\s*\"?([\w .%-]+?)\"?\s*\)", "Found the smallest {}"),
    (r"\bcount\(", "Counted rows"),
)


def in_words(result: QueryResult) -> str:
    """The query in plain words, as far as its shape is a common one: `Summed revenue by region in q3_sales: 4 rows`."""
    tables = ", ".join(t.name for t in result.tables) or "no table"
    said = "Queried"
    for pattern, words in _VERBS:
        found = re.search(pattern, result.sql, re.IGNORECASE)
        if found:
            said = words.format(*found.groups())
            break
    grouped = re.search(r"\bgroup\s+by\s+(\"[^\"]+\"|\w+)", result.sql, re.IGNORECASE)
    key = grouped.group(1).strip('"') if grouped else ""
    if key == "1" or key.lower() == "all":
        key = result.columns[0]
    by = f" by {key}" if key else ""
    rows = f"{result.total:,} row{'s' if result.total != 1 else ''}"
    return quoted(f"{said}{by} {'' if said == 'Queried' and not by else 'in '}{tables}: {rows}", 160)


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], limit: int = TEXT_CHARACTERS) -> tuple[str, int]:
    """Lines of cells between bars, and how many rows fitted into the budget."""
    lines = [" | ".join(columns)]
    used = len(lines[0])
    for row in rows:
        line = " | ".join(_cell(value) for value in row)
        used += len(line) + 1
        if used > limit and len(lines) > 1:
            break
        lines.append(line)
    return "\n".join(lines), len(lines) - 1


def _cell(value: Any) -> str:
    """A value so that it can be copied into SQL: what blanks at its ends or lines would hide stands in quotes."""
    if value is None:
        return "NULL"
    text = str(value)
    if len(text) > CELL_CHARACTERS:
        return re.sub(r"[\r\n\t\v\f\u2028\u2029\x85]", " ", text[: CELL_CHARACTERS - 1]).replace("|", "\\|") + "…"
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text):
        return "E'" + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + "'"
    if not text or text != text.strip():
        return "'" + text.replace("'", "''") + "'"
    return text.replace("|", "\\|")


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}


TOOLS = (
    Tool(
        "describe_table",
        "Schema of one table: SQL name, row count, per column type, nulls, distinct values, range, mean, std and quartiles or "
        "most frequent values, five sample rows, and notes on how it was read.",
        DescribeTableInput,
        describe_table,
        "Looking at a table",
        icon="table_chart_view",
        replay="step",
    ),
    Tool(
        "query_tables",
        "Run one DuckDB SELECT over the chat's tables by their SQL names (list_files, describe_table); put column names in "
        "double quotes. Returns at most 200 rows with the true total and a result id; the whole result is kept: FROM r1 reads "
        "it, here and in run_python.",
        QueryTablesInput,
        query_tables,
        "Querying tables",
        icon="database",
        replay="query",
    ),
)
