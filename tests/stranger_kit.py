"""A world for those who walk where they are not let in: an owner with one of everything, a member
of her workspace outside her chats, somebody with a workspace of their own, and nobody.

What is the owner's holds a word, which is looked for in all that comes back; and all that she has
is compared, row by row and file by file.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from leaf.agent.connections import ModelDraft
from leaf.app import Leaf
from leaf.documents.documents import DocumentDraft
from leaf.errors import LeafError
from leaf.runs.run import Run
from leaf.sessions.session import Session
from leaf.store import consents
from leaf.store.database import Database
from leaf.store.documents import VersionChange
from leaf.store.model import File, Message, Scope, Visit
from leaf.store.prompts import PromptDraft
from leaf.tables.table import Table
from tests import pictures_kit
from tests.drive_kit import connect
from tests.drive_server import ANA, BEN, DriveServer
from tests.leaf_kit import CLAIMS, add, finished, opened
from tests.live_kit import wait_until
from tests.messages_server import Json, MessagesServer, Turn

PRIVATE, SHARED = "Aurelia", "Belisar"
"""Stand in everything of the owner's, and nowhere else: in what is hers or her chats' alone, and in
what everybody in her workspace may see."""
SECRET_NUMBER = 73_519_264
"""In rows of her results."""
CODE = """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.title("{0}")
plt.show()
open("{0}.txt", "w").write("{0} was written")
print("{0} printed")
"""
Given = dict[str, Any]
"""Name of a parameter, or of what stands for one -> a value of somebody's own."""


def claims(who: str, mark: str) -> dict[str, Any]:
    """What a login provider says of somebody; their name and address hold their mark."""
    said = {"sub": who, "name": f"{who} {mark}", "email": f"{who}.{mark}@example.org".lower()}
    return {**CLAIMS, **said, "nonce": f"nonce-of-{who}"}


def brain(body: Json) -> Turn:
    """Answers `What of PRIVATE in SHARED?` by rows, a figure, a file and a document."""
    last = body["messages"][-1]["content"]
    said = str(last)
    if "slowly" in said:
        return Turn.say("It takes its time. " * 400, pieces=4_000, delay=0.3)
    asked = re.search(r"What( and how)? of (\w+) in (\w+)\?", said)
    if asked is None:
        return Turn.say("That is all.")
    cell, private, shared = asked.groups()
    sql = (
        f"SELECT '{private} cell' AS word, {SECRET_NUMBER if cell else 1} AS figure, count(*) AS n "
        f"FROM {shared.lower()}_harvest"
    )
    return Turn.call(
        ("query_tables", {"sql": sql}),
        *([("run_python", {"code": CODE.format(private)})] if cell else []),
        ("create_document", {"title": f"{private} report", "content": f"# {private}\n\nAll."}),
        text=f"{private}, first.",
    )


@dataclass
class Person:
    """Somebody with one of everything."""

    visit: Visit
    session: Session
    given: Given
    private_ids: frozenset[str] = frozenset()
    """Ids of what is theirs or their chats' alone."""
    shared_ids: frozenset[str] = frozenset()
    """Ids of what their workspace may see."""


@dataclass
class World:
    """Everybody, and the application that they are in."""

    leaf: Leaf
    home: Path
    google: DriveServer
    owner: Person
    other: Person
    colleague: Person
    harmless: Mapping[str, Any] = field(default_factory=dict)
    """What callers choose themselves."""
    kept: Kept = field(init=False)
    """All that the owner has."""

    def __post_init__(self) -> None:
        self.kept = Kept(self.leaf, self.home, self.owner, self.colleague)

    def sessions(self) -> Mapping[str, Session]:
        """Who walks -> what they hold."""
        ann, eve = self.owner.visit.scope, self.other.visit.scope
        nobody = "01900000-0000-7000-8000-000000000000"
        return {
            "other": self.other.session,
            "colleague": self.colleague.session,
            "forger": self.leaf.session(Scope(ann.workspace_id, eve.user_id)),
            "nobody": self.leaf.session(Scope(nobody, nobody)),
        }

    def own(self, who: str) -> Given:
        """What a stranger has of each kind."""
        return (
            {"other": self.other, "colleague": self.colleague}[who].given if who in OWNERS else {}
        )

    def foreign(self, who: str) -> Given:
        """What a stranger holds of the owner's: of what a colleague may see, the colleague is given
        what is the chat's alone."""
        theirs = self.owner.given
        hers = {"colleague_id": theirs["user_id"], "colleague_email": theirs["email"]}
        private = theirs["of the chat"] if who == "colleague" else {}
        return {**theirs, **hers, **private}

    def leaks(self, who: str, found: str, given: object) -> list[str]:
        """Words and ids of the owner's in what came back, but for those that were given."""
        words, ids = [PRIVATE, str(SECRET_NUMBER)], self.owner.private_ids
        if who != "colleague":
            words, ids = [*words, SHARED], ids | self.owner.shared_ids
        asked, low = told(given, files=False).lower(), found.lower()
        return [w for w in (*words, *sorted(ids)) if w.lower() in low and w.lower() not in asked]


