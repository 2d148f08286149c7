"""The one line by which a model learns of an attached folder."""

from __future__ import annotations

from leaf.drive.model import DriveFolder

NAME_LENGTH = 60


def folder_line(folder: DriveFolder) -> str:
    """`[Attached: Drive folder Reports 2026 id=1AbC, 214 files; call list_drive_folder]`."""
    name = " ".join(folder.name.replace("[", "(").replace("]", ")").split())
    shown = name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1].rstrip() + "…"
    count = (
        f"{'over ' if folder.incomplete else ''}{folder.files:,} "
        f"file{'' if folder.files == 1 else 's'}"
    )
    return f"[Attached: Drive folder {shown} id={folder.ref}, {count}; call list_drive_folder]"
