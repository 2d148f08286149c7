"""Full-text search over real files, through the real sandbox."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdf
import pytest

from leaf.errors import InvalidInputError, RunError
from leaf.files.library import Hit, Library, SearchResult
from leaf.files.passages import LONGEST, SNIPPET, IndexedPassage, cut, snippet
from leaf.files.query import fold, parse, spaced
from leaf.files.ranking import Wanted
from leaf.files.search import MOST_CUT
from leaf.files.stopwords import without_stopwords
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, open_store
from leaf.store.model import File, Scope
from tests.removal_kit import forget_file

Add = Callable[[str, str], File]
POLICY = "\n".join(
    [
        "Travel policy",
        "",
        "Flights are booked by the office in Łódź.",
        "Café receipts are refunded up to 12.50 euros a day.",
        "",
        *(f"Paragraph {i} is about nothing that anybody would look for." for i in range(6, 60)),
        "The refund deadline is thirty days after the journey.",
    ]
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(Settings(home=tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def library(store: Store, pool: Pool, tmp_path: Path) -> Library:
    return Library(store, pool, tmp_path)


@pytest.fixture
def add(library: Library, scope: Scope) -> Add:
    return lambda name, content: library.add(scope, name, io.BytesIO(content.encode())).file


def index_of(tmp_path: Path, scope: Scope) -> Path:
    return tmp_path / "search" / f"{scope.workspace_id}.sqlite"


def places(result: SearchResult) -> list[str]:
    return [hit.place for hit in result.hits]


# Finding


def test_hit_names_the_lines_where_the_words_stand(
    library: Library, scope: Scope, add: Add
) -> None:
    policy = add("policy.txt", POLICY)
    result = library.search(scope, [policy], "refund deadline")
    assert (result.searched, result.indexed, result.notes) == (1, 1, ())
    hit = result.hits[0]
    first, last = (int(n) for n in hit.place.removeprefix("lines ").split("-"))
    lines = POLICY.split("\n")
    assert "\n".join(lines[first - 1 : last]) == hit.text.strip("… ")
    assert (hit.file_id, hit.number, last) == (policy.id, first, 60)
    assert library.search(scope, [policy], "refund deadline").indexed == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("CAFE receipts", True),
        ("café", True),
        ("łódź", True),
        ('"office in"', True),
        ('"in office"', False),
        ('"refunded up to 12.50"', True),
        ("flight", True),
        ("receipt euro", True),
        ("flights hovercraft", True),
        ("hovercraft", False),
        ("policy hovercraft", True),
    ],
)
def test_words_are_found_without_accents_by_their_beginning_and_as_phrases(
    library: Library, scope: Scope, add: Add, query: str, found: bool
) -> None:
    assert bool(library.search(scope, [add("notes.txt", POLICY)], query).hits) is found


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("an e\ufb03cient \ufb01nance o\ufb03ce", "efficient"),
        ("an e\ufb03cient \ufb01nance o\ufb03ce", "finance office"),
        ("an e\ufb03cient \ufb01nance o\ufb03ce", '"finance office"'),
        ("a plain finance report", "\ufb01nance"),
        (
            "der Donau\u00addampf\u00adschiff\u00adfahrts\u00adkapitän",
            "Donaudampfschifffahrtskapitän",
        ),
        ("a plain word", "pl\u00adain"),
        ("\ufefb \u0634\u064a\u0621", "\u0644\u0627"),
        ("by Walrus™ and others", "walrus"),
        ("Chapter \u2167", "viii"),
        ("in der Hauptstraße", "HAUPTSTRASSE"),
        ("in der Hauptstrasse", "hauptstraße"),
        ("MASSE UND GRÖẞE", "größe"),
        ("Księga z Łodzi", "ksiega lodzi"),
        ("Tromsø og Ærø", "tromso aero"),
        ("Kadıköy", "kadikoy"),
        ("مُحَمَّد في الاجتماع", "محمد"),
        ("محـــمد في الاجتماع", "محمد"),
        ("שָׁלוֹם לכולם", "שלום"),
        ("รายงานภาษาไทยง่ายมาก", "ภาษาไทย"),
        ("ຂ້ອຍເວົ້າພາສາລາວ", "ພາສາລາວ"),
    ],
)
def test_words_are_found_however_their_letters_are_set(
    library: Library, scope: Scope, add: Add, text: str, query: str
) -> None:
    """Ligatures as typesetters leave them in PDFs, and hyphens that are not seen."""
    (hit,) = library.search(scope, [add("set.txt", f"{text}\n")], query).hits
    assert hit.text == text
    assert library.search(scope, [add("set.txt", f"{text}\n")], "hovercraft").hits == ()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Mittelsenkrechte", True),
        ('"senkrechte steht"', True),
        ('"die mittel senkrechte"', True),
        ("effizient", True),
        ("badenwürttemberg", False),
        ("Württemberg", True),
        ("steht1990", False),
    ],
)
def test_words_that_a_line_end_divides_are_found_whole(
    library: Library, scope: Scope, add: Add, query: str, found: bool
) -> None:
    text = (
        "Die Mittel-\nsenkrechte steht in Baden-\nWürttemberg e\ufb03\u2010\nzient, steht-\n1990.\n"
    )
    result = library.search(scope, [add("lines.txt", text)], query)
    assert [hit.text for hit in result.hits] == ([text.strip()] if found else [])


@pytest.mark.parametrize("mark", ["-\n", "-\n    ", "- \n\t", "\u00ad\n", "-\r\n  "])
def test_a_divided_word_is_found_however_its_line_ends(
    library: Library, scope: Scope, add: Add, mark: str
) -> None:
    (hit,) = library.search(
        scope, [add("lines.txt", f"Von der Daten{mark}verarbeitung\n")], "datenverarbeitung"
    ).hits
    assert hit.place == "lines 1-2"


def test_no_word_is_lost_between_pieces_of_a_long_text(
    library: Library, scope: Scope, add: Add
) -> None:
    """One line of 40,000 characters, lines that end in divided words, Chinese without blanks."""
    names = [f"{one}x{two}q" for one in "abcdefghijklmnop" for two in range(400)]
    lines = "".join(f"{'of much and more ' * 4}Wort{n}-\nteil{n} of more\n" for n in range(400))
    clauses = "".join(f"第{n:03}条公司应当提供数据，" for n in range(700))
    files = [
        add("line.txt", " ".join(names) + "\n"),
        add("divided.txt", lines + "\n"),
        add("chinese.txt", clauses + "\n"),
    ]
    for name in (names[i] for i in range(len(names)) if (7 * i) % 8000 < 7):
        assert library.search(scope, files, name).hits, name
    for number in range(0, 400, 15):
        assert library.search(scope, files, f"wort{number}teil{number}").hits, number
    for number in range(0, 700, 20):
        assert library.search(scope, files, f'"第{number:03}条公司应当提供数据"').hits, number


def test_all_words_are_asked_for_before_some_of_them(
    library: Library, scope: Scope, add: Add
) -> None:
    both, one = add("a.txt", "alpha beta\n"), add("b.txt", "alpha alpha alpha\n")
    strict = library.search(scope, [both, one], "alpha beta")
    assert ([h.file_id for h in strict.hits], strict.notes) == ([both.id], ())
    loose = library.search(scope, [both, one], "alpha gamma")
    assert {h.file_id for h in loose.hits} == {both.id, one.id}
    assert loose.notes == ("No passage has all of the words; these have some of them.",)


def test_name_of_a_file_counts_as_words_of_its_passages(
    library: Library, scope: Scope, add: Add
) -> None:
    budget, other = (
        add("budget 2024.txt", "The total is 12 million.\n"),
        add("other.txt", "The total is 3 million.\n"),
    )
    assert [
        h.file_id for h in library.search(scope, [budget, other], "total budget 2024").hits
    ] == [budget.id]
    assert [h.file_id for h in library.search(scope, [budget, other], "total").hits] != []
    named = library.search(scope, [budget, other], "budget")
    assert [(h.file_id, h.text) for h in named.hits] == [(budget.id, "The total is 12 million.")]


def test_rows_of_tables_are_found_with_their_numbers(
    library: Library, scope: Scope, add: Add
) -> None:
    rows = "".join(f"{i},Customer {i},{'Leeds' if i == 17 else 'York'}\n" for i in range(1, 40))
    table = add("orders.csv", "id,name,town\n" + rows)
    hit = library.search(scope, [table], "leeds").hits[0]
    assert "Customer 17" in hit.text
    assert hit.place == f"row {hit.number}"
    assert "Customer 17" in library.texts.read(scope, table, hit.place).text


def test_time_is_the_place_in_a_transcript(library: Library, scope: Scope, add: Add) -> None:
    cues = "".join(
        f"00:0{m}:00.000 --> 00:0{m}:05.000\nMinute {m} {'budget' if m == 3 else ''}\n\n"
        for m in range(1, 9)
    )
    talk = add("talk.vtt", "WEBVTT\n\n" + cues)
    hit = library.search(scope, [talk], "budget").hits[0]
    begin, _, end = hit.place.partition("-")
    assert begin <= "00:03:00" <= end


def test_languages_without_blanks_are_found_by_part_of_a_sentence(
    library: Library, scope: Scope, add: Add
) -> None:
    report = add("报告.txt", "我们的数据分析报告已经完成。\n")
    assert (
        library.search(scope, [report], "数据分析").hits[0].text == "我们的数据分析报告已经完成。"
    )
    assert library.search(scope, [report], "分数").hits == ()


def test_only_the_files_asked_for_are_searched(library: Library, scope: Scope, add: Add) -> None:
    one, two = add("one.txt", "shared word\n"), add("two.txt", "shared word too\n")
    assert {h.file_id for h in library.search(scope, [one, two], "shared").hits} == {one.id, two.id}
    result = library.search(scope, [two], "shared")
    assert ([h.file_id for h in result.hits], result.searched) == ([two.id], 1)
    assert library.search(scope, [], "shared") == SearchResult((), 0, 0, ())


def test_limit_and_order_hold(library: Library, scope: Scope, add: Add) -> None:
    files = [add(f"{i}.txt", "needle " * (i + 1) + "hay " * 50 + "\n") for i in range(6)]
    result = library.search(scope, files, "needle", limit=4)
    assert len(result.hits) == 4
    assert [h.score for h in result.hits] == sorted((h.score for h in result.hits), reverse=True)


def test_real_pages_and_sheets_are_found_where_they_are(
    library: Library, scope: Scope, real_data: Path
) -> None:
    files = []
    for name in (
        "multicolumn.pdf",
        "geotopo_german.pdf",
        "attendance.xlsx",
        "headings.docx",
        "languages.vtt",
        "nsse_benchmark.xls",
    ):
        with (real_data / name).open("rb") as stream:
            files.append(library.add(scope, name, stream).file)
    german = library.search(scope, files, "Homöomorphismus")
    assert german.searched == len(files)
    by_id = {f.id: f for f in files}
    assert {by_id[h.file_id].name for h in german.hits} == {"geotopo_german.pdf"}
    for hit in german.hits:
        assert hit.place.startswith("page ")
        assert fold("Homöomorphismus") in fold(
            library.texts.read(scope, by_id[hit.file_id], hit.place).text
        )
    assert len(set(places(german))) == len(german.hits)


# Queries that nobody should be punished for


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""',
        "needle AND",
        "NOT needle",
        "needle*",
        "text:needle",
        "(needle",
        "needle -hay",
        "needle's",
        '"needle',
        "NEAR(needle, hay)",
        "^needle",
        "needle {",
        "\\",
        "needle; DROP TABLE passages",
        "% _ needle",
        "needle\x00hay",
        "🌿 needle",
        "needle " * 500,
    ],
)
def test_no_query_is_a_syntax_error(library: Library, scope: Scope, add: Add, query: str) -> None:
    file = add("hay.txt", "a needle in the hay\n")
    try:
        result = library.search(scope, [file], query)
    except InvalidInputError:
        assert "needle" not in query
    else:
        assert [h.file_id for h in result.hits] == ([file.id] if "needle" in query else [])


@pytest.mark.parametrize("query", ["", "   ", '"', "?!", "AND", "🌿"])
def test_query_without_a_word_is_told(library: Library, scope: Scope, query: str) -> None:
    with pytest.raises(InvalidInputError, match="no word"):
        library.search(scope, [], query)


def test_query_is_words_and_phrases() -> None:
    terms = [(t.text, t.quoted) for t in parse('net "gross margin" Q3-2024 AND “per share”')]
    assert terms == [
        ("net", False),
        ("gross margin", True),
        ("Q3 2024", False),
        ("per share", True),
    ]


# Ranking


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "The companies were negotiating the agreements for two years.",
            "company negotiated agreement",
        ),
        (
            "Die Verhandlungen über die neuen Verträge der Häuser dauerten nicht sehr lange, und "
            "das ist gut.",
            "verhandlung neuer vertrag",
        ),
        (
            "Les négociations sur les nouveaux contrats ont été longues et elles ne sont "
            "pas finies.",
            "négociation nouveau contrat",
        ),
        (
            "Las negociaciones de los contratos fueron muy largas y no se han terminado todavía.",
            "negociación contrato",
        ),
        (
            "Переговоры о новых договорах были долгими, и они ещё не закончены, но это не беда.",
            "переговорах новый договор",
        ),
        ("Η ΣΥΜΦΩΝΊΑ για το έτος αυτό", "συμφωνια"),
    ],
)
def test_forms_of_words_are_found_in_their_language(
    library: Library, scope: Scope, add: Add, text: str, query: str
) -> None:
    found = library.search(
        scope, [add("a.txt", text), add("b.txt", "Nothing of the kind.\n")], query
    )
    assert [hit.text for hit in found.hits] == [text]
    assert found.notes == ()


def test_words_that_say_nothing_do_not_decide(library: Library, scope: Scope, add: Add) -> None:
    right = add(
        "right.txt", "Turbine blades crack under thermal stress in the second year of use.\n"
    )
    wrong = add(
        "wrong.txt",
        "What is it that you have said about when and why? It is what it is, and they "
        "were there.\n",
    )
    hits = library.search(
        scope, [right, wrong], "what is it that they have there and why do turbine blades crack"
    ).hits
    assert [hit.file_id for hit in hits] == [right.id]
    assert library.search(scope, [right, wrong], "what is it").hits[0].file_id == wrong.id


def test_a_word_of_another_language_or_a_name_in_capitals_is_no_stopword() -> None:
    assert without_stopwords(["die", "casting"], ["english", "german"]) == ["die", "casting"]
    assert without_stopwords(["what", "is", "the", "total"], ["english", "german"]) == ["total"]
    assert without_stopwords(["the", "who"], ["english"]) == ["the", "who"]


def test_a_name_in_capitals_is_searched_for(library: Library, scope: Scope, add: Add) -> None:
    right, wrong = (
        add("a.txt", "The report of the WHO on the disease.\n"),
        add("b.txt", "A report on the disease of the cattle.\n"),
    )
    assert [h.file_id for h in library.search(scope, [wrong, right], "report of the WHO").hits] == [
        right.id
    ]


def test_one_hit_of_each_file_and_how_many_more_there_are(
    library: Library, scope: Scope, add: Add
) -> None:
    long = add("long.txt", "\n\n".join(f"The needle number {i} " + "hay " * 150 for i in range(6)))
    short = add("short.txt", "A needle in the hay.\n")
    hits = library.search(scope, [long, short], "needle", one_each=True).hits
    assert sorted((hit.file_id, hit.more) for hit in hits) == sorted([(long.id, 5), (short.id, 0)])
    assert len(library.search(scope, [long, short], "needle").hits) == 7


def test_a_file_of_which_all_is_about_it_comes_before_one_that_mentions_it(
    library: Library, scope: Scope, add: Add
) -> None:
    about = add(
        "about.txt",
        "\n\n".join(
            f"The harbour of part {i} is described here with its quays. " * 6 for i in range(8)
        ),
    )
    aside = add(
        "aside.txt",
        "\n\n".join(
            ["Harbour harbour."] + ["Cattle and sheep graze on the hills of the north. " * 8] * 7
        ),
    )
    hits = library.search(scope, [aside, about], "harbours", one_each=True).hits
    assert [hit.file_id for hit in hits] == [about.id, aside.id]


@pytest.mark.parametrize("words", range(0, 230, 7))
def test_the_excerpt_holds_the_hit_wherever_it_stands(words: int) -> None:
    text = " ".join(["filler"] * words + ["the golden needles"] + ["filler"] * (130 - words % 130))[
        :1000
    ]
    if "needles" not in text:
        text = text[:980] + " golden needles"
    wanted = [
        Wanted(("golden",), frozenset({"golden"})),
        Wanted(("needle",), frozenset({"needle", "needles"})),
    ]
    begin, end = snippet(text, wanted)
    assert "golden needles" in text[begin:end]
    assert end - begin <= SNIPPET
    assert (begin == 0 or text[begin - 1].isspace()) and (end == len(text) or text[end].isspace())  # noqa: PT018


def test_characters_without_blanks_are_found_by_their_pairs(
    library: Library, scope: Scope, add: Add
) -> None:
    report, other = add("a.txt", "公司的年度报告说明了数据。\n"), add("b.txt", "天气很好。\n")
    found = library.search(scope, [report, other], "年度数据报告")
    assert [h.file_id for h in found.hits] == [report.id]
    long = (
        "年度报告里这是一个非常长的问题关于公司在过去一年里面发生的所有事情以及它们对于未来的影响"
        * 3
    )
    assert library.search(scope, [report, other], long).hits[0].file_id == report.id


# What could not be searched


def test_files_that_cannot_be_searched_are_named(library: Library, scope: Scope, add: Add) -> None:
    good, empty = add("good.txt", "needle\n"), add("empty.txt", "")
    gone = add("gone.txt", "needle here too\n")
    library.open(scope, gone.id).unlink()
    result = library.search(scope, [good, empty, gone], "needle")
    assert ([h.file_id for h in result.hits], result.searched) == ([good.id], 1)
    assert [note.partition(" was not searched: ")[0] for note in result.notes] == [
        "empty.txt",
        "gone.txt",
    ]
    assert "missing from the data folder" in result.notes[1]


def test_text_beyond_the_limit_is_said_to_be_left_out(
    library: Library, scope: Scope, add: Add
) -> None:
    line = "nothing to see in this line of a very long log file, number {}\n"
    long = add("long.txt", "".join(line.format(i) for i in range(320_000)) + "needle\n")
    result = library.search(scope, [long], "needle")
    assert result.hits == ()
    assert result.notes == ("long.txt: Only the first 20 MB of its text can be searched.",)
    assert places(library.search(scope, [long], "number 170000"))


# The index


def test_index_that_is_damaged_is_made_again(
    library: Library, scope: Scope, add: Add, tmp_path: Path
) -> None:
    file = add("a.txt", "needle\n")
    library.search(scope, [file], "needle")
    index = index_of(tmp_path, scope)
    for damage in (b"not a database at all" * 1000, index.read_bytes()[:9000]):
        for ending in ("-wal", "-shm"):
            index.with_name(index.name + ending).unlink(missing_ok=True)
        index.write_bytes(damage)
        result = library.search(scope, [file], "needle")
        assert (len(result.hits), result.indexed) == (1, 1)


def test_index_of_another_version_is_made_again(
    library: Library, scope: Scope, add: Add, tmp_path: Path
) -> None:
    file = add("a.txt", "needle\n")
    library.search(scope, [file], "needle")
    with sqlite3.connect(index_of(tmp_path, scope)) as db:
        db.execute("PRAGMA user_version = 99")
    assert library.search(scope, [file], "needle").indexed == 1


def test_purged_file_leaves_the_index(
    library: Library, scope: Scope, add: Add, tmp_path: Path
) -> None:
    file, other = add("a.txt", "needle\n"), add("b.txt", "needle too\n")
    library.search(scope, [file, other], "needle")
    forget_file(library, scope, file.id)
    with sqlite3.connect(index_of(tmp_path, scope)) as db:
        assert db.execute("SELECT content FROM sources").fetchall() == [
            (f"{other.sha256} {other.kind}",)
        ]
        assert db.execute("SELECT count(*) FROM passages").fetchall() == [(1,)]
        assert db.execute("SELECT count(*) FROM words WHERE words MATCH 'needle'").fetchall() == [
            (1,)
        ]
    assert [h.file_id for h in library.search(scope, [other], "needle").hits] == [other.id]


def test_searches_at_once_read_each_file_once(
    library: Library, scope: Scope, add: Add, tmp_path: Path
) -> None:
    files = [add(f"{i}.txt", f"needle number {i}\n") for i in range(3)]
    start = threading.Barrier(6)

    def search(_: int) -> tuple[Hit, ...]:
        start.wait()
        return library.search(scope, files, "needle").hits

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(search, range(6)))
    assert all({h.file_id for h in hits} == {f.id for f in files} for hits in found)
    with sqlite3.connect(index_of(tmp_path, scope)) as db:
        assert db.execute("SELECT count(*) FROM passages").fetchone() == (3,)


def test_stopped_search_leaves_nothing_half_read(library: Library, scope: Scope, add: Add) -> None:
    file = add("a.txt", "needle\n")
    stop = threading.Event()
    stop.set()
    with pytest.raises(RunError):
        library.search(scope, [file], "needle", stop=stop)
    assert library.search(scope, [file], "needle").indexed == 1


# Passages


def test_long_page_is_cut_without_losing_or_repeating_text() -> None:
    text = " ".join(f"Sentence {i} of the page ends here." for i in range(200))
    pieces = list(cut([IndexedPassage("page", 12, 12, "", None, None, text)]))
    assert " ".join(p.text for p in pieces) == text
    assert all(len(p.text) <= LONGEST for p in pieces)
    assert {p.place(p.first, p.last) for p in pieces} == {"page 12"}
    unbroken = list(cut([IndexedPassage("page", 1, 1, "", None, None, "x" * 5000)]))
    assert "".join(p.text for p in unbroken) == "x" * 5000


def test_pieces_of_lines_have_the_numbers_of_their_lines() -> None:
    lines = [f"line {i} " + "word " * (i % 30) for i in range(100, 300)]
    pieces = list(cut([IndexedPassage("line", 100, 299, "", None, None, "\n".join(lines))]))
    assert len(pieces) > 5
    for piece in pieces:
        assert piece.text == "\n".join(lines[piece.first - 100 : piece.last - 99])
    assert [p.first for p in pieces[1:]] == [p.last + 1 for p in pieces[:-1]]


def test_short_paragraphs_are_drawn_together_but_sheets_are_not() -> None:
    paragraphs = [
        IndexedPassage("paragraph", i, i, "", None, None, f"Paragraph {i}") for i in range(1, 5)
    ]
    assert [(p.first, p.last) for p in cut(paragraphs)] == [(1, 4)]
    assert [p.text for p in cut(paragraphs)] == [
        "Paragraph 1\nParagraph 2\nParagraph 3\nParagraph 4"
    ]
    rows = [
        IndexedPassage("row", i, i, sheet, None, None, "short")
        for sheet in ("A", "B")
        for i in (1, 2)
    ]
    assert [p.place(p.first, p.last) for p in cut(rows)] == [
        "sheet A row 1",
        "sheet A row 2",
        "sheet B row 1",
        "sheet B row 2",
    ]


def test_snippet_is_around_the_words_and_not_longer_than_it_should_be(
    library: Library, scope: Scope, add: Add
) -> None:
    text = "hay " * 150 + "the golden needle " + "hay " * 40
    hit = library.search(scope, [add("a.md", text)], "golden needle").hits[0]
    assert "golden needle" in hit.text
    assert hit.text.startswith("… ")
    assert len(hit.text) <= SNIPPET + 4


def test_scans_that_could_not_be_searched_are_named_and_then_counted(
    library: Library, scope: Scope
) -> None:
    def scan(number: int) -> File:
        sheet = pypdf.PdfWriter()
        sheet.add_blank_page(200, 200 + number)
        data = io.BytesIO()
        sheet.write(data)
        return library.add(scope, f"{number}.pdf", io.BytesIO(data.getvalue())).file

    files = [scan(number) for number in range(MOST_CUT + 3)]
    result = library.search(scope, files, "layer")
    one = "What one of its pages shows was not searched: it is scanned or damaged."
    assert result.hits == ()
    assert result.notes[0] == f"0.pdf: {one}"
    assert len(result.notes) == MOST_CUT + 1
    assert result.notes[-1] == "3 more files were searched in part."
    few = library.search(scope, files[: MOST_CUT + 1], "layer")
    assert all(note.endswith(one) for note in few.notes)


def test_folding_keeps_every_place() -> None:
    text = "Ǆ İstanbul ﬁne Straße ½ Ünïcödé 数据"
    assert len(fold(text)) == len(text)
    assert fold("Ünïcödé ÉTÉ") == "unicode ete"
    assert spaced("第3回").split() == ["第", "3", "回"]
