"""Tables of PDFs: found by lines and blanks, joined over pages, none made of prose; and PDFs that
are not as they should be."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from bench._pages import prose, tables
from bench._pdfs import column, pdf, table
from bench.pdf_tables import f1, leaf_tables, relations
from leaf.errors import LeafError, UnreadableFileError
from leaf.readers.base import DAMAGED, GARBLED, TableInfo, Where, holds_tables
from leaf.readers.documents.pdf import PdfReader, document_grids
from leaf.readers.documents.pdf_text import is_garbled
from leaf.readers.worker import inspect, read, reader_of

ROWS = [
    ["Region", "Units", "Share"],
    *([f"Place {i}", f"{1000 + 37 * i:,}", f"{i}.5"] for i in range(1, 9)),
]
Loaded = tuple[TableInfo, list[tuple[Any, ...]]]


def saved(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    return path


def load(path: Path) -> list[Loaded]:
    reader: Any = reader_of("pdf")
    out = path.parent / "out"
    infos = reader.tables(path, out)
    return [
        (i, duckdb.connect().execute(f"SELECT * FROM read_parquet('{out / i.parquet}')").fetchall())
        for i in infos
    ]


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_table_without_lines_becomes_rows_with_types_and_its_page(
    tmp_path: Path, by_columns: bool
) -> None:
    path = saved(tmp_path, pdf([column(60, ["Some words."]), table(ROWS, by_columns=by_columns)]))
    ((info, rows),) = load(path)
    assert info.columns == (("Region", "VARCHAR"), ("Units", "BIGINT"), ("Share", "DOUBLE"))
    assert (info.place, info.sheet, rows[0], len(rows)) == (
        "page 2",
        "table 1",
        ("Place 1", 1037, 1.5),
        8,
    )
    told = inspect(str(path), "a.pdf")
    assert told["outline"]["tables"] == 1
    assert holds_tables("pdf", told["outline"])


@pytest.mark.parametrize("number", range(24))
def test_tables_of_each_layout_and_style_are_read(tmp_path: Path, number: int) -> None:
    what, drawn = tables.make(number, tmp_path / "a.pdf")
    found = [(page, relations(rows)) for page, rows in leaf_tables(tmp_path / "a.pdf")]
    for known in drawn:
        best = max(
            (f1(cells, relations(known.rows)) for page, cells in found if page == known.page),
            default=0,
        )
        assert best > 0.85, what
    assert len(found) == len(drawn), what


@pytest.mark.parametrize("number", range(len(prose.KINDS)))
def test_pages_without_tables_have_none(tmp_path: Path, number: int) -> None:
    what = prose.make(number, tmp_path / "a.pdf")
    assert leaf_tables(tmp_path / "a.pdf") == [], what
    assert PdfReader().outline(tmp_path / "a.pdf").tables == 0


@pytest.mark.parametrize("number", [6, 18, 30])
def test_a_table_over_pages_is_one_and_names_them(tmp_path: Path, number: int) -> None:
    path = tmp_path / "a.pdf"
    _, drawn = tables.make(number, path)
    (grid,) = document_grids(path)
    assert grid.place == f"pages 1-{len(drawn)}"
    head = drawn[0].rows[0]
    assert grid.rows == [head, *(row for part in drawn for row in part.rows if row != head)]
    assert [note.kind for note in grid.notes] == ["pages-joined"]
    assert PdfReader().outline(path).tables == 1


def test_tables_of_different_headers_on_two_pages_stay_two(tmp_path: Path) -> None:
    other = [["Region", "Sold in May", "Left"], *ROWS[1:]]
    path = saved(
        tmp_path,
        pdf([table(ROWS, by_columns=False, top=180), table(other, by_columns=False, top=790)]),
    )
    assert [grid.place for grid in document_grids(path)] == ["page 1", "page 2"]


def test_a_table_that_may_be_read_wrongly_says_so(tmp_path: Path) -> None:
    words = [
        ["Task", "Owner", "State"],
        *([f"Mend roof {'abc'[i]}", "Lund", "open"] for i in range(3)),
    ]
    ((info, rows),) = load(saved(tmp_path, pdf([table(words, by_columns=False)])))
    (note,) = [note for note in info.notes if note.kind == "table-doubtful"]
    assert "page 1" in note.text
    assert len(rows) in (3, 4)


def test_only_pages_that_may_hold_tables_are_looked_at_when_a_file_is_added(
    tmp_path: Path, monkeypatch: Any
) -> None:
    from leaf.readers.documents import pdf_open

    looked: list[int] = []
    was = pdf_open.Pdfium.tables
    monkeypatch.setattr(
        pdf_open.Pdfium, "tables", lambda self, number: looked.append(number) or was(self, number)
    )
    pages = [table(ROWS, by_columns=False, top=700 - page) for page in range(60)] + [
        column(60, ["A word."])
    ] * 3
    outline = PdfReader().outline(saved(tmp_path, pdf(pages)))
    assert looked == list(range(1, 41))
    assert "tables-counted" in {note.kind for note in outline.notes}


@pytest.mark.parametrize("before", [10, 900, 1_500, 50_000])
def test_a_pdf_that_begins_late_is_read(tmp_path: Path, before: int) -> None:
    path = saved(
        tmp_path, b"X-Header: yes\r\n" * (before // 15) + pdf([column(60, ["Hello there"])])
    )
    assert inspect(str(path), "a.pdf")["kind"] == "pdf"
    assert "Hello there" in read(str(path), "pdf")["text"]


def test_a_pdf_without_its_first_line_is_read(tmp_path: Path) -> None:
    path = saved(tmp_path, pdf([column(60, ["Hello there"])]).partition(b"\n")[2])
    assert inspect(str(path), "a.pdf")["kind"] == "pdf"
    assert "Hello there" in read(str(path), "pdf")["text"]


def test_a_text_about_pdf_stays_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("How a PDF begins:\n\n" + "words " * 400 + "\n%PDF-1.7\n and so on.\n")
    assert inspect(str(path), "a.txt")["kind"] == "text"


def test_pages_beside_a_damaged_one_are_read_and_it_is_named(tmp_path: Path) -> None:
    data = pdf([column(60, [f"This is page {n}"]) for n in (1, 2, 3)])
    at = [i for i in range(len(data)) if data.startswith(b"/Type /Page ", i)][1]
    path = saved(tmp_path, data[:at] + b"/Type /Rage " + data[at + 12 :])
    texts = [passage.text for passage in PdfReader().passages(path, Where())]
    if DAMAGED not in texts:
        pytest.skip("this pdfium reads such a page")
    assert texts == ["This is page 1", DAMAGED, "This is page 3"]


def test_a_page_that_leads_to_itself_is_named_and_hides_no_other(foreign: Path) -> None:
    path = foreign / "pdfjs" / "Pages-tree-refs.pdf"
    (note,) = [note for note in PdfReader().outline(path).notes if note.kind == "pages-damaged"]
    assert note.place == "page 2"
    assert [passage.text == DAMAGED for passage in PdfReader().passages(path, Where())] == [
        False,
        True,
    ]


def test_a_pdf_of_damaged_pages_alone_is_refused(tmp_path: Path) -> None:
    broken = (
        b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\ntrailer\n<< /Root 1 0 "
        b"R >>\n%%EOF\n"
    )
    with pytest.raises(UnreadableFileError):
        PdfReader().outline(saved(tmp_path, broken))


SHIFTED = (
    "".join(
        chr(ord(c) - 29) if c.isalpha() else c
        for c in "The board agreed to invest in new plants near the coast "
    )
    * 6
)


@pytest.mark.parametrize(
    "text",
    [
        "(cid:12)(cid:40)(cid:7) " * 20,
        "/g12/g40/g7 " * 20,
        "\ue001\ue002\ue003 " * 20,
        SHIFTED,
        "xzqw rtpl kjhg mnbv " * 20,
    ],
)
def test_text_that_is_none_is_known(text: str) -> None:
    assert is_garbled(text)


@pytest.mark.parametrize(
    "text",
    [
        "The board agreed to invest in new plants near the coast. " * 5,
        "Die Ausgaben stiegen im Frühjahr um 12,5 %. " * 5,
        "Wskaźnik wzrósł w pierwszym kwartale. " * 8,
        "Zmrzl trh prv 2024 12 345 " + "a e i o u " * 20,
        "12 345 67.8 (9) 1/2 and/or 3/4 " * 20,
        "市場は春に成長した。" * 20,
        "Рынок вырос весной. " * 20,
    ],
)
def test_text_of_other_languages_and_numbers_is_trusted(text: str) -> None:
    assert not is_garbled(text)


def test_a_page_whose_text_is_none_says_so_where_it_is_read(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        pdf(
            [
                column(60, ["7KH ERDUG DJUHHG WR LQYHVW LQ QHZ SODQWV QHDU WKH FRDVW"] * 6),
                column(60, ["Plain."]),
            ]
        ),
    )
    window = read(str(path), "pdf")
    assert GARBLED in window["text"]
    assert [note["place"] for note in window["notes"] if note["kind"] == "text-garbled"] == [
        "page 1"
    ]
    (note,) = [note for note in PdfReader().outline(path).notes if note.kind == "text-garbled"]
    assert "view_file" in note.text


def test_letters_that_stand_apart_are_joined_to_words(foreign: Path) -> None:
    (path,) = (foreign / "pdfbox").glob("PDFBOX-3127-*.pdf")
    assert (
        "The South Carolina Department of Insurance"
        in next(PdfReader().passages(path, Where())).text
    )


def test_a_page_that_says_it_is_an_article_is_read_without_what_surrounds_it(
    tmp_path: Path,
) -> None:
    days = ("Monday", "Tuesday", "Friday", "Sunday")
    said = (
        "the harbour board met on {0} and agreed to rebuild the pier, which a {0} storm had "
        "taken; work begins next {0}."
    )
    story = "".join(
        f"<p>In its report number {n} {said.format(day)}</p>" for n, day in enumerate(days)
    )
    menu = "".join(
        f"<li><a href='#'>Other story number {n} with a long headline</a></li>" for n in range(60)
    )
    article = f"<article><h1>Pier</h1>{story}</article>"
    html = "<html><head>{}<title>t</title></head><body><ul>{}</ul>{}</body></html>"
    path = tmp_path / "a.html"
    path.write_text(html.format('<meta property="og:type" content="article">', menu, article))
    text, notes = read(str(path), "html")["text"], read(str(path), "html")["notes"]
    assert "Other story" not in text
    assert "rebuild the pier" in text
    assert [note["kind"] for note in notes] == ["page-furniture"]
    path.write_text(
        html.format("", menu + "<p>" + "Words of a page that is no article. " * 9 + "</p>", "")
    )
    assert "Other story number 59" in read(str(path), "html", max_tokens=20_000)["text"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("<p>" + "word " * 2_100_000, "of text without a tag"),
        ("<b>a" * 2_100_000, "million tags"),
        ("<div>" * 300_000, "nested deeper"),
    ],
)
def test_pages_that_would_fill_memory_are_refused_in_a_sentence(
    tmp_path: Path, body: str, why: str
) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<html><body>{body}")
    with pytest.raises(LeafError, match=why):
        inspect(str(path), "a.html")


def test_a_word_file_of_millions_of_tags_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "word/document.xml",
            "<w:document xmlns:w='u'>" + "<w:p></w:p>" * 2_100_000 + "</w:document>",
        )
    with pytest.raises(LeafError, match="million tags"):
        inspect(str(path), "a.docx")


BELOW_EACH = [("LINEBELOW", (0, 0), (-1, -1), 0.25, colors.grey)]
ABOVE_EACH = [("LINEABOVE", (0, 0), (-1, -1), 0.25, colors.grey)]


def made(path: Path, *parts: Any) -> list[list[list[str]]]:
    """Rows of the tables that are found in a document of these parts."""
    SimpleDocTemplate(str(path), pagesize=A4).build(list(parts))
    return [[list(row) for row in grid.rows] for grid in document_grids(path)]


def words(count: int) -> Paragraph:
    return Paragraph(
        "Some words that stand above or below a table and say what it is about. " * count,
        getSampleStyleSheet()["Normal"],
    )


@pytest.mark.parametrize("style", [BELOW_EACH, ABOVE_EACH])
@pytest.mark.parametrize("rows", [4, 9])
def test_the_row_beyond_the_outermost_line_belongs_to_the_table(
    tmp_path: Path, style: Any, rows: int
) -> None:
    assert made(
        tmp_path / "a.pdf", words(6), Spacer(1, 12), Table(ROWS[:rows], style=style), words(6)
    ) == [ROWS[:rows]]


def test_tables_beside_each_other_under_the_same_names_are_two(tmp_path: Path) -> None:
    other = [ROWS[0], *([f"Town {i}", f"{2000 + i:,}", f"{i}.25"] for i in range(5))]
    both = Table(
        [[Table(ROWS), Table(other)]],
        colWidths=[230, 230],
        style=[("VALIGN", (0, 0), (-1, -1), "TOP")],
    )
    assert made(tmp_path / "a.pdf", words(2), both, words(2)) == [ROWS, other]


@pytest.mark.parametrize("repeated", [0, 1])
@pytest.mark.parametrize("style", [[], BELOW_EACH])
def test_a_last_row_that_is_alone_on_its_page_is_no_less_a_row(
    tmp_path: Path, style: Any, repeated: int
) -> None:
    places = set()
    for count in range(34, 41):
        rows = [ROWS[0], *([f"Place {i}", f"{1000 + i:,}", f"{i}.5"] for i in range(count))]
        found = made(
            tmp_path / f"{count}.pdf",
            Table(rows, style=style, repeatRows=repeated),
            Spacer(1, 30),
            words(3),
        )
        assert found == [rows]
        places |= {grid.place for grid in document_grids(tmp_path / f"{count}.pdf")}
    assert places == {"page 1", "pages 1-2"}


def test_glyphs_of_a_font_and_lines_of_a_program_are_no_tables(tmp_path: Path) -> None:
    glyphs = [[chr(33 + (16 * row + column) % 90) for column in range(16)] for row in range(12)]
    assert made(tmp_path / "a.pdf", Table(glyphs)) == []
    code = [[f"#line {row}", "0", f"'file{row}.c'"] for row in range(100, 110)]
    assert made(tmp_path / "b.pdf", Table(code)) == []
    marks = [
        ["Name", "A", "B", "C"],
        *([f"Place {i}", "x", "x" if i % 3 else "", "x"] for i in range(9)),
    ]
    assert made(tmp_path / "c.pdf", Table(marks, style=BELOW_EACH))[0][1:] == marks[1:]
