"""What Leaf installs is pinned by hash, and under licences that may be used."""

from __future__ import annotations

import re
import runpy
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LICENCES = runpy.run_path(str(ROOT / "docs" / "licences.py"))
NOTED: dict[str, str] = LICENCES["noted"]()


def installed() -> list[str]:
    return [name for name in LICENCES["locked"]() if _version(name)]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def test_every_locked_package_is_pinned_by_its_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[A-Za-z])", text.strip())
    without = [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry]
    assert len(entries) > 100
    assert without == []


def test_every_locked_package_is_under_a_licence_that_may_be_used() -> None:
    assert set(NOTED) == set(LICENCES["locked"]()), "run: python docs/licences.py, make docs"
    other = [
        name
        for name, licence in NOTED.items()
        if not LICENCES["is_allowed"](licence) and name not in LICENCES["EXCEPTIONS"]
    ]
    assert other == []


def test_what_was_noted_is_what_the_installed_packages_state() -> None:
    states = {name: LICENCES["stated"](name) for name in installed()}
    assert states == {name: NOTED[name] for name in states}
    assert len(states) > 100


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("BSD-3-Clause AND GPL-3.0-only", False),
        ("AGPL-3.0-only", False),
        ("", False),
    ],
)
def test_each_part_of_a_licence_has_to_be_allowed(licence: str, allowed: bool) -> None:
    assert LICENCES["is_allowed"](licence) is allowed


def test_copyleft_libraries_inside_wheels_are_named() -> None:
    """Libraries whose licences ask for more, wherever a wheel brings one."""
    unnamed = []
    for name in installed():
        for file in metadata.files(name) or ():
            library = re.match(r"lib([A-Za-z0-9_]+?)[-.]", file.name)
            folder = file.parts[0] if file.parts else ""
            if library and folder.endswith(".libs") and library[1] in LICENCES["COPYLEFT"]:
                _, named = LICENCES["CARRIED"].get(name, ("", ()))
                if library[1] not in named:
                    unnamed.append(f"{name}: {library[1]}")
    assert unnamed == []
