"""`storage check`, `storage move` and `storage sweep`: for whoever runs Leaf. They work on the data
itself: with DuckDB the app must be stopped first."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from leaf.cli.common import FAILED, OK, UsageError, print_json
from leaf.errors import StoreBusyError

if TYPE_CHECKING:
    from leaf.store import Store
    from leaf.store.care import BlobCount

EVERY = 2.0
"""Seconds between two words of how far it is."""


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="read every stored file, result and picture, and compare its hash"
    )
    check.set_defaults(command=_check)
    move = commands.add_parser(
        "move",
        help="copy what is in the data folder to where LEAF_STORAGE_URL says, each checked by its "
        "hash; run again, it goes on where it ended",
    )
    move.add_argument("--back", action="store_true", help="copy to the data folder instead")
    move.add_argument(
        "--remove", action="store_true", help="remove each from where it was once it is copied"
    )
    move.set_defaults(command=_move)
    sweep = commands.add_parser(
        "sweep", help="delete what is stored and belongs to nothing any more, if older than a day"
    )
    sweep.add_argument("--trial", action="store_true", help="only say what would be deleted")
    sweep.set_defaults(command=_sweep)
    for each in (check, move, sweep):
        each.add_argument("--json", action="store_true")


def _check(args: argparse.Namespace) -> int:
    from leaf.store import care

    with _opened() as store:
        counts = care.check(store, _Progress("checked"))
        where = store.blobs.whereabouts
    text = f"{counts.done:,} of {counts.done + len(counts.problems):,} are whole in {where}"
    return _end(args, counts, f"{text} ({_size(counts.size)}).")


def _move(args: argparse.Namespace) -> int:
    from leaf.files.captions import adopt_all
    from leaf.settings import load
    from leaf.store import care

    with _opened() as store:
        adopt_all(store, load().home / "transcripts")
        folder, place = store.blobs.folder, store.blobs.store
        if place is None:
            raise UsageError(
                "The files stand in the data folder, and no other place is set.",
                "Set LEAF_STORAGE_URL, or LEAF_DATABASE_URL, to where they are to stand.",
            )
        source, target = (place, folder) if args.back else (folder, place)
        counts = care.move(source, target, _Progress("looked at"), remove=args.remove)
    there = f", {counts.left:,} were there" if counts.left else ""
    verb = "moved" if args.remove else "copied"
    text = f"{counts.done:,} were {verb} to {target.name} ({_size(counts.size)}){there}."
    return _end(args, counts, text)


def _sweep(args: argparse.Namespace) -> int:
    from leaf.store import care

    with _opened() as store:
        counts = care.sweep(store, _Progress("looked at"), trial=args.trial)
    verb = "would be deleted" if args.trial else "were deleted"
    text = f"{counts.done:,} that belong to nothing {verb} ({_size(counts.size)})"
    left = f"; {counts.left:,} younger ones, or of other installations, stay" if counts.left else ""
    return _end(args, counts, f"{text}{left}.")


@contextmanager
def _opened() -> Iterator[Store]:
    from leaf.settings import load
    from leaf.store import open_store

    try:
        store = open_store(load())
    except StoreBusyError as e:
        raise StoreBusyError(e.message, "Stop the app, and run this command again.") from e
    with closing(store):
        yield store


def _end(args: argparse.Namespace, counts: BlobCount, text: str) -> int:
    if args.json:
        print_json({**vars(counts), "said": text}, indent=2)
    else:
        for problem in counts.problems:
            print(problem)
        print(text)
    return FAILED if counts.problems else OK


class _Progress:
    """Says on stderr how many are done, now and then."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            print(f"{done:,} of {total:,} {self._verb}", file=sys.stderr, flush=True)


def _size(size: int) -> str:
    from leaf.store.objects.base import in_megabytes

    return in_megabytes(size)
