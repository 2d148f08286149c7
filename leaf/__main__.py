"""The command line, one command a question. Exit code 0 for an answer, 1 for a failure, 2 for wrong usage.

While the app holds the data, every command works through it, and prints and exits just as it does alone. It acts as the local
user, also where people sign in to the pages.
"""

from __future__ import annotations

import argparse
import gc
import json
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from leaf.budgets.periods import RANGES
from leaf.errors import LeafError, NotFoundError, RunError
from leaf.store.jobs import outcome_line, progress_line
from leaf.store.model import Status

if TYPE_CHECKING:
    from leaf.remote.contract import Commands
    from leaf.runs.records import RunRecord
    from leaf.store.jobs import Job
    from leaf.store.model import File, Message, Scope

OK, FAILED, USAGE = 0, 1, 2
NOT_INSTALLED = "After `make run` use .venv/bin/python -m leaf; elsewhere: python -m pip install -r requirements.txt"
UNFINISHED = ("pending", "streaming")
RUNS_LISTED = 1_000
UNPACKING = ("members-skipped", "members-unread", "members-deep", "archive-cut")
"""Kinds of notes that say what did not come out of an archive or a mail."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.command(given))
    except BrokenPipeError:
        return OK
    except KeyboardInterrupt:
        print("leaf: Interrupted.", file=sys.stderr)
        return FAILED
    except ModuleNotFoundError as e:
        if (e.name or "leaf").split(".")[0] == "leaf":
            raise
        print(f"leaf: The package {e.name} is not installed in this Python ({sys.executable}). {NOT_INSTALLED}", file=sys.stderr)
        return FAILED
    except LeafError as e:
        if getattr(given, "json", False):
            _print_json({"type": "error", "errorText": str(e)})
        print(f"leaf: {e}", file=sys.stderr)
        return USAGE if isinstance(e, UsageError) else FAILED
    except Exception:  # noqa: BLE001 - a person reads a sentence; what a developer needs of it is kept beside
        text = f"Leaf failed at this in a way that it did not expect.{_kept_details()} What was saved before is kept."
        if getattr(given, "json", False):
            _print_json({"type": "error", "errorText": text})
        print(f"leaf: {text}", file=sys.stderr)
        return FAILED


def _kept_details() -> str:
    """Write down the exception that is being handled, and say where; nothing where that is impossible."""
    import tempfile
    import traceback

    try:
        with tempfile.NamedTemporaryFile("w", prefix="leaf-", suffix=".log", delete=False, encoding="utf-8") as file:
            file.write(traceback.format_exc())
    except OSError:
        return ""
    return f" If it happens again, please report it with {file.name}."


class UsageError(LeafError):
    """The command was not given what it needs."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m leaf", description="Ask questions about your files.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ask = commands.add_parser("ask", help="ask a question; the answer is streamed")
    ask.add_argument("question", metavar="QUESTION")
    _add_files_option(ask)
    ask.add_argument("--chat", metavar="ID", help="go on with this chat")
    ask.add_argument("--model", metavar="NAME", default="", help="model for this question")
    ask.add_argument("--json", action="store_true", help="one chunk a line; the last one is finish, error or abort")
    ask.set_defaults(command=_ask)

    watch = commands.add_parser("watch", help="print an answer from its beginning, and go on while it is written")
    watch.add_argument("id", metavar="MESSAGE_ID")
    watch.add_argument("--json", action="store_true", help="one chunk a line; the last one is finish, error or abort")
    watch.set_defaults(command=_watch)

    tools = commands.add_parser("tools", help="list the agent's tools")
    tools.add_argument("--json", action="store_true", help="with their JSON schemas")
    tools.set_defaults(command=_tools)

    tool = commands.add_parser("tool", help="run one tool and print what the model would get")
    tool.add_argument("name", metavar="NAME")
    tool.add_argument("input", metavar="JSON", help="the tool's input as a JSON object")
    _add_files_option(tool)
    tool.add_argument(
        "--chat", metavar="ID", help="with the files of this chat; without -f and --chat: the newest files of the library"
    )
    tool.add_argument("--json", action="store_true", help="the whole output, sources and coverage included")
    tool.set_defaults(command=_tool)

    _add_files_commands(commands.add_parser("files", help="the library"))
    _add_chats_commands(commands.add_parser("chats", help="the history"))
    _add_runs_commands(commands.add_parser("runs", help="answers as the operator sees them"))
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
    return parser


