"""Jobs: files on their way into the library, each with what became of it. Whoever began a job sees
it, and nobody else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from leaf.errors import NotFoundError
from leaf.store.changes import RUNS
from leaf.store.database import Database, Row, Transaction, now, one_of
from leaf.store.ids import new_id
from leaf.store.model import Json, Scope
from leaf.store.users import MEMBER, params

Kind = Literal["files", "drive", "transcript"]
State = Literal["arriving", "working", "done", "stopped", "failed"]
ItemState = Literal["coming", "waiting", "added", "known", "unreadable", "failed", "cancelled"]

UNDER_WAY = ("arriving", "working")
COLUMNS = (
    "j.id, j.kind, j.state, j.total, j.asked, j.outcome, j.problem, j.created_at, j.beat_at, "
    "j.ended_at"
)
COUNTED = f"""
    SELECT {COLUMNS}, coalesce(i.there, 0) AS there, coalesce(i.done, 0) AS done, coalesce(i.failed, 0) AS failed,
        coalesce(i.coming, 0) AS coming, coalesce(i.cancelled, 0) AS cancelled
    FROM jobs j LEFT JOIN (
        SELECT job_id, count(CASE WHEN state <> 'coming' THEN 1 END) AS there,
            count(CASE WHEN state = 'coming' THEN 1 END) AS coming,
            count(CASE WHEN state = 'cancelled' THEN 1 END) AS cancelled,
            count(CASE WHEN state NOT IN ('coming', 'waiting') THEN 1 END) AS done,
            count(CASE WHEN state IN ('unreadable', 'failed') THEN 1 END) AS failed
        FROM job_items GROUP BY job_id) i ON i.job_id = j.id
