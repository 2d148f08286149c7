"""Sound: probing in the sandbox, engines, transcripts that are kept, and what the library makes of
them."""

from __future__ import annotations

import io
import itertools
import json
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import (
    LeafError,
    RunError,
    StoreError,
    TranscriptionError,
    UnreadableFileError,
)
from leaf.files.captions import adopt_all
from leaf.files.library import Library
from leaf.files.line import attached_line
from leaf.readers.detect import detect
from leaf.readers.locate.where import seconds
from leaf.readers.media import audio as sound_format
from leaf.readers.worker import inspect
from leaf.sandbox.pool import Pool
from leaf.settings import Settings, Sound
from leaf.store import open_store, users
from leaf.store.model import ChatFile, File
from leaf.transcription import engines
from leaf.transcription.base import Cue, Pcm, Transcriber, heard
from leaf.transcription.server import TranscriptionServer as Client
from leaf.transcription.server import endpoint
from tests import forked_programs, sounds
from tests.leaf_kit import opened
from tests.removal_kit import forget_file
from tests.sounds import SENTENCES, recording, studio, video, wav
from tests.transcription_server import Reply, TranscriptionServer, hear

MEETING = [(3.0, 400), (2.0, 0), (4.0, 500), (1.0, 0), (3.0, 600)]
"""Three sentences, at 0-3, 5-9 and 10-13 seconds."""

FLV_HEADER = 13
"""Bytes before the first tag of a Flash video."""


pytestmark = pytest.mark.timeout(600)
"""Forty minutes of sound are several children to start; on a busy machine that takes its time."""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    opened = Pool(tmp_path_factory.mktemp("pool"))
    yield opened
    opened.close()


class Desk:
    """A library over a folder, with the engine given."""

    def __init__(
        self, home: Path, pool: Pool, engine: Transcriber | None, *, patience: float = 170.0
    ) -> None:
        self.home = home
        self.store = open_store(Settings(home=home))
        self.scope = users.ensure_local_user(self.store.db)
        self.library = Library(self.store, pool, home, transcriber=engine, patience=patience)

    def add(self, name: str, content: bytes) -> File:
        return self.library.add(self.scope, name, io.BytesIO(content)).file

    def now(self, file: File) -> File:
        return self.library.get(self.scope, file.id)

    def state(self, file: File) -> str:
        return self.library.transcript(self.scope, file).state

    def read(self, file: File, where: str = "", **options: Any) -> Any:
        return self.library.texts.read(self.scope, file, where, **options)


@contextmanager
def resolver(
    home: Path, pool: Pool, server: TranscriptionServer | Transcriber | None = None, **options: Any
) -> Iterator[Desk]:
    engine = (
        Client(server.url, server.model, server.key, waits=(0.01, 0.02))
        if isinstance(server, TranscriptionServer)
        else server
    )
    opened = Desk(home, pool, engine, **options)
    try:
        yield opened
    finally:
        opened.library.close()
        opened.store.close()


def until(is_so: Callable[[], bool], patience: float = 90.0) -> None:
    deadline = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


# --- formats


@pytest.mark.parametrize("ending", sounds.FORMATS)
def test_sound_is_known_by_content_and_measured(ending: str, tmp_path: Path) -> None:
    path = written(tmp_path, "x", recording([(5.0, 440)], ending))
    kind, media_type = detect(path, "no ending")
    outline = sound_format.SoundReader().outline(path)
    assert kind == "audio"
    assert media_type.startswith("audio/")
    assert outline.duration == pytest.approx(5.0, abs=0.15)
    assert outline.sound
    assert not outline.notes


def test_a_video_says_whether_it_has_sound(tmp_path: Path) -> None:
    with_sound = written(tmp_path, "a", video(4, [(4.0, 440)]))
    silent = written(tmp_path, "b", video(4, ending="mkv"))
    assert detect(with_sound, "a") == ("video", "video/mp4")
    assert detect(silent, "b") == ("video", "video/x-matroska")
    assert sound_format.SoundReader().outline(with_sound).sound == "aac"
    outline = sound_format.SoundReader().outline(silent)
    assert outline.sound == ""
    assert outline.duration == pytest.approx(4.0, abs=0.3)
    assert [note.text for note in outline.notes] == [
        "This video has no sound track, so there is nothing to transcribe."
    ]


