"""From figures to meters to sentences. Pure: no clock, no store and no page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from leaf.budgets.periods import Period, Span
from leaf.language.amounts import MONTHS
from leaf.settings import Allowance

Whose = Literal["user", "workspace"]
Unit = Literal["usd", "tokens"]
NEAR = 0.8
"""Share of a budget from which it is warned of."""
FIGURES: tuple[tuple[Span, Unit], ...] = (
    ("day", "usd"),
    ("month", "usd"),
    ("day", "tokens"),
    ("month", "tokens"),
)


@dataclass(frozen=True)
class Meter:
    """One budget and what is used of it."""

    whose: Whose
    span: Span
    unit: Unit
    limit: float
    used: float
    month: str
    """`November`; empty for a day."""
    ends: datetime
    """UTC, when it begins anew."""
    ends_text: str
    """The same in words: `at midnight (UTC)`, `on 1 December (UTC)`."""
    highest: bool = False
    """Whether owners cannot allow more: it is all that the installation gives."""

    @property
    def share(self) -> float:
        """1.0 for a budget that is just used up."""
        return self.used / self.limit if self.limit else 1.0

    @property
    def left(self) -> float:
        return max(0.0, self.limit - self.used)

    @property
    def state(self) -> Literal["ok", "near", "used up"]:
        return "used up" if self.share >= 1 else "near" if self.share >= NEAR else "ok"


def effective(chosen: Sequence[Allowance], most: Allowance) -> Allowance:
    """For each figure the first that is said, and never more than `most`, which holds where nothing
    is said."""
    figures = {}
    for name in Allowance.NAMES:
        choice = next(
            (value for value in (getattr(a, name) for a in chosen) if value is not None), None
        )
        limits = [value for value in (choice, getattr(most, name)) if value is not None]
        figures[name] = min(limits) if limits else None
    return Allowance(**figures)


def meters(
    whose: Whose,
    allowance: Allowance,
    most: Allowance,
    used: Mapping[str, float],
    periods: Sequence[Period],
    zone: str,
) -> list[Meter]:
    """A meter for each figure that is limited. `used` by the names of `Allowance`."""
    by_span = {period.span: period for period in periods}
    all_meters = []
    for span, unit in FIGURES:
        name = f"{span}_{unit}"
        limit, top = getattr(allowance, name), getattr(most, name)
        if limit is None:
            continue
        period = by_span[span]
        month = MONTHS[period.first.month - 1] if span == "month" else ""
        ends = (
            f"at midnight ({zone})"
            if span == "day"
            else f"on 1 {MONTHS[period.first.month % 12]} ({zone})"
        )
        highest = top is not None and limit >= top
        all_meters.append(
            Meter(
                whose, span, unit, float(limit), float(used[name]), month, period.end, ends, highest
            )
        )
    return all_meters


def tight(all_meters: Sequence[Meter]) -> Meter | None:
    """The budget that matters most: of those that are used up the one that lasts longest, else the
    one that is fullest."""
    reached = [meter for meter in all_meters if meter.share >= 1]
    if reached:
        return max(reached, key=lambda meter: meter.ends)
    return max(all_meters, key=lambda meter: meter.share, default=None)


def used_up(meter: Meter, *, owner: bool) -> tuple[str, str]:
    """The sentence and the hint for a budget that is used up."""
    whose = "Your" if meter.whose == "user" else "The workspace's"
    when = "today" if meter.span == "day" else meter.month
    sentence = (
        f"{whose} budget of {amount(meter.limit, meter.unit)} for {when} is used up "
        f"({amount(meter.used, meter.unit)})."
    )
    if not meter.limit:
        sentence = (
            f"{whose} budget for {when} is {amount(0, meter.unit)}, so no model can be asked."
        )
    if meter.highest:
        key = "LEAF_BUDGET_USER_MAX" if meter.whose == "user" else "LEAF_BUDGET_WORKSPACE_MAX"
        raise_it = f"or whoever runs Leaf raises it ({key})"
    elif owner:
        raise_it = "or you raise it on the Usage page"
    else:
        raise_it = "or an owner raises it on the Usage page"
    return sentence, f"It begins anew {meter.ends_text}, {raise_it}."


def nearly(meter: Meter) -> str:
    """The warning for a budget that is nearly used up."""
    whose = "your" if meter.whose == "user" else "the workspace's"
    when = "today" if meter.span == "day" else meter.month
    return (
        f"{percent(meter.share)} of {whose} budget for {when} is used: "
        f"{amount(meter.used, meter.unit)} of {amount(meter.limit, meter.unit)}."
    )


def amount(value: float, unit: Unit) -> str:
    """`$5.00`, `$0.0041`, `2,000,000 tokens`."""
    if unit == "tokens":
        return f"{value:,.0f} tokens"
    if 0 < value < 0.1:
        return f"${value:.4f}" if value >= 0.0001 else "less than $0.0001"
    return f"${value:,.2f}"


def percent(share: float) -> str:
    """`84 %`; never 100 while something is left."""
    return f"{min(99, int(share * 100)) if share < 1 else round(share * 100)} %"


def within(allowance: Allowance, most: Allowance) -> str:
    """What of it is more than `most`, in words; empty if nothing is."""
    for span, unit in FIGURES:
        name = f"{span}_{unit}"
        value, top = getattr(allowance, name), getattr(most, name)
        if value is not None and top is not None and value > top:
            return (
                f"{amount(value, unit)} a {span} is more than this installation allows "
                f"({amount(top, unit)})."
            )
    return ""
