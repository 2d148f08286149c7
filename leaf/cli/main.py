"""One command a question. Exit code 0 for an answer, 1 for a failure, 2 for wrong usage.

While the app holds the data, every command works through it, and prints and exits just as it does
alone. It acts as the local user, also where people sign in to the pages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from leaf.cli import asking, chats, files, models, operator, runs, serve, storage, tools
from leaf.cli.common import (
    FAILED,
    OK,
    USAGE,
    UsageError,
    close_output,
    output_is_taken,
    print_json,
    ready_signals,
    ready_streams,
)
from leaf.errors import LeafError

NOT_INSTALLED = (
    "After `make run` use .venv/bin/python -m leaf; elsewhere: python -m pip install -r "
    "requirements.txt"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    ready_streams()
    ready_signals()
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # here and not as Python ends, where nothing can be said of it
    except BrokenPipeError:  # whoever reads has enough, as `head` has
        close_output()
        return OK
    except OSError as e:
        close_output()
        print(f"leaf: The output cannot be written: {e.strerror}.", file=sys.stderr)
        return FAILED


def _run(arguments: Sequence[str] | None) -> int:
    """The same. Raises OSError for what is printed."""
    args = _parser().parse_args(arguments)
    try:
        return int(args.command(args))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        print("leaf: Interrupted.", file=sys.stderr)
        return FAILED
    except ModuleNotFoundError as e:
        if (e.name or "leaf").split(".")[0] == "leaf":
            raise
        print(
            f"leaf: The package {e.name} is not installed in this Python ({sys.executable}). "
            f"{NOT_INSTALLED}",
            file=sys.stderr,
        )
        return FAILED
    except LeafError as e:
        if getattr(args, "json", False):
            print_json({"type": "error", "errorText": str(e)})
        print(f"leaf: {e}", file=sys.stderr)
        return USAGE if isinstance(e, UsageError) else FAILED
    except Exception as e:
        as_json = getattr(args, "json", False)
        if isinstance(e, OSError) and not as_json and not output_is_taken():
            raise
        text = (
            f"Leaf failed at this in a way that it did not expect.{_kept_details()} What was "
            f"saved before is kept."
        )
        if as_json:
            print_json({"type": "error", "errorText": text})
            sys.stdout.flush()
        print(f"leaf: {text}", file=sys.stderr)
        return FAILED


def _kept_details() -> str:
    """Write down the exception that is being handled, and say where; nothing where that is
    impossible."""
    import tempfile
    import traceback

    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="leaf-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.write(traceback.format_exc())
    except OSError:
        return ""
    return f" If it happens again, please report it with {file.name}."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_called_as(), description="Ask questions about your files."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    asking.add(commands)
    tools.add(commands)
    files.add(commands.add_parser("files", help="the library"))
    chats.add(commands.add_parser("chats", help="the history"))
    models.add(commands.add_parser("models", help="the models that answer"))
    runs.add(commands.add_parser("runs", help="answers as the operator sees them"))
    operator.add(commands)
    storage.add(commands.add_parser("storage", help="where the bytes of files last"))
    serve.add(commands)
    return parser


def _called_as() -> str:
    """The installed command, or the module."""
    name = Path(sys.argv[0]).name
    return name if name == "leaf" else "python -m leaf"
