"""Compaction: what of an earlier conversation is sent in short, so that a chat never outgrows its
model.

A `Compaction` is decided once, kept with the answer before whose turn it was made, and applied in
the same way ever after: between two compacts the beginning of the request does not change by a
byte, so the prompt cache holds. Nothing that is stored is changed, and the page goes on showing all
of it. docs/context.md says the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import cast

from leaf.agent.blocks import assistant_message
from leaf.agent.instructions import is_instructions, newest_instructions
from leaf.agent.stubs import picture_stub, result_stub
from leaf.shapes.chunks import Chunk
from leaf.shapes.part_values import data_in, is_tool
from leaf.shapes.parts import FoldedPart, FoldKept, Part
from leaf.shapes.raw import RawBlock, RawMessage
from leaf.shapes.results import Output
from leaf.store.model import Message

COMPACTED = "folded"
"""Name of the data part that keeps a compaction: {"fold", "results", "before", "after",
"window"}."""
QUESTION, ANSWER = 600, 400
"""Characters of an old question and of an old answer, where even compacted results are not short
enough."""
_THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True)
class BranchPosition:
    """A place in a branch: after so many raw messages of a message, and after everything before
    it."""

    message: str = ""
    raw: int = 0


@dataclass(frozen=True)
class Compaction:
    """What is sent in short. Each mark lies at or after the ones below it."""

    made: BranchPosition
    """Where the chat stood. Thinking and citations from before it are not sent: both are bound to
    what stood before them then."""
    asked: str
    """The question that was being answered; its pictures stay."""
    receipts: BranchPosition = BranchPosition()
    """Tool results before it are receipts, pictures a line."""
    short: BranchPosition = BranchPosition()
    """Of what lies before it only the questions and the beginnings of the answers are sent."""
    gone: BranchPosition = BranchPosition()
    """What lies before it is not sent; one line says so."""
    cap: int = 0
    """Characters to which results after `receipts` are cut; 0 for none."""
    instructions: str = ""
    """Of a project, as the model was told them last in what lies before `short`: they go on to
    hold."""

    def to_json(self) -> FoldKept:
        record = asdict(self)
        if not self.instructions:
            del record["instructions"]
        return cast("FoldKept", record)

    def moved(self, answer: str, by: str) -> Compaction:
        """The same for the answer `by`, which has taken over what `answer` had."""

        def there(mark: BranchPosition) -> BranchPosition:
            return replace(mark, message=by) if mark.message == answer else mark

        return replace(
            self,
            made=there(self.made),
            receipts=there(self.receipts),
            short=there(self.short),
            gone=there(self.gone),
        )

    @staticmethod
    def from_json(data: FoldKept) -> Compaction:
        marks = (
            BranchPosition(**data["receipts"]),
            BranchPosition(**data["short"]),
            BranchPosition(**data["gone"]),
        )
        tip, told = BranchPosition(**data["made"]), data.get("instructions", "")
        return Compaction(tip, data["asked"], *marks, cap=data["cap"], instructions=told)


@dataclass(frozen=True)
class BranchEntry:
    """One raw message in its place."""

    message: Message
    number: int
    """0-based place among the raw messages of its message."""
    raw: RawMessage
    use: Mapping[str, RawBlock] = field(default_factory=dict, compare=False)
    """Call id -> tool_use block, for a message of results."""
    outputs: Mapping[str, Output] = field(default_factory=dict, compare=False)
    """The same -> what the tool gave, as the page keeps it."""


def entries_of(history: Iterable[Message]) -> list[BranchEntry]:
    """All raw messages of a branch, oldest first."""
    entries: list[BranchEntry] = []
    for message in history:
        use: dict[str, RawBlock] = {}
        seen: dict[str, int] = {}
        outputs: dict[str, Output] = {}
        for number, raw in enumerate(message.raw):
            if raw["role"] == "assistant":
                use = {block["id"]: block for block in _blocks(raw) if block["type"] == "tool_use"}
                outputs = {}
                for call_id in use:
                    seen[call_id] = seen.get(call_id, 0) + 1
                    if output := _output(message.parts, call_id, seen[call_id]):
                        outputs[call_id] = output
                entries.append(BranchEntry(message, number, raw))
            else:
                entries.append(BranchEntry(message, number, raw, use, outputs))
    return entries


def newest_compaction(history: Sequence[Message]) -> Compaction | None:
    """The compaction that holds for what comes after these messages."""
    for message in reversed(history):
        if compaction := compaction_in(message.parts):
            return compaction
    return None


def compaction_in(parts: Sequence[Part]) -> Compaction | None:
    """The newest compaction that an answer made."""
    for part in reversed(parts):
        if compacted := data_in(part, "folded"):
            return Compaction.from_json(compacted["fold"])
    return None


def moved(c: Chunk, answer: str, by: str) -> Chunk:
    """A chunk of `answer` as the answer `by` shows it, which has taken it over."""
    if c["type"] != "data-folded":
        return c
    part = cast("FoldedPart", c)
    compaction = Compaction.from_json(part["data"]["fold"]).moved(answer, by)
    return {**part, "data": {**part["data"], "fold": compaction.to_json()}}


def position(entries: Sequence[BranchEntry], mark: BranchPosition) -> int:
    """How many entries lie before a mark; 0 for one that lies in another branch."""
    last = 0
    for i, entry in enumerate(entries):
        if entry.message.id == mark.message:
            if entry.number >= mark.raw:
                return i
            last = i + 1
    return last


def first_sent(history: Sequence[Message], compaction: Compaction | None) -> int:
    """Index of the first message of which something is sent under a compaction; what lies before it
    need not be read."""
    if compaction is None or not compaction.gone.message:
        return 0
    back = next(
        (
            i
            for i, message in enumerate(reversed(history), 1)
            if message.id == compaction.gone.message
        ),
        len(history),
    )
    return len(history) - back


def render(
    entries: Sequence[BranchEntry],
    compaction: Compaction | None,
    *,
    model: str,
    profile: str,
    before: int = 0,
) -> list[RawMessage]:
    """The messages of a request. Thinking goes only to the model that thought it: its signature is
    bound to it.

    `before`: questions of the branch that lie before the first entry, all of them gone.
    """
    if compaction is None:
        return [
            raw
            for raw in (_thought(entry, entry.raw, model, profile) for entry in entries)
            if raw["content"]
        ]
    tip, receipts, short, gone = (
        position(entries, m)
        for m in (compaction.made, compaction.receipts, compaction.short, compaction.gone)
    )
    messages: list[RawMessage] = [gone_message(before + _questions(entries[:gone]))] if gone else []
    if compaction.instructions:
        messages.append(instructions_message(compaction.instructions))
    messages += [shortened(group) for group in by_message(entries[gone:short])]
    for i, entry in enumerate(entries[max(short, gone) :], max(short, gone)):
        raw = entry.raw
        if i < receipts:
            raw = in_receipts(entry, compaction.asked)
        elif compaction.cap:
            raw = capped(raw, compaction.cap)
        raw = unbound(raw) if i < tip else _thought(entry, raw, model, profile)
        if raw["content"]:
            messages.append(raw)
    return messages


def in_receipts(entry: BranchEntry, asked: str) -> RawMessage:
    """A message with receipts for its results and lines for its pictures; those of the question
    `asked` stay."""
    raw = entry.raw
    if raw["role"] != "user" or isinstance(raw["content"], str):
        return raw
    content = []
    for block in raw["content"]:
        if block["type"] == "tool_result":
            block = result_stub(
                block, entry.use.get(block["tool_use_id"]), entry.outputs.get(block["tool_use_id"])
            )
        elif block["type"] == "image" and entry.message.id != asked:
            block = picture_stub(block)
        content.append(block)
    return {**raw, "content": content}


def capped(raw: RawMessage, cap: int) -> RawMessage:
    """A message whose results have at most so many characters each, and say what was left out."""
    if raw["role"] != "user" or isinstance(raw["content"], str):
        return raw
    return {
        **raw,
        "content": [
            _capped(block, cap) if block["type"] == "tool_result" else block
            for block in raw["content"]
        ],
    }


def _capped(block: RawBlock, cap: int) -> RawBlock:
    content = block["content"]
    note = (
        "\n[Cut here: the results were longer than what the model can take. Ask for less in "
        "one call.]"
    )
    if isinstance(content, str):
        return (
            {**block, "content": content[:cap].rstrip() + note}
            if len(content) > cap + len(note)
            else block
        )
    parts: list[RawBlock] = []
    left = cap
    for part in content:
        left -= len(part.get("text", "")) + sum(
            len(text["text"]) for text in part.get("content", ())
        )
        if left < 0 and parts:
            return {**block, "content": [*parts, {"type": "text", "text": note.strip()}]}
        parts.append(part)
    return block


def unbound(raw: RawMessage) -> RawMessage:
    """A message without what is bound to the request in which it was made: thinking, and citations,
    which count its passages."""
    if raw["role"] != "assistant" or isinstance(raw["content"], str):
        return raw
    blocks = [block for block in raw["content"] if block["type"] not in _THINKING]
    plain = [
        {k: v for k, v in block.items() if k != "citations"} if block["type"] == "text" else block
        for block in blocks
    ]
    return raw if plain == raw["content"] else assistant_message(plain)


def without_thinking(raw: RawMessage) -> RawMessage:
    """An assistant's message as another model may see it."""
    if raw["role"] != "assistant" or isinstance(raw["content"], str):
        return raw
    if not any(block["type"] in _THINKING for block in raw["content"]):
        return raw
    return assistant_message([block for block in raw["content"] if block["type"] not in _THINKING])


