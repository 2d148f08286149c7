"""What may be used in a day and in a month, and how it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from leaf.errors import SettingsError
from leaf.settings.readers import MOST


@dataclass(frozen=True)
class Allowance:
    """What may be used in a day and in a month; None where nothing is said. Tokens are input and
    output together."""

    NAMES: ClassVar[tuple[str, ...]] = ("day_usd", "day_tokens", "month_usd", "month_tokens")

    day_usd: float | None = None
    day_tokens: int | None = None
    month_usd: float | None = None
    month_tokens: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return any(getattr(self, name) is not None for name in self.NAMES)


_FIGURE = re.compile(
    r"(?:\$\s*(?P<dollars>[\d.]+)|(?P<number>[\d._]+)\s*(?P<times>[km]?)\s*(?P<unit>usd|tokens?))\s*/\s*(?P<span>day|month)"
)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def allowance(given: str, key: str) -> Allowance:
    """`$5/day, 2M tokens/month`. Raises SettingsError."""
    figures: dict[str, float] = {}
    for piece in filter(None, (p.strip() for p in given.split(","))):
        match = _FIGURE.fullmatch(piece.lower())
        try:
            if match is None:
                raise ValueError
            amount = float(match["dollars"] or match["number"]) * _TIMES[match["times"] or ""]
            if not amount < MOST:
                raise ValueError
        except ValueError as e:
            raise SettingsError(
                f"{key} holds '{piece[:80]}'.",
                "Write budgets like: $5/day, $50/month, 2M tokens/day, 500k tokens/month.",
            ) from e
        money = match["dollars"] is not None or match["unit"] == "usd"
        figures[f"{match['span']}_{'usd' if money else 'tokens'}"] = amount
    tokens = {name: int(value) for name, value in figures.items() if name.endswith("tokens")}
    return Allowance(
        figures.get("day_usd"),
        tokens.get("day_tokens"),
        figures.get("month_usd"),
        tokens.get("month_tokens"),
    )
