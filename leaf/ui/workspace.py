"""The workspace in Settings: its name, its members, who is invited, and leaving it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.language.text import mark, t
from leaf.store.model import Invitation, Member
from leaf.ui import markdown
from leaf.ui.controls import icon_button, icon_menu, say_problem, then_redraw
from leaf.ui.dialogs import dialog
from leaf.ui.state import current_visit, session

MAKE_OWNER, MAKE_MEMBER, REMOVE = mark("Make owner"), mark("Make member"), mark("Remove")

ROLES = {"owner": mark("Owner"), "member": mark("Member")}


def draw() -> None:
    """Nothing in an app without sign-in, which has one user."""
    visit = current_visit()
    if visit is None:
        return
    scope = visit.scope
    name = next(
        (w.name for w in session().team.workspaces() if w.workspace_id == scope.workspace_id), ""
    )
    members = session().team.members()
    owner = any(m.user_id == scope.user_id and m.role == "owner" for m in members)
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.header(markdown.label(name), anchor=False, width="content")
        if owner and icon_button(t("Rename this workspace"), "rename-workspace", "edit"):
            _rename(name)
    st.caption(
        t(
            "Members see all files of the workspace. A chat is seen only by those with "
            "whom it is shared."
        )
    )
    say_problem()
    with st.container(key="members", gap=None):
        for member in members:
            _draw_member(member, owner)
        for invitation in session().team.invitations():
            _draw_invitation(invitation, owner)
    if owner:
        _draw_invite()
    _draw_leave(name, members)


def _draw_member(member: Member, owner: bool) -> None:
    mine = member.user_id == session().scope.user_id
    name = markdown.label(member.name, 60)
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"member-{member.user_id}"
    ):
        you = t(" (you)") if mine else ""
        st.markdown(
            f"**{name}**{you}  \n:small[{markdown.label(member.email, 80)}]", width="stretch"
        )
        st.caption(t(ROLES[member.role]), width="content")
        if owner:
            role = MAKE_MEMBER if member.role == "owner" else MAKE_OWNER
            chosen = icon_menu(
                t("Change {name}", name=name),
                [role] if mine else [role, REMOVE],
                key=f"member-menu-{member.user_id}",
            )
            if chosen == REMOVE:
                _remove(member)
            elif chosen:
                then_redraw(
                    session().team.set_role,
                    member.user_id,
                    "owner" if chosen == MAKE_OWNER else "member",
                )


def _draw_invitation(invitation: Invitation, owner: bool) -> None:
    address = markdown.label(invitation.email, 80)
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        wrap=False,
        key=f"member-invited-{invitation.id}",
    ):
        invited_by = markdown.label(invitation.invited_by, 60)
        st.markdown(
            t(
                "{address}  \n:small[Invited by {invited_by}; joins at the next sign-in]",
                address=address,
                invited_by=invited_by,
            ),
            width="stretch",
        )
        st.caption(t("Invited"), width="content")
        if owner and icon_button(
            t("Take back the invitation of {address}", address=address),
            f"withdraw-{invitation.id}",
            "close",
        ):
            then_redraw(session().team.withdraw, invitation.id)


def _draw_invite() -> None:
    with (
        st.form("invite", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        email = st.text_input(
            t("Invite by e-mail"),
            placeholder="ann@example.org",
            icon=":material/person_add:",
            max_chars=254,
        )
        if st.form_submit_button(t("Invite")):
            then_redraw(session().team.invite, email or "")
    st.caption(
        t(
            "Leaf sends no mail: tell them the address of this page. They join when "
            "they sign in with that e-mail address."
        )
    )


def _draw_leave(name: str, members: Sequence[Member]) -> None:
    if len(members) > 1 and st.button(
        t("Leave this workspace"), key="leave-workspace", icon=":material/logout:", type="tertiary"
    ):
        _leave(name)


@dialog("Rename workspace")
def _rename(name: str) -> None:
    with st.form("rename-workspace-form", border=False):
        new_name = st.text_input(t("Name"), value=name, max_chars=80)
        if st.form_submit_button(t("Rename"), type="primary"):
            then_redraw(session().team.rename, new_name or "")


@dialog("Remove from the workspace")
def _remove(member: Member) -> None:
    st.markdown(
        t(
            "{name} loses access to files and shared chats at once. Chats of their own "
            "are kept, and are there again if you invite them again.",
            name=markdown.label(member.name, 60),
        )
    )
    if st.button(t("Remove"), type="primary", key="remove-member"):
        then_redraw(session().team.remove, member.user_id)


@dialog("Leave the workspace")
def _leave(name: str) -> None:
    st.markdown(
        t(
            "You lose access to the files and chats of {name} until somebody invites you again.",
            name=markdown.label(name),
        )
    )
    if st.button(t("Leave"), type="primary", key="leave-workspace-now"):
        then_redraw(session().team.remove, session().scope.user_id)
