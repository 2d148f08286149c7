"""Estimates of attachments against what a server counts when all of them is sent.

A hundred made and found files: text in twenty languages, code, JSON, logs, tables, office files,
PDFs and pictures. Each is looked at as an upload is, which gives the estimate; then it is read to
its end as the model would, sent over HTTP to a server on loopback, and counted there by a real
tokenizer: the one that was published for the Claude models of 2023 (`anthropic-tokenizer`, MIT,
requirements-dev.txt).

The formula's shape was fitted to that tokenizer on other texts, so this says how well the shape
holds and that a level is learned from usage. It says nothing of the level of today's models, whose
tokenizers are not published. Pictures are counted by the vendor's formula on both sides, here from
the upload's size and there from the bytes that were sent.
"""

from __future__ import annotations

import base64
import json
import random
import statistics
import struct
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench import tokens as made
from bench._figures import Figure, Report
from leaf.agent.attached import file_tokens
from leaf.agent.calibration import Calibration
from leaf.agent.models.base import ModelRequest
from leaf.agent.models.claude import ClaudeModel
from leaf.readers import worker
from leaf.readers.media.picture import render
from leaf.readers.tokens import Rates, Weight
from leaf.store.model import File
from tests.files_server import CHARACTERS_A_TOKEN
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]
MODEL = "claude-sonnet-5-5"
WITHIN, SHARE = 0.10, 0.90
"""Target: this part of the attachments estimated within ±10 %, with the rates that were learned."""
FIXED_RATE = 2.5
"""The baseline: characters a token, whatever the text."""
LANGUAGES = (
    *(
        "English",
        "German",
        "French",
        "Spanish",
        "Portuguese",
        "Italian",
        "Dutch",
        "Swedish",
        "Danish",
        "Finnish",
    ),
    *(
        "Polish",
        "Czech",
        "Hungarian",
        "Turkish",
        "Vietnamese",
        "Russian",
        "Ukrainian",
        "Greek",
        "Arabic",
        "Korean",
    ),
)
CHINESE = (
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。人人有权享有生命、自由和人身安全。"
    "任何人不得使为奴隶或奴役；一切形式的奴隶制度和奴隶买卖，均应予以禁止。法律之前人人平等，并有权享受法律的平等保护，不受任何歧视。"
)
JAPANESE = (
    "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、"
    "互いに同胞の精神をもって行動しなければならない。すべて人は、生命、自由及び身体の安全に対する権利を有する。"
)
PICTURES = (
    (64, 64),
    (320, 240),
    (800, 600),
    (1024, 1024),
    (1920, 1080),
    (2400, 900),
    (500, 2500),
    (1600, 1600),
    (2576, 1000),
    (28, 2000),
)


def main() -> int:
    report = Report(
        "estimates",
        ("leaf/agent/calibration.py", "leaf/agent/attached.py", "leaf/readers/tokens.py"),
    )
    calibration = Calibration()
    with (
        tempfile.TemporaryDirectory() as folder,
        MessagesServer(lambda body: Turn.say("ok"), tokens=count) as server,
    ):
        model = ClaudeModel("key", server.url)
        bare = counted(model, [text_of("x")]) - 1
        results: list[tuple[str, int, float, float, float]] = []
        for name, content in calibrating():
            path = Path(folder) / f"learn {name}"
            path.write_bytes(content)
            inspected, text = look(path)
            calibration.learn(
                MODEL, Weight(*inspected.outline["weight"]), counted(model, [text_of(text)]) - bare
            )
        rates = calibration.rates(MODEL)
        for name, content in attachments():
            path = Path(folder) / name
            path.write_bytes(content)
            inspected, text = look(path)
            seen = counted(model, [text_of(text)]) - bare
            results.append(
                (
                    name,
                    seen,
                    file_tokens(inspected, rates),
                    file_tokens(inspected, Rates()),
                    len(text) / FIXED_RATE,
                )
            )
        for width, height in PICTURES:
            path = Path(folder) / f"{width}x{height}.png"
            path.write_bytes(png(width, height))
            drawn = render(path)
            data = base64.b64encode(drawn.data).decode()
            block = {
                "type": "image",
                "source": {"type": "base64", "media_type": drawn.media_type, "data": data},
            }
            seen, inspected = counted(model, [block]) - bare, looked_at(path)
            guess = file_tokens(inspected, rates)
            results.append((path.name, seen, guess, guess, guess))
    off = sorted(
        ((guess / seen - 1, name, seen) for name, seen, guess, _, _ in results),
        key=lambda r: -abs(r[0]),
    )
    for error, name, seen in off[:12]:
        print(f"     {name:28} {seen:>9,} counted  {error:+.1%}")
    share = {
        label: within([(r[1], guesses[column]) for r in results for guesses in [r[2:]]])
        for label, column in (("learned", 0), ("prior", 1), ("fixed", 2))
    }
    total = sum(r[2] for r in results) / sum(r[1] for r in results) - 1
    print(
        f"     learned rates: {rates.latin:.2f} and {rates.other:.2f} from "
        f"{calibration.requests(MODEL)} answers"
    )
    name = f"{len(results)} attachments, against what a real tokenizer counts"
    fixed = {
        "before anything was learned": share["prior"],
        f"{FIXED_RATE} characters a token": share["fixed"],
    }
    said = f"estimated within ±{WITHIN:.0%} after {calibration.requests(MODEL)} answers"
    return report.end(
        [
            Figure(name, said, share["learned"], SHARE, True, "{:.0%}", fixed),
            Figure(
                name, "median error", statistics.median(abs(e) for e, _, _ in off), shown="{:.1%}"
            ),
            Figure(name, "worst error", abs(off[0][0]), shown="{:.1%}"),
            Figure(name, "error of the sum of all", total, shown="{:+.1%}"),
        ]
    )


