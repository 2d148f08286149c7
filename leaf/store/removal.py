"""Deleting for good: all rows of a chat, a file or a workspace (of an account: `accounts`), and what has
to go with them that is no row.

`purge_chat_in` and `purge_file_in` ask first whether the caller may; the others are given a
transaction in which that was asked, or an operator's command.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, blob_names, chats, files, link_rows
from leaf.store.blob_names import KEPT
from leaf.store.database import Database, Row, Transaction, one_of
from leaf.store.model import Scope
from leaf.store.results import OUTSIDE

_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
BATCH = 1_000
"""Ids that are asked for at a time."""
WORKSPACE_TABLES = (
    "files",
    "documents",
    "results",
    "result_numbers",
    "made_files",
    "cells",
    "edited_steps",
    "boards",
    "board_pins",
    "shared_links",
    "shared_link_chats",
    "open_chats",
    "prompts",
    "projects",
    "project_members",
    "project_chats",
    "project_files",
    "consents",
    "derived_pictures",
    "transcripts",
    "converted_tables",
    "blob_states",
    "chat_packages",
    "model_files",
    "jobs",
    "usage_steps",
    "usage_days",
    "usage_chats",
    "budgets",
    "integrations",
    "oauth_states",
    "drive_files",
    "drive_folders",
    "drive_changes",
    "drive_tokens",
    "invitations",
    "workspace_members",
    "audit",
    "run_leases",
)
"""Those whose rows name their workspace. A test holds the list to the schema."""


@dataclass(frozen=True)
class Gone:
    """What rows that are deleted leave behind elsewhere."""

    workspace_id: str
    chats: tuple[str, ...] = ()
    """Their folders of packages and of results, their Python."""
    messages: tuple[str, ...] = ()
    """Answers, by whose ids the run database knows them."""
    hashes: tuple[str, ...] = ()
    """Bytes of which something was made, and which go unless other rows name them."""
    whole: bool = False
    """All that is kept of the workspace."""

    def __add__(self, other: Gone) -> Gone:
        return Gone(
            self.workspace_id,
            self.chats + other.chats,
            self.messages + other.messages,
            tuple(dict.fromkeys(self.hashes + other.hashes)),
            self.whole or other.whole,
        )

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Gone:
        return cls(
            str(given["workspace_id"]),
            tuple(map(str, given["chats"])),
            tuple(map(str, given["messages"])),
            tuple(map(str, given["hashes"])),
            bool(given["whole"]),
        )


def purge_chat_in(tx: Transaction, scope: Scope, chat_id: str) -> Gone:
    """Delete a chat for good. Raises NotFoundError, and InvalidInputError for one who only takes
    part."""
    chats.check_host(tx, scope, chat_id, "delete it")
    audit.add(tx, scope, "chat deleted for good", chat_id)
    return remove_chat(tx, scope.workspace_id, chat_id)


def purge_file_in(tx: Transaction, scope: Scope, file_id: str) -> Gone:
    """Delete a file for good, with what came out of it, and a document whose text it is with its
    earlier versions. Raises NotFoundError, and InvalidInputError for one who neither added it nor
    owns the workspace."""
    files.check_may_purge(tx, scope, file_id)
    inside = [one.id for one in files.members(tx, scope, file_id, deleted=None)]
    audit.add(tx, scope, "file deleted for good", file_id)
    versions = _remove_documents(tx, scope, file_id)
    return remove_files(tx, scope.workspace_id, list(dict.fromkeys([file_id, *inside, *versions])))


def remove_chat(tx: Transaction, workspace_id: str, chat_id: str) -> Gone:
    """Delete a chat with all that belongs to it alone: what was written in it, too. Files that
    were added to it stay in the library."""
    values = {"chat": chat_id, "workspace": workspace_id}
    message_ids = column(tx, "SELECT id FROM messages WHERE chat_id = :chat", values)
    hashes = column(tx, "SELECT sha256 FROM results WHERE chat_id = :chat", values)
    hashes += column(tx, "SELECT sha256 FROM made_files WHERE chat_id = :chat", values)
    hashes += link_rows.forget_chat(tx, chat_id)
    figures = _forget_pictures(tx, workspace_id, _own_figures(tx, workspace_id, chat_id))
    gone = Gone(workspace_id, (chat_id,), tuple(message_ids), (*_named(hashes), *figures))
    gone += remove_files(tx, workspace_id, _own_texts(tx, chat_id))
    tx.execute("DELETE FROM file_contexts WHERE chat_id = :chat AND NOT shared", values)
    _forget_jobs(tx, [j for j, asked in _ended(tx, workspace_id) if asked.get("target") == chat_id])
    chats.delete_rows(tx, ":chat", values)
    return gone


def remove_files(tx: Transaction, workspace_id: str, file_ids: Sequence[str]) -> Gone:
    """Delete files with all that was made of them, in whichever chat; what chats say of them stays
    there. A chat keeps the names by which it called them, so that no other file takes these."""
    those, ids = one_of("id", file_ids)
    values = {"workspace": workspace_id, **ids}
    hashes = column(tx, f"SELECT sha256 FROM files WHERE {those}", values)
    tx.execute(f"DELETE FROM files WHERE {those}", values)
    those, ids = one_of("file_id", file_ids)
    drive_ids = column(tx, f"SELECT drive_id FROM drive_files WHERE {those}", ids)
    for table in ("file_contexts", "job_items", "drive_files", "project_files"):
        tx.execute(f"DELETE FROM {table} WHERE {those}", ids)
    seen, ids = one_of("drive_id", drive_ids)
    tx.execute(
        f"DELETE FROM drive_changes WHERE workspace_id = :workspace AND {seen}",
        {"workspace": workspace_id, **ids},
    )
    free = [sha256 for sha256 in _named(hashes) if not _is_file(tx, workspace_id, sha256)]
    pictures = _forget_pictures(tx, workspace_id, free)
    captions = _forget_made(tx, "transcripts", workspace_id, free)
    tables = _forget_made(tx, "converted_tables", workspace_id, free)
    rows = _forget_results_outside(tx, workspace_id, file_ids)
    return Gone(workspace_id, hashes=(*free, *pictures, *captions, *tables, *rows))


def _remove_documents(tx: Transaction, scope: Scope, file_id: str) -> list[str]:
    """Delete the documents whose newest version a file is, which would have no text without it;
    returns the files of their versions that are no other's. Raises InvalidInputError where one was
    not put away, or a version is somebody else's."""
    values = {"file": file_id}
    if tx.read(
        "SELECT 1 AS yes FROM documents WHERE file_id = :file AND deleted_at IS NULL LIMIT 1",
        values,
    ):
        raise InvalidInputError(
            "This is the text of a document that was not deleted.", "Delete the document first."
        )
    those = "SELECT d.id FROM documents d WHERE d.file_id = :file"
    texts = column(
        tx,
        f"SELECT DISTINCT f.id FROM document_versions v JOIN files f ON f.id = v.file_id WHERE "
        f"v.document_id IN ({those}) AND f.source = 'generated' AND NOT EXISTS (SELECT 1 FROM "
        f"document_versions w WHERE w.file_id = f.id AND w.document_id NOT IN ({those}))",
        values,
    )
    for text in texts:
        files.check_may_purge(tx, scope, text)
    for table in ("document_receipts", "document_versions"):
        tx.execute(f"DELETE FROM {table} WHERE document_id IN ({those})", values)
    tx.execute("DELETE FROM documents WHERE file_id = :file", values)
    return texts


