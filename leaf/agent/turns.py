"""A model's turn as a step: asked, tried again where its stream was cut, waited for where its
server is down."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from leaf.agent.calls import calls_of
from leaf.agent.cited import CitationNumbers
from leaf.agent.compaction import Compaction
from leaf.agent.compaction_plan import Planned
from leaf.agent.context import system_prompt
from leaf.agent.draft import Draft
from leaf.agent.endpoint import Attempts, Endpoint
from leaf.agent.events import compact
from leaf.agent.models.base import ModelRequest, ModelTurn, TooLongError
from leaf.agent.models.prices import cost
from leaf.agent.narrate import Narrator
from leaf.agent.steps import ModelStep
from leaf.agent.window import folded_chunk, log_compaction
from leaf.errors import LeafError, ModelError
from leaf.shapes.chunks import Chunk, chunk
from leaf.shapes.raw import ToolSchema

if TYPE_CHECKING:
    from leaf.tools.base import Tool


class Turns:
    """Asks the model for the turns of an answer."""

    def __init__(
        self,
        endpoint: Endpoint,
        tools: Mapping[str, Tool],
        schemas: Sequence[ToolSchema],
        draft: Draft,
    ) -> None:
        self._endpoint = endpoint
        self._tools = tools
        self._schemas = schemas
        self._draft = draft

    def step(self, number: int) -> ModelStep:
        """Turn `number`, or the sentence for a budget that let no model be asked. Each new attempt
        takes the place of the one before.
        """
        draft = self._draft
        if used_up := draft.task.budget_reached():
            return ModelStep(used_up=used_up)
        attempts = Attempts(self._endpoint.retry_waits, self._endpoint.patience)
        chunks: list[Chunk] = []
        turn: ModelTurn | None = None
        error: ModelError | None = None
        planned = draft.context.plan(draft.raw, draft.parts) if self._endpoint.can_write else None
        folded_again = False
        while not draft.stop.is_set():
            chunks.clear()
            turn, error = self._attempt(number, chunks, attempts, planned)
            if _too_long(turn, error) and not folded_again:
                folded_again = True
                if harder := self._planned_harder(planned, error):
                    planned = harder
                    continue
            if error is None or not draft.wait_for_next(attempts, error):
                break
        calls = calls_of(self._tools, number, turn, draft.call_ids) if turn else []
        for call in calls:
            self._record(chunks, call.chunk())
        return ModelStep(
            turn=turn,
            compaction=planned.compaction if planned else None,
            calls=tuple(calls),
            error=str(error or ""),
            stopped=turn is None and draft.stop.is_set(),
            chunks=tuple(compact(chunks)),
            usage=attempts.spent,
            money=attempts.dollars.total,
            seconds=time.monotonic() - attempts.began,
        )

    def _attempt(
        self, number: int, chunks: list[Chunk], attempts: Attempts, planned: Planned | None
    ) -> tuple[ModelTurn | None, ModelError | None]:
        """A turn, or an error, or neither when it was stopped."""
        draft = self._draft
        self._announce(number, chunks, attempts, planned)
        request = self._request(planned.compaction if planned else draft.context.compaction)
        narrator = Narrator(
            number,
            partial(self._record, chunks),
            draft.call_ids,
            CitationNumbers(draft.parts),
            draft.task.resolver,
        )
        turn: ModelTurn | None = None
        error: ModelError | None = None
        try:
            turn = self._endpoint.model.turn(request, narrator.event, draft.stop)
        except ModelError as e:
            error = e
        except LeafError:
            if not draft.stop.is_set():
                raise
        used = turn.usage if turn else narrator.usage
        if turn:
            draft.context.learn(request.messages, used.input)
        attempts.spent, attempts.dollars = (
            attempts.spent + used,
            attempts.dollars.add(cost(used, draft.task.model)),
        )
        return turn, error

    def _announce(
        self, number: int, chunks: list[Chunk], attempts: Attempts, planned: Planned | None
    ) -> None:
        """What is shown before the model says anything; a second attempt takes back what the first
        has shown."""
        self._record(chunks, chunk("start-step", step=number))
        if attempts.made:
            self._record(chunks, chunk("data-reset-step", data={"step": number}, transient=True))
        attempts.made += 1
        if planned:
            task = self._draft.task
            log_compaction(task.message_id, planned)
            self._record(
                chunks, folded_chunk(number, planned, self._endpoint.window_for(task.model))
            )

    def _planned_harder(self, planned: Planned | None, error: ModelError | None) -> Planned | None:
        context = self._draft.context
        return context.plan_harder(
            self._draft.raw,
            self._draft.parts,
            planned.compaction if planned else context.compaction,
            error,
        )

    def _request(self, compaction: Compaction | None) -> ModelRequest:
        draft, endpoint = self._draft, self._endpoint
        profile = endpoint.profile_for(draft.task.model)
        messages = draft.context.messages(draft.raw, draft.parts, compaction)
        return ModelRequest(
            model=draft.task.model,
            system=system_prompt(profile),
            tools=self._schemas,
            messages=endpoint.sendable(messages, draft.task.model),
            max_tokens=endpoint.answer_tokens(draft.task.model, draft.context.tokens(messages)),
            profile=profile,
            scope=draft.task.scope,
            outputs=dict(draft.outputs),
        )

    def _record(self, chunks: list[Chunk], c: Chunk) -> None:
        chunks.append(c)
        self._draft.emit_now(c)


def _too_long(turn: ModelTurn | None, error: ModelError | None) -> bool:
    return isinstance(error, TooLongError) or (
        turn is not None and turn.stop_reason == "model_context_window_exceeded"
    )
