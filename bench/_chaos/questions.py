"""The questions, what is true of each, and the model that answers them: what it says depends on the
question and the turn alone."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.messages_server import Turn

Json = dict[str, Any]

KINDS = ("plain", "query", "plain", "document", "query", "python", "plain", "both")
"""What is asked for, again and again in this order."""
NAME = "sales.csv"
SALES = "region,revenue\n" + "".join(f"{'NSEW'[number % 4]},{number}\n" for number in range(4_000))
QUERY = "SELECT region, sum(revenue) AS total FROM sales GROUP BY region ORDER BY region"
ROWS = [[one, sum(range("NSEW".index(one), 4_000, 4))] for one in sorted("NSEW")]
WORDS = 40
DELAY = 0.1
"""Seconds between two words, and before each piece of a tool call."""


@dataclass(frozen=True)
class Question:
    number: int

    @property
    def kind(self) -> str:
        return KINDS[self.number % len(KINDS)]

    @property
    def text(self) -> str:
        return f"Question {self.number} asks for something {self.kind}."

    @property
    def answer(self) -> str:
        return f"Answer {self.number}: " + " ".join(f"word{n}" for n in range(WORDS)) + "."

    @property
    def document(self) -> str:
        return f"# Document {self.number}\n\nIt was asked for, and is there once.\n"

    @property
    def code(self) -> str:
        """Writes another file each time that it runs."""
        return f"import time\nopen('note.txt', 'w').write('{self.written}' + str(time.time_ns()))"

    @property
    def written(self) -> str:
        """What the file of `code` begins with."""
        return f"Note {self.number} of "

    @property
    def calls(self) -> list[tuple[str, Json]]:
        """The tool calls before the answer, one a turn."""
        query = ("query_tables", {"sql": QUERY})
        document = (
            "create_document",
            {"title": f"Document {self.number}", "content": self.document},
        )
        return {
            "plain": [],
            "query": [query],
            "document": [document],
            "python": [("run_python", {"code": self.code})],
            "both": [query, document],
        }[self.kind]

    @property
    def effects(self) -> Counter[str]:
        """How many rows its answer leaves in each table."""
        called = Counter(name for name, _ in self.calls)
        return Counter(
            results=called["query_tables"],
            documents=called["create_document"],
            document_versions=called["create_document"],
            made_files=called["run_python"],
            cells=called["run_python"],
            usage_steps=len(self.calls) + 1,
        )


@dataclass(frozen=True)
class Call:
    """One request to the model."""

    number: int
    """Of the question."""
    turn: int
    at: float
    """`time.monotonic()`."""


@dataclass
class Model:
    """Answers, and counts what it was asked."""

    calls: list[Call] = field(default_factory=list)
    told: Counter[int] = field(default_factory=Counter)
    """Questions -> how many tool results said that the call had failed."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: Json) -> Turn:
        messages = body["messages"]
        found = re.search(r"Question (\d+) asks", str(messages[0]))
        assert found is not None, "this is no question of the bench"
        question = Question(int(found[1]))
        turn = sum(message["role"] == "assistant" for message in messages)
        with self._lock:
            self.calls.append(Call(question.number, turn, time.monotonic()))
            self.told[question.number] += _failed(messages[-1])
        calls = question.calls
        if turn < len(calls):
            return Turn.call(calls[turn], delay=DELAY)
        return Turn.say(question.answer, pieces=WORDS, delay=DELAY)

    def repeated(self) -> Counter[int]:
        """Questions -> how many of their turns were asked for once more."""
        with self._lock:
            turns = Counter((call.number, call.turn) for call in self.calls)
        again: Counter[int] = Counter()
        for (number, _), count in turns.items():
            again[number] += count - 1
        return again


def _failed(message: Json) -> int:
    content = message["content"] if isinstance(message["content"], list) else []
    return sum(bool(block.get("is_error")) for block in content)
