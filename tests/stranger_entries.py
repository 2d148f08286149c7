"""What the walk of strangers may meet: for each method, route and command what it gives to whoever
is not let in, as narrowly as can be said, and how its owner calls it.

Add a line for a new one, and a kind for a new parameter.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leaf.agent.connections import ModelDraft
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.settings import Allowance
from leaf.store.prompts import PromptDraft

IDS = {
    "chat_id": "chat",
    "chat_ids": "chat",
    "target": "chat",
    "message_id": "message",
    "head": "message",
    "message": "message",
    "call_id": "step of an answer",
    "edit_id": "edited step",
    "board_id": "board",
    "link_id": "public link",
    "pin_id": "pin",
    "key": "question of a step",
    "file_id": "file",
    "file_ids": "file",
    "file": "file",
    "files": "file",
    "table": "table of a file",
    "sha256": "stored bytes",
    "document_id": "document",
    "prompt_id": "saved prompt",
    "project_id": "project",
    "document": "document",
    "result_id": "result",
    "job_id": "job",
    "user_id": "person",
    "person": "person",
    "subject": "person",
    "email": "person",
    "invitation_id": "invitation",
    "workspace_id": "workspace",
    "visit": "sign-in",
    "ref": "item of Drive",
    "refs": "item of Drive",
    "folder": "item of Drive",
    "folders": "item of Drive",
    "cursor": "page of a list",
    "query": "words, or what came back from Google",
}
"""Parameters that name something of somebody's, and what."""
SEVERAL = {"file_ids": "file_id", "chat_ids": "chat_id", "files": "file", "refs": "ref"}
ALIASES = {"target": "chat_id", "head": "message_id", "person": "user_id", "subject": "user_id"}
NOBODYS = """
language model draft text title limit last first form name stream context shared on_progress on_member
on_answer path paths words look row wanted spec columns rows number position timeout allow
feedback handle slug ending older newer content base deleted sort range whose allowance total
origin sources problem redirect_uri page_size kinds modified_after stop max_age given kind
offset role code steps days shown into resumed
"""
PLAIN = frozenset(NOBODYS.split())
"""Parameters that name nobody's."""


@dataclass(frozen=True)
class Entry:
    """A method, and what becomes of a stranger's call."""

    meets: str
    """`gone`: NotFoundError. `empty`: nothing. `own`: what is the caller's own, or any LeafError
    that says nothing of others."""
    colleague: str = ""
    """The same for a member outside the chat, where it differs; `refused`: for owners alone."""
    mixed: str = "gone"
    """The same where only one of several ids is the owner's: `gone`, or `own` where the others alone
    say whose it is; empty where ids are names within the others, which everybody has."""
    by: tuple[str, ...] = ()
    """Parameters that may be left out, and then the call names nothing of anybody's."""
    uses: Mapping[str, Any] = field(default_factory=dict)
    """Parameter -> under which name the world has its value, or `Literally` a value."""
    owner: str = "value"
    """What the owner's call gives: a `value`, `change` for one that returns nothing and writes,
    `any` where that may be nothing too, `fails` where this world cannot do it, with another error
    than NotFoundError."""
    turn: int = 0
    """The owner's calls of a later turn come after those of earlier ones: they take something
    away."""


@dataclass(frozen=True)
class Literally:
    """A value that is given as it is."""

    value: Any


EXPECTED: Mapping[str, tuple[type[LeafError], ...]] = {
    "gone": (NotFoundError,),
    "refused": (InvalidInputError,),
    "closed": (NotFoundError, InvalidInputError),
    "own": (LeafError,),
    "empty": (),
}


def gone(**more: Any) -> Entry:
    return Entry("gone", **more)


def own(**more: Any) -> Entry:
    return Entry("own", mixed="own", **more)


def empty(**more: Any) -> Entry:
    return Entry("empty", mixed="own", **more)


def drive(**more: Any) -> Entry:
    """Who is not connected hears that; who is asks Google in their own name."""
    return Entry("own", mixed="own", **more)


