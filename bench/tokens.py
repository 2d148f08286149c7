"""Tokens: what files add to a request, against putting their text into the prompt, counted by a
server that matches prefixes.

Made files of many kinds, from 10 kB to 50 MB, each in a chat of its own; then a chat of ten
questions with tools over five of them that would just fit into a context of a million tokens. The
text of a file is what `read_file` would give in the end, at 2.5 characters a token, as everywhere
in Leaf.
"""

from __future__ import annotations

import csv
import io
import json
import random
import statistics
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import _pdfs
from bench._figures import Figure, Report
from leaf.agent.context import system_prompt
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.store.model import Chat, File
from leaf.tools import registry
from leaf.wiring import build
from tests.messages_server import CHARACTERS_A_TOKEN, MessagesServer, Turn

Json = dict[str, Any]
KB, MB = 1_000, 1_000_000
WORDS = (
    *("revenue", "region", "order", "customer", "delivery", "contract", "warranty", "budget"),
    *("meeting", "supplier", "Monday", "increase", "report", "plan"),
)

FEWER, A_FILE, FIXED = 0.99, 100, 5_000
"""Targets: tokens saved at the median, the most a file may add, the most system prompt and tools
may take."""
CHAT_RATIO, CACHED = 0.10, 0.90
"""Targets of the chat: its input against inlining's, and the part read from the cache from the
second question on."""


def main() -> int:
    report = Report("tokens", ("leaf/agent", "leaf/tools"))
    with tempfile.TemporaryDirectory() as folder:
        paths = list(make_files(Path(folder)))
        return report.end(
            [
                *measure_files(Path(folder) / "home", paths),
                *measure_chat(Path(folder) / "chat", paths),
            ]
        )


# Files


