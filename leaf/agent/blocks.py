"""The one place where content blocks for a model are made, with the guard that keeps binary out of
text.

Bytes written out as base64 cost a token for every two or three characters and tell the model
nothing, so a text that looks like them is refused, wherever it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leaf.errors import InvalidInputError
from leaf.readers.binary import encoded_in, shortened
from leaf.shapes.raw import RawBlock, RawMessage
from leaf.shapes.results import Output, PassageSent, PictureSent


def refuse_binary(text: str) -> str:
    """The text itself. Raises InvalidInputError where it holds binary data written as text."""
    if binary := encoded_in(text):
        raise InvalidInputError(
            f"The text holds binary data (base64, {len(binary):,} characters), which is not sent "
            f"to a model.",
            "Add it as a file, or leave that part out.",
        )
    return text


def text_block(text: str) -> RawBlock:
    """A text block; the API takes no empty one."""
    return {"type": "text", "text": refuse_binary(text) or "(empty)"}


def question_message(
    text: str, attached: str = "", pictures: Sequence[PictureSent] = (), told: str = ""
) -> RawMessage:
    """A user's question with the lines of the files that came with it, and `Picture`s as JSON; before
    it what is `told` of instructions. Made once, stored, and sent the same ever after.
    """
    whole = "\n\n".join(part for part in (text.strip(), attached.strip()) if part)
    if not whole:
        raise InvalidInputError("The question is empty.", "Write what you want to know.")
    first = [text_block(told)] if told else []
    return {"role": "user", "content": [*first, *map(picture_block, pictures), text_block(whole)]}


def assistant_message(content: list[RawBlock]) -> RawMessage:
    return {"role": "assistant", "content": content}


def tool_result(call_id: str, text: str, *, is_error: bool = False) -> RawBlock:
    """The result of one tool call, as text. An error may name the value that it is about, so bytes
    in it are counted and not refused: what the model has to mend stands beside them."""
    block: RawBlock = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": (shortened(text) if is_error else refuse_binary(text)) or "(nothing)",
    }
    return {**block, "is_error": True} if is_error else block


def output_result(call_id: str, output: Output) -> RawBlock:
    """The result of a tool call by its `ToolOutput` as JSON: text, and passages to cite and
    pictures where it has any."""
    passages, pictures = output.get("passages") or (), output.get("pictures") or ()
    if not passages and not pictures:
        return tool_result(call_id, output["text"])
    first = text_block(output["head"] if passages else output["text"])
    content = [first, *map(search_result, passages), *map(picture_block, pictures)]
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def search_result(passage: PassageSent) -> RawBlock:
    """A `Passage` as JSON, as a block that the model can cite: the smallest piece is one of its
    texts."""
    texts = [text_block(text) for text in passage["texts"] if text.strip()]
    return {
        "type": "search_result",
        "source": passage["source"],
        "title": passage["title"],
        "content": texts or [text_block("")],
        "citations": {"enabled": True},
    }


def picture_block(picture: PictureSent) -> RawBlock:
    """A `Picture` as JSON, as it is kept: a reference. The bytes are put in when a request is
    made."""
    return {"type": "image", "source": {"type": "leaf", **picture}}


def plain(message: RawMessage, *, sees: bool = False) -> RawMessage:
    """A message for a server that knows text alone: passages of tool results written out, always in
    the same way, and pictures too unless the model `sees`.
    """
    if isinstance(message["content"], str):
        return message
    return {**message, "content": [_plain_block(block, sees) for block in message["content"]]}


def alternating(messages: Sequence[RawMessage]) -> list[RawMessage]:
    """The messages with neighbours of one role as one: a question whose answer was stopped before its
    first word, and the next. The templates of some models refuse them otherwise."""
    joined: list[RawMessage] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            content = [*_blocks(joined[-1]), *_blocks(message)]
            joined[-1] = {**message, "content": content}
        else:
            joined.append(message)
    return joined


def _blocks(message: RawMessage) -> Sequence[RawBlock]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def unseen(message: RawMessage) -> RawMessage:
    """A message for a model that does not see: a sentence in the place of each picture."""
    return with_pictures(message, lambda block: text_block(_unseen(block)))


def with_pictures(message: RawMessage, change: Callable[[RawBlock], RawBlock]) -> RawMessage:
    """The message with each picture, also in tool results, as `change` gives it; the message itself
    where it has none."""
    if isinstance(message["content"], str):
        return message
    content = [_with_pictures(block, change) for block in message["content"]]
    return {**message, "content": content} if content != message["content"] else message


def _with_pictures(block: RawBlock, change: Callable[[RawBlock], RawBlock]) -> RawBlock:
    if block["type"] == "image":
        return change(block)
    if block["type"] == "tool_result" and not isinstance(block["content"], str):
        return {**block, "content": [_with_pictures(part, change) for part in block["content"]]}
    return block


def _plain_block(block: RawBlock, sees: bool) -> RawBlock:
    if block["type"] == "image":
        return block if sees else text_block(_unseen(block))
    if block["type"] == "text" and "citations" in block:
        return {key: value for key, value in block.items() if key != "citations"}
    if block["type"] != "tool_result" or isinstance(block["content"], str):
        return block
    seen = [part for part in block["content"] if sees and part["type"] == "image"]
    text = "\n\n".join(_plain_text(part) for part in block["content"] if part not in seen)
    return {**block, "content": [text_block(text), *seen] if seen else text}


def _plain_text(part: RawBlock) -> str:
    if part["type"] == "search_result":
        return f"[{part['source']}]\n" + "\n".join(text["text"] for text in part["content"])
    return _unseen(part) if part["type"] == "image" else str(part["text"])


def _unseen(block: RawBlock) -> str:
    return f"[{block['source'].get('label') or 'A picture'}: this model cannot see pictures.]"
