"""The figures in an answer's text: numbers, percentages, amounts, dates, each with the precision
that it is written with. Pure.

What only looks like a figure is passed over (`leaf.provenance.receipts.names`). Numbers written as words
are not figures here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from leaf.provenance.receipts.names import CURRENCIES, blanked, without_ordinals
from leaf.provenance.receipts.words import counts_things

Unit = Literal["number", "percent", "points", "date", "year", "time"]
"""`points` are percentage points: a difference of two percentages, never a part of one."""


@dataclass(frozen=True)
class NumberRange:
    """A number, and from where to where a value may lie to be written like it: half of the last
    digit to either side, one whole digit to one side after `over` or `nearly`, half of the last
    digit that is not 0 after `about`."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> NumberRange:
        return NumberRange(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Figure:
    """One figure, as it stands in a text."""

    start: int
    end: int
    """Its place in the text: `text[start:end]`."""
    text: str
    unit: Unit
    readings: tuple[NumberRange, ...] = ()
    """What it may mean: `1.234` is a thousand in Germany, and little more than one elsewhere. Empty
    for dates and times."""
    dates: tuple[str, ...] = ()
    """ISO, as exact as it is written: `2024`, `2024-03`, `2024-03-05`, and `-03-05` of no year;
    several where day and month may be the other way round."""

    @property
    def sign(self) -> int:
        """1 or -1 for a number that is written with plus or minus, else 0."""
        return {"+": 1, "-": -1, "−": -1}.get(self.text[:1], 0)

    @property
    def digits(self) -> int:
        """How many digits say something: 3 in 1,230 and 0.0123."""
        number = re.sub(r"\D", "", _POWER.sub("", self.text)).lstrip("0")
        return len(number.rstrip("0") if not re.search(r"\d[.,]\d{1,2}\D*$", self.text) else number)


MONTHS = {
    name: i
    for i, names in enumerate(
        (
            "january jan januar jänner janvier enero",
            "february feb februar février fevrier febrero",
            "march mar märz mrz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août aout agosto",
            "september sep sept septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre decembre diciembre",
        ),
        1,
    )
    for name in names.split()
}
_LOWER = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio"
)
_LOWER += " julio agosto septiembre octubre noviembre diciembre"
"""Months that are not written with a capital; `may` and `march` without one are verbs."""
_DAY_MONTH = rf"(?=[A-ZÄÖÜ]|(?:{_LOWER.replace(' ', '|')})\b)"
_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_TEN = r"\s?(?:[×x*·⋅]|\\times|\\cdot)\s?10(?:\^(?P<brace>\{)?(?P<to>[-+−]?\d{1,2})(?(brace)\})|(?P<raised>[⁻⁺]?[⁰¹²³⁴-⁹]{1,2}))"
_POWER = re.compile(rf"(?<=\d)(?:e(?P<e>[-+−]?\d{{1,2}})|{_TEN})(?![\w⁰-⁹])", re.IGNORECASE)
"""`1.2e-05`, as code prints it, and `1.2×10⁻⁵`, `1.2 x 10^-5`, as people do."""
_SCALES = {
    "k": 1e3,
    "thousand": 1e3,
    "tsd": 1e3,
    "tausend": 1e3,
    "mil": 1e3,
    "mille": 1e3,
    "millier": 1e3,
    "milliers": 1e3,
    "miles de": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mm": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "mio": 1e6,
    "mln": 1e6,
    "mill": 1e6,
    "millionen": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "billions": 1e9,
    "mrd": 1e9,
    "mia": 1e9,
    "md": 1e9,
    "mds": 1e9,
    "milliarde": 1e9,
    "milliarden": 1e9,
    "milliard": 1e9,
    "milliards": 1e9,
    "mil millones": 1e9,
    "millones": 1e6,
    "millón": 1e6,
    "bio": 1e12,
    "billionen": 1e12,
    "billón": 1e12,
    "billones": 1e12,
    "trillion": 1e12,
    "tn": 1e12,
    "lakh": 1e5,
    "lakhs": 1e5,
    "crore": 1e7,
    "crores": 1e7,
}
THOUSAND_EUROS = 1e3
"""`T€`; a `t` beside anything else are tonnes."""
_LENGTH = re.compile(r"[-−+]?\d[\d.,'’]*(?:\sm|\s?mm)(?!\s?[€$£¥])")
"""Metres and millimetres, or millions: `45 m`, `12 mm`."""
_THIN = "\u00a0\u202f\u2009'’"
_NUMBER = (
    r"(?:\d{1,2}(?:,\d\d)+,\d{3}(?!\d)(?:\.\d+)?|"  # 1,23,456 of India
    rf"\d{{1,3}}(?:[,.{_THIN}]\d{{3}})+(?!\d)(?:[.,]\d+)?|"
    r"\d+(?:[.,]\d+)?|(?<![\w.,)\]])\.\d+)"
    rf"(?:{_POWER.pattern})?"
)
_BASIS = r"(?:bps?|basis points?|Basispunkte?n?|points? de base|puntos? básicos?)\b"
"""Hundredths of a percentage point."""
_POINTS = (
    r"(?:(?:%|percent(?:age)?)[ -]?points?|Prozentpunkte?n?|%-Punkte?n?|points? de "
    r"(?:pourcentage|%)|puntos porcentuales|pp|pts"
    r")\b"
)
_FIGURE = re.compile(
    rf"(?P<sign>(?<![\w)\]])[-−+])?(?:[$€£¥]\s?|(?-i:\b(?:{CURRENCIES}))[ \u00a0\u202f]?)?"
    rf"(?P<number>{_NUMBER})"
    rf"(?:(?P<basis>\s?{_BASIS})|(?P<points>\s?{_POINTS})|"
    rf"(?P<percent>\s?(?:%|percent\b|per cent\b|pct\b|Prozent\b|vom Hundert\b|v\.\s?H\.|"
    rf"pour cent\b|por cien(?:to)?\b))"
    rf"|[ \u00a0\u202f]?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))}|(?-i:T)(?=€|EUR))"
    rf"(?:\b\.?|(?={CURRENCIES})))?",
    re.IGNORECASE,
)
_NTH = r"(?:st|nd|rd|th|er|\.?[ºª°]|\.)?"
_DATES = (
    re.compile(r"\b(?P<y>(?:1[5-9]|20|21)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?(?:\b|(?=T\d\d:))"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}}){_NTH}\s(?:of\s|de\s)?(?P<month>{_MONTH}),?\s(?:de\s)?(?P<y>\d{{4}})\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y>\d{{4}})\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\s(?:de\s)?(?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(
        rf"\b(?P<d>\d{{1,2}}){_NTH}\s(?:of\s|de\s)?(?-i:{_DAY_MONTH})(?P<month>{_MONTH})(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?-i:(?=[A-Z]))(?P<month>{_MONTH})\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w%]|[.,]\d|\s%)",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?P<a>\d{1,2})(?P<sep>[./])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})\b"),
)
_TIME = re.compile(r"(?<![^\WT])\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?!\d)(?=Z|\b)")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_POINT = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})*\.(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)")
_COMMA = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})*,(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)")
_SPACED = re.compile(
    r"(?<![\w.,:/])\d{1,3}(?: \d{3}){2,}(?![\d])(?! \d)|"
    r"(?<![\w.,:/])\d{1,3} (?:0\d\d(?![\d.])|\d{3}(?=[.,]\d\d?(?!\d)))|"
    rf"(?<![\w.,:/])\d{{1,3}} \d{{3}}(?=\s?(?:[kM]?[€$£%]|(?:{CURRENCIES})\b|euros?\b|francs\b))"
)
"""Thousands apart by a space that is no narrow one, where nothing else can be meant."""
_SPACED_IN_LANGUAGE = re.compile(r"(?<![\w.,:/])\d{1,3}(?: \d{3})+(?![\d])(?! \d)")
_OF_LANGUAGE = re.compile(
    r"(?i)\b(?:le|les|une|est|et|aux|dans|avec|pour|ont|sont|été|au|du|sur|par|contre|qui|ces|cette|leurs?|soit|"
    r"el|los|las|del|una|con|para|fue|fueron|tiene|tienen|hizo|hicieron|frente|más|"
    r"en|de|que)\b"
)
"""Words of French and Spanish, which write thousands apart by a space."""
_TO = re.compile(r"[-–]|\s(?:to|bis|à|a|hasta)\s")
_AND = re.compile(r"\s(?:and|und|et|y)\s")
_BETWEEN = re.compile(r"(?i)\b(?:between|zwischen|entre)\s\S{0,4}$")
LONGEST = 40
"""Characters of a number; a longer one is a key or a hash."""
_ABOUT = (
    r"about|around|roughly|approximately|approx\.?|some|circa|ca\.|etwa|rund|ungefähr|environ|près de|unos|unas|cerca de"
    r"|aproximadamente|alrededor de|~|≈"
)
_ABOVE = (
    r"over|more than|above|at least|über|mehr als|mindestens|plus de|au moins|más de|al menos|>"
)
_BELOW = (
    r"nearly|almost|under|less than|below|up to|at most|just short of|knapp|fast|unter|weniger "
    r"als|höchstens|moins de|presque"
    r"|menos de|casi|<"
)
_HEDGE = re.compile(
    rf"(?:(?P<about>{_ABOUT})|(?P<above>{_ABOVE})|(?P<below>{_BELOW}))\s*$", re.IGNORECASE
)


