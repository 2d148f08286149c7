"""SQL in the habits of other systems, made into DuckDB's where it can mean one thing only. Pure; used in the confined child.

Asked only after DuckDB refused a statement, so nothing that runs is ever changed. What was changed is said; where two meanings
are possible nothing is, and the error says what to write.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leaf.tables.functions import MEANT
from leaf.tables.sql import Token, code, literal, quoted, tokens

_NEAR = 0.75
"""A name as near as this to a column's may be a slip of the pen."""
_TEXT_AFTER = {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "like", "ilike", "then", "else"}
_MARKS = {"‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
"""Quotes of texts for people -> those of SQL."""
_CLAUSES = {"select", "where", "group", "order", "having", "limit", "window", "qualify", "offset", "set", "values"}
_SETS = {"union", "except", "intersect"}
_CHAIN = re.compile(r"""(?:(?:\[[^\]]+\]|"[^"]+"|`[^`]+`|[^\W\d]\w*)\.)+(?:\[[^\]]+\]|"[^"]+"|`[^`]+`)""")
"""[dbo].[sales], "public"."sales"."""
_PERHAPS_SYNTAX = {"convert"}
"""Functions of other systems that are refused as syntax, so that the error does not name them."""


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


def mended(
    sql: str, error: str, files: Mapping[str, Sequence[str]], columns: Sequence[str], tables: Sequence[str] = ()
) -> Mended | None:
    """The statement that was meant, if that is certain.

    `files` are names that stand for tables (a file's name, with and without its ending, its handle, a sheet) with those tables;
    `columns` those of the tables that the statement reads; `tables` all names of tables.
    """
    return (
        _without_dress(sql, error)
        or _table_for_file(sql, error, files, tables)
        or _names_in_brackets(sql, error, columns)
        or _limit_for_top(sql)
        or _limit_for_pair(sql)
        or _name_with_blanks(sql, error, columns)
        or _name_with_other_marks(sql, error, columns)
        or _text_for_name(sql, error, columns)
        or _ordered_texts(sql)
        or _calls(sql, error)
        or _any_of_patterns(sql)
        or _operators(sql, error)
    )


def key(name: str) -> str:
    """A name as people tell names apart."""
    return unicodedata.normalize("NFC", name).casefold()


def tables_of(name: str, files: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The tables that a name stands for; those of a path are the ones of its last part."""
    known = {key(file): tables for file, tables in files.items()}
    return known.get(key(name)) or known.get(key(name.replace("\\", "/").rpartition("/")[2])) or ()


def significant(sql: str) -> list[Token]:
    """The statement's tokens without its comments."""
    return [token for token in tokens(sql) if token.kind != "comment"]


def _replaced(sql: str, start: int, end: int, text: str) -> str:
    return sql[:start] + text + sql[end:]


def _without_dress(sql: str, error: str) -> Mended | None:
    """What is around or in a statement and is none of it: fences of Markdown, quotes for people, FROM DUAL, WITH (NOLOCK)."""
    if fenced := re.fullmatch(r"\s*```(?:\w*\n)?(.*?)```\s*", sql, re.S):
        return Mended(fenced[1].strip(), "The fence around the statement was taken away.")
    bare = code(sql)
    if found := re.search(r"[‘‚‛’]([^‘’‚‛]*)[’‘‛]|[“„«”»]([^“”„«»]*)[”“»«]", bare):
        start, end = found.span()
        text = "".join(_MARKS.get(c, c) if i in (0, end - start - 1) else c for i, c in enumerate(sql[start:end]))
        return Mended(_replaced(sql, start, end, text), f"{sql[start:end]} was read as {text}.")
    if "DUAL" in error.upper() and (found := re.search(r"\sfrom\s+dual\b", bare, re.I)):
        return Mended(_replaced(sql, *found.span(), ""), "FROM DUAL was taken away.")
    if "syntax error" in error and (found := re.search(r"\swith\s*\(\s*nolock\s*\)", bare, re.I)):
        return Mended(_replaced(sql, *found.span(), ""), "WITH (NOLOCK) was taken away.")
    return None


def _places_of_tables(found: Sequence[Token]) -> Iterator[int]:
    """Where the names of tables begin: after FROM and JOIN, and after the commas of a FROM."""
    inside = [False]
    for index, token in enumerate(found[:-1]):
        word = token.text.lower()
        if word in ("(", "["):
            inside.append(False)
        elif word in (")", "]") and len(inside) > 1:
            inside.pop()
        elif word in _CLAUSES or word in _SETS:
            inside[-1] = False
        elif word in ("from", "join") or (word == "," and inside[-1]):
            inside[-1] = True
            yield index + 1


def _table_for_file(sql: str, error: str, files: Mapping[str, Sequence[str]], tables: Sequence[str]) -> Mended | None:
    """FROM "sales.csv", sales.csv, f1, read_csv('sales.csv'): the table of that file, where it has one; dbo.sales: sales."""
    if "Referenced column" in error or not re.search("does not exist|not found|Cannot access|No files found|syntax error", error):
        return None
    found = significant(sql)
    for index in _places_of_tables(found):
        start, end, name = _table_named(sql, found[index:], files)
        meant = (tables_of(name, files) or _behind_schema(sql[start:end], name, tables)) if name else ()
        if len(meant) == 1 and key(name) != key(meant[0]):
            said = f"{sql[start:end].strip()} was read as the table {meant[0]}."
            return Mended(_replaced(sql, start, end, quoted(meant[0])), said)
    return None


def _behind_schema(written: str, name: str, tables: Sequence[str]) -> Sequence[str]:
    """The table of `dbo.sales`: there are no schemas here."""
    last = name.rpartition(".")[2].strip('"`[] ') if "." in name and "'" not in written else ""
    return [table for table in tables if key(table) == key(last)][:1]


def _table_named(sql: str, after: Sequence[Token], files: Iterable[str]) -> tuple[int, int, str]:
    """Where the name after FROM stands, and the name without its quotes; without a name where it is none of a file."""
    first = after[0]
    if chain := _CHAIN.match(sql[first.start :]):
        return first.start, first.start + chain.end(), chain[0]
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
    for found in re.finditer(r"(?<![\w\])\"'])\[([^\[\]'\",:]+)\]", code(sql)):
        name = found[1].strip()
        before = sql[: found.start()].rstrip().lower()
        if key(name) in known or (re.search(r"\b(from|join|as)$|\.$", before)) or ("syntax error" in error and " " in name):
            meant = quoted(known.get(key(name), name))
            return Mended(_replaced(sql, *found.span(), meant), f"[{name}] was read as the name {meant}.")
    return None


def lists_of_names(sql: str, columns: Sequence[str]) -> list[str]:
    """What has to be said of a statement that runs and writes [Age] where a column belongs."""
    known = {key(column): column for column in columns}
    found = (known.get(key(name)) for name in re.findall(r"(?<![\w\])\"'])\[([^\[\]'\",:]+)\]", code(sql)))
    return [f"[{name}] makes a list of each value: write {quoted(name)} for the column." for name in dict.fromkeys(found) if name]


def _limit_for_top(sql: str) -> Mended | None:
    """SELECT TOP 5 …: a LIMIT at the end of that SELECT."""
    found = significant(sql)
    for index, token in enumerate(found[:-1]):
        after = index + 1 + (found[index + 1].text.lower() in ("distinct", "all"))
        if token.text.lower() != "select" or after + 1 >= len(found) or found[after].text.lower() != "top":
            continue
        top = re.match(r"top\s*(?:\(\s*(\d+)\s*\)|(\d+)\b)(\s*percent\b)?(\s*with\s+ties\b)?", sql[found[after].start :], re.I)
        end = _end_of_select(found, index)
        if not top or top[4] or end is None:
            continue
        number = (top[1] or top[2]) + ("%" if top[3] else "")
        start, rest = found[after].start, found[after].start + top.end()
        made = sql[:start] + sql[rest:end].lstrip() + f"\nLIMIT {number}" + sql[end:]
        return Mended(made, f"TOP was read as LIMIT {number}.")
    return None


def _end_of_select(found: Sequence[Token], begin: int) -> int | None:
    """Where a SELECT ends that has no LIMIT of its own and is no part of a UNION; else None."""
    depth = 0
    last = found[begin]
    for token in found[begin:]:
        word = token.text.lower()
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if depth < 0 or (word == ";" and not depth):
            break
        if not depth and (word == "limit" or word in _SETS):
            return None
        last = token
    return last.start + len(last.text)


def _limit_for_pair(sql: str) -> Mended | None:
    """LIMIT 5, 10, as MySQL writes it."""
    found = significant(sql)
    for index, token in enumerate(found[:-3]):
        skipped, comma, count = found[index + 1 : index + 4]
        if token.text.lower() == "limit" and comma.text == "," and skipped.text.isdigit() and count.text.isdigit():
            said = f"LIMIT {count.text} OFFSET {skipped.text}"
            end = count.start + len(count.text)
            return Mended(_replaced(sql, token.start, end, said), f"LIMIT {skipped.text}, {count.text} was read as {said}.")
    return None


def missing_column(error: str) -> str:
    """The name that DuckDB found no column for; empty where the error is another."""
    found = re.search(
        r'Referenced column "((?:[^"]|"")+)" (?:was )?not found|does not have a column named "((?:[^"]|"")+)"'
        r'|Column "((?:[^"]|"")+)" referenced that exists in the SELECT clause',
        error,
    )
    return next(group for group in found.groups() if group).replace('""', '"') if found else ""


def _name_with_blanks(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """Manager Id = 3, without the quotes that such a name needs; where its first word is a column too, it may be an alias."""
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
        found = re.search(rf"(?<![\w\"]){re.escape(column)}(?![\w\"])", bare, re.I)
        if found:
            return Mended(_replaced(sql, *found.span(), quoted(column)), f"{found[0]} was read as the name {quoted(column)}.")
    return None


def _name_with_other_marks(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """manager_id for "Manager Id": a name that is a column's but for blanks, underscores and other marks."""
    missing = missing_column(error)
    meant = [column for column in dict.fromkeys(columns) if len(_letters(missing)) > 1 and _letters(column) == _letters(missing)]
    if len(meant) != 1:
        return None
    found = significant(sql)
    for index, token in enumerate(found):
        bare = token.kind != "string_const" and key(token.text) == key(missing)
        named = token.text[0] in '"`' and key(token.text[1:-1]) == key(missing) and not _is_compared(found, index)
        if (bare or named) and (not index or found[index - 1].text.lower() != "as"):
            made = _replaced(sql, token.start, token.start + len(token.text), quoted(meant[0]))
            return Mended(made, f"{token.text} was read as the column {quoted(meant[0])}.")
    return None


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", key(name))


def _text_for_name(sql: str, error: str, columns: Sequence[str]) -> Mended | None:
    """= "male": a text in double quotes, where there is no column of that name nor one that is near to it."""
    name = missing_column(error)
    if not name or not columns or "does not have a column" in error:
        return None
    if difflib.get_close_matches(key(name), map(key, columns), n=1, cutoff=_NEAR):
        return None
    found = significant(sql)
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
    found = significant(sql)
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
        made = MEANT.get((call.name, len(call.arguments))) if _is_refused(call, error.lower()) else None
        text = made(call.arguments) if made else ""
        if text:
            was = sql[call.start : call.end]
            return Mended(_replaced(sql, call.start, call.end, text), f"{_short(was)} was read as {_short(text)}.")
    return None


def _is_refused(call: Call, error: str) -> bool:
    """Whether an error, in lower case, is about this call."""
    if call.name in error or any(f'column "{argument.lower()}"' in error for argument in call.arguments):
        return True
    return call.name in _PERHAPS_SYNTAX and "syntax error" in error


def _ordered_texts(sql: str) -> Mended | None:
    """LISTAGG(x, ',') WITHIN GROUP (ORDER BY y), GROUP_CONCAT(x ORDER BY y SEPARATOR ','): string_agg with its order inside."""
    found = calls(sql)
    for call in found:
        if call.name not in ("string_agg", "listagg", "group_concat"):
            continue
        inner = sql[call.start : call.end].partition("(")[2][:-1].strip()
        text, end = "", call.end
        within = re.match(r"\s*within\s+(group)\s*\(", sql[call.end :], re.I)
        separated = re.fullmatch(r"(.*?)(\s+order\s+by\s+.*?)?\s+separator\s+('(?:[^']|'')*'|\"[^\"]*\")", inner, re.I | re.S)
        if within:
            group = next(c for c in found if c.start == call.end + within.start(1))
            order = sql[group.start : group.end].partition("(")[2][:-1].strip()
            divider = "" if len(call.arguments) > 1 else ", ''"
            text, end = f"string_agg({inner}{divider} {order})", group.end
        elif separated and "," not in code(separated[1]):
            mark = separated[3] if separated[3].startswith("'") else literal(separated[3][1:-1])
            text = f"string_agg({separated[1].strip()}, {mark}{separated[2] or ''})"
        if text:
            was = sql[call.start : end]
            return Mended(_replaced(sql, call.start, end, text), f"{_short(was)} was read as {_short(text)}.")
    return None


def _any_of_patterns(sql: str) -> Mended | None:
    """x ILIKE ANY ('a%', 'b%'): one comparison each."""
    bare = code(sql)
    for call in calls(sql):
        before = re.search(r"(\"[^\"]*\"|[\w.]+)\s+(i?like)\s+$", bare[: call.start], re.I)
        if call.name not in ("any", "some", "all") or not before or before[1].lower() == "not":
            continue
        inside = sql[call.start : call.end].partition("(")[2][:-1]
        patterns = re.findall(r"'(?:[^']|'')*'", inside)
        if not patterns or re.sub(r"'(?:[^']|'')*'|\barray\b|[\s,\[\]{}()]", "", inside, flags=re.I):
            continue
        name = sql[before.start(1) : before.end(1)]
        joined = " AND " if call.name == "all" else " OR "
        text = f"({joined.join(f'{name} {before[2].upper()} {pattern}' for pattern in patterns)})"
        was = sql[before.start() : call.end]
        return Mended(_replaced(sql, before.start(), call.end, text), f"{_short(was)} was read as {_short(text)}.")
    return None


def _stands_between(found: Sequence[Token], index: int) -> bool:
    """Whether a word stands where its kind of operator does: between two values, between two statements, before a cast."""
    word, before, after = found[index].text.lower(), found[index - 1 : index], found[index + 1 : index + 3]
    if not after or (not before and word != "safe_cast"):
        return False
    if word == "minus":
        return "select" in (after[0].text.lower(), after[-1].text.lower() if after[0].text == "(" else "")
    if word in ("div", "mod"):
        value = ("identifier", "numeric_const")
        return (before[0].kind in value or before[0].text == ")") and (after[0].kind in value or after[0].text == "(")
    return word != "safe_cast" or after[0].text == "("


_WORDS = {"div": "//", "mod": "%", "&&": "AND", "minus": "EXCEPT", "safe_cast": "TRY_CAST"}
"""What other systems write between two values or statements, or around a cast -> the same here."""
_CLOCK = {"sysdate", "systimestamp"}


def _operators(sql: str, error: str) -> Mended | None:
    """x REGEXP 'a' and a DIV b, as MySQL writes them, MINUS and SYSDATE, as Oracle does."""
    found = re.search(r"(\"[^\"]+\"|[\w.]+)\s+(not\s+)?(?:regexp|rlike)\s+('(?:[^']|'')*')", sql, re.I)
    if found and code(sql)[found.start(3)] == "'":
        text = f"{'NOT ' if found[2] else ''}regexp_matches({found[1]}, {found[3]})"
        said = f"{_short(found[0])} was read as {_short(text)}: capitals count."
        return Mended(_replaced(sql, *found.span(), text), said)
    refused = re.search("syntax error|Chained comparisons", error) is not None
    words = significant(sql)
    for index, token in enumerate(words):
        word = token.text.lower()
        fits = _WORDS.get(word) if refused and _stands_between(words, index) else None
        if word in _CLOCK and key(missing_column(error)) == word:
            fits = "current_timestamp"
        if fits:
            end = token.start + len(token.text)
            return Mended(_replaced(sql, token.start, end, fits), f"{token.text} was read as {fits}.")
    return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"
