"""What errors and notes say, in the language of the page: catalogs that are whole, and sentences that
are known again, or said in English."""

from __future__ import annotations

import ast
import string
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from docs import catalogs
from leaf.budgets.periods import period
from leaf.budgets.rules import meters, nearly, used_up
from leaf.errors import FAULT, NotFoundError, not_found
from leaf.language.amounts import amount_told
from leaf.language.catalogs import LOCALES
from leaf.language.places import place
from leaf.language.problems import CATALOG, LONGEST, SENTENCES, ProblemIndex, said, told
from leaf.language.text import speaking
from leaf.settings import Allowance
from tests.problems_kit import ENGLISH, filled, loud, loud_in_german

UI = Path(__file__).resolve().parents[1] / "leaf"
VALUES = {
    "a name": "q3 sales.xlsx",
    "quotes": 'it\'s “so” "now"',
    "braces": "{n} {name} {{0}} {",
    "right to left": "\u202eתקציב ‏2024",
    "lines": "first\nsecond",
    "marks": "a: b, c; d (e) – f",
    "nothing": "",
}
SENTENCES_OF_LEAF = ("No column 'x' in sales.csv.", "x. Try again. y", "There is none.", FAULT)


@pytest.fixture(scope="module")
def known() -> ProblemIndex:
    return ProblemIndex.of((one, loud(one)) for one in ENGLISH)


@pytest.fixture
def louder(tmp_path: Path) -> Iterator[None]:
    with loud_in_german(tmp_path):
        yield


KEPT = {
    "adding.py": "kept with its job",
    "entrance.py": "for the log",
    "freshness.py": "kept by a thread, said when it is drawn",
    "gate.py": "what Streamlit says of a sign-in",
    "state.py": "for the log, and said when it is refused",
    "upload_routes.py": "kept with its file",
}
"""Where the words of an error stay English at first."""


def names(text: str) -> Counter[str]:
    return Counter(str(name) for _, name, *_ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("code", catalogs.LANGUAGES)
def test_each_sentence_has_a_translation_with_the_same_values(code: str) -> None:
    entries = catalogs.entries(LOCALES / code / CATALOG)
    assert [one for one, _ in entries] == list(ENGLISH)
    missing = [one for (one, _), entry in entries.items() if not entry.said.get(0)]
    assert not missing, f"{len(missing)} without a translation"
    other = [one for (one, _), entry in entries.items() if names(entry.said[0]) != names(one)]
    assert not other


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_each_sentence_is_known_again_whatever_stands_in_it(
    known: ProblemIndex, value: str
) -> None:
    """Or it is said in English, which is rare."""
    english = []
    for template in ENGLISH:
        text, meant = filled(template, value), filled(loud(template), value)
        found = known.say(text)
        assert found in (meant, text), template
        english += [template] if found == text else []
    assert len(english) <= len(ENGLISH) // 50, english


@pytest.mark.parametrize("value", SENTENCES_OF_LEAF)
def test_a_value_that_is_a_sentence_of_leaf_gives_no_other_sentence(
    known: ProblemIndex, value: str
) -> None:
    """It may be said in the language as well; nothing is lost, and nothing stands elsewhere."""
    for template in ENGLISH:
        text = filled(template, value)
        assert known.say(text).casefold() == text.casefold(), template


def test_a_sentence_that_could_mean_two_things_is_said_in_english() -> None:
    some = ProblemIndex.of([("No {what} in {where}.", "{where} hat kein {what}.")])
    assert some.say("No a in b.") == "b hat kein a."
    assert some.say("No a in b in c.") == "No a in b in c."
    two = ProblemIndex.of([("A {x} b.", "eins {x}"), ("A {y} b.", "zwei {y}")])
    assert two.say("A 1 b.") == "A 1 b."


def test_of_two_sentences_that_fit_the_more_exact_one_is_meant() -> None:
    some = ProblemIndex.of(
        [("No {what} here.", "Kein {what}."), ("No {n} rows here.", "Keine {n}.")]
    )
    assert some.say("No 12 rows here.") == "Keine 12."
    assert some.say("No twelve rows here.") == "Kein twelve rows."


def test_what_is_too_long_or_of_too_many_sentences_is_not_taken_apart(
    louder: None, known: ProblemIndex
) -> None:
    one = "There is none. "
    assert known.say(one * SENTENCES) == one.upper() * SENTENCES
    more = known.say(one * (SENTENCES + 1))
    assert more.count("none") == SENTENCES + 1
    with speaking("de"):
        assert said("There is none.") == "THERE IS NONE."
        long = filled("No {what} '{name}'.", "x" * LONGEST)
        assert said(long) == long


def test_sentences_in_sentences_are_known_two_deep_and_no_deeper() -> None:
    some = ProblemIndex.of([("It failed ({message})", "Es ging nicht ({message})")])

    def deep(often: int, words: str = "It failed") -> str:
        return f"{words} (" * often + "x" + ")" * often

    assert some.say(deep(2)) == deep(2, "Es ging nicht")
    found = some.say(deep(300))
    assert (found.count("Es ging nicht"), found.count("It failed")) == (3, 297)


def test_an_error_is_told_as_its_message_and_its_hint(louder: None) -> None:
    error = not_found("column", "reveneu", ["revenue"], "sales.csv")
    assert told(error) == str(error)
    with speaking("de"):
        assert told(error) == "NO COLUMN 'reveneu' in sales.csv. DID YOU MEAN 'revenue'?"
        assert told(NotFoundError("There is none.")) == "THERE IS NONE."
        assert told(ValueError("{} of nobody")) == "{} of nobody"


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("rows 4, 7", "Zeilen 4, 7"),
        ("row 1,204", "Zeile 1.204"),
        ("sheet Data!A7:F7", "Blatt Data!A7:F7"),
        ("sheet rows 5 rows 4-7", "Blatt rows 5, Zeilen 4-7"),
        ("rows 4, 7 and 3 more places", "Zeilen 4, 7 und 3 weitere Stellen"),
        ("Data!A7:F7, A14:F15 and 7 more places", "Data!A7:F7, A14:F15 und 7 weitere Stellen"),
        ("A, B!C7 and 2 more places", "A, B!C7 und 2 weitere Stellen"),
        ("Rise and 7 more places", "Rise and 7 more places"),
        ("pages 3-5, page 9 of 1,340", "Seiten 3-5, Seite 9 von 1.340"),
        ("page 3 (in part) of 340", "Seite 3 (zum Teil) von 340"),
        ("00:00:11-00:00:13 of 00:10:02", "00:00:11-00:00:13 von 00:10:02"),
        ("words of 3", "words of 3"),
        ("sheet Data!A1:F120 of 340", "Blatt Data!A1:F120 von 340"),
        ("sheet Sales of 2024", "Blatt Sales of 2024"),
        ("page 3, sheet A", "Seite 3, Blatt A"),
        ("page three", "page three"),
        (" in this chat", " in diesem Chat"),
        (" in a.csv, this chat", " in a.csv, this chat"),
        ("00:10:02-00:10:05", "00:10:02-00:10:05"),
        ("", ""),
        ("row 1, " * 100, "row 1, " * 100),
    ],
)
def test_places_are_said_in_the_language_and_names_stay(english: str, german: str) -> None:
    assert place(english) == english
    with speaking("de"):
        assert place(english) == german


