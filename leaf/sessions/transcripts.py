"""Transcripts: what is said in recordings, as far as it is known, and having it found out."""

from __future__ import annotations

import threading

from leaf.files.transcripts import OnProgress, Transcript
from leaf.sessions.house import Part
from leaf.store.model import File


class Transcripts(Part):
    """Transcripts of the library's recordings."""

    @property
    def engine(self) -> str:
        """Name of the engine that transcribes; empty where none is on."""
        return self._house.library.engine

    def of(self, file: File) -> Transcript:
        """How far the words of a recording are known. Asks nothing of an engine. Raises
        NotFoundError for a file of somebody else."""
        library = self._house.library
        return library.transcript(self._scope, library.get(self._scope, file.id))

    def text(
        self,
        file_id: str,
        *,
        on_progress: OnProgress | None = None,
        stop: threading.Event | None = None,
    ) -> str:
        """What is said in a recording, without times; empty if nobody speaks. Waits for it, and
        says how far it is.

        Raises UnreadableFileError for a video without sound, TranscriptionError where no engine is
        on, or it fails.
        """
        library = self._house.library
        file = library.get(self._scope, file_id)
        library.transcribe(self._scope, file, stop, on_progress)
        return " ".join(cue.text for cue in library.cues(self._scope, file))

    def begin(self, file_id: str) -> None:
        """Transcribe a recording in the background, if there is an engine and anything to hear.
        Raises FileError."""
        library = self._house.library
        file = library.get(self._scope, file_id)
        library.begin_transcript(self._scope, file)
        if library.transcript(self._scope, file).state == "working":
            self._house.jobs.begin(self._scope, "transcript", total=1, asked={"file": file_id})