def figures(text: str, names: Iterable[str] = (), joined: bool = True) -> list[Figure]:
    """All figures, in their order. `names` of files and columns that hold digits are not read as
    figures; `joined`: whether `12 400 €` is one."""
    masked = blanked(text, names)
    all_figures: list[Figure] = []
    for pattern in _DATES:
        for match in pattern.finditer(masked):
            if dates := _dates(match.groupdict()):
                all_figures.append(
                    Figure(match.start(), match.end(), match.group(), "date", dates=dates)
                )
                masked = _blank(masked, match.start(), match.end())
    for match in _TIME.finditer(masked):
        all_figures.append(Figure(match.start(), match.end(), match.group(), "time"))
        masked = _blank(masked, match.start(), match.end())
    masked = without_ordinals(masked)
    all_figures += _numbers(_joined(masked) if joined else masked, text)
    return sorted(all_figures, key=lambda figure: figure.start)


def _joined(text: str) -> str:
    """A text in which thousands that stand apart by a space do so by one that does not break. In
    French and Spanish that is what two numbers beside each other are."""
    apart = len({words.casefold() for words in _OF_LANGUAGE.findall(text)}) > 1
    return (_SPACED_IN_LANGUAGE if apart else _SPACED).sub(
        lambda m: m.group().replace(" ", "\u00a0"), text
    )


