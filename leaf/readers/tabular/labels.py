"""Words by which people mark rows of totals, subtotals and averages. A word is a hint only;
structure and arithmetic decide in `totals`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from unicodedata import normalize

LONGEST = 80
"""Characters of a label; longer texts are sentences."""
_SUB = (
    r"sub[ -]?tot(?:al|ale|aal|aux|ales)?s?|zwischensummen?|teilsumme|teilergebnis|zwischentotal|sous[ "
    r"-]total|tussentotaal|delsumma?|delsum|mellemsum|mezisoučet|medzisúčet|međuzbroj|podzbroj|vmesna vsota|"
    r"suma (?:częściowa|pośrednia)|ara toplam|välisumma|részösszeg|(?:промежуточный )?подытог|промежуточный итог|"
    r"проміжний підсумок|μερικό σύνολο|υποσύνολο|小計|小计|소계|부분합|المجموع الفرعي|ال[إا]جمالي الفرعي|"
    r"סכום ביניים|tổng phụ|sub ?jumlah|(?:ยอด)?รวมย่อย"
)
_TOTAL = (
    r"totals?|totale|totaux|totales|totaal|totalt|totali|totais|tot\.|summe|summen|sums?|gesamt|gesamtsumme|gesamtergebnis|"
    r"gesamtbetrag|insgesamt|endsumme|eindtotaal|totalsumm?a?|totalbelopp|slutsumma|i alt|ialt|samtals|yhteensä|loppusumma|"
    r"suma(?: końcowa)?|razem|ogółem|łącznie|celkem|celkom|spolu|(?:celkový )?součet|(?:celkový )?súčet|somme|soma|summa|"
    r"összesen|mindösszesen|végösszeg|(?:sve)?ukupno|(?:све)?укупно|вкупно|общо|skupaj|skupna vsota|iš viso|kokku|"
    r"kopā|kopsumma|pavisam|toplam|(?:общий )?итог|итого|всего|разом|усього|всього|(?:загальний )?підсумок|"
    r"(?:γενικό )?σύνολο|"
    r"(?:合計|合计|总计|總計|総計|総合計|总合计)(?:金[额額])?|金[额額][合总總][计計]|总和|總和|总数|計|합계|총계|총합계?|계|Σ|σ|∑|"
    r"(?:ال)?مجموع(?: الكلي| العام)?|(?:ال)?[إا]جمالي(?: الكلي| العام)?|جمع(?: کل)?|סה(?:\"|״|׳׳|'')?כ|סך[ ־-]הכו?ל|"
    r"cộng|tổng(?: (?:cộng|số))?|jumlah(?: (?:total|keseluruhan))?|(?:ยอด|ผล)?รวม(?:ทั้งหมด|ทั้งสิ้น)?|कुल(?: योग)?|"
    r"(?:grand|overall) results?"
)
_ELSEWHERE = (
    r"somma|shuma|gjithsejt?|össz|kaikkiaan|til ?sammen|tilsamans|sammanlagt|alls|samtala|bendra suma|"
    r"guztira|batura|iomlán|iomlan|cyfanswm|vsota|seštevek|zbroj|zbir|svega|úhrnem|w sumie|totalul|"
    r"свега|збир|збирно|всичко|сбор|сума|сумма|загалом|усяго|разам|συνολικά|συνολο|σύνολα|γενικο συνολο|"
    r"άθροισμα|ընդամենը|հանրագումար|სულ|ჯამი|ჯამში|(?:ümumi )?cəmi|yek[uû]n|барлығы|жиыны|жами|jemi|"
    r"барысы|бардыгы|жыйынтыгы|жалпы|ҳамагӣ|ҷамъ|нийт|бүгд|giştî|tevahî|سەرجەم|کۆی گشتی|ټول|ټولټال|جەمئىي|"
    r"(?:میزان )?کل|ٹوٹل|میزان|کل میزان|مجموعہ|جملہ|کل رقم|एकूण|जम्मा|सर्वमोट|(?:সর্ব)?মোট|ਕੁੱਲ|કુલ|ମୋଟ|மொத்தம்|మొత్తం|"
    r"ಒಟ್ಟು|ആകെ|(?:මුළු )?එකතුව|ລວມ(?:ທັງໝົດ)?|សរុប|စုစုပေါင်း|kabuuan|gunggung|jumlah besar|jumla(?: kuu)?|"
    r"jim(?:ill?|l)a|wadar(?:ta)?|ድምር|ጠቅላላ(?: ድምር)?|àpapọ̀|apapọ|ngụkọta|isamba|fitambarany|entute|共[计計]|总额|總額|総額|総数"
)
"""The same in further languages, where they stand alone: nobody has looked at them beside names."""
_ORDINARY = r"ensemble|zusammen|ttl|tot|results?|ergebnis|集計|汇总|彙總|요약|योग"
"""Words for totals that are ordinary values as well: nothing but the numbers says which."""
_CARRIED = r"übertrag|carried forward|brought forward"
_GRAND = r"grand|overall|general|général|générale|generale|complessivo|geral|genel|net|gross|total"
_WHOLE = (
    r"overall|all|alle|alles|tous|toutes|todos|todas|tutti|wszystkie|все|united "
    r"states|u\.?s\.?(?:a\.?)?|world|worldwide|"
    r"national|nationwide|nation|everyone|everything|全国|全体|全部"
)
_COUNTRY = re.compile(r"united states|u\.?s\.?(?:a\.?)?")
COUNTRIES = (
    *("australia", "brazil", "canada", "china", "france", "germany", "india", "indonesia", "italy"),
    *("japan", "mexico", "netherlands", "russia", "spain", "sweden", "switzerland", "turkey"),
    *("united kingdom", "uk"),
)
"""Some that most lists of countries have."""
_MEAN = (
    r"averages?|avg\.?|mean|durchschnitt|mittelwert|ø|moyenne|promedio|media|média|gemiddelde|średnia|среднее|平均|평균|ortalama|"
    r"keskiarvo|medelvärde"
)
_LEAST = (
    r"min\.?|minim(?:um|o)|mín\.?|mínimo|lowest|smallest|niedrigste[rs]?|kleinste[rs]?|tiefste[rs]?"
    r"|minimalwert|tiefstwert|(?:la |le )?plus (?:bas(?:se)?|petite?)|(?:el |la )?más baj[oa]"
)
_MOST = (
    r"max\.?|maxim(?:um|o)|máx\.?|máximo|massimo|highest|largest|höchste[rs]?|größte[rs]?|maximalwert"
    r"|höchstwert|(?:la |le )?plus (?:haute?|grande?)|(?:el |la )?más alt[oa]"
)
_OTHER = (
    rf"{_LEAST}|{_MOST}|medel|median[ae]?|médiane|zentralwert|count|anzahl|effectifs?|recuento"
    rf"|std\.?|stdev"
)
_AVERAGE = f"{_MEAN}|{_OTHER}"
_RATE = (
    r"per ?cent(?:age)? (?:change|of total|distribution)|% (?:change|of total)|(?:average "
    r")?annual (?:average )?(?:growth rate|"
    r"per ?cent(?:age)? change)|average annual growth(?: rate)?|growth rate|veränderung(?: in "
    r"(?:%|prozent))?|variation(?: en %)?"
)
_SHARE = r"%|in %|pct\.?|per ?cent(?:age)?|prozent|in prozent|anteil in %|en %|em %"
"""Words for a row of shares of a total, where they stand alone."""
_DOUBLE = frozenset(
    {"sum", "sums", "σ", "suma", "soma", "tot.", "media", "média", "mean", "medel"}
) | {
    *("alls", "jemi", "jumla", "svega", "сбор", "сума", "сумма", "барысы"),
    *("жалпы", "سەرجەم", "کل", "ټول", "میزان", "总额", "總額", "総額"),
}
"""Words that are names and codes as well."""
_ALONE = frozenset({"cộng", "tổng", "jumlah", "разом", "kopā", "skupaj", "計", "계", "جمع", "कुल"})
"""Words that are totals where they stand alone: beside another they are as often part of a name
(`Cộng hòa`) or say how many (`Jumlah penduduk`)."""
_LETTERS = r"\u2e80-\u9fff\uac00-\ud7af"
_SPACED = re.compile(rf"[{_LETTERS}](?: [{_LETTERS}])+|\S(?: \S){{3,}}")
"""A word with blanks between its letters: `T O T A L`, `合 计`."""
_EDGE = r"[\W_\d]"
HINT = (
    rf"(?i)(?:^|{_EDGE})(?:{_SUB}|{_TOTAL}|{_ELSEWHERE}|{_ORDINARY}|{_CARRIED}|{_AVERAGE})(?:$|{_EDGE})|^\W*(?:{_RATE})(?:$|{_EDGE})|^\W*(?:{_WHOLE})(?:$|{_EDGE})"
    rf"|^\W*(?:{_SHARE})\W*$"
    r"|^\W*(?:\S[ \x{a0}]){3,}\S\W*$|^[^ -~][ \x{3000}]+[^ -~]$"
)
"""SQL: whether it is worth looking at a text at all."""
_MARKS = re.compile(r"(?:\s*(?:\\\d+|[¹²³⁴⁵⁶⁷⁸⁹⁰†‡*]+|[(\[]\d{1,2}[)\]]))+[\s,]*$")
"""Marks of footnotes behind a label."""
_SAID = re.compile(r"\s*[-–—:(]\s*\w|[\s,]+(?=[^\W\d_]{2})(?!number |[A-ZÀ-Þ])")
"""Behind a word for a total: a dash, a colon, or a word that is no name's; `Total number of firms`
is an ordinary measure."""
_LEADERS = re.compile(r"[.…·_]{2,}\s*$")


REST = re.compile(
    r"\b(?:net|gross|profit|loss|balance|surplus|deficit|margin|ebitda?|difference|change|rohertrag|rohgewinn|ergebnis|"
    r"überschuss|jahresüberschuss|gewinn|saldo|differenz|bénéfice|résultat|marge|solde|net(?:te|to)|beneficio|resultado|margen)\b"
)
"""In lower case: words for what is left of one row after another is taken away."""


@dataclass(frozen=True)
class Label:
    """What a cell says of its row."""

    kind: str
    """`subtotal`, `total` or `average`."""
    exact: bool
    """The cell holds the word alone (`Total`, `Grand total:`), not beside a name (`North
    total`)."""
    text: str
    sure: bool = True
    """False for words that are as often names or ordinary values: `All`, `Overall`, `United
    States`, `Max`."""
    name: str = ""
    """What stands beside the word, in lower case: `north`."""
    word: str = ""
    """The word itself, in lower case: `total`, `max`."""


def label_of(text: str) -> Label | None:
    """`North Total` is a total with a name, `Totally Spies` and a sentence are nothing."""
    if len(text) > LONGEST:
        return None
    plain = _plain(text)
    if not plain or re.search(r"[^\W\d_]{2}\. \w", plain):
        return None
    for kind, sure, alone, named in _patterns():
        if alone is not None and alone.fullmatch(plain):
            return Label(kind, True, text.strip(), sure and plain not in _DOUBLE, word=plain)
        if named is not None and (match := named.fullmatch(plain)):
            parts = match.groupdict()
            name = (parts.get("before") or parts.get("behind") or "").strip(" ,:()–-")
            word = parts.get("first") or parts.get("last") or ""
            sure = sure and word not in _DOUBLE and word not in _ALONE
            return Label(kind, False, text.strip(), sure, name, word)
    return None


def is_ordinary(label: Label) -> bool:
    """Whether the word is an ordinary value as often (`Ensemble`, `Result`): without a sum it
    calls for no doubt."""
    return _ordinary().fullmatch(label.word) is not None


def is_least(label: Label) -> bool:
    """Whether the word is one for the least value: `Lowest`, `Min`."""
    return _least().fullmatch(label.word) is not None


def is_most(label: Label) -> bool:
    """Whether the word is one for the greatest value."""
    return _most().fullmatch(label.word) is not None


def is_rate(label: Label) -> bool:
    """Whether a label is of a row of changes or shares: `Percent change, 1990-2003`."""
    return _rates().fullmatch(label.word) is not None


def is_share(label: Label) -> bool:
    """Whether a label is a sign for shares that stands alone: `%`, `in %`."""
    return label.exact and is_rate(label)


def is_said(label: Label) -> bool:
    """Whether a label of several words reads like a total's, not like a name: `Total holdings`,
    `Total - all`, `Country mean`."""
    text = label.text.strip(" *\u00a0")
    if not label.word or not text.lower().startswith(label.word):
        return bool(label.word) and label.word not in ("media", "média")
    return text[0].isupper() and _SAID.match(text[len(label.word) :]) is not None


def is_country(label: Label) -> bool:
    """Whether the word is a country's name, which beside other countries is one of them."""
    return label.exact and _COUNTRY.fullmatch(label.word) is not None


