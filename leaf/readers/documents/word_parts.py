"""What a Word document shows in its text and keeps in parts of their own: charts, diagrams, and pieces
in another format, as programs write that leave the rest to Word. All is written into the tree, where
it is shown, as paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from leaf.errors import FileError
from leaf.readers.documents.drawings import UNREAD, drawn, relation_id
from leaf.readers.documents.html import paragraphs_of
from leaf.readers.documents.ooxml import Package, local
from leaf.readers.documents.webarchive import page_in
from leaf.readers.encoding import decode

UNREAD_CHUNK = "(A piece in another format stands here that cannot be read.)"
_PAGE = re.compile(r"<(?:!doctype|html|head|body|p|div|table|h[1-6]|br|span)\b", re.I)


def write_parts(package: Package, name: str, root: Any) -> None:
    """Into the tree of a part that is called so."""
    drawings = [e for e in root.iter() if local(e) == "graphicData" and _is_drawn(e)]
    chunks = [e for e in root.iter() if local(e) == "altChunk"]
    if not drawings and not chunks:
        return
    relations = package.relations(name)
    for data in drawings:
        try:
            lines = [line for item in data for line in drawn(package, relations, item)]
        except FileError:
            lines = [UNREAD]
        data.append(_holding("txbxContent", lines))
    for chunk in chunks:
        relation = relations.get(relation_id(chunk))
        lines = list(_chunk(package, relation.target)) if relation else [UNREAD_CHUNK]
        chunk.append(_holding("sdtContent", lines))


def _is_drawn(data: Any) -> bool:
    return any(local(item) in ("chart", "relIds") for item in data)


def _holding(name: str, lines: Iterable[str]) -> Any:
    """An element with a paragraph for each line."""
    from lxml import etree

    holder = etree.Element(name)
    for line in lines:
        run = etree.SubElement(etree.SubElement(holder, "p"), "r")
        etree.SubElement(run, "t").text = _writable(line)
    return holder


def _writable(text: str) -> str:
    """Without characters that no XML may hold."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "", text)


def _chunk(package: Package, part: str) -> Iterator[str]:
    try:
        data = package.data(part)
        if data is None or data.startswith((b"PK", b"{\\rtf", b"\xd0\xcf")):
            yield UNREAD_CHUNK
            return
        text = page_in(data) or decode(data)[0]
        if _PAGE.search(text):
            yield from paragraphs_of(text, whole=True)[1]
        else:
            yield from text.splitlines()
    except FileError:
        yield UNREAD_CHUNK
