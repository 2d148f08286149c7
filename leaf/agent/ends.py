"""Why an answer ends where it ends, in a sentence for its reader. Pure."""

from __future__ import annotations

from leaf.agent.draft import Draft
from leaf.agent.models.base import ModelTurn

STOPPED = "Stopped. What was found so far is kept."


def limit_reached(draft: Draft, number: int) -> str:
    """The sentence for a limit that is reached before turn `number`, or nothing."""
    limits = draft.task.limits
    if number > limits.turns:
        return limit_text(f"{limits.turns} steps", "TURNS")
    if draft.seconds >= limits.seconds:
        return limit_text(f"{limits.seconds:,.0f} seconds", "SECONDS")
    if draft.usage.input + draft.usage.output >= limits.tokens:
        return limit_text(f"{limits.tokens:,} tokens", "TOKENS")
    if draft.money is not None and draft.money >= limits.money:
        return limit_text(f"${limits.money:,.2f}", "MONEY")
    return ""


def limit_text(reached: str, variable: str) -> str:
    return (
        f"I stopped after {reached}, the limit for one answer, so this may be incomplete. "
        f"Ask me to go on, or raise the limit (LEAF_RUN_{variable})."
    )


def budget_text(used_up: str) -> str:
    return (
        f"I stopped here, so this may be incomplete. {used_up} What was found so far is kept; "
        f"ask me to go on then."
    )


def closing(turn: ModelTurn) -> tuple[str, str]:
    """The finish reason of a last turn, and the sentence that it needs, if any."""
    if turn.stop_reason == "refusal":
        return (
            "content-filter",
            "The model declined to answer this. Put the question in another way, or choose "
            "another model.",
        )
    if turn.stop_reason == "max_tokens":
        return (
            "length",
            "The answer was cut at the limit for one turn (LEAF_MAX_OUTPUT_TOKENS). Ask "
            "me to go on.",
        )
    if turn.stop_reason == "model_context_window_exceeded":
        return (
            "length",
            "This chat is now as long as the model can take. Start a new chat with the files "
            "that you need.",
        )
    if not any(block["type"] == "text" and block["text"].strip() for block in turn.content):
        return (
            "stop",
            "The model ended without an answer. Ask again, or put the question in another way.",
        )
    return "stop", ""
