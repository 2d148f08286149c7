"""Where the app is: `LEAF_HOME/app.json` with its address, a key, and its process. Whoever can read
the file can use the app.

The file is written when the app holds the data and removed when it lets go. It may be left behind
by a killed app, so nothing in it is believed before the app there has shown that it knows the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from leaf.settings.private import DistrustError, read_private, write_private

logger = logging.getLogger(__name__)


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
    write_private(_path(home), json.dumps(asdict(address)))
    return address


def withdraw(home: Path, key: str) -> None:
    """Remove the file with this key; one that another app has written since stays."""
    address = read(home) if key else None
    if address is not None and address.key == key:
        _path(home).unlink(missing_ok=True)


def read(home: Path) -> Address | None:
    """The address in the file, whether or not the app still lives; None without a file that can be
    trusted."""
    try:
        return _read(_path(home))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        problem = "it is a symbolic link" if _path(home).is_symlink() else str(e.strerror)
    except DistrustError as e:
        problem = str(e)
    _warn_once(_path(home), problem)
    return None


@cache
def _warn_once(path: Path, problem: str) -> None:
    """A command looks several times while the data is held."""
    logger.warning("%s is not used: %s. Remove it and restart the app.", path, problem)


def _read(path: Path) -> Address:
    try:
        fields = json.loads(read_private(path))
        return Address(str(fields["url"]), str(fields["key"]), int(fields["pid"]))
    except (ValueError, KeyError, TypeError) as e:
        raise DistrustError("it is damaged") from e


def proof(key: str, nonce: str) -> str:
    """What only somebody who knows the key can answer to a nonce."""
    return hmac.new(
        key.encode(), b"leaf app " + nonce.encode("utf-8", "replace"), hashlib.sha256
    ).hexdigest()


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
