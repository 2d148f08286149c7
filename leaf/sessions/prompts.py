"""Saved prompts: questions that the user keeps to ask them again."""

from __future__ import annotations

from leaf.sessions.house import Part
from leaf.store import prompts
from leaf.store.database import searched
from leaf.store.prompts import Prompt, PromptDraft

PromptList = list[Prompt]


class Prompts(Part):
    """The user's own prompts, and those that others of the workspace share."""

    def list(self, query: str = "") -> PromptList:
        """Own ones first, each by name; with `query`, those in whose name or text all its words
        occur."""
        words = searched(query).split()
        all_prompts = prompts.list_prompts(self._db, self._scope)
        return [p for p in all_prompts if all(w in searched(f"{p.name}\n{p.text}") for w in words)]

    def get(self, prompt_id: str) -> Prompt:
        """Raises NotFoundError."""
        return prompts.get(self._db, self._scope, prompt_id)

    def save(self, draft: PromptDraft) -> Prompt:
        """Keep a new one; without a name it is called by its beginning. Raises
        InvalidInputError."""
        return prompts.save(self._db, self._scope, draft)

    def change(self, prompt_id: str, draft: PromptDraft) -> Prompt:
        """Put another name or text in its place, share it or not. Raises NotFoundError,
        InvalidInputError for one of somebody else."""
        return prompts.change(self._db, self._scope, prompt_id, draft)

    def delete(self, prompt_id: str) -> Prompt:
        """Remove an own one, or, for an owner of the workspace, one that is shared; returns what it
        was. Raises NotFoundError, InvalidInputError."""
        return prompts.delete(self._db, self._scope, prompt_id)
