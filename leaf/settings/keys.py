"""Which key sets a field, and how its text is read: written once, beside the field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_args, get_type_hints

from leaf.settings.readers import text


@dataclass(frozen=True)
class Key:
    """A field's environment variable, which is its key in Streamlit's secrets, too."""

    name: str
    read: Callable[[str, str], Any] = text
    """`(text, key)` to the field's value; raises SettingsError."""
    also: tuple[str, ...] = ()
    """Other keys that give it along with more; what reads them stands in `sources.py`."""


def keyed(kind: type[Any]) -> Iterator[tuple[str, Any, Key | None]]:
    """Each field of a dataclass: its name, its type, and its key; no key where the field is a
    dataclass of further ones."""
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        plain, *extras = (
            get_args(hints[each.name])
            if hasattr(hints[each.name], "__metadata__")
            else (hints[each.name],)
        )
        yield each.name, plain, next((extra for extra in extras if isinstance(extra, Key)), None)


def keys(kind: type[Any], inside: str = "") -> Iterator[tuple[str, Key]]:
    """The path (`limits.turns`) and key of each field, with those of the dataclasses in it."""
    for name, plain, key in keyed(kind):
        if key is not None:
            yield inside + name, key
        elif isinstance(plain, type) and is_dataclass(plain):
            yield from keys(plain, f"{inside}{name}.")
