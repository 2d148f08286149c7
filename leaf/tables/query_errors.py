"""DuckDB's errors in Leaf's terms: which name is nearest, what to write instead; no paths, no class
names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.errors import (
    LeafError,
    NotFoundError,
    QueryError,
    SandboxMemoryError,
    SandboxTimeoutError,
    not_found,
)
from leaf.tables import meanings, texts
from leaf.tables.attempt import Attempt
from leaf.tables.dialect_names import tables_of
from leaf.tables.mending import missing_column
from leaf.tables.rows import ALL
from leaf.tables.sql import literal, quoted

if TYPE_CHECKING:
    import duckdb

SIDE_BY_SIDE = (
    "Calls of one turn do not see each other's results: name one in a later turn, or write "
    "its query as WITH."
)
_NO_TABLE = r'Table with name (.+?) does not exist|Referenced table "(.+?)" not found'
_UNKNOWN = rf'{_NO_TABLE}|Cannot access file "(.+?)"|No files found that match the pattern "(.+?)"'


def translated(
    error: duckdb.Error, attempt: Attempt, names: Sequence[str], files: Mapping[str, Sequence[str]]
) -> LeafError:
    """DuckDB's error in our terms: the nearest names for a name that is not there, no paths, no
    class names."""
    import duckdb

    text, con, sql, used = str(error), attempt.con, attempt.sql, attempt.used
    if isinstance(error, duckdb.OutOfMemoryException) or "bad_alloc" in text:
        return SandboxMemoryError(
            "The query needed more memory than it may use.",
            "Filter or aggregate first, or take fewer columns.",
        )
    if isinstance(error, duckdb.InterruptException):
        return SandboxTimeoutError(
            "The query took longer than it may.",
            "Filter or aggregate first, or take fewer columns.",
        )
    if match := re.search(_UNKNOWN, text):
        named = next(group for group in match.groups() if group).strip('"')
        if inside := tables_of(named, files):
            return _file_for_table(named, inside)
        if re.search(r"\.\w{1,8}$", named):
            return not_found(
                "file or table",
                named,
                [n for n in names if not re.fullmatch(r"r\d+", n)],
                "this chat",
            )
    if isinstance(error, duckdb.PermissionException) or re.search(
        "configuration has been locked|No files found that match", text
    ):
        return QueryError(
            "SQL here can read the tables of this chat and nothing else: no files, no network, "
            "no settings."
        )
    if match := re.search(_NO_TABLE, text):
        return _no_table((match[1] or match[2]).strip('"'), names)
    if re.search(r'column "?_kind"?', text):
        everything = (
            ", ".join(f"{name}{ALL}" for name in used) or "the table's name with __all behind it"
        )
        return QueryError(
            "A table by its name holds rows of data only, and no `_kind`.",
            f"Use {everything} for all rows.",
        )
    if (missing := missing_column(text)) and (
        columns := [c for table in used for c in con.table(table).columns]
    ):
        unknown = not_found("column", missing, columns, ", ".join(used))
        if hint := meanings.advice(text, sql, columns, ()):
            return NotFoundError(unknown.message, hint)
        return _with_quotes(_in_double_quotes(unknown, columns), missing, sql)
    return _as_duckdb_says(text, attempt)


def _as_duckdb_says(text: str, attempt: Attempt) -> QueryError:
    """DuckDB's own words without its classes, its guesses where ours are better, and paths."""
    message = re.sub(r"^[A-Z][\w ]+ Error: ", "", text)
    if hint := _advice(message, attempt):
        message = re.sub(r"\s*Did you mean .*", "", message)
    message = re.sub(
        r"\s*Candidate functions:.*?(?=\n\n|\nLINE|\Z)", "", meanings.nearer(message), flags=re.S
    )
    message = re.sub(
        r" (You might need to|In order to select one, please) add explicit type casts\.",
        "",
        message,
    )
    message = re.sub(r"STRUCT\(.*\)(?= when casting)", "of a whole row", message)
    # The line number and the mark below it count from a statement that DuckDB wrapped around the
    # query.
    message = re.sub(r"\s*\nLINE \d+: (.*)\n[ ^]*$", r" In: \1", message)
    message = re.sub(r"(?<!\w)(?:/[\w.@+-]+){2,}", lambda m: Path(m[0]).name, message)
    return QueryError(message[:1_000].strip(), hint)


