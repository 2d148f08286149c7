"""Pictures that are seen: pictures themselves and pages of PDFs, scaled to what a model can use.

Each is made once in the sandbox and kept as a blob, so that the same bytes go out for ever and the
prompt cache holds. The recipe is part of its key: whoever changes how pictures are made gives the
recipe another number, and what was sent stays as it was.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leaf.errors import (
    FileTooLargeError,
    InvalidInputError,
    SandboxMemoryError,
    SandboxTimeoutError,
    work_on,
)
from leaf.readers.locate.where import span
from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.settings.disk import scratch
from leaf.store import Store, media
from leaf.store.media import DerivedPicture
from leaf.store.model import File, Scope

MOST_PAGES = 10
"""Pages of one call; some 24,000 tokens."""
FIRST_PAGES = 3
"""Pages that are seen where none are named."""
LARGEST = 30 * 1024 * 1024
"""Bytes of a made picture: far more than one can have."""
LONGEST_EDGE = 100_000
"""Pixels; none that is made is nearly as long."""
PAGE_FILE = r"page-\d{1,7}"
DRAW = CallLimits(seconds=60)


@dataclass(frozen=True)
class Recipe:
    """How large a picture is made."""

    name: str
    edge: int
    """Longest edge in pixels."""


PAGE = Recipe("page-1", 1_600)
PICTURE = Recipe("picture-1", 2_000)
THUMBNAIL = Recipe("thumbnail-1", 320)
FIGURE = Recipe("figure-1", 1_568)
"""What code draws: as large as a model sees it without scaling it down."""
FIGURE_PIXELS = 40_000_000
"""A larger one is refused before it is read."""


@dataclass(frozen=True)
class PictureSize:
    """Of a picture that was made, in pixels."""

    width: int
    height: int


@dataclass(frozen=True)
class PictureMade:
    """A picture that a child made of a page: the file is named by the page that was asked for."""

    page: int
    media_type: Literal["image/jpeg", "image/png"]
    width: int
    height: int


@dataclass(frozen=True)
class FilePreview:
    """What of a file was made to be seen."""

    pictures: tuple[DerivedPicture, ...]
    """In the order of their pages."""
    total: int
    """Pages of the file."""
    left_out: tuple[int, ...] = ()
    """Pages that were asked for beyond the most of one call."""


class Pictures:
    """Makes pictures and keeps them. Safe to call from any number of threads."""

    def __init__(
        self,
        store: Store,
        pool: Pool,
        bytes_of: Callable[[Scope, str], Path],
        current: Callable[[Scope, str], File],
    ) -> None:
        """`bytes_of` gives the bytes of a file by its SHA-256, `current` a file by its id as it is
        now, if it can be read."""
        self._store = store
        self._pool = pool
        self._bytes_of = bytes_of
        self._current = current

    def view(
        self, scope: Scope, file: File, pages: str = "", *, stop: threading.Event | None = None
    ) -> FilePreview:
        """Pages of a PDF or TIFF (`3`, `3-5`, `3,7`; none: the first three), or a picture, made to
        be seen by a model and kept. At most ten pages a call; the others are named.

        Raises NotFoundError if the file was deleted meanwhile, InvalidInputError for other files
        and for pages that are not there, FileError, RunError after `stop`.
        """
        file = self._current(scope, file.id)
        if file.kind not in ("pdf", "picture"):
            raise InvalidInputError(
                f"{file.name} is neither a picture nor a PDF.", "Read it with read_file."
            )
        total = int(file.outline.get("pages") or 1)
        wanted = page_numbers(pages, total)
        recipe = PAGE if file.kind == "pdf" else PICTURE
        return FilePreview(
            self._made(scope, file, wanted[:MOST_PAGES], recipe, stop),
            total,
            tuple(wanted[MOST_PAGES:]),
        )

    def thumbnail(self, scope: Scope, file_id: str) -> tuple[bytes, int, int]:
        """The first page or the picture, small, for people, with its width and height in pixels.
        Raises as `view` does."""
        file = self._current(scope, file_id)
        if file.kind not in ("pdf", "picture"):
            raise InvalidInputError(
                f"{file.name} is neither a picture nor a PDF.", "Look at its text."
            )
        picture = self._made(scope, file, [1], THUMBNAIL, None)[0]
        with self._store.blobs.open(scope.workspace_id, picture.sha256) as stream:
            return stream.read(), picture.width, picture.height

    def seen(self, scope: Scope, sha256: str) -> tuple[bytes, str]:
        """Bytes and media type of a picture that was made of a file. Raises NotFoundError, also
        for one of another workspace."""
        picture = media.of_file(self._store.db, scope, sha256)
        with self._store.blobs.open(scope.workspace_id, picture.sha256) as stream:
            return stream.read(), picture.media_type

    def figure(self, scope: Scope, chat_id: str, sha256: str) -> bytes:
        """A figure that code drew in this chat, which the caller is known to see, as PNG. Raises
        NotFoundError, also for one of another chat."""
        picture = media.of_chat(self._store.db, scope, chat_id, sha256)
        with self._store.blobs.open(scope.workspace_id, picture.sha256) as stream:
            return stream.read()

    def page(self, scope: Scope, file: File, page: int) -> bytes:
        """A page of a PDF drawn as JPEG, not kept. Raises NotFoundError, FileError,
        InvalidInputError for other files."""
        current = self._current(scope, file.id)
        if current.kind != "pdf":
            raise InvalidInputError(
                f"{current.name} has no pages that can be drawn.", "Read its text."
            )
        with scratch("page") as folder:
            arguments = {
                "path": "in:file",
                "kind": "pdf",
                "pages": [page],
                "out": "out:",
                "max_edge": PAGE.edge,
            }
            inputs = {"file": self._bytes_of(scope, current.sha256)}
            with work_on(current.name):
                self._pool.call(
                    "leaf.files.child:pictures",
                    arguments,
                    returns=list[PictureMade],
                    inputs=inputs,
                    limits=DRAW,
                    out=folder,
                    takes=PAGE_FILE,
                )
            return _written(folder / _file_of(page)).read_bytes()

    def marked_page(self, scope: Scope, file: File, page: int, quote: str) -> tuple[bytes, int]:
        """A page of a PDF as JPEG with the quoted words marked, and the number of marks: one a
        line, 0 where they are not drawn.

        Raises NotFoundError, FileError, InvalidInputError.
        """
        current = self._current(scope, file.id)
        with scratch("page") as folder:
            with work_on(current.name):
                marks = self._pool.call(
                    "leaf.files.child:marked_picture",
                    {"path": "in:file", "page": page, "quote": quote, "out": "out:"},
                    returns=int,
                    inputs={"file": self._bytes_of(scope, current.sha256)},
                    limits=DRAW,
                    out=folder,
                    takes=r"page\.jpg",
                )
            return _written(folder / "page.jpg").read_bytes(), max(0, marks)

    def keep_figure(
        self, scope: Scope, chat_id: str, png: Path, stop: threading.Event | None = None
    ) -> DerivedPicture:
        """Keep a PNG that untrusted code drew in a chat; it is read and drawn anew in a confined
        child.

        Raises UnreadableFileError, SandboxError and its kinds, RunError after `stop`.
        """
        with scratch("figure") as folder:
            arguments = {
                "path": "in:figure.png",
                "out": "out:",
                "edge": FIGURE.edge,
                "pixels": FIGURE_PIXELS,
            }
            inputs = {"figure.png": png}
            size = self._pool.call(
                "leaf.files.child:redraw",
                arguments,
                returns=PictureSize,
                inputs=inputs,
                limits=DRAW,
                out=folder,
                takes=r"figure\.png",
                stop=stop,
            )
            self._store.space.check()
            with _written(folder / "figure.png").open("rb") as stream:
                blob = self._store.blobs.put(scope.workspace_id, stream, LARGEST, lasting=False)
        # Made from no file, so that no file's deletion takes it away, not even that of a file with
        # the same bytes.
        picture = DerivedPicture(
            media.figure_source(chat_id, blob.sha256),
            1,
            FIGURE.name,
            blob.sha256,
            "image/png",
            *_edges(size.width, size.height),
        )
        return media.keep(self._store.db, scope, picture)

    def _made(
        self,
        scope: Scope,
        file: File,
        pages: Sequence[int],
        recipe: Recipe,
        stop: threading.Event | None,
    ) -> tuple[DerivedPicture, ...]:
        known = media.find(self._store.db, scope, file.sha256, recipe.name, pages)
        there = {
            page: d
            for page, d in known.items()
            if self._store.blobs.exists(scope.workspace_id, d.sha256)
        }
        missing = [page for page in pages if page not in there]
        if missing:
            lost = {page: known[page].sha256 for page in missing if page in known}
            there |= self._make(scope, file, missing, recipe, stop, lost)
        return tuple(there[page] for page in pages)

    def _make(
        self,
        scope: Scope,
        file: File,
        pages: Sequence[int],
        recipe: Recipe,
        stop: threading.Event | None,
        lost: Mapping[int, str],
    ) -> dict[int, DerivedPicture]:
        """Draw the pages in one child and keep each; `lost`: what is named by rows whose bytes are
        gone."""
        arguments = {
            "path": "in:file",
            "kind": file.kind,
            "pages": list(pages),
            "out": "out:",
            "max_edge": recipe.edge,
        }
        with scratch("pictures") as folder:
            try:
                with work_on(file.name):
                    drawn = self._pool.call(
                        "leaf.files.child:pictures",
                        arguments,
                        returns=list[PictureMade],
                        inputs={"file": self._bytes_of(scope, file.sha256)},
                        limits=DRAW,
                        out=folder,
                        takes=PAGE_FILE,
                        stop=stop,
                    )
            except (SandboxMemoryError, SandboxTimeoutError) as e:
                raise FileTooLargeError(
                    f"{file.name} is too large to be drawn here.",
                    "Save a smaller copy of it, and add that.",
                ) from e
            if [one.page for one in drawn] != list(pages):
                raise unreadable()
            pictures = {}
            for one in drawn:
                with _written(folder / _file_of(one.page)).open("rb") as stream:
                    blob = self._store.blobs.put(scope.workspace_id, stream, LARGEST, lasting=False)
                derived = DerivedPicture(
                    file.sha256,
                    one.page,
                    recipe.name,
                    blob.sha256,
                    one.media_type,
                    *_edges(one.width, one.height),
                )
                pictures[derived.page] = media.keep(
                    self._store.db, scope, derived, lost.get(one.page, "")
                )
            return pictures


def _file_of(page: int) -> str:
    """What the picture of a page is called."""
    return f"page-{page}"


def _written(path: Path) -> Path:
    """A file that a child had to write. Raises SandboxError where it did not."""
    if not path.is_file():
        raise unreadable()
    return path


def _edges(width: int, height: int) -> tuple[int, int]:
    """What a child says of a picture's size, if a picture can have it."""
    if not 0 < min(width, height) <= max(width, height) <= LONGEST_EDGE:
        raise unreadable()
    return width, height


def page_numbers(text: str, total: int) -> list[int]:
    """`3`, `3-5`, `pages 3, 7-9` or `7-` as numbers in order; the first three where nothing is
    named.

    Raises InvalidInputError for what is none, or is outside the file.
    """
    words = re.sub(r"^\s*pages?\b", "", text, flags=re.I).strip()
    if not words:
        return list(range(1, min(total, FIRST_PAGES) + 1))
    pages: set[int] = set()
    for piece in filter(None, re.split(r"[,;]\s*|\s+and\s+", words)):
        match = re.fullmatch(r"\s*(\d{1,7})\s*(?:(-|–|to)\s*(\d{1,7})?)?\s*", piece)
        if match is None:
            raise InvalidInputError(f"'{text}' does not name pages.", "Use '3', '3-5' or '3, 7-9'.")
        first = int(match[1])
        last = int(match[3]) if match[3] else total if match[2] else first
        if first > last:
            raise InvalidInputError(f"'{text}' goes backwards.", "Use '3-5'.")
        if not 1 <= first <= total:
            raise InvalidInputError(
                f"Page {first:,} is outside this file.", f"It has {span('page', 1, total)}."
            )
        pages.update(range(first, min(last, total) + 1))
    return sorted(pages)
