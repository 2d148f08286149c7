"""SQL in the habits of other systems, made into DuckDB's where it can mean one thing only. Pure; used in the confined child.

Asked only after DuckDB refused a statement, so nothing that runs is ever changed. What was changed is said; where two meanings
are possible nothing is, and the error says what to write.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaf.tables.sql import Token, literal, quoted, tokens

PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond", "decade", "century")
_SHORT_PARTS = {"yy": "year", "yyyy": "year", "qq": "quarter", "mm": "month", "ww": "week", "wk": "week", "dd": "day"}
_SHORT_PARTS |= {"hh": "hour", "mi": "minute", "ss": "second", **{f"{part}s": part for part in PARTS}}
_NEAR = 0.75
"""A name as near as this to a column's may be a slip of the pen."""
_TEXT_AFTER = {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "like", "ilike", "then", "else"}
_SAME_CODES = re.compile(r"'(?:%[YmdHy]|[^%'])*'")
"""Formats of dates whose codes MySQL and DuckDB share."""
_TYPES = re.compile(r"(?:var)?char|text|string|(?:big|small)?int|float|double|real|decimal|numeric|date|timestamp", re.I)


@dataclass(frozen=True)
class Mended:
    sql: str
    said: str
    """What was read, in one sentence."""


@dataclass(frozen=True)
class Call:
    """A function call in a statement, in characters of it."""

    name: str
    start: int
    end: int
    arguments: tuple[str, ...]


def mended(sql: str, error: str, files: Mapping[str, Sequence[str]], columns: Sequence[str]) -> Mended | None:
    """The statement that was meant, if that is certain.

    `files` are names that stand for tables (a file's name, with and without its ending, its handle, a sheet) with those tables;
    `columns` those of the tables that the statement reads.
    """
    return (
        _table_for_file(sql, error, files)
        or _names_in_brackets(sql, error, columns)
        or _limit_for_top(sql)
        or _limit_for_pair(sql)
        or _text_for_name(sql, error, columns)
        or _calls(sql, error)
        or _operators(sql)
    )


def key(name: str) -> str:
    """A name as people tell names apart."""
    return unicodedata.normalize("NFC", name).casefold()


