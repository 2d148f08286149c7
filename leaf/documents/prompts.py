"""What a model is told when it writes a document. The words are in `prompts/*.md`; nothing of a
file stands in them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

TYPES = ("general", "meeting-summary", "report", "action-items")
FOLDER = Path(__file__).parent / "prompts"


@cache
def read(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def system_prompt(kind: str, document_type: str) -> str:
    """For writing a document of this kind and type."""
    shape = read(document_type) if kind == "text" else read(kind)
    return f"{read('common')}\n\n{shape}"


def notes_prompt(document_type: str) -> str:
    """For reading one part of sources that are too long to be read at once."""
    return (
        f"{read('common')}\n\n{read('notes')}\n\nThe document will be written by these "
        f"rules:\n\n{read(document_type)}"
    )
