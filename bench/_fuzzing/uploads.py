"""What an app does with uploads until the first question is answered, for many files at once: added,
unpacked, their tables opened, asked and described, searched, read, looked for quotes, drawn, heard.

All of it by the app's own ways, in its confined children, many files in one child as it does with
folders. Where the app asks for one file at a time (reading, drawing), the same functions run here
in batches, and what fails is asked for again by the app's own way: that is what is judged.
"""

from __future__ import annotations

import io
import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bench._fuzzing.judge import Outcome
from bench._fuzzing.mutate import Input
from leaf.errors import LeafError
from leaf.files.library import Library
from leaf.files.members import MEMORY_MB, TakenOut
from leaf.files.pictures import DRAW, PAGE_FILE, THUMBNAIL, PictureMade
from leaf.files.texts import READ
from leaf.files.transcripts import DECODE, PieceHeard
from leaf.readers.base import CONTAINERS, KINDS, Window
from leaf.readers.locate.locate import Sought
from leaf.sandbox.batch import FILES, call_each
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import BatchItem, Pool
from leaf.store.model import File, Scope
from leaf.tables.paging import QUERY_LIMITS
from leaf.tables.profiles import PROFILE_LIMITS, ProfileFound
from leaf.tables.table import Table
from leaf.tables.tables import Tables
from leaf.tables.written import QueryAnswer, check_written

GOOD = b"region,units\nNorth,12\nSouth,30\nEast,%d\n"
"""A file beside the changed ones, with a number of its own: whatever becomes of them, it is read."""
QUOTE = "The revenue of the north grew in the first quarter."
TOKENS = 2_000
ASKED = 3
"""Tables of one file that are queried."""
UNPACK = CallLimits(60, MEMORY_MB, 300)
SOUND = ("audio", "video")
T = TypeVar("T")


@dataclass
class Round:
    """What some files came to."""

    outcomes: list[Outcome] = field(default_factory=list)
    opened: int = 0
    """Changed files that could be added."""
    refused: int = 0
    hurt: list[str] = field(default_factory=list)
    """What was wrong with good files beside them."""
    details: list[str] = field(default_factory=list)
    """What children said for the log of failures that nobody foresaw."""


@dataclass(frozen=True)
class House:
    """Those parts of an app that files go through."""

    library: Library
    tables: Tables
    pool: Pool
    scope: Scope