def tables_of(name: str, files: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The tables that a name stands for; those of a path are the ones of its last part."""
    known = {key(file): tables for file, tables in files.items()}
    return known.get(key(name)) or known.get(key(name.replace("\\", "/").rpartition("/")[2])) or ()


def _words(sql: str) -> list[Token]:
    return [token for token in tokens(sql) if token.kind != "comment"]


def _replaced(sql: str, start: int, end: int, text: str) -> str:
    return sql[:start] + text + sql[end:]


def _table_for_file(sql: str, error: str, files: Mapping[str, Sequence[str]]) -> Mended | None:
    """FROM "sales.csv", 'sales.csv', sales.csv, f1, read_csv('sales.csv'): the table of that file, where it has one."""
    if "Referenced column" in error or not re.search("does not exist|not found|Cannot access|No files found|syntax error", error):
        return None
    found = _words(sql)
    for index, token in enumerate(found):
        if token.text.lower() not in ("from", "join") or index + 1 == len(found):
            continue
        start, end, name = _table_named(sql, found[index + 1 :], files)
        tables = tables_of(name, files) if name else ()
        if len(tables) == 1 and key(name) != key(tables[0]):
            said = f"{sql[start:end].strip()} was read as the table {tables[0]}."
            return Mended(_replaced(sql, start, end, quoted(tables[0])), said)
    return None


def _table_named(sql: str, after: Sequence[Token], files: Iterable[str]) -> tuple[int, int, str]:
    """Where the name after FROM stands, and the name without its quotes; without a name where it is none of a file."""
    first = after[0]
    if bare := max((name for name in files if _stands(name, sql, first.start)), key=len, default=""):
        return first.start, first.start + len(bare), bare
    if first.text[0] in "\"'`":
        text, mark = first.text, first.text[0]
        return first.start, first.start + len(text), text[1:-1].replace(mark * 2, mark)
    if re.fullmatch(r"read_(?:csv|csv_auto|parquet|json|json_auto|xlsx)", first.text, re.I):
        call = next((c for c in calls(sql) if c.start == first.start), None)
        named = call is not None and len(call.arguments) == 1 and re.fullmatch(r"'((?:[^']|'')+)'", call.arguments[0])
        return (call.start, call.end, named[1].replace("''", "'")) if call and named else (0, 0, "")
    end, index = first.start + len(first.text), 1
    while index + 1 < len(after) and after[index].text == "." and after[index].start == end:
        end = after[index + 1].start + len(after[index + 1].text)
        index += 2
    return first.start, end, sql[first.start : end]


def _stands(name: str, sql: str, start: int) -> bool:
    """Whether a name that SQL cannot write without quotes stands there without them."""
    end = start + len(name)
    return not name.isidentifier() and key(sql[start:end]) == key(name) and not re.match(r"\w", sql[end:])


def _names_in_brackets(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """[Passenger Id], as SQL Server writes a name; a list of one column is what DuckDB reads there."""
    if not re.search(r"syntax error|\[\]|'[\w(, ]*\[|LIST", error):
        return None
    known = {key(column): column for column in columns}
    for found in re.finditer(r"(?<![\w\])\"'])\[([^\[\]'\",:]+)\]", sql):
        name = found[1].strip()
        before = sql[: found.start()].rstrip().lower()
        if key(name) in known or (re.search(r"\b(from|join)$|\.$", before)) or ("syntax error" in error and " " in name):
            meant = quoted(known.get(key(name), name))
            return Mended(_replaced(sql, *found.span(), meant), f"[{name}] was read as the name {meant}.")
    return None


def lists_of_names(sql: str, columns: Sequence[str]) -> list[str]:
    """What has to be said of a statement that runs and writes [Age] where a column belongs."""
    known = {key(column): column for column in columns}
    found = (known.get(key(name)) for name in re.findall(r"(?<![\w\])\"'])\[([^\[\]'\",:]+)\]", sql))
    return [f"[{name}] makes a list of each value: write {quoted(name)} for the column." for name in dict.fromkeys(found) if name]


def _limit_for_top(sql: str) -> Mended | None:
    """SELECT TOP 5 …, for the statement's own SELECT."""
    found = re.match(r"(\s*select\s+(?:distinct\s+)?)top\s*(?:\(\s*(\d+)\s*\)|(\d+)\b)(\s*percent\b)?", sql, re.I)
    if not found or re.search(r"\blimit\b|\bunion\b|\bexcept\b|\bintersect\b", sql, re.I):
        return None
    number = (found[2] or found[3]) + ("%" if found[4] else "")
    return Mended(f"{found[1]}{sql[found.end() :].lstrip()}\nLIMIT {number}", f"TOP was read as LIMIT {number}.")


def _limit_for_pair(sql: str) -> Mended | None:
    found = re.search(r"\blimit\s+(\d+)\s*,\s*(\d+)\s*$", sql, re.I)
    if not found:
        return None
    said = f"LIMIT {found[2]} OFFSET {found[1]}"
    return Mended(_replaced(sql, *found.span(), said), f"LIMIT {found[1]}, {found[2]} was read as {said}.")


def _text_for_name(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """= "male": a text in double quotes, where there is no column of that name nor one that is near to it."""
    missing = re.search(r'Referenced column "((?:[^"]|"")+)" (?:was )?not found', error)
    if not missing or not columns:
        return None
    name = missing[1].replace('""', '"')
    if difflib.get_close_matches(key(name), map(key, columns), n=1, cutoff=_NEAR):
        return None
    found = _words(sql)
    for index, token in enumerate(found):
        if token.text == quoted(name) and _is_compared(found, index):
            text = literal(name)
            end = token.start + len(token.text)
            return Mended(_replaced(sql, token.start, end, text), f"{token.text} was read as the text {text}.")
    return None


def _is_compared(found: Sequence[Token], index: int) -> bool:
    """Whether what stands there is compared with something, alone or in the list of an IN."""
    if index + 1 < len(found) and found[index + 1].text in (".", "("):
        return False
    before = index - 1
    while before >= 0 and found[before].text == "," and before >= 1 and found[before - 1].text[0] in "\"'":
        before -= 2
    if before >= 1 and found[before].text == "(":
        return found[before - 1].text.lower() == "in"
    return before == index - 1 and before >= 0 and found[before].text.lower() in _TEXT_AFTER


def calls(sql: str) -> list[Call]:
    """The function calls of a statement, inner ones before those around them."""
    found = _words(sql)
    open_at: list[tuple[str, int, list[int]]] = []
    made: list[Call] = []
    for index, token in enumerate(found):
        if token.text in ("(", "["):
            named = token.text == "(" and index > 0 and re.fullmatch(r"[A-Za-z_]\w*", found[index - 1].text)
            start = found[index - 1].start if named else -1
            open_at.append((found[index - 1].text.lower() if named else "", start, [token.start + 1]))
        elif token.text == "," and open_at:
            open_at[-1][2].append(token.start)
        elif token.text in (")", "]") and open_at:
            name, start, cuts = open_at.pop()
            pieces = [sql[a:b].lstrip(",").strip() for a, b in zip(cuts, [*cuts[1:], token.start], strict=True)]
            if name:
                made.append(Call(name, start, token.start + 1, tuple(p for p in pieces if p)))
    return made


def _calls(sql: str, error: str) -> Mended | None:
    """The first call that DuckDB refused and knows in other words."""
    for call in calls(sql):
        refused = call.name in error.lower() or (call.arguments and f'column "{call.arguments[0].lower()}"' in error.lower())
        made = _MEANT.get((call.name, len(call.arguments))) if refused else None
        text = made(call.arguments) if made else ""
        if text:
            was = sql[call.start : call.end]
            return Mended(_replaced(sql, call.start, call.end, text), f"{_short(was)} was read as {_short(text)}.")
    return None


def _operators(sql: str) -> Mended | None:
    """x REGEXP 'a', as MySQL writes it."""
    found = re.search(r"(\"[^\"]+\"|[\w.]+)\s+(not\s+)?(?:regexp|rlike)\s+('(?:[^']|'')*')", sql, re.I)
    if not found:
        return None
    text = f"{'NOT ' if found[2] else ''}regexp_matches({found[1]}, {found[3]})"
    return Mended(_replaced(sql, *found.span(), text), f"{_short(found[0])} was read as {_short(text)}.")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def _part(text: str) -> str:
    """`year` of `YEAR`, `yy`, `'year'`; empty for what is no part of a date."""
    plain = text.strip("'\"").lower()
    return plain if plain in PARTS else _SHORT_PARTS.get(plain, "")


def _difference(given: Sequence[str]) -> str:
    part = _part(given[0])
    return f"date_diff('{part}', CAST({given[1]} AS TIMESTAMP), CAST({given[2]} AS TIMESTAMP))" if part else ""


def _whole_difference(given: Sequence[str]) -> str:
    """MySQL's: whole years, months … that have passed."""
    return _difference(given).replace("date_diff", "date_sub", 1)


def _days_between(given: Sequence[str]) -> str:
    """MySQL's, Hive's and Spark's: the later first, in days."""
    return f"date_diff('day', CAST({given[1]} AS DATE), CAST({given[0]} AS DATE))"


def _added(given: Sequence[str]) -> str:
    part = _part(given[0])
    return f"({given[2]} + ({given[1]}) * INTERVAL 1 {part})" if part else ""


def _taken(given: Sequence[str]) -> str:
    return f"date_part('{part}', CAST({given[1]} AS TIMESTAMP))" if (part := _part(given[0])) else ""


def _formatted(given: Sequence[str]) -> str:
    """strftime of a date and a format in either order; the date may be an ISO text, as SQLite keeps dates."""
    format_first = given[0].startswith("'") and "%" in given[0]
    form, moment = (given[0], given[1]) if format_first else (given[1], given[0])
    if "CAST(" in moment.upper() or not (form.startswith("'") and "%" in form):
        return ""
    return f"strftime(CAST({moment} AS TIMESTAMP), {form})"


def _formatted_as_mysql(given: Sequence[str]) -> str:
    return f"strftime(CAST({given[0]} AS TIMESTAMP), {given[1]})" if _SAME_CODES.fullmatch(given[1]) and "%" in given[1] else ""


def _parsed_as_mysql(given: Sequence[str]) -> str:
    return f"strptime({given[0]}, {given[1]})" if _SAME_CODES.fullmatch(given[1]) and "%" in given[1] else ""


def _converted(given: Sequence[str]) -> str:
    kind, value = given
    return f"CAST({value} AS {kind})" if _TYPES.match(kind) else ""


def _form(template: str) -> Callable[[Sequence[str]], str]:
    return lambda given: template.format(*given)


_MEANT: dict[tuple[str, int], Callable[[Sequence[str]], str]] = {
    ("stdev", 1): _form("stddev_samp({0})"),
    ("stdevp", 1): _form("stddev_pop({0})"),
    ("varp", 1): _form("var_pop({0})"),
    ("isnull", 1): _form("({0} IS NULL)"),
    ("isnull", 2): _form("coalesce({0}, {1})"),
    ("nvl", 2): _form("coalesce({0}, {1})"),
    ("iif", 3): _form("CASE WHEN {0} THEN {1} ELSE {2} END"),
    ("charindex", 2): _form("strpos({1}, {0})"),
    ("locate", 2): _form("strpos({1}, {0})"),
    ("getdate", 0): _form("current_timestamp"),
    ("curdate", 0): _form("current_date"),
    ("square", 1): _form("power({0}, 2)"),
    ("percentile", 2): _form("quantile_cont({0}, {1})"),
    ("datediff", 2): _days_between,
    ("datediff", 3): _difference,
    ("timestampdiff", 3): _whole_difference,
    ("dateadd", 3): _added,
    ("timestampadd", 3): _added,
    ("datepart", 2): _taken,
    ("strftime", 2): _formatted,
    ("date_format", 2): _formatted_as_mysql,
    ("str_to_date", 2): _parsed_as_mysql,
    ("convert", 2): _converted,
}
"""(function, arguments) -> the same in DuckDB, or nothing where the arguments leave a doubt. The place to add one."""
AMBIGUOUS = {
    "std": "Write stddev_samp (of a sample, as in pandas) or stddev_pop (of all, as in MySQL).",
    "var": "Write var_samp or var_pop.",
    "median_absolute_deviation": "Write mad.",
    "to_char": "Write strftime(x, '%Y-%m-%d').",
    "date_format": "Write strftime(x, '%Y-%m-%d'): codes with %, as in C.",
    "format_date": "Write strftime(x, '%Y-%m-%d').",
    "to_date": "Write strptime(x, '%d.%m.%Y'), or CAST(x AS DATE) for ISO dates.",
    "str_to_date": "Write strptime(x, '%d.%m.%Y').",
    "parse_date": "Write strptime(x, '%d.%m.%Y').",
    "julianday": "Write date_diff('day', a, b) for days between two dates.",
    "safe_divide": "Write a / nullif(b, 0).",
    "substring_index": "Write split_part(x, ',', 1).",
    "crosstab": "Write PIVOT t ON a USING sum(b) GROUP BY c.",
}
"""Functions of other systems that may mean several things here, or are written quite otherwise -> what to write."""
