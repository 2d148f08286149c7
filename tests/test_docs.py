"""The pages say what the code does."""

from __future__ import annotations

import ast
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


def _defined_in(path: Path) -> set[str]:
    """Functions, classes, methods as `Class.method`, and constants of a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (
                m for m in node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)
            )
            found |= {f"{node.name}.{method.name}" for method in methods}
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def test_what_the_map_names_in_a_module_is_defined_there() -> None:
    page = (ROOT / "docs" / "extend.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)` ((?:`[\w.]+`(?:, | → )?)+)", page)
    assert len(named) > 20
    for path, names in named:
        missing = set(re.findall(r"`([\w.]+)`", names)) - _defined_in(ROOT / "leaf" / path)
        assert {name for name in missing if not name.endswith(".py")} == set(), path


def _said_by(script: Path) -> set[str]:
    """What a script of the page can say: each of its texts, `…` for what is put into one."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(re.sub(r"\{\w+\}", "…", node.value))  # a message with its values
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "…" for p in node.values)
            found.add("".join(str(part) for part in parts))
    return found


def _said_on_the_page() -> set[str]:
    face = [*(ROOT / "leaf" / "ui").rglob("*.py"), *(ROOT / "leaf" / "pages").glob("*.py")]
    scripts = (ROOT / "leaf" / "ui" / "assets").glob("*.js")
    said = {text for script in scripts for text in re.findall(r'"([^"\n]+)"', script.read_text())}
    return said.union(*map(_said_by, face))


def _stands_there(name: str, said: set[str]) -> bool:
    """Whether a text is one of those, or two of them, one put into the other."""
    inside = (
        re.fullmatch(re.escape(text).replace("…", "(.+)"), name)
        for text in said
        if text.count("…") == 1 and re.search(r"[A-Za-z]{4}", text)
    )
    return name in said or any(found and found[1] in said for found in inside)


def test_what_is_bold_in_the_guide_stands_on_the_page_in_the_same_words() -> None:
    page = (ROOT / "docs" / "use.md").read_text(encoding="utf-8")
    guide, _, _ = page.partition("## Formats")
    leads = r"\*\*[^*]+\.\*\* "  # "**Long pastes.** A pasted table …"
    named = set(re.findall(r"\*\*(.+?)\*\*", re.sub(leads, "", guide)))
    said = _said_on_the_page()
    assert {name for name in named if not _stands_there(name, said)} == set()
    assert len(named) > 60


def test_every_picture_is_shown_and_all_of_them_stay_small() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in [*ROOT.glob("*.md"), *PAGES])
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert [p.name for p in pictures if f"pictures/{p.name}" not in shown] == []
    assert len(pictures) >= 12
    assert sum(p.stat().st_size for p in pictures) <= 1_500_000
