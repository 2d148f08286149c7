"""A recording: spoken into the microphone, and added as a file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests import sounds
from tests.browser.conftest import PATIENCE, App
from tests.browser.test_journeys import add_by_composer, file_field, open_sources
from tests.live_kit import wait_until
from tests.messages_server import Failure, Json, MessagesServer, Turn
from tests.sounds import SENTENCES
from tests.transcription_server import TranscriptionServer

pytestmark = pytest.mark.browser

SLOW = 90_000
"""Milliseconds for what waits for children that start on a busy machine: looking at a file,
decoding it, an answer."""
MEETING = [(3.0, 400), (2.0, 0), (4.0, 500), (1.0, 0), (3.0, 600)]


def brain(body: Json) -> Turn | Failure:
    """Reads the first file of the chat, and says where in it the budget is."""
    text = str(body["messages"])
    if "tool_result" not in text:
        return Turn.call(("read_file", {"file": "f1"}))
    found = re.search(r"\[(00:\d\d:\d\d)\] The budget", text)
    return Turn.say(
        f"The budget is forty thousand euros, said at {found[1]}."
        if found
        else "I heard your question."
    )


@pytest.fixture
def ear() -> Iterator[TranscriptionServer]:
    with TranscriptionServer() as server:
        yield server


@pytest.fixture
def app(new_app: Callable[..., App], ear: TranscriptionServer) -> Iterator[App]:
    with MessagesServer(brain) as model:
        yield new_app(model_url=model.url, LEAF_TRANSCRIBE_URL=ear.url, LEAF_TRANSCRIBE_KEY=ear.key)


@pytest.fixture(params=[[(120.0, 700)]])
def speaking(
    request: pytest.FixtureRequest, launch: Callable[..., Browser], tmp_path: Path
) -> Iterator[BrowserContext]:
    """A browser whose microphone hears these tones."""
    voice = tmp_path / "voice.wav"
    voice.write_bytes(sounds.wav(request.param))
    browser = launch(
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={voice}",
    )
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, permissions=["microphone"]
    )
    context.set_default_timeout(PATIENCE)
    yield context
    browser.close()


def record(page: Page, seconds: float) -> float:
    """Speak into the composer for so long at least, and send. Returns the seconds that it may have
    been at most."""
    began = time.monotonic()
    page.get_by_test_id("stChatInputMicButton").click()
    page.wait_for_timeout(seconds * 1000)
    page.get_by_test_id("stChatInputApproveButton").click()
    return time.monotonic() - began


def composer(page: Page) -> Locator:
    return page.get_by_test_id("stChatInputTextArea")


def test_a_spoken_question_is_asked_in_its_words(
    app: App, ear: TranscriptionServer, speaking: BrowserContext
) -> None:
    page = speaking.new_page()
    page.goto(app.url)
    expect(composer(page)).to_be_visible()
    spoken = record(page, 3.0)
    expect(page.get_by_text(SENTENCES[700]).first).to_be_visible(timeout=SLOW)
    expect(
        page.get_by_text(re.compile(r"Recording \d{4}-\d\d-\d\d \d\d\.\d\d")).first
    ).to_be_visible()
    expect(page.get_by_text("I heard your question.")).to_be_visible(timeout=SLOW)
    assert 1.5 < ear.requests[0].seconds < spoken + 0.5


@pytest.mark.parametrize("speaking", [[(120.0, 0)]], indirect=True)
def test_a_recording_in_which_nobody_speaks_waits_beside_the_question(
    app: App, speaking: BrowserContext
) -> None:
    page = speaking.new_page()
    page.goto(app.url)
    record(page, 2.0)
    expect(page.get_by_text("No speech was found in your recording.")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", name=re.compile("Leave out Recording"))).to_be_visible()


def test_an_answer_cites_a_time_and_the_preview_plays_there(
    app: App, page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "planning.m4a"
    path.write_bytes(sounds.recording(MEETING))
    page.goto(app.url)
    add_by_composer(page, path)
    composer(page).fill("How high is the budget?")
    composer(page).press("Enter")
    expect(page.get_by_text("The budget is forty thousand euros, said at 00:00:05.")).to_be_visible(
        timeout=SLOW
    )
    open_sources(page).get_by_role("button", name="planning.m4a").first.click()
    preview = page.locator(".st-key-preview")
    expect(preview.get_by_test_id("stAudio")).to_be_visible(timeout=SLOW)
    expect(preview.get_by_text(SENTENCES[500])).to_be_visible()
    preview.get_by_role("button", name="0:05").click()
    sound = preview.get_by_test_id("stAudio")
    wait_until(lambda: sound.evaluate("sound => sound.currentTime") >= 5)


def test_a_waiting_recording_says_how_far_it_is(
    app: App, ear: TranscriptionServer, page: Page, tmp_path: Path
) -> None:
    ear.going.clear()
    path = tmp_path / "standup.wav"
    path.write_bytes(sounds.wav(MEETING))
    page.goto(f"{app.url}/files")
    file_field(page).set_input_files(path)
    expect(page.get_by_text("0:13")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Ask", exact=True).filter(visible=True).click()
    expect(page.get_by_text("standup.wav: transcribing…")).to_be_visible(timeout=SLOW)
    ear.going.set()
    expect(page.get_by_text("standup.wav: transcript ready")).to_be_visible(timeout=SLOW)


def test_without_an_engine_the_composer_says_how_to_turn_it_on(
    new_app: Callable[..., App], speaking: BrowserContext
) -> None:
    fresh = new_app()
    page = speaking.new_page()
    page.goto(fresh.url)
    record(page, 2.0)
    expect(page.get_by_text("Sound cannot be transcribed yet: no engine is on.")).to_be_visible(
        timeout=SLOW
    )
    expect(page.get_by_role("button", name=re.compile("Leave out Recording"))).to_be_visible()
    page.goto(f"{fresh.url}/operations")
    expect(page.get_by_text("audio and video are not transcribed")).to_be_visible(timeout=SLOW)
