"""Mailboxes in mbox form: every message with its text, and a table of them by date, sender and
subject."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.email import Mail, parse
from leaf.readers.documents.html import numbered
from leaf.readers.tabular.sql import connect
from leaf.readers.tabular.typed import TypedSource, write
from leaf.readers.window import CHARS_PER_TOKEN, Extent

if TYPE_CHECKING:
    import pyarrow as pa

FIELD = re.compile(rb"[!-9;-~]+[ \t]*:")
_NAMES = ("message", "date", "from", "to", "cc", "subject", "attachments", "text")
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
        with connect(out) as connection:
            return [
                write(
                    connection,
                    TypedSource("", _NAMES, rows, lambda: _batches(path)),
                    out / "0.parquet",
                )
            ]


def _notes(count: int, unread: int, kinds: Counter[str]) -> Iterator[Note]:
    """What must be known of some of all messages; `kinds` counts those with a note of a kind."""
    sealed, cut, guessed = (
        kinds[kind] for kind in ("parts-sealed", "parts-unread", "encoding-guessed")
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


def split(path: Path) -> Iterator[bytes]:
    """The messages of a mailbox, one after the other.

    A line `From …` begins one if a header follows it: many programs neither quote such lines in
    texts nor put a blank line before those that do begin a message.
    """
    message: list[bytes] = []
    held = b""
    with path.open("rb") as file:
        for line in file:
            if held:
                if FIELD.match(line) and message:
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


def mails(path: Path) -> Iterator[tuple[int, Mail]]:
    """The messages with their numbers, from 1."""
    for number, data in enumerate(split(path), 1):
        yield number, parse(data)


def _paragraphs(path: Path) -> list[str]:
    return [p for number, mail in mails(path) for p in (f"Message {number}", *mail.paragraphs)]


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    types = [pa.int64(), pa.timestamp("us", "UTC"), *[pa.string()] * 6]
    rows: list[tuple[object, ...]] = []
    for number, mail in mails(path):
        head = {name.lower(): value for name, value in mail.headers}
        text = "\n\n".join(mail.paragraphs[1:]) or None
        told = [head.get(name) or None for name in ("from", "to", "cc", "subject")]
        rows.append(
            (
                number,
                _moment(head.get("date", "")),
                *told,
                ", ".join(a.name or a.media_type for a in mail.attachments) or None,
                text,
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


def _moment(text: str) -> datetime | None:
    """A message's date in UTC; one without a zone is taken for UTC."""
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