@cache
def _ordinary() -> re.Pattern[str]:
    return re.compile(_ORDINARY)


@cache
def _least() -> re.Pattern[str]:
    return re.compile(_LEAST)


@cache
def _most() -> re.Pattern[str]:
    return re.compile(_MOST)


@cache
def _rates() -> re.Pattern[str]:
    return re.compile(f"{_RATE}|{_SHARE}")


def _plain(text: str) -> str:
    """In lower case, without the marks of footnotes, dots that lead to the numbers, and blanks
    between letters."""
    plain = " ".join(normalize("NFC", text).split())
    for _ in range(3):
        plain = _LEADERS.sub("", _MARKS.sub("", plain)).strip(" :=*-–—_()[]")
    plain = (
        plain.rstrip(".")
        if not plain.lower().endswith(("tot.", "avg.", "min.", "max.", "std."))
        else plain
    )
    if _SPACED.fullmatch(plain):
        plain = plain.replace(" ", "")
    return plain.lower()


@cache
def _patterns() -> tuple[tuple[str, bool, re.Pattern[str] | None, re.Pattern[str] | None], ...]:
    """Kind, whether the word is sure, the word alone, the word before or behind a name."""

    def named(word: str) -> re.Pattern[str]:
        name = r"[^!?;]{1,60}"
        return re.compile(
            rf"(?P<first>{word})[ ,:(–-]+(?P<behind>{name})|(?P<before>{name})[ "
            rf",:(–-]+(?P<last>{word})(?:, \d{{4}})?"
        )

    def behind(word: str) -> re.Pattern[str]:
        return re.compile(rf"(?P<before>[^!?;]{{1,60}})[ -]+(?P<last>{word})")

    sub = rf"(?:{_SUB})"
    total = rf"(?:(?:{_GRAND})[ -])?(?:{_TOTAL})(?: (?:{_GRAND}))?"
    alone = re.compile(rf"{total}|{total} \d{{4}}")
    whole = re.compile(rf"(?P<first>{_WHOLE})[ ,:(–-]+(?P<behind>[^!?;]{{1,60}})")
    return (
        ("subtotal", True, re.compile(sub), named(sub)),
        ("total", True, re.compile(_ELSEWHERE), None),
        ("total", True, alone, named(total)),
        ("total", False, re.compile(_ORDINARY), behind(_ORDINARY)),
        ("subtotal", False, re.compile(_CARRIED), None),
        ("average", True, re.compile(_MEAN), None),
        ("average", False, re.compile(_OTHER), None),
        ("average", False, re.compile(_SHARE), None),
        ("average", False, None, re.compile(rf"(?P<first>{_RATE})(?:[ ,:(–-]+[^!?;]{{0,40}})?")),
        ("total", False, re.compile(_WHOLE), whole),
        ("average", False, None, named(_MEAN)),
    )
