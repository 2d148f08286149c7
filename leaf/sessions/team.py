"""Team: the user's workspaces, and who belongs to this one."""

from __future__ import annotations

from leaf.errors import InvalidInputError, NotFoundError
from leaf.exports.audit import audit_csv
from leaf.identity import may_sign_in
from leaf.sessions.house import Part
from leaf.store import audit, chats, links, members, preferences, users
from leaf.store.audit import AuditLine
from leaf.store.model import Invitation, Member, Membership, Role, Scope, User

WHOLE = 1_000_000
"""More lines than an audit log has."""


class Team(Part):
    """The workspace, and whoever belongs to it."""

    def user(self) -> User:
        """Who acts. Raises NotFoundError."""
        return users.get_user(self._db, self._scope)

    def language(self) -> str:
        """The language in which the page speaks to them, as `de`; empty for that of their
        browser."""
        return preferences.language(self._db, self._scope)

    def set_language(self, language: str) -> None:
        """Choose it, everywhere they sign in. Raises InvalidInputError."""
        preferences.set_language(self._db, self._scope, language)

    def workspaces(self) -> list[Membership]:
        """The user's workspaces."""
        return members.memberships(self._db, self._scope)

    def workspace_of(self, chat_id: str) -> str:
        """The workspace of a chat that the user takes part in or may join, for links into another
        one than is open; else empty."""
        for membership in self.workspaces():
            scope = Scope(membership.workspace_id, self._scope.user_id)
            try:
                chats.get(self._db, scope, chat_id)
            except NotFoundError:
                if not links.host_of_open(self._db, scope, chat_id):
                    continue
            return membership.workspace_id
        return ""

    def rename(self, name: str) -> None:
        """Another name for the workspace. For owners. Raises InvalidInputError."""
        members.rename(self._db, self._scope, name)

    def audit(
        self, *, kind: str = "", person: str = "", limit: int = audit.PAGE, offset: int = 0
    ) -> list[AuditLine]:
        """Who did what in the workspace, newest first; of one kind and of one person (an id) if
        asked. For owners. Raises InvalidInputError."""
        return audit.page(
            self._db, self._scope, kind=kind, user_id=person, limit=limit, offset=offset
        )

    def audit_count(self, *, kind: str = "", person: str = "") -> int:
        """How many such lines there are. For owners. Raises InvalidInputError."""
        return audit.count(self._db, self._scope, kind=kind, user_id=person)

    def audit_csv(self, *, kind: str = "", person: str = "") -> str:
        """All such lines for a spreadsheet. For owners. Raises InvalidInputError."""
        lines = self.audit(kind=kind, person=person, limit=WHOLE)
        audit.note(self._db, self._scope, "audit log exported")
        return audit_csv(lines)

    def members(self) -> list[Member]:
        """Everybody in the workspace."""
        return members.list_members(self._db, self._scope)

    def set_role(self, user_id: str, role: Role) -> None:
        """For owners. Raises InvalidInputError where no owner would be left."""
        members.set_role(self._db, self._scope, user_id, role)

    def remove(self, user_id: str) -> None:
        """End a membership, its access and its running answers at once: another's (for owners), or
        one's own."""
        self._house.stop_all(members.remove(self._db, self._scope, user_id))

    def invitations(self) -> list[Invitation]:
        """Those that wait."""
        return members.list_invitations(self._db, self._scope)

    def invite(self, email: str) -> None:
        """Whoever owns the address joins at their next sign-in. For owners. Raises
        InvalidInputError."""
        address = members.clean_address(email)
        if not may_sign_in(address, self._house.settings):
            raise InvalidInputError(
                f"{address} may not sign in here.", "Whoever runs Leaf decides which addresses may."
            )
        members.invite(self._db, self._scope, email)

    def withdraw(self, invitation_id: str) -> None:
        """Take an invitation back. For owners. Raises NotFoundError."""
        members.withdraw(self._db, self._scope, invitation_id)
