"""The commands that tell of the packages: they name files that are there, and the bill of materials
has every package."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def commands(target: str) -> list[list[str]]:
    """What `make` would run for a target, without running it."""
    told = subprocess.run(
        ["make", "--always-make", "--dry-run", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [shlex.split(line) for line in told.stdout.splitlines() if "tool run" in line]


def locked() -> set[str]:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return {f"{n.lower()}=={v}" for n, v in re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock, re.M)}


@pytest.mark.parametrize(
    ("target", "package", "program"),
    [("sbom", "cyclonedx-bom", "cyclonedx-py"), ("audit", "pip-audit", "pip-audit")],
)
def test_the_command_reads_the_lock_with_a_pinned_tool(
    target: str, package: str, program: str
) -> None:
    (command,) = commands(target)
    origin = command[command.index("--from") + 1]
    assert re.fullmatch(rf"{package}==\d+\.\d+\.\d+", origin)
    assert program in command
    assert "requirements.lock" in command
    assert len(locked()) > 50


def test_the_bill_of_materials_has_every_locked_package(tmp_path: Path) -> None:
    (command,) = commands("sbom")
    if shutil.which(command[0]) is None:
        pytest.skip("uv is not in this environment")
    out = tmp_path / "sbom.json"
    given = [str(out) if word == "sbom.json" else word for word in command]
    given.insert(given.index("run") + 1, "--offline")
    ran = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    if ran.returncode and not out.exists():
        pytest.skip(f"cyclonedx-bom cannot be had offline: {ran.stderr[-200:]}")
    listed = json.loads(out.read_text(encoding="utf-8"))["components"]
    assert locked() <= {f"{one['name'].lower()}=={one['version']}" for one in listed}