@pytest.mark.parametrize("ending", ["mp3", "m4a", "ogg", "webm", "flac", "wav", "mkv", "aac"])
def test_pieces_join_without_a_gap_and_keep_their_times(ending: str, tmp_path: Path) -> None:
    """A tone at 31-32 s is found there, although the pieces before it end wherever it is
    quietest."""
    import numpy

    path = written(tmp_path, "x", recording([(31.0, 0), (1.0, 440), (13.0, 0)], ending))
    at, ended, loud = 0.0, False, []
    while not ended:
        found = sound_format.pcm(str(path), at, 10.0, str(tmp_path))
        data = numpy.fromfile(tmp_path / "piece.pcm", dtype="<i2")
        loud += [
            at + i / sounds.RATE for i in numpy.flatnonzero(numpy.abs(data.astype(int)) > 3_000)
        ]
        assert found["last"] <= at + 10.001
        at, ended = found["last"], found["ended"]
    assert at == pytest.approx(45.0, abs=0.2)
    assert (loud[0], loud[-1]) == (pytest.approx(31.0, abs=0.1), pytest.approx(32.0, abs=0.1))


@pytest.mark.parametrize("ending", ["mp3", "aac"])
@pytest.mark.parametrize("order", ["ab", "ba", "aba"])
def test_recordings_put_behind_one_another_are_heard_to_the_end(
    ending: str, order: str, tmp_path: Path
) -> None:
    """One is of a voice recorder, one of a studio: another rate, and two channels."""
    parts = {"a": recording([(4.0, 400)], ending), "b": studio([(4.0, 500)], ending)}
    path = written(tmp_path, "x", b"".join(parts[name] for name in order))
    found = sound_format.pcm(str(path), 0.0, 60.0, str(tmp_path))
    assert found["last"] == pytest.approx(4.0 * len(order), abs=0.3)
    said = hear((tmp_path / "piece.pcm").read_bytes())
    texts = [text for text, _ in itertools.groupby(one["text"].strip() for one in said)]
    assert texts == [SENTENCES[400 if name == "a" else 500] for name in order]


@pytest.mark.parametrize("ending", ["mp3", "aac"])
@pytest.mark.parametrize("order", ["a", "ab", "ba", "aba"])
def test_frames_without_a_container_are_counted(ending: str, order: str, tmp_path: Path) -> None:
    """What is said of their length is about the first recording, or a guess by its first frame."""
    parts = {"a": recording([(4.0, 0)], ending), "b": studio([(30.0, 500)], ending)}
    path = written(tmp_path, "x", b"".join(parts[name] for name in order))
    outline = sound_format.SoundReader().outline(path)
    true = sum({"a": 4.0, "b": 30.0}[name] for name in order)
    assert outline.duration == pytest.approx(true, abs=0.5)
    assert outline.notes == ()


