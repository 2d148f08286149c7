"""What a document can be downloaded as. The work is done by `child`, in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format for download."""

    ending: str
    label: str
    """For people: `Word (DOCX)`."""
    media_type: str


FORMATS: dict[str, tuple[Format, ...]] = {
    "text": (
        Format(
            "docx",
            "Word (DOCX)",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        Format("pdf", "PDF", "application/pdf"),
    ),
    "sheet": (
        Format(
            "xlsx",
            "Excel (XLSX)",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
    ),
    "code": (),
}
"""Kind of document -> formats besides its own."""