def _add_files_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-f", "--file", metavar="FILE", action="append", default=[], type=Path, dest="files", help="attach a file (repeatable)"
    )


def _add_files_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add = commands.add_parser("add", help="add files, or all files of a folder")
    add.add_argument("paths", metavar="PATH", nargs="+", type=Path)
    add.add_argument("--context", metavar="TEXT", default="", help="what you write about the files; nobody else reads it")
    add.add_argument("--share", action="store_true", help="everybody in the workspace may read --context")
    add.add_argument("--chat", metavar="ID", help="put the files beside the next question of this chat; 'new' begins one")
    add.set_defaults(command=_files_add)
    listing = commands.add_parser("list", help="list the library, newest first")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_files_list)
    under_way = commands.add_parser("jobs", help="what is being added just now, and how far that is")
    under_way.add_argument("--json", action="store_true")
    under_way.set_defaults(command=_files_jobs)
    stop = commands.add_parser("stop", help="stop adding; what was added stays")
    stop.add_argument("id", metavar="JOB_ID")
    stop.set_defaults(command=_files_stop)


def _add_chats_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the chats, newest first")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_chats_list)
    show = commands.add_parser("show", help="print a chat")
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true")
    show.set_defaults(command=_chats_show)


def _add_runs_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the runs, newest first")
    listing.add_argument("--status", choices=get_args(Status), default="", help="only those")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_runs_list)
    show = commands.add_parser("show", help="print a run and its steps")
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true")
    show.set_defaults(command=_runs_show)
    resume = commands.add_parser("resume", help="go on with an unfinished run that no process carries out")
    resume.add_argument("id", metavar="ID")
    resume.add_argument("--json", action="store_true", help="one chunk a line, where the command itself goes on with it")
    resume.set_defaults(command=_runs_resume)


@contextmanager
def _opened() -> Iterator[Commands]:
    leaf, _ = _reach()
    with closing(leaf):
        yield leaf


def _reach() -> tuple[Commands, str]:
    from leaf.settings import load
    from leaf.wiring import reach

    return reach(load())


def _ask(given: argparse.Namespace) -> int:
    _check_paths(given.files)
    if not given.question.strip():
        raise UsageError("The question is empty.", "Type one.")
    leaf, app = _reach()
    with closing(leaf):
        scope = leaf.local_scope()
        try:
            chat = leaf.chat(scope, given.chat) if given.chat else leaf.new_chat(scope)
        except NotFoundError as e:
            raise UsageError(e.message, e.hint) from e
        files = [_add_path(leaf, scope, path, given.question) for path in given.files]
        message = leaf.send(scope, chat.id, given.question, [f.id for f in files], model=given.model)
        ended = _attend(_Viewer(leaf, scope, message, given.json), app, unattended="stop")
        if not given.json:
            print(f"\n[chat {chat.id}]", file=sys.stderr)
        return OK if ended in ("finish", "detached") else FAILED


def _watch(given: argparse.Namespace) -> int:
    leaf, app = _reach()
    with closing(leaf):
        return _follow(leaf, app, given)


def _follow(leaf: Commands, app: str, given: argparse.Namespace) -> int:
    """Print an answer from its beginning; one that was left unfinished goes on now."""
    scope = leaf.local_scope()
    try:
        message = leaf.message(scope, given.id)
    except NotFoundError as e:
        raise UsageError(e.message, e.hint) from e
    if message.role != "assistant":
        raise UsageError("This is the id of a question.", f"The answers stand in: python -m leaf chats show {message.chat_id}")
    if message.status in UNFINISHED:
        leaf.launch()
    ended = _attend(_Viewer(leaf, scope, message, given.json), app, unattended="detach")
    return OK if ended in ("finish", "detached") else FAILED


def _attend(viewer: _Viewer, app: str, *, unattended: str) -> str:
    """Print an answer to its end. Ctrl-C asks what to do; where nobody can be asked, `unattended` is done (stop or detach).

    Returns the type of the last chunk, or `detached`.
    """
    with _CtrlC() as ctrl_c:
        while not viewer.print_news():
            wish = ctrl_c.ask(unattended) if ctrl_c.pressed else ""
            if wish == "detach":
                goes_on = f"goes on in the app at {app}" if app else "goes on when Leaf starts again"
                print(f"Detached. The answer {goes_on}; see it with: {viewer.again}", file=sys.stderr)
                return "detached"
            if wish == "stop":
                viewer.stop()
    return viewer.last


