"""Turn a tabular file into Parquet once: `home/tables/<workspace>/<sha256>/`, complete when its
`manifest.json` is there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from leaf.errors import (
    FileError,
    InvalidInputError,
    LeafError,
    NotFoundError,
    RunError,
    SandboxError,
    SandboxSpaceError,
    SandboxTimeoutError,
    StorageError,
    StoreError,
    about,
)
from leaf.readers.base import VERSION, TableInfo
from leaf.sandbox.answers import checked, plain
from leaf.sandbox.batch import call_each
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import BatchItem, Pool
from leaf.store import Store, leftovers, removal
from leaf.store.model import File
from leaf.store.removal import Gone
from leaf.tables.lasting import PARQUET, LastingTables

Json = dict[str, Any]

OnProgress = Callable[[str], None]
LIMITS = CallLimits(seconds=900, memory_mb=2048, output_mb=8192, answer_mb=64, items=4_000_000)
MOST_ROWS = 1 << 53


class Converter:
    """Converts files, each once, whoever asks and how many at a time."""

    def __init__(self, store: Store, pool: Pool, home: Path) -> None:
        self._store = store
        self._pool = pool
        self._home = home / "tables"
        self.lasting = LastingTables(store)
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._failures: dict[tuple[str, str, str], LeafError] = {}
        self._guard = threading.Lock()
        self._read_so_far: dict[tuple[str, str], tuple[int, int]] = {}
        """(workspace, bytes) -> bytes read and bytes in all, of what is being read."""

    def folder(self, file: File) -> Path:
        """Where the file's Parquet is, or would be: under its bytes, and apart where they are of
        another kind under this name."""
        folder = self._home / plain_id(file.workspace_id) / plain_id(file.sha256)
        return (
            folder
            if _manifest(folder).get("kind", file.kind) == file.kind
            else folder.with_name(f"{folder.name}.{file.kind}")
        )

    def let_go(self, gone: Gone) -> None:
        """Remove what was converted of bytes that are no file's any more."""
        home = self._home / plain_id(gone.workspace_id)
        if gone.whole:
            shutil.rmtree(home, ignore_errors=True)
        for sha256 in gone.hashes:
            with self._guard:
                lock = self._locks.setdefault((gone.workspace_id, sha256), threading.Lock())
            with lock:
                if not removal.in_use(self._store.db, gone.workspace_id, sha256)[1]:
                    for folder in home.glob(f"{plain_id(sha256)}*"):
                        shutil.rmtree(folder, ignore_errors=True)

    def tables(
        self, file: File, stop: threading.Event | None, on_progress: OnProgress | None = None
    ) -> list[TableInfo]:
        """The file's tables. Raises FileError, SandboxError;
        RunError after `stop`.

        `on_progress` is told in words how much of the file is read, also where another thread reads
        it.
        """
        if (known := self._read(file)) is not None:
            return known
        key = (file.workspace_id, file.sha256)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with self._held(file, lock, stop, on_progress):
            if (known := self._read(file)) is not None:
                return known
            if (*key, file.kind) in self._failures:
                raise self._failures[*key, file.kind]
            if self._fetched([file]) and (known := self._read(file)) is not None:
                return known
            try:
                return self._convert(file, stop, on_progress)
            except (FileError, SandboxError) as e:
                if not isinstance(e, SandboxTimeoutError | SandboxSpaceError):
                    self._failures[*key, file.kind] = e
                raise

    def tables_of(
        self,
        files: Sequence[File],
        stop: threading.Event | None,
        on_progress: OnProgress | None = None,
    ) -> list[list[TableInfo] | LeafError]:
        """`tables` of each file, or the FileError or SandboxError that it ended with; what is new
        is converted many in a child.

        All must be of one workspace. Raises StoreError, RunError after `stop`.
        """
        with contextlib.ExitStack() as held:
            mine = [
                file for file in files if self._read(file) is None and self._claimed(file, held)
            ]
            fetched = self._fetched(mine)
            mine = [file for file in mine if (file.sha256, file.kind) not in fetched]
            if len(mine) > 1:
                self._convert_all({(file.sha256, file.kind): file for file in mine}, stop)
        return [self._tables_or_error(file, stop, on_progress) for file in files]

    def _tables_or_error(
        self, file: File, stop: threading.Event | None, on_progress: OnProgress | None
    ) -> list[TableInfo] | LeafError:
        try:
            return self.tables(file, stop, on_progress)
        except (FileError, SandboxError, InvalidInputError, NotFoundError) as e:
            return e

    def _claimed(self, file: File, held: contextlib.ExitStack) -> bool:
        """Whether it is to be converted, and no other thread does so just now; none begins to
        before `held` is left."""
        if (file.workspace_id, file.sha256, file.kind) in self._failures:
            return False
        with self._guard:
            lock = self._locks.setdefault((file.workspace_id, file.sha256), threading.Lock())
        if claimed := lock.acquire(blocking=False):
            held.callback(lock.release)
        return claimed

    def _fetched(self, files: Sequence[File]) -> set[tuple[str, str]]:
        """Bytes and kinds of those whose Parquet came from the store. The caller holds their
        locks."""
        fetched = set()
        for file, stored_tables in self.lasting.known(files):
            self._store.space.check()
            with new_folder(self.folder(file).parent) as folder:
                tables = self.lasting.fetch(file, stored_tables, folder)
                if tables is not None:
                    self._keep(file, folder, tables)
                    fetched.add((file.sha256, file.kind))
        return fetched

    def _convert_all(
        self, files: Mapping[tuple[str, str], File], stop: threading.Event | None
    ) -> None:
        those, began = list(files.values()), time.monotonic()
        self._store.space.check()
        with contextlib.ExitStack() as stack:
            folders = [stack.enter_context(new_folder(self.folder(file).parent)) for file in those]
            items = [
                BatchItem(
                    {"path": "in:file", "kind": file.kind, "out": "out:"},
                    partial(self._bytes_of, file),
                    folder,
                    size=file.size,
                )
                for file, folder in zip(those, folders, strict=True)
            ]
            for answers in call_each(
                self._pool,
                "leaf.readers.worker:tables",
                items,
                returns=list[TableInfo],
                limits=LIMITS,
                takes=PARQUET,
                stop=stop,
            ):
                for number, answer in answers:
                    self._take(those[number], folders[number], answer)
        # at least: several are read side by side
        pace = (time.monotonic() - began) / max(1, sum(file.size for file in those))
        for file in those:
            self.lasting.offer(file, self.folder(file), self._read(file) or [], pace * file.size)

    def _take(self, file: File, folder: Path, answer: list[TableInfo] | LeafError) -> None:
        """Keep the tables of one of several files, or what it failed at; what may work another time
        is tried again when asked."""
        try:
            if isinstance(answer, LeafError):
                raise answer
            self._keep(file, folder, answer)
        except (SandboxTimeoutError, SandboxSpaceError):
            return
        except (FileError, SandboxError) as e:
            self._failures[file.workspace_id, file.sha256, file.kind] = e
        except (InvalidInputError, NotFoundError):
            return

    def is_read(self, file: File) -> bool:
        """Whether its tables are there already."""
        return self._read(file) is not None

    def read_so_far(self, file: File) -> tuple[int, int]:
        """How many bytes of a file are gone through, of how many; (0, 0) where it is not being read.
        What is gone through twice counts twice."""
        return self._read_so_far.get((file.workspace_id, file.sha256), (0, 0))

    def _read(self, file: File) -> list[TableInfo] | None:
        folder = self.folder(file)
        manifest = _manifest(folder)
        if manifest.get("version") != VERSION or manifest.get("kind") != file.kind:
            return None
        with contextlib.suppress(SandboxError):  # what does not fit is read again
            tables = checked(manifest.get("tables"), list[TableInfo])
            if all((folder / t.parquet).is_file() for t in tables):
                return tables
        return None

    def _bytes_of(self, file: File) -> Path:
        try:
            return self._store.blobs.local(file.workspace_id, file.sha256)
        except StorageError as e:
            raise about(e, file.name) from e

    def _convert(
        self, file: File, stop: threading.Event | None, on_progress: OnProgress | None
    ) -> list[TableInfo]:
        key = (file.workspace_id, file.sha256)
        self._store.space.check()

        def note(done: int, total: int) -> None:
            self._read_so_far[key] = (done, total)
            if on_progress is not None:
                on_progress(how_far(file, done, total))

        with new_folder(self.folder(file).parent) as folder:
            arguments = {"path": "in:file", "kind": file.kind, "out": "out:"}
            inputs = {"file": self._bytes_of(file)}
            began = time.monotonic()
            tables = self._pool.call(
                "leaf.readers.worker:tables",
                arguments,
                returns=list[TableInfo],
                inputs=inputs,
                limits=LIMITS,
                out=folder,
                takes=PARQUET,
                stop=stop,
                on_progress=note,
            )
            took = time.monotonic() - began
            self._keep(file, folder, tables)
        self.lasting.offer(file, self.folder(file), tables, took)
        return tables

    @contextlib.contextmanager
    def _held(
        self,
        file: File,
        lock: threading.Lock,
        stop: threading.Event | None,
        on_progress: OnProgress | None,
    ) -> Iterator[None]:
        """Wait until no other thread reads the file, and say how far that one is."""
        last_text = ""
        while not lock.acquire(timeout=0.1):
            if stop is not None and stop.is_set():
                raise RunError("Stopped.")
            far = self._read_so_far.get((file.workspace_id, file.sha256))
            if far and on_progress is not None and (text := how_far(file, *far)) != last_text:
                last_text = text
                on_progress(last_text)
        try:
            yield
        finally:
            self._read_so_far.pop((file.workspace_id, file.sha256), None)
            lock.release()

    def _keep(self, file: File, folder: Path, tables: list[TableInfo]) -> None:
        """Put a folder with the Parquet of a file at its place. Raises SandboxError where some is
        missing, StoreError."""
        for table in tables:
            there = re.fullmatch(PARQUET, table.parquet) and (folder / table.parquet).is_file()
            if not there or not 0 <= table.rows <= MOST_ROWS:
                raise SandboxError(f"Reading the tables of {file.name} left some of them out.")
        write_whole(
            folder / "manifest.json",
            json.dumps(
                {"version": VERSION, "kind": file.kind, "tables": [plain(t) for t in tables]}
            ),
        )
        if self._read(file) is not None:
            return  # another process was faster, and somebody may read its tables, which are the same
        shutil.rmtree(self.folder(file), ignore_errors=True)
        try:
            folder.rename(self.folder(file))
        except OSError as e:
            if self._read(file) is None:
                raise StoreError(
                    f"The tables of {file.name} cannot be kept: {e.strerror}.", "Free some space."
                ) from e


