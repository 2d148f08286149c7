"""Which models can be chosen, and which one is meant when nobody chose."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from leaf.agent.models.prices import PRICES
from leaf.errors import InvalidInputError, ModelError, StoreError
from leaf.settings import Settings

KEPT_SECONDS = 600.0
"""How long the server's list is believed; a failure to get it, a tenth of that."""
KEYLESS = "keyless"


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be chosen."""

    id: str
    name: str
    """For people."""


class ModelDirectory:
    """The models of the configured server. The default is chosen on the settings page and kept in the data folder."""

    def __init__(self, settings: Settings, ask: Callable[[], list[tuple[str, str]]]) -> None:
        self._settings = settings
        self._ask = ask
        """Id and name of each model, from the server. Raises ModelError."""
        self._path = settings.home / "default_model.txt"
        self._lock = threading.Lock()
        self._known: list[tuple[str, str]] = []
        self._until = 0.0

    def choices(self) -> list[ModelChoice]:
        """The default first, then what the server offers; where it does not say, the models whose price is known."""
        if self._settings.keyless:
            return [ModelChoice(KEYLESS, "No model: rules")]
        default = self.default()
        offered = dict(self._offered())
        names = {default: offered.get(default, default), **offered}
        return [ModelChoice(model, name) for model, name in names.items()]

    def default(self) -> str:
        """The model for chats that have none of their own."""
        if self._settings.keyless:
            return KEYLESS
        try:
            chosen = self._path.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return self._settings.model
        except OSError as e:
            raise StoreError(f"The chosen model cannot be read from {self._path.name}: {e.strerror}.") from e
        return chosen or self._settings.model

    def set_default(self, model: str) -> None:
        """Keep the choice. Raises InvalidInputError for a name that cannot be one."""
        if not model.strip() or len(model.split()) > 1 or len(model) > 200:
            raise InvalidInputError(
                f"'{model[:200]}' is not the name of a model.", "Choose one of the list, or type its exact name."
            )
        try:
            self._settings.home.mkdir(parents=True, exist_ok=True)
            self._path.write_text(model.strip() + "\n", encoding="utf-8")
        except OSError as e:
            raise StoreError(f"The choice cannot be kept: {e.strerror}.", "Make room in the data folder.") from e

    def _offered(self) -> list[tuple[str, str]]:
        with self._lock:
            if time.monotonic() >= self._until:
                try:
                    self._known, kept = self._ask(), KEPT_SECONDS
                except ModelError:
                    kept = KEPT_SECONDS / 10
                    self._known = self._known or ([] if self._settings.model_url else [(name, name) for name in PRICES])
                self._until = time.monotonic() + kept
            return self._known
