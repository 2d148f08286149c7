"""The budget of file content: who gets what, what is said, and that a reading tool keeps to it."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from leaf.agent.attached import estimate_attached, file_tokens
from leaf.agent.budget import (
    LISTED,
    FileInChat,
    allowed,
    as_part,
    at_once,
    content_of,
    decide,
    in_order,
    with_arrived,
)
from leaf.errors import InvalidInputError
from leaf.files.pictures import FilePreview
from leaf.readers.amount import weigh_file
from leaf.readers.base import Outline
from leaf.readers.documents.text import TextReader
from leaf.readers.tokens import Rates, Weight, estimate, weigh
from leaf.readers.worker import inspect, read
from leaf.store.media import DerivedPicture
from leaf.store.model import ChatFile, File
from leaf.tools.base import Hooks, ToolContext, within_budget
from leaf.tools.pictures import ViewFileInput, view_file

Json = dict[str, Any]
FILES = [
    FileInChat("f1", "old.pdf", 60_000),
    FileInChat("f2", "a.png", 30_000, True),
    FileInChat("f3", "b.png", 80_000, True),
]


def test_files_of_this_message_come_first_then_the_newest() -> None:
    files = [
        FileInChat("f1", "a", 1),
        FileInChat("f2", "b", 1),
        FileInChat("f3", "c", 1, True),
        FileInChat("f4", "d", 1, True),
    ]
    assert [f.handle for f in in_order(files)] == ["f3", "f4", "f2", "f1"]


def test_what_fits_is_shown_at_once_and_the_rest_is_by_name_only() -> None:
    assert [(d.handle, d.choice, d.read) for d in at_once(FILES, 100_000)] == [
        ("f2", "shown at once", 30_000),
        ("f3", "metadata only", 0),
        ("f1", "shown at once", 60_000),
    ]
    assert "70,000 that are left" in at_once(FILES, 100_000)[1].why


def test_calls_of_one_turn_share_what_is_left() -> None:
    assert allowed(100_000, 40_000, 3) == 20_000
    assert allowed(100_000, 40_000, 1) == allowed(100_000, 40_000, 0) == 60_000
    assert allowed(100_000, 120_000, 3) == 0
    assert allowed(100_000, 100_000, 1) == 0


def test_of_many_files_some_are_listed_and_the_others_counted() -> None:
    files = [FileInChat(f"f{n}", f"{n}.csv", 10) for n in range(LISTED + 7)]
    part = as_part(100, 0, decide(files, {}, {}, ()))
    assert (len(part["files"]), part["more"]) == (LISTED, 7)
    assert as_part(100, 0, decide(files[:LISTED], {}, {}, ()))["more"] == 0


def test_each_file_has_a_decision() -> None:
    decided = decide(FILES, {"f3": 500}, {"f2": 900}, {"f1"})
    assert [(d.handle, d.choice) for d in decided] == [
        ("f2", "shown at once"),
        ("f3", "on request"),
        ("f1", "folded"),
    ]
    assert [d.choice for d in decide(FILES, {}, {}, ())] == ["metadata only"] * 3


def test_files_that_came_while_the_answer_was_written_are_decided_on_too() -> None:
    outputs = [
        {"data": {"arrived": {"handle": "f9", "name": "d.csv", "tokens": 70}}},
        {"data": {}},
        {},
    ]
    again = [*outputs, {"data": {"arrived": {"handle": FILES[0].handle, "name": "x", "tokens": 1}}}]
    assert with_arrived(FILES, again) == [*FILES, FileInChat("f9", "d.csv", 70)]


def test_content_is_counted_by_file_and_calls_that_open_none_are_free() -> None:
    passages = [{"handle": "f1", "text": "x" * 300}, {"handle": "f2", "text": "x" * 100}]
    output = {
        "text": "word " * 400,
        "sources": [{"handle": "f1"}, {"handle": "f2"}],
        "data": {"passages": passages},
    }
    counted = content_of(output, Rates(1, 1))
    assert sum(counted.values()) == pytest.approx(estimate("word " * 400, Rates(1, 1)), abs=2)
    assert counted["f1"] == pytest.approx(3 * counted["f2"], abs=2)
    assert content_of({"text": "no files", "sources": []}, Rates()) == {}


def test_pictures_that_a_tool_shows_count_beside_its_text() -> None:
    shown = {"text": "Page 3", "sources": [{"handle": "f1"}]}
    pictures = [{"width": 280, "height": 280}, {"width": 560, "height": 280}]
    text = content_of(shown, Rates(1, 1))["f1"]
    assert text > 0
    assert content_of({**shown, "pictures": pictures}, Rates(1, 1)) == {"f1": text + 100 + 200}


def context(left: int | None) -> ToolContext:
    nothing: Any = None
    return ToolContext(
        nothing,
        "c",
        (),
        nothing,
        nothing,
        threading.Event(),
        nothing,
        nothing,
        hooks=Hooks(file_tokens=left),
    )


def test_reading_call_gets_what_is_left_and_is_refused_when_nothing_is() -> None:
    assert within_budget(context(None), 8_000) == 8_000
    assert within_budget(context(50_000), 8_000) == 8_000
    assert within_budget(context(700), 8_000) == 700
    with pytest.raises(InvalidInputError, match="used up"):
        within_budget(context(20), 8_000)


def view_context(left: int | None, pages: int) -> ToolContext:
    """A chat with one PDF whose pages are drawn as pictures of 100 tokens each."""
    nothing: Any = None

    class Drawn:
        def view(self, scope: Any, file: File, pages_asked: str, *, stop: Any) -> FilePreview:
            made = [
                DerivedPicture("s", n, "page-1", f"hash{n}", "image/jpeg", 280, 280)
                for n in range(1, pages + 1)
            ]
            return FilePreview(tuple(made), pages)

    chat = chat_file("scan.pdf", "pdf", pages=pages)
    return ToolContext(
        nothing,
        "c",
        (chat,),
        SimpleNamespace(pictures=Drawn()),
        nothing,
        threading.Event(),
        nothing,
        nothing,
        hooks=Hooks(file_tokens=left),  # type: ignore[arg-type]
    )


def test_pages_are_seen_as_far_as_there_is_room_and_the_rest_is_named() -> None:
    assert len(view_file(view_context(None, 4), ViewFileInput(file="f1")).pictures) == 4
    seen = view_file(view_context(250, 4), ViewFileInput(file="f1"))
    assert [picture.label for picture in seen.pictures] == [
        "page 1 of scan.pdf",
        "page 2 of scan.pdf",
    ]
    assert "Not shown: pages 3-4; this answer has no room" in seen.text
    with pytest.raises(InvalidInputError, match="used up"):
        view_file(view_context(99, 4), ViewFileInput(file="f1"))


TEXTS = {
    "english": (
        "The committee met on Tuesday to discuss the budget of the coming year and agreed that it "
        "has to be cut. ",
        21,
    ),
    "code": (
        "def total(rows: list[dict[str, int]]) -> int:\n    return sum(row['units'] for row "
        "in rows)\n",
        30,
    ),
    "figures": ("2024-05-17,North,1284.50,37\n", 18),
    "chinese": ("委员会周二审议了该条例的修订，成员们表示赞成。", 25),
}
"""Text and its tokens by the tokenizer to which the formula was fitted."""


@pytest.mark.parametrize("kind", TEXTS)
def test_estimates_are_near_the_tokenizer_they_were_fitted_to(kind: str) -> None:
    text, tokens = TEXTS[kind]
    assert estimate(text * 50, Rates(1, 1)) == pytest.approx(tokens * 50, rel=0.2)


def test_estimate_is_a_sum_of_its_parts_and_empty_for_nothing() -> None:
    assert weigh("") == Weight()
    assert weigh("One plan. ") + weigh("Two plans. ") == weigh("One plan. Two plans. ")


def test_long_file_is_estimated_from_a_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text(
        "".join(
            f"Line {i} says that the budget of region {i % 7} was met.\n" for i in range(30_000)
        )
    )
    whole = weigh(path.read_text())
    reader = TextReader()
    guessed = weigh_file(reader, path, reader.outline(path))
    assert guessed.latin == pytest.approx(whole.latin, rel=0.05)


def test_file_is_weighed_when_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("region,units\n" + "".join(f"North,{i}\n" for i in range(300)))
    found = inspect(str(path), "a.csv")
    text = read(str(path), found["kind"], max_tokens=50_000)["text"]
    assert found["outline"]["tokens"] == pytest.approx(estimate(text), rel=0.05)
    assert found["outline"]["weight"][0] > 0


def test_file_without_text_weighs_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    assert (
        weigh_file(TextReader(), tmp_path / "empty.txt", Outline("text", "text/plain")) == Weight()
    )


def chat_file(name: str, kind: str, **outline: Any) -> ChatFile:
    nothing: Any = None
    return ChatFile(
        "c",
        "f1",
        "s",
        File(name, "w", "u", name, "x/y", kind, 9, "", "upload", "", outline, nothing),
    )


def test_composer_names_the_file_that_is_too_big_but_no_table() -> None:
    files = [
        chat_file("annual.pdf", "pdf", weight=[200_000, 0]),
        chat_file("rows.csv", "csv", weight=[900_000, 0]),
    ]
    found = estimate_attached(
        files, frozenset({"rows.csv"}), "claude-sonnet-5-5", Rates(1, 1), 100_000, 3
    )
    assert found.tokens == 1_100_000
    assert found.cost == pytest.approx(2.2)
    assert found.too_big == (("annual.pdf", 200_000),)
    assert estimate_attached(files, frozenset(), "llama", Rates(), 100_000, 0).cost is None


def test_pictures_that_are_shown_at_once_count_as_sent() -> None:
    files = [
        replace(chat_file(f"{n}.png", "picture", tokens=4_000), handle=f"f{n}") for n in range(7)
    ]
    assert (
        estimate_attached(files, frozenset(), "m", Rates(), 100_000, 0, 20_000).sent
        == 5 * 4_000 + 7 * 60
    )
    assert (
        estimate_attached(files, frozenset(), "m", Rates(), 5_000, 0, 20_000).sent == 4_000 + 7 * 60
    )
    assert estimate_attached(files, frozenset(), "m", Rates(), 100_000, 0).sent == 7 * 60


def test_what_has_no_text_is_estimated_as_its_reader_says() -> None:
    assert (
        file_tokens(
            chat_file("a.png", "picture", width=9_000, height=9_000, tokens=4_761).file, Rates(2, 2)
        )
        == 4_761
    )
    assert file_tokens(chat_file("a.txt", "text", tokens=77).file, Rates()) == 77
