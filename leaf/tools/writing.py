"""How create_document writes: the sources are read here and given to the chat's model in a call of
their own, so that nothing of them enters the chat. Sources that are longer than the model's window
are read in parts, and notes on the parts are combined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from leaf.documents import prompts
from leaf.errors import FileTooLargeError, InvalidInputError
from leaf.readers.base import Window
from leaf.readers.window import CHARS_PER_TOKEN, MAX_TOKENS
from leaf.shapes.results import PassageShown
from leaf.store.model import ChatFile
from leaf.tools.base import Ask, AskRequest, Coverage, Source, ToolContext, quoted
from leaf.tools.files import coverage_of

ANSWER = 16_000
"""Longest document that is written in one call, in tokens; a quarter of a small window."""
NOTES = 4_000
"""Longest notes on one part, in tokens."""
SLACK = 0.95
"""Share of the window that is used: tokens are estimated."""
MOST_PARTS = 40
"""Calls for the notes of one document; more would cost more than anyone expects."""


@dataclass(frozen=True)
class Order:
    """What is to be written."""

    title: str
    kind: str
    document_type: str
    wishes: str
    """What the user asks for, and what is known beside the sources; empty for nothing."""


GIVEN = "the text given"
"""What a text is called that came with the call and is no file."""


@dataclass(frozen=True)
class SourceWindow:
    """A window of a source."""

    chat_file: ChatFile | None
    """None for a text that came with the call."""
    window: Window

    @property
    def name(self) -> str:
        return self.chat_file.file.name if self.chat_file else GIVEN

    @property
    def tokens(self) -> int:
        return _tokens(self.markup)

    @property
    def markup(self) -> str:
        """The text between marks that it cannot close itself."""
        known = (
            f'id="{self.chat_file.handle}" name="{escape(self.name)}"'
            if self.chat_file
            else f'name="{GIVEN}"'
        )
        text = self.window.text.replace("</source", "< /source")
        return f"<source {known}>\n{text}\n</source>"


@dataclass(frozen=True)
class WrittenText:
    """A text that was written, and from what."""

    text: str
    cut: bool
    """Whether it ends because it may not be longer."""
    parts: int
    """1 where everything was read at once."""
    source_tokens: int
    """Estimated."""


def read_sources(context: ToolContext, chosen: Sequence[ChatFile], ask: Ask) -> list[SourceWindow]:
    """The whole text of the files. Raises InvalidInputError for files without text, what the
    library raises, RunError."""
    size = min(MAX_TOKENS, max(500, _room(ask) - 500))
    pieces: list[SourceWindow] = []
    for chat_file in chosen:
        cursor, at = "", len(pieces)
        while True:
            context.progress(f"Reading {quoted(chat_file.file.name, 60)}")
            window = context.library.texts.read(
                context.scope, chat_file.file, max_tokens=size, cursor=cursor, stop=context.stop
            )
            if window.text:
                pieces.append(SourceWindow(chat_file, window))
            cursor = window.cursor
            if not cursor:
                break
            if sum(piece.tokens for piece in pieces) > _room(ask) * MOST_PARTS:
                raise FileTooLargeError(
                    f"The sources are longer than {MOST_PARTS} times what the model reads at once.",
                    "Name fewer files, or let search_files find what matters.",
                )
        if len(pieces) == at:
            raise InvalidInputError(
                f"{chat_file.file.name} holds no text.", "Name other files, or give the content."
            )
    return pieces


def given_pieces(text: str, ask: Ask) -> list[SourceWindow]:
    """A text that came with the call, in pieces that the model can read at once, cut between lines
    where there are some."""
    size, pieces = int(max(500, _room(ask) - 500) * CHARS_PER_TOKEN), []
    while text.strip():
        end = len(text) if len(text) <= size else (text.rfind("\n", size // 2, size) + 1 or size)
        pieces.append(SourceWindow(None, Window(text[:end].strip("\n"), (), "", "")))
        text = text[end:]
    return pieces


def write(
    context: ToolContext,
    ask: Ask,
    order: Order,
    pieces: Sequence[SourceWindow],
    on_text: Callable[[str], None],
    on_restart: Callable[[], None],
) -> WrittenText:
    """The document's text, streamed to `on_text`. Raises ModelError, and RunError once the run is
    stopped."""
    total = sum(piece.tokens for piece in pieces)
    parts = _parts(pieces, _room(ask) - _tokens(order.wishes))
    content = parts[0]
    if len(parts) > 1:
        content = _combined(context, ask, order, parts)
    context.progress("Reading the sources")
    system = prompts.system_prompt(order.kind, order.document_type)
    asked = ask(
        AskRequest(system, f"{content}\n\n{_task(order, len(parts))}", _answer(ask)),
        on_text,
        on_restart,
    )
    return WrittenText(asked.text, asked.stop_reason == "max_tokens", len(parts), total)


def _combined(context: ToolContext, ask: Ask, order: Order, parts: Sequence[str]) -> str:
    """Notes on all parts; notes on the notes where those are too long as well."""
    system = prompts.notes_prompt(order.document_type)
    while True:
        notes = []
        for number, part in enumerate(parts, 1):
            context.progress(f"Reading part {number} of {len(parts)}")
            content = f"{part}\n\nThis is part {number} of {len(parts)}.\n{_task(order, 1)}"
            answer = ask(AskRequest(system, content, min(NOTES, _answer(ask))), lambda _text: None)
            notes.append(
                f'<source part="{number} of '
                f'{len(parts)}">\n{answer.text.replace("</source", "< /source")}\n</source>'
            )
        joined = "\n\n".join(notes)
        if _tokens(joined) <= _room(ask) or len(parts) == 1:
            return joined
        parts = _packed(notes, _room(ask))


def _task(order: Order, parts: int) -> str:
    lines = [f'The document\'s title is "{order.title}".']
    if parts > 1:
        lines.append(
            "The sources above are notes on the parts of longer files. Combine them; do not speak "
            "of the notes."
        )
    if order.wishes:
        lines.append(f"What the user wants and knows:\n{order.wishes}")
    return "\n".join(lines)


def _parts(pieces: Sequence[SourceWindow], room: int) -> list[str]:
    return _packed([piece.markup for piece in pieces], room)


def _packed(texts: Sequence[str], room: int) -> list[str]:
    """Texts joined as long as they fit into the room, in order."""
    packed: list[str] = []
    for text in texts:
        if packed and _tokens(packed[-1]) + _tokens(text) + 1 <= room:
            packed[-1] += f"\n\n{text}"
        else:
            packed.append(text)
    return packed


def _answer(ask: Ask) -> int:
    return min(ANSWER, ask.window // 4)


def _room(ask: Ask) -> int:
    """Tokens of sources that go into one call, beside the prompt and the answer."""
    prompt = max(_tokens(prompts.notes_prompt(t)) for t in prompts.TYPES)
    return max(1_000, int(ask.window * SLACK) - _answer(ask) - prompt - 200)


def _tokens(text: str) -> int:
    return int(len(text) / CHARS_PER_TOKEN) + 1


def sources(pieces: Sequence[SourceWindow]) -> tuple[Source, ...]:
    """Each file once, with all places that were read."""
    by_handle: dict[str, tuple[ChatFile, list[str]]] = {}
    for piece in pieces:
        if piece.chat_file:
            by_handle.setdefault(piece.chat_file.handle, (piece.chat_file, []))[1].extend(
                piece.window.places
            )
    return tuple(
        Source(c.handle, c.file.id, c.file.name, places[0] if len(places) == 1 else "", "read")
        for c, places in by_handle.values()
    )


def passages(pieces: Sequence[SourceWindow]) -> list[PassageShown]:
    """What was read, window by window: {"name", "place", "text"}."""
    return [
        {
            "name": p.name,
            "place": " to ".join(dict.fromkeys((*p.window.places[:1], *p.window.places[-1:]))),
            "text": p.window.text,
        }
        for p in pieces
    ]


def coverage(pieces: Sequence[SourceWindow]) -> tuple[Coverage, ...]:
    """What was seen of each file, by the code that read it."""
    return tuple(
        cover
        for piece in pieces
        if piece.chat_file is not None
        for cover in coverage_of(piece.chat_file.file, piece.window)
    )
