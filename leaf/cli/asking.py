"""`ask` and `watch`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from leaf.cli.common import FAILED, OK, UsageError, add_files_option, add_path, check_paths, reached
from leaf.cli.viewer import UNFINISHED, Viewer, attend
from leaf.errors import LeafError, NotFoundError

if TYPE_CHECKING:
    from leaf.cli.common import Parsers
    from leaf.remote.contract import Commands


def add(commands: Parsers) -> None:
    ask = commands.add_parser("ask", help="ask a question; the answer is streamed")
    ask.add_argument("question", metavar="QUESTION")
    add_files_option(ask)
    ask.add_argument("--chat", metavar="ID", help="go on with this chat")
    ask.add_argument("--model", metavar="NAME", default="", help="model for this question")
    ask.add_argument(
        "--json",
        action="store_true",
        help="one chunk a line; the last one is finish, error or abort",
    )
    ask.set_defaults(command=_ask)

    watch = commands.add_parser(
        "watch", help="print an answer from its beginning, and go on while it is written"
    )
    watch.add_argument("id", metavar="MESSAGE_ID")
    watch.add_argument(
        "--json",
        action="store_true",
        help="one chunk a line; the last one is finish, error or abort",
    )
    watch.set_defaults(command=_watch)


def _ask(args: argparse.Namespace) -> int:
    check_paths(args.files)
    if not args.question.strip():
        raise UsageError("The question is empty.", "Type one.")
    leaf, app = reached()
    with closing(leaf):
        session = leaf.session(leaf.local_scope())
        try:
            chat = session.chats.get(args.chat) if args.chat else None
        except NotFoundError as e:
            raise UsageError(e.message, e.hint) from e
        files = [add_path(session, path, args.question) for path in args.files]
        chat, begun = chat or session.chats.create(), chat is None  # last: a file may fail
        try:
            message = session.messages.send(
                chat.id, args.question, [f.id for f in files], model=args.model
            )
        except LeafError:
            if begun and not files:
                session.chats.purge(chat.id)
            elif not args.json:  # the files wait in it for a question that is not refused
                print(f"[chat {chat.id}]", file=sys.stderr)
            raise
        ended = attend(Viewer(session, message, args.json), app, unattended="stop")
        if not args.json:
            print(f"\n[chat {chat.id}]", file=sys.stderr)
        return OK if ended in ("finish", "detached") else FAILED


def _watch(args: argparse.Namespace) -> int:
    leaf, app = reached()
    with closing(leaf):
        return follow(leaf, app, args)


def follow(leaf: Commands, app: str, given: argparse.Namespace) -> int:
    """Print an answer from its beginning; one that was left unfinished goes on now."""
    session = leaf.session(leaf.local_scope())
    try:
        message = session.messages.get(given.id)
    except NotFoundError as e:
        raise UsageError(e.message, e.hint) from e
    if message.role != "assistant":
        raise UsageError(
            "This is the id of a question.",
            f"The answers stand in: python -m leaf chats show {message.chat_id}",
        )
    if message.status in UNFINISHED:
        leaf.launch()
    ended = attend(Viewer(session, message, given.json), app, unattended="detach")
    return OK if ended in ("finish", "detached") else FAILED
