"""Results of earlier versions, which were `rN.parquet` beside `rN.json` in a folder of the chat,
and what the chat's answers say of them.

A file is taken for the result that its name says only where every answer that shows rows under that
name shows these: a folder that was lost began again at r1, and its files have nothing to do with the
answers before. What is not there, or not certain, is recorded as gone.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaf.errors import NotFoundError
from leaf.store import Store
from leaf.store import results as rows
from leaf.store.model import Scope
from leaf.store.results import ResultRow

Json = dict[str, Any]

_NUMBER = re.compile(r"r([1-9]\d{0,8})")
_NAMED = re.compile(r"(?<![\w.])r([1-9]\d{0,3})(?!\w)")
"""A name in running text, where more digits are hardly one."""
WORDS = ("text", "errorText", "sql", "code")
"""Keys of a part under which a result may be named in passing."""


@dataclass(frozen=True)
class SaidResult:
    """What an answer shows of a result."""

    number: int
    message_id: str
    columns: Sequence[str]
    total: int | None
    """None where it is not said."""
    about: Json | None
    """What the result is about; None where the answer only uses it."""


def adopt(store: Store, scope: Scope, chat_id: str, folder: Path) -> None:
    """Record what is in the folder, and what the chat's answers name; the numbers go on above both.
    What is kept then leaves the folder."""
    mentions_of, highest = _said(rows.parts_said(store.db, scope, chat_id))
    # Of calls outside of chats nobody knows whose they were.
    paths = [] if chat_id == rows.OUTSIDE else list(folder.glob("r*.*"))
    there = {_number(p.stem): p for p in paths if p.suffix == ".json" and _number(p.stem)}
    candidates = [
        _row(store, scope, number, there.get(number), mentions_of)
        for number in {*there, *mentions_of}
    ]
    known = sorted((row for row in candidates if row is not None), key=lambda row: row.number)
    try:
        rows.adopt(store.db, scope, chat_id, known, max([highest, *there], default=0))
    except NotFoundError:
        return
    for path in paths:
        if _number(path.stem):
            path.unlink(missing_ok=True)


def _row(
    store: Store,
    scope: Scope,
    number: int,
    path: Path | None,
    mentions_of: Mapping[int, Sequence[SaidResult]],
) -> ResultRow | None:
    """The row of a result; None for a number that was given to nothing."""
    shown = mentions_of.get(number, ())
    about = _read(path) if path is not None else None
    full_mentions = [one for one in shown if one.about is not None]
    message_id = full_mentions[0].message_id if full_mentions else ""
    if path is not None and about is not None and all(_agrees(about, one) for one in shown):
        sha256, size = _taken(store, scope, path.with_suffix(".parquet"))
        return ResultRow(number, about, sha256, size, message_id, str(about.pop("turn", "") or ""))
    if full_mentions and all(_agrees(full_mentions[0].about or {}, one) for one in shown):
        return ResultRow(number, full_mentions[0].about or {}, message_id=message_id)
    return ResultRow(number, {"tables": [], "columns": [], "total": 0}) if shown else None


def _taken(store: Store, scope: Scope, parquet: Path) -> tuple[str, int]:
    """The rows as a blob: hash and size, empty where they are gone."""
    try:
        with parquet.open("rb") as stream:
            blob = store.blobs.put(scope.workspace_id, stream, sys.maxsize, lasting=False)
    except FileNotFoundError:
        return "", 0
    return blob.sha256, blob.size


def _read(path: Path) -> Json | None:
    try:
        about = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) and "total" in about else None


def _agrees(about: Mapping[str, Any], shown: SaidResult) -> bool:
    """Whether what was kept can be what an answer shows."""
    if list(about.get("columns") or ()) != list(shown.columns):
        return False
    if shown.total is not None and int(about.get("total") or 0) != shown.total:
        return False
    own = {key: (shown.about or {}).get(key) for key in ("sql", "code")}
    return all(not text or not about.get(key) or about[key] == text for key, text in own.items())


def _said(
    messages: Sequence[tuple[str, list[dict[str, Any]]]],
) -> tuple[dict[int, list[SaidResult]], int]:
    """What the answers of a chat show of results, by number, and the highest number that any of
    them mentions."""
    shown: dict[int, list[SaidResult]] = {}
    highest = 0
    for message_id, parts in messages:
        for part in parts:
            highest = max([highest, *_mentioned(part)])
            for one in _shown(message_id, part):
                shown.setdefault(one.number, []).append(one)
    return shown, highest


def _shown(message_id: str, part: Mapping[str, Any]) -> Iterator[SaidResult]:
    """The results whose rows a step shows."""
    output, call_input = part.get("output"), part.get("input")
    data = output.get("data") if isinstance(output, dict) else None
    if not isinstance(data, dict):
        return
    call_input = call_input if isinstance(call_input, dict) else {}
    tables = [data.get("table"), *(data.get("tables") or ())]
    for table in (table for table in tables if isinstance(table, dict)):
        if number := _number(str(table.get("result_id") or "")):
            about = _about(table, call_input)
            yield SaidResult(number, message_id, about["columns"], about["total"], about)
    chart = data.get("chart")
    if isinstance(chart, dict) and (number := _number(str(chart.get("result_id") or ""))):
        yield SaidResult(number, message_id, chart.get("columns") or (), chart.get("total"), None)


def _about(table: Mapping[str, Any], call_input: Mapping[str, Any]) -> Json:
    """What a result is about, as far as the answer tells."""
    rows_shown = table.get("rows") or ()
    return {
        "sql": table.get("sql") or "",
        "code": str(call_input.get("code") or ""),
        "name": table.get("name") or "",
        "tables": [
            t
            for t in table.get("scanned") or ()
            if isinstance(t, dict) and t.get("file_id") and t.get("sha256")
        ],
        "results": [],
        "read": None,
        "columns": list(table.get("columns") or ()),
        "types": list(table.get("types") or ()),
        "total": int(table.get("total") or len(rows_shown)),
        "seconds": table.get("seconds"),
    }


def _mentioned(value: object, key: str = "") -> Iterator[int]:
    """Numbers of results that a part of an answer names: as `result_id`, and in its words, SQL and
    code."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _mentioned(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _mentioned(inner, key)
    elif isinstance(value, str) and key == "result_id":
        yield _number(value)
    elif isinstance(value, str) and key in WORDS:
        yield from (int(number) for number in _NAMED.findall(value))


def _number(name: str) -> int:
    """3 for `r3`, 0 for anything else."""
    match = _NUMBER.fullmatch(name)
    return int(match[1]) if match else 0
