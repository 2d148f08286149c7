"""Files as rows: what is in the library of a workspace, with counts. Their bytes are in `blobs`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, chats, file_contexts
from leaf.store.database import Database, Row, Transaction, containing, now, one_of
from leaf.store.file_rows import COLUMNS, IN_CHAT, LISTED, OURS, PLAIN, VISIBLE, plain_rows
from leaf.store.ids import new_id
from leaf.store.model import Chat, File, Json, Scope
from leaf.store.users import MEMBER, params

ORDERS = {
    "newest": "f.created_at DESC, f.id DESC",
    "oldest": "f.created_at, f.id",
    "name": "lower(f.name), f.id",
    "size": "f.size DESC, f.id",
    "kind": "f.kind, lower(f.name), f.id",
}

EVERY = 1_000_000_000
"""More files than a workspace has: whoever lists them counts on all."""


@dataclass(frozen=True)
class NewFile:
    """What is known of a file before it has a row."""

    name: str
    media_type: str
    kind: str
    size: int
    sha256: str
    source: str
    upload_context: str
    """What the caller wrote about it."""
    outline: Json
    shared: bool = False
    """Whether everybody in the workspace may read what the caller wrote."""
    parent_id: str = ""
    """The archive or mail that it came out of."""


Beside = Callable[[Transaction, list[tuple[str, bool]]], None]
"""Writes more in the transaction in which files were added: told the id of each, and whether it was
made."""


def add(db: Database, scope: Scope, new: NewFile) -> tuple[File, bool]:
    """The row of these bytes under this name, which may be a deleted one, and whether it was made
    by this call.

    Where a file with other bytes has the name already, the new one is called `report (2).csv`.
    """
    return add_all(db, scope, [new])[0]


def add_all(
    db: Database, scope: Scope, new: Sequence[NewFile], beside: Beside | None = None
) -> list[tuple[File, bool]]:
    """`add` for each, in their order, all in one transaction with what `beside` writes."""
    with db.transaction(scope) as tx:
        _check_member(tx, scope)
        there = _with_bytes(tx, scope, [one.sha256 for one in new])
        taken = _names(tx, scope)
        ids: list[tuple[str, bool]] = []
        for one in new:
            if known := _same(there.get(one.sha256, ()), one.name, one.source):
                ids.append((known.id, False))
                continue
            addition = _SameFiles(new_id(), free_among(taken, one.name), one.name, one.source)
            _insert(tx, scope, one, addition)
            there.setdefault(one.sha256, []).append(addition)
            taken.add(addition.name.lower())
            ids.append((addition.id, True))
        if beside is not None:
            beside(tx, ids)
        file_of = {file.id: file for file in _by_ids(tx, scope, [file_id for file_id, _ in ids])}
        return [(file_of[file_id], addition) for file_id, addition in ids]


@dataclass(frozen=True)
class _SameFiles:
    """What `same` looks at."""

    id: str
    name: str
    given_name: str
    source: str


def _insert(tx: Transaction, scope: Scope, new: NewFile, addition: _SameFiles) -> None:
    tx.execute(
        """
        INSERT INTO files (id, workspace_id, user_id, name, given_name, media_type, kind, size, sha256, source,
            upload_context, outline, created_at, parent_id)
        VALUES (:id, :workspace, :user, :name, :given, :media_type, :kind, :size, :sha256, :source, :context, :outline, :at,
            :parent)
        """,
        params(
            scope,
            id=addition.id,
            name=addition.name,
            given=new.name,
            media_type=new.media_type,
            kind=new.kind,
            size=new.size,
            sha256=new.sha256,
            source=new.source,
            context="",
            outline=new.outline,
            at=now(),
            parent=new.parent_id,
        ),
    )
    if new.upload_context:
        file_contexts.add(tx, scope, addition.id, new.upload_context, shared=new.shared)


def same(
    db: Database | Transaction, scope: Scope, sha256: str, name: str, source: str
) -> File | None:
    """The file that has these bytes under this name or came under it, a deleted one too.

    What Leaf wrote is its text, whatever it is called: versions of a document are renamed when
    there is a newer one.
    """
    known = _same(_with_bytes(db, scope, [sha256]).get(sha256, ()), name, source)
    return get(db, scope, known.id, deleted=True) if known else None


def _same(candidates: Sequence[_SameFiles], name: str, source: str) -> _SameFiles | None:
    """Of the files with some bytes, oldest first, the one that a file of this name is."""
    named = [file for file in candidates if file.name.lower() == name.lower()]
    named += [
        file
        for file in candidates
        if file.given_name.lower() == name.lower() and file.source != "generated"
    ]
    written = (
        sorted(candidates, key=lambda file: file.source != "generated")
        if source == "generated"
        else []
    )
    return next(iter([*named, *written]), None)


def _with_bytes(
    db: Database | Transaction, scope: Scope, hashes: Sequence[str]
) -> dict[str, list[_SameFiles]]:
    """Files with any of these bytes, by them; oldest first."""
    those, values = one_of("f.sha256", list(dict.fromkeys(hashes)))
    rows = db.read(
        f"SELECT f.id, f.name, f.given_name, f.source, f.sha256 FROM files f WHERE {those} "
        f"AND {VISIBLE} ORDER BY f.created_at, f.id",
        params(scope, **values),
    )
    files_of: dict[str, list[_SameFiles]] = {}
    for row in rows:
        files_of.setdefault(str(row.pop("sha256")), []).append(_SameFiles(**row))
    return files_of


def get_all(
    db: Database | Transaction, scope: Scope, file_ids: Sequence[str], *, chat_id: str = ""
) -> list[File]:
    """`get` for several, in their order. Raises NotFoundError."""
    columns, more = (IN_CHAT, {"chat": chat_id}) if chat_id else (COLUMNS, {})
    those, ids = one_of("f.id", list(dict.fromkeys(file_ids)))
    rows = db.read(
        f"SELECT {columns} FROM files f WHERE {those} AND {VISIBLE}", params(scope, **ids, **more)
    )
    file_of = {str(row["id"]): File(**row) for row in rows}
    # One that is not there, or was deleted, says so.
    return [
        file_of[i]
        if i in file_of and file_of[i].deleted_at is None
        else get(db, scope, i, chat_id=chat_id)
        for i in file_ids
    ]


def _by_ids(db: Database | Transaction, scope: Scope, ids: Sequence[str]) -> list[File]:
    """Deleted ones too."""
    those, values = one_of("f.id", list(dict.fromkeys(ids)))
    sql = f"SELECT {COLUMNS} FROM files f WHERE {those} AND {VISIBLE}"
    return [File(**row) for row in db.read(sql, params(scope, **values))]


def still_there(db: Database | Transaction, scope: Scope, file_ids: Sequence[str]) -> list[str]:
    """Those of the files that are not deleted."""
    there = {file.id for file in _by_ids(db, scope, file_ids) if file.deleted_at is None}
    return [file_id for file_id in file_ids if file_id in there]


def by_hashes(
    db: Database | Transaction, scope: Scope, hashes: Sequence[str]
) -> dict[str, list[File]]:
    """`with_bytes` for several at once."""
    those, values = one_of("f.sha256", list(dict.fromkeys(hashes)))
    rows = db.read(
        f"SELECT {COLUMNS} FROM files f WHERE {those} AND {VISIBLE} ORDER BY f.created_at, f.id",
        params(scope, **values),
    )
    files_of: dict[str, list[File]] = {}
    for row in rows:
        files_of.setdefault(str(row["sha256"]), []).append(File(**row))
    return files_of


def get(
    db: Database | Transaction,
    scope: Scope,
    file_id: str,
    *,
    deleted: bool = False,
    chat_id: str = "",
) -> File:
    """Raises NotFoundError, which for a deleted file says when, and how to get it back; with
    `deleted` it is found.

    With a chat it comes with those words alone that may be said there.
    """
    columns, more = (IN_CHAT, {"chat": chat_id}) if chat_id else (COLUMNS, {})
    values = params(scope, id=file_id, **more)
    rows = plain_rows(db, f"SELECT {PLAIN} FROM files f WHERE f.id = :id AND {OURS}", values)
    if rows is None:
        rows = db.read(f"SELECT {columns} FROM files f WHERE f.id = :id AND {VISIBLE}", values)
    if not rows:
        raise NotFoundError(f"No file '{file_id}'.", "See the Files page for what there is.")
    file = File(**rows[0])
    if file.deleted_at is not None and not deleted:
        raise NotFoundError(
            f"{file.name} was deleted on {file.deleted_at:%-d %B %Y}.",
            "Restore it on the Files page.",
        )
    return file


def with_bytes(db: Database | Transaction, scope: Scope, sha256: str) -> list[File]:
    """All files with these bytes, under whatever names, deleted ones too; oldest first."""
    return by_hashes(db, scope, [sha256]).get(sha256, [])


def other_names(db: Database | Transaction, scope: Scope, file: File) -> list[str]:
    """Names of the other files in the library that have the same bytes."""
    rows = db.read(
        f"SELECT f.name FROM files f WHERE f.sha256 = :sha256 AND f.id <> :id "
        f"AND f.deleted_at IS NULL AND {VISIBLE} AND {LISTED} ORDER BY f.created_at, f.id",
        params(scope, sha256=file.sha256, id=file.id),
    )
    return [str(row["name"]) for row in rows]


def list_files(
    db: Database,
    scope: Scope,
    *,
    query: str = "",
    sort: str = "newest",
    deleted: bool = False,
    limit: int = EVERY,
    offset: int = 0,
) -> list[File]:
    """Files whose name, kind or words that the caller may read contain all words of the query.
    `sort` is a key of `ORDERS`.

    A generated file is there as long as it is the newest version of a document that the caller may
    see.
    """
    if sort not in ORDERS:
        raise InvalidInputError(
            f"Files cannot be sorted by '{sort}'.", "Sort by " + ", ".join(ORDERS) + "."
        )
    conditions = [VISIBLE, f"f.deleted_at IS {'NOT NULL' if deleted else 'NULL'}", LISTED]
    words: Row = {}
    for i, word in enumerate(query.split()[:10]):
        words[f"word{i}"] = containing(word)
        conditions.append(
            f"lower(f.name || ' ' || f.kind || ' ' || {file_contexts.SEEN}) LIKE "
            f":word{i} ESCAPE '!'"
        )
    rows = db.read(
        f"SELECT {COLUMNS} FROM files f WHERE {' AND '.join(conditions)} ORDER BY {ORDERS[sort]} "
        f"LIMIT :limit OFFSET :offset",
        params(scope, limit=limit, offset=offset, **words),
    )
    return [File(**row) for row in rows]


def rename(db: Database, scope: Scope, file_id: str, name: str) -> File:
    """Give it another name; what chats call it does not change. The files that came out of it go
    along. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        file = get(tx, scope, file_id)
        if name != file.name:
            now_called = rename_in(tx, scope, file, name)
            # Of a long path folders were left out: such a member may not be named by this one.
            named = [
                member.id
                for member in members(tx, scope, file_id, deleted=None)
                if member.name.startswith(f"{file.name}/")
            ]
            inside, ids = one_of("id", named)
            tx.execute(
                "UPDATE files SET name = :folder || substr(name, :rest), given_name = :folder || "
                "substr(name, :rest) "
                f"WHERE {inside}",
                {"folder": now_called, "rest": len(file.name) + 1, **ids},
            )
        return get(tx, scope, file_id)


