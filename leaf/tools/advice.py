"""What to do about an error of Python code that the limits of its sandbox explain: one sentence, or
none."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

from leaf.errors import InvalidInputError, not_found
from leaf.readers.base import holds_tables
from leaf.sandbox.packages import Packages, plain_name
from leaf.sandbox.ran import CellFailure
from leaf.store.model import ChatFile
from leaf.tables.query_errors import SIDE_BY_SIDE

PACKAGES = {
    "community": "python-louvain",
    "cv2": "opencv-python",
    "imblearn": "imbalanced-learn",
    "skimage": "scikit-image",
    "umap": "umap-learn",
    "xgboost": "xgboost-cpu",
}
"""Module -> the package that holds it, where the names differ by more than a dash."""
REFUSED = {"PermissionError", "BlockingIOError", "OSError"}


def half_done(failure: CellFailure) -> tuple[str, ...]:
    """What has to be said of a cell that failed after its first line: as in any notebook a line that
    is run again counts twice."""
    if failure.line <= 1 or failure.type in ("SyntaxError", "IndentationError", "TabError"):
        return ()
    return (
        "What the cell did before that line stays in the variables; it is not done again when they "
        "are rebuilt, so a line that changes something in place needs fresh rows: table(name).",
    )


def advice(failure: CellFailure, packages: Packages, files: Sequence[ChatFile] = ()) -> str:
    """One sentence for whoever wrote the code; empty where its own traceback says enough. `files`
    are those of the chat."""
    if failure.type == "ModuleNotFoundError" and (
        match := re.search(r"No module named '([\w.]+)'", failure.message)
    ):
        return _package(match[1].partition(".")[0], packages)
    if failure.type == "NameError" and (
        match := re.search(r"name '(\w+)' is not defined", failure.message)
    ):
        return SIDE_BY_SIDE if re.fullmatch(r"r[1-9]\d*", match[1]) else _tables(match[1], files)
    if failure.type == "FileNotFoundError" and (hint := _named(failure, files)):
        return hint
    last = failure.text.rsplit("\n  ", 1)[-1]
    if failure.type in REFUSED and re.search(
        r"\bfork|subprocess|multiprocessing|posix_spawn|\bexec", failure.text
    ):
        return "Code here is one process and cannot start others: use threads, or n_jobs=1."
    if re.search(
        r"gaierror|URLError|NameResolution|Temporary failure in name resolution",
        f"{failure.type} {failure.message}",
    ):
        return "There is no network here: use the files of the chat."
    if failure.type in REFUSED and re.search(r"\bsocket\b|\.connect\(", failure.text):
        return "There is no network here: use the files of the chat."
    if failure.type in REFUSED and "File too large" in failure.message:
        return "A file that code writes may not be that large: keep fewer rows or columns."
    if failure.type == "PermissionError" and "../in/" in failure.message + last:
        return "Files of the chat can be read and not changed: work on a copy."
    if failure.type in ("PermissionError", "FileNotFoundError"):
        return (
            "Only the working folder can be written, and only open_file(handle) leads to "
            "files of the chat."
        )
    if failure.type == "MemoryError":
        return (
            "The code asked for more memory than it may have: work on fewer rows or columns, "
            "or let query() aggregate."
        )
    return ""


def _tables(name: str, files: Sequence[ChatFile]) -> str:
    """The DataFrames that there are, for a name that is none of them."""
    there = [c.slug for c in files if holds_tables(c.file.kind, c.file.outline)]
    if not there:
        return ""
    near = difflib.get_close_matches(name.lower(), there, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return (
        f"{meant}The chat's tables are DataFrames already: "
        f"{', '.join(there[:12])}{' …' if len(there) > 12 else ''}."
    )


def _named(failure: CellFailure, files: Sequence[ChatFile]) -> str:
    """How a file is reached that the code opened by its name."""
    text = unicodedata.normalize("NFC", f"{failure.message} {failure.text}").casefold()
    candidates = [
        (len(part), c)
        for c in files
        if (part := next((p for p in _parts(c.file.name) if p in text), ""))
    ]
    most = max((length for length, _ in candidates), default=0)
    named = [c for length, c in candidates if length == most]
    if not named:
        return ""
    if len(named) > 1:
        return (
            f"Several files are named so: "
            f"{', '.join(f'{c.handle} {c.file.name}' for c in named[:5])}. Write open_file(handle)."
        )
    one = named[0]
    table = (
        f"is the DataFrame {one.slug}; its bytes are at"
        if holds_tables(one.file.kind, one.file.outline)
        else "is at"
    )
    return f'{one.file.name} {table} open_file("{one.handle}").'


def _parts(name: str) -> list[str]:
    """The ends of a path, longest first: `2024/sales.csv`, `sales.csv`."""
    steps = unicodedata.normalize("NFC", name).casefold().split("/")
    return ["/".join(steps[at:]) for at in range(len(steps))]


def _package(module: str, packages: Packages) -> str:
    """Whether the missing module can be installed, else the nearest that can."""
    try:
        name = plain_name(PACKAGES.get(module, module))
    except InvalidInputError:
        return ""
    if name in packages.allowed():
        return f"add_package can install {name} if the user allows it."
    return str(
        not_found(
            "package",
            name,
            sorted(packages.allowed()),
            "the list of packages that may be installed",
        )
    )
