"""Which encoding a text is in, from its bytes, and reading text in it. Shared by every format that
is text inside.

A byte order mark decides; then valid UTF-8; then the zero bytes of UTF-16 and UTF-32; what is left
is guessed, and a guess is always said (`guess_note`). Big files are looked at in slices, so that a
late stretch of other bytes is not missed. A text that is UTF-8 but for some lines stays UTF-8.
"""

from __future__ import annotations

import codecs
import io
import unicodedata
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, TextIO

from leaf.readers.base import Note
from leaf.readers.code_pages import GUESSED_BY, PAIRS, guess

BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Longest first: the mark of UTF-32 little-endian begins with that of UTF-16."""

CONTINUING = bytes(range(0x80, 0xC0))
"""Bytes that in UTF-8 stand only inside a character."""

HIGH = bytes(range(0x80, 0x100))
"""Bytes that are no ASCII."""

MOST_WRONG = 0.2
"""Share of the bytes above ASCII that may be wrong in a text that is UTF-8 otherwise."""

WHOLE_BYTES = 32_000_000
"""Up to this size the whole file is checked for valid UTF-8 (some 30 ms); above it, slices."""

FALLBACK = "leaf-windows-1252"
"""Error handler for `decode`: bytes that are wrong in the encoding are read as Windows-1252, so
that no byte is lost."""


@dataclass(frozen=True)
class Encoding:
    """How the bytes of a text are to be read."""

    name: str
    """Python codec; never one that strips the mark by itself, see `bom`."""
    bom: int
    """Bytes of byte order mark at the beginning, to be skipped."""
    guessed: bool
    """True where nothing in the file proves the encoding."""
    newline: str
    """The most frequent line ending: `\\n`, `\\r\\n` or `\\r`; `\\n` where there is none."""
    mixed_newlines: bool = False
    """Whether other line endings occur as well."""
    odd_lines: int = 0
    """Lines that are no UTF-8 in a text that is, among those that were looked at."""
    sampled: bool = False
    """Whether only slices of the file were looked at."""


def sniff_encoding(path: Path, sample_bytes: int = 1_000_000) -> Encoding:
    """The encoding of a file, from its first `sample_bytes` and, in larger files, from slices of
    the rest."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(sample_bytes)
        if any(head.startswith(mark) for mark, _ in BOMS):
            return sniff_bytes(head, whole=size <= len(head))
        samples = [head, *_slices(file, size, sample_bytes)]
    known = _marked(head)
    if known:
        return known
    return _of_samples(samples, size > WHOLE_BYTES and size > len(head), whole=size <= len(head))


def sniff_bytes(data: bytes, *, whole: bool = True) -> Encoding:
    """The encoding of bytes at hand. With `whole` false the last character may be cut."""
    return _marked(data) or _of_samples([data], False, whole=whole)


def _marked(data: bytes) -> Encoding | None:
    """The encoding that a mark, zero bytes or the signs of a shift tell."""
    for mark, name in BOMS:
        if data.startswith(mark):
            return _with_newlines(name, len(mark), False, data[len(mark) :])
    wide = _wide(data)
    if wide:
        return _with_newlines(wide, 0, True, data)
    if b"\x1b$" in data and data.isascii():
        return _with_newlines("iso2022_jp", 0, True, data)
    return None


def _of_samples(samples: list[bytes], sampled: bool, *, whole: bool) -> Encoding:
    """UTF-8 where all of a text is, or nearly all that is no ASCII; else a code page."""
    head = samples[0]
    odd = [data for data in samples if not _is_utf8(data)]
    if odd == [head] and not whole and _is_utf8(head[: max(0, len(head) - 4)]):
        odd = []
    if not odd:
        return _with_newlines("utf-8", 0, False, head)
    page = guess(_high_lines(odd))
    if page in PAIRS or not _is_mostly_utf8(samples):
        return _with_newlines(page, 0, True, head)
    lines = sum(_odd_lines(data) for data in odd)
    return replace(_with_newlines("utf-8", 0, True, head), odd_lines=max(1, lines), sampled=sampled)


def decode(data: bytes | Path) -> tuple[str, Encoding]:
    """The whole text with its line endings as they are, and the encoding. For files that are meant
    to be held in memory."""
    if isinstance(data, Path):
        encoding = sniff_encoding(data)
        data = data.read_bytes()
    else:
        encoding = sniff_bytes(data)
    register_fallback()
    return data[encoding.bom :].decode(encoding.name, FALLBACK), encoding


def open_text(
    path: Path, encoding: Encoding, start: int | None = None, newline: str | None = None
) -> TextIO:
    """The file as lazily decoded text, after its byte order mark or from the byte `start`.

    Without a `newline` (as of `open`) every kind of line ending arrives as `\\n`.
    """
    register_fallback()
    begin = encoding.bom if start is None else start
    file: IO[bytes] = path.open("rb")
    file.seek(begin)
    return io.TextIOWrapper(
        _from_here(file, begin), encoding=encoding.name, errors=FALLBACK, newline=newline
    )


def guess_note(encoding: Encoding) -> Note | None:
    """What a person is told when the encoding is a guess."""
    if not encoding.guessed:
        return None
    if encoding.odd_lines:
        return _mixture_note(encoding)
    name = {"cp1252": "Windows-1252"}.get(encoding.name, encoding.name.upper())
    return Note("encoding-guessed", f"Encoding guessed: {name}.", 1, short="Encoding guessed.")


