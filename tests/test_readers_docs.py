"""PDF, Word, PowerPoint, web pages, e-mail and captions."""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from bench._pdfs import check_box, column, free_text, pdf, show, table, text_field
from leaf.errors import EncryptedFileError, InvalidInputError, UnreadableFileError
from leaf.readers import worker
from leaf.readers.archives import Listing, opened
from leaf.readers.base import Where
from leaf.readers.documents.captions import CaptionsReader
from leaf.readers.documents.html import paragraphs_of
from leaf.readers.documents.pdf import PdfReader, render_page


def saved(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def text_of(path: Path, kind: str, where: str = "", tokens: int = 40_000) -> str:
    return worker.read(str(path), kind, where, tokens)["text"]


ROWS = [
    ["Region", "Revenue", "Share"],
    *[[f"Region {i}", f"{i * 1000:,}", f"{i}.5 %"] for i in range(1, 15)],
]


@pytest.mark.parametrize("by_columns", [False, True])
def test_rows_of_a_table_stay_on_one_line_however_it_was_drawn(
    tmp_path: Path, by_columns: bool
) -> None:
    path = saved(
        tmp_path,
        "a.pdf",
        pdf([show(60, 760, "Sales by region") + table(ROWS, by_columns=by_columns)]),
    )
    assert text_of(path, "pdf").split("\n")[1:] == [
        "Sales by region",
        *(" ".join(row) for row in ROWS),
    ]


def test_columns_of_prose_are_read_one_after_the_other(tmp_path: Path) -> None:
    left = [f"left column line {i}" for i in range(30)]
    right = [f"right column line {i}" for i in range(30)]
    path = saved(tmp_path, "a.pdf", pdf([column(60, left) + column(320, right)]))
    assert text_of(path, "pdf").split("\n")[1:] == left + right


def test_short_lists_side_by_side_are_not_taken_for_a_table(tmp_path: Path) -> None:
    left = [f"apple {i}" for i in range(12)]
    right = [f"pear {i}" for i in range(12)]
    path = saved(tmp_path, "a.pdf", pdf([column(60, left) + column(320, right)]))
    assert text_of(path, "pdf").split("\n")[1:] == left + right


def test_ligatures_become_letters_and_hyphens_stay(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        "a.pdf",
        pdf([column(60, ["an eﬃcient oﬀer of ﬁve ﬂats", "was well docu-", "mented here"])]),
    )
    assert (
        text_of(path, "pdf")
        == "[page 1]\nan efficient offer of five flats\nwas well docu-\nmented here"
    )


def test_form_values_and_annotations_stand_with_their_page(tmp_path: Path) -> None:
    marks = [
        [],
        [
            text_field("applicant", "Ann (née Smith)", 600),
            check_box("consent", "Yes", 560),
            check_box("spam", "Off", 520),
        ],
        [free_text("Check this sum", 400)],
    ]
    path = saved(tmp_path, "a.pdf", pdf([show(60, 700, f"page {i}") for i in range(3)], marks))
    assert (
        text_of(path, "pdf", "page 2")
        == "[page 2]\npage 1\n[form] applicant: Ann (née Smith)\n[form] consent: Yes"
    )
    assert text_of(path, "pdf", "page 3") == "[page 3]\npage 2\n[annotation] Check this sum"


def encrypted(data: bytes, user: str) -> bytes:
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user_password=user, owner_password="owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_pdf_with_a_password_says_so_and_one_with_an_empty_password_is_read(
    tmp_path: Path,
) -> None:
    data = pdf([show(60, 700, "secret")])
    locked = saved(tmp_path, "a.pdf", encrypted(data, "open sesame"))
    with pytest.raises(EncryptedFileError, match="password"):
        worker.inspect(str(locked), "a.pdf")
    with pytest.raises(EncryptedFileError, match="password"):
        render_page(locked, 1)
    assert "secret" in text_of(saved(tmp_path, "b.pdf", encrypted(data, "")), "pdf")


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_truncated_pdf_is_called_cut_off(tmp_path: Path, kept: float) -> None:
    data = pdf([column(60, [f"line {i}" for i in range(40)]) for _ in range(20)])
    path = saved(tmp_path, "a.pdf", data[: int(len(data) * kept)])
    with pytest.raises(UnreadableFileError) as error:
        worker.inspect(str(path), "a.pdf")
    assert error.value.hint


