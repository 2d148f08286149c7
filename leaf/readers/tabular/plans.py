"""Ways to read a column of text as numbers, dates, times or booleans: which may fit a sample, the
narrower first. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from leaf.readers.tabular.cells import NO_VALUE
from leaf.readers.tabular.codes import BLANKS, PADDING, are_periods, codes_in, different
from leaf.readers.tabular.months import month_plans
from leaf.readers.tabular.parse_plan import TEXT, ParsePlan, times
from leaf.readers.tabular.sql import literal
from leaf.readers.tabular.units import Unit, units_of
from leaf.readers.tabular.wide import are_wide, narrowed

CURRENCY = r"(?:[$€£¥₹₽₩₺]|US\$|R\$|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL)"
_SIGN = "[-+−]?"
_SPACE = "[ \u00a0\u202f\u2009'’]"
_THOUSANDS = {
    ".": r"[1-9][0-9]{0,2}(?:,[0-9]{3})+",
    ",": r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+",
    " .": rf"[1-9][0-9]{{0,2}}(?:{_SPACE}[0-9]{{3}})+",
    " ,": rf"[1-9][0-9]{{0,2}}(?:{_SPACE}[0-9]{{3}})+",
    "in.": r"[1-9][0-9]?(?:,[0-9]{2})*,[0-9]{3}",
}
"""Whole numbers with marked thousands by style: `.` is 1,234.5, `,` is 1.234,5, ` .` and ` ,` are
1 234.5 and 1 234,5, `in.` is 12,34,567.5."""
_WHOLE = {style: rf"(?:0|[1-9][0-9]{{0,14}}|{some})" for style, some in _THOUSANDS.items()}
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ISO = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
OFFSET = r"(?:Z|[-+][0-9]{2}:?[0-9]{2})"
ZONED = "TIMESTAMPTZ"
"""The type of times that are read in UTC."""
UTC = frozenset({"Z", "+00:00", "+0000", "-00:00"})
"""Offsets of times that are in UTC as they are written."""


def _number(
    style: str, *, percent: bool = False, currency: bool = False, whole: bool = False
) -> ParsePlan:
    """Numbers with marked thousands; `whole` ones have no fraction and become integers."""
    core = _core(style, whole)
    money = f"(?:{CURRENCY}\\s?)?" if currency else ""
    tail = (r"\s?%" if percent else "") + (f"(?:\\s?{CURRENCY})?" if currency else "")
    bare = rf"{_SIGN}{money}{_SIGN}{core}{tail}"
    negative = rf"\({money}{core}{tail}\)|{money}\({core}\){tail}"
    pattern = rf"{bare}|{negative}|{money}{_marked(style, whole)}-{tail}"
    strip = [_SPACE] + ([CURRENCY, "%"] if currency or percent else [])
    kind, sql_type = ("integer", "BIGINT") if whole else ("decimal", "DOUBLE")
    value = f"TRY_CAST({_stripped(strip, style)} AS {sql_type})"
    return ParsePlan(kind, sql_type, pattern, value, style, percent, currency)


def _core(style: str, whole: bool) -> str:
    """The pattern of a number without a sign."""
    if whole:
        return f"(?:{_WHOLE[style]})"
    mark = style[-1]
    power = "(?:[eE][-+]?[0-9]{1,3})?" if style == "." else ""
    return rf"(?:{_WHOLE[style]}(?:[{mark}][0-9]*)?|[{mark}][0-9]+){power}"


def _marked(style: str, whole: bool) -> str:
    """The pattern of a number that may have its minus behind it, as in 1,234.50-: one with a mark,
    since 1990- is rather the year from which on."""
    fraction = "" if whole else f"|{_WHOLE[style]}[{style[-1]}][0-9]+"
    return f"(?:{_THOUSANDS[style]}{fraction})"


def _stripped(strip: Sequence[str], style: str) -> str:
    """SQL: a text without what these patterns match, with a dot as its only mark."""
    x = "replace({x}, '−', '-')"
    x = f"regexp_replace({x}, {literal('|'.join(strip))}, '', 'g')"
    mark = style[-1]
    x = f"replace(replace({x}, '.', ''), ',', '.')" if mark == "," else f"replace({x}, ',', '')"
    return f"regexp_replace({x}, '^\\((.*)\\)$|^(.*)-$', '-\\1\\2')"


@cache
def _unit_plans(units: tuple[Unit, ...]) -> tuple[ParsePlan, ...]:
    """Numbers that all have one of these units."""
    parts = [part for unit in units for part in unit if part]
    strip = [*map(re.escape, sorted(parts, key=len, reverse=True)), _SPACE]
    plans = []
    for style in (".", ",", " .", " ,", "in."):
        for whole in (True, False):
            core = _core(style, whole)
            each = [
                rf"{_SIGN}{front}{_SIGN}{core}{back}|\({front}{core}{back}\)"
                for before, after in units
                for front in [rf"{re.escape(before)}\s?" if before else ""]
                for back in [rf"\s?{re.escape(after)}" if after else ""]
            ]
            kind, sql_type = ("integer", "BIGINT") if whole else ("decimal", "DOUBLE")
            value = f"TRY_CAST({_stripped(strip, style)} AS {sql_type})"
            one = ParsePlan(kind, sql_type, "|".join(each), value, style, currency=True)
            plans.append(replace(one, units=units))
    return tuple(plans)


@cache
def _plans() -> tuple[ParsePlan, ...]:
    """Every way to read a column, the narrower first."""
    marked = [
        _number(style, percent=percent, currency=currency, whole=whole)
        for percent, currency in ((False, False), (True, False), (False, True))
        for style in (".", ",", " .", " ,", "in.")
        for whole in (True, False)
    ]
    return *_plain(), *_dates(), *marked


def _plain() -> list[ParsePlan]:
    """Whole numbers, true and false, dates by ISO 8601, and decimals without marks of thousands."""
    clock, iso = _CLOCK, _ISO
    whole, day_iso = "TRY_CAST({x} AS BIGINT)", "TRY_CAST({x} AS DATE)"
    zoned = (
        "TRY_CAST(regexp_replace({x}, '([-+][0-9][0-9])([0-9][0-9])$', '\\1:\\2') AS TIMESTAMPTZ)"
    )
    return [
        ParsePlan(
            "integer",
            "BIGINT",
            "0|-?[1-9][0-9]{0,17}",
            whole,
            exact=f"coalesce(CAST({whole} AS VARCHAR) = {{x}}, false)",
        ),
        *(_number(style, whole=True) for style in (".", " .")),
        ParsePlan(
            "boolean",
            "BOOLEAN",
            "(?i)true|false",
            "(lower({x}) = 'true')",
            exact="(lower({x}) = 'true' OR lower({x}) = 'false')",
        ),
        ParsePlan(
            "date",
            "DATE",
            iso,
            day_iso,
            "iso",
            exact=f"coalesce(CAST({day_iso} AS VARCHAR) = {{x}}, false)",
        ),
        ParsePlan(
            "timestamp", "TIMESTAMP", rf"{iso}(?:[ T]{clock})?", "TRY_CAST({x} AS TIMESTAMP)", "iso"
        ),
        ParsePlan("timestamp", ZONED, rf"{iso}[ T]{clock} ?{OFFSET}", zoned, "iso"),
        ParsePlan(
            "decimal",
            "DOUBLE",
            r"[-+]?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?",
            "TRY_CAST({x} AS DOUBLE)",
            "plain",
        ),
    ]


def _dates() -> list[ParsePlan]:
    """Dates as people write them."""
    day, month = "[0-9]{1,2}", "[A-Za-z]{3}"
    plans = [
        *times(f"[0-9]{{4}}/{day}/{day}", ["%Y/%m/%d"], "ymd"),
        *times(f"[0-9]{{4}}-{day}-{day}", ["%Y-%m-%d"], "ymd"),
        *times(rf"{day}\.{day}\.[0-9]{{4}}", ["%d.%m.%Y"], "dmy."),
        *times(rf"{day}\.{day}\.[0-9]{{2}}", ["%d.%m.%y"], "dmy.2"),
        *_years_first(),
    ]
    for year, code, two in (("[0-9]{4}", "%Y", ""), ("[0-9]{2}", "%y", "2")):
        named = f"{day}[ -]{month}[ -]{year}"
        plans += times(named, [f"%d-%b-{code}", f"%d %b {code}"], "text" + two)
        for sep in "/-":
            plans += times(f"{day}{sep}{day}{sep}{year}", [f"%d{sep}%m{sep}{code}"], "dmy" + two)
            plans += times(f"{day}{sep}{day}{sep}{year}", [f"%m{sep}%d{sep}{code}"], "mdy" + two)
    plans += times(f"{day}{month}[0-9]{{4}}", ["%d%b%Y"], "text")
    plans += times(f"{day} [A-Za-z]{{3,9}} [0-9]{{4}}", ["%d %B %Y"], "text")
    plans += times(f"[A-Za-z]{{3,9}} {day}, [0-9]{{4}}", ["%B %d, %Y", "%b %d, %Y"], "text")
    return plans


def _years_first() -> list[ParsePlan]:
    """Dates with a year of two digits first. Years that would be 2040 to 2068 are none: numbers of
    banks begin so, and who was born in 1945 was not in 2045. Versions such as 22.04.1 are no dates."""
    year = "(?:[0-3][0-9]|69|[7-9][0-9])"
    month, day = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
    return [
        *times(f"{year}-{month}-{day}", ["%y-%m-%d"], "ymd2"),
        *times(f"{year}/(?:{month}|[1-9])/(?:{day}|[1-9])", ["%y/%m/%d"], "ymd2"),
        *times(rf"{year}\.{month}\.{day}", ["%y.%m.%d"], "ymd.2"),
    ]


def propose(sample: Sequence[str], comma_first: bool = False) -> list[ParsePlan]:
    """The plans that may fit a column, likelier first: those that read at least four fifths of the
    sample's values."""
    distinct = different(sample)
    if are_wide(distinct):
        usual = propose(list(dict.fromkeys(map(narrowed, distinct))), comma_first)
        return [replace(plan, wide=True) for plan in usual]
    if not distinct:
        return []
    if not any(c.isdigit() for v in distinct[:20] for c in v) and not all(
        v.lower() in ("true", "false") for v in distinct[:20]
    ):
        return []
    if are_periods(distinct) or codes_in(distinct):
        return []
    candidates = _fitting(_plans(), distinct)
    english = bool(candidates) and candidates[0][1].style.startswith("text")
    if english or not candidates:
        candidates += _fitting(month_plans(distinct, english=english), distinct)
    if all(misses for misses, _ in candidates) and (units := units_of(distinct)):
        candidates = _fitting(_unit_plans(units), distinct, all_of=bool(candidates)) or candidates
    if not candidates and _are_flagged(distinct):
        candidates = _fitting(_plans(), distinct, half=True)
    perfect = [plan for misses, plan in candidates if not misses]
    plain = [plan for plan in perfect if not plan.percent and not plan.currency]
    plans = plain or perfect or [plan for _, plan in candidates]
    if comma_first:
        plans.sort(key=lambda plan: plan.style in ("plain", ".", " ."))
        plans.sort(key=lambda plan: plan.kind == "decimal")
    return plans