def within(pairs: list[tuple[float, float]]) -> float:
    return sum(abs(guess / seen - 1) <= WITHIN for seen, guess in pairs) / len(pairs)


def look(path: Path) -> tuple[File, str]:
    """The file as an upload is looked at, and all that reading it to the end gives."""
    file = looked_at(path)
    pieces, cursor = [], ""
    while True:
        window = worker.read(str(path), file.kind, max_tokens=50_000, cursor=cursor)
        pieces.append(window["text"])
        cursor = window["cursor"]
        if not cursor:
            break
    return file, "\n".join(pieces)


def looked_at(path: Path) -> File:
    found = worker.inspect(str(path), path.name)
    return File(
        "",
        "",
        "",
        path.name,
        found["media_type"],
        found["kind"],
        0,
        "",
        "upload",
        "",
        found["outline"],
        datetime.now(UTC),
    )


def counted(model: ClaudeModel, content: list[Json]) -> int:
    """Input tokens by the usage that comes back."""
    request = ModelRequest(
        MODEL, "Count.", (), [{"role": "user", "content": content}], max_tokens=10
    )
    return model.turn(request, lambda event: None, threading.Event()).usage.input


def text_of(text: str) -> Json:
    return {"type": "text", "text": text or "(empty)"}


def count(piece: str) -> int:
    """The server's side: a block of the request by the published tokenizer, a picture by the size
    in its bytes."""
    from anthropic_tokenizer import count_tokens

    block = json.loads(piece[piece.index("{") :])
    if block.get("type") == "image":
        dots: int = block["source"]["picture"].count(
            "·"
        )  # the server opened the bytes: as long as its tokens
        return round(dots / CHARACTERS_A_TOKEN)
    return int(sum(count_tokens(part) for part in chunks(block.get("text", ""))))


def chunks(text: str, size: int = 20_000) -> Iterator[str]:
    """Pieces that end at blanks: the tokenizer's time grows faster than its text."""
    begin = 0
    while begin < len(text):
        end = min(len(text), begin + size)
        at = text.rfind("\n", begin, end) if end < len(text) else -1
        end = at if at > begin else end
        yield text[begin:end]
        begin = end


def png(width: int, height: int) -> bytes:
    """A plain black picture."""
    rows = b"".join(b"\0" + bytes(width) for _ in range(height))

    def part(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", head)
        + part(b"IDAT", zlib.compress(rows))
        + part(b"IEND", b"")
    )


# Files


def calibrating() -> Iterator[tuple[str, bytes]]:
    """What was asked before: a few files of other content than those that are measured."""
    for seed, language in enumerate(
        ("Norwegian_Bokmal", "Catalan", "Bulgarian", "Slovak", "Indonesian", "Persian")
    ):
        yield f"{language}.txt", words(language, 1_200, 900 + seed)
    yield "table.csv", made.table_text(9_000)
    yield "list.jsonl", made.json_lines(9_000)
    yield "code.py", source("textwrap")
    yield "manual.txt", manual(9_001)
    yield "numbers.csv", numbers(9_002)
    yield "server.log", log(9_003)
    yield "nested.json", nested(9_004)
    yield "script.js", script(9_005)


