"""Which tables of files are in the store as Parquet, as rows; the Parquet is in `blobs`. Called for
files that the caller was given, by their workspace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from leaf.store import blob_names
from leaf.store.database import Database, Transaction, now, one_of
from leaf.store.model import File, Scope

Source = tuple[str, str]
"""The SHA-256 of a file's bytes, and as what they were read."""
_OF = "workspace_id = :workspace AND source_sha256 = :source AND kind = :kind"


@dataclass(frozen=True)
class ConvertedTable:
    """One table of a file."""

    sha256: str
    """Of its Parquet."""
    size: int
    about: dict[str, Any]


def find(
    db: Database, workspace_id: str, hashes: Collection[str], version: int
) -> dict[Source, list[ConvertedTable]]:
    """The tables of each of these files that are in the store, in order, as this version of the
    readers makes them."""
    those, ids = one_of("source_sha256", list(dict.fromkeys(hashes)))
    rows = db.read(
        "SELECT source_sha256, kind, sha256, size, about FROM converted_tables WHERE workspace_id = "
        f":workspace AND version = :version AND {those} ORDER BY source_sha256, kind, number",
        {"workspace": workspace_id, "version": version, **ids},
    )
    tables_of: dict[Source, list[ConvertedTable]] = {}
    for row in rows:
        one = ConvertedTable(str(row["sha256"]), int(row["size"]), dict(row["about"]))
        tables_of.setdefault((str(row["source_sha256"]), str(row["kind"])), []).append(one)
    return tables_of


def keep(db: Database, file: File, version: int, tables: Sequence[ConvertedTable]) -> list[str]:
    """In the place of those that were there, unless a newer version made them. Returns the hashes
    that this leaves without a row: those that were replaced, or these ones where the file was
    deleted for good meanwhile."""
    values = {
        "workspace": file.workspace_id,
        "source": file.sha256,
        "kind": file.kind,
        "version": version,
        "count": len(tables),
        "at": now(),
    }
    with db.transaction() as tx:
        tx.concerns([file.workspace_id])
        held = tx.read(
            "UPDATE files SET sha256 = sha256 WHERE workspace_id = :workspace AND "
            "sha256 = :source RETURNING id",
            values,
        )
        there = tx.read(f"SELECT sha256, version FROM converted_tables WHERE {_OF}", values)
        if not held or any(int(row["version"]) > version for row in there):
            return [one.sha256 for one in tables]
        for number, one in enumerate(tables):
            tx.execute(
                "INSERT INTO converted_tables (workspace_id, source_sha256, kind, number, version, "
                "sha256, size, about, made_at) VALUES (:workspace, :source, :kind, :number, "
                ":version, :sha256, :size, :about, :at) ON CONFLICT (workspace_id, source_sha256, "
                "kind, number) DO UPDATE SET version = excluded.version, sha256 = excluded.sha256, "
                "size = excluded.size, about = excluded.about, made_at = excluded.made_at",
                {**values, **vars(one), "number": number},
            )
        tx.execute(f"DELETE FROM converted_tables WHERE {_OF} AND number >= :count", values)
    hashes = {one.sha256 for one in tables}
    return [str(row["sha256"]) for row in there if row["sha256"] not in hashes]


def forget(db: Database, file: File) -> list[str]:
    """Those of a file, which cannot be used; returns the hashes of their Parquet."""
    values = {"workspace": file.workspace_id, "source": file.sha256, "kind": file.kind}
    with db.transaction() as tx:
        tx.concerns([file.workspace_id])
        rows = tx.read(f"DELETE FROM converted_tables WHERE {_OF} RETURNING sha256", values)
    return [str(row["sha256"]) for row in rows]


def unscoped_make_room(tx: Transaction) -> None:
    """Forget all of them, with what the database holds of their Parquet, for what cannot be made
    again. Bytes that were put once more since stay: something else may be made of them."""
    rows = tx.read("DELETE FROM converted_tables RETURNING workspace_id, sha256, made_at")
    for row in rows:
        if blob_names.is_named(tx, Scope(str(row["workspace_id"]), ""), str(row["sha256"])):
            continue
        which = "workspace_id = :workspace_id AND sha256 = :sha256"
        deleted = tx.read(
            f"DELETE FROM blobs WHERE {which} AND written_at <= :made_at RETURNING sha256", row
        )
        if deleted:
            tx.execute(f"DELETE FROM blob_pieces WHERE {which}", row)
