"""A folder for what is written within one piece of work, and what an error says of the disk."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leaf.errors import StoreError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def wants_room(error: OSError) -> bool:
    """Whether a disk is full, or what may be used of it."""
    return error.errno in FULL


@contextmanager
def scratch(work: str) -> Iterator[Path]:
    """A folder where the system keeps what is temporary; it goes with the context. Raises StoreError
    where none can be made, or what is put into it has no room."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=f"leaf-{work}-", ignore_cleanup_errors=True)
    except OSError as e:
        raise StoreError(
            f"The folder for temporary files cannot be used: {os.strerror(e.errno or errno.EIO)}.",
            "Mend that, or let TMPDIR name another one and start Leaf again.",
        ) from e
    with folder as name:
        try:
            yield Path(name)
        except OSError as e:
            if not wants_room(e):
                raise
            raise StoreError(
                "The disk that holds temporary files is full.",
                "Free some space there and try again.",
            ) from e
