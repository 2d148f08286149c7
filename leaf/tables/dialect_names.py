"""Names of tables and columns as other systems and people write them: a file for its table, a schema
before it, brackets, blanks without quotes, texts in double quotes. Pure; used in the confined child.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from leaf.tables.mending import Mended, key, missing_column, replaced
from leaf.tables.sql import SET_OPERATIONS, Token, calls, code, literal, quoted, significant

_NEAR = 0.75
"""A name as near as this to a column's may be a slip of the pen."""
_TEXT_AFTER = {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "like", "ilike", "then", "else"}
_CLAUSES = {
    "select",
    "where",
    "group",
    "order",
    "having",
    "limit",
    "window",
    "qualify",
    "offset",
    "set",
    "values",
}
_CHAIN = re.compile(
    r"""(?:(?:\[[^\]]+\]|"[^"]+"|`[^`]+`|[^\W\d]\w*)\.)+(?:\[[^\]]+\]|"[^"]+"|`[^`]+`)"""
)
"""[dbo].[sales], "public"."sales"."""


def tables_of(name: str, files: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The tables that a name stands for; those of a path are the ones of its last part."""
    known = {key(file): tables for file, tables in files.items()}
    return known.get(key(name)) or known.get(key(name.replace("\\", "/").rpartition("/")[2])) or ()


def _places_of_tables(tokens: Sequence[Token]) -> Iterator[int]:
    """Where the names of tables begin: after FROM and JOIN, and after the commas of a FROM."""
    inside = [False]
    for index, token in enumerate(tokens[:-1]):
        word = token.text.lower()
        if word in ("(", "["):
            inside.append(False)
        elif word in (")", "]") and len(inside) > 1:
            inside.pop()
        elif word in _CLAUSES or word in SET_OPERATIONS:
            inside[-1] = False
        elif word in ("from", "join") or (word == "," and inside[-1]):
            inside[-1] = True
            yield index + 1


def table_for_file(
    sql: str, error: str, files: Mapping[str, Sequence[str]], tables: Sequence[str]
) -> Mended | None:
    """FROM "sales.csv", sales.csv, f1, read_csv('sales.csv'): the table of that file, where it has
    one; dbo.sales: sales."""
    if "Referenced column" in error or not re.search(
        "does not exist|not found|Cannot access|No files found|syntax error", error
    ):
        return None
    tokens = significant(sql)
    for index in _places_of_tables(tokens):
        start, end, name = _table_named(sql, tokens[index:], files)
        meant = (
            (tables_of(name, files) or _behind_schema(sql[start:end], name, tables)) if name else ()
        )
        if len(meant) == 1 and key(name) != key(meant[0]):
            remark = f"{sql[start:end].strip()} was read as the table {meant[0]}."
            return Mended(replaced(sql, start, end, quoted(meant[0])), remark)
    return None


def _behind_schema(written: str, name: str, tables: Sequence[str]) -> Sequence[str]:
    """The table of `dbo.sales`: there are no schemas here."""
    last = name.rpartition(".")[2].strip('"`[] ') if "." in name and "'" not in written else ""
    return [table for table in tables if key(table) == key(last)][:1]


def _table_named(sql: str, after: Sequence[Token], files: Iterable[str]) -> tuple[int, int, str]:
    """Where the name after FROM stands, and the name without its quotes; without a name where it is
    none of a file."""
    first = after[0]
    if chain := _CHAIN.match(sql[first.start :]):
        return first.start, first.start + chain.end(), chain[0]
    if bare := max(
        (name for name in files if _stands(name, sql, first.start)), key=len, default=""
    ):
        return first.start, first.start + len(bare), bare
    if first.text[0] in "\"'`":
        text, mark = first.text, first.text[0]
        return first.start, first.start + len(text), text[1:-1].replace(mark * 2, mark)
    if re.fullmatch(r"read_(?:csv|csv_auto|parquet|json|json_auto|xlsx)", first.text, re.I):
        call = next((c for c in calls(sql) if c.start == first.start), None)
        named = (
            call is not None
            and len(call.arguments) == 1
            and re.fullmatch(r"'((?:[^']|'')+)'", call.arguments[0])
        )
        return (call.start, call.end, named[1].replace("''", "'")) if call and named else (0, 0, "")
    end, index = first.start + len(first.text), 1
    while index + 1 < len(after) and after[index].text == "." and after[index].start == end:
        end = after[index + 1].start + len(after[index + 1].text)
        index += 2
    return first.start, end, sql[first.start : end]


def _stands(name: str, sql: str, start: int) -> bool:
    """Whether a name that SQL cannot write without quotes stands there without them."""
    end = start + len(name)
    return (
        not name.isidentifier()
        and key(sql[start:end]) == key(name)
        and not re.match(r"\w", sql[end:])
    )


def names_in_brackets(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """[Passenger Id], as SQL Server writes a name; a list of one column is what DuckDB reads
    there."""
    if not re.search(r"syntax error|\[\]|'[\w(, ]*\[|LIST", error):
        return None
    known = {key(column): column for column in columns}
    for match in re.finditer(r"(?<![\w\])\"'])\[([^\[\]'\",:]+)\]", code(sql)):
        name = match[1].strip()
        before = sql[: match.start()].rstrip().lower()
        if (
            key(name) in known
            or (re.search(r"\b(from|join|as)$|\.$", before))
            or ("syntax error" in error and " " in name)
        ):
            meant = quoted(known.get(key(name), name))
            return Mended(
                replaced(sql, *match.span(), meant), f"[{name}] was read as the name {meant}."
            )
    return None


def lists_of_names(sql: str, columns: Sequence[str]) -> list[str]:
    """What has to be said of a statement that runs and writes [Age] where a column belongs."""
    known = {key(column): column for column in columns}
    names = (
        known.get(key(name))
        for name in re.findall(r"(?<![\w\])\"'])\[([^\[\]'\",:]+)\]", code(sql))
    )
    return [
        f"[{name}] makes a list of each value: write {quoted(name)} for the column."
        for name in dict.fromkeys(names)
        if name
    ]


def name_with_blanks(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """Manager Id = 3, without the quotes that such a name needs; where its first word is a column
    too, it may be an alias."""
    missing = key(missing_column(error))
    if not missing and not re.search("syntax error|Function with name", error):
        return None
    known, bare = set(map(key, columns)), code(sql)
    for column in sorted(columns, key=len, reverse=True):
        first = re.match(r"\w+", column)
        if re.fullmatch(r"\w+", column) or not first or key(first[0]) in known:
            continue
        if missing and missing not in map(key, re.findall(r"\w+", column)):
            continue
        match = re.search(rf"(?<![\w\"]){re.escape(column)}(?![\w\"])", bare, re.I)
        if match:
            return Mended(
                replaced(sql, *match.span(), quoted(column)),
                f"{match[0]} was read as the name {quoted(column)}.",
            )
    return None


def name_with_other_marks(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """manager_id for "Manager Id": a name that is a column's but for blanks, underscores and other
    marks."""
    missing = missing_column(error)
    meant = [
        column
        for column in dict.fromkeys(columns)
        if len(_letters(missing)) > 1 and _letters(column) == _letters(missing)
    ]
    if len(meant) != 1:
        return None
    tokens = significant(sql)
    for index, token in enumerate(tokens):
        bare = token.kind != "string_const" and key(token.text) == key(missing)
        named = (
            token.text[0] in '"`'
            and key(token.text[1:-1]) == key(missing)
            and not _is_compared(tokens, index)
        )
        if (bare or named) and (not index or tokens[index - 1].text.lower() != "as"):
            new_sql = replaced(sql, token.start, token.start + len(token.text), quoted(meant[0]))
            return Mended(new_sql, f"{token.text} was read as the column {quoted(meant[0])}.")
    return None


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", key(name))


def text_for_name(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """= "male": a text in double quotes, where there is no column of that name nor one that is near
    to it."""
    name = missing_column(error)
    if not name or not columns or "does not have a column" in error:
        return None
    if difflib.get_close_matches(key(name), map(key, columns), n=1, cutoff=_NEAR):
        return None
    tokens = significant(sql)
    for index, token in enumerate(tokens):
        if token.text == quoted(name) and _is_compared(tokens, index):
            text = literal(name)
            end = token.start + len(token.text)
            return Mended(
                replaced(sql, token.start, end, text), f"{token.text} was read as the text {text}."
            )
    return None


def _is_compared(tokens: Sequence[Token], index: int) -> bool:
    """Whether what stands there is compared with something, alone or in the list of an IN."""
    if index + 1 < len(tokens) and tokens[index + 1].text in (".", "("):
        return False
    before = index - 1
    while (
        before >= 0
        and tokens[before].text == ","
        and before >= 1
        and tokens[before - 1].text[0] in "\"'"
    ):
        before -= 2
    if before >= 1 and tokens[before].text == "(":
        return tokens[before - 1].text.lower() == "in"
    return before == index - 1 and before >= 0 and tokens[before].text.lower() in _TEXT_AFTER
