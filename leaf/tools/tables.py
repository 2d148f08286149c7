"""Tools that work on tables: describe_table, query_tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from leaf.errors import FileError, InvalidInputError, NotFoundError, not_found
from leaf.files.library import name_key
from leaf.readers.base import KINDS, Note, holds_tables, may_hold_tables
from leaf.shapes.results import (
    Finding,
    ProfileShown,
    TableShown,
    ToldResult,
    UnreadTable,
)
from leaf.store.model import ChatFile
from leaf.tables.mentions import asks_which
from leaf.tables.queries import QueryResult
from leaf.tables.results import united
from leaf.tables.table import Table, in_order
from leaf.tools import remarks
from leaf.tools.base import Source, Tool, ToolContext, ToolOutput, find_file, gone, quoted
from leaf.tools.table_data import beside_json, findings_json, place_of, profile_json, table_json
from leaf.tools.table_text import describe, text_table


class DescribeTableInput(BaseModel):
    file: str = Field(
        title="File", description="Handle (f1), name of the file, or SQL name of a table."
    )
    sheet: str = Field(
        "",
        title="Sheet",
        description="Sheet or SQL table name, where the file holds several tables.",
    )


class TableDescribed(ToldResult):
    profile: ProfileShown
    others: list[str]
    beside: list[UnreadTable]
    notes: list[str]
    findings: list[Finding]


def describe_table(context: ToolContext, given: DescribeTableInput) -> ToolOutput:
    """Schema, counts and a sample of one table, and the names of the file's other tables."""
    chat_file, wanted = _file_and_table(context, given)
    tables = _tables_of(context, chat_file)
    table = _choose(tables, wanted, chat_file)
    profile = context.tables.profiles.describe(context.scope, table, context.stop)
    others = [t for t in in_order(tables) if t.name != table.name]
    return ToolOutput(
        describe(table, profile, others),
        f"Looked at the columns of {table.name}: {_rows(profile.rows)} × "
        f"{len(profile.columns)} column{'s' if len(profile.columns) != 1 else ''}",
        sources=(
            Source(table.handle, table.file_id, table.file_name, place_of(table), "described"),
        ),
        coverage=(remarks.coverage(remarks.ReadTable(table)),),
        data=TableDescribed(
            profile=profile_json(table, profile),
            others=[t.name for t in others],
            beside=beside_json(others),
            notes=[f"{finding.text}{_at(finding)}" for finding in table.findings],
            findings=findings_json(table),
            **remarks.of_columns(table).to_json(),
        ),
    )


def _at(finding: Note) -> str:
    """Where a finding is, for the model: cells of the sheet, else rows."""
    place = finding.cells or finding.place
    return f" [{quoted(place, 120)}]" if place else ""


def _file_and_table(context: ToolContext, request: DescribeTableInput) -> tuple[ChatFile, str]:
    """The file, and the table or sheet wanted in it. A model often gives the SQL name where the
    file belongs."""
    name = request.file.strip().strip('"').lower()
    try:
        chat_file = find_file(context, request.file)
    except NotFoundError:
        owner = max(
            (c for c in context.files if name.startswith(c.slug)),
            key=lambda c: len(c.slug),
            default=None,
        )
        if owner is None:
            raise
        return owner, request.sheet or name
    return chat_file, request.sheet or (name if name == chat_file.slug else "")


def _tables_of(context: ToolContext, chat_file: ChatFile) -> Sequence[Table]:
    """Raises FileError where the file holds no table."""
    file = chat_file.file
    if file.outline.get("error"):
        raise FileError(str(file.outline["error"]), str(file.outline.get("hint", "")))
    kind = KINDS.get(file.kind)
    if not may_hold_tables(file.kind, file.outline):
        label = kind.label if kind else "unknown kind of file"
        raise InvalidInputError(
            f"{file.name} is no table ({label}).", "Use read_file or search_files."
        )
    table_set = context.tables.of(context.scope, [chat_file], context.stop, context.progress)
    if file.id in table_set.failures:
        raise FileError(table_set.failures[file.id])
    if not table_set.tables:
        why = [
            str(n["text"])
            for n in file.outline.get("notes") or ()
            if n.get("kind") == "no-cached-values"
        ]
        raise FileError(
            " ".join([f"{file.name} holds no table.", *why[:1]]),
            "Use read_file to see what it holds.",
        )
    return table_set.tables