class _Viewer:
    """Prints a run from its first chunk to its last; an answer that is over, from the history."""

    def __init__(self, leaf: Commands, scope: Scope, message: Message, as_json: bool) -> None:
        self.again = f"python -m leaf watch {message.id}"
        self.last = ""
        """Type of the newest chunk."""
        self._leaf = leaf
        self._scope = scope
        self._id = message.id
        self._position = 0
        self._write = _print_json if as_json else _TextWriter().write

    def print_news(self) -> bool:
        """Wait a little for chunks and print them; True after the last one."""
        try:
            piece = self._leaf.wait(self._scope, self._id, self._position, timeout=0.5)
        except RunError as e:
            raise RunError(e.message, f"{e.hint} See the answer with: {self.again}") from e
        except NotFoundError:
            if self._position:
                raise
            self._print(_recorded(self._leaf.message(self._scope, self._id)))
            return True
        self._position = piece.position
        self._print(piece.chunks)
        return piece.done

    def stop(self) -> None:
        self._leaf.stop(self._scope, self._id)

    def _print(self, chunks: Iterable[dict[str, Any]]) -> None:
        for chunk in chunks:
            self.last = str(chunk["type"])
            self._write(chunk)
        sys.stdout.flush()


def _recorded(message: Message) -> list[dict[str, Any]]:
    """The stream of an answer that is over."""
    from leaf.agent.events import chunk, replay

    if message.status in UNFINISHED:
        last = chunk("error", errorText="This answer is not being written at the moment.")
    elif message.status == "completed":
        last = chunk("finish", finishReason="stop")
    elif message.status == "stopped":
        last = chunk("abort", reason="Stopped. What was found so far is kept.")
    else:
        last = chunk("error", errorText=message.error)
    return [chunk("start", messageId=message.id), *replay(message.parts), last]


class _CtrlC:
    """Ctrl-C is noted, so that nothing is cut off in the middle; pressed again before that was seen, it ends all."""

    def __init__(self) -> None:
        self.pressed = False

    def __enter__(self) -> _CtrlC:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def ask(self, unattended: str) -> str:
        """`stop`, `detach`, or empty to go on. Ctrl-C at the question, or the end of the input, is a stop."""
        self.pressed = False
        if not sys.stdin.isatty():
            return unattended
        print(
            "\nStop the answer (s), detach and let it go on (d), or go on watching (Enter)? ", end="", file=sys.stderr, flush=True
        )
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            typed = sys.stdin.readline() or "s"
        except KeyboardInterrupt:
            print(file=sys.stderr)
            typed = "s"
        finally:
            signal.signal(signal.SIGINT, self._note)
        return {"s": "stop", "d": "detach"}.get(typed.strip().lower()[:1], "")

    def _note(self, *_: object) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