def _advice(message: str, attempt: Attempt) -> str:
    """What to write instead: for a function of another system, for a column that is text where a
    date or number belongs."""
    hints: list[str] = []
    if re.search(
        r"(No function matches|best candidate function)[\s\S]*VARCHAR|cast|Conversion", message
    ):
        for name, kind in attempt.typed():
            named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", attempt.sql, re.I)
            if (
                kind == "VARCHAR"
                and named
                and len(hints) < 3
                and (cast := texts.cast_for(attempt.con, attempt.used, name))
            ):
                hints.append(f'"{name}" is text: write {cast}.')
    general = meanings.advice(message, attempt.sql, attempt.columns(), attempt.reserved())
    return " ".join(hints) or general or _compared_columns(message, attempt)


def _compared_columns(message: str, attempt: Attempt) -> str:
    """A word on quotes, where a comparison failed with a column whose name may have been meant as a
    text."""
    if "Could not convert" not in message and "can't be cast" not in message:
        return ""
    cautions = [
        caution
        for caution in meanings.cautions(attempt.sql, attempt.columns())
        if "for the text" in caution
    ]
    return " ".join(cautions[:3])


def _in_double_quotes(unknown: NotFoundError, columns: Sequence[str]) -> NotFoundError:
    """The same with how the nearest name is written, where it needs quotes."""
    near = next((c for c in columns if unknown.hint.startswith(f"Did you mean '{c}'")), "")
    if not near or re.fullmatch(r"[^\W\d]\w*", near):
        return unknown
    return NotFoundError(unknown.message, f"{unknown.hint} Write {quoted(near)}.")


def _no_table(name: str, names: Sequence[str]) -> NotFoundError:
    """A name like that of a result is compared with the results that there are, any other with the
    tables."""
    results = [known for known in names if re.fullmatch(r"r\d+", known)]
    if not re.fullmatch(r"r\d+", name, re.IGNORECASE):
        return not_found(
            "table", name, [known for known in names if known not in results], "this chat"
        )
    there = f"There is {', '.join(results) or 'none'}. {SIDE_BY_SIDE}"
    return NotFoundError(f"No result '{name}' in this chat.", there)


def _file_for_table(file: str, tables: Sequence[str]) -> NotFoundError:
    """What is said of a query that names a file where a table belongs; several files may have that
    name."""
    of_one_file = len({table.partition("__")[0] for table in tables}) == 1
    listed = ", ".join(tables[:12]) + (f" and {len(tables) - 12} more" if len(tables) > 12 else "")
    its = (
        "its table is"
        if len(tables) == 1
        else "its tables are"
        if of_one_file
        else "those of that name are"
    )
    hint = (
        f"Write FROM {tables[0]}."
        if of_one_file
        else f"Name the one that is meant: FROM {tables[0]}."
    )
    return NotFoundError(f"'{file}' is a file, and SQL reads tables: {its} {listed}.", hint)


def _with_quotes(unknown: NotFoundError, name: str, sql: str) -> NotFoundError:
    """The same with a word on quotes, where a name in double quotes is compared with something, as
    a text would be."""
    if not re.search(
        r"""(?:[=<>(,]|\b(?:like|in|and|when|then|else))\s*""" + re.escape(quoted(name)), sql, re.I
    ):
        return unknown
    text = literal(name)
    return NotFoundError(
        unknown.message,
        f"{unknown.hint} If it is a text, write {text}: double quotes are for names of columns.",
    )
