"""The process that plays the app: it takes changed files as uploads, a round after the other, and
tells of each round in one line of JSON. If it dies, that is what the bench is there to see.

    python -m bench._fuzzing.app '{"seed": 1, "numbers": [0, 1, 2], "corpora": "…", "home": "…"}'
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench._fuzzing.judge import verdicts
from bench._fuzzing.mutate import Input, changed
from bench._fuzzing.seeds import Seeds, all_seeds
from bench._fuzzing.uploads import House, Round, Uploads
from leaf.app import Leaf
from leaf.settings import Settings
from leaf.wiring import build

ROUND = 256
"""Files that are added at a time."""
Json = dict[str, Any]


def main(given: Json) -> None:
    """Do all rounds; one line after each, and one at the end."""
    seeds, home = all_seeds(Path(given["corpora"])), Path(given["home"])
    leaf = build(Settings(home=home / "home"))
    try:
        uploads = Uploads(house_of(leaf), home / "between")
        numbers: list[int] = given["numbers"]
        for at in range(0, len(numbers), ROUND):
            some = numbers[at : at + ROUND]
            print(json.dumps(told(uploads, seeds, given["seed"], some)), flush=True)
    finally:
        leaf.close()
    print(json.dumps({"end": True}), flush=True)


def house_of(leaf: Leaf) -> House:
    """The parts of an app that files go through."""
    library = leaf._house.library
    return House(library, leaf._house.tables, library._pool, leaf.local_scope())


def told(uploads: Uploads, seeds: Seeds, seed: int, numbers: Sequence[int]) -> Json:
    """What the files of these numbers came to."""
    inputs = [changed(seeds, seed, number) for number in numbers]
    return {**summary(uploads.run(inputs), inputs), "peak_mb": _peak_mb()}


def summary(found: Round, inputs: Sequence[Input]) -> Json:
    """A round in plain JSON."""
    by_name = {one.name: one for one in inputs}
    return {
        "count": len(inputs),
        "kinds": Counter(one.kind for one in inputs),
        "opened": found.opened,
        "refused": found.refused,
        "steps": len(found.outcomes),
        "sentences": sum(outcome.message is not None for outcome in found.outcomes),
        "verdicts": [
            {
                "index": by_name[outcome.file].index,
                "file": outcome.file,
                "changes": " > ".join(by_name[outcome.file].changes),
                "step": outcome.step,
                "what": verdict.what,
                "why": verdict.why,
            }
            for outcome in found.outcomes
            for verdict in verdicts(outcome)
        ],
        "hurt": found.hurt,
        "details": found.details,
    }


def _peak_mb() -> int:
    """The most memory that this process, without its children, has held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (1024 * 1024 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
