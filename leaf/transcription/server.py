"""Any server that speaks OpenAI's transcription API: `POST /v1/audio/transcriptions`, a WAV file a
piece."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from leaf.errors import RunError, TranscriptionError
from leaf.retries import Again, Waits, retry, retry_after
from leaf.transcription.base import RATE, Cue, OnProgress, Pcm, heard, is_speech

Json = dict[str, Any]

PIECE_SECONDS = 600.0
"""19.2 MB as WAV; OpenAI takes 25 MB."""
TIMEOUT = httpx2.Timeout(30.0, connect=10.0, read=900.0, write=120.0)
"""A server on a slow machine may think for minutes before its first byte."""
WAITS = (1.0, 3.0, 8.0, 20.0)
"""Seconds before each further try, when the server is busy or away."""
LONGEST_WAIT = 60.0
ANSWER_BYTES = 20_000_000
TICK = 0.1


class TranscriptionServer:
    """One server, model and key. The key goes into the request's header and nowhere else."""

    at_once = 2
    piece_seconds = PIECE_SECONDS

    def __init__(
        self, url: str, model: str = "whisper-1", key: str = "", *, waits: tuple[float, ...] = WAITS
    ) -> None:
        """`url` is the base (`https://host`, `https://host/v1`) or the whole address of the
        endpoint."""
        self.url = endpoint(url)
        self.model = model
        self.host = urlsplit(self.url).netloc.rpartition("@")[2]
        self.name = f"{model} at {self.host}"
        self._key = key
        self._waits = waits
        self._plain = False
        """Whether the server has refused `verbose_json`."""

    def transcribe(
        self, piece: Pcm, stop: threading.Event, on_progress: OnProgress
    ) -> tuple[Cue, ...]:
        def again(e: Exception) -> Again | None:
            return Again(min(e.wait, LONGEST_WAIT) or None) if isinstance(e, _Busy) else None

        def say(e: Exception, wait: float) -> None:
            on_progress(f"{e} Trying again in {wait:.0f} s")

        try:
            cues = retry(
                lambda: self._cues(self._answer(piece, stop), piece),
                again,
                Waits(self._waits),
                stop=stop,
                on_wait=say,
            )
        except _Busy as e:
            raise TranscriptionError(
                e.message, "Try again in a while; what is done so far is kept."
            ) from e
        return heard(piece, cues)

    def _answer(self, piece: Pcm, stop: threading.Event) -> httpx2.Response:
        """One request that ends when `stop` is set. Raises TranscriptionError, or _Busy where
        trying again can help."""
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        fields = {
            "model": self.model,
            "response_format": "json" if self._plain else "verbose_json",
            "temperature": "0",
        }
        sound = wav(piece)
        with httpx2.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=True) as client:
            ask: Callable[[], httpx2.Response] = lambda: client.post(  # noqa: E731
                self.url,
                headers=headers,
                data=fields,
                files={"file": ("sound.wav", sound, "audio/wav")},
            )
            try:
                response = _until(ask, stop)
            except httpx2.TimeoutException as e:
                raise _Busy(
                    f"The transcription server at {self.host} did not answer in time."
                ) from e
            except httpx2.HTTPError as e:
                raise _Busy(f"The transcription server at {self.host} cannot be reached.") from e
        return self._checked(response, piece, stop)

    def _checked(
        self, response: httpx2.Response, piece: Pcm, stop: threading.Event
    ) -> httpx2.Response:
        status = response.status_code
        if status == 200:
            if len(response.content) > ANSWER_BYTES:
                raise TranscriptionError(
                    f"The transcription server at {self.host} sent more than a transcript.",
                    "Check LEAF_TRANSCRIBE_URL.",
                )
            return response
        if status in (408, 409, 425, 429) or status >= 500:
            what = "is busy" if status == 429 else f"failed (HTTP {status})"
            raise _Busy(
                f"The transcription server at {self.host} {what}.", retry_after(response.headers)
            )
        if status in (400, 415, 422) and not self._plain and "response_format" in response.text:
            self._plain = True
            return self._answer(piece, stop)
        raise self._refused(status, response)

    def _refused(self, status: int, response: httpx2.Response) -> TranscriptionError:
        if status in (401, 403):
            return TranscriptionError(
                f"The transcription server at {self.host} refused the key.",
                "Check LEAF_TRANSCRIBE_KEY.",
            )
        if status == 404:
            return TranscriptionError(
                f"The transcription server at {self.host} knows no model '{self.model}', or does "
                f"not transcribe at this address.",
                "Check LEAF_TRANSCRIBE_URL and LEAF_TRANSCRIBE_MODEL.",
            )
        if status == 413:
            return TranscriptionError(
                f"The transcription server at {self.host} takes no pieces of this size.",
                "Raise its limit to 25 MB.",
            )
        if 300 <= status < 400:
            return TranscriptionError(
                f"The transcription server at {self.host} sent Leaf elsewhere.",
                "Set LEAF_TRANSCRIBE_URL to that address.",
            )
        message = self._without_key(_message(response))
        return TranscriptionError(
            f"The transcription server at {self.host} refused the sound (HTTP "
            f"{status}){': ' + message if message else ''}.",
            "Check LEAF_TRANSCRIBE_MODEL.",
        )

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "…") if self._key else text

    def _cues(self, response: httpx2.Response, piece: Pcm) -> tuple[Cue, ...]:
        """Segments of the answer; a text without times is one cue over the whole piece. Raises
        TranscriptionError."""
        text = response.text.strip()
        kind = response.headers.get("content-type", "")
        if "json" not in kind and not text.startswith("{"):
            if text.startswith("<") or "html" in kind:
                raise self._odd()
            return _whole(text, piece)
        try:
            answer = json.loads(text)
        except ValueError as e:
            raise self._odd() from e
        if (
            not isinstance(answer, dict)
            or not isinstance(answer.get("text", ""), str)
            or not ({"text", "segments"} & set(answer))
        ):
            raise self._odd()
        segments = answer.get("segments")
        if not isinstance(segments, list) or not segments:  # some name none whatever was said
            return _whole(answer.get("text", ""), piece)
        try:
            return tuple(
                cue for cue in (_cue(segment, piece.seconds) for segment in segments) if cue
            )
        except (KeyError, TypeError, ValueError) as e:
            raise self._odd() from e

    def _odd(self) -> TranscriptionError:
        return TranscriptionError(
            f"The server at {self.host} did not answer with a transcript.",
            "Check that LEAF_TRANSCRIBE_URL is a transcription server.",
        )