def test_junk_around_a_pdf_does_no_harm(tmp_path: Path) -> None:
    data = (
        b"HTTP header\r\n\r\n"
        + pdf([show(60, 700, "hello there")])
        + b"<!-- served in 3 ms -->" * 200
    )
    assert worker.inspect(str(saved(tmp_path, "a.pdf", data)), "a.txt")["kind"] == "pdf"
    assert "hello there" in text_of(tmp_path / "a.pdf", "pdf")


def test_garbage_called_pdf_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError):
        worker.inspect(str(saved(tmp_path, "a.pdf", b"%PDF-1.7\n" + b"garbage " * 500)), "a.pdf")


def test_pages_without_text_are_counted_and_said(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.pdf", pdf([show(60, 700, "text"), "", ""], title="Annual report"))
    outline = worker.inspect(str(path), "a.pdf")["outline"]
    assert (outline["pages"], outline["title"], outline["notes"][0]["count"]) == (
        3,
        "Annual report",
        2,
    )
    assert (
        outline["notes"][0]["text"]
        == "2 of 3 pages are pictures without a text layer and cannot be searched."
    )
    assert text_of(path, "pdf", "page 2") == "[page 2]\n(no text layer on this page)"


def test_a_window_of_a_pdf_says_its_pages_and_the_valid_range(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.pdf", pdf([show(60, 700, f"this is page {i}") for i in range(1, 41)]))
    window = worker.read(str(path), "pdf", "pages 38-90")
    assert (window["coverage"], window["places"], window["total"]) == (
        "pages 38-40 of 40",
        ("pages 38-40",),
        40,
    )
    with pytest.raises(InvalidInputError, match="outside") as error:
        worker.read(str(path), "pdf", "page 41")
    assert "pages 1-40" in error.value.hint


def crowded(folder: Path, lines: int) -> Path:
    """A page of many lines of 100 characters, and a second page."""
    words = "".join(f"({'word ' * 19}{i:06d}) Tj T*\n" for i in range(lines))
    return saved(
        folder,
        "a.pdf",
        pdf([f"BT /F1 1 Tf 0.008 TL 10 830 Td\n{words}ET\n", show(60, 700, "the second page")]),
    )


def test_a_page_of_ten_megabytes_is_cut_to_the_window(tmp_path: Path) -> None:
    window = worker.read(str(crowded(tmp_path, 100_000)), "pdf", "", 1_000)
    assert window["coverage"] == "page 1 (in part) of 2"
    assert len(window["text"]) <= 2_500
    assert window["cursor"]


def test_a_page_larger_than_a_window_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    path = crowded(tmp_path, 3_000)
    numbers: list[int] = []
    cursor = ""
    while True:
        window = worker.read(str(path), "pdf", "page 1", 50_000, cursor)
        assert window["text"].startswith("[page 1, continued]\n" if cursor else "[page 1]\n")
        numbers += [
            int(word) for word in window["text"].split() if word.isdigit() and len(word) == 6
        ]
        cursor = window["cursor"]
        if not cursor:
            break
    assert numbers == list(range(3_000))
    assert text_of(path, "pdf", "page 2") == "[page 2]\nthe second page"


def test_a_page_is_drawn_within_the_pixels_asked_for(tmp_path: Path) -> None:
    from PIL import Image

    path = saved(
        tmp_path,
        "a.pdf",
        pdf([show(60, 700, "hello")]).replace(b"[0 0 595 842]", b"[0 0 14000 800]"),
    )
    picture = Image.open(io.BytesIO(render_page(path, 1, 900)))
    assert picture.format == "JPEG"
    assert max(picture.size) in (900, 901)
    drawn = worker.draw_page(str(path), 1, str(tmp_path), 300)
    assert max(Image.open(tmp_path / drawn["file"]).size) in (300, 301)
    with pytest.raises(InvalidInputError, match="outside"):
        render_page(path, 2)


def test_two_threads_read_one_pdf_each(tmp_path: Path) -> None:
    paths = [
        saved(
            tmp_path, f"{i}.pdf", pdf([column(60, [f"file {i} page {p}"] * 40) for p in range(30)])
        )
        for i in range(2)
    ]
    wrong: list[str] = []

    def read(i: int) -> None:
        for _ in range(5):
            for page in PdfReader().passages(paths[i], Where()):
                if page.text != "\n".join([f"file {i} page {page.number - 1}"] * 40):
                    wrong.append(page.text)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_real_pdfs_are_read(real_data: Path) -> None:
    assert "sagittis quis, diam. Duis eget orci sit amet orci dig-\nnissim" in text_of(
        real_data / "multicolumn.pdf", "pdf"
    )
    outline = worker.inspect(str(real_data / "geotopo_german.pdf"), "x")["outline"]
    assert (outline["pages"], outline["title"]) == (117, "Geometrie und Topologie")
    assert (
        worker.inspect(str(real_data / "scanned_like.pdf"), "x")["outline"]["notes"][0]["kind"]
        == "no-text-layer"
    )


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def rels(*targets: tuple[str, str]) -> str:
    items = "".join(
        f'<Relationship Id="rId{i}" Type="{RELATIONS}/{k}" Target="{t}"/>'
        for i, (k, t) in enumerate(targets, 1)
    )
    return (
        f"<Relationships "
        f'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{items}</Relationships>'
    )


def package(folder: Path, name: str, parts: dict[str, str]) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        for part, data in parts.items():
            archive.writestr(part, data)
    return path


def docx(folder: Path, body: str, namespace: str = W, **more: str) -> Path:
    def whole(tag: str, inner: str) -> str:
        return (
            f'<w:{tag} xmlns:w="{namespace}" xmlns:mc="{MC}" xmlns:wps="urn:wps" '
            f'xmlns:v="urn:v">{inner}</w:{tag}>'
        )

    targets = [("styles", "styles.xml"), *[(key, f"{key}.xml") for key in more]]
    styles = (
        '<w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style><w:style '
        'w:styleId="T"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="L"><w:name w:val="List Bullet"/></w:style>'
    )
    parts = {
        "_rels/.rels": rels(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": rels(*targets),
        "word/document.xml": whole("document", f"<w:body>{body}</w:body>"),
        "word/styles.xml": whole("styles", styles),
        **{f"word/{key}.xml": whole(key, inner) for key, inner in more.items()},
    }
    return package(folder, "a.docx", parts)


def p(text: str, style: str = "") -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


@pytest.mark.parametrize("namespace", [W, STRICT])
def test_word_paragraphs_tables_and_notes_come_in_order(tmp_path: Path, namespace: str) -> None:
    row = (
        "<w:tr>" + "".join(f"<w:tc>{p(cell)}{p('more')}</w:tc>" for cell in ("a", "b")) + "</w:tr>"
    )
    body = p("Report", "T") + p("Part", "H2") + p("point", "L") + f"<w:tbl>{row}{row}</w:tbl>"
    body += (
        '<w:p><w:r><w:t xml:space="preserve">see </w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    notes = {
        "footnotes": '<w:footnote w:type="separator" '
        'w:id="0"><w:p/></w:footnote><w:footnote w:id="2">' + p("the note") + "</w:footnote>",
        "comments": '<w:comment w:id="7" w:author="Ann">' + p("really?") + "</w:comment>",
        "header": p("Confidential"),
        "footer": p("Page"),
    }
    assert text_of(docx(tmp_path, body, namespace, **notes), "docx", "").split("\n") == [
        "[paragraph 1] # Report",
        "[paragraph 2] ## Part",
        "- point",
        "a more | b more",
        "a more | b more",
        "see [footnote 2]",
        "[footnote 2] the note",
        "[comment 7 by Ann] really?",
        "[header] Confidential",
        "[paragraph 10] [footer] Page",
    ]


def test_text_boxes_are_read_once_and_deleted_text_not_at_all(tmp_path: Path) -> None:
    box = f"<w:txbxContent>{p('in the box')}</w:txbxContent>"
    body = (
        f"<w:p><w:r><mc:AlternateContent><mc:Choice><wps:txbx>{box}</wps:txbx></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:r><w:t>anchor</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t> added</w:t></w:r></w:ins><w:moveFrom><w:r><w:t>moved "
        "away</w:t></w:r></w:moveFrom></w:p>"
    )
    assert text_of(docx(tmp_path, body), "docx") == "[paragraph 1] anchor\nin the box\nkept added"


def test_a_row_of_word_that_begins_further_right_stays_under_its_heads(tmp_path: Path) -> None:
    def row(*cells: str, before: str = "") -> str:
        inner = "".join(f"<w:tc>{p(cell)}</w:tc>" for cell in cells)
        return f'<w:tr><w:trPr><w:gridBefore w:val="{before}"/></w:trPr>{inner}</w:tr>'

    body = row("Q1", "Q2", before="1") + row("North", "1", "2") + row("South", "3", "4", before="x")
    path = docx(tmp_path, f"<w:tbl>{body}</w:tbl>")
    assert "| Q1 | Q2" in text_of(path, "docx")
    (info,) = worker.reader_of("docx").tables(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == ["column_1", "Q1", "Q2"]


def test_nested_entities_in_a_word_file_are_not_expanded(tmp_path: Path) -> None:
    entities = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
    )
    body = f'<!DOCTYPE x [{entities}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    body += f'<w:document xmlns:w="{W}"><w:body>{p("&f;&j;safe")}</w:body></w:document>'
    path = package(tmp_path, "a.docx", {"word/document.xml": body})
    try:
        text = text_of(path, "docx")
    except UnreadableFileError as error:
        text = error.message
    assert "root:" not in text
    assert len(text) < 500


@pytest.mark.parametrize("inner", ["<w:body>", "not xml", ""])
def test_a_damaged_word_file_is_one_clear_error(tmp_path: Path, inner: str) -> None:
    path = package(tmp_path, "a.docx", {"word/document.xml": inner})
    with pytest.raises(UnreadableFileError, match=r"damaged in its part word/document\.xml"):
        worker.inspect(str(path), "a.docx")


def test_a_deep_word_file_is_refused_or_read_without_harm(tmp_path: Path) -> None:
    path = docx(tmp_path, "<w:sdt>" * 5_000 + p("deep") + "</w:sdt>" * 5_000)
    with pytest.raises(UnreadableFileError, match="damaged"):
        worker.inspect(str(path), "a.docx")


def test_real_word_files_are_read(real_data: Path) -> None:
    assert "1975 | 105.1 | - | 31.4" in text_of(real_data / "long_document.docx", "docx")
    assert "[comment 0 by poi on “comment”] comment content" in text_of(
        real_data / "comments.docx", "docx"
    )
    assert (
        worker.inspect(str(real_data / "headings.docx"), "x")["outline"]["title"]
        == "First paragraph"
    )


A = 'xmlns:a="urn:a" xmlns:p="urn:p" xmlns:r="urn:r" xmlns:c="urn:c"'


def shape(text: str, kind: str = "") -> str:
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    return f"<p:sp><p:nvSpPr>{place}</p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def slide(shapes: str, more: str = "") -> str:
    return f"<p:sld {A} {more}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"


def pptx(folder: Path) -> Path:
    row = "".join(
        f"<a:tc><a:txBody><a:p><a:r><a:t>{t}</a:t></a:r></a:p></a:txBody></a:tc>"
        for t in ("a", "b")
    )
    frame = (
        "<p:graphicFrame><a:graphic><a:graphicData>{}</a:graphicData></a:graphic></p:graphicFrame>"
    )
    points = "".join(f'<c:pt idx="{i}"><c:v>{v}</c:v></c:pt>' for i, v in enumerate(("Q1", "Q2")))
    chart = (
        f"<c:chart {A}><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title>"
        f"<c:ser><c:tx><c:pt idx='0'><c:v>2024</c:v></c:pt></c:tx>"
        f"<c:cat>{points}</c:cat><c:val>{points.replace('Q', '')}</c:val></c:ser></c:chart>"
    )
    second = (
        shape("boxed")
        + f"<p:grpSp>{shape('in a group')}</p:grpSp>"
        + frame.format(f"<a:tbl><a:tr>{row}</a:tr></a:tbl>")
    )
    second += (
        frame.format('<c:chart r:id="rId2"/>') + shape("Results", "title") + shape("7", "sldNum")
    )
    listed = '<p:sldIdLst><p:sldId id="9" r:id="rId2"/><p:sldId id="8" r:id="rId1"/></p:sldIdLst>'
    return package(
        folder,
        "a.pptx",
        {
            "_rels/.rels": rels(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f"<p:presentation {A}>{listed}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": rels(
                ("slide", "slides/slide1.xml"), ("slide", "slides/slide2.xml")
            ),
            "ppt/slides/slide1.xml": slide(shape("the last"), 'show="0"'),
            "ppt/slides/slide2.xml": slide(second),
            "ppt/slides/_rels/slide2.xml.rels": rels(
                ("notesSlide", "../notesSlides/n.xml"), ("chart", "../charts/c.xml")
            ),
            "ppt/notesSlides/n.xml": slide(shape("say hello", "body") + shape("7", "sldNum")),
            "ppt/charts/c.xml": chart,
        },
    )


def test_slides_come_in_the_order_of_the_presentation_with_all_their_text(tmp_path: Path) -> None:
    path = pptx(tmp_path)
    assert text_of(path, "pptx").split("\n") == [
        "[slide 1]",
        "# Results",
        "boxed",
        "in a group",
        "a | b",
        "Chart: Sales",
        "| 2024",
        "Q1 | 1",
        "Q2 | 2",
        "[notes] say hello",
        "",
        "[slide 2]",
        "(hidden slide)",
        "the last",
    ]
    outline = worker.inspect(str(path), "a.zip")["outline"]
    assert (outline["pages"], outline["title"], outline["notes"][0]["place"]) == (
        2,
        "Results",
        "slide 2",
    )


def test_real_presentations_are_read(real_data: Path) -> None:
    window = worker.read(str(real_data / "how_we_refactor.pptx"), "pptx", "slide 1")
    assert "# How We Refactor, and How We Know It" in window["text"]
    assert window["coverage"] == "slide 1 of 28"


PAGE = "<html><head><title>A page</title></head><body>{}</body></html>"


def test_a_page_keeps_rows_headings_and_lists(tmp_path: Path) -> None:
    body = "<h2>Results</h2><p>Text with <b>bold</b> words</p><ul><li>one<li>two</ul>"
    body += "<table><tr><th>a<th>b<tr><td><p>1</p><td>2<tr><td><td>3</table>"
    path = saved(tmp_path, "a.html", PAGE.format(body + "<script>bad()</script>"))
    assert text_of(path, "html").split("\n") == [
        "[paragraph 1] ## Results",
        "Text with bold words",
        "- one",
        "- two",
        "a | b",
        "1 | 2",
        "| 3",
    ]
    assert worker.inspect(str(path), "a.html")["outline"]["title"] == "A page"


def test_an_article_is_given_without_what_surrounds_it() -> None:
    sentence = "This is sentence {} of the story, long enough to count as one. "
    story = "".join(
        f"<p>{''.join(sentence.format(4 * i + j) for j in range(4))}</p>" for i in range(8)
    )
    menu = (
        "<nav><ul>"
        + "".join(f'<li><a href="/{i}">Section {i}</a></li>' for i in range(20))
        + "</ul></nav>"
    )
    paragraphs = paragraphs_of(
        PAGE.format(menu + f"<article><h1>Story</h1>{story}</article><footer>Imprint</footer>")
    )[1]
    assert sum("of the story" in text for text in paragraphs) == 8
    assert not any("Section" in text or "Imprint" in text for text in paragraphs)


def test_labels_of_a_drawing_are_read_and_its_title_is_not_that_of_the_page() -> None:
    icon = "<svg><title>Menu</title><path d='M0 0'/></svg>"
    chart = "<svg><g><text>North</text><text><tspan>12</tspan> %</text></g></svg>"
    title, paragraphs = paragraphs_of(
        f"<html><head><title>Report</title></head><body>{icon}<p>See{chart}here</p>{icon}"
        f"<table><tr><td>a</td><td>{chart}</td></tr></table></body></html>"
    )
    assert title == "Report"
    assert paragraphs == ["See [picture: North · 12 %] here", "a | [picture: North · 12 %]"]


def test_a_page_made_of_tables_is_given_whole() -> None:
    rows = "".join(f"<tr><td>item {i}</td><td>{i}</td></tr>" for i in range(50))
    paragraphs = paragraphs_of(
        PAGE.format(f"<p>{'Some words of introduction here. ' * 20}</p><table>{rows}</table>")
    )[1]
    assert [text for text in paragraphs if " | " in text] == [f"item {i} | {i}" for i in range(50)]


@pytest.mark.parametrize(
    "hostile", ["<div>" * 100_000, "<table><tr><td>" * 30_000, "<b>" * 100_000]
)
def test_a_page_nested_beyond_reason_is_refused(hostile: str) -> None:
    with pytest.raises(UnreadableFileError, match="nested deeper"):
        paragraphs_of(hostile + "x")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ('<html><meta charset="windows-1251"><p>Привет'.encode("cp1251"), "Привет"),
        ("<html><p>Größe".encode("cp1252"), "Größe"),
        ("<html><p>Größe".encode("utf-16"), "Größe"),
        ('<html><meta charset="no-such-set"><p>Größe'.encode("cp1252"), "Größe"),
    ],
)
def test_pages_are_decoded_as_they_declare_or_as_they_are(
    tmp_path: Path, data: bytes, word: str
) -> None:
    assert word in text_of(saved(tmp_path, "a.html", data), "html")


def test_an_email_has_headers_text_and_attachments(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = (
        "Änn <ann@example.org>",
        "bob@example.org",
        "Größe der Läden",
    )
    message.set_content("Dear Bob,\n\nsee the table.\n")
    message.add_alternative("<p>Dear Bob,</p><p><b>see</b> the table.</p>", subtype="html")
    message.add_attachment(
        b"a,b\n1,2\n", maintype="text", subtype="csv", filename="zahlen für q3.csv"
    )
    forwarded = EmailMessage()
    forwarded["From"], forwarded["Subject"] = "eve@example.org", "Earlier"
    forwarded.set_content("The earlier words.\n")
    message.add_attachment(forwarded)
    path = saved(tmp_path, "a.eml", bytes(message))
    assert text_of(path, "email").split("\n") == [
        "[paragraph 1] From: Änn <ann@example.org>",
        "To: bob@example.org",
        "Subject: Größe der Läden",
        "Dear Bob,",
        "see the table.",
        "Forwarded message:",
        "From: eve@example.org",
        "Subject: Earlier",
        "The earlier words.",
        "Attachments:",
        "- zahlen für q3.csv (text/csv, 8 bytes)",
    ]
    assert worker.inspect(str(path), "a.txt")["outline"]["title"] == "Größe der Läden"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (
            b"From: a@b\nTo: c@d\nContent-Type: text/plain; "
            b"charset=no-such-set\n\nGr\xc3\xb6\xc3\x9fe\n",
            "Größe",
        ),
        (
            b"From: a@b\nTo: undisclosed-recipients:;\nSubject: x\n\nhello\n",
            "undisclosed-recipients:;",
        ),
        (b"From: a@b\nTo: =?no-such-set?Q?Gr=F6=DFe?=\n\nhello\n", "Größe"),
        ("From: Größe <a@b>\nTo: c@d\n\nhello\n".encode("cp1252"), "Größe"),
        (b"From: a@b\nTo: c@d\nContent-Type: text/html\n\n<table><tr><td>1<td>2</table>", "1 | 2"),
    ],
)
def test_odd_emails_are_read(tmp_path: Path, data: bytes, word: str) -> None:
    assert word in text_of(saved(tmp_path, "a.eml", data), "email")


def test_an_email_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    deep = "".join(
        f"Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n" for i in range(3_000)
    )
    path = saved(tmp_path, "a.eml", "From: a\nTo: b\nDate: c\nMIME-Version: 1.0\n" + deep)
    with pytest.raises(UnreadableFileError, match="nested"):
        worker.inspect(str(path), "a.eml")


def test_real_email_names_its_picture(real_data: Path) -> None:
    assert "- testPNG.png (image/png, 17,041 bytes)" in text_of(
        real_data / "email_with_picture.eml", "email"
    )


VTT = """WEBVTT - title

NOTE a remark
over two lines

STYLE
::cue { color: red }

intro
00:01.000 --> 00:04.500 align:start
<v.loud Ann Lee>Good <i>morning</i> &amp; welcome
to all</v>

00:00:05.000 --> 00:00:09.000
- Who's there?
- Me.

00:70:00.000 --> nonsense
lost

01:00:00.000 --> 01:00:02.000
The end
"""
SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i> there\n2\n00:00:03,000 --> 00:00:04,000\n"
    "{\\an8}No blank line before\n\n\n3\n00:00:05,000 --> 00:00:06,000\n2024\n"
)


