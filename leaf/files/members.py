"""Files that come out of files: the members of archives and the attachments of mails, each added as
a file of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

from leaf.errors import FileError, LeafError, NotFoundError, RunError, SandboxError
from leaf.files.arrivals import StoredFile
from leaf.files.names import clean_path, split_path
from leaf.readers.base import Note, holds_files
from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.settings.disk import scratch
from leaf.store import Store, files
from leaf.store.model import File, Json, Scope

SECONDS = 300.0
"""Within which one archive is unpacked; one that is made to grow ends much earlier, by its size."""
MEMORY_MB = 1_000
DEEPEST = 3
"""Archives inside one another that are unpacked: a mail, its ZIP and an archive in that."""
WHY = 200
"""Characters of a reason that are shown."""
NAMED = 5
"""Members that could not be taken out and are named in one note."""
NOTES = frozenset(
    {"members-skipped", "archive-cut", "members-unread", "members-deep", "names-guessed"}
)
"""Kinds of notes that unpacking writes, in place of those of an earlier time."""

OnMember = Callable[[str, int, int], None]
"""Told the name of a file that was added, how many were until then, and how many there are."""
Source = Literal["upload", "drive", "generated", "sample"]


@dataclass(frozen=True)
class Allowed:
    """What may come out of one file, with all that is inside archives inside it."""

    files: int = 5_000
    size: int = 2_000_000_000
    """Bytes unpacked."""
    each: int = 1_000 * 1024 * 1024
    """Bytes of one file."""


@dataclass(frozen=True)
class MemberTaken:
    """A member that was written: its file is named by its number, from 1."""

    path: str
    """As the archive names it."""
    size: int


@dataclass(frozen=True)
class MemberProblem:
    """A member that could not be taken out."""

    path: str
    why: str


@dataclass(frozen=True)
class TakenOut:
    """What came out of one archive or mail."""

    members: tuple[MemberTaken, ...]
    problems: tuple[MemberProblem, ...]
    problem_count: int
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Unpacked:
    """What became of an archive or a mail."""

    file: File
    """Itself; its outline says what was left out and what could not be taken out."""
    inside: tuple[File, ...]


class MemberArrival(Protocol):
    """What became of one member."""

    @property
    def file(self) -> File: ...


class Keep(Protocol):
    """How the library keeps the bytes of a file."""

    def __call__(
        self, scope: Scope, name: str, stream: BinaryIO, *, source: Source, parent_id: str
    ) -> StoredFile: ...


class Enter(Protocol):
    """How the library enters files whose bytes are kept, some at a time."""

    def __call__(
        self, scope: Scope, kept: Sequence[StoredFile], *, stop: threading.Event | None
    ) -> Iterator[Sequence[tuple[int, MemberArrival]]]: ...


@dataclass
class _Left:
    """What may still come out."""

    files: int
    size: int


class Members:
    """Takes files out of files. Safe to call from any number of threads."""

    def __init__(
        self,
        store: Store,
        pool: Pool,
        bytes_of: Callable[[Scope, str], Path],
        keep: Keep,
        enter: Enter,
        allowed: Allowed,
    ) -> None:
        self._db = store.db
        self._pool = pool
        self._bytes_of = bytes_of
        self._keep = keep
        self._enter = enter
        self._allowed = allowed

    def unpack(
        self,
        scope: Scope,
        file: File,
        stop: threading.Event | None = None,
        on_member: OnMember | None = None,
    ) -> Unpacked | None:
        """Add what is in a file, and in archives inside it. None for files of other kinds, and for
        those that cannot be read.

        Raises StoreError, RunError after `stop`; what lies in the file stands in its outline.
        """
        left = _Left(self._allowed.files, self._allowed.size)
        return self._unpack(scope, file, left, DEEPEST, stop, on_member)

    def _unpack(
        self,
        scope: Scope,
        file: File,
        left: _Left,
        depth: int,
        stop: threading.Event | None,
        on_member: OnMember | None,
    ) -> Unpacked | None:
        if not holds_files(file.kind, file.outline) or file.outline.get("error"):
            return None
        if not depth:
            text = (
                f"It lies in {DEEPEST} archives already, so it was not unpacked: add it by itself."
            )
            return Unpacked(self._say(scope, file, [Note("members-deep", text, 1)]), ())
        with scratch("unpacked") as folder:
            try:
                contents = self._take_out(scope, file, folder, left, stop)
            except (FileError, SandboxError) as e:
                return Unpacked(self._fail(scope, file, e), ())
            inside = self._add(scope, file, folder, contents.members, stop, on_member)
        notes = [*contents.notes, *_unread(contents.problems, contents.problem_count)]
        deeper = [
            self._unpack(scope, member, left, depth - 1, stop, on_member) for member in inside
        ]
        known = [one.file if one else member for one, member in zip(deeper, inside, strict=True)]
        below = [member for one in deeper if one for member in one.inside]
        return Unpacked(self._say(scope, file, notes), (*known, *below))

    def _take_out(
        self, scope: Scope, file: File, out: Path, left: _Left, stop: threading.Event | None
    ) -> TakenOut:
        most = {"files": left.files, "size": left.size, "each": self._allowed.each}
        contents = self._pool.call(
            "leaf.readers.archives:unpack",
            {"path": "in:file", "kind": file.kind, "out": "out:", **most},
            returns=TakenOut,
            inputs={"file": self._bytes_of(scope, file.sha256)},
            limits=CallLimits(
                SECONDS,
                MEMORY_MB,
                left.size // 1024**2 + left.files * 4 // 1024 + 1_024,
                answer_mb=64,
                items=1_000 + 20 * left.files,
            ),
            out=out,
            takes=r"\d{1,9}",
            stop=stop,
        )
        sizes = [_size(out / str(number)) for number in range(1, len(contents.members) + 1)]
        if len(sizes) > left.files or sum(sizes) > left.size:
            raise unreadable()
        left.files -= len(sizes)
        left.size -= sum(sizes)
        return contents

    def _add(
        self,
        scope: Scope,
        file: File,
        folder: Path,
        members: Sequence[MemberTaken],
        stop: threading.Event | None,
        on_member: OnMember | None,
    ) -> list[File]:
        """Keep what was taken out, then enter it in batches. The files in their order in the
        archive."""
        entries = []
        for number, member in enumerate(members, 1):
            inner, name = split_path(member.path)
            with (folder / str(number)).open("rb") as stream:
                path = clean_path(f"{file.name}/{inner}", name)
                entries.append(
                    self._keep(scope, path, stream, source=file.source, parent_id=file.id)
                )
        entered: dict[int, File] = {}
        for some in self._enter(scope, entries, stop=stop):
            for index, one in some:
                entered[index] = one.file
                if on_member is not None:
                    on_member(one.file.name, len(entered), len(entries))
            if stop is not None and stop.is_set():
                raise RunError("Stopped.")
        return list({file.id: file for _, file in sorted(entered.items())}.values())

    def _say(self, scope: Scope, file: File, notes: Sequence[Note]) -> File:
        """Keep with the file what is to be said of unpacking it."""
        others = [note for note in file.outline.get("notes") or () if note.get("kind") not in NOTES]
        return self._set(scope, file, {**file.outline, "notes": [*others, *map(asdict, notes)]})

    def _fail(self, scope: Scope, file: File, error: LeafError) -> File:
        """An archive that cannot be unpacked says so; a mail can still be read."""
        if file.kind == "archive":
            outline: dict[str, Any] = {"error": f"{file.base}: {error.message}", "hint": error.hint}
            return self._set(scope, file, outline)
        text = f"What came with it could not be taken out: {error}"
        return self._say(scope, file, [Note("members-unread", text, int(file.outline["members"]))])

    def _set(self, scope: Scope, file: File, outline: Json) -> File:
        if outline == file.outline:
            return file
        try:
            return files.set_outline(
                self._db,
                scope,
                file.id,
                kind=file.kind,
                media_type=file.media_type,
                outline=outline,
            )
        except NotFoundError:
            return replace(file, outline=outline)  # deleted meanwhile


def _size(path: Path) -> int:
    """Bytes of a member that a child has written. Raises SandboxError where it has not."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        raise unreadable() from None


def _unread(problems: Sequence[MemberProblem], count: int) -> list[Note]:
    """One note for members that could not be taken out, by their reasons."""
    count = max(count, len(problems))
    if not count:
        return []
    named = "; ".join(f"{clean_path(*split_path(p.path))}: {p.why[:WHY]}" for p in problems[:NAMED])
    more = f" and {count - NAMED:,} more" if count > NAMED else ""
    text = f"{count:,} file{'s' if count != 1 else ''} in it could not be taken out: {named}{more}."
    return [Note("members-unread", text, count)]
