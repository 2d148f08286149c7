"""The wheel holds all of Leaf, and what is installed from it works outside of the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from leaf import __version__
from tests.app_process import App

ROOT = Path(__file__).resolve().parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as anybody would, but by the hatchling that is here, so that no network is needed."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)],
        check=True,
    )
    return next(folder.glob("leaf-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Leaf as pip lays it out; its libraries are those of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [*PIP, "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel)],
        check=True,
    )
    return folder


def test_every_file_of_the_package_is_in_the_wheel_and_the_entry_of_the_app_with_its_settings(
    wheel: Path,
) -> None:
    there = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = subprocess.run(
        ["git", "ls-files", "leaf"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    served = {"leaf/served/app.py", "leaf/served/.streamlit/config.toml"}
    assert there == {*files, *served}


def test_the_wheel_depends_on_what_requirements_txt_names(wheel: Path) -> None:
    inside = zipfile.ZipFile(wheel)
    metadata = Parser().parsestr(inside.read(f"leaf-{__version__}.dist-info/METADATA").decode())
    assert metadata["Version"] == __version__
    pins = re.findall(
        r"^[\w.-]+(?:\[[\w,]+\])?==[\w.]+", (ROOT / "requirements.txt").read_text(), re.M
    )
    assert sorted(
        str(each).partition(";")[0] for each in metadata.get_all("Requires-Dist", [])
    ) == sorted(map(_as_metadata, pins))


def _as_metadata(pin: str) -> str:
    """Extras in the order, and names in the form, in which metadata have them."""
    name, extras, rest = re.fullmatch(r"([\w.-]+)(\[[\w,]+\])?(.*)", pin).groups()  # type: ignore[union-attr]
    return re.sub(r"[-_.]+", "-", name).lower() + ",".join(sorted((extras or "").split(","))) + rest


def test_the_installed_command_works_outside_of_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_text("region,revenue\nNorth,100\nSouth,5\n")
    done = _leaf(installed, tmp_path, "ask", "-f", "sales.csv", "Total revenue by region")
    assert done.returncode == 0, done.stderr
    assert "| North | 100 |" in done.stdout
    shown = _leaf(installed, tmp_path, "--help").stdout
    assert shown.startswith("usage: leaf ")
    assert _leaf(installed, tmp_path, "nothing").returncode == 2


def test_the_installed_app_is_served_with_its_pages_and_settings(
    installed: Path, tmp_path: Path
) -> None:
    app = App(
        tmp_path / "home",
        command=[str(installed / "bin" / "leaf"), "run"],
        folder=tmp_path,
        token=True,
        PYTHONPATH=str(installed),
    )
    app.start()
    try:
        browser = build_opener(HTTPCookieProcessor())
        with pytest.raises(HTTPError, match="403"):
            browser.open(app.url, timeout=30)
        with browser.open(app.opened_url, timeout=30) as answer:
            assert answer.url == f"{app.url}/"
            assert "default-src 'self'" in answer.headers["content-security-policy"]
        listed = _leaf(installed, tmp_path, "files", "list", LEAF_HOME=str(app.home))
        assert (listed.returncode, "No files yet" in listed.stderr) == (0, True)
    finally:
        app.stop()
    code = (
        "from streamlit import config; from streamlit.testing.v1 import AppTest; from "
        "leaf.cli.serve import PLACES;"
        "config._main_script_path = str(PLACES[0]); assert "
        "config.get_option('runner.postScriptGC') is False;"
        "from leaf.ui.server import SHELL; page = AppTest.from_file(SHELL, "
        "default_timeout=120).run();"
        "assert not page.exception, page.exception; print(SHELL)"
    )
    environ = {"PYTHONPATH": str(installed), "LEAF_HOME": str(tmp_path / "other")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=_clean(**environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(installed))


def _leaf(
    installed: Path, folder: Path, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    command = [str(installed / "bin" / "leaf"), *arguments]
    environ = _clean(PYTHONPATH=str(installed), **environ)
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
    )


def _clean(**more: str) -> dict[str, str]:
    return {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("LEAF_", "ANTHROPIC_", "STREAMLIT_"))
    } | more
