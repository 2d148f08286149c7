"""How many tokens messages are: what of them is text, weighed; what is pictures, by their size."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from leaf.readers.media.picture import tokens_of
from leaf.readers.tokens import Rates, Weight, weigh
from leaf.shapes.raw import RawBlock, RawMessage

BLOCK = 4
"""Tokens that a block takes beside its text: roles, ids, marks of begin and end."""
_KNOWN_MOST = 50_000


@dataclass(frozen=True)
class Amount:
    """What is to be sent, before a model's rates are applied."""

    weight: Weight = field(default_factory=Weight)
    exact: int = 0
    """Tokens that do not depend on the model's rates: pictures and what surrounds blocks."""

    def __add__(self, more: Amount) -> Amount:
        return Amount(self.weight + more.weight, self.exact + more.exact)

    def tokens(self, rates: Rates) -> int:
        return rates.tokens(self.weight) + self.exact


class Sizes:
    """Amounts of messages. A text is weighed once, however often it is sent. Safe to use from any
    number of threads."""

    def __init__(self) -> None:
        self._known: dict[str | bytes, Weight] = {}

    def of(self, messages: Iterable[RawMessage]) -> Amount:
        """All of these together."""
        total = Amount()
        for message in messages:
            total += self.message(message)
        return total

    def message(self, message: RawMessage) -> Amount:
        """One message."""
        content = message["content"]
        if isinstance(content, str):
            return Amount(self.text(content), BLOCK)
        total = Amount()
        for block in content:
            weight, exact = Weight(), BLOCK
            for piece in _pieces(block):
                if isinstance(piece, int):
                    exact += piece
                else:
                    weight += self.text(piece)
            total += Amount(weight, exact)
        return total

    def text(self, text: str) -> Weight:
        """The weight of a text."""
        key = (
            text
            if len(text) < 200
            else hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        )
        weight = self._known.get(key)
        if weight is None:
            weight = weigh(text)
            if len(self._known) >= _KNOWN_MOST:
                self._known.clear()
            self._known[key] = weight
        return weight


def _pieces(block: RawBlock) -> Iterator[str | int]:
    """The texts of a block, and the tokens of its pictures."""
    kind = block["type"]
    if kind == "text":
        yield block["text"]
    elif kind == "thinking":
        yield block["thinking"]
    elif kind == "tool_use":
        yield block["name"]
        yield json.dumps(block["input"], ensure_ascii=False)
    elif kind == "image":
        yield tokens_of(
            int(block["source"].get("width") or 1_092), int(block["source"].get("height") or 1_092)
        )
    elif kind == "search_result":
        yield f"{block['source']} {block['title']}"
        yield from (part["text"] for part in block["content"])
    elif kind == "tool_result" and isinstance(block["content"], str):
        yield block["content"]
    elif kind == "tool_result":
        for part in block["content"]:
            yield BLOCK
            yield from _pieces(part)
