"""Files inside files: ZIP and TAR archives, and what came with mails.

Members are copied out one by one, as files named by plain numbers: a path that an archive gives is
only told, never opened.
"""

from __future__ import annotations

import io
import mimetypes
import stat
import struct
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, cast
from zipfile import BadZipFile, ZipFile, ZipInfo

from leaf.errors import EncryptedFileError, FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, Where
from leaf.readers.detect_zip import check_zip
from leaf.readers.encoding import decode
from leaf.readers.packed import BROKEN, PIECE, too_much, unpacked
from leaf.readers.window import CHARS_PER_TOKEN, Extent

LONGEST_PATH = 2_000
"""Characters of a path that are told."""
PROBLEMS = 200
"""Members that cannot be taken out and are named; the others are counted."""
PASSWORD = "it is protected by a password"
DAMAGED = "it is damaged"
SYSTEM_FOLDERS = ("__MACOSX",)
SYSTEM_FILES = ("thumbs.db", "desktop.ini")
"""What macOS and Windows put beside people's files."""
NO_NAME = frozenset(bytes([*range(0xA9, 0xE1), *range(0xE2, 0xFF)]).decode("cp437"))
"""Characters of code page 437 that are no letters of names: frames, blocks, and signs of
mathematics."""
UNICODE_PATH = 0x7075
"""Extra field of a ZIP entry that holds its name in UTF-8 (APPNOTE 4.6.9)."""


@dataclass(frozen=True)
class ArchiveMember:
    """One file in an archive or a mail, not opened yet."""

    path: str
    """As it is called inside: whoever keeps it cleans that."""
    size: int
    """Bytes, as the archive says; what comes out is counted."""
    open: Callable[[], IO[bytes]]
    problem: str = ""
    """Why it cannot be taken out, if that is known before."""


@dataclass
class Listing:
    """What stands in an archive, as it is gone through."""

    skipped: Counter[str] = field(default_factory=Counter)
    """`folder`, `system file`, `link`, `nameless file` -> how many were left out."""
    page: str = ""
    """The code page by which its names were read, where that is a guess."""
    cut: bool = False
    """Whether the archive ends before its end."""


@dataclass(frozen=True)
class Most:
    """What one archive may give, all that is inside archives inside it included."""

    files: int
    size: int
    """Bytes unpacked."""
    each: int
    """Bytes of one member."""


class ArchiveReader:
    """Lines: the paths of the members, with their sizes. Nothing is unpacked."""

    def outline(self, path: Path) -> Outline:
        """Raises EncryptedFileError where a password protects every member."""
        listing = Listing()
        with opened(path, "archive", listing) as members:
            entries = list(members)
        if entries and all(member.problem == PASSWORD for member in entries):
            raise EncryptedFileError(
                "This archive is protected by a password.",
                "Unpack it, and add the folder, or pack it without a password.",
            )
        tokens = int(sum(len(_line(member)) + 1 for member in entries) / CHARS_PER_TOKEN)
        return Outline(
            "archive",
            "application/zip",
            members=len(entries),
            tokens=tokens,
            notes=tuple(_notes(listing)),
        )

    def extent(self, path: Path, where: Where) -> Extent:
        with opened(path, "archive", Listing()) as members:
            return Extent(sum(1 for _ in members))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        with opened(path, "archive", Listing()) as members:
            for number, member in enumerate(members, 1):
                if number >= where.first and (where.last is None or number <= where.last):
                    yield Passage(_line(member), "line", number)


def unpack(path: str, kind: str, out: str, files: int, size: int, each: int) -> dict[str, Any]:
    """Copy the members of an archive or a mail into `out`, as files named 1, 2, 3 …

    Gives {"members": [{"path", "size"}], "problems": [{"path", "why"}], "problem_count",
    "notes"}. One that cannot be taken out is a problem, and never its neighbours'. Raises
    FileTooLargeError where the whole is over `files`, `size` or a ratio that no ordinary data have,
    UnreadableFileError.
    """
    listing = Listing()
    taking = _Taking(Path(out), Most(files, size, each), Path(path).stat().st_size)
    with unpacked(Path(path)) as plain, opened(plain, kind, listing) as members:
        for member in members:
            taking.take(member)
    return {
        "members": taking.members,
        "problems": taking.problems[:PROBLEMS],
        "problem_count": len(taking.problems),
        "notes": [asdict(note) for note in _notes(listing)],
    }


