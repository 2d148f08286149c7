"""Functions of other systems: the same in DuckDB where the meaning is certain, else what to write.
Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

PARTS = (
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "decade",
    "century",
)
_SHORT_PARTS = {
    "yy": "year",
    "yyyy": "year",
    "qq": "quarter",
    "mm": "month",
    "ww": "week",
    "wk": "week",
    "dd": "day",
}
_SHORT_PARTS |= {
    "hh": "hour",
    "mi": "minute",
    "ss": "second",
    **{f"{part}s": part for part in PARTS},
}
_OWN_CODE = {
    **{code: f"%{code}" for code in "YymdHjfpbaIS%"},
    "i": "%M",
    "s": "%S",
    "T": "%H:%M:%S",
    "h": "%I",
}
_OWN_CODE |= {"W": "%A", "e": "%-d", "c": "%-m", "k": "%-H", "l": "%-I", "r": "%I:%M:%S %p"}
"""MySQL's codes of dates -> DuckDB's. %M is a month's name there and minutes here, so it is left to
whoever wrote it."""
_STYLES = {
    "23": "%Y-%m-%d",
    "120": "%Y-%m-%d %H:%M:%S",
    "121": "%Y-%m-%d %H:%M:%S.%g",
    "112": "%Y%m%d",
}
_STYLES |= {
    "101": "%m/%d/%Y",
    "102": "%Y.%m.%d",
    "103": "%d/%m/%Y",
    "104": "%d.%m.%Y",
    "105": "%d-%m-%Y",
    "110": "%m-%d-%Y",
}
_STYLES |= {"126": "%Y-%m-%dT%H:%M:%S"}
"""SQL Server's numbers for how a date is written -> codes."""
_TYPES = re.compile(
    r"(?:text|string|float|double|real|decimal|numeric|date|timestamp|n?(?:var)?char)(?:\s*\([\d, ]+\))?$",
    re.I,
)
_WHOLE_TYPES = re.compile(r"(?:big|small|tiny)?int(?:eger)?$", re.I)
_MYSQL_TYPES = {
    "signed": "BIGINT",
    "unsigned": "UBIGINT",
    "char": "VARCHAR",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}


def part_of(text: str) -> str:
    """`year` of `YEAR`, `yy`, `'year'`; empty for what is no part of a date."""
    plain = text.strip("'\"").lower()
    return plain if plain in PARTS else _SHORT_PARTS.get(plain, "")


def _counted_part(text: str) -> str:
    """Of those whose ends all systems agree on: weeks begin on Sunday in some."""
    part = part_of(text)
    return "" if part == "week" else part


def _moment(text: str) -> str:
    return f"CAST({text} AS TIMESTAMP)"


def _difference(args: Sequence[str]) -> str:
    part = _counted_part(args[0])
    return f"date_diff('{part}', {_moment(args[1])}, {_moment(args[2])})" if part else ""


def _difference_part_last(args: Sequence[str]) -> str:
    """BigQuery's: the later first."""
    return _difference((args[2], args[1], args[0])) if _counted_part(args[2]) else ""


def _whole_difference(args: Sequence[str]) -> str:
    """MySQL's: whole years, months … that have passed."""
    part = part_of(args[0])
    return f"date_sub('{part}', {_moment(args[1])}, {_moment(args[2])})" if part else ""


def _days_between(args: Sequence[str]) -> str:
    """MySQL's, Hive's and Spark's: the later first, in days."""
    return f"date_diff('day', CAST({args[1]} AS DATE), CAST({args[0]} AS DATE))"


def _added(args: Sequence[str]) -> str:
    part = part_of(args[0])
    moment = _moment(args[2]) if args[2].startswith("'") else args[2]
    return f"({moment} + ({args[1]}) * INTERVAL 1 {part})" if part else ""


def _moved(sign: str) -> Callable[[Sequence[str]], str]:
    """MySQL's and BigQuery's DATE_ADD and DATE_SUB(day, INTERVAL 1 MONTH)."""

    def moved(given: Sequence[str]) -> str:
        moment = _moment(given[0]) if given[0].startswith("'") else given[0]
        return f"({moment} {sign} {given[1]})" if re.match(r"interval\b", given[1], re.I) else ""

    return moved


def _taken(args: Sequence[str]) -> str:
    part = _counted_part(args[0])
    return f"date_part('{part}', {_moment(args[1])})" if part else ""


def _cut(args: Sequence[str]) -> str:
    """SQL Server's and Snowflake's DATETRUNC(month, x), BigQuery's DATE_TRUNC(x, MONTH)."""
    for part, moment in ((args[0], args[1]), (args[1], args[0])):
        if not part.startswith("'") and _counted_part(part):
            return f"date_trunc('{_counted_part(part)}', {_moment(moment)})"
    return ""


def _name_of_part(args: Sequence[str]) -> str:
    name = {"month": "monthname", "weekday": "dayname", "dw": "dayname"}.get(
        part_of(args[0]) or args[0].strip("'").lower()
    )
    return f"{name}({_moment(args[1])})" if name else ""


