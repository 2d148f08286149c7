"""`chats list|show`: the history."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leaf.cli.common import OK, opened, print_json

if TYPE_CHECKING:
    from leaf.store.model import Message


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the chats, newest first")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_chats_list)
    show = commands.add_parser("show", help="print a chat")
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true")
    show.set_defaults(command=_chats_show)


def _chats_list(given: argparse.Namespace) -> int:
    with opened() as leaf:
        chats = leaf.session(leaf.local_scope()).chats.list(limit=1_000)
        if given.json:
            print_json(chats, indent=2)
        else:
            for chat in chats:
                print(f"{chat.id}  {chat.updated_at:%Y-%m-%d %H:%M}  {chat.title}")
            if not chats:
                print('No chats yet. Begin one with: python -m leaf ask "QUESTION"', file=sys.stderr)
    return OK


def _chats_show(given: argparse.Namespace) -> int:
    with opened() as leaf:
        session = leaf.session(leaf.local_scope())
        if given.json:
            chat = session.chats.get(given.id)
            thread = session.chats.thread(given.id, last=1_000_000)
            print_json({**asdict(chat), "messages": [_shown(m) for m in thread.messages]}, indent=2)
        else:
            print(session.chats.markdown(given.id))
    return OK


def _shown(message: Message) -> dict[str, Any]:
    """A message without what only the model is sent."""
    shown = asdict(message)
    del shown["raw"]
    return shown
