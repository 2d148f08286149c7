"""The audit log: every action leaves a line with who, where and on which id, in the transaction of
what it tells of, and never a word of content."""

from __future__ import annotations

import csv
import io
import os
from datetime import timedelta
from pathlib import Path

import pytest
import streamlit as st

from leaf.agent.connections import ModelDraft
from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, NotFoundError, SignInError
from leaf.exports.audit import audit_csv
from leaf.language.text import speaking
from leaf.sessions.session import Session
from leaf.settings import Allowance, Settings
from leaf.store import audit, integrations, members
from leaf.store.database import now
from leaf.store.model import Scope
from leaf.ui import audit as ui_audit
from leaf.ui import audit_words
from tests.leaf_kit import CLAIMS, SALES, add, opened

SECRET = "Aurelia"


def claims(name: str) -> dict[str, object]:
    mail = f"{name.split()[0].lower()}@example.org"
    return {**CLAIMS, "sub": name, "name": name, "email": mail, "nonce": os.urandom(8).hex()}


def told(session: Session, **wanted: str) -> list[tuple[str, str, str]]:
    """Action, who and outcome, oldest first."""
    found = session.team.audit(limit=1_000, **wanted)  # type: ignore[arg-type]
    return [(line.action, line.who, line.outcome) for line in reversed(found)]


def test_whatever_is_done_is_written_down_and_nothing_of_what_it_was_about(
    settings: Settings, tmp_path: Path
) -> None:
    allowed = {"own_models": "on"}
    with opened(settings.home, database_url=settings.database_url, **allowed) as leaf:
        visit = leaf.sign_in(claims("Ann Example"))
        ann = leaf.session(visit.scope)
        ann.team.invite("cy@example.org")
        (invitation,) = ann.team.invitations()
        ann.team.withdraw(invitation.id)
        ann.team.invite("bob@example.org")
        bob_visit = leaf.sign_in(claims("Bob Example"), visit.scope.workspace_id)
        bob = leaf.session(Scope(visit.scope.workspace_id, bob_visit.user.id))
        file = add(ann, f"{SECRET}.csv", SALES)
        chat = ann.chats.create()
        ann.chats.rename(chat.id, SECRET)
        ann.attached.add(chat.id, [file.id])
        ann.tools.run("query_tables", {"sql": "SELECT 1 AS one"}, chat_id=chat.id)
        ann.chats.add_participant(chat.id, "bob@example.org")
        ann.chats.export(chat.id, "markdown", tmp_path)
        ann.results.export(chat.id, "r1", into=tmp_path)
        ann.files.download(file.id)
        ann.usage.csv()
        ann.chats.remove_participant(chat.id, bob.scope.user_id)
        ann.chats.delete(chat.id)
        ann.chats.restore(chat.id)
        ann.files.delete(file.id)
        ann.files.restore(file.id)
        ann.usage.set_budget("workspace", Allowance(day_tokens=1))
        ann.team.rename(SECRET)
        db = leaf._house.store.db
        integrations.put(db, ann.scope, "google-drive", f"{SECRET}@example.org", SECRET, {})
        integrations.delete(db, ann.scope, "google-drive")
        integrations.delete(db, ann.scope, "google-drive")
        server = ModelDraft(key=f"sk-{SECRET}", model="claude-sonnet-5-5")
        ann.models.save(server)
        for _ in range(2):
            ann.models.remove()
        ann.team.set_role(bob.scope.user_id, "owner")
        ann.chats.purge(chat.id)
        ann.files.purge(file.id)
        ann.team.remove(bob.scope.user_id)
        leaf.sign_out(visit)
        assert [(action, who.partition("@")[0]) for action, who, _ in told(ann)] == [
            ("signed in", "ann"),
            ("invited", "ann"),
            ("invitation taken back", "ann"),
            ("invited", "ann"),
            ("joined", "bob"),
            ("signed in", "bob"),
            ("brought into chat", "ann"),
            ("chat exported", "ann"),
            ("result exported", "ann"),
            ("file downloaded", "ann"),
            ("usage exported", "ann"),
            ("taken out of chat", "ann"),
            ("chat deleted", "ann"),
            ("chat restored", "ann"),
            ("file deleted", "ann"),
            ("file restored", "ann"),
            ("budget set", "ann"),
            ("workspace renamed", "ann"),
            ("Drive connected", "ann"),
            ("Drive disconnected", "ann"),
            ("model connected", "ann"),
            ("model disconnected", "ann"),
            ("made owner", "ann"),
            ("chat deleted", "ann"),
            ("chat deleted for good", "ann"),
            ("file deleted for good", "ann"),
            ("removed from workspace", "ann"),
            ("signed out", "ann"),
        ]
        assert SECRET not in repr(db.read("SELECT * FROM audit"))
        assert {line.subject for line in ann.team.audit(kind="deletion")} == {chat.id, file.id}
        assert {who for _, who, _ in told(ann, person=bob.scope.user_id)} == {"bob@example.org"}


