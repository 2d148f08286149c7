"""`runs list|show|resume`: answers as the operator sees them."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, get_args

from leaf.cli.asking import follow
from leaf.cli.common import OK, opened, print_json, print_list, reached
from leaf.cli.viewer import UNFINISHED
from leaf.errors import RunError
from leaf.store.model import Status

if TYPE_CHECKING:
    from leaf.runs.records import RunRecord

RUNS_LISTED = 1_000


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the runs, newest first")
    listing.add_argument("--status", choices=get_args(Status), default="", help="only those")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_runs_list)
    show = commands.add_parser("show", help="print a run and its steps")
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true")
    show.set_defaults(command=_runs_show)
    resume = commands.add_parser(
        "resume", help="go on with an unfinished run that no process carries out"
    )
    resume.add_argument("id", metavar="ID")
    resume.add_argument(
        "--json",
        action="store_true",
        help="one chunk a line, where the command itself goes on with it",
    )
    resume.set_defaults(command=_runs_resume)


def _runs_list(args: argparse.Namespace) -> int:
    with opened() as leaf:
        runs = leaf.runs(args.status, RUNS_LISTED)
        if len(runs) == RUNS_LISTED:
            print(f"The newest {RUNS_LISTED:,}; there may be older ones.", file=sys.stderr)
        return print_list(
            runs, _run_line, "No such runs." if args.status else "No runs yet.", as_json=args.json
        )


def _run_line(run: RunRecord) -> str:
    asked = f"{run.asked_at:%Y-%m-%d %H:%M}" if run.asked_at else "-"
    begun = f"  begun {run.attempts} times" if run.attempts > 1 else ""
    return f"{run.message_id}  {asked}  {run.status}  {run.model}{begun}" + (
        f"  {run.error}" if run.error else ""
    )


def _runs_show(args: argparse.Namespace) -> int:
    with opened() as leaf:
        steps = leaf.run_steps(args.id)
        run = next((r for r in leaf.runs(limit=RUNS_LISTED) if r.message_id == args.id), None)
        if args.json:
            print_json({**(asdict(run) if run else {}), "steps": steps}, indent=2)
            return OK
        if run:
            print(_run_line(run))
        for step in steps:
            print(
                f"{step.number:>4}  {step.name}  {step.seconds:.2f} s  {step.tokens:,} tokens  "
                f"{step.outcome}"
            )
    return OK


def _runs_resume(args: argparse.Namespace) -> int:
    """The app goes on by itself; without one, this command carries the run to its end."""
    leaf, app = reached()
    with closing(leaf):
        leaf.launch()
        try:
            leaf.resume_run(args.id)
        except RunError:
            if app or not any(
                run.message_id == args.id
                for status in UNFINISHED
                for run in leaf.runs(status, RUNS_LISTED)
            ):
                raise
        if app:
            print(
                f"It goes on in the app at {app}; see it with: python -m leaf watch {args.id}",
                file=sys.stderr,
            )
            return OK
        return follow(leaf, app, args)
