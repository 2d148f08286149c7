"""Sign-ins: which user an account of a login provider is, and whether a sign-in still holds.

Streamlit's cookie survives a sign-out in every tab that is open, so this table says which sign-ins
are over.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from leaf.errors import NotFoundError, SignInError
from leaf.settings.mail import one_form
from leaf.store import audit, users
from leaf.store.database import Database, Transaction, now
from leaf.store.ids import new_id
from leaf.store.model import Identity, Scope, User, Visit
from leaf.store.users import MEMBER, params

KEPT = timedelta(days=60)
"""How long a sign-in is remembered: longer than Streamlit's cookie lives, so that none comes back
to life."""


def find(db: Database, identity: Identity, workspace_id: str = "") -> Visit | None:
    """Who this is and where: in `workspace_id` if it is theirs, else where they were last. None if
    `begin` has to be called.

    Raises SignInError if the sign-in was ended.
    """
    rows = db.read(
        "SELECT l.ended_at, l.workspace_id, u.id, u.email, u.name, u.created_at FROM logins l "
        "LEFT JOIN users u ON u.id = l.user_id "
        "WHERE l.id = :login",
        {"login": identity.login_id},
    )
    if not rows:
        return None
    row = rows[0]
    last = row.pop("workspace_id")
    if row.pop("ended_at") is not None:
        raise SignInError("You are signed out.", "Sign in to go on.", reason="ended")
    user = User(**row)
    memberships = db.read(
        "SELECT m.workspace_id FROM workspace_members m WHERE m.user_id = :user "
        "ORDER BY (m.workspace_id = :wanted) DESC, (m.workspace_id = :last) DESC, m.created_at, "
        "m.workspace_id LIMIT 1",
        {"user": user.id, "wanted": workspace_id, "last": last},
    )
    return (
        Visit(user, Scope(str(memberships[0]["workspace_id"]), user.id), identity.login_id)
        if memberships
        else None
    )


def begin(db: Database, identity: Identity) -> None:
    """Take note of a sign-in: make its user and their workspace at first use, and let them join
    where they were invited.

    Two tabs may do this at once. Raises SignInError if the address belongs to another account.
    """
    with db.transaction() as tx:
        user_id = _user_of(tx, identity)
        _refresh(tx, user_id, identity)
        joined = _accept(tx, user_id)
        known = tx.read(
            "SELECT 1 AS yes FROM workspace_members WHERE user_id = :user AND role = 'owner'",
            {"user": user_id},
        )
        if not known:
            users.add_workspace(tx, user_id, f"{identity.first_name}'s Workspace")
        # Whoever was here before would put their next files before people they have not chosen.
        opens = "" if known else joined
        tx.execute(
            "INSERT INTO logins (id, user_id, workspace_id, created_at) VALUES (:id, :user, "
            ":workspace, :at) "
            "ON CONFLICT DO NOTHING",
            {
                "id": identity.login_id,
                "user": user_id,
                "workspace": opens or _last(tx, user_id),
                "at": now(),
            },
        )
        tx.execute("DELETE FROM logins WHERE created_at < :horizon", {"horizon": now() - KEPT})
        audit.in_all_workspaces(tx, user_id, "signed in")
        _concerns(tx, user_id)


def end(db: Database, visit: Visit) -> None:
    """Sign out: every tab of this sign-in."""
    _end(
        db,
        visit,
        "signed out",
        "id = :login AND user_id = :user",
        {"login": visit.login_id, "user": visit.user.id},
    )


def end_all(db: Database, visit: Visit) -> None:
    """Sign out everywhere: every sign-in of the user."""
    _end(db, visit, "signed out everywhere", "user_id = :user", {"user": visit.user.id})


def forget_whose(tx: Transaction, user_id: str) -> None:
    """Somebody's sign-ins are over, and nobody's any more: a page that is still open would make the
    account anew."""
    tx.execute(
        "UPDATE logins SET ended_at = coalesce(ended_at, :at), user_id = '', workspace_id = '' "
        "WHERE user_id = :user",
        {"user": user_id, "at": now()},
    )


def remember_workspace(db: Database, visit: Visit, workspace_id: str) -> None:
    """Open this one in new tabs. Raises NotFoundError if it is not the user's."""
    with db.transaction() as tx:
        if not tx.read(
            f"SELECT 1 AS yes WHERE {MEMBER}", params(Scope(workspace_id, visit.user.id))
        ):
            raise NotFoundError("No such workspace.", "You may have been removed from it.")
        tx.execute(
            "UPDATE logins SET workspace_id = :workspace WHERE id = :login AND user_id = :user",
            {"workspace": workspace_id, "login": visit.login_id, "user": visit.user.id},
        )


def _end(
    db: Database, visit: Visit, action: str, condition: str, values: dict[str, object]
) -> None:
    with db.transaction() as tx:
        audit.in_all_workspaces(tx, visit.user.id, action)
        _concerns(tx, visit.user.id)
        tx.execute(
            f"UPDATE logins SET ended_at = :at WHERE ended_at IS NULL AND {condition}",
            {**values, "at": now()},
        )


