"""Many files that come at once: their bytes are kept first, then they are looked at in batches and entered together.

    stream → kept (bytes on the disk) → a batch of them in one confined child → their rows, in one transaction → next batch

What is kept is known by its hash, so entering it again after a kill makes no second file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaf.errors import LeafError, SandboxMemoryError, SandboxTimeoutError, StoreError
from leaf.files.names import split_path
from leaf.formats.base import CONTAINERS
from leaf.formats.detect import ending
from leaf.sandbox.batch import call_each
from leaf.sandbox.pool import Item, Limits, Pool
from leaf.store import Store, files
from leaf.store.files import NewFile
from leaf.store.model import File, Json, Scope


def inspecting(size: int) -> Limits:
    """What looking at a file of so many bytes may use: a small one that asks for as much as a large one needs is made to."""
    megabytes = size / 1e6
    return Limits(min(120.0, 20 + 4 * megabytes), min(2_048, int(1_000 + 16 * megabytes)))


@dataclass(frozen=True)
class Kept:
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
class Entered:
    """What became of one of several files."""

    index: int
    """Its place among those that were given."""
    file: File
    is_new: bool


Beside = Callable[[Any, Sequence[tuple[int, str, bool, str]]], None]
"""Writes more in the transaction that enters files: told (index, file id, whether it is new, why it cannot be read) of each."""


class Arrivals:
    """Enters kept files into the library of a workspace. Safe to call from any number of threads."""

    def __init__(self, store: Store, pool: Pool) -> None:
        self._store = store
        self._pool = pool

    def enter(
        self,
        scope: Scope,
        kept: Sequence[Kept],
        *,
        beside: Beside | None = None,
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Iterator[list[Entered]]:
        """Look at the files and enter them, as they come. One that cannot be read is entered too, and its outline says why.

        `on_answer` is called for each file that was looked at. Raises RunError after `stop`, StoreError.
        """
        known = files.by_hashes(self._store.db, scope, [one.sha256 for one in kept])
        looked = {i: as_known for i, one in enumerate(kept) if (as_known := _known_as(known.get(one.sha256, ()), one.name))}
        for _ in looked:
            on_answer()
        if looked:
            yield self._entered(scope, kept, looked, beside)
        first: dict[tuple[str, str], list[int]] = {}
        for i, one in enumerate(kept):
            if i not in looked:
                first.setdefault((one.sha256, ending(one.name)), []).append(i)
        for found in self._look(scope, kept, list(first.values()), stop, on_answer):
            yield self._entered(scope, kept, found, beside)

    def _look(
        self,
        scope: Scope,
        kept: Sequence[Kept],
        groups: Sequence[list[int]],
        stop: threading.Event | None,
        on_answer: Callable[[], None],
    ) -> Iterator[dict[int, Looked]]:
        """What the files of some groups are; those of a group have the same bytes and ending, and are the same."""
        ones = [kept[group[0]] for group in groups]
        items = [
            Item(
                {"path": "in:file", "name": split_path(one.name)[1]},
                self._store.blobs.path(scope.workspace_id, one.sha256),
                limits=inspecting(one.size),
            )
            for one in ones
        ]
        limits = inspecting(0)
        answers = call_each(self._pool, "leaf.formats.worker:inspect", items, limits=limits, stop=stop, on_answer=on_answer)
        for some in answers:
            yield {i: _looked(answer, kept[i].name) for number, answer in some for i in groups[number]}

    def _entered(self, scope: Scope, kept: Sequence[Kept], looked: Mapping[int, Looked], beside: Beside | None) -> list[Entered]:
        order = sorted(looked)
        new = [_new_file(kept[i], looked[i]) for i in order]

        def write(tx: Any, made: Sequence[tuple[str, bool]]) -> None:
            if beside is not None:
                beside(tx, [(i, *one, problem(looked[i].outline)) for i, one in zip(order, made, strict=True)])

        rows = files.add_all(self._store.db, scope, new, write)
        return [Entered(i, file, is_new) for i, (file, is_new) in zip(order, rows, strict=True)]


def _known_as(there: Sequence[File], name: str) -> Looked | None:
    """What a file of these bytes was found to be, if its name has the same ending: beside the content only that counts."""
    for file in there:
        if ending(file.name) == ending(name) and not file.outline.get("error") and file.kind not in CONTAINERS:
            return Looked(file.kind, file.media_type, file.outline)
    return None


def _new_file(one: Kept, looked: Looked) -> NewFile:
    about = (one.name, looked.media_type, looked.kind, one.size, one.sha256, one.source)
    return NewFile(*about, one.context.strip(), looked.outline, one.shared, one.parent_id)


def _looked(answer: Any, name: str) -> Looked:
    """What the child says of a file. A failure that lies in the file is its outline; one of the disk is raised."""
    if isinstance(answer, StoreError):
        raise answer
    if isinstance(answer, LeafError):
        return Looked("unknown", "application/octet-stream", failure(name, answer))
    return Looked(str(answer["kind"]), str(answer["media_type"]), dict(answer["outline"]))


def problem(outline: Json) -> str:
    """Why a file cannot be read and what to do; empty if it can."""
    return " ".join(str(outline[key]) for key in ("error", "hint") if outline.get("error") and outline.get(key))


def failure(name: str, error: LeafError) -> Json:
    """An outline that says which file it is and what to do; the sandbox knows neither."""
    message = error.message if name in error.message else f"{name}: {error.message}"
    too_much = isinstance(error, SandboxTimeoutError | SandboxMemoryError)
    hint = "Save it again in a simpler format or in parts, and add that." if too_much else error.hint
    return {"error": message, "hint": hint}