def members(
    db: Database | Transaction, scope: Scope, file_id: str, *, deleted: bool | None = False
) -> list[File]:
    """The files that came out of an archive or a mail, and out of those, in their order; with
    `deleted` None all of them."""
    live = {None: "", True: "AND f.deleted_at IS NOT NULL", False: "AND f.deleted_at IS NULL"}[
        deleted
    ]
    rows = db.read(
        f"""
        WITH RECURSIVE inside AS (
            SELECT m.id FROM files m WHERE m.parent_id = :file AND :file <> ''
            UNION SELECT m.id FROM files m JOIN inside i ON m.parent_id = i.id)
        SELECT {COLUMNS} FROM files f WHERE f.id IN (SELECT id FROM inside) AND {VISIBLE} {live} ORDER BY f.created_at, f.id
        """,
        params(scope, file=file_id),
    )
    return [File(**row) for row in rows]


def rename_in(tx: Transaction, scope: Scope, file: File, name: str) -> str:
    """Give it this name, or the next that is free; returns the name that it has now."""
    if name != file.name:
        free = free_name(tx, scope, name)
        tx.execute(
            "UPDATE files SET name = :name, given_name = :given WHERE id = :id",
            {"name": free, "given": name, "id": file.id},
        )
        return free
    return name


def set_source(db: Database, scope: Scope, file_id: str, source: str) -> File:
    """Say anew where it came from: bytes that Leaf wrote, and that somebody uploads, are an upload.
    Raises NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, file_id)
        tx.execute(
            "UPDATE files SET source = :source WHERE id = :id", {"source": source, "id": file_id}
        )
        return get(tx, scope, file_id)


def add_context(
    db: Database, scope: Scope, file_id: str, words: str, *, shared: bool = False
) -> File:
    """Keep further words of the caller about a file, unless they are there. Raises
    NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, file_id)
        file_contexts.add(tx, scope, file_id, words, shared=shared)
        return get(tx, scope, file_id)


