"""What is said in audio and video files: transcribed once, piece by piece, and kept as captions.

    file → a confined child decodes a piece to PCM → the engine → the piece's cues are kept → … → transcript.vtt

`home/transcripts/<workspace>/<sha256>/` holds a JSON file for each finished piece, then the whole,
which lasts as a blob with a row (`captions.py`).
A kill or a stop loses the piece that was being worked on; the next call goes on after the last one.
However many ask, one thread works on a recording.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from leaf import logs
from leaf.errors import (
    LeafError,
    NotFoundError,
    RunError,
    StoreError,
    TranscriptionError,
    UnreadableFileError,
)
from leaf.files.captions import DONE, WHOLE, KeptCaptions, read_webvtt, webvtt
from leaf.readers.locate.where import timestamp
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.settings.disk import scratch
from leaf.store.model import File, Scope
from leaf.transcription.base import Cue, Pcm, Transcriber, raise_if_stopped
from leaf.transcription.engines import none_is_on

log = logging.getLogger(__name__)

KINDS = frozenset(["audio", "video"])
DECODE = CallLimits(seconds=300)
SHORT_SECONDS = 120.0
"""Recordings up to this long are transcribed when they arrive."""
LONGEST_SECONDS, SHORTEST_PIECE = 1e7, 0.01
TICK = 0.2

PIECES = "[0-9]*.json"
"""Names of the files of finished pieces, in their order."""
OnProgress = Callable[[str], None]


@dataclass(frozen=True)
class Transcript:
    """How far the words of a recording are known."""

    state: Literal["none", "working", "done", "failed"]
    """`none`: nobody works on it, though pieces of it may be done."""
    seconds: float = 0.0
    """How much of it is done."""
    cues: int = 0
    """When done; 0 means that nobody speaks."""
    text: str = ""
    """What is being done, or why it failed."""


@dataclass(frozen=True)
class PieceHeard:
    """What a child says of a piece of sound that it decoded."""

    last: float
    """Seconds, where the next piece begins."""
    ended: bool
    silent: bool


class StillTranscribingError(TranscriptionError):
    """The recording is not done within the caller's patience; the work goes on."""


@dataclass(eq=False)
class _Job:
    """One recording that is being worked on."""

    scope: Scope
    file: File
    before: _Job | None
    """One that is being given up, which must end first."""
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    waiters: int = 0
    kept: bool = False
    """Goes on although nobody waits."""
    gone: bool = False
    """The file was deleted for good."""
    seconds: float = 0.0
    text: str = ""
    error: LeafError | None = None


