"""A quarter of a second of sound, a few frames and small pictures in every form that is read, the same bytes
each time."""

from __future__ import annotations

import io
import wave
from typing import Any

from tests import pictures_kit

RATE = 8_000


def made() -> dict[str, dict[str, bytes]]:
    """Kind -> name -> bytes."""
    return {
        "audio": {"a.wav": _wav()} | {name: _sound(name) for name in _SOUNDS},
        "video": {name: _video(name) for name in _VIDEOS},
        "picture": {name: _picture(name) for name in _PICTURES},
    }


_SOUNDS = {
    "a.mp3": ("mp3", "libmp3lame"),
    "a.m4a": ("mp4", "aac"),
    "a.aac": ("adts", "aac"),
    "a.flac": ("flac", "flac"),
    "a.ogg": ("ogg", "libopus"),
    "a.mka": ("matroska", "libopus"),
    "a.aiff": ("aiff", "pcm_s16be"),
    "a.wma": ("asf", "wmav2"),
    "a.caf": ("caf", "pcm_s16be"),
}
_VIDEOS = {
    "a.mp4": ("mp4", "mpeg4", "aac"),
    "a.mkv": ("matroska", "mpeg4", "aac"),
    "a.avi": ("avi", "mpeg4", "mp2"),
    "a.ts": ("mpegts", "mpeg2video", "mp2"),
    "a.flv": ("flv", "flv", "aac"),
}


def _wave() -> Any:
    """A quarter of a second of a tone, 16 bits."""
    import numpy

    at = numpy.arange(48_000 // 4) / 48_000
    return (numpy.sin(2 * numpy.pi * 400 * at) * 9_000).astype(numpy.int16)


def _wav() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(_wave()[:RATE].tobytes())
    return out.getvalue()


def _sound(name: str) -> bytes:
    import av

    container, codec = _SOUNDS[name]
    out = io.BytesIO()
    with av.open(out, "w", format=container, options={"fflags": "+bitexact"}) as file:
        _put_sound(file, _track(file, codec))
    return out.getvalue()


def _track(file: Any, codec: str) -> Any:
    stream = file.add_stream(codec, rate=48_000)
    stream.layout = "mono"
    stream.bit_rate = 64_000
    return stream


def _put_sound(file: Any, stream: Any) -> None:
    import av

    context = stream.codec_context
    resampler = av.AudioResampler(
        format=context.format, layout="mono", rate=48_000, frame_size=context.frame_size or 0
    )
    frame = av.AudioFrame.from_ndarray(_wave()[None, :], format="s16", layout="mono")
    frame.sample_rate, frame.pts = 48_000, 0
    for piece in [*resampler.resample(frame), *resampler.resample(None)]:
        file.mux(stream.encode(piece))
    file.mux(stream.encode(None))


def _video(name: str) -> bytes:
    import av
    import numpy

    container, codec, sound = _VIDEOS[name]
    out = io.BytesIO()
    with av.open(out, "w", format=container, options={"fflags": "+bitexact"}) as file:
        pictures = file.add_stream(codec, rate=25)
        track = _track(file, sound)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        for number in range(12):
            pixels = numpy.full((48, 64, 3), number * 20, numpy.uint8)
            file.mux(pictures.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        file.mux(pictures.encode(None))
        _put_sound(file, track)
    return out.getvalue()


_PICTURES: dict[str, dict[str, Any]] = {
    "a.png": {"format": "PNG"},
    "a.jpg": {"format": "JPEG"},
    "a.webp": {"format": "WEBP"},
    "a.gif": {"format": "GIF", "save_all": True},
    "a.tif": {"format": "TIFF", "save_all": True, "compression": "tiff_lzw"},
    "a.avif": {"format": "AVIF"},
    "a.heic": {},
}


def _picture(name: str) -> bytes:

    if name == "a.heic":
        return pictures_kit.HEIC
    options = dict(_PICTURES[name])
    if options.get("save_all"):
        options["append_images"] = [pictures_kit.flag(48, 64)]
    out = io.BytesIO()
    pictures_kit.flag().save(out, **options)
    return out.getvalue()
