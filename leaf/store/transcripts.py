"""Which recordings are transcribed, as rows; the words are in `blobs`. Called for files that the
caller was given, by their workspace."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from leaf.store.database import Database, now

VERSION = 1
"""Of how captions are written: WebVTT, a cue a line of text."""


@dataclass(frozen=True)
class TranscriptRow:
    """The finished transcript of a recording."""

    sha256: str
    """Of its captions."""
    size: int
    """Of them, in bytes."""
    cues: int
    seconds: float
    engine: str


def find(db: Database, workspace_id: str, source_sha256: str) -> TranscriptRow | None:
    """None where the words are not known whole."""
    rows = db.read(
        "SELECT sha256, size, cues, seconds, engine FROM transcripts WHERE workspace_id = "
        ":workspace AND source_sha256 = :source",
        {"workspace": workspace_id, "source": source_sha256},
    )
    return TranscriptRow(**rows[0]) if rows else None


def keep(db: Database, workspace_id: str, source_sha256: str, row: TranscriptRow) -> None:
    """In the place of one that was there."""
    values = {"workspace": workspace_id, "source": source_sha256, "version": VERSION, "at": now()}
    with db.transaction() as tx:
        tx.concerns([workspace_id])
        tx.execute(
            "DELETE FROM transcripts WHERE workspace_id = :workspace AND source_sha256 = :source",
            values,
        )
        tx.execute(
            "INSERT INTO transcripts (workspace_id, source_sha256, sha256, size, version, cues, "
            "seconds, engine, made_at) VALUES (:workspace, :source, :sha256, :size, :version, "
            ":cues, :seconds, :engine, :at)",
            {**values, **asdict(row)},
        )


def forget(db: Database, workspace_id: str, source_sha256: str) -> None:
    with db.transaction() as tx:
        tx.concerns([workspace_id])
        tx.execute(
            "DELETE FROM transcripts WHERE workspace_id = :workspace AND source_sha256 = :source",
            {"workspace": workspace_id, "source": source_sha256},
        )
