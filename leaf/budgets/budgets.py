"""Budgets at this moment: what a caller used, what is left, and whether a model may still be asked
on their behalf.

Every turn of every run is counted as soon as it is over and asked for before the next begins, so
runs at the same time go over a budget by one turn each at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from leaf.budgets.periods import RANGES, Range, period, range_start
from leaf.budgets.rules import Meter, effective, meters, nearly, tight, used_up, within
from leaf.errors import BudgetError, InvalidInputError
from leaf.settings import Allowance, Settings
from leaf.store import budgets, usage
from leaf.store.budgets import MEMBERS, WORKSPACE
from leaf.store.database import Database
from leaf.store.model import Budget, DayUsage, NamedUsage, Scope, UsageTotal
from leaf.store.users import LOCAL_EMAIL, get_user


@dataclass(frozen=True)
class Standing:
    """How a caller stands now."""

    meters: tuple[Meter, ...]
    """Of the caller, then of the workspace; only what is limited."""
    reached: str = ""
    """The sentence for a budget that is used up, with what to do; empty while there is something
    left."""
    warning: str = ""
    """One sentence from 80 % on; the same as `reached` when it is used up."""


@dataclass(frozen=True)
class BudgetPlan:
    """What is set and what can be: for owners, to change it."""

    owner: bool
    """Whether the caller may set budgets."""
    alone: bool
    """Whether this is an app without sign-in, whose one user needs no budgets for others."""
    chosen: dict[str, Budget]
    """By subject: `workspace`, `members`, a user's id."""
    default_user: Allowance
    """What holds for a member for whom nothing is set."""
    default_workspace: Allowance
    most_user: Allowance
    most_workspace: Allowance


@dataclass(frozen=True)
class UsageReport:
    """What was used since a moment, by the caller or by everybody in the workspace."""

    range: Range
    since: datetime | None
    now: datetime
    zone: str
    whose: usage.Whose
    owner: bool
    """Whether the caller may see everybody's."""
    total: UsageTotal
    workspace: UsageTotal
    """The sum of the workspace, which every member may see."""
    days: tuple[DayUsage, ...]
    models: tuple[NamedUsage, ...]
    chats: tuple[NamedUsage, ...]
    users: tuple[NamedUsage, ...]
    """Only with `whose` everyone."""


