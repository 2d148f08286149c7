"""The text of files: read in windows, and searched for words that are quoted. Of recordings it is
what was transcribed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from leaf.errors import InvalidInputError, work_on
from leaf.files.transcripts import KINDS as SOUND
from leaf.files.transcripts import OnProgress, StillTranscribingError, TranscriptService
from leaf.readers.base import Note, Window
from leaf.readers.locate.locate import Located, Sought
from leaf.readers.locate.where import timestamp
from leaf.readers.window import CHARS_PER_TOKEN
from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.store.model import File, Scope

READ = CallLimits(seconds=60)
BESIDE = 200_000
"""Characters of a window besides four times those that were asked for, which are its text, that
text in sections, and their marks."""


class Texts:
    """Reads texts in the sandbox. Every call takes the scope on whose behalf it is made."""

    def __init__(
        self,
        pool: Pool,
        transcripts: TranscriptService,
        bytes_of: Callable[[Scope, str], Path],
        current: Callable[[Scope, str], File],
    ) -> None:
        """`bytes_of` gives the bytes of a hash, `current` a file by its id as it is now, if it can
        be read."""
        self._pool = pool
        self._transcripts = transcripts
        self._bytes = bytes_of
        self._current = current

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
        """A window of a file's text, at the place given in words, from the beginning, or on from a
        cursor.

        Of audio and video it is the transcript, made now if it is not there: `on_progress` is told
        how far that is. Raises NotFoundError if the file was deleted meanwhile, FileError,
        InvalidInputError for a place that it does not have, TranscriptionError, RunError after
        `stop`.
        """
        current = self._current(scope, file.id)
        if current.kind in SOUND:
            return self._read_transcript(
                scope, current, where, max_tokens, cursor, stop, on_progress
            )
        arguments = {
            "path": "in:file",
            "kind": current.kind,
            "where": where,
            "max_tokens": max_tokens,
            "cursor": cursor,
            "line_numbers": line_numbers,
        }
        inputs = {"file": self._bytes(scope, current.sha256)}
        with work_on(current.name):
            return self._window(arguments, inputs, stop)

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
        """A window of the transcript; of what is done of it, with a note, where the rest takes
        longer than a call may."""
        try:
            path = self._transcripts.captions(scope, file, stop, on_progress)
        except StillTranscribingError as e:
            with self._transcripts.so_far(file) as draft:
                if draft is None:
                    raise
                path, last = draft
                note = Note(
                    "transcript-partial",
                    f"{e.message} Read on later with where='{timestamp(last)}-'.",
                )
                try:
                    window = self._read_captions(path, where, max_tokens, "", stop)
                except InvalidInputError:
                    raise e from None  # a time that is not done yet
                return replace(window, cursor="", notes=(*window.notes, note))
        if path is None:
            duration = file.outline.get("duration")
            return Window(
                "", (), "no speech was found" + (f" in {timestamp(duration)}" if duration else "")
            )
        return self._read_captions(path, where, max_tokens, cursor, stop)

    def _read_captions(
        self, path: Path, where: str, max_tokens: int, cursor: str, stop: threading.Event | None
    ) -> Window:
        arguments = {
            "path": "in:file",
            "kind": "captions",
            "where": where,
            "max_tokens": max_tokens,
            "cursor": cursor,
        }
        return self._window(arguments, {"file": path}, stop)

    def _window(
        self,
        arguments: Mapping[str, Any],
        inputs: Mapping[str, Path],
        stop: threading.Event | None,
    ) -> Window:
        window = self._pool.call(
            "leaf.readers.worker:read",
            arguments,
            returns=Window,
            inputs=inputs,
            limits=READ,
            stop=stop,
        )
        if _characters(window) > 4 * CHARS_PER_TOKEN * arguments["max_tokens"] + BESIDE:
            raise unreadable()
        return window

    def locate(
        self, scope: Scope, file: File, place: str, quote: str, stop: threading.Event | None = None
    ) -> Located | None:
        """Where the quoted words stand in a file, looked for first at the place that is named; None
        if they do not.

        Raises NotFoundError if the file was deleted meanwhile, FileError, SandboxError, RunError
        after `stop`.
        """
        return self.locate_all(scope, file, [(place, quote)], stop)[0].found

    def locate_all(
        self,
        scope: Scope,
        file: File,
        asked: Sequence[tuple[str, str]],
        stop: threading.Event | None = None,
    ) -> tuple[Sought, ...]:
        """What becomes of each (place, quote), in their order. One reading of the file for all of
        them. Raises as `locate`.

        Of audio and video what is transcribed so far is searched: a citation is checked, nothing
        new is heard for it.
        """
        current = self._current(scope, file.id)
        with self._known_text(scope, current) as (path, kind):
            if path is None:
                return tuple(Sought(None, kind) for _ in asked)
            with work_on(current.name):
                results = self._pool.call(
                    "leaf.readers.locate.locate:locate",
                    {"path": "in:file", "kind": kind, "asked": [list(one) for one in asked]},
                    returns=tuple[Sought, ...],
                    inputs={"file": path},
                    limits=READ,
                    stop=stop,
                )
        if len(results) != len(asked):
            raise unreadable()
        return results

    def whole(
        self, scope: Scope, file: File, stop: threading.Event | None, on_progress: OnProgress | None
    ) -> tuple[Path | None, str]:
        """The bytes that hold a file's text, None where there is no text at all, and the kind to
        read them as."""
        if file.kind in SOUND:
            return self._transcripts.captions(scope, file, stop, on_progress), "captions"
        return self._bytes(scope, file.sha256), file.kind

    @contextmanager
    def _known_text(self, scope: Scope, file: File) -> Iterator[tuple[Path | None, str]]:
        """The bytes that hold what is known of a file's text, and the kind to read them as; None
        and why, where there is none."""
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


def _characters(window: Window) -> int:
    """All that a window would bring to a model or a page."""
    notes = (
        text for note in window.notes for text in (note.text, note.place, note.cells, note.short)
    )
    texts = (text for section in window.sections for text in (section.place, *section.texts))
    fields = (window.text, window.coverage, window.cursor, window.unit, *window.places)
    return sum(map(len, (*fields, *notes, *texts)))
