"""SQL in the habits of other systems, made into DuckDB's where it can mean one thing only. Pure;
used in the confined child.

Asked only after DuckDB refused a statement, so nothing that runs is ever changed. What was changed
is said; where two meanings are possible nothing is, and the error says what to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from leaf.tables.dialect_names import (
    name_with_blanks,
    name_with_other_marks,
    names_in_brackets,
    table_for_file,
    text_for_name,
)
from leaf.tables.functions import MEANT
from leaf.tables.mending import Mended, key, missing_column, replaced, short
from leaf.tables.sql import SET_OPERATIONS, SqlCall, Token, calls, code, literal, significant

_MARKS = {"‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
"""Quotes of texts for people -> those of SQL."""
_PERHAPS_SYNTAX = {"convert"}
"""Functions of other systems that are refused as syntax, so that the error does not name them."""


def mended(
    sql: str,
    error: str,
    files: Mapping[str, Sequence[str]],
    columns: Sequence[str],
    tables: Sequence[str] = (),
) -> Mended | None:
    """The statement that was meant, if that is certain.

    `files` are names that stand for tables (a file's name, with and without its ending, its handle,
    a sheet) with those tables; `columns` those of the tables that the statement reads; `tables` all
    names of tables.
    """
    return (
        _without_dress(sql, error)
        or table_for_file(sql, error, files, tables)
        or names_in_brackets(sql, error, columns)
        or _limit_for_top(sql)
        or _limit_for_pair(sql)
        or name_with_blanks(sql, error, columns)
        or name_with_other_marks(sql, error, columns)
        or text_for_name(sql, error, columns)
        or _ordered_texts(sql)
        or _calls(sql, error)
        or _any_of_patterns(sql)
        or _operators(sql, error)
    )


def _without_dress(sql: str, error: str) -> Mended | None:
    """What is around or in a statement and is none of it: fences of Markdown, quotes for people,
    FROM DUAL, WITH (NOLOCK)."""
    if fenced := re.fullmatch(r"\s*```(?:\w*\n)?(.*?)```\s*", sql, re.S):
        return Mended(fenced[1].strip(), "The fence around the statement was taken away.")
    bare = code(sql)
    if match := re.search(r"[‘‚‛’]([^‘’‚‛]*)[’‘‛]|[“„«”»]([^“”„«»]*)[”“»«]", bare):
        start, end = match.span()
        text = "".join(
            _MARKS.get(c, c) if i in (0, end - start - 1) else c
            for i, c in enumerate(sql[start:end])
        )
        return Mended(replaced(sql, start, end, text), f"{sql[start:end]} was read as {text}.")
    if "DUAL" in error.upper() and (match := re.search(r"\sfrom\s+dual\b", bare, re.I)):
        return Mended(replaced(sql, *match.span(), ""), "FROM DUAL was taken away.")
    if "syntax error" in error and (match := re.search(r"\swith\s*\(\s*nolock\s*\)", bare, re.I)):
        return Mended(replaced(sql, *match.span(), ""), "WITH (NOLOCK) was taken away.")
    return None


def _limit_for_top(sql: str) -> Mended | None:
    """SELECT TOP 5 …: a LIMIT at the end of that SELECT."""
    tokens = significant(sql)
    for index, token in enumerate(tokens[:-1]):
        after = index + 1 + (tokens[index + 1].text.lower() in ("distinct", "all"))
        if (
            token.text.lower() != "select"
            or after + 1 >= len(tokens)
            or tokens[after].text.lower() != "top"
        ):
            continue
        top = re.match(
            r"top\s*(?:\(\s*(\d+)\s*\)|(\d+)\b)(\s*percent\b)?(\s*with\s+ties\b)?",
            sql[tokens[after].start :],
            re.I,
        )
        end = _end_of_select(tokens, index)
        if not top or top[4] or end is None:
            continue
        number = (top[1] or top[2]) + ("%" if top[3] else "")
        start, rest = tokens[after].start, tokens[after].start + top.end()
        new_sql = sql[:start] + sql[rest:end].lstrip() + f"\nLIMIT {number}" + sql[end:]
        return Mended(new_sql, f"TOP was read as LIMIT {number}.")
    return None


def _end_of_select(tokens: Sequence[Token], begin: int) -> int | None:
    """Where a SELECT ends that has no LIMIT of its own and is no part of a UNION; else None."""
    depth = 0
    last = tokens[begin]
    for token in tokens[begin:]:
        word = token.text.lower()
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if depth < 0 or (word == ";" and not depth):
            break
        if not depth and (word == "limit" or word in SET_OPERATIONS):
            return None
        last = token
    return last.start + len(last.text)


def _limit_for_pair(sql: str) -> Mended | None:
    """LIMIT 5, 10, as MySQL writes it."""
    tokens = significant(sql)
    for index, token in enumerate(tokens[:-3]):
        skipped, comma, count = tokens[index + 1 : index + 4]
        if (
            token.text.lower() == "limit"
            and comma.text == ","
            and skipped.text.isdigit()
            and count.text.isdigit()
        ):
            clause = f"LIMIT {count.text} OFFSET {skipped.text}"
            end = count.start + len(count.text)
            return Mended(
                replaced(sql, token.start, end, clause),
                f"LIMIT {skipped.text}, {count.text} was read as {clause}.",
            )
    return None


def _calls(sql: str, error: str) -> Mended | None:
    """The first call that DuckDB refused and knows in other words."""
    for call in calls(sql):
        rewrite = (
            MEANT.get((call.name, len(call.arguments)))
            if _is_refused(call, error.lower())
            else None
        )
        text = rewrite(call.arguments) if rewrite else ""
        if text:
            was = sql[call.start : call.end]
            return Mended(
                replaced(sql, call.start, call.end, text),
                f"{short(was)} was read as {short(text)}.",
            )
    return None


def _is_refused(call: SqlCall, error: str) -> bool:
    """Whether an error, in lower case, is about this call."""
    if call.name in error or any(
        f'column "{argument.lower()}"' in error for argument in call.arguments
    ):
        return True
    return call.name in _PERHAPS_SYNTAX and "syntax error" in error


def _ordered_texts(sql: str) -> Mended | None:
    """LISTAGG(x, ',') WITHIN GROUP (ORDER BY y), GROUP_CONCAT(x ORDER BY y SEPARATOR ','):
    string_agg with its order inside."""
    all_calls = calls(sql)
    for call in all_calls:
        if call.name not in ("string_agg", "listagg", "group_concat"):
            continue
        inner = sql[call.start : call.end].partition("(")[2][:-1].strip()
        text, end = "", call.end
        within = re.match(r"\s*within\s+(group)\s*\(", sql[call.end :], re.I)
        separated = re.fullmatch(
            r"(.*?)(\s+order\s+by\s+.*?)?\s+separator\s+('(?:[^']|'')*'|\"[^\"]*\")",
            inner,
            re.I | re.S,
        )
        if within:
            group = next(c for c in all_calls if c.start == call.end + within.start(1))
            order = sql[group.start : group.end].partition("(")[2][:-1].strip()
            divider = "" if len(call.arguments) > 1 else ", ''"
            text, end = f"string_agg({inner}{divider} {order})", group.end
        elif separated and "," not in code(separated[1]):
            mark = separated[3] if separated[3].startswith("'") else literal(separated[3][1:-1])
            text = f"string_agg({separated[1].strip()}, {mark}{separated[2] or ''})"
        if text:
            was = sql[call.start : end]
            return Mended(
                replaced(sql, call.start, end, text), f"{short(was)} was read as {short(text)}."
            )
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
        if not patterns or re.sub(
            r"'(?:[^']|'')*'|\barray\b|[\s,\[\]{}()]", "", inside, flags=re.I
        ):
            continue
        name = sql[before.start(1) : before.end(1)]
        joined = " AND " if call.name == "all" else " OR "
        text = f"({joined.join(f'{name} {before[2].upper()} {pattern}' for pattern in patterns)})"
        was = sql[before.start() : call.end]
        return Mended(
            replaced(sql, before.start(), call.end, text),
            f"{short(was)} was read as {short(text)}.",
        )
    return None


def _stands_between(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word stands where its kind of operator does: between two values, between two
    statements, before a cast."""
    word, before, after = (
        tokens[index].text.lower(),
        tokens[index - 1 : index],
        tokens[index + 1 : index + 3],
    )
    if not after or (not before and word != "safe_cast"):
        return False
    if word == "minus":
        return "select" in (
            after[0].text.lower(),
            after[-1].text.lower() if after[0].text == "(" else "",
        )
    if word in ("div", "mod"):
        value = ("identifier", "numeric_const")
        return (before[0].kind in value or before[0].text == ")") and (
            after[0].kind in value or after[0].text == "("
        )
    return word != "safe_cast" or after[0].text == "("


