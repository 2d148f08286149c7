"""Notes on how files were read: which part they are of what a model reads, in a made lake of 40 tables with defects.

A scripted model describes two tables, queries tables alone, together and side by side; the characters of its tool results are
counted.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from leaf.settings import Settings
from leaf.wiring import build
from tests.leaf_kit import finished
from tests.messages_server import MessagesServer, Turn

FILES, ROWS, COLUMNS = 40, 300, 8
SHARE = 0.10
"""Target: the most that notes may be of what is read."""
NOTE = re.compile(r"^(?:On \w+: |Note: |Doubtful: |Not counted: |\d+ more notes? on ).*$", re.MULTILINE)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        told = measure(Path(folder))
    results, notes = sum(len(text) for text in told), sum(len(m.group()) + 1 for text in told for m in NOTE.finditer(text))
    four = next(text for text in told if text.count(" rows)") >= 4)
    of_four = sum(len(m.group()) + 1 for m in NOTE.finditer(four))
    ok = notes <= SHARE * results
    print(f"{'ok  ' if ok else 'MISS'} notes are {notes:,} of {results:,} characters of tool results, {notes / results:.1%}")
    print(f"     one query over four files: {of_four:,} characters of notes")
    lines = [m.group() for text in told for m in NOTE.finditer(text) if m.group().startswith("On ")]
    print(f"     lines that were told twice: {len(lines) - len(set(lines))}")
    return 0 if ok else 1


def measure(folder: Path) -> list[str]:
    """The texts of all tool results that the model read."""
    names = [f"plant_{number:02}" for number in range(1, FILES + 1)]
    union = " UNION ALL ".join(f"SELECT site, sum(amount) AS s FROM {name} GROUP BY 1" for name in names[:4])
    turns = [
        Turn.call(("list_files", {})),
        Turn.call(*(("describe_table", {"file": name}) for name in names[:2])),
        Turn.call(("query_tables", {"sql": f"SELECT site, sum(s) FROM ({union}) GROUP BY 1"})),
        Turn.call(*(("query_tables", {"sql": f"SELECT {ask} FROM {names[5]}"}) for ask in ("sum(amount)", "avg(amount)"))),
        Turn.call(*(("query_tables", {"sql": f"SELECT site, max(amount) FROM {name} GROUP BY 1"}) for name in names[6:10])),
        Turn.call(("query_tables", {"sql": f"SELECT * FROM {names[12]} LIMIT 20"})),
        Turn.call(("query_tables", {"sql": f"SELECT count(*) FROM {names[13]}"})),
        Turn.say("Done."),
    ]
    with MessagesServer(turns) as server:
        leaf = build(Settings(home=folder / "home", model_url=server.url, api_key="k"))
        try:
            session = leaf.session(leaf.local_scope())
            chat = session.chats.create()
            ids = [
                session.files.add(f"{name}.csv", BytesIO(content)).file.id for name, content in zip(names, made(), strict=True)
            ]
            answer = finished(session, session.messages.send(chat.id, "How much?", file_ids=ids).id, 300)
            assert answer.status == "completed", answer
            blocks = [b for m in server.requests[-1].body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        finally:
            leaf.close()
    return [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(str(part.get("text") or "") for part in content)


def made() -> Iterator[bytes]:
    """Tables of amounts, days, codes and texts, each with some defects of its own: the same at each run."""
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
                        "n/a" if broken else f"{chance.randint(1, 9)}.{chance.randint(100, 999)},{chance.randint(10, 99)}",
                        f"{chance.randint(1, 90)},{chance.randint(10, 99)} €" if row % 7 else f"{chance.randint(1, 90)} $",
                        f"{chance.randint(1, 99)} %",
                        f"00{chance.randint(100, 999)}" if number % 2 else str(chance.randint(100, 999)),
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
