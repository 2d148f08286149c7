"""Small documents, mails, archives and texts in every form that is read, the same bytes each
time."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile

from bench._fuzzing.compound import msg
from bench._fuzzing.content import (
    HEADER,
    LINES,
    PROSE,
    ods_cell,
    open_document,
    rezipped,
    zipped,
)
from bench._fuzzing.tables import csv
from bench._pdfs import check_box, column, free_text, pdf, table, text_field


def made() -> dict[str, dict[str, bytes]]:
    """Kind -> name -> bytes."""
    return {
        "pdf": _pdf(),
        "docx": {"a.docx": _docx()},
        "pptx": {"a.pptx": _pptx()},
        "odt": {"a.odt": open_document("text", _ODT)},
        "odp": {"a.odp": open_document("presentation", _ODP)},
        "rtf": {"a.rtf": _RTF},
        "epub": {"a.epub": zipped(_EPUB)},
        "html": {"a.html": _HTML.encode(), "a.mhtml": _web_archive()},
        "email": {"a.eml": _mail("Report"), "b.eml": _PLAIN_MAIL},
        "msg": {"a.msg": msg("Report", "\r\n\r\n".join(PROSE), {"a.csv": csv()["a.csv"]})},
        "mailbox": {"a.mbox": _mailbox()},
        "archive": _archives(),
        "captions": {"a.vtt": _VTT.encode(), "a.srt": _SRT.encode()},
        "text": {"a.txt": "\n".join(PROSE * 20).encode(), "a.md": _MARKDOWN.encode()},
        "code": {"a.py": _PYTHON.encode(), "a.sql": _SQL.encode()},
    }


def _pdf() -> dict[str, bytes]:
    rows = [[str(cell) for cell in row[:3]] for row in LINES]
    drawn = column(60, PROSE[:2]) + table(rows, by_columns=False)
    form = [text_field("name", "Ann", 300), check_box("yes", "Yes", 260), free_text("hm", 200)]
    return {
        "a.pdf": pdf([drawn, column(60, PROSE[:2] * 20)], [form], title="Report"),
        "packed.pdf": _packed_pdf(rows),
    }


def _packed_pdf(rows: list[list[str]]) -> bytes:
    """One with packed streams, ruled tables and links, as libraries write them."""
    from reportlab.lib import colors
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

    style = getSampleStyleSheet()["Normal"]
    out = io.BytesIO()
    ruled = Table(rows * 3, style=TableStyle([("GRID", (0, 0), (-1, -1), 1, colors.black)]))
    link = Paragraph('See <a href="https://example.org">there</a>. ' + PROSE[0] * 9, style)
    SimpleDocTemplate(out, invariant=1, pageCompression=1).build([link, ruled, link])
    return out.getvalue()


def _docx() -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Report", 1)
    for line in PROSE:
        document.add_paragraph(line)
    document.add_paragraph("one", style="List Bullet")
    grid = document.add_table(rows=0, cols=len(HEADER))
    for row in LINES:
        for cell, value in zip(grid.add_row().cells, row, strict=True):
            cell.text = str(value)
    out = io.BytesIO()
    document.save(out)
    return rezipped(out.getvalue())


_SPACES = 'xmlns:a="urn:a" xmlns:p="urn:p" xmlns:r="urn:r" xmlns:c="urn:c"'


def _pptx() -> bytes:
    def shape(text: str, kind: str = "") -> str:
        place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
        words = f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
        return f"<p:sp><p:nvSpPr>{place}</p:nvSpPr><p:txBody>{words}</p:txBody></p:sp>"

    def slide(shapes: str) -> str:
        return f"<p:sld {_SPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"

    def relations(*targets: tuple[str, str]) -> str:
        listed = "".join(
            f'<Relationship Id="rId{i}" Type="http://x/{kind}" Target="{target}"/>'
            for i, (kind, target) in enumerate(targets, 1)
        )
        return f'<Relationships xmlns="urn:r">{listed}</Relationships>'

    cells = "".join(
        "<a:tr>"
        + "".join(
            f"<a:tc><a:txBody><a:p><a:r><a:t>{c}</a:t></a:r></a:p></a:txBody></a:tc>" for c in row
        )
        + "</a:tr>"
        for row in LINES
    )
    inner = f"<a:graphic><a:graphicData><a:tbl>{cells}</a:tbl></a:graphicData></a:graphic>"
    chart = '<a:graphic><a:graphicData><c:chart r:id="rId2"/></a:graphicData></a:graphic>'
    points = "".join(f'<c:pt idx="{i}"><c:v>{i}</c:v></c:pt>' for i in range(4))
    listed = '<p:sldIdLst><p:sldId id="8" r:id="rId1"/><p:sldId id="9" r:id="rId2"/></p:sldIdLst>'
    first = shape("Results", "title") + shape(PROSE[0])
    second = f"<p:graphicFrame>{inner}</p:graphicFrame><p:graphicFrame>{chart}</p:graphicFrame>"
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f"<p:presentation {_SPACES}>{listed}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(
                ("slide", "slides/slide1.xml"), ("slide", "slides/slide2.xml")
            ),
            "ppt/slides/slide1.xml": slide(first),
            "ppt/slides/slide2.xml": slide(second + f"<p:grpSp>{shape('grouped')}</p:grpSp>"),
            "ppt/slides/_rels/slide2.xml.rels": relations(
                ("notesSlide", "../notesSlides/n.xml"), ("chart", "../charts/c.xml")
            ),
            "ppt/notesSlides/n.xml": slide(shape("say hello", "body")),
            "ppt/charts/c.xml": f"<c:chart {_SPACES}><c:ser><c:cat>{points}</c:cat>"
            f"<c:val>{points}</c:val></c:ser></c:chart>",
        }
    )


_GRID = "".join(
    "<table:table-row>" + "".join(map(ods_cell, row)) + "</table:table-row>" for row in LINES
)
_ODT = (
    '<text:h text:outline-level="1">Report</text:h>'
    + "".join(f"<text:p>{line}</text:p>" for line in PROSE)
    + "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    + f'<table:table table:name="T">{_GRID}</table:table>'
)
_ODP = (
    f"<draw:page><draw:frame><draw:text-box><text:p>{PROSE[0]}</text:p></draw:text-box></draw:frame>"
    "<presentation:notes><text:p>say hello</text:p></presentation:notes></draw:page>"
    f"<draw:page><draw:frame><table:table>{_GRID}</table:table></draw:frame></draw:page>"
)


_RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator x;}\pard Gr\'fc\'dfe \b aus\b0 "
    rb" Wien\par Second \u20013?\par\trowd\cellx100\cellx200 a\cell b\cell\row{\field{\*\fldinst "
    rb"HYPERLINK x}{\fldrslt there}}\par " + PROSE[0].encode() + rb"\par}"
)
_PAGE = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{}</h1><p>{}</p></body></html>"
_EPUB = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": "<container><rootfiles><rootfile full-path='OPS/b.opf'/>"
    "</rootfiles></container>",
    "OPS/b.opf": "<package><metadata><title>A book</title></metadata><manifest>"
    "<item id='a' href='one.xhtml'/><item id='b' href='two%20b.xhtml'/></manifest>"
    "<spine><itemref idref='a'/><itemref idref='b'/></spine></package>",
    "OPS/one.xhtml": _PAGE.format("One", PROSE[0]),
    "OPS/two b.xhtml": _PAGE.format("Two", PROSE[1]),
}
_CELLS = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in LINES)
_HTML = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Report</title>'
    "<style>p {color: red}</style></head><body><nav><a href='/'>Home</a></nav><article>"
    f"<h1>Report</h1><p>{PROSE[0]}</p><p>{PROSE[2]}</p><ul><li>one<li>two</ul>"
    f"<table border=1><caption>Sales</caption>{_CELLS}"
    "<tr><td colspan=2 rowspan=2>x</td><td>y</td></tr></table></article>"
    "<script>alert(1)</script></body></html>"
)


def _web_archive() -> bytes:
    head = "MIME-Version: 1.0\nFrom: <Saved by Blink>\nSubject: Page\n"
    kind = 'Content-Type: multipart/related; type="text/html"; boundary="X"\n\n'
    part = "--X\nContent-Type: text/html; charset=utf-8\nContent-Location: http://x/a.htm\n\n"
    return (head + kind + part + _HTML + "\n--X--\n").replace("\n", "\r\n").encode()


def _mail(subject: str) -> bytes:
    from email.message import EmailMessage

    message = EmailMessage()
    message["From"], message["To"] = "Ann <ann@example.org>", "bob@example.org"
    message["Subject"], message["Date"] = subject, "Mon, 02 Mar 2026 10:00:00 +0000"
    message.set_content("\n\n".join(PROSE))
    message.add_alternative(_HTML, subtype="html")
    data = csv()["a.csv"]
    message.add_attachment(data, maintype="text", subtype="csv", filename="Zahlen ü.csv")
    message.set_boundary("outer")
    for number, part in enumerate(message.iter_parts()):
        if part.is_multipart():
            part.set_boundary(f"inner{number}")
    return message.as_bytes()


_PLAIN_MAIL = (
    b"Received: from x by y; Mon, 2 Mar 2026 10:00:00 +0000\r\nFrom: =?utf-8?B?QW5uIMOc?= "
    b"<ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n"
    b"Date: Mon, 02 Mar 2026 10:00:00 +0000\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe aus Wien.=\r\n\r\n> quoted\r\n"
)


def _mailbox() -> bytes:
    mails = [_mail("First"), _PLAIN_MAIL, _mail("Third")]
    return b"".join(b"From ann@example.org Mon Mar  2 10:00:00 2026\n" + m + b"\n" for m in mails)


def _archives() -> dict[str, bytes]:
    files = {"2024/sales.csv": csv()["a.csv"], "a/notes.txt": "\n".join(PROSE).encode()}
    inner = zipped(files)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    tar = out.getvalue()
    return {
        "a.zip": zipped({**files, "more/inner.zip": inner}),
        "a.tar": tar,
        "a.tgz": gzip.compress(tar, mtime=0),
        "a.tar.bz2": bz2.compress(tar),
        "a.tar.xz": lzma.compress(tar),
    }


# What is said in captions, texts and code

_TIMES = [(1, 4), (5, 9), (10, 3_700)]


def _clock(seconds: int, mark: str) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{mark}500"


_VTT = "WEBVTT\n\nNOTE x\n\n" + "\n\n".join(
    f"{_clock(a, '.')} --> {_clock(b, '.')} align:start\n<v Ann>{line}</v>"
    for (a, b), line in zip(_TIMES, PROSE, strict=True)
)
_SRT = "\n\n".join(
    f"{i}\n{_clock(a, ',')} --> {_clock(b, ',')}\n{line}"
    for i, ((a, b), line) in enumerate(zip(_TIMES, PROSE, strict=True), 1)
)
_MARKDOWN = f"# Report\n\n{PROSE[0]}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sql\nSELECT 1\n```\n"
_PYTHON = 'def total(rows):\n    """Add up."""\n    return sum(row["units"] for row in rows)\n'
_SQL = "CREATE TABLE t (a INT, b TEXT);\nINSERT INTO t VALUES (1, 'x'), (2, 'y');\n"