def _choose(tables: Sequence[Table], wanted: str, chat_file: ChatFile) -> Table:
    """The table with that SQL name, else the first of that sheet; without one the first of all, as
    `list_files` names them."""
    ordered = in_order(tables)
    asked = name_key(wanted)
    if not asked:
        return ordered[0]
    matches = [t for t in ordered if name_key(t.name) == asked] or [
        t for t in ordered if name_key(t.sheet) == asked
    ]
    if matches:
        return matches[0]
    if asked == chat_file.slug:
        return ordered[0]
    names = [name for t in tables for name in (t.sheet, t.name) if name]
    raise not_found("sheet or table", wanted, names, chat_file.file.name)


class QueryTablesInput(BaseModel):
    sql: str = Field(description="One DuckDB SELECT statement.", min_length=1)


class TableQueried(ToldResult):
    table: TableShown
    beside: list[UnreadTable]


def query_tables(context: ToolContext, given: QueryTablesInput) -> ToolOutput:
    """Rows of a query with the true total; the whole result is kept under its id."""
    result = run_query(context, given.sql)
    shown = text_table(result.columns, result.rows)
    readings = readings_of(result)
    notes = remarks.new(readings, context.hooks.told)
    used = ", ".join(f"{r.table.name} ({_how_many(r)})" for r in readings) or "no table"
    through = "".join(
        f" Read result {r.name} ({_rows(r.total)}), which rests on that." for r in result.results
    )
    head = (
        f"Result {result.result_id}: {_rows(result.total)}; {shown.rows:,} shown below. Scanned "
        f"{used}.{through}"
    )
    if result.clipped:
        head += f" {result.clipped:,} long cells are cut."
    return ToolOutput(
        "\n".join(
            [
                head,
                *result.said,
                *(_firsts(readings) or _limited(result)),
                *_told_apart(context, given.sql),
                *notes.spoken,
                *filter(None, [shown.remark(result.total)]),
                shown.text,
            ]
        ),
        in_words(result),
        sources=_query_sources(result),
        coverage=tuple(remarks.coverage(r) for r in readings),
        data=TableQueried(
            table=table_json(result, shown.rows, shown.cut),
            beside=beside_json(result.beside),
            **notes.to_json(),
        ),
    )


def _firsts(readings: Sequence[remarks.ReadTable]) -> list[str]:
    """A word for each table of which the first rows alone were read, or a sample."""
    return [
        f"Only {reading.seen:,} of {_rows(reading.there)} of {reading.table.name} were read, as they "
        f"come (a LIMIT without ORDER BY, or a sample): nothing about all of them follows."
        for reading in readings
        if reading.seen < reading.there
    ]


def _limited(result: QueryResult) -> list[str]:
    """A word where a LIMIT without an order, or a page of one, left rows of the result out."""
    if result.of < 0 and not result.ranked:
        return [
            f"These are {_rows(result.total)} of those that the query gives without its LIMIT, which "
            f"may be many more: nothing about all of them follows."
        ]
    if result.ranked or result.of <= result.total:
        return []
    return [
        f"These are {result.total:,} of {_rows(result.of)} that the query gives without its LIMIT: "
        f"nothing about all of them follows by reading."
    ]


def _told_apart(context: ToolContext, sql: str) -> list[str]:
    """A word where a file's table has the name of a kept result."""
    names = set(context.tables.results.names(context.scope, context.chat_id, context.turn))
    named = [
        c
        for c in context.files
        if c.slug in names and re.search(rf"\b{c.slug}\b", sql, re.IGNORECASE)
    ]
    return [f"{c.slug} is the table of {c.file.name} here, not the result {c.slug}." for c in named]


def readings_of(result: QueryResult) -> list[remarks.ReadTable]:
    """The tables that a query read, itself or through kept results, each with what it read of
    it."""
    return [
        remarks.ReadTable(
            t,
            t.name in result.data_only,
            _read(result, t),
            result.first.get(t.name),
            -1 if result.results else result.start,
        )
        for t in result.tables
    ]


def _read(result: QueryResult, table: Table) -> frozenset[str] | None:
    """The columns of a table that a query reads, itself or through kept results; None for any."""
    through = [
        r.read
        for r in result.results
        if any((t.file_id, t.name) == (table.file_id, table.name) for t in r.tables)
    ]
    own = not through or re.search(rf"(?<!\w){re.escape(table.name)}", result.sql, re.IGNORECASE)
    return united([*([result.read] if own else []), *through])


