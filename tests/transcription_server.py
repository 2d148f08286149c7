"""A server on loopback with OpenAI's transcription API. It hears the tones of `tests.sounds` and
refuses what the real one does.

with TranscriptionServer() as server:
    … LEAF_TRANSCRIBE_URL=server.url, LEAF_TRANSCRIBE_KEY=server.key …
    server.requests[0].seconds
"""

from __future__ import annotations

import io
import json
import threading
import time
import wave
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import default
from typing import Any

from tests.loopback import Handler, LoopbackServer
from tests.sounds import RATE, SENTENCES

Json = dict[str, Any]

MOST_BYTES = 25 * 1024 * 1024
WINDOW = 0.1
"""Seconds that are listened to at a time."""


@dataclass(frozen=True)
class Reply:
    """In place of a transcript."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def error(status: int, message: str, **headers: str) -> Reply:
        pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        return Reply(
            status,
            json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode(),
            headers=pairs,
        )


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    path: str
    fields: dict[str, str]
    seconds: float
    """Length of the sound."""
    size: int


class TranscriptionServer(LoopbackServer):
    """A context manager. `replies` are given one after the other, and then transcripts."""

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        key: str = "sk-heard",
        model: str = "whisper-1",
        delay: float = 0.0,
        verbose: bool = True,
        plain: bool = False,
        invents: str = "",
    ) -> None:
        """`delay` seconds a transcript; `verbose` False refuses verbose_json; `plain` answers with
        bare text; `invents` is said over every silence, with the figures that Whisper gives then,
        or none."""
        self.key, self.model, self.delay, self.verbose, self.plain, self.invents = (
            key,
            model,
            delay,
            verbose,
            plain,
            invents,
        )
        self.replies = deque(replies)
        self.requests: list[Request] = []
        self.going = threading.Event()
        """Cleared, transcripts wait."""
        self.going.set()
        super().__init__(_Handler)

    def __exit__(self, *error: object) -> None:
        self.going.set()
        super().__exit__(*error)

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Reply:
        given = {name.lower(): value for name, value in headers.items()}
        if path != "/v1/audio/transcriptions":
            return Reply.error(404, f"Invalid URL (POST {path})")
        if given.get("authorization") != f"Bearer {self.key}":
            return Reply.error(
                401, f"Incorrect API key provided: {given.get('authorization', '')[7:]}."
            )
        fields, sound = _parse(given.get("content-type", ""), body)
        if len(body) > MOST_BYTES:
            return Reply.error(413, "Maximum content size limit (26214400) exceeded")
        if sound is None:
            return Reply.error(400, "you must provide a file")
        if fields.get("model") != self.model:
            return Reply.error(404, f"The model `{fields.get('model')}` does not exist")
        try:
            with wave.open(io.BytesIO(sound)) as file:
                assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (
                    1,
                    2,
                    RATE,
                )
                data = file.readframes(file.getnframes())
        except (wave.Error, EOFError, AssertionError):
            return Reply.error(400, "Invalid file format.")
        self.requests.append(Request(path, fields, len(data) / 2 / RATE, len(body)))
        if self.replies:
            return self.replies.popleft()
        time.sleep(self.delay)
        self.going.wait(60)
        return self._transcript(fields, data)

    def _transcript(self, fields: dict[str, str], data: bytes) -> Reply:
        wanted = fields.get("response_format", "json")
        if wanted == "verbose_json" and not self.verbose:
            return Reply.error(
                400, "response_format 'verbose_json' is not compatible with this model."
            )
        segments = hear(data)
        text = " ".join(s["text"] for s in segments)
        if not segments and self.invents:
            text = self.invents
            segments = [{"start": 0.0, "end": 2.0, "text": text}]
        if self.plain:
            return Reply(200, text.encode(), "text/plain; charset=utf-8")
        answer: Json = {"text": text}
        if wanted == "verbose_json":
            answer |= {
                "task": "transcribe",
                "language": "english",
                "duration": len(data) / 2 / RATE,
                "segments": segments,
            }
        return Reply(200, json.dumps(answer).encode())


class _Handler(Handler):
    app: TranscriptionServer

    def do_POST(self) -> None:
        reply = self.app.answer(self.path, dict(self.headers.items()), self.body())
        self.send(reply.status, reply.body, reply.content_type, **dict(reply.headers))

    def handle(self) -> None:
        with suppress(OSError):  # the client has left
            super().handle()


def hear(data: bytes) -> list[Json]:
    """What the tones in these samples say, and when."""
    import numpy

    samples = numpy.frombuffer(data, dtype="<i2").astype(numpy.float64)
    width = int(WINDOW * RATE)
    found: list[Json] = []
    heard_before = 0
    for number in range(len(samples) // width):
        window = samples[number * width : (number + 1) * width]
        heard = 0
        if numpy.abs(window).max() > 1_000:
            spectrum = numpy.abs(numpy.fft.rfft(window))
            hertz = float(spectrum.argmax()) / WINDOW
            heard = min(SENTENCES, key=lambda known: abs(known - hertz))
            heard = heard if abs(heard - hertz) < 30 else 0
        start, end = round(number * WINDOW, 2), round((number + 1) * WINDOW, 2)
        if heard and heard == heard_before:
            found[-1]["end"] = end
        elif heard:
            words = {
                "start": start,
                "end": end,
                "text": f" {SENTENCES[heard]}",
                "avg_logprob": -0.2,
                "no_speech_prob": 0.01,
            }
            found.append({"id": len(found), **words})
        heard_before = heard
    return found


def _parse(content_type: str, body: bytes) -> tuple[dict[str, str], bytes | None]:
    """The fields of a form, and the file in it. Only heads are parsed as text: a mail parser takes
    seconds for the lines of ten minutes of sound."""
    boundary = b"\r\n--" + str(_head(content_type).get_param("boundary", "")).encode()
    *parts, end = (b"\r\n" + body).split(boundary)
    assert end.strip() == b"--", "the form does not end"
    fields: dict[str, str] = {}
    sound = None
    for part in parts[1:]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        message = BytesHeaderParser(EmailMessage, policy=default).parsebytes(head)
        name = message.get_param("name", header="content-disposition")
        if name == "file" and message.get_filename():
            sound = content
        else:
            fields[str(name)] = content.decode()
    return fields, sound


def _head(content_type: str) -> EmailMessage:
    message = EmailMessage()
    message["Content-Type"] = content_type
    return message
