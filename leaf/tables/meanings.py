"""What has to be said of SQL that means something else here than elsewhere, and what to write for
SQL that is refused. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from leaf.tables.dialect_names import lists_of_names
from leaf.tables.functions import AMBIGUOUS, part_of
from leaf.tables.mending import key, missing_column
from leaf.tables.sql import Token, calls, code, literal, quoted, significant

_COMPARED = {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "like", "ilike", "in"}
_AGGREGATES = {"sum", "avg", "count", "min", "max", "median"}
_SHORT = 40
"""A type of at most so many characters is meant to cut."""
_SYNTAX = (
    (
        r"\bwith\s+ties\b",
        "Write QUALIFY rank() OVER (ORDER BY x DESC) <= 3 for the first with their ties.",
    ),
    (r"\b(cross|outer)\s+apply\b", "Write JOIN LATERAL (…) ON true."),
    (r"\bwith\s+rollup\b", "Write GROUP BY ROLLUP (a, b)."),
    (r"\bwith\s+cube\b", "Write GROUP BY CUBE (a, b)."),
    (r"\bseparator\b", "Write string_agg(x, ', ' ORDER BY x)."),
    (r"\blike\s+(any|all|some)\b", "Write x LIKE 'a%' OR x LIKE 'b%'."),
    (
        r"\b(contains|matches|startswith)\s+'",
        "Write contains(x, 'a'), regexp_matches(x, 'a') or starts_with(x, 'a').",
    ),
    (r"\binto\s+[#\w]", "Leave INTO away: the result is kept, and FROM r1 reads it later."),
    (
        r"\bdeclare\b|:=|(?<!\w)@\w",
        "There are no variables: write the value, or WITH v AS (SELECT 1 AS x).",
    ),
    (r"\bconnect\s+by\b", "Write WITH RECURSIVE."),
    (r"\\'", "Write a quote in a text twice: 'it''s'."),
    (r"\bas\s+\w+\s+(?!from\b)\w+\s*(,|\bfrom\b)", "A name of several words needs double quotes."),
    (r"#", "A comment begins with --."),
    (r"\btop\b", "Write LIMIT at the end."),
    (r"\bconvert\s*\(", AMBIGUOUS["convert"]),
)
"""What may be the cause of a syntax error -> what to write."""
_MESSAGES = (
    (
        r"cannot contain window functions|Window functions are not supported",
        "Write lag(x) OVER (ORDER BY y); filter by QUALIFY.",
    ),
    (
        r"WHERE clause cannot contain aggregates",
        "Write HAVING for a condition on an aggregate; a text stands in 'single quotes'.",
    ),
    (r"cannot be nested", "Aggregate first in a WITH, then the rows of that."),
    (r"PIVOT IN list cannot contain column names", "Write the values as texts: IN ('a', 'b')."),
    (
        r"date field format|timestamp field format",
        "A date is written '2024-01-31'; strptime(x, '%d.%m.%Y') reads others.",
    ),
    (
        r"'~~\*?\(|'!~~\*?\(",
        "LIKE compares texts: CAST(x AS VARCHAR) LIKE '2024-01%', or date_trunc('month', x) = "
        "'2024-01-01'.",
    ),
    (
        r"[+-]\((DATE|TIMESTAMP\w*), (STRING_LITERAL|VARCHAR)",
        "Write DATE '2024-01-31' for a day, INTERVAL '7 days' for a span.",
    ),
    (
        r"[+-]\((STRING_LITERAL|VARCHAR), (DATE|TIMESTAMP|INTERVAL)",
        "Write DATE '2024-01-31' for a day, CAST(x AS DATE) for a column.",
    ),
    (
        r"\+\(.*(STRING_LITERAL|VARCHAR)",
        "Texts are joined with ||, and CAST(x AS DOUBLE) makes a number of one.",
    ),
    (
        r"Type with name \w+ does not exist",
        "Write VARCHAR, BIGINT, DOUBLE, DECIMAL(18, 2), BOOLEAN, DATE or TIMESTAMP.",
    ),
    (r"Chained comparisons", "Write AND and OR between conditions."),
    (r"[Dd]ivision by zero", "Write a / nullif(b, 0)."),
)
"""What DuckDB says -> what to write."""


def cautions(sql: str, columns: Sequence[str]) -> list[str]:
    """What has to be said of a statement that ran: where it means something else than its writer
    may think."""
    sentences = (
        *lists_of_names(sql, columns),
        *_of_names(sql, columns),
        *_of_functions(sql),
        *_of_forms(sql),
    )
    return list(dict.fromkeys(sentences))


def _of_names(sql: str, columns: Sequence[str]) -> Iterator[str]:
    """Texts where a column may be meant, columns where a text may be, and a name whose second word
    was read as an alias."""
    known = {key(column): column for column in columns}
    tokens = significant(sql)
    for index, token in enumerate(tokens):
        before = tokens[index - 1].text if index else ""
        if (
            token.kind == "string_const"
            and (column := known.get(key(token.text[1:-1])))
            and _may_be_column(tokens, index)
        ):
            yield f"{token.text} is a text here: write {quoted(column)} for the column."
        elif token.text[0] == '"' and before.lower() in _COMPARED and index > 1:
            yield from _of_compared(token, tokens[index - 2], known)
        elif key(before) in known and (both := known.get(key(f"{before} {token.text}"))):
            yield (
                f"{before} {token.text} was read as {before} AS {token.text}: write {quoted(both)}."
            )


def _may_be_column(tokens: Sequence[Token], index: int) -> bool:
    """Whether a text stands where a column would: left of a comparison, selected, grouped by, or
    aggregated."""
    words = [token.text.lower() for token in tokens]
    before, after = (
        words[index - 1] if index else "",
        words[index + 1] if index + 1 < len(words) else "",
    )
    if after in _COMPARED and before not in _COMPARED:
        return True
    if after == "as" or "union" in words:
        return False  # a label
    if before == "(" or (before == "distinct" and words[index - 2] == "("):
        opened = index - (2 if before == "(" else 3)
        return words[opened] in _AGGREGATES
    return before in ("select", "by", "distinct") or (before == "," and _is_outside(words[:index]))


def _is_outside(words: Sequence[str]) -> bool:
    """Whether what follows these words stands in no parentheses of its SELECT."""
    depth = 0
    for word in reversed(words):
        depth += (word in (")", "]")) - (word in ("(", "["))
        if depth < 0 or (not depth and word in ("select", "by")):
            return depth == 0
    return False


def _of_compared(token: Token, other: Token, known: Mapping[str, str]) -> Iterator[str]:
    """sex = "male" with a column male, or an alias of that name: the writer may have meant the
    text."""
    name = token.text[1:-1].replace('""', '"')
    column = known.get(key(name))
    if column is None:
        yield (
            f"{token.text} was read as a name given in the statement: write {literal(name)} "
            f"for the text."
        )
    elif other.text[0] != '"' or column != name:
        yield f"{token.text} was read as the column {column}: write {literal(name)} for the text."


def _of_functions(sql: str) -> Iterator[str]:
    bare = code(sql)
    for call in calls(sql):
        count, arguments = len(call.arguments), call.arguments
        if call.name in ("dayofweek", "weekday"):
            yield f"{call.name} counts from Sunday = 0; isodow counts from Monday = 1."
        elif call.name == "log" and count == 1:
            yield "log(x) is to base 10 here; ln(x) is the natural one."
        elif (
            call.name == "regexp_replace"
            and count == 3
            and not re.search(r"^'\^|\$'$", arguments[1])
        ):
            yield (
                "regexp_replace with three arguments replaces the first match only; a "
                "fourth, 'g', all."
            )
        elif call.name == "regexp_extract" and re.search(
            r"\bnull\b|\bcoalesce\b|\bcount\s*\(\s*regexp", bare, re.I
        ):
            yield (
                "regexp_extract gives '' and not NULL where nothing matches: nullif(x, '') "
                "makes that NULL."
            )
        elif call.name in ("substr", "substring") and count > 2 and arguments[1] == "0":
            yield "Places in a text count from 1: one that begins at 0 is a character shorter."
        elif (
            call.name == "cast"
            and arguments
            and re.search(
                r"(?<!/)/(?!/)[^']*\bas\s+(?:big|small)?int(?:eger)?$", arguments[0], re.I
            )
        ):
            yield "A CAST to INTEGER rounds: floor(a / b) or a // b cuts."


def _of_forms(sql: str) -> Iterator[str]:
    bare = code(sql)
    for kind, room in re.findall(r"\b(n?(?:var)?char)\s*\(\s*(\d+)\s*\)", bare, re.I):
        if int(room) <= _SHORT:
            yield f"{kind}({room}) does not cut a text: left(x, {room}) does."
    if re.search(r"(?:=|<>|!=)\s*null\b", bare, re.I):
        yield "A comparison with NULL is never true: write IS NULL or IS NOT NULL."
    if re.search(r"\bsimilar\s+to\s+'[^']*%", sql, re.I) and re.search(
        r"\bsimilar\s+to\b", bare, re.I
    ):
        yield "SIMILAR TO takes a regular expression here: LIKE takes % and _."


def advice(message: str, sql: str, columns: Sequence[str], words: Sequence[str]) -> str:
    """What to write in place of a statement that was refused; empty where its error says enough.
    `words` are reserved ones."""
    if named := re.search(
        r"Function with name (\w+) does not exist|argument types '(\w+)\(|ordered "
        r"aggregate \"(\w+)\"",
        message,
    ):
        hint = AMBIGUOUS.get(next(group for group in named.groups() if group).lower(), "")
        if hint:
            return hint
    if part_of(missing_column(message)):
        return (
            f"Write the part of a date as a text: '{part_of(missing_column(message))}'; weeks "
            f"begin on Monday."
        )
    if key(missing_column(message)) in ("rownum", "rowid"):
        return "Write LIMIT 5, or row_number() OVER (ORDER BY x)."
    if "arguments provided to DATE function" in message or '"now"' in message:
        return AMBIGUOUS["date"]
    if hint := next((hint for pattern, hint in _MESSAGES if re.search(pattern, message)), ""):
        return hint
    return (
        _of_syntax(sql, columns, words) if re.search("syntax error|unterminated", message) else ""
    )


def _of_syntax(sql: str, columns: Sequence[str], words: Sequence[str]) -> str:
    bare = code(sql)
    if hint := next(
        (
            hint
            for pattern, hint in _SYNTAX
            if re.search(pattern, bare if "'" not in pattern else sql, re.I)
        ),
        "",
    ):
        return hint
    reserved = [
        c
        for c in columns
        if key(c) in words and re.search(rf"(?<![\w\"]){re.escape(c)}(?!\w|\s+by\b)", bare, re.I)
    ]
    if reserved:
        return (
            f"{' and '.join(quoted(c) for c in reserved[:3])} is a word of SQL: as a column "
            f"it needs double quotes."
        )
    blanks = [c for c in columns if not re.fullmatch(r"\w+", c) and key(c) in key(bare)]
    return (
        f"Names with blanks need double quotes: {', '.join(quoted(c) for c in blanks[:3])}."
        if blanks
        else ""
    )


def nearer(message: str) -> str:
    """DuckDB's message without the function that it takes for the nearest, where that has little in
    common with the one meant."""
    match = re.search(r"name (\w+) does not exist!\s*Did you mean \"([\w.]+)\"\?", message)
    if match and difflib.SequenceMatcher(None, match[1].lower(), match[2].lower()).ratio() < 0.75:
        return re.sub(r"\s*Did you mean \".*", "", message)
    return message
