"""Many files as a tree of their folders: each is one row that opens, with what is in it counted."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import streamlit as st

from leaf.files.names import shortened
from leaf.store.model import File
from leaf.ui import markdown, words

LABEL = 70


@dataclass(frozen=True)
class FolderNode:
    path: str
    """From the top: `2024.zip/sales`."""
    name: str
    """Below the folder that it is shown in; folders with nothing else in them stand in one row:
    `sales/may`."""
    files: tuple[File, ...]
    """All below it, in the order of the page."""


Entry = FolderNode | File


def entries(files: Sequence[File], above: str = "") -> list[Entry]:
    """What stands in a folder: files, and folders of several files, each where its first file would
    stand. Pure."""
    inside: dict[str, list[File]] = {}
    for file in files:
        step, slash, _ = _below(file.name, above).partition("/")
        inside.setdefault(step + slash if slash else f"/{file.id}", []).append(file)
    return [some[0] if len(some) == 1 else _folder(some, above) for some in inside.values()]


def draw(
    files: Sequence[File],
    per_page: int,
    row: Callable[[File, str], None],
    key: str = "file-page",
    above: str = "",
) -> None:
    """The entries of a folder, some at a time. `row` draws a file under the name that is left of
    its own in that folder."""
    nodes = entries(files, above)
    pages = max(1, math.ceil(len(nodes) / per_page))
    page = min(st.session_state.get(key) or 1, pages)
    for entry in nodes[(page - 1) * per_page : page * per_page]:
        if isinstance(entry, File):
            row(entry, _below(entry.name, above))
        else:
            _draw_folder(entry, per_page, row)
    if pages > 1:
        st.pagination(pages, key=key)


def _draw_folder(folder: FolderNode, per_page: int, row: Callable[[File, str], None]) -> None:
    mark = hashlib.sha256(folder.path.encode()).hexdigest()[:12]
    size = words.size(sum(file.size for file in folder.files))
    label = f"{shortened(folder.name, LABEL)} · {words.count(len(folder.files), 'file')}, {size}"
    opened = st.expander(
        markdown.label(label, 160),
        icon=":material/folder:",
        key=f"files-in-{mark}",
        type="compact",
        on_change="rerun",
    )
    if opened.open:
        with opened:
            draw(folder.files, per_page, row, f"file-page-{mark}", folder.path)


def _below(path: str, above: str) -> str:
    return path.removeprefix(f"{above}/") if above else path


def _folder(files: Sequence[File], above: str) -> FolderNode:
    """The deepest folder that holds all of them."""
    steps = [file.folder.split("/") for file in files]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*steps, strict=False))
    path = "/".join(names[0] for names in same)
    return FolderNode(path, _below(path, above), tuple(files))
