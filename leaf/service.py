"""class Leaf: everything that the pages and the command line can do. No page, no SQL and no model call lives here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from leaf.errors import InvalidInputError
from leaf.files.library import Added, Library
from leaf.files.line import attached_lines
from leaf.formats.base import Window
from leaf.runs.run import Slice
from leaf.runs.runs import Runs
from leaf.settings import Settings
from leaf.store import Store, chats, messages, users
from leaf.store.model import Chat, ChatFile, File, Message, Scope
from leaf.tables.tables import ResultPage, Table, Tables
from leaf.tools import registry
from leaf.tools.base import ToolContext, ToolOutput

TITLE_CHARACTERS = 60
MESSAGES_DRAWN = 30


@dataclass(frozen=True)
class Thread:
    """The branch of a chat that is shown."""

    messages: tuple[Message, ...]
    """The newest ones, oldest first."""
    earlier: int
    """How many more stand above them."""
    branches: dict[str, tuple[str, ...]]
    """Message id -> ids of all messages in its place, itself included, oldest first; only where there are several."""


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be chosen."""

    id: str
    name: str


@dataclass(frozen=True)
class Check:
    """One line of the doctor."""

    name: str
    ok: bool
    text: str


@dataclass(frozen=True)
class Preview:
    """A look into a file, for a person."""

    file: File
    kind: str
    """`table`, `page` (a picture beside its text) or `text`."""
    window: Window | None = None
    """For `text` and `page`."""
    picture: bytes = b""
    """PNG of the page, for `page`."""
    tables: tuple[Table, ...] = ()
    """For `table`: what can be chosen."""
    rows: ResultPage | None = None
    """For `table`: rows of the chosen one."""
    pages: int = 0
    page: int = 0
