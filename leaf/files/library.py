"""The library of a workspace: files are kept, looked at once in the sandbox, read in windows, searched."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from leaf.errors import (
    InvalidInputError,
    LeafError,
    NotFoundError,
    RunError,
    StoreError,
    UnreadableFileError,
    not_found,
)
from leaf.files.arrivals import Arrivals, Beside, Entered, Kept, Looked, failure, inspecting
from leaf.files.members import Allowed, Members, OnMember, Source, Unpacked
from leaf.files.names import clean_name, clean_path, name_key
from leaf.files.pictures import PAGE, Pictures, View
from leaf.files.search import Hit, Search, SearchResult
from leaf.files.transcripts import KINDS as SOUND
from leaf.files.transcripts import SHORT_SECONDS, OnProgress, StillTranscribingError, Transcript, Transcripts
from leaf.formats.base import CONTAINERS, Note, Section, Window
from leaf.formats.locate import Box, Located, Sought
from leaf.formats.where import timestamp
from leaf.formats.window import CHARS_PER_TOKEN
from leaf.sandbox.pool import Limits, Pool
from leaf.sound.base import Cue, Transcriber
from leaf.store import Store, chat_files, files, made_files, media
from leaf.store.made_files import MadeFile
from leaf.store.media import Derived
from leaf.store.model import ChatFile, File, Scope
from leaf.store.slugs import slugs as sql_names

__all__ = ["Added", "Hit", "Kept", "Library", "SearchResult", "clean_name", "name_key", "open_path"]

READ = Limits(seconds=60)

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
    """Files that came out of it, where it is an archive or a mail: each is a file of its own too."""


def open_path(path: Path) -> BinaryIO:
    """A file on this machine, to be added. Raises LeafError if it cannot be opened."""
    try:
        return path.open("rb")
    except OSError as e:
        raise LeafError(f"Cannot open '{path}': {e.strerror}.", "Check the file and its permissions.") from e


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
        """`transcriber` turns sound into words, if there is one; `patience` is for how many seconds a call waits for it.

        `archives` says how much may come out of one archive.
        """
        self._store = store
        self._pool = pool
        self._limit_bytes = limit_bytes
        self._transcripts = Transcripts(home, pool, transcriber, self._bytes, self._transcribed, patience=patience)
        self._search = Search(home / "search", pool, self._text)
        self._pictures = Pictures(store, pool, self._bytes)
        self._arrivals = Arrivals(store, pool)
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
        """Keep a file, and the files that are in it, if it is an archive or a mail. One that cannot be read is kept too, and its
        outline says why.

        The same bytes are stored, read and indexed once; under another name they are another file. `folder` is where it came
        from, as it is shown before the name: `2024/sales`. `context` is what the caller writes about it, for nobody else's eyes
        unless `shared`. `on_progress` is told the bytes taken so far, `on_member` each file that comes out of it.
        Raises FileTooLargeError, StoreError, RunError after `stop`.
        """
        kept = self._keep(
            scope, clean_path(folder, name), stream, source=source, context=context, shared=shared, on_progress=on_progress
        )
        known = files.same(self._store.db, scope, kept.sha256, kept.name, source)
        if known is not None:
            added = Added(self._welcome_back(scope, known, context, source, shared), True)
        else:
            added = next(one for found in self.enter(scope, [kept]) for _, one in found)
        unpacked = self._members.unpack(scope, added.file, stop, on_member)
        return replace(added, file=unpacked.file, inside=unpacked.inside) if unpacked else added

    def unpack(
        self, scope: Scope, file_id: str, stop: threading.Event | None = None, on_member: OnMember | None = None
    ) -> Unpacked | None:
        """Take the files out of an archive or a mail that is there; those that are there already stay. None for other files.

        Raises NotFoundError, StoreError, RunError after `stop`.
        """
        return self._members.unpack(scope, self.get(scope, file_id), stop, on_member)

    def inside(self, scope: Scope, file_id: str) -> FileList:
        """The files that came out of an archive or a mail, and out of those."""
        return files.members(self._store.db, scope, file_id)

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
    ) -> Kept:
        """Keep the bytes of a file that is entered later. Raises FileTooLargeError, StoreError."""
        return self._keep(scope, clean_path(folder, name), stream, source=source, context=context, shared=shared)

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
    ) -> Kept:
        """`name` is a clean one, with its folders."""
        kept = self._store.blobs.put(scope.workspace_id, stream, self._limit_bytes, on_progress=on_progress)
        return Kept(name, kept.sha256, kept.size, source, context, shared, parent_id)

    def enter(
        self,
        scope: Scope,
        kept: Sequence[Kept],
        *,
        beside: Beside | None = None,
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Iterator[Sequence[tuple[int, Added]]]:
        """Enter files whose bytes are kept: what became of some of them at a time, by their place in `kept`.

        What is in archives and mails is not taken out: see `unpack`. Raises as `Arrivals.enter`.
        """
        for found in self._arrivals.enter(scope, kept, beside=beside, stop=stop, on_answer=on_answer):
            yield [(one.index, self._added(scope, one, kept[one.index])) for one in found]

    def _added(self, scope: Scope, one: Entered, kept: Kept) -> Added:
        if not one.is_new:
            return Added(self._welcome_back(scope, one.file, kept.context, kept.source, kept.shared), True)
        if (one.file.outline.get("duration") or 0) < SHORT_SECONDS:
            self._transcripts.begin(scope, one.file)
        return Added(one.file, False, tuple(files.other_names(self._store.db, scope, one.file)))

    def list(self, scope: Scope, *, query: str = "", sort: str = "newest", deleted: bool = False) -> FileList:
        """Files whose name, kind or description have all the words; sorted by newest, oldest, name, size or kind."""
        return files.list_files(self._store.db, scope, query=query, sort=sort, deleted=deleted)

    def get(self, scope: Scope, file_id: str) -> File:
        """Raises NotFoundError, which says so if the file was deleted."""
        return files.get(self._store.db, scope, file_id)

    def rename(self, scope: Scope, file_id: str, name: str) -> File:
        """Give it another name in its folder; what came out of it goes along. Raises NotFoundError, and InvalidInputError for an
        empty name.
        """
        if not name.strip():
            raise InvalidInputError("A file needs a name.", "Type at least one letter.")
        return files.rename(self._store.db, scope, file_id, clean_path(self.get(scope, file_id).folder, name))

    def delete(self, scope: Scope, file_id: str) -> File:
        """Put it away, with what came out of it; `restore` brings it back. Raises NotFoundError."""
        return files.delete(self._store.db, scope, file_id)

    def restore(self, scope: Scope, file_id: str) -> File:
        """Undo `delete`. Raises NotFoundError."""
        return files.restore(self._store.db, scope, file_id)

    def purge(self, scope: Scope, file_id: str) -> None:
        """Delete for good, with what came out of it: the row, and with the last file of these bytes them, their index and what
        was made of them. Raises NotFoundError.
        """
        for member in files.members(self._store.db, scope, file_id, deleted=None):
            self._purge_one(scope, member.id)
        self._purge_one(scope, file_id)

    def _purge_one(self, scope: Scope, file_id: str) -> None:
        file = files.purge(self._store.db, scope, file_id)
        if files.with_bytes(self._store.db, scope, file.sha256):
            return
        self._transcripts.forget(scope, file.sha256)
        self._search.forget(scope, file.sha256)
        self._pictures.forget(scope, file.sha256)
        used = media.is_picture(self._store.db, scope, file.sha256)  # made of another file as well, and sent to a model
        if not used and not made_files.has(self._store.db, scope, file.sha256):
            self._store.blobs.delete(scope.workspace_id, file.sha256)

    def open(self, scope: Scope, file_id: str) -> Path:
        """Where its bytes are, read-only. Raises NotFoundError."""
        return self._bytes(scope, self.get(scope, file_id).sha256)

    def attach(self, scope: Scope, chat_id: str, file_ids: Sequence[str], message_id: str = "") -> ChatFileList:
        """Put files into a chat, archives and mails with what came out of them; without a message they wait for its question.

        Raises NotFoundError.
        """
        return chat_files.attach(self._store.db, scope, chat_id, self._with_members(scope, file_ids), message_id)

    def _with_members(self, scope: Scope, file_ids: Sequence[str]) -> FileIds:
        found: dict[str, None] = {}
        there = files.get_all(self._store.db, scope, list(dict.fromkeys(file_ids)))
        containers = {file.id for file in there if file.kind in CONTAINERS}
        for file_id in file_ids:
            found[file_id] = None
            if file_id in containers:
                found.update({member.id: None for member in self.inside(scope, file_id)})
        return list(found)

    def attach_as(self, scope: Scope, chat_id: str, file_id: str, handle: str, slug: str) -> ChatFile:
        """Put a file into a chat under names that it has elsewhere. Raises NotFoundError, InvalidInputError if they are taken."""
        return chat_files.attach_as(self._store.db, scope, chat_id, file_id, handle, slug)

    def chat_files(self, scope: Scope, chat_id: str, *, deleted: bool = False) -> ChatFileList:
        """Files of a chat in the order in which they came; those deleted from the library only with `deleted`."""
        return chat_files.list_chat_files(self._store.db, scope, chat_id, deleted=deleted)

    def detach(self, scope: Scope, chat_id: str, file_id: str) -> None:
        """Take a waiting file out of the chat, with those that came out of it.

        Raises NotFoundError, InvalidInputError once a question went with it.
        """
        there = self.chat_files(scope, chat_id, deleted=True)
        found = next((c for c in there if file_id in (c.file.id, c.handle)), None)
        if found is None:
            raise not_found("file", file_id, (c.handle for c in there), "this chat")
        if found.message_id:
            raise InvalidInputError(
                f"{found.file.name} came with a question, so it stays in this chat.", "Begin a new chat without it."
            )
        inside = {member.id for member in self.inside(scope, found.file.id)}
        for one in [found, *(c for c in there if c.file.id in inside and not c.message_id)]:
            chat_files.detach(self._store.db, scope, chat_id, one.handle)

    def as_chat_files(self, found: Sequence[File]) -> ChatFileList:
        """Files under handles and slugs as a chat would give them, for work outside any chat."""
        slugs = sql_names([file.name for file in found])
        return [ChatFile("", f"f{i}", slug, file) for i, (slug, file) in enumerate(zip(slugs, found, strict=True), 1)]

    def read(
        self,
        scope: Scope,
        file: File,
        where: str = "",
        *,
        max_tokens: int = 8000,
        cursor: str = "",
        line_numbers: bool = False,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> Window:
        """A window of a file's text, at the place given in words, from the beginning, or on from a cursor.

        Of audio and video it is the transcript, made now if it is not there: `on_progress` is told how far that is.
        Raises NotFoundError if the file was deleted meanwhile, FileError, InvalidInputError for a place that it does not have,
        TranscriptionError, RunError after `stop`.
        """
        current = self._readable(scope, file.id)
        if current.kind in SOUND:
            return self._read_transcript(scope, current, where, max_tokens, cursor, stop, on_progress)
        arguments = {
            "path": "in:file",
            "kind": current.kind,
            "where": where,
            "max_tokens": max_tokens,
            "cursor": cursor,
            "line_numbers": line_numbers,
        }
        inputs = {"file": self._bytes(scope, current.sha256)}
        return _window(self._pool.call("leaf.formats.worker:read", arguments, inputs=inputs, limits=READ, stop=stop))

    def transcript(self, _scope: Scope, file: File) -> Transcript:
        """How far the words of a recording are known. Asks nothing of an engine."""
        return self._transcripts.of(file)

    def transcribe(
        self, scope: Scope, file: File, stop: threading.Event | None = None, on_progress: OnProgress | None = None
    ) -> Transcript:
        """Wait until the words of a recording are known. Raises as `read`, and StillTranscribingError when patience ends."""
        current = self._readable(scope, file.id)
        self._transcripts.captions(scope, current, stop, on_progress)
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

    def _read_transcript(
        self,
        scope: Scope,
        file: File,
        where: str,
        max_tokens: int,
        cursor: str,
        stop: threading.Event | None,
        on_progress: OnProgress | None,
    ) -> Window:
        """A window of the transcript; of what is done of it, with a note, where the rest takes longer than a call may."""
        try:
            path = self._transcripts.captions(scope, file, stop, on_progress)
        except StillTranscribingError as e:
            with self._transcripts.so_far(file) as found:
                if found is None:
                    raise
                path, last = found
                note = Note("transcript-partial", f"{e.message} Read on later with where='{timestamp(last)}-'.")
                try:
                    window = self._read_captions(path, where, max_tokens, "", stop)
                except InvalidInputError:
                    raise e from None  # a time that is not done yet
                return replace(window, cursor="", notes=(*window.notes, note))
        if path is None:
            duration = file.outline.get("duration")
            return Window("", (), "no speech was found" + (f" in {timestamp(duration)}" if duration else ""))
        return self._read_captions(path, where, max_tokens, cursor, stop)

    def _read_captions(self, path: Path, where: str, max_tokens: int, cursor: str, stop: threading.Event | None) -> Window:
        arguments = {"path": "in:file", "kind": "captions", "where": where, "max_tokens": max_tokens, "cursor": cursor}
        return _window(self._pool.call("leaf.formats.worker:read", arguments, inputs={"file": path}, limits=READ, stop=stop))

    def _text(
        self, scope: Scope, file: File, stop: threading.Event | None, on_progress: OnProgress | None
    ) -> tuple[Path | None, str]:
        """The bytes that hold a file's text, None where there is no text at all, and the kind to read them as."""
        if file.kind in SOUND:
            return self._transcripts.captions(scope, file, stop, on_progress), "captions"
        return self._bytes(scope, file.sha256), file.kind

    @contextmanager
    def _known_text(self, scope: Scope, file: File) -> Iterator[tuple[Path | None, str]]:
        """The bytes that hold what is known of a file's text, and the kind to read them as; None and why, where there is none."""
        if file.kind == "picture":
            yield None, "a picture has no words that can be checked"
        elif file.kind not in SOUND:
            yield self._bytes(scope, file.sha256), file.kind
        elif self._transcripts.of(file).state == "done":
            path = self._transcripts.captions(scope, file)
            yield path, "captions" if path else "no speech was found in it"
        else:
            with self._transcripts.so_far(file) as known:
                yield (known[0], "captions") if known else (None, "it is not transcribed")

    def _transcribed(self, scope: Scope, file: File, transcript: Transcript) -> None:
        """Keep with the file that its words are known, and how many tokens they take."""
        path = self._transcripts.captions(scope, file)
        tokens = int(path.stat().st_size / CHARS_PER_TOKEN) if path else 0
        for now in files.with_bytes(self._store.db, scope, file.sha256):
            outline = {**now.outline, "cues": transcript.cues, "tokens": tokens}
            with suppress(NotFoundError):
                files.set_outline(self._store.db, scope, now.id, kind=now.kind, media_type=now.media_type, outline=outline)

    def warm(self) -> None:
        """Begin to prepare the children that read files, without waiting for them."""
        self._pool.warm()

    def peek(self, path: Path, name: str, *, max_tokens: int = 3_000) -> Window:
        """The beginning of a file that is not in the library, and is not put there. Raises FileError, SandboxError."""
        inputs, limits = {"file": path}, inspecting(path.stat().st_size)
        found = self._pool.call("leaf.formats.worker:inspect", {"path": "in:file", "name": name}, inputs=inputs, limits=limits)
        arguments = {"path": "in:file", "kind": found["kind"], "where": "", "max_tokens": max_tokens}
        return _window(self._pool.call("leaf.formats.worker:read", arguments, inputs=inputs, limits=READ))

    def picture(self, scope: Scope, file: File, page: int) -> bytes:
        """A page of a PDF drawn as JPEG, not kept. Raises NotFoundError, FileError, InvalidInputError for other files."""
        current = self._readable(scope, file.id)
        if current.kind != "pdf":
            raise InvalidInputError(f"{current.name} has no pages that can be drawn.", "Read its text.")
        with tempfile.TemporaryDirectory(prefix="leaf-page-") as folder:
            arguments = {"path": "in:file", "kind": "pdf", "pages": [page], "out": "out:", "max_edge": PAGE.edge}
            inputs = {"file": self._bytes(scope, current.sha256)}
            drawn = self._pool.call("leaf.files.child:pictures", arguments, inputs=inputs, limits=READ, out=Path(folder))
            path = Path(folder) / str(drawn[0]["file"])
            return path.read_bytes()

    def view(self, scope: Scope, file: File, pages: str = "", *, stop: threading.Event | None = None) -> View:
        """Pages of a PDF, or a picture, made to be seen by a model and kept. At most ten pages a call; the others are named.

        Raises NotFoundError if the file was deleted meanwhile, FileError, InvalidInputError for other files and pages, RunError
        after `stop`.
        """
        return self._pictures.view(scope, self._readable(scope, file.id), pages, stop)

    def thumbnail(self, scope: Scope, file_id: str) -> tuple[bytes, int, int]:
        """A small picture of a picture, or of the first page of a PDF, its width and height in pixels.

        Raises NotFoundError, FileError, InvalidInputError for other files.
        """
        return self._pictures.thumbnail(scope, self._readable(scope, file_id))

    def seen(self, scope: Scope, sha256: str) -> tuple[bytes, str]:
        """Bytes and media type of a picture that a model was shown. Raises NotFoundError."""
        return self._pictures.data(scope, sha256)

    def marked_picture(self, scope: Scope, file: File, page: int, quote: str) -> tuple[bytes, int]:
        """A page of a PDF as JPEG with the quoted words marked, and the number of marks: one a line, 0 where they are not drawn.

        Raises NotFoundError, FileError, InvalidInputError.
        """
        current = self._readable(scope, file.id)
        with tempfile.TemporaryDirectory(prefix="leaf-page-") as folder:
            marks: int = self._pool.call(
                "leaf.files.child:marked_picture",
                {"path": "in:file", "page": page, "quote": quote, "out": "out:"},
                inputs={"file": self._bytes(scope, current.sha256)},
                limits=READ,
                out=Path(folder),
            )
            return (Path(folder) / "page.jpg").read_bytes(), marks

    def locate(self, scope: Scope, file: File, place: str, quote: str, stop: threading.Event | None = None) -> Located | None:
        """Where the quoted words stand in a file, looked for first at the place that is named; None if they do not.

        Raises NotFoundError if the file was deleted meanwhile, FileError, SandboxError, RunError after `stop`.
        """
        return self.locate_all(scope, file, [(place, quote)], stop)[0].found

    def locate_all(
        self, scope: Scope, file: File, asked: Sequence[tuple[str, str]], stop: threading.Event | None = None
    ) -> tuple[Sought, ...]:
        """What becomes of each (place, quote), in their order. One reading of the file for all of them. Raises as `locate`.

        Of audio and video what is transcribed so far is searched: a citation is checked, nothing new is heard for it.
        """
        current = self._readable(scope, file.id)
        with self._known_text(scope, current) as (path, kind):
            if path is None:
                return tuple(Sought(None, kind) for _ in asked)
            found = self._pool.call(
                "leaf.formats.locate:locate",
                {"path": "in:file", "kind": kind, "asked": [list(one) for one in asked]},
                inputs={"file": path},
                limits=READ,
                stop=stop,
            )
        return tuple(_sought(one) for one in found)

    def keep_figure(self, scope: Scope, png: Path, stop: threading.Event | None = None) -> Derived:
        """Keep a figure that Python code drew, drawn anew in a confined child. Raises FileError, SandboxError, RunError."""
        return self._pictures.keep_figure(scope, png, stop)

    def keep_written(self, scope: Scope, chat_id: str, message_id: str, name: str, path: Path) -> MadeFile:
        """Keep a file that Python wrote in a chat, unopened. Raises NotFoundError, StoreError."""
        with path.open("rb") as stream:
            kept = self._store.blobs.put(scope.workspace_id, stream, self._limit_bytes)
        return made_files.add(self._store.db, scope, chat_id, message_id, MadeFile(kept.sha256, clean_name(name), kept.size))

    def written(self, scope: Scope, chat_id: str, sha256: str, name: str) -> Path:
        """Where the bytes of a file are that Python wrote in this chat. Raises NotFoundError."""
        made = made_files.get(self._store.db, scope, chat_id, sha256, name)
        return self._store.blobs.path(scope.workspace_id, made.sha256)

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
        """Best passages for the words, or of each file its best one, with their places, and which files could not be searched.

        Raises RunError after `stop`.
        """
        return self._search.search(scope, found, query, limit, stop, on_progress, one_each=one_each)

    def _welcome_back(self, scope: Scope, known: File, context: str, source: str, shared: bool) -> File:
        """The file that was there: restored if deleted, with the new words, and looked at again if that had failed."""
        file = files.restore(self._store.db, scope, known.id) if known.deleted_at is not None else known
        if file.source == "generated" and source != "generated":
            file = files.set_source(self._store.db, scope, file.id, source)
        if context.strip():
            file = files.add_context(self._store.db, scope, file.id, context, shared=shared)
        if file.outline.get("error"):
            looked = self._inspect(scope, file.sha256, file.base)
            file = files.set_outline(
                self._store.db, scope, file.id, kind=looked.kind, media_type=looked.media_type, outline=looked.outline
            )
        return file

    def _inspect(self, scope: Scope, sha256: str, name: str) -> Looked:
        """What the file is. A failure that lies in the file is its outline; one of the disk or a stop is raised."""
        path = self._bytes(scope, sha256)
        limits, arguments = inspecting(path.stat().st_size), {"path": "in:file", "name": name}
        try:
            found = self._pool.call("leaf.formats.worker:inspect", arguments, inputs={"file": path}, limits=limits)
        except (StoreError, RunError):
            raise
        except LeafError as e:
            return Looked("unknown", "application/octet-stream", failure(name, e))
        return Looked(str(found["kind"]), str(found["media_type"]), dict(found["outline"]))

    def _readable(self, scope: Scope, file_id: str) -> File:
        file = self.get(scope, file_id)
        if file.outline.get("error"):
            raise UnreadableFileError(str(file.outline["error"]), str(file.outline.get("hint", "")))
        return file

    def _bytes(self, scope: Scope, sha256: str) -> Path:
        path = self._store.blobs.path(scope.workspace_id, sha256)
        if not path.is_file():
            raise NotFoundError("The bytes of this file are missing from the data folder.", "Upload the file again.")
        return path


def _sought(found: Mapping[str, Any]) -> Sought:
    where = found["found"]
    if where is None:
        return Sought(None, found["why"])
    spans = tuple((number, begin, end) for number, begin, end in where["spans"])
    boxes = tuple(Box(**box) for box in where["boxes"])
    return Sought(Located(**{**where, "spans": spans, "boxes": boxes}), found["why"])


def _window(found: Mapping[str, Any]) -> Window:
    return Window(
        text=found["text"],
        places=tuple(found["places"]),
        coverage=found["coverage"],
        cursor=found["cursor"],
        notes=tuple(Note(**note) for note in found["notes"]),
        unit=found["unit"],
        ranges=tuple((first, last) for first, last in found["ranges"]),
        total=found["total"],
        sections=tuple(Section(section["place"], tuple(section["texts"])) for section in found["sections"]),
    )