class _TextWriter:
    """Prints the answer's text to stdout, and its steps to stderr."""

    def __init__(self) -> None:
        self._open_line = False
        self._blank = ""
        """What ended the last text, held back because a mark would go before it."""
        self._turn = ""
        self._parts: list[dict[str, Any]] = []
        """Citations, for the notes at the end."""
        self._said: set[str] = set()

    def write(self, chunk: dict[str, Any]) -> None:
        from leaf.agent.cited import citation_of

        kind = chunk["type"]
        cited = citation_of(chunk)
        if kind == "text-start":
            turn = "-".join(str(chunk.get("id", "")).split("-")[:2])
            if turn != self._turn:
                self._end_line()
            self._turn = turn
        elif kind == "text-delta":
            text = self._blank + chunk["delta"]
            shown = text.rstrip()
            self._blank = text[len(shown) :] if shown else text
            print(shown, end="")
            self._open_line = self._open_line or bool(shown)
        elif cited:
            self._cite(chunk, cited)
        elif kind == "text-end":
            return
        else:
            self._end_line()
            self._write_other(kind, chunk)

    def _end_line(self) -> None:
        if self._open_line:
            print()
        self._open_line, self._blank, self._turn = False, "", ""

    def _cite(self, chunk: dict[str, Any], cited: dict[str, Any]) -> None:
        """A mark where it is new; the same citation comes again once it has been checked."""
        if all(part["sourceId"] != chunk["sourceId"] for part in self._parts):
            print(f" [{cited['citation']}]", end="")
        self._parts = [*(p for p in self._parts if p["sourceId"] != chunk["sourceId"]), chunk]

    def _print_notes(self) -> None:
        from leaf.agent.cited import footnotes

        self._end_line()
        for number, note in footnotes(self._parts):
            print(f"[{number}] {note}")
        self._parts = []

    def _write_other(self, kind: str, chunk: dict[str, Any]) -> None:
        from leaf.agent.events import RESET, place_of

        if kind in ("finish", "abort", "error"):
            self._print_notes()
        if kind == "tool-output-available":
            self._note(f"· {chunk['output'].get('summary', '')}")
        elif kind in ("tool-output-error", "tool-input-error"):
            self._note(f"· {chunk['errorText']}")
        elif kind == "source-document":
            self._note_once(" · ".join(filter(None, (f"Source: {chunk['title']}", place_of(chunk)))))
        elif kind == "data-coverage":
            from leaf.agent import coverage

            covered = coverage.as_today(chunk["data"])
            self._note(coverage.sentence(covered))
            for said in coverage.doubts(covered):
                self._note(f"Doubtful: {said}.")
            for said in coverage.notes(covered):
                self._note(f"Note: {said}.")
        elif kind == "data-receipts":
            from leaf.agent.export import figures_in_words

            self._note(" ".join(figures_in_words(chunk["data"]["receipts"])))
        elif kind == "data-questions":
            print("\n".join(["", "Questions that work here:", *(f"- {question}" for question in chunk["data"])]))
        elif kind in RESET:
            self._note("· The connection was cut; asking again")
        elif kind in ("error", "abort"):
            self._note(str(chunk.get("errorText") or chunk.get("reason") or "Stopped."))

    def _note_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._note(text)

    def _note(self, text: str) -> None:
        sys.stdout.flush()
        print(text, file=sys.stderr)


def _tools(given: argparse.Namespace) -> int:
    from leaf.tools import registry

    if given.json:
        _print_json(registry.schemas(), indent=2)
    else:
        for schema in registry.schemas():
            names = ", ".join(schema["input_schema"].get("properties", {}))
            print(f"{schema['name']} {{{names}}}\n    {schema['description']}\n")
    return OK


def _tool(given: argparse.Namespace) -> int:
    _check_paths(given.files)
    with _opened() as leaf:
        scope = leaf.local_scope()
        files = [_add_path(leaf, scope, path, "") for path in given.files]
        try:
            output = leaf.run_tool(scope, given.name, given.input, chat_id=given.chat or "", file_ids=[f.id for f in files])
        except LeafError as e:
            _print_json({"error": str(e)}) if given.json else print(e)
            if not sys.stdout.isatty():
                print(f"leaf: {e}", file=sys.stderr)
            return FAILED
        _print_json(output.to_json()) if given.json else print(output.text)
    return OK


def _files_add(given: argparse.Namespace) -> int:
    """As a job: what is kept goes on when the command is ended, and in the app, if that holds the data."""
    _check_paths(given.paths, folders=True)
    paths = list(_files_below(given.paths))
    with _opened() as leaf:
        scope = leaf.local_scope()
        chat = (leaf.new_chat(scope) if given.chat == "new" else leaf.chat(scope, given.chat)) if given.chat else None
        job = leaf.begin_adding(scope, len(paths), context=given.context, shared=given.share, origin="command")
        sending = _Sending(leaf, scope, job.id, paths)
        sending.start()
        job = _attend_job(leaf, scope, job.id)
        sending.join()
        if sending.problem:
            raise sending.problem
        _print_outcomes(leaf, scope, job)
        if chat:
            ids = [item.file_id for item in leaf.job_files(scope, job.id) if item.file_id]
            handles = [c.handle for c in leaf.attach(scope, chat.id, ids)]
            print(f"In chat {chat.id} as {', '.join(handles) if len(handles) < 20 else f'{handles[0]} to {handles[-1]}'}")
        if job.state == "done":
            leaf.forget_job(scope, job.id)
    return FAILED if job.failed or job.state != "done" else OK


class _Sending(threading.Thread):
    """Hands files to a job while its progress is shown."""

    def __init__(self, leaf: Commands, scope: Scope, job_id: str, paths: Sequence[tuple[Path, str]]) -> None:
        super().__init__(name="sending", daemon=True)
        self.problem: LeafError | None = None
        self._hand_over = partial(leaf.take_paths, scope, job_id, [p for p, _ in paths], [folder for _, folder in paths])
        self._finish = partial(leaf.all_arrived, scope, job_id)
        self._stop = partial(leaf.stop_job, scope, job_id)

    def run(self) -> None:
        try:
            self._hand_over()
            self._finish()
        except RunError:
            return  # the job was stopped, and says so
        except LeafError as e:
            self.problem = e
            self._stop()


