"""Errors say what, which and what next."""

from __future__ import annotations

import pytest

from leaf.errors import not_found


@pytest.mark.parametrize(
    ("name", "candidates", "hint"),
    [
        ("reveneu", ["region", "revenue"], "Did you mean 'revenue'?"),
        ("REVENUE", ["region", "revenue"], "Did you mean 'revenue'?"),
        ("zzz", ["region", "revenue"], "There is 'region', 'revenue'."),
        ("zzz", [], "There is none."),
        ("zzz", [f"c{i}" for i in range(14)], "and 2 more."),
    ],
)
def test_not_found_names_what_is_near(name: str, candidates: list[str], hint: str) -> None:
    error = not_found("column", name, candidates, "sales.csv")
    assert error.message == f"No column '{name}' in sales.csv."
    assert hint in error.hint
    assert str(error) == f"{error.message} {error.hint}"