MEMBERS_FILE = {"uses": {"file_id": "picture_id"}}
# A job keeps the ids that it was given, whosever they are, and asks Drive as who began it.
NOTHING_OF_DRIVE = {"refs": Literally(()), "folders": Literally(())}
METHODS: Mapping[str, Entry] = {
    "chats.list": own(),
    "chats.find": gone(uses={"query": Literally("harvest")}, owner="any", mixed="own"),
    "chats.passages": Entry(
        "empty", owner="any", uses={"query": Literally("harvest")}, mixed="own"
    ),
    "chats.drafts": Entry("empty", owner="any", mixed="own"),
    "chats.create": own(),
    "chats.get": gone(),
    "chats.rename": gone(owner="change"),
    "chats.delete": gone(owner="change", turn=5),
    "chats.deleted": own(owner="any"),
    "chats.purge": gone(turn=8),
    "chats.restore": gone(owner="change", turn=6),
    "chats.set_model": gone(owner="change", uses={"model": Literally("m")}),
    "chats.thread": gone(),
    "chats.running": own(),
    "chats.participants": gone(),
    "chats.authors": gone(),
    "chats.add_participant": gone(owner="change", mixed="own", uses={"email": "colleague_email"}),
    "chats.remove_participant": gone(
        owner="change", mixed="own", uses={"user_id": "colleague_id"}, turn=1
    ),
    "chats.markdown": gone(),
    "chats.export": gone(uses={"form": Literally("folder")}),
    "messages.get": gone(),
    "messages.send": gone(mixed="own", turn=2),
    "messages.follow_ups": gone(owner="any"),
    "messages.edit": gone(uses={"message_id": "question_id"}, turn=3),
    "messages.retry": gone(turn=4),
    "messages.goes_on": empty(owner="any"),
    "messages.decide": gone(owner="any"),
    "messages.stop": gone(owner="any", uses={"message_id": "running_id"}, turn=2),
    "messages.withdraw": gone(uses={"message_id": "waiting_id"}, turn=1),
    "messages.watch": gone(uses={"message_id": "running_id"}),
    "messages.wait": gone(uses={"message_id": "running_id"}),
    "messages.place": gone(uses={"message_id": "waiting_id"}),
    "messages.show_branch": gone(owner="any"),
    "messages.set_feedback": gone(owner="change"),
    "messages.markdown": gone(),
    "files.add": own(),
    "files.add_path": own(),
    "files.add_sample": own(),
    "files.list": own(),
    "files.get": gone(),
    "files.inside": empty(owner="any"),
    "files.path": gone(),
    "files.download": gone(),
    "files.leaving": gone(uses={"file_id": "sheet_file_id"}),
    "files.rename": gone(turn=3),
    "files.words": Entry("own", mixed="own"),
    "files.set_words": gone(),
    "files.delete": gone(owner="change", turn=5),
    "files.restore": gone(owner="change", turn=6),
    "files.deleted": own(owner="any"),
    "files.purge": gone(turn=9),
    "files.chats_using": gone(),
    "files.suggestions": gone(),
    "files.overview": gone(),
    "files.preview": gone(),
    "files.row_position": gone(owner="any"),
    "files.thumbnail": gone(**MEMBERS_FILE),
    "files.seen_picture": gone(uses={"sha256": "seen"}),
    "attached.list": gone(),
    "attached.add": gone(),
    "attached.add_as": gone(uses={"handle": Literally("f97"), "slug": Literally("taken")}, turn=1),
    "attached.remove": gone(owner="change", uses={"file_id": "waiting_file"}, turn=1),
    "attached.estimate": gone(),
    "transcripts.engine": own(owner="any"),
    "transcripts.of": gone(),
    "transcripts.text": gone(owner="fails"),
    "transcripts.begin": gone(owner="any"),
    "documents.list": own(),
    "documents.get": gone(),
    "documents.content": gone(),
    "documents.versions": gone(),
    "documents.compare": gone(),
    "documents.receipts": gone(owner="any"),
    "documents.formats": own(),  # says of the document that it was given what its kind can be
    "documents.export": gone(),
    "documents.save": gone(turn=1),
    "documents.restore_version": gone(turn=2),
    "documents.delete": gone(owner="change", turn=3),
    "documents.restore": gone(owner="change", turn=4),
    "results.page": gone(mixed=""),
    "results.gone": gone(mixed="", owner="any"),
    "results.recompute": gone(mixed=""),
    "results.recompute_newest": gone(mixed=""),
    "results.recompute_cell": gone(uses={"call_id": "cell_id"}),
    "results.export": gone(mixed="", uses={"form": Literally("csv")}),
    "results.draw": gone(owner="fails", uses={"form": Literally("png")}),
    "results.keep_table": gone(owner="fails"),
    "results.number_next": gone(owner="change", uses={"number": Literally(50)}),
    "edits.run": gone(uses={"code": Literally("SELECT 1 AS one")}),
    "edits.get": gone(),
    "edits.of": empty(),
    "edits.wait": gone(uses={"timeout": Literally(0.0)}),
    "edits.stop": gone(owner="any"),
    "edits.discard": gone(owner="fails"),
    "boards.list": own(),
    "boards.get": gone(),
    "boards.pins": gone(),
    "boards.create": own(),
    "boards.rename": gone(owner="change"),
    "boards.share": gone(owner="change", uses={"shared": Literally(False)}),
    "boards.pin": gone(mixed="", uses={"spec": Literally(None)}),
    "boards.rename_pin": gone(owner="change"),
    "boards.move": gone(owner="change", uses={"steps": Literally(1)}),
    "boards.recompute": gone(),
    "boards.export": gone(uses={"form": Literally("html")}),
    "boards.remove": gone(owner="change", turn=1),
    "boards.restore": gone(owner="change", turn=2),
    "boards.delete": gone(owner="change", turn=3),
    "links.allowed": own(),
    "links.of_chat": gone(),
    "links.of_board": gone(),
    "links.all": own(colleague="refused"),
    "links.share_chat": gone(),
    "links.share_board": gone(),
    "links.update": gone(),
    "links.revoke": gone(turn=1),
    "links.is_open": gone(owner="any"),
    "links.set_open": gone(owner="change", uses={"shared": Literally(True)}),
    "links.host_of": empty(owner="any"),
    "links.join": gone(owner="any", turn=1),
    "drive.connection": own(),
    "drive.begin": own(),
    "drive.finish": drive(uses={"query": "came"}),
    "drive.disconnect": own(turn=7),
    "drive.list": drive(uses={"folder": "folder_ref"}),
    "drive.search": drive(uses={"query": Literally("plan"), "folder": "folder_ref"}),
    "drive.item": drive(),
    "drive.preview": drive(),
    "drive.add": drive(),
    "drive.attach_folder": drive(uses={"ref": "folder_ref"}),
    "drive.detach_folder": gone(owner="change", uses={"ref": "folder_ref"}, turn=1),
    "drive.folders": gone(),
    "drive.changes": gone(owner="any"),
    "models.connection": own(),
    "models.keyless": own(owner="any"),
    "models.profile": own(),
    "models.list": own(),
    "models.default": own(),
    "models.meant": own(),
    "models.set_default": own(owner="fails"),
    "models.test": own(owner="fails"),
    "models.try_used": own(owner="any"),
    "models.save": own(owner="fails"),
    "models.remove": own(owner="change", turn=-1),
    "python.figure": gone(uses={"sha256": "figure"}),
    "python.written": gone(uses={"sha256": "written", "name": "written_name"}),
    "python.download": gone(uses={"sha256": "written", "name": "written_name"}),
    "python.keep": gone(uses={"sha256": "written", "name": "written_name"}),
    "jobs.begin": gone(by=("target",)),
    "jobs.announce": gone(
        by=("target",), uses={"files": Literally((("harvest.csv", 3),))}, mixed="", turn=1
    ),
    "jobs.expect": gone(uses={"job_id": "announced_id"}),
    "jobs.receive": gone(
        owner="change",
        uses={"job_id": "announced_id", "stream": Literally(io.BytesIO(b"a\n1\n"))},
        turn=1,
    ),
    "jobs.again": gone(owner="any", uses={"job_id": "announced_id"}, turn=2),
    "jobs.fail": gone(
        owner="any", uses={"job_id": "announced_id", "problem": Literally("It broke.")}, turn=3
    ),
    "jobs.fail_rest": gone(
        owner="any", uses={"job_id": "announced_id", "problem": Literally("It broke.")}, turn=3
    ),
    "jobs.cancel": gone(owner="any", uses={"job_id": "announced_id"}, turn=4),
    "jobs.cancel_all": gone(uses={"job_id": "announced_id"}, turn=5),
    "jobs.missing": gone(),
    "jobs.do_without": gone(owner="any", uses={"job_id": "announced_id"}),
    "jobs.shown": gone(uses={"job_id": "announced_id"}),
    "jobs.read_so_far": gone(),
    "jobs.take": gone(owner="change"),
    "jobs.take_paths": gone(owner="change"),
    "jobs.all_arrived": gone(owner="change", turn=1),
    "jobs.begin_drive": gone(by=("target",), mixed="own", turn=1, uses=NOTHING_OF_DRIVE),
    "jobs.get": gone(),
    "jobs.wait": gone(uses={"timeout": Literally(0.0)}),
    "jobs.outcomes": gone(uses={"job_id": "done_job_id"}),
    "jobs.stop": gone(turn=2),
    "jobs.go_on": gone(turn=3),
    "jobs.forget": gone(owner="change", uses={"job_id": "done_job_id"}, turn=4),
    "jobs.list": own(),
    "tools.run": gone(by=("chat_id", "file_ids"), uses={"name": Literally("list_files")}),
    "projects.list": own(),
    "projects.get": gone(),
    "projects.create": own(),
    "projects.rename": gone(owner="change"),
    "projects.instruct": gone(owner="change"),
    "projects.chats": empty(owner="any"),
    "projects.of": empty(owner="any"),
    "projects.new_chat": gone(),
    "projects.newcomers": gone(owner="any"),
    "projects.move": gone(owner="any", turn=7),
    "projects.files": gone(),
    "projects.add_files": gone(owner="any"),
    "projects.remove_file": gone(owner="any", mixed="", turn=1),
    "projects.members": gone(),
    "projects.add_member": gone(owner="change", mixed="", uses={"email": "colleague_email"}),
    "projects.remove_member": gone(owner="change", uses={"user_id": "colleague_id"}, turn=1),
    "projects.delete": gone(turn=8),
    "prompts.list": own(),
    "prompts.get": gone(),
    "prompts.save": own(uses={"draft": Literally(PromptDraft("Taken", "Taken over?"))}),
    "prompts.change": gone(uses={"draft": Literally(PromptDraft("Taken", "Taken over?"))}, turn=1),
    "prompts.delete": gone(turn=2),
    "operations.allowed": own(owner="any"),
    "operations.audit": own(owner="fails"),
    "operations.audit_count": own(owner="fails"),
    "operations.audit_csv": own(owner="fails"),
    "team.user": own(),
    "team.language": own(owner="any"),
    "team.set_language": own(owner="change", uses={"language": Literally("fr")}),
    "team.workspaces": own(),
    "team.workspace_of": empty(),
    "team.rename": own(owner="change", colleague="refused", turn=1),
    "team.audit": own(colleague="refused"),
    "team.audit_count": own(colleague="refused"),
    "team.audit_csv": own(colleague="refused"),
    "team.members": own(),
    "team.set_role": gone(owner="change", colleague="refused", uses={"user_id": "colleague_id"}),
    "team.remove": gone(
        owner="change", colleague="refused", uses={"user_id": "colleague_id"}, turn=9
    ),
    "team.invitations": own(),
    "team.invite": own(
        owner="change", colleague="refused", uses={"email": Literally("new@example.org")}
    ),
    "team.withdraw": gone(owner="change", colleague="refused", turn=1),
    "usage.report": own(colleague="own"),
    "usage.csv": own(colleague="own"),
    "usage.standing": own(),
    "usage.plan": own(),
    "usage.set_budget": gone(
        owner="change", colleague="refused", uses={"subject": "user_id"}, turn=1
    ),
}
"""Every public method of every part of a session."""
WHERE = "tests/stranger_entries.py"

