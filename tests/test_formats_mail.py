"""Mailboxes with all their messages, and mails whose headers are broken."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.formats.base import Where
from leaf.formats.detect import detect
from leaf.formats.email import parse
from leaf.formats.worker import inspect, reader_of

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
    return duckdb.connect().execute(f"SELECT * FROM read_parquet('{path.parent / 'out' / info.parquet}')").fetchall()


@pytest.mark.parametrize("name", ["all.mbox", "file"])
def test_each_message_of_a_mailbox_is_a_row_and_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(BOX)
    looked = inspect(str(path), name)
    assert (looked["kind"], looked["outline"]["rows"]) == ("mailbox", 2)
    first, second = table(path)
    assert first[:4] == (1, datetime(1996, 6, 3, 10, 50, 27, tzinfo=UTC), "Jürgen <j@example.org>", "ana@example.org")
    assert "From this line." in first[7]
    assert (second[1], second[5], second[6]) == (None, "Re: Numbers", "a.csv")
    texts = [p.text for p in reader_of("mailbox").passages(path, Where())]
    assert texts[0] == "Message 1"
    assert "See attached." in texts


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
    data = b"From: a@example.org\r\n" + broken + b"\r\nDate: Fri, 21 Nov 1997 09:55:06 -0600\r\nSubject: Hello\r\n\r\nText.\r\n"
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
