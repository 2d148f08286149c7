"""The chat's model for a tool that has a text written beside the chat."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from leaf.agent.blocks import text_block
from leaf.agent.draft import Draft
from leaf.agent.endpoint import Attempts, Endpoint, Money
from leaf.agent.models.base import ModelEvent, ModelRequest, ModelTurn, TokenUsage
from leaf.agent.models.prices import cost
from leaf.errors import BudgetError, ModelError, RunError
from leaf.tools.base import Asked, AskRequest


class Writer:
    """For one tool call; see `leaf.tools.base.Ask`. Counts what it took."""

    def __init__(self, endpoint: Endpoint, draft: Draft, step_name: str) -> None:
        self._endpoint = endpoint
        self._draft = draft
        self._step_name = step_name
        self.attempts = 0
        self.spent = TokenUsage()
        self.dollars = Money()

    @property
    def window(self) -> int:
        return self._endpoint.window_for(self._draft.task.model)

    def __call__(
        self,
        request: AskRequest,
        on_text: Callable[[str], None],
        on_restart: Callable[[], None] = lambda: None,
    ) -> Asked:
        draft, endpoint = self._draft, self._endpoint
        if reached := draft.task.budget_reached():
            raise BudgetError(reached)
        wanted = ModelRequest(
            model=draft.task.model,
            system=request.system,
            tools=(),
            messages=[{"role": "user", "content": [text_block(request.content)]}],
            max_tokens=request.max_tokens,
            profile=endpoint.profile_for(draft.task.model),
        )
        attempts = Attempts(endpoint.retry_waits, endpoint.patience)
        while True:
            attempts.made += 1
            turn, error = self._attempt(wanted, on_text)
            if turn is not None:
                text = "".join(block["text"] for block in turn.content if block["type"] == "text")
                return Asked(text, turn.stop_reason, turn.usage.input, turn.usage.output)
            if error is None or not draft.wait_for_next(attempts, error):
                raise error or RunError("Stopped.")
            on_restart()

    def _attempt(
        self, wanted: ModelRequest, on_text: Callable[[str], None]
    ) -> tuple[ModelTurn | None, ModelError | None]:
        """One attempt: a turn, or an error that may pass. Raises RunError once it is stopped."""
        used = TokenUsage()

        def event(e: ModelEvent) -> None:
            nonlocal used
            if e.kind == "usage":
                used = e.usage
            elif e.kind == "text" and e.delta:
                on_text(e.delta)

        self.attempts += 1
        try:
            turn = self._endpoint.model.turn(wanted, event, self._draft.stop)
            used = turn.usage
            return turn, None
        except ModelError as e:
            return None, e
        finally:
            dollars = cost(used, wanted.model)
            self.spent += used
            self.dollars = self.dollars.add(dollars)
            if (
                used != TokenUsage()
                # told at once, because one tool call may ask often; a call that runs again pays again
            ):
                self._draft.task.spent(f"{self._step_name}/{uuid4()}", used, dollars)
