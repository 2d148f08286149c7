"""Errors that really happen, on pages in German: whatever Leaf says of them stands in capitals there
(`problems_kit`), and in English as it was made."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leaf import settings
from leaf.app import Leaf
from leaf.errors import LeafError
from leaf.files.line import problem
from leaf.language.text import speaking
from leaf.provenance import coverage
from leaf.sessions.session import Session
from leaf.shapes.parts import CoverageData
from leaf.ui import citations, findings, language, state, uploads, words
from leaf.wiring import build
from tests.problems_kit import loud_in_german
from tests.test_ui_pages import PATIENCE, open_page, words_of
from tests.test_ui_uploads import Page

BROKEN = b"PK\x03\x04 this is no workbook"
TOTALS = b"fruit,n\nplum,3\npear,4\nplum,3,9\nfig,5\n"


@pytest.fixture(autouse=True)
def louder(tmp_path: Path) -> Iterator[None]:
    with loud_in_german(tmp_path):
        yield


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    """The Leaf that pages find; its user reads German."""
    app = build(settings.load({"LEAF_HOME": str(tmp_path / "home")}))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    app.session(app.local_scope()).team.set_language("de")
    yield app
    state.close()


@pytest.fixture
def own(leaf: Leaf) -> Session:
    return leaf.session(leaf.local_scope())


def drawn(function: Callable[..., None], *given: str) -> AppTest:
    """What a function draws in German."""
    page = AppTest.from_function(function, args=given, default_timeout=PATIENCE)
    page.session_state[language.KEY] = "de"
    page.run()
    assert not page.exception
    return page


def loudly(text: str) -> str:
    """The first words of it, in capitals."""
    return " ".join(text.split()[:4]).upper()


def test_a_broken_workbook_says_why_it_cannot_be_read(own: Session) -> None:
    file = own.files.add("broken.xlsx", io.BytesIO(BROKEN)).file
    assert "broken" in problem(file)
    page = open_page("files")
    assert "Dateien" in [title.value for title in page.title]
    shown = words_of(page).replace("\\", "")
    with speaking("de"):
        assert loudly(file.outline["hint"]) in shown.upper()
        assert file.outline["hint"] not in shown


def test_files_beside_a_question_say_what_went_wrong_with_them(own: Session) -> None:
    file = own.files.add("broken.xlsx", io.BytesIO(BROKEN)).file

    def page() -> None:
        from leaf.ui import uploads

        uploads.say("chat")

    with speaking("de"):
        said = uploads.UploadOutcome(files=[file])
        shown = AppTest.from_function(page, default_timeout=PATIENCE)
        shown.session_state["said-chat"] = {
            "problems": uploads.lines_of(said),
            "duplicates": [],
            "came_out": [],
        }
        shown.run()
    (warning,) = shown.warning
    assert file.outline["hint"].upper() in warning.value.replace("\\", "")


def test_a_step_that_did_not_work_says_which_column_was_meant(own: Session) -> None:
    chat = own.chats.create()
    file = own.files.add("harvest.csv", io.BytesIO(b"orchard,apples\nNorth,3\nSouth,5\n")).file
    own.attached.add(chat.id, [file.id])
    with pytest.raises(LeafError) as wrong:
        own.tools.run("query_tables", {"sql": "SELECT appels FROM harvest"}, chat_id=chat.id)

    def step(text: str) -> None:
        import streamlit as st

        from leaf.ui import steps
        from leaf.ui.items import Item

        part = {
            "type": "tool-query_tables",
            "toolCallId": "1",
            "state": "output-error",
            "input": {"sql": "SELECT appels FROM harvest"},
            "errorText": text,
        }
        st.session_state["opened-steps"] = ("1",)
        steps.draw(st, Item("step", "1", step=part), "", "m")  # type: ignore[arg-type]

    said = "\n".join(one.value for one in drawn(step, str(wrong.value)).caption)
    assert "NO COLUMN 'appels' in harvest. DID YOU MEAN 'apples'?" in said.replace("\\", "")


def test_what_no_page_expected_is_explained_in_the_language(leaf: Leaf) -> None:
    def page() -> None:
        from leaf.errors import LeafError
        from leaf.ui.server import explain
        from leaf.ui.state import session

        try:
            session().chats.get("gone")
        except LeafError as e:
            explain(e)

    (warning,) = drawn(page).warning
    assert "NO CHAT 'gone'" in warning.value


def test_a_document_that_is_gone_is_said_on_its_page(leaf: Leaf) -> None:
    page = open_page("documents", document="gone")
    assert any("NO DOCUMENT 'gone'" in one.value for one in page.warning), words_of(page)


def test_drive_that_is_not_set_up_says_so_and_what_to_do(leaf: Leaf) -> None:
    shown = words_of(open_page("drive")).replace("\\", "")
    assert "NO GOOGLE CLIENT IS CONFIGURED, SO DRIVE CANNOT BE CONNECTED." in shown


def test_settings_that_are_wrong_are_said_where_leaf_cannot_start() -> None:
    def page() -> None:
        from leaf import settings
        from leaf.errors import SettingsError
        from leaf.ui import frame

        try:
            settings.load({"LEAF_RUNS": "many"})
        except SettingsError as e:
            frame.draw_not_ready(e)

    shown = drawn(page)
    assert shown.title[0].value == "Leaf ist noch nicht eingerichtet"
    first = shown.markdown[0].value.replace("\\", "")
    assert "LEAF_RUNS" in first
    assert shown.markdown[1].value.isupper()


def test_what_the_upload_routes_refuse_is_said_in_the_language_of_their_page(
    leaf: Leaf, tmp_path: Path
) -> None:
    page = Page(leaf, tmp_path / "held")
    english = page.ask("POST", "/gone/close")
    page.key.language = "de"
    german = page.ask("POST", "/gone/close")
    assert (english.status_code, german.status_code) == (404, 404)
    assert german.json()["error"] == english.json()["error"].upper()
    wrong = page.ask("POST", body={"chat": "", "files": []})
    assert wrong.json()["error"] == "ADD 1 TO 20,000 FILES IN ONE GO.".replace(",", ".")
    stranger = page.client.get("/_leaf/uploads", headers={"accept-language": "de-AT"})
    assert stranger.json()["error"].startswith("THIS PAGE WAS OPEN TOO LONG")


def test_the_list_of_uploads_says_why_a_file_failed(leaf: Leaf, tmp_path: Path) -> None:
    page = Page(leaf, tmp_path / "held")
    job = page.begin(("broken.xlsx", len(BROKEN)))
    page.ask("POST", f"/{job}/left")

    def said() -> str:
        (found,) = page.ask("GET", "?here=files").json()
        return str(found["items"][0]["said"])

    english = said()
    assert english == "The page that was to send it was closed. Add it again."
    page.key.language = "de"
    assert said() == english.upper()


def test_notes_of_a_file_are_said_and_kept_in_english(own: Session) -> None:
    file = own.files.add("fruit.csv", io.BytesIO(TOTALS)).file
    kept = [note["text"] for note in file.outline["notes"]]
    assert kept
    assert words.notes(file) == kept
    with speaking("de"):
        assert words.notes(file) != kept
        assert [note.casefold() for note in words.notes(file)] == [one.casefold() for one in kept]


def test_findings_of_a_table_are_said_with_their_places(own: Session) -> None:
    file = own.files.add("fruit.csv", io.BytesIO(TOTALS)).file
    text = file.outline["notes"][0]["text"]
    assert findings.SHOWN

    def page(text: str) -> None:
        from leaf.ui.findings import draw_findings

        draw_findings([{"kind": "ragged", "text": text, "place": "rows 4, 7"}])  # type: ignore[list-item]

    (line,) = drawn(page, text).caption
    assert "Zeilen 4, 7" in line.value
    assert text not in line.value


def test_citations_say_where_words_come_from() -> None:
    found = {"verified": False, "problem": "the words are not in it", "cited_place": ""}
    assert citations.standing(found) == "Not verified: the words are not in it"  # type: ignore[arg-type]
    with speaking("de"):
        said = citations.standing(found)  # type: ignore[arg-type]
        assert said == "Nicht bestätigt: THE WORDS ARE NOT IN IT"
        moved = {"verified": True, "problem": "", "cited_place": "page 3"}
        assert citations.standing(moved) == "Zitiert aus: Seite 3"  # type: ignore[arg-type]


def test_what_leaves_the_page_stays_english(own: Session) -> None:
    chat = own.chats.create()
    file = own.files.add("fruit.csv", io.BytesIO(TOTALS)).file
    own.attached.add(chat.id, [file.id])
    own.tools.run("query_tables", {"sql": "SELECT * FROM fruit"}, chat_id=chat.id)
    _, board, _ = own.boards.pin(chat.id, "r1")
    english = own.boards.export(board.id, "html")
    with speaking("de"):
        assert own.boards.export(board.id, "html") == english


def test_notes_under_an_answer_are_said_with_their_places(own: Session) -> None:
    chat = own.chats.create()
    file = own.files.add("fruit.csv", io.BytesIO(TOTALS)).file
    own.attached.add(chat.id, [file.id])
    output = own.tools.run("query_tables", {"sql": "SELECT * FROM fruit"}, chat_id=chat.id)
    covered: CoverageData = {"files": coverage.merge_coverage([output.to_json()])}
    kept = coverage.notes(covered)
    assert kept
    with speaking("de"):
        loud = coverage.notes(covered)
    assert loud != kept
    assert [one.casefold().replace("(zeile ", "(row ") for one in loud] == [
        one.casefold() for one in kept
    ]
    assert "(Zeile 4)" in loud[0]
