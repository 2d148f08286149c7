"""What the wheel depends on: the packages of requirements.txt, which is the only list of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Fills `dependencies` when a wheel is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        lines = (Path(self.root) / "requirements.txt").read_text(encoding="utf-8").splitlines()
        metadata["dependencies"] = [
            found for line in lines if (found := line.partition("#")[0].strip())
        ]