def _attend_job(leaf: Commands, scope: Scope, job_id: str) -> Job:
    """Show how far a job is until it is over. Ctrl-C stops it; what it has added stays."""
    shows = sys.stderr.isatty()
    with _CtrlC() as ctrl_c:
        while True:
            job = leaf.wait_for_job(scope, job_id, timeout=0.5)
            if shows:
                said = job.note if job.entered and job.note else progress_line(job)
                print(f"\r\x1b[K{said}", end="", file=sys.stderr, flush=True)
            if not job.under_way:
                break
            if ctrl_c.pressed:
                leaf.stop_job(scope, job_id)
    if shows:
        print("\r\x1b[K", end="", file=sys.stderr)
    return job


def _print_outcomes(leaf: Commands, scope: Scope, job: Job) -> None:
    """A line a file, in the order in which they were given; then how it ended, if that was not well."""
    there = {file.id: file for file in leaf.files(scope, sort="oldest")}
    by_bytes: dict[str, list[File]] = {}
    inner: dict[str, list[File]] = {}
    for file in there.values():
        by_bytes.setdefault(file.sha256, []).append(file)
        inner.setdefault(_outermost(file, there), []).append(file)
    for item in leaf.job_files(scope, job.id):
        found = there.get(item.file_id)
        name = found.name if found else item.name
        same = [other.name for other in by_bytes[found.sha256]] if found and item.state == "added" else []
        same = same[: same.index(name)] if name in same else []
        state = {"known": "already there", "failed": "not added"}.get(item.state, "added")
        state += f", same content as {', '.join(same)}" if same else ""
        notes = [str(note.get("text")) for note in _notes_of(found) if note.get("kind") in UNPACKING]
        said = [f"cannot be read: {item.problem}"] if item.state == "unreadable" else [item.problem] if item.problem else notes
        print("  ".join([item.file_id or "-", name, state, *said]))
        for inside in inner.get(item.file_id, ()):
            wrong = inside.outline.get("error")
            print(f"{inside.id}  {inside.name}  taken out" + (f"  cannot be read: {wrong}" if wrong else ""))
    if job.failed or job.state != "done":
        print(f"leaf: {outcome_line(job)}", file=sys.stderr)


def _outermost(file: File, there: dict[str, File]) -> str:
    """Id of the file that was added and that this one came out of, through however many archives; empty for others."""
    found = file
    while found.parent_id in there:
        found = there[found.parent_id]
    return "" if found is file else found.id


def _notes_of(file: File | None) -> Sequence[dict[str, Any]]:
    return (file.outline.get("notes") or ()) if file else ()


def _files_jobs(given: argparse.Namespace) -> int:
    """What is under way, and what ended and was not put away."""
    with _opened() as leaf:
        scope = leaf.local_scope()
        found = leaf.jobs(scope)
        if given.json:
            _print_json(found, indent=2)
            return OK
        for job in found:
            stands = progress_line(job) if job.under_way else outcome_line(job)
            print(f"{job.id}  {job.created_at:%Y-%m-%d %H:%M}  {job.kind}  {stands}")
        if not found:
            print("No files are being added.", file=sys.stderr)
    return OK


def _files_stop(given: argparse.Namespace) -> int:
    with _opened() as leaf:
        print(outcome_line(leaf.stop_job(leaf.local_scope(), given.id)))
    return OK


def _files_list(given: argparse.Namespace) -> int:
    from leaf.files.line import describe

    with _opened() as leaf:
        files = leaf.files(leaf.local_scope())
        if given.json:
            _print_json(files, indent=2)
        else:
            for file in files:
                print(f"{file.id}  {file.name}  {describe(file)}")
            if not files:
                print("No files yet. Add some with: python -m leaf files add PATH", file=sys.stderr)
    return OK


def _chats_list(given: argparse.Namespace) -> int:
    with _opened() as leaf:
        chats = leaf.chats(leaf.local_scope(), limit=1_000)
        if given.json:
            _print_json(chats, indent=2)
        else:
            for chat in chats:
                print(f"{chat.id}  {chat.updated_at:%Y-%m-%d %H:%M}  {chat.title}")
            if not chats:
                print('No chats yet. Begin one with: python -m leaf ask "QUESTION"', file=sys.stderr)
    return OK


