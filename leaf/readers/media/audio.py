"""Sound in audio and video files: what there is (duration, sound track, codec), and its samples as
plain PCM for transcription.

Only containers that `container_of` knows by content are opened, each with its own demuxer: FFmpeg
left to guess would take a text file for a playlist. Reading is PyAV's; where it is not installed,
one sentence says so.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaf.errors import FileTooLargeError, LeafError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, Where
from leaf.readers.locate.where import timestamp

RATE = 16_000
"""Samples a second that speech recognition wants: 16 bits, one channel."""
MAX_SECONDS = 24 * 3600.0
"""Longest recording that is read."""
TOKENS_PER_SECOND = 7.0
"""A transcript: 150 words of 6 characters a minute, and a time at each sentence, at 2.5 characters
a token."""
SILENT = 10 ** (-60 / 20) * 32_768
"""Samples that never get louder than -60 dB of full scale hold nothing that can be heard."""
CUT_WITHIN = 0.2
"""Share at the end of a piece in which the quietest moment is looked for."""
STEP = RATE // 50
"""Samples whose loudness is taken together: 20 ms."""
HUSH = 100.0
"""Mean square of samples below which one pause is as good as another: -70 dB."""
ADTS_RATES = (
    *(96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050),
    *(16_000, 12_000, 11_025, 8_000, 7_350),
)
"""Samples a second of an AAC frame by its head's index."""
BARE = frozenset(("mp3", "aac"))
"""Demuxers of frames without a container, which nowhere say for certain how many there are."""
CUT_SHARE = 0.01
"""Share of a recording that may lack at its end without a word: taggers and editors miscount."""
TRIED_FRAMES = 200
"""Packets that may fail to decode before a file counts as damaged."""


@dataclass(frozen=True)
class Container:
    """A family of files that one demuxer reads."""

    demuxer: str
    audio: str
    """Media type without pictures."""
    video: str
    """Media type with pictures."""


MP4 = Container("mp4", "audio/mp4", "video/mp4")
QUICKTIME = Container("mp4", "audio/mp4", "video/quicktime")
MP3 = Container("mp3", "audio/mpeg", "audio/mpeg")
AAC = Container("aac", "audio/aac", "audio/aac")
FLAC = Container("flac", "audio/flac", "audio/flac")
WEBM = Container("matroska", "audio/webm", "video/webm")
MATROSKA = Container("matroska", "audio/x-matroska", "video/x-matroska")

