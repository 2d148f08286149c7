"""Full-text search over files: one SQLite FTS5 index per workspace, filled with a file's passages when it is first searched.

The text of a passage stands in an ordinary table and the FTS5 index holds only words, because a word of the index is not always
one of the text: Chinese, Japanese and Korean characters are indexed one by one. The index can be thrown away at any time.
Files with the same bytes that are read in the same way have their text in it once.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from leaf.files.passages import Passage, cut, parse_line, snippet
from leaf.files.query import Term, parse, spaced, tokens
from leaf.files.ranking import Ranked, Wanted, rank
from leaf.files.stopwords import languages
from leaf.sandbox.batch import call_each
from leaf.sandbox.pool import Item, Limits, Pool
from leaf.store.model import File, Scope

VERSION = 3
"""Raised when passages are cut or stored in another way; older indexes are then thrown away."""
EXTRACT = Limits(seconds=180)
PARALLEL = 3
"""Files that are read at once when several are searched for the first time."""
BATCH = 1_000
LASTING = (FileError, SandboxTimeoutError, SandboxMemoryError)
"""What lies in the file: it is not read again for the next search."""
SOUND = frozenset(["audio", "video"])

SCHEMA = (
    """
    CREATE TABLE sources (
        content TEXT PRIMARY KEY, note TEXT NOT NULL, error TEXT NOT NULL, languages TEXT NOT NULL DEFAULT '',
        passages INTEGER NOT NULL DEFAULT 0, characters INTEGER NOT NULL DEFAULT 0)
    """,
    """
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, content TEXT NOT NULL, unit TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        sheet TEXT NOT NULL, start REAL, stop REAL, size INTEGER NOT NULL, text TEXT NOT NULL)
    """,
    "CREATE INDEX passages_by_source ON passages (content)",
    "CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 2')",
    f"PRAGMA user_version = {VERSION}",
)


ByContent = dict[str, list[File]]
"""Files by what the index knows their text by, in the order in which they were given."""
TextOf = Callable[[Scope, File, threading.Event | None, Callable[[str], None] | None], tuple[Path | None, str]]


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
    """Which files could not be searched, or only in part, and why; and when not all words were found together."""


class Search:
    """The indexes of all workspaces under one folder. Safe to call from any number of threads and processes."""

    def __init__(self, folder: Path, pool: Pool, text_of: TextOf) -> None:
        """`text_of` gives the bytes in which a file's text is, and their kind; None for a file that has no text at all."""
        self._folder = folder
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

        Raises InvalidInputError for a query without a word, RunError after `stop`, StoreError if the disk is full.
        """
        terms = parse(query)
        if not terms:
            raise InvalidInputError("The query has no word to search for.", "Give one or more words.")
        try:
            return self._search(scope, files, terms, limit, stop, on_progress, one_each)
        except sqlite3.DatabaseError as e:
            _raise_if_full(e)
            self._throw_away(scope)
        return self._search(scope, files, terms, limit, stop, on_progress, one_each)

    def forget(self, scope: Scope, sha256: str) -> None:
        """Remove what the index has of these bytes."""
        if not self._path(scope).exists():
            return
        try:
            with self._transaction(scope) as db:
                those = f"{sha256} *"
                rows = db.execute("SELECT id, text FROM passages WHERE content GLOB ?", (those,)).fetchall()
                db.executemany(
                    "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", ((i, spaced(t)) for i, t in rows)
                )
                db.execute("DELETE FROM passages WHERE content GLOB ?", (those,))
                db.execute("DELETE FROM sources WHERE content GLOB ?", (those,))
        except sqlite3.DatabaseError as e:
            _raise_if_full(e)
            self._throw_away(scope)

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
        failures = {f.name: f"it cannot be read: {f.outline['error']}" for f in files if f.outline.get("error")}
        readable = _by_content(f for f in files if not f.outline.get("error"))
        missing = self._missing(scope, readable)
        failures |= self._fill(scope, missing, stop, on_progress)
        with closing(self._connect(scope)) as db:
            db.execute("BEGIN")  # all that follows sees the index as it is now
            known = _known(db, readable)
            failures |= {f.name: error for content, (_, error) in known.items() if error for f in readable[content]}
            searched = {content: readable[content] for content, (_, error) in known.items() if not error}
            cut = [f"{f.name}: {note}" for content, (note, _) in known.items() if note for f in readable[content]]
            found, partly = _find(db, searched, terms, limit, one_each)
        notes = [f"{name} was not searched: {reason}" for name, reason in failures.items()] + cut
        if partly and found:
            notes.insert(0, "No passage has all of the words; these have some of them.")
        notes += _same_content(searched, found)
        return SearchResult(found, sum(map(len, searched.values())), len(missing), tuple(notes))

    def _missing(self, scope: Scope, files: ByContent) -> list[File]:
        with closing(self._connect(scope)) as db:
            known = _known(db, files)
        return [named[0] for content, named in files.items() if content not in known]

    def _fill(
        self, scope: Scope, files: list[File], stop: threading.Event | None, on_progress: Callable[[str], None] | None
    ) -> dict[str, str]:
        """Read the files into the index, some at once; returns name and reason of those for which that may work another time."""
        with ExitStack() as held:
            mine = [
                file
                for file in files
                if file.kind not in SOUND and self._is_there(scope, file) and self._claimed(scope, file, held)
            ]
            reasons = self._add_all(scope, mine, stop, on_progress) if len(mine) > 1 else {}
        # One alone, recordings, whose words may have to be made first, and what another thread reads just now.
        batched = {file.id for file in mine} if len(mine) > 1 else set()
        others = [file for file in files if file.id not in batched]
        with ThreadPoolExecutor(PARALLEL, thread_name_prefix="leaf-index") as threads:
            said = list(threads.map(lambda file: self._add(scope, file, stop, on_progress), others))
        return reasons | {file.name: reason for file, reason in zip(others, said, strict=True) if reason}

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
        self, scope: Scope, files: list[File], stop: threading.Event | None, on_progress: Callable[[str], None] | None
    ) -> dict[str, str]:
        """Read files into the index, many in a child; as `_fill`."""
        with closing(self._connect(scope)) as db:
            known = _known(db, [_content(file) for file in files])
        files = [file for file in files if _content(file) not in known]
        reasons: dict[str, str] = {}
        done = 0
        with tempfile.TemporaryDirectory(prefix=".reading-", dir=self._made()) as out:
            folders = [Path(out) / str(number) for number in range(len(files))]
            items = [self._item(scope, file, folder) for file, folder in zip(files, folders, strict=True)]
            for answers in call_each(self._pool, "leaf.formats.worker:extract", items, limits=EXTRACT, stop=stop):
                with self._transaction(scope) as db:
                    for number, answer in answers:
                        if isinstance(answer, LeafError) and not isinstance(answer, LASTING):
                            reasons[files[number].name] = answer.message
                        else:
                            self._write_answer(db, files[number], folders[number], answer, stop)
                done += len(answers)
                if on_progress is not None:
                    on_progress(f"Reading files for the search: {done:,} of {len(files):,}")
        return reasons

    def _item(self, scope: Scope, file: File, folder: Path) -> Item:
        """What is asked of a child for a file whose text stands in its own bytes. Missing ones are found by the call."""
        path, kind = self._text_of(scope, file, None, None)
        return Item({"path": "in:file", "kind": kind, "out": "out:"}, path or Path(), folder)

    def _write_answer(self, db: sqlite3.Connection, file: File, folder: Path, answer: Any, stop: threading.Event | None) -> None:
        error = answer.message if isinstance(answer, LeafError) else ""
        self._write(db, _content(file), folder / "passages.jsonl", "" if error else _notes(answer), error, stop)
        shutil.rmtree(folder, ignore_errors=True)

    def _add(self, scope: Scope, file: File, stop: threading.Event | None, on_progress: Callable[[str], None] | None) -> str:
        """Read one file into the index, unless another thread has done it meanwhile; returns why not."""
        with self._guard:
            lock = self._locks[scope.workspace_id, _content(file)]
        with lock, tempfile.TemporaryDirectory(prefix=".reading-", dir=self._made()) as out:
            with closing(self._connect(scope)) as db:
                if _known(db, [_content(file)]):
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
            self._insert(scope, _content(file), Path(out) / "passages.jsonl", note, error, stop)
        return ""

    def _extract(
        self, scope: Scope, file: File, out: Path, stop: threading.Event | None, on_progress: Callable[[str], None] | None
    ) -> str:
        path, kind = self._text_of(scope, file, stop, on_progress)
        if path is None:
            (out / "passages.jsonl").touch()
            return "no speech was found in it."
        found = self._pool.call(
            "leaf.formats.worker:extract",
            {"path": "in:file", "kind": kind, "out": "out:"},
            inputs={"file": path},
            limits=EXTRACT,
            out=out,
            stop=stop,
        )
        return _notes(found)

    def _insert(self, scope: Scope, content: str, lines: Path, note: str, error: str, stop: threading.Event | None) -> None:
        with self._transaction(scope) as db:
            self._write(db, content, lines, note, error, stop)

    def _write(
        self, db: sqlite3.Connection, content: str, lines: Path, note: str, error: str, stop: threading.Event | None
    ) -> None:
        """Put what was read of one content into the index, unless it is there."""
        if db.execute("SELECT 1 FROM sources WHERE content = ?", (content,)).fetchone():
            return
        db.execute("INSERT INTO sources (content, note, error) VALUES (?, ?, ?)", (content, note, error))
        if error:
            return
        (last,) = db.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()
        with lines.open(encoding="utf-8") as file:
            for batch in _batches(enumerate(cut(map(parse_line, file)), last + 1)):
                if stop is not None and stop.is_set():
                    raise RunError("Stopped.")
                db.executemany(
                    "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    ((i, content, p.unit, p.first, p.last, p.sheet, p.start, p.stop, len(p.text), p.text) for i, p in batch),
                )
                db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", ((i, spaced(p.text)) for i, p in batch))
        _describe(db, content, last)

    @contextmanager
    def _transaction(self, scope: Scope) -> Iterator[sqlite3.Connection]:
        with closing(self._connect(scope)) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _connect(self, scope: Scope) -> sqlite3.Connection:
        """Open the workspace's index; make it if there is none, or one of another version."""
        self._made()
        db = sqlite3.connect(self._path(scope), timeout=60, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA temp_store = MEMORY")
            if db.execute("PRAGMA user_version").fetchone() != (VERSION,):
                with self._guard:
                    _make(db)
        except BaseException:
            db.close()
            raise
        return db

    def _made(self) -> Path:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as e:
            raise StoreError(f"The search index cannot be made: {e.strerror}.", "Check the data folder and its disk.") from e
        return self._folder

    def _path(self, scope: Scope) -> Path:
        return self._folder / f"{scope.workspace_id}.sqlite"

    def _throw_away(self, scope: Scope) -> None:
        """Remove a damaged index; the next search fills a new one."""
        for ending in ("", "-wal", "-shm"):
            self._path(scope).with_name(self._path(scope).name + ending).unlink(missing_ok=True)


def _describe(db: sqlite3.Connection, content: str, after: int) -> None:
    """Keep how long the text is that was added last, and in which languages it is written, by its beginning."""
    rows = db.execute("SELECT text FROM passages WHERE id > ? ORDER BY id LIMIT ?", (after, BATCH))
    spoken = languages(word for (text,) in rows for *_, word in tokens(text))
    db.execute(
        "UPDATE sources SET languages = ?, passages = (SELECT count(*) FROM passages WHERE id > ?), "
        "characters = (SELECT coalesce(sum(size), 0) FROM passages WHERE id > ?) WHERE content = ?",
        (" ".join(spoken), after, after, content),
    )


def _notes(found: Mapping[str, Any]) -> str:
    return " ".join(str(note["text"]) for note in found["notes"])


def _content(file: File) -> str:
    """What the index knows a file's text by: bytes that are a table under one name may be plain text under another."""
    return f"{file.sha256} {file.kind}"


def _by_content(files: Iterable[File]) -> ByContent:
    found: defaultdict[str, list[File]] = defaultdict(list)
    for file in files:
        found[_content(file)].append(file)
    return dict(found)


def _same_content(files: ByContent, hits: Iterable[Hit]) -> list[str]:
    """A sentence for each file whose passages stand under one of several names."""
    there = {hit.file_id for hit in hits}
    several = [named for named in files.values() if len(named) > 1 and any(file.id in there for file in named)]
    return [f"These files have the same content: {', '.join(file.name for file in named)}." for named in several]


def _known(db: sqlite3.Connection, contents: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Note and error of those contents that the index has."""
    rows = db.execute(
        "SELECT content, note, error FROM sources WHERE content IN (SELECT value FROM json_each(?))",
        (json.dumps(list(contents)),),
    )
    return {content: (note, error) for content, note, error in rows}


def _find(
    db: sqlite3.Connection, files: ByContent, terms: list[Term], limit: int, one_each: bool
) -> tuple[tuple[Hit, ...], bool]:
    """The best hits, and whether none has all of the words."""
    names = {content: [[word for *_, word in tokens(file.name)] for file in named] for content, named in files.items()}
    ranking = rank(db, names, terms, limit * 4, one_each=one_each)
    best: dict[tuple[str, str], Hit] = {}
    for ranked in ranking.passages:
        (*values,) = db.execute(
            "SELECT unit, first, last, sheet, start, stop, text FROM passages WHERE id = ?", (ranked.id,)
        ).fetchone()
        file = _best_named(files[ranked.content], names[ranked.content], ranking.wanted)
        hit = _hit(file.id, Passage(*values), ranking.wanted, ranked)
        best.setdefault((hit.file_id, hit.place), hit)
        if len(best) == limit:
            break
    return tuple(best.values()), ranking.partly and len(ranking.wanted) > 1


def _best_named(named: Sequence[File], names: Sequence[Sequence[str]], wanted: Sequence[Wanted]) -> File:
    """Of files with the same content the one whose name has most of the words: it is the one that is meant."""
    counts = [sum(any(each.places(words)) for each in wanted) for words in names]
    return named[counts.index(max(counts))]


def _hit(file_id: str, passage: Passage, wanted: Sequence[Wanted], ranked: Ranked) -> Hit:
    begin, end = snippet(passage.text, wanted)
    text = passage.text[begin:end]
    first, last = passage.first, passage.last
    if passage.unit == "line":
        first += passage.text.count("\n", 0, begin)
        last = min(last, first + text.count("\n"))
    marked = ("… " if begin else "") + text.strip() + (" …" if end < len(passage.text) else "")
    return Hit(file_id, passage.place(first, last), marked, round(ranked.score, 3), first, ranked.more)


def _batches(items: Iterable[tuple[int, Passage]]) -> Iterator[list[tuple[int, Passage]]]:
    batch: list[tuple[int, Passage]] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _make(db: sqlite3.Connection) -> None:
    """An empty index of this version, in place of one of another version, unless another process has made it meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone() != (VERSION,):
        for table in ("words", "passages", "sources"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in SCHEMA:
            db.execute(statement)
    db.execute("COMMIT")


def _raise_if_full(error: sqlite3.DatabaseError) -> None:
    """Only a damaged index is worth throwing away."""
    if isinstance(error, sqlite3.OperationalError) and not re.search(r"malformed|corrupt|no such table|vtable", str(error)):
        full = "full" in str(error)
        reason = "the disk is full" if full else str(error)
        raise StoreError(
            f"The search index failed: {reason}.", "Free some space and try again." if full else "Try again."
        ) from error