def set_context(
    db: Database, scope: Scope, file_id: str, words: str, *, chat_id: str = "", shared: bool = False
) -> File:
    """Put words in place of those that the caller wrote. Raises NotFoundError, for a chat that is
    not the caller's too."""
    with db.transaction(scope) as tx:
        get(tx, scope, file_id)
        if chat_id:
            chats.get(tx, scope, chat_id)
        file_contexts.replace(tx, scope, file_id, words, chat_id=chat_id, shared=shared)
        return get(tx, scope, file_id)


def set_outline(
    db: Database, scope: Scope, file_id: str, *, kind: str, media_type: str, outline: Json
) -> File:
    """Put what a later reading found in place of what an earlier one said. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, file_id)
        tx.execute(
            "UPDATE files SET kind = :kind, media_type = :media_type, outline = :outline "
            "WHERE id = :id",
            {"kind": kind, "media_type": media_type, "outline": outline, "id": file_id},
        )
        return get(tx, scope, file_id)


def delete(db: Database, scope: Scope, file_id: str) -> File:
    """Put it away, with what came out of it; `restore` brings it back. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        return delete_in(tx, scope, file_id)


def delete_in(tx: Transaction, scope: Scope, file_id: str) -> File:
    """`delete`, together with something else."""
    get(tx, scope, file_id)
    _set_deleted(tx, [file_id, *(file.id for file in members(tx, scope, file_id))], now())
    audit.add(tx, scope, "file deleted", file_id)
    return get(tx, scope, file_id, deleted=True)


