"""What stands before and behind the numbers of a column, the same for all of them: a currency, a
word such as Mio., or both. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ISO_4217 = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
    CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
    GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW
    KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD
    NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD
    SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND
    VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
"""What is or lately was legal tender, as CLDR lists it."""
_WORDS = "ALL AMD ARS BAM BOB COP CUP ERN GEL LAK MAD MOP MUR PEN PHP RON SLE SOS TOP TRY"
"""Codes that are words, names or other codes as well (`TOP 10`, `PHP 8`): they are currencies where
each number is a price."""
_SIGN = re.compile(r"[$¢£¥֏؋৲৳৻฿៛\u20a0-\u20c0￥￡]|[A-Z]{1,3}\$|\$[A-Z]{2}|[A-Z]{2}[¥£]")
_SHORT = """
    zł Kč Ft kr kr. Dkr Nkr Ikr Skr SEK. lei Lei leu RM Rp Rp. Rs Rs. TL Fr. SFr SFr. sFr FCFA CFA
    CFPF FCFP KSh Ksh TSh USh Bs. Bs S/ S/. B/. Lekë Lek руб руб. р. грн грн. лв лв. ден ден. дин
    дин. din din. KM. сом тенге сум 元 円 圓 원 đ ر.س د.إ د.ك ج.م ريال درهم دينار ریال تومان
"""
"""How currencies are called beside their codes."""
_SIDES = "Cr Cr. CR Dr Dr. DR S H"
"""Sides of an account, on which banks of India and Germany print an amount: with both of them in a
column its amounts do not add up."""
_MONEY = frozenset([*_ISO_4217.split(), *_SHORT.split(), *_SIDES.split()])
_SAME = tuple(
    frozenset(names.split())
    for names in (
        "¥ 円 圓 JPY JP¥",
        "¥ 元 CNY CN¥",
        "₩ 원 KRW",
        "€ EUR",
        "£ GBP",
        "zł PLN",
        "Kč CZK",
    )
)
"""Signs and codes of one currency."""
_OTHERWISE = frozenset([*_WORDS.split(), *_SIDES.split()])
_SCALE = re.compile(
    r"(?i:tsd\.?|tys\.?|mio\.?|mrd\.?|mill\.|mln\.?|mlrd\.?|mld\.?|bln\.?|thousands?|millions?"
    r"|billions?|trillions?|millionen|milliarden|lakhs?|crores?|тыс\.?|млн\.?|млрд\.?)"
    r"|[kKMB]|bn|mn|m[ln]n|万|萬|億|亿|兆"
)
_VALUE = re.compile(
    r"(?P<open>\()?[-+−]?(?P<before>[^\d\s()+−\-.,'][^\d()+−\-]{0,7}?)?\s?[-+−]?"
    r"(?P<number>\d(?:[\d.,'’ \u00a0\u202f\u2009]*\d)?)"
    r"\s?(?P<after>[^\d\s()][^\d()]{0,19}?)?(?(open)\))",
    re.ASCII,
)
_PRICE = re.compile(r".*\d[.,]\d\d", re.ASCII)
_FRACTION = re.compile(r"\d+[.,]\d{1,2}", re.ASCII)
_LETTERS = frozenset("kKMB")
"""Scales that are also sizes, seats, classes and house numbers: 32 M, 12B."""
_FEWEST = 0.8
"""Part of the values whose unit is known, from which on the others are the odd ones."""
_MOST = 8
"""Units of a column; where there are more they are something else."""

Unit = tuple[str, str]
"""What stands before a number and behind it."""


def units_of(values: Sequence[str]) -> tuple[Unit, ...]:
    """The different units of a column's values; none where some values have none, or another than
    a currency or a word that counts thousands."""
    by_unit: dict[Unit, list[str]] = {}
    missed = 0
    for value in values:
        unit, number = _taken_apart(value)
        if unit is None:
            missed += 1
            if missed > len(values) * (1 - _FEWEST):
                return ()
        else:
            by_unit.setdefault(unit, []).append(number)
    if not 0 < len(by_unit) <= _MOST or not all(_is_sure(*one) for one in by_unit.items()):
        return ()
    lettered = [n for (before, after), n in by_unit.items() if not before and after in _LETTERS]
    if lettered and not any(_FRACTION.fullmatch(number) for some in lettered for number in some):
        return ()
    return tuple(by_unit)


def numeral_of(text: str) -> str:
    """A value without its unit."""
    unit, number = _taken_apart(text.strip())
    return number if unit else text


def are_money(units: Sequence[Unit]) -> bool:
    """Whether all units are currencies, none of which counts thousands."""
    return all(_is_money(before or after) and not (before and after) for before, after in units)


def are_one(units: Sequence[str]) -> bool:
    """Whether units are the same, as notes name them: ¥120,000 and 120,000円 are both yen."""
    return len(units) < 2 or any(same.issuperset(units) for same in _SAME)


def said(unit: Unit) -> str:
    """`€ Mio.`: a unit as notes name it."""
    return " ".join(part for part in unit if part)


def _taken_apart(value: str) -> tuple[Unit | None, str]:
    match = _VALUE.fullmatch(value)
    if match is None:
        return None, value
    before, after = (match["before"] or "").strip(), (match["after"] or "").strip()
    return ((before, after) if _is_unit(before, after) else None), match["number"]


def _is_unit(before: str, after: str) -> bool:
    if before:
        return _is_money(before) and (not after or _is_scale(after))
    if _is_money(after) or _is_scale(after):
        return True
    scale, _, money = after.rpartition(" ")
    return _is_scale(scale) and _is_money(money)


def _is_money(text: str) -> bool:
    return text in _MONEY or _SIGN.fullmatch(text) is not None


def _is_scale(text: str) -> bool:
    return _SCALE.fullmatch(text) is not None


def _is_sure(unit: Unit, numbers: Sequence[str]) -> bool:
    """Whether a unit is no word that stands before numbers of another sort."""
    return not _OTHERWISE.intersection(unit) or all(map(_PRICE.fullmatch, numbers))
