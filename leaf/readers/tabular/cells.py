"""What a cell holds, told from its text or value; and how columns, rows and cells are called in
notes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from leaf.readers.base import KIND, ROW
from leaf.readers.tabular.wide import narrowed

MISSING = frozenset(
    {
        "na",
        "n/a",
        "#n/a",
        "nan",
        "null",
        "none",
        "nil",
        "-",
        "--",
        "–",
        "—",
        "..",
        "...",
        ".",
        "missing",
        "k.a.",
        "n.a.",
    }
    | {
        "(na)",
        "(n/a)",
        "(n.a.)",
        "(x)",
        "(d)",
        "(s)",
        "(b)",
        "(z)",
        "not available",
        "not applicable",
        "n.d.",
        "x x",
    }
)
"""Words for "no value", in lower case. They count as missing only in columns that hold something
other than text."""
_NO_VALUES = """
****  *****  ******  *******  ********
…  ‥  *  **  ***  †  ‡  :  ;  ?  ??  ---  ----  -----  _  __  /  //  •  ·  ⋅  −  ‐  ‑  ―  －  ー  ~  <na>  <null>  (null)  [null]
\\n  nat  #null!  #value!  #div/0!  #ref!  #num!  #name?  n/d  nd  n.e.c.  n.n.  s/d  s.d.  s.o.  n.v.  n.b.  n.a  n.d  o.a.  k.a
tbd  tba  unknown  undefined  suppressed  withheld  n / a  n. a.  k. a.  n. v.  no data  no value  no answer  not reported
not stated  not known  not recorded  insufficient data  data not available  data suppressed  data unavailable  unbekannt
keine angabe  keine angaben  keine daten  ohne angabe  nicht verfügbar  nicht bekannt  inconnu  non disponible  non renseigné
sans objet  desconocido  no disponible  sin datos  desconhecido  não disponível  sem dados  sconosciuto  non disponibile
onbekend  niet beschikbaar  неизвестно  нет данных  н/д  不明  データなし  未知  不详  暂无  无数据  無資料  없음  미상
"""
_NO_AMOUNTS = frozenset(
    text
    for sign in ("$", "us$", "r$", *"€£¥₹₽₩₺%", "eur", "usd", "gbp", "chf", "tl", "zł", "kr")
    for dash in "-–—"
    for text in (f"{sign}{dash}", f"{sign} {dash}", f"{dash}{sign}", f"{dash} {sign}")
)
"""`$ -`: what spreadsheets show for no amount."""
NO_VALUE = MISSING | frozenset(re.split(r"\s{2,}|\n", _NO_VALUES.strip())) | _NO_AMOUNTS
"""The same with words and signs that may be a name elsewhere: what they mean is known only below
the header of a typed column."""
_NUMBER = re.compile(
    r"\(?[+\-−–]?\s?(?:[$€£¥₹]\(?|[A-Z]{2,3}\$?\s)?\s?(?:\d[\d.,'’\u00a0\u202f]*|\d{1,3}(?: "
    r"\d{3})+(?:[.,]\d+)?|[.,]\d+)"
    r"(?:[eE][+-]?\d+)?\s?(?:%|[$€£¥₹]|[A-Z]{3})?(?:\)%?)?|\d[\d.,'’\u00a0\u202f]*[.,]\d+-",
    re.ASCII,
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?: "
    r".*)?|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
    r"|\d{1,2}[- ][A-Za-z]{3,9}\.?[- ]\d{2,4}|[A-Z][a-z]{2,8} \d{1,2}, \d{4}",
    re.ASCII,
)
_YEAR_NAME = re.compile(
    r"\(?(?:19|20)\d\d(?:\.0)?(?:\s?[-/–]\s?(?:\d\d|(?:19|20)\d\d))?\)?"
    r"(?:\s?[*†‡]|\s?\\\d|\s\(?\d\)?|[\s,-]{0,2}\(?[A-Za-z][A-Za-z. ]{0,14}\)?)?",
    re.ASCII,
)
"""`2008`, `2008 \\1`, `2006-07`, `1982-Census`, `2004, estimate`: years as columns are called by
them."""
_UNIT = re.compile(r"\(\s*(?:[$€£¥]?\s?1[0,. ]*|[^\W\d][^()]*|[$€£¥%])\s*\)")
"""`(1,000)`, `(percent)`, `(mil. dol.)`: what a column is counted in, as offices print it below its
name."""
_MEASURE = re.compile(
    r"[%‰€$£¥#]|°\s?[CFK]?|(?:in\s+)?(?:[A-Z]{3}|(?:k|M|T|Mio\.?|Mrd\.?|Tsd\.?|m|bn)?\s?[€$£¥%])"
    r"|[kKMGTmcdµnh]?(?:g|m|l|L|s|h|t|V|A|J|W|Wh|Pa|Hz|B|mol|bar)[²³23]?|C|F|K|ha|min"
    r"|\w{1,4}[²³23]?/\w{1,5}[²³23]?"
    r"|(?i:(?:in\s+)?(?:per ?cent|prozent|pct|euros?|dollars?|number|anzahl|count|stück|stk\.?|pcs"
    r"|units?|hours?|days?|years?|stunden|tage|jahre|tonn(?:e|es|en)|lit(?:er|re)s?|met(?:er|re)s?"
    r"|index|points?|mio\.?|mrd\.?|tsd\.?|thousands?|millions?|billions?))"
    r"|(?i:u?int(?:eger)?\d*|bigint|smallint|float\d*|double|real|decimal|numeric|string|str|text"
    r"|varchar|char|bool(?:ean)?|date|datetime|timestamp|time|object|category)"
)
"""`EUR`, `in %`, `m3/h`, `Stück`, `varchar`: what a second row of a header says of its columns, in
units or types."""
_PLACEHOLDER = re.compile(r"#{2,}|[<>≤≥~≈]=?\s?\d[\d.,]*\s?%?|[^\w%‰€$£¥°#]+")
"""`#####`, `<5`, `**`: signs that stand where a number does."""
CODE = re.compile(r"\(?[A-Z]{1,2}\)?|\([A-Z]+\)")
"""`D`, `(NA)`: letters that offices print where a number is withheld."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:\.0)?", re.ASCII)
FOOTER = re.compile(
    r"(?i)(?:source|note|notes|nb|remark|quelle|anmerkung|hinweis|fuente|fonte|stand|generated|created|exported|report|copyright|"
    r"end of|last (?:update|modified)|updated|legend|see|data as "
    r"of|disclaimer|confidential|rows?:|records?:|total rows|"
    r"total records|page |sources|notes?|footnotes?|inquiries|contact|symbols?|abbreviations?)\b"
    r"|[（(［【\[]?(?:注[记記釈釋]?|註|備考|备注|说明|說明|出典|出所|資料|资料来源|資料來源|数据来源|来源"
    r"|출처|자료|источники?|примечани[ея]|źródło|uwag[ai]|kaynak|notas?|fuentes?|bron|kilde|källa|zdroj|المصدر"
    r"|ملاحظة)\s?\d*\s?[:：）)］】\]]"
    r"|[*†‡©¹²³※]|\(?\d{1,2}\)\s|\d{1,2}\.?\s+[^\W\d]|\\\d|\S{1,2}\s*[:=]\s|--|==|#"
)