def _thought(entry: BranchEntry, raw: RawMessage, model: str, profile: str) -> RawMessage:
    return raw if profile == "claude" and entry.message.model == model else without_thinking(raw)


def by_message(entries: Sequence[BranchEntry]) -> list[list[BranchEntry]]:
    """The entries of each message together."""
    groups: list[list[BranchEntry]] = []
    for entry in entries:
        if groups and groups[-1][0].message.id == entry.message.id:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def shortened(group: Sequence[BranchEntry]) -> RawMessage:
    """A question, or an answer without its steps, as one short message."""
    if group[0].message.role == "user":
        text = "\n\n".join(_text(entry.raw) for entry in group)
        if len(text) > QUESTION:
            text = (
                f"{text[: QUESTION - 200].rstrip()} … [cut to save room] … {text[-200:].lstrip()}"
            )
        return {"role": "user", "content": [{"type": "text", "text": text or "(empty)"}]}
    calls = [
        block["name"]
        for entry in group
        for block in _blocks(entry.raw)
        if block["type"] == "tool_use"
    ]
    steps = (
        f"[Its {len(calls)} tool calls are left out: {', '.join(dict.fromkeys(calls))}.]"
        if calls
        else ""
    )
    texts = [_text(entry.raw) for entry in group if entry.raw["role"] == "assistant"]
    answer = beginning(next((text for text in reversed(texts) if text.strip()), ""), ANSWER)
    return assistant_message(
        [{"type": "text", "text": "\n".join(filter(None, (answer, steps))) or "(no answer)"}]
    )


