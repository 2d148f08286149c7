"""Changes a seed: the same bytes come of the same seeds, seed number and index.

Most of the changes know the format (`inside`), the others are made to the bytes as they lie
(`raw`).
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass

from bench._fuzzing import inside
from bench._fuzzing.raw import BYTES, Around
from bench._fuzzing.seeds import Seed, Seeds

LARGEST = 300_000
"""Bytes to which what was made is cut."""
WRONG_ENDING = 0.05
"""Share that goes under the ending of another kind."""
KNOWING = 0.6
"""Share of changes that know the format, where one does."""


@dataclass(frozen=True)
class Input:
    """One changed file."""

    index: int
    kind: str
    """That of its seed: what it is now, the readers say."""
    name: str
    data: bytes
    changes: tuple[str, ...]
    """Its seed, and what was done to it, in order."""


def changed(seeds: Seeds, seed: int, index: int) -> Input:
    """The file of this number. Kinds follow one another, so that all come equally often."""
    dice = random.Random(f"{seed} {index}")
    kind = seeds.kinds[index % len(seeds.kinds)]
    chosen = _one(dice, seeds, kind)
    other = _one(dice, seeds, kind if dice.random() < 0.7 else dice.choice(seeds.kinds))
    around = Around(chosen.form, other.data)
    data, done = chosen.data, list[str]()
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        name, data = _change(dice, data, around)
        done.append(name)
        data = data[:LARGEST]
    end = chosen.form
    if dice.random() < WRONG_ENDING:
        end = _one(dice, seeds, dice.choice(seeds.kinds)).form
    return Input(index, kind, f"{seed}-{index}.{end}", data, (chosen.name, *done))


def _one(dice: random.Random, seeds: Seeds, kind: str) -> Seed:
    return dice.choice(dice.choice(seeds.of(kind)))


def _change(dice: random.Random, data: bytes, around: Around) -> tuple[str, bytes]:
    known = inside.change_of(data)
    if known is not None and dice.random() < KNOWING:
        with suppress(*inside.UNFIT):  # it was changed before, and is of this format no more
            return known.__name__, known(dice, data, around)
    change = dice.choice(BYTES)
    return change.__name__, change(dice, data or b"\0", around)
