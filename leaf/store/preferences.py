"""What people chose for themselves, in whichever workspace they are."""

from __future__ import annotations

import re

from leaf.errors import InvalidInputError
from leaf.store.database import Database, now
from leaf.store.model import Scope
from leaf.store.users import params

_LANGUAGE = re.compile(r"[a-z]{2}")


def language(db: Database, scope: Scope) -> str:
    """The language that the page speaks to the caller, as `de`; empty where they leave it to their
    browser."""
    rows = db.read(
        "SELECT language FROM preferences WHERE user_id = :user", {"user": scope.user_id}
    )
    return str(rows[0]["language"]) if rows else ""


def set_language(db: Database, scope: Scope, chosen: str) -> None:
    """Raises InvalidInputError for what is no code of a language."""
    if chosen and not _LANGUAGE.fullmatch(chosen):
        raise InvalidInputError("That is no language.", "Give its two letters, such as de.")
    with db.transaction(scope) as tx:
        tx.execute(
            "INSERT INTO preferences (user_id, language, updated_at) VALUES (:user, :language, :at) "
            "ON CONFLICT (user_id) DO UPDATE SET language = :language, updated_at = :at",
            params(scope, language=chosen, at=now()),
        )
