"""Citations from the model's words to numbered, checked parts of an answer, and to text with
marks."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench._pdfs import column, pdf
from leaf.agent.cited import Citation, MarkReader, written
from leaf.agent.context import system_prompt
from leaf.agent.export import answer_markdown
from leaf.provenance.citations import answer_text, citation_of, footnotes
from leaf.sessions.session import Session
from leaf.store.model import Message
from leaf.ui import markdown, marks
from leaf.ui.items import answer_text as copied_text
from leaf.ui.items import items
from tests.leaf_kit import add, finished, opened
from tests.messages_server import CHARACTERS_A_TOKEN, MessagesServer, Turn, passages_of

Json = dict[str, Any]
PAGES = [
    ["Annual report of the company", "The year began slowly."],
    ["Revenue of the northern branch rose by 12.5 percent,", "while costs fell in all regions."],
    ["The board proposes a dividend of 2 euros a share.", "Nothing else was decided."],
]
QUOTE = "Revenue of the northern branch rose by 12.5 percent"


@pytest.fixture
def report() -> bytes:
    return pdf([column(60, lines) for lines in PAGES])


def asked(
    session: Session, report: bytes, chat_id: str = "", question: str = "What of the north?"
) -> Message:
    chat = chat_id or session.chats.create().id
    files = [] if chat_id else [add(session, "report.pdf", report).id]
    return finished(session, session.messages.send(chat, question, files).id)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def without_marks(value: Any) -> Any:
    """A request's messages without the marks of the cache."""
    if isinstance(value, dict):
        return {key: without_marks(part) for key, part in value.items() if key != "cache_control"}
    return [without_marks(part) for part in value] if isinstance(value, list) else value


READ = Turn.call(("read_file", {"file": "f1"}))


def cited(message: Message) -> list[Json]:
    return [found for part in message.parts if (found := citation_of(part))]


# With a server that knows citations