def _decimal_mark(text: str) -> str:
    """The mark that this text writes before decimals, as far as its other numbers tell: `.`, `,`,
    or nothing."""
    point, comma = bool(_POINT.search(text)), bool(_COMMA.search(text))
    return "" if point == comma else "." if point else ","


def _numbers(masked: str, text: str) -> list[Figure]:
    point = _decimal_mark(masked)
    numbers: list[Figure] = []
    for match in _FIGURE.finditer(masked):
        start, end = match.span()
        if (
            end < len(masked)
            and masked[end].isalpha()
            and not (match["scale"] or match["percent"] or match["points"] or match["basis"])
        ):
            end = match.end("number")
        written = text[start:end].rstrip()
        number = match["number"]
        hedge = _HEDGE.search(text[max(0, start - 16) : start])
        if (
            _YEAR.fullmatch(number)
            and not (match["percent"] or match["points"] or match["scale"] or match["basis"])
            and match["sign"] is None
            and start == match.start("number")
            and not counts_things(text, start, end)
        ):
            year = float(number)
            numbers.append(
                Figure(
                    start,
                    start + len(written),
                    written,
                    "year",
                    (NumberRange(year, year, year),),
                    dates=(number,),
                )
            )
            continue
        if len(number) > LONGEST:
            continue
        scaled = (match["scale"] or "").lower()
        scale = _SCALES.get(scaled, THOUSAND_EUROS) if scaled else 0.01 if match["basis"] else 1.0
        sign = -1.0 if match["sign"] in ("-", "−") else 1.0
        plain = tuple(
            _around(sign * value, half, hedge) for value, half in _readings(number, point)
        )
        readings = tuple(reading.scaled(scale) for reading in plain)
        if match["basis"] or (scaled in ("m", "mm") and _LENGTH.match(text, start)):
            readings += plain
        points = match["points"] or match["basis"]
        unit: Unit = "points" if points else "percent" if match["percent"] else "number"
        if numbers and (scaled or unit != "number") and _is_range(text, numbers[-1], start):
            first = numbers[-1]
            also = tuple(reading.scaled(scale) for reading in first.readings) if scaled else ()
            numbers[-1] = replace(first, unit=unit, readings=(*also, *first.readings))
        numbers.append(Figure(start, start + len(written), written, unit, readings))
    return numbers


