"""The package under Word and PowerPoint files: parts in a zip, relations between them, XML parsed
without entities or network.

Names are compared without their namespace, since the strict and the transitional form of the
standard differ in nothing else.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.detect_zip import check_zip
from leaf.readers.packed import BROKEN_ZIP

MAX_PART = 200_000_000
"""Bytes of one XML part, unpacked; a document of 10,000 pages has some 100 MB."""
MAX_TAGS = 4_000_000
"""Tags of one XML part; the tree of so many takes half a gigabyte. A document of 10,000 pages has
two million."""


@dataclass(frozen=True)
class Relation:
    """From a part to another."""

    kind: str
    """Last word of its type: `slide`, `notesSlide`, `chart` …"""
    target: str
    """Part name, from the root of the package."""


class Package:
    """An opened package."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._names = {
            name.replace("\\", "/").lstrip("/").lower(): name for name in archive.namelist()
        }

    def xml(self, part: str) -> Any | None:
        """The root element of a part; None if the package has no such part. Raises
        UnreadableFileError for a damaged one."""
        from lxml import etree

        data = self.data(part)
        if data is None:
            return None
        if data.count(b"<") > MAX_TAGS:
            raise _too_large(f"holds over {MAX_TAGS // 1_000_000} million tags")
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_pis=True,
        )
        try:
            return etree.fromstring(data, parser)
        except etree.LxmlError as e:
            raise _damaged(part) from e

    def data(self, part: str) -> bytes | None:
        """The bytes of a part; as `xml`."""
        name = self._names.get(part.lower())
        if name is None:
            return None
        try:
            if self._archive.getinfo(name).file_size > MAX_PART:
                raise _too_large(f"is over {MAX_PART // 1_000_000} MB")
            return self._archive.read(name)
        except BROKEN_ZIP as e:
            raise _damaged(part) from e

    def main(self, default: str) -> str:
        """Name of the part with which reading begins."""
        targets = [
            relation.target
            for relation in self.relations("").values()
            if relation.kind == "officeDocument"
        ]
        return targets[0] if targets and targets[0].lower() in self._names else default

    def relations(self, part: str) -> dict[str, Relation]:
        """The relations of a part by their id, in the order of the file; those that lead out of the
        package are left out."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", name + ".rels"))
        by_id = {}
        for item in root if root is not None else ():
            if (
                isinstance(item.tag, str)
                and item.get("TargetMode") != "External"
                and item.get("Target")
            ):
                target = unquote(item.get("Target"))
                whole = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
                by_id[item.get("Id", "")] = Relation(item.get("Type", "").rpartition("/")[2], whole)
        return by_id


def _too_large(why: str) -> FileTooLargeError:
    return FileTooLargeError(f"A part of this document {why}.", "Split it, and add the pieces.")


def _damaged(part: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"This document is damaged in its part {part}.", "Save it again from its application."
    )


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """The package, its sizes checked first. Raises UnreadableFileError, FileTooLargeError."""
    check_zip(path)
    with ZipFile(path) as archive:
        yield Package(archive)


def local(element: Any) -> str:
    """An element's name without its namespace; empty for comments."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """An attribute by its name without namespace."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return ""


def child(element: Any, *names: str) -> Any | None:
    """The first element along a path of names."""
    for name in names:
        element = next((item for item in element if local(item) == name), None)
        if element is None:
            return None
    return element


def chosen(alternatives: Any) -> list[Any]:
    """The children of the first choice of an `mc:AlternateContent`; its fallback says the same
    again in older terms."""
    for name in ("Choice", "Fallback"):
        option = child(alternatives, name)
        if option is not None:
            return list(option)
    return []