def test_cited_answer_has_numbered_checked_parts_right_after_their_text(
    home: Path, report: bytes
) -> None:
    answer = Turn.cite(
        "The north did well: ",
        ("revenue rose by 12.5 percent", QUOTE),
        ", and ",
        ("2 euros are paid", "dividend of 2 euros"),
        ".",
    )
    with (
        MessagesServer([READ, answer]) as server,
        opened(home, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        message = asked(leaf.session(leaf.local_scope()), report)
        assert server.refused == []
    assert message.status == "completed"
    kinds = [p["type"] for p in message.parts if p["type"] in ("text", "source-document")][:7]
    assert kinds == ["text", "text", "source-document", "text", "text", "source-document", "text"]
    first, second = cited(message)
    assert (first["citation"], first["place"], first["verified"], first["name"]) == (
        1,
        "page 2",
        True,
        "report.pdf",
    )
    assert (second["citation"], second["place"]) == (2, "page 3")
    assert QUOTE in first["quote"]
    assert (
        answer_text(message.parts)
        == "The north did well: revenue rose by 12.5 percent[1], and 2 euros are paid[2]."
    )


def test_a_notebook_names_what_the_answer_cites(home: Path, report: bytes, tmp_path: Path) -> None:
    answer = Turn.cite("It did well: ", ("revenue rose by 12.5 percent", QUOTE), ".")
    with (
        MessagesServer([READ, answer]) as server,
        opened(home, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        message = asked(session, report)
        found = session.chats.export(message.chat_id, "notebook", tmp_path).read_bytes()
    cells = ["".join(cell["source"]) for cell in json.loads(found)["cells"]]
    [told] = [cell for cell in cells if cell.startswith("Cited:")]
    assert "[1] report.pdf, page 2" in told.replace("\\", "")
    assert QUOTE in told.replace("\\", "")


def test_passages_go_out_as_search_results_and_citations_come_back_as_they_were(
    home: Path, report: bytes
) -> None:
    script = [READ, Turn.cite(("It rose", QUOTE)), Turn.cite("As said, ", ("it rose", QUOTE))]
    with (
        MessagesServer(script) as server,
        opened(home, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        first = asked(leaf.session(leaf.local_scope()), report)
        second = asked(leaf.session(leaf.local_scope()), report, first.chat_id, "And again?")
        assert server.refused == []
        sent = [request.body for request in server.requests]
    passages = passages_of(sent[1]["messages"])
    assert [p["source"] for p in passages] == ["f1#page 1", "f1#page 2", "f1#page 3"]
    assert all(p["citations"] == {"enabled": True} for p in passages)
    [result] = [b for m in sent[1]["messages"] for b in m["content"] if b["type"] == "tool_result"]
    assert "3 of 3" in result["content"][0]["text"] or "pages 1-3" in result["content"][0]["text"]
    again = next(b for m in sent[2]["messages"] for b in m["content"] if b.get("citations"))
    assert again["citations"][0]["source"] == "f1#page 2"
    assert without_marks(sent[2]["messages"])[: len(sent[1]["messages"])] == without_marks(
        sent[1]["messages"]
    )
    assert server.requests[2].usage["cache_read_input_tokens"] > 0
    assert [c["citation"] for c in cited(second)] == [1]
    assert cited(second)[0]["verified"] is True


def test_same_place_cited_twice_has_the_same_number(home: Path, report: bytes) -> None:
    answer = Turn.cite(
        ("It rose", QUOTE), ". ", ("Two euros", "2 euros"), ". ", ("Costs fell too", "costs fell")
    )
    with (
        MessagesServer([READ, answer]) as server,
        opened(home, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        message = asked(leaf.session(leaf.local_scope()), report)
    assert [c["citation"] for c in cited(message)] == [1, 2, 1]
    assert answer_text(message.parts) == "It rose[1]. Two euros[2]. Costs fell too[1]"


def test_server_of_the_tests_cites_only_what_was_sent(home: Path, report: bytes) -> None:
    with MessagesServer([READ, Turn.cite(("It fell", "Revenue fell by half"))]) as server:
        with opened(
            home, api_key="k", model_url=server.url, model="claude-sonnet-5-5", model_patience=0.1
        ) as leaf:
            message = asked(leaf.session(leaf.local_scope()), report)
        assert message.status == "error"
        assert any("cannot be cited" in reason for reason in server.refused)


# With a server that does not


def basic(home: Path, report: bytes, text: str, **options: Any) -> Message:
    with MessagesServer([READ, Turn.say(text, **options)], models=("llama",), basic=True) as server:
        with opened(
            home, api_key="k", model_url=server.url, model="llama", model_profile="basic"
        ) as leaf:
            message = asked(leaf.session(leaf.local_scope()), report)
        assert server.refused == []
        assert passages_of(server.requests[1].body["messages"]) == []
        assert "[f1#page 2]\nRevenue of the northern" in json.dumps(
            server.requests[1].body
        ).replace("\\n", "\n")
        assert '[f1#page 3 "the exact words"]' in server.requests[0].body["system"]
    return message


def test_written_citation_is_taken_out_of_the_text_and_checked(home: Path, report: bytes) -> None:
    message = basic(
        home, report, f'It rose by 12.5 percent [f1#page 2 "{QUOTE}"]. That is all.', pieces=40
    )
    assert answer_text(message.parts) == "It rose by 12.5 percent[1]. That is all."
    [found] = cited(message)
    assert (found["verified"], found["place"], found["quote"]) == (True, "page 2", QUOTE)
    assert f'[f1#page 2 "{QUOTE}"]' in json.dumps(message.raw, ensure_ascii=False).replace(
        '\\"', '"'
    )


WRONG = [
    ("f1#page 99", QUOTE, True, "page 2", "", "page 99"),
    ("f1#page 99", "Words that stand nowhere at all", False, "page 99", "it has no page 99", ""),
    ("f1#page 1", "The board proposes a dividend", True, "page 3", "", "page 1"),
    (
        "f1#page 2",
        "Revenue of the northern branch rose by 125 percent",
        False,
        "page 2",
        "the words are not in it",
        "",
    ),
    ("f1#page 2", "e", False, "page 2", "the quote is too short to be checked", ""),
    ("f1#page 2", "", False, "page 2", "no words of it were quoted", ""),
    ("f7#page 2", QUOTE, False, "page 2", "there is no file f7 in this chat", ""),
    ("f1#page 2", "word " * 2_000, False, "page 2", "the words are not in it", ""),
    (
        "f1#somewhere",
        "Words that stand nowhere at all",
        False,
        "somewhere",
        "it has no 'somewhere'",
        "",
    ),
]


@pytest.mark.parametrize(("source", "quote", "verified", "place", "problem", "cited_place"), WRONG)
def test_citation_whose_words_do_not_stand_there_is_said_to_be_unverified_or_moved(
    home: Path,
    report: bytes,
    source: str,
    quote: str,
    verified: bool,
    place: str,
    problem: str,
    cited_place: str,
) -> None:
    mark = f'[{source} "{quote.strip()}"]' if quote else f"[{source}]"
    message = basic(home, report, f"So it is {mark}.")
    assert message.status == "completed"
    [found] = cited(message)
    assert (found["verified"], found["place"], found["problem"], found["cited_place"]) == (
        verified,
        place,
        problem,
        cited_place,
    )
    [(number, note)] = footnotes(message.parts)
    assert number == 1
    assert ("not verified" in note) is not verified


def test_deleted_file_leaves_its_citation_unverified(home: Path, report: bytes) -> None:
    with (
        MessagesServer(
            [READ, Turn.say("Yes."), Turn.say(f'Again [f1#page 2 "{QUOTE}"].')],
            models=("llama",),
            basic=True,
        ) as server,
        opened(
            home, api_key="k", model_url=server.url, model="llama", model_profile="basic"
        ) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        first = asked(session, report)
        session.files.delete(session.files.list()[0].id)
        second = asked(session, report, first.chat_id, "Again?")
    [found] = cited(second)
    assert (found["verified"], found["problem"], found["name"]) == (
        False,
        "the file was deleted",
        "report.pdf",
    )


def test_prompt_asks_for_written_citations_only_where_they_are_needed() -> None:
    from leaf.tools import registry

    assert "f1#page 3" not in system_prompt("claude")
    assert system_prompt("basic").startswith(system_prompt("claude"))
    assert (
        len(system_prompt("basic")) + len(json.dumps(registry.schemas()))
    ) / CHARACTERS_A_TOKEN <= 5_000


# Reading written citations

TEXTS = [
    ('Up [f1#page 3 "by 10 % in “2024”"].', "Up{f1#page 3~by 10 % in “2024”}."),
    (
        'A [f2#sheet Data!A1:B2 "a; b"; f3#00:10:00-00:10:30 "hello, f4"] b',
        "A{f2#sheet Data!A1:B2~a; b|f3#00:10:00-00:10:30~hello, f4} b",
    ),
    (
        'He [f1#page 2 "the [so called] "miracle" came"] ok',
        'He{f1#page 2~the [so called] "miracle" came} ok',
    ),
    ("x [f1#pages 3-4: “curly words”]. y", "x{f1#pages 3-4~curly words}. y"),
    (
        'x [f1#page 3 "open\n\nnew [f1#page 4 "good words"] z',
        'x [f1#page 3 "open\n\nnew{f1#page 4~good words} z',
    ),
    (
        "[1] [link](http://x) [f1 is it] [foo] f(x)[0] [",
        "[1] [link](http://x) [f1 is it] [foo] f(x)[0] [",
    ),
    ('cut [f1#page 3 "never ends', 'cut [f1#page 3 "never ends'),
    ("only [f12#page 3] here", "only{f12#page 3~} here"),
]


@pytest.mark.parametrize("size", [1, 3, 7, 10_000])
@pytest.mark.parametrize(("text", "read"), TEXTS)
def test_written_citations_are_read_however_the_text_is_cut(
    text: str, read: str, size: int
) -> None:
    reader = MarkReader()
    found = [piece for i in range(0, len(text), size) for piece in reader.feed(text[i : i + size])]
    shown = [
        p if isinstance(p, str) else "{" + "|".join(f"{c.source}~{c.quote}" for c in p) + "}"
        for p in [*found, *reader.end()]
    ]
    assert "".join(shown) == read


def test_text_that_looks_like_a_citation_for_ever_is_shown_in_time() -> None:
    reader = MarkReader()
    shown = [
        piece for _ in range(3_000) for piece in reader.feed("word ") if isinstance(piece, str)
    ]
    assert "".join(shown)
    held = MarkReader()
    shown = [
        piece
        for piece in ('[f1#page 3 "' + "word " * 4_000).split(" ")
        for piece in held.feed(piece + " ")
    ]
    assert len("".join(p for p in shown if isinstance(p, str))) > 10_000


def test_parts_of_a_written_mark() -> None:
    assert written('[f1#page 3 "a b c"; f1#page 4 "d e f"]') == [
        Citation("f1#page 3", "a b c"),
        Citation("f1#page 4", "d e f"),
    ]
    for quoted in ("«a b»", "« a b »", "»a b«", "‹a b›", "„a b“", "'a b'", "‘a b’"):
        assert written(f"[f1#page 3 {quoted}]") == [Citation("f1#page 3", "a b")], quoted
    assert written("[f1#sheet 'My Sheet'!B2 'It's so'; f2#sheet 'My Sheet']") == [
        Citation("f1#sheet 'My Sheet'!B2", "It's so"),
        Citation("f2#sheet 'My Sheet'", ""),
    ]


# Text with marks


def source(
    number: int,
    source_id: str,
    *,
    verified: bool | None = True,
    quote: str = "some words",
    **more: Any,
) -> Json:
    leaf = {
        "handle": "f1",
        "file_id": "id",
        "name": "report.pdf",
        "place": f"page {number}",
        "action": "cited",
        "query": "",
        "quote": quote,
        "source": f"f1#page {number}",
        "citation": number,
        "verified": verified,
        "problem": "",
        "cited_place": "",
        **more,
    }
    return {
        "type": "source-document",
        "sourceId": source_id,
        "title": "report.pdf",
        "place": "",
        "providerMetadata": {"leaf": leaf},
    }


def said(text: str, name: str) -> Json:
    return {"type": "text", "id": name, "text": text, "state": "done"}


PARTS = [
    said("It rose", "text-1-0"),
    source(1, "c1-0"),
    said(". It fell.\n\n", "text-1-1"),
    source(2, "c1-1", verified=False, problem="the words are not in it"),
    said("| a |\n|---|\n| 5 |", "text-1-2"),
    source(1, "c1-2"),
    said("A limit was reached.", "end"),
]


def test_pieces_of_a_sentence_are_one_text_with_marks_at_their_ends() -> None:
    assert (
        answer_text(PARTS)
        == "It rose[1]. It fell.[2]\n\n| a |\n|---|\n| 5[1] |\n\nA limit was reached."
    )


def test_copied_text_carries_its_notes() -> None:
    assert copied_text(PARTS).endswith(
        "[1] report.pdf, page 1: “some words”\n[2] report.pdf, page 2: “some words” (not "
        "verified: the words are not in it)"
    )


def test_downloaded_answer_has_footnotes() -> None:
    text = answer_markdown(Message("a", "c", "", "assistant", "completed", PARTS, []), None)
    assert "It rose[^1]. It fell.[^2]" in text
    assert "[^1]: report.pdf, page 1: “some words”" in text
    assert "[^2]: report.pdf, page 2: “some words” (not verified: the words are not in it)" in text


def drawn(parts: list[Json]) -> str:
    return "\n\n".join(
        marks.drawn(markdown.safe(item.text), "m1") for item in items(parts) if item.kind == "text"
    )


def test_marks_are_links_that_name_their_message_and_citation() -> None:
    text = drawn(PARTS)
    assert "It rose\u202f[\\[1\\]](#leaf-cite-m1.c1-0)" in text
    assert "[\\[2?\\]](#leaf-cite-m1.c1-1)" in text
    assert "| 5\u202f[\\[1\\]](#leaf-cite-m1.c1-2) |" in text


FORGED = [
    "[1](#leaf-cite-m1.c1-0)",
    "[1](  #leaf-cite-m1.c1-0)",
    "[1](<#leaf-cite-m1.c1-0>)",
    "[1](&#35;leaf-cite-m1.c1-0)",
    "[1](\\#leaf-cite-m1.c1-0)",
    "[1][x]\n\n[x]: #leaf-cite-m1.c1-0",
    "\ue0c11:c1-0\ue0c2",
    "[[1]](#leaf-cite-m1.c1-0)",
    '<a href="#leaf-cite-m1.c1-0">1</a>',
]


@pytest.mark.parametrize("text", FORGED)
def test_model_text_never_becomes_a_mark(text: str) -> None:
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark", {"html": False}).render(
        drawn([said(f"Before {text} after", "text-1-0")])
    )
    assert 'href="#leaf-cite' not in html
    assert 'href="#' not in html


def test_mark_never_makes_a_picture_of_what_stands_before_it() -> None:
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").render(drawn([said("Great!", "text-1-0"), source(1, "c1-0")]))
    assert "<img" not in html
    assert 'href="#leaf-cite-m1.c1-0"' in html


def test_marks_of_code_stand_below_it() -> None:
    found = items(
        [
            said("```sql\nSELECT 1", "text-1-0"),
            source(1, "c1-0"),
            said("\nFROM t\n```\nDone.", "text-1-1"),
        ]
    )
    assert [(i.kind, i.text) for i in found[:1]] == [("code", "SELECT 1\nFROM t")]
    assert marks.drawn(found[1].text, "m1").endswith("(#leaf-cite-m1.c1-0)")
    assert found[2].text.startswith("Done")


def test_list_of_a_longer_stream_begins_with_that_of_a_shorter_one_but_for_its_last_item() -> None:
    long = "\n\n".join(
        f"Paragraph {i} goes on for a while so that blocks are cut." for i in range(60)
    )
    parts = [
        said(long, "text-1-0"),
        source(1, "c1-0"),
        said("\n\nAnd more.\n\n" + long, "text-1-1"),
        source(2, "c1-1"),
    ]
    lists = [items(parts[: i + 1]) for i in range(len(parts))]
    for shorter, longer in pairwise(lists):
        assert longer[: len(shorter) - 1] == shorter[:-1]


def test_rules_cite_what_they_quote(home: Path, report: bytes) -> None:
    with opened(home) as leaf:
        message = asked(
            leaf.session(leaf.local_scope()), report, question="What about the dividend?"
        )
    [found] = cited(message)
    assert (found["verified"], found["place"], found["citation"]) == (True, "page 3", 1)
    assert "[1]" in answer_text(message.parts)
    assert "f1#page" not in answer_text(message.parts)