def test_captions_keep_speakers_and_times(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.vtt", VTT)
    window = worker.read(str(path), "captions")
    assert window["text"].split("\n") == [
        "[00:00:01] Ann Lee: Good morning & welcome to all",
        "[00:00:05] - Who's there? - Me.",
        "[01:00:00] The end",
    ]
    assert window["notes"][0]["kind"] == "cues-skipped"
    assert worker.inspect(str(path), "a")["outline"]["duration"] == 3602


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_subrip_without_blank_lines_is_read(tmp_path: Path, newline: str) -> None:
    path = saved(tmp_path, "a.srt", SRT.replace("\n", newline))
    assert [cue.text for cue in CaptionsReader().passages(path, Where())] == [
        "Hello there",
        "No blank line before",
        "2024",
    ]


def test_a_time_range_gives_the_cues_on_screen_then(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.vtt", VTT)
    window = worker.read(str(path), "captions", "0:04-0:06")
    assert (window["coverage"], window["ranges"]) == ("00:00:01-00:00:09 of 01:00:02", ((1, 2),))
    with pytest.raises(InvalidInputError, match="outside") as error:
        worker.read(str(path), "captions", "2:00:00-")
    assert "00:00:00-01:00:02" in error.value.hint


def cues_of(path: Path) -> list[str]:
    return [cue.text for cue in CaptionsReader().passages(path, Where())]


def test_what_follows_an_empty_line_within_a_cue_is_said_too(tmp_path: Path) -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:03,000\nFirst line\n\nSecond line of it\n\n42\n\n"
        "2\n00:00:04,000 --> 00:00:05,000\n\nProfit from A --> B\n\n"
        "and a line above times\n00:00:06,000 --> 00:00:07,000\n2024\n\x1a"
    )
    assert cues_of(saved(tmp_path, "a.srt", srt)) == [
        "First line Second line of it 42",
        "Profit from A --> B and a line above times",
        "2024",
    ]
    vtt = (
        "WEBVTT\nKind: captions\n\nid one\n00:01.000 --> 00:02.000\nOne\n\nhalf\n\n"
        "NOTE checked\nby Ann\n\nid two\n00:03.000 --> 00:04.000\nTwo\n"
    )
    assert cues_of(saved(tmp_path, "b.vtt", vtt)) == ["One half", "Two"]
    assert CaptionsReader().outline(saved(tmp_path, "b.vtt", vtt)).notes == ()


def test_captions_with_doubled_line_ends_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.srt", SRT.replace("\n\n\n", "\n\n").replace("\n", "\r\r\n"))
    assert cues_of(path) == ["Hello there", "No blank line before", "2024"]


def test_lines_before_the_first_cue_are_counted(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.srt", "Made by Ann\n\n" + SRT)
    (note,) = CaptionsReader().outline(path).notes
    assert (note.kind, note.count) == ("cues-skipped", 1)
    assert "before the first" in note.text


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Revenue <Q1 and >Q2", "Revenue <Q1 and >Q2"),
        ("<i>a</i> < b, <5> and <10.5>", "a < b, <5> and <10.5>"),
        ("<c and d>", "<c and d>"),
        ("mail <ann@example.org>", "mail <ann@example.org>"),
        ('<font color="#fff">A</font> <FONT size=3>B</FONT>', "A B"),
        ("<c.yellow.bg_blue>C</c> <00:00:01.500>D<01.000>", "C D<01.000>"),
        ("<lang en-GB>E</lang> <ruby>F<rt>g</rt></ruby>", "E Fg"),
        ("one<br>two<br />three", "one two three"),
        ("<v Ann>H</v>", "Ann: H"),
    ],
)
def test_only_known_markup_is_left_out_of_captions(tmp_path: Path, written: str, said: str) -> None:
    path = saved(tmp_path, "a.vtt", f"WEBVTT\n\n00:01.000 --> 00:02.000\n{written}\n")
    assert cues_of(path) == [said]