def make_files(folder: Path) -> Iterator[Path]:
    """Files of eleven kinds and many sizes; the same at each run."""
    make: list[tuple[str, Callable[[int], bytes], Sequence[int]]] = [
        ("orders.csv", table_text, (10 * KB, 300 * KB, 8 * MB, 50 * MB)),
        ("orders.tsv", lambda size: table_text(size, "\t"), (100 * KB,)),
        ("events.jsonl", json_lines, (20 * KB, 5 * MB)),
        (
            "list.json",
            lambda size: b"[" + b",".join(json_lines(size).splitlines()) + b"]",
            (200 * KB,),
        ),
        ("notes.txt", prose, (10 * KB, 1 * MB, 20 * MB)),
        ("readme.md", prose, (40 * KB,)),
        ("server.log", prose, (10 * MB,)),
        ("talk.vtt", captions, (30 * KB, 300 * KB)),
        ("page.html", page, (60 * KB, 600 * KB)),
        ("mail.eml", mail, (15 * KB,)),
        ("report.pdf", report, (50 * KB, 2 * MB)),
        ("letter.docx", letter, (80 * KB,)),
        ("script.py", lambda size: b"def f(x):\n    return x + 1\n" * (size // 27), (25 * KB,)),
        ("figures.xlsx", workbook, (400 * KB,)),
        ("figures.parquet", parquet, (3 * MB,)),
    ]
    for name, build_bytes, sizes in make:
        for size in sizes:
            path = folder / f"{size // KB}k {name}"
            path.write_bytes(build_bytes(size))
            yield path


def rows(count: int) -> Iterator[list[Any]]:
    chance = random.Random(count)
    for i in range(count):
        day = f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}"
        yield [
            i,
            day,
            chance.choice(("North", "South", "East")),
            chance.choice(WORDS),
            chance.randrange(90),
            round(chance.random() * 900, 2),
        ]


HEADER = ["order_id", "order_date", "region", "product", "units", "revenue"]


def table_text(size: int, delimiter: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows(min(size, 200 * KB) // 36))
    block = out.getvalue()
    body = block.split("\n", 1)[1]
    return (block + body * ((size - len(block)) // max(1, len(body)))).encode()


def json_lines(size: int) -> bytes:
    return "\n".join(
        json.dumps(dict(zip(HEADER, row, strict=True))) for row in rows(size // 105)
    ).encode()


def prose(size: int) -> bytes:
    chance = random.Random(size)
    block = "\n".join(" ".join(chance.choices(WORDS, k=12)) + "." for _ in range(200)) + "\n"
    return (block * (size // len(block) + 1)).encode()[:size]


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def captions(size: int, text: Callable[[int], bytes] = prose) -> bytes:
    words = text(size).decode().splitlines()
    cues = [
        f"{clock(i * 5)}.000 --> {clock(i * 5 + 4)}.000\n{text}\n" for i, text in enumerate(words)
    ]
    return ("WEBVTT\n\n" + "\n".join(cues)).encode()[:size]


def page(size: int, text: Callable[[int], bytes] = prose) -> bytes:
    paragraphs = "".join(f"<p>{line}</p>\n" for line in text(size).decode().splitlines())
    return f"<html><head><title>Report</title></head><body><article><h1>Report</h1>{paragraphs}</article></body></html>".encode()


def mail(size: int, text: Callable[[int], bytes] = prose) -> bytes:
    return (
        b"From: a@example.org\nTo: b@example.org\nSubject: Report\nContent-Type: text/plain; "
        b"charset=utf-8\n\n" + text(size)
    )


def report(size: int, text: Callable[[int], bytes] = prose) -> bytes:
    lines = text(size).decode().splitlines()
    return _pdfs.pdf(
        [
            _pdfs.column(60, [line[:90] for line in lines[i : i + 50]])
            for i in range(0, len(lines), 50)
        ]
    )


def letter(size: int, text: Callable[[int], bytes] = prose) -> bytes:
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    paragraphs = "".join(
        f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in text(size).decode().splitlines()
    )
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
        'Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/word/document.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    )
    relations = (
        "<Relationships "
        'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", relations)
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{name}"><w:body>{paragraphs}</w:body></w:document>',
        )
    return out.getvalue()


def workbook(size: int) -> bytes:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for title in ("Orders", "Returns"):
        sheet = book.create_sheet(title)
        sheet.append(HEADER)
        for row in rows(size // 80):
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(size: int) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = list(zip(*rows(size // 25), strict=True))
    out = io.BytesIO()
    pq.write_table(pa.table(dict(zip(HEADER, map(list, columns), strict=True))), out)
    return out.getvalue()


# Measuring


def ask(session: Session, chat: Chat, text: str, file_ids: Sequence[str] = ()) -> None:
    """Send a question and wait for the end of its answer. Raises AssertionError for one that
    fails."""
    message = session.messages.send(chat.id, text, file_ids)
    run, position, done = session.messages.watch(message.id), 0, False
    while run is not None and not done:
        piece = run.read(position, 10.0)
        position, done = piece.position, piece.done
    finished = session.messages.get(message.id)
    assert finished.status == "completed", finished.error


def text_tokens(file: File) -> int:
    """Tokens of the whole text of a file."""
    return int(file.outline.get("tokens") or 0)


def measure_files(home: Path, paths: Sequence[Path]) -> Iterator[Figure]:
    """Tokens of the first request with one file, without the same request without a file, against
    the file's text."""
    with MessagesServer(lambda body: Turn.say("I see it.")) as server:
        leaf = build(Settings(home=home, api_key="key", model_url=server.url, titles=False))
        try:
            session = leaf.session(leaf.local_scope())
            ask(session, session.chats.create(), "What is this?")
            bare = server.requests[-1].tokens
            added, whole = [], []
            for path in paths:
                file = session.files.add_path(path).file
                ask(session, session.chats.create(), "What is this?", [file.id])
                added.append(server.requests[-1].tokens - bare)
                whole.append(text_tokens(file))
                size = f"{path.stat().st_size / MB:8.2f} MB"
                print(
                    f"     {path.name:28} {size}  {whole[-1]:>12,} tokens of text  {added[-1]:>3} "
                    f"in the request"
                )
        finally:
            leaf.close()
    saved = [1 - a / w for a, w in zip(added, whole, strict=True)]
    fixed = (len(system_prompt()) + len(json.dumps(registry.schemas()))) / CHARACTERS_A_TOKEN
    name = f"{len(paths)} files (10 kB to 50 MB)"
    what = "input tokens that they add to the first request, fewer than their text has, median"
    yield Figure(name, what, statistics.median(saved), FEWER, True, "{:.2%}")
    yield Figure(name, "most tokens that one adds", max(added), A_FILE, False, "{:.0f}")
    yield Figure("", "tokens of system prompt and tools", fixed, FIXED, False, "{:,.0f}")


QUESTIONS = [
    "What is in these files?",
    "What is the total revenue?",
    "And by region?",
    "Which product sells best?",
    "How has revenue developed over the year?",
    "What do the notes say about the budget?",
    "Who is the supplier?",
    "Is there a warranty?",
    "How many units were sold in the North?",
    "Summarize all that for my boss.",
]


def analyst(body: Json, table: str) -> Turn:
    """Two rounds of tools a question, then an answer of about 120 words. Raises AssertionError
    where a tool failed."""
    asked = [
        m for m in body["messages"] if m["role"] == "user" and m["content"][0]["type"] == "text"
    ]
    results = [
        b
        for m in body["messages"][body["messages"].index(asked[-1]) :]
        if m["role"] == "user"
        for b in m["content"]
        if b["type"] == "tool_result"
    ]
    assert not [result for result in results if result.get("is_error")], results
    number = len(asked)
    if not results:
        first: dict[int, tuple[str, Json]] = {
            1: ("list_files", {}),
            2: ("describe_table", {"file": "f1"}),
        }
        return Turn.call(
            first.get(number, ("search_files", {"query": "budget supplier warranty", "limit": 5})),
            thinking="I look for the place.",
        )
    if len(results) == 1:
        sql = (
            'SELECT region, product, sum(revenue) AS revenue, sum(units) AS units FROM "{}" '
            "GROUP BY ALL ORDER BY 3 DESC LIMIT 20"
        )
        return Turn.call(
            ("query_tables", {"sql": sql.format(table)}),
            ("read_file", {"file": "f2", "max_tokens": 600}),
            thinking="Now the figures.",
        )
    return Turn.say(
        " ".join(random.Random(number).choices(WORDS, k=120)) + ".", thinking="That answers it."
    )


def measure_chat(home: Path, paths: Sequence[Path]) -> Iterator[Figure]:
    """Ten questions over five files: all input tokens, against the same chat with the files' text
    in its first message."""
    slugs: list[str] = []
    wanted = (
        "300k orders.csv",
        "1000k notes.txt",
        "600k page.html",
        "300k talk.vtt",
        "50k report.pdf",
    )
    with MessagesServer(lambda body: analyst(body, slugs[0])) as server:
        leaf = build(Settings(home=home, api_key="key", model_url=server.url, titles=False))
        try:
            session = leaf.session(leaf.local_scope())
            files = [
                session.files.add_path(path).file
                for name in wanted
                for path in paths
                if path.name == name
            ]
            chat = session.chats.create()
            slugs += [c.slug for c in session.attached.add(chat.id, [file.id for file in files])]
            ends = []
            for text in QUESTIONS:
                ask(session, chat, text)
                ends.append(len(server.requests))
        finally:
            leaf.close()
    used = sum(request.tokens for request in server.requests)
    inlined = inlining(len(QUESTIONS), sum(map(text_tokens, files)))
    later = server.requests[ends[0] :]
    cached = sum(r.usage["cache_read_input_tokens"] for r in later) / sum(r.tokens for r in later)
    name = "ten-question chat with tools"
    yield Figure(
        name,
        "input tokens, of those that putting the files in takes",
        used / inlined,
        CHAT_RATIO,
        False,
        "{:.1%}",
    )
    yield Figure(
        name,
        "input read from the cache from the second question on",
        cached,
        CACHED,
        True,
        "{:.1%}",
    )


def inlining(questions: int, files: int) -> int:
    """Input of one request a question without tools, each with the files' text and the questions
    and answers before it."""
    fixed = int(len(system_prompt()) / CHARACTERS_A_TOKEN)
    words = int(120 * 8 / CHARACTERS_A_TOKEN)
    return sum(fixed + files + number * words for number in range(questions))


if __name__ == "__main__":
    sys.exit(main())
