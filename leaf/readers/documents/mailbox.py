"""Mailboxes in mbox form: every message with its text, and a table of them by date, sender and
subject."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.email import Mail, parse
from leaf.readers.documents.html import numbered
from leaf.readers.documents.mail_dates import sent_at
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.sql import connect
from leaf.readers.tabular.typed import TypedSource, write
from leaf.readers.window import CHARS_PER_TOKEN, Extent

if TYPE_CHECKING:
    import pyarrow as pa

FIELD = re.compile(rb"[!-9;-~]+[ \t]*:")
_ENVELOPE = re.compile(
    rb"From(?: (?:\S*@\S*|-|MAILER-DAEMON)?)?|"
    rb"From .*\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*\d{1,2}:\d\d.*"
)
"""A line that names who sent a message, or when."""
_OF_MAIL = re.compile(
    rb"(?:From|To|Cc|Date|Subject|Message-Id|In-Reply-To|Reply-To|Sender|Received|Return-Path|Path|"
    rb"Delivered-To|MIME-Version|Content-[\w-]+|X-[\w-]+|Status|Newsgroups|[A-Z]+-Signature|[\w-]*Seal)"
    rb"[ \t]*:",
    re.I,
)
"""Headers that mails begin with."""
_NAMES = (
    *("message", "date", "from", "to", "cc", "subject", "attachments", "text"),
    *("message_id", "in_reply_to"),
)
_BATCH = 500


class MailboxReader:
    """Paragraphs of all messages in order; before each its headers."""

    def outline(self, path: Path) -> Outline:
        """Counts of messages; all of them are read once."""
        count = characters = members = 0
        unread, kinds = 0, Counter[str]()
        for _, mail in mails(path):
            count += 1
            characters += sum(len(p) + 1 for p in mail.paragraphs)
            members += len(mail.attachments)
            unread += bool(mail.problem)
            kinds.update({note.kind for note in mail.notes})
        notes = tuple(_notes(count, unread, kinds))
        tokens = int(characters / CHARS_PER_TOKEN)
        kind = ("mailbox", "application/mbox")
        return Outline(
            *kind,
            rows=count,
            columns=len(_NAMES),
            members=members or None,
            tokens=tokens,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        return Extent(sum(1 for _ in _paragraphs(path)))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_paragraphs(path), where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """One table, a row a message. Times are in UTC."""
        rows = sum(1 for _ in split(path))
        doubts = _DateDoubts()
        source = TypedSource("", _NAMES, rows, lambda: _batches(path, doubts))
        with connect(out) as connection:
            info = write(connection, source, out / "0.parquet")
        return [replace(info, notes=(*info.notes, *doubts.notes()))]


class _DateDoubts:
    """Messages whose dates do not say when they were sent, counted while the table is written."""

    def __init__(self) -> None:
        self._unread: list[int] = []
        self._unzoned: list[int] = []

    def moment(self, number: int, mail: Mail) -> datetime | None:
        text = dict(mail.headers).get("Date", "")
        moment, zoned = sent_at(text)
        if moment is None and text:
            self._unread.append(number)
        elif not zoned:
            self._unzoned.append(number)
        return moment

    def notes(self) -> Iterator[Note]:
        if unread := len(self._unread):
            text = f"{unread:,} dates of messages cannot be read and were left empty."
            yield Note(
                "cells-unparsed",
                text,
                unread,
                places(self._unread),
                short=f"{unread:,} dates→NULL.",
            )
        if unzoned := len(self._unzoned):
            text = f"{unzoned:,} dates of messages name no time zone that is known, and were taken for UTC."
            yield Note("times-zoned", text, unzoned, places(self._unzoned))


def _notes(count: int, unread: int, kinds: Counter[str]) -> Iterator[Note]:
    """What must be known of some of all messages; `kinds` counts those with a note of a kind."""
    sealed, cut, guessed, hidden, struck = (
        kinds[kind]
        for kind in (
            "parts-sealed",
            "parts-unread",
            "encoding-guessed",
            "hidden-text",
            "struck-text",
        )
    )
    if unread:
        yield Note("messages-unread", f"{unread} of {count} messages cannot be read.", unread)
    if sealed:
        text = f"Not all of {sealed} of {count} messages can be read: they are encrypted or packed."
        yield Note("parts-sealed", text, sealed)
    if cut:
        yield Note("parts-unread", f"{cut} of {count} messages have more parts than are read.", cut)
    if guessed:
        text = f"Encoding guessed in {guessed} of {count} messages."
        yield Note("encoding-guessed", text, guessed)
    if hidden:
        text = f"Hidden text of {hidden} of {count} messages is read like all other text."
        yield Note("hidden-text", text, hidden)
    if struck:
        text = f"Struck-out text of {struck} of {count} messages is read like all other text."
        yield Note("struck-text", text, struck)


def split(path: Path) -> Iterator[bytes]:
    """The messages of a mailbox, one after the other.

    A line `From …` begins one if a header follows it: many programs neither quote such lines in
    texts nor put a blank line before those that do begin a message. Where it names neither sender
    nor time, only a header of mails proves it: *From here on*, and below that *Total: 5*, is text.
    """
    message: list[bytes] = []
    held = b""
    with path.open("rb") as file:
        for line in file:
            if held:
                if message and _begins(held, line):
                    yield b"".join(message)
                    message = []
                message.append(held)
                held = b""
            if line.startswith(b"From "):
                held = line
            else:
                message.append(line)
    message.append(held)
    if b"".join(message).strip():
        yield b"".join(message)


def _begins(line: bytes, following: bytes) -> bool:
    """Whether a line `From …` begins a message."""
    return bool((FIELD if _ENVELOPE.fullmatch(line.rstrip()) else _OF_MAIL).match(following))


def mails(path: Path) -> Iterator[tuple[int, Mail]]:
    """The messages with their numbers, from 1."""
    for number, data in enumerate(split(path), 1):
        yield number, parse(data)


def _paragraphs(path: Path) -> list[str]:
    return [p for number, mail in mails(path) for p in (f"Message {number}", *mail.paragraphs)]


def _batches(path: Path, doubts: _DateDoubts) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    types = [pa.int64(), pa.timestamp("us", "UTC"), *[pa.string()] * 8]
    rows: list[tuple[object, ...]] = []
    for number, mail in mails(path):
        head = {name.lower(): value for name, value in mail.headers}
        text = "\n\n".join(mail.paragraphs[1:]) or None
        told = [head.get(name) or None for name in ("from", "to", "cc", "subject")]
        rows.append(
            (
                number,
                doubts.moment(number, mail),
                *told,
                ", ".join(a.name or a.media_type for a in mail.attachments) or None,
                text,
                mail.message_id or None,
                mail.in_reply_to or None,
            )
        )
        if len(rows) == _BATCH:
            yield _batch(rows, types)
            rows = []
    yield _batch(rows, types)


def _batch(rows: list[tuple[object, ...]], types: list[pa.DataType]) -> pa.RecordBatch:
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    return pa.record_batch(
        [pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=list(_NAMES)
    )
