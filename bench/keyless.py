"""The analyst without a model: what it answers, what of that is right, and what it says without
having understood it.

    python -m bench.keyless [--show] [--only "held out"] [--shared FOLDER]

Three sets of questions, through the real tools and the real loop: those of DABench that are there
(its answers are the truth), and in four languages bench/_keyless/questions.py and held_out.py
(pandas is the truth). A question is refused where the answer says what was not understood before
any figure. Prints how many were answered, how many of these are right, wrong figures, refusals, and
lines of Python: those of the rules and of what drives them, blank ones among them, and beside these
what they share with the suggestions. Exit code 1 if a figure is wrong, less than 97 % of what is
answered is right, or the rules have more than 1,000 lines.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # its threads can spin for good beside a process that starts others

import pandas as pd

from bench._figures import Figure, Report, changed
from bench._keyless import tables
from bench._keyless.held_out import ANSWERABLE, TRAPS
from bench._keyless.questions import HOSTILE, PLAIN
from leaf.agent.models.keyless import NOT_UNDERSTOOD, WHICH_IS_MEANT
from leaf.agent.rules.spoken import in_all, language_of
from leaf.language.text import NAMES, SEPARATORS, current, n_, speaking
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.shapes.part_values import data_of, texts_of
from leaf.store.model import File, Message
from leaf.wiring import build

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
HEADS = ("questions", "answered", "right", "of answered", "wrong", "refused")
"""`wrong` are figures that no word precedes of what was not understood."""
AT_ONCE = 3
LINES = 1_000
RIGHT = 0.97
REFUSALS = (
    NOT_UNDERSTOOD,
    WHICH_IS_MEANT,
    "Nothing in {n} file matches “{query}”. Try other words.",
    "{file} could not be used: {why}",
)
"""How an answer says that it did not understand."""
PLACES = ("{n} place in the files mentions this:", "{n} places in the files mention this:")
_FIGURE = re.compile(r"\*\*[^*]*\*\*|^\|", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """One answer, taken apart."""

    question: str
    text: str
    refused: bool
    figures: list[str]
    """What is bold, in its order."""
    rows: list[list[Any]]
    """The result that was shown last."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--show", action="store_true", help="print each answer that is wrong, and each refusal"
    )
    parser.add_argument("--only", default="", help="only the sets whose name holds this")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    rules = ("leaf/agent/rules", "leaf/agent/models/keyless.py", "leaf/agent/column_kinds.py")
    report = Report("keyless", rules, changed(parser, asked, ("show", "shared")))
    if not (asked.shared / "foreign" / "dabench").is_dir():
        print(f"No questions at {asked.shared}.")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        leaf = build(Settings(home=Path(folder) / "home"))
        try:
            leaf.launch()
            desk = Desk(leaf.session(leaf.local_scope()))
            print(f"{'':<22}" + "".join(f"{head:>12}" for head in HEADS))
            figures = _own(desk, asked.shared, Path(folder), asked.only, asked.show)
            if asked.only in "DABench":
                figures += _dabench(desk, asked.shared / "foreign" / "dabench", asked.show)
        finally:
            leaf.close()
    lines, shared, words = code_lines()
    beside = {"words": words, "kinds of columns, which suggestions share": shared}
    return report.end(
        [
            *figures,
            Figure(
                "", "lines of the rules, blank ones too", lines, LINES, False, "{:,.0f}", beside
            ),
        ]
    )