class _Taking:
    """Members on their way out, counted against what is allowed."""

    def __init__(self, out: Path, most: Most, packed: int) -> None:
        self._out, self._most, self._packed = out, most, packed
        self._size = 0
        self.members: list[dict[str, Any]] = []
        self.problems: list[dict[str, str]] = []

    def take(self, member: ArchiveMember) -> None:
        path = member.path.encode("utf-8", "replace").decode()[:LONGEST_PATH]
        if len(self.members) + len(self.problems) >= self._most.files:
            raise FileTooLargeError(
                f"This archive holds more than {self._most.files:,} files, the most that "
                f"are taken.",
                "Add it in parts, or raise LEAF_ARCHIVE_FILES.",
            )
        if member.problem or member.size > self._most.each:
            self.problems.append(
                {
                    "path": path,
                    "why": member.problem or f"it is larger than {_megabytes(self._most.each)}",
                }
            )
            return
        target = self._out / str(len(self.members) + 1)
        try:
            size = self._copy(member, target)
        except (NotImplementedError, RuntimeError) as e:
            target.unlink(missing_ok=True)
            why = (
                PASSWORD
                if "password" in str(e)
                else "it is packed in a way that cannot be unpacked"
            )
            self.problems.append({"path": path, "why": why})
        except (BadZipFile, tarfile.TarError, *BROKEN):
            target.unlink(missing_ok=True)
            self.problems.append({"path": path, "why": DAMAGED})
        else:
            self.members.append({"path": path, "size": size})

    def _copy(self, member: ArchiveMember, target: Path) -> int:
        size = 0
        with member.open() as source, target.open("wb") as file:
            while piece := source.read(PIECE):
                size += len(piece)
                self._size += len(piece)
                self._check()
                file.write(piece)
        return size

    def _check(self) -> None:
        if self._size > self._most.size:
            raise FileTooLargeError(
                f"This archive unpacks to more than {_megabytes(self._most.size)}, the most "
                f"that is taken.",
                "Add it in parts, or raise LEAF_ARCHIVE_MB.",
            )
        if too_much(self._size, self._packed):
            raise FileTooLargeError(
                f"This archive unpacks to more than {_megabytes(self._size)} from "
                f"{self._packed / 1e6:,.1f} MB, "
                "as no ordinary data do.",
                "Unpack it yourself, and add the files that you need.",
            )


@contextmanager
def opened(path: Path, kind: str, listing: Listing) -> Iterator[Iterator[ArchiveMember]]:
    """The members of an archive or a mail; `listing` is told what was left out. Raises
    FileError."""
    if kind != "archive":
        yield _attachments(path, kind)
        return
    with path.open("rb") as file:
        zipped = file.read(2) == b"PK"
    if zipped:
        entries = check_zip(path)
        with ZipFile(path) as archive:
            yield _zip_members(archive, entries, listing)
        return
    try:
        with tarfile.open(path, "r:", errorlevel=0) as tar:
            yield _tar_members(tar, listing)
    except (tarfile.TarError, *BROKEN) as e:
        raise UnreadableFileError(
            "This archive is damaged or incomplete.", "Download or pack it again, and add it again."
        ) from e


def _zip_members(
    archive: ZipFile, entries: list[ZipInfo], listing: Listing
) -> Iterator[ArchiveMember]:
    for entry, path in zip(entries, _zip_names(entries, listing), strict=True):
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if not path or not entry.filename:
            listing.skipped["nameless file"] += 1
        elif entry.is_dir() or path.endswith("\\"):
            listing.skipped["folder"] += 1
        elif _is_system(path):
            listing.skipped["system file"] += 1
        elif kind not in (0, stat.S_IFREG):
            listing.skipped["link"] += 1
        else:
            problem = PASSWORD if entry.flag_bits & 1 else ""
            yield ArchiveMember(path, entry.file_size, partial(archive.open, entry), problem)


def _zip_names(entries: list[ZipInfo], listing: Listing) -> list[str]:
    """UTF-8 where the archive says so or all names are that; else as its packer wrote them, by the
    standard code page 437.

    That page's frames and signs stand in no name: where they appear, it was another page, which is
    guessed from all names.
    """
    raw = [
        b""
        if entry.flag_bits & 0x800
        else entry.orig_filename.encode("cp437", "replace").replace(b"\n", b" ")
        for entry in entries
    ]
    names = _decoded(raw, listing)
    return [
        _unicode_path(e) or (n if r else e.orig_filename)
        for e, n, r in zip(entries, names, raw, strict=True)
    ]


