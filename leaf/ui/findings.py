"""What was found in a table when it was read, as lines under it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.language import places, problems
from leaf.language.text import t
from leaf.readers.notes import EFFECTS, Effect
from leaf.shapes.results import Finding
from leaf.ui import markdown

SHOWN = 12
_WARNING = frozenset(
    {
        *("duplicate-keys", "no-cached-values", "error-cells", "dates-ambiguous"),
        *(kind for kind, e in EFFECTS.items() if e in (Effect.DOUBT, Effect.CONTRADICTION)),
    }
)
"""Findings after which figures may be wrong."""


def draw_findings(findings: Sequence[Finding]) -> None:
    """What was guessed, mended, doubled or left out in a table, each with its cells; what may make
    figures wrong comes first."""
    for finding in sorted(findings, key=lambda f: f["kind"] not in _WARNING)[:SHOWN]:
        icon = ":material/warning:" if finding["kind"] in _WARNING else ":material/info:"
        place = finding.get("cells") or finding.get("place") or ""
        where = f" ({markdown.label(places.place(place), 120)})" if place else ""
        st.caption(f"{icon} {markdown.label(problems.said(finding['text']), 300)}{where}")
    if len(findings) > SHOWN:
        st.caption(t("and {n} more", n=len(findings) - SHOWN))
