"""Mailboxes with all their messages, and mails whose headers are broken."""

from __future__ import annotations

import base64
import quopri
from datetime import UTC, datetime
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import pytest
from PIL import Image

from leaf.readers.base import Where
from leaf.readers.detect import detect
from leaf.readers.documents.email import EmailReader, parse, read
from leaf.readers.documents.mail_dates import sent_at
from leaf.readers.documents.mail_forms import of_both_forms
from leaf.readers.worker import inspect, reader_of

BOX = """From - Mon Jun  3 12:50:27 1996
From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
To: ana@example.org
Date: Mon, 3 Jun 1996 12:50:27 +0200
Subject: Numbers

From here on it is text, and so is
From this line.
>From a quoted one.
From -
From: Ana <ana@example.org>
Date: nobody knows
Subject: Re: Numbers
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="x"

--x
Content-Type: text/plain

See attached.
--x
Content-Type: text/csv; name="a.csv"
Content-Disposition: attachment; filename="a.csv"

k,v
x,1
--x--
"""


def table(path: Path) -> list[tuple[Any, ...]]:
    reader: Any = reader_of("mailbox")
    (info,) = reader.tables(path, path.parent / "out")
    return (
        duckdb.connect()
        .execute(f"SELECT * FROM read_parquet('{path.parent / 'out' / info.parquet}')")
        .fetchall()
    )


@pytest.mark.parametrize("name", ["all.mbox", "file"])
def test_each_message_of_a_mailbox_is_a_row_and_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(BOX)
    looked = inspect(str(path), name)
    assert (looked["kind"], looked["outline"]["rows"]) == ("mailbox", 2)
    first, second = table(path)
    assert first[:4] == (
        1,
        datetime(1996, 6, 3, 10, 50, 27, tzinfo=UTC),
        "Jürgen <j@example.org>",
        "ana@example.org",
    )
    assert "From this line." in first[7]
    assert (second[1], second[5], second[6]) == (None, "Re: Numbers", "a.csv")
    texts = [p.text for p in reader_of("mailbox").passages(path, Where())]
    assert texts[0] == "Message 1"
    assert "See attached." in texts


@pytest.mark.parametrize(
    ("written", "hour", "minute"),
    [
        ("Tue, 3 Feb 2009 10:00:00 +0100", 9, 0),
        ("Tue, 3 Feb 2009 10:00:00 +01:00", 9, 0),
        ("Tue, 3 Feb 2009 10:00:00 GMT+0100", 9, 0),
        ("Tue, 3 Feb 2009 10:00:00 CET", 9, 0),
        ("Tue Feb  3 10:00:00 EST 2009", 15, 0),
        ("Tue, 3 Feb 2009 01:30:00 PM +0100", 12, 30),
        ("Tue, 3 Feb 2009 12:30 am GMT", 0, 30),
        ("2009-02-03T10:00:00.123+01:00", 9, 0),
        ("2009-02-03 10:00:00 +0530", 4, 30),
        ("Tue, 3 Feb 109 10:00:00 -0000", 10, 0),
    ],
)
def test_dates_of_mails_are_those_of_utc(written: str, hour: int, minute: int) -> None:
    moment = datetime(2009, 2, 3, hour, minute, tzinfo=UTC)
    sent, zoned = sent_at(written)
    assert sent is not None
    assert (sent.replace(microsecond=0), zoned) == (moment, True)


def test_dates_that_do_not_say_when_are_counted(tmp_path: Path) -> None:
    dates = ["Di., 3. Mrz. 2009 10:00:00 +0100", "Tue, 3 Feb 2009 10:00:00", "", "3/2/2009 10:00"]
    path = tmp_path / "a.mbox"
    head = "From - Tue Feb  3 10:00:00 2009\nFrom: a@example.org\n"
    path.write_text("".join(f"{head}Date: {date}\n\nText.\n\n" for date in dates))
    reader: Any = reader_of("mailbox")
    (info,) = reader.tables(path, tmp_path / "out")
    notes = {note.kind: (note.count, note.place) for note in info.notes}
    assert notes["cells-unparsed"] == (2, "rows 1, 4")
    assert notes["times-zoned"] == (1, "row 2")


