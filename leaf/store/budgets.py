"""What owners of a workspace allow: for the workspace, for each member, for one of them. Everybody
in it may read it."""

from __future__ import annotations

from leaf.errors import InvalidInputError, NotFoundError
from leaf.settings import Allowance
from leaf.store import audit
from leaf.store.database import Database, now
from leaf.store.model import Budget, Scope
from leaf.store.usage import OWNER
from leaf.store.users import MEMBER, params

WORKSPACE = "workspace"
MEMBERS = "members"
"""The subject of what holds for each member who has no budget of their own."""


def list_budgets(db: Database, scope: Scope) -> dict[str, Budget]:
    """Subject -> what is set for it."""
    rows = db.read(
        "SELECT b.subject, b.day_usd, b.day_tokens, b.month_usd, b.month_tokens, b.set_by, "
        "coalesce(p.name, '') AS set_by_name, "
        f"b.set_at FROM budgets b LEFT JOIN users p ON p.id = b.set_by WHERE b.workspace_id = "
        f":workspace AND {MEMBER}",
        params(scope),
    )
    budgets = {}
    for row in rows:
        figures = Allowance(*(row[name] for name in Allowance.NAMES))
        budgets[str(row["subject"])] = Budget(
            str(row["subject"]), figures, str(row["set_by_name"]), row["set_at"]
        )
    return budgets


def set_budget(db: Database, scope: Scope, subject: str, allowance: Allowance) -> None:
    """Put this in place of what was set; figures that are None, or all of them, are left to what
    holds otherwise.

    Raises InvalidInputError for a caller who is no owner, NotFoundError for a subject that is no
    member.
    """
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {OWNER}", params(scope)):
            raise InvalidInputError(
                "Only an owner of the workspace can set budgets.", "Ask one of its owners."
            )
        if subject not in (WORKSPACE, MEMBERS) and not tx.read(
            "SELECT 1 AS yes FROM workspace_members WHERE workspace_id = :workspace AND user_id "
            "= :subject",
            params(scope, subject=subject),
        ):
            raise NotFoundError("No such member of this workspace.", "They may have left.")
        tx.execute(
            "DELETE FROM budgets WHERE workspace_id = :workspace AND subject = :subject",
            params(scope, subject=subject),
        )
        audit.add(tx, scope, "budget set", subject)
        if allowance:
            tx.execute(
                "INSERT INTO budgets (workspace_id, subject, day_usd, day_tokens, month_usd, "
                "month_tokens, set_by, set_at) "
                "VALUES (:workspace, :subject, :day_usd, :day_tokens, :month_usd, :month_tokens, "
                ":user, :at)",
                params(
                    scope,
                    subject=subject,
                    at=now(),
                    **{name: getattr(allowance, name) for name in Allowance.NAMES},
                ),
            )


def role(db: Database, scope: Scope) -> str:
    """`owner` or `member`; empty for somebody who is neither."""
    rows = db.read(
        "SELECT role FROM workspace_members WHERE workspace_id = :workspace AND user_id = :user",
        params(scope),
    )
    return str(rows[0]["role"]) if rows else ""