def attachments() -> Iterator[tuple[str, bytes]]:
    """Ninety files; the pictures come beside them."""
    for number, language in enumerate(LANGUAGES):
        yield f"{language}.txt", words(language, 800 + 150 * number, number)
    for name, text in (("chinese.txt", CHINESE), ("japanese.md", JAPANESE)):
        yield name, ("\n".join([text] * 12)).encode()
    for module in (
        "argparse",
        "json.decoder",
        "logging",
        "zipfile",
        "socketserver",
        "statistics",
        "calendar",
        "csv",
        "heapq",
        "ssl",
    ):
        yield f"{module}.py", source(module)
    yield from found("pydoc_data.topics", 6)
    yield from discovery(8)
    made_by: list[tuple[str, Callable[[int], bytes], tuple[int, ...]]] = [
        ("orders.csv", made.table_text, (4_000, 40_000, 400_000)),
        ("orders.tsv", lambda size: made.table_text(size, "\t"), (20_000,)),
        ("events.jsonl", made.json_lines, (8_000, 80_000)),
        (
            "list.json",
            lambda size: b"[" + b",".join(made.json_lines(size).splitlines()) + b"]",
            (30_000,),
        ),
        ("talk.vtt", partial(made.captions, text=manual), (10_000, 60_000)),
        ("page.html", partial(made.page, text=manual), (20_000, 90_000)),
        ("mail.eml", partial(made.mail, text=manual), (9_000,)),
        ("report.pdf", partial(made.report, text=manual), (20_000, 90_000)),
        ("letter.docx", partial(made.letter, text=manual), (25_000, 70_000)),
        ("figures.xlsx", made.workbook, (30_000, 120_000)),
        ("figures.parquet", made.parquet, (40_000,)),
        ("numbers.csv", numbers, (12_000, 60_000, 250_000)),
        ("prices.csv", prices, (15_000, 90_000)),
        ("people.csv", people, (15_000, 90_000)),
        ("app.log", log, (15_000, 120_000)),
        ("hashes.txt", hashes, (9_000, 20_000)),
        ("config.yaml", yaml, (9_000, 30_000)),
        ("query.sql", sql, (6_000, 20_000)),
        ("site.css", css, (9_000, 30_000)),
        ("table.md", markdown, (9_000, 40_000)),
        ("nested.json", nested, (20_000, 60_000)),
        ("app.js", script, (12_000, 30_000)),
        ("data.xml", xml, (15_000, 40_000)),
    ]
    for name, make, sizes in made_by:
        for size in sizes:
            yield f"{size // 1000}k {name}", make(size)


def words(language: str, many: int, seed: int) -> bytes:
    """A text of frequent words of a language, in sentences."""
    import justext

    chance = random.Random(seed)
    known = [w for w in justext.get_stoplist(language) if len(w) > 1]
    known.sort()
    lines = []
    while many > 0:
        size = chance.randrange(6, 18)
        sentence = chance.choices(known, k=size)
        lines.append(
            " ".join(sentence).capitalize()
            + chance.choice((".", ".", "?", ", " + chance.choice(known) + "."))
        )
        many -= size
    return ("\n".join(" ".join(lines[i : i + 4]) for i in range(0, len(lines), 4))).encode()


def source(module: str) -> bytes:
    import importlib.util

    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_bytes()[:60_000]


def found(module: str, many: int) -> Iterator[tuple[str, bytes]]:
    """English prose that comes with Python."""
    topics = [
        text
        for text in __import__(module, fromlist=["topics"]).topics.values()
        if len(text) > 4_000
    ]
    for number, text in enumerate(topics[:many]):
        yield f"manual {number}.txt", text.encode()


def manual(size: int) -> bytes:
    """English prose of about that size: other parts of Python's manual, one paragraph a line."""
    topics = [
        text
        for text in __import__("pydoc_data.topics", fromlist=["topics"]).topics.values()
        if len(text) > 4_000
    ]
    paragraphs = [" ".join(part.split()) for text in topics[6:] for part in text.split("\n\n")]
    plain = [
        p.replace("&", "and")
        .replace("<", "(")
        .replace(">", ")")
        .encode("ascii", "replace")
        .decode()
        for p in paragraphs
        if p
    ]
    random.Random(size).shuffle(plain)
    return "\n".join(plain).encode()[:size]


def discovery(many: int) -> Iterator[tuple[str, bytes]]:
    """JSON with English in it, as APIs describe themselves."""
    import googleapiclient

    folder = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    for path in sorted(folder.glob("[n-z]*.json"))[: many * 9 : 9]:
        text = json.dumps(json.loads(path.read_bytes()), indent=1)
        yield f"{path.stem}.txt", text[:40_000].encode()


