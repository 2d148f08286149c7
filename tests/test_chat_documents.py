"""A chat as PDF and Word: its words, queries and rows, its charts as pictures, and nothing that a
text of it could have fetched or drawn."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docx
import pypdf
import pytest
from markdown_it import MarkdownIt

from leaf.agent.export import (
    PICTURES,
    ChatDocument,
    answer_markdown,
    chat_document,
    chat_markdown,
    markdown_table,
)
from leaf.documents.markdown import parse, plain
from leaf.errors import InvalidInputError, NotFoundError
from leaf.exports.shared import ChatShown, chat_page
from leaf.sessions.session import Session
from leaf.shapes.parts import Part
from leaf.store.model import Message
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

SALES = "region,revenue\nNorth,300\nSouth,120.5\nWest,7\n"
QUERY = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY ALL ORDER BY ALL"
CHART = {
    "title": "Revenue by region",
    "mark": "bar",
    "encoding": {"x": {"field": "region"}, "y": {"field": "revenue"}},
}
SAID = (
    "North leads with **300**, see ![chart](picture:0) and ![x](https://evil.example/x.png).\n\n"
    "![alone](picture:0)\n\nשלום 🙂"
)


@dataclass
class Asked:
    session: Session
    chat_id: str


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A chat with a table, a chart and an answer that would like to show other pictures."""
    turns = [
        Turn.call(("query_tables", {"sql": QUERY})),
        Turn.call(("make_chart", {"spec": CHART, "sql": QUERY})),
        Turn.say(SAID),
    ]
    with (
        MessagesServer(turns) as server,
        opened(
            tmp_path_factory.mktemp("home"),
            api_key="k",
            model_url=server.url,
            model="claude-sonnet-5-5",
        ) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", SALES.encode())
        chat = session.chats.create()
        message = session.messages.send(chat.id, "Who leads, and by how much?", [file.id])
        assert finished(session, message.id).status == "completed"
        yield Asked(session, chat.id)


def test_a_pdf_has_what_was_said_queried_and_drawn(asked: Asked, tmp_path: Path) -> None:
    made = pypdf.PdfReader(
        io.BytesIO(asked.session.chats.export(asked.chat_id, "pdf", tmp_path).read_bytes())
    )
    text = "\n".join(page.extract_text() for page in made.pages)
    for said in (
        "Who leads, and by how much?",
        "North leads with",
        "GROUP BY ALL",
        "120.5",
        "3 of 3",
    ):
        assert said in text
    assert "are not in the PDF's fonts" in text, "what could not be shown is said in the document"
    pictures = [picture for page in made.pages for picture in page.images]
    assert len(pictures) == 1
    assert pictures[0].image is not None
    assert min(pictures[0].image.size) > 200


def test_a_word_document_has_them_too_and_says_what_the_chart_is(
    asked: Asked, tmp_path: Path
) -> None:
    found = asked.session.chats.export(asked.chat_id, "docx", tmp_path).read_bytes()
    made = docx.Document(io.BytesIO(found))
    text = "\n".join(paragraph.text for paragraph in made.paragraphs)
    assert "Who leads, and by how much?" in text
    assert "שלום 🙂" in text
    assert [cell.text for cell in made.tables[0].columns[0].cells] == [
        "region",
        "North",
        "South",
        "West",
    ]
    described = [found.get("descr") for found in made.element.body.xpath(".//wp:docPr")]
    assert described == ["Revenue by region"]
    fetched = [
        r.target_ref for r in made.part.rels.values() if r.is_external and "image" in r.reltype
    ]
    assert fetched == []


def test_another_person_gets_nothing(asked: Asked, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        asked.session.chats.export("no-such-chat", "pdf", tmp_path)


def answer(*parts: Part) -> Message:
    return Message("a", "c", "", "assistant", "completed", list(parts), [])


def chart_step(number: int) -> Part:
    return {
        "type": "tool-make_chart",
        "toolCallId": f"c{number}",
        "state": "output-available",
        "input": {},
        "output": {
            "text": "",
            "summary": f"Chart {number}",
            "data": {
                "chart": {
                    "spec": {"title": f"Title {number} ](x) <b>", "mark": "bar"},
                    "columns": ["a"],
                    "rows": [[1]],
                }
            },
        },
    }


def documented(count: int, drawn: bytes | str = b"png") -> ChatDocument:
    return chat_document("T", [answer(*map(chart_step, range(count)))], lambda _: drawn)


def test_charts_beyond_the_most_and_those_that_cannot_be_drawn_are_named() -> None:
    made = documented(PICTURES + 2)
    assert len(made.pictures) == PICTURES
    assert made.text.count("(picture:") == PICTURES
    assert made.text.count("is not drawn here") == 2
    made = documented(1, "The rows of r1 are gone.")
    assert made.pictures == []
    assert "The rows of r1 are gone." in made.text


def test_a_title_cannot_end_the_picture_or_begin_another() -> None:
    (line,) = [line for line in documented(1).text.splitlines() if "picture:" in line]
    assert line == "![Title 0 (x) b](picture:0)"


def test_a_text_that_is_too_long_says_which_form_takes_it(asked: Asked, tmp_path: Path) -> None:
    from leaf.documents import pdf

    with pytest.raises(InvalidInputError, match="1,000,000"):
        pdf.write("x" * (pdf.MOST_TEXT + 1), "T", tmp_path / "t.pdf")


def test_a_cell_of_several_lines_stays_in_its_row() -> None:
    table = markdown_table(["a\r\nb", "c"], [["x\r\ny\rz|", None]])
    assert table.splitlines() == ["| a b | c |", "| --- | --- |", "| x y z\\| |  |"]


def step(tool: str, code: dict[str, str], data: dict[str, Any]) -> Part:
    return {
        "type": f"tool-{tool}",
        "toolCallId": "c1",
        "state": "output-available",
        "input": code,
        "output": {"text": "", "summary": "Done", "data": data},
    }


ODD = [
    *(
        "\\\\server\\share\\_x",
        "__init__",
        "a*b*c",
        "~~old~~",
        "`x`",
        "&amp;",
        "&lt;b>",
        "<b>x</b>",
    ),
    *("[x](https://a.example)", "![x](https://a.example)", "a|b", "a\\|b", "# 1 #", "x_y", "$5"),
]


def test_cells_are_in_a_document_of_a_chat_as_they_are_on_the_page() -> None:
    table = {"columns": ["a*b*"], "rows": [[odd] for odd in ODD], "types": ["VARCHAR"]}
    made = answer(step("query_tables", {"sql": "SELECT 1"}, {"table": table}))
    for text in (chat_document("T", [made], lambda _: "").text, chat_markdown("T", [made])):
        (block,) = [block for block in parse(text) if block.kind == "table"]
        assert [plain(cells[0]) for cells in block.rows] == ["a*b*", *ODD]


def test_what_python_did_and_what_is_said_of_a_result_leave_with_the_answer() -> None:
    table = {
        "columns": ["n"],
        "rows": [[n] for n in range(30)],
        "types": ["BIGINT"],
        "total": 3_000,
        "name": "by_day",
        "said": ["`= '3'` was read as a number."],
    }
    printed = {"printed": "  n\n" + "7" * 5_000, "characters": 9_000, "value": "42"}
    made = step("run_python", {"code": "by_day\n"}, {"python": printed, "tables": [table]})
    text = answer_markdown(answer(made), None)
    assert "```python\nby_day\n```" in text
    assert "Printed, the first 2,000 of 9,000 characters:\n\n```text\n  n\n777" in text
    assert "Value:\n\n```text\n42\n```" in text
    assert "by_day:\n\n| n |\n| ---: |\n| 0 |" in text
    assert "20 of 3,000 rows are shown here." in text
    assert "Note: \\`= '3'\\` was read as a number." in text


@pytest.mark.parametrize(("status", "written"), [("streaming", True), ("completed", False)])
def test_an_answer_that_is_not_whole_yet_says_so(status: Any, written: bool) -> None:
    half = Message("a", "c", "", "assistant", status, [{"type": "text", "text": "Half"}], [])
    assert ("still being written" in chat_markdown("T", [half])) == written


OPEN = "```python\nx = 1"
"""Code that nothing closes: a person did not, or the model was stopped within it."""


def question(text: str) -> Message:
    return Message("q", "c", "", "user", "completed", [{"type": "text", "text": text}], [])


def blocks(text: str) -> list[tuple[str, str]]:
    """Kinds of the blocks with their words, as a parser of its own reads them."""
    tokens = MarkdownIt("commonmark").parse(text)
    kinds = {"heading_open": 1, "paragraph_open": 1, "fence": 0}
    return [
        (t.type, tokens[i + kinds[t.type]].content) for i, t in enumerate(tokens) if t.type in kinds
    ]


@pytest.mark.parametrize("asked", [f"What is wrong?\n{OPEN}", OPEN, f"{OPEN}\n```"])
def test_code_that_is_open_takes_nothing_that_follows_into_it(asked: str) -> None:
    stopped = Message("a", "c", "", "assistant", "stopped", [{"type": "text", "text": OPEN}], [])
    messages = [
        question(asked),
        stopped,
        question("And now?"),
        answer({"type": "text", "text": "Yes."}),
    ]
    for text in (chat_markdown("T", messages), chat_document("T", messages, lambda _: "").text):
        read = blocks(text)
        assert [words for kind, words in read if kind == "fence"] == ["x = 1\n"] * 2
        assert ("paragraph_open", "*Stopped. What was found so far is kept.*") in read
        assert read[-2:] == [("heading_open", "And now?"), ("paragraph_open", "Yes.")]
    assert blocks(answer_markdown(messages[-1], messages[0]))[-1] == ("paragraph_open", "Yes.")


def cited(place: int, quote: str) -> Part:
    leaf: dict[str, Any] = {
        "handle": "f1",
        "file_id": "f",
        "name": "_a_*b*.pdf",
        "place": f"page {place}",
    }
    leaf |= {"action": "cited", "query": "", "quote": quote, "citation": 1, "verified": True}
    leaf |= {"problem": "", "cited_place": ""}
    return {
        "type": "source-document", "sourceId": f"s{place}", "title": "a.pdf", "place": "",
        "providerMetadata": {"leaf": leaf},
    }  # fmt: skip


def test_a_footnote_is_that_of_its_own_answer() -> None:
    """In Markdown a footnote is known by its name in the whole of a text."""
    first, second = (
        answer({"type": "text", "text": f"It is {n}"}, cited(n, f"{n} * 2 * 3 __x__"))
        for n in (7, 8)
    )
    text = chat_markdown("T", [question("A?"), first, question("B?"), second])
    notes = dict(re.findall(r"^\[\^(.+?)\]: (.*)$", text, re.MULTILINE))
    assert len(notes) == 2
    for n in (7, 8):
        (name,) = re.findall(rf"It is {n}\[\^(.+?)\]", text)
        assert plain(parse(notes[name])[0].runs) == f"_a_*b*.pdf, page {n}: “{n} * 2 * 3 __x__”"


def test_a_mark_is_no_link_of_what_somebody_wrote() -> None:
    other = "\n\nSee [1].\n\n[1]: https://elsewhere.example"
    first = {"type": "text", "id": "text-1-0", "text": "It is 7"}
    made = answer(first, cited(7, "7"), {"type": "text", "id": "text-1-1", "text": other})
    parsed = parse(chat_document("T", [made], lambda _: "").text)
    assert plain(parsed[1].runs) == "It is 7[1]"
    links = [run.text for block in parsed for run in block.runs if run.link]
    assert links == ["1"]
    at = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)
    page = chat_page(ChatShown("T", [made], {}, at), lambda _: "")
    assert page.count("<a ") == 1
    assert "It is 7[1]" in page
