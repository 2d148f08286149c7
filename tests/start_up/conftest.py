"""One line for each combination at the end: ran, failed, or skipped and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def machines_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where environments and libraries are made, one folder for the whole run of this process."""
    return tmp_path_factory.mktemp("machines")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.section("start-up")
    for outcome, word in (
        ("passed", "ran"),
        ("failed", "FAILED"),
        ("error", "FAILED"),
        ("skipped", "skipped"),
    ):
        for report in terminalreporter.stats.get(outcome, []):
            reason = report.longrepr[2].removeprefix("Skipped: ") if outcome == "skipped" else ""
            told = ", ".join(str(value) for _, value in report.user_properties) or reason
            terminalreporter.line(f"{word}: {report.nodeid.partition('[')[2].rstrip(']')}: {told}")