def remove_workspace(tx: Transaction, workspace_id: str) -> Gone:
    """Delete a workspace with everything in it. Raises NotFoundError."""
    values = {"workspace": workspace_id}
    if not tx.read("SELECT 1 AS yes FROM workspaces WHERE id = :workspace", values):
        raise NotFoundError(
            f"No workspace '{workspace_id}'.", "See: python -m leaf workspaces list"
        )
    those = "SELECT id FROM chats WHERE workspace_id = :workspace"
    gone = Gone(
        workspace_id,
        (*column(tx, those, values),),
        tuple(column(tx, f"SELECT id FROM messages WHERE chat_id IN ({those})", values)),
        tuple(_all_hashes(tx, workspace_id)),
        whole=True,
    )
    chats.delete_rows(tx, those, values)
    those = "SELECT id FROM files WHERE workspace_id = :workspace"
    tx.execute(f"DELETE FROM file_contexts WHERE file_id IN ({those})", values)
    those = "SELECT id FROM jobs WHERE workspace_id = :workspace"
    tx.execute(f"DELETE FROM job_items WHERE job_id IN ({those})", values)
    for table in WORKSPACE_TABLES:
        tx.execute(f"DELETE FROM {table} WHERE workspace_id = :workspace", values)
    tx.execute("DELETE FROM workspaces WHERE id = :workspace", values)
    return gone


