"""Steps of answers that a person edits and runs."""

from __future__ import annotations

from leaf.sessions.house import Part
from leaf.store import edited_steps
from leaf.store.edited_steps import EditedStep

MOMENT = 0.6
"""Seconds for which `run` waits: most queries are over by then."""


class Edits(Part):
    """Steps of the user's chats with other code than the model's, each beside the step that it was
    made from."""

    def run(self, message_id: str, call_id: str, code: str) -> EditedStep:
        """Run a step of an answer with other SQL or Python, in the background; what came of it where
        it was over within moments.

        Raises NotFoundError, InvalidInputError for a step without code, for none, and while the
        answer is being written or another edited step of the user runs; RunError at the end of
        the process.
        """
        step = self._house.editor.begin(self._scope, message_id, call_id, code)
        return self.wait(step.id, MOMENT)

    def get(self, edit_id: str) -> EditedStep:
        """Raises NotFoundError."""
        return edited_steps.get(self._db, self._scope, edit_id)

    def of(self, message_id: str) -> list[EditedStep]:
        """All of an answer, oldest first; none where the user does not see it."""
        return edited_steps.of_message(self._db, self._scope, message_id)

    def wait(self, edit_id: str, timeout: float) -> EditedStep:
        """The step once it is over, or as it stands after `timeout` seconds. Raises NotFoundError."""
        self.get(edit_id)
        self._house.editor.wait(edit_id, timeout)
        return self.get(edit_id)

    def stop(self, edit_id: str) -> None:
        """End a step that runs; its code stays. Raises NotFoundError."""
        self._house.editor.stop(self._scope, edit_id)

    def discard(self, edit_id: str) -> None:
        """Remove an own step that failed or was stopped. Raises NotFoundError, InvalidInputError for
        any other."""
        edited_steps.discard(self._db, self._scope, edit_id)