def test_captions_without_times_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="no cue"):
        worker.inspect(str(saved(tmp_path, "a.vtt", "WEBVTT\n\nhello\n")), "a.vtt")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("pdf", "multicolumn.pdf"),
        ("docx", "headings.docx"),
        ("pptx", "electronics_german.pptx"),
        ("html", "page.html"),
    ],
)
def test_reading_to_the_end_gives_the_same_text_in_any_window(
    real_data: Path, kind: str, name: str
) -> None:
    path = str(real_data / name)
    results = []
    for tokens in (300, 40_000):
        words: list[str] = []
        cursor = ""
        while True:
            window = worker.read(path, kind, "", tokens, cursor)
            words += [
                word for line in window["text"].split("\n") for word in unmarked(line).split()
            ]
            cursor = window["cursor"]
            if not cursor:
                break
        results.append("".join(words))
    assert results[0] == results[1]


def unmarked(line: str) -> str:
    return re.sub(r"^\[(page|slide|paragraph) [\d,]+(, continued)?\]", "", line)


def test_every_kind_gives_passages_for_the_index(tmp_path: Path, real_data: Path) -> None:
    for name in (
        "geotopo_german.pdf",
        "long_document.docx",
        "how_we_refactor.pptx",
        "page.html",
        "email_with_picture.eml",
    ):
        path = str(real_data / name)
        count = worker.extract(path, worker.inspect(path, name)["kind"], str(tmp_path))["count"]
        lines = (tmp_path / "passages.jsonl").read_text().splitlines()
        assert len(lines) == count > 0
        assert all(json.loads(line)["text"].strip() for line in lines)


def test_member_of_an_archive_without_a_name_is_counted_as_left_out(tmp_path: Path) -> None:
    path = tmp_path / "nameless.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("N", "y\n2\n")
    path.write_bytes(path.read_bytes().replace(b"N", b"\x00"))  # a name ends at its first NUL
    listing = Listing()
    with opened(path, "archive", listing) as members:
        assert [member.path for member in members] == ["a.csv"]
    assert listing.skipped == {"nameless file": 1}