def unscoped_everything(tx: Transaction, there: Collection[str]) -> list[Gone]:
    """What of each workspace is kept beside the rows, for whoever drops all of these; `there` are the
    tables of this database, which may be of an earlier version."""
    if not {"workspaces", "chats", "messages"} <= set(there):
        return []
    gone_of: dict[str, Gone] = {
        workspace_id: Gone(workspace_id, whole=True)
        for workspace_id in column(tx, "SELECT id FROM workspaces", {})
    }
    for workspace_id in gone_of:
        values = {"workspace": workspace_id}
        those = "SELECT id FROM chats WHERE workspace_id = :workspace"
        gone_of[workspace_id] += Gone(
            workspace_id,
            (*column(tx, those, values),),
            (*column(tx, f"SELECT id FROM messages WHERE chat_id IN ({those})", values),),
            (*_all_hashes(tx, workspace_id, there),),
        )
    return [*gone_of.values()]


def in_use(db: Database, workspace_id: str, sha256: str) -> tuple[bool, bool]:
    """Whether rows of the workspace still name these bytes, and whether a file does."""
    is_file = _is_file(db, workspace_id, sha256)
    return is_file or blob_names.is_named(db, Scope(workspace_id, ""), sha256), is_file


def unfinished_of(db: Database, workspace_id: str) -> list[str]:
    """Answers of a workspace that wait or are being written."""
    return column(
        db,
        "SELECT m.id FROM messages m JOIN chats c ON c.id = m.chat_id WHERE c.workspace_id = "
        ":workspace AND m.status IN ('pending', 'streaming')",
        {"workspace": workspace_id},
    )


def confirmed(db: Database, gone: Gone) -> Gone:
    """What of it is really gone: a note may be older than the end of its transaction, which then
    never came."""
    if gone.whole and _there(db, "workspaces", [gone.workspace_id]):
        return Gone(gone.workspace_id)
    chats_left, messages_left = _there(db, "chats", gone.chats), still_there(db, gone.messages)
    return replace(
        gone,
        chats=tuple(c for c in gone.chats if c not in chats_left),
        messages=tuple(m for m in gone.messages if m not in messages_left),
    )


def still_there(db: Database, message_ids: Sequence[str]) -> set[str]:
    """Those of the messages that the history has."""
    return _there(db, "messages", message_ids)


def _there(db: Database, table: str, ids: Sequence[str]) -> set[str]:
    known_ids: set[str] = set()
    for start in range(0, len(ids), BATCH):
        those, names = one_of("id", ids[start : start + BATCH])
        known_ids |= set(column(db, f"SELECT id FROM {table} WHERE {those}", names))
    return known_ids


def column(db: Database | Transaction, sql: str, given: Row) -> list[str]:
    return [str(next(iter(row.values()))) for row in db.read(sql, given)]


def _named(hashes: Iterable[str]) -> list[str]:
    """Each once; a lost result has none."""
    return [sha256 for sha256 in dict.fromkeys(hashes) if sha256]


def _is_file(db: Database | Transaction, workspace_id: str, sha256: str) -> bool:
    return bool(
        db.read(
            "SELECT 1 AS yes FROM files WHERE workspace_id = :workspace AND sha256 = :sha256 LIMIT 1",
            {"workspace": workspace_id, "sha256": sha256},
        )
    )


def _own_texts(tx: Transaction, chat_id: str) -> list[str]:
    """The files that Leaf wrote as versions of documents of this chat, and of no other's."""
    return column(
        tx,
        """
        SELECT DISTINCT f.id FROM documents d JOIN document_versions v ON v.document_id = d.id JOIN files f ON f.id = v.file_id
        WHERE d.chat_id = :chat AND f.source = 'generated' AND NOT EXISTS (
            SELECT 1 FROM documents e JOIN document_versions w ON w.document_id = e.id
            WHERE w.file_id = f.id AND e.chat_id <> :chat)
        """,
        {"chat": chat_id},
    )