def test_who_answers_whom_is_in_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_text(
        "From - Mon Jun  3 12:50:27 1996\nFrom: a@example.org\nMessage-ID: <1@x>\n\nText.\n\n"
        "From - Mon Jun  3 12:50:27 1996\nFrom: b@example.org\nMessage-ID: <2@x>\n"
        "In-Reply-To: Your message of Monday <1@x>\n\nText.\n\n"
        "From - Mon Jun  3 12:50:27 1996\nFrom: c@example.org\nReferences: <1@x>\n <2@x>\n\nText.\n"
    )
    assert [row[8:] for row in table(path)] == [
        ("<1@x>", None),
        ("<2@x>", "<1@x>"),
        (None, "<2@x>"),
    ]


def test_a_line_of_text_with_a_colon_below_begins_no_message(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_text(
        "From a@example.org Mon Jun  3 12:50:27 1996\nFrom: a@example.org\nSubject: Costs\n\n"
        "From here on, all of it is ours:\nTotal: 1,204\n\nFrom 10:30 on\nRoom: 5\n\n"
        "From john\nReceived: by example.org\nSubject: Next\n\nText.\n"
    )
    first, second = table(path)
    assert "Total: 1,204" in first[7]
    assert "Room: 5" in first[7]
    assert second[5] == "Next"


def test_a_large_first_message_does_not_hide_the_second(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(BOX.replace("From here on", "long line\n" * 20_000 + "From here on"))
    assert detect(path, "file")[0] == "mailbox"


def test_a_real_mailbox_gives_all_its_messages(foreign: Path, tmp_path: Path) -> None:
    source = foreign / "mimekit" / "mbox" / "content-length.mbox.txt"
    path = tmp_path / "real.txt"
    path.write_bytes(source.read_bytes())
    assert detect(path, path.name)[0] == "mailbox"
    assert len(table(path)) == 29


@pytest.mark.parametrize(
    "broken",
    [
        b"To: Mary\r\n__\r\n <mary@example.net>",
        b"To  : Mary <mary@example.net>",
        b"X_odd: 1\r\nTo: Mary <mary@example.net>",
        b"this line is no header at all\r\nTo: Mary <mary@example.net>",
    ],
)
def test_a_line_that_is_no_header_does_not_end_them(tmp_path: Path, broken: bytes) -> None:
    data = (
        b"From: a@example.org\r\n"
        + broken
        + b"\r\nDate: Fri, 21 Nov 1997 09:55:06 -0600\r\nSubject: Hello\r\n\r\nText.\r\n"
    )
    headers = dict(parse(data).headers)
    assert headers["Subject"] == "Hello"
    assert "mary@example.net" in headers["To"]
    assert parse(data).paragraphs[1:] == ("Text.",)
    path = tmp_path / "a.eml"
    path.write_bytes(data)
    assert detect(path, path.name)[0] == "email"


def test_all_foreign_mails_are_mails(foreign: Path) -> None:
    paths = [p for p in (foreign / "mail" / "emails").rglob("*.eml") if p.stat().st_size]
    assert [p.name for p in paths if inspect(str(p), p.name)["kind"] != "email"] == []


def test_a_list_of_words_with_colons_is_no_mail(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Milk: 2\nBread: 1\nFrom: the market\nEggs: 12\n")
    assert detect(path, path.name)[0] != "email"


def picture(width: int, height: int) -> bytes:
    held = BytesIO()
    Image.new("RGB", (width, height), "red").save(held, "PNG")
    return held.getvalue()


def test_logos_and_pixels_in_the_text_become_no_files_but_pictures_do(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Figures"
    mail.set_content("See below.")
    mail.add_alternative(
        '<p>See <img src="cid:chart@x"> <img src="cid:logo@x"><img src="cid:dot@x"></p>',
        subtype="html",
    )
    page = mail.get_payload()[1]
    for name, size in (("chart", (800, 600)), ("logo", (180, 60)), ("dot", (1, 1))):
        page.add_related(picture(*size), "image", "png", cid=f"<{name}@x>", filename=f"{name}.png")
    mail.add_attachment(picture(32, 32), maintype="image", subtype="png", filename="icon.png")
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="t.csv")
    path = tmp_path / "m.eml"
    path.write_bytes(mail.as_bytes())
    found = read(path)
    assert [a.name for a in found.attachments] == ["chart.png", "icon.png", "t.csv"]
    assert EmailReader().outline(path).members == 3
    assert any("logo.png" in p and "Small pictures" in p for p in found.paragraphs)


ROWS = "".join(
    f"<tr><td>{name}</td><td>{n}</td></tr>" for n, name in enumerate(["Köln", "Bonn", "Trier"], 1)
)
TABLE = f"<table><tr><td>city</td><td>count</td></tr>{ROWS}</table>"
FRAMES = (
    "<html><head><xml><x:ExcelWorkbook><x:ExcelWorksheets><x:ExcelWorksheet><x:Name>Plan</x:Name><x:WorksheetSource "
    'HRef="B_files/sheet001.htm"/></x:ExcelWorksheet><x:ExcelWorksheet><x:Name>Ist</x:Name><x:WorksheetSource '
    'HRef="B_files/sheet002.htm"/></x:ExcelWorksheet></x:ExcelWorksheets></x:ExcelWorkbook></xml></head>'
    '<frameset rows="*,39"><frame src="B_files/sheet001.htm"></frameset></html>'
)


def web_archive(parts: dict[str, str], **headers: str) -> bytes:
    head = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    text = (
        f"MIME-Version: 1.0\n{head}Content-Type: "
        f'multipart/related;\n\tboundary="----=_X"\n\nA Web archive.\n\n'
    )
    for name, page in parts.items():
        quoted = quopri.encodestring(page.encode("cp1252")).decode()
        kind = (
            "Content-Transfer-Encoding: quoted-printable\nContent-Type: text/html; "
            'charset="windows-1252"'
        )
        text += f"------=_X\nContent-Location: file:///C:/x/{name}\n{kind}\n\n{quoted}\n"
    return (text + "------=_X--\n").replace("\n", "\r\n").encode()


@pytest.mark.parametrize("name", ["report.xls", "page.mht", "export.doc", "saved.txt"])
@pytest.mark.parametrize(
    "headers",
    [{}, {"X_Document_Type": "Workbook"}, {"From": "<Saved by Blink>", "Subject": "Page"}],
)
def test_web_archive_is_the_page_in_it_and_no_mail(
    tmp_path: Path, name: str, headers: dict[str, str]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(
        web_archive({"page.htm": f"<html><body><h1>Cities</h1>{TABLE}</body></html>"}, **headers)
    )
    assert detect(path, name) == ("html", "multipart/related")
    assert inspect(str(path), name)["outline"]["tables"] == 1
    (tmp_path / "out").mkdir()
    (info,) = reader_of("html").tables(path, tmp_path / "out")
    assert (info.rows, [column for column, _ in info.columns]) == (3, ["city", "count"])


def test_workbook_saved_as_web_archive_has_its_sheets_by_name(tmp_path: Path) -> None:
    parts = {"B.htm": FRAMES, "B_files/sheet001.htm": f"<html><body>{TABLE}</body></html>"}
    parts["B_files/sheet002.htm"] = f"<html><body>{TABLE.replace('Bonn', 'Ulm')}</body></html>"
    parts["B_files/tabstrip.htm"] = (
        "<html><body><table><tr><td>Plan</td><td>Ist</td></tr></table></body></html>"
    )
    path = tmp_path / "file"
    path.write_bytes(web_archive(parts))
    (tmp_path / "out").mkdir()
    infos = reader_of("html").tables(path, tmp_path / "out")
    assert [info.notes[0].text for info in infos] == ["Its caption: Plan", "Its caption: Ist"]
    rows = duckdb.sql(f"SELECT city FROM '{tmp_path}/out/1.parquet'").fetchall()
    assert rows == [("Köln",), ("Ulm",), ("Trier",)]


def test_mail_with_pictures_that_was_sent_stays_a_mail(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(
        web_archive(
            {"a.htm": "<p>Hello</p>"},
            From="a@example.org",
            To="b@example.org",
            Received="from x by y",
        )
    )
    assert detect(path, "m.eml")[0] == "email"


@pytest.mark.parametrize("name", ["b0", '"parts of it"'])
def test_message_of_more_parts_than_anyone_sends_says_how_many_are_read(
    tmp_path: Path, name: str
) -> None:
    head = f"From: a@example.org\nSubject: x\nContent-Type: multipart/mixed; boundary={name}\n\n".encode()
    mark = b"--" + name.strip('"').encode()
    path = tmp_path / "m.eml"
    path.write_bytes(
        head
        + b"".join(mark + b"\nContent-Type: text/plain\n\nhi %d\n" % n for n in range(2_500))
        + mark
        + b"--"
    )
    outline = EmailReader().outline(path)
    texts = [passage.text for passage in EmailReader().passages(path, Where())]
    assert [(n.kind, n.count) for n in outline.notes] == [("parts-unread", 500)]
    assert texts[-1] == "This message has 2,500 parts; only the first 2,000 are read."
    assert "hi 1999" in texts
    assert "hi 2000" not in texts


def test_a_character_set_with_a_nul_byte_in_its_name_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "odd.eml"
    path.write_bytes(
        b"From: a@example.org\nTo: b@example.org\nSubject: Odd\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
        b'MIME-Version: 1.0\nContent-Type: text/plain; charset="utf\x008"\n\nGr\xc3\xbc\xc3\x9fe\n'
    )
    assert "Grüße" in "\n".join(parse(path.read_bytes()).paragraphs)


def alternatives(*forms: tuple[str, str]) -> str:
    parts = [f"--x\nContent-Type: {kind}; charset=utf-8\n\n{text}\n" for kind, text in forms]
    head = "From: a@example.org\nSubject: s\nMIME-Version: 1.0\n"
    return (
        f'{head}Content-Type: multipart/alternative; boundary="x"\n\n' + "".join(parts) + "--x--\n"
    )


PAGE = ("text/html", "<html><body><p>The price is <b>4,200</b> EUR until 31 May.</p></body></html>")
CALENDAR = ("text/calendar; method=REQUEST", "BEGIN:VCALENDAR\nDTSTART:20240101T100000Z")


@pytest.mark.parametrize(
    "plain",
    [
        "This message is in HTML. Please use a mail program that shows HTML.",
        "Diese Nachricht ist in HTML. Bitte nutzen Sie ein anderes Programm.",
        "このメールはHTMLです。",
    ],
)
def test_a_page_is_read_where_the_plain_form_lacks_its_words(plain: str) -> None:
    mail = parse(alternatives(("text/plain", plain), PAGE, CALENDAR).encode())
    assert mail.paragraphs[1:] == (
        plain,
        "The price is 4,200 EUR until 31 May.",
        CALENDAR[1],
    )


def test_a_form_with_the_same_words_is_read_once() -> None:
    plain = "The price is *4,200* EUR\nuntil 31 May. <https://example.org/offer>"
    amp = ("text/x-amp-html", PAGE[1])
    mail = parse(alternatives(("text/plain", plain), amp, PAGE).encode())
    assert mail.paragraphs[1:] == (plain,)
    cut = parse(alternatives(("text/plain", "The price is"), PAGE).encode())
    assert cut.paragraphs[1:] == ("The price is 4,200 EUR until 31 May.",)
    wrapped = ("text/plain", "価格は4200円\nです。五月三十一\n日まで有効です。")
    same = ("text/html", "<p>価格は4200円です。五月三十一日まで有効です。</p>")
    assert parse(alternatives(wrapped, same).encode()).paragraphs[1:] == (wrapped[1],)


def test_a_figure_that_the_plain_form_lacks_is_read() -> None:
    words = "We thank you for your order of chairs, which we send to you by the end of this month"
    page = ("text/html", f"<p>{words}.</p><table><tr><td>Sum</td><td>4200</td></tr></table>")
    said = parse(alternatives(("text/plain", words), page).encode()).paragraphs[1:]
    assert said == (f"{words}.", "Sum | 4200")


def test_all_of_a_web_page_that_is_a_mail_is_read() -> None:
    """It has no menus around an article: what would be taken for small print is its point."""
    letter = "Thank you for your order, which has been handed to the carrier as you have asked us. "
    page = (
        f"<p>Hi Ann,</p><p>{letter * 3}</p><p>{letter * 3}</p>"
        '<div class="footer"><p>Call 555-0199 by Friday.</p><p>Acme Ltd, Elm Street 5</p></div>'
        "<p>Bob</p>"
    )
    mail = f"From: a@example.org\nSubject: s\nContent-Type: text/html; charset=utf-8\n\n{page}"
    shown = ("Hi Ann,", "Call 555-0199 by Friday.", "Acme Ltd, Elm Street 5", "Bob")
    assert set(shown) <= set(parse(mail.encode()).paragraphs)
    assert set(shown) <= set(of_both_forms("This mail is a web page.", page))


def report(*parts: tuple[str, str]) -> bytes:
    texts = "".join(f"--x\nContent-Type: {kind}\n\n{text}\n" for kind, text in parts)
    head = "From: a@example.org\nSubject: s\nMIME-Version: 1.0\n"
    return f'{head}Content-Type: multipart/report; boundary="x"\n\n{texts}--x--\n'.encode()


def test_what_a_report_says_of_a_message_is_read() -> None:
    """Its fields have the form of headers, with no text below them."""
    status = (
        "Reporting-MTA: dns; mx.example.org\n\nFinal-Recipient: rfc822; joe@example.org\n"
        "Action: failed\nDiagnostic-Code: smtp; 550\n =?utf-8?q?Kein_Gru=C3=9F?=\n"
    )
    seen = "Final-Recipient: rfc822; ann@example.org\nDisposition: manual-action; displayed\n"
    mail = report(
        ("message/delivery-status", status),
        ("message/disposition-notification", seen),
        ("message/global", "From: g@example.org\nSubject: Hello\n\nall of it"),
    )
    assert parse(mail).paragraphs[1:] == (
        "Reporting-MTA: dns; mx.example.org",
        "Final-Recipient: rfc822; joe@example.org\nAction: failed\n"
        "Diagnostic-Code: smtp; 550 Kein Gruß",
        seen.strip(),
        "Forwarded message:\nFrom: g@example.org\nSubject: Hello",
        "all of it",
    )


@pytest.mark.parametrize("kind", ["text/plain", 'multipart/mixed; boundary="y"'])
def test_a_forwarded_message_that_was_encoded_as_a_whole_is_read(kind: str) -> None:
    text = "okapi" if kind == "text/plain" else "--y\n\nokapi\n--y--"
    inner = f"From: q@example.org\nSubject: Within\nContent-Type: {kind}\n\n{text}\n".encode()
    encoded = "message/rfc822\nContent-Transfer-Encoding: base64"
    mail = parse(report((encoded, base64.encodebytes(inner).decode())))
    assert mail.paragraphs[1:] == (
        "Forwarded message:\nFrom: q@example.org\nSubject: Within",
        "okapi",
    )


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("Re: Vertrag\n =?utf-8?q?f=C3=BCr?= Ann", "Re: Vertrag für Ann"),
        ("=?utf-8?q?Gr=C3=BC?=\r\n =?utf-8?q?=C3=9Fe?=\r\n\tan alle", "Grüße an alle"),
    ],
)
def test_words_of_a_folded_header_stay_apart(subject: str, said: str) -> None:
    assert parse(f"From: a@example.org\nSubject: {subject}\n\nx".encode()).headers[1][1] == said
