"""Python packages that a chat installs for itself: from a list, as wheels, into a folder of its
own, outside the confined child.

    home/packages/<workspace>/<chat>/current.json          what is installed, and in which generation
    home/packages/<workspace>/<chat>/<generation>/         the unpacked wheels; never changed once it is named

pip unpacks wheels and runs nothing of them. Leaf's own libraries come first on the path of the
child, so none can be replaced.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from leaf.errors import (
    InvalidInputError,
    NotFoundError,
    RunError,
    SandboxError,
    StoreError,
    not_found,
)
from leaf.settings.disk import scratch

LIST = Path(__file__).parent / "packages.txt"
SECONDS = 240.0
"""Longest that pip may take."""
LARGEST = 1_500 * 1024 * 1024
"""Bytes of all packages of a chat together."""
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|ANTHROPIC|LEAF_|DATABASE", re.IGNORECASE)


@dataclass(frozen=True)
class InstallPlan:
    """What would be installed."""

    name: str
    version: str
    others: tuple[tuple[str, str], ...] = ()
    """(name, version) of what it needs and is not there."""
    present: bool = False
    """Whether it is there already, and nothing is to be done."""

    def words(self) -> str:
        """`lightgbm 4.6.0 and, with it, tqdm 4.67.1`."""
        more = (
            f" and, with it, {', '.join(f'{n} {v}' for n, v in self.others)}" if self.others else ""
        )
        return f"{self.name} {self.version}{more}"


class PackageLists(Protocol):
    """Where it is kept which packages a chat has, so that they can be installed again."""

    def read(self, workspace_id: str, chat_id: str) -> dict[str, str] | None: ...

    def write(self, workspace_id: str, chat_id: str, packages: Mapping[str, str]) -> None: ...


class Packages:
    """The packages of all chats under one data folder."""

    def __init__(
        self,
        home: Path,
        extra: Sequence[str] = (),
        *,
        pip: Sequence[str] = (),
        lists: PackageLists | None = None,
        check_room: Callable[[], None] = lambda: None,
    ) -> None:
        """`check_room` raises SpaceError where nothing more may be kept.

        `extra` are names that are allowed besides the list; `pip` are more options for pip, such
        as another index; without `lists` a lost folder is forgotten."""
        self._home = home / "packages"
        self._extra = frozenset(extra)
        self._pip = tuple(pip)
        self._lists = lists
        self._check_room = check_room
        self._lock = threading.Lock()

    def ready(self, workspace_id: str, chat_id: str, stop: threading.Event) -> Path | None:
        """`folder`, with the chat's packages installed again where that is lost, or another machine
        has changed them. Raises as `add`."""
        with self._lock:
            here, wanted = self._here(workspace_id, chat_id), self.installed(workspace_id, chat_id)
            if here["packages"] != wanted:
                self._install(workspace_id, chat_id, wanted, stop)
            elif wanted and self._lists and self._lists.read(workspace_id, chat_id) is None:
                self._lists.write(workspace_id, chat_id, wanted)
        return self.folder(workspace_id, chat_id)

    def folder(self, workspace_id: str, chat_id: str) -> Path | None:
        """Where the chat's packages are; None without any."""
        current = self._here(workspace_id, chat_id)
        return (
            self._place(workspace_id, chat_id) / current["generation"]
            if current["packages"]
            else None
        )

    def installed(self, workspace_id: str, chat_id: str) -> dict[str, str]:
        """Name -> version of what the chat has installed."""
        versions = self._lists.read(workspace_id, chat_id) if self._lists else None
        return dict(self._here(workspace_id, chat_id)["packages"]) if versions is None else versions

    def forget(self, workspace_id: str, chat_id: str) -> None:
        """Remove the chat's packages."""
        shutil.rmtree(self._place(workspace_id, chat_id), ignore_errors=True)

    def plan(
        self, workspace_id: str, chat_id: str, name: str, version: str, stop: threading.Event
    ) -> InstallPlan:
        """What adding a package would install. Raises NotFoundError with the nearest name for one
        off the list or a version that there is not, InvalidInputError where the base would have to
        change, SandboxError without a package index.
        """
        wanted = plain_name(name)
        if version and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,40}", version):
            raise InvalidInputError(
                f"'{version[:60]}' is not a version.",
                "Give one such as 2.1.0, or none for the newest.",
            )
        if (there := _base().get(wanted)) is not None:
            if version and version != there:
                raise InvalidInputError(
                    f"{wanted} {there} belongs to Leaf's own libraries, which do not change.",
                    "Use it in that version.",
                )
            return InstallPlan(wanted, there, present=True)
        if wanted not in self.allowed():
            raise not_found(
                "package",
                wanted,
                sorted(self.allowed()),
                "the list of packages that may be installed",
            )
        current = self.installed(workspace_id, chat_id)
        if wanted in current and version in ("", current[wanted]):
            return InstallPlan(wanted, current[wanted], present=True)
        pins = [f"{n}=={v}" for n, v in current.items() if n != wanted]
        versions = self._resolve(
            [f"{wanted}=={version}" if version else wanted, *pins], wanted, stop
        )
        if wanted not in versions:
            raise NotFoundError(
                f"No version {version or 'of it'} of {wanted} was found as a wheel for "
                f"this machine."
            )
        return InstallPlan(
            wanted,
            versions[wanted],
            tuple((n, v) for n, v in sorted(versions.items()) if n != wanted and n not in current),
        )

    def add(
        self, workspace_id: str, chat_id: str, plan: InstallPlan, stop: threading.Event
    ) -> None:
        """Install what was planned. Raises SandboxError when pip fails, RunError after `stop`,
        StoreError, SpaceError."""
        self._check_room()  # not where a chat gets again what it had: its Python needs that
        with self._lock:
            wanted = {
                **self.installed(workspace_id, chat_id),
                plan.name: plan.version,
                **dict(plan.others),
            }
            self._install(workspace_id, chat_id, wanted, stop)

    def remove(self, workspace_id: str, chat_id: str, name: str, stop: threading.Event) -> str:
        """Take a package away; returns its version. What came with it stays. Raises
        NotFoundError."""
        with self._lock:
            wanted = plain_name(name)
            current = self.installed(workspace_id, chat_id)
            if wanted not in current:
                if wanted in _base():
                    raise InvalidInputError(
                        f"{wanted} belongs to Leaf's own libraries, which do not change."
                    )
                raise not_found("package", wanted, current, "those that this chat has installed")
            version = current.pop(wanted)
            self._install(workspace_id, chat_id, current, stop)
            return version

    def allowed(self) -> frozenset[str]:
        """Names that may be installed."""
        return _listed() | self._extra

    def _resolve(self, wanted: Sequence[str], name: str, stop: threading.Event) -> dict[str, str]:
        """Name -> version of all that pip would install for these. Raises as `plan` does."""
        with scratch("pip") as folder:
            report = folder / "report.json"
            constraints = folder / "base.txt"
            constraints.write_text("".join(f"{n}=={v}\n" for n, v in _base().items()))
            options = ["--dry-run", "--report", str(report), "--constraint", str(constraints)]
            self._run_pip([*options, *wanted], name, stop)
            try:
                items = json.loads(report.read_text())["install"]
                versions = {
                    plain_name(item["metadata"]["name"]): str(item["metadata"]["version"])
                    for item in items
                }
            except (OSError, ValueError, KeyError, TypeError) as e:
                raise SandboxError("pip did not say what it would install.", "Try again.") from e
        for other in versions:
            if other in _base():
                raise InvalidInputError(
                    f"{name} needs another {other}; Leaf's own libraries do not change."
                )
            if other not in self.allowed():
                raise InvalidInputError(
                    f"{name} needs {other}, which is not on the list of packages that may be "
                    f"installed.",
                    "Do without it, or ask whoever runs Leaf to allow it (LEAF_PACKAGES).",
                )
        return versions

    def _install(
        self, workspace_id: str, chat_id: str, wanted: Mapping[str, str], stop: threading.Event
    ) -> None:
        """Make a new generation with exactly these, and point to it."""
        place = self._place(workspace_id, chat_id)
        generation = secrets.token_hex(6)
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            if wanted:
                target = place / generation
                pins = [f"{n}=={v}" for n, v in sorted(wanted.items())]
                self._run_pip(
                    ["--no-deps", "--target", str(target), *pins], ", ".join(wanted), stop
                )
                if _size(target) > LARGEST:
                    shutil.rmtree(target, ignore_errors=True)
                    raise InvalidInputError(
                        f"The packages take more than {LARGEST // 1024**2:,} MB together."
                    )
            temporary = place / f".current-{generation}"
            temporary.write_text(json.dumps({"generation": generation, "packages": dict(wanted)}))
            temporary.replace(place / "current.json")
            for old in place.iterdir():
                if old.is_dir() and old.name != generation:
                    shutil.rmtree(old, ignore_errors=True)
            if self._lists:
                self._lists.write(workspace_id, chat_id, wanted)
        except OSError as e:
            raise StoreError(
                f"The packages cannot be kept: {e.strerror}.", "Free some space and try again."
            ) from e

    def _run_pip(self, arguments: Sequence[str], name: str, stop: threading.Event) -> None:
        """Run `pip install` with wheels only. It sees no key of Leaf. Raises NotFoundError,
        SandboxError, RunError."""
        common = [
            "--only-binary",
            ":all:",
            "--no-input",
            "--disable-pip-version-check",
            "--quiet",
            "--quiet",
        ]
        command = [sys.executable, "-I", "-m", "pip", "install", *common, *self._pip, *arguments]
        environment = {k: v for k, v in os.environ.items() if not SECRET.search(k)}
        with (
            tempfile.TemporaryFile() as output,
            subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process,
        ):
            end = time.monotonic() + SECONDS
            with _killed(process):
                while process.poll() is None:
                    if stop.wait(0.05):
                        raise RunError("Stopped.")
                    if time.monotonic() > end:
                        raise SandboxError(
                            f"Installing {name} took more than {SECONDS:g} seconds and was ended."
                        )
            output.seek(0)
            words = output.read(20_000).decode(errors="replace")
        if process.returncode:
            raise _pip_error(words, name)

    def _place(self, workspace_id: str, chat_id: str) -> Path:
        for part in (workspace_id, chat_id):
            if not re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,200}", part):
                raise NotFoundError(f"'{part[:80]}' is not an id.")
        return self._home / workspace_id / chat_id

    def _here(self, workspace_id: str, chat_id: str) -> dict[str, Any]:
        """What stands in the data folder."""
        try:
            record: dict[str, Any] = json.loads(
                (self._place(workspace_id, chat_id) / "current.json").read_text()
            )
            return record
        except (OSError, ValueError):
            return {"generation": "", "packages": {}}


