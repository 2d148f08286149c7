"""The pages say what the code does."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_tables_in_the_docs_are_those_of_the_code(page: Path) -> None:
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    assert tables["filled"](page.read_text()) == page.read_text(), "run: make docs"


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *PAGES], ids=lambda p: p.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
