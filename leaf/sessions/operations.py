"""Operations: what whoever runs Leaf sees of all of it."""

from __future__ import annotations

from leaf.errors import InvalidInputError, NotFoundError
from leaf.exports.audit import audit_csv
from leaf.sessions.house import Part
from leaf.store import audit, users
from leaf.store.audit import AuditLine

WHOLE = 1_000_000
"""More lines than an audit log has."""


class Operations(Part):
    """The operator's view. Whoever is none meets InvalidInputError in all but `allowed`."""

    def allowed(self) -> bool:
        """Whether the user runs this Leaf: one of `LEAF_OPERATORS` where people sign in, else the
        one person of a Leaf that nobody else reaches."""
        settings = self._house.settings
        if users.is_local(self._db, self._scope):
            return not settings.allow_open
        try:
            return users.get_user(self._db, self._scope).email in settings.operators
        except NotFoundError:
            return False

    def audit(
        self, *, kind: str = "", email: str = "", limit: int = audit.PAGE, offset: int = 0
    ) -> list[AuditLine]:
        """Who did what in all workspaces, newest first; of one kind and about one address if
        asked."""
        self._check()
        return audit.unscoped_page(self._db, kind, email, limit, offset)

    def audit_count(self, *, kind: str = "", email: str = "") -> int:
        """How many such lines there are."""
        self._check()
        return audit.unscoped_count(self._db, kind, email)

    def audit_csv(self, *, kind: str = "", email: str = "") -> str:
        """All such lines for a spreadsheet."""
        lines = self.audit(kind=kind, email=email, limit=WHOLE)
        audit.note(self._db, self._scope, "audit log exported")
        return audit_csv(lines)

    def _check(self) -> None:
        if not self.allowed():
            raise InvalidInputError(
                "This is for whoever runs this Leaf.", "Ask them, or look into Settings."
            )
