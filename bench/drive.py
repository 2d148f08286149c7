"""What Drive costs in calls and time, against a Google on loopback, so that Leaf's own share is
what is measured.

    python -m bench.drive [--files N] [--reads N]

Exits with 1 when a target is missed: a folder of 6,500 files lists whole in 7 calls and 40 MB; a
first question on a file costs at most 3 calls; a second one costs none.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench._figures import Figure, Report, changed
from leaf.sessions.session import Session
from tests.drive_kit import World, leaf_beside, world
from tests.drive_server import ANA, DriveServer

LIST_CALLS, LIST_MEMORY = 7, 40e6
FIRST_CALLS, SECOND_CALLS = 3, 0
MEGABYTE = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=6_500)
    parser.add_argument("--reads", type=int, default=100)
    given = parser.parse_args()
    report = Report("drive", ("leaf/drive",), changed(parser, given))
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return report.end(
            [
                *listing(home / "a", given.files),
                *reading(home / "b", given.reads),
                *asking(home / "c"),
            ]
        )


def listing(home: Path, files: int) -> list[Figure]:
    """A large folder of a shared drive, page by page, nothing kept."""
    with world(home) as w:
        team = w.google.shared_drive("Team", ANA)
        folder = w.google.folder("Big", team)
        for n in range(files):
            w.google.add(f"invoice {n:05}.pdf", "application/pdf", folder)
        w.drive.list(w.ana, folder, page_size=1)  # the first call prepares Google's client
        calls = len(w.google.calls(r"/files\?"))
        began, seen = time.perf_counter(), 0
        tracemalloc.start()
        found = w.drive.list(w.ana, folder, page_size=1000)
        while True:
            seen += len(found.items)
            if not found.cursor:
                break
            found = w.drive.list(w.ana, folder, cursor=found.cursor)
        taken, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        calls = len(w.google.calls(r"/files\?")) - calls
    name, parts = f"a folder of {files:,} files", -(-files // 6_500)
    return [
        Figure(name, "files listed", seen, files, shown="{:,.0f}"),
        Figure(name, "calls", calls, LIST_CALLS * parts, False, "{:.0f}"),
        Figure(
            name,
            "memory, the loopback server's own with it",
            peak / 1e6,
            LIST_MEMORY * parts / 1e6,
            False,
            "{:.0f} MB",
        ),
        Figure(name, "time", taken, shown="{:.1f} s"),
    ]


def reading(home: Path, reads: int) -> list[Figure]:
    """Files of 1 MB into the library without looking at them, against the same bytes over a bare
    socket library."""
    with world(home) as w:
        ids = [
            w.google.add(f"{n}.txt", "text/plain", w.root, os.urandom(MEGABYTE))
            for n in range(reads)
        ]
        with timed() as leaf_time:
            added = w.drive.add(w.ana, ids)
        bare = _bare(w, ids)
        with timed() as again:
            w.drive.add(w.ana, ids)
        downloads = len(w.google.calls("alt=media"))
    name = f"{reads} files of 1 MB into the library"
    return [
        Figure(name, "added", len(added.files), reads, shown="{:.0f}"),
        Figure(name, "time", leaf_time[0], None, False, "{:.1f} s", {"bare download": bare}),
        Figure(name, "time when they are added again", again[0], shown="{:.1f} s"),
        Figure(name, "downloads beyond one each", downloads - 2 * reads, 0, False, "{:.0f}"),
    ]


def _bare(w: World, ids: list[str]) -> float:
    import requests

    token = next(iter(w.google.access))
    with timed() as taken, requests.Session() as session:
        for file_id in ids:
            url = f"{w.google.url}/drive/v3/files/{file_id}?alt=media&supportsAllDrives=true"
            assert (
                len(session.get(url, headers={"authorization": f"Bearer {token}"}).content)
                == MEGABYTE
            )
    return taken[0]


def asking(home: Path) -> list[Figure]:
    """Calls that a question about one file costs, and a second question."""
    with DriveServer() as google, leaf_beside(google, home) as (leaf, scope):
        session = leaf.session(scope)
        file_id = google.add(
            "sales.csv", "text/csv", google.root(ANA), b"region,revenue\nNorth,1\nSouth,2\n"
        )
        chat = session.chats.create()
        first = _question(
            session,
            chat.id,
            google,
            f"Total revenue in https://drive.google.com/file/d/{file_id}/view",
        )
        second = _question(session, chat.id, google, "And the average revenue by region?")
        third = _question(
            session,
            chat.id,
            google,
            f"Maximum revenue in https://drive.google.com/file/d/{file_id}/view",
        )
    return [
        Figure("calls of a question on a file", "the first", first, FIRST_CALLS, False, "{:.0f}"),
        Figure("calls of a question on a file", "a second", second, SECOND_CALLS, False, "{:.0f}"),
        Figure(
            "calls of a question on a file",
            "one that gives the link again",
            third,
            SECOND_CALLS,
            False,
            "{:.0f}",
        ),
    ]


def _question(session: Session, chat_id: str, google: DriveServer, text: str) -> int:
    google.requests.clear()
    answer = session.messages.send(chat_id, text)
    while session.messages.get(answer.id).status in ("pending", "streaming"):
        time.sleep(0.05)
    assert session.messages.get(answer.id).status == "completed"
    return len(google.requests)


@contextmanager
def timed() -> Iterator[list[float]]:
    taken = [0.0]
    began = time.perf_counter()
    yield taken
    taken[0] = time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
