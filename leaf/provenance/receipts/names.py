"""What only looks like a figure: numbers that are part of a name, an order or an address, and so
carry no mark. Pure.

Ordinals (`3rd`, `3.`, `3e`, `3.º`), numbers of lists, headings, steps, pages and rows, `top 5`,
code, addresses, versions, telephone numbers, marks of citations, names with digits (`Q3`,
`COVID-19`, `iPhone 15`), and the names of the chat's columns, files and rows. In English, German,
French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LOCATORS = (
    "page pages p pp slide sheet row rows line lines column section sec chapter part step table "
    "figure fig appendix annex "
    "question point item option rank ranks ranked place position no nr phase stage tier note "
    "footnote exhibit version "
    "release build seite seiten folie blatt zeile zeilen spalte abschnitt kapitel teil schritt "
    "tabelle abbildung abb anhang "
    "frage punkt rang platz fußnote diapositive feuille ligne lignes colonne chapitre partie "
    "étape tableau annexe rang "
    "place numéro n página páginas pág diapositiva hoja fila filas línea columna sección capítulo "
    "parte paso tabla figura "
    "anexo pregunta punto puesto lugar número núm"
)
_BARE = "s p pp n no nr"
"""Short ones, which need a point or a sign behind them: `S. 3`, `n° 3`."""
_NAMES = (
    "iphone ipad ipod windows office boeing airbus galaxy pixel playstation xbox nintendo python "
    "java android ios macos "
    "ubuntu debian gpt claude gemini llama formula formel formule fórmula type typ tipo model "
    "modell modèle modelo class "
    "klasse category kategorie catégorie categoría group gruppe groupe grupo cluster zone zona "
    "route highway gate room raum "
    "flight terminal store filiale level iso din iec rfc covid apollo http utf sha week quarter "
    "team lot batch"
)
_WORDY = [word for word in _LOCATORS.split() if word not in _BARE.split()]
_COUNT = r"\d{1,4}(?:\.\d{1,3}){0,3}(?![\w%]|[.,]\d|\s?%)"
_RANGE = rf"{_COUNT}(?:\s?(?:[-–,&]|to|and|bis|und|à|et|a|y)\s?{_COUNT})*"
_MOST = (
    "largest|biggest|smallest|highest|lowest|best|worst|leading|größten|kleinsten|höchsten|besten|plus grande?s|meilleure?s|"
    "mayores"
)
_FIRST = (
    "top|first|last|bottom|ersten|letzten|premiers|premières|derniers|dernières|primeros|primeras|últimos|últimas|"
    f"{_MOST}|mejores"
)
_ARTICLES = (
    "der|die|das|den|dem|des|im|am|zum|zur|vom|beim|ein|eine|einen|einem|einer|jede[rmns]?|ihr|ihre[rmn]?|sein|seine[rmn]?|auf|ab|als|"
    "und|oder|bis|seit|nach|vor|unser|unsere[rmn]?"
)
_GERMAN = "Quartal|Halbjahr|Jahrhundert|Jahrestag|Platz|Rang|Mal|Monat|Tag|Woche|Stelle|Quantil|Perzentil|Dezil|Klasse|Liga|Runde"
_BEGINS = (
    "Der|Die|Das|Den|Dem|Des|Dies|Diese[rmns]?|Ein|Eine[rmn]?|Es|Er|Sie|Wir|Ihr|Man|Im|In|Am|An|Auf|Aus|Bei|Beim|Mit|Nach|Seit|Von|Vom|"
    "Vor|Zu|Zum|Zur|Für|Über|Unter|Durch|Ohne|Gegen|Damit|Dabei|Davon|Dagegen|Danach|Daher|Dann|Darunter|Dort|Hier|So|Auch|Aber|Und|Doch|"
    "Nur|Alle|Jede[rmns]?|Insgesamt|Zusammen|Wenn|Weil|Während|Ob|Wie|Was|Wer|Als"
)
"""Words with a capital that begin a German sentence: a number before them ended the last one."""

CURRENCIES = (
    "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|KRW|SGD|HKD"
)
_MONTHS = "Jan|Jän|Feb|Mär|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez"

PASSED_OVER = (
    re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL),
    re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL),
    re.compile(r"https?://\S+|\]\([^)\s]*\)|\b[\w.+-]+@[\w-]+\.\S+"),
    re.compile(r"\[\d{1,3}\]"),
    re.compile(r"\$\$.+?\$\$", re.DOTALL),
    re.compile(r"^[ \t>]*(?:[-*+][ \t]+)?\(?\d{1,3}[.)](?=\s)", re.MULTILINE),
    re.compile(r"^#{1,6}[ \t]+\d+(?:\.\d+)*[.):]?(?=\s)", re.MULTILINE),
    re.compile(
        r"(?<![\w+])\+\d[\d ()/-]{7,}\d(?!\d*[.,%])|\(\d{2,5}\)[ -]?\d{3}[ "
        r"-]?\d{3,}|(?<![\w,.])\d{3}-\d{3}-\d{4}\b"
        r"|(?<![\w,.])0\d{2,5}[ /-]\d[\d -]{3,}\d"
    ),
    re.compile(
        r"(?<![\w,.])\d{1,4}(?:\.\d{1,2}){3,}(?![\w%])|(?<![\w,.])\d{1,3}\.\d{1,2}\.\d{1,2}(?![\w.%])"
    ),
    re.compile(r"\b[^\W\d][\w]*[-–]\d[\w-]*"),
    re.compile(rf"\b(?!(?:{CURRENCIES})\d)[^\W\d]\w*\d\w*(?:[.-]\w+)*"),
    re.compile(r"#\d+\b|(?<=§)\s?\d+\w*"),
    re.compile(
        r"(?<=\b(?:19|20)\d\d[/–])\d\d(?![\w%/–]|[.,]\d)|"
        r"(?<=\b(?:19|20)\d\d-)(?:1[3-9]|[2-9]\d)(?![\w%-]|[.,]\d)"
    ),
    re.compile(
        rf"(?i:\b(?:{_ARTICLES}))\s\d{{1,3}}\.(?=\s(?!{_MONTHS}|(?:{_BEGINS})\b)[A-ZÄÖÜa-zäöü])"
    ),
    re.compile(rf"\b\d{{1,3}}\.\s(?=(?:{_GERMAN})\w{{0,3}}\b)"),
    re.compile(rf"(?i)\b(?:{'|'.join(_WORDY)})s?\.?\s(?:n[°º]\s?)?{_RANGE}"),
    re.compile(rf"(?i)\b(?:{'|'.join(_BARE.split())})[.°º]\s?{_RANGE}"),
    re.compile(rf"(?i)\b(?:{'|'.join(_NAMES.split())})\s{_COUNT}"),
    re.compile(rf"\b[a-zA-Z]*[a-z][A-Z][A-Za-z]*\s{_COUNT}"),
    re.compile(rf"(?i)\b(?:{_FIRST})[\s-]\d{{1,2}}(?![\w%]|[.,]\d|\s?%)"),
    re.compile(rf"(?i)\b\d{{1,2}}\s(?=(?:{_MOST})\b)"),
)
"""In this order: a later one does not look into what an earlier one took."""
_ORDINALS = re.compile(
    r"\b\d+(?:st|nd|rd|th|er|re|ère|e(?![-+−]\d)|ème|eme|es|èmes|de)\b|"
    r"\b\d+\.?[ºª°](?!\s?[CFK]\b)|\b\d+\.(?:er|o|a)\b"
)
_DATE_NAME = re.compile(r"^\W*(?:\d{4}\b|\w+\.?\s\d{4}\W*$)")
_DIGITS = re.compile(r"\d+")
LONGEST_NAME = 60


def blanked(text: str, names: Iterable[str] = ()) -> str:
    """The text with spaces in place of what is no figure; every character stays at its place."""
    there = {*_DIGITS.findall(text)}
    for name in sorted(
        {n for n in names if _is_name(n) and there.issuperset(_DIGITS.findall(n))},
        key=len,
        reverse=True,
    ):
        text = re.sub(
            rf"(?<!\w){re.escape(name)}(?!\w)",
            lambda m: " " * len(m.group()),
            text,
            flags=re.IGNORECASE,
        )
    for pattern in PASSED_OVER:
        text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return text


def without_ordinals(text: str) -> str:
    """The same for what puts things in order: `3rd`, `2e`, `1.º`. A day beside its month is none,
    so dates are looked for before."""
    return _ORDINALS.sub(lambda m: " " * len(m.group()), text)


def _is_name(name: str) -> bool:
    return any(c.isdigit() for c in name) and not name.replace(".", "").isdigit()


def names_a_row(cell: str) -> bool:
    """Whether a cell is a name with a number in it, such as `Store 12`; dates and amounts are
    none."""
    begins = cell[:1].isalpha() and len(cell) <= LONGEST_NAME and any(c.isdigit() for c in cell)
    return begins and len(cell.split()) <= 5 and not _DATE_NAME.match(cell)