def _concerns(tx: Transaction, user_id: str) -> None:
    """A sign-in is no workspace's: it is told in all that the user is a member of."""
    rows = tx.read(
        "SELECT workspace_id FROM workspace_members WHERE user_id = :user", {"user": user_id}
    )
    tx.concerns(str(row["workspace_id"]) for row in rows)


def _user_of(tx: Transaction, identity: Identity) -> str:
    """The account's user: by issuer and subject, else by address, else a new one."""
    known = _known(tx, identity)
    if known:
        return known
    at = now()
    row = {"id": new_id(), "email": identity.email, "name": identity.name, "at": at}
    tx.execute(
        "INSERT INTO users (id, email, name, created_at) VALUES (:id, :email, :name, :at) ON "
        "CONFLICT DO NOTHING",
        row,
    )
    # Waits for another first visit, if there is one, and then finds what that one made.
    known = _known(tx, identity)
    if known:
        return known
    user_id = str(
        tx.read("SELECT id FROM users WHERE email = :email", {"email": identity.email})[0]["id"]
    )
    if user_id != row["id"]:
        _check_same_person(tx, user_id, identity)
    _link(tx, user_id, identity, at)
    return user_id


def _known(tx: Transaction, identity: Identity) -> str:
    rows = tx.read(
        "SELECT user_id FROM identities WHERE issuer = :issuer AND subject = :subject",
        {"issuer": identity.issuer, "subject": identity.subject},
    )
    return str(rows[0]["user_id"]) if rows else ""


def _check_same_person(tx: Transaction, user_id: str, identity: Identity) -> None:
    """Whether the address alone may open an account that exists.

    It may not where the same provider knew it under another subject: an address given to a new
    person must not open the old person's chats. It may not either where the provider does not vouch
    for it: anyone could claim it there.
    """
    rows = tx.read("SELECT issuer FROM identities WHERE user_id = :user", {"user": user_id})
    if any(row["issuer"] == identity.issuer for row in rows) or (rows and not identity.verified):
        raise SignInError(
            f"{identity.email} is already used here by another account.",
            "Sign in the way you did before. If the address is yours now, ask whoever runs Leaf "
            "to unlink it.",
            reason="refused",
        )


def _link(tx: Transaction, user_id: str, identity: Identity, at: datetime) -> None:
    tx.execute(
        "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (:issuer, :subject, "
        ":user, :at)",
        {"issuer": identity.issuer, "subject": identity.subject, "user": user_id, "at": at},
    )


def _refresh(tx: Transaction, user_id: str, identity: Identity) -> None:
    """Take over name and address as they are now, unless somebody else has the address here.

    The update also makes a second tab wait on PostgreSQL until this one has made what it misses.
    """
    tx.execute(
        "UPDATE users SET name = :name WHERE id = :id", {"name": identity.name, "id": user_id}
    )
    tx.execute(
        "UPDATE users SET email = :email WHERE id = :id AND email <> :email "
        "AND NOT EXISTS (SELECT 1 FROM users other WHERE other.email = :email)",
        {"email": identity.email, "id": user_id},
    )


def _accept(tx: Transaction, user_id: str) -> str:
    """Join every workspace that invited the user's address; the id of one that is new to them."""
    invited = tx.read(
        "DELETE FROM invitations WHERE email = (SELECT email FROM users WHERE id = :user) "
        "RETURNING workspace_id",
        {"user": user_id},
    )
    for row in invited:
        tx.execute(
            "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
            "(:workspace, :user, 'member', :at) "
            "ON CONFLICT DO NOTHING",
            {"workspace": row["workspace_id"], "user": user_id, "at": now()},
        )
        audit.add(tx, Scope(str(row["workspace_id"]), user_id), "joined", user_id)
    return str(invited[0]["workspace_id"]) if invited else ""


def _last(tx: Transaction, user_id: str) -> str:
    """The workspace that was open at the sign-in before."""
    rows = tx.read(
        "SELECT workspace_id FROM logins WHERE user_id = :user ORDER BY created_at DESC LIMIT 1",
        {"user": user_id},
    )
    return str(rows[0]["workspace_id"]) if rows else ""


def unscoped_unlink(db: Database, email: str) -> bool:
    """Let the next account with this address take the user over; ends all their sign-ins. For
    whoever runs Leaf only.

    Returns whether there is such a user.
    """
    with db.transaction() as tx:
        rows = tx.read("SELECT id FROM users WHERE email = :email", {"email": one_form(email)})
        for row in rows:
            _concerns(tx, str(row["id"]))
            audit.add(tx, Scope("", ""), "account unlinked", str(row["id"]))
            tx.execute("DELETE FROM identities WHERE user_id = :id", row)
            tx.execute(
                "UPDATE logins SET ended_at = :at WHERE user_id = :id AND ended_at IS NULL",
                {**row, "at": now()},
            )
    return bool(rows)
