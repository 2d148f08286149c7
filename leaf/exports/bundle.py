"""From the messages of a chat to its manifest, and from that to a folder as ZIP. Pure."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from leaf.agent.export import chat_markdown, coverage_in_words, sources_in_words
from leaf.errors import LeafError, NotFoundError
from leaf.exports.manifest import (
    CELLS,
    ROWS,
    TEXT,
    VERSION,
    AnswerPiece,
    KeptAnswer,
    KeptCall,
    KeptFile,
    KeptReceipt,
    KeptResult,
    KeptTable,
    Manifest,
    to_json,
)
from leaf.exports.notebook import notebook
from leaf.exports.readme import readme
from leaf.language.text import ENGLISH, speaking
from leaf.provenance.citations import Text, flow, footnotes
from leaf.provenance.receipts.answer import kept_receipts
from leaf.provenance.receipts.documents import Traced
from leaf.shapes.part_values import data_of, is_tool, output_of, succeeded, texts_of, tool_name
from leaf.shapes.parts import UNREADABLE, Part, ReceiptKept, ToolPart
from leaf.shapes.results import ChartShown, FileWritten, Output, TableShown
from leaf.store.files import free_among
from leaf.store.model import ChatFile, Message
from leaf.tables.table import Table
from leaf.tools.registry import declared

FOLDERS: Mapping[str, tuple[str, str]] = {"query": ("queries", "sql"), "cell": ("cells", "py")}
"""Where the code of calls that are replayed so is kept, and the ending of its files."""
WRITTEN_BYTES = 100 * 1024**2
"""Of files that Python wrote, in one bundle."""
_SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Of every entry, so that the same chat gives the same bytes."""


@dataclass(frozen=True)
class BundledChat:
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


def bundle(told: BundledChat, target: BinaryIO, written: WrittenFile = _none) -> None:
    """Write the folder as ZIP: README.md, chat.md, chat.ipynb, queries, cells, manifest.json, and
    the files that Python wrote, as many as there is room for. No data file is in it.
    """
    manifest, files = manifest_of(told), _written(told.messages, written)
    entries = {
        "README.md": readme(manifest, files.left),
        "chat.md": chat_markdown(told.title, told.messages, told.traced),
        "chat.ipynb": notebook(manifest),
        "manifest.json": to_json(manifest),
    }
    for call in manifest.calls():
        if call.file:
            entries[call.file] = (call.code or call.sql).rstrip() + "\n"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _SAME_TIME), text.encode(), zipfile.ZIP_DEFLATED)
        for name, path in files.kept.items():
            with (
                path.open("rb") as file,
                archive.open(zipfile.ZipInfo(name, _SAME_TIME), "w") as entry,
            ):
                shutil.copyfileobj(file, entry)


@dataclass
class _Files:
    """Those that Python wrote, the newest of each name."""

    kept: dict[str, Path] = field(default_factory=dict)
    """Name in the bundle -> where it is."""
    left: list[str] = field(default_factory=list)
    """Those that are not in it, each with why."""


def _written(messages: Sequence[Message], written: WrittenFile) -> _Files:
    """Each under a name of its own, also where a reader of the ZIP takes capitals for small letters."""
    newest = {file["name"]: file for message in messages for file in written_files(message.parts)}
    files, taken = _Files(), set[str]()
    room = WRITTEN_BYTES
    for name, file in newest.items():
        size = int(file["size"])
        path = _path(written, file)
        if path is None:
            files.left.append(f"{name}: its bytes are gone")
        elif size > room:
            most = f"{WRITTEN_BYTES // 1024**2} MB"
            files.left.append(f"{name} ({size:,} bytes): a bundle takes {most} of such files")
        else:
            room -= size
            entry = free_among(taken, f"files/{_entry_name(name)}")
            taken.add(entry.lower())
            files.kept[entry] = path
    return files


def _path(written: WrittenFile, file: FileWritten) -> Path | None:
    """None where it is gone."""
    with suppress(LeafError):
        path = written(str(file["sha256"]), file["name"])
        if path.exists():
            return path
    return None


def written_files(parts: Sequence[Part]) -> list[FileWritten]:
    """The files that Python wrote in an answer."""
    return [file for part in parts for file in data_of(part).get("written") or ()]


def _entry_name(name: str) -> str:
    """A name that no ZIP's reader takes for another folder or a drive."""
    return re.sub(r'[\\/:*?"<>|]', "_", name).replace("..", "_") or "file"


def used_files(messages: Sequence[Message]) -> set[str]:
    """Ids of the files that the calls of a chat have used."""
    outputs = [
        output for message in messages for part in message.parts if (output := output_of(part))
    ]
    return {
        source["file_id"]
        for output in outputs
        for source in output.get("sources") or ()
        if source["file_id"]
    }


@speaking(ENGLISH)
def manifest_of(told: BundledChat) -> Manifest:
    """What can be computed again, with what came of it."""
    questions = {m.id: _words(m) for m in told.messages if m.role == "user"}
    answers = [m for m in told.messages if m.role == "assistant"]
    names = {message.id: f"a{number}" for number, message in enumerate(answers, 1)}
    counts = dict.fromkeys(FOLDERS, 0)
    return Manifest(
        format="leaf-chat",
        version=VERSION,
        leaf=told.leaf,
        title=told.title[:1_000],
        exported=told.exported.isoformat(timespec="seconds"),
        packages=_packages(answers),
        files=[
            _file(chat_file, told.tables.get(chat_file.file.id, ())) for chat_file in told.files
        ],
        answers=[
            _answer(message, questions.get(message.parent_id, ""), names, counts)
            for message in answers
        ],
    )


