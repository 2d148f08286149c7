"""Values that look like numbers and are none: telephone numbers, articles, versions, months. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.tabular.cells import NO_VALUE

SAMPLE = 1_000
BLANKS = " \t\n\u00a0"
PADDING = ("  ", "\t")
"""What nobody writes behind a word by chance."""
_PHONE = re.compile(r"\+[0-9]{11,15}")
_SHORT_PHONE = re.compile(r"\+[0-9]{8,15}")
_POWER = re.compile(r"[0-9]+E[0-9]+")
_VERSION = re.compile(r"(?P<major>[0-9]{1,4})\.(?P<minor>0|[1-9][0-9]{0,2})")


def different(sample: Sequence[str]) -> list[str]:
    """The different values of a sample that are no word for a missing one."""
    values = (s.strip(BLANKS) for s in sample)
    told = dict.fromkeys(v for v in values if v and v.lower() not in NO_VALUE)
    return list(told)[:SAMPLE]


def codes_in(sample: Sequence[str]) -> str:
    """A value that shows that numbers of a column are none: a telephone number, an article `1E10`, a
    version 3.10 after 3.9; empty where nothing does."""
    values = different(sample)
    phone = next(filter(_PHONE.fullmatch, values), "")
    if len(values) > 1 and all(map(_SHORT_PHONE.fullmatch, values)):
        phone = values[0]  # Norway's have ten digits, and no amounts are all written with a sign
    return phone or _code_with_power(values) or _late_version(values)


def _code_with_power(values: Sequence[str]) -> str:
    """A value such as 1E10 among whole numbers. Whoever writes a number with a power of ten writes
    1e10, 1E+10 or 1.0E10, and the others of its column have fractions."""
    power = ""
    for value in values:
        if _POWER.fullmatch(value):
            power = power or value
        elif not value.isdigit():
            return ""
    return power


def _late_version(values: Sequence[str]) -> str:
    """3.10 where 3.9 stands too, or 3.11 and one of a single digit: as fractions they would be
    written with as many digits, or without the zero at the end. Where 3.05 is written, 3.10 is no
    tenth of something."""
    matches = [_VERSION.fullmatch(value) for value in values]
    if not matches or not all(matches):
        return ""
    minors: dict[str, set[int]] = {}
    for one in matches:
        if one:
            minors.setdefault(one["major"], set()).add(int(one["minor"]))
    return next((f"{major}.10" for major, seen in minors.items() if _goes_on(seen)), "")


def _goes_on(minors: set[int]) -> bool:
    """Whether these count up over 9."""
    return {9, 10} <= minors or ({10, 11} <= minors and any(0 < minor < 9 for minor in minors))


_PERIOD = re.compile(
    r"(?P<month>0?[1-9]|1[0-2])\.(?:19|20)\d\d|(?:19|20)\d\d\.(?P<late>0[1-9]|1[0-2])", re.ASCII
)


def are_periods(values: Sequence[str]) -> bool:
    """Whether values are months such as 10.2020 or 2020.10, which as numbers would lose their last
    digit. A rate of 1.2034 looks like one: months are several, or of two digits."""
    matches = [_PERIOD.fullmatch(value) for value in values]
    months = {m["month"] or m["late"] for m in matches if m}
    return len(values) > 1 and all(matches) and (len(months) > 1 or min(months)[:1] == "0")
