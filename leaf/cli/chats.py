"""`chats list|show|purge`: the history."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leaf.cli.common import (
    OK,
    add_yes_option,
    confirm,
    opened,
    print_json,
    print_list,
    say_gone,
)

if TYPE_CHECKING:
    from leaf.store.model import Message


ALL = 1_000_000
"""More chats, and messages of one, than there are."""


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the chats, newest first")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_chats_list)
    show = commands.add_parser("show", help="print a chat")
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true")
    show.set_defaults(command=_chats_show)
    purge = commands.add_parser(
        "purge", help="delete a chat for good, with all that was written and made in it"
    )
    purge.add_argument("id", metavar="ID")
    add_yes_option(purge)
    purge.set_defaults(command=_chats_purge)


def _chats_list(args: argparse.Namespace) -> int:
    with opened() as leaf:
        chats = leaf.session(leaf.local_scope()).chats.list(limit=ALL)
        none = 'No chats yet. Begin one with: python -m leaf ask "QUESTION"'
        return print_list(
            chats,
            lambda c: f"{c.id}  {c.updated_at:%Y-%m-%d %H:%M}  {c.title}",
            none,
            as_json=args.json,
        )


def _chats_show(args: argparse.Namespace) -> int:
    with opened() as leaf:
        session = leaf.session(leaf.local_scope())
        if args.json:
            chat = session.chats.get(args.id)
            thread = session.chats.thread(args.id, last=ALL)
            print_json({**asdict(chat), "messages": [_shown(m) for m in thread.messages]}, indent=2)
        else:
            print(session.chats.markdown(args.id))
    return OK


def _chats_purge(args: argparse.Namespace) -> int:
    """Also one that was put away, which `chats show` does not find."""
    confirm(f"Delete the chat {args.id} for good?", args)
    with opened() as leaf:
        say_gone("The chat", leaf.session(leaf.local_scope()).chats.purge(args.id))
    return OK


def _shown(message: Message) -> dict[str, Any]:
    """A message without what only the model is sent."""
    shown = asdict(message)
    del shown["raw"]
    return shown
