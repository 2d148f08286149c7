"""Signatures of chats: which pieces of words stand in their messages, as 8,192 bits each.

On DuckDB a search reads what every message says, unless the signatures tell which chats can have
the word: where one of its pieces has no bit, the word is not there. A bit may be another piece's,
so what fits is read all the same. Made in the background (`keeping/signing.py`), never by whoever
writes: a signature names the `updated_at` of its chat, which every write of words raises, and holds
for that alone. A chat without one that holds is read. PostgreSQL has an index, and no signatures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from leaf.store.database import Database, storable

if TYPE_CHECKING:
    import numpy as np

BITS = 8_192
WIDTH = 64
"""Bits of one column, so that a word is looked up in few columns of all chats."""
COLUMNS = tuple(f"g{number:03}" for number in range(BITS // WIDTH))
SIZES = (5, 3)
"""Characters of a piece, the more telling first: a text has most of the threes of its language."""
MOST_PIECES = 16
"""Of a word that are looked up."""
CHUNK = 100_000
"""Characters that are signed at a time: what is made of them stays in the processor's cache."""

_FACTORS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
"""The 32-bit primes of xxHash."""
_MIX = 0x2C1B3C6D
_WHOLE = 0xFFFF_FFFF
_SHIFT = 32 - (BITS - 1).bit_length()
_GAPS = (0x09, 0x0A, 0x0D, 0x20)
"""Characters at which a query is split, so no piece of one has them. Not all of Unicode's: those
may be others in another version of Python, and signatures stay."""
_VALID = "s.chat_id = c.id AND s.signed_at = c.updated_at"


def bits_of(word: str) -> list[int]:
    """Which bits a text with this word has; none for a word that is too short to tell."""
    codes = [ord(character) for character in storable(word)]
    bits = [
        _bit(codes[start : start + size])
        for size in SIZES
        for start in range(len(codes) - size + 1)
    ]
    return list(dict.fromkeys(bits))[:MOST_PIECES]