"""
OWN = f"j.workspace_id = :workspace AND j.user_id = :user AND {MEMBER}"


@dataclass(frozen=True)
class Job:
    """How far a job is."""

    id: str
    kind: Kind
    state: State
    """`arriving`: more files are to come from the browser or the command."""
    total: int
    """Files in all, as far as is known; 0 before that."""
    asked: Json
    outcome: Json
    problem: str
    """Why it ended before its end, or why files are missing."""
    created_at: datetime
    beat_at: datetime
    """When something last happened to it."""
    ended_at: datetime | None
    there: int = 0
    """Files that have arrived."""
    done: int = 0
    """Files of which it is known what became of them."""
    failed: int = 0
    """Those among them that could not be added, or not be read."""
    coming: int = 0
    """Files that were announced and whose bytes are not here yet."""
    cancelled: int = 0
    """Files that were not wanted any more."""
    looked: int = field(default=0, compare=False)
    """Files that were looked at; those beyond `done` are entered in a moment."""
    note: str = field(default="", compare=False)
    """What is being done beside that, in words."""
    beside: int = field(default=0, compare=False)
    """Files that are done and, where a chat is to get them, beside its next question."""

    @property
    def under_way(self) -> bool:
        return self.state in UNDER_WAY

    @property
    def announced(self) -> bool:
        """Whether each of its files was named before its bytes came."""
        return bool(self.asked.get("announced"))

    @property
    def entered(self) -> bool:
        """Whether all of its files are in the library, though large ones may still be read
        ahead."""
        return not self.under_way or (self.state == "working" and self.done >= self.total > 0)

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        if not self.under_way:
            return 1.0
        return min(1.0, max(self.done, self.looked) / self.total) if self.total else 0.0


def progress_line(job: Job) -> str:
    """`412 of 1,400 files, 29 %; 3 failed`."""
    failed = f"; {job.failed:,} failed" if job.failed else ""
    if not job.total:
        return "Looking what there is"
    return (
        f"{min(max(job.done, job.looked), job.total):,} of {job.total:,} files, "
        f"{int(100 * job.share)} %{failed}"
    )


def outcome_line(job: Job) -> str:
    """`1,397 of 1,400 files are there; 3 failed. Stopped.`"""
    there = job.done - job.failed - job.cancelled
    pieces = [
        f"{there:,} of {job.total:,} files {'is' if there == 1 else 'are'} there"
        if job.total
        else "No file was added"
    ]
    pieces += [f"{job.failed:,} failed"] if job.failed else []
    pieces += [f"{job.cancelled:,} cancelled"] if job.cancelled else []
    ended = {"stopped": " Stopped.", "failed": f" {job.problem}"}.get(
        job.state, f" {job.problem}" if job.problem else ""
    )
    return "; ".join(pieces) + "." + ended


@dataclass(frozen=True)
class JobItem:
    """One file of a job."""

    position: int
    name: str
    given: Json
    state: ItemState
    file_id: str
    """Empty while it comes or waits, for `failed` and `cancelled`."""
    problem: str
    """Of `unreadable` and `failed`: what is wrong and what to do."""


@dataclass(frozen=True)
class Became:
    """What became of an item."""

    position: int
    state: ItemState
    file_id: str = ""
    problem: str = ""


def begin(
    db: Database, scope: Scope, kind: Kind, state: State, total: int, asked: Json, holder: str
) -> Job:
    """A new job. Raises NotFoundError for somebody who is no member."""
    at = now()
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS here WHERE {MEMBER}", params(scope)):
            raise NotFoundError("No such workspace.", "Sign in again.")
        job_id = new_id()
        tx.execute(
            """
            INSERT INTO jobs (id, workspace_id, user_id, kind, state, total, asked, outcome, problem, holder, beat_at, created_at)
            VALUES (:id, :workspace, :user, :kind, :state, :total, :asked, :outcome, '', :holder, :at, :at)
            """,
            params(
                scope,
                id=job_id,
                kind=kind,
                state=state,
                total=total,
                asked=asked,
                outcome={},
                holder=holder,
                at=at,
            ),
        )
    return Job(job_id, kind, state, total, asked, {}, "", at, at, None)


def get(db: Database | Transaction, scope: Scope, job_id: str) -> Job:
    """Raises NotFoundError."""
    rows = db.read(f"{COUNTED} WHERE j.id = :id AND {OWN}", params(scope, id=job_id))
    if not rows:
        raise NotFoundError("There is no such job.", "What was added is on the Files page.")
    return Job(**rows[0])


def list_jobs(db: Database, scope: Scope) -> list[Job]:
    """The caller's jobs that were not put away, oldest first."""
    rows = db.read(f"{COUNTED} WHERE {OWN} ORDER BY j.created_at, j.id", params(scope))
    return [Job(**row) for row in rows]


def append(
    db: Database,
    scope: Scope,
    job_id: str,
    items: Sequence[tuple[str, Json, str]],
    *,
    total: int = 0,
    state: ItemState = "waiting",
) -> None:
    """Put (name, how it is found, why it is failed already) behind the items of a job. Raises
    NotFoundError.

    `total` is how many there are in all, where that is known only now; `state` that of items that
    are not failed.
    """
    with db.transaction(scope) as tx:
        job = get(tx, scope, job_id)
        for number, (name, source, problem) in enumerate(items, job.there + job.coming):
            tx.execute(
                "INSERT INTO job_items (job_id, position, name, given, state, file_id, problem) "
                "VALUES (:job, :position, :name, :given, :state, '', :problem)",
                {
                    "job": job_id,
                    "position": number,
                    "name": name,
                    "given": source,
                    "state": "failed" if problem else state,
                    "problem": problem,
                },
            )
        tx.execute(
            "UPDATE jobs SET beat_at = :at, total = :total WHERE id = :id",
            {
                "at": now(),
                "id": job_id,
                "total": max(job.total, total, job.there + job.coming + len(items)),
            },
        )


def waiting(db: Database, job_id: str, limit: int) -> list[JobItem]:
    """The first items of which nothing has become yet."""
    return _items(db, "job_id = :job AND state = 'waiting'", {"job": job_id}, limit)


