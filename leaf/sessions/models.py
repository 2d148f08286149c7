"""Models: what answers the user, and a connection of their own."""

from __future__ import annotations

from leaf.agent.connections import ModelConnection, ModelDraft
from leaf.agent.models.directory import ModelChoice
from leaf.agent.probe import Tested
from leaf.sessions.house import Part
from leaf.store import audit

ChoiceList = list[ModelChoice]


class Models(Part):
    """The model server that answers the user: their own, or that of the environment."""

    def connection(self) -> ModelConnection:
        """What answers, and what the user may do about it. Asks no server."""
        return self._house.connections.state(self._scope)

    def keyless(self) -> bool:
        """Whether no model answers, but rules."""
        return self._house.connections.keyless(self._scope)

    def profile(self) -> str:
        """How the default model is spoken to, `claude` or `basic`."""
        connected = self._house.connections.of(self._scope)
        return connected.settings.profile_for(connected.directory.default())

    def list(self) -> ChoiceList:
        """Models that can be chosen, from the server where it says."""
        return self._house.connections.of(self._scope).directory.choices()

    def default(self) -> str:
        """The model for chats that have none of their own."""
        return self.meant("")

    def meant(self, model: str) -> str:
        """Which model answers in a chat that has this one; empty for the default."""
        return self._house.connections.meant(self._scope, model)

    def set_default(self, model: str) -> None:
        """Choose the default: of one's own connection; without one of everybody, where nobody signs
        in. Raises InvalidInputError."""
        self._house.connections.set_default(self._scope, model)
        audit.note(self._db, self._scope, "default model chosen", model)

    def test(self, draft: ModelDraft) -> Tested:
        """Try a connection that is not kept yet. Raises ModelError, InvalidInputError."""
        return self._house.connections.test(self._scope, draft)

    def try_used(self, model: str = "") -> Tested:
        """Try what answers the user now. Raises ModelError."""
        return self._house.connections.try_used(self._scope, model)

    def save(self, draft: ModelDraft) -> None:
        """Keep a connection of one's own, which answers from the next question on. Raises
        InvalidInputError."""
        self._house.connections.save(self._scope, draft)

    def remove(self) -> None:
        """Forget one's own connection and its key."""
        self._house.connections.remove(self._scope)
