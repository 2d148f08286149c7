"""Which engine is on: a server if one is named, else faster-whisper if it is installed, else
none."""

from __future__ import annotations

import importlib.util

from leaf.errors import TranscriptionError
from leaf.settings import Settings
from leaf.transcription.base import Transcriber

HOW = (
    "Whoever runs Leaf can turn it on: pip install -r requirements-audio.txt, or set "
    "LEAF_TRANSCRIBE_URL, and start Leaf again."
)


def none_is_on() -> TranscriptionError:
    """What is said of sound where no engine is on."""
    return TranscriptionError("Sound cannot be transcribed yet: no engine is on.", HOW)


def choose(settings: Settings) -> Transcriber | None:
    """The engine, not loaded yet; None where there is none."""
    if settings.sound.url:
        from leaf.transcription.server import TranscriptionServer

        return TranscriptionServer(settings.sound.url, settings.sound.model, settings.sound.key)
    if importlib.util.find_spec("faster_whisper") is not None:
        from leaf.transcription.whisper import FasterWhisper

        return FasterWhisper(settings.sound.whisper_model, settings.home / "models")
    return None