def outcomes(db: Database, scope: Scope, job_id: str) -> list[JobItem]:
    """Items of which something has become, in their order. Raises NotFoundError."""
    get(db, scope, job_id)
    done = "job_id = :job AND state NOT IN ('coming', 'waiting')"
    return _items(db, done, {"job": job_id}, 1_000_000)


def _items(db: Database, condition: str, values: Json, limit: int) -> list[JobItem]:
    rows = db.read(
        f"SELECT position, name, given, state, file_id, problem FROM job_items WHERE {condition} "
        f"ORDER BY position LIMIT :limit",
        {**values, "limit": limit},
    )
    return [JobItem(**row) for row in rows]


def mark(db: Database, job_id: str, became: Iterable[Became]) -> set[int]:
    """Keep what became of items, but of those that were cancelled meanwhile: the positions of
    these."""
    with db.transaction() as tx:
        return mark_in(tx, job_id, became)


def mark_in(tx: Transaction, job_id: str, became: Iterable[Became]) -> set[int]:
    cancelled: set[int] = set()
    for one in became:
        rows = tx.read(
            "UPDATE job_items SET state = :state, file_id = :file, problem = :problem "
            "WHERE job_id = :job AND position = :position AND state <> 'cancelled' "
            "RETURNING position",
            {
                "job": job_id,
                "position": one.position,
                "state": one.state,
                "file": one.file_id,
                "problem": one.problem,
            },
        )
        if not rows:
            cancelled.add(one.position)
    tx.execute("UPDATE jobs SET beat_at = :at WHERE id = :id", {"at": now(), "id": job_id})
    return cancelled


def all_there(db: Database, scope: Scope, job_id: str, problem: str = "") -> None:
    """No more files come. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        job = get(tx, scope, job_id)
        tx.execute(
            "UPDATE jobs SET state = 'working', total = :total, problem = :problem WHERE id = :id "
            "AND state = 'arriving'",
            {"id": job_id, "total": job.there, "problem": problem},
        )


def set_outcome(db: Database, job_id: str, outcome: Json) -> None:
    with db.transaction() as tx:
        rows = tx.read(
            "UPDATE jobs SET outcome = :outcome, beat_at = :at WHERE id = :id RETURNING "
            "workspace_id",
            _at(job_id, outcome=outcome),
        )
        _concerns(tx, rows)


def end(
    db: Database, job_id: str, state: State, problem: str = "", holders: Sequence[str] = ()
) -> bool:
    """Say how it ended; False if it was over already, is not done, or, where `holders` are given,
    belongs to none of these processes any more."""
    mine = {f"holder{number}": holder for number, holder in enumerate(holders)}
    whose = f" AND holder IN ({', '.join(f':{name}' for name in mine)})" if mine else ""
    undone = " AND NOT EXISTS (SELECT 1 FROM job_items WHERE job_id = :id AND state IN ('coming', 'waiting'))"
    with db.transaction() as tx:
        under_way, names = one_of("state", UNDER_WAY)
        rows = tx.read(
            "UPDATE jobs SET state = :state, ended_at = :at, "
            "problem = CASE WHEN CAST(:problem AS TEXT) = '' THEN problem ELSE :problem END "
            f"WHERE id = :id AND {under_way}{whose}{undone if state == 'done' else ''} "
            "RETURNING workspace_id",
            _at(job_id, state=state, problem=problem, **names, **mine),
        )
        _concerns(tx, rows)
        if rows and state == "stopped":
            tx.tell(RUNS)  # another process may be at it
        return bool(rows)


def go_on(db: Database, scope: Scope, job_id: str, holder: str) -> bool:
    """Take up again a job that was stopped or failed; of several that try, one does. Raises
    NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, job_id)
        rows = tx.read(
            "UPDATE jobs SET state = 'working', problem = '', ended_at = NULL, holder = :holder, "
            "beat_at = :at "
            "WHERE id = :id AND state IN ('stopped', 'failed') RETURNING id",
            _at(job_id, holder=holder),
        )
        return bool(rows)


