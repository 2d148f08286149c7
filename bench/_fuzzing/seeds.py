"""The whole files that are changed: some of each kind that Leaf reads, made here and, where public
corpora lie beside the repository, found there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench._fuzzing import documents, media, tables
from leaf.readers.base import KINDS, ending

LARGEST = 60_000
"""Bytes of a file that is found: changing a larger one tries the same code, and takes longer."""
FOUND = 24
"""Files of one ending that are taken from the corpora."""


@dataclass(frozen=True)
class Seed:
    """A file as its program wrote it."""

    kind: str
    """A key of `KINDS`."""
    name: str
    data: bytes

    @property
    def form(self) -> str:
        """What tells formats of one kind apart: the ending."""
        return ending(self.name)


class Seeds:
    """Seeds by kind and form, always in the same order."""

    def __init__(self, every: Sequence[Seed]) -> None:
        self.kinds = sorted({seed.kind for seed in every})
        self.every = list(every)
        self._forms: dict[str, dict[str, list[Seed]]] = {}
        for seed in every:
            self._forms.setdefault(seed.kind, {}).setdefault(seed.form, []).append(seed)

    def of(self, kind: str) -> list[list[Seed]]:
        """Those of a kind, by their forms."""
        return list(self._forms[kind].values())


def made_seeds() -> Seeds:
    """Those that need nothing but the repository."""
    made = {**tables.made(), **documents.made(), **media.made()}
    return Seeds(
        [Seed(kind, name, data) for kind, files in made.items() for name, data in files.items()]
    )


def all_seeds(corpora: Path) -> Seeds:
    """Those that are made, and small files of the corpora, spread over them."""
    return Seeds([*made_seeds().every, *_found(corpora)])


def _found(corpora: Path) -> list[Seed]:
    kinds = {end: kind for kind in reversed(KINDS) for end in KINDS[kind].endings}
    there: dict[str, list[Path]] = {}
    for path in sorted(corpora.rglob("*")) if corpora.is_dir() else ():
        if ending(path.name) in kinds and path.is_file() and 0 < path.stat().st_size <= LARGEST:
            there.setdefault(ending(path.name), []).append(path)
    found = []
    for end, paths in sorted(there.items()):
        step = max(1, len(paths) // FOUND)
        found += [Seed(kinds[end], path.name, path.read_bytes()) for path in paths[::step][:FOUND]]
    return found
