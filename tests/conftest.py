"""Fixtures that several rooms share."""

from __future__ import annotations

from pathlib import Path

import pytest

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of third-party files; tests that need it are skipped where it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip("the folder of third-party files is not beside this repository")
    return REAL_DATA
