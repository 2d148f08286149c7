"""Numbered migrations: run once each, in order, at the start of the process and never later.

`0018_history.sql` is for both databases; what only one of them needs, such as indexes, stands beside
it in `0018_history.postgres.sql` and is run after it there.

DuckDB loses an open database when its schema changes while others write; hence at boot only, before
anything else is asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from leaf.errors import StoreError
from leaf.store.database import Database, Engine, Transaction, now

FOLDER = Path(__file__).parent / "migrations"


@dataclass(frozen=True)
class Migration:
    number: int
    name: str
    sql: str
    own: Mapping[Engine, str] = field(default_factory=dict)
    """What one database alone runs after `sql`."""

    @property
    def checksum(self) -> str:
        """Of all of it, so that it is the same on both databases."""
        texts = [self.sql, *(f"-- {engine}\n{self.own[engine]}" for engine in sorted(self.own))]
        return hashlib.sha256("".join(texts).encode()).hexdigest()


def migrations(folder: Path = FOLDER) -> list[Migration]:
    """Those that this version knows, in order: `0001_initial.sql`."""
    steps = []
    for path in sorted(folder.glob("*.sql")):
        matched = re.fullmatch(r"(\d{4})_(\w+)", path.stem)
        if matched:
            own = {
                engine: _text(path.with_suffix(f".{engine}.sql"))
                for engine in get_args(Engine)
                if path.with_suffix(f".{engine}.sql").exists()
            }
            steps.append(Migration(int(matched.group(1)), matched.group(2), _text(path), own))
    return steps


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def migrate(db: Database, known: list[Migration]) -> list[int]:
    """Bring the database up to date, all or nothing; returns the numbers that were run.

    Raises StoreError if a newer Leaf wrote the database, or if a migration is not the one that was
    run then.
    """
    with db.migration() as tx:
        return apply(tx, known)


def apply(tx: Transaction, known: Sequence[Migration]) -> list[int]:
    """`migrate` inside of a transaction, such as that of a restore."""
    tx.execute(
        "CREATE TABLE IF NOT EXISTS leaf_migrations "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at "
        "TIMESTAMPTZ NOT NULL)"
    )
    rows = tx.read("SELECT number, checksum FROM leaf_migrations ORDER BY number")
    applied = {int(r["number"]): str(r["checksum"]) for r in rows}
    _check(applied, known)
    pending = [m for m in known if m.number not in applied]
    for migration in pending:
        _run(tx, migration)
    return [m.number for m in pending]


def _check(applied: dict[int, str], known: Sequence[Migration]) -> None:
    newest = max((m.number for m in known), default=0)
    if applied and max(applied) > newest:
        raise StoreError(
            f"The history was written by a newer version of Leaf (schema {max(applied)}; this "
            f"version knows {newest}).",
            "Update Leaf, or set LEAF_HOME to another folder. Nothing was changed.",
        )
    for migration in known:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise StoreError(
                f"Migration {migration.number:04d}_{migration.name} is not the one that made "
                f"this database.",
                "Run the version of Leaf that made it. Nothing was changed.",
            )


def _run(tx: Transaction, migration: Migration) -> None:
    tx.execute(migration.sql)
    if tx.engine in migration.own:
        tx.execute(migration.own[tx.engine])
    tx.execute(
        "INSERT INTO leaf_migrations (number, name, checksum, applied_at) VALUES (:number, :name, "
        ":checksum, :at)",
        {
            "number": migration.number,
            "name": migration.name,
            "checksum": migration.checksum,
            "at": now(),
        },
    )
