"""Recordings made in code: tones that stand for sentences, in any container, and silence."""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from typing import Any

RATE = 16_000
SENTENCES = {
    400: "Good morning everybody, welcome to the planning meeting.",
    500: "The budget for the harbour project is forty thousand euros.",
    600: "Ann sends the report by Friday.",
    700: "How high is the budget for the harbour project?",
    800: "We meet again on Monday at nine.",
}
"""Hertz -> what a tone of that height says; the transcription server of the tests hears them."""
SAMPLE_FORMATS = {
    "wav": ("wav", "pcm_s16le"),
    "mp3": ("mp3", "libmp3lame"),
    "m4a": ("mp4", "aac"),
    "aac": ("adts", "aac"),
}
MORE_FORMATS = {
    "flac": ("flac", "flac"),
    "ogg": ("ogg", "libopus"),
    "webm": ("webm", "libopus"),
    "mkv": ("matroska", "aac"),
    "aiff": ("aiff", "pcm_s16be"),
}
FORMATS = SAMPLE_FORMATS | MORE_FORMATS
Tones = Sequence[tuple[float, int]]
"""Seconds and Hertz, one after the other; 0 Hz is silence."""


def samples(tones: Tones) -> Any:
    """The tones as 16-bit samples."""
    import numpy

    pieces = []
    for seconds, hertz in tones:
        t = numpy.arange(int(seconds * RATE)) / RATE
        pieces.append(numpy.sin(2 * numpy.pi * hertz * t) * 9_000)
    return numpy.concatenate(pieces).astype(numpy.int16)


def wav(tones: Tones) -> bytes:
    """A WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples(tones).tobytes())
    return out.getvalue()


def recording(tones: Tones, ending: str = "m4a", *, bit_rate: int = 0) -> bytes:
    """The tones in the container and codec of that ending."""
    import av

    container, codec = ("flv", "aac") if ending == "flv" else FORMATS[ending]
    out = io.BytesIO()
    with av.open(out, "w", format=container) as file:
        _encode_sound(file, codec, samples(tones), bit_rate)
    return out.getvalue()


def studio(tones: Tones, ending: str) -> bytes:
    """The same as MP3 or AAC with 44,100 samples a second and two channels, and nothing but frames:
    such recordings can be put behind one another."""
    import av

    container, codec = FORMATS[ending]
    out = io.BytesIO()
    bare = {"write_xing": "0", "id3v2_version": "0"} if container == "mp3" else {}
    with av.open(out, "w", format=container, options=bare) as file:
        stream = file.add_stream(codec, rate=44_100)
        stream.layout = "stereo"
        _fill(file, stream, samples(tones))
    return out.getvalue()


def video(seconds: int, tones: Tones = (), ending: str = "mp4") -> bytes:
    """Moving pictures, with the tones if there are any."""
    import av
    import numpy

    out = io.BytesIO()
    with av.open(out, "w", format={"mp4": "mp4", "mkv": "matroska"}[ending]) as file:
        pictures = file.add_stream("mpeg4", rate=5)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = file.add_stream("aac", rate=RATE) if tones else None
        if sound is not None:
            sound.layout = "mono"
        for i in range(seconds * 5):
            frame = av.VideoFrame.from_ndarray(
                numpy.full((48, 64, 3), i % 250, numpy.uint8), format="rgb24"
            )
            file.mux(pictures.encode(frame))
        file.mux(pictures.encode(None))
        if sound is not None:
            _fill(file, sound, samples(tones))
    return out.getvalue()


def _encode_sound(file: Any, codec: str, data: Any, bit_rate: int) -> None:
    stream = file.add_stream(codec, rate=RATE)
    stream.layout = "mono"
    if bit_rate:
        stream.bit_rate = bit_rate
    _fill(file, stream, data)


def _fill(file: Any, stream: Any, data: Any) -> None:
    import av

    context = stream.codec_context
    resampler = av.AudioResampler(
        format=context.format,
        layout=context.layout,
        rate=context.sample_rate,
        frame_size=context.frame_size or 0,
    )
    for begin in range(0, len(data), RATE * 10):
        frame = av.AudioFrame.from_ndarray(
            data[None, begin : begin + RATE * 10], format="s16", layout="mono"
        )
        frame.sample_rate, frame.pts = RATE, begin
        for piece in resampler.resample(frame):
            file.mux(stream.encode(piece))
    for piece in resampler.resample(None):
        file.mux(stream.encode(piece))
    file.mux(stream.encode(None))