def _chats_show(given: argparse.Namespace) -> int:
    with _opened() as leaf:
        scope = leaf.local_scope()
        if given.json:
            chat = leaf.chat(scope, given.id)
            thread = leaf.thread(scope, given.id, last=1_000_000)
            _print_json({**asdict(chat), "messages": [_shown(m) for m in thread.messages]}, indent=2)
        else:
            print(leaf.chat_markdown(scope, given.id))
    return OK


def _shown(message: Message) -> dict[str, Any]:
    """A message without what only the model is sent."""
    shown = asdict(message)
    del shown["raw"]
    return shown


def _runs_list(given: argparse.Namespace) -> int:
    with _opened() as leaf:
        runs = leaf.runs(given.status, RUNS_LISTED)
        if given.json:
            _print_json(runs, indent=2)
        else:
            for run in runs:
                print(_run_line(run))
            if not runs:
                print("No such runs." if given.status else "No runs yet.", file=sys.stderr)
    return OK


def _run_line(run: RunRecord) -> str:
    asked = f"{run.asked_at:%Y-%m-%d %H:%M}" if run.asked_at else "-"
    begun = f"  begun {run.attempts} times" if run.attempts > 1 else ""
    return f"{run.message_id}  {asked}  {run.status}  {run.model}{begun}" + (f"  {run.error}" if run.error else "")


def _runs_show(given: argparse.Namespace) -> int:
    with _opened() as leaf:
        steps = leaf.run_steps(given.id)
        run = next((r for r in leaf.runs(limit=RUNS_LISTED) if r.message_id == given.id), None)
        if given.json:
            _print_json({**(asdict(run) if run else {}), "steps": steps}, indent=2)
            return OK
        if run:
            print(_run_line(run))
        for step in steps:
            print(f"{step.number:>4}  {step.name}  {step.seconds:.2f} s  {step.tokens:,} tokens  {step.outcome}")
    return OK


def _runs_resume(given: argparse.Namespace) -> int:
    """The app goes on by itself; without one, this command carries the run to its end."""
    leaf, app = _reach()
    with closing(leaf):
        leaf.launch()
        try:
            leaf.resume_run(given.id)
        except RunError:
            if app or not any(run.message_id == given.id for status in UNFINISHED for run in leaf.runs(status, RUNS_LISTED)):
                raise
        if app:
            print(f"It goes on in the app at {app}; see it with: python -m leaf watch {given.id}", file=sys.stderr)
            return OK
        return _follow(leaf, app, given)


def _usage(given: argparse.Namespace) -> int:
    """Of the whole installation, as `runs list`: whoever gives commands runs Leaf."""
    with _opened() as leaf:
        rows = leaf.usage_of_all(given.range, given.by)
    if given.json:
        _print_json(rows, indent=2)
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
    with _opened() as leaf:
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
        _print_json(checks, indent=2)
    else:
        for c in checks:
            print(f"{'ok ' if c.ok else 'no '} {c.name}: {c.text}")
    return OK if all(c.ok or not c.needed for c in checks) else FAILED


def _check_paths(paths: Iterable[Path], *, folders: bool = False) -> None:
    for path in paths:
        if not path.exists():
            raise UsageError(f"No file '{path}'.", "Check the path.")
        if path.is_dir() and not folders:
            raise UsageError(f"'{path}' is a folder.", "Name files, or add the folder with: python -m leaf files add FOLDER")


def _files_below(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Each file with the folder that stands before its name: that which was given, and those below it."""
    for path in paths:
        if not path.is_dir():
            yield path, ""
            continue
        top = path.resolve()
        for file in sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".")):
            yield file, (Path(top.name) / file.parent.relative_to(path)).as_posix()


def _add_path(leaf: Commands, scope: Scope, path: Path, context: str) -> File:
    added = leaf.add_path(scope, path, context)
    problem = added.file.outline.get("error")
    if problem:
        print(f"leaf: {problem}", file=sys.stderr)
    return added.file


def _print_json(value: object, indent: int | None = None) -> None:
    print(json.dumps(value, ensure_ascii=False, default=_plain, indent=indent))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


if __name__ == "__main__":
    gc.set_threshold(50_000)  # a command makes many objects, keeps most, and ends soon
    sys.exit(main())
