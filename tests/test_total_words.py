"""Words for totals in the languages of the world."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import duckdb
import pytest

from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.labels import HINT, label_of
from leaf.readers.tabular.sql import literal

SURE = """
somma · gjithsej · gjithsejt · össz. · yhteensä · kaikkiaan · razem · ogółem · w sumie · totaal
celkem · úhrnem · toplam · yekûn · cəmi · łącznie · итого · всего · загалом · усього · усяго
разам · свега · збир · всичко · вкупно · συνολο · άθροισμα · ընդամենը · სულ · ჯამი · барлығы · жиыны
жами · бардыгы · ҳамагӣ · нийт · guztira · iomlán · cyfanswm · tilsamans · til sammen · sammanlagt
seštevek · zbroj · totalul · bendra suma · kokku · kopā · giştî · ٹوٹل · مجموع · جمع کل · סה״כ
कुल · एकूण · जम्मा · মোট · সর্বমোট · ਕੁੱਲ · કુલ · ମୋଟ · மொத்தம் · మొత్తం · ಒಟ್ಟು · ആകെ · එකතුව
ລວມທັງໝົດ · សរុប · စုစုပေါင်း · kabuuan · jumlah · tổng cộng · wadar · jimla · àpapọ̀ · isamba · ድምር
合計 · 合计 · 共计 · 합계
"""
OPEN = ["suma", "сума", "Jumla", "کل", "жалпы"]


@pytest.mark.parametrize(
    "word", [w.strip() for w in SURE.replace("\n", "·").split("·") if w.strip()]
)
def test_a_total_is_known_by_its_word(word: str) -> None:
    for text in (word, word.capitalize(), f"{word}:"):
        label = label_of(text)
        assert label is not None
        assert (label.kind, label.exact, label.sure) == ("total", True, True)
        hint = f"SELECT regexp_matches({literal(normalize('NFC', text))}, {literal(HINT)})"
        assert duckdb.sql(hint).fetchall() == [(True,)]


@pytest.mark.parametrize("word", OPEN)
def test_a_word_that_is_a_name_or_a_value_as_well_is_not_sure(word: str) -> None:
    label = label_of(word)
    assert label is not None
    assert not label.sure


@pytest.mark.parametrize(
    "text",
    [
        "SOM",
        "Jami",
        "Monte Somma",
        "Somma Vesuviana",
        "Кол сбор",
        "Общество всичко наред",
        "कुलदीप",
        "మొత్తము గ్రామం",
    ],
)
def test_such_a_word_in_a_name_says_nothing(text: str) -> None:
    assert label_of(text) is None


@pytest.mark.parametrize("word", ["Somma", "Gjithsej", "Össz.", "Yekûn"])
def test_the_sum_of_small_numbers_is_left_out_where_a_word_says_so(
    tmp_path: Path, word: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"name,pieces\nmeat,3\nbread,4\nmilk,2\nwine,6\n{word},15\n")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert dict(info.left_out) == {"total": (6,)}