def test_a_recording_that_was_cut_off_says_so(tmp_path: Path) -> None:
    content = recording([(60.0, 440)], "mp3")
    whole = sound_format.SoundReader().outline(written(tmp_path, "x", content))
    assert (whole.duration, whole.notes) == (pytest.approx(60.0, abs=0.2), ())
    cut = sound_format.SoundReader().outline(written(tmp_path, "y", content[: len(content) // 4]))
    assert cut.duration == pytest.approx(15.0, abs=0.5)
    (note,) = cut.notes
    assert note.kind == "recording-cut"
    assert note.text.endswith("of 00:01:00 are there.")


def test_a_piece_ends_where_it_is_quietest(tmp_path: Path) -> None:
    path = written(tmp_path, "x", recording([(8.5, 440), (0.6, 0), (10.0, 440)], "wav"))
    assert 8.5 < sound_format.pcm(str(path), 0.0, 10.0, str(tmp_path))["last"] < 9.1


@pytest.mark.parametrize("ending", ["m4a", "mp3", "flac", "webm", "ogg"])
def test_a_corrupt_file_is_one_clear_sentence(ending: str, tmp_path: Path) -> None:
    content = recording([(5.0, 440)], ending)
    path = written(tmp_path, "x", content[:60] + bytes(len(content) - 60))
    with pytest.raises(UnreadableFileError) as caught:
        inspect(str(path), "standup.m4a")
    assert "damaged" in str(caught.value) or "neither" in str(caught.value)


def test_what_is_no_sound_is_left_to_other_readers(tmp_path: Path) -> None:
    assert sound_format.container_of("\ufeffname;b\n".encode("utf-16")) is None
    assert sound_format.container_of(b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00") is None
    assert sound_format.container_of(b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n") is None
    assert sound_format.container_of(b"ffconcat version 1.0\nfile /etc/passwd\n") is None
    assert sound_format.container_of(b"\xff\xfb" + bytes(100)) is None
    assert detect(written(tmp_path, "x.csv", b"a;b\n1;2\n3;4\n"), "x.csv")[0] == "csv"


# --- the library with a server


def test_a_short_recording_is_transcribed_when_it_arrives(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        server.going.clear()
        file = it.add("standup.m4a", recording(MEETING))  # and does not wait for the transcript
        until(lambda: bool(server.requests))
        assert it.state(file) == "working"
        server.going.set()
        until(lambda: it.state(file) == "done")
        window = it.read(file)
        for hertz in (400, 500, 600):
            assert SENTENCES[hertz] in window.text
        assert window.places == ("00:00:00-00:00:13",)
        assert window.unit == "cue"
        assert it.read(file, "00:00:04-00:00:09").text == f"[00:00:05] {SENTENCES[500]}"
        assert len(server.requests) == 1
        assert server.requests[0].fields == {
            "model": "whisper-1",
            "response_format": "verbose_json",
            "temperature": "0",
        }
        assert it.now(file).outline["cues"] == 3
        assert "transcript ready" in attached_line(ChatFile("", "f1", "standup", it.now(file)))


def test_a_transcript_is_searched_with_its_times(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        file = it.add("meeting.mp4", video(13, MEETING))
        assert it.now(file).kind == "video"
        found = it.library.search(it.scope, [it.now(file)], "harbour budget")
        assert [hit.file_id for hit in found.hits] == [file.id]
        assert "harbour" in found.hits[0].text
        first, last = map(seconds, found.hits[0].place.split("-"))
        assert first <= 5 <= 9 <= last
        located = it.library.texts.locate(it.scope, it.now(file), "00:00:00", SENTENCES[500])
        assert located is not None
        assert (located.place, located.moved) == ("00:00:05-00:00:09", True)


def test_a_long_recording_waits_until_it_is_needed(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        file = it.add("long.flac", recording([(120.0, 0), (5.0, 500)], "flac"))
        assert it.state(file) == "none"
        assert "not transcribed yet" in attached_line(ChatFile("", "f1", "long", it.now(file)))
        said: list[str] = []
        window = it.read(file, on_progress=said.append)
        assert window.text == f"[00:02:00] {SENTENCES[500]}"
        assert said[0].startswith("Transcribing long.flac")


def test_silence_gives_an_empty_transcript_without_asking(tmp_path: Path, pool: Pool) -> None:
    with (
        TranscriptionServer(invents="Thank you for watching.") as server,
        resolver(tmp_path, pool, server) as it,
    ):
        file = it.add("quiet.wav", wav([(20.0, 0)]))
        window = it.read(file)
        assert (window.text, window.coverage) == ("", "no speech was found in 00:00:20")
        assert not server.requests
        assert it.library.search(it.scope, [it.now(file)], "watching").notes == (
            "quiet.wav: no speech was found in it.",
        )
        assert "no speech in it" in attached_line(ChatFile("", "f1", "quiet", it.now(file)))


def test_words_over_silence_are_dropped(tmp_path: Path) -> None:
    path = written(tmp_path, "piece.pcm", sounds.samples([(5.0, 500), (10.0, 0)]).tobytes())
    said = Cue(0.0, 5.0, "Real."), Cue(7.0, 12.0, "Thank you for watching.")
    assert heard(Pcm(path), said) == said[:1]


def test_a_segment_that_whisper_doubts_is_dropped(tmp_path: Path, pool: Pool) -> None:
    segment = (
        b'{"start": 0, "end": 3, "text": "Thanks.", "no_speech_prob": 0.9, "avg_logprob": -1.4}'
    )
    doubted = b'{"text": "Thanks.", "segments": [' + segment + b"]}"
    with (
        TranscriptionServer([Reply(200, doubted)]) as server,
        resolver(tmp_path, pool, server) as it,
    ):
        assert it.read(it.add("a.wav", wav([(3.0, 500)]))).text == ""


def test_a_video_without_sound_is_said(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        file = it.add("mute.mp4", video(3))
        with pytest.raises(
            UnreadableFileError,
            match=r"mute.mp4 has no sound track, so there is nothing to transcribe",
        ):
            it.read(file)
        assert "no sound track" in attached_line(ChatFile("", "f1", "mute", file))
        assert it.library.search(it.scope, [file], "x").notes == (
            "mute.mp4 was not searched: mute.mp4 has no sound track, so there is nothing to "
            "transcribe.",
        )


def test_without_an_engine_the_sentence_says_how_to_turn_it_on(tmp_path: Path, pool: Pool) -> None:
    with resolver(tmp_path, pool, None) as it:
        file = it.add("standup.m4a", recording(MEETING))
        assert file.outline["duration"] == pytest.approx(13.0, abs=0.1)
        with pytest.raises(TranscriptionError) as caught:
            it.read(file)
        assert "requirements-audio.txt" in caught.value.hint
        assert "LEAF_TRANSCRIBE_URL" in caught.value.hint


MINUTE: sounds.Tones = [(20.0, 0), (10.0, 500), (30.0, 0)]


def minutes(count: int, tones: sounds.Tones = MINUTE) -> bytes:
    """That many minutes of MP3: one, again and again."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp3", options={"write_xing": "0", "id3v2_version": "0"}) as file:
        sounds._encode_sound(file, "libmp3lame", sounds.samples(tones), 24_000)
    return out.getvalue() * count


@pytest.mark.timeout(660)
def test_a_recording_of_an_hour_and_a_half_is_transcribed_in_pieces(
    tmp_path: Path, pool: Pool
) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server, patience=600.0) as it:
        file = it.add("day.mp3", minutes(90))
        assert file.outline["duration"] == pytest.approx(5_400, rel=0.01)
        said: list[str] = []
        window = it.read(file, "01:00:00-", on_progress=said.append)
        assert len(server.requests) >= 9
        assert max(r.seconds for r in server.requests) <= 600
        assert max(r.size for r in server.requests) < 25_000_000
        assert window.text.count(SENTENCES[500]) >= 25
        assert it.now(file).outline["cues"] >= 87
        assert any(" of 01:3" in text for text in said)


@pytest.mark.timeout(360)
def test_a_kill_loses_one_piece_at_most(tmp_path: Path, pool: Pool) -> None:
    source = written(tmp_path, "day.mp3", minutes(40))
    home = tmp_path / "home"
    program = """
import sys
from pathlib import Path
from leaf.files.library import Library, open_path
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.transcription.server import TranscriptionServer
from leaf.store import open_store, users
from tests.removal_kit import forget_file
home, source, url, key = sys.argv[1:]
store = open_store(Settings(home=Path(home)))
scope = users.ensure_local_user(store.db)
library = Library(store, Pool(Path(home)), Path(home), transcriber=TranscriptionServer(url, key=key))
with open_path(Path(source)) as stream:
    file = library.add(scope, "day.mp3", stream).file
library.texts.read(scope, file)
"""
    with TranscriptionServer(delay=0.4) as server:
        process = forked_programs.Popen(
            [sys.executable, "-c", program, str(home), str(source), server.url, server.key]
        )
        until(lambda: len(server.requests) == 4, 240)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        server.delay = 0.0
        with resolver(home, pool, server) as it:
            (file,) = it.library.list(it.scope)
            assert it.library.transcript(it.scope, file).seconds > 1_000
            it.read(file)
            pieces = len(server.requests)
            assert it.now(file).outline["cues"] >= 38
        assert 2_400 / 600 <= pieces <= 2_400 / 480 + 2


def test_a_transcript_that_was_asked_for_goes_on_after_a_restart_by_itself(tmp_path: Path) -> None:
    with TranscriptionServer(delay=0.3) as server:
        settings: dict[str, Any] = {"sound": Sound(url=server.url, key=server.key)}
        with opened(tmp_path / "home", **settings) as leaf:
            scope = leaf.local_scope()
            file = leaf.session(scope).files.add("talk.mp3", io.BytesIO(minutes(40))).file
            leaf.session(scope).transcripts.begin(file.id)
            until(lambda: leaf.session(scope).transcripts.of(file).seconds > 0)
            assert [job.kind for job in leaf.session(scope).jobs.list()] == ["transcript"]
        server.delay = 0.0
        with opened(tmp_path / "home", **settings) as leaf:
            assert leaf.session(scope).transcripts.of(file).state == "none"
            leaf._house.jobs.launch()
            until(lambda: leaf.session(scope).transcripts.of(file).state == "done")
            until(lambda: leaf.session(scope).jobs.list() == [])


def test_a_stopped_job_ends_the_transcription_that_was_begun_with_it(tmp_path: Path) -> None:
    with TranscriptionServer(delay=0.3) as server:
        settings: dict[str, Any] = {"sound": Sound(url=server.url, key=server.key)}
        with opened(tmp_path / "home", **settings) as leaf:
            session = leaf.session(leaf.local_scope())
            file = session.files.add("talk.mp3", io.BytesIO(minutes(40))).file
            session.transcripts.begin(file.id)
            until(lambda: session.transcripts.of(file).seconds > 0)
            [job] = session.jobs.list()
            session.jobs.stop(job.id)
            until(lambda: session.transcripts.of(file).state == "none")
            until(lambda: not [t for t in threading.enumerate() if t.name == "leaf-transcribe"])
            assert session.transcripts.of(file).seconds > 0, "what is done is kept"


def test_stop_ends_the_wait_and_what_is_done_is_kept(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        file = it.add("talk.mp3", minutes(40))
        stop = threading.Event()

        def say(text: str) -> None:
            if "00:00:00" not in text:
                server.going.clear()
                stop.set()

        began = time.monotonic()
        with pytest.raises(RunError, match="Stopped"):
            it.read(file, stop=stop, on_progress=say)
        assert time.monotonic() - began < 30
        until(lambda: it.state(file) == "none")
        done = it.library.transcript(it.scope, file).seconds
        assert done > 400
        before = len(server.requests)
        server.going.set()
        assert it.read(file).text
        assert len(server.requests) - before <= 2_400 / 480 - 1 + 1


def test_a_piece_that_cannot_be_read_is_made_again_also_after_the_last(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StoreError("The disk is full.")

    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        file = it.add("talk.mp3", minutes(25))
        transcripts = it.library._transcripts
        with monkeypatch.context() as patch:
            patch.setattr(transcripts, "_finish", fails)
            with pytest.raises(LeafError, match="disk is full"):
                it.read(file)
        folder = transcripts._folder((file.workspace_id, file.sha256))
        pieces = sorted(folder.glob("[0-9]*.json"))
        assert len(pieces) > 2
        assert (folder / "ended").exists()
        pieces[1].write_bytes(b"")
        assert "00:24" in it.read(file).text
        assert it.library.transcript(it.scope, file).seconds > 1_490


def test_two_callers_share_one_transcription(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer(delay=0.5) as server, resolver(tmp_path, pool, server) as it:
        file = it.add("long.flac", recording([(125.0, 500)], "flac"))
        texts: list[str] = []
        threads = [
            threading.Thread(target=lambda: texts.append(it.read(file).text)) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(texts) == 3
        assert len(set(texts)) == 1
        assert len(server.requests) == 1


def test_a_finished_transcript_outlives_the_disk(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server:
        with resolver(tmp_path, pool, server) as it:
            file = it.add("standup.m4a", recording(MEETING))
            text = it.read(file).text
        shutil.rmtree(tmp_path / "transcripts")
        with resolver(tmp_path, pool, server) as it:
            assert it.state(file) == "done"
            assert it.library.transcript(it.scope, file).cues == 3
            assert [cue.text for cue in it.library.cues(it.scope, file)] == [
                SENTENCES[hertz] for hertz in (400, 500, 600)
            ]
            assert it.read(file).text == text
            it.library.delete(it.scope, file.id)
            forget_file(it.library, it.scope, file.id)
            assert it.store.db.read("SELECT sha256 FROM transcripts") == []
            assert list(it.store.blobs.place.entries()) == []
        assert len(server.requests) == 1


def test_a_transcript_of_an_earlier_version_is_made_lasting_when_it_is_read(
    tmp_path: Path, pool: Pool
) -> None:
    with TranscriptionServer() as server:
        with resolver(tmp_path, pool, server) as it:
            file = it.add("standup.m4a", recording(MEETING))
            text = it.read(file).text
            with it.store.db.transaction() as tx:
                tx.execute("DELETE FROM transcripts")
        with resolver(tmp_path, pool, server) as it:
            assert it.read(file).text == text
            assert len(it.store.db.read("SELECT sha256 FROM transcripts")) == 1
            assert adopt_all(it.store, tmp_path / "transcripts") == 0
            with it.store.db.transaction() as tx:
                tx.execute("DELETE FROM transcripts")
            assert adopt_all(it.store, tmp_path / "transcripts") == 1
        assert len(server.requests) == 1


def test_one_caller_that_leaves_does_not_stop_the_other(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        server.going.clear()
        file = it.add("long.flac", recording([(125.0, 500)], "flac"))
        stop, texts, left = threading.Event(), [], []

        def leave() -> None:
            try:
                it.read(file, stop=stop)
            except RunError as e:
                left.append(e)

        threads = [
            threading.Thread(target=leave),
            threading.Thread(target=lambda: texts.append(it.read(file).text)),
        ]
        for thread in threads:
            thread.start()
        until(lambda: bool(server.requests))
        stop.set()
        threads[0].join(10)
        assert left
        server.going.set()
        threads[1].join(30)
        assert SENTENCES[500] in texts[0]


def test_a_caller_whose_patience_ends_gets_what_is_done(tmp_path: Path, pool: Pool) -> None:
    with (
        TranscriptionServer(delay=0.5) as server,
        resolver(tmp_path, pool, server, patience=0.5) as it,
    ):
        file = it.add("talk.mp3", minutes(40))
        it.library.begin_transcript(it.scope, file)
        until(lambda: it.library.transcript(it.scope, file).seconds > 0, 120)
        server.going.clear()
        window = it.read(file)
        assert SENTENCES[500] in window.text
        assert "is transcribed so far, and it goes on" in window.notes[-1].text
        assert it.state(file) == "working"
        found = it.library.search(it.scope, [it.now(file)], "harbour")
        assert "so far, and it goes on" in found.notes[0]
        server.going.set()
        server.delay = 0.0
        until(lambda: it.state(file) == "done", 300)
        assert not it.read(file).notes


def test_another_workspace_has_a_transcript_of_its_own_and_purge_deletes(
    tmp_path: Path, pool: Pool
) -> None:
    with TranscriptionServer() as server, resolver(tmp_path, pool, server) as it:
        file = it.add("a.wav", wav(MEETING))
        it.read(file)
        other = users.ensure_user(it.store.db, "ann@example.org", "Ann")
        theirs = it.library.add(other, "a.wav", io.BytesIO(wav(MEETING))).file
        with pytest.raises(LeafError):
            it.library.texts.read(other, file)
        until(lambda: it.library.transcript(other, theirs).state == "done")
        it.library.delete(it.scope, file.id)
        forget_file(it.library, it.scope, file.id)
        left = [path for path in (it.home / "transcripts").rglob("*") if path.is_file()]
        assert left
        assert all(other.workspace_id in str(path) for path in left)


# --- the server's failures


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ([Reply.error(401, "Incorrect API key provided: sk-heard.")], "refused the key"),
        ([Reply.error(404, "The model `whisper-1` does not exist")], "knows no model 'whisper-1'"),
        ([Reply.error(400, "The key sk-heard may not do this.")], "refused the sound"),
        ([Reply.error(500, "Internal server error")] * 3, "failed (HTTP 500)"),
        ([Reply.error(429, "Slow down")] * 3, "is busy"),
        ([Reply(200, b"<html>router</html>", "text/html")], "did not answer with a transcript"),
        ([Reply(200, b"{garbage")], "did not answer with a transcript"),
        ([Reply(200, b'{"error": "x"}')], "did not answer with a transcript"),
        (
            [Reply(200, b'{"text": "a", "segments": [{"text": "a"}]}')],
            "did not answer with a transcript",
        ),
        ([Reply(301, headers=(("location", "http://127.0.0.1:1/"),))], "sent Leaf elsewhere"),
    ],
)
def test_a_failing_server_is_one_sentence_without_the_key(
    replies: list[Reply], words: str, tmp_path: Path, pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    with TranscriptionServer(replies) as server, resolver(tmp_path, pool, server) as it:
        file = it.add("a.wav", wav([(2.0, 500)]))
        until(lambda: it.state(file) != "working")
        transcript = it.library.transcript(it.scope, file)
        assert transcript.state == "failed"
        assert words in transcript.text
        assert "sk-heard" not in transcript.text + caplog.text
        assert SENTENCES[500] in it.read(file).text, "the next need tries again"


def test_a_wrong_key_and_a_wrong_model_are_told(tmp_path: Path, pool: Pool) -> None:
    with TranscriptionServer() as server:
        with (
            resolver(tmp_path / "a", pool, Client(server.url, key="sk-wrong-key")) as it,
            pytest.raises(TranscriptionError) as caught,
        ):
            it.read(it.add("a.wav", wav([(130.0, 500)])))
        assert "LEAF_TRANSCRIBE_KEY" in caught.value.hint
        assert "sk-wrong-key" not in str(caught.value)
        with (
            resolver(tmp_path / "b", pool, Client(server.url, "nope", server.key)) as it,
            pytest.raises(TranscriptionError) as caught,
        ):
            it.read(it.add("a.wav", wav([(130.0, 500)])))
        assert "'nope'" in str(caught.value)


def test_a_busy_server_is_asked_again(tmp_path: Path, pool: Pool) -> None:
    busy = [Reply.error(429, "Slow down", retry_after="0.01"), Reply.error(503, "Away")]
    with TranscriptionServer(busy) as server, resolver(tmp_path, pool, server) as it:
        assert SENTENCES[500] in it.read(it.add("a.wav", wav([(2.0, 500)]))).text
        assert len(server.requests) == 3


def test_a_server_that_is_not_there_is_said(tmp_path: Path, pool: Pool) -> None:
    engine = Client("http://127.0.0.1:9", waits=())
    with (
        resolver(tmp_path, pool, engine) as it,
        pytest.raises(TranscriptionError, match=r"127.0.0.1:9 cannot be reached"),
    ):
        it.read(it.add("a.wav", wav([(130.0, 500)])))


@pytest.mark.parametrize("options", [{"verbose": False}, {"plain": True}])
def test_a_server_without_times_gives_one_cue_a_piece(
    options: dict[str, bool], tmp_path: Path, pool: Pool
) -> None:
    with TranscriptionServer(**options) as server, resolver(tmp_path, pool, server) as it:  # type: ignore[arg-type]
        file = it.add("a.wav", wav(MEETING))
        window = it.read(file)
        assert window.places == ("00:00:00-00:00:13",)
        assert SENTENCES[600] in window.text


@pytest.mark.parametrize(
    "segments",
    [
        [],
        [{"start": 4.0, "end": 4.0, "text": "All is said."}],
        [{"start": 0, "end": 0, "text": "All is said."}],
    ],
    ids=["none", "without length", "without times"],
)
def test_words_without_good_times_are_kept(
    segments: list[dict[str, object]], tmp_path: Path, pool: Pool
) -> None:
    body = json.dumps({"text": "All is said.", "segments": segments}).encode()
    with (
        TranscriptionServer([Reply(200, body)]) as server,
        resolver(tmp_path, pool, server) as it,
    ):
        assert "All is said." in it.read(it.add("a.wav", wav([(4.0, 500)]))).text


def test_addresses_may_be_given_in_any_form() -> None:
    whole = "https://host/v1/audio/transcriptions"
    assert {endpoint(u) for u in ("https://host", "https://host/", "https://host/v1", whole)} == {
        whole
    }


# --- faster-whisper


def test_faster_whisper_is_chosen_only_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = engines.choose(
        Settings(home=tmp_path, sound=Sound(url="https://api.example.com/v1", key="sk-x"))
    )
    assert server is not None
    assert server.name == "whisper-1 at api.example.com"
    monkeypatch.setattr(engines.importlib.util, "find_spec", lambda name: None)
    assert engines.choose(Settings(home=tmp_path)) is None
    monkeypatch.setattr(engines.importlib.util, "find_spec", lambda name: object())
    local = engines.choose(Settings(home=tmp_path))
    assert local is not None
    assert local.name == "faster-whisper (small)"


def test_the_installed_faster_whisper_has_what_the_adapter_uses(tmp_path: Path) -> None:
    """Runs where `requirements-audio.txt` is installed; no weights are needed."""
    faster_whisper = pytest.importorskip("faster_whisper")
    import inspect as look
    from dataclasses import fields

    import numpy
    from faster_whisper.vad import get_speech_timestamps

    given = look.signature(faster_whisper.WhisperModel.transcribe).parameters
    assert {"audio", "vad_filter", "condition_on_previous_text"} <= set(given)
    assert {"device", "compute_type", "cpu_threads"} <= set(
        look.signature(faster_whisper.WhisperModel).parameters
    )
    assert {"cache_dir", "local_files_only"} <= set(
        look.signature(faster_whisper.download_model).parameters
    )
    names = {field.name for field in fields(faster_whisper.transcribe.Segment)}
    assert {"start", "end", "text", "no_speech_prob", "avg_logprob"} <= names
    assert get_speech_timestamps(numpy.zeros(sounds.RATE * 5, dtype=numpy.float32)) == []


def test_a_speech_model_that_cannot_be_had_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    from leaf.transcription.whisper import FasterWhisper

    piece = Pcm(written(tmp_path, "piece.pcm", sounds.samples([(1.0, 500)]).tobytes()))
    with pytest.raises(TranscriptionError, match="no speech model 'colossal'"):
        FasterWhisper("colossal", tmp_path / "models").transcribe(
            piece, threading.Event(), lambda text: None
        )
    (tmp_path / "empty").mkdir()
    with pytest.raises(TranscriptionError, match="cannot be loaded"):
        FasterWhisper(str(tmp_path / "empty"), tmp_path).transcribe(
            piece, threading.Event(), lambda text: None
        )


def test_recording_with_a_track_that_it_does_not_announce_is_refused_in_words(
    tmp_path: Path,
) -> None:
    whole = sounds.recording([(20.0, 400)], "flv")
    at, tag = FLV_HEADER, b""
    while at < len(whole) * 3 // 4:
        tag = whole[at : at + 11 + int.from_bytes(whole[at + 1 : at + 4], "big")]
        at += len(tag) + 4
    picture = b"\x12" + bytes(60)
    unannounced = b"\x09" + len(picture).to_bytes(3, "big") + tag[4:11] + picture
    size = (len(unannounced)).to_bytes(4, "big")
    path = tmp_path / "a.flv"
    path.write_bytes(whole[:at] + unannounced + size + whole[at:])
    with pytest.raises(UnreadableFileError, match="damaged"):
        sound_format.pcm(str(path), 0.0, 60.0, str(tmp_path))