class Desk:
    """Asks each question in a chat of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._files: dict[Path, File] = {}

    def ask_all(self, asked: Sequence[tuple[str, Sequence[Path]]]) -> list[Said]:
        """As many at once as one person may."""
        for path in dict.fromkeys(path for _, paths in asked for path in paths):
            self._files[path] = self._files.get(path) or self._session.files.add_path(path, "").file
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda pair: self._ask(*pair), asked))

    def _ask(self, question: str, paths: Sequence[Path]) -> Said:
        chat = self._session.chats.create()
        sent = self._session.messages.send(
            chat.id, question, [self._files[path].id for path in paths]
        )
        while (message := self._session.messages.get(sent.id)).status in ("pending", "streaming"):
            time.sleep(0.05)
        if message.status != "completed":
            raise RuntimeError(
                f"The answer to {question!r} ended as {message.status}: {message.error}"
            )
        return _taken_apart(question, message)


def _taken_apart(question: str, message: Message) -> Said:
    text = "\n\n".join(texts_of(message.parts))
    results = [
        table
        for part in message.parts
        if part["type"] == "tool-query_tables" and (table := data_of(part).get("table"))
    ]
    rows = [list(row) for row in results[-1]["rows"]] if results else []
    refused, figure = _refusals().search(text), _FIGURE.search(text)
    early = refused is not None and (figure is None or refused.start() < figure.start())
    with speaking(language_of(question)):
        figures = [_in_english(found) for found in re.findall(r"\*\*([^*]+)\*\*", text)]
    return Said(question, text, early or figure is None, figures, rows)


@cache
def _refusals() -> re.Pattern[str]:
    """Of each the longest words without a name, in all languages."""
    found = []
    for said in (said for refusal in REFUSALS for said in in_all(refusal)):
        parts = [part.strip() for part in re.split(r"\{\w+\}", said)]
        found.append(re.escape(max(parts, key=len)))
    for language in NAMES:
        with speaking(language):
            found += [re.escape(n_(*PLACES, count).lstrip("12 ")) for count in (1, 2)]
    return re.compile("|".join(found))


def _in_english(figure: str) -> str:
    """Written in the language of the question."""
    thousands, decimals = SEPARATORS.get(current(), (",", "."))
    plain = figure.strip("* ").replace(thousands, "")
    return plain.replace(decimals, ".") if re.fullmatch(r"[-\d,.e]+", plain) else figure.strip("* ")


def _own(desk: Desk, shared: Path, folder: Path, only: str, show: bool) -> list[Figure]:
    frames = tables.frames(shared)
    paths = {name: tables.write(name, frame, shared, folder) for name, frame in frames.items()}
    figures = []
    sets = (
        ("answerable", PLAIN),
        ("hostile", HOSTILE),
        ("held out, answerable", ANSWERABLE),
        ("held out, traps", TRAPS),
    )
    for label, questions in (pair for pair in sets if only in pair[0]):
        answered = desk.ask_all(
            [
                (question, [paths[name] for name in names.split("+")])
                for names, question, _ in questions
            ]
        )
        outcomes = [
            (said, not said.refused and truth is not None and agrees(said, truth(frames)))
            for said, (_, _, truth) in zip(answered, questions, strict=True)
        ]
        figures += _report(label, outcomes, show)
    return figures


def agrees(said: Said, truth: Any) -> bool:
    """Whether an answer's figures are the true ones: bold ones for figures, the result's rows for
    groups."""
    if isinstance(truth, pd.Series):
        wanted = [
            [*map(_label, key if isinstance(key, tuple) else (key,)), _plain(value)]
            for key, value in truth.items()
        ]
        got = [row for row in said.rows if row and all(cell is not None for cell in row)]
        return len(got) == len(wanted) and all(
            any(_same_row(row, want) for row in got) for want in wanted
        )
    values = truth if isinstance(truth, tuple) else (truth,)
    shown = said.figures if len(values) > 1 else said.figures[:1]
    return len(shown) == len(values) and all(
        near(figure, value) for figure, value in zip(shown, values, strict=True)
    )


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _label(value: Any) -> Any:
    """A key of a group: pandas makes 2008.0 of the year 2008 where some rows have none."""
    plain = _plain(value)
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def _same_row(row: Sequence[Any], want: Sequence[Any]) -> bool:
    """Labels, then the figure: it may stand behind other columns."""
    labels = [str(cell).strip() for cell in row[: len(want) - 1]] == [
        str(cell).strip() for cell in want[:-1]
    ]
    return labels and any(near(str(cell), want[-1]) for cell in row[len(want) - 1 :])


def near(figure: str, value: Any) -> bool:
    """Whether a figure is that value, rounded as it is shown."""
    digits = re.sub(r"[,% ]", "", figure)
    try:
        shown = float(digits)
    except ValueError:
        return figure.strip() == str(value).strip()
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return False
    decimals = len(digits.partition(".")[2].partition("e")[0])
    return abs(shown - float(value)) <= max(
        0.6 * 10**-decimals if "e" not in digits else 0, 2e-4 * abs(float(value)), 1e-9
    )


def _dabench(desk: Desk, folder: Path, show: bool) -> list[Figure]:
    labels = {
        d["id"]: d["common_answers"] for d in map(json.loads, _lines(folder / "labels.jsonl"))
    }
    questions = [json.loads(line) for line in _lines(folder / "questions.jsonl")]
    answered = desk.ask_all(
        [(q["question"], [folder / "tables" / q["file_name"]]) for q in questions]
    )
    truths = [[str(value) for _, value in labels[q["id"]]] for q in questions]
    outcomes = [
        (s, not s.refused and _is_labelled(s, truth))
        for s, truth in zip(answered, truths, strict=True)
    ]
    return _report("DABench", outcomes, show)


def _is_labelled(said: Said, answers: Sequence[str]) -> bool:
    """Whether each figure that is bold, or shown where none is, is one of the labels within its own
    rounding."""
    shown = said.figures or [str(cell) for row in said.rows for cell in row]
    return bool(shown) and all(
        any(_within(figure, answer) for answer in answers) for figure in shown
    )


def _within(figure: str, answer: str) -> bool:
    try:
        got, want = float(re.sub(r"[,% ]", "", figure)), float(answer)
    except ValueError:
        return figure.strip() == answer.strip('" ')
    decimals = min(len(text.strip("% ").partition(".")[2]) for text in (figure, answer))
    return abs(got - want) <= 0.6 * 10.0**-decimals


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.strip()]


def _report(label: str, outcomes: Sequence[tuple[Said, bool]], show: bool) -> list[Figure]:
    answered = [(said, right) for said, right in outcomes if not said.refused]
    wrong = [said for said, right in answered if not right]
    right = len(answered) - len(wrong)
    share = right / len(answered) if answered else 1.0
    figures = (
        len(outcomes),
        len(answered),
        right,
        f"{share:.1%}",
        len(wrong),
        len(outcomes) - len(answered),
    )
    print(f"{label:<22}" + "".join(f"{figure:>12}" for figure in figures), flush=True)
    for said in wrong:
        print(f"  WRONG {said.question}\n        " + " / ".join(said.text.splitlines()[:6])[:400])
    if show:
        for said, _ in outcomes:
            if said.refused:
                print(f"  refused {said.question}\n        " + said.text[:160].replace("\n", " / "))
    name = f"{len(outcomes)} questions, {label}"
    return [
        Figure(name, "answered", len(answered), shown="{:.0f}"),
        Figure(name, "right of what is answered", share, RIGHT, shown="{:.1%}"),
        Figure(name, "wrong figures", len(wrong), 0, False, "{:.0f}"),
    ]


def code_lines() -> tuple[int, int, int]:
    """All lines of the rules and of what drives them, of what tells kinds of columns, and of the
    words that the rules know."""
    agent = ROOT / "leaf" / "agent"
    files = (agent / "models" / "keyless.py", *sorted((agent / "rules").glob("*.py")))
    lines, shared, words = (
        sum(path.read_text().count("\n") for path in paths)
        for paths in (files, [agent / "column_kinds.py"], [agent / "rules" / "words.txt"])
    )
    return lines, shared, words


if __name__ == "__main__":
    csv.field_size_limit(2**31 - 1)
    sys.exit(main())
