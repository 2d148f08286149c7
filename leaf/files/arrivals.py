"""Many files that come at once: their bytes are kept first, then they are looked at in batches and
entered together.

    stream → kept (bytes on the disk) → a batch of them in one confined child → their rows, in one transaction → next batch

What is kept is known by its hash, so entering it again after a kill makes no second file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from leaf.errors import (
    LeafError,
    RunError,
    SandboxMemoryError,
    SandboxTimeoutError,
    StoreError,
)
from leaf.files.names import split_path
from leaf.readers.base import KINDS, Inspected, Outline, ending, holds_files
from leaf.readers.media_types import OTHER, media_type_of
from leaf.sandbox.answers import plain, unreadable
from leaf.sandbox.batch import call_each
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import BatchItem, Pool
from leaf.store import Store, files
from leaf.store.files import NewFile
from leaf.store.model import File, Json, Scope

MOST, PAGES = 1e15, 1_000_000
"""No file has more of anything, and none more pages."""
NOTES, SAID = 10_000, 1_000_000
"""Notes of one file, and characters of all of them, that are believed."""


def inspecting(size: int) -> CallLimits:
    """What looking at a file of so many bytes may use: a small one that asks for as much as a large
    one needs is made to."""
    megabytes = size / 1e6
    return CallLimits(min(120.0, 20 + 4 * megabytes), min(2_048, int(1_000 + 16 * megabytes)))


@dataclass(frozen=True)
class StoredFile:
    """A file whose bytes are kept, and of which nothing else is known."""

    name: str
    """With its folders."""
    sha256: str
    size: int
    source: str = "upload"
    context: str = ""
    """What the caller writes about it."""
    shared: bool = False
    parent_id: str = ""
    """The archive or mail that it came out of."""


@dataclass(frozen=True)
class Looked:
    """What a file is."""

    kind: str
    media_type: str
    outline: Json


@dataclass(frozen=True)
class Arrival:
    """What became of one of several files."""

    index: int
    """Its place among those that were given."""
    file: File
    is_new: bool


Beside = Callable[[Any, Sequence[tuple[int, str, bool, str]]], None]
"""Writes more in the transaction that enters files: told (index, file id, whether it is new, why it
cannot be read) of each."""


class Arrivals:
    """Enters kept files into the library of a workspace. Safe to call from any number of
    threads."""

    def __init__(self, store: Store, pool: Pool, bytes_of: Callable[[Scope, str], Path]) -> None:
        """`bytes_of` gives the bytes of a file by its SHA-256."""
        self._store = store
        self._pool = pool
        self._bytes_of = bytes_of

    def enter(
        self,
        scope: Scope,
        kept: Sequence[StoredFile],
        *,
        beside: Beside | None = None,
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Iterator[list[Arrival]]:
        """Look at the files and enter them, as they come. One that cannot be read is entered too,
        and its outline says why.

        `on_answer` is called for each file that was looked at. Raises RunError after `stop`,
        StoreError.
        """
        known = files.by_hashes(self._store.db, scope, [one.sha256 for one in kept])
        looked = {
            i: as_known
            for i, one in enumerate(kept)
            if (as_known := _known_as(known.get(one.sha256, ()), one.name))
        }
        for _ in looked:
            on_answer()
        if looked:
            yield self._entered(scope, kept, looked, beside)
        first: dict[tuple[str, str], list[int]] = {}
        for i, one in enumerate(kept):
            if i not in looked:
                first.setdefault((one.sha256, ending(one.name)), []).append(i)
        for batch in self._look(scope, kept, list(first.values()), stop, on_answer):
            yield self._entered(scope, kept, batch, beside)

    def _look(
        self,
        scope: Scope,
        entries: Sequence[StoredFile],
        groups: Sequence[list[int]],
        stop: threading.Event | None,
        on_answer: Callable[[], None],
    ) -> Iterator[dict[int, Looked]]:
        """What the files of some groups are; those of a group have the same bytes and ending, and
        are the same."""
        ones = [entries[group[0]] for group in groups]
        items = [
            BatchItem(
                {"path": "in:file", "name": split_path(one.name)[1]},
                partial(self._bytes_of, scope, one.sha256),
                limits=inspecting(one.size),
                size=one.size,
            )
            for one in ones
        ]
        limits = inspecting(0)
        answers = call_each(
            self._pool,
            "leaf.readers.worker:inspect",
            items,
            returns=Inspected,
            limits=limits,
            stop=stop,
            on_answer=on_answer,
        )
        for some in answers:
            yield {
                i: _looked(answer, entries[i].name)
                for number, answer in some
                for i in groups[number]
            }

    def _entered(
        self,
        scope: Scope,
        entries: Sequence[StoredFile],
        looked: Mapping[int, Looked],
        beside: Beside | None,
    ) -> list[Arrival]:
        order = sorted(looked)
        new = [_new_file(entries[i], looked[i]) for i in order]

        def write(tx: Any, made: Sequence[tuple[str, bool]]) -> None:
            if beside is not None:
                beside(
                    tx,
                    [
                        (i, *one, problem(looked[i].outline))
                        for i, one in zip(order, made, strict=True)
                    ],
                )

        rows = files.add_all(self._store.db, scope, new, write)
        return [Arrival(i, file, is_new) for i, (file, is_new) in zip(order, rows, strict=True)]

    def welcome_back(
        self, scope: Scope, known: File, context: str, source: str, shared: bool
    ) -> File:
        """The file that was there: restored if deleted, with the new words, and looked at again if
        that had failed."""
        file = (
            files.restore(self._store.db, scope, known.id)
            if known.deleted_at is not None
            else known
        )
        if file.source == "generated" and source != "generated":
            file = files.set_source(self._store.db, scope, file.id, source)
        if context.strip():
            file = files.add_context(self._store.db, scope, file.id, context, shared=shared)
        if file.outline.get("error"):
            looked = self._inspect(scope, file.sha256, file.base)
            file = files.set_outline(
                self._store.db,
                scope,
                file.id,
                kind=looked.kind,
                media_type=looked.media_type,
                outline=looked.outline,
            )
        return file

    def _inspect(self, scope: Scope, sha256: str, name: str) -> Looked:
        """What the file is. A failure that lies in the file is its outline; one of the disk or a
        stop is raised."""
        path = self._bytes_of(scope, sha256)
        limits, arguments = inspecting(path.stat().st_size), {"path": "in:file", "name": name}
        answer: Inspected | LeafError
        try:
            answer = self._pool.call(
                "leaf.readers.worker:inspect",
                arguments,
                returns=Inspected,
                inputs={"file": path},
                limits=limits,
            )
        except (StoreError, RunError):
            raise
        except LeafError as e:
            answer = e
        return _looked(answer, name)


def _known_as(there: Sequence[File], name: str) -> Looked | None:
    """What a file of these bytes was found to be, if its name has the same ending: beside the
    content only that counts."""
    for file in there:
        if (
            ending(file.name) == ending(name)
            and not file.outline.get("error")
            and not holds_files(file.kind, file.outline)
        ):
            return Looked(file.kind, file.media_type, file.outline)
    return None


def _new_file(one: StoredFile, looked: Looked) -> NewFile:
    about = (one.name, looked.media_type, looked.kind, one.size, one.sha256, one.source)
    return NewFile(*about, one.context.strip(), looked.outline, one.shared, one.parent_id)


def _looked(answer: Inspected | LeafError, name: str) -> Looked:
    """What the child says of a file. A failure that lies in the file is its outline; one of the
    disk is raised."""
    if isinstance(answer, StoreError):
        raise answer
    if isinstance(answer, LeafError):
        return Looked("unknown", OTHER, failure(name, answer))
    if answer.kind not in KINDS or not _is_possible(answer.outline):
        return Looked("unknown", OTHER, failure(name, unreadable()))
    media_type = media_type_of(answer.kind, answer.media_type)
    outline = replace(answer.outline, kind=answer.kind, media_type=media_type)
    return Looked(answer.kind, media_type, plain(outline))


def _is_possible(outline: Outline) -> bool:
    """Whether what a child counts can be counted: what goes by these numbers must come to an
    end."""
    counts = (
        *(outline.rows, outline.columns, outline.lines, outline.tables, outline.members),
        *(outline.duration, outline.width, outline.height, outline.tokens, outline.version),
        *outline.weight,
    )
    length = sum(len(note.text) + len(note.place) + len(note.cells) for note in outline.notes)
    if len(outline.notes) > NOTES or length > SAID:
        return False
    return all(n is None or 0 <= n <= MOST for n in counts) and 0 <= (outline.pages or 0) <= PAGES


def problem(outline: Json) -> str:
    """Why a file cannot be read and what to do; empty if it can."""
    return " ".join(
        str(outline[key]) for key in ("error", "hint") if outline.get("error") and outline.get(key)
    )


def failure(name: str, error: LeafError) -> Json:
    """An outline that says which file it is and what to do; the sandbox knows neither."""
    message = error.message if name in error.message else f"{name}: {error.message}"
    too_much = isinstance(error, SandboxTimeoutError | SandboxMemoryError)
    hint = (
        "Save it again in a simpler format or in parts, and add that." if too_much else error.hint
    )
    return {"error": message, "hint": hint}