def numbers(size: int) -> bytes:
    chance = random.Random(size)
    lines = (",".join(f"{chance.gauss(0, 50):.3f}" for _ in range(8)) for _ in range(size // 58))
    return ("a,b,c,d,e,f,g,h\n" + "\n".join(lines)).encode()


def prices(size: int) -> bytes:
    chance = random.Random(size)
    lines = (
        f"SKU-{chance.randrange(99_999):05d};{chance.choice(made.WORDS)};"
        f"{chance.randrange(1, 999)},{chance.randrange(100):02d};EUR"
        for _ in range(size // 30)
    )
    return ("article;name;price;currency\n" + "\n".join(lines)).encode()


def people(size: int) -> bytes:
    chance = random.Random(size)
    first, last = (
        ("Anna", "Lukas", "Maria", "Jonas", "Elif", "Noah"),
        ("Gruber", "Huber", "Bauer", "Wagner", "Yilmaz", "Novak"),
    )
    lines = (
        f"{chance.choice(first)} "
        f"{chance.choice(last)},{chance.choice(first).lower()}.{i}@example.org,"
        f"+43 660 {chance.randrange(10**7):07d},{chance.choice(('Wien', 'Graz', 'Linz', 'Salzburg'))},"
        f"19{chance.randrange(50, 99)}-0{chance.randrange(1, 9)}-{chance.randrange(10, 28)}"
        for i in range(size // 70)
    )
    return ("name,email,phone,city,born\n" + "\n".join(lines)).encode()


def log(size: int) -> bytes:
    chance = random.Random(size)
    lines = (
        f"10.0.{chance.randrange(256)}.{chance.randrange(256)} - - "
        f"[12/Nov/2026:10:{i // 60 % 60:02d}:{i % 60:02d} +0000] "
        f'"GET /api/{chance.choice(made.WORDS)}/{chance.randrange(9999)} HTTP/1.1" '
        f"{chance.choice((200, 200, 404, 500))} {chance.randrange(99_999)}"
        for i in range(size // 88)
    )
    return "\n".join(lines).encode()


def hashes(size: int) -> bytes:
    chance = random.Random(size)
    return "\n".join(
        f"{chance.getrandbits(256):064x}  file-{i}.bin" for i in range(size // 80)
    ).encode()


def yaml(size: int) -> bytes:
    chance = random.Random(size)
    blocks = (
        f"  - name: {chance.choice(made.WORDS)}-{i}\n"
        f"    image: registry.example.org/{chance.choice(made.WORDS)}:{chance.randrange(9)}.{i}\n"
        f"    replicas: {chance.randrange(9)}\n    resources:\n"
        f"      limits: {{cpu: {chance.randrange(8)}, memory: {chance.randrange(64)}Gi}}\n"
        for i in range(size // 130)
    )
    return ("services:\n" + "".join(blocks)).encode()


def sql(size: int) -> bytes:
    chance = random.Random(size)
    blocks = (
        f"SELECT region, sum({chance.choice(made.WORDS)}) AS total_{i}\nFROM "
        f"{chance.choice(made.WORDS)}_{i} AS t\n"
        f"JOIN customers c ON c.id = t.customer_id\n"
        f"WHERE created_at >= DATE '2025-0{chance.randrange(1, 9)}-01'\nGROUP BY region;\n"
        for i in range(size // 180)
    )
    return "\n".join(blocks).encode()


def css(size: int) -> bytes:
    chance = random.Random(size)
    blocks = (
        f".{chance.choice(made.WORDS)}-{i} {{\n  display: flex;\n  margin: "
        f"{chance.randrange(40)}px {chance.randrange(40)}px;\n"
        f"  color: #{chance.getrandbits(24):06x};\n}}\n"
        for i in range(size // 80)
    )
    return "".join(blocks).encode()


def markdown(size: int) -> bytes:
    rows = (
        f"| {i} | {row[1]} | {row[2]} | {row[3]} | **{row[4]}** | {row[5]} |"
        for i, row in enumerate(made.rows(size // 50))
    )
    return (
        "# Orders\n\n| id | date | region | product | units | revenue "
        "|\n|---|---|---|---|---|---|\n" + "\n".join(rows)
    ).encode()


def nested(size: int) -> bytes:
    items = [
        {
            "order": row[0],
            "buyer": {"region": row[2], "tags": [row[3], row[3]]},
            "lines": [{"units": row[4], "sum": row[5]}],
        }
        for row in made.rows(size // 110)
    ]
    return json.dumps({"items": items}, indent=2).encode()


def script(size: int) -> bytes:
    chance = random.Random(size)
    blocks = (
        f"export async function load{chance.choice(made.WORDS).title()}{i}(id, options = {{}}) {{\n"
        f"  const response = await fetch(`/api/{chance.choice(made.WORDS)}/${{id}}`, options);\n"
        "  if (!response.ok) throw new Error(response.statusText);\n  return response.json();\n}\n"
        for i in range(size // 210)
    )
    return "\n".join(blocks).encode()


def xml(size: int) -> bytes:
    chance = random.Random(size)
    blocks = (
        f'  <item id="{i}"><name>{chance.choice(made.WORDS)}</name><price>{chance.random() * 99:.2f}</price></item>\n'
        for i in range(size // 66)
    )
    return ("<items>\n" + "".join(blocks) + "</items>\n").encode()


if __name__ == "__main__":
    sys.exit(main())
