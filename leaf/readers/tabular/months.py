"""Dates as people write them in many languages: `5. März 2024`, `1er janv. 2024`, `5 de enero de
2024`, `2024. május 5.`, `March 5th, 2024`, `2024年3月5日`. Pure.

The names of months are those of CLDR, by Babel. A word can be a month in two languages and another
one in each: `listopada` is October in Croatia and November in Poland. Where nothing tells them
apart, no plan is made and the column stays text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations

from leaf.readers.tabular.parse_plan import ParsePlan, times
from leaf.readers.tabular.sql import literal

_ALONE = (
    *("it", "pt", "nl", "da", "nb", "sv", "pl", "cs", "sk", "fi", "tr", "ro", "hu", "hr"),
    *("sl", "el", "ca", "lt", "et", "ru", "uk", "bg", "sr", "id", "ar"),
)
LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "en": ("en", "en_GB", "en_AU", "en_CA"),
    "de": ("de", "de_AT"),
    "fr": ("fr", "fr_CA"),
    "es": ("es", "es_PE", "es_MX"),
    **{code: (code,) for code in _ALONE},
}
"""The locales of CLDR that a language is read by, likelier first."""
_MORE = {"de": {"mrz": 3}, "en": {"sept": 9}, "es": {"setiembre": 9, "set": 9}}
"""What programs write and CLDR does not know."""
_ENGLISH = frozenset(
    {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
    | {"january", "february", "march", "april", "june", "july", "august", "september", "october"}
    | {"november", "december"}
)
_SHORTEST = 3
"""Letters that an abbreviation has at least."""
_LONG = 4
"""Letters of a word that is hardly the beginning of a code."""
_MOST = 4
"""Languages whose plans are tried, where their words are the same."""
_HEAD = 20
"""Values that are looked at before a language is."""
_WORD = re.compile(r"[^\W\d_]+")
_LIKE_DATE = re.compile(
    r"\D{0,30}?"
    r"(?:[0-3]?\d\D{0,12}?[^\W\d_]{3}\D{0,16}(?:\d\d){1,2}|"
    r"[^\W\d_]{3}\D{0,12}[0-3]?\d\D{1,5}\d{4}|"
    r"\d{4}\D{0,5}?[^\W\d_]{3}\D{0,12}[0-3]?\d)(?:\D.*)?",
    re.DOTALL,
)
_BLANK = "[ \u00a0\u202f]"
_SEPARATOR = "[ \u00a0\u202f.,/-]{0,3}"
_OF = "(?:de |del |di |d['’]|of )?"
_DAY = "(?P<d>[0-9]{1,2})(?:st|nd|rd|th|er|[ºª°])?"
_MONTH = "(?P<m>)"
_ANY_WORD = "([^0-9 \u00a0\u202f.,/-]+)"
_YEAR = rf"(?:{_BLANK}[гр])?\.?"
"""What stands behind a year in Russian, Bulgarian and Ukrainian."""
_CLOCK = r"(?:,? ([0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: [AaPp][Mm])?))?"
_CLOCKS = ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p")


def month_plans(values: Sequence[str], *, english: bool) -> list[ParsePlan]:
    """The plans that may read these different texts, likelier first. `english`: whether those that
    programs write in English can be read already."""
    head = values[:_HEAD]
    plans = [plan for plan in _figures() if _enough([plan.fits(value) for value in head])]
    if plans or not _enough([bool(_LIKE_DATE.fullmatch(value)) for value in head]):
        return plans
    words = [_WORD.findall(_plain(value)) for value in values]
    seen = {word for some in words for word in some if len(word) >= _SHORTEST}
    if english and _ENGLISH.issuperset(seen):
        return []
    counts = {code: _months(words, names_of(code)) for code in LANGUAGES}
    fitting = sorted((code for code in counts if counts[code]), key=lambda code: -counts[code])
    pairs = combinations(map(names_of, fitting), 2)
    if any(_contradict(one, other, seen) for one, other in pairs):
        return []
    return [plan for code in fitting[:_MOST] for plan in _plans_of(code)]


def _enough(fits: Sequence[bool]) -> bool:
    return sum(fits) >= 0.8 * len(fits)


def _months(values: Sequence[Sequence[str]], names: Mapping[str, int]) -> int:
    """How many of some texts, as their words, hold one month, where four fifths do; else 0. One
    short word alone may be the beginning of a code: `PRO 10 2024` would be a day of December in
    Czech."""
    months = [[word for word in words if word in names] for words in values]
    seen = {words[0] for words in months if len(words) == 1}
    sure = len(seen) > 1 or any(len(word) >= _LONG for word in seen)
    fits = [len(words) == 1 for words in months]
    return sum(fits) if sure and _enough(fits) else 0


def _contradict(one: Mapping[str, int], other: Mapping[str, int], words: set[str]) -> bool:
    """Whether a word that is there is another month in either of two languages."""
    return any(one[word] != other[word] for word in words if word in one and word in other)


@cache
def names_of(code: str) -> Mapping[str, int]:
    """Each way to write a month of a language, in small letters -> its number. Beginnings of names
    are among them, from three letters on, where only one month begins so."""
    from babel.dates import get_month_names

    names = dict(_MORE.get(code, {}))
    for locale in LANGUAGES[code]:
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for month, name in get_month_names(width, context, locale).items():
                    words = [word for word in _WORD.findall(_plain(name)) if len(word) > 1]
                    names |= {form: month for word in words[-1:] for form in _forms(word)}
    starts: dict[str, set[int]] = {}
    for name, month in names.items():
        for length in range(_SHORTEST, len(name)):
            starts.setdefault(name[:length], set()).add(month)
    return {start: min(months) for start, months in starts.items() if len(months) == 1} | names


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _forms(word: str) -> set[str]:
    """A word as it is and without its accents."""
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return {word, bare}


@cache
def _weekday(code: str) -> str:
    """The pattern of a day of the week."""
    from babel.dates import get_day_names

    names = {
        form
        for locale in LANGUAGES[code]
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for name in get_day_names(width, context, locale).values()
        for form in _forms(name.rstrip("."))
    }
    return f"(?:{_any_case(names)})"


def _any_case(names: Iterable[str]) -> str:
    """The pattern of words as they are written: all small, all large, or with a large first letter.
    The flag for it is not the same in Python and in DuckDB beyond ASCII."""
    forms = {form for name in names for form in (name, name.lower(), name.upper(), name.title())}
    return "|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form))))


@cache
def _plans_of(code: str) -> tuple[ParsePlan, ...]:
    """Day first, and also with the two last digits of the year; month first; year first."""
    day_first = f"{_DAY}{_SEPARATOR}{_OF}{_MONTH}{_SEPARATOR}{_OF}"
    full = "(?P<y>[0-9]{4})"
    patterns = {
        f"{day_first}{full}{_YEAR}": "%Y",
        f"{_MONTH}{_SEPARATOR}{_DAY}[ \u00a0,/-]{{1,3}}{full}": "%Y",
        rf"{full}{_SEPARATOR}(?:m\. )?{_MONTH}{_SEPARATOR}{_DAY}\.?(?: d\.)?": "%Y",
        f"{day_first}'?(?P<y>[0-9]{{2}})": "%y",
    }
    return tuple(plan for pattern, year in patterns.items() for plan in _plans(code, pattern, year))


def _plans(code: str, pattern: str, year: str) -> list[ParsePlan]:
    """Days, and times of days, by a pattern that names their parts. The SQL takes any word for the
    month and looks it up afterwards: to pick a part out of a pattern of many words is slow."""
    names, weekday = names_of(code), _weekday(code)
    front = f"(?:{weekday}[.,،]{{0,2}} (?:den )?)?(?:le )?"
    words = pattern.replace(_MONTH, f"(?:{_any_case(names)})")
    strict = re.sub(r"\?P<\w>", "", f"{front}{words}(?:,? {weekday})?")
    parts = [*re.findall(r"\(\?P<(\w)>", pattern), "t"]
    loose = re.sub(r"\?P<\w>", "", pattern.replace(_MONTH, _ANY_WORD))
    loose = literal(f"^[^0-9]*?{loose}[^0-9]*?{_CLOCK}$")
    split = f"regexp_extract({{x}}, {loose}, [{_listed(parts)}])"
    month = (
        f"list_extract([{', '.join(map(str, names.values()))}], "
        f"list_position([{_listed(names)}], lower(({split}).m)))"
    )
    day = f"concat(({split}).y, '-', {month}, '-', ({split}).d)"
    time = f"CASE WHEN ({split}).t = '' THEN '' ELSE ' ' || ({split}).t END"
    form, style = f"{year}-%m-%d", "text2" if year == "%y" else "text"
    of_day = f"CAST(try_strptime({day}, {literal(form)}) AS DATE)"
    of_time = f"try_strptime(concat({day}, {time}), [{_listed(form + one for one in _CLOCKS)}])"
    return [
        ParsePlan("date", "DATE", strict, of_day, style),
        ParsePlan("timestamp", "TIMESTAMP", strict + _CLOCK, of_time, style),
    ]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(map(literal, texts))


@cache
def _figures() -> list[ParsePlan]:
    """Dates in figures as they are written in Czech, Croatian, Bulgarian, Hungarian, Korean and
    Chinese."""
    number, gap = "[0-9]{1,2}", "[.] ?"
    last, first = f"{number}{gap}{number}{gap}[0-9]{{4}}", f"[0-9]{{4}}{gap}{number}{gap}{number}"
    dotted = ["%d. %m. %Y", "%d. %m. %Y.", "%d.%m.%Y.", *(f"%d.%m.%Y{c}г." for c in _BLANK[1:-1])]
    return [
        *times(f"{last}(?:[.]|{_BLANK}г[.])?", dotted, "dmy."),
        *times(f"{first}[.]?", ["%Y. %m. %d.", "%Y. %m. %d", "%Y.%m.%d."], "ymd."),
        *times(f"[0-9]{{4}}年{number}月{number}日", ["%Y年%m月%d日"], "text"),
        *times(f"[0-9]{{4}}년 {number}월 {number}일", ["%Y년 %m월 %d일"], "text"),
    ]
