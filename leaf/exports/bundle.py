"""From the messages of a chat to its manifest, and from that to a folder as ZIP. Pure."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from leaf.agent.cited import Text, flow
from leaf.agent.export import Traced, chat_markdown
from leaf.agent.receipts.answer import kept_receipts
from leaf.errors import LeafError, NotFoundError
from leaf.exports.manifest import (
    CELLS,
    ROWS,
    TEXT,
    KeptAnswer,
    KeptCall,
    KeptFile,
    KeptReceipt,
    KeptResult,
    KeptTable,
    Manifest,
    Said,
    to_json,
)
from leaf.exports.notebook import notebook
from leaf.exports.readme import readme
from leaf.store.model import ChatFile, Message
from leaf.tables.tables import Table
from leaf.tools.registry import declared

Json = dict[str, Any]

FOLDERS: Mapping[str, tuple[str, str]] = {"query": ("queries", "sql"), "cell": ("cells", "py")}
"""Where the code of calls that are replayed so is kept, and the ending of its files."""
WRITTEN_BYTES = 100 * 1024**2
"""Of files that Python wrote, in one bundle."""
_SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Of every entry, so that the same chat gives the same bytes."""


@dataclass(frozen=True)
class Told:
    """A chat as it goes into a bundle."""

    title: str
    messages: Sequence[Message]
    """The shown branch, from its first question."""
    files: Sequence[ChatFile]
    """All of the chat, the deleted ones among them."""
    tables: Mapping[str, Sequence[Table]]
    """File id -> its tables, for those that calls have used."""
    leaf: str
    """Version of Leaf."""
    exported: datetime
    traced: Traced = field(default_factory=dict)
    """What the figures of the documents that the chat wrote rest on."""


def _none(_sha256: str, name: str) -> Path:
    raise NotFoundError(f"{name} is not at hand.")


WrittenFile = Callable[[str, str], Path]
"""SHA-256 and name of a file that Python wrote -> where it is. Raises LeafError."""


def bundle(told: Told, written: WrittenFile = _none) -> bytes:
    """The folder as ZIP: README.md, chat.md, chat.ipynb, queries, cells, manifest.json, and the files that Python wrote. No data
    file is in it.
    """
    manifest = manifest_of(told)
    entries = {
        "README.md": readme(manifest),
        "chat.md": chat_markdown(told.title, told.messages, told.traced),
        "chat.ipynb": notebook(manifest),
        "manifest.json": to_json(manifest),
    }
    for call in manifest.calls():
        if call.file:
            entries[call.file] = (call.code or call.sql).rstrip() + "\n"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _SAME_TIME), text.encode(), zipfile.ZIP_DEFLATED)
        for name, path in _written(told.messages, written):
            with path.open("rb") as file, archive.open(zipfile.ZipInfo(name, _SAME_TIME), "w") as entry:
                shutil.copyfileobj(file, entry)
    return target.getvalue()


def _written(messages: Sequence[Message], written: WrittenFile) -> Iterator[tuple[str, Path]]:
    """The newest file of each name that Python wrote, up to a size; those that are gone are left out."""
    newest = {file["name"]: file for message in messages for file in written_files(message.parts)}
    room = WRITTEN_BYTES
    for name, file in newest.items():
        room -= int(file["size"])
        with suppress(LeafError):
            path = written(str(file["sha256"]), name)
            if room >= 0 and path.exists():
                yield f"files/{_entry_name(name)}", path


def written_files(parts: Sequence[Json]) -> list[Json]:
    """The files that Python wrote in an answer: {"sha256", "name", "size"}."""
    found = []
    for part in parts:
        output = part.get("output")
        if isinstance(output, Mapping):
            found += [file for file in (output.get("data") or {}).get("written") or () if isinstance(file, dict)]
    return found


def _entry_name(name: str) -> str:
    """A name that no ZIP's reader takes for another folder or a drive."""
    return re.sub(r'[\\/:*?"<>|]', "_", name).replace("..", "_") or "file"


def used_files(messages: Sequence[Message]) -> set[str]:
    """Ids of the files that the calls of a chat have used."""
    found = set()
    for message in messages:
        for part in message.parts:
            output = part.get("output")
            if isinstance(output, Mapping):
                found |= {str(source["file_id"]) for source in output.get("sources") or () if source.get("file_id")}
    return found


def manifest_of(told: Told) -> Manifest:
    """What can be computed again, with what came of it."""
    questions = {m.id: _words(m) for m in told.messages if m.role == "user"}
    answers = [m for m in told.messages if m.role == "assistant"]
    names = {message.id: f"a{number}" for number, message in enumerate(answers, 1)}
    counts = dict.fromkeys(FOLDERS, 0)
    return Manifest(
        format="leaf-chat",
        version=1,
        leaf=told.leaf,
        title=told.title[:1_000],
        exported=told.exported.isoformat(timespec="seconds"),
        packages=_packages(answers),
        files=[_file(chat_file, told.tables.get(chat_file.file.id, ())) for chat_file in told.files],
        answers=[_answer(message, questions.get(message.parent_id, ""), names, counts) for message in answers],
    )


def results_of(output: Mapping[str, Any]) -> list[Json]:
    """The tables that a call gave: of a query one, of a cell any number, of a chart the rows that it draws."""
    data = output.get("data") or {}
    found = [data[name] for name in ("table", "chart") if isinstance(data.get(name), Mapping)]
    found += [table for table in data.get("tables") or () if isinstance(table, Mapping)]
    return [table for table in found if table.get("columns")]


