"""Pictures that are seen: pictures themselves and pages of PDFs, scaled to what a model can use.

Each is made once in the sandbox and kept as a blob, so that the same bytes go out for ever and the prompt cache holds. The recipe
is part of its key: whoever changes how pictures are made gives the recipe another number, and what was sent stays as it was.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaf.errors import FileTooLargeError, InvalidInputError, SandboxMemoryError, SandboxTimeoutError
from leaf.formats.where import span
from leaf.sandbox.pool import Limits, Pool
from leaf.store import Store, files, made_files, media
from leaf.store.media import Derived
from leaf.store.model import File, Scope

MOST_PAGES = 10
"""Pages of one call; some 24,000 tokens."""
FIRST_PAGES = 3
"""Pages that are seen where none are named."""
LARGEST = 30 * 1024 * 1024
"""Bytes of a made picture: far more than one can have."""
DRAW = Limits(seconds=60)


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
class View:
    """What of a file was made to be seen."""

    pictures: tuple[Derived, ...]
    """In the order of their pages."""
    total: int
    """Pages of the file."""
    left_out: tuple[int, ...] = ()
    """Pages that were asked for beyond the most of one call."""


class Pictures:
    """Makes pictures and keeps them. Safe to call from any number of threads."""

    def __init__(self, store: Store, pool: Pool, bytes_of: Callable[[Scope, str], Path]) -> None:
        """`bytes_of` gives the bytes of a file by its SHA-256."""
        self._store = store
        self._pool = pool
        self._bytes_of = bytes_of

    def view(self, scope: Scope, file: File, pages: str = "", stop: threading.Event | None = None) -> View:
        """Pages of a PDF or TIFF (`3`, `3-5`, `3,7`; none: the first three), or a picture.

        Raises InvalidInputError for other files and for pages that are not there, FileError, RunError after `stop`.
        """
        if file.kind not in ("pdf", "picture"):
            raise InvalidInputError(f"{file.name} is neither a picture nor a PDF.", "Read it with read_file.")
        total = int(file.outline.get("pages") or 1)
        wanted = page_numbers(pages, total)
        recipe = PAGE if file.kind == "pdf" else PICTURE
        return View(self._made(scope, file, wanted[:MOST_PAGES], recipe, stop), total, tuple(wanted[MOST_PAGES:]))

    def thumbnail(self, scope: Scope, file: File) -> tuple[bytes, int, int]:
        """The first page or the picture, small, for people, with its width and height. Raises as `view` does."""
        if file.kind not in ("pdf", "picture"):
            raise InvalidInputError(f"{file.name} is neither a picture nor a PDF.", "Look at its text.")
        made = self._made(scope, file, [1], THUMBNAIL, None)[0]
        return self._store.blobs.path(scope.workspace_id, made.sha256).read_bytes(), made.width, made.height

    def data(self, scope: Scope, sha256: str) -> tuple[bytes, str]:
        """Bytes and media type of a picture that was made. Raises NotFoundError, also for one of another workspace."""
        made = media.by_picture(self._store.db, scope, sha256)
        with self._store.blobs.open(scope.workspace_id, made.sha256) as stream:
            return stream.read(), made.media_type

    def keep_figure(self, scope: Scope, png: Path, stop: threading.Event | None = None) -> Derived:
        """Keep a PNG that untrusted code drew; it is read and drawn anew in a confined child.

        Raises UnreadableFileError, SandboxError and its kinds, RunError after `stop`.
        """
        with tempfile.TemporaryDirectory(prefix="leaf-figure-") as folder:
            arguments = {"path": "in:figure.png", "out": "out:", "edge": FIGURE.edge, "pixels": FIGURE_PIXELS}
            inputs = {"figure.png": png}
            size = self._pool.call("leaf.files.child:redraw", arguments, inputs=inputs, limits=DRAW, out=Path(folder), stop=stop)
            with (Path(folder) / "figure.png").open("rb") as stream:
                kept = self._store.blobs.put(scope.workspace_id, stream, LARGEST)
        # Made from no file, so that no file's deletion takes it away, not even that of a file with the same bytes.
        made = Derived(f"figure:{kept.sha256}", 1, FIGURE.name, kept.sha256, "image/png", int(size["width"]), int(size["height"]))
        return media.keep(self._store.db, scope, made)

    def forget(self, scope: Scope, source_sha256: str) -> None:
        """Delete what was made from a file, but for bytes that are a file of their own as well."""
        for sha256 in media.forget(self._store.db, scope, source_sha256):
            if not files.with_bytes(self._store.db, scope, sha256) and not made_files.has(self._store.db, scope, sha256):
                self._store.blobs.delete(scope.workspace_id, sha256)

    def _made(
        self, scope: Scope, file: File, pages: Sequence[int], recipe: Recipe, stop: threading.Event | None
    ) -> tuple[Derived, ...]:
        known = media.find(self._store.db, scope, file.sha256, recipe.name, pages)
        there = {page: d for page, d in known.items() if self._store.blobs.exists(scope.workspace_id, d.sha256)}
        missing = [page for page in pages if page not in there]
        if missing:
            there |= self._make(scope, file, missing, recipe, stop)
        return tuple(there[page] for page in pages)

    def _make(
        self, scope: Scope, file: File, pages: Sequence[int], recipe: Recipe, stop: threading.Event | None
    ) -> dict[int, Derived]:
        """Draw the pages in one child and keep each."""
        arguments = {"path": "in:file", "kind": file.kind, "pages": list(pages), "out": "out:", "max_edge": recipe.edge}
        with tempfile.TemporaryDirectory(prefix="leaf-pictures-") as folder:
            try:
                drawn = self._pool.call(
                    "leaf.files.child:pictures",
                    arguments,
                    inputs={"file": self._bytes_of(scope, file.sha256)},
                    limits=DRAW,
                    out=Path(folder),
                    stop=stop,
                )
            except (SandboxMemoryError, SandboxTimeoutError) as e:
                raise FileTooLargeError(
                    f"{file.name} is too large to be drawn here.", "Save a smaller copy of it, and add that."
                ) from e
            made = {}
            for one in drawn:
                with (Path(folder) / one["file"]).open("rb") as stream:
                    kept = self._store.blobs.put(scope.workspace_id, stream, LARGEST)
                sizes = (int(one["width"]), int(one["height"]))
                derived = Derived(file.sha256, int(one["page"]), recipe.name, kept.sha256, str(one["media_type"]), *sizes)
                made[derived.page] = media.keep(self._store.db, scope, derived)
            return made


def page_numbers(text: str, total: int) -> list[int]:
    """`3`, `3-5`, `pages 3, 7-9` or `7-` as numbers in order; the first three where nothing is named.

    Raises InvalidInputError for what is none, or is outside the file.
    """
    words = re.sub(r"^\s*pages?\b", "", text, flags=re.I).strip()
    if not words:
        return list(range(1, min(total, FIRST_PAGES) + 1))
    found: set[int] = set()
    for piece in filter(None, re.split(r"[,;]\s*|\s+and\s+", words)):
        match = re.fullmatch(r"\s*(\d{1,7})\s*(?:(-|–|to)\s*(\d{1,7})?)?\s*", piece)
        if match is None:
            raise InvalidInputError(f"'{text}' does not name pages.", "Use '3', '3-5' or '3, 7-9'.")
        first = int(match[1])
        last = int(match[3]) if match[3] else total if match[2] else first
        if first > last:
            raise InvalidInputError(f"'{text}' goes backwards.", "Use '3-5'.")
        if not 1 <= first <= total:
            raise InvalidInputError(f"Page {first:,} is outside this file.", f"It has {span('page', 1, total)}.")
        found.update(range(first, min(last, total) + 1))
    return sorted(found)
