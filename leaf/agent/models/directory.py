"""Which models can be chosen, and which one is meant when nobody chose."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from leaf.agent.models.prices import PRICES
from leaf.errors import InvalidInputError, ModelError
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


class DefaultModel(Protocol):
    """Where the model for chats that have none of their own is kept."""

    def read(self) -> str:
        """Empty where nobody chose. Raises StoreError."""

    def write(self, model: str) -> None:
        """Raises StoreError."""


class ModelDirectory:
    """The models of one server."""

    def __init__(
        self,
        settings: Settings,
        ask: Callable[[], list[tuple[str, str]]],
        default: DefaultModel | None = None,
        known: Sequence[tuple[str, str]] = (),
    ) -> None:
        """`default` is where a choice is kept; without one there is none. `known` are the models that
        the server offered earlier."""
        self._settings = settings
        self._ask = ask
        """Id and name of each model, from the server. Raises ModelError."""
        self._default = default
        self._lock = threading.Lock()
        self._told = frozenset(model for model, _ in known)
        """What the server says it has; empty where it never said."""
        self._known = list(known)
        self._until = 0.0

    def choices(self) -> list[ModelChoice]:
        """The default first, then what the server offers; where it does not say, the models whose
        price is known."""
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
        return (self._default.read() if self._default else "") or self._settings.model

    def meant(self, chosen: str) -> str:
        """Which model answers where a chat has this one: it, unless it was chosen for another
        server and this one says that it has no such model. Asks no server."""
        if self._settings.keyless or chosen in ("", KEYLESS):
            return self.default()
        if not self._settings.model_url and not chosen.startswith("claude"):
            return self.default()
        return chosen if not self._told or chosen in self._told else self.default()

    def set_default(self, model: str) -> None:
        """Keep the choice. Raises InvalidInputError for a name that cannot be one, and where no
        model can be chosen."""
        if self._default is None:
            raise InvalidInputError("No model is connected, so none can be chosen.", "Connect one.")
        self._default.write(model_name(model))

    def _offered(self) -> list[tuple[str, str]]:
        with self._lock:
            if time.monotonic() >= self._until:
                try:
                    self._known, seconds = self._ask(), KEPT_SECONDS
                except ModelError:
                    seconds = KEPT_SECONDS / 10
                    self._known = self._known or (
                        [] if self._settings.model_url else [(name, name) for name in PRICES]
                    )
                self._until = time.monotonic() + seconds
            return self._known


def model_name(given: str) -> str:
    """Without blanks around it. Raises InvalidInputError for a name that cannot be one."""
    if not given.strip() or len(given.split()) > 1 or len(given) > 200:
        raise InvalidInputError(
            f"'{given[:200]}' is not the name of a model.",
            "Choose one of the list, or type its exact name.",
        )
    return given.strip()
