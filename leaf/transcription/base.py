"""What an engine that turns sound into words is given, and what it gives back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from leaf.errors import RunError

RATE = 16_000
"""Samples a second of all PCM in this package: signed 16 bits, little endian, one channel."""
QUIET = 10 ** (-50 / 20) * 32_768
"""Words over samples that never get louder than -50 dB of full scale were made up: nobody said
them."""
SHORTEST = RATE // 2
"""Samples that are looked at for a cue at least: engines round times, and give some no length."""
NO_SPEECH = 0.6
UNSURE = -1.0
"""Whisper's own bounds: a segment with `no_speech_prob` above and `avg_logprob` below them holds no
speech."""

OnProgress = Callable[[str], None]


@dataclass(frozen=True)
class Pcm:
    """A piece of a recording on disk."""

    path: Path

    @property
    def seconds(self) -> float:
        return self.path.stat().st_size / 2 / RATE


@dataclass(frozen=True)
class Cue:
    """What was said from `start` to `end`, in seconds from the beginning of the piece or of the
    recording."""

    start: float
    end: float
    text: str


class Transcriber(Protocol):
    """An engine. Safe to call from several threads."""

    name: str
    """For people: `faster-whisper (small)`, `whisper-1 at api.example.com`."""
    piece_seconds: float
    """Longest piece that it takes at once."""
    at_once: int
    """Pieces that it works on at the same time."""

    def transcribe(
        self, piece: Pcm, stop: threading.Event, on_progress: OnProgress
    ) -> tuple[Cue, ...]:
        """What is said in a piece, in order; empty if nobody speaks. Raises TranscriptionError,
        RunError after `stop`."""


def heard(piece: Pcm, cues: tuple[Cue, ...]) -> tuple[Cue, ...]:
    """The cues during which there is any sound. Engines fill silence with what they have read most
    often."""
    import numpy

    samples = numpy.fromfile(piece.path, dtype="<i2")
    audible_cues = []
    for cue in cues:
        begin = max(0, min(int(cue.start * RATE), len(samples) - SHORTEST))
        stretch = samples[begin : max(int(cue.end * RATE), begin + SHORTEST)]
        if len(stretch) and int(numpy.abs(stretch.astype(numpy.int32)).max()) >= QUIET:
            audible_cues.append(cue)
    return tuple(audible_cues)


def is_speech(no_speech: float | None, log_probability: float | None) -> bool:
    """Whether a segment is speech by Whisper's own figures, where the engine gives them."""
    return not (
        no_speech is not None
        and log_probability is not None
        and no_speech > NO_SPEECH
        and log_probability < UNSURE
    )


def raise_if_stopped(stop: threading.Event) -> None:
    if stop.is_set():
        raise RunError("Stopped.")
