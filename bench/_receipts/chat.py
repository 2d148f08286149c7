"""A chat of 100 questions full of numbers. Into each answer figures are planted that nothing gave:
small ones, round ones, numbers of earlier questions and of this one, of earlier answers. None may
have a receipt; lists and ordinals have no mark.
"""

from __future__ import annotations

import gc
import random
import time
from dataclasses import dataclass, field
from typing import Any

from bench._receipts.series import Series, series
from leaf.provenance.receipts.answer import of_answer
from leaf.shapes.parts import Part, ToolPart
from leaf.shapes.results import Output, TableShown
from leaf.store.model import Message

QUESTIONS = 100
NOUNS = [
    "complaints",
    "branches",
    "meetings",
    "visitors",
    "machines",
    "returns",
    "errors",
    "parcels",
    "tickets",
    "employees",
    "windows",
    "hotels",
    "pages_printed",
]


@dataclass
class Said:
    """An answer that grows, and for each of its figures what it is."""

    text: str = ""
    truth: dict[int, tuple[str, bool]] = field(default_factory=dict)
    unmarked: list[int] = field(default_factory=list)
    """Where numbers stand that are no claims."""

    def say(self, text: str) -> Said:
        self.text += text
        return self

    def fig(self, written: str, sort: str, true: bool) -> Said:
        self.truth[len(self.text)] = (sort, true)
        return self.say(written)

    def plain(self, written: str) -> Said:
        self.unmarked.append(len(self.text))
        return self.say(written)


@dataclass
class Found:
    """What came of it."""

    counts: dict[tuple[str, bool], list[bool]] = field(default_factory=dict)
    marked: int = 0
    """Numbers that are no claims, with a mark."""
    unmarked: int = 0
    times: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def measure(seed: int) -> Found:
    """Hold the chat."""
    chance = random.Random(seed)
    found, history, known = Found(), [], series()
    past: list[tuple[Series, str, str, str]] = []
    asked: list[int] = []
    # what pandas and the tables keep is not for the collector to look through while an answer is
    # timed
    gc.freeze()
    for number in range(QUESTIONS):
        question, said, parts = _turn(number, chance.choice(known), chance, past, asked)
        history.append(_message(f"q{number}", "user", [{"type": "text", "text": question}]))
        parts.append({"type": "text", "id": f"t{number}", "text": said.text, "state": "done"})
        began = time.process_time()
        kept = of_answer(parts, history) or {"receipts": ()}
        found.times.append((time.process_time() - began) * 1000)
        _count(found, said, kept["receipts"])
        history.append(_message(f"a{number}", "assistant", parts))
    return found


def _count(found: Found, said: Said, receipts: Any) -> None:
    by_start = {receipt["start"]: receipt for receipt in receipts}
    for start, (sort, true) in said.truth.items():
        receipt = by_start.get(start, {"kind": "none"})
        has = receipt["kind"] != "none"
        found.counts.setdefault((sort, true), []).append(has)
        if has != true or receipt.get("against"):
            line = said.text[said.text.rfind("\n", 0, start) + 1 :].split("\n")[0]
            why = " ".join(
                str(receipt.get(name, ""))
                for name in ("kind", "how", "column", "row", "value", "message_id", "against")
            )
            found.lines.append(
                f"{sort:16} {'true ' if true else 'WRONG'} {said.text[start : start + 14]!r} "
                f"{why} | {line[:150]}"
            )
    found.unmarked += len(said.unmarked)
    for start in said.unmarked:
        if start in by_start:
            found.marked += 1
            found.lines.append(f"marked: {said.text[max(0, start - 30) : start + 20]!r}")