def kept_results(output: Mapping[str, Any]) -> list[KeptResult]:
    """Their heads."""
    kept = []
    for table in results_of(output):
        columns = [str(column) for column in table["columns"]]
        rows = [list(row) for row in (table.get("rows") or ())[: max(1, min(ROWS, CELLS // len(columns)))]]
        result_id = str(table.get("result_id") or "")
        name = str(table.get("name") or "")[:300]
        kept.append(
            KeptResult(result_id=result_id, name=name, columns=columns, rows=rows, total=int(table.get("total") or len(rows)))
        )
    return kept


def said_by_cell(output: Mapping[str, Any]) -> tuple[str, str]:
    """What a cell printed, and the value of its last line, as far as bundles keep them."""
    about = (output.get("data") or {}).get("python") or {}
    return str(about.get("printed") or "")[:TEXT], str(about.get("value") or "")[:TEXT]


def _answer(message: Message, question: str, names: Mapping[str, str], counts: dict[str, int]) -> KeptAnswer:
    said: list[Said] = []
    calls: list[KeptCall] = []
    texts: dict[int, int] = {}
    for piece in flow(message.parts):
        if isinstance(piece, Text):
            texts[piece.index] = len(texts)
            said.append(Said(text=piece.text))
        elif _succeeded(piece[1]):
            said.append(Said(call=_plain_id(str(piece[1]["toolCallId"]))))
    for part in _in_order(message.parts):
        calls.append(_call(part, counts))
    receipts = [_receipt(receipt, texts, names) for receipt in kept_receipts(message.parts) if receipt["part"] in texts]
    return KeptAnswer(
        id=names[message.id],
        question=question,
        status=message.status,
        model=message.model,
        calls=calls,
        said=said,
        receipts=receipts,
    )


def _in_order(parts: Sequence[Json]) -> Iterator[Json]:
    """Calls in the order in which they ran: those of one turn ran at once, and their results were numbered as they came."""
    turn: list[Json] = []
    for part in [*parts, {"type": "step-start"}]:
        if part["type"] == "step-start":
            yield from sorted(turn, key=_ran)
            turn = []
        elif _succeeded(part):
            turn.append(part)


def _ran(part: Json) -> int:
    """A key to sort by: the number of the first result that a call made; 0 for one that made none."""
    if not {"sql", "code"} & set(part.get("input") or {}):
        return 0
    ids = [str(table.get("result_id") or "")[1:] for table in results_of(part["output"])]
    return min((int(number) for number in ids if number.isdigit()), default=0)


def _succeeded(part: Mapping[str, Any]) -> bool:
    return (
        part["type"].startswith("tool-") and part.get("state") == "output-available" and isinstance(part.get("output"), Mapping)
    )


def _call(part: Json, counts: dict[str, int]) -> KeptCall:
    tool, given, output = str(part["type"]).removeprefix("tool-"), dict(part.get("input") or {}), part["output"]
    file, replayed = "", declared(tool).replay
    if replayed in counts:
        counts[replayed] += 1
        folder, ending = FOLDERS[replayed]
        file = f"{folder}/{counts[replayed]:02}.{ending}"
    printed, value = said_by_cell(output)
    return KeptCall(
        id=_plain_id(str(part["toolCallId"])),
        tool=tool,
        input=given,
        file=file,
        results=kept_results(output),
        printed=printed,
        value=value,
    )


def _plain_id(call_id: str) -> str:
    return re.sub(r"[^\w.:-]", "-", call_id)[:120]


def _receipt(receipt: Mapping[str, Any], texts: Mapping[int, int], names: Mapping[str, str]) -> KeptReceipt:
    return KeptReceipt(
        text=texts[receipt["part"]],
        start=receipt["start"],
        end=receipt["end"],
        figure=str(receipt["text"])[:300],
        kind=receipt["kind"],
        call=_plain_id(str(receipt.get("call_id") or "")),
        answer=names.get(str(receipt.get("message_id") or ""), ""),
        result_id=str(receipt.get("result_id") or ""),
        row=int(receipt.get("row", -1)),
        column=str(receipt.get("column") or "")[:1_000],
        value=str(receipt.get("value") or "")[:400],
        how=str(receipt.get("how") or "")[:2_000],
        place=str(receipt.get("place") or "")[:2_000],
        against=str(receipt.get("against") or "")[:400],
    )


def _file(chat_file: ChatFile, tables: Sequence[Table]) -> KeptFile:
    file = chat_file.file
    return KeptFile(
        handle=chat_file.handle,
        slug=chat_file.slug,
        name=file.name[:400],
        kind=file.kind,
        size=file.size,
        sha256=file.sha256,
        deleted=file.deleted_at is not None,
        tables=[
            KeptTable(name=t.name, sheet=t.sheet, place=t.place, rows=t.rows, columns=[name for name, _ in t.columns])
            for t in tables
        ],
    )


def _packages(answers: Sequence[Message]) -> list[str]:
    """What had been installed for the chat at its end."""
    newest: Mapping[str, Any] = {}
    for message in answers:
        for part in message.parts:
            if _succeeded(part):
                newest = (part["output"].get("data") or {}).get("packages") or newest
    return [f"{name} {version}"[:200] for name, version in newest.items()] if isinstance(newest, Mapping) else []


def _words(message: Message) -> str:
    return "\n".join(str(part["text"]) for part in message.parts if part["type"] == "text")
