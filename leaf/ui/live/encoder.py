"""One answer's chunks, turned into its document as they come: once for everybody who watches.

It shows what `ui/items.py` makes of the parts, item by item, but without making the parts, so that
a word costs the same however long the answer is. What takes something back (a step or a text that
begins again) is rare; then the document is built anew from the parts.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, cast

import orjson

from leaf.agent.events import compact, reduce, replay
from leaf.language.text import ENGLISH, speaking
from leaf.provenance.citations import citation_of
from leaf.runs.board import ELSEWHERE
from leaf.runs.run import Run
from leaf.shapes.chunks import (
    RESET,
    TERMINAL,
    BlockGrows,
    BlockStarts,
    Chunk,
    DocumentGrows,
    InputStarts,
    InputThere,
    InputWrong,
    OutputThere,
    OutputWrong,
    StepStarts,
    chunk,
)
from leaf.shapes.parts import (
    ConsentPart,
    DocumentPart,
    FoldedPart,
    ProgressPart,
    QuestionsPart,
    SourcePart,
    StatusPart,
    ToolPart,
)
from leaf.ui import marks, steps, words
from leaf.ui.items import WORKING, chart_of, figures_of, written_of
from leaf.ui.live.document import LiveDocument, Node
from leaf.ui.live.text import GrowingText

_TURN = re.compile(r"text-(\d+)-")
RECENT = 60
"""A viewer who has missed no more numbers than that gets what is new where it is asked for: handing
it to a thread would take longer than making it."""
_MOVED = chunk("abort", reason=ELSEWHERE)
_GROWS = frozenset({"text", "code", "writing"})


class Encoder:
    """Follows one run. `advance` is called by one thread; what viewers ask may come from any."""

    def __init__(self, run: Run, language: str = ENGLISH) -> None:
        self.run, self.language = run, language
        self.epoch = uuid.uuid4().hex[:12]
        """Numbers count within it."""
        self.done = False
        self.moved = False
        """The run ended, and another one goes on with the answer."""
        self._lock = threading.Lock()
        self._takers = self._by_type()
        self._document = LiveDocument()
        self._position = 0
        self._passed = False
        self._milestone = 0
        """Chunks up to the last one that changed what the page draws itself."""
        self._last = 0.0
        self._frames: tuple[int, dict[int, str]] = (0, {})
        """The newest number, and by the numbers that viewers have seen what they get at it."""
        self._begin()

    @property
    def number(self) -> int:
        return self._document.number

    def advance(self, now: float, gap: float = 0.0) -> tuple[bool, float | None]:
        """Take in what is new, `gap` seconds after the last time at the earliest. Returns whether
        there is something for viewers, and when to come again, if not only for news. Times are
        those of `time.perf_counter`.
        """
        with self._lock, speaking(self.language):
            if now < self._last + gap and self.run.ended_at is None:
                return False, self._last + gap
            piece = self.run.read(self._position)
            for c in compact(piece.chunks):
                self._take(c)
            self._position = piece.position
            if self._broken:
                self._rebuild()
            if self._passed:
                self._milestone, self._passed = self._position, False
            due = self._text.draw() if self._text else None
            for text in self._writing.values():
                if (again := text.draw()) is not None:
                    due = min(due or again, again)
            self._document.tail(*self._tail())
            ended = piece.done and not self.done
            self.done = piece.done
            before = self.number
            if self._document.commit() or ended:
                self._frames = (self.number, {})
                self._frame(before)
                self._last = now
                return True, due
            return False, due

    def ready(self, number: int, epoch: str) -> tuple[str, int] | None:
        """What `frame` gives, if that is at hand or soon made, without waiting."""
        newest, frames = self._frames
        frame = frames.get(number if epoch == self.epoch else -1)
        if frame is not None:
            return frame, newest
        recent = epoch == self.epoch and 0 <= newest - number <= RECENT
        if not recent or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._frame(number), self.number
        finally:
            self._lock.release()

    def frame(self, number: int, epoch: str) -> tuple[str, int]:
        """What a viewer gets who has seen this number of this epoch, as JSON, and the number that
        it then has seen."""
        with self._lock:
            return self._frame(
                number if epoch == self.epoch and number <= self.number else -1
            ), self.number

    def _frame(self, known: int) -> str:
        frames = self._frames[1]
        if known not in frames:
            frame = {
                "epoch": self.epoch,
                "from": known,
                "to": self.number,
                "drawn": self._milestone,
            }
            if self.done and not self.moved:
                frame["done"] = True
            frames[known] = orjson.dumps({**frame, "do": self._document.since(known)}).decode()
        return frames[known]

    def _begin(self) -> None:
        self._document.clear()
        self._text: GrowingText | None = None
        self._turn = ""
        self._text_ids: set[str] = set()
        self._other_ids: set[tuple[str, str]] = set()
        self._steps = 0
        self._thoughts: dict[str, Node | None] = {}
        self._tools: dict[str, tuple[ToolPart, Node]] = {}
        self._documents: dict[str, Node] = {}
        self._writing: dict[str, GrowingText] = {}
        self._codes: dict[str, Node] = {}
        """Documents of code that are being written -> the node of their text."""
        self._progress: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        self._status = ""
        self._broken = False

    def _rebuild(self) -> None:
        """Something was taken back: begin with what the parts are now."""
        self._begin()
        for c in replay(reduce(compact(self.run.read().chunks[: self._position]))):
            self._take(c)
        self._broken, self._passed = False, True

    def _by_type(self) -> Mapping[str, Callable[[Any], None]]:
        """Chunk type -> what it does. Each takes the chunk of its type."""
        return {
            "text-start": self._begin_text,
            "text-delta": self._grow_text,
            "reasoning-start": self._begin_thought,
            "reasoning-delta": self._grow_thought,
            "start-step": self._take_step,
            "tool-input-start": self._begin_call,
            "tool-input-available": self._take_input,
            "tool-input-error": self._take_wrong_input,
            "tool-output-available": self._take_output,
            "tool-output-error": self._take_wrong_output,
            "source-document": self._take_source,
            "data-document-delta": self._grow_document,
            "data-status": self._take_status,
            "data-progress": self._take_progress,
            "data-consent": self._take_consent,
            "data-document": self._take_document,
            "data-folded": self._take_space,
            "data-questions": self._take_space,
            **dict.fromkeys(RESET, self._take_back),
            **dict.fromkeys(TERMINAL, self._take_end),
        }

    def _take(self, c: Chunk) -> None:
        kind = c["type"]
        if self._broken:
            return
        if take := self._takers.get(kind):
            take(c)
        elif kind.startswith("data-"):
            self._take_data(cast("Mapping[str, Any]", c))

    def _take_back(self, _: Chunk) -> None:
        self._broken = True

    def _take_end(self, c: Chunk) -> None:
        self.moved = self.moved or c == _MOVED
        self._close_text()
        for text in self._writing.values():
            text.end()
        self._status = ""

    # Text and thoughts

    def _begin_text(self, c: BlockStarts) -> None:
        text_id = c["id"]
        if text_id in self._text_ids:
            self._broken = True
            return
        self._text_ids.add(text_id)
        match = _TURN.match(text_id)
        if self._text is not None and match and match[1] == self._turn:
            return
        self._close_text()
        self._text = GrowingText(self._document, self.run.message_id)
        self._turn = match[1] if match else ""

    def _grow_text(self, c: BlockGrows) -> None:
        if c["id"] in self._text_ids and self._text is not None:
            self._text.feed(c["delta"])

    def _close_text(self) -> None:
        """Whatever comes now stands behind the text."""
        if self._text is not None:
            self._text.end()
            self._text = None

    def _begin_thought(self, c: BlockStarts) -> None:
        self._broken = c["id"] in self._thoughts
        self._thoughts.setdefault(c["id"], None)
        self._close_text()

    def _grow_thought(self, c: BlockGrows) -> None:
        if c["id"] not in self._thoughts:
            return
        node = self._thoughts[c["id"]]
        if node is None and c["delta"].strip():
            node = self._thoughts[c["id"]] = self._document.add("thought")
        if node is not None:
            self._document.say(node, c["delta"])

    def _take_step(self, c: StepStarts) -> None:
        step = c.get("step")
        self._broken = step is not None and self._steps >= step
        self._steps += 1
        self._close_text()

    def _take_source(self, c: SourcePart) -> None:
        known = ("source-document", c["sourceId"]) in self._other_ids
        self._other_ids.add(("source-document", c["sourceId"]))
        cited = citation_of(c)
        if known:
            return  # whether a quote was found is shown when the answer is whole
        if cited and self._text is not None:
            self._text.cite(marks.held_mark(cited, c["sourceId"]))
        else:
            self._close_text()

    # Steps

    def _begin_call(self, c: InputStarts | InputThere | InputWrong) -> None:
        """The first chunk that says the tool's name begins the step."""
        call_id = c["toolCallId"]
        if call_id not in self._tools:
            self._close_text()
            part: ToolPart = {
                "type": f"tool-{c['toolName']}",
                "toolCallId": call_id,
                "state": "input-streaming",
            }
            self._tools[call_id] = (part, self._document.add("step", _step(part)))

    def _take_input(self, c: InputThere) -> None:
        self._begin_call(c)
        self._tools[c["toolCallId"]][0]["state"] = "input-available"
        self._show_step(c["toolCallId"])

    def _take_wrong_input(self, c: InputWrong) -> None:
        self._begin_call(c)
        self._take_wrong_output(c)

    def _take_output(self, c: OutputThere) -> None:
        if known := self._tools.get(c["toolCallId"]):
            part, node = known
            part["state"], part["output"] = "output-available", c["output"]
            self._add_shown(part, node)
            self._show_step(c["toolCallId"])

    def _take_wrong_output(self, c: OutputWrong | InputWrong) -> None:
        if known := self._tools.get(c["toolCallId"]):
            known[0]["state"], known[0]["errorText"] = "output-error", c["errorText"]
            self._show_step(c["toolCallId"])

    def _show_step(self, call_id: str) -> None:
        part, node = self._tools[call_id]
        self._document.set(node, **_step(part))
        if part["state"] not in WORKING:
            self._passed = True

    def _add_shown(self, part: ToolPart, node: Node) -> None:
        """The elements that stand under a step, which the page draws."""
        if chart_of(part):
            self._document.add("chart", after=node)
            return
        if written_of(part):
            self._document.add("space", after=node)
        if figures_of(part):
            self._document.add("space", after=node)

    # Data

    def _take_data(self, c: Mapping[str, Any]) -> bool:
        """Whether it has the place of one that came before; what comes first ends the text."""
        key = (c["type"], str(c.get("id", "")))
        known = "id" in c and key in self._other_ids
        if not known:
            self._close_text()
        self._other_ids.add(key)
        return known

    def _take_status(self, c: StatusPart) -> None:
        self._take_data(c)
        self._status = c["data"]["text"]

    def _take_progress(self, c: ProgressPart) -> None:
        self._take_data(c)
        self._progress[c["id"]] = c["data"]["text"]

    def _take_consent(self, c: ConsentPart) -> None:
        self._take_data(c)
        self._asked[c["id"]] = c["data"]["state"]
        self._passed = True

    def _take_space(self, c: FoldedPart | QuestionsPart) -> None:
        if not self._take_data(c):
            self._document.add("space")
            self._passed = True

    def _take_document(self, c: DocumentPart) -> None:
        self._take_data(c)
        document_id, data = c["id"], c["data"]
        writing = data.get("state") == "writing"
        if document_id in self._documents:
            node = self._documents[document_id]
            self._document.drop_within(node)
        else:
            node = self._document.add("writing")
        self._document.set(node, title=words.cut(data.get("title", ""), 80), over=not writing)
        self._documents[document_id] = node
        self._writing.pop(document_id, None)
        self._codes.pop(document_id, None)
        if not writing:
            self._passed = True
        elif data.get("kind") == "text":
            self._writing[document_id] = GrowingText(self._document, self.run.message_id, node)
        else:
            self._codes[document_id] = self._document.add("code", {"language": ""}, parent=node)
        if writing:
            self._say_in_document(document_id, data.get("text", ""))

    def _grow_document(self, c: DocumentGrows) -> None:
        self._say_in_document(c["id"], c["data"]["delta"])

    def _say_in_document(self, document_id: str, text: str) -> None:
        if document_id in self._writing:
            self._writing[document_id].feed(text)
        elif document_id in self._codes:
            self._document.say(self._codes[document_id], text)

    # What goes on

    def _tail(self) -> tuple[str, str]:
        at_work = [
            self._progress[key]
            for key, (part, _) in self._tools.items()
            if part["state"] in WORKING and self._progress.get(key)
        ]
        over = self.run.ended_at is not None and not self.moved
        if over or "waiting" in self._asked.values():
            return "", ""
        if self._status:
            return "status", words.cut(self._status, 300)
        if at_work:
            return "progress", words.cut(" · ".join(at_work), 300)
        last = next((node for node in reversed(self._document.nodes) if not node.parent), None)
        return ("", "") if last is not None and _grows(last) else ("waiting", "")


def _grows(node: Node) -> bool:
    return bool(node.fields.get("working")) or (node.kind in _GROWS and not node.fields.get("over"))


def _step(part: ToolPart) -> dict[str, Any]:
    return {
        "icon": steps.icon(part),
        "said": steps.said_of(part),
        "working": part["state"] in WORKING,
        "key": part["toolCallId"],
    }