def how_far(file: File, done: int, total: int) -> str:
    """`Reading orders.csv, 300 MB: 40 %`; `total` counts twice what is gone through twice."""
    size = f"Reading {file.name}, {file.size / 1_000_000:,.0f} MB"
    return (
        f"{size}: {100 * done // max(1, total)} %"
        if done < total
        else f"{size}: all is read, the last checks are running"
    )


def _manifest(folder: Path) -> Json:
    """What is kept with the Parquet of a folder; nothing where that is not whole."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def plain_id(text: str) -> str:
    """`text` if it is a plain name that cannot lead out of its folder. Raises NotFoundError."""
    if not re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,200}", text):
        raise NotFoundError(f"'{text[:80]}' is not an id.")
    return text


@contextlib.contextmanager
def new_folder(parent: Path) -> Iterator[Path]:
    """A folder beside its later place; removed unless it was renamed. What killed processes left is
    removed after a day."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        leftovers.remove(parent, ".new-*")
        folder = parent / f".new-{secrets.token_hex(6)}"
        folder.mkdir()
    except OSError as e:
        raise StoreError(
            f"The data folder cannot be written: {e.strerror}.",
            "Free some space or fix its permissions.",
        ) from e
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all. Raises StoreError."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        with temporary.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as e:
        temporary.unlink(missing_ok=True)
        raise StoreError(
            f"The data folder cannot be written: {e.strerror}.",
            "Free some space or fix its permissions.",
        ) from e
