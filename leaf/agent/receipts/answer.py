"""The receipts of a whole answer: its texts against the calls of its chat, as the part that is kept with the message. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from leaf.agent.cited import Text, flow
from leaf.agent.events import Part
from leaf.agent.receipts.evidence import Evidence
from leaf.agent.receipts.match import match
from leaf.store.model import Message

Json = dict[str, Any]

RECEIPTS = "receipts"
"""The part is `data-receipts`: {"figures": n, "with": m, "receipts": [...]}; see `of_answer`."""
EARLIER = 60
"""Calls of earlier answers that figures are matched to, newest first."""
_CHANGING = ("create_", "write_", "edit_", "delete_")
"""What the model itself has written is no evidence for its figures."""


def of_answer(parts: Sequence[Part], history: Sequence[Message]) -> Json | None:
    """Each figure of an answer with its receipt, in the order of the text; None where it holds no figure.

    A receipt is `match.Receipt` as JSON, but for `part` in place of `text_index`: the index among the message's parts at which
    its text begins, as `cited.flow` draws texts together. `start` and `end` count the characters of that text.
    """
    texts = [piece for piece in flow(parts) if isinstance(piece, Text)]
    evidence = [*_calls(parts), *_earlier(history)]
    question = "\n".join(_asked(message) for message in history if message.role == "user")
    found = match([text.text for text in texts], evidence, question)
    if not found:
        return None
    receipts = []
    for receipt in found:
        told = receipt.to_json()
        told["part"] = texts[told.pop("text_index")].index
        receipts.append(told)
    return {"figures": len(found), "with": sum(receipt.kind != "none" for receipt in found), "receipts": receipts}


def kept_receipts(parts: Sequence[Mapping[str, Any]]) -> Sequence[Json]:
    """The receipts that are kept with an answer; none for one that is not complete or holds no figure."""
    found = [part["data"]["receipts"] for part in parts if part["type"] == f"data-{RECEIPTS}"]
    return found[-1] if found else ()


def used_calls(receipts: Iterable[Mapping[str, Any]]) -> set[str]:
    """Ids of the answer's own calls whose results its figures rest on."""
    own = [receipt for receipt in receipts if receipt["kind"] not in ("none", "asked") and not receipt.get("message_id")]
    return {str(receipt[name]) for receipt in own for name in ("call_id", "other_call_id") if receipt.get(name)}


def _calls(parts: Sequence[Part], message_id: str = "") -> Iterator[Evidence]:
    for part in parts:
        tool = part["type"].removeprefix("tool-")
        output = part.get("output")
        if tool == part["type"] or part.get("state") != "output-available" or not isinstance(output, Mapping):
            continue
        if not tool.startswith(_CHANGING):
            yield Evidence(str(part["toolCallId"]), tool, dict(part.get("input") or {}), dict(output), message_id)


def _earlier(history: Sequence[Message]) -> list[Evidence]:
    found: list[Evidence] = []
    for message in reversed(history):
        if message.role == "assistant":
            found += reversed(list(_calls(message.parts, message.id)))
        if len(found) >= EARLIER:
            break
    return found[:EARLIER]


def _asked(message: Message) -> str:
    return "\n".join(str(part["text"]) for part in message.parts if part["type"] == "text")
