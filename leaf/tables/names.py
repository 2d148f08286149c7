"""The SQL names of a chat's tables: readable, stable, each once."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.store.slugs import fold


def table_names(slug: str, sheets: Sequence[str], taken: set[str]) -> list[str]:
    """Names for the tables of one file, given the sheet of each, and add them to `taken`.

    One table is `q3_sales`; several sheets are `q3_sales__summary`; further tables of a sheet
    `q3_sales__summary__2`.
    """
    names = []
    for index, sheet in enumerate(sheets):
        part = slug_of(sheet) if len(set(sheets)) > 1 else ""
        base = f"{slug}__{part}" if part else slug
        before = sheets[:index].count(sheet)
        names.append(_free(f"{base}__{before + 1}" if before else base, taken))
    return names


def slug_of(text: str) -> str:
    """`Größe & Preis (2024)` -> `grosse_preis_2024`: what SQL takes without quotes after a
    letter."""
    return fold(text) or "sheet"


def _free(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate
