"""The receipts of a whole answer, or of a document: their texts against the calls of the chat, in
the form that is kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leaf.provenance.citations import Text, flow
from leaf.shapes.part_values import data_in, is_tool, succeeded, texts_of, tool_name
from leaf.shapes.parts import Part, ReceiptKept, ReceiptsData
from leaf.shapes.results import Output, PassageShown
from leaf.store.model import Message
from leaf.tools.registry import declared

if TYPE_CHECKING:
    # Loaded with the first answer, numpy with them: pages that show what was kept need none of it.
    from leaf.provenance.receipts.evidence import Evidence
    from leaf.provenance.receipts.match import Receipt

RECEIPTS = "receipts"
"""The part is `data-receipts`: {"figures": n, "with": m, "against": k, "receipts": [...]}; see
`of_answer`."""
EARLIER = 60
"""Calls of earlier answers that figures are matched to, newest first."""
PASSAGES, PASSAGE = 120, 400
"""Passages of its sources that are kept for the figures of a document, and the characters of
one."""


def of_answer(parts: Sequence[Part], history: Sequence[Message]) -> ReceiptsData | None:
    """Each figure of an answer with its receipt, in the order of the text; None where it holds no
    figure.

    A receipt is `match.Receipt` as JSON, but for `part` in place of `text_index`: the index among
    the message's parts at which its text begins, as `citations.flow` draws texts together. `start` and
    `end` count the characters of that text. Figures that only repeat the question in the role that
    they have there are left out.
    """
    from leaf.provenance.receipts.match import match

    texts = [piece for piece in flow(parts) if isinstance(piece, Text)]
    receipts = match(
        [text.text for text in texts], [*_calls(parts), *_earlier(history)], _question(history)
    )
    return _as_kept(receipts, [text.index for text in texts])


def of_document(
    text: str, made_by: Sequence[Message], history: Sequence[Message]
) -> ReceiptsData | None:
    """The same for a document, with 0 as `part`. Each receipt says whose call it rests on.

    `made_by`: the answers that wrote its versions, newest first; `history`: the chat before the
    newest, its question included.
    """
    from leaf.provenance.receipts.match import match

    own = [(call, message.id) for message in made_by for call in _calls(message.parts)]
    earlier = _earlier(history, {answer.id for answer in made_by})
    receipts = match([text], [*(call for call, _ in own), *earlier], _question(history))
    whose = {call.call_id: message_id for call, message_id in own}
    named = [replace(r, message_id=r.message_id or whose.get(r.call_id, "")) for r in receipts]
    return _as_kept(named, [0])


def passages_behind(text: str, read: Sequence[PassageShown]) -> list[PassageShown]:
    """Those lines of what was read that hold the figures of a text. `read`: {"name", "place",
    "text"}; so is what is returned."""
    from leaf.provenance.receipts.evidence import Evidence
    from leaf.provenance.receipts.match import match
    from leaf.provenance.receipts.words import tokens

    receipts = match(
        [text], [Evidence("read", "read_file", {}, {"data": {"passages": list(read)}})]
    )
    excerpts: dict[tuple[str, str, str], None] = {}
    for receipt in receipts:
        line = _line_of(text, receipt.start)
        for passage in read if receipt.kind == "quoted" else ():
            if (
                receipt.place == f"{passage['name']} {passage['place']}".strip()
                and receipt.value in passage["text"]
            ):
                excerpts[
                    passage["name"],
                    passage["place"],
                    _best_line(passage["text"], receipt.value, tokens(line)),
                ] = None
    return [PassageShown(name=name, place=place, text=line) for name, place, line in excerpts][
        :PASSAGES
    ]


def _line_of(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : len(text) if end < 0 else end]


def _best_line(text: str, number: str, words: frozenset[str]) -> str:
    """The surroundings of a number, where it stands several times those that have most words in
    common with a sentence."""
    from leaf.provenance.receipts.words import tokens

    places = [
        hit.start() for hit in re.finditer(rf"(?<![\d.,]){re.escape(number)}(?![\d])", text)
    ] or [text.find(number)]
    around = [text[max(0, at - PASSAGE // 2) : at + PASSAGE // 2] for at in places[:200]]
    return max(around, key=lambda piece: len(tokens(piece) & words))


def _question(history: Sequence[Message]) -> str:
    return next((_asked(message) for message in reversed(history) if message.role == "user"), "")


def _as_kept(all_receipts: Sequence[Receipt], indices: Sequence[int]) -> ReceiptsData | None:
    receipts: list[ReceiptKept] = []
    for receipt in all_receipts:
        if receipt.kind != "asked":
            receipts.append(receipt.kept(indices[receipt.text_index]))
    if not receipts:
        return None
    against = sum(bool(receipt.get("against")) for receipt in receipts)
    having = sum(receipt["kind"] != "none" for receipt in receipts) - against
    return {"figures": len(receipts), "with": having, "against": against, "receipts": receipts}


def kept_receipts(parts: Sequence[Part]) -> Sequence[ReceiptKept]:
    """The receipts that are kept with an answer; none for one that is not complete or holds no
    figure."""
    receipt_lists = [data["receipts"] for part in parts if (data := data_in(part, "receipts"))]
    return receipt_lists[-1] if receipt_lists else ()


def _calls(parts: Sequence[Part], message_id: str = "") -> Iterator[Evidence]:
    from leaf.provenance.receipts.evidence import Evidence

    for part in parts:
        output = succeeded(part)
        if output is None or not is_tool(part):
            continue
        tool = tool_name(part)
        if (
            declared(tool).effect == "write"
        ):  # the model's own words prove nothing; what they were written from does
            passages = (output.get("data") or {}).get("passages")
            if passages:
                read: Output = {
                    "data": {"passages": passages},
                    "sources": output.get("sources") or (),
                }
                yield Evidence(part["toolCallId"], tool, {}, read, message_id)
        else:
            yield Evidence(
                part["toolCallId"], tool, dict(part.get("input") or {}), output, message_id
            )


def _earlier(history: Sequence[Message], but: Collection[str] = ()) -> list[Evidence]:
    """The newest calls; what lies before them is not looked at."""
    calls: list[Evidence] = []
    for message in reversed(history):
        if message.role == "assistant" and message.id not in but:
            calls += reversed(list(_calls(message.parts, message.id)))
        if len(calls) >= EARLIER:
            break
    return calls[:EARLIER]


def _asked(message: Message) -> str:
    return "\n".join(texts_of(message.parts))
