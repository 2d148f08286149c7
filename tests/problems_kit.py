"""A language for the tests of what errors and notes say: the templates in capitals, so that a text
shows which of its words are Leaf's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Formatter

import pytest

from docs import catalogs
from leaf.language import problems
from leaf.language.catalogs import LOCALES
from leaf.language.problems import CATALOG

ENGLISH = tuple(one for one, _ in catalogs.entries(catalogs.template(CATALOG)))


def loud(template: str) -> str:
    """With its own words in capitals."""
    made = []
    for words, name, *_ in Formatter().parse(template):
        made.append(words.upper().replace("{", "{{").replace("}", "}}"))
        made.append("" if name is None else f"{{{name}}}")
    return "".join(made)


def filled(template: str, value: str) -> str:
    """With one value everywhere; where a figure stands, a figure."""
    names = [str(name) for _, name, *_ in Formatter().parse(template) if name is not None]
    return template.format_map({n: "12" if problems.is_figure(n) else value for n in names})


@contextmanager
def loud_in_german(folder: Path) -> Iterator[None]:
    """Within it, what German pages say of problems comes from a catalog in capitals."""
    path = folder / "locales" / "de"
    path.mkdir(parents=True)
    (path / "leaf.po").write_bytes((LOCALES / "de" / "leaf.po").read_bytes())
    entries = [
        f"msgid {catalogs.quoted(one)}\nmsgstr {catalogs.quoted(loud(one))}\n" for one in ENGLISH
    ]
    (path / CATALOG).write_text("\n".join(entries), encoding="utf-8")
    problems.forget()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(problems.catalogs, "LOCALES", folder / "locales")
            yield
    finally:
        problems.forget()
