"""The page in four languages: catalogs that are whole and harmless, and whose language it is."""

from __future__ import annotations

import re
import string
import threading
from collections import Counter
from datetime import date

import pytest

from docs import catalogs
from leaf.language import text as language
from leaf.language.catalogs import LOCALES, Catalog, Entry, parsed, read
from leaf.language.text import n_, speaking, t
from leaf.ui import words
from leaf.ui.language import best
from leaf.ui.spoken import spoken, texts

MARKUP = re.compile(r"\*\*|(?<!\*)\*(?!\*)|`|:[a-z]+\[|:material/\w+:?|\]|<|\[|https?:|\n|\||^- |#")
"""What Streamlit would draw as something else than words."""


@pytest.fixture(scope="module")
def messages() -> dict[catalogs.Message, list[str]]:
    return catalogs.messages()


def names(text: str) -> Counter[str]:
    return Counter(
        str(name) for _, name, _, _ in string.Formatter().parse(text) if name is not None
    )


def test_the_templates_are_made_of_the_code() -> None:
    """`make docs` writes them anew."""
    for name, found in catalogs.catalogs().items():
        said = catalogs.template(name).read_text(encoding="utf-8")
        assert said == catalogs.written(found.items())
        for code in catalogs.LANGUAGES:
            path = LOCALES / code / name
            assert path.read_text(encoding="utf-8") == catalogs.written(found.items(), code, name)


@pytest.mark.parametrize("code", catalogs.LANGUAGES)
def test_a_catalog_has_all_words_with_their_values_and_no_markup_of_its_own(
    code: str, messages: dict[catalogs.Message, list[str]]
) -> None:
    entries = catalogs.entries(LOCALES / code / "leaf.po")
    for one, many in messages:
        said = entries[one, many].said
        assert len(said) == (2 if many else 1)
        for form, text in said.items():
            assert text, f"nothing for {one!r}"
            english = many if form else one
            values = {name: min(1, count) for name, count in names(english).items()}
            assert dict.fromkeys(names(text), 1) == values, english
            assert Counter(MARKUP.findall(text)) == Counter(MARKUP.findall(english)), english
            assert (text[:1] == " ", text[-1:] == " ") == (english[:1] == " ", english[-1:] == " ")


def test_what_a_catalog_lacks_is_said_in_english() -> None:
    some = Catalog({"Files": Entry("Files", "", {0: "Dateien"}), "Ask": Entry("Ask", "", {0: ""})})
    assert [some.gettext(text) for text in ("Files", "Ask", "Drive")] == ["Dateien", "Ask", "Drive"]
    assert some.ngettext("{n} file", "{n} files", 1) == "{n} file"
    assert some.ngettext("{n} file", "{n} files", 2) == "{n} files"
    assert read("xx").gettext("Files") == "Files"


def test_forms_of_numbers_follow_the_language() -> None:
    def said() -> list[str]:
        return [n_("{n} file", "{n} files", n) for n in (0, 1, 1204)]

    assert said() == ["0 files", "1 file", "1,204 files"]
    with speaking("de"):
        assert said() == ["0 Dateien", "1 Datei", "1.204 Dateien"]
        assert words.count(2, "query", "queries") == "2 Abfragen"
        assert words.size(48_200_000) == "48,2 MB"
    with speaking("fr"):
        assert said() == ["0 fichier", "1 fichier", "1\u202f204 fichiers"]
    assert said()[2] == "1,204 files"


def test_dates_follow_the_language() -> None:
    day = date(2025, 3, 9)
    assert words.whole_day(day) == "9 Mar 2025"
    with speaking("de"):
        assert words.whole_day(day) == "9. März 2025"
    with speaking("es"):
        assert words.whole_day(day) == "9 mar 2025"


@pytest.mark.parametrize(
    ("accepted", "wanted"),
    [
        ("", "en"),
        ("de-DE", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("nl,fr-CA;q=0.7,es;q=0.9", "es"),
        ("ar,he;q=0.9", "en"),
        ("en;q=0.5, fr;q=0.5", "en"),
        ("fr;q=x", "fr"),
        (";;,q=,*", "en"),
        ("d" * 10_000, "en"),
    ],
)
def test_the_browsers_first_language_that_there_is_is_taken(accepted: str, wanted: str) -> None:
    assert best(accepted) == wanted


def test_values_come_as_their_caller_made_them() -> None:
    """What stands in a value is neither taken for a place nor translated."""
    with speaking("de"):
        assert t("Leave out {name}", name="{title} **Files**") == "{title} **Files** weglassen"


def test_a_thread_without_a_page_speaks_english() -> None:
    heard: list[str] = []
    with speaking("de"):
        thread = threading.Thread(target=lambda: heard.append(t("Files")))
        thread.start()
        thread.join()
        heard.append(t("Files"))
    assert heard == ["Files", "Dateien"]


def test_scripts_get_the_words_that_they_say_and_in_english_none() -> None:
    script = 'set(t("Files"), n_("{n} file", "{n} files", 3)), mark("Cancel all"), other("Ask")'
    assert list(texts(script)) == [
        ("Files", ""),
        ("{n} file", "{n} files"),
        ("Cancel all", ""),
    ]
    assert spoken(script) == {"language": "en", "said": ()}
    with speaking("de"):
        said = spoken(script)["said"]
    assert isinstance(said, tuple)
    assert dict(said) == {
        "Files": "Dateien",
        "{n} file": "{n} Datei",
        "{n} files": "{n} Dateien",
        "Cancel all": "Alle abbrechen",
    }


def test_a_catalog_is_read_as_gettexts_tools_write_it() -> None:
    text = (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n\n#, fuzzy\n#: leaf/ui/a.py\nmsgid ""\n"One "\n'
        '"line"\nmsgstr "Eine Zeile"\n\nmsgid "{n} a"\nmsgid_plural "{n} b"\nmsgstr[0] "x"\n'
        'msgstr[1] "y"\n'
    )
    head, line, counted = parsed(text)
    assert head.one == ""
    assert (line.one, line.said) == ("One line", {0: "Eine Zeile"})
    assert (counted.one, counted.many, counted.said) == ("{n} a", "{n} b", {0: "x", 1: "y"})
    with pytest.raises(ValueError, match="line 1"):
        list(parsed("nothing of the sort"))


def test_each_language_has_a_name_of_its_own() -> None:
    assert set(language.NAMES) == {"en", *catalogs.LANGUAGES}
