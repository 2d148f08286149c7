"""What the app asks of a file, as functions for the confined child: plain JSON in, plain JSON
out."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO, cast

from leaf.errors import InvalidInputError, UnreadableFileError, not_found
from leaf.readers.amount import weigh_file
from leaf.readers.base import (
    FEW_WORDS,
    GARBLED,
    KINDS,
    SEEN,
    TEXTLESS,
    VERSION,
    Note,
    Outline,
    Passage,
    Reader,
    TableReader,
    Where,
    ending,
)
from leaf.readers.binary import without_binary
from leaf.readers.detect import detect
from leaf.readers.packed import inner_name, unpacked
from leaf.readers.pieces import end_of_piece, goes_on
from leaf.readers.tokens import Rates
from leaf.readers.unread import unsupported
from leaf.readers.window import read_window

Json = dict[str, Any]

MAX_INDEXED = 20_000_000
"""Characters of one file that go to the search index."""
GROUP = 600
"""Characters up to which neighbouring lines or cues make one passage of the index."""
LONGEST = 8_000
"""Characters of one passage of the index; longer ones are split."""


def warm_up() -> None:
    """Import every reader, and take a small table the whole way: in a process that waits, so that
    no call does it again."""
    for kind in KINDS:
        reader_of(kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warm.csv"
        path.write_text(
            "month,region,sales\n2024-01,North,10.5\n2024-02,South,20.25\nTotal,,30.75\n"
        )
        kind = inspect(str(path), path.name)["kind"]
        tables(str(path), kind, folder)
        extract(str(path), kind, folder)


def inspect(path: str, name: str) -> Json:
    """Kind, media type and outline of a file that was just added. Raises FileError."""
    with unpacked(Path(path)) as plain:
        packed = plain != Path(path)
        details = _inspect(plain, inner_name(name) if packed else name)
    if packed and details["kind"] in ("audio", "video"):
        raise unsupported(name, "a compressed recording")
    return details


def _inspect(path: Path, name: str) -> Json:
    kind, media_type = detect(path, name)
    reader = reader_of(kind)
    try:
        outline = reader.outline(path)
        if kind == "text" and ending(name) in KINDS["json"].endings:
            outline = _no_json(outline, f"{name} holds no object or list of JSON.")
    except UnreadableFileError as e:
        if kind != "json":
            raise
        # What only looks like JSON is still a text that a person can read and search.
        kind, media_type, reader = "text", "text/plain", reader_of("text")
        outline = _no_json(reader.outline(path), e.message)
    told = replace(outline, kind=kind, media_type=media_type, version=VERSION)
    if _is_read(told):
        weight = weigh_file(reader, path, outline)
        told = replace(
            told, tokens=Rates().tokens(weight), weight=(round(weight.latin), round(weight.other))
        )
    return {"kind": kind, "media_type": media_type, "outline": asdict(told)}


def _no_json(outline: Outline, why: str) -> Outline:
    return replace(outline, notes=(*outline.notes, Note("not-json", f"{why} It is read as text.")))


def _is_read(outline: Outline) -> bool:
    """Whether its content is its text: pictures and scanned pages are seen, sound is heard, and
    their readers estimate that."""
    heard = outline.duration is not None and outline.kind != "captions"
    return (
        outline.width is None and not heard and all(note.kind not in SEEN for note in outline.notes)
    )


def read(
    path: str,
    kind: str,
    where: str = "",
    max_tokens: int = 8000,
    cursor: str = "",
    line_numbers: bool = False,
) -> Json:
    """One window of a file. Raises FileError, InvalidInputError."""
    with unpacked(Path(path)) as plain:
        return asdict(
            read_window(reader_of(kind), plain, kind, where, max_tokens, cursor, line_numbers)
        )


def extract(path: str, kind: str, out: str) -> Json:
    """Write the passages for the search index as one JSON object a line. Raises FileError."""
    with (
        unpacked(Path(path)) as plain,
        (Path(out) / "passages.jsonl").open("w", encoding="utf-8") as file,
    ):
        passages = iter(()) if kind == "picture" else reader_of(kind).passages(plain, Where())
        pages = _Pages()
        count, whole = _write(_split(_grouped(pages.worded(without_binary(passages)))), file)
    text = f"Only the first {MAX_INDEXED // 1_000_000} MB of its text can be searched."
    cut = () if whole else (Note("index-cut", text, count),)
    return {"count": count, "notes": [asdict(note) for note in (*cut, *pages.notes())]}


class _Pages:
    """Pages that can be looked at and not searched, counted while the others pass."""

    def __init__(self) -> None:
        self._unread = 0

    def worded(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """The words of the file alone, without what says that there are none."""
        for passage in passages:
            mark = next((m for m in (FEW_WORDS, GARBLED) if passage.text.startswith(m)), "")
            self._unread += passage.text in TEXTLESS or bool(mark)
            if passage.text not in TEXTLESS:
                yield replace(passage, text=passage.text.removeprefix(mark)) if mark else passage

    def notes(self) -> tuple[Note, ...]:
        if not self._unread:
            return ()
        text = f"What {self._unread:,} of its pages show was not searched: they are scanned or damaged."
        if self._unread == 1:
            text = "What one of its pages shows was not searched: it is scanned or damaged."
        return (Note("no-text-layer", text, self._unread),)


def tables(path: str, kind: str, out: str) -> list[Json]:
    """Write every table of a file as Parquet. Raises FileError, InvalidInputError."""
    if kind in KINDS and not hasattr(reader_of(kind), "tables"):
        raise InvalidInputError(
            f"A file of this kind ({KINDS[kind].label}) holds no tables that can be queried.",
            "Read it instead.",
        )
    reader = cast(TableReader, reader_of(kind))
    with unpacked(Path(path)) as plain:
        return [asdict(table) for table in reader.tables(plain, Path(out))]


def draw_page(path: str, page: int, out: str, max_edge: int = 1600) -> Json:
    """Write a page of a PDF as a picture for the preview. Raises FileError, InvalidInputError."""
    from leaf.readers.documents.pdf import render_page

    name = f"page-{page}.jpg"
    with unpacked(Path(path)) as plain:
        (Path(out) / name).write_bytes(render_page(plain, page, max_edge))
    return {"file": name, "media_type": "image/jpeg"}


def reader_of(kind: str) -> Reader:
    if kind not in KINDS:
        raise not_found("kind of file", kind, KINDS)
    module, _, name = KINDS[kind].reader.partition(":")
    return cast(Reader, getattr(importlib.import_module(module), name)())


def _grouped(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Neighbouring lines and cues drawn together: one alone is too little to rank a match by."""
    group: list[Passage] = []
    length = 0
    for passage in passages:
        alone = passage.unit not in ("line", "cue")
        if group and (
            alone
            or length + len(passage.text) > (2 * GROUP if goes_on(group[-1].text) else GROUP)
            or (passage.unit == "line" and not passage.text.strip())
        ):
            yield _joined(group)
            group, length = [], 0
        if alone:
            yield passage
        elif passage.text.strip():
            group.append(passage)
            length += len(passage.text) + 1
    if group:
        yield _joined(group)


def _joined(group: list[Passage]) -> Passage:
    return replace(group[0], text="\n".join(passage.text for passage in group), end=group[-1].end)


def _split(passages: Iterable[Passage]) -> Iterator[Passage]:
    for passage in passages:
        begin = 0
        while passage.text.strip() and begin < len(passage.text):
            end = end_of_piece(passage.text, begin, LONGEST)
            yield replace(passage, text=passage.text[begin:end])
            begin = end


def _write(passages: Iterable[Passage], file: TextIO) -> tuple[int, bool]:
    """Number of passages written, and whether that was all of them."""
    count = length = 0
    for passage in passages:
        length += len(passage.text)
        if length > MAX_INDEXED:
            return count, False
        file.write(json.dumps(asdict(passage), ensure_ascii=False) + "\n")
        count += 1
    return count, True