def restore(db: Database, scope: Scope, file_id: str) -> File:
    """Undo `delete`: with what was put away together with it, not before. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        file = get(tx, scope, file_id, deleted=True)
        inside = members(tx, scope, file_id, deleted=True)
        _set_deleted(
            tx, [file_id, *(m.id for m in inside if m.deleted_at == file.deleted_at)], None
        )
        audit.add(tx, scope, "file restored", file_id)
        return get(tx, scope, file_id)


def _set_deleted(tx: Transaction, file_ids: Sequence[str], at: datetime | None) -> None:
    those, ids = one_of("id", file_ids)
    tx.execute(f"UPDATE files SET deleted_at = :at WHERE {those}", {"at": at, **ids})


def check_may_purge(tx: Transaction, scope: Scope, file_id: str) -> None:
    """A file, a deleted one too, may be deleted for good by who added it and by the owners of the
    workspace. Raises NotFoundError, InvalidInputError."""
    file = get(tx, scope, file_id, deleted=True)
    if file.user_id != scope.user_id and not tx.read(
        "SELECT 1 AS yes FROM workspace_members WHERE workspace_id = :workspace AND "
        "user_id = :user AND role = 'owner'",
        params(scope),
    ):
        raise InvalidInputError(
            f"{file.name} was added by somebody else.",
            "Only they and an owner of the workspace can delete it for good.",
        )


def unscoped_any(db: Database) -> bool:
    """Whether any workspace has a file."""
    return bool(db.read("SELECT 1 AS yes FROM files LIMIT 1"))


def references(db: Database, scope: Scope, file_id: str) -> list[Chat]:
    """The caller's chats in which the file is, newest first. Raises NotFoundError."""
    get(db, scope, file_id, deleted=True)
    rows = db.read(
        f"""
        SELECT {chats.COLUMNS} FROM chats c WHERE c.deleted_at IS NULL AND {chats.VISIBLE} AND EXISTS (
            SELECT 1 FROM chat_files k WHERE k.chat_id = c.id AND k.file_id = :id AND k.detached_at IS NULL)
        ORDER BY c.updated_at DESC, c.id DESC
        """,
        params(scope, id=file_id),
    )
    return [Chat(**row) for row in rows]


def _check_member(tx: Transaction, scope: Scope) -> None:
    """Raises NotFoundError; the update makes a second writer of names wait on PostgreSQL."""
    if not tx.read(
        f"UPDATE workspaces SET name = name WHERE id = :workspace AND {MEMBER} RETURNING id",
        params(scope),
    ):
        raise NotFoundError("No such workspace.", "Sign in again.")


def free_name(tx: Transaction, scope: Scope, name: str, also: Iterable[str] = ()) -> str:
    """The name, or the next of `report (2).csv`, `report (3).csv` … that no file of the workspace
    has, deleted ones included."""
    return free_among(_names(tx, scope) | {taken.lower() for taken in also}, name)


def free_among(taken: Container[str], name: str) -> str:
    """The same for names in lower case that are taken."""
    folder, slash, last = name.rpartition("/")
    stem, dot, ending = last.rpartition(".")
    if not stem:
        stem, dot, ending = last, "", ""
    candidate, number = name, 1
    while candidate.lower() in taken:
        number += 1
        candidate = f"{folder}{slash}{stem} ({number}){dot}{ending}"
    return candidate


def _names(tx: Transaction, scope: Scope) -> set[str]:
    """Names of the workspace's files in lower case."""
    rows = tx.read("SELECT name FROM files WHERE workspace_id = :workspace", params(scope))
    return {str(row["name"]).lower() for row in rows}
