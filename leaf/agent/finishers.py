"""What is found out about an answer when its text is there, each by a function of its own, in the
order in which it is said."""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from leaf import logs
from leaf.agent.budget import BUDGET, as_part, decide, shown_pictures, with_arrived
from leaf.agent.cited import Citation, CitationResolver, checked
from leaf.agent.draft import Draft
from leaf.agent.events import apply, place_of
from leaf.agent.models.prices import inline_cost
from leaf.agent.narrate import source_chunks
from leaf.agent.steps import CitationStep
from leaf.provenance import basis
from leaf.provenance.citations import citation_of
from leaf.provenance.receipts.answer import RECEIPTS, of_answer
from leaf.shapes.chunks import chunk
from leaf.shapes.part_values import is_source
from leaf.shapes.parts import ReceiptsData, SourcePart, UsageData
from leaf.store.model import Status

_log = logging.getLogger(__name__)


@dataclass
class Ending:
    """An answer whose text is there."""

    draft: Draft
    status: Status

    @cached_property
    def receipts(self) -> ReceiptsData | None:
        """Where each figure comes from; only of an answer that came to its end."""
        if self.status != "completed":
            return None
        return of_answer(self.draft.parts, self.draft.task.history)

    @cached_property
    def usage(self) -> UsageData:
        """The data of the `data-usage` part; whoever asks first settles it."""
        draft, task = self.draft, self.draft.task
        return {
            "input": draft.usage.input,
            "cached": draft.usage.cached,
            "cache_creation": draft.usage.cache_creation,
            "output": draft.usage.output,
            "cost": draft.money,
            "model": task.model,
            "seconds": round(draft.seconds, 3),
            "context": draft.context_tokens,
            "inline_tokens": task.inline_tokens,
            "inline_cost": inline_cost(task.inline_tokens, task.model),
        }


Finisher = Callable[[Ending], None]
"""Looks at an answer and says what it found, through `draft.say`. What may differ when it is done
again is a step."""


def check_citations(ending: Ending) -> None:
    """Look whether the cited words stand where the answer says, as a step.

    Which citations there are depends on kept values only, and the step's name on which they are: an
    answer that takes over the steps of a failed one looks again if it cites other things.
    """
    draft = ending.draft
    cited = [part for part in draft.parts if is_source(part) and citation_of(part)]
    if draft.task.resolver is None or not cited or ending.status != "completed":
        return
    mark = zlib.crc32(
        repr([(p["sourceId"], place_of(p), p["providerMetadata"]) for p in cited]).encode()
    )
    step = draft.step(
        f"citations-{mark:08x}",
        CitationStep,
        partial(_check_cited, draft, cited, draft.task.resolver),
    )
    for c in step.chunks:
        apply(draft.parts, c)
    draft.seconds += step.seconds


def _check_cited(
    draft: Draft, cited: Sequence[SourcePart], resolver: CitationResolver
) -> CitationStep:
    """The step: the parts of the citations again, each with what was found."""
    started = time.monotonic()
    citations = [part["providerMetadata"]["leaf"] for part in cited]
    verdicts = resolver.check([Citation(leaf["source"], leaf["quote"]) for leaf in citations])
    chunks = tuple(checked(part, verdict) for part, verdict in zip(cited, verdicts, strict=True))
    for c in chunks:
        draft.emit_now(c)
    return CitationStep(chunks, time.monotonic() - started)


def say_basis(ending: Ending) -> None:
    """The sources and the coverage of the steps that the answer used."""
    draft = ending.draft
    names = {file.handle: file.name for file in draft.task.files}
    receipts = ending.receipts["receipts"] if ending.receipts else ()
    evidence = basis.of_answer(draft.parts, draft.task.history, receipts, names)
    for c in source_chunks(evidence.outputs):
        draft.say(c)
    if evidence.covered:
        draft.say(chunk("data-coverage", id="coverage", data=evidence.covered))


def say_budget(ending: Ending) -> None:
    """Say, and log, what of each file went into the answer. Nothing where no file was touched."""
    draft, task = ending.draft, ending.draft.task
    shown_now: dict[str, int] = {}
    for handle, tokens in shown_pictures(task.history):
        shown_now[handle] = shown_now.get(handle, 0) + tokens
    compacted = draft.context.compacted_handles(draft.raw, draft.parts)
    decisions = decide(
        with_arrived(task.files, draft.outputs.values()), draft.read, shown_now, compacted
    )
    for decision in decisions:
        logs.event(
            _log,
            "budget",
            run=task.message_id,
            file=decision.handle,
            tokens=decision.read,
            of=decision.tokens,
            decision=decision.choice,
        )
    if draft.file_tokens and decisions:
        draft.say(
            chunk(
                "data-budget",
                id=BUDGET,
                data=as_part(task.file_tokens, draft.file_tokens, decisions),
            )
        )


def say_receipts(ending: Ending) -> None:
    if ending.receipts:
        ending.draft.say(chunk("data-receipts", id=RECEIPTS, data=ending.receipts))


def say_usage(ending: Ending) -> None:
    ending.draft.say(chunk("data-usage", id="usage", data=ending.usage))


FINISHERS: tuple[Finisher, ...] = (check_citations, say_basis, say_budget, say_receipts, say_usage)
