"""The rows that the store hands out, as frozen values. Times are timezone-aware UTC; ids are UUIDv7
as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from leaf.settings import Allowance
from leaf.shapes.part_parser import Parts
from leaf.shapes.parts import UsageData
from leaf.shapes.raw import RawMessage

Json = dict[str, Any]
Status = Literal["pending", "streaming", "completed", "stopped", "error"]


@dataclass(frozen=True)
class Scope:
    """On whose behalf a call is made. Every read and write of the store takes one."""

    workspace_id: str
    user_id: str


@dataclass(frozen=True)
class User:
    id: str
    email: str
    name: str
    created_at: datetime


@dataclass(frozen=True)
class Identity:
    """Who a login provider says has signed in, checked."""

    issuer: str
    subject: str
    """With the issuer it names one account for good; an address may pass to another person."""
    email: str
    """Lower case."""
    name: str
    first_name: str
    verified: bool
    """Whether the provider says that the address is this person's. Providers that say nothing leave
    it False."""
    login_id: str
    """Hash of what distinguishes this sign-in from every other; the same in all tabs of a
    browser."""


@dataclass(frozen=True)
class Visit:
    """Somebody who is signed in, and the workspace they are in just now."""

    user: User
    scope: Scope
    login_id: str


Role = Literal["owner", "member"]


@dataclass(frozen=True)
class Membership:
    """A workspace of the caller."""

    workspace_id: str
    name: str
    role: Role


@dataclass(frozen=True)
class Member:
    """Somebody in the caller's workspace."""

    user_id: str
    email: str
    name: str
    role: Role
    since: datetime


@dataclass(frozen=True)
class Invitation:
    """An address whose owner joins the workspace at their next sign-in."""

    id: str
    email: str
    invited_by: str
    """Their name."""
    created_at: datetime


@dataclass(frozen=True)
class Participant:
    """Somebody who takes part in a chat."""

    user_id: str
    email: str
    name: str
    host: bool
    """Whoever has been in it longest: the one who may take others out, and delete it."""


@dataclass(frozen=True)
class Chat:
    id: str
    workspace_id: str
    user_id: str
    """Who began it."""
    title: str
    model: str
    """Chosen for this chat; empty means the default."""
    head_id: str
    """Last message of the branch that is shown; empty in a new chat."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    shared: bool = False
    """Whether more than one person takes part."""


@dataclass(frozen=True)
class Message:
    id: str
    """For an assistant message also the id of its run."""
    chat_id: str
    parent_id: str
    """The message before it; empty for the first. Two messages with one parent are branches."""
    role: Literal["user", "assistant"]
    status: Status
    parts: Parts
    """What is shown."""
    raw: list[RawMessage]
    """What the model is sent for this message: Messages API messages, byte-equal to the first
    time."""
    model: str = ""
    usage: UsageData = field(default_factory=lambda: UsageData())
    error: str = ""
    """One sentence for a person, with status `error`."""
    feedback: int = 0
    """1 thumbs up, -1 thumbs down, 0 none."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    user_id: str = ""
    """Who asked; for an answer, who is answered."""


@dataclass(frozen=True)
class File:
    id: str
    workspace_id: str
    user_id: str
    name: str
    """With the folders that it came with, if any: `2024/sales.csv`, `2024.zip/sales/may.csv`. No
    two have the same."""
    media_type: str
    kind: str
    """Key of `readers.base.KINDS`, or `unknown`."""
    size: int
    """Bytes."""
    sha256: str
    source: Literal["upload", "drive", "generated", "sample"]
    upload_context: str
    """What people wrote about it, as far as the caller may read it, or, in a chat, everybody
    there."""
    outline: Json
    """`readers.base.Outline` as JSON: counts, notes, estimated tokens; {"error": …, "hint": …} if
    it could not be read."""
    created_at: datetime
    deleted_at: datetime | None = None
    parent_id: str = ""
    """The archive or mail that it came out of."""

    @property
    def folder(self) -> str:
        """`2024.zip/sales`; empty where it came alone."""
        return self.name.rpartition("/")[0]

    @property
    def base(self) -> str:
        """What it is called in its folder."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class ChatFile:
    """A file in a chat, under the names by which the model knows it. They never change, whatever is
    renamed or deleted."""

    chat_id: str
    handle: str
    """`f1`, `f2` …"""
    slug: str
    """Stem of its table names: `q3_sales`, `q3_sales_2`."""
    file: File
    message_id: str = ""
    """The user message with which it came; empty while it waits in the composer."""


DocumentKind = Literal["text", "code", "sheet"]


@dataclass(frozen=True)
class Document:
    """Something that was written in a chat, at its newest version."""

    id: str
    workspace_id: str
    chat_id: str
    user_id: str
    """For whom it was made."""
    title: str
    kind: DocumentKind
    """`text` is Markdown, `sheet` CSV."""
    document_type: str
    """`general`, `meeting-summary`, `report` or `action-items`."""
    file_name: str
    media_type: str
    version: int
    """The newest, from 1."""
    file_id: str
    """File of the newest version."""
    handle: str
    """`f3` in its chat, whatever the version."""
    message_id: str
    """The answer that made it; empty outside of answers."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    chat_title: str = ""


@dataclass(frozen=True)
class DocumentVersion:
    document_id: str
    number: int
    file_id: str
    sha256: str
    size: int
    """Bytes."""
    note: str
    """`created`, `edited by hand`, `edit_file`, `restored version 2` …"""
    user_id: str
    """Who changed it, or was answered."""
    message_id: str
    """The answer that changed it; empty for a change by hand."""
    created_at: datetime
    author: str = ""
    """Name of `user_id`."""


@dataclass(frozen=True)
class Exchange:
    """A question and the place of its answer, saved together."""

    question: Message
    answer: Message
    """Status `pending`; its id is the id of the run to be started."""


@dataclass(frozen=True)
class Thread:
    """A stretch of the branch of a chat, oldest first."""

    messages: tuple[Message, ...]
    earlier: int
    """How many messages of the branch lie before the first of these."""
    branches: dict[str, tuple[str, ...]]
    """Message id -> ids of all messages with the same parent, itself included, oldest first; only
    where there are several."""


@dataclass(frozen=True)
class Unfinished:
    """An answer that a process left behind, and on whose behalf to go on with it."""

    scope: Scope
    message: Message
    deleted: bool = False
    """Its chat was put away meanwhile."""


@dataclass(frozen=True)
class UsageTotal:
    """Tokens and money summed over answers."""

    answers: int
    input_tokens: int
    """Cached input included."""
    cached_tokens: int
    output_tokens: int
    cost: float
    """US dollars, of what has a known price."""
    unpriced_tokens: int = 0
    """Tokens of models whose price is not known, in and out."""


@dataclass(frozen=True)
class DayUsage:
    """What one model used on one day."""

    day: date
    model: str
    total: UsageTotal


@dataclass(frozen=True)
class NamedUsage:
    """What a model, a chat or a person used."""

    id: str
    """Empty for chats that the caller may not see, taken together."""
    name: str
    total: UsageTotal


@dataclass(frozen=True)
class Budget:
    """What an owner allowed."""

    subject: str
    """`workspace`, `members`, or a user's id."""
    allowance: Allowance
    set_by: str
    """The owner's name."""
    set_at: datetime
