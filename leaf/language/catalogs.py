"""Catalogs of translations as gettext's tools write them: `locales/<language>/leaf.po`, read at run
time, since a checkout has no step that compiles them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from gettext import NullTranslations, c2py
from pathlib import Path

LOCALES = Path(__file__).resolve().parent / "locales"
PLURALS = {"fr": "n > 1"}
"""Which form goes with a number, as C writes it, where that is not as in English."""
_KEYWORDS = ("msgid_plural", "msgid", "msgstr")


@dataclass
class Entry:
    """One message of a catalog."""

    one: str = ""
    many: str = ""
    """Empty where the message does not depend on a number."""
    said: dict[int, str] = field(default_factory=dict)
    """Its translations by the form of the number; 0 where there is one alone."""


class Catalog(NullTranslations):
    """What a language says for a message. What it has no words for is said in English."""

    def __init__(self, entries: dict[str, Entry], plural: str = "n != 1") -> None:
        super().__init__()
        self._entries = entries
        self._form = c2py(plural)

    def gettext(self, message: str) -> str:
        entry = self._entries.get(message)
        return (entry.said.get(0) if entry else "") or message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        entry = self._entries.get(msgid1)
        wording = entry.said.get(self._form(n)) if entry and entry.many == msgid2 else ""
        return wording or (msgid1 if n == 1 else msgid2)


def read(language: str) -> NullTranslations:
    """The catalog of a language; an empty one where there is none."""
    path = LOCALES / language / "leaf.po"
    if not path.is_file():
        return NullTranslations()
    entries = {entry.one: entry for entry in parsed(path.read_text(encoding="utf-8"))}
    entries.pop("", None)
    return Catalog(entries, PLURALS.get(language, "n != 1"))


def parsed(text: str) -> Iterator[Entry]:
    """The entries of a catalog, its head among them with an empty message.

    Raises ValueError for a line that is none of a catalog.
    """
    entry, at = Entry(), ("", 0)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if not line.startswith('"'):
            keyword, _, line = line.partition(" ")
            at = _place(keyword, number)
            if at[0] == "msgid":
                if entry.said:
                    yield entry
                entry = Entry()
        _add(entry, at, str(json.loads(line)))
    if entry.said:
        yield entry


def _place(keyword: str, line: int) -> tuple[str, int]:
    name, _, form = keyword.partition("[")
    if name not in _KEYWORDS:
        raise ValueError(f"line {line}: {keyword!r} is no keyword of a catalog")
    return name, int(form.rstrip("]") or 0)


def _add(entry: Entry, at: tuple[str, int], text: str) -> None:
    name, form = at
    if name == "msgid":
        entry.one += text
    elif name == "msgid_plural":
        entry.many += text
    else:
        entry.said[form] = entry.said.get(form, "") + text
