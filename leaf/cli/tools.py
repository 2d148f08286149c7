"""`tools` and `tool`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from leaf.cli.common import FAILED, OK, add_files_option, add_path, check_paths, opened, print_json
from leaf.errors import LeafError

if TYPE_CHECKING:
    from leaf.cli.common import Parsers


def add(commands: Parsers) -> None:
    tools = commands.add_parser("tools", help="list the agent's tools")
    tools.add_argument("--json", action="store_true", help="with their JSON schemas")
    tools.set_defaults(command=_tools)

    tool = commands.add_parser("tool", help="run one tool and print what the model would get")
    tool.add_argument("name", metavar="NAME")
    tool.add_argument("input", metavar="JSON", help="the tool's input as a JSON object")
    add_files_option(tool)
    tool.add_argument(
        "--chat",
        metavar="ID",
        help="with the files of this chat; without -f and --chat: the newest files of the library",
    )
    tool.add_argument(
        "--json", action="store_true", help="the whole output, sources and coverage included"
    )
    tool.set_defaults(command=_tool)


def _tools(args: argparse.Namespace) -> int:
    from leaf.tools import registry

    if args.json:
        print_json(registry.schemas(), indent=2)
    else:
        for schema in registry.schemas():
            names = ", ".join(schema["input_schema"].get("properties", {}))
            print(f"{schema['name']} {{{names}}}\n    {schema['description']}\n")
    return OK


def _tool(args: argparse.Namespace) -> int:
    check_paths(args.files)
    with opened() as leaf:
        session = leaf.session(leaf.local_scope())
        files = [add_path(session, path, "") for path in args.files]
        try:
            output = session.tools.run(
                args.name, args.input, chat_id=args.chat or "", file_ids=[f.id for f in files]
            )
        except LeafError as e:
            print_json({"error": str(e)}) if args.json else print(e)
            if not sys.stdout.isatty():
                print(f"leaf: {e}", file=sys.stderr)
            return FAILED
        print_json(output.to_json()) if args.json else print(output.text)
    return OK
