"""Usage: what the user's answers used, what is left, and what an owner allows."""

from __future__ import annotations

from leaf.budgets.budgets import BudgetPlan, Standing, UsageReport
from leaf.budgets.export import days_csv
from leaf.budgets.periods import Range
from leaf.sessions.house import Part
from leaf.settings import Allowance
from leaf.store import audit
from leaf.store.usage import Whose


class Usage(Part):
    """Tokens and money, of the user or of their workspace."""

    def report(self, range: Range = "30d", whose: Whose = "mine") -> UsageReport:
        """What the caller used, or an owner's workspace. Raises InvalidInputError for `everyone` by
        somebody who is no owner."""
        return self._house.budgets.report(self._scope, range, whose)

    def csv(self, range: Range = "30d", whose: Whose = "mine") -> str:
        """The same by day and model, for a spreadsheet."""
        report = self.report(range, whose)
        audit.note(self._db, self._scope, "usage exported")
        return days_csv(report)

    def standing(self) -> Standing:
        """What is left of the budgets that hold for the caller."""
        return self._house.budgets.standing(self._scope)

    def plan(self) -> BudgetPlan:
        """What is set in the workspace, and what can be."""
        return self._house.budgets.plan(self._scope)

    def set_budget(self, subject: str, allowance: Allowance) -> None:
        """For owners; `subject` is `workspace`, `members` or a user's id. Raises InvalidInputError,
        NotFoundError."""
        self._house.budgets.set(self._scope, subject, allowance)
