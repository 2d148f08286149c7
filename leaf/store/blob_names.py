"""Which blobs the database names, and as what: all others are nobody's."""

from __future__ import annotations

from leaf.store.database import Database, Transaction
from leaf.store.model import Scope
from leaf.store.objects.base import BlobKey

KEPT = {
    "files": "file",
    "results": "result",
    "derived_pictures": "picture",
    "made_files": "file that Python wrote",
    "transcripts": "transcript",
    "shared_links": "snapshot of a public link",
    "converted_tables": "table as Parquet",
}
"""Tables with the workspace and the hash of a blob in each row, and what their rows are called."""


def is_named(db: Database | Transaction, scope: Scope, sha256: str) -> bool:
    """Whether anything of the workspace is made of these bytes, deleted files too, or is about to
    be: they have come again and wait to be entered."""
    values = {"workspace": scope.workspace_id, "sha256": sha256, "given": f"%{sha256}%"}
    asked = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} WHERE workspace_id = :workspace AND sha256 = :sha256)"
        for table in KEPT
    )
    waits = (
        "EXISTS (SELECT 1 FROM job_items i JOIN jobs j ON j.id = i.job_id WHERE j.workspace_id = "
        ":workspace AND i.state = 'waiting' AND CAST(i.given AS TEXT) LIKE :given)"
    )
    return bool(db.read(f"SELECT {asked} OR {waits} AS named", values)[0]["named"])


def unscoped_named(db: Database) -> dict[BlobKey, str]:
    """All that are named in any workspace, and what each is: `file orders.csv`. For whoever runs
    Leaf."""
    label_of: dict[BlobKey, str] = {}
    for table, what in KEPT.items():
        name = "max(name)" if table in ("files", "made_files") else "''"
        for row in db.read(
            f"SELECT workspace_id, sha256, {name} AS name FROM {table} WHERE sha256 <> '' "
            f"GROUP BY workspace_id, sha256"
        ):
            key = BlobKey(row["workspace_id"], row["sha256"])
            label_of.setdefault(key, f"{what} {row['name']}".strip())
    return {**unscoped_waiting(db), **label_of}


def unscoped_named_in(db: Database, workspace_id: str) -> set[BlobKey]:
    """Those that are named in one workspace, and those that wait in it."""
    each = (f"SELECT sha256 FROM {t} WHERE workspace_id = :workspace" for t in KEPT)
    rows = db.read(" UNION ".join(each), {"workspace": workspace_id})
    named = {BlobKey(workspace_id, str(row["sha256"])) for row in rows if row["sha256"]}
    return named | {key for key in unscoped_waiting(db) if key.workspace_id == workspace_id}


def unscoped_waiting(db: Database) -> dict[BlobKey, str]:
    """Those of files that have come and are not entered yet."""
    rows = db.read(
        "SELECT j.workspace_id, i.name, i.given FROM job_items i JOIN jobs j ON j.id = i.job_id "
        "WHERE i.state = 'waiting'"
    )
    return {
        BlobKey(row["workspace_id"], str(row["given"]["sha256"])): f"waiting file {row['name']}"
        for row in rows
        if isinstance(row["given"], dict) and row["given"].get("sha256")
    }


def unscoped_workspaces(db: Database) -> set[str]:
    """Those that this database has: a bucket may hold blobs of others too."""
    return {str(row["id"]) for row in db.read("SELECT id FROM workspaces")}
