"""Which code page bytes are in that are no Unicode: by the alphabets, the words and the frequent
letters they show.

Tables have few and short words, which is why it counts what no writer does: a sign within a word, a
capital behind a small letter, letters of two scripts in one word, a vowel sign on nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MARKS = frozenset("€£§°²³µ·»«–—‘’“”„…•©®™½¼¾±×º¡¿´\xa0¢¥ª-№")
"""Signs that are usual in text, but not inside a word."""
_OTHER = r"[Ͱ-ϿЀ-ӿא-תء-يก-ฮ]"
"""A letter of a script that is not Latin."""
_ODD = re.compile(
    r"(?<=[^\W\d_])[^\w\s\x00-\x7f’´–·­](?=[^\W\d_])"  # a sign between letters
    r"|(?<=[a-z])[²³¹ºª¼½¾](?=[a-z])"
    r"|(?<!\w)[£¥¼½¾¹²³©®](?=[^\W\d_])"  # a sign of a number, or a mark, before a word
    r"|(?<=[a-zà-öø-ÿ])[À-ÖØ-ÞŠŽŒŸ](?=[a-z]|\b)"  # a capital between or behind small letters
    r"|(?<=[a-zß-ž])[А-ЯЁΑ-Ω]|(?<=[а-яёѓ-џα-ω])[А-ЯЁЂ-ЏΑ-ΩΆ-Ώ]"
    rf"|[A-Za-z](?={_OTHER})|{_OTHER}(?=[A-Za-z])"  # two scripts in a word
    # letters that end every word or none, and a word without accent
    r"|ς(?=[α-ωά-ώ])|σ\b|þ\b|\b[α-ω]{4,}\b"
    # Thai signs on nothing
    r"|(?<![ก-ฮ\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]|[เ-ไ](?![ก-ฮ])"
    r"|(?<![^\W\d_])[ъьыğð](?=\w)"  # letters that begin no word
)
_CROWD = re.compile(r"[À-ɏ]{4,}")
"""Letters with marks in a row, as no Latin script has them."""


@dataclass(frozen=True)
class _CodePage:
    """A code page of one byte a character."""

    name: str
    alphabets: Sequence[str]
    """Small letters above ASCII of the languages written in it."""
    often: str = ""
    """The most frequent of them; empty for Latin scripts, where they stand among ASCII letters."""
    rare: float = 0.0
    """By so much it must fit better than others: hardly anybody writes it any more."""


_WESTERN = (
    "äöüß",
    "éèêëàâçîïôùûüÿœæ",
    "áéíóúüñ",
    "áâãàçéêíóôõúü",
    "àèéìîòóù",
    "åäöæøé",
    "éëïöüóè",
    "áðéíóúýþæö",
)
_CENTRAL = (
    "áčďéěíňóřšťúůýž",
    "áäčďéíľĺňóôŕšťúýž",
    "ąćęłńóśźż",
    "áéíóöőúüű",
    "ăâîşţșț",
    "čćđšž",
    "äöüß",
)
_CYRILLIC = (
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "абвгдежзийклмнопрстуфхцчшщьюяєіїґ",
    "абвгдђежзијклљмнњопрстћуфхцчџш",
)
_OFTEN_CYRILLIC = "оеаинтсрвлкі"
_GREEK = ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",)
_PAGES = (
    _CodePage("cp1252", _WESTERN),
    _CodePage("cp1250", _CENTRAL),
    _CodePage("iso8859-2", _CENTRAL),
    _CodePage("cp1254", ("çğıöşüâîû",)),
    _CodePage("cp1257", ("āčēģīķļņšūž", "ąčęėįšųūž", "äöõüšž"), rare=0.05),
    _CodePage("cp850", _WESTERN, rare=0.05),
    _CodePage("mac-roman", _WESTERN),
    _CodePage("cp1251", _CYRILLIC, _OFTEN_CYRILLIC),
    _CodePage("koi8_r", _CYRILLIC[:1], _OFTEN_CYRILLIC),
    _CodePage("cp866", _CYRILLIC, _OFTEN_CYRILLIC),
    _CodePage("mac_cyrillic", _CYRILLIC, _OFTEN_CYRILLIC, 0.1),
    _CodePage("iso8859_5", _CYRILLIC, _OFTEN_CYRILLIC, 0.1),
    _CodePage("cp1253", _GREEK, "αοιετσνρυκλά"),
    _CodePage("cp1255", ("אבגדהוזחטיךכלםמןנסעףפץצקרשת",), "יוהלאמרתבש"),
    _CodePage("cp1256", ("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگ",), "اليمونرتبةهد"),
    _CodePage(
        "cp874", ("".join(map(chr, [*range(0xE01, 0xE3B), *range(0xE40, 0xE4F)])),), "านรอกเงมยลวดท่้"
    ),
)
"""The likelier first."""
_NEARLY_ALIKE = 0.04
"""By so much another page must fit better than the most common one, which names from several
languages often mix."""
_OFTEN = 0.3
"""Weight of the share of frequent letters: what tells two pages of one script apart where all is in
capitals."""
_LEAST_OFTEN = 0.4
"""Share of the frequent letters below which words are hardly those of the language."""
_OTHER_LANGUAGE = 0.3
"""Weight of the letters of a second language."""
_SURE = 0.9
GUESSED_BY = 40_000
"""Bytes of lines with letters above ASCII that are looked at."""
PAIRS = {
    "cp932": re.compile(r"[ぁ-んァ-ヶー々〆、。「」・！-ﾟ]"),
    "euc_jp": re.compile(r"[ぁ-んァ-ヶー々〆、。「」・]"),
    "gb18030": re.compile(r"[、。《》（）：，！？；“”—…]"),
    "big5": re.compile(r"[、。《》（）：，！？；「」—…]"),
    "cp949": re.compile(r"[、。（）：，]"),
}
"""Encodings of two bytes a character, and what is usual in them besides the rows of common
characters."""
_ROWS = {
    "cp932": (0x88, 0x97, 0x40),
    "euc_jp": (0xB0, 0xCF, 0xA1),
    "gb18030": (0xB0, 0xD7, 0xA1),
    "big5": (0xA4, 0xC6, 0x40),
    "cp949": (0xB0, 0xC8, 0xA1),
}
"""First and last leading byte of the characters that are in common use, and the least second
byte."""


def guess(data: bytes) -> str:
    """The codec of text that is no Unicode."""
    sample = b"\n".join(line for line in data.split(b"\n") if line and not line.isascii())[
        :GUESSED_BY
    ]
    page, letters = _single(sample)
    pairs = [name for name in PAIRS if _fits_pairs(sample, name) >= _SURE]
    return _of_pairs(sample, pairs) if pairs and letters < _SURE else page


def _single(sample: bytes) -> tuple[str, float]:
    """The page of one byte a character that fits best, and how well words in it do: less what no
    writer does."""
    fits = {page.name: _fit(sample, page) for page in _PAGES}
    best = max(fits, key=lambda name: fits[name][0] + (_NEARLY_ALIKE if name == "cp1252" else 0))
    return best, fits[best][1]


def _fit(sample: bytes, page: _CodePage) -> tuple[float, float]:
    """How well characters above ASCII fit a page's languages, with their frequent letters; and how
    well letters alone do."""
    text = sample.decode(page.name, "replace")
    counts = Counter(text)
    high = sum(n for c, n in counts.items() if not c.isascii())
    if not high:
        return 1.0, 1.0
    marks = sum(n for c, n in counts.items() if c in MARKS)
    alphabet = max(page.alphabets, key=lambda letters: _of(counts, letters))
    letters = _of(counts, alphabet)
    with_another = max(_of(counts, alphabet + other) for other in page.alphabets)
    odd = 2 * len(_ODD.findall(text)) + sum(len(run) - 3 for run in _CROWD.findall(text))
    fit = (letters + _OTHER_LANGUAGE * (with_another - letters) + marks - odd) / high - page.rare
    if not page.often:
        return fit, (with_another - odd) / high
    often = _of(counts, page.often) / max(1, letters)
    return fit + _OFTEN * (often - 0.5), (letters - odd) / high if often >= _LEAST_OFTEN else 0.0


def _of(counts: Counter[str], letters: str) -> int:
    both = {*letters, *letters.upper(), *("İ" if "ı" in letters else "")}
    return sum(n for c, n in counts.items() if c in both and not c.isascii())


def _fits_pairs(sample: bytes, name: str) -> float:
    """Share of the characters above ASCII that are in common use and stand beside another one; 0
    where bytes are wrong."""
    try:
        text = sample.decode(name)
    except UnicodeDecodeError as e:
        if e.start < len(sample) - 4:
            return 0.0
        text = sample[: e.start].decode(name)
    first, last, least = _ROWS[name]
    high = common = 0
    for run in re.findall(r"[^\x00-\x7f]+", text):
        high += len(run)
        if len(run) > 1 or run in "年月日円元原":
            common += sum(_is_common(c, name, first, last, least) for c in run)
    return common / high if high else 0.0


def _is_common(character: str, name: str, first: int, last: int, least: int) -> bool:
    if PAIRS[name].match(character):
        return True
    raw = character.encode(name, "replace")
    return len(raw) == 2 and first <= raw[0] <= last and raw[1] >= least


def _of_pairs(sample: bytes, pairs: Sequence[str]) -> str:
    """Which of several encodings of two bytes: kana are Japanese; else by the frequent characters
    of a language."""
    if len(pairs) == 1:
        return pairs[0]
    for name in ("euc_jp", "cp932"):
        if name in pairs and re.search("[ぁ-んァ-ヶ]{2}", sample.decode(name, "replace")):
            return name
    from charset_normalizer import from_bytes

    best = from_bytes(sample.replace(b"\t", b" "), cp_isolation=list(pairs)).best()
    return best.encoding if best else pairs[0]