def fitting(word: str, number: int) -> tuple[str, dict[str, int]]:
    """True for a signature (as `s`) with all bits of a word, with parameters of its own; true for
    every one where the word is too short."""
    masks: dict[int, int] = {}
    for bit in bits_of(word):
        masks[bit // WIDTH] = masks.get(bit // WIDTH, 0) | 1 << bit % WIDTH
    names = {column: f"bits{number}_{column}" for column in masks}
    conditions = [f"(s.{COLUMNS[c]} & :{name}) = :{name}" for c, name in names.items()]
    values = {names[column]: _signed(mask) for column, mask in masks.items()}
    return " AND ".join(conditions) or "TRUE", values


def joined() -> str:
    """Chats (as `c`) with their signature (as `s`) if they have one that holds."""
    return f"chats c LEFT JOIN chat_signatures s ON {_VALID}"


def sign(texts: Iterable[tuple[int, str]], count: int) -> np.ndarray:
    """A row of columns for each of `count` chats, from texts with the number of their chat."""
    import numpy as np

    # One row more, for what is no piece: it has a gap.
    bits = np.zeros((count + 1) * BITS, np.bool_)
    for chunk in _chunks(texts):
        _mark(bits, chunk, count)
    rows = np.packbits(bits.reshape(count + 1, BITS)[:count], axis=1, bitorder="little")
    return rows.view("<i8")


def unscoped_unsigned(db: Database, before: datetime, after: str, limit: int) -> list[str]:
    """Chats of everybody without a signature that holds, in the order of their ids, from the one
    after `after` on. Those written since `before` are left out: they soon would need another."""
    rows = db.read(
        f"SELECT c.id FROM {joined()} WHERE s.chat_id IS NULL AND c.updated_at < :before "
        "AND c.id > :after ORDER BY c.id LIMIT :limit",
        {"before": before, "after": after, "limit": limit},
    )
    return [str(row["id"]) for row in rows]


def unscoped_sign(db: Database, chat_ids: Sequence[str]) -> None:
    """Sign these chats as they are now. The lock of writers is taken for writing the rows alone."""
    values = those(chat_ids)
    with db.snapshot() as snapshot:
        chats = snapshot.read(
            f"SELECT c.id, c.updated_at FROM chats c WHERE {among('c.id')}", values
        )
        message_rows = snapshot.read(f"SELECT x.chat_id, x.words FROM {said_in()}", values)
    numbers = {str(chat["id"]): number for number, chat in enumerate(chats)}
    texts = (
        (numbers[row["chat_id"]], str(row["words"]))
        for row in message_rows
        if row["chat_id"] in numbers
    )
    rows = sign(texts, len(chats)).tolist()
    if numbers:
        _keep_signatures(db, list(numbers), [chat["updated_at"] for chat in chats], rows)


def those(chat_ids: Collection[str]) -> dict[str, object]:
    """The parameters of `among` for these chats; there has to be one."""
    return {"first": min(chat_ids), "last": max(chat_ids), "ids": list(chat_ids)}


def among(column: str) -> str:
    """True for one of some chats. By the bounds DuckDB leaves out what is stored elsewhere, which
    it does not by a list."""
    listed = "SELECT unnest(from_json(CAST(:ids AS JSON), '[\"VARCHAR\"]'))"
    return f"{column} BETWEEN :first AND :last AND {column} IN ({listed})"


def said_in() -> str:
    """Messages (as `x`) of some chats. By the numbers of their rows DuckDB reads what these
    messages say; by the chat, what all of them say."""
    numbers = f"SELECT y.rowid FROM messages y WHERE {among('y.chat_id')}"
    return f"messages x WHERE x.rowid IN ({numbers})"


def _keep_signatures(
    db: Database, chat_ids: list[str], moments: list[datetime], rows: list[list[int]]
) -> None:
    """What was written to, or deleted for good, since it was read gets no row."""
    values = {**those(chat_ids), "moments": [m.isoformat() for m in moments], "rows": rows}
    columns = ", ".join(f"n.bits[{number}]" for number in range(1, len(COLUMNS) + 1))
    news = ", ".join(
        f"unnest(from_json(CAST(:{name} AS JSON), '[{kind}]')) AS {column}"
        for name, kind, column in (
            ("ids", '"VARCHAR"', "id"),
            ("moments", '"VARCHAR"', "moment"),
            ("rows", '["BIGINT"]', "bits"),
        )
    )
    with db.transaction() as tx:
        tx.execute(f"DELETE FROM chat_signatures WHERE {among('chat_id')}", values)
        tx.execute(
            f"INSERT INTO chat_signatures (chat_id, signed_at, {', '.join(COLUMNS)}) "
            f"SELECT c.id, c.updated_at, {columns} FROM (SELECT {news}) n "
            "JOIN chats c ON c.id = n.id AND c.updated_at = CAST(n.moment AS TIMESTAMPTZ) "
            "WHERE c.id BETWEEN :first AND :last",
            values,
        )


def _chunks(texts: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Texts of that many characters together. One that is cut goes on with what a piece that lies
    across the cut needs."""
    chunk: list[tuple[int, str]] = []
    size = 0
    for number, text in texts:
        for start in range(0, len(text), CHUNK):
            piece = text[start : start + CHUNK + max(SIZES) - 1]
            if chunk and size + len(piece) > CHUNK:
                yield chunk
                chunk, size = [], 0
            chunk.append((number, piece))
            size += len(piece)
    if chunk:
        yield chunk


def _mark(bits: np.ndarray, chunk: list[tuple[int, str]], nowhere: int) -> None:
    """Set the bits of all pieces in the row of their chat; those with a gap in the row `nowhere`."""
    import numpy as np

    codes = np.frombuffer("".join(f"{text}\n" for _, text in chunk).encode("utf-32-le"), "<u4")
    lengths = [len(text) + 1 for _, text in chunk]
    starts = np.repeat(np.array([number for number, _ in chunk], np.uint32), lengths)
    starts *= np.uint32(BITS)
    for gap in _GAPS:
        starts[codes == gap] = nowhere * BITS
    for size in SIZES:
        count = max(0, len(codes) - size + 1)
        hashes = np.full(count, size, np.uint32)
        places = np.zeros(count, np.uint32)
        for at, factor in enumerate(_FACTORS[:size]):
            hashes += codes[at : at + count] * np.uint32(factor)
            np.maximum(places, starts[at : at + count], out=places)
        hashes ^= hashes >> np.uint32(15)
        hashes *= np.uint32(_MIX)
        hashes >>= np.uint32(_SHIFT)
        bits[places + hashes] = True


def _bit(codes: Sequence[int]) -> int:
    """The same for one piece."""
    digest = len(codes)
    for code, factor in zip(codes, _FACTORS, strict=False):
        digest = (digest + code * factor) & _WHOLE
    digest ^= digest >> 15
    return (digest * _MIX & _WHOLE) >> _SHIFT


def _signed(mask: int) -> int:
    """The same 64 bits as a BIGINT."""
    return mask - (1 << 64) if mask >> 63 else mask
