"""A question as it is kept: its parts for the page, its block for the model, its pending answer.
Then its run is begun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaf.agent import titling
from leaf.agent.budget import FileInChat, at_once
from leaf.agent.context import user_message
from leaf.agent.instructions import NO_MORE, digest, instructions_text
from leaf.drive.line import folder_line
from leaf.drive.model import DriveFolder
from leaf.errors import LeafError
from leaf.readers.media.picture import tokens_of
from leaf.sessions.house import House
from leaf.shapes.parts import FileCame, FolderCame, Part
from leaf.store import messages, project_chats, projects, told_instructions
from leaf.store.model import Chat, ChatFile, Message, Scope
from leaf.tools.base import Picture

PICTURE_TOKENS = 20_000
"""Of the budget of file content that pictures shown with a question take at once; those beyond are
looked at when needed."""


@dataclass(frozen=True)
class ProjectWords:
    """What the model is told of a project's instructions with a question."""

    text: str
    """As the person wrote them."""
    words: str
    """As the model gets them; empty where it knows."""


@dataclass(frozen=True)
class Question:
    """What is asked, with what came along."""

    text: str
    files: Sequence[ChatFile]
    folders: Sequence[DriveFolder]
    parent_id: str | None
    """The message below which it stands; empty for the first, None for the end of the branch."""
    model: str = ""
    """Empty: the chat's, or the default."""
    seen: str = ""
    """The last message that was shown to who asks."""


def ask(house: House, scope: Scope, chat: Chat, question: Question) -> Message:
    """Keep a question and its pending answer in one commit, and start the run. Returns the
    answer."""
    text, files, folders = question.text, question.files, question.folders
    told = _told(house, scope, chat, question)
    connected = house.connections.of(scope)
    model = question.model or connected.directory.meant(chat.model)
    raw = user_message(
        text,
        files,
        [folder_line(f) for f in folders],
        _pictures(house, scope, files, sees=connected.settings.sees(model)),
        told.words,
    )
    exchange = messages.add_exchange(
        house.store.db,
        scope,
        chat.id,
        _parts(question, told),
        raw=[raw],
        parent_id=question.parent_id,
        seen=question.seen,
        model=model,
        title=titling.cut(text),
        told=digest(told.words) if told.words else "",
        files=[c.file.id for c in files],
    )
    if folders:
        house.drive.folders_sent(scope, chat.id, exchange.question.id, [f.ref for f in folders])
    house.runs.start(scope, exchange.answer)
    if house.python is not None and not connected.settings.keyless:
        # while the model thinks; an app of which nobody asks anything holds no such child
        house.python.warm()
    return exchange.answer


def _told(house: House, scope: Scope, chat: Chat, question: Question) -> ProjectWords:
    """The instructions of the chat's project, where they are others than the model was told last in
    this branch. The project is used by that, and its people see the chat from its first question
    on."""
    db = house.store.db
    project = projects.of_chat(db, scope, chat.id)
    if project is not None:
        projects.use(db, scope, project.id)
        if not chat.head_id:
            project_chats.show(db, scope, chat.id)
    text = project.instructions if project else ""
    before = ""
    if told_instructions.any_in(db, chat.id):
        end = question.parent_id
        head = messages.end_of(db, chat, question.seen) if end is None else end
        branch = messages.branch_ids(db, scope, chat.id, head)
        before = told_instructions.newest(db, chat.id, frozenset(branch))
    words = instructions_text(text) if text else NO_MORE if before else ""
    return ProjectWords(text, "" if words and digest(words) == before else words)


def _parts(question: Question, told: ProjectWords) -> list[Part]:
    parts: list[Part] = [{"type": "text", "text": question.text, "state": "done"}]
    if question.files:
        shown: list[FileCame] = [
            {"fileId": c.file.id, "handle": c.handle, "name": c.file.name, "kind": c.file.kind}
            for c in _outermost(question.files)
        ]
        parts.append({"type": "data-files", "data": shown})
    if question.folders:
        named: list[FolderCame] = [
            {"ref": f.ref, "name": f.name, "files": f.files} for f in question.folders
        ]
        parts.append({"type": "data-drive-folders", "data": named})
    if told.words:
        parts.append({"type": "data-instructions", "data": {"text": told.text}})
    return parts


def _pictures(
    house: House, scope: Scope, files: Sequence[ChatFile], *, sees: bool
) -> list[Picture]:
    """Pictures that came with a question and are shown at once, as far as they fit; the model can
    look at the others."""
    made_of: dict[str, Picture] = {}
    sizes: list[FileInChat] = []
    for item in files if sees else ():
        if item.file.kind != "picture" or item.file.outline.get("error"):
            continue
        try:
            picture = house.library.pictures.view(scope, item.file, "1").pictures[0]
        except LeafError:
            continue  # the model is told of the file, and hears why when it looks at it
        label = f"{item.handle} {item.file.name}"
        made_of[item.handle] = Picture(
            picture.sha256, picture.media_type, picture.width, picture.height, label
        )
        sizes.append(
            FileInChat(
                item.handle, item.file.name, tokens_of(picture.width, picture.height), newest=True
            )
        )
    decisions = at_once(sizes, min(PICTURE_TOKENS, house.settings.file_tokens))
    return [
        made_of[decision.handle] for decision in decisions if decision.choice == "shown at once"
    ]


def _outermost(files: Sequence[ChatFile]) -> list[ChatFile]:
    """Without the files that came out of one of the others."""
    there = {c.file.id for c in files}
    return [c for c in files if c.file.parent_id not in there]
