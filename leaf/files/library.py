"""The library of a workspace: files are kept, looked at once in the sandbox, read in windows,
searched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from leaf.errors import (
    BlobGoneError,
    InvalidInputError,
    LeafError,
    NotFoundError,
    StorageError,
    UnreadableFileError,
    about,
    not_found,
)
from leaf.files.arrivals import Arrival, Arrivals, Beside, StoredFile, inspecting
from leaf.files.captions import KeptCaptions
from leaf.files.line import lost_file, problem
from leaf.files.members import Allowed, Members, OnMember, Source, Unpacked
from leaf.files.names import clean_name, clean_path, name_key
from leaf.files.pictures import Pictures
from leaf.files.search import Hit, Search, SearchResult
from leaf.files.texts import READ, Texts
from leaf.files.transcripts import SHORT_SECONDS, OnProgress, Transcript, TranscriptService
from leaf.readers.base import Inspected, Window, holds_files
from leaf.readers.window import CHARS_PER_TOKEN
from leaf.sandbox.pool import Pool
from leaf.store import Store, chat_files, files, made_files, removal, users
from leaf.store.made_files import MadeFile
from leaf.store.model import ChatFile, File, Scope
from leaf.store.removal import Gone
from leaf.store.slugs import slugs as sql_names
from leaf.transcription.base import Cue, Transcriber

__all__ = [
    "Added",
    "Hit",
    "Library",
    "SearchResult",
    "StoredFile",
    "clean_name",
    "name_key",
    "open_path",
]

FileList = list[File]
FileIds = list[str]
ChatFileList = list[ChatFile]


@dataclass(frozen=True)
class Added:
    """What became of a file that was added."""

    file: File
    """With `error` in its outline if it is kept but cannot be read."""
    duplicate: bool
    """Whether the workspace had these bytes already under this name."""
    same_as: tuple[str, ...] = ()
    """Other files with these bytes: each is a file of its own, and the bytes are stored once."""
    inside: tuple[File, ...] = ()
    """Files that came out of it, where it is an archive or a mail: each is a file of its own."""


def open_path(path: Path) -> BinaryIO:
    """A file on this machine, to be added. Raises LeafError if it cannot be opened."""
    try:
        return path.open("rb")
    except OSError as e:
        raise LeafError(
            f"Cannot open '{path}': {e.strerror}.", "Check the file and its permissions."
        ) from e


class Library:
    """What can be done with files. Safe to call from any number of threads."""

    def __init__(
        self,
        store: Store,
        pool: Pool,
        home: Path,
        *,
        limit_bytes: int = 1_000 * 1024 * 1024,
        transcriber: Transcriber | None = None,
        patience: float = 480.0,
        archives: Allowed | None = None,
    ) -> None:
        """`transcriber` turns sound into words, if there is one; `patience` is for how many seconds
        a call waits for it.

        `archives` says how much may come out of one archive.
        """
        self._store = store
        self._pool = pool
        self.limit_bytes = limit_bytes
        self._transcripts = TranscriptService(
            home,
            pool,
            transcriber,
            self._bytes,
            self._transcribed,
            KeptCaptions(store),
            patience=patience,
        )
        self.texts = Texts(pool, self._transcripts, self._bytes, self._readable)
        self._search = Search(home / "search", pool, self.texts.whole)
        self.pictures = Pictures(store, pool, self._bytes, self._readable)
        self._arrivals = Arrivals(store, pool, self._bytes)
        allowed = replace(archives or Allowed(), each=limit_bytes)
        self._members = Members(store, pool, self._bytes, self._keep, self.enter, allowed)

    def add(
        self,
        scope: Scope,
        name: str,
        stream: BinaryIO,
        *,
        source: Source = "upload",
        context: str = "",
        shared: bool = False,
        folder: str = "",
        on_progress: Callable[[int], None] | None = None,
        on_member: OnMember | None = None,
        stop: threading.Event | None = None,
    ) -> Added:
        """Keep a file, and the files that are in it, if it is an archive or a mail. One that cannot
        be read is kept too, and its outline says why.

        The same bytes are stored, read and indexed once; under another name they are another file.
        `folder` is where it came from, as it is shown before the name: `2024/sales`. `context` is
        what the caller writes about it, for nobody else's eyes unless `shared`. `on_progress` is
        told the bytes taken so far, `on_member` each file that comes out of it. Raises
        NotFoundError for who is no member, FileTooLargeError, StoreError, RunError after `stop`.
        """
        users.get_user(self._store.db, scope)
        entry = self._keep(
            scope,
            clean_path(folder, name),
            stream,
            source=source,
            context=context,
            shared=shared,
            on_progress=on_progress,
        )
        known = files.same(self._store.db, scope, entry.sha256, entry.name, source)
        if known is not None:
            added = Added(self._arrivals.welcome_back(scope, known, context, source, shared), True)
        else:
            added = next(one for batch in self.enter(scope, [entry]) for _, one in batch)
        unpacked = self._members.unpack(scope, added.file, stop, on_member)
        return replace(added, file=unpacked.file, inside=unpacked.inside) if unpacked else added

    def unpack(
        self,
        scope: Scope,
        file_id: str,
        stop: threading.Event | None = None,
        on_member: OnMember | None = None,
    ) -> Unpacked | None:
        """Take the files out of an archive or a mail that is there; those that are there already
        stay. None for other files.

        Raises NotFoundError, StoreError, RunError after `stop`.
        """
        return self._members.unpack(scope, self.get(scope, file_id), stop, on_member)

    def inside(self, scope: Scope, file_id: str) -> FileList:
        """The files that came out of an archive or a mail, and out of those."""
        return self._as_they_are(files.members(self._store.db, scope, file_id))

    def keep(
        self,
        scope: Scope,
        name: str,
        stream: BinaryIO,
        *,
        source: Source = "upload",
        context: str = "",
        shared: bool = False,
        folder: str = "",
    ) -> StoredFile:
        """Keep the bytes of a file that is entered later. Raises FileTooLargeError, StoreError."""
        return self._keep(
            scope, clean_path(folder, name), stream, source=source, context=context, shared=shared
        )

    def _keep(
        self,
        scope: Scope,
        name: str,
        stream: BinaryIO,
        *,
        source: Source = "upload",
        context: str = "",
        shared: bool = False,
        parent_id: str = "",
        on_progress: Callable[[int], None] | None = None,
    ) -> StoredFile:
        """`name` is a clean one, with its folders."""
        self._store.space.check()
        blob = self._store.blobs.put(
            scope.workspace_id, stream, self.limit_bytes, on_progress=on_progress
        )
        self._store.space.took(blob.size)
        return StoredFile(name, blob.sha256, blob.size, source, context, shared, parent_id)

    def enter(
        self,
        scope: Scope,
        kept: Sequence[StoredFile],
        *,
        beside: Beside | None = None,
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Iterator[Sequence[tuple[int, Added]]]:
        """Enter files whose bytes are kept: what became of some of them at a time, by their place
        in `kept`.

        What is in archives and mails is not taken out: see `unpack`. Raises as `Arrivals.enter`.
        """
        for batch in self._arrivals.enter(
            scope, kept, beside=beside, stop=stop, on_answer=on_answer
        ):
            yield [(one.index, self._added(scope, one, kept[one.index])) for one in batch]

    def _added(self, scope: Scope, one: Arrival, entry: StoredFile) -> Added:
        if not one.is_new:
            return Added(
                self._arrivals.welcome_back(
                    scope, one.file, entry.context, entry.source, entry.shared
                ),
                True,
            )
        if (one.file.outline.get("duration") or 0) < SHORT_SECONDS:
            self._transcripts.begin(scope, one.file)
        return Added(one.file, False, tuple(files.other_names(self._store.db, scope, one.file)))

    def list(
        self, scope: Scope, *, query: str = "", sort: str = "newest", deleted: bool = False
    ) -> FileList:
        """Files whose name, kind or description have all the words, in this order."""
        rows = files.list_files(self._store.db, scope, query=query, sort=sort, deleted=deleted)
        return self._as_they_are(rows)

    def get(self, scope: Scope, file_id: str) -> File:
        """Raises NotFoundError, which says so if the file was deleted."""
        return self._as_they_are([files.get(self._store.db, scope, file_id)])[0]

    def _as_they_are(self, rows: Sequence[File]) -> FileList:
        """The files of one workspace, each with `error` in its outline if its bytes are not there,
        so that whoever shows it or opens it says so. What is stored of them stays as it is."""
        blobs, hashes = self._store.blobs, [file.sha256 for file in rows]
        lost = blobs.lost(rows[0].workspace_id, hashes) if rows else {}
        return [
            lost_file(file, lost[file.sha256], blobs.whereabouts) if file.sha256 in lost else file
            for file in rows
        ]

    def rename(self, scope: Scope, file_id: str, name: str) -> File:
        """Give it another name in its folder; what came out of it goes along. Raises NotFoundError,
        and InvalidInputError for an empty name.
        """
        if not name.strip():
            raise InvalidInputError("A file needs a name.", "Type at least one letter.")
        return files.rename(
            self._store.db, scope, file_id, clean_path(self.get(scope, file_id).folder, name)
        )

    def delete(self, scope: Scope, file_id: str) -> File:
        """Put it away, with what came out of it; `restore` brings it back. Raises NotFoundError."""
        return files.delete(self._store.db, scope, file_id)

    def restore(self, scope: Scope, file_id: str) -> File:
        """Undo `delete`. Raises NotFoundError."""
        return files.restore(self._store.db, scope, file_id)

    def let_go(self, gone: Gone) -> None:
        """Remove what rows that are deleted have left here, but for what others rest on."""
        scope = Scope(gone.workspace_id, "")
        if gone.whole:
            self._transcripts.forget_all(scope)
            self._search.forget_all(scope)
            self._store.blobs.delete_all(gone.workspace_id)
        no_file = []
        for sha256 in gone.hashes:
            used, is_file = removal.in_use(self._store.db, gone.workspace_id, sha256)
            if not used:
                self._store.blobs.delete(gone.workspace_id, sha256)
            if not is_file:
                self._transcripts.forget(scope, sha256)
                no_file.append(sha256)
        self._search.forget(scope, no_file)

    def open(self, scope: Scope, file_id: str) -> Path:
        """Where its bytes are, read-only. Raises NotFoundError, also where they are missing."""
        file = files.get(self._store.db, scope, file_id)
        try:
            return self._store.blobs.local(scope.workspace_id, file.sha256)
        except BlobGoneError as e:
            note = lost_file(file, e, self._store.blobs.whereabouts).outline
            raise BlobGoneError(str(note["error"]), str(note["hint"]), altered=e.altered) from e
        except StorageError as e:
            raise about(e, file.name) from e

    def attach(
        self, scope: Scope, chat_id: str, file_ids: Sequence[str], message_id: str = ""
    ) -> ChatFileList:
        """Put files into a chat, archives and mails with what came out of them; without a message
        they wait for its question.

        Raises NotFoundError.
        """
        return chat_files.attach(
            self._store.db, scope, chat_id, self._with_members(scope, file_ids), message_id
        )

    def _with_members(self, scope: Scope, file_ids: Sequence[str]) -> FileIds:
        ids: dict[str, None] = {}
        there = files.get_all(self._store.db, scope, list(dict.fromkeys(file_ids)))
        containers = {file.id for file in there if holds_files(file.kind, file.outline)}
        for file_id in file_ids:
            ids[file_id] = None
            if file_id in containers:
                ids.update({member.id: None for member in self.inside(scope, file_id)})
        return list(ids)

    def attach_as(
        self, scope: Scope, chat_id: str, file_id: str, handle: str, slug: str
    ) -> ChatFile:
        """Put a file into a chat under names that it has elsewhere. Raises NotFoundError,
        InvalidInputError if they are taken."""
        return chat_files.attach_as(self._store.db, scope, chat_id, file_id, handle, slug)

    def chat_files(self, scope: Scope, chat_id: str, *, deleted: bool = False) -> ChatFileList:
        """Files of a chat in the order in which they came; those deleted from the library only with
        `deleted`."""
        rows = chat_files.list_chat_files(self._store.db, scope, chat_id, deleted=deleted)
        there = self._as_they_are([one.file for one in rows])
        return [replace(one, file=file) for one, file in zip(rows, there, strict=True)]

    def detach(self, scope: Scope, chat_id: str, file_id: str) -> None:
        """Take a waiting file out of the chat, with those that came out of it.

        Raises NotFoundError, InvalidInputError once a question went with it.
        """
        there = self.chat_files(scope, chat_id, deleted=True)
        chat_file = next((c for c in there if file_id in (c.file.id, c.handle)), None)
        if chat_file is None:
            raise not_found("file", file_id, (c.handle for c in there), "this chat")
        if chat_file.message_id:
            raise InvalidInputError(
                f"{chat_file.file.name} came with a question, so it stays in this chat.",
                "Begin a new chat without it.",
            )
        inside = {member.id for member in self.inside(scope, chat_file.file.id)}
        for one in [chat_file, *(c for c in there if c.file.id in inside and not c.message_id)]:
            chat_files.detach(self._store.db, scope, chat_id, one.handle)

    def as_chat_files(self, found: Sequence[File]) -> ChatFileList:
        """Files under handles and slugs as a chat would give them, for work outside any chat."""
        slugs = sql_names([file.name for file in found])
        return [
            ChatFile("", f"f{i}", slug, file)
            for i, (slug, file) in enumerate(zip(slugs, found, strict=True), 1)
        ]

    def transcript(self, _scope: Scope, file: File) -> Transcript:
        """How far the words of a recording are known. Asks nothing of an engine."""
        return self._transcripts.of(file)

    def transcribe(
        self,
        scope: Scope,
        file: File,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> Transcript:
        """Wait until the words of a recording are known; `stop` ends it. Raises as `read`, and
        StillTranscribingError when patience ends."""
        current = self._readable(scope, file.id)
        self._transcripts.captions(scope, current, stop, on_progress, ends=True)
        return self._transcripts.of(current)

    def begin_transcript(self, scope: Scope, file: File) -> None:
        """Transcribe a recording in the background, if there is an engine and anything to hear."""
        self._transcripts.begin(scope, self._readable(scope, file.id))

    def cues(self, scope: Scope, file: File) -> tuple[Cue, ...]:
        """What is known so far of what is said in a recording. Raises NotFoundError."""
        return self._transcripts.cues(self.get(scope, file.id))

    @property
    def engine(self) -> str:
        """Name of the engine that transcribes; empty for none."""
        return self._transcripts.engine

    def close(self) -> None:
        """Let go of what is being transcribed."""
        self._transcripts.close()

    def _transcribed(self, scope: Scope, file: File, transcript: Transcript) -> None:
        """Keep with the file that its words are known, and how many tokens they take."""
        path = self._transcripts.captions(scope, file)
        tokens = int(path.stat().st_size / CHARS_PER_TOKEN) if path else 0
        for now in files.with_bytes(self._store.db, scope, file.sha256):
            outline = {**now.outline, "cues": transcript.cues, "tokens": tokens}
            with suppress(NotFoundError):
                files.set_outline(
                    self._store.db,
                    scope,
                    now.id,
                    kind=now.kind,
                    media_type=now.media_type,
                    outline=outline,
                )

    def warm(self) -> None:
        """Begin to prepare the children that read files, without waiting for them."""
        self._pool.warm()

    def peek(self, path: Path, name: str, *, max_tokens: int = 3_000) -> Window:
        """The beginning of a file that is not in the library, and is not put there. Raises
        FileError, SandboxError."""
        inputs, limits = {"file": path}, inspecting(path.stat().st_size)
        facts = self._pool.call(
            "leaf.readers.worker:inspect",
            {"path": "in:file", "name": name},
            returns=Inspected,
            inputs=inputs,
            limits=limits,
        )
        arguments = {
            "path": "in:file",
            "kind": facts.kind,
            "where": "",
            "max_tokens": max_tokens,
        }
        return self._pool.call(
            "leaf.readers.worker:read", arguments, returns=Window, inputs=inputs, limits=READ
        )

    def keep_written(
        self, scope: Scope, chat_id: str, message_id: str, name: str, path: Path, call: str = ""
    ) -> MadeFile:
        """Keep a file that Python wrote in a chat, unopened; of one `call` the newest of each name.
        Raises NotFoundError, StoreError, SpaceError."""
        self._store.space.check()
        with path.open("rb") as stream:
            blob = self._store.blobs.put(scope.workspace_id, stream, self.limit_bytes)
        output = MadeFile(blob.sha256, clean_name(name), blob.size)
        return made_files.add(self._store.db, scope, chat_id, message_id, output, call)

    def written(self, scope: Scope, chat_id: str, sha256: str, name: str) -> Path:
        """Where the bytes of a file are that Python wrote in this chat. Raises NotFoundError."""
        output = made_files.get(self._store.db, scope, chat_id, sha256, name)
        try:
            return self._store.blobs.local(scope.workspace_id, output.sha256)
        except (BlobGoneError, StorageError) as e:
            raise about(e, output.name) from e

    def search(
        self,
        scope: Scope,
        found: Sequence[File],
        query: str,
        limit: int = 10,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
        *,
        one_each: bool = False,
    ) -> SearchResult:
        """Best passages for the words, or of each file its best one, with their places, and which
        files could not be searched.

        Raises RunError after `stop`.
        """
        return self._search.search(scope, found, query, limit, stop, on_progress, one_each=one_each)

    def _readable(self, scope: Scope, file_id: str) -> File:
        file = self.get(scope, file_id)
        if self._store.blobs.lost(scope.workspace_id, [file.sha256]):
            raise NotFoundError(problem(file))
        if file.outline.get("error"):
            raise UnreadableFileError(str(file.outline["error"]), str(file.outline.get("hint", "")))
        return file

    def _bytes(self, scope: Scope, sha256: str) -> Path:
        try:
            return self._store.blobs.local(scope.workspace_id, sha256)
        except (BlobGoneError, StorageError) as e:
            named = files.with_bytes(self._store.db, scope, sha256)
            raise (about(e, named[0].name) if named else e) from e
