"""Where the app is: `LEAF_HOME/app.json` with its address, a key, and its process. Whoever can read the file can use the app.

The file is written when the app holds the data and removed when it lets go. It may be left behind by a killed app, so nothing
in it is believed before the app there has shown that it knows the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import stat
import tempfile
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)

MOST_BYTES = 4_096


@dataclass(frozen=True)
class Address:
    """A running app."""

    url: str
    """`http://127.0.0.1:8501`, without a slash at the end."""
    key: str = field(repr=False)
    pid: int


def announce(home: Path, url: str) -> Address:
    """Write the file for this process, with a new key. Raises OSError."""
    address = Address(url, secrets.token_urlsafe(32), os.getpid())
    descriptor, name = tempfile.mkstemp(dir=home, prefix=".app-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(address), file)
        temporary.chmod(0o600)
        temporary.replace(_path(home))
    finally:
        temporary.unlink(missing_ok=True)
    return address


def withdraw(home: Path, key: str) -> None:
    """Remove the file with this key; one that another app has written since stays."""
    found = read(home) if key else None
    if found is not None and found.key == key:
        _path(home).unlink(missing_ok=True)


def read(home: Path) -> Address | None:
    """The address in the file, whether or not the app still lives; None without a file that can be trusted."""
    try:
        return _read(_path(home))
    except FileNotFoundError:
        return None
    except OSError as e:
        problem = "it is a symbolic link" if _path(home).is_symlink() else str(e.strerror)
    except _DistrustError as e:
        problem = str(e)
    _warn_once(_path(home), problem)
    return None


@cache
def _warn_once(path: Path, problem: str) -> None:
    """A command looks several times while the data is held."""
    logger.warning("%s is not used: %s. Remove it and restart the app.", path, problem)


class _DistrustError(Exception):
    """Why the file is not believed."""


def _read(path: Path) -> Address:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        _check(os.fstat(file.fileno()))
        content = file.read(MOST_BYTES)
    try:
        given = json.loads(content)
        return Address(str(given["url"]), str(given["key"]), int(given["pid"]))
    except (ValueError, KeyError, TypeError) as e:
        raise _DistrustError("it is damaged") from e


def _check(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _DistrustError("it is not a file")
    if os.name == "posix" and found.st_uid != os.geteuid():
        raise _DistrustError("it belongs to somebody else")
    if os.name == "posix" and found.st_mode & 0o077:
        raise _DistrustError("others may read it")


def proof(key: str, nonce: str) -> str:
    """What only somebody who knows the key can answer to a nonce."""
    return hmac.new(key.encode(), b"leaf app " + nonce.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def alive(pid: int) -> bool:
    """Whether there is such a process; where that cannot be asked without harm, True."""
    if os.name != "posix" or pid <= 0:
        return os.name != "posix"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _path(home: Path) -> Path:
    return home / "app.json"
