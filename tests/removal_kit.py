"""Deleting rows for good where there is a store, or a library, and no whole Leaf."""

from __future__ import annotations

from leaf.files.library import Library
from leaf.store import removal
from leaf.store.database import Database
from leaf.store.model import Scope
from leaf.store.removal import Gone


def purge_chat(db: Database, scope: Scope, chat_id: str) -> Gone:
    with db.transaction(scope) as tx:
        return removal.purge_chat_in(tx, scope, chat_id)


def purge_file(db: Database, scope: Scope, file_id: str) -> Gone:
    with db.transaction(scope) as tx:
        return removal.purge_file_in(tx, scope, file_id)


def forget_file(library: Library, scope: Scope, file_id: str) -> None:
    """With what the library made of it."""
    library.let_go(purge_file(library._store.db, scope, file_id))
