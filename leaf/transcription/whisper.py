"""faster-whisper in this process: an optional extra (`requirements-audio.txt`). Its model is
downloaded at first use."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from leaf.errors import TranscriptionError
from leaf.transcription.base import Cue, OnProgress, Pcm, heard, is_speech, raise_if_stopped

PIECE_SECONDS = 120.0
"""`small` takes half a minute for these on two cores; that much is done again after a kill."""
TICK = 0.5
MEGABYTE = 1_000_000


class FasterWhisper:
    """One model, loaded at the first piece and kept. Pieces are transcribed one after the other:
    each takes all cores it may."""

    at_once = 1
    piece_seconds = PIECE_SECONDS

    def __init__(self, model: str, folder: Path) -> None:
        """`model` is a size (`small`), a repository of converted weights (`org/name`), or a folder;
        `folder` keeps what comes."""
        self.model = model
        self.name = f"faster-whisper ({Path(model).name if os.path.isdir(model) else model})"
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: Any = None

    def transcribe(
        self, piece: Pcm, stop: threading.Event, on_progress: OnProgress
    ) -> tuple[Cue, ...]:
        model = self._ready(stop, on_progress)
        import numpy

        sound = numpy.fromfile(piece.path, dtype="<i2").astype(numpy.float32) / 32_768
        cues = []
        try:
            segments, _ = model.transcribe(sound, vad_filter=True, condition_on_previous_text=False)
            for segment in segments:  # each is worked out only now
                raise_if_stopped(stop)
                words = " ".join(str(segment.text).split())
                if words and is_speech(segment.no_speech_prob, segment.avg_logprob):
                    cues.append(Cue(max(0.0, float(segment.start)), float(segment.end), words))
        except (RuntimeError, ValueError, MemoryError) as e:
            raise TranscriptionError(
                f"{self.name} failed: {_line(e)}.",
                "Try a smaller model (LEAF_WHISPER_MODEL), or a server (LEAF_TRANSCRIBE_URL).",
            ) from e
        return heard(piece, tuple(cues))

    def _ready(self, stop: threading.Event, on_progress: OnProgress) -> Any:
        """The loaded model; one thread loads it, the others wait."""
        while not self._loading.acquire(timeout=TICK):
            raise_if_stopped(stop)
        try:
            if self._loaded is None:
                self._loaded = self._load(stop, on_progress)
            return self._loaded
        finally:
            self._loading.release()

    def _load(self, stop: threading.Event, on_progress: OnProgress) -> Any:
        try:
            import faster_whisper
        except ImportError as e:
            raise TranscriptionError(
                f"faster-whisper cannot be loaded: {_line(e)}.",
                "Install requirements-audio.txt again.",
            ) from e
        place = (
            self.model
            if os.path.isdir(self.model)
            else self._download(faster_whisper, stop, on_progress)
        )
        on_progress("Loading the speech model")
        try:
            threads = max(1, (os.cpu_count() or 2) - 1)
            return faster_whisper.WhisperModel(
                place, device="auto", compute_type="auto", cpu_threads=threads
            )
        except (RuntimeError, ValueError, OSError) as e:
            raise TranscriptionError(
                f"The speech model '{self.model}' cannot be loaded: {_line(e)}.",
                "Remove its folder, or name another in LEAF_WHISPER_MODEL.",
            ) from e

    def _download(self, library: Any, stop: threading.Event, on_progress: OnProgress) -> str:
        """Folder of the weights. Those that are there are used without asking the network. Raises
        TranscriptionError."""
        try:
            return str(
                library.download_model(
                    self.model, cache_dir=str(self._folder), local_files_only=True
                )
            )
        except ValueError as e:
            if "Invalid model size" in str(e):
                raise TranscriptionError(
                    f"There is no speech model '{self.model}'.",
                    "Set LEAF_WHISPER_MODEL to small, base or medium.",
                ) from e
        except OSError:
            pass  # not there yet
        folders: list[str] = []
        failed: list[BaseException] = []

        def fetch() -> None:
            try:
                folders.append(str(library.download_model(self.model, cache_dir=str(self._folder))))
            except BaseException as e:  # noqa: BLE001 - handed to the thread that waits
                failed.append(e)

        worker = threading.Thread(target=fetch, name="leaf-speech-model", daemon=True)
        worker.start()
        while worker.is_alive():
            worker.join(TICK)
            raise_if_stopped(
                stop
            )  # what was fetched so far is kept, and gone on with the next time
            on_progress(
                f"Downloading the speech model '{self.model}': "
                f"{_size(self._folder) / MEGABYTE:,.0f} MB so far"
            )
        if failed:
            raise TranscriptionError(
                f"The speech model '{self.model}' could not be downloaded: {_line(failed[0])}.",
                "Check the network, set LEAF_WHISPER_MODEL to the folder of a model, or "
                "LEAF_TRANSCRIBE_URL to a server.",
            ) from failed[0]
        return folders[0]


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += 0 if path.is_symlink() or not path.is_file() else path.stat().st_size
        except OSError:  # renamed just now
            continue
    return total


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else "no reason given")[:200].rstrip(".")
