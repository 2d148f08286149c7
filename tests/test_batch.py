"""Many files in few children: answers as they come, and nothing that one file does reaches its
neighbours."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import (
    EncryptedFileError,
    LeafError,
    RunError,
    SandboxError,
    SandboxMemoryError,
    SandboxTimeoutError,
)
from leaf.sandbox import batch
from leaf.sandbox.batch import batches, call_each
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import BatchItem, Pool

LIMITS = CallLimits(seconds=20, memory_mb=400)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    made = Pool(tmp_path_factory.mktemp("pool"), paths=[Path(__file__).parent])
    yield made
    made.close()


def written(folder: Path, *texts: str) -> list[BatchItem]:
    """A file and a call for each text: what it says is what the child does with it."""
    items = []
    for number, text in enumerate(texts):
        path = folder / f"{number}"
        path.write_text(text)
        items.append(BatchItem({"path": "in:file", "out": "out:"}, path, folder / f"out-{number}"))
    return items


def answers(
    pool: Pool,
    items: list[BatchItem],
    limits: CallLimits = LIMITS,
    stop: threading.Event | None = None,
) -> list[Any]:
    found = dict(
        one
        for some in call_each(
            pool,
            "sandbox_functions:obey",
            items,
            returns=dict,
            limits=limits,
            takes="said",
            stop=stop,
        )
        for one in some
    )
    return [found[number] for number in range(len(items))]


def test_many_files_are_read_in_few_children_and_each_output_goes_to_its_place(
    pool: Pool, tmp_path: Path
) -> None:
    items = written(tmp_path, *(f"say {number}" for number in range(130)))
    found = answers(pool, items)
    assert [answer["said"] for answer in found] == [str(number) for number in range(130)]
    assert len({answer["pid"] for answer in found}) == 3
    assert all(
        (item.out / "said").read_text() == str(n) for n, item in enumerate(items) if item.out
    )


def test_a_child_sees_the_files_of_its_batch_and_no_other(pool: Pool, tmp_path: Path) -> None:
    items = written(tmp_path, *["say x"] * (batch.FILES + 3))
    (tmp_path / "0").write_text("count")
    (tmp_path / str(batch.FILES)).write_text("count")
    found = answers(pool, items)
    assert (found[0]["said"], found[batch.FILES]["said"]) == (str(batch.FILES), "3")


def test_no_child_is_used_for_a_second_batch(pool: Pool, tmp_path: Path) -> None:
    first = {answer["pid"] for answer in answers(pool, written(tmp_path, "say a", "say b"))}
    second = {answer["pid"] for answer in answers(pool, written(tmp_path, "say a", "say b"))}
    assert len(first) == len(second) == 1
    assert first != second


@pytest.mark.parametrize(
    ("does", "error"),
    [
        ("crash", SandboxError),
        ("exit", SandboxError),
        ("hang", SandboxTimeoutError),
        ("eat", SandboxMemoryError),
        ("refuse", EncryptedFileError),
        ("fail", SandboxError),
        ("link", SandboxError),
    ],
)
def test_what_one_file_does_is_told_of_it_alone(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, error: type[LeafError]
) -> None:
    seconds = 2.0
    if does == "hang":
        monkeypatch.setattr(batch, "SECONDS", 1.0)
    else:
        seconds = 60.0  # a busy machine takes a while to give so much memory
    items = written(tmp_path, "say a", "say b", does, "say c", "say d")
    found = answers(pool, items, CallLimits(seconds=seconds, memory_mb=400))
    assert isinstance(found[2], error)
    assert [found[i]["said"] for i in (0, 1, 3, 4)] == ["a", "b", "c", "d"]


def test_a_file_that_spoils_the_child_does_not_condemn_the_next_one(
    pool: Pool, tmp_path: Path
) -> None:
    found = answers(pool, written(tmp_path, "say a", "spoil", "say b", "say c"))
    assert [answer["said"] for answer in found] == ["a", "spoiled", "b", "c"]


def test_a_stop_ends_all_batches(pool: Pool, tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(RunError):
        answers(pool, written(tmp_path, "hang", "say a"), stop=stop)


def test_large_files_are_read_alone_and_batches_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "SMALL", 100)
    monkeypatch.setattr(batch, "BYTES", 120)
    items = written(tmp_path, "x" * 50, "x" * 50, "x" * 50, "x" * 500)
    assert list(batches(items)) == [[3], [0, 1], [2]]
