"""The words and the calls of an SQL statement, as DuckDB cuts it. Pure; used in the confined child."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leaf.errors import QueryError

SET_OPERATIONS = {"union", "except", "intersect"}
_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 that begin no character."""
_NUMBERS = (
    *(
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    ),
    *("FLOAT", "DOUBLE", "DECIMAL"),
)


@dataclass(frozen=True)
class Token:
    text: str
    """With its quotes, without the blanks around it."""
    kind: str
    """`keyword`, `identifier`, `string_const`, `numeric_const`, `operator` or `comment`."""
    start: int
    """In characters of the statement."""


@dataclass(frozen=True)
class SqlCall:
    """A function call in a statement, in characters of it."""

    name: str
    start: int
    end: int
    arguments: tuple[str, ...]


def tokens(sql: str) -> list[Token]:
    """The statement's tokens in order, comments among them. Raises QueryError for text that is not
    Unicode."""
    import duckdb

    raw = encoded(sql)
    raw_tokens = duckdb.tokenize(sql)
    starts = _characters(raw, [start for start, _ in raw_tokens])
    ends = [*starts[1:], len(sql)]
    pieces = [sql[start:end].strip() for start, end in zip(starts, ends, strict=False)]
    kinds = [kind.name for _, kind in raw_tokens]
    # DuckDB takes every blank of Unicode for a blank, and its tokenizer some of them for a name.
    return [Token(*token) for token in zip(pieces, kinds, starts, strict=True) if token[0]]


def significant(sql: str) -> list[Token]:
    """The statement's tokens without its comments."""
    return [token for token in tokens(sql) if token.kind != "comment"]


def calls(sql: str) -> list[SqlCall]:
    """The function calls of a statement, inner ones before those around them."""
    sql_tokens = significant(sql)
    open_at: list[tuple[str, int, list[int]]] = []
    sql_calls: list[SqlCall] = []
    for index, token in enumerate(sql_tokens):
        if token.text in ("(", "["):
            named = (
                token.text == "("
                and index > 0
                and re.fullmatch(r"[A-Za-z_]\w*", sql_tokens[index - 1].text)
            )
            start = sql_tokens[index - 1].start if named else -1
            open_at.append(
                (sql_tokens[index - 1].text.lower() if named else "", start, [token.start + 1])
            )
        elif token.text == "," and open_at:
            open_at[-1][2].append(token.start)
        elif token.text in (")", "]") and open_at:
            name, start, cuts = open_at.pop()
            pieces = [
                sql[a:b].lstrip(",").strip()
                for a, b in zip(cuts, [*cuts[1:], token.start], strict=True)
            ]
            if name:
                sql_calls.append(
                    SqlCall(name, start, token.start + 1, tuple(p for p in pieces if p))
                )
    return sql_calls


def encoded(sql: str) -> bytes:
    """The statement as DuckDB gets it. Raises QueryError for half of a surrogate pair, which no
    text may hold."""
    try:
        return sql.encode()
    except UnicodeEncodeError as e:
        message = (
            f"The query holds half of a character (\\u{ord(sql[e.start]):04x}) at place "
            f"{e.start + 1:,}."
        )
        raise QueryError(message, "Write the character itself, such as 📱 or ü.") from e


def words(sql: str) -> list[str]:
    """Keywords and names of the statement in lower case: nothing of its strings, comments and
    quoted names."""
    return [
        t.text.lower()
        for t in tokens(sql)
        if t.kind in ("keyword", "identifier") and not t.text.startswith('"')
    ]


def code(sql: str) -> str:
    """The statement, as long as it is, with blanks for what stands in texts, names in double quotes
    and comments."""
    pieces = list(sql)
    for token in tokens(sql):
        inner = token.kind in ("string_const", "identifier") and token.text[0] in "\"'"
        if inner or token.kind == "comment":
            start, end = (token.start + inner, token.start + len(token.text) - inner)
            pieces[start:end] = " " * (end - start)
    return "".join(pieces)


def without_semicolon(sql: str) -> str:
    """The statement without what ends it: DuckDB puts a query into parentheses, and there a last
    `;` has no place."""
    sql_tokens = significant(sql)
    while sql_tokens and sql_tokens[-1].text == ";":
        sql = sql[: sql_tokens.pop().start]
    return sql


def _characters(raw: bytes, places: Sequence[int]) -> list[int]:
    """Places in characters for ascending `places` in bytes, which is how DuckDB counts."""
    counted, before, offsets = 0, 0, []
    for place in places:
        counted += len(raw[before:place].translate(None, _CONTINUATION))
        before = place
        offsets.append(counted)
    return offsets


def is_number(sql_type: str) -> bool:
    """Whether a type of DuckDB holds numbers, and no lists of them."""
    return sql_type.startswith(_NUMBERS) and not sql_type.endswith("]")


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