class TranscriptService:
    """The transcripts of all workspaces under one data folder. Safe to call from any number of
    threads."""

    def __init__(
        self,
        home: Path,
        pool: Pool,
        engine: Transcriber | None,
        path_of: Callable[[Scope, str], Path],
        on_done: Callable[[Scope, File, Transcript], None],
        kept: KeptCaptions,
        *,
        patience: float = 480.0,
    ) -> None:
        """`path_of` gives the bytes of a file; `on_done` is told of each transcript that was
        finished; `kept` is where they last; `patience` is for how many seconds a caller waits."""
        self._root = home / "transcripts"
        self._pool = pool
        self._engine = engine
        self._path_of = path_of
        self._on_done = on_done
        self._kept = kept
        self._patience = patience
        self._guard = threading.Lock()
        self._jobs: dict[tuple[str, str], _Job] = {}
        self._failures: dict[tuple[str, str], str] = {}
        self._working = threading.BoundedSemaphore(engine.at_once if engine else 1)

    @property
    def engine(self) -> str:
        """Name of the engine that is on; empty for none."""
        return self._engine.name if self._engine else ""

    def of(self, file: File) -> Transcript:
        """How it stands with a recording. Cheap."""
        key = (file.workspace_id, file.sha256)
        with self._guard:
            job, failure = self._jobs.get(key), self._failures.get(key, "")
        if job is not None and not job.stop.is_set():
            return Transcript("working", job.seconds, text=job.text)
        if (done := self._done(key)) is not None:
            return done
        pieces = self._pieces(key)
        known = pieces[-1][0] if pieces else 0.0
        return Transcript("failed", known, text=failure) if failure else Transcript("none", known)

    def begin(self, scope: Scope, file: File) -> None:
        """Transcribe in the background, if there is an engine and anything to hear."""
        if (
            self._engine is None
            or not has_sound(file)
            or self._done((file.workspace_id, file.sha256)) is not None
        ):
            return
        with self._guard:
            self._join(scope, file).kept = True

    def captions(
        self,
        scope: Scope,
        file: File,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
        *,
        ends: bool = False,
    ) -> Path | None:
        """The whole transcript as WebVTT, made now if it is not there; None if nobody speaks.
        `stop` ends the work where nobody else waits; what was begun in the background only if it
        `ends` that too.

        Raises TranscriptionError where no engine is on or it fails, StillTranscribingError when
        patience ends (the work goes on), UnreadableFileError for a video without sound or damaged
        sound, RunError after `stop`.
        """
        key = (file.workspace_id, file.sha256)
        done = self._done(key) or self._wait(scope, file, stop, on_progress, ends)
        return self._words(key) if done.cues else None

    def cues(self, file: File) -> tuple[Cue, ...]:
        """What is known so far of what is said, in order."""
        key = (file.workspace_id, file.sha256)
        try:
            return read_webvtt(self._words(key).read_text(encoding="utf-8"))
        except (OSError, NotFoundError):
            return tuple(cue for _, piece in self._pieces(key) for cue in piece)

    @contextmanager
    def so_far(self, file: File) -> Iterator[tuple[Path, float] | None]:
        """What is done of an unfinished transcript, as WebVTT that lives as long as the context,
        and up to which second."""
        pieces = self._pieces((file.workspace_id, file.sha256))
        cues = [cue for _, piece in pieces for cue in piece]
        if not cues:
            yield None
            return
        with scratch("transcript") as folder:
            path = folder / WHOLE
            path.write_text(webvtt(cues), encoding="utf-8")
            yield path, pieces[-1][0]

    def forget(self, scope: Scope, sha256: str) -> None:
        """Remove all that is kept of a recording."""
        key = (scope.workspace_id, sha256)
        with self._guard:
            self._failures.pop(key, None)
            job = self._jobs.get(key)
            if job is not None:
                job.gone = True
                job.stop.set()
        self._kept.forget(scope, sha256)
        shutil.rmtree(self._folder(key), ignore_errors=True)

    def forget_all(self, scope: Scope) -> None:
        """Remove all transcripts of a workspace."""
        with self._guard:
            known = [
                sha256 for workspace_id, sha256 in self._jobs if workspace_id == scope.workspace_id
            ]
        for sha256 in known:
            self.forget(scope, sha256)
        shutil.rmtree(self._root / scope.workspace_id, ignore_errors=True)

    def close(self) -> None:
        """Let go of all work; the next need goes on with it."""
        with self._guard:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.stop.set()
        for job in jobs:
            job.over.wait(2.0)

    def _wait(
        self,
        scope: Scope,
        file: File,
        stop: threading.Event | None,
        on_progress: OnProgress | None,
        ends: bool,
    ) -> Transcript:
        """Work on it with whoever else asks for it, until it is done."""
        if not has_sound(file):
            raise UnreadableFileError(
                f"{file.name} has no sound track, so there is nothing to transcribe."
            )
        if self._engine is None:
            raise none_is_on()
        deadline = time.monotonic() + self._patience
        with self._guard:
            job = self._join(scope, file)
            job.waiters += 1
        last_text = ""
        try:
            while not job.over.wait(TICK):
                if stop is not None and stop.is_set():
                    raise RunError("Stopped.")
                if job.text != last_text and on_progress is not None:
                    last_text = job.text
                    on_progress(last_text)
                if time.monotonic() > deadline:
                    job.kept = True
                    raise _still(file, job.seconds)
        finally:
            with self._guard:
                job.waiters -= 1
                job.kept &= not (ends and stop is not None and stop.is_set())
                if not job.waiters and not job.kept:
                    job.stop.set()
        if job.error is not None:
            raise job.error
        done = self._done((file.workspace_id, file.sha256))
        if done is None:
            raise NotFoundError(
                f"{file.name} was deleted while it was transcribed.", "Add it again."
            )
        return done

    def _join(self, scope: Scope, file: File) -> _Job:
        """The job that works on the file, begun now if none does. Called under the guard."""
        key = (file.workspace_id, file.sha256)
        job = self._jobs.get(key)
        if job is None or job.stop.is_set() or job.over.is_set():
            self._failures.pop(key, None)
            job = self._jobs[key] = _Job(scope, file, job, text=f"Transcribing {file.name}")
            threading.Thread(
                target=self._run, args=(job,), name="leaf-transcribe", daemon=True
            ).start()
        return job

    def _run(self, job: _Job) -> None:
        key = (job.file.workspace_id, job.file.sha256)
        try:
            if job.before is not None:
                job.before.over.wait()
                job.before = None
            self._transcribe(job, key)
        except LeafError as e:
            job.error = e
        except Exception:  # whoever waits must learn of it, whatever it was
            log.exception("a recording could not be transcribed")
            job.error = TranscriptionError(
                f"{job.file.name} could not be transcribed.", "The log says why."
            )
        finally:
            with self._guard:
                if job.gone:
                    shutil.rmtree(self._folder(key), ignore_errors=True)
                if self._jobs.get(key) is job:
                    del self._jobs[key]
                if job.error is not None and not job.stop.is_set():
                    self._failures[key] = str(job.error)
                job.over.set()

    def _transcribe(self, job: _Job, key: tuple[str, str]) -> None:
        engine = self._engine
        if engine is None:
            raise none_is_on()
        while not self._working.acquire(timeout=TICK):
            raise_if_stopped(job.stop)
            job.text = f"{job.file.name} waits: another recording is being transcribed"
        try:
            pieces = self._pieces(key)
            at = pieces[-1][0] if pieces else 0.0
            ended = len(pieces) == self._count(key) and (self._folder(key) / "ended").exists()
            while not ended:
                raise_if_stopped(job.stop)
                self._kept.check_room()
                job.seconds, job.text = at, self._where(job.file, at)
                at, ended = self._piece(job, key, engine, at)
            self._finish(job, key, engine)
        finally:
            self._working.release()

    def _where(self, file: File, at: float) -> str:
        total = file.outline.get("duration")
        return f"Transcribing {file.name}" + (
            f": {timestamp(at)} of {timestamp(total)}" if total else ""
        )

    def _piece(
        self, job: _Job, key: tuple[str, str], engine: Transcriber, at: float
    ) -> tuple[float, bool]:
        """Transcribe and keep the piece from `at` on; returns its end and whether the recording
        ends there."""
        where = self._where(job.file, at)

        def note(text: str) -> None:
            job.text = f"{where} · {text}"

        folder = self._folder(key)
        with _disk(), tempfile.TemporaryDirectory(prefix=".piece-", dir=_made(folder)) as out:
            piece = self._pool.call(
                "leaf.readers.media.audio:pcm",
                {"path": "in:file", "first": at, "seconds": engine.piece_seconds, "out": "out:"},
                returns=PieceHeard,
                inputs={"file": self._path_of(job.scope, job.file.sha256)},
                limits=DECODE,
                out=Path(out),
                takes=r"piece\.pcm",
                stop=job.stop,
            )
            last, ended = _sane(piece, at), piece.ended
            sound = Pcm(Path(out) / "piece.pcm")
            cues = (
                ()
                if piece.silent or not sound.path.is_file()
                else engine.transcribe(sound, job.stop, note)
            )
            raise_if_stopped(job.stop)
            rows = [[round(at + c.start, 3), round(at + c.end, 3), c.text] for c in cues]
            _write(
                folder / f"{round(at * 1000):012d}.json",
                json.dumps({"last": last, "cues": rows}, ensure_ascii=False),
            )
            if ended:
                _write(folder / "ended", "")
        return last, ended

    def _finish(self, job: _Job, key: tuple[str, str], engine: Transcriber) -> None:
        folder, pieces = self._folder(key), self._pieces(key)
        cues = [cue for _, piece in pieces for cue in piece]
        length = pieces[-1][0] if pieces else 0.0
        with _disk():
            _write(folder / WHOLE, webvtt(cues))
            record = {"cues": len(cues), "seconds": length, "engine": engine.name}
            _write(folder / DONE, json.dumps(record))
        self._kept.keep(key, folder)
        if job.gone:
            self._kept.forget(job.scope, key[1])
        for path in folder.glob(PIECES):
            path.unlink(missing_ok=True)
        (folder / "ended").unlink(missing_ok=True)
        if not job.gone:
            try:
                self._on_done(job.scope, job.file, Transcript("done", length, len(cues)))
            except LeafError as e:  # the words are kept; only the row does not say so
                log.warning("a finished transcript was not noted with its file: %s", logs.reason(e))

    def _pieces(self, key: tuple[str, str]) -> list[tuple[float, list[Cue]]]:
        """End and cues of each finished piece, in order. A file that cannot be read ends the list:
        it is made again."""
        pieces: list[tuple[float, list[Cue]]] = []
        for path in sorted(self._folder(key).glob(PIECES)):
            try:
                piece = json.loads(path.read_text(encoding="utf-8"))
                pieces.append((float(piece["last"]), [Cue(*cue) for cue in piece["cues"]]))
            except (OSError, ValueError, KeyError, TypeError):
                break
        return pieces

    def _count(self, key: tuple[str, str]) -> int:
        """How many pieces are there, whether they can be read or not."""
        return sum(1 for _ in self._folder(key).glob(PIECES))

    def _done(self, key: tuple[str, str]) -> Transcript | None:
        try:
            record = json.loads((self._folder(key) / DONE).read_text(encoding="utf-8"))
            return Transcript("done", float(record["seconds"]), int(record["cues"]))
        except (OSError, ValueError, KeyError, TypeError):
            row = self._kept.row(key)
            return Transcript("done", row.seconds, row.cues) if row else None

    def _words(self, key: tuple[str, str]) -> Path:
        """The captions of a finished transcript, from the folder where it was made or from where
        they last. Raises NotFoundError, StorageError."""
        folder = self._folder(key)
        if (folder / DONE).is_file() and (folder / WHOLE).is_file():
            self._kept.keep(key, folder)
            return folder / WHOLE
        if (path := self._kept.words(key)) is None:
            raise NotFoundError("The words of this recording are not known.", "Transcribe it.")
        return path

    def _folder(self, key: tuple[str, str]) -> Path:
        workspace_id, sha256 = key
        if not re.fullmatch(r"[0-9A-Za-z-]{1,64}", workspace_id) or not re.fullmatch(
            r"[0-9a-f]{64}", sha256
        ):
            raise NotFoundError("No such recording.", "Open it from the Files page.")
        return self._root / workspace_id / sha256


def has_sound(file: File) -> bool:
    """Whether there is anything to transcribe."""
    return file.kind in KINDS and bool(file.outline.get("sound")) and not file.outline.get("error")


def _still(file: File, known: float) -> StillTranscribingError:
    total = file.outline.get("duration")
    of = f" of {timestamp(total)}" if total else ""
    return StillTranscribingError(
        f"{timestamp(known)}{of} of {file.name} is transcribed so far, and it goes on.",
        "Ask again in a while; what is done can be read by its times.",
    )


def _sane(piece: PieceHeard, at: float) -> float:
    """The end of a piece as the child says it. Raises UnreadableFileError for one that leads
    nowhere, or would never come to the end."""
    least = at if piece.ended else at + SHORTEST_PIECE
    if not least <= piece.last < LONGEST_SECONDS:
        raise UnreadableFileError(
            "The times in this recording make no sense.", "Convert it to MP3 or WAV, and add that."
        )
    return piece.last


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


@contextmanager
def _disk() -> Iterator[None]:
    """Say in words that the disk failed."""
    try:
        yield
    except OSError as e:
        raise StoreError(
            f"The transcript could not be kept: {e.strerror or e}.",
            "Free some space and try again.",
        ) from e


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    temporary = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
