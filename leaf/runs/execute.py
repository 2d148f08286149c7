"""What one run does: build the task from the history, let the agent answer, save the answer. Three writes, none per token."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from leaf.agent.events import Part, apply, chunk
from leaf.agent.loop import Agent, AnswerTask, InlineSteps, Outcome
from leaf.errors import LeafError
from leaf.files.library import Library
from leaf.runs.run import Run
from leaf.settings import RunLimits
from leaf.store import Store, messages, usage
from leaf.store.model import Message, Scope
from leaf.tables.tables import Tables
from leaf.tools import registry
from leaf.tools.base import Json, ToolOutput, context_of

logger = logging.getLogger(__name__)

INTERRUPTED = "Leaf was closed while this answer was being written. Ask again."


class Executor:
    """Carries out runs, one call each; holds nothing between them."""

    def __init__(self, store: Store, library: Library, tables: Tables, agent: Agent, limits: RunLimits) -> None:
        self._store = store
        self._library = library
        self._tables = tables
        self._agent = agent
        self._limits = limits

    def __call__(self, scope: Scope, message: Message, run: Run) -> None:
        """Answer and save. The stream ends only after that, so that whoever sees its end finds the answer in the history."""
        db = self._store.db
        shown: list[Part] = []
        held: list[Json] = []

        def emit(c: Json) -> None:
            if c["type"] in ("finish", "abort", "error"):
                held.append(c)
            else:
                apply(shown, c)
                run.emit(c)

        try:
            messages.update_status(db, scope, message.id, "streaming")
            outcome = self._agent.answer(self._task(scope, message, run), emit, InlineSteps(), run.stop)
            last = held[-1]
        except LeafError as e:
            outcome, last = _failed(shown, message, str(e)), chunk("error", errorText=str(e))
        except Exception as e:  # a fault in Leaf must end the answer with words, not leave it pending for ever
            logger.exception("run %s failed", message.id)
            text = f"Leaf failed unexpectedly ({type(e).__name__}). Ask again; if it happens twice, please report it."
            outcome, last = _failed(shown, message, text), chunk("error", errorText=text)
        self._save(scope, message, outcome)
        run.emit(last)

    def _task(self, scope: Scope, message: Message, run: Run) -> AnswerTask:
        history = messages.thread(self._store.db, scope, message.chat_id, head=message.parent_id).messages
        files = self._library.chat_files(scope, message.chat_id)
        return AnswerTask(
            message_id=message.id,
            model=message.model,
            history=history,
            run_tool=self._tool_runner(scope, message.chat_id),
            limits=self._limits,
            inline_tokens=sum(int(c.file.outline.get("tokens") or 0) for c in files),
        )

    def _tool_runner(self, scope: Scope, chat_id: str) -> Callable[[str, Json, threading.Event], ToolOutput]:
        """Tools see the files as they are at the call, so that a file deleted meanwhile is missing and said to be."""

        def run_tool(name: str, given: Json, stop: threading.Event) -> ToolOutput:
            files = self._library.chat_files(scope, chat_id, deleted=True)
            return registry.run(name, given, context_of(scope, chat_id, files, self._library, self._tables, stop))

        return run_tool

    def _save(self, scope: Scope, message: Message, outcome: Outcome) -> None:
        used = outcome.usage
        messages.finish(
            self._store.db,
            scope,
            message.id,
            parts=outcome.parts,
            raw=outcome.raw,
            usage=used,
            status=outcome.status,
            error=outcome.error,
        )
        if used.get("input") or used.get("output"):
            usage.record(
                self._store.db,
                scope,
                message.id,
                model=message.model,
                input_tokens=int(used.get("input") or 0),
                cached_tokens=int(used.get("cached") or 0),
                output_tokens=int(used.get("output") or 0),
                cost=float(used.get("cost") or 0.0),
            )


def _failed(shown: list[Part], message: Message, error: str) -> Outcome:
    """What was shown until it failed, which is kept."""
    apply(shown, chunk("error", errorText=error))
    return Outcome("error", shown, [], {"model": message.model}, "error", error)


def close_interrupted(store: Store) -> int:
    """At the start: answers that an ended process left unfinished get an end that says so. Returns how many."""
    unfinished = messages.unscoped_unfinished(store.db)
    for found in unfinished:
        kept = found.message
        messages.finish(
            store.db, found.scope, kept.id, parts=kept.parts, raw=kept.raw, usage=kept.usage, status="error", error=INTERRUPTED
        )
    return len(unfinished)