def results_of(output: Output) -> list[TableShown | ChartShown]:
    """The tables that a call gave: of a query one, of a cell any number, of a chart the rows that
    it draws."""
    data = output.get("data") or {}
    results: list[TableShown | ChartShown | None] = [
        data.get("table"),
        data.get("chart"),
        *(data.get("tables") or ()),
    ]
    return [table for table in results if table and table["columns"]]


def kept_results(output: Output) -> list[KeptResult]:
    """Their heads."""
    results = []
    for table in results_of(output):
        columns = [str(column) for column in table["columns"]]
        rows = [
            list(row)
            for row in (table.get("rows") or ())[: max(1, min(ROWS, CELLS // len(columns)))]
        ]
        result_id = str(table.get("result_id") or "")
        name = str(table.get("name") or "")[:300]
        results.append(
            KeptResult(
                result_id=result_id,
                name=name,
                columns=columns,
                rows=rows,
                total=int(table.get("total") or len(rows)),
            )
        )
    return results


def said_by_cell(output: Output) -> tuple[str, str]:
    """What a cell printed, and the value of its last line, as far as bundles keep them."""
    about = (output.get("data") or {}).get("python") or {}
    return about.get("printed", "")[:TEXT], about.get("value", "")[:TEXT]


def _answer(
    message: Message, question: str, names: Mapping[str, str], counts: dict[str, int]
) -> KeptAnswer:
    pieces: list[AnswerPiece] = []
    calls: list[KeptCall] = []
    texts: dict[int, int] = {}
    for piece in flow(message.parts):
        if isinstance(piece, Text):
            texts[piece.index] = len(texts)
            pieces.append(AnswerPiece(text=piece.text))
        elif piece[1]["type"] == "unreadable":
            texts[piece[0]] = len(texts)
            pieces.append(AnswerPiece(text=UNREADABLE))
        elif call := _succeeded(piece[1]):
            pieces.append(AnswerPiece(call=_plain_id(call[0]["toolCallId"])))
    for call in _in_order(message.parts):
        calls.append(_call(*call, counts))
    receipts = [
        _receipt(receipt, texts, names)
        for receipt in kept_receipts(message.parts)
        if receipt["part"] in texts
    ]
    return KeptAnswer(
        id=names[message.id],
        question=question,
        status=message.status,
        model=message.model,
        calls=calls,
        said=pieces,
        receipts=receipts,
        cited=[f"[{number}] {note}" for number, note in footnotes(message.parts)],
        rests=[
            *filter(None, coverage_in_words(message.parts)),
            *(f"Source: {source}" for source in sources_in_words(message.parts)),
        ],
    )


_Done = tuple[ToolPart, Output]
"""A call that succeeded, and what it gave."""


def _in_order(parts: Sequence[Part]) -> Iterator[_Done]:
    """Calls in the order in which they ran: those of one turn ran at once, and their results were
    numbered as they came."""
    turn: list[_Done] = []
    for part in parts:
        if part["type"] == "step-start":
            yield from sorted(turn, key=_ran)
            turn = []
        elif call := _succeeded(part):
            turn.append(call)
    yield from sorted(turn, key=_ran)


def _ran(call: _Done) -> int:
    """A key to sort by: the number of the first result that a call made; 0 for one that made
    none."""
    part, output = call
    if not {"sql", "code"} & set(part.get("input") or {}):
        return 0
    ids = [table.get("result_id", "")[1:] for table in results_of(output)]
    return min((int(number) for number in ids if number.isdigit()), default=0)


def _succeeded(part: Part) -> _Done | None:
    output = succeeded(part)
    return (part, output) if output is not None and is_tool(part) else None


def _call(part: ToolPart, output: Output, counts: dict[str, int]) -> KeptCall:
    tool, arguments = tool_name(part), dict(part.get("input") or {})
    file, replayed = "", declared(tool).replay
    if replayed in counts:
        counts[replayed] += 1
        folder, ending = FOLDERS[replayed]
        file = f"{folder}/{counts[replayed]:02}.{ending}"
    printed, value = said_by_cell(output)
    return KeptCall(
        id=_plain_id(part["toolCallId"]),
        tool=tool,
        input=arguments,
        file=file,
        results=kept_results(output),
        printed=printed,
        value=value,
    )


def _plain_id(call_id: str) -> str:
    return re.sub(r"[^\w.:-]", "-", call_id)[:120]


def _receipt(
    receipt: ReceiptKept, texts: Mapping[int, int], names: Mapping[str, str]
) -> KeptReceipt:
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
            KeptTable(
                name=t.name,
                sheet=t.sheet[:300],
                place=t.place[:300],
                rows=t.rows,
                columns=[name for name, _ in t.columns],
            )
            for t in tables
        ],
    )


def _packages(answers: Sequence[Message]) -> list[str]:
    """What had been installed for the chat at its end."""
    newest: Mapping[str, str] = {}
    for message in answers:
        for part in message.parts:
            newest = data_of(part).get("packages") or newest
    return [f"{name} {version}"[:200] for name, version in newest.items()]


def _words(message: Message) -> str:
    return "\n".join(texts_of(message.parts))
