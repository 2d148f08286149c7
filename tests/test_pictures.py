"""Pictures from a question or a tool to the model: made once, sent as uploads or inline, and the
same for ever."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from bench._pdfs import pdf, show
from leaf.agent.media import MOST_INLINE, MOST_PICTURES, Media
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.files.library import Library
from leaf.files.pictures import MOST_PAGES, page_numbers
from leaf.sandbox.pool import Pool
from leaf.sessions.asking import PICTURE_TOKENS
from leaf.sessions.session import Session
from leaf.store import Store, files, users
from leaf.store import media as store_media
from leaf.store.database import now
from leaf.store.media import DerivedPicture
from leaf.store.model import File, Message, Scope
from tests import pictures_kit as kit
from tests.files_server import images_of, opened
from tests.leaf_kit import add, finished, text_of
from tests.leaf_kit import opened as leaf_opened
from tests.messages_server import MessagesServer, Turn
from tests.removal_kit import forget_file

Json = dict[str, Any]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    made = Pool(tmp_path_factory.mktemp("pool"))
    yield made
    made.close()


@pytest.fixture
def scope(store: Store) -> Scope:
    return users.ensure_local_user(store.db)


@pytest.fixture
def library(store: Store, pool: Pool, tmp_path: Path) -> Library:
    return Library(store, pool, tmp_path)


def kept(library: Library, scope: Scope, name: str, data: bytes) -> File:
    return library.add(scope, name, BytesIO(data)).file


def scan(pages: int) -> bytes:
    """A PDF without a text layer."""
    return pdf(["40 40 200 300 re f"] * pages)


# The library, on both databases


def test_a_picture_is_made_once_and_stays_the_same(
    store: Store, library: Library, scope: Scope
) -> None:
    file = kept(library, scope, "photo.jpg", kit.photo(3000, 2000, orientation=6))
    first = library.pictures.view(scope, file).pictures[0]
    assert (first.width, first.height, first.media_type) == (1333, 2000, "image/jpeg")
    data, media_type = library.pictures.seen(scope, first.sha256)
    assert opened(data).size == (1333, 2000)
    assert b"SecretCamera" not in data
    assert library.pictures.view(scope, file).pictures[0] == first
    rows = store.db.read("SELECT sha256 FROM derived_pictures")
    assert [row["sha256"] for row in rows] == [first.sha256]
    assert media_type == "image/jpeg"
    data, width, height = library.pictures.thumbnail(scope, file.id)
    assert opened(data).size == (width, height) == (213, 320)


def test_a_picture_whose_bytes_are_gone_is_made_anew_also_where_it_looks_another_way(
    store: Store, library: Library, scope: Scope
) -> None:
    file = kept(library, scope, "photo.jpg", kit.photo(3000, 2000))
    made = library.pictures.view(scope, file).pictures[0]
    earlier = "0" * 64  # as an earlier version drew it, on a disk that is lost
    with store.db.transaction(scope) as tx:
        tx.execute("UPDATE derived_pictures SET sha256 = :sha256", {"sha256": earlier})
    assert library.pictures.view(scope, file).pictures[0] == made
    assert opened(library.pictures.seen(scope, made.sha256)[0]).size == (2000, 1333)
    assert [row["sha256"] for row in store.db.read("SELECT sha256 FROM derived_pictures")] == [
        made.sha256
    ]


def test_pages_of_a_pdf_are_drawn_as_asked_and_what_is_left_out_is_named(
    library: Library, scope: Scope
) -> None:
    file = kept(library, scope, "scan.pdf", scan(25))
    view = library.pictures.view(scope, file, "4-20")
    assert [one.page for one in view.pictures] == list(range(4, 4 + MOST_PAGES))
    assert view.left_out == tuple(range(14, 21))
    assert all(max(one.width, one.height) == 1600 for one in view.pictures)
    assert [one.page for one in library.pictures.view(scope, file).pictures] == [1, 2, 3]
    with pytest.raises(InvalidInputError, match="Page 26"):
        library.pictures.view(scope, file, "26")


def test_a_late_page_of_three_thousand_costs_only_that_page(library: Library, scope: Scope) -> None:
    file = kept(library, scope, "long.pdf", pdf(["40 40 200 300 re f"] * 3_000))
    assert file.outline["pages"] == 3_000
    assert [one.page for one in library.pictures.view(scope, file, "2990").pictures] == [2990]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", [1, 2, 3]),
        ("5", [5]),
        ("pages 2-4", [2, 3, 4]),
        ("9, 2-3", [2, 3, 9]),
        ("8-", [8, 9]),
        ("8-99", [8, 9]),
        ("1 and 3", [1, 3]),
    ],
)
def test_pages_are_named_in_words(text: str, numbers: list[int]) -> None:
    assert page_numbers(text, 9) == numbers


@pytest.mark.parametrize("text", ["x", "0", "10", "5-3", "-2", "1.5", "pages"])
def test_pages_that_are_none_are_refused(text: str) -> None:
    if text == "pages":
        assert page_numbers(text, 2) == [1, 2]
        return
    with pytest.raises(InvalidInputError):
        page_numbers(text, 9)


def test_purging_deletes_what_was_made_but_no_file_of_its_own(
    store: Store, library: Library, scope: Scope
) -> None:
    file = kept(library, scope, "a.jpg", kit.photo())
    made = library.pictures.view(scope, file).pictures[0]
    data, _ = library.pictures.seen(scope, made.sha256)
    twin = kept(library, scope, "twin.jpg", data)
    assert library.pictures.thumbnail(scope, file.id)[1:] == (320, 240)
    blobs = [row["sha256"] for row in store.db.read("SELECT sha256 FROM derived_pictures")]
    library.delete(scope, file.id)
    forget_file(library, scope, file.id)
    assert (
        [sha for sha in blobs if store.blobs.exists(scope.workspace_id, sha)]
        == [twin.sha256]
        == [made.sha256]
    )
    assert store.db.read("SELECT * FROM derived_pictures") == []
    with pytest.raises(NotFoundError):
        library.pictures.seen(scope, made.sha256)
    assert library.open(scope, twin.id).is_file()


def test_a_picture_is_not_seen_from_another_workspace(
    store: Store, library: Library, scope: Scope
) -> None:
    made = library.pictures.view(scope, kept(library, scope, "a.png", kit.png())).pictures[0]
    stranger = users.ensure_user(store.db, "eve@example.org", "Eve")
    with pytest.raises(NotFoundError):
        library.pictures.seen(stranger, made.sha256)
    with pytest.raises(NotFoundError):
        store_media.keep(
            store.db,
            Scope(scope.workspace_id, stranger.user_id),
            DerivedPicture("a" * 64, 1, "x", "b" * 64, "image/png", 1, 1),
        )


def test_of_two_uploads_the_first_counts_until_it_expires(store: Store, scope: Scope) -> None:
    from datetime import timedelta

    sha, later, past = "a" * 64, now() + timedelta(days=1), now() - timedelta(seconds=1)
    assert store_media.keep_model_file(store.db, scope, sha, "e", "file_1", later) == "file_1"
    assert store_media.keep_model_file(store.db, scope, sha, "e", "file_2", later) == "file_1"
    assert store_media.model_file(store.db, scope, sha, "other", now()) is None
    assert store_media.forget_model_files(store.db, scope, "e", ["file_1", "file_9"]) == 1
    assert store_media.model_file(store.db, scope, sha, "e", now()) is None
    store_media.keep_model_file(store.db, scope, sha, "e", "file_3", past)
    assert store_media.keep_model_file(store.db, scope, sha, "e", "file_4", later) == "file_4"


def test_a_damaged_page_is_named(library: Library, scope: Scope) -> None:
    with pytest.raises(LeafError):
        library.pictures.view(scope, kept(library, scope, "notes.txt", b"just text\n"))
    broken = kept(library, scope, "broken.png", kit.png(400, 300)[:200])
    with pytest.raises(LeafError, match="damaged"):
        library.pictures.view(scope, broken)


# What a request may hold


class Shelf(Media):
    """Pictures of a size, without a store."""

    def __init__(self, size: int) -> None:
        self._uploads = False
        self._size = size

    def bytes_of(self, scope: Scope, sha256: str) -> tuple[bytes, str]:
        if sha256 == "gone":
            raise NotFoundError("gone")
        return bytes(self._size), "image/png"


def history(count: int) -> list[Json]:
    image = {
        "type": "image",
        "source": {"type": "leaf", "sha256": "x", "media_type": "image/png", "label": "a.png"},
    }
    return [
        {"role": "user", "content": [image, {"type": "text", "text": f"question {i}"}]}
        for i in range(count)
    ]


@pytest.mark.parametrize(
    ("size", "fit"), [(10, MOST_PICTURES), (1_000_000, MOST_INLINE // 1_333_336)]
)
def test_a_request_holds_what_it_may_and_nothing_earlier_changes(size: int, fit: int) -> None:
    scope = Scope("w", "u")
    shelf = Shelf(size)
    before: list[Json] = []
    for count in (fit - 1, fit, fit + 1, fit + 5):
        messages = shelf.prepare(scope, history(count), lambda *_: ("", None)).messages
        assert messages[: len(before)] == before
        before = messages
    kinds = [message["content"][0]["type"] for message in before]
    assert kinds == ["image"] * fit + ["text"] * 5
    assert "not shown" in before[-1]["content"][0]["text"]


def test_a_picture_that_was_deleted_for_good_takes_thinking_with_it() -> None:
    gone: Json = {
        "type": "image",
        "source": {"type": "leaf", "sha256": "gone", "media_type": "image/png", "label": "a.png"},
    }
    thought = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "…", "signature": "s"},
            {"type": "text", "text": "yes"},
        ],
    }
    prepared = (
        Shelf(1)
        .prepare(
            Scope("w", "u"), [{"role": "user", "content": [gone]}, thought], lambda *_: ("", None)
        )
        .messages
    )
    assert prepared[0]["content"] == [
        {"type": "text", "text": "[a.png: its file was deleted for good.]"}
    ]
    assert [block["type"] for block in prepared[1]["content"]] == ["text"]


# A question, from the upload to the model


def ask(session: Session, chat_id: str, text: str, *file_ids: str) -> Message:
    return finished(session, session.messages.send(chat_id, text, file_ids).id)


def pictures_sent(server: MessagesServer, number: int = -1) -> list[bytes]:
    return [
        server.resolver.picture(image["source"])
        for image in images_of(server.requests[number].body)
    ]


@pytest.mark.parametrize("way", ["on", "off"])
def test_a_picture_in_a_question_is_seen_at_once_and_the_same_ever_after(
    tmp_path: Path, way: str
) -> None:
    turns = [Turn.say("A flag.", thinking="I see."), Turn.say("Blue."), Turn.say("Again.")]
    with (
        MessagesServer(turns) as server,
        leaf_opened(tmp_path, model_url=server.url, api_key="k", files_api=way) as app,
    ):
        session = app.session(app.local_scope())
        photo = add(session, "photo.jpg", kit.photo(4000, 3000, orientation=6))
        chat = session.chats.create()
        assert text_of(ask(session, chat.id, "What is this?", photo.id)) == "A flag."
        ask(session, chat.id, "Which colour?")
        sent = pictures_sent(server, 0)
        assert [opened(data).size for data in sent] == [(1500, 2000)]
        assert b"SecretCamera" not in sent[0]
        assert pictures_sent(server, 1) == sent
        text = server.requests[0].body["messages"][0]["content"][-1]["text"]
        assert "[Attached: photo.jpg (Picture) id=f1" in text
        assert "3000×4000" in text
        assert "[Shown above, in this order: f1 photo.jpg]" in text
        first, second = (
            json.dumps(server.requests[i].body["messages"][0]["content"][0]) for i in (0, 1)
        )
        assert first == second
        assert server.resolver.uploads == (1 if way == "on" else 0)
        if way == "on":
            uploaded = next(iter(server.resolver.files.values()))
            assert (uploaded.name, uploaded.media_type) == ("picture.jpeg", "image/jpeg")
        retried = session.messages.retry(session.chats.thread(chat.id).messages[1].id)
        finished(session, retried.id)
        assert pictures_sent(server, 2) == sent
        assert server.refused == []
        raw = session.chats.thread(chat.id).messages[0].raw[0]["content"][0]
        assert raw["source"]["type"] == "leaf"


@pytest.mark.parametrize("how", ["expired", "deleted"])
def test_an_upload_that_is_gone_is_made_again_without_a_word(tmp_path: Path, how: str) -> None:
    turns = [Turn.say("Two flags.", thinking="Hm."), Turn.say("Blue.")]
    with (
        MessagesServer(turns) as server,
        leaf_opened(tmp_path, model_url=server.url, api_key="k", files_api="on") as app,
    ):
        session = app.session(app.local_scope())
        ids = [add(session, f"{i}.png", kit.png(60 + i, 40)).id for i in range(2)]
        chat = session.chats.create()
        ask(session, chat.id, "What is this?", *ids)
        for file_id in list(server.resolver.files):
            server.resolver.expire(file_id) if how == "expired" else server.resolver.delete(file_id)
        assert text_of(ask(session, chat.id, "Which colour?")) == "Blue."
        assert server.resolver.uploads == 4
        assert pictures_sent(server, 1) == pictures_sent(server, 0)
        assert len(server.refused) == 2


@pytest.mark.parametrize("status", [404, 500, 400])
def test_where_uploads_are_not_taken_pictures_go_inline_for_ever(
    tmp_path: Path, status: int
) -> None:
    turns = [Turn.say("A flag."), Turn.say("Blue.")]
    with (
        MessagesServer(turns) as server,
        leaf_opened(tmp_path, model_url=server.url, api_key="k", files_api="on") as app,
    ):
        server.resolver.refuses = (status, "no files here")
        session = app.session(app.local_scope())
        chat = session.chats.create()
        ask(session, chat.id, "What is this?", add(session, "a.png", kit.png()).id)
        server.resolver.refuses = None
        assert text_of(ask(session, chat.id, "Which colour?")) == "Blue."
        images = [next(images_of(request.body)) for request in server.requests]
        assert images[0] == images[1]
        assert images[0]["source"]["type"] == "base64"


def test_pictures_beyond_the_budget_are_only_named(tmp_path: Path) -> None:
    with (
        MessagesServer([Turn.say("Flags.")]) as server,
        leaf_opened(tmp_path, model_url=server.url, api_key="k") as app,
    ):
        session = app.session(app.local_scope())
        ids = [add(session, f"{i}.jpg", kit.photo(2000 + i, 2000)).id for i in range(6)]
        broken = add(session, "broken.png", kit.png(300, 300)[:150]).id
        ask(session, session.chats.create().id, "What are these?", *ids, broken)
        content = server.requests[0].body["messages"][0]["content"]
        shown = sum(block["type"] == "image" for block in content)
        assert shown == 4
        assert server.requests[0].tokens > 4 * 4_700
        assert PICTURE_TOKENS == 20_000
        assert "order: f1 0.jpg, f2 1.jpg, f3 2.jpg, f4 3.jpg]" in content[-1]["text"]
        assert content[-1]["text"].count("[Attached: ") == 7


# The tool


def test_a_scanned_page_is_read_as_scanned_and_then_seen(tmp_path: Path) -> None:
    turns = [
        Turn.call(("read_file", {"file": "f1"})),
        Turn.call(("view_file", {"file": "f1", "pages": "3"})),
        Turn.say("A box."),
    ]
    with (
        MessagesServer(turns) as server,
        leaf_opened(tmp_path, model_url=server.url, api_key="k") as app,
    ):
        session = app.session(app.local_scope())
        file = add(session, "scan.pdf", scan(5))
        answer = ask(session, session.chats.create().id, "What is on page 3?", file.id)
        assert "5 pages, scanned" in server.requests[0].body["messages"][0]["content"][-1]["text"]
        assert "No text on pages 1-5: scanned. view_file shows them." in str(
            server.requests[1].body["messages"][-1]
        )
        result = server.requests[2].body["messages"][-1]["content"][0]["content"]
        assert result[0]["text"] == "scan.pdf (f1) · page 3 of 5, shown below"
        assert max(opened(pictures_sent(server, 2)[0]).size) == 1600
        part = next(p for p in answer.parts if p["type"] == "tool-view_file")
        assert part["output"]["data"]["pictures"][0]["page"] == 3
        assert "base64" not in json.dumps(answer.raw)
        covered = [p["data"] for p in answer.parts if p["type"] == "data-coverage"]
        assert "pages" in json.dumps(covered)
        assert text_of(answer) == "A box."
        assert session.files.seen_picture(
            part["output"]["data"]["pictures"][0]["sha256"]
        ).startswith(b"\xff\xd8")


@pytest.mark.parametrize(
    ("name", "data"), [("notes.txt", b"words\n"), ("sales.csv", b"a,b\n1,2\n")]
)
def test_what_is_no_picture_is_refused_with_the_tool_that_reads_it(
    tmp_path: Path, name: str, data: bytes
) -> None:
    with leaf_opened(tmp_path) as app:
        session = app.session(app.local_scope())
        file = add(session, name, data)
        with pytest.raises(InvalidInputError, match="read_file"):
            session.tools.run("view_file", {"file": "f1"}, file_ids=[file.id])


def test_many_pages_are_shown_in_turns(tmp_path: Path) -> None:
    with leaf_opened(tmp_path) as app:
        session = app.session(app.local_scope())
        file = add(session, "scan.pdf", scan(30))
        output = session.tools.run(
            "view_file", {"file": "f1", "pages": "2, 11-30"}, file_ids=[file.id]
        )
        assert "Not shown: pages 20-30; one call shows 10. Go on with pages='20-30'." in output.text
        assert (output.coverage[0].seen, output.coverage[0].ranges) == (10, ((2, 2), (11, 19)))
        assert output.sources[0].place == "page 2, pages 11-19"


# Models that see nothing, or speak a smaller dialect


def test_a_model_that_cannot_see_gets_a_sentence_and_view_file_says_so(tmp_path: Path) -> None:
    turns = [Turn.call(("view_file", {"file": "f1"})), Turn.say("I cannot see it.")]
    options: Json = {"model_url": "", "api_key": "k", "model_vision": "no"}
    with (
        MessagesServer(turns) as server,
        leaf_opened(tmp_path, **{**options, "model_url": server.url}) as app,
    ):
        session = app.session(app.local_scope())
        answer = ask(
            session, session.chats.create().id, "What is this?", add(session, "a.png", kit.png()).id
        )
        assert list(images_of(server.requests[0].body)) == []
        assert "cannot see pictures" in str(server.requests[1].body["messages"][-1])
        assert any(
            p.get("errorText", "").startswith("The model that answers here cannot see")
            for p in answer.parts
        )


def test_a_picture_seen_before_becomes_a_sentence_for_a_model_that_cannot_see(
    tmp_path: Path,
) -> None:
    with MessagesServer([Turn.say("A flag."), Turn.say("What flag?")]) as server:
        with leaf_opened(tmp_path, model_url=server.url, api_key="k") as app:
            scope = app.local_scope()
            chat = app.session(scope).chats.create()
            ask(
                app.session(scope),
                chat.id,
                "What is this?",
                add(app.session(scope), "a.png", kit.png()).id,
            )
        with leaf_opened(tmp_path, model_url=server.url, api_key="k", model_vision="no") as app:
            ask(app.session(scope), chat.id, "And now?")
        first = server.requests[1].body["messages"][0]["content"][0]
        assert first == {"type": "text", "text": "[f1 a.png: this model cannot see pictures.]"}


@pytest.mark.parametrize("vision", ["", "yes"])
def test_a_basic_server_gets_pictures_only_where_it_sees(tmp_path: Path, vision: str) -> None:
    turns = [Turn.call(("view_file", {"file": "f1"})), Turn.say("Done.")]
    options: Json = {"model": "llama", "model_vision": vision}
    with (
        MessagesServer(turns, models=["llama"], basic=True) as server,
        leaf_opened(tmp_path, model_url=server.url, **options) as app,
    ):
        session = app.session(app.local_scope())
        answer = ask(
            session, session.chats.create().id, "What is this?", add(session, "a.png", kit.png()).id
        )
        assert text_of(answer) == "Done."
        images = [image for request in server.requests for image in images_of(request.body)]
        assert [image["source"]["type"] for image in images] == (["base64"] * 3 if vision else [])
        assert server.refused == []


def test_the_rules_answer_beside_a_picture(tmp_path: Path) -> None:
    with leaf_opened(tmp_path) as app:
        session = app.session(app.local_scope())
        answer = ask(
            session,
            session.chats.create().id,
            "What is on this picture?",
            add(session, "a.png", kit.png()).id,
        )
        assert answer.status == "completed"


def test_the_server_of_these_tests_refuses_what_the_api_refuses() -> None:
    resolver = MessagesServer().resolver

    def refused(*sources: Json) -> str:
        body = {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image", "source": source} for source in sources],
                }
            ]
        }
        return (resolver.refusal(body, 10) or (0, "", ""))[2]

    def inline(data: bytes, media_type: str) -> Json:
        return {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}

    assert refused(inline(kit.png(), "image/png")) == ""
    assert "media type" in refused(inline(kit.png(), "image/jpeg"))
    assert "not supported" in refused(inline(kit.HEIC, "image/heic"))
    assert "invalid base64" in refused({"type": "base64", "media_type": "image/png", "data": "%%%"})
    assert "Could not process" in refused(inline(b"nothing", "image/png"))
    assert "does not match" in refused({"type": "leaf", "sha256": "x"})
    assert "File not found: file_9" in refused({"type": "file", "file_id": "file_9"})
    assert "dimensions" in refused(*[inline(kit.png(2001, 10), "image/png")] * 21)
    assert refused(*[inline(kit.png(2001, 10), "image/png")] * 20) == ""
    assert "at most" in refused(*[inline(kit.png(), "image/png")] * 101)


def test_a_text_page_has_no_note(tmp_path: Path) -> None:
    with leaf_opened(tmp_path) as app:
        scope = app.local_scope()
        session = app.session(scope)
        file = add(session, "text.pdf", pdf([show(60, 700, "plenty of words here")]))
        assert "Note" not in session.tools.run("read_file", {"file": "f1"}, file_ids=[file.id]).text
        assert files.get(app._house.store.db, scope, file.id).outline["notes"] == []