def _is_range(text: str, first: Figure, start: int) -> bool:
    """Whether a number and the next one say from where to where: the unit behind the second is that
    of both, as in `1.2 to 1.4 million` and `between 5 and 10 %`."""
    if first.unit != "number" or not first.text[-1].isdigit():
        return False
    between = text[first.end : start]
    return bool(_TO.fullmatch(between)) or (
        bool(_AND.fullmatch(between)) and bool(_BETWEEN.search(text[: first.start]))
    )


def _around(value: float, half: float, hedge: re.Match[str] | None) -> NumberRange:
    if hedge is None:
        return NumberRange(value, value - half, value + half)
    half = max(half, _last_digit(value) / 2)
    if hedge["about"]:
        return NumberRange(value, value - half, value + half)
    return (
        NumberRange(value, value - half, value + 2 * half)
        if hedge["above"]
        else NumberRange(value, value - 2 * half, value + half)
    )


def _last_digit(value: float) -> float:
    """The place of the last digit that is not 0: 100 for 1,200; 0 for fractions, which are as exact
    as they are written."""
    if value == 0 or value != int(value):
        return 0.0
    digits = str(abs(int(value)))
    return float(10 ** (len(digits) - len(digits.rstrip("0"))))


def _readings(number: str, point: str) -> list[tuple[float, float]]:
    """Value and half of the last digit, for each way to read the separators; `point` stands before
    decimals, if that is known."""
    if power := _POWER.search(number):
        exponent = power["e"] or power["to"] or power["raised"]
        factor = float(f"1e{exponent.translate(_RAISED)}")
        return [(v * factor, h * factor) for v, h in _readings(number[: power.start()], point)]
    plain = re.sub(f"[{_THIN}]", "", number)
    marks = [c for c in plain if c in ",."]
    if not marks:
        return [(float(plain), 0.5)]
    last = marks[-1]
    whole, _, decimals = plain.rpartition(last)
    as_decimal = (float(re.sub(r"[,.]", "", whole) + "." + decimals), 0.5 * 10.0 ** -len(decimals))
    as_thousands = (float(re.sub(r"[,.]", "", plain)), 0.5)
    if len(set(marks)) == 2:
        return [as_decimal]
    if len(marks) > 1:
        return [as_thousands]
    if len(decimals) != 3 or len(whole) > 3 or whole in ("", "0"):
        return [as_decimal]
    if point:
        return [as_decimal if last == point else as_thousands]
    return [as_thousands, as_decimal] if last == "," else [as_decimal, as_thousands]


def _dates(groups: dict[str, str | None]) -> tuple[str, ...]:
    year = groups.get("y") or ""
    if groups.get("a"):
        a, b = int(groups["a"] or 0), int(groups["b"] or 0)
        pairs = [(b, a), (a, b)]
    else:
        month = (
            int(groups["m"] or 0)
            if groups.get("m")
            else MONTHS[(groups["month"] or "").lower().rstrip(".")]
        )
        pairs = [(month, int(groups.get("d") or 0))]
    return tuple(
        dict.fromkeys(
            f"{year}-{month:02}" + (f"-{day:02}" if day else "")
            for month, day in pairs
            if 1 <= month <= 12 and 0 <= day <= 31
        )
    )


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