_FLAGGED = re.compile(
    r"(?:[-+−(]?\d[\d.,'’ \u00a0\u202f]*\)?|:)[ \u00a0]?[A-Za-z*†‡()\[\]¹²³⁴⁵⁶⁷⁸⁹]{0,5}", re.ASCII
)


def _are_flagged(values: Sequence[str]) -> bool:
    """Whether values are numbers, many of them with a flag behind them as offices print it: `4.5 b`,
    `1,234 (r)`. It is said of their column that it stays text, which nobody would think."""
    flags = [value for value in values if not value[-1].isdigit()]
    codes = any(re.match(r"0[0-9]", value) for value in values)
    return len(values) > 2 and bool(flags) and not codes and all(map(_FLAGGED.fullmatch, values))


def _fitting(
    plans: Sequence[ParsePlan],
    distinct: Sequence[str],
    *,
    half: bool = False,
    all_of: bool = False,
) -> list[tuple[int, ParsePlan]]:
    """The plans that read at least four fifths of some values, or half, or all of them, each with how
    many it does not."""
    candidates = []
    allowed = len(distinct) // 2 if half else max(len(distinct) > 2, len(distinct) // 5)
    allowed = 0 if all_of else allowed
    for plan in plans:
        misses = 0
        for seen, v in enumerate(distinct, 1):
            misses += not plan.fits(v)
            if misses > allowed or (misses > 3 and misses > seen // 2 and not half):
                break
        else:
            candidates.append((misses, plan))
    return candidates


def as_written(plan: ParsePlan, offsets: Sequence[str]) -> ParsePlan:
    """The plan for times with these offsets. Times of one place are read as its clocks showed them, so
    that a day there is a day here: of one offset, or of two an hour apart, as in summer and in winter.
    Others, and those of UTC, stay in UTC.
    """
    minutes = {_minutes(offset) for offset in offsets}
    if not minutes or minutes == {0} or max(minutes) - min(minutes) > 60 or len(minutes) > 2:
        return plan
    return replace(
        plan,
        type="TIMESTAMP",
        pattern=_zoned(offsets),
        value=f"TRY_CAST(regexp_replace({{x}}, {literal(f' ?{OFFSET}$')}, '') AS TIMESTAMP)",
    )


def _zoned(offsets: Sequence[str]) -> str:
    """The pattern of times with these offsets."""
    return rf"{_ISO}[ T]{_CLOCK} ?(?:{'|'.join(map(re.escape, sorted(offsets)))})"


def offset_of(text: str) -> str:
    """The offset at the end of a time."""
    match = re.search(f"{OFFSET}$", text, re.ASCII)
    return match.group() if match else ""


def _minutes(offset: str) -> int:
    if offset == "Z":
        return 0
    ahead = int(offset[1:3]) * 60 + int(offset[-2:])
    return -ahead if offset[0] == "-" else ahead


def guarded_plans(samples: Sequence[Sequence[str]]) -> list[ParsePlan] | None:
    """Plans for columns so plain that one pass may convert them and stop at the first surprise;
    None if a column is not."""
    plans = []
    for sample in samples:
        values = [s for s in sample if s]
        proposals = propose(values)
        if not proposals and (codes_in(values) or is_padded(values)):
            return None  # it is said of such columns
        if not proposals:
            plans.append(TEXT)
            continue
        first = next((p for p in proposals if all(p.fits(v) for v in values)), None)
        if (
            first is None
            or first.style not in ("", "iso", "plain")
            or (first.style == "plain" and (marks_of(values) or twins_of(values)))
            or first.wide
        ):
            return None
        if first.type == ZONED:
            offsets = sorted({offset_of(v.strip(BLANKS)) for v in values})
            if not UTC.issuperset(offsets):
                return None  # it is said how they were read
            first = replace(first, pattern=_zoned(offsets))
        plans.append(replace(first, missing=False))
    return plans


def is_padded(values: Sequence[str]) -> bool:
    """Whether most texts are filled with blanks to one length, as programs write columns of a fixed
    width, or end in a tab or several blanks: `LNS11000000      ` is found by nobody who asks for it."""
    even = len(set(map(len, values))) == 1
    blank = sum(value.endswith(" " if even else PADDING) for value in values)
    return 2 < len(values) <= 2 * blank


_PLAIN = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?", re.ASCII)


def twins_of(values: Sequence[str]) -> tuple[str, str] | None:
    """Two texts of a column that are one number: 1.1 and 1.10, or 1e3 and 1000. Versions, items and
    codes are written so, and what was measured seldom is."""
    texts = [text for text in dict.fromkeys(v.strip() for v in values) if _PLAIN.fullmatch(text)]
    whole = {float(text): text for text in texts if text.isdigit()}
    seen: dict[float, str] = {}
    for text in texts:
        if text.lstrip("-").isdigit():
            continue
        number = float(text)
        if (first := seen.setdefault(number, text)) != text:
            return first, text
        if "e" in text.lower() and number in whole:
            return text, whole[number]
    return None


GROUPED = 100
"""What a number such as 1.234,5 proves of its file's decimal mark; more than any fraction does."""
_GROUPED = re.compile(rf"[.,].*[.,]|\d{_SPACE}\d{{3}}", re.ASCII)
_LONG_FRACTION = re.compile(r"[.,]\d{4}", re.ASCII)


def proof_of(values: Sequence[str]) -> int:
    """How much the numbers of a column prove of the decimal mark of others. A version or a choice of
    answers looks like a fraction, so that one column of them is not enough; and fractions of four
    digits, as those of coordinates, are written by programs, with a dot wherever they run."""
    if any(map(_GROUPED.search, values)):
        return GROUPED
    return 0 if any(map(_LONG_FRACTION.search, values)) else 1


@dataclass(frozen=True)
class ThousandsMarks:
    """What a column of numbers such as 1,234 says by itself: each has one mark, with three digits
    behind it."""

    mark: str
    """`,` or `.`."""
    example: str
    thousands: bool
    """Whether the values speak for a mark of thousands: its numbers differ in length, and none is
    as long without one."""


def marks_of(values: Sequence[str]) -> ThousandsMarks | None:
    """The column's only mark where it may be one of thousands or of a fraction for all that the
    values prove; else None."""
    told = [text for text in map(str.strip, values) if text.lower() not in NO_VALUE]
    bare = [text.lstrip("-+−$€£¥ (").rstrip("%$€£¥ )-") for text in told]
    marked = [v for v in dict.fromkeys(bare) if "," in v or "." in v]
    if not marked or not all(re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", v, re.ASCII) for v in marked):
        return None
    if len({"," in v for v in marked}) > 1:
        return None
    mark = "," if "," in marked[0] else "."
    lengths = {v.index(mark) for v in marked}
    plain = [v for v in bare if v.isdigit()]
    short = bool(plain) and all(len(v) <= 3 for v in plain)
    long = any(len(v) > 3 for v in plain)
    shown = len(marked) >= 3 and (short or (mark == "," and len(lengths) > 1)) and not long
    return ThousandsMarks(mark, marked[0], shown)
