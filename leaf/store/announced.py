"""Files of a job that were named before their bytes came: they come, are cancelled, and come again.
The jobs themselves stand in `jobs`."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.errors import NotFoundError
from leaf.store import jobs
from leaf.store.database import Database, Transaction, now, one_of
from leaf.store.jobs import ItemState, JobItem, State
from leaf.store.model import Json, Scope
from leaf.store.users import params

NOT_OVER: tuple[ItemState, ...] = ("coming", "waiting")
WITHOUT = "without"
URGENT = (
    "CASE state WHEN 'failed' THEN 0 WHEN 'unreadable' THEN 0 WHEN 'coming' THEN 1 "
    "WHEN 'waiting' THEN 1 WHEN 'cancelled' THEN 2 ELSE 3 END"
)
"""What a person looks for first, where not all can be shown."""


def item(db: Database, scope: Scope, job_id: str, position: int) -> JobItem:
    """Raises NotFoundError."""
    jobs.get(db, scope, job_id)
    rows = db.read(
        "SELECT position, name, given, state, file_id, problem FROM job_items "
        "WHERE job_id = :job AND position = :position",
        {"job": job_id, "position": position},
    )
    if not rows:
        raise NotFoundError("There is no such file in this job.", "Add it again.")
    return JobItem(**rows[0])


def shown(db: Database, scope: Scope, job_id: str, limit: int) -> list[JobItem]:
    """So many items at most, in their order; of more those that need somebody, then those that are
    under way. Raises NotFoundError."""
    jobs.get(db, scope, job_id)
    rows = db.read(
        "SELECT position, name, given, state, file_id, problem FROM job_items WHERE job_id = :job "
        f"ORDER BY {URGENT}, position LIMIT :limit",
        {"job": job_id, "limit": limit},
    )
    return sorted((JobItem(**row) for row in rows), key=lambda entry: entry.position)


def missing(db: Database, scope: Scope, chat_id: str) -> list[JobItem]:
    """What was given to a chat's next question and is not beside it: files that come, wait or have
    failed. None of a job that was put away, or that the question was to go without."""
    rows = db.read(
        "SELECT i.position, i.name, i.given, i.state, i.file_id, i.problem, j.asked "
        "FROM jobs j JOIN job_items i ON i.job_id = j.id "
        f"WHERE {jobs.OWN} AND i.state IN ('coming', 'waiting', 'failed') "
        "ORDER BY j.created_at, i.position",
        params(scope),
    )
    asked = [(row.pop("asked"), row) for row in rows]
    return [
        JobItem(**row)
        for request, row in asked
        if request.get("announced")
        and request.get("target") == chat_id
        and not request.get(WITHOUT)
    ]


def taken_back(db: Database, job_id: str) -> frozenset[str]:
    """Ids of the files that the job has added and whose items were all cancelled."""
    rows = db.read(
        "SELECT file_id FROM job_items WHERE job_id = :job AND file_id <> '' GROUP BY file_id "
        "HAVING count(CASE WHEN state <> 'cancelled' THEN 1 END) = 0",
        {"job": job_id},
    )
    return frozenset(str(row["file_id"]) for row in rows)


def wanted_too(
    db: Database, scope: Scope, file_id: str, job_id: str, position: int
) -> tuple[bool, frozenset[str]]:
    """Whether anything but this item wants the file in the library: another item of whichever job, a
    chat, a project; and the chats beside whose questions other items have put it."""
    values = params(scope, file=file_id, job=job_id, position=position)
    items = db.read(
        "SELECT j.asked FROM job_items i JOIN jobs j ON j.id = i.job_id WHERE i.file_id = :file AND "
        "j.workspace_id = :workspace AND i.state <> 'cancelled' AND NOT (i.job_id = :job AND "
        "i.position = :position)",
        values,
    )
    places = db.read(
        "SELECT 1 AS yes FROM chat_files k WHERE k.file_id = :file AND k.detached_at IS NULL "
        "UNION ALL SELECT 1 AS yes FROM project_files p WHERE p.file_id = :file",
        values,
    )
    targets = frozenset(str(row["asked"].get("target", "")) for row in items)
    return bool(items or places), targets - {""}


def do_without(db: Database, scope: Scope, job_id: str) -> None:
    """Have questions go out that do not wait for the files of a job. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        asked = {**jobs.get(tx, scope, job_id).asked, WITHOUT: True}
        tx.execute("UPDATE jobs SET asked = :asked WHERE id = :id", {"asked": asked, "id": job_id})


def came(db: Database, scope: Scope, job_id: str, position: int, name: str, given: Json) -> bool:
    """The bytes of a file are here; False if it is not expected any more. One that failed meanwhile,
    as an earlier line was found to be cut, is here all the same. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        jobs.get(tx, scope, job_id)
        rows = tx.read(
            "UPDATE job_items SET state = 'waiting', problem = '', name = :name, given = :given "
            "WHERE job_id = :job AND position = :position AND state IN ('coming', 'failed') "
            "RETURNING position",
            {"job": job_id, "position": position, "name": name, "given": given},
        )
        _settle(tx, job_id)
        return bool(rows)


def turn(
    db: Database,
    scope: Scope,
    job_id: str,
    before: Sequence[ItemState],
    state: ItemState,
    problem: str = "",
    position: int | None = None,
) -> int:
    """Give items, or the one at a position, another state, if they are in one of those before; how
    many there were. Raises NotFoundError."""
    known, names = one_of("state", before)
    one = "" if position is None else " AND position = :position"
    values: Json = {"job": job_id, "new": state, "problem": problem, **names}
    if position is not None:
        values["position"] = position
    with db.transaction(scope) as tx:
        jobs.get(tx, scope, job_id)
        rows = tx.read(
            "UPDATE job_items SET state = :new, problem = :problem "
            f"WHERE job_id = :job AND {known}{one} RETURNING position",
            values,
        )
        _settle(tx, job_id)
        return len(rows)


def reopen(db: Database, scope: Scope, job_id: str, state: State, holder: str) -> None:
    """Go on with a job, however it ended: a file of it comes again, or is looked at again. One that is
    under way stays with its process. Raises NotFoundError."""
    under_way, names = one_of("state", jobs.UNDER_WAY)
    with db.transaction(scope) as tx:
        if jobs.get(tx, scope, job_id).state != state:
            tx.execute(
                f"UPDATE jobs SET holder = CASE WHEN {under_way} THEN holder ELSE :holder END, "
                "state = :state, problem = '', ended_at = NULL, beat_at = :at WHERE id = :id",
                {"id": job_id, "state": state, "holder": holder, "at": now(), **names},
            )


def _settle(tx: Transaction, job_id: str) -> None:
    """With the last file that comes or will not come, nothing arrives any more."""
    tx.execute("UPDATE jobs SET beat_at = :at WHERE id = :id", {"id": job_id, "at": now()})
    coming = tx.read(
        "SELECT 1 AS yes FROM job_items WHERE job_id = :id AND state = 'coming' LIMIT 1",
        {"id": job_id},
    )
    if not coming:
        tx.execute(
            "UPDATE jobs SET state = 'working' WHERE id = :id AND state = 'arriving'",
            {"id": job_id},
        )
