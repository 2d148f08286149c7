"""Drive beside a Google on loopback: alone over a plain shelf, or within a whole Leaf."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from leaf.app import Leaf
from leaf.drive.drive import DriveService
from leaf.files.library import Added
from leaf.readers.base import Window
from leaf.settings import Settings
from leaf.store import Store, files, open_store, users
from leaf.store.model import File, Scope
from tests.drive_server import ANA, BEN, DriveServer
from tests.leaf_kit import opened

REDIRECT = "http://localhost:8501/settings"


class Shelf:
    """A library that keeps bytes and looks at nothing, so that no child process is needed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.entered: list[int] = []
        """Files that came together, each time."""

    def keep(
        self,
        scope: Scope,
        name: str,
        stream: BinaryIO,
        *,
        source: Literal["upload", "drive", "generated", "sample"] = "upload",
        folder: str = "",
    ) -> files.NewFile:
        kept = self.store.blobs.put(scope.workspace_id, stream, 1 << 40)
        return files.NewFile(
            f"{folder}/{name}".lstrip("/"),
            "text/plain",
            "text",
            kept.size,
            kept.sha256,
            source,
            "",
            {},
        )

    def enter(
        self,
        scope: Scope,
        kept: Sequence[files.NewFile],
        *,
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Iterator[Sequence[tuple[int, Added]]]:
        self.entered.append(len(kept))
        added = (files.add(self.store.db, scope, new) for new in kept)
        yield [(index, Added(file, not is_new)) for index, (file, is_new) in enumerate(added)]

    def unpack(self, scope: Scope, file_id: str, stop: threading.Event | None = None) -> None:
        """No file here is an archive."""

    def get(self, scope: Scope, file_id: str) -> File:
        return files.get(self.store.db, scope, file_id)

    def peek(self, path: Path, name: str) -> Window:
        return Window(path.read_text(), (), name)

    def content(self, file: File) -> bytes:
        return self.store.blobs.local(file.workspace_id, file.sha256).read_bytes()


@dataclass
class World:
    """A Google with one connected user, and one who is not."""

    google: DriveServer
    drive: DriveService
    store: Store
    shelf: Shelf
    settings: Settings
    ana: Scope
    ben: Scope
    """Another user of Leaf with a workspace of their own; not connected at first."""
    root: str
    """Ana's My Drive."""

    def another(self, **settings: Any) -> DriveService:
        """The same Leaf, begun anew, with other settings."""
        return DriveService(
            replace(self.settings, **settings), self.store, self.shelf, waits=(0.01, 0.01)
        )


@contextmanager
def world(home: Path, *, connected: bool = True, **settings: Any) -> Iterator[World]:
    with DriveServer() as google:
        configured = replace(Settings(home=home, google=google.settings()), **settings)
        store = open_store(configured)
        shelf = Shelf(store)
        drive = DriveService(configured, store, shelf, waits=(0.01, 0.01))
        ana, ben = users.ensure_user(store.db, ANA, "Ana"), users.ensure_user(store.db, BEN, "Ben")
        made = World(google, drive, store, shelf, configured, ana, ben, google.root(ANA))
        if connected:
            connect(drive.begin, drive.finish, google, ana)
        google.requests.clear()
        try:
            yield made
        finally:
            store.close()


def connect(
    begin: Callable[[Scope, str], str],
    finish: Callable[..., Any],
    google: DriveServer,
    scope: Scope,
    email: str = ANA,
) -> None:
    """Consent, as the browser would."""
    state = finish(scope, google.consent(begin(scope, REDIRECT), email))
    assert (state.state, state.account) == ("connected", email), state


@contextmanager
def leaf_beside(google: DriveServer, home: Path, **settings: Any) -> Iterator[tuple[Leaf, Scope]]:
    """A whole Leaf whose Google is the server, its local user connected."""
    with opened(home, google=google.settings(), **settings) as leaf:
        scope = leaf.local_scope()
        connect(leaf._house.drive.begin, leaf._house.drive.finish, google, scope)
        yield leaf, scope
