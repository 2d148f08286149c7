"""What each address of `ui/download_routes.py` gives: a file that is kept as it is, or one that is
made when somebody asks. Who asks has been let into the workspace; the rest the session decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from leaf.budgets.periods import Range
from leaf.errors import InvalidInputError, NotFoundError
from leaf.language.text import ENGLISH, mark, speaking
from leaf.readers.media_types import OTHER, PLAYED, media_type_of
from leaf.runs.edited import part_of
from leaf.sessions.boards import BoardForm
from leaf.sessions.chats import ChatForm
from leaf.sessions.results import ChartForm, ResultForm
from leaf.sessions.session import Session
from leaf.shapes.part_values import call_in
from leaf.shapes.parts import ToolPart
from leaf.store.usage import Whose
from leaf.tables.reshape import Choice, reshaped
from leaf.ui import clock, words
from leaf.ui.items import chart_of

WRITING = mark("This answer is still being written. Press again once it has ended.")
_OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "csv": "text/csv",
    "docx": f"{_OFFICE}wordprocessingml.document",
    "html": "text/html",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
    "md": "text/markdown",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "zip": "application/zip",
}
"""Ending -> media type, of what Leaf makes."""
ENDINGS = {"markdown": "md", "notebook": "ipynb", "folder": "zip", "csv-raw": "csv"}
"""Of forms that are not their own."""


@dataclass(frozen=True)
class FileRequest:
    """A request."""

    own: Session
    of: Mapping[str, str]
    """What its path names."""
    query: Mapping[str, str] = field(default_factory=dict)
    resumed: bool = False
    """Whether it goes on with what was written down when it began."""
    into: Path = Path()
    """Where a file is made."""
    language: str = ENGLISH
    """Of whoever asks."""


@dataclass(frozen=True)
class Taken:
    """A file on its way to a browser."""

    path: Path
    """Held for as long as this is."""
    name: str
    media_type: str = OTHER
    sha256: str = ""
    """Of content that never changes under its address."""
    played: bool = False
    """In the page, rather than saved."""


Take = Callable[[FileRequest], Taken]
"""Raises LeafError."""


def _file(asked: FileRequest) -> Taken:
    file = asked.own.files.get(asked.of["file_id"])
    path = asked.own.files.download(file.id, resumed=asked.resumed)
    return Taken(path, file.base, sha256=file.sha256)


def _generated(asked: FileRequest) -> Taken:
    file = asked.own.files.get(asked.of["file_id"])
    return Taken(_put(asked, asked.own.files.leaving(file.id)), file.base)


def _played(asked: FileRequest) -> Taken:
    """Sound and moving pictures alone: all else is taken along, and that is written down."""
    file = asked.own.files.get(asked.of["file_id"])
    media_type = media_type_of(file.kind, file.media_type)
    if media_type not in PLAYED:
        raise NotFoundError("This is nothing that can be played.")
    return Taken(asked.own.files.path(file.id), file.base, media_type, file.sha256, played=True)


def _written(asked: FileRequest) -> Taken:
    chat_id, sha256, name = asked.of["chat_id"], asked.of["sha256"], asked.query.get("name", "")
    path = asked.own.python.download(chat_id, sha256, name, resumed=asked.resumed)
    return Taken(path, name, sha256=sha256)


def _result(asked: FileRequest) -> Taken:
    form, result_id = _known(asked, ResultForm), asked.of["result_id"]
    path = asked.own.results.export(
        asked.of["chat_id"], result_id, cast("ResultForm", form), into=asked.into
    )
    return _made(path, f"{result_id}-raw" if form == "csv-raw" else result_id, form)


def _chat(asked: FileRequest) -> Taken:
    form, chat_id = _known(asked, ChatForm), asked.of["chat_id"]
    title = asked.own.chats.get(chat_id).title
    path = asked.own.chats.export(chat_id, cast("ChatForm", form), asked.into)
    return _made(path, words.file_name(title), form)


def _board(asked: FileRequest) -> Taken:
    form, board_id = _known(asked, BoardForm), asked.of["board_id"]
    name = asked.own.boards.get(board_id).name
    data = asked.own.boards.export(board_id, cast("BoardForm", form))
    return _made(_put(asked, data), words.file_name(name), form)


def _document(asked: FileRequest) -> Taken:
    export = asked.own.documents.export(asked.of["document_id"], asked.of["form"])
    return Taken(_put(asked, export.data), export.name, export.media_type)


def _answer(asked: FileRequest) -> Taken:
    text = asked.own.messages.markdown(asked.of["message_id"])
    return _made(_put(asked, text.encode()), "answer", "markdown")


def _chart(asked: FileRequest) -> Taken:
    message = asked.own.messages.get(asked.of["message_id"])
    part = call_in(message.parts, asked.of["call_id"])
    if part is None and message.status in ("pending", "streaming"):
        raise InvalidInputError(WRITING)
    return _drawn(asked, message.chat_id, part)


def _edited_chart(asked: FileRequest) -> Taken:
    edited = asked.own.edits.get(asked.of["edit_id"])
    return _drawn(asked, edited.chat_id, part_of(edited))


def _drawn(asked: FileRequest, chat_id: str, part: ToolPart | None) -> Taken:
    """The chart of a step, as it is or as the query says."""
    form, chart = _known(asked, ChartForm), chart_of(part) if part else None
    if chart is None:
        raise NotFoundError("This step drew no chart.")
    wanted = Choice(**{name: asked.query.get(name, "") for name in ("mark", "x", "y", "color")})
    spec, columns = chart["spec"], chart["columns"]
    if wanted != Choice():
        spec = reshaped(spec, columns, chart.get("types") or (), wanted)
    with speaking(asked.language):
        data = asked.own.results.draw(
            chat_id, spec, columns, chart["rows"], cast("ChartForm", form)
        )
    title = spec.get("title")
    title_text = title.get("text", "") if isinstance(title, Mapping) else title
    return _made(_put(asked, data), words.file_name(str(title_text or "chart")), form)


def _usage(asked: FileRequest) -> Taken:
    chosen, whose = _known(asked, Range, "range"), _known(asked, Whose, "whose")
    text = asked.own.usage.csv(cast("Range", chosen), cast("Whose", whose))
    today = clock.today()
    return _made(_put(asked, text.encode()), f"leaf-usage-{today}", "csv")


def _audit(asked: FileRequest) -> Taken:
    kind, person = asked.query.get("kind", ""), asked.query.get("person", "")
    text = asked.own.team.audit_csv(kind=kind, person=person)
    return _made(_put(asked, text.encode()), "audit", "csv")


def _audit_of_all(asked: FileRequest) -> Taken:
    kind, email = asked.query.get("kind", ""), asked.query.get("email", "")
    text = asked.own.operations.audit_csv(kind=kind, email=email)
    return _made(_put(asked, text.encode()), "audit", "csv")


KEPT: Mapping[str, Take] = {
    "/files/{file_id}": _file,
    "/played/{file_id}": _played,
    "/written/{chat_id}/{sha256}": _written,
}
"""Path below the workspace -> what is kept as it is, and given in ranges."""
MADE: Mapping[str, Take] = {
    "/results/{chat_id}/{result_id}/{form}": _result,
    "/chats/{chat_id}/{form}": _chat,
    "/boards/{board_id}/{form}": _board,
    "/documents/{document_id}/{form}": _document,
    "/generated/{file_id}": _generated,
    "/answers/{message_id}": _answer,
    "/charts/{message_id}/{call_id}/{form}": _chart,
    "/edited/{edit_id}/{form}": _edited_chart,
    "/usage/{range}/{whose}": _usage,
    "/audit": _audit,
    "/audit-of-all": _audit_of_all,
}
"""The same of what is made when it is asked for."""


def _known(asked: FileRequest, forms: object, name: str = "form") -> str:
    value = asked.of[name]
    if value not in get_args(forms):
        raise NotFoundError(f"There is no {name} '{value[:40]}'.")
    return value


def _put(asked: FileRequest, data: bytes) -> Path:
    path = asked.into / "made"
    path.write_bytes(data)
    return path


def _made(path: Path, stem: str, form: str) -> Taken:
    ending = ENDINGS.get(form, form)
    return Taken(path, f"{stem}.{ending}", TYPES[ending])