def _turn(
    number: int,
    one: Series,
    chance: random.Random,
    past: list[tuple[Series, str, str, str]],
    asked: list[int],
) -> tuple[str, Said, list[Part]]:
    """A question, its answer, and the query behind that."""
    frame = one.frame
    times = sorted(frame[one.time].unique())
    at = chance.choice(times)
    rows = (
        frame[frame[one.time] == at]
        if one.group
        else frame[frame[one.time].isin(chance.sample(times, min(6, len(times))))]
    )
    label = one.group or one.time
    rows = rows.sort_values(one.measure, ascending=False).reset_index(drop=True)
    limit, threshold = chance.randrange(3, 40), chance.randrange(50, 900)
    asked.append(threshold)
    when = f" in {at}" if one.group else ""
    question = (
        f"Which {label} have more than {threshold} {one.measure}{when}? Show the top {limit}."
    )
    question += f" We had {chance.randrange(2, 99)} offices."
    where = f" WHERE {one.time} = {at!r}" if one.group else ""
    amount = f"round(sum({one.measure}), {chance.randrange(2, 9)}) AS {one.measure}"
    sql = f"SELECT {label}, {amount} FROM t{where} GROUP BY 1 LIMIT {limit}"
    shown = [
        [_plain(a), round(float(b), 4)] for a, b in zip(rows[label], rows[one.measure], strict=True)
    ]
    said = Said()
    name, value = shown[0]
    said.plain("1").say(". **").say(str(name)).say(
        f"** comes first{when} with {one.measure} of "
    ).fig(_written(value), "own", True)
    said.say(".\n").plain("2").say(". These are the top ").plain(str(limit)).say(
        ", each above "
    ).plain(str(threshold)).say(".\n\n")
    if len(shown) > 1:
        other, less = shown[1]
        said.say("The ").plain("2").say(f"nd is {other}, {one.measure} ").fig(
            _written(less), "own", True
        ).say(".\n")
    _plant(said, one, chance, past, asked, str(name), when)
    for series_of, label_of, value_of, when_of in past[-12::6]:
        if series_of.group and when_of and (not when or when != when_of):
            text = f"As found earlier, the {series_of.measure} of {label_of}{when_of} was "
            said.say(text).fig(value_of, "recalled", True).say(".\n")
    past.append((one, str(name), _written(value), when))
    table: TableShown = {
        "columns": [label, one.measure],
        "types": [],
        "rows": shown,
        "total": len(shown),
        "result_id": f"r{number + 1}",
        "sql": sql,
    }
    output: Output = {
        "text": "",
        "summary": "",
        "data": {"table": table},
        "sources": [],
        "coverage": [],
    }
    part: ToolPart = {
        "type": "tool-query_tables",
        "toolCallId": f"c{number}",
        "state": "output-available",
        "input": {"sql": sql},
        "output": output,
    }
    return question, said, [part]


def _plant(
    said: Said,
    one: Series,
    chance: random.Random,
    past: list[tuple[Series, str, str, str]],
    asked: list[int],
    name: str,
    when: str,
) -> None:
    noun = chance.choice(NOUNS)
    said.say(f"{name} has ").fig(str(chance.randrange(2, 60)), "small", False).say(f" {noun}.\n")
    said.say("There were ").fig("42", "42", False).say(f" {chance.choice(NOUNS)} in all.\n")
    said.say(f"{name} counted ").fig(f"{chance.randrange(1, 90) * 100:,}", "round", False).say(
        f" {noun}.\n"
    )
    said.say("They logged ").fig(str(asked[-1]), "this question", False).say(f" {noun}.\n")
    if len(asked) > 1:
        said.say(f"The {one.measure} of {name}{when} comes from ").fig(
            str(chance.choice(asked[:-1])), "earlier question", False
        )
        said.say(f" {noun}.\n")
    others = [
        p
        for p in past
        if (p[0].measure != one.measure or p[3] != when or p[1] != name) and p[2] not in said.text
    ]
    if others:
        _, _, wrong, _ = chance.choice(others)
        said.say(f"The {one.measure} of {name}{when} would be ").fig(
            wrong, "earlier answer", False
        ).say(" without it.\n")
        _, label, wrong, _ = chance.choice(others)
        said.say(f"{label} spent ").fig(wrong, "earlier, no measure", False).say(f" on {noun}.\n")
    said.say(f"{name} closed ").fig(f"{chance.uniform(1, 99):.1f} %", "percent", False).say(
        f" of its {noun}.\n"
    )
    said.say(f"{name} needs ").fig(f"{chance.randrange(100, 999)}", "three digits", False).say(
        f" {noun}.\n"
    )


def _plain(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell


def _written(value: float) -> str:
    return f"{value:,.2f}" if value != int(value) else f"{value:,.0f}"


def _message(message_id: str, role: Any, parts: list[Part]) -> Message:
    return Message(message_id, "chat", "", role, "completed", parts, [])