def is_empty(cell: Any) -> bool:
    """Nothing, or only white space."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def kind_of(cell: Any) -> str:
    """One letter: e(mpty), m(issing word), y(ear), n(umber), d(ate), b(oolean), t(ext)."""
    if isinstance(cell, bool):
        return "b"
    if isinstance(cell, int | float):
        return "y" if 1900 <= cell <= 2100 and cell == int(cell) else "n"
    if isinstance(cell, date | datetime | time | timedelta):
        return "d"
    if is_empty(cell):
        return "e"
    text = str(cell).strip()
    if text.lower() in MISSING:
        return "m"
    text = narrowed(text)
    if _YEAR.fullmatch(text):
        return "y"
    if _DATE.fullmatch(text):
        return "d"
    if _NUMBER.fullmatch(text):
        return "n"
    return "b" if text.lower() in ("true", "false") else "t"


def is_year_name(cell: Any) -> bool:
    """Whether a cell is a year, or one with a mark or a word after it."""
    return kind_of(cell) == "y" or (
        isinstance(cell, str) and bool(_YEAR_NAME.fullmatch(cell.strip()))
    )


def is_unit(cell: Any) -> bool:
    """Whether a cell is a unit in brackets."""
    return isinstance(cell, str) and bool(_UNIT.fullmatch(cell.strip())) and kind_of(cell) != "m"


def is_measure(cell: Any) -> bool:
    """Whether a cell is a unit or a type, without brackets too."""
    return is_unit(cell) or (isinstance(cell, str) and bool(_MEASURE.fullmatch(cell.strip())))


def is_placeholder(cell: Any) -> bool:
    """Whether a cell is a word or a sign for "no value", or for one that is not told."""
    if not isinstance(cell, str) or is_empty(cell):
        return False
    text = cell.strip()
    return text.lower() in NO_VALUE or bool(_PLACEHOLDER.fullmatch(text))


def is_rule(cell: Any) -> bool:
    """Whether a cell is a line drawn with dashes."""
    return isinstance(cell, str) and bool(cell) and not cell.strip(" -=_–—")


def shape_of(cell: Any) -> str:
    """The outline of a text: runs of capitals, small letters and digits folded, so that codes of
    one make look alike."""
    text = re.sub(r"[0-9]+", "9", str(cell).strip()[:40])
    text = re.sub(r"[^\W\d_a-zà-öø-ÿß]+", "A", text)
    return re.sub(r"[^\W\d_A-ZÀ-ÖØ-Þ]+", "a", text)


def unique_names(raw: Iterable[Any]) -> tuple[tuple[str, ...], int, int]:
    """Readable unique names, how many were empty, how many were repeated (compared without case, as
    SQL does)."""
    texts = [name_of(cell) for cell in raw]
    taken = {t.lower() for t in texts if t}
    seen: set[str] = {ROW, KIND}
    names: list[str] = []
    empty = repeated = 0
    for position, text in enumerate(texts, 1):
        name = text or f"column_{position}"
        if not text:
            empty += 1
        if name.lower() in seen or (not text and name.lower() in taken):
            repeated += bool(text)
            number = 2
            while f"{name}_{number}".lower() in seen | taken:
                number += 1
            name = f"{name}_{number}"
        seen.add(name.lower())
        names.append(name)
    return tuple(names), empty, repeated


def name_of(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFC", str(cell))).strip().strip("\ufeff")
    return text[:200]


def places(numbers: Sequence[int], what: str = "rows", shown: int = 8) -> str:
    """`rows 17, 40, 81 and 5 more`, of 1-based numbers; runs are joined."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    shown += len(runs) == shown + 1  # one more takes no more room than that there is one
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:shown]]
    more = len(runs) - shown
    return f"{what if len(numbers) != 1 else what.rstrip('s')} {', '.join(parts)}" + (
        f" and {more} more places" if more > 0 else ""
    )


def column_letter(column: int) -> str:
    """`A` for 0, `AA` for 26."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: bytes) -> int:
    """1 for `A`, 27 for `AA`."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def cell_range(top: int, left: int, bottom: int, right: int) -> str:
    """`A4:F1204`, from 0-based places."""
    return f"{column_letter(left)}{top + 1}:{column_letter(right)}{bottom + 1}"


def size_of(cell: Any) -> float | None:
    """How much a cell is, without its sign; None for what is no number by itself."""
    if isinstance(cell, int | float):
        return abs(cell)
    try:
        return abs(float(re.sub(r"[\s',’%]", "", str(cell))))
    except ValueError:
        return None
