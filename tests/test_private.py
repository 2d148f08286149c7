"""What lies in the data folder is its owner's alone, whatever the folder was when Leaf came to it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from leaf import settings
from leaf.doctor import check
from leaf.errors import SettingsError
from leaf.remote.address import announce
from leaf.settings.private import keep_private, readers
from leaf.store import open_store
from leaf.ui.receiving import UploadLimits, Uploads


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_data_folder_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    assert readers(home) == "Other users of this machine"
    open_store(settings.load({"LEAF_HOME": str(home)})).close()
    assert mode(home) == 0o700
    assert readers(home) == ""


def test_the_doctor_says_that_others_could_read_and_closes_the_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    given = settings.load({"LEAF_HOME": str(tmp_path)})

    def said() -> tuple[bool, str]:
        return next((c.ok, c.text) for c in check(given) if c.name == "Data folder")

    ok, text = said()
    assert not ok
    assert text.startswith("Its group could look into")
    assert mode(tmp_path) == 0o700
    assert said()[0]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="gives a folder away")
def test_a_folder_of_somebody_else_that_stays_open_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    os.chown(home, 65534, 65534)
    with pytest.raises(SettingsError, match="LEAF_HOME"):
        keep_private(home)
    home.chmod(0o770)  # its owner has given a group access
    keep_private(home)


def test_a_new_folder_and_what_opens_leaf_are_the_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "far" / "home"
    keep_private(home)
    announce(home, "http://127.0.0.1:1")
    folder = Uploads(lambda: UploadLimits(1, 1, 1), lambda: home).folder()
    assert (mode(home), mode(home / "app.json"), mode(folder)) == (0o700, 0o600, 0o700)