def beginning(text: str, limit: int) -> str:
    """The first sentences of a text, with a note where that is not all of it."""
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [
        text.rfind(mark, 0, limit) + len(mark.rstrip())
        for mark in (". ", "! ", "? ", ".\n", "\n\n")
    ]
    end = max(ends) if max(ends) > limit // 3 else limit
    return f"{text[:end].rstrip()} [The answer went on; the user can still see it.]"


def gone_message(questions: int) -> RawMessage:
    """What stands for the beginning of a chat that is not sent any more."""
    text = (
        f"[The {questions} oldest questions of this chat and their answers are left out to save "
        f"room. The user can still see "
        "them. list_files names the files that came with them.]"
    )
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def instructions_message(told: str) -> RawMessage:
    """What stands for instructions that were told with a question which is not sent whole."""
    return {"role": "user", "content": [{"type": "text", "text": told}]}


def instructions_before(entries: Sequence[BranchEntry], earlier: Compaction | None) -> str:
    """Instructions that hold after these entries, where the branch begins with a compaction."""
    instructions = newest_instructions(entry.raw for entry in entries)
    if instructions is None:
        return earlier.instructions if earlier else ""
    return instructions


def _questions(entries: Sequence[BranchEntry]) -> int:
    return len({entry.message.id for entry in entries if entry.message.role == "user"})


def _blocks(raw: RawMessage) -> Sequence[RawBlock]:
    return [] if isinstance(raw["content"], str) else raw["content"]


def _text(raw: RawMessage) -> str:
    if isinstance(raw["content"], str):
        return raw["content"]
    return "\n".join(
        block["text"]
        for block in raw["content"]
        if block["type"] == "text" and not is_instructions(block)
    )


def _output(parts: Sequence[Part], call_id: str, nth: int) -> Output | None:
    """What the call gave, by the page's parts. Some servers use an id again; the page then has
    `id-2` for it."""
    calls = [
        part
        for part in parts
        if is_tool(part) and call_id in (part["toolCallId"], part["toolCallId"].rpartition("-")[0])
    ]
    return calls[nth - 1].get("output") if len(calls) >= nth else None