def raw(handler: ast.ExceptHandler) -> bool:
    """Whether it draws an error, or keeps it to be drawn, in its own words, which are English."""
    bare = {handler.name, f"str({handler.name})", f"{handler.name}.message"}
    for node in ast.walk(handler):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == f"str({handler.name})" or called.startswith(("st.", "toast", "markdown.")):
                held = [*node.args, *(word.value for word in node.keywords)]
            else:
                held = [word.value for word in node.keywords] if called == "t" else []
        elif isinstance(node, ast.Assign | ast.FormattedValue):
            held = [node.value]
        else:
            continue
        if bare & {ast.unparse(one) for one in held}:
            return True
    return False


def test_no_page_shows_the_words_of_an_error_without_saying_them_in_its_language() -> None:
    found = set()
    for path in [*(UI / "ui").rglob("*.py"), *(UI / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler) and node.name and raw(node):
                found.add(path.name)
    assert found == set(KEPT)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("$1,204.50", "$1.204,50"),
        ("2,000,000 tokens", "2.000.000 Token"),
        ("1 row", "1 Zeile"),
        ("2,000 rows", "2.000 Zeilen"),
        ("less than $0.0001", "weniger als $0,0001"),
        ("today", "heute"),
        ("December", "Dezember"),
        ("at midnight (Europe/Berlin)", "um Mitternacht (Europe/Berlin)"),
        ("on 1 March (UTC)", "am 1. März (UTC)"),
        ("3 Mar 2026, 14:02", "3. März 2026, 14:02"),
        ("in March", "in March"),
        ("$5 or more", "$5 or more"),
    ],
)
def test_amounts_and_times_of_budgets_are_said_in_the_language(english: str, german: str) -> None:
    assert amount_told(english) == english
    with speaking("de"):
        assert amount_told(english) == german


def test_what_a_budget_says_is_known_as_a_whole() -> None:
    day = period("day", datetime(2026, 12, 31, 12, tzinfo=UTC), ZoneInfo("UTC"))
    month = period("month", datetime(2026, 12, 31, 12, tzinfo=UTC), ZoneInfo("UTC"))
    used = {"month_usd": 9.0, "day_tokens": 2_000_000}
    allowed = Allowance(day_tokens=2_000_000, month_usd=10.0)
    for whose in ("user", "workspace"):
        near, full = meters(whose, allowed, Allowance(), used, (day, month), "UTC")
        with speaking("es"):
            words = " ".join(map(said, (nearly(near), *used_up(full, owner=True))))
        assert "$9,00 de $10,00" in words
        assert "a medianoche (UTC)" in words
        assert not {"budget", "today", "December", "midnight"} & set(words.split())