SIGNATURES = (
    (b"fLaC", FLAC),
    (b"OggS", Container("ogg", "audio/ogg", "video/ogg")),
    (b"#!AMR", Container("amr", "audio/amr", "audio/amr")),
    (b"caff", Container("caf", "audio/x-caf", "audio/x-caf")),
    (b"FLV\x01", Container("flv", "video/x-flv", "video/x-flv")),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", Container("asf", "audio/x-ms-wma", "video/x-ms-wmv")),
    (b"\x00\x00\x01\xba", Container("mpeg", "video/mpeg", "video/mpeg")),
)
RIFF = {
    b"WAVE": Container("wav", "audio/wav", "audio/wav"),
    b"AVI ": Container("avi", "video/x-msvideo", "video/x-msvideo"),
}
AIFF = Container("aiff", "audio/aiff", "audio/aiff")
TRANSPORT = Container("mpegts", "video/mp2t", "video/mp2t")
PICTURES = frozenset(
    [b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"]
)
"""Brands of the MP4 family that are pictures."""
BITRATES = {
    1: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
"""Kilobits a second of MPEG layer III by the header's index, for MPEG 1 and for MPEG 2 and 2.5."""


def container_of(head: bytes) -> Container | None:
    """What holds the sound, by the first bytes of a file (4 kB at least, where there are so many);
    None if nothing known does."""
    if head[:4] in (b"RIFF", b"RF64", b"BW64"):
        return RIFF.get(head[8:12])
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return AIFF
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return None if brand in PICTURES else QUICKTIME if brand == b"qt  " else MP4
    if head[4:8] in (b"moov", b"mdat", b"wide"):
        return QUICKTIME
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return WEBM if b"webm" in head[:64] else MATROSKA
    for signature, container in SIGNATURES:
        if head.startswith(signature):
            return container
    if len(head) > 376 and head[0] == head[188] == head[376] == 0x47:
        return TRANSPORT
    return _bare_frames(head)


def _bare_frames(head: bytes) -> Container | None:
    """Sound without a container: MP3 or AAC frames, perhaps after an ID3 tag."""
    if head.startswith(b"ID3") and len(head) > 10:
        after = _after_tag(head)
        rest = head[after : after + 4]
        return FLAC if rest == b"fLaC" else AAC if _is_adts(rest) else MP3
    if _is_adts(head) and len(head) >= 7:
        length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        return AAC if length > 7 and _is_adts(head[length:]) else None
    length = _mp3_frame(head)
    return MP3 if length and _mp3_frame(head[length:]) else None


def _after_tag(head: bytes) -> int:
    """Where an ID3 tag ends."""
    sizes = zip(head[6:10], (21, 14, 7, 0), strict=True)
    return 10 + sum((byte & 0x7F) << shift for byte, shift in sizes)


def _is_adts(data: bytes) -> bool:
    return len(data) > 1 and data[0] == 0xFF and data[1] & 0xF6 == 0xF0


def _mp3_frame(data: bytes) -> int:
    """Length of the layer III frame that begins here; 0 if none does."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE6 != 0xE2:
        return 0
    version, rate_index = data[1] >> 3 & 3, data[2] >> 2 & 3
    if version == 1 or rate_index == 3:
        return 0
    first = version == 3
    bits = BITRATES[1 if first else 2][data[2] >> 4]
    rate = (44_100, 48_000, 32_000)[rate_index] // (1 if first else 2 if version == 2 else 4)
    return (144 if first else 72) * bits * 1000 // rate + (data[2] >> 1 & 1) if bits else 0


def kind_of(path: Path, name: str) -> tuple[str, str]:
    """Kind and media type of a file that `container_of` knows: `video` if it has moving pictures.
    Raises FileError."""
    file_format = container_of(_head(path))
    if file_format is None:
        raise UnreadableFileError(
            f"'{name}' holds no sound that Leaf knows.",
            "Save it as MP3, M4A, WAV or MP4, and add that.",
        )
    try:
        with _opened(path) as container:
            moving = any(not _is_cover(stream) for stream in container.streams.video)
            if not moving and not container.streams.audio:
                raise UnreadableFileError(
                    f"'{name}' has neither a sound track nor moving pictures.",
                    "Check where it came from.",
                )
    except UnreadableFileError as e:
        raise UnreadableFileError(e.message.replace("This file", f"'{name}'"), e.hint) from e
    return ("video", file_format.video) if moving else ("audio", file_format.audio)


class SoundReader:
    """Audio and video files. Their words are in the transcript, which the library reads in their
    place."""

    def outline(self, path: Path) -> Outline:
        with _opened(path) as container:
            moving = any(not _is_cover(stream) for stream in container.streams.video)
            seconds = _duration(container)
            title = str(container.metadata.get("title", ""))[:200]
            codec = _codec(container)
            bare = container.format.name in BARE
        notes: tuple[Note, ...] = ()
        if bare:
            seconds, notes = _bare_duration(path, seconds)
        elif seconds is None:
            seconds = _counted_duration(path)
        kind = "video" if moving else "audio"
        if not codec:
            if not moving:
                raise _damaged()
            note = Note(
                "no-sound", "This video has no sound track, so there is nothing to transcribe."
            )
            return Outline(kind, "", duration=seconds, title=title, notes=(note,))
        _check_decodes(path)
        tokens = int((seconds or 0) * TOKENS_PER_SECOND)
        return Outline(
            kind, "", duration=seconds, tokens=tokens, title=title, sound=codec, notes=notes
        )

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        raise UnreadableFileError(
            "This recording has not been transcribed.",
            "Add it to the library, and ask about it there.",
        )


def pcm(path: str, first: float, seconds: float, out: str) -> dict[str, Any]:
    """Write the sound from `first` on, `seconds` at most, to `piece.pcm` in `out`: 16 kHz, one
    channel, 16 bits.

    It ends at the quietest moment near its end, or where the sound ends. Returns `last` (seconds,
    where the next piece begins), `ended`, and `silent` if there is nothing in it that can be heard.
    Raises UnreadableFileError, FileTooLargeError.
    """
    if first > MAX_SECONDS:
        raise FileTooLargeError(
            f"The recording is longer than {MAX_SECONDS / 3600:.0f} hours.",
            "Split it, and add the pieces.",
        )
    import numpy

    wanted = int(seconds * RATE)
    samples, following = _samples(Path(path), first, wanted)
    ended = following is None
    if not ended and len(samples) == wanted:
        samples = samples[: _quiet_place(samples)]
    samples.tofile(Path(out) / "piece.pcm")
    last = first + len(samples) / RATE
    if following is not None and not len(samples):
        last = max(following, first + seconds)
    loudest = int(numpy.abs(samples.astype(numpy.int32)).max()) if len(samples) else 0
    return {"last": last, "ended": ended, "silent": loudest < SILENT}


def _samples(path: Path, first: float, wanted: int) -> tuple[Any, float | None]:
    """`wanted` samples from `first` on, gaps filled with silence, and the time of what follows;
    None at the end of the sound."""
    import av
    import numpy

    taken = numpy.zeros(wanted, dtype=numpy.int16)
    filled, failed = 0, 0
    with _opened(path) as container:
        if not container.streams.audio:
            raise UnreadableFileError(
                "This video has no sound track, so there is nothing to transcribe."
            )
        stream = container.streams.audio[0]
        begin = _start(container, stream)
        if first > 0:
            with contextlib.suppress(av.FFmpegError):  # then it is read from the beginning
                container.seek(int(max(0.0, first + begin - 1.0) * av.time_base), backward=True)
        joined = _Joined()
        at: int | None = None
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
                if frames and at is None:
                    at = round((_time(packet, begin) - first) * RATE)
                blocks = joined.add(frames, last=packet.dts is None)
            except (av.FFmpegError, ValueError) as e:
                failed += 1
                if failed > TRIED_FRAMES and not filled:
                    raise _damaged() from e
                continue
            for block in blocks:
                offset, at = at or 0, (at or 0) + len(block)
                if at <= 0:
                    continue
                if offset >= wanted:
                    return taken[:filled], first + offset / RATE
                source = block[max(0, -offset) : max(0, -offset) + wanted - max(0, offset)]
                place = max(0, offset)
                taken[place : place + len(source)] = source
                filled = max(filled, place + len(source))
                if at > wanted:
                    return taken[:filled], first + wanted / RATE
    return taken[:filled], None


class _Joined:
    """Joins frames before they are resampled: of short ones, such as those of MP3, each call costs
    several times what decoding takes. Where recordings were put behind one another, what follows
    may have another rate or more channels."""

    def __init__(self) -> None:
        self._format: tuple[str, str, int] | None = None
        self._begin()

    def _begin(self) -> None:
        import av

        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        self._waiting = av.AudioFifo()

    def add(self, frames: Sequence[Any], *, last: bool) -> list[Any]:
        """Take frames in; the samples of all that wait, once there are enough of them or with the
        last frames. Raises av.FFmpegError, ValueError."""
        blocks = []
        for frame in frames:
            frame_format = frame.format.name, frame.layout.name, frame.sample_rate
            if frame_format != self._format:
                blocks += self._resampled()
                self._begin()
                self._format = frame_format
            frame.pts = None  # one whose time jumps would be refused
            self._waiting.write(frame)
        if last or self._waiting.samples >= RATE:
            blocks += self._resampled()
        return blocks

    def _resampled(self) -> list[Any]:
        if not self._waiting.samples:
            return []
        joined = self._waiting.read()
        joined.pts = None
        return [frame.to_ndarray().reshape(-1) for frame in self._resampler.resample(joined)]


def _time(packet: Any, begin: float) -> float:
    return float(packet.pts * packet.time_base) - begin if packet.pts is not None else 0.0


def _start(container: Any, stream: Any) -> float:
    """Seconds at which the file's clock stands at its beginning."""
    if stream.start_time is not None and container.format.name.startswith(
        ("mpegts", "mpeg", "asf")
    ):
        return float(stream.start_time * stream.time_base)
    return 0.0


def _quiet_place(samples: Any) -> int:
    """Where in the last part of a piece it is quietest, the later of equals: the middle of 0.3
    s."""
    import numpy

    begin = int(len(samples) * (1 - CUT_WITHIN)) // STEP * STEP
    tail = samples[begin : len(samples) // STEP * STEP].astype(numpy.float64)
    loudness = numpy.square(tail.reshape(-1, STEP)).mean(axis=1)
    width = 15
    if len(loudness) <= width:
        return len(samples)
    smooth = numpy.convolve(loudness, numpy.ones(width) / width, mode="valid")
    quiet = numpy.flatnonzero(smooth <= max(2 * smooth.min(), HUSH))
    return begin + (int(quiet[-1]) + width // 2) * STEP


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The container, read by the demuxer of its kind alone. Raises UnreadableFileError."""
    try:
        import av
    except ImportError as e:
        raise UnreadableFileError(
            "This file cannot be opened here: the library that reads sound (av) is not installed.",
            "Install it: pip install av",
        ) from e
    file_format = container_of(_head(path))
    if file_format is None:
        raise _damaged()
    try:
        with av.open(str(path), format=file_format.demuxer, metadata_errors="replace") as container:
            yield container
    except LeafError:
        raise
    except (av.FFmpegError, ValueError, OverflowError, IndexError, MemoryError) as e:
        # IndexError: a packet of a track that the file's beginning did not announce
        raise _damaged() from e


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(65_536)


def _codec(container: Any) -> str:
    """How the sound is coded; empty where there is none, or it is in no way that is known."""
    streams = container.streams.audio
    return str(streams[0].codec_context.name) if streams and streams[0].codec_context else ""


def _is_cover(stream: Any) -> bool:
    """A picture on a record's sleeve is no video."""
    disposition = getattr(stream, "disposition", 0)
    return (
        bool(int(disposition) & 0x400)
        or stream.codec_context is None
        or stream.codec_context.name in ("png", "bmp", "gif")
    )


def _duration(container: Any) -> float | None:
    """Seconds, as the file says."""
    streams = [*container.streams.audio, *container.streams.video]
    lengths = [
        float(s.duration * s.time_base)
        for s in streams
        if s.duration and s.time_base and s.duration > 0
    ]
    if container.duration and container.duration > 0:
        lengths.append(container.duration / 1_000_000)
    sane = [length for length in lengths if math.isfinite(length) and 0 < length <= MAX_SECONDS]
    return round(max(sane), 3) if sane else None


def _counted_duration(path: Path) -> float | None:
    """Seconds by the times of the packets, for recordings that were cut off or never say, as
    browsers write them."""
    last = 0.0
    with _opened(path) as container:
        for packet in container.demux():
            if packet.pts is not None and packet.time_base:
                last = max(last, float((packet.pts + (packet.duration or 0)) * packet.time_base))
    if last > MAX_SECONDS:
        raise FileTooLargeError(
            f"The recording says that it lasts {timestamp(last)}.", "Check it, or split it."
        )
    return round(last, 3) or None


def _bare_duration(path: Path, estimate: float | None) -> tuple[float | None, tuple[Note, ...]]:
    """Seconds of frames without a container, and a note where the file was cut off. What is said of
    them is a guess by the first one's rate, or is about the first of several recordings."""
    seconds, frames = 0.0, 0
    with _opened(path) as container:
        for packet in container.demux(container.streams.audio[:1]):
            if length := _frame_seconds(packet):
                seconds += length
                frames += 1
    if not frames:
        return estimate, ()
    if seconds > MAX_SECONDS:
        raise FileTooLargeError(f"The recording lasts {timestamp(seconds)}.", "Split it.")
    whole = _announced(path) * seconds / frames
    notes: tuple[Note, ...] = ()
    if whole - seconds > max(1.0, CUT_SHARE * whole):
        text = f"This recording was cut off: {timestamp(seconds)} of {timestamp(whole)} are there."
        notes = (Note("recording-cut", text),)
    agree = estimate is not None and abs(estimate - seconds) < 1.0
    return (estimate if agree else round(seconds, 3)), notes


def _frame_seconds(packet: Any) -> float:
    """How long a frame lasts: of AAC by its own head, since what follows another recording may have
    another rate."""
    head = bytes(packet)[:7]
    if len(head) == 7 and _is_adts(head) and head[2] >> 2 & 15 < len(ADTS_RATES):
        return 1024 * ((head[6] & 3) + 1) / ADTS_RATES[head[2] >> 2 & 15]
    return float(packet.duration * packet.time_base) if packet.duration else 0.0


def _announced(path: Path) -> int:
    """Frames that an MP3 says it has, in a frame of its own at the beginning; 0 if it does not."""
    with path.open("rb") as file:
        head = file.read(10)
        file.seek(_after_tag(head) if head.startswith(b"ID3") and len(head) == 10 else 0)
        frame = file.read(200)
    at = max(frame.find(b"Xing"), frame.find(b"Info"))
    counted = at >= 0 and len(frame) >= at + 12 and frame[at + 7] & 1
    return int.from_bytes(frame[at + 8 : at + 12], "big") if counted else 0


def _check_decodes(path: Path) -> None:
    """Raise UnreadableFileError if nothing at the beginning of the sound track can be decoded."""
    import av

    with _opened(path) as container:
        for number, packet in enumerate(container.demux(container.streams.audio[0])):
            try:
                if packet.decode():
                    return
            except (av.FFmpegError, ValueError):
                pass
            if number > TRIED_FRAMES:
                break
    raise _damaged()


def _damaged() -> UnreadableFileError:
    return UnreadableFileError(
        "This file is damaged or incomplete: its sound cannot be decoded.",
        "Download or export it again, and add it again.",
    )