def _mixture_note(encoding: Encoding) -> Note:
    count = encoding.odd_lines
    least = "At least " if encoding.sampled else ""
    verb = "is" if count == 1 else "are"
    lines = f"{count:,} line{'s' if count != 1 else ''}"
    text = f"{least}{lines} of this UTF-8 text {verb} not UTF-8; read there as Windows-1252."
    return Note("encoding-guessed", text, count, short=f"{least}{lines} not UTF-8.")


def register_fallback() -> None:
    """Make the error handler `FALLBACK` known to Python's codecs; done at use, since imports do no
    work."""
    codecs.register_error(FALLBACK, _as_windows_1252)


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if error.encoding.replace("_", "-").lower().startswith(("utf-16", "utf-32")):
        return "\ufffd", error.end
    wrong = error.object[error.start : error.end]
    return "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in wrong), error.end


class _Offset(io.RawIOBase):
    """A raw file whose position 0 lies after the byte order mark, so that a reader may rewind."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file, self._start = file, start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # io passes any writable buffer
        data = self._file.read(len(view))
        view[: len(data)] = data
        return len(data)

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return (
            self._file.seek(offset + self._start if whence == io.SEEK_SET else offset, whence)
            - self._start
        )

    def tell(self) -> int:
        return self._file.tell() - self._start

    def close(self) -> None:
        self._file.close()
        super().close()


def _from_here(file: IO[bytes], start: int) -> IO[bytes]:
    return io.BufferedReader(_Offset(file, start), 1 << 18) if start else file


def _slices(file: IO[bytes], size: int, sample_bytes: int) -> list[bytes]:
    """The rest of the file up to `WHOLE_BYTES`, or 16 slices spread over it; each begins with a
    whole line or character."""
    at = file.tell()
    if at >= size:
        return []
    if size <= WHOLE_BYTES:
        return [_from_a_beginning(file.read())]
    step, length = (size - at) // 16, max(4096, sample_bytes // 16)
    slices = []
    for start in [*range(at, size - length, step), size - length]:
        file.seek(start)
        slices.append(_from_a_beginning(file.read(length)))
    return slices


def _from_a_beginning(data: bytes) -> bytes:
    """From the next line on; where there is none, without the up to three bytes that go on with a
    character of UTF-8."""
    line = data.find(b"\n") + 1
    return data[line:] if line else data[:3].lstrip(CONTINUING) + data[3:]


def _is_utf8(data: bytes) -> bool:
    try:
        codecs.utf_8_decode(data, "strict", False)  # a character cut at the end is no fault
    except UnicodeDecodeError:
        return False
    return True


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32 by where the zero bytes stand; empty if neither."""
    data = data[: len(data) - len(data) % 4][:65_536]
    if len(data) < 4:
        return ""
    quarter = len(data) // 4
    zeros = [data[i::4].count(0) / quarter for i in range(4)]
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    candidates = []
    if min(zeros[2], zeros[3]) > 0.9:
        candidates.append("utf-32-le")
    if min(zeros[0], zeros[1]) > 0.9:
        candidates.append("utf-32-be")
    least = 0.02 if len(data) >= 64 else 0.5
    if odd > least and odd >= even:
        candidates.append("utf-16-le")
    if even > least and even >= odd:
        candidates.append("utf-16-be")
    return next((name for name in candidates if _reads_as_text(data, name)), "")


def _reads_as_text(data: bytes, name: str) -> bool:
    """Whether a wide encoding gives assigned characters with blanks or line ends among them."""
    text = data.decode(name, "replace")[:-1]
    odd = sum(
        unicodedata.category(c) in ("Cc", "Cn", "Co", "Cs") and c not in "\t\n\r\f" for c in text
    ) + text.count("\ufffd")
    ordinary = sum(c.isalnum() or c in " \t\r\n.,;:-_/'\"()" for c in text)
    return (
        odd <= len(text) * 0.01
        and ordinary > len(text) * 0.6
        and (len(text) < 40 or any(c in " \n,;\t" for c in text))
    )


def _is_mostly_utf8(samples: list[bytes]) -> bool:
    """Whether nearly all bytes above ASCII are whole characters of UTF-8, as in no other encoding:
    there some are by chance. Of a Latin-1 text next to none are, of one of two bytes a character a
    third."""
    high = wrong = 0
    for data in samples:
        text, read = codecs.utf_8_decode(data, "ignore", False)
        wrong += read - len(text.encode())
        high += len(data) - len(data.translate(None, HIGH))
    return wrong <= high * MOST_WRONG


def _odd_lines(data: bytes) -> int:
    """Lines that are no UTF-8, with their ends: a character cut there is wrong as well."""
    return sum(not line.isascii() and not _is_utf8(line) for line in data.splitlines(keepends=True))


def _high_lines(samples: list[bytes]) -> bytes:
    """Lines with bytes above ASCII, as many as a guess looks at."""
    lines, size = [], 0
    for line in chain.from_iterable(map(io.BytesIO, samples)):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > GUESSED_BY:
                break
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)


def _with_newlines(name: str, bom: int, guessed: bool, data: bytes) -> Encoding:
    unit = 4 if name.startswith("utf-32") else 2 if name.startswith("utf-16") else 1
    if unit > 1:
        data = (
            data[: len(data) - len(data) % unit].decode(name, "replace").encode("utf-8", "replace")
        )
    both = data.count(b"\r\n")
    counts = {"\n": data.count(b"\n") - both, "\r\n": both, "\r": data.count(b"\r") - both}
    if data.endswith(b"\r") and counts["\r"] == 1:
        counts["\r"] = 0  # the sample may end between the two bytes of a line ending
    newline = max(counts, key=lambda key: counts[key])
    return Encoding(name, bom, guessed, newline, sum(count > 0 for count in counts.values()) > 1)
