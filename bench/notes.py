"""Notes on how files were read: which part they are of what a model reads.

    python -m bench.notes [--corpora ../shared/data/foreign] [--show]

Two lakes: 40 made tables, each with all defects that a table of its kind has, and 27 tables that
nobody here chose. A scripted model lists the files, describes some tables, and queries tables
alone, together and side by side, as plain questions do: how many, sums by group, the largest. The
characters of its tool results are counted. The made lake is the harder one: every table has four or
more defects in the columns that are asked for, and the results are three rows long.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report, changed
from bench._foreign import CORPORA
from leaf.errors import LeafError
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.tables.sql import is_number, quoted
from leaf.wiring import build
from tests.leaf_kit import finished
from tests.messages_server import MessagesServer, Turn

FILES, ROWS, COLUMNS = 40, 300, 8
FOREIGN = (("dabench/tables", 15), ("strudel/csv", 6), ("fuste/csv", 6))
"""Folder of the corpora, and how many of its files are taken, evenly from all of them."""
LARGEST = 2_000_000
"""Bytes of a foreign file that is taken."""
SHARE = 0.10
"""Target: the most that notes may be of what is read."""
NOTE = re.compile(
    r"^(?:On \w+(?:(?:, | and )\w+)*(?: more)?: |Notes?: |Doubtful: |Not counted: |\d+ more "
    r"notes? on ).*$",
    re.MULTILINE,
)
Files = Sequence[tuple[str, bytes]]
_Calls = list[tuple[str, dict[str, Any]]]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--show", action="store_true", help="print the notes")
    given = parser.parse_args()
    kept = Report(
        "notes", ("leaf/tools", "leaf/tables", "leaf/readers/tabular"), changed(parser, given)
    )
    lakes = [
        (
            "made tables",
            [(f"plant_{n:02}.csv", content) for n, content in enumerate(made(), 1)],
            _of_made,
        )
    ]
    if foreign := chosen(given.corpora):
        lakes.append(("foreign tables", foreign, _of_foreign))
    else:
        print(f"no corpora in {given.corpora}: their lake is not measured")
    figures: list[Figure] = []
    for name, files, asked in lakes:
        with tempfile.TemporaryDirectory() as folder:
            figures += report(
                f"{len(files)} {name}", measure(Path(folder), files, asked), given.show
            )
    return kept.end(figures)


def report(name: str, told: Sequence[str], show: bool) -> list[Figure]:
    """The figures of a lake."""
    results, notes = sum(map(len, told)), sum(map(_notes_of, told))
    described = [text for text in told if text.startswith("Table ")]
    of_described, of_all = sum(map(_notes_of, described)), sum(map(len, described))
    print(
        f"     {name}: notes are {notes:,} of {results:,} characters of tool results, "
        f"{notes / results:.1%}"
    )
    print(
        f"     of {len(described)} descriptions {of_described:,}, of all else "
        f"{(notes - of_described) / (results - of_all):.1%}"
    )
    print(f"     most in one result: {max(map(_notes_of, told)):,}")
    lines = [m.group() for text in told for m in NOTE.finditer(text) if m.group().startswith("On ")]
    print(f"     lines that were told twice: {len(lines) - len(set(lines))}")
    if show:
        print("\n".join(m.group() for text in told for m in NOTE.finditer(text)))
    return [
        Figure(
            name,
            "part of what a model reads of them that is notes",
            notes / results,
            SHARE,
            False,
            "{:.1%}",
        )
    ]


def _notes_of(text: str) -> int:
    return sum(len(m.group()) + 1 for m in NOTE.finditer(text))


def chosen(corpora: Path) -> list[tuple[str, bytes]]:
    """Files of the corpora, the same at each run; empty where they are absent."""
    found: list[tuple[str, bytes]] = []
    for folder, count in FOREIGN:
        paths = sorted(p for p in (corpora / folder).glob("*.csv") if p.stat().st_size < LARGEST)
        found += [
            (path.name, path.read_bytes()) for path in paths[:: max(1, len(paths) // count)][:count]
        ]
    return found


def measure(folder: Path, files: Files, asked: Any) -> list[str]:
    """The texts of all tool results that the model read. `asked` gives its turns, each a list of
    calls."""
    turns: list[Turn] = []
    with ExitStack() as stack:
        server = stack.enter_context(MessagesServer(lambda body: turns.pop(0)))
        given = Settings(home=folder / "home", model_url=server.url, api_key="k", titles=False)
        leaf = build(given)
        stack.callback(leaf.close)
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        ids = [session.files.add(name, BytesIO(content)).file.id for name, content in files]
        turns += [*(Turn.call(*calls) for calls in asked(session, ids)), Turn.say("Done.")]
        answer = finished(
            session, session.messages.send(chat.id, "How much?", file_ids=ids).id, 900
        )
        assert answer.status == "completed", answer
        blocks = [
            b
            for m in server.requests[-1].body["messages"]
            if isinstance(m["content"], list)
            for b in m["content"]
        ]
    return [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]


def _text(content: Any) -> str:
    return (
        content
        if isinstance(content, str)
        else "\n".join(str(part.get("text") or "") for part in content)
    )


def _of_made(session: Session, ids: Sequence[str]) -> Iterator[_Calls]:
    names = [f"plant_{number:02}" for number in range(1, len(ids) + 1)]
    union = " UNION ALL ".join(
        f"SELECT site, sum(amount) AS s FROM {name} GROUP BY 1" for name in names[:4]
    )
    yield [("list_files", {})]
    yield [("describe_table", {"file": name}) for name in names[:2]]
    yield [_query(f"SELECT site, sum(s) FROM ({union}) GROUP BY 1")]
    yield [_query(f"SELECT {ask} FROM {names[5]}") for ask in ("sum(amount)", "avg(amount)")]
    yield [_query(f"SELECT site, max(amount) FROM {name} GROUP BY 1") for name in names[6:10]]
    yield [_query(f"SELECT * FROM {names[12]} LIMIT 20")]
    yield [_query(f"SELECT count(*) FROM {names[13]}")]


def _of_foreign(session: Session, ids: Sequence[str]) -> Iterator[_Calls]:
    """Of every third table a description, of each how many rows, sums by group and the largest,
    where its columns allow it."""
    yield [("list_files", {})]
    for number in range(1, len(ids) + 1):
        try:
            found = session.tools.run(
                "describe_table", {"file": f"f{number}"}, file_ids=ids
            ).data.to_json()["profile"]
        except LeafError:
            continue
        name = quoted(found["name"])
        figures = [quoted(c["name"]) for c in found["columns"] if is_number(c["type"])]
        groups = [
            quoted(c["name"]) for c in found["columns"] if c["type"] == "VARCHAR" and c["top"]
        ]
        calls: _Calls = [("describe_table", {"file": f"f{number}"})] if number % 3 == 1 else []
        calls.append(_query(f"SELECT count(*) FROM {name}"))
        if figures and groups:
            calls.append(
                _query(
                    f"SELECT {groups[0]}, sum({figures[-1]}) AS s FROM {name} GROUP BY 1 ORDER BY "
                    f"2 DESC LIMIT 10"
                )
            )
        if figures:
            calls.append(
                _query(
                    f"SELECT min({figures[0]}), avg({figures[0]}), max({figures[0]}) FROM {name}"
                )
            )
            calls.append(_query(f"SELECT * FROM {name} ORDER BY {figures[0]} DESC LIMIT 5"))
        yield calls


def _query(sql: str) -> tuple[str, dict[str, Any]]:
    return "query_tables", {"sql": sql}


def made() -> Iterator[bytes]:
    """Tables of amounts, days, codes and texts, each with some defects of its own: the same at each
    run."""
    for number in range(FILES):
        chance = random.Random(number)
        lines = ["site;day;amount;price;share;code;weight;remark"]
        for row in range(ROWS):
            day = f"{chance.randint(1, 28):02}.{chance.randint(1, 12):02}.{chance.choice(('2024', '24'))}"
            broken = chance.random() < 0.03
            lines.append(
                ";".join(
                    (
                        chance.choice(("Nord", "Süd", "Ost")),
                        "unknown" if chance.random() < 0.01 else day,
                        "n/a"
                        if broken
                        else f"{chance.randint(1, 9)}.{chance.randint(100, 999)},{chance.randint(10, 99)}",
                        f"{chance.randint(1, 90)},{chance.randint(10, 99)} €"
                        if row % 7
                        else f"{chance.randint(1, 90)} $",
                        f"{chance.randint(1, 99)} %",
                        f"00{chance.randint(100, 999)}"
                        if number % 2
                        else str(chance.randint(100, 999)),
                        "#REF!" if chance.random() < 0.02 else str(chance.randint(1, 500)),
                        chance.choice(("", "ok", "late", "checked")),
                    )
                )
            )
            if chance.random() < 0.01:
                lines.append(lines[-1])
        yield "\n".join(lines).encode("cp1252" if number % 3 else "utf-8")


if __name__ == "__main__":
    sys.exit(main())