OWNERS = ("other", "colleague")


def told(value: object, depth: int = 12, *, files: bool = True) -> str:
    """All that a value tells, as text; with `files` what is in the files that it names, too."""
    if depth == 0 or value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return _bytes_told(value)
    if isinstance(value, Path):
        return f"{value} {_bytes_told(value.read_bytes())}" if files and value.is_file() else ""
    if isinstance(value, Run):
        return told(list(value.read(0).chunks), depth - 1)
    if isinstance(value, io.IOBase):
        return ""
    if isinstance(value, Mapping):
        return " ".join(
            told(part, depth - 1, files=files) for pair in value.items() for part in pair
        )
    if isinstance(value, list | tuple | set | frozenset):
        return " ".join(told(part, depth - 1, files=files) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return told([getattr(value, one.name) for one in fields(value)], depth - 1, files=files)
    return f"{value!r} {value}"


def _bytes_told(data: bytes) -> str:
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return " ".join(
                f"{name} {_bytes_told(archive.read(name))}" for name in archive.namelist()
            )
    return data.decode("utf-8", "replace")


class Kept:
    """What somebody has: the rows that name anything of theirs, and all stored bytes."""

    def __init__(self, leaf: Leaf, home: Path, owner: Person, colleague: Person) -> None:
        self._db = leaf._house.store.db
        self._home = home
        self._owner = owner
        self._ids = owner.private_ids | owner.shared_ids
        self._colleagues = colleague.private_ids | {colleague.visit.scope.user_id}
        self.remember()

    def remember(self) -> None:
        """From now on it is compared with what is there now."""
        self._stamp = self.stamp()
        self._rows = rows_of(self._db)
        self._hers = {row for row in self._rows if self._is_hers(row[1])}
        self._blobs = self.blobs()

    def stamp(self) -> object:
        """Another one after whatever was written to the database: its log grows with each commit."""
        if self._db.engine == "postgres":
            return self._db.read("SELECT CAST(pg_current_wal_lsn() AS TEXT) AS at")
        logs = [self._home / name for name in ("leaf.duckdb", "leaf.duckdb.wal")]
        return [(one.stat().st_size, one.stat().st_mtime_ns) for one in logs if one.exists()]

    def blobs(self) -> dict[str, tuple[int, int]]:
        """Stored bytes of the owner's workspace: where -> size and when they were written."""
        folder, workspace = self._home / "blobs", self._owner.visit.scope.workspace_id
        return {
            str(path): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in folder.rglob("*")
            if workspace in str(path) and path.is_file()
        }

    def changes(self, who: str, *, added: bool = True) -> list[str]:
        """What of it is not as it was, or with `added` was added to it, by this stranger. What
        strangers write of their own is none of it; that may name an id that they know."""
        before, now = self._blobs, self.blobs()
        found = [f"bytes {path}" for path, was in before.items() if now.get(path) != was]
        stamp = self.stamp()
        if stamp != self._stamp:
            found += self.compare(self._db, who, added=added)
            self._stamp = stamp
        return found

    def compare(self, db: Database, who: str, *, added: bool = True) -> list[str]:
        """The same for rows alone, in a database that may have been opened anew."""
        rows = rows_of(db)
        own = ("audit", *(("blobs", "blob_pieces") if who == "colleague" else ()))
        new = [r for r in rows - self._rows if added and r[0] not in own and self._is_hers(r[1])]
        gone, self._rows, self._hers = self._hers - rows, rows, self._hers & rows
        return [*(f"gone {row}" for row in gone), *(f"new {row}" for row in new)]

    def _is_hers(self, row: str) -> bool:
        if any(one in row for one in self._owner.private_ids):
            return True
        return any(i in row for i in self._ids) and not any(i in row for i in self._colleagues)


def rows_of(db: Database) -> set[tuple[str, str]]:
    """(Table, row) of a whole database."""
    tables = db.read(
        "SELECT table_name AS name FROM information_schema.tables "
        "WHERE table_schema IN ('main', 'public') AND table_type = 'BASE TABLE'"
    )
    names = sorted(str(row["name"]) for row in tables)
    return {
        (name, repr(sorted(row.items())))
        for name in names
        for row in db.read(f"SELECT * FROM {name}")
    }


@dataclass
class Planted:
    """A folder in which everybody has something of everything, the same as a backup, and the
    servers beside it."""

    home: Path
    """Nothing opens it: who does copies it first."""
    backup: Path
    google: DriveServer
    settings: Mapping[str, Any]
    people: Mapping[str, Given]
    """Who -> the ids that are theirs."""


WHO = {"owner": ("Ann", SHARED), "other": ("Eve", "Evening"), "colleague": ("Mel", "Melody")}
PRIVATES = {"owner": PRIVATE, "other": "Evergreen", "colleague": "Melodrama"}
ACCOUNTS = {"owner": ANA, "other": BEN}


@contextmanager
def planted(folder: Path) -> Iterator[Planted]:
    """Made by what people do, once; `opened_world` opens it as often as wanted."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
        google = stack.enter_context(DriveServer())
        server = stack.enter_context(MessagesServer(brain))
        settings = {
            "model_url": server.url,
            "api_key": "k",
            "own_models": "on",
            "public_links": True,
        }
        settings["google"] = google.settings()
        with opened(folder / "home", **settings) as leaf:
            ann = leaf.sign_in(claims(*WHO["owner"])).scope
            leaf.session(ann).team.invite(claims(*WHO["colleague"])["email"])
            people = {who: fill(leaf, leaf.sign_in(claims(*WHO[who])), google, who) for who in WHO}
            assert people["colleague"]["workspace_id"] == ann.workspace_id
            leaf.backup(folder / "backup", secrets=True)
        yield Planted(folder / "home", folder / "backup", google, settings, people)


def fill(leaf: Leaf, visit: Visit, google: DriveServer, who: str) -> Given:
    """One of everything for the owner, and what takes no child of Python for the others."""
    own, scope = leaf.session(visit.scope), visit.scope
    private, shared = PRIVATES[who], WHO[who][1]
    file = add(own, f"{shared} harvest.csv", f"orchard,n\n{shared} N,3\n{shared} S,5\n".encode())
    own.files.set_words(file.id, f"{private} said so")
    chat = own.chats.create()
    own.chats.rename(chat.id, f"{private} talks")
    words = "What and how" if who == "owner" else "What"
    sent = own.messages.send(chat.id, f"{words} of {private} in {shared}?", [file.id])
    answer = finished(own, sent.id)
    assert answer.status == "completed", answer.error
    calls = {str(part["type"]): part for part in answer.parts if "toolCallId" in part}
    (report,) = own.documents.list()
    consents.ask(leaf._house.store.db, scope, chat.id, f"{answer.id}/asks", f"May {private}?")
    call_id = calls["tool-query_tables"]["toolCallId"]
    edited = own.edits.run(
        answer.id, call_id, f"SELECT '{private} edited' AS word FROM {shared.lower()}_harvest"
    )
    assert own.edits.wait(edited.id, 60).state == "done"
    result_id = calls["tool-query_tables"]["output"]["data"]["table"]["result_id"]
    pinned, _, _ = own.boards.pin(chat.id, result_id)
    own.links.share_board(pinned.board_id)
    given: Given = {
        "chat_id": chat.id,
        "message_id": answer.id,
        "question_id": answer.parent_id,
        "call_id": call_id,
        "edit_id": edited.id,
        "board_id": pinned.board_id,
        "pin_id": pinned.id,
        "link_id": own.links.share_chat(chat.id).link.id,
        "prompt_id": own.prompts.save(PromptDraft(f"{private} asks", f"What of {private}?")).id,
        "project_id": _project(own, private, file.id),
        "key": f"{answer.id}/asks",
        "file_id": file.id,
        "document_id": report.id,
        "result_id": result_id,
        "done_job_id": _job(own, chat.id, f"{shared} list.txt", shared),
        "user_id": scope.user_id,
        "workspace_id": scope.workspace_id,
        "email": visit.user.email,
    }
    if who in ACCOUNTS:
        given |= _drive(leaf, visit, google, who, chat.id)
        own.team.invite(f"somebody.{shared}@example.org")
        given["invitation_id"] = own.team.invitations()[-1].id
    if who == "owner":
        given |= _more(leaf, visit, chat.id, answer, calls["tool-run_python"])
    own.models.save(_connection(private))
    return given


def _project(own: Session, private: str, file_id: str) -> str:
    """With a chat, a file and instructions."""
    made = own.projects.create(f"{private} plans")
    own.projects.instruct(made.id, f"Say {private} in every answer.")
    own.projects.add_files(made.id, [file_id])
    own.chats.rename(own.projects.new_chat(made.id).id, f"{private} plans it")
    return made.id


def _connection(private: str) -> ModelDraft:
    """A model of one's own; nothing answers there."""
    return ModelDraft("server", f"https://{private.lower()}.example.org", private, private)


def _more(
    leaf: Leaf, visit: Visit, chat_id: str, answer: Message, cell: Mapping[str, Any]
) -> Given:
    """Of the owner: a picture that was looked at, what Python left behind, a sheet of her chat."""
    own = leaf.session(visit.scope)
    picture = add(own, f"{SHARED} photo.jpg", pictures_kit.photo())
    own.files.thumbnail(picture.id)
    (seen,) = leaf._house.store.db.read(
        "SELECT sha256 FROM derived_pictures WHERE source_sha256 = :source",
        {"source": picture.sha256},
    )
    rows = f"word,n\n{PRIVATE},1\n{PRIVATE} two,2\n"
    sheet = leaf._house.documents.create(
        visit.scope,
        chat_id,
        DocumentDraft(f"{PRIVATE} sheet", "sheet", rows),
        VersionChange("created", answer.id),
    )
    data = cell["output"]["data"]
    return {
        "picture_id": picture.id,
        "seen": seen["sha256"],
        "figure": data["figures"][0]["sha256"],
        "written": data["written"][0]["sha256"],
        "written_name": data["written"][0]["name"],
        "cell_id": cell["toolCallId"],
        "sheet_id": sheet.id,
        "sheet_file_id": sheet.file_id,
    }


def _job(own: Session, chat_id: str, name: str, words: str) -> str:
    job = own.jobs.begin(1, target=chat_id, origin="test")
    own.jobs.take(job.id, [(name, io.BytesIO(words.encode()))])
    own.jobs.all_arrived(job.id)
    assert own.jobs.wait(job.id, 60).state == "done"
    return job.id


def _drive(leaf: Leaf, visit: Visit, google: DriveServer, who: str, chat_id: str) -> Given:
    drive, own = leaf._house.drive, leaf.session(visit.scope)
    private, account = PRIVATES[who], ACCOUNTS[who]
    folder = google.folder(f"{private} folder", google.root(account))
    item = google.add(f"{WHO[who][1]} plan.txt", "text/plain", folder, b"Nothing is planned.")
    google.add(f"{private} more.txt", "text/plain", folder, private.encode())
    connect(drive.begin, drive.finish, google, visit.scope, account)
    own.drive.add([item], chat_id=chat_id)
    own.drive.attach_folder(chat_id, folder)
    return {"ref": item, "folder_ref": folder}


@contextmanager
def opened_world(made: Planted, home: Path, url: str = "", *, busy: bool = True) -> Iterator[World]:
    """The world in an application of its own. With `busy` files are awaited, an answer of the owner
    is being written, and a question waits behind it."""
    with opened(home, database_url=url, **made.settings) as leaf:
        people = {who: _person(leaf, made, who, busy=busy) for who in WHO}
        owner, colleague = people["owner"].given, people["colleague"].given
        owner["colleague_id"], owner["colleague_email"] = colleague["user_id"], colleague["email"]
        if busy:
            models = people["owner"].session.models
            models.remove()  # an answer that finds no server ends, and in the middle of a walk
            keep_busy(people["owner"])
            models.save(_connection(PRIVATE))
        yield World(leaf, home, made.google, **people)


def _person(leaf: Leaf, made: Planted, who: str, *, busy: bool) -> Person:
    visit, given = leaf.sign_in(claims(*WHO[who])), dict(made.people[who])
    own = leaf.session(visit.scope)
    file, message = own.files.get(given["file_id"]), own.messages.get(given["message_id"])
    given |= {"visit": visit, "file": file, "message": message}
    given["document"] = own.documents.get(given["document_id"])
    given["job_id"] = given["done_job_id"]
    given["running_id"] = given["waiting_id"] = given["message_id"]
    given["announced_id"] = given["done_job_id"]
    if busy:
        announced = own.jobs.announce([(f"{PRIVATES[who]} list.csv", 4)], target=given["chat_id"])
        given["announced_id"] = announced.id
        given["job_id"] = own.jobs.begin(2, context=f"{PRIVATES[who]} of a job").id
    if who in ACCOUNTS:
        # Whoever walked before, in another world, may have ended the grant at Google.
        drive = leaf._house.drive
        connect(drive.begin, drive.finish, made.google, visit.scope, ACCOUNTS[who])
        begun = own.drive.begin("http://localhost:8501/settings")
        given["came"] = made.google.consent(begun, ACCOUNTS[who])
        given["cursor"] = own.drive.list(given["folder_ref"], page_size=1).cursor
    if who == "owner":
        waits = next(one for one in own.attached.list(given["chat_id"]) if not one.message_id)
        given["waiting_file"] = waits.file.id
        sheet = own.files.get(given["sheet_file_id"])
        given["table"] = _table(leaf, visit, file)
        given["of the chat"] = {
            "file_id": sheet.id,
            "file": sheet,
            "table": _table(leaf, visit, sheet),
            "picture_id": sheet.id,
            "seen": given["figure"],
        }
    private, shared = _ids(leaf, own, given)
    return Person(visit, own, given, private, shared)


def _table(leaf: Leaf, visit: Visit, file: File) -> Table:
    (found,) = leaf._house.tables.of(visit.scope, leaf._house.library.as_chat_files([file])).tables
    return found


def _ids(leaf: Leaf, own: Session, given: Given) -> tuple[frozenset[str], frozenset[str]]:
    """Of what is theirs or their chats' alone, and of what their workspace may see."""
    said = leaf._house.store.db.read(
        "SELECT id FROM messages WHERE chat_id = :chat", {"chat": given["chat_id"]}
    )
    kinds = ("chat_id", "document_id", "job_id", "done_job_id", "figure", "written", "call_id")
    kinds += (
        "edit_id",
        "board_id",
        "pin_id",
        "link_id",
        "prompt_id",
        "project_id",
        "cell_id",
        "sheet_id",
        "sheet_file_id",
        "ref",
        "folder_ref",
    )
    private = {given[kind] for kind in kinds if kind in given}
    private |= {str(row["id"]) for row in said} | {own.documents.get(given["document_id"]).file_id}
    if "came" in given:
        private.add(given["came"]["state"])
    shared = {
        given[k] for k in ("workspace_id", "user_id", "file_id", "seen", "email") if k in given
    }
    return frozenset(private), frozenset(shared)


def keep_busy(owner: Person) -> None:
    own = owner.session
    chat = own.chats.create()
    running = own.messages.send(chat.id, f"Tell {PRIVATE} slowly.")
    waiting = own.messages.send(chat.id, f"And {PRIVATE} then?")
    run = own.messages.watch(running.id)
    assert run is not None
    # What it is asked of is settled by then.
    wait_until(lambda: any(c["type"] == "text-delta" for c in run.read().chunks))
    wait_until(lambda: own.messages.place(waiting.id))
    owner.given |= {"running_id": running.id, "waiting_id": waiting.id, "busy_chat": chat.id}
    owner.private_ids |= {chat.id, running.id, waiting.id}


def tried(call: Callable[[], object]) -> tuple[object, str]:
    """What a call gave, or its LeafError; and all that this tells."""
    try:
        value = call()
    except LeafError as e:
        return e, f"{e} {e.message} {e.hint}"
    return value, told(value)