LEAF: Mapping[str, str] = {
    "launch": "process",
    "warm": "process",
    "expect_files": "process",
    "close": "process",
    "settings": "process",
    "changes": "process",
    "parts": "process",
    "load": "process",
    "for_room": "process",
    "space": "process",
    "session": "door",
    "local_scope": "door",
    "sign_in": "door",
    "scope_in": "door",
    "sign_out": "walked",
    "choose_workspace": "walked",
    "shared_page": "walked",
    "runs": "operator",
    "run_steps": "operator",
    "resume_run": "operator",
    "usage_of_all": "operator",
    "workspaces": "operator",
    "accounts": "operator",
    "purge_workspace": "operator",
    "purge_account": "operator",
    "backup": "operator",
    "audit": "operator",
    "unlink_account": "operator",
}
"""Every public name of Leaf itself: of the `process`, with nothing of anybody; the `door`, by which
one gets a session; `walked` below; of the `operator`, for whom no page asks."""


def value_of(name: str, entry: Entry, given: Mapping[str, Any], plain: Mapping[str, Any]) -> Any:
    """What stands for a parameter among somebody's values. Raises KeyError where they have none."""
    used = entry.uses.get(name, name)
    if isinstance(used, Literally):
        return used.value
    if used in given:
        return given[used]
    if used in SEVERAL:
        return [given[SEVERAL[used]]]
    return given[ALIASES[used]] if used in ALIASES else plain[used]


def harmless(folder: Path) -> Mapping[str, Any]:
    """What callers choose themselves; a function gives a new one for each call."""
    path = folder / "stranger.txt"
    path.write_text("of a stranger")
    return {
        "name": "stranger.txt",
        "title": "Taken",
        "text": "Taken over",
        "content": "Taken",
        "words": "Taken",
        "model": "",
        "draft": ModelDraft("server", "http://127.0.0.1:9", "k", "m"),
        "whose": "everyone",
        "role": "member",
        "allowance": Allowance(day_tokens=1_000_000),
        "kind": "people",
        "allow": True,
        "feedback": -1,
        "handle": "f9",
        "slug": "taken",
        "stream": lambda: io.BytesIO(b"of a stranger"),
        "sources": lambda: [("stranger.txt", io.BytesIO(b"of a stranger"))],
        "path": path,
        "into": folder,
        "paths": [path],
        "total": 1,
        "position": 0,
        "days": 7,
        "timeout": 0.0,
        "row": 1,
        "number": 1,
        "base": 1,
        "older": 0,
        "newer": 1,
        "ending": "md",
        "form": "markdown",
        "redirect_uri": "http://localhost:8501/settings",
        "given": {},
        "spec": {},
        "columns": [],
        "rows": [],
    }