def test_what_failed_is_not_written_down(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        for act in (
            lambda: session.chats.delete("nothing"),
            lambda: session.files.purge("nothing"),
            lambda: session.chats.export("nothing", "markdown", tmp_path),
            lambda: session.team.set_role(session.scope.user_id, "member"),
        ):
            with pytest.raises(LeafError):
                act()
        assert told(session) == []


def test_a_refused_sign_in_is_written_once_an_hour_for_the_operator_alone(tmp_path: Path) -> None:
    with opened(tmp_path, allowed_domains=("example.com",)) as leaf:
        for _ in range(3):
            with pytest.raises(SignInError):
                leaf.sign_in(claims("Eve Example"))
        (line,) = leaf.audit("sign-in")
        assert (line.action, line.subject, line.outcome) == (
            "sign-in",
            "eve@example.org",
            "refused",
        )
        assert leaf.audit(email="EVE@example.org") == [line]
        assert told(leaf.session(leaf.local_scope())) == []


def test_owners_alone_read_the_log_of_their_workspace(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        ann = leaf.session(leaf.sign_in(claims("Ann Example")).scope)
        ann.team.invite("bob@example.org")
        bob = leaf.sign_in(claims("Bob Example"))
        eve = leaf.sign_in(claims("Eve Example")).scope
        member = leaf.session(Scope(ann.scope.workspace_id, bob.user.id))
        forger = leaf.session(Scope(ann.scope.workspace_id, eve.user_id))
        for read in (
            lambda s: s.team.audit(),
            lambda s: s.team.audit_csv(),
            lambda s: s.team.audit_count(),
        ):
            with pytest.raises(InvalidInputError, match="Only an owner"):
                read(member)
            with pytest.raises(NotFoundError):
                read(forger)
        audit.note(leaf._house.store.db, forger.scope, "usage exported")
        assert "usage exported" not in [line.action for line in leaf.audit()]
        assert {line.workspace_id for line in ann.team.audit()} == {ann.scope.workspace_id}


def test_pages_follow_one_another_and_old_lines_go(settings: Settings) -> None:
    with opened(settings.home, database_url=settings.database_url) as leaf:
        session = leaf.session(leaf.local_scope())
        db = leaf._house.store.db
        for number in range(120):
            with db.transaction() as tx:
                audit.add(tx, session.scope, "file deleted", f"{number}")
        assert session.team.audit_count() == 120
        pages = [session.team.audit(offset=offset) for offset in (0, 50, 100)]
        assert [len(page) for page in pages] == [50, 50, 20]
        assert [line.subject for page in pages for line in page] == [
            str(n) for n in reversed(range(120))
        ]
        with db.transaction() as tx:
            old = now() - timedelta(days=401)
            tx.execute(
                "UPDATE audit SET happened_at = :old WHERE subject IN ('1', '2', '3')", {"old": old}
            )
        audit.unscoped_sweep(db, timedelta(days=400))
        assert session.team.audit_count() == 117
        with pytest.raises(InvalidInputError, match="Choose sign-in"):
            session.team.audit(kind="anything")
        with pytest.raises(ValueError, match="made up"), db.transaction() as tx:
            audit.add(tx, session.scope, "made up")


def test_the_csv_holds_no_formula(tmp_path: Path) -> None:
    line = audit.AuditLine("i", now(), "w", "u", "=cmd()@example.org", "sign-in", "+1+2", "refused")
    head, row = csv.reader(io.StringIO(audit_csv([line])))
    assert head[0] == "time (UTC)"
    assert not any(cell.startswith(("=", "+")) for cell in row)
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        session.chats.delete(session.chats.create().id)
        assert "chat deleted" in session.team.audit_csv()
        assert told(session)[-1][0] == "audit log exported"


def test_every_action_that_the_code_writes_is_known_and_none_is_left_over() -> None:
    """Roles come into the text by a variable."""
    source = "".join(p.read_text() for p in (Path(audit.__file__).parents[1]).rglob("*.py"))
    written = source.replace(Path(audit.__file__).read_text(), "")
    written = written.replace(Path(audit_words.__file__).read_text(), "")
    assert "made owner" in audit.ACTIONS
    left = [a for a in audit.ACTIONS if f'"{a}"' not in written and not a.startswith("made ")]
    assert left == []
    assert set(audit.ACTIONS.values()) == set(audit.KINDS)
    assert tuple(audit.ACTIONS) == audit_words.SAID


def test_the_log_is_drawn_in_the_language_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(st, "markdown", drawn.append)
    line = audit.AuditLine("1", now(), "w", "u", "ann@example.org", "chat exported", "c", "done")
    with speaking("de"):
        ui_audit.draw_lines([line], {}, "lines")
    assert "Chat exportiert" in drawn[0]


def test_an_account_that_is_gone_leaves_ids_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        ann = leaf.session(leaf.sign_in(claims("Ann Example")).scope)
        ann.team.invite("bob@example.org")
        leaf.sign_in(claims("Bob Example"))
        _purge(leaf, "bob@example.org")
        assert "bob" not in repr(ann.team.audit()).lower()
        assert [line.action for line in ann.team.audit()][-1] == "signed in"
        assert members.list_members(leaf._house.store.db, ann.scope)[0].email == "ann@example.org"


def _purge(leaf: Leaf, email: str) -> None:
    assert leaf.purge_account(email)
