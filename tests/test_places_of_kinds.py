"""The places that a reading names are those that can be asked for and quoted, whatever kind of file it
is."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench._fuzzing import documents, tables
from leaf.readers.base import KINDS, Where
from leaf.readers.locate.locate import locate
from leaf.readers.locate.where import TAKES, merged
from leaf.readers.worker import read, reader_of

FILES = {
    (kind, name): data
    for kind, files in (*tables.made().items(), *documents.made().items())
    for name, data in files.items()
    if not name.endswith((".gz", ".xz", ".bz2", ".tgz"))
}


def test_every_kind_says_in_what_its_parts_are_asked_for() -> None:
    assert set(TAKES) == set(KINDS)
    assert {kind for kind, _ in FILES} >= set(KINDS) - {"audio", "video", "picture"}


@pytest.mark.parametrize(("kind", "name"), list(FILES))
def test_places_that_were_read_can_be_asked_for_and_quoted(
    tmp_path: Path, kind: str, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[kind, name])
    for place in read(str(path), kind)["places"]:
        assert read(str(path), kind, place)["places"] == (place,)
    quotes = [
        (" ".join(passage.text.split("\n")[-1].split()[:8]), passage)
        for passage in reader_of(kind).passages(path, Where())
    ]
    quote, passage = max(quotes, key=lambda pair: len(pair[0]))
    (place,) = merged([passage])
    (sought,) = locate(str(path), kind, [(place, quote)])
    assert sought["why"] == ""
    assert not sought["found"]["moved"]
    assert passage.number in {number for number, *_ in sought["found"]["spans"]}
