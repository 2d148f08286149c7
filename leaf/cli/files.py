"""`files add|list|jobs|purge|stop`: the library."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.cli.common import (
    FAILED,
    OK,
    UsageError,
    add_yes_option,
    check_paths,
    confirm,
    opened,
    print_list,
    rewrite_line,
    say_gone,
)
from leaf.cli.viewer import CtrlC
from leaf.errors import LeafError, RunError
from leaf.store.jobs import outcome_line, progress_line

if TYPE_CHECKING:
    from leaf.remote.contract import SessionCommands
    from leaf.store.jobs import Job
    from leaf.store.model import File

UNPACKING = ("members-skipped", "members-unread", "members-deep", "archive-cut")
"""Kinds of notes that say what did not come out of an archive or a mail."""


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add = commands.add_parser("add", help="add files, or all files of a folder")
    add.add_argument("paths", metavar="PATH", nargs="+", type=Path)
    add.add_argument(
        "--context",
        metavar="TEXT",
        default="",
        help="what you write about the files; nobody else reads it",
    )
    add.add_argument(
        "--share", action="store_true", help="everybody in the workspace may read --context"
    )
    add.add_argument(
        "--chat",
        metavar="ID",
        help="put the files beside the next question of this chat; 'new' begins one",
    )
    add.set_defaults(command=_files_add)
    listing = commands.add_parser("list", help="list the library, newest first")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_files_list)
    under_way = commands.add_parser(
        "jobs", help="what is being added just now, and how far that is"
    )
    under_way.add_argument("--json", action="store_true")
    under_way.set_defaults(command=_files_jobs)
    purge = commands.add_parser(
        "purge", help="delete a file for good, with all that was made of it"
    )
    purge.add_argument("id", metavar="ID")
    add_yes_option(purge)
    purge.set_defaults(command=_files_purge)
    stop = commands.add_parser("stop", help="stop adding; what was added stays")
    stop.add_argument("id", metavar="JOB_ID")
    stop.set_defaults(command=_files_stop)


def _files_purge(args: argparse.Namespace) -> int:
    """Also one that was put away."""
    confirm(f"Delete the file {args.id} for good?", args)
    with opened() as leaf:
        say_gone("The file", leaf.session(leaf.local_scope()).files.purge(args.id))
    return OK


def _files_add(args: argparse.Namespace) -> int:
    """As a job: what is kept goes on when the command is ended, and in the app, if that holds the
    data."""
    check_paths(args.paths, folders=True)
    below = FilesBelow.below(args.paths)
    paths = below.paths
    with opened() as leaf:
        session = leaf.session(leaf.local_scope())
        chat = (
            (session.chats.create() if args.chat == "new" else session.chats.get(args.chat))
            if args.chat
            else None
        )
        job = session.jobs.begin(
            len(paths), context=args.context, shared=args.share, origin="command"
        )
        sending = Sending(session, job.id, paths)
        sending.start()
        job = _attend_job(session, job.id)
        sending.join()
        if sending.problem:
            raise sending.problem
        _print_outcomes(session, job)
        if chat:
            ids = [item.file_id for item in session.jobs.outcomes(job.id) if item.file_id]
            handles = [c.handle for c in session.attached.add(chat.id, ids)]
            print(
                f"In chat {chat.id} as "
                f"{', '.join(handles) if len(handles) < 20 else f'{handles[0]} to {handles[-1]}'}"
            )
        if job.state == "done":
            session.jobs.forget(job.id)
    return FAILED if job.failed or job.state != "done" or below.unreadable else OK


class Sending(threading.Thread):
    """Hands files to a job while its progress is shown."""

    def __init__(
        self, session: SessionCommands, job_id: str, paths: Sequence[tuple[Path, str]]
    ) -> None:
        super().__init__(name="sending", daemon=True)
        self.problem: LeafError | None = None
        self._hand_over = partial(
            session.jobs.take_paths, job_id, [p for p, _ in paths], [folder for _, folder in paths]
        )
        self._finish = partial(session.jobs.all_arrived, job_id)
        self._stop = partial(session.jobs.stop, job_id)

    def run(self) -> None:
        try:
            self._hand_over()
            self._finish()
        except RunError:
            return  # the job was stopped, and says so
        except LeafError as e:
            self.problem = e
            self._stop()


def _attend_job(session: SessionCommands, job_id: str) -> Job:
    """Show how far a job is until it is over. Ctrl-C stops it; what it has added stays."""
    shows = sys.stderr.isatty()
    with CtrlC() as ctrl_c:
        while True:
            job = session.jobs.wait(job_id, timeout=0.5)
            if shows:
                status = job.note if job.entered and job.note else progress_line(job)
                rewrite_line(status)
            if not job.under_way:
                break
            if ctrl_c.pressed:
                session.jobs.stop(job_id)
    if shows:
        rewrite_line("")
    return job


def _print_outcomes(session: SessionCommands, job: Job) -> None:
    """A line a file, in the order in which they were given; then how it ended, if that was not
    well."""
    there = {file.id: file for file in session.files.list(sort="oldest")}
    by_bytes: dict[str, list[File]] = {}
    inner: dict[str, list[File]] = {}
    for file in there.values():
        by_bytes.setdefault(file.sha256, []).append(file)
        if outermost := _outermost(file, there):  # a file that was not added has no id either
            inner.setdefault(outermost, []).append(file)
    for item in session.jobs.outcomes(job.id):
        item_file = there.get(item.file_id)
        name = item_file.name if item_file else item.name
        same = (
            [other.name for other in by_bytes[item_file.sha256]]
            if item_file and item.state == "added"
            else []
        )
        same = same[: same.index(name)] if name in same else []
        state = {"known": "already there", "failed": "not added"}.get(item.state, "added")
        state += f", same content as {', '.join(same)}" if same else ""
        notes = [
            str(note.get("text")) for note in _notes_of(item_file) if note.get("kind") in UNPACKING
        ]
        details = (
            [f"cannot be read: {item.problem}"]
            if item.state == "unreadable"
            else [item.problem]
            if item.problem
            else notes
        )
        print("  ".join([item.file_id or "-", name, state, *details]))
        for inside in inner.get(item.file_id, ()):
            wrong = inside.outline.get("error")
            print(
                f"{inside.id}  {inside.name}  taken out"
                + (f"  cannot be read: {wrong}" if wrong else "")
            )
    if job.failed or job.state != "done":
        print(f"leaf: {outcome_line(job)}", file=sys.stderr)


def _outermost(file: File, there: dict[str, File]) -> str:
    """Id of the file that was added and that this one came out of, through however many archives;
    empty for others."""
    ancestor = file
    while ancestor.parent_id in there:
        ancestor = there[ancestor.parent_id]
    return "" if ancestor is file else ancestor.id


def _notes_of(file: File | None) -> Sequence[dict[str, Any]]:
    return (file.outline.get("notes") or ()) if file else ()


@dataclass
class FilesBelow:
    """What is to be added: each file with the folder that stands before its name, which is that which
    was given, and those below it."""

    paths: list[tuple[Path, str]] = field(default_factory=list)
    hidden: int = 0
    """Files and folders that were left out because their names begin with a dot."""
    unreadable: list[OSError] = field(default_factory=list)
    """Folders that cannot be looked into."""

    @classmethod
    def below(cls, given: Sequence[Path]) -> FilesBelow:
        """Says what is left out. Raises UsageError where that is all."""
        files = cls()
        for path in given:
            files.paths += sorted(files._in(path)) if path.is_dir() else [(path, "")]
        for e in files.unreadable:
            print(f"leaf: Cannot look into '{e.filename}': {e.strerror}.", file=sys.stderr)
        if files.hidden:
            many = (
                "1 file or folder" if files.hidden == 1 else f"{files.hidden:,} files and folders"
            )
            print(f"Left out: {many} with a dot before the name.", file=sys.stderr)
        if not files.paths:
            raise UsageError("There is no file to add.", "Name files, or a folder with some.")
        return files

    def _in(self, folder: Path) -> Iterator[tuple[Path, str]]:
        top = Path(folder.resolve().name)
        for root, folders, names in os.walk(folder, onerror=self.unreadable.append):
            here = Path(root)
            self.hidden += sum(name.startswith(".") for name in (*folders, *names))
            folders[:] = [name for name in folders if not name.startswith(".")]
            for path in (here / name for name in names if not name.startswith(".")):
                if path.is_file():
                    yield path, (top / here.relative_to(folder)).as_posix()


def _files_jobs(args: argparse.Namespace) -> int:
    """What is under way, and what ended and was not put away."""
    with opened() as leaf:
        session = leaf.session(leaf.local_scope())
        return print_list(
            session.jobs.list(), _job_line, "No files are being added.", as_json=args.json
        )


def _job_line(job: Job) -> str:
    stands = progress_line(job) if job.under_way else outcome_line(job)
    return f"{job.id}  {job.created_at:%Y-%m-%d %H:%M}  {job.kind}  {stands}"


def _files_stop(args: argparse.Namespace) -> int:
    with opened() as leaf:
        print(outcome_line(leaf.session(leaf.local_scope()).jobs.stop(args.id)))
    return OK


def _files_list(args: argparse.Namespace) -> int:
    from leaf.files.line import describe, problem

    with opened() as leaf:
        files = leaf.session(leaf.local_scope()).files.list()
        none = "No files yet. Add some with: python -m leaf files add PATH"
        return print_list(
            files,
            lambda file: "  ".join(
                filter(None, (file.id, file.name, describe(file), problem(file)))
            ),
            none,
            as_json=args.json,
        )
