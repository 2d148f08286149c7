"""Files changed at random, by the same numbers each time: whatever they hold, they are read or
refused in one clear sentence, and harm nobody else."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import fuzzing
from bench._fuzzing.app import house_of, summary
from bench._fuzzing.judge import (
    BROKEN,
    CRASH,
    HANG,
    MEMORY,
    UNCLEAR,
    UNFORESEEN,
    WRONG,
    Outcome,
    verdicts,
)
from bench._fuzzing.mutate import Input, changed
from bench._fuzzing.seeds import Seeds, made_seeds
from bench._fuzzing.uploads import House, Round, Uploads
from leaf.files import arrivals
from leaf.files.library import Library
from leaf.readers.base import KINDS
from leaf.sandbox import batch
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import PRELOAD, Pool
from leaf.settings import Settings
from leaf.store import open_store, users
from leaf.tables.tables import Tables
from tests.leaf_kit import opened

SEED, INPUTS, GROUPS = 20261122, 150, 3
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def seeds() -> Seeds:
    return made_seeds()


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Uploads]:
    home = tmp_path_factory.mktemp("fuzzing")
    (home / "between").mkdir()
    with opened(home / "home") as leaf:
        yield Uploads(house_of(leaf), home / "between")


def file(name: str, data: bytes) -> Input:
    return Input(0, "text", name, data, ())


def wrong(found: Round) -> list[str]:
    """What must not be of the outcomes of a round."""
    return [
        f"{outcome.file} {outcome.step}: {verdict.what}, {verdict.why}"
        for outcome in found.outcomes
        for verdict in verdicts(outcome)
        if verdict.what in WRONG
    ] + found.hurt  # fmt: skip


# Changed files


def test_every_kind_has_seeds_that_are_read(uploads: Uploads, seeds: Seeds) -> None:
    assert set(seeds.kinds) == set(KINDS)
    found = uploads.run(
        [Input(n, s.kind, f"whole-{n}.{s.form}", s.data, ()) for n, s in enumerate(seeds.every)]
    )
    assert [(o.file, o.step, o.said or o.wrong) for o in found.outcomes if o.said or o.wrong] == []
    assert (found.refused, found.hurt) == (0, [])


def test_the_same_number_gives_the_same_bytes(seeds: Seeds) -> None:
    def digest(seed: int) -> str:
        every = [changed(seeds, seed, number) for number in range(300)]
        return hashlib.sha256(b"".join(one.data + one.name.encode() for one in every)).hexdigest()

    assert digest(1) == digest(1) != digest(2)
    whole = {seed.data for seed in seeds.every}
    assert sum(changed(seeds, 1, number).data in whole for number in range(300)) < 15


@pytest.mark.parametrize("group", range(GROUPS))
def test_a_changed_file_is_read_or_refused_in_one_clear_sentence(
    uploads: Uploads, seeds: Seeds, group: int
) -> None:
    numbers = range(group * INPUTS // GROUPS, (group + 1) * INPUTS // GROUPS)
    found = uploads.run([changed(seeds, SEED, number) for number in numbers])
    assert wrong(found) == []
    assert found.opened + found.refused == INPUTS // GROUPS
    assert min(found.opened, found.refused) > INPUTS // GROUPS // 5


def arrow_with_a_text_outside(path: Path) -> None:
    import pyarrow as pa

    buffers = [None, pa.py_buffer(struct.pack("<3i", 0, 9, 3)), pa.py_buffer(b"abc")]
    table = pa.table({"a": pa.Array.from_buffers(pa.string(), 2, buffers)})
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def parquet_of_other_bytes(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffers = [None, pa.py_buffer(struct.pack("<3i", 0, 1, 3)), pa.py_buffer(b"\xffab")]
    pq.write_table(pa.table({"a": pa.Array.from_buffers(pa.string(), 2, buffers)}), path)


def seed_with(kind: str, name: str, old: bytes, new: bytes) -> bytes:
    """A seed in which something else stands."""
    made = {seed.name: seed.data for seed in made_seeds().every if seed.kind == kind}[name]
    assert old in made
    return made.replace(old, new)


def damaged_page(path: Path) -> None:
    data = seed_with("parquet", "b.pq", b"PAR1", b"PAR1")
    path.write_bytes(data[:4] + b"\xff" * 40 + data[44:])


FOUND: dict[str, Callable[[Path], object]] = {
    "an archive of nothing.zip": lambda path: path.write_bytes(b"PK\x05\x06" + bytes(18)),
    "texts outside of the file.arrows": arrow_with_a_text_outside,
    "texts in other bytes.parquet": parquet_of_other_bytes,
    "a broken page.parquet": damaged_page,
    "columns of text and no row.csv": lambda path: path.write_bytes(b"name;city;note\n"),
    "sound in no known way.m4a": lambda path: path.write_bytes(
        seed_with("audio", "a.m4a", b"mp4a", b"xxxx")
    ),
    "a page without extent.pdf": lambda path: path.write_bytes(
        seed_with("pdf", "a.pdf", b"0 0 595 842", b"0 0 1e-9 1")
    ),
}
"""What changed files have shown to end a reader in a way that nobody foresaw, each made small."""


def test_what_was_found_before_is_read_or_refused(uploads: Uploads, tmp_path: Path) -> None:
    inputs = []
    for number, (name, write) in enumerate(FOUND.items()):
        write(tmp_path / name)
        inputs.append(Input(number, "text", name, (tmp_path / name).read_bytes(), ()))
    found = uploads.run(inputs)
    assert wrong(found) == []
    assert {o.file for o in found.outcomes} == set(FOUND)


# The judge


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("", ""),
        ("a.csv: KeyError.", ""),
        ("a.csv is damaged.", "struct.error: unpack requires a buffer of 4 bytes"),
        ("a.csv cannot be read: 'NoneType' object has no attribute 'text'.", ""),
        ("a.csv cannot be read.\nTraceback (most recent call last):", ""),
        ("a.csv: /tmp/leaf/boxes/1-2/3/in/file cannot be read.", ""),
        ("a.csv: [Errno 2] No such file.", ""),
        ("a.csv holds \x00.", ""),
        ("a.csv is damaged. Nobody knows why.", ""),
        ("a.csv is damaged", ""),
        ("Something failed.", ""),
        ("a.csv " + "is very " * 50 + "damaged.", ""),
        ("a.csv is damaged.", "Try again. " * 50),
    ],
)
def test_a_sentence_of_a_program_is_not_clear(message: str, hint: str) -> None:
    assert UNCLEAR in {v.what for v in verdicts(Outcome("a.csv", "add", message, hint))}


@pytest.mark.parametrize(
    "message",
    [
        "'a.csv' is a damaged or incomplete ZIP archive.",
        "This page is damaged.",
        "a.csv: This archive unpacks to more than 2,000 MB from 0.1 MB, as no ordinary data do.",
        "a.csv: The process that did this work crashed (signal 11).",
    ],
)
def test_a_clear_sentence_is_clear(message: str) -> None:
    assert UNCLEAR not in {v.what for v in verdicts(Outcome("a.csv", "add", message))}


def test_a_result_that_does_not_fit_together_is_found() -> None:
    assert [v.what for v in verdicts(Outcome("a.csv", "query", wrong="2 rows asked, of 3"))] == [
        BROKEN
    ]
    assert list(verdicts(Outcome("a.csv", "query"))) == []


@pytest.fixture
def spoiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Uploads]:
    """Uploads into an app whose reader does as a file says."""
    monkeypatch.setattr(batch, "SECONDS", 1.0)
    monkeypatch.setattr(arrivals, "inspecting", lambda size: CallLimits(2, 500))
    pool = Pool(
        tmp_path, size=1, preload=(*PRELOAD, "hostile_children:do_as_the_file_says"), paths=[HERE]
    )
    store = open_store(Settings(home=tmp_path / "home"))
    scope = users.ensure_local_user(store.db)
    between = tmp_path / "between"
    between.mkdir()
    library, tables = Library(store, pool, tmp_path), Tables(store, pool, tmp_path)
    yield Uploads(House(library, tables, pool, scope), between)
    library.close()
    pool.close()
    store.close()


@pytest.mark.parametrize(
    ("does", "what"),
    [
        ("hang", {HANG}),
        ("crash", {CRASH}),
        ("raise", {UNFORESEEN}),
        ("blame", {UNCLEAR}),
        ("lie", {UNFORESEEN}),
        ("words", set()),
    ],
)
def test_what_one_file_does_to_its_reader_is_found_and_harms_no_other(
    spoiled: Uploads, does: str, what: set[str]
) -> None:
    found = spoiled.run(
        [file("a.txt", b"honest"), file("b.txt", does.encode()), file("c.txt", b"x")]
    )
    told = {(o.file, v.what) for o in found.outcomes for v in verdicts(o)}
    assert told == {("b.txt", one) for one in what}
    assert (found.opened, found.hurt) == (2 if what else 3, [])
    assert bool(found.details) == (does == "raise")


# The figures


def told(**more: Any) -> dict[str, Any]:
    return {**summary(Round(), [file("a.txt", b"x")]), "peak_mb": 100, **more}


def missed(*rounds: dict[str, Any]) -> set[str]:
    tally = fuzzing.Tally()
    for one in rounds:
        tally.add(one)
    found = fuzzing.figures(tally, len(rounds))
    return {figure.what for figure in found if not figure.met}


@pytest.mark.parametrize("what", [*WRONG, CRASH, MEMORY])
def test_a_figure_is_missed_where_something_is_wrong(what: str) -> None:
    assert missed(told()) == set()
    verdict = {"what": what, "index": 0, "file": "a.txt", "step": "add", "why": "x", "changes": ""}
    assert bool(missed(told(verdicts=[verdict]))) == (what in WRONG)
    assert missed(told(hurt=["good-1.csv was not added"])) == {
        "good files beside them that suffered"
    }
    assert missed(told(peak_mb=5_000)) == {"most memory of the app"}


def test_an_app_that_dies_is_counted_and_another_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in tells of rounds of two files, and dies at that of number 3."""
    script = tmp_path / "app.py"
    script.write_text(
        "import json, sys\n"
        "numbers = json.loads(sys.argv[1])['numbers']\n"
        "for at in range(0, len(numbers), 2):\n"
        "    if 3 in numbers[at : at + 2]: sys.exit(9)\n"
        f"    print({json.dumps(told(count=2))!r}, flush=True)\n"
        "print(json.dumps({'end': True}))\n"
    )
    monkeypatch.setattr(fuzzing, "ROUND", 2)
    monkeypatch.setattr(fuzzing, "APP", (str(script),))
    given = fuzzing.options().parse_args([])
    tally = fuzzing.Tally()
    fuzzing.live(given, range(6), tally)
    assert (tally.app_deaths, tally.app_hangs, tally.inputs) == (1, 0, 4)
