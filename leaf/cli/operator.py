"""`usage`, `users`, `replay` and `doctor`: for whoever runs Leaf."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.budgets.periods import RANGES
from leaf.cli.common import FAILED, OK, opened, print_json
from leaf.errors import NotFoundError

if TYPE_CHECKING:
    from leaf.cli.common import Parsers


def add(commands: Parsers) -> None:
    used = commands.add_parser("usage", help="what answers of everybody used: tokens and money at list price")
    used.add_argument("--range", choices=RANGES, default="30d", help="ending now, in days of LEAF_TIME_ZONE (30d)")
    used.add_argument("--by", choices=("day", "model", "user"), default="day", help="a row for each of these (day)")
    used.add_argument("--json", action="store_true")
    used.set_defaults(command=_usage)
    unlink = (
        commands.add_parser("users", help="who may sign in")
        .add_subparsers(required=True, metavar="COMMAND")
        .add_parser("unlink", help="let the next account with this address take over its user, chats and files")
    )
    unlink.add_argument("email", metavar="EMAIL")
    unlink.set_defaults(command=_users_unlink)
    replay = commands.add_parser("replay", help="compute an exported chat again, and say what agrees")
    replay.add_argument("bundle", metavar="BUNDLE", type=Path, help="the ZIP, or the folder that was in it")
    replay.add_argument(
        "--data", metavar="FOLDER", type=Path, help="where the data files are, under any name (beside the bundle)"
    )
    replay.set_defaults(command=_replay)
    doctor = commands.add_parser("doctor", help="what is configured, what works here, what does not")
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(command=_doctor)


def _usage(given: argparse.Namespace) -> int:
    """Of the whole installation, as `runs list`: whoever gives commands runs Leaf."""
    with opened() as leaf:
        rows = leaf.usage_of_all(given.range, given.by)
    if given.json:
        print_json(rows, indent=2)
        return OK
    if not rows:
        print("Nothing was used in this time.", file=sys.stderr)
        return OK
    width = max(len(given.by), *(len(row.name) for row in rows))
    print(f"{given.by:<{width}}  {'answers':>7}  {'tokens in':>14}  {'cached':>14}  {'tokens out':>12}  {'cost':>10}")
    for row in rows:
        t = row.total
        cost = "unknown" if t.unpriced_tokens and not t.cost else f"${t.cost:,.4f}{'+' if t.unpriced_tokens else ''}"
        print(
            f"{row.name:<{width}}  {t.answers:>7,}  {t.input_tokens:>14,}  {t.cached_tokens:>14,}  "
            f"{t.output_tokens:>12,}  {cost:>10}"
        )
    if any(row.total.unpriced_tokens for row in rows):
        print("+ and unknown: models whose price is not known cost more than is counted here.", file=sys.stderr)
    return OK


def _users_unlink(given: argparse.Namespace) -> int:
    with opened() as leaf:
        if not leaf.unlink_account(given.email):
            raise NotFoundError(f"Nobody has signed in as {given.email}.", "Check the address.")
        print(f"The next account that signs in as {given.email} takes over.")
    return OK


def _replay(given: argparse.Namespace) -> int:
    """In a folder of its own: neither the app nor its data are asked."""
    from leaf.replay import replay

    report = replay(given.bundle, given.data or given.bundle.absolute().parent, lambda line: print(line, flush=True))
    print(report.total)
    return OK if report.agrees else FAILED


def _doctor(given: argparse.Namespace) -> int:
    from leaf.settings import load
    from leaf.wiring import check

    checks = check(load())
    if given.json:
        print_json(checks, indent=2)
    else:
        for c in checks:
            print(f"{'ok ' if c.ok else 'no '} {c.name}: {c.text}")
    return OK if all(c.ok or not c.needed for c in checks) else FAILED