def _decoded(raw: list[bytes], listing: Listing) -> list[str]:
    if not raw:
        return []
    together = b"\n".join(raw)
    with suppress(UnicodeDecodeError):
        return together.decode("utf-8").split("\n")
    if NO_NAME & set(together.decode("cp437")):
        text, encoding = decode(together)
        if len(names := text.split("\n")) == len(raw):
            listing.page = encoding.name
            return names
    return [name.decode("cp437") for name in raw]


def _unicode_path(entry: ZipInfo) -> str:
    """The name in the extra field for it; empty where there is none, or where it is of another
    name."""
    at, extra = 0, entry.extra
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        body = extra[at + 4 : at + 4 + length]
        if kind == UNICODE_PATH and len(body) > 5 and not entry.flag_bits & 0x800:
            checksum = int.from_bytes(body[1:5], "little")
            if checksum == zlib.crc32(entry.orig_filename.encode("cp437", "replace")):
                return body[5:].decode("utf-8", "replace")
        at += 4 + length
    return ""


def _tar_members(archive: tarfile.TarFile, listing: Listing) -> Iterator[ArchiveMember]:
    try:
        for info in archive:
            path = _tar_name(info.name)
            if info.isdir():
                listing.skipped["folder"] += 1
            elif _is_system(path):
                listing.skipped["system file"] += 1
            elif not info.isreg():
                listing.skipped["link"] += 1
            else:
                yield ArchiveMember(path, info.size, partial(_whole, archive, info))
    except (tarfile.TarError, *BROKEN):
        listing.cut = True


def _tar_name(name: str) -> str:
    try:
        return (
            decode(name.encode("ascii", "surrogateescape"))[0]
            if "\udc80" <= max(name, default="") <= "\udcff"
            else name
        )
    except UnicodeEncodeError:
        return name


class _Whole(io.RawIOBase):
    """A member of a TAR archive that fails where the archive ends before it does."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._left -= len(piece)
        if not piece and self._left:
            raise EOFError
        return piece


def _whole(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    file = archive.extractfile(info)
    if file is None:
        raise tarfile.ReadError("no file")
    return cast(IO[bytes], _Whole(file, info.size))


def _attachments(path: Path, kind: str) -> Iterator[ArchiveMember]:
    """What came with a mail, or is attached in a PDF; of a mailbox with the number of the message
    before it."""
    if kind == "pdf":
        from leaf.readers.documents.pdf_open import attached

        for number, (name, data) in enumerate(attached(path), 1):
            yield _attachment("", number, name, "", data)
        return
    if kind == "msg":
        from leaf.readers.documents.msg import attachments_of

        for number, (name, media_type, data) in enumerate(attachments_of(path), 1):
            yield _attachment("", number, name, media_type, data)
        return
    from leaf.readers.documents.email import read
    from leaf.readers.documents.mailbox import mails

    for message, mail in mails(path) if kind == "mailbox" else [(0, read(path))]:
        for number, attachment in enumerate(mail.attachments, 1):
            yield _attachment(
                f"{message}/" if message else "",
                number,
                attachment.name,
                attachment.media_type,
                attachment.data,
            )


def _attachment(folder: str, number: int, name: str, media_type: str, data: bytes) -> ArchiveMember:
    plain = (
        name.replace("/", "-").replace("\\", "-")
        or f"attachment-{number}{mimetypes.guess_extension(media_type) or ''}"
    )
    return ArchiveMember(f"{folder}{plain}", len(data), lambda: io.BytesIO(data))


def _is_system(path: str) -> bool:
    parts = path.replace("\\", "/").split("/")
    last = parts[-1].lower()
    return (
        any(p in SYSTEM_FOLDERS for p in parts[:-1])
        or last in SYSTEM_FILES
        or last == ".ds_store"
        or last.startswith("._")
    )


def _line(member: ArchiveMember) -> str:
    path = " ".join(member.path.encode("utf-8", "replace").decode()[:LONGEST_PATH].split())
    return f"{path} ({member.size:,} bytes)" + (f": {member.problem}" if member.problem else "")


def _notes(listing: Listing) -> Iterator[Note]:
    if listing.skipped:
        counts = ", ".join(
            f"{n:,} {kind}{'s' if n != 1 else ''}" for kind, n in sorted(listing.skipped.items())
        )
        yield Note(
            "members-skipped", f"Left out of the archive: {counts}.", listing.skipped.total()
        )
    if listing.page:
        yield Note(
            "names-guessed",
            f"The archive does not say in what its names are written: they were read as "
            f"{listing.page}.",
        )
    if listing.cut:
        yield Note("archive-cut", "The archive is cut off: files may be missing at its end.", 1)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size:,} bytes"