def _own_figures(tx: Transaction, workspace_id: str, chat_id: str) -> list[str]:
    """Sources of the pictures that code drew in this chat and that are shown in no other. Of rows of
    earlier versions only messages say where a figure was drawn."""
    values: Row = {"workspace": workspace_id, "chat": chat_id, "own": f"figure:{chat_id}:%"}
    figures = "FROM derived_pictures WHERE workspace_id = :workspace AND source_sha256"
    own = column(tx, f"SELECT source_sha256 {figures} LIKE :own", values)
    elder = f"SELECT sha256 {figures} LIKE 'figure:%' AND source_sha256 NOT LIKE 'figure:%:%'"
    drawn = set(column(tx, elder, values))
    if not drawn:
        return own
    parts = "CAST(m.parts AS TEXT)"
    here = tx.read(f"SELECT {parts} AS text FROM messages m WHERE m.chat_id = :chat", values)
    shown = drawn & {digest for row in here for digest in _SHA256.findall(str(row["text"]))}
    elsewhere = (
        f"SELECT 1 AS yes FROM messages m JOIN chats c ON c.id = m.chat_id WHERE c.workspace_id = "
        f":workspace AND m.chat_id <> :chat AND {parts} LIKE :sha256 LIMIT 1"
    )
    mine = [s for s in sorted(shown) if not tx.read(elsewhere, {**values, "sha256": f"%{s}%"})]
    return [*own, *(f"figure:{sha256}" for sha256 in mine)]


def _forget_pictures(tx: Transaction, workspace_id: str, sources: Collection[str]) -> list[str]:
    """Forget what was made from these bytes; returns the pictures' own."""
    hashes = _forget_made(tx, "derived_pictures", workspace_id, sources)
    copies, names = one_of("sha256", hashes)
    tx.execute(
        f"DELETE FROM model_files WHERE workspace_id = :workspace AND {copies}",
        {"workspace": workspace_id, **names},
    )
    return hashes


def _forget_made(
    tx: Transaction, table: str, workspace_id: str, sources: Collection[str]
) -> list[str]:
    """Forget what a table has of these bytes; returns the hashes of what was made."""
    those, names = one_of("source_sha256", list(sources))
    sql = f"DELETE FROM {table} WHERE workspace_id = :workspace AND {those} RETURNING sha256"
    return _named(column(tx, sql, {"workspace": workspace_id, **names}))


def _forget_results_outside(
    tx: Transaction, workspace_id: str, file_ids: Sequence[str]
) -> list[str]:
    """Delete results of calls outside of chats that rest on these files: nobody else would."""
    values: Row = {"workspace": workspace_id, "outside": f"{OUTSIDE}:%"}
    rows = tx.read(
        "SELECT chat_id, number, sha256, CAST(about AS TEXT) AS about FROM results "
        "WHERE workspace_id = :workspace AND chat_id LIKE :outside",
        values,
    )
    gone = [row for row in rows if any(file_id in str(row["about"]) for file_id in file_ids)]
    for row in gone:
        tx.execute(
            "DELETE FROM results WHERE workspace_id = :workspace AND chat_id = :chat AND "
            "number = :number",
            {"workspace": workspace_id, "chat": row["chat_id"], "number": row["number"]},
        )
    return _named(str(row["sha256"]) for row in gone)


def _ended(tx: Transaction, workspace_id: str) -> list[tuple[str, dict[str, Any]]]:
    """Jobs that are over, and what they were asked. One that goes on is pruned after its end."""
    rows = tx.read(
        "SELECT id, asked FROM jobs WHERE workspace_id = :workspace AND ended_at IS NOT NULL",
        {"workspace": workspace_id},
    )
    return [(str(row["id"]), dict(row["asked"])) for row in rows]


def _forget_jobs(tx: Transaction, job_ids: Sequence[str]) -> None:
    for table, column in (("job_items", "job_id"), ("jobs", "id")):
        those, names = one_of(column, job_ids)
        tx.execute(f"DELETE FROM {table} WHERE {those}", names)


def _all_hashes(
    tx: Transaction, workspace_id: str, there: Collection[str] = (*KEPT, "jobs", "job_items")
) -> list[str]:
    """Also of files that were handed to a job and not entered yet; `there` are the tables that may be
    asked."""
    selects = [
        f"SELECT sha256 FROM {t} WHERE workspace_id = :workspace" for t in KEPT if t in there
    ]
    values = {"workspace": workspace_id}
    hashes = column(tx, " UNION ".join(selects), values) if selects else []
    if {"jobs", "job_items"} <= set(there):
        items = column(
            tx,
            "SELECT CAST(i.given AS TEXT) AS given FROM job_items i JOIN jobs j ON j.id = i.job_id "
            "WHERE j.workspace_id = :workspace",
            values,
        )
        hashes += [sha256 for item in items for sha256 in _SHA256.findall(item)]
    return _named(hashes)
