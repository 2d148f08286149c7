"""Outlook messages: code pages, recipients of all sorts, messages and signatures inside of messages."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest
from oxmsg.storage import Storage, Stream

from leaf.readers.documents.msg import message_of
from leaf.readers.documents.msg_parts import MsgPart
from leaf.readers.worker import inspect
from tests.test_readers_mail_parts import ENVELOPE, open_signature, several
from tests.test_readers_office import texts

SUBJECT, BODY, HTML, RICH, SENDER, ADDRESS = 0x0037, 0x1000, 0x1013, 0x1009, 0x0C1A, 0x0C1F
NAME, SMTP, RECIPIENT = 0x3001, 0x39FE, 0x0C15
FILE, LONG_NAME, METHOD, MEDIA_TYPE = 0x3701, 0x3707, 0x3705, 0x370E
HEADERS = {"__recip": 8, "__attac": 8, "__subst": 24}

Values = dict[int, str | bytes | int | tuple[str, str]]
"""Property -> a text, bytes, a number, or a text and its code page for one byte a letter."""


def part(name: str, values: Values, *inside: Storage) -> Storage:
    """A message, or what is in it, as its file has it."""
    streams, numbers = [], b""
    for key, value in values.items():
        if isinstance(value, int):
            numbers += struct.pack("<HHIQ", 3, key, 6, value)
        elif isinstance(value, str):
            streams.append(Stream(f"__substg1.0_{key:04X}001F", value.encode("utf-16-le")))
        elif isinstance(value, bytes):
            streams.append(Stream(f"__substg1.0_{key:04X}0102", value))
        else:
            streams.append(Stream(f"__substg1.0_{key:04X}001E", value[0].encode(value[1])))
    properties = bytes(HEADERS.get(name[:7], 32)) + numbers
    return Storage(name, (*streams, Stream("__properties_version1.0", properties)), inside)


def attached(number: int, values: Values, *inside: Storage) -> Storage:
    return part(f"__attach_version1.0_#{number:08X}", values, *inside)


def test_texts_of_one_byte_a_letter_are_in_the_code_page_that_is_named() -> None:
    recipient = part(
        "__recip_version1.0_#00000000",
        {NAME: ("Свиридов", "cp1251"), SMTP: "s@example.org", RECIPIENT: 1},
    )
    told: Values = {
        SUBJECT: ("Итого 100 €", "cp1251"),
        BODY: ("Ответ", "koi8-r"),
        0x3FFD: 1251,
        0x3FDE: 20866,
    }
    message = message_of(MsgPart(part("", told, recipient)), 0)
    assert message.subject == "Итого 100 €"
    assert message.paragraphs == ["To: Свиридов <s@example.org>\nSubject: Итого 100 €", "Ответ"]


def test_a_wrong_byte_or_an_unknown_code_page_leaves_the_message_readable() -> None:
    told: Values = {
        SUBJECT: ("Größe", "cp1252"),
        BODY: ("Schöne Grüße", "cp1252"),
        0x3FFD: 65001,
        0x3FDE: 99999,
    }
    message = message_of(MsgPart(part("", told)), 0)
    assert message.paragraphs == ["Subject: Größe", "Schöne Grüße"]


def test_recipients_are_told_by_what_they_are() -> None:
    people = [
        part(
            f"__recip_version1.0_#{kind:08X}",
            {NAME: f"P{kind}", SMTP: f"p{kind}@example.org", RECIPIENT: kind},
        )
        for kind in (2, 1, 3)
    ]
    told: Values = {SENDER: "Ann", ADDRESS: "/O=HOUSE/OU=EXCHANGE/CN=RECIPIENTS/CN=ANN"}
    (headers,) = message_of(MsgPart(part("", told, *people)), 0).paragraphs
    assert headers.split("\n") == [
        "From: Ann",
        "To: P1 <p1@example.org>",
        "Cc: P2 <p2@example.org>",
        "Bcc: P3 <p3@example.org>",
    ]


def test_times_are_those_at_which_it_was_sent_or_came() -> None:
    ticks = (
        int(
            (datetime(2026, 3, 1, 9, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()
        )
        * 10**7
    )
    (headers,) = message_of(MsgPart(part("", {SUBJECT: "x", 0x0E06: ticks})), 0).paragraphs
    assert headers == "Date: 2026-03-01 09:00:00+00:00\nSubject: x"


def test_messages_in_messages_are_read_with_their_files() -> None:
    table = attached(0, {LONG_NAME: "a.csv", FILE: b"k,v\nx,1\n", METHOD: 1})
    inner = part("__substg1.0_3701000D", {SUBJECT: "Figures", BODY: "The total is 1,204."}, table)
    outer = part(
        "", {SUBJECT: "Fwd", BODY: "See below."}, attached(0, {NAME: "Figures", METHOD: 5}, inner)
    )
    message = message_of(MsgPart(outer), 0)
    assert message.paragraphs == [
        "Subject: Fwd",
        "See below.",
        "Forwarded message:\nSubject: Figures",
        "The total is 1,204.",
        "Attachments:\n- a.csv (text/csv, 8 bytes)",
    ]
    assert message.files == [("a.csv", "text/csv", b"k,v\nx,1\n")]


def test_what_is_only_linked_is_named_and_no_file() -> None:
    linked = attached(0, {LONG_NAME: "plan.xlsx", METHOD: 7})
    short = attached(1, {0x3704: "A~1.CSV", FILE: b"k\n1\n", METHOD: 1})
    message = message_of(MsgPart(part("", {SUBJECT: "x"}, linked, short)), 0)
    assert "- plan.xlsx" in message.paragraphs[1]
    assert "linked: not in the message" in message.paragraphs[1]
    assert [name for name, *_ in message.files] == ["A~1.CSV"]


def test_what_is_inside_a_signature_is_read() -> None:
    signed = attached(
        0, {LONG_NAME: "smime.p7m", MEDIA_TYPE: "application/pkcs7-mime", FILE: open_signature()}
    )
    message = message_of(MsgPart(part("", {SUBJECT: "x"}, signed)), 0)
    assert message.paragraphs[1] == "The signed total is 1,204."
    assert [name for name, *_ in message.files] == ["a.csv"]
    table = b"Content-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment\r\n\r\nk\r\n1"
    whole = several("signed", b"Content-Type: text/plain\r\n\r\nText.", table)
    clear = attached(0, {MEDIA_TYPE: "multipart/signed", FILE: whole})
    message = message_of(MsgPart(part("", {SUBJECT: "x", BODY: "Text."}, clear)), 0)
    assert message.paragraphs == [
        "Subject: x",
        "Text.",
        "Attachments:\n- a.csv (text/csv, 4 bytes)",
    ]
    assert [name for name, *_ in message.files] == ["a.csv"]


@pytest.mark.parametrize(
    "values",
    [
        {RICH: b"x" * 900},
        {BODY: "-----BEGIN PGP MESSAGE-----\r\nhQEMA\r\n-----END PGP MESSAGE-----\r\n"},
    ],
)
def test_a_text_that_is_not_read_is_said(values: Values) -> None:
    message = message_of(MsgPart(part("", {SUBJECT: "x", **values})), 0)
    assert [note.kind for note in message.notes] == ["parts-sealed"]


def test_an_encrypted_message_says_so() -> None:
    values: Values = {
        LONG_NAME: "smime.p7m",
        MEDIA_TYPE: "application/pkcs7-mime",
        FILE: ENVELOPE,
        METHOD: 1,
    }
    message = message_of(MsgPart(part("", {SUBJECT: "x"}, attached(0, values))), 0)
    assert [note.kind for note in message.notes] == ["parts-sealed"]
    assert "encrypted" in "\n".join(message.paragraphs)


def test_foreign_messages_are_in_their_code_pages(foreign: Path) -> None:
    folder = foreign / "poi" / "hsmf"
    assert "To: Свиридов Дмитрий Владимирович <" in texts(folder / "cyrillic_message.msg")[0]
    assert "Subject автоматически" in texts(folder / "ASCII_CP1251_LCID1049.msg")[0]
    assert "(張毓倫)" in texts(folder / "chinese-traditional.msg")[0]
    assert "\nCc: nickb@alfresco.com" in texts(folder / "example_received_unicode.msg")[0]
    signed = folder / "logsat.com_signatures_valid.msg"
    assert inspect(str(signed), signed.name)["outline"]["members"] is None
