"""`usage`, `users`, `workspaces`, `backup`, `restore`, `replay` and `doctor`: for whoever runs Leaf."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.budgets.periods import RANGES
from leaf.cli.common import (
    FAILED,
    OK,
    UsageError,
    add_yes_option,
    confirm,
    opened,
    print_json,
    print_list,
    say_gone,
)
from leaf.errors import NotFoundError
from leaf.store.audit import KINDS

if TYPE_CHECKING:
    from leaf.agent.connections import ModelConnection
    from leaf.agent.probe import Tested
    from leaf.cli.common import Parsers


ALL = 1_000_000_000
"""More lines than there are, and than a database is asked for."""


def add(commands: Parsers) -> None:
    used = commands.add_parser(
        "usage", help="what answers of everybody used: tokens and money at list price"
    )
    used.add_argument(
        "--range", choices=RANGES, default="30d", help="ending now, in days of LEAF_TIME_ZONE (30d)"
    )
    used.add_argument(
        "--by",
        choices=("day", "model", "user"),
        default="day",
        help="a row for each of these (day)",
    )
    used.add_argument("--json", action="store_true")
    used.set_defaults(command=_usage)
    _add_users(commands.add_parser("users", help="who has an account here"))
    _add_workspaces(commands.add_parser("workspaces", help="all workspaces"))
    saved = commands.add_parser("backup", help="save everything, while the app runs or not")
    saved.add_argument(
        "target", metavar="TARGET", type=Path, help="a new folder, or a new file that ends in .zip"
    )
    saved.add_argument(
        "--with-secrets",
        action="store_true",
        help="connections to Google Drive and to models and the key to them, too",
    )
    saved.set_defaults(command=_backup)
    back = commands.add_parser("restore", help="bring a backup back, while the app is stopped")
    back.add_argument("source", metavar="BACKUP", type=Path)
    back.add_argument("--replace", action="store_true", help="delete what is there")
    add_yes_option(back)
    back.set_defaults(command=_restore)
    log = commands.add_parser("audit", help="who did what, newest first")
    log.add_argument("--kind", choices=KINDS, default="")
    log.add_argument("--person", metavar="EMAIL", default="", help="by or about this address")
    log.add_argument("--limit", type=count, default=50, help="(50)")
    log.add_argument("--json", action="store_true")
    log.add_argument("--csv", action="store_true", help="for a spreadsheet")
    log.set_defaults(command=_audit)
    replay = commands.add_parser(
        "replay", help="compute an exported chat again, and say what agrees"
    )
    replay.add_argument(
        "bundle", metavar="BUNDLE", type=Path, help="the ZIP, or the folder that was in it"
    )
    replay.add_argument(
        "--data",
        metavar="FOLDER",
        type=Path,
        help="where the data files are, under any name (beside the bundle)",
    )
    replay.set_defaults(command=_replay)
    doctor = commands.add_parser(
        "doctor", help="what is configured, what works here, what does not"
    )
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(command=_doctor)


def count(given: str) -> int:
    if int(given) < 1:
        raise argparse.ArgumentTypeError("give 1 or more")
    return min(int(given), ALL)


def _add_users(parser: argparse.ArgumentParser) -> None:
    users = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = users.add_parser("list", help="list the accounts")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_users_list)
    unlink = users.add_parser(
        "unlink",
        help="let the next account with this address take over its user, chats and files",
    )
    unlink.add_argument("email", metavar="EMAIL")
    unlink.set_defaults(command=_users_unlink)
    purge = users.add_parser(
        "purge", help="delete an account for good, with the workspaces and chats that are its alone"
    )
    purge.add_argument("email", metavar="EMAIL")
    add_yes_option(purge)
    purge.set_defaults(command=_users_purge)


def _add_workspaces(parser: argparse.ArgumentParser) -> None:
    workspaces = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = workspaces.add_parser("list", help="list the workspaces")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_workspaces_list)
    purge = workspaces.add_parser(
        "purge", help="delete a workspace for good, with all that is in it"
    )
    purge.add_argument("id", metavar="ID")
    add_yes_option(purge)
    purge.set_defaults(command=_workspaces_purge)


def _usage(args: argparse.Namespace) -> int:
    """Of the whole installation, as `runs list`: whoever gives commands runs Leaf."""
    with opened() as leaf:
        rows = leaf.usage_of_all(args.range, args.by)
    if args.json:
        print_json(rows, indent=2)
        return OK
    if not rows:
        print("Nothing was used in this time.", file=sys.stderr)
        return OK
    width = max(len(args.by), *(len(row.name) for row in rows))
    print(
        f"{args.by:<{width}}  {'answers':>7}  {'tokens in':>14}  {'cached':>14}  "
        f"{'tokens out':>12}  {'cost':>10}"
    )
    for row in rows:
        t = row.total
        cost = (
            "unknown"
            if t.unpriced_tokens and not t.cost
            else f"${t.cost:,.4f}{'+' if t.unpriced_tokens else ''}"
        )
        print(
            f"{row.name:<{width}}  {t.answers:>7,}  {t.input_tokens:>14,}  {t.cached_tokens:>14,}  "
            f"{t.output_tokens:>12,}  {cost:>10}"
        )
    if any(row.total.unpriced_tokens for row in rows):
        print(
            "+ and unknown: models whose price is not known cost more than is counted here.",
            file=sys.stderr,
        )
    return OK


def _users_unlink(args: argparse.Namespace) -> int:
    with opened() as leaf:
        if not leaf.unlink_account(args.email):
            raise NotFoundError(f"Nobody has signed in as {args.email}.", "Check the address.")
        print(f"The next account that signs in as {args.email} takes over.")
    return OK


def _users_list(args: argparse.Namespace) -> int:
    with opened() as leaf:
        return print_list(
            leaf.accounts(),
            lambda a: f"{a.id}  {a.email}  {a.name}  {a.workspaces} workspaces",
            "Nobody has an account yet.",
            as_json=args.json,
        )


def _users_purge(args: argparse.Namespace) -> int:
    confirm(f"Delete {args.email} for good, with the workspaces that are theirs alone?", args)
    with opened() as leaf:
        say_gone(args.email, leaf.purge_account(args.email))
    return OK


def _workspaces_list(args: argparse.Namespace) -> int:
    with opened() as leaf:
        return print_list(
            leaf.workspaces(),
            lambda w: (
                f"{w.id}  {w.name}  {w.owners}  {w.members} members, {w.chats} chats, "
                f"{w.files} files"
            ),
            "There is no workspace yet.",
            as_json=args.json,
        )


def _workspaces_purge(args: argparse.Namespace) -> int:
    confirm(f"Delete the workspace {args.id} for good, with all that is in it?", args)
    with opened() as leaf:
        say_gone("The workspace", leaf.purge_workspace(args.id))
    return OK


def _backup(args: argparse.Namespace) -> int:
    with opened() as leaf:
        backup = leaf.backup(args.target.absolute(), secrets=args.with_secrets)
    print(
        f"{backup.path}: {backup.rows:,} rows, {backup.blobs:,} files with {backup.bytes:,} bytes."
    )
    if not backup.secrets:
        print("Without connections to Google Drive and to models; --with-secrets saves them, too.")
    _say_missing(backup.missing)
    return OK


def _restore(args: argparse.Namespace) -> int:
    from leaf.keeping.restore import restore
    from leaf.remote.client import find
    from leaf.settings import load

    settings = load()
    if app := find(settings.home):
        raise UsageError(f"The app at {app.url} uses the data.", "Stop it first.")
    if args.replace:
        confirm("Delete what is in the data folder and the database, and restore?", args)
    back = restore(settings, args.source, replace=args.replace)
    print(f"Restored {back.rows:,} rows and {back.blobs:,} files, as of {back.made_at}.")
    if not back.secrets:
        print(
            "Google Drive and models of one's own have to be connected again: the backup is without "
            "connections."
        )
    _say_missing(back.missing)
    return OK


def _say_missing(count: int) -> None:
    if count:
        print(
            f"{count:,} files were lost or damaged before the backup was made; their rows are in "
            "it, their content is not.",
            file=sys.stderr,
        )


def _audit(args: argparse.Namespace) -> int:
    from leaf.exports.audit import audit_csv

    with opened() as leaf:
        lines = leaf.audit(args.kind, args.person, args.limit)
    if args.csv:
        print(audit_csv(lines), end="")
        return OK
    return print_list(
        lines,
        lambda a: " ".join(
            filter(
                None,
                (
                    f"{a.happened_at:%Y-%m-%d %H:%M:%S}",
                    a.who or a.user_id or "-",
                    a.action,
                    a.subject,
                    "refused" if a.outcome == "refused" else "",
                ),
            )
        ),
        "Nothing is written down yet.",
        as_json=args.json,
    )


def _replay(args: argparse.Namespace) -> int:
    """In a folder of its own: neither the app nor its data are asked."""
    from leaf.replay import replay

    report = replay(
        args.bundle,
        args.data or args.bundle.absolute().parent,
        lambda line: print(line, flush=True),
    )
    print(report.total)
    return OK if report.agrees else FAILED


def _doctor(args: argparse.Namespace) -> int:
    from leaf.doctor import check
    from leaf.settings import load

    checks = check(load(), _UsedModel())
    if args.json:
        print_json(checks, indent=2)
    else:
        for c in checks:
            print(f"{'ok ' if c.ok else 'no '} {c.name}: {c.text}")
    return OK if all(c.ok or not c.needed for c in checks) else FAILED


class _UsedModel:
    """What answers the local user, which stands in the data; opened for each question only."""

    def connection(self) -> ModelConnection:
        with opened() as leaf:
            return leaf.session(leaf.local_scope()).models.connection()

    def try_used(self) -> Tested:
        with opened() as leaf:
            return leaf.session(leaf.local_scope()).models.try_used()
