"""What to do about an error of Python code that the limits of its sandbox explain: one sentence, or none."""

from __future__ import annotations

import re

from leaf.errors import InvalidInputError, not_found
from leaf.sandbox.packages import Packages, plain_name
from leaf.sandbox.sessions import Trouble

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


def advice(trouble: Trouble, packages: Packages) -> str:
    """One sentence for whoever wrote the code; empty where its own traceback says enough."""
    if trouble.type == "ModuleNotFoundError" and (found := re.search(r"No module named '([\w.]+)'", trouble.message)):
        return _package(found[1].partition(".")[0], packages)
    last = trouble.text.rsplit("\n  ", 1)[-1]
    if trouble.type in REFUSED and re.search(r"\bfork|subprocess|multiprocessing|posix_spawn|\bexec", trouble.text):
        return "Code here is one process and cannot start others: use threads, or n_jobs=1."
    if re.search(r"gaierror|URLError|NameResolution|Temporary failure in name resolution", f"{trouble.type} {trouble.message}"):
        return "There is no network here: use the files of the chat."
    if trouble.type in REFUSED and re.search(r"\bsocket\b|\.connect\(", trouble.text):
        return "There is no network here: use the files of the chat."
    if trouble.type in REFUSED and "File too large" in trouble.message:
        return "A file that code writes may not be that large: keep fewer rows or columns."
    if trouble.type == "PermissionError" and "../in/" in trouble.message + last:
        return "Files of the chat can be read and not changed: work on a copy."
    if trouble.type in ("PermissionError", "FileNotFoundError"):
        return "Only the working folder can be written, and only open_file(handle) leads to files of the chat."
    if trouble.type == "MemoryError":
        return "The code asked for more memory than it may have: work on fewer rows or columns, or let query() aggregate."
    return ""


def _package(module: str, packages: Packages) -> str:
    """Whether the missing module can be installed, else the nearest that can."""
    try:
        name = plain_name(PACKAGES.get(module, module))
    except InvalidInputError:
        return ""
    if name in packages.allowed():
        return f"add_package can install {name} if the user allows it."
    return str(not_found("package", name, sorted(packages.allowed()), "the list of packages that may be installed"))
