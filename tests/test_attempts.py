"""Each class of attempts of `bench.sandbox` once, and what they found: real ones, which have to be
refused here and succeed where nothing confines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from bench import sandbox
from leaf.errors import SandboxError
from leaf.sandbox.boxes import BLOCK, bytes_written, own_space
from leaf.sandbox.confine import confinement
from leaf.sandbox.namespace import PythonCell
from leaf.sandbox.sessions import Sessions
from tests.small_disk import on_small_disk

HERE = Path(__file__).resolve().parent
landlock = pytest.mark.skipif(
    confinement().kind != "landlock", reason="this kernel cannot confine a process"
)


@landlock
@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("escapes", "exchange two files"),
        ("escapes", "memory that nobody else can see"),
        ("escapes", "write to an input under a new name"),
        ("disk", "folders that stay large"),
        ("lies", "a written file that is a link"),
        ("parsers", "a parser says keys twice"),
        ("parsers", "a parser tells of members with paths"),
        ("requests", "upload with no cookie"),
        ("requests", "read the token of the page"),
        ("texts", "the name of a model: '![x]"),
        ("texts", "a long text of openings of links and pictures"),
    ],
)
def test_an_attempt_of_each_kind_is_refused(tmp_path: Path, part: str, name: str) -> None:
    with sandbox.outside(tmp_path) as places:
        found = list(sandbox.attempts(tmp_path / "home", places, name, [part]))
        assert places.untouched()
    assert [one.name for one in found if not one.repeated], "no attempt of this name"
    assert [(one.name, one.said) for one in found if not one.held] == []
    assert all(one.plain in (True, None) for one in found)


@landlock
def test_cells_that_are_over_at_once_are_counted(tmp_path: Path) -> None:
    python = Sessions(tmp_path, limits=replace(sandbox.DISK, seconds=20))
    cells = [
        PythonCell(f"k{number}", f"n = open('f{number}', 'wb').write(bytes(10**6))")
        for number in range(20)
    ]

    def run(number: int) -> None:
        python.run("c", cells[number], cells[:number], sandbox.nothing, tmp_path / "out")

    try:
        for number in range(5):
            run(number)
        with pytest.raises(SandboxError, match="wrote more than 8 MB"):
            run_all(run, range(5, 20))
    finally:
        python.close()


def run_all(run: Callable[[int], None], numbers: Iterable[int]) -> None:
    for number in numbers:
        run(number)


def test_a_folder_counts_with_what_it_keeps(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    names = [folder / (f"{number:04}" + "x" * 240) for number in range(500)]
    for name in names:
        name.touch()
    for name in names:
        name.unlink()
    kept = folder.stat().st_size
    if kept < 10 * BLOCK:
        pytest.skip("folders of this file system give space back")
    assert bytes_written(tmp_path) >= kept


BOUNDED = """
    import sys
    from pathlib import Path
    from leaf.doctor import _bound_of
    from leaf.errors import SandboxError
    from leaf.sandbox.limits import CallLimits
    from leaf.sandbox.pool import Pool

    home, functions = map(Path, sys.argv[1:])
    pool = Pool(home, size=1, preload=(), paths=[functions])
    try:
        pool.call("sandbox_functions:fill_disk", {"out": "out:", "files": 60, "size": 1_000_000},
                  returns=object, limits=CallLimits(seconds=20))
    except SandboxError as e:
        print(e)
    finally:
        pool.close()
    print(_bound_of(home))
"""


@landlock
def test_a_bound_that_the_kernel_keeps_is_kept_and_named(tmp_path: Path) -> None:
    """In namespaces of its own, where anybody may mount a file system of a fixed size."""
    (tmp_path / "boxes").mkdir()
    assert own_space(tmp_path) == 0
    said = on_small_disk(tmp_path / "boxes", BOUNDED, tmp_path, HERE)
    assert "more than is left of the 40 MB that all such work has together" in said
    assert "bounded by the kernel, 40 MB for all" in said