class Budgets:
    """Asks the store; holds nothing between calls. `clock` is the moment in UTC."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        free: Callable[[Scope], bool] | None = None,
    ) -> None:
        """`free` says whom rules answer, which cost nothing; by the settings where it is not
        given."""
        self._free = free or (lambda _scope: settings.keyless)
        self._db = db
        self._settings = settings
        self._clock = clock
        self._zone = ZoneInfo(settings.time_zone)

    # What holds

    def check(self, scope: Scope) -> None:
        """Raises BudgetError where nothing is left for the caller, or for the workspace."""
        if meter := self._reached(scope):
            raise BudgetError(*self._words(scope, meter))

    def reached(self, scope: Scope) -> str:
        """The same as a sentence; empty while something is left."""
        meter = self._reached(scope)
        return " ".join(self._words(scope, meter)) if meter else ""

    def standing(self, scope: Scope) -> Standing:
        """All meters, and what has to be said of them."""
        all_meters = self._meters(scope)
        worst = tight(all_meters)
        if worst is None or worst.state == "ok":
            return Standing(tuple(all_meters))
        if worst.state == "near":
            return Standing(tuple(all_meters), warning=nearly(worst))
        message = " ".join(self._words(scope, worst))
        return Standing(tuple(all_meters), message, message)

    def plan(self, scope: Scope) -> BudgetPlan:
        """What is set, and within what."""
        settings = self._settings
        return BudgetPlan(
            owner=budgets.role(self._db, scope) == "owner",
            alone=self._alone(scope),
            chosen=budgets.list_budgets(self._db, scope),
            default_user=effective([settings.budget_user], settings.budget_user_max),
            default_workspace=effective([settings.budget_workspace], settings.budget_workspace_max),
            most_user=settings.budget_user_max,
            most_workspace=settings.budget_workspace_max,
        )

    def set(self, scope: Scope, subject: str, allowance: Allowance) -> None:
        """Set a budget; empty figures give it back to what holds otherwise. For owners.

        Raises InvalidInputError for less than nothing, more than the installation's maximum, or a
        caller who is no owner.
        """
        if any(value is not None and not 0 <= value < 1e15 for value in asdict(allowance).values()):
            raise InvalidInputError(
                "A budget cannot be less than nothing.",
                "Give 0 or more, or leave it empty for no budget.",
            )
        most = (
            self._settings.budget_workspace_max
            if subject == WORKSPACE
            else self._settings.budget_user_max
        )
        if problem := within(allowance, most):
            raise InvalidInputError(problem, "Give less, or ask whoever runs Leaf to allow more.")
        budgets.set_budget(self._db, scope, subject, allowance)

    # What was used

    def report(self, scope: Scope, chosen: Range, whose: usage.Whose = "mine") -> UsageReport:
        """For the usage page. Raises InvalidInputError for `everyone` by somebody who is no owner,
        or an unknown range."""
        owner = budgets.role(self._db, scope) == "owner"
        if whose == "everyone" and not owner:
            raise InvalidInputError(
                "Only an owner of the workspace sees what others used.", "Look at your own usage."
            )
        moment = self._clock()
        since = self._since(chosen, moment)
        db, everyone = self._db, whose == "everyone"
        return UsageReport(
            range=chosen,
            since=since,
            now=moment,
            zone=self._settings.time_zone,
            whose=whose,
            owner=owner,
            total=usage.total(db, scope, since=since, whole=everyone),
            workspace=usage.total(db, scope, since=since, whole=True),
            days=tuple(usage.by_day(db, scope, whose, self._settings.time_zone, since=since)),
            models=tuple(usage.by_model(db, scope, whose, since=since)),
            chats=tuple(usage.by_chat(db, scope, whose, since=since)),
            users=tuple(usage.by_user(db, scope, whose, since=since)) if everyone else (),
        )

    def operator_usage(
        self, chosen: Range, by: Literal["day", "model", "user"]
    ) -> list[NamedUsage]:
        """Of everybody in all workspaces. For whoever runs Leaf. Raises InvalidInputError for an
        unknown range."""
        since = self._since(chosen, self._clock())
        return usage.unscoped_by(self._db, by, self._settings.time_zone, since=since)

    def _since(self, chosen: Range, moment: datetime) -> datetime | None:
        if chosen not in RANGES:
            raise InvalidInputError(f"No range '{chosen}'.", f"Choose one of {', '.join(RANGES)}.")
        return range_start(chosen, moment, self._zone)

    # Meters

    def _reached(self, scope: Scope) -> Meter | None:
        worst = tight(self._meters(scope))
        return worst if worst and worst.state == "used up" else None

    def _meters(self, scope: Scope) -> list[Meter]:
        """None without a model, whose rules cost nothing. Sums are asked for only where something
        is limited."""
        settings = self._settings
        if self._free(scope):
            return []
        chosen = {
            subject: budget.allowance
            for subject, budget in budgets.list_budgets(self._db, scope).items()
        }
        of_user = [
            chosen.get(scope.user_id, Allowance()),
            chosen.get(MEMBERS, Allowance()),
            settings.budget_user,
        ]
        of_workspace = [chosen.get(WORKSPACE, Allowance()), settings.budget_workspace]
        user = effective(of_user, settings.budget_user_max)
        workspace = effective(of_workspace, settings.budget_workspace_max)
        if not user and not workspace:
            return []
        moment = self._clock()
        day, month = period("day", moment, self._zone), period("month", moment, self._zone)
        mine, everyone = usage.used(self._db, scope, day=day.start, month=month.start)
        zone = settings.time_zone
        return [
            *meters("user", user, settings.budget_user_max, asdict(mine), (day, month), zone),
            *meters(
                "workspace",
                workspace,
                settings.budget_workspace_max,
                asdict(everyone),
                (day, month),
                zone,
            ),
        ]

    def _words(self, scope: Scope, meter: Meter) -> tuple[str, str]:
        return used_up(meter, owner=budgets.role(self._db, scope) == "owner")

    def _alone(self, scope: Scope) -> bool:
        return get_user(self._db, scope).email == LOCAL_EMAIL
