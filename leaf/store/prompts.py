"""Saved prompts: questions that a person keeps under a name. They are the person's own; one that is
shared everybody of the workspace may read, and its owners may delete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit
from leaf.store.database import Database, Transaction, now
from leaf.store.ids import new_id
from leaf.store.model import Scope
from leaf.store.usage import OWNER
from leaf.store.users import MEMBER, params

NAME_LENGTH = 80
TEXT_LENGTH = 20_000
MOST = 500
"""Of one person in one workspace."""
_COLUMNS = """
    q.id, q.name, q.text, q.shared, q.user_id, q.updated_at, q.user_id = :user AS own,
    coalesce((SELECT max(u.name) FROM users u WHERE u.id = q.user_id), '') AS author
"""
_SEEN = f"q.workspace_id = :workspace AND (q.user_id = :user OR q.shared) AND {MEMBER}"
"""True for the prompts (as `q`) that the caller may read."""


@dataclass(frozen=True)
class Prompt:
    """A question kept under a name."""

    id: str
    name: str
    text: str
    shared: bool
    """Whether everybody of the workspace may use it."""
    user_id: str
    updated_at: datetime
    own: bool
    """Whether the caller saved it, and so may change it."""
    author: str
    """The name of who saved it."""


@dataclass(frozen=True)
class PromptDraft:
    """What a person says of one."""

    name: str
    text: str
    shared: bool = False


def list_prompts(db: Database, scope: Scope) -> list[Prompt]:
    """The caller's own first, then those that others share, each by name."""
    rows = db.read(
        f"SELECT {_COLUMNS} FROM prompts q WHERE {_SEEN} "
        "ORDER BY q.user_id <> :user, lower(q.name), q.id",
        params(scope),
    )
    return [Prompt(**row) for row in rows]


def get(db: Database | Transaction, scope: Scope, prompt_id: str) -> Prompt:
    """Raises NotFoundError, also for one of somebody else that is not shared."""
    rows = db.read(
        f"SELECT {_COLUMNS} FROM prompts q WHERE q.id = :id AND {_SEEN}",
        params(scope, id=prompt_id),
    )
    if not rows:
        raise NotFoundError("No such prompt.", "It may have been deleted, or is not shared now.")
    return Prompt(**rows[0])


def save(db: Database, scope: Scope, draft: PromptDraft) -> Prompt:
    """Keep a new one. Raises InvalidInputError for one without a name or a text, one that is too
    long, or one too many; NotFoundError for a caller who is not of the workspace."""
    prompt = _checked(draft)
    prompt_id = new_id()
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            raise NotFoundError("No such workspace.", "Sign in again.")
        (there,) = tx.read(
            "SELECT count(*) AS n FROM prompts WHERE workspace_id = :workspace AND user_id = :user",
            params(scope),
        )
        if there["n"] >= MOST:
            raise InvalidInputError(
                f"There are {MOST} saved prompts.", "Delete some that you do not need any more."
            )
        tx.execute(
            "INSERT INTO prompts (id, workspace_id, user_id, name, text, shared, created_at, "
            "updated_at) VALUES (:id, :workspace, :user, :name, :text, :shared, :at, :at)",
            params(
                scope,
                id=prompt_id,
                name=prompt.name,
                text=prompt.text,
                shared=prompt.shared,
                at=now(),
            ),
        )
        _note(tx, scope, prompt_id, before=False, after=prompt.shared)
        return get(tx, scope, prompt_id)


def change(db: Database, scope: Scope, prompt_id: str, draft: PromptDraft) -> Prompt:
    """Put this in its place. Raises NotFoundError, and InvalidInputError as `save` does and for one
    of somebody else."""
    prompt = _checked(draft)
    with db.transaction(scope) as tx:
        before = get(tx, scope, prompt_id)
        if not before.own:
            raise InvalidInputError(
                f"This prompt is {before.author or 'somebody'}'s; only they can change it.",
                "Save it under another name to have one of your own.",
            )
        tx.execute(
            "UPDATE prompts SET name = :name, text = :text, shared = :shared, updated_at = :at "
            "WHERE id = :id AND user_id = :user",
            params(
                scope,
                id=prompt_id,
                name=prompt.name,
                text=prompt.text,
                shared=prompt.shared,
                at=now(),
            ),
        )
        _note(tx, scope, prompt_id, before=before.shared, after=prompt.shared)
        return get(tx, scope, prompt_id)


def delete(db: Database, scope: Scope, prompt_id: str) -> Prompt:
    """Remove it for good; returns what it was. Raises NotFoundError, and InvalidInputError for a
    shared one of somebody else unless the caller owns the workspace."""
    with db.transaction(scope) as tx:
        prompt = get(tx, scope, prompt_id)
        if not prompt.own and not tx.read(f"SELECT 1 AS yes WHERE {OWNER}", params(scope)):
            raise InvalidInputError(
                f"This prompt is {prompt.author or 'somebody'}'s.",
                "They can delete it, or an owner of the workspace.",
            )
        tx.execute("DELETE FROM prompts WHERE id = :id", {"id": prompt_id})
        if not prompt.own:
            audit.add(tx, scope, "shared prompt deleted", f"{prompt.user_id} {prompt_id}")
    return prompt


def _note(tx: Transaction, scope: Scope, prompt_id: str, *, before: bool, after: bool) -> None:
    if before != after:
        audit.add(tx, scope, "prompt shared" if after else "prompt not shared any more", prompt_id)


def _checked(draft: PromptDraft) -> PromptDraft:
    name, text = " ".join(draft.name.split()), draft.text.strip()
    if not text:
        raise InvalidInputError("The prompt is empty.", "Write the question.")
    if len(text) > TEXT_LENGTH:
        raise InvalidInputError(
            f"The prompt is longer than {TEXT_LENGTH:,} characters.", "Keep it in a file instead."
        )
    return PromptDraft((name or " ".join(text.split()))[:NAME_LENGTH], text, draft.shared)
