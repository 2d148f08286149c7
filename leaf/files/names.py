"""What files are called: a name, after the folders that it came from, as `2024/sales.csv` or
`2024.zip/sales/may.csv`."""

from __future__ import annotations

import re
import unicodedata

NAME_LENGTH = 200
PATH_LENGTH = 300
"""Characters of a name with its folders; of longer ones the middle folders are left out."""
JOINERS = "\u200c\u200d"
"""Format characters that names in some scripts need."""


def clean_name(name: str) -> str:
    """A file's name as it is kept: no folders, no control or direction characters, not too long,
    never empty."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    plain = _shown(last).rstrip(". ")
    if len(plain) > NAME_LENGTH:
        stem, dot, ending = plain.rpartition(".")
        tail = dot + ending if stem and len(ending) <= 10 else ""
        plain = plain[: NAME_LENGTH - len(tail)].rstrip() + tail
    return plain or "file"


def clean_path(folder: str, name: str) -> str:
    """A name with its folders as it is kept. Drives, roots and steps upwards are no folders, so
    that nothing leads anywhere.

    `name` has none; in `folder` they stand between slashes or backslashes.
    """
    parts = [_shown(part) for part in re.split(r"[/\\]", unicodedata.normalize("NFC", folder))]
    folders = [
        part[:NAME_LENGTH]
        for part in parts
        if part.strip(". ") and not re.fullmatch(r"[A-Za-z]:", part)
    ]
    last = clean_name(name)
    while folders and len("/".join([*folders, last])) > PATH_LENGTH:
        del folders[len(folders) // 2]
    return "/".join([*folders, last])


def split_path(path: str) -> tuple[str, str]:
    """Folders and name of a path as a browser or an archive gives it."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return folder, name


def shortened(path: str, length: int) -> str:
    """A name with its folders in so many characters: folders are cut before the name is, and its
    ending stays."""
    if len(path) <= length:
        return path
    folder, _, name = path.rpartition("/")
    if folder and len(name) + 4 <= length:
        return f"{folder[: length - len(name) - 2].rstrip()}…/{name}"
    return name if len(name) <= length else name[: length - 13].rstrip() + "…" + name[-12:]


def name_key(name: str) -> str:
    """What is equal for names that look the same: composed or not, in capitals or not, with or
    without marks of direction."""
    seen = (
        c
        for c in unicodedata.normalize("NFC", name)
        if c in JOINERS or not unicodedata.category(c).startswith("C")
    )
    return unicodedata.normalize("NFC", " ".join("".join(seen).split()).casefold())


def _shown(part: str) -> str:
    """On one line, without characters that are not seen."""
    return "".join(
        c
        for c in " ".join(part.split())
        if c in JOINERS or not unicodedata.category(c).startswith("C")
    ).strip()


def fold(text: str) -> str:
    """What counts as the same when people type: small letters without accents, ligatures and `ß` as
    letters, blanks made single.

    Of another length than the text: where places have to stay, as in an index, `query.fold` is the
    one to use.
    """
    if text.isascii():
        return " ".join(text.lower().split())  # the same, and much sooner
    flat = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in flat if not unicodedata.combining(c)).split())