def _how_many(reading: remarks.ReadTable) -> str:
    """`8 rows`, `6 of 8 rows`."""
    read = remarks.coverage(reading)
    return _rows(read.seen) if read.seen == read.total else f"{read.seen:,} of {_rows(read.total)}"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' if count != 1 else ''}"


def run_query(context: ToolContext, sql: str) -> QueryResult:
    """Query the files that the SQL names. All are converted only if that fails, so that the error
    can name the nearest."""
    asked, whole = name_key(sql), asks_which(sql)
    behind = context.tables.results.files_behind(context.scope, context.chat_id, sql)
    words = set(re.findall(r"\w+", sql.lower()))

    def is_named(c: ChatFile) -> bool:
        stem = name_key(c.file.base.rpartition(".")[0] or c.file.base)
        return c.slug in sql.lower() or stem in asked or c.handle in words or c.file.id in behind

    named = [c for c in context.files if whole or is_named(c)]
    for deleted in context.deleted:
        if deleted.slug in sql.lower() and not any(deleted.slug in c.slug for c in named):
            raise gone(deleted)

    def ask(files: Sequence[ChatFile]) -> QueryResult:
        return context.tables.queries.query(
            context.scope,
            context.chat_id,
            files,
            sql,
            context.stop,
            context.progress,
            turn=context.turn,
            call=context.key,
            edited=context.edit_id,
        )

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
    return (
        NotFoundError(f"'{name}' has no table: read it with read_file or search_files.")
        if name
        else error
    )


def _query_sources(result: QueryResult) -> tuple[Source, ...]:
    return tuple(
        Source(t.handle, t.file_id, t.file_name, place_of(t), "queried", query=result.sql)
        for t in result.tables
    )


_VERBS = (
    (r"\bsum\(\s*\"?([\w .%-]+?)\"?\s*\)", "Summed {}"),
    (r"\bavg\(\s*\"?([\w .%-]+?)\"?\s*\)", "Averaged {}"),
    (r"\bmedian\(\s*\"?([\w .%-]+?)\"?\s*\)", "Took the median of {}"),
    (r"\bmax\(\s*\"?([\w .%-]+?)\"?\s*\)", "Found the largest {}"),
    (r"\bmin\(\s*\"?([\w .%-]+?)\"?\s*\)", "Found the smallest {}"),
    (r"\bcount\(", "Counted rows"),
)


def in_words(result: QueryResult) -> str:
    """The query in plain words, as far as its shape is a common one: `Summed revenue by region in
    q3_sales: 4 rows`."""
    tables = ", ".join(t.name for t in result.tables) or "no table"
    phrase = "Queried"
    for pattern, words in _VERBS:
        match = re.search(pattern, result.sql, re.IGNORECASE)
        if match:
            phrase = words.format(*match.groups())
            break
    grouped = re.search(r"\bgroup\s+by\s+(\"[^\"]+\"|\w+)", result.sql, re.IGNORECASE)
    key = grouped.group(1).strip('"') if grouped else ""
    if key.lower() == "all":
        key = result.columns[0]
    elif key.isdigit():  # stands for a column of the result
        key = result.columns[int(key) - 1] if 0 < int(key) <= len(result.columns) else ""
    by = f" by {key}" if key else ""
    rows = _rows(result.total)
    what = f"Queried {tables}{by}" if phrase == "Queried" else f"{phrase}{by} in {tables}"
    return quoted(f"{what}: {rows}", 160)


TOOLS = (
    Tool(
        "describe_table",
        "Schema of one table: SQL name, row count, per column type, nulls, distinct values, "
        "range, mean, std and quartiles or "
        "most frequent values, five sample rows, and notes on how it was read.",
        DescribeTableInput,
        describe_table,
        "Looking at a table",
        icon="table_chart_view",
        result=TableDescribed,
        replay="step",
    ),
    Tool(
        "query_tables",
        "Run one DuckDB SELECT over the chat's tables by their SQL names (list_files, "
        "describe_table); put column names in "
        "double quotes. Returns at most 200 rows with the true total and a result id; the whole "
        "result is kept: FROM r1 reads "
        "it, here and in run_python.",
        QueryTablesInput,
        query_tables,
        "Querying tables",
        icon="database",
        counted=("query", "queries"),
        result=TableQueried,
        replay="query",
    ),
)