def _formatted(args: Sequence[str]) -> str:
    """strftime of a date and a format in either order; the date may be an ISO text, as SQLite keeps
    dates."""
    format_first = args[0].startswith("'") and "%" in args[0]
    form, moment = (args[0], args[1]) if format_first else (args[1], args[0])
    if "CAST(" in moment.upper() or not (form.startswith("'") and "%" in form):
        return ""
    return f"strftime({'current_timestamp' if moment.lower() == repr('now') else _moment(moment)}, {form})"


def _codes(written: str) -> str:
    """A text of MySQL's codes in DuckDB's; empty where one of them has no certain meaning here."""
    codes = re.findall(r"%(.)", written)
    if not (written.startswith("'") and codes) or any(code not in _OWN_CODE for code in codes):
        return ""
    return re.sub(r"%(.)", lambda match: _OWN_CODE[match[1]], written)


def _formatted_as_mysql(args: Sequence[str]) -> str:
    return f"strftime({_moment(args[0])}, {codes})" if (codes := _codes(args[1])) else ""


def _parsed_as_mysql(args: Sequence[str]) -> str:
    return f"strptime({args[0]}, {codes})" if (codes := _codes(args[1])) else ""


def _converted(args: Sequence[str]) -> str:
    """SQL Server's CONVERT(type, x), which cuts a fraction where a CAST would round it; MySQL's
    CONVERT(x, type)."""
    kind, value = args
    if own := _MYSQL_TYPES.get(value.lower()):
        return f"CAST({kind} AS {own})"
    if _WHOLE_TYPES.match(kind):
        return f"CAST({value} AS {kind})" if re.fullmatch(r"'[^']*'", value) else ""
    return f"CAST({value} AS {kind})" if _TYPES.match(kind) else ""


def _converted_in_style(args: Sequence[str]) -> str:
    """SQL Server's CONVERT(varchar(7), day, 120)."""
    kind, moment, style = args
    room = re.fullmatch(r"n?(?:var)?char\s*(?:\(\s*(\d+|max)\s*\))?", kind, re.I)
    if not room or style not in _STYLES:
        return ""
    text = f"strftime({_moment(moment)}, '{_STYLES[style]}')"
    return f"left({text}, {room[1]})" if (room[1] or "max").isdigit() else text


def _form(template: str) -> Callable[[Sequence[str]], str]:
    return lambda args: template.format(*args)


