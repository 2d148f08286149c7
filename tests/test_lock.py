"""The lock pins what requirements.txt names and all that comes with it, and nothing else."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def _wanted() -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return [Requirement(found) for line in lines if (found := line.partition("#")[0].strip())]


def _locked(name: str = "requirements.lock") -> list[tuple[Requirement, str]]:
    """Each pin with the lines of its hashes."""
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
    return [(Requirement(entry.partition(" \\")[0]), entry.partition("\n")[2]) for entry in entries]


def test_what_requirements_name_is_locked_at_their_version() -> None:
    versions = {canonicalize_name(pin.name): str(pin.specifier) for pin, _ in _locked()}
    for wanted in _wanted():
        assert versions.get(canonicalize_name(wanted.name)) == str(wanted.specifier), (
            "run: make lock"
        )


def test_what_installs_them_is_that_of_development() -> None:
    (installer,) = (str(pin) for pin, _ in _locked("requirements-installer.lock"))
    development = (ROOT / "requirements-dev.txt").read_text().splitlines()
    assert installer in [line.partition("#")[0].strip() for line in development], "run: make lock"


def test_every_pin_is_exact_and_has_hashes() -> None:
    for pin, hashes in [*_locked(), *_locked("requirements-installer.lock")]:
        assert re.fullmatch(r"==[\w.!+]+", str(pin.specifier)), pin
        assert re.fullmatch(r"(\s+--hash=sha256:[0-9a-f]{64}( \\)?)+", "\n" + hashes), pin


def test_the_lock_holds_all_that_the_packages_need_here_and_nothing_more() -> None:
    """By what the installed packages say of themselves."""
    locked = {
        canonicalize_name(pin.name): pin
        for pin, _ in _locked()
        if pin.marker is None or pin.marker.evaluate()
    }
    found: set[str] = set()
    left = [(wanted, "") for wanted in _wanted()]
    while left:
        wanted, extra = left.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        assert name in locked, f"{wanted} is not locked; run: make lock"
        assert wanted.specifier.contains(
            str(locked[name].specifier).removeprefix("=="), prereleases=True
        ), wanted
        if name in found and not wanted.extras:
            continue
        found.add(name)
        needs = [Requirement(need) for need in metadata.requires(name) or ()]
        left += [(need, each) for need in needs for each in ("", *wanted.extras)]
    assert found == set(locked), "run: make lock"