class _Busy(TranscriptionError):
    """Trying again can help."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


def endpoint(url: str) -> str:
    """The whole address, from a base with or without `/v1`."""
    base = url.rstrip("/")
    if base.endswith("/transcriptions"):
        return base
    return (
        f"{base}/audio/transcriptions"
        if base.endswith("/v1")
        else f"{base}/v1/audio/transcriptions"
    )


def wav(piece: Pcm) -> bytes:
    """The piece as a WAV file."""
    samples = piece.path.read_bytes()
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(samples),
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        RATE,
        2 * RATE,
        2,
        16,
        b"data",
        len(samples),
    )
    return head + samples


def _until(ask: Callable[[], httpx2.Response], stop: threading.Event) -> httpx2.Response:
    """The response, or RunError as soon as `stop` is set; the caller's client then closes the
    connection under the request."""
    done = threading.Event()
    responses: list[httpx2.Response] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            responses.append(ask())
        except BaseException as e:  # noqa: BLE001 - handed to the thread that waits
            failed.append(e)
        finally:
            done.set()

    threading.Thread(target=work, name="leaf-transcribe", daemon=True).start()
    while not done.wait(TICK):
        if stop.is_set():
            raise RunError("Stopped.")
    if failed:
        raise failed[0]
    return responses[0]


def _whole(text: str, piece: Pcm) -> tuple[Cue, ...]:
    words = " ".join(text.split())
    return (Cue(0.0, piece.seconds, words),) if words else ()


def _cue(segment: Mapping[str, Any], seconds: float) -> Cue | None:
    words = " ".join(str(segment["text"]).split())
    start, end = float(segment["start"]), float(segment["end"])
    if not words or not is_speech(
        _number(segment.get("no_speech_prob")), _number(segment.get("avg_logprob"))
    ):
        return None
    start = min(max(0.0, start), seconds)
    return Cue(start, min(max(start, end), seconds), words)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _message(response: httpx2.Response) -> str:
    """What the server says, on one line."""
    try:
        error = json.loads(response.text)["error"]
        message = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError):
        return ""
    return " ".join(str(message).split())[:200].rstrip(".")