MEANT: dict[tuple[str, int], Callable[[Sequence[str]], str]] = {
    ("stdev", 1): _form("stddev_samp({0})"),
    ("stdevp", 1): _form("stddev_pop({0})"),
    ("varp", 1): _form("var_pop({0})"),
    ("isnull", 1): _form("({0} IS NULL)"),
    ("isnull", 2): _form("coalesce({0}, {1})"),
    ("nvl", 2): _form("coalesce({0}, {1})"),
    ("nvl2", 3): _form("CASE WHEN {0} IS NOT NULL THEN {1} ELSE {2} END"),
    ("iif", 3): _form("CASE WHEN {0} THEN {1} ELSE {2} END"),
    ("charindex", 2): _form("strpos({1}, {0})"),
    ("locate", 2): _form("strpos({1}, {0})"),
    ("getdate", 0): _form("current_timestamp"),
    ("getutcdate", 0): _form("current_timestamp"),
    ("sysdatetime", 0): _form("current_timestamp"),
    ("sysdate", 0): _form("current_timestamp"),
    ("curdate", 0): _form("current_date"),
    ("rand", 0): _form("random()"),
    ("newid", 0): _form("uuid()"),
    ("square", 1): _form("power({0}, 2)"),
    ("percentile", 2): _form("quantile_cont({0}, {1})"),
    ("approx_percentile", 2): _form("approx_quantile({0}, {1})"),
    ("truncate", 2): _form("trunc({0}, {1})"),
    ("safe_divide", 2): _form("({0} / nullif({1}, 0))"),
    ("eomonth", 1): _form("last_day(CAST({0} AS DATE))"),
    ("datediff", 2): _days_between,
    ("datediff", 3): _difference,
    ("date_diff", 3): lambda given: _difference(given) or _difference_part_last(given),
    ("timestampdiff", 3): _whole_difference,
    ("dateadd", 3): _added,
    ("timestampadd", 3): _added,
    ("date_sub", 2): _moved("-"),
    ("date_add", 2): _moved("+"),
    ("datepart", 2): _taken,
    ("datename", 2): _name_of_part,
    ("datetrunc", 2): _cut,
    ("date_trunc", 2): _cut,
    ("timestamp_trunc", 2): _cut,
    ("strftime", 2): _formatted,
    ("date_format", 2): _formatted_as_mysql,
    ("str_to_date", 2): _parsed_as_mysql,
    ("convert", 2): _converted,
    ("convert", 3): _converted_in_style,
}
"""(function, arguments) -> the same in DuckDB, or nothing where the arguments leave a doubt. The
place to add one."""
_FORMAT = "Write strftime(x, '%Y-%m-%d'): codes with %, as in C."
_ANYWHERE = (
    "Write regexp_matches(x, 'a') for a match anywhere in the text, regexp_full_match(x, 'a') "
    "for the whole of it."
)
_CAST = (
    "Write CAST(x AS type), or TRY_CAST for NULL where it cannot be; a CAST to INTEGER "
    "rounds: trunc(x) cuts."
)
AMBIGUOUS = {
    "std": "Write stddev_samp (of a sample, as in pandas) or stddev_pop (of all, as in MySQL).",
    "var": "Write var_samp or var_pop.",
    "median_absolute_deviation": "Write mad.",
    "to_char": "Write strftime(x, '%Y-%m-%d').",
    "date_format": _FORMAT,
    "format_date": "Write strftime(x, '%Y-%m-%d').",
    "format": "Write strftime(x, '%Y-%m') for a date, format('{:,.2f}', x) for a number.",
    "to_date": "Write strptime(x, '%d.%m.%Y'), or CAST(x AS DATE) for ISO dates.",
    "to_timestamp": "Write strptime(x, '%d.%m.%Y %H:%M'); of seconds since 1970, to_timestamp(x).",
    "to_number": "Write CAST(x AS DOUBLE), or TRY_CAST for NULL where it is no number.",
    "str_to_date": "Write strptime(x, '%d.%m.%Y').",
    "parse_date": "Write strptime(x, '%d.%m.%Y').",
    "julianday": "Write date_diff('day', a, b) for days between two dates.",
    "to_days": "Write date_diff('day', a, b) for days between two dates, INTERVAL 7 DAY "
    "for a span.",
    "months_between": "Write date_diff('month', a, b) for ends of months between them, "
    "date_sub('month', a, "
    "b) for whole months.",
    "add_months": "Write x + INTERVAL 1 MONTH; the last of a month stays its day, 29 February "
    "becomes 29 March.",
    "dateadd": "Write x + INTERVAL 7 DAY.",
    "date_add": "Write x + INTERVAL 7 DAY.",
    "date_sub": "Write x - INTERVAL 7 DAY, and date_sub('month', a, b) for whole months between "
    "two dates.",
    "datediff": "Write date_diff('week', a, b): weeks begin on Monday.",
    "datepart": "Write date_part('week', x): weeks begin on Monday.",
    "datename": "Write monthname(x) or dayname(x).",
    "datetime": "Write CAST(x AS TIMESTAMP); the time now is current_timestamp, an hour ago "
    "current_timestamp - INTERVAL 1 HOUR.",
    "date": "Write CAST(x AS DATE); today is current_date, a week ago current_date - "
    "INTERVAL 7 DAY.",
    "trunc": "Write date_trunc('month', x) for a date.",
    "date_trunc": "Write date_trunc('month', x), with the part first and as a text.",
    "unix_timestamp": "Write epoch(x).",
    "from_unixtime": "Write to_timestamp(x).",
    "substring_index": "Write split_part(x, ',', 1).",
    "crosstab": "Write PIVOT t ON a USING sum(b) GROUP BY c.",
    "decode": "Write CASE x WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 0 END.",
    "read_csv": "Write the table's SQL name: FROM sales.",
    "regexp_like": _ANYWHERE,
    "regexp_contains": _ANYWHERE,
    "regexp_instr": "Write regexp_matches(x, 'a') for whether it matches, strpos(x, 'a') "
    "for where a "
    "text begins.",
    "regexp_substr": "Write regexp_extract(x, 'a'), which gives '' and not NULL where "
    "nothing matches.",
    "patindex": "Write strpos(x, 'a') for where a text begins, regexp_matches(x, 'a') for "
    "whether a "
    "pattern matches.",
    "stuff": "Write left(x, 2) || 'new' || substr(x, 5); to join rows, string_agg(x, ',').",
    "string_split": "Write FROM (SELECT unnest(string_split(x, ',')) AS value).",
    "convert": _CAST,
    "try_convert": _CAST,
    "to_varchar": "Write CAST(x AS VARCHAR), and strftime(x, '%Y-%m-%d') for a date.",
    "cstr": "Write CAST(x AS VARCHAR).",
    "parse": _CAST,
    "count": "Write count(DISTINCT (a, b)) for pairs of values.",
    "group_concat": "Write string_agg(x, ', ' ORDER BY x).",
    "listagg": "Write string_agg(x, ', ' ORDER BY x).",
    "collect_list": "Write list(x).",
    "collect_set": "Write list(DISTINCT x).",
    "first_value": "Write first_value(x) OVER (ORDER BY y), or arg_min(x, y).",
    "percent_rank": "Write percent_rank() OVER (ORDER BY x).",
    "value_counts": "Write SELECT x, count(*) FROM t GROUP BY x ORDER BY 2 DESC.",
    "nunique": "Write count(DISTINCT x).",
    "str": "Write CAST(x AS VARCHAR), and upper(x), lower(x), trim(x), contains(x, 'a'), "
    "replace(x, 'a', 'b').",
    "avg": "Write avg(CAST(x AS INTEGER)) for the part of TRUE, avg(TRY_CAST(x AS DOUBLE)) for "
    "numbers kept as text.",
}
"""Functions of other systems that may mean several things here, or are written quite otherwise ->
what to write."""