_WORDS = {"div": "//", "mod": "%", "&&": "AND", "minus": "EXCEPT", "safe_cast": "TRY_CAST"}
"""What other systems write between two values or statements, or around a cast -> the same here."""
_CLOCK = {"sysdate", "systimestamp"}


def _operators(sql: str, error: str) -> Mended | None:
    """x REGEXP 'a' and a DIV b, as MySQL writes them, MINUS and SYSDATE, as Oracle does."""
    match = re.search(
        r"(\"[^\"]+\"|[\w.]+)\s+(not\s+)?(?:regexp|rlike)\s+('(?:[^']|'')*')", sql, re.I
    )
    if match and code(sql)[match.start(3)] == "'":
        text = f"{'NOT ' if match[2] else ''}regexp_matches({match[1]}, {match[3]})"
        remark = f"{short(match[0])} was read as {short(text)}: capitals count."
        return Mended(replaced(sql, *match.span(), text), remark)
    refused = re.search("syntax error|Chained comparisons", error) is not None
    words = significant(sql)
    for index, token in enumerate(words):
        word = token.text.lower()
        fits = _WORDS.get(word) if refused and _stands_between(words, index) else None
        if word in _CLOCK and key(missing_column(error)) == word:
            fits = "current_timestamp"
        if fits:
            end = token.start + len(token.text)
            return Mended(
                replaced(sql, token.start, end, fits), f"{token.text} was read as {fits}."
            )
    return None
