"""Full-text search over files: a workspace's index is filled with a file's passages when it is first
searched; the best of them are found by `ranking`."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path

from leaf.errors import (
    FileError,
    InvalidInputError,
    LeafError,
    NotFoundError,
    RunError,
    SandboxMemoryError,
    SandboxTimeoutError,
    StoreError,
)
from leaf.files import search_index
from leaf.files.passages import IndexedPassage, snippet
from leaf.files.query import Term, parse, tokens
from leaf.files.ranking import Ranked, Wanted, rank
from leaf.files.search_index import SearchIndex
from leaf.readers.base import Extracted
from leaf.sandbox.batch import call_each
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import BatchItem, Pool
from leaf.store.model import File, Scope

EXTRACT = CallLimits(seconds=180)
PASSAGES = r"passages\.jsonl"
PARALLEL = 3
"""Files that are read at once when several are searched for the first time."""
MOST_CUT = 5
"""Files that were searched in part and are named."""
LASTING = (FileError, SandboxTimeoutError, SandboxMemoryError)
"""What lies in the file: it is not read again for the next search."""
SOUND = frozenset(["audio", "video"])

ByContent = dict[str, list[File]]
"""Files by what the index knows their text by, in the order in which they were given."""
TextOf = Callable[
    [Scope, File, threading.Event | None, Callable[[str], None] | None], tuple[Path | None, str]
]


@dataclass(frozen=True)
class Hit:
    """A passage that was found."""

    file_id: str
    place: str
    """`page 12`, `lines 40-44`, `sheet Sales row 17`, `00:10:03-00:10:07`."""
    text: str
    """The passage, or the part of it around the words."""
    score: float
    """Higher is better; comparable within one search only."""
    number: int
    """First page, line, row … of the place, 1-based."""
    more: int = 0
    """Other passages of the file that were found."""


@dataclass(frozen=True)
class SearchResult:
    """What was found, and in how much."""

    hits: tuple[Hit, ...]
    """Best first."""
    searched: int
    """Files whose text was searched."""
    indexed: int
    """Files that were read for the first time for this."""
    notes: tuple[str, ...]
    """Which files could not be searched, or only in part, and why; and when not all words were
    found together."""


class Search:
    """The indexes of all workspaces under one folder. Safe to call from any number of threads and
    processes."""

    def __init__(self, folder: Path, pool: Pool, text_of: TextOf) -> None:
        """`text_of` gives the bytes in which a file's text is, and their kind; None for a file that
        has no text at all."""
        self._index = SearchIndex(folder)
        self._pool = pool
        self._text_of = text_of
        self._guard = threading.Lock()
        self._locks: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)

    def search(
        self,
        scope: Scope,
        files: Sequence[File],
        query: str,
        limit: int,
        stop: threading.Event | None,
        on_progress: Callable[[str], None] | None = None,
        *,
        one_each: bool = False,
    ) -> SearchResult:
        """`one_each`: of each file only its best passage.

        Raises InvalidInputError for a query without a word, RunError after `stop`, StoreError if
        the disk is full.
        """
        terms = parse(query)
        if not terms:
            raise InvalidInputError(
                "The query has no word to search for.", "Give one or more words."
            )
        try:
            return self._search(scope, files, terms, limit, stop, on_progress, one_each)
        except sqlite3.DatabaseError as e:
            search_index.raise_if_full(e)
            self._index.throw_away(scope)
        return self._search(scope, files, terms, limit, stop, on_progress, one_each)

    def forget(self, scope: Scope, hashes: Collection[str]) -> None:
        """Remove what the index has of these bytes."""
        self._index.forget(scope, hashes)

    def forget_all(self, scope: Scope) -> None:
        """Remove the index of a workspace."""
        self._index.throw_away(scope)

    def _search(
        self,
        scope: Scope,
        files: Sequence[File],
        terms: list[Term],
        limit: int,
        stop: threading.Event | None,
        on_progress: Callable[[str], None] | None,
        one_each: bool,
    ) -> SearchResult:
        failures = {
            f.name: f"it cannot be read: {f.outline['error']}"
            for f in files
            if f.outline.get("error")
        }
        readable = _by_content(f for f in files if not f.outline.get("error"))
        missing = self._missing(scope, readable)
        failures |= self._fill(scope, missing, stop, on_progress)
        with closing(self._index.connect(scope)) as db:
            db.execute("BEGIN")  # all that follows sees the index as it is now
            known = search_index.known(db, readable)
            failures |= {
                f.name: error
                for content, (_, error) in known.items()
                if error
                for f in readable[content]
            }
            searched = {
                content: readable[content] for content, (_, error) in known.items() if not error
            }
            cut = [
                f"{f.name}: {note}"
                for content, named in readable.items()
                if content in known and (note := known[content][0])
                for f in named
            ]
            passages, partly = _find(db, searched, terms, limit, one_each)
        notes = [f"{name} was not searched: {reason}" for name, reason in failures.items()]
        notes += _few(cut)
        if partly and passages:
            notes.insert(0, "No passage has all of the words; these have some of them.")
        notes += _same_content(searched, passages)
        return SearchResult(passages, sum(map(len, searched.values())), len(missing), tuple(notes))

    def _missing(self, scope: Scope, files: ByContent) -> list[File]:
        with closing(self._index.connect(scope)) as db:
            known = search_index.known(db, files)
        return [named[0] for content, named in files.items() if content not in known]

    def _fill(
        self,
        scope: Scope,
        files: list[File],
        stop: threading.Event | None,
        on_progress: Callable[[str], None] | None,
    ) -> dict[str, str]:
        """Read the files into the index, some at once; returns name and reason of those for which
        that may work another time."""
        with ExitStack() as held:
            mine = [
                file
                for file in files
                if file.kind not in SOUND
                and self._is_there(scope, file)
                and self._claimed(scope, file, held)
            ]
            reasons = self._add_all(scope, mine, stop, on_progress) if len(mine) > 1 else {}
        # One alone, recordings, whose words may have to be made first, and what another thread
        # reads just now.
        batched = {file.id for file in mine} if len(mine) > 1 else set()
        others = [file for file in files if file.id not in batched]
        with ThreadPoolExecutor(PARALLEL, thread_name_prefix="leaf-index") as threads:
            running = [
                threads.submit(copy_context().run, self._add, scope, file, stop, on_progress)
                for file in others
            ]
            answers = [one.result() for one in running]
        return reasons | {
            file.name: reason for file, reason in zip(others, answers, strict=True) if reason
        }

    def _is_there(self, scope: Scope, file: File) -> bool:
        try:
            return self._text_of(scope, file, None, None)[0] is not None
        except NotFoundError:
            return False

    def _claimed(self, scope: Scope, file: File, held: ExitStack) -> bool:
        """Whether no other thread reads it just now; none begins to before `held` is left."""
        with self._guard:
            lock = self._locks[scope.workspace_id, _content(file)]
        if claimed := lock.acquire(blocking=False):
            held.callback(lock.release)
        return claimed

    def _add_all(
        self,
        scope: Scope,
        files: list[File],
        stop: threading.Event | None,
        on_progress: Callable[[str], None] | None,
    ) -> dict[str, str]:
        """Read files into the index, many in a child; as `_fill`."""
        with closing(self._index.connect(scope)) as db:
            known = search_index.known(db, [_content(file) for file in files])
        files = [file for file in files if _content(file) not in known]
        reasons: dict[str, str] = {}
        done = 0
        with tempfile.TemporaryDirectory(prefix=".reading-", dir=self._index.made()) as out:
            folders = [Path(out) / str(number) for number in range(len(files))]
            items = [
                self._item(scope, file, folder) for file, folder in zip(files, folders, strict=True)
            ]
            for answers in call_each(
                self._pool,
                "leaf.readers.worker:extract",
                items,
                returns=Extracted,
                limits=EXTRACT,
                takes=PASSAGES,
                stop=stop,
            ):
                with self._index.transaction(scope) as db:
                    for number, answer in answers:
                        if isinstance(answer, LeafError) and not isinstance(answer, LASTING):
                            reasons[files[number].name] = answer.message
                        else:
                            self._write_answer(db, files[number], folders[number], answer, stop)
                done += len(answers)
                if on_progress is not None:
                    on_progress(f"Reading files for the search: {done:,} of {len(files):,}")
        return reasons

    def _item(self, scope: Scope, file: File, folder: Path) -> BatchItem:
        """What is asked of a child for a file whose text stands in its own bytes. Missing ones are
        found by the call."""
        path, kind = self._text_of(scope, file, None, None)
        return BatchItem({"path": "in:file", "kind": kind, "out": "out:"}, path or Path(), folder)

    def _write_answer(
        self,
        db: sqlite3.Connection,
        file: File,
        folder: Path,
        answer: Extracted | LeafError,
        stop: threading.Event | None,
    ) -> None:
        note, error = "", ""
        if isinstance(answer, LeafError):
            error = answer.message
        else:
            note = _notes(answer)
        search_index.write(
            db,
            _content(file),
            folder / "passages.jsonl",
            note,
            error,
            stop,
        )
        shutil.rmtree(folder, ignore_errors=True)

    def _add(
        self,
        scope: Scope,
        file: File,
        stop: threading.Event | None,
        on_progress: Callable[[str], None] | None,
    ) -> str:
        """Read one file into the index, unless another thread has done it meanwhile; returns why
        not."""
        with self._guard:
            lock = self._locks[scope.workspace_id, _content(file)]
        with lock, tempfile.TemporaryDirectory(prefix=".reading-", dir=self._index.made()) as out:
            with closing(self._index.connect(scope)) as db:
                if search_index.known(db, [_content(file)]):
                    return ""
            note = error = ""
            try:
                note = self._extract(scope, file, Path(out), stop, on_progress)
            except (StoreError, RunError):
                raise
            except LASTING as e:
                error = e.message
            except LeafError as e:
                return e.message
            with self._index.transaction(scope) as db:
                search_index.write(
                    db, _content(file), Path(out) / "passages.jsonl", note, error, stop
                )
        return ""

    def _extract(
        self,
        scope: Scope,
        file: File,
        out: Path,
        stop: threading.Event | None,
        on_progress: Callable[[str], None] | None,
    ) -> str:
        path, kind = self._text_of(scope, file, stop, on_progress)
        if path is None:
            (out / "passages.jsonl").touch()
            return "no speech was found in it."
        extraction = self._pool.call(
            "leaf.readers.worker:extract",
            {"path": "in:file", "kind": kind, "out": "out:"},
            returns=Extracted,
            inputs={"file": path},
            limits=EXTRACT,
            out=out,
            takes=PASSAGES,
            stop=stop,
        )
        return _notes(extraction)


def _notes(extraction: Extracted) -> str:
    return " ".join(note.text for note in extraction.notes)


def _content(file: File) -> str:
    """What the index knows a file's text by: bytes that are a table under one name may be plain
    text under another."""
    return f"{file.sha256} {file.kind}"


def _by_content(files: Iterable[File]) -> ByContent:
    groups: defaultdict[str, list[File]] = defaultdict(list)
    for file in files:
        groups[_content(file)].append(file)
    return dict(groups)


def _few(cut: Sequence[str]) -> list[str]:
    """What was searched in part, in a few sentences however many files that are."""
    more = len(cut) - MOST_CUT
    return [
        *cut[:MOST_CUT],
        *([f"{more:,} more files were searched in part."] if more > 1 else cut[MOST_CUT:]),
    ]


def _same_content(files: ByContent, hits: Iterable[Hit]) -> list[str]:
    """A sentence for each file whose passages stand under one of several names."""
    there = {hit.file_id for hit in hits}
    several = [
        named
        for named in files.values()
        if len(named) > 1 and any(file.id in there for file in named)
    ]
    return [
        f"These files have the same content: {', '.join(file.name for file in named)}."
        for named in several
    ]


def _find(
    db: sqlite3.Connection, files: ByContent, terms: list[Term], limit: int, one_each: bool
) -> tuple[tuple[Hit, ...], bool]:
    """The best hits, and whether none has all of the words."""
    names = {
        content: [[word for *_, word in tokens(file.name)] for file in named]
        for content, named in files.items()
    }
    ranking = rank(db, names, terms, limit * 4, one_each=one_each)
    best: dict[tuple[str, str], Hit] = {}
    for ranked in ranking.passages:
        (*values,) = db.execute(
            "SELECT unit, first, last, sheet, start, stop, text FROM passages WHERE id = ?",
            (ranked.id,),
        ).fetchone()
        file = _best_named(files[ranked.content], names[ranked.content], ranking.wanted)
        hit = _hit(file.id, IndexedPassage(*values), ranking.wanted, ranked)
        best.setdefault((hit.file_id, hit.place), hit)
        if len(best) == limit:
            break
    return tuple(best.values()), ranking.partly and len(ranking.wanted) > 1


def _best_named(
    named: Sequence[File], names: Sequence[Sequence[str]], wanted: Sequence[Wanted]
) -> File:
    """Of files with the same content the one whose name has most of the words: it is the one that
    is meant."""
    counts = [sum(any(each.places(words)) for each in wanted) for words in names]
    return named[counts.index(max(counts))]


def _hit(file_id: str, passage: IndexedPassage, wanted: Sequence[Wanted], ranked: Ranked) -> Hit:
    begin, end = snippet(passage.text, wanted)
    text = passage.text[begin:end]
    first, last = passage.first, passage.last
    if passage.unit == "line":
        first += passage.text.count("\n", 0, begin)
        last = min(last, first + text.count("\n"))
    marked = ("… " if begin else "") + text.strip() + (" …" if end < len(passage.text) else "")
    return Hit(
        file_id, passage.place(first, last), marked, round(ranked.score, 3), first, ranked.more
    )
