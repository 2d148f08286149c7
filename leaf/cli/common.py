"""What every command needs: exit codes, the way to Leaf or to the app, paths, JSON."""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar

from leaf.errors import LeafError

if TYPE_CHECKING:
    from leaf.remote.contract import Commands, SessionCommands
    from leaf.store.model import File

    class Parsers(Protocol):
        """Where a family adds its commands."""

        def add_parser(self, name: str, *, help: str) -> argparse.ArgumentParser: ...


OK, FAILED, USAGE = 0, 1, 2
_VISIBLE = {
    code: f"\\x{code:02x}"
    for code in (*range(32), 127, *range(128, 160))
    if chr(code) not in "\n\t"
}
Listed = TypeVar("Listed")


class UsageError(LeafError):
    """The command was not given what it needs."""


@contextmanager
def opened() -> Iterator[Commands]:
    leaf, _ = reached()
    with closing(leaf):
        yield leaf


def reached() -> tuple[Commands, str]:
    from leaf.settings import load
    from leaf.wiring import reach

    return reach(load())


def add_files_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        action="append",
        default=[],
        type=Path,
        dest="files",
        help="attach a file (repeatable)",
    )


def check_paths(paths: Iterable[Path], *, folders: bool = False) -> None:
    for path in paths:
        if not path.exists():
            raise UsageError(f"No file '{path}'.", "Check the path.")
        if path.is_dir() and not folders:
            raise UsageError(
                f"'{path}' is a folder.",
                "Name files, or add the folder with: python -m leaf files add FOLDER",
            )


def add_path(session: SessionCommands, path: Path, context: str) -> File:
    added = session.files.add_path(path, context)
    problem = added.file.outline.get("error")
    if problem:
        print(f"leaf: {problem}", file=sys.stderr)
    return added.file


def add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask again")


def confirm(what: str, given: argparse.Namespace) -> None:
    """Ask before something that cannot be undone. Raises UsageError without a yes."""
    if given.yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{what} This cannot be undone.", "Add --yes if that is meant.")
    print(f"{what} This cannot be undone. Type yes: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() != "yes":
        raise UsageError("Nothing was deleted.")


def say_gone(what: str, last_byte: bool) -> None:
    """What became of a deletion for good."""
    print(f"{what} is deleted for good.")
    if not last_byte:
        print(
            "A file of the database that still holds deleted rows could not be rewritten now; the "
            "next start does it.",
            file=sys.stderr,
        )


def print_list(
    found: Sequence[Listed], line: Callable[[Listed], str], none: str, *, as_json: bool
) -> int:
    """A line for each, or all as JSON; on stderr what is said where there are none."""
    if as_json:
        print_json(found, indent=2)
        return OK
    for one in found:
        print(line(one))
    if not found:
        print(none, file=sys.stderr)
    return OK


def print_json(value: object, indent: int | None = None) -> None:
    """JSON whatever the output takes: half a surrogate pair becomes a question mark, as on the way
    through the app, and characters that the encoding lacks are escaped."""
    document = json.dumps(value, ensure_ascii=False, default=_plain, indent=indent)
    text = document.encode("utf-8", "replace").decode()
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=indent)
    print(text)


def ready_streams() -> None:
    """What whoever called has closed leads nowhere; a character that stdout cannot take is written as
    on stderr, rather than ending an answer in the middle; a terminal gets text and no commands."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    os.environ["PYTHON_COLORS"] = "0"  # those of Python 3.14's help would be shown as characters
    sys.stdout, sys.stderr = _shown_by(sys.stdout), _shown_by(sys.stderr)


def output_is_taken() -> bool:
    """Whether stdout can be written, which a line more on it tells."""
    try:
        print(flush=True)
    except OSError:
        return False
    return True


def close_output() -> None:
    """Lead what is still to be written to stdout nowhere: nobody takes it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def ready_signals() -> None:
    """Whoever ends a command, or closes its terminal, has it tidy up as Ctrl-C does: what is
    temporary goes, and the data are closed."""
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number and signal.getsignal(number) == signal.SIG_DFL:  # `nohup` ignores one
                signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


def rewrite_line(text: str) -> None:
    """Show this in place of the line that stands on stderr, which is a terminal."""
    shown = f"\r\x1b[K{text.translate(_VISIBLE)}"
    sys.stderr.flush()
    sys.stderr.buffer.write(shown.encode(sys.stderr.encoding, "backslashreplace"))
    sys.stderr.buffer.flush()


class _Terminal(io.TextIOWrapper):
    """What a file, a model or a name has in it could tell a terminal to write into the clipboard, or
    to show another line than this one: such characters are shown, not obeyed."""

    def write(self, text: str, /) -> int:
        super().write(text.replace("\r\n", "\n").translate(_VISIBLE))
        return len(text)


def _shown_by(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    return _Terminal(
        stream.buffer, encoding=stream.encoding, errors=stream.errors, line_buffering=True
    )


def _plain(value: object) -> object:
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