class Uploads:
    """Gives files to an app as uploads, round after round."""

    def __init__(self, house: House, folder: Path) -> None:
        """`folder` is for what children write in between."""
        self._house = house
        self._folder = folder
        self._good = 0

    def run(self, inputs: Sequence[Input]) -> Round:
        """Add the files and do with them what the first question would."""
        found = Round()
        with _logged(found.details):
            files = self._add(inputs, found)
            self._unpack(files, found)
            self._open_tables(files, found)
            self._search(files, found)
            self._read(files, found)
            self._find(files, found)
            self._draw(files, found)
            self._hear(files, found)
        for path in self._folder.iterdir():
            shutil.rmtree(path, ignore_errors=True)
        found.hurt += [f"{o.step}: {o.said or o.wrong}" for o in found.outcomes if _is_bad_luck(o)]
        found.outcomes = [o for o in found.outcomes if not o.file.startswith("good-")]
        return found

    def _add(self, inputs: Sequence[Input], found: Round) -> list[File]:
        named = [(one.name, one.data) for one in inputs]
        for at in range(0, len(named) + len(named) // (FILES - 1) + 1, FILES):
            self._good += 1
            place = min(at + FILES // 2, len(named))
            named.insert(place, (f"good-{self._good}.csv", GOOD % self._good))
        library, scope = self._house.library, self._house.scope
        kept = [library.keep(scope, name, io.BytesIO(data)) for name, data in named]
        files: list[File] = []
        for some in library.enter(scope, kept):
            for index, added in some:
                name = named[index][0]
                found.outcomes.append(_added(name, added.file))
                if not added.file.outline.get("error"):
                    files.append(added.file)
        entered = {file.name for file in files}
        found.opened += len(entered & {one.name for one in inputs})
        found.refused += len(inputs) - len(entered & {one.name for one in inputs})
        found.hurt += [
            f"{name} was not added"
            for name, _ in named
            if name.startswith("good-") and name not in entered
        ]
        return files

    def _unpack(self, files: Sequence[File], found: Round) -> None:
        those = [f for f in files if f.kind in CONTAINERS and f.outline.get("members")]
        most = {"files": 5_000, "size": 200_000_000, "each": 100_000_000}
        items = [
            self._item(file, {"kind": file.kind, "out": "out:", **most}, n, UNPACK)
            for n, file in enumerate(those)
        ]
        ask = ("leaf.readers.archives:unpack", TakenOut, UNPACK, r"\d{1,9}")
        for n, answer in self._answers(*ask, items):
            wrong = ""
            if isinstance(answer, TakenOut):
                there = {path.name for path in _folder(items[n]).iterdir()}
                if not {str(i + 1) for i in range(len(answer.members))} <= there:
                    wrong = "members are missing that were told"
            found.outcomes.append(_outcome(those[n].name, "unpack", answer, wrong, named=True))

    def _open_tables(self, files: Sequence[File], found: Round) -> None:
        library = self._house.library
        opened = self._house.tables.of(self._house.scope, library.as_chat_files(files))
        for file in files:
            if file.id in opened.failures:
                said = opened.failures[file.id]
                message, hint = _parted(said)
                found.outcomes.append(Outcome(file.name, "tables", message, hint))
        of: dict[str, list[Table]] = {}
        for table in opened.tables:
            of.setdefault(table.file_name, []).append(table)
            found.outcomes.append(Outcome(table.file_name, "tables", wrong=_table(table)))
        found.hurt += [
            f"{file.name} has other rows"
            for file in files
            if file.name.startswith("good-") and [t.rows for t in of.get(file.name, ())] != [3]
        ]
        asked = [table for some in of.values() for table in some[:ASKED]]
        self._query(asked, found)
        self._profile(asked, found)

    def _query(self, tables: Sequence[Table], found: Round) -> None:
        items = []
        for n, table in enumerate(tables):
            arguments = {
                "sql": "SELECT * FROM t",
                "tables": {"t": "in:file"},
                "names": ["t"],
                "rows": {"t": table.mark},
                "out": "out:",
                "seconds": QUERY_LIMITS.seconds,
                "memory_mb": 1_024,
            }
            items.append(BatchItem(arguments, table.parquet, self._made(f"q{n}"), QUERY_LIMITS))
        ask = ("leaf.tables.child:query", QueryAnswer, QUERY_LIMITS, r"result\.parquet")
        for n, answer in self._answers(*ask, items):
            wrong = ""
            if isinstance(answer, QueryAnswer):
                wrong = _rows(tables[n], answer, _folder(items[n]))
            found.outcomes.append(_outcome(tables[n].file_name, "query", answer, wrong, named=True))

    def _profile(self, tables: Sequence[Table], found: Round) -> None:
        limits = {"seconds": PROFILE_LIMITS.seconds, "memory_mb": 1_024}
        items = [
            BatchItem({"parquet": "in:file", "mark": t.mark, **limits}, t.parquet) for t in tables
        ]
        ask = ("leaf.tables.profiling:profile", ProfileFound, PROFILE_LIMITS, "")
        for n, answer in self._answers(*ask, items):
            wrong = ""
            if isinstance(answer, ProfileFound) and answer.rows != tables[n].rows:
                wrong = f"{answer.rows} rows described, of {tables[n].rows}"
            step = ("profile", answer, wrong)
            found.outcomes.append(_outcome(tables[n].file_name, *step, named=True))

    def _search(self, files: Sequence[File], found: Round) -> None:
        those = [file for file in files if file.kind not in SOUND]
        told = self._house.library.search(self._house.scope, those, "revenue north")
        for file in those:
            for note in told.notes:
                if note.startswith(f"{file.name} was not searched: "):
                    message, hint = _parted(note)
                    found.outcomes.append(Outcome(file.name, "search", message, hint))

    def _read(self, files: Sequence[File], found: Round) -> None:
        those = [file for file in files if file.kind not in (*SOUND, "picture")]
        about = {"where": "", "max_tokens": TOKENS, "cursor": "", "line_numbers": False}
        items = [self._item(file, {"kind": file.kind, **about}, None, READ) for file in those]
        for n, answer in self._answers("leaf.readers.worker:read", Window, READ, "", items):
            if isinstance(answer, LeafError):
                answer = self._asked(
                    partial(
                        self._house.library.texts.read,
                        self._house.scope,
                        those[n],
                        max_tokens=TOKENS,
                    )
                )
            wrong = _window(answer) if isinstance(answer, Window) else ""
            found.outcomes.append(_outcome(those[n].name, "read", answer, wrong))

    def _find(self, files: Sequence[File], found: Round) -> None:
        those = [file for file in files if file.kind not in (*SOUND, "picture")]
        asked = {"asked": [["", QUOTE]]}
        items = [self._item(file, {"kind": file.kind, **asked}, None, READ) for file in those]
        ask = ("leaf.readers.locate.locate:locate", tuple[Sought, ...], READ, "")
        for n, answer in self._answers(*ask, items):
            if isinstance(answer, LeafError):
                locate = self._house.library.texts.locate_all
                asked_for = [("", QUOTE)]
                answer = self._asked(partial(locate, self._house.scope, those[n], asked_for))
            wrong = "" if isinstance(answer, LeafError) or len(answer) == 1 else "no answer"
            found.outcomes.append(_outcome(those[n].name, "find", answer, wrong))

    def _draw(self, files: Sequence[File], found: Round) -> None:
        those = [file for file in files if file.kind in ("pdf", "picture")]
        about = {"pages": [1], "out": "out:", "max_edge": THUMBNAIL.edge}
        items = [
            self._item(file, {"kind": file.kind, **about}, f"d{n}", DRAW)
            for n, file in enumerate(those)
        ]
        ask = ("leaf.files.child:pictures", list[PictureMade], DRAW, PAGE_FILE)
        for n, answer in self._answers(*ask, items):
            if isinstance(answer, LeafError):
                answer = self._asked(
                    partial(self._house.library.pictures.thumbnail, self._house.scope, those[n].id)
                )
            wrong = _picture(answer, _folder(items[n])) if isinstance(answer, list) else ""
            found.outcomes.append(_outcome(those[n].name, "draw", answer, wrong))

    def _hear(self, files: Sequence[File], found: Round) -> None:
        those = [file for file in files if file.kind in SOUND and file.outline.get("sound")]
        about = {"first": 0.0, "seconds": 30.0, "out": "out:"}
        items = [self._item(file, about, f"h{n}", DECODE) for n, file in enumerate(those)]
        ask = ("leaf.readers.media.audio:pcm", PieceHeard, DECODE, r"piece\.pcm")
        for n, answer in self._answers(*ask, items):
            found.outcomes.append(_outcome(those[n].name, "hear", answer, ""))

    def _item(
        self, file: File, arguments: Mapping[str, Any], out: int | str | None, limits: CallLimits
    ) -> BatchItem:
        path = self._house.library.open(self._house.scope, file.id)
        into = None if out is None else self._made(f"{out}")
        return BatchItem({"path": "in:file", **arguments}, path, into, limits)

    def _made(self, name: str) -> Path:
        path = self._folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def _answers(
        self,
        function: str,
        returns: type[T],
        limits: CallLimits,
        takes: str,
        items: Sequence[BatchItem],
    ) -> Iterator[tuple[int, T | LeafError]]:
        pool = self._house.pool
        for some in call_each(pool, function, items, returns=returns, limits=limits, takes=takes):
            yield from some

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """What the app's own way gives, or the error that a person gets."""
        try:
            return ask()
        except LeafError as e:
            return e


@contextmanager
def _logged(details: list[str]) -> Iterator[None]:
    """Take what the pool logs of children that failed."""

    class Taking(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            details.append(record.getMessage())

    log, handler = logging.getLogger("leaf.sandbox.pool"), Taking()
    before = log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.propagate = before
        log.removeHandler(handler)


def _added(name: str, file: File) -> Outcome:
    error = file.outline.get("error")
    if error is not None:
        return Outcome(name, "add", str(error), str(file.outline.get("hint", "")))
    wrong = "" if file.kind in KINDS and file.media_type else f"kind {file.kind}"
    return Outcome(name, "add", wrong=wrong)


def _outcome(name: str, step: str, answer: object, wrong: str, *, named: bool = False) -> Outcome:
    """`named`: whoever shows this says the file's name before it."""
    if isinstance(answer, LeafError):
        said = f"{name}: {answer.message}" if named else answer.message
        return Outcome(name, step, said, answer.hint)
    return Outcome(name, step, wrong=wrong)


def _parted(said: str) -> tuple[str, str]:
    """Message and hint of what was put together."""
    found = re.match(r"(.*?[.!?])(?: (?=[A-Z])(.*))?$", said, re.S)
    return (found[1], found[2] or "") if found else (said, "")


def _table(table: Table) -> str:
    names = [name for name, _ in table.columns]
    if len(set(names)) < len(names):
        return "two columns have one name"
    if not names:
        return "a table without columns"
    return "" if table.name else "a table without a name"


def _rows(table: Table, answer: QueryAnswer, folder: Path) -> str:
    """What a query of the whole table has other than the table."""
    try:
        check_written(answer, folder)
    except LeafError as e:
        return str(e)
    if answer.total != table.rows:
        return f"{answer.total} rows asked, of {table.rows}"
    if answer.columns != [name for name, _ in table.columns]:
        return "other columns than were told"
    return ""


def _window(window: Window) -> str:
    if len(window.text) > 12 * TOKENS:
        return f"a window of {len(window.text)} characters"
    try:
        window.text.encode()
    except UnicodeEncodeError:
        return "a text with halves of characters"
    return "" if window.coverage else "it does not say what was read"


def _picture(made: list[PictureMade], folder: Path) -> str:
    if [one.page for one in made] != [1]:
        return "other pages than were asked for"
    head = (folder / "page-1").read_bytes()[:4] if (folder / "page-1").is_file() else b""
    fits = 0 < max(made[0].width, made[0].height) <= THUMBNAIL.edge
    return "" if fits and head[:2] in (b"\xff\xd8", b"\x89P") else "no picture"


def _folder(item: BatchItem) -> Path:
    assert item.out is not None
    return item.out


def _is_bad_luck(outcome: Outcome) -> bool:
    """Whether a good file came to anything but what it should."""
    return outcome.file.startswith("good-") and bool(outcome.message is not None or outcome.wrong)