def plain_name(name: str) -> str:
    """A package's name as the index compares it: `Scikit_Learn` -> `scikit-learn`. Raises
    InvalidInputError."""
    plain = re.sub(r"[-_.]+", "-", name.strip()).lower()
    if not re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,80}[a-z0-9])?", plain):
        raise InvalidInputError(
            f"'{name[:60]}' is not the name of a package.", "Give a name such as seaborn."
        )
    return plain


@functools.cache
def _base() -> dict[str, str]:
    """Name -> version of what Leaf itself runs with."""
    pairs = ((d.metadata["Name"], d.version) for d in importlib.metadata.distributions())
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs if name}


@functools.cache
def _listed() -> frozenset[str]:
    lines = (
        line.partition("#")[0].strip() for line in LIST.read_text(encoding="utf-8").splitlines()
    )
    return frozenset(plain_name(line) for line in lines if line)


def _pip_error(words: str, name: str) -> Exception:
    """Why pip failed, in a sentence. Its own words may hold the address of a private index with its
    password."""
    if re.search(r"No module named pip", words):
        return SandboxError(
            "Packages cannot be installed here: pip is not there.", "Do without the package."
        )
    if re.search(r"No matching distribution|Could not find a version", words):
        if re.search(
            r"Connection|Temporary failure|Network is unreachable|timed out|ProxyError",
            words,
            re.IGNORECASE,
        ):
            return SandboxError(
                "The package index cannot be reached.",
                "Try again later, or do without the package.",
            )
        return NotFoundError(
            f"{name} is not to be had as a wheel for this machine, or not in that version."
        )
    if re.search(r"ResolutionImpossible|conflict", words, re.IGNORECASE):
        return InvalidInputError(
            f"{name} does not go together with the libraries that are there.",
            "Try another version.",
        )
    return SandboxError(f"Installing {name} failed.", "Try again later, or do without it.")


@contextlib.contextmanager
def _killed(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the process and what it started if the body fails."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))
