"""Three Leafs on one PostgreSQL and one S3 server answer a hundred questions while all that can befall
them does: is anything lost, or there twice?

    python -m bench.chaos [--answers N] [--seconds N] [--seed N]

Every 20 s one of the three is killed (SIGKILL) and started again after a while; PostgreSQL falls over
twice, the store of files is gone for 30 s, one Leaf is frozen for 25 s and wakes. The plan follows from
the seed. Questions go to any of the three, some ask for a query, Python that writes a file, a document;
each answer is watched live at another Leaf while it is written. In the end a machine that took no part,
with an empty disk, opens all of it. Exits with 1 where anything is lost, doubled or incomplete, or where
the model is asked again more than once for an event that struck an answer.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench._chaos import truth
from bench._chaos.asking import Visitors
from bench._chaos.events import Events, Struck, plan
from bench._chaos.questions import NAME, SALES, Model, Question
from bench._chaos.truth import Found
from bench._cluster import Cluster, cluster, lacking
from bench._figures import PARTIAL, Figure, Report, changed
from tests.messages_server import MessagesServer

LEAFS = 3
SETTINGS = {"LEAF_ALLOW_OPEN": "1", "LEAF_RUNS_PER_USER": "60", "LEAF_MODEL_PATIENCE": "60"}
"""All who ask are one person here."""
TAKEN_OVER = 20.0
"""Seconds within which somebody has to go on with an answer. Others know after 10 to 13 that its Leaf is
gone; here PostgreSQL is away in between, and all of it shares a few cores."""


def main() -> int:
    """Report the figures; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=240.0, help="in which they are asked")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    measured = ("leaf/runs", "leaf/store", "leaf/sessions", "leaf/agent", "leaf/jobs")
    report = Report("chaos", measured, changed(parser, given))
    if without := lacking():
        print(f"Missing on this machine: {without}.")
        return 1
    model = Model()
    with (
        MessagesServer(model) as server,
        cluster(LEAFS, server.url, **SETTINGS) as opened,
    ):
        try:
            return report.end(_run(opened, model, given.answers, given.seconds, given.seed))
        finally:
            _keep_logs(opened)


def _run(opened: Cluster, model: Model, answers: int, seconds: float, seed: int) -> list[Figure]:
    visitors = Visitors(opened, _uploaded(opened), seed)
    events = Events(opened, seed)
    happening = threading.Thread(target=events.carry_out, args=(plan(seconds, seed),))
    happening.start()
    with ThreadPoolExecutor(answers) as pool:
        for work in [
            pool.submit(_live, visitors, Question(n), seconds * n / answers) for n in range(answers)
        ]:
            work.result()
    happening.join()
    truth.settle(opened, visitors.asked)
    found = truth.look(opened, visitors.asked, answers, model, events.struck)
    found.tell()
    for words in visitors.incomplete[:10]:
        print(f"    a viewer saw: {words}")
    for words, count in visitors.refused.most_common(10):
        print(f"    {count} times an asker was told: {words}")
    return _figures(visitors, found, events.struck, answers)


def _uploaded(opened: Cluster) -> str:
    """The id of the table that all of them ask about."""
    path = opened.folder / NAME
    path.write_text(SALES)
    return opened.processes[0].session().files.add_path(path).file.id


def _live(visitors: Visitors, question: Question, after: float) -> None:
    """Ask one question at its time, and follow its answer."""
    time.sleep(after)
    if asked := visitors.ask(question):
        visitors.watch(asked)


def _figures(
    visitors: Visitors, found: Found, struck: Sequence[Struck], answers: int
) -> list[Figure]:
    kills = [one for one in struck if one.kind == "kill"]
    taken = [one.stood for one in struck if one.stood is not None]
    hit = sum(len(one.answers) for one in struck)
    who = f"{answers} answers by {LEAFS} Leafs, {len(kills)} kills and {len(struck) - len(kills)} other events"

    def none(what: str, count: int) -> Figure:
        return Figure(who, what, count, 0, False, "{:.0f}")

    return [
        none("answers that were lost or are not whole", len(found.lost)),
        none("effects of tools that are missing", len(found.missing)),
        none("effects that are there twice", len(found.doubled)),
        none(
            "answers incomplete on a machine that took no part, with what they made",
            len(found.incomplete),
        ),
        none(
            f"answers that a viewer at another Leaf did not see to the end, of {visitors.views}",
            len(visitors.incomplete),
        ),
        none("model calls made again, beyond one for each event that struck", found.beyond),
        Figure(who, "answers that an event struck while they were written", hit, shown="{:.0f}"),
        Figure(who, "model calls made again", found.repeated, shown="{:.0f}"),
        Figure(
            who,
            "… for each time that an event struck an answer",
            found.repeated / hit if hit else 0.0,
            1,
            False,
            "{:.2f}",
        ),
        Figure(
            who,
            "longest time until another went on, after a kill or a freeze",
            max(taken, default=0.0),
            TAKEN_OVER,
            False,
            "{:.1f} s",
        ),
        Figure(
            who,
            "questions that had to be sent once more",
            visitors.refused.total(),
            shown="{:.0f}",
        ),
    ]


def _keep_logs(opened: Cluster) -> None:
    """Where somebody can read them when something was missed."""
    into = PARTIAL / "chaos"
    into.mkdir(parents=True, exist_ok=True)
    for process in opened.processes:
        if Path(process.app.log).exists():
            shutil.copy(process.app.log, into)
    print(f"The logs are in {into}.")


if __name__ == "__main__":
    sys.exit(main())
