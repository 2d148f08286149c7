"""What tokens cost: list prices in US dollars per million tokens, from the vendor's price page of
November 2026."""

from __future__ import annotations

from dataclasses import dataclass

from leaf.agent.models.base import TokenUsage

CACHE_WRITE = 1.25
"""Writing to the five-minute cache costs this many times plain input."""


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float
    long_prompt: int = 0
    """Above this many input tokens in one request every price is multiplied; 0 means never."""
    long_factor: float = 1.0


PRICES = {
    "claude-opus-5-5": Price(4.0, 20.0, 0.20),
    "claude-sonnet-5-5": Price(2.0, 10.0, 0.10),
    "claude-haiku-5-5": Price(0.10, 0.50, 0.01, long_prompt=100_000, long_factor=5.0),
}
"""Model name, or the beginning of a dated one -> price."""


WINDOW = 1_000_000
"""Tokens of request and answer together that the models with a known price take."""
UNKNOWN_WINDOW = 32_000
"""What a model of another server is taken to take, until LEAF_MODEL_WINDOW says otherwise."""


def context_window(model: str) -> int:
    """Tokens that a request and its answer may have together."""
    if price(model) is not None:
        return WINDOW
    return 200_000 if model.startswith("claude") else UNKNOWN_WINDOW


def price(model: str) -> Price | None:
    """The price of a model, None when it is not known (any model of another server)."""
    return next(
        (PRICES[name] for name in PRICES if model == name or model.startswith(name + "-")), None
    )


def cost(usage: TokenUsage, model: str) -> float | None:
    """Dollars for one request, None when the price is not known. Add up requests, not their tokens:
    long prompts cost more."""
    known = price(model)
    if usage == TokenUsage():
        return 0.0
    if known is None:
        return None
    fresh = usage.input - usage.cached - usage.cache_creation
    dollars = (
        fresh * known.input
        + usage.cache_creation * known.input * CACHE_WRITE
        + usage.cached * known.cached
        + usage.output * known.output
    ) / 1_000_000
    return dollars * _factor(known, usage.input)


def inline_cost(tokens: int, model: str) -> float | None:
    """Dollars for putting that many tokens of files into one request, read once and not cached."""
    known = price(model)
    return None if known is None else tokens * known.input / 1_000_000 * _factor(known, tokens)


def _factor(known: Price, input_tokens: int) -> float:
    return known.long_factor if known.long_prompt and input_tokens > known.long_prompt else 1.0