def forget(db: Database, scope: Scope, job_id: str) -> None:
    """Put away a job that is over; what it added stays. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        if get(tx, scope, job_id).under_way:
            return
        _delete(tx, [job_id])


def unscoped_claim(
    db: Database, holder: str, older_than: timedelta | None
) -> list[tuple[Scope, str]]:
    """Make unfinished jobs this process's own, for its start: all, or where others work beside it those
    of processes that never were among them (see `unscoped_claim_left`) and at which nothing has
    happened for so long. A process that is among them has its jobs, however long one file takes."""
    under_way, names = one_of("state", UNDER_WAY)
    values: Json = {"holder": holder, "at": now(), **names}
    left = ""
    if older_than is not None:
        left = " AND beat_at <= :before AND holder NOT LIKE '%.%'"
        values["before"] = now() - older_than
    with db.transaction() as tx:
        rows = tx.read(
            f"UPDATE jobs SET holder = :holder, beat_at = :at WHERE {under_way}{left} "
            "RETURNING id, workspace_id, user_id",
            values,
        )
        _concerns(tx, rows)
    return _in_order(rows)


def unscoped_claim_left(db: Database, holder: str) -> list[tuple[Scope, str]]:
    """Make unfinished jobs this process's own whose process is among the others no more (see `leases`); of
    several that try, one gets each. Holders without a point in their name are of processes that never
    were among them."""
    under_way, names = one_of("state", UNDER_WAY)
    with db.transaction() as tx:
        rows = tx.read(
            f"UPDATE jobs SET holder = :holder, beat_at = :at WHERE {under_way} AND "
            "holder LIKE '%.%' AND holder NOT IN (SELECT id FROM processes) "
            "RETURNING id, workspace_id, user_id",
            {"holder": holder, "at": now(), **names},
        )
        _concerns(tx, rows)
    return _in_order(rows)


def unscoped_hand_on(db: Database, old: str, new: str) -> None:
    """What a process began before it had its id among the others gets that name, by which others
    see that it is gone."""
    under_way, names = one_of("state", UNDER_WAY)
    with db.transaction() as tx:
        tx.execute(
            f"UPDATE jobs SET holder = :new WHERE holder = :old AND {under_way}",
            {"old": old, "new": new, **names},
        )


def unscoped_held(db: Database, holder: str) -> frozenset[str]:
    """Ids of the unfinished jobs of a process."""
    under_way, names = one_of("state", UNDER_WAY)
    rows = db.read(
        f"SELECT id FROM jobs WHERE holder = :holder AND {under_way}", {"holder": holder, **names}
    )
    return frozenset(str(row["id"]) for row in rows)


def unscoped_prune(db: Database, older_than: timedelta) -> None:
    """Put away all jobs that ended so long ago."""
    with db.transaction() as tx:
        rows = tx.read(
            "SELECT id, workspace_id FROM jobs WHERE ended_at < :before",
            {"before": now() - older_than},
        )
        _delete(tx, [str(row["id"]) for row in rows])
        _concerns(tx, rows)


def _in_order(rows: Iterable[Row]) -> list[tuple[Scope, str]]:
    return [
        (Scope(str(row["workspace_id"]), str(row["user_id"])), str(row["id"]))
        for row in sorted(rows, key=lambda row: str(row["id"]))
    ]


def _delete(tx: Transaction, job_ids: Sequence[str]) -> None:
    for table, column in (("job_items", "job_id"), ("jobs", "id")):
        those, names = one_of(column, job_ids)
        tx.execute(f"DELETE FROM {table} WHERE {those}", names)


def _concerns(tx: Transaction, rows: Iterable[Row]) -> None:
    """A job is known by its id alone where it ends; the rows say whose it is."""
    tx.concerns(str(row["workspace_id"]) for row in rows)


def _at(job_id: str, **more: object) -> Json:
    return {"id": job_id, "at": now(), **more}
