"""Chats of any length as years of work leave them: each answer with steps, tables, receipts, a
source and a table in its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leaf import settings
from leaf.provenance.receipts.answer import RECEIPTS, of_answer
from leaf.shapes.part_parser import parse_parts
from leaf.shapes.parts import TextPart
from leaf.store import Store, chats, messages, open_store, users
from leaf.store.model import Message, Scope

Json = dict[str, Any]
STEPS, ROWS = 3, 50
MARK = "N0000"
"""Stands in everything of the first exchange that is another in the next ones, in as many
characters."""
MODEL = "made"


def fill(home: Path, lengths: dict[str, int]) -> dict[str, str]:
    """A data folder with a chat for each title, of so many exchanges; their ids by title."""
    store = open_store(settings.load({"LEAF_HOME": str(home)}))
    scope = users.ensure_local_user(store.db)
    told = json.dumps(exchange())
    made = {title: _fill(store, scope, title, count, told) for title, count in lengths.items()}
    store.close()
    return made


def _fill(store: Store, scope: Scope, title: str, count: int, told: str) -> str:
    chat = chats.create(store.db, scope, title=title)
    for number in range(count):
        one = json.loads(told.replace(MARK, f"N{number:04}"))
        kept = messages.add_exchange(
            store.db, scope, chat.id, one["asked"], raw=one["question"], model=MODEL
        )
        messages.finish(
            store.db,
            scope,
            kept.answer.id,
            parts=one["parts"],
            raw=one["raw"],
            usage=one["usage"],
            status="completed",
        )
    return chat.id


def exchange() -> Json:
    """The parts and raw messages of a question and its answer."""
    asked: list[TextPart] = [
        {"type": "text", "text": f"Question {MARK}: what did the regions sell?", "state": "done"}
    ]
    calls = [_step(call) for call in range(STEPS)]
    text = _text()
    parts: list[Json] = [{"type": "step-start"}, *calls, {"type": "step-start"}]
    parts.append({"type": "text", "id": "t1", "text": text, "state": "done"})
    receipts = of_answer(
        parse_parts(parts, "the answer"), [Message("q", "", "", "user", "completed", [*asked], [])]
    )
    source = {**calls[0]["output"]["sources"][0]}
    parts.append(
        {
            "type": "source-document",
            "sourceId": f"s-{MARK}",
            "mediaType": "text/csv",
            "title": "sales.csv",
            "filename": "sales.csv",
            "providerMetadata": {"leaf": source},
        }
    )
    parts.append(
        {
            "type": "data-coverage",
            "id": "coverage",
            "data": {"files": calls[0]["output"]["coverage"]},
        }
    )
    if receipts:
        parts.append({"type": f"data-{RECEIPTS}", "id": RECEIPTS, "data": receipts})
    usage = {
        "input": 9_000,
        "cached": 8_000,
        "output": 500,
        "cost": 0.002,
        "seconds": 4.0,
        "model": MODEL,
        "context": 0,
    }
    parts.append({"type": "data-usage", "id": "usage", "data": usage})
    raw: list[Json] = []
    for part in calls:
        use = {
            "type": "tool_use",
            "id": part["toolCallId"],
            "name": "query_tables",
            "input": part["input"],
        }
        given = {
            "type": "tool_result",
            "tool_use_id": part["toolCallId"],
            "content": part["output"]["text"],
        }
        raw += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [given]}]
    raw.append({"role": "assistant", "content": [{"type": "text", "text": text}]})
    question = [{"role": "user", "content": [{"type": "text", "text": asked[0]["text"]}]}]
    return {"asked": asked, "question": question, "parts": parts, "raw": raw, "usage": usage}


def _rows(call: int) -> list[list[Any]]:
    return [
        [
            f"Region {i} of {MARK}",
            1_000 + i * 37 + call,
            i * 1_234.56 + call,
            f"2026-01-{i % 28 + 1:02}",
        ]
        for i in range(ROWS)
    ]


def _step(call: int) -> Json:
    columns = ["region", "count", "sum", "day"]
    rows = _rows(call)
    result_id = f"r{MARK}{call}"
    table = {
        "columns": columns,
        "types": ["VARCHAR", "BIGINT", "DOUBLE", "DATE"],
        "rows": rows,
        "total": ROWS,
        "result_id": result_id,
    }
    text = "\n".join(" | ".join(map(str, row)) for row in [columns, *rows])
    sql = (
        f"SELECT region, count(*) AS count, sum(amount) AS sum FROM sales WHERE batch = "
        f"{call} GROUP BY region"
    )
    source = {
        "handle": "f1",
        "file_id": "made",
        "name": "sales.csv",
        "place": "",
        "action": "queried",
        "query": sql,
        "quote": "",
    }
    cover = {
        "file_id": "made",
        "name": "sales.csv",
        "unit": "rows",
        "seen": 12_000,
        "total": 12_000,
        "ranges": [],
    }
    output = {
        "text": text,
        "summary": f"Summed column {call} by region",
        "sources": [source],
        "coverage": [cover],
        "seconds": 0.2,
        "data": {"table": table},
    }
    return {
        "type": "tool-query_tables",
        "toolCallId": f"call-{MARK}-{call}",
        "state": "output-available",
        "input": {"sql": sql},
        "output": output,
    }


def _text() -> str:
    rows = _rows(0)
    lines = [f"| {row[0]} | {row[1]:,} | {row[2]:,.2f} |" for row in rows[:10]]
    told = [f"**{row[0]}** sold {row[1]:,} pieces for {row[2]:,.2f}." for row in rows[:12]]
    table = "\n".join(["| region | count | sum |", "|---|---:|---:|", *lines])
    end = "\n".join(f"{i}. Region {i} of {MARK} stands at {rows[i][2]:,.2f}." for i in range(1, 6))
    return (
        f"Answer {MARK}. "
        f"{' '.join(told[:6])}\n\n{table}\n\n{' '.join(told[6:])}\n\n```sql\nSELECT "
        f"1\n```\n\n{end}\n"
    )
