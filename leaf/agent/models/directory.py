"""Which models can be chosen, and which one is the default. The choice is kept in the data folder, across restarts."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leaf.errors import LeafError, StoreError
from leaf.settings import Settings

KEEP_SECONDS = 600.0
"""How long a list from the server is taken as current."""
KEYLESS = "keyless"
"""Name under which the rules answer."""


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be chosen."""

    id: str
    name: str


class ModelDirectory:
    """The server's list of models, asked for at most every ten minutes, and the chosen default."""

    def __init__(self, settings: Settings, ask: Callable[[], list[tuple[str, str]]]) -> None:
        """`ask` gives (id, name) of each model. Raises ModelError."""
        self._settings = settings
        self._ask = ask
        self._path = settings.home / "preferences.json"
        self._lock = threading.Lock()
        self._choices: list[ModelChoice] = []
        self._asked_at = -KEEP_SECONDS
        self.problem = ""
        """Why the server's list could not be had, empty when it could."""

    def choices(self) -> list[ModelChoice]:
        """Models to choose from, the default one among them. Without a key: the rules alone."""
        if self._settings.keyless:
            return [ModelChoice(KEYLESS, "Rules (no model connected)")]
        with self._lock:
            if time.monotonic() - self._asked_at >= KEEP_SECONDS:
                self._refresh()
            found = list(self._choices)
        if not any(choice.id == self.default() for choice in found):
            found.insert(0, ModelChoice(self.default(), self.default()))
        return found

    def default(self) -> str:
        """The model for chats that have none of their own."""
        return KEYLESS if self._settings.keyless else str(self._read().get("model") or self._settings.model)

    def set_default(self, model: str) -> None:
        """Choose it; empty goes back to the settings. Raises StoreError."""
        kept = {**self._read(), "model": model}
        draft = self._path.with_suffix(".tmp")
        try:
            draft.write_text(json.dumps(kept))
            os.replace(draft, self._path)
        except OSError as e:
            raise StoreError(f"The choice could not be saved: {e.strerror}.", "Check the data folder.") from e

    def _refresh(self) -> None:
        self._asked_at = time.monotonic()
        try:
            self._choices = [ModelChoice(model_id, name) for model_id, name in self._ask()]
            self.problem = ""
        except LeafError as e:
            self.problem = str(e)

    def _read(self) -> dict[str, object]:
        try:
            kept = json.loads(Path(self._path).read_text())
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}
