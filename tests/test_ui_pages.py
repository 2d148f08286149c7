"""Every page, drawn by Streamlit's own test runner over a real Leaf without a model."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leaf import settings
from leaf.app import Leaf
from leaf.store.database import now
from leaf.ui import earlier, state
from leaf.wiring import build
from tests.leaf_kit import finished
from tests.live_kit import wait_until

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    """The Leaf that pages find, in an empty data folder."""
    app = build(settings.load({"LEAF_HOME": str(tmp_path / "home")}))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    yield app
    state.close()


def open_page(path: str = "", **query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "leaf" / "ui" / "shell.py"), default_timeout=PATIENCE)
    for name, value in query.items():
        page.query_params[name] = value
    if path:
        page.run()
        page.switch_page(str(ROOT / "leaf" / "pages" / f"{path}.py"))
    page.run()
    assert not page.exception
    return page


def words_of(page: AppTest) -> str:
    return "\n".join(
        element.value
        for kind in (page.title, page.markdown, page.caption, page.warning)
        for element in kind
    )


def add(leaf: Leaf, name: str, content: bytes) -> str:
    return leaf.session(leaf.local_scope()).files.add(name, io.BytesIO(content)).file.id


def test_an_empty_chat_says_what_leaf_does_and_who_answers(leaf: Leaf) -> None:
    page = open_page()
    assert page.title[0].value == "What do you want to know?"
    assert "No model connected: simple questions only" in words_of(page)
    assert any("sample data" in button.label for button in page.button)


def test_suggestions_are_made_from_the_files_at_hand(leaf: Leaf) -> None:
    add(leaf, "harvest.csv", b"orchard,apples\nNorth,3\nSouth,5\n")
    page = open_page()
    # made beside the page: on a busy machine they are there when it is drawn once more
    wait_until(lambda: _suggested(page, "harvest") or _suggested(page.run(), "harvest"), 60.0)


def _suggested(page: AppTest, word: str) -> bool:
    keys = [button for button in page.button if (button.key or "").startswith("suggestion-")]
    return any(word in button.label for button in keys)


def test_a_question_goes_to_the_branch_that_its_tab_shows(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    finished(session, session.messages.send(chat.id, "First").id)
    second = finished(session, session.messages.send(chat.id, "Second").id)
    page = open_page(chat=chat.id)
    other = session.messages.edit(second.parent_id, "Second, in other words")  # in another tab
    finished(session, other.id)
    page.chat_input[0].set_value("Third").run()
    assert not page.exception
    shown = session.chats.thread(chat.id).messages
    finished(session, shown[-1].id)
    asked = [message for message in shown if message.role == "user"]
    assert asked[-1].parent_id == second.id
    assert other.id not in {message.id for message in shown}


def test_questions_follow_the_last_answer_alone(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    rows = "".join(f"{('North', 'South', 'East')[i % 3]},{i}\n" for i in range(30))
    file_id = add(leaf, "harvest.csv", f"orchard,apples\n{rows}".encode())
    chat = session.chats.create()
    for question in ("average apples by orchard", "highest apples"):
        answer = session.messages.send(chat.id, question, [file_id])
        finished(session, answer.id)
    page = open_page(chat=chat.id)
    wait_until(lambda: _follow_ups(page) or _follow_ups(page.run()), PATIENCE)
    assert _follow_ups(page) == ["follow-up-0", "follow-up-1", "follow-up-2"]


def _follow_ups(page: AppTest) -> list[str]:
    return [button.key for button in page.button if (button.key or "").startswith("follow-up-")]


def test_a_file_that_takes_long_to_read_holds_up_no_page(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    rows = "".join(f"{('North', 'South', 'East')[i % 3]},{i}\n" for i in range(30))
    file_id = add(leaf, "harvest.csv", f"orchard,apples\n{rows}".encode())
    chat, empty = session.chats.create(), session.chats.create()
    finished(session, session.messages.send(chat.id, "Hello", [file_id]).id)
    session.attached.add(empty.id, [file_id])
    file = session.files.get(file_id)
    converter = leaf._house.tables._converter
    lock = converter._locks.setdefault((file.workspace_id, file.sha256), threading.Lock())
    with lock:  # as while another thread reads it
        assert converter._read(file) is None
        answered, welcome = open_page(chat=chat.id), open_page(chat=empty.id)
        assert not _follow_ups(answered)
        assert "Looking at what it holds" in words_of(welcome)
        assert "Looking at the files" in words_of(welcome)
        assert any(
            button.key == f"came-{m.id}-{file_id}"
            for button in answered.button
            for m in session.chats.thread(chat.id).messages
        )
    wait_until(lambda: _follow_ups(answered) or _follow_ups(answered.run()), PATIENCE)
    wait_until(
        lambda: _suggested(welcome, "orchard") or _suggested(welcome.run(), "orchard"), PATIENCE
    )
    assert "Looking at" not in words_of(welcome.run())


def test_a_file_beside_the_next_question_says_what_it_holds(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    rows = "".join(f"2024-01-{i:02d},{i}\n" for i in range(1, 29) if i != 5)
    file_id = add(leaf, "harvest.csv", f"day,apples\n{rows}".encode())
    chat = session.chats.create()
    session.attached.add(chat.id, [file_id])
    page = open_page(chat=chat.id)
    wait_until(lambda: "missing" in words_of(page) or "missing" in words_of(page.run()), PATIENCE)
    words = words_of(page)
    assert "harvest.csv · 27 rows × 2 columns" in words.replace("\\", "")
    assert "2024-01-01 to 2024-01-28, 1 day missing (2024-01-05)" in words.replace("\\", "")


def test_a_chat_shows_questions_answers_and_what_they_rest_on(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    file_id = add(leaf, "harvest.csv", b"orchard,apples\nNorth,3\nSouth,5\nNorth,4\n")
    chat = session.chats.create()
    answer = session.messages.send(
        chat.id, "SELECT orchard, sum(apples) AS apples FROM harvest GROUP BY ALL", [file_id]
    )
    run = session.messages.watch(answer.id)
    assert run is not None
    position, done = 0, False
    while not done:
        piece = run.read(position, 5)
        position, done = piece.position, piece.done
    page = open_page(chat=chat.id)
    text = words_of(page)
    assert "SELECT orchard" in text.replace("\\", "")
    assert "3 of 3 rows" in text
    page.session_state["preview"] = {"evidence": answer.id, "section": "sources"}
    page.run()
    assert any(
        "harvest" in button.label and (button.key or "").startswith("source-")
        for button in page.button
    )
    assert page.query_params["chat"] in (chat.id, [chat.id])


def test_a_link_to_a_message_draws_it_with_what_was_asked(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    answers = [
        finished(session, session.messages.send(chat.id, f"hello {word}").id) for word in NAMES
    ]
    found = session.chats.find(chat.id, "HELLO bo")
    assert session.messages.get(found).parent_id in (answers[0].id, "", None)
    assert session.chats.find(chat.id, "unsaid") == ""
    assert "hello bo" not in words_of(open_page(chat=chat.id))
    assert "hello bo" in words_of(open_page(chat=chat.id, message=found))
    assert "hello bo" in words_of(open_page(chat=chat.id, message=answers[1].id))
    assert "hello gus" in words_of(open_page(chat=chat.id, message="nonsense"))


NAMES = ("ann", "bo", "cy", "dee", "eve", "fay", "hal", "ian", "joe", "gus")


def test_an_unknown_chat_is_said_and_a_new_one_begun(leaf: Leaf) -> None:
    page = open_page(chat="nope")
    assert "was deleted or is not shared" in words_of(page).replace("\\", "")
    assert page.title[0].value == "What do you want to know?"


def test_only_the_last_messages_are_drawn_until_more_are_wanted(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    for number in range(18):
        answer = session.messages.send(chat.id, f"Question number {number}")
        run = session.messages.watch(answer.id)
        while run is not None and not run.read(10_000, 5).done:
            pass
    page = open_page(chat=chat.id)
    assert "Question number 0" not in words_of(page).replace("\\", "").split("\n")
    assert page.button(key="load-earlier").label == f"Earlier messages ({36 - earlier.DRAWN})"
    page.button(key="load-earlier").click().run()
    assert "Question number 0" in words_of(page).replace("\\", "").split("\n")


def test_the_first_message_that_is_drawn_stays_while_questions_are_asked(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()

    def ask(number: int) -> None:
        answer = session.messages.send(chat.id, f"Question number {number}")
        run = session.messages.watch(answer.id)
        while run is not None and not run.read(10_000, 5).done:
            pass

    for number in range(8):
        ask(number)
    page = open_page(chat=chat.id)
    first = page.session_state[earlier.KEY].first
    ask(8)
    page.run()
    assert page.session_state[earlier.KEY].first == first
    for number in range(9, 18):
        ask(number)
    page.run()
    window = page.session_state[earlier.KEY]
    assert window.first == session.chats.thread(chat.id, last=earlier.DRAWN).messages[0].id


def test_the_library_lists_files_with_counts_and_problems_in_words(leaf: Leaf) -> None:
    add(leaf, "harvest.csv", b"orchard,apples\nNorth,3\nSouth,5\n")
    add(leaf, "broken.pdf", b"%PDF-1.7\nnothing more")
    page = open_page("files")
    text = words_of(page).replace("\\", "")
    assert "2 rows × 2 columns" in text
    labels = " ".join(button.label for button in page.button).replace("\\", "")
    assert "harvest.csv" in labels
    assert "broken.pdf" in labels
    assert ":material/warning:" in text


def test_a_deleted_file_can_be_brought_back(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    file_id = add(leaf, "harvest.csv", b"orchard,apples\nNorth,3\n")
    page = open_page("files")
    session.files.delete(file_id)
    page.session_state["deleted-file"] = (file_id, "harvest.csv", 0)
    page.run()
    assert "Deleted" in words_of(page)
    page.button(key="undo-file-button").click().run()
    assert [file.id for file in session.files.list()] == [file_id]


def test_a_library_of_many_files_is_drawn_a_page_at_a_time(leaf: Leaf) -> None:
    for number in range(30):
        add(leaf, f"note-{number:02}.txt", f"note {number}".encode())
    page = open_page("files")
    assert sum((button.key or "").startswith("ask-") for button in page.button) == 25


def test_settings_say_who_answers_and_operations_what_works_and_where_the_data_lies(
    leaf: Leaf,
) -> None:
    assert "No model is connected" in words_of(open_page("settings"))
    text = words_of(open_page("operations")).replace("\\", "")
    assert str(leaf.settings.home) in text
    assert "Sandbox" in text


def test_no_page_shows_the_key(tmp_path: Path) -> None:
    app = build(
        settings.load(
            {
                "LEAF_HOME": str(tmp_path),
                "ANTHROPIC_API_KEY": "sk-secret",
                "LEAF_MODEL_URL": "http://me:sk-secret@127.0.0.1:9/v1",
            }
        )
    )
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    try:
        for path in ("", "files", "settings", "operations"):
            page = open_page(path)
            assert "sk-secret" not in words_of(page) + "".join(code.value for code in page.code)
    finally:
        state.close()


def test_what_is_written_about_a_file_is_kept_and_shared_only_when_that_is_said(leaf: Leaf) -> None:
    scope, file_id = leaf.local_scope(), add(leaf, "harvest.csv", b"orchard,apples\nNorth,3\n")
    session = leaf.session(scope)
    chat = session.chats.create()
    session.attached.add(chat.id, [file_id])
    page = open_page(chat=chat.id)
    page.button(key=f"icon-about-{file_id}").click().run()
    assert "Those who take part in this chat can read it, unless you share it." in words_of(page)

    def dialog(file_id: str, chat_id: str) -> None:
        from leaf.ui import about

        about.write(file_id, "harvest.csv", chat_id)

    for shared in (False, True):
        drawn = AppTest.from_function(
            dialog, args=(file_id, chat.id), default_timeout=PATIENCE
        ).run()
        drawn.text_area(key="about-words").set_value("Counted by hand")
        drawn.checkbox(key="about-shared").set_value(shared)
        next(b for b in drawn.button if b.label == "Keep").click().run()
        assert not drawn.exception
        assert session.files.words(file_id) == ("Counted by hand", shared)
    assert session.attached.list(chat.id)[0].file.upload_context == "Counted by hand"
    assert "Counted by hand" in words_of(open_page("files"))


def test_a_board_says_how_to_pin_and_then_shows_pins_with_what_they_rest_on(leaf: Leaf) -> None:
    assert "Nothing is pinned yet" in words_of(open_page("board"))
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    file = add(leaf, "harvest.csv", b"orchard,apples\nNorth,3\nSouth,5\n")
    session.attached.add(chat.id, [file])
    session.tools.run("query_tables", {"sql": "SELECT * FROM harvest"}, chat_id=chat.id)
    made, board, _ = session.boards.pin(chat.id, "r1")
    session.boards.rename_pin(made.id, "**The** orchards")
    page = open_page("board")
    assert page.title[0].value == "Board"
    assert page.subheader[0].value == r"\*\*The\*\* orchards"
    assert "2 rows · 2 of 2 rows of harvest" in words_of(page).replace("\\", "")
    session.team.set_language("de")
    page = open_page("board")
    assert "2 Zeilen · 2 von 2 Zeilen von harvest" in words_of(page).replace("\\", "")
    page.session_state[f"pin-receipt-{made.id}"] = True
    said = words_of(page.run()).replace("\\", "")
    assert "harvest.csv, Zeilen 1-3 · 2 von 2 Zeilen · Inhalt" in said
    session.team.set_language("")
    session.boards.delete(board.id)
    assert "Nothing is pinned yet" in words_of(open_page("board"))
    page = open_page("board", board=board.id)
    assert "This board was deleted" in words_of(page)


def test_a_link_of_a_board_is_within_reach_also_when_no_pin_is_left(tmp_path: Path) -> None:
    """It shows what was pinned then, to anyone, until it is revoked."""
    app = build(settings.load({"LEAF_HOME": str(tmp_path / "home"), "LEAF_PUBLIC_LINKS": "on"}))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    try:
        session = app.session(app.local_scope())
        board = session.boards.create("Weekly")
        assert "share-link" not in [button.key for button in open_page("board").button]
        session.links.share_board(board.id)
        assert "share-link" in [button.key for button in open_page("board").button]
    finally:
        state.close()


def test_a_project_has_its_chats_files_and_instructions_and_one_that_is_gone_says_so(
    leaf: Leaf,
) -> None:
    page = open_page("project")
    assert page.title[0].value == "Projects"
    assert "A project keeps chats and files together" in words_of(page)
    own = leaf.session(leaf.local_scope())
    made = own.projects.create("**Quarter**")
    page = open_page("project", id=made.id)
    assert page.title[0].value == r"\*\*Quarter\*\*"
    page.text_area[0].set_value("Round to thousands.")
    next(b for b in page.button if b.label == "Save instructions").click().run()
    assert not page.exception
    assert own.projects.get(made.id).instructions == "Round to thousands."
    own.projects.add_files(made.id, [add(leaf, "harvest.csv", b"orchard,n\nNorth,3\n")])
    page = open_page("project", id=made.id)
    assert "nothing of them is read until it is needed" in words_of(page)
    next(b for b in page.button if b.label == "New chat in this project").click().run()
    assert not page.exception
    (chat,) = own.chats.list()
    found = own.projects.of(chat.id)
    assert found is not None
    assert [item.file.name for item in own.attached.list(chat.id)] == ["harvest.csv"]
    finished(own, own.messages.send(chat.id, "What is there?").id)
    labels = [button.label for button in open_page("project", id=made.id).button]
    assert "What is there?" in labels
    own.projects.delete(made.id)
    page = open_page("project", id=made.id)
    assert "This project was deleted, or you are not in it." in words_of(page)


def test_the_switch_that_shares_a_board_says_what_becomes_visible_to_whom(leaf: Leaf) -> None:
    scope = leaf.local_scope()
    session = leaf.session(scope)
    board = session.boards.create("Weekly")
    assert not open_page("board").toggle
    with leaf._house.store.db.transaction() as tx:
        given = {"workspace": scope.workspace_id, "at": now()}
        tx.execute(
            "INSERT INTO users (id, email, name, created_at) VALUES ('b', 'b@x.org', 'Ben', :at)",
            given,
        )
        tx.execute(
            "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
            "(:workspace, 'b', 'member', :at)",
            given,
        )
    page = open_page("board")
    assert page.toggle[0].label == "Everyone in this workspace sees this board"
    assert "what is pinned here becomes visible to all 2 members" in words_of(page)
    page.toggle[0].set_value(True).run()
    assert session.boards.get(board.id).shared
    assert "All 2 members see what is pinned here" in words_of(page)
    page.toggle[0].set_value(False).run()
    assert not session.boards.get(board.id).shared
    assert "Only you see it now" in words_of(page)


def test_the_style_sheet_holds_no_angle_bracket() -> None:
    """Streamlit takes it for an attempt to leave the style, and drops all of the sheet."""
    sheet = (ROOT / "leaf" / "ui" / "assets" / "leaf.css").read_text()
    assert "stMainBlockContainer" in sheet
    assert [line for line in sheet.splitlines() if "<" in line] == []
