"""Saved prompts, on both databases: whose they are, who reads them, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError, NotFoundError
from leaf.keeping.restore import restore
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.store import prompts
from leaf.store.prompts import NAME_LENGTH, TEXT_LENGTH, PromptDraft
from tests import postgres
from tests.leaf_kit import CLAIMS, opened

MONTHLY = PromptDraft("Monthly", "Revenue of {month} by region?")


@dataclass
class Team:
    """A workspace with an owner and a member, and somebody of another one."""

    leaf: Leaf
    ann: Session
    ben: Session
    eve: Session


@pytest.fixture(params=["duckdb", "postgres"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    url = ""
    if request.param == "postgres":
        url = postgres.of_test(request)
    with opened(tmp_path / "home", database_url=url) as leaf:
        ann = signed_in(leaf, "ann")
        ann.team.invite("ben@example.org")
        yield Team(leaf, ann, signed_in(leaf, "ben"), signed_in(leaf, "eve"))


def signed_in(leaf: Leaf, name: str) -> Session:
    claims = {**CLAIMS, "sub": name, "name": name.title(), "email": f"{name}@example.org"}
    return leaf.session(leaf.sign_in(claims).scope)


def names(session: Session, query: str = "") -> list[str]:
    return [prompt.name for prompt in session.prompts.list(query)]


def test_a_prompt_is_ones_own_until_it_is_shared(team: Team) -> None:
    saved = team.ann.prompts.save(MONTHLY)
    assert (saved.name, saved.text, saved.own, saved.shared) == (
        "Monthly",
        MONTHLY.text,
        True,
        False,
    )
    for other in (team.ben, team.eve):
        assert names(other) == []
        with pytest.raises(NotFoundError):
            other.prompts.get(saved.id)
    team.ann.prompts.change(saved.id, PromptDraft("Monthly", MONTHLY.text, shared=True))
    (seen,) = team.ben.prompts.list()
    assert (seen.own, seen.author, seen.text) == (False, "Ann", MONTHLY.text)
    assert names(team.eve) == []
    team.ann.prompts.change(saved.id, MONTHLY)
    assert names(team.ben) == []


def test_only_who_saved_one_changes_it_and_owners_delete_what_is_shared(team: Team) -> None:
    shared = PromptDraft("Bens", "What is Ben's?", shared=True)
    saved = team.ben.prompts.save(shared)
    hers = team.ann.prompts.save(PromptDraft("Anns", "What is Ann's?", shared=True))
    with pytest.raises(InvalidInputError, match="Ben's"):
        team.ann.prompts.change(saved.id, shared)
    with pytest.raises(InvalidInputError, match="Ann's"):
        team.ben.prompts.delete(hers.id)
    with pytest.raises(NotFoundError):
        team.eve.prompts.delete(saved.id)
    assert team.ann.prompts.delete(saved.id).name == "Bens"
    assert names(team.ben) == ["Anns"]
    assert team.ann.team.audit(kind="deletion")[0].action == "shared prompt deleted"


def test_own_ones_stand_first_by_name_and_are_found_by_their_words(team: Team) -> None:
    team.ben.prompts.save(PromptDraft("A of Ben", "Sum it up", shared=True))
    for name in ("weekly", "Daily"):
        team.ann.prompts.save(PromptDraft(name, f"Revenue, {name}"))
    assert names(team.ann) == ["Daily", "weekly", "A of Ben"]
    assert names(team.ann, "revenue WEEK") == ["weekly"]
    assert names(team.ann, "nothing of this") == []


def test_without_a_name_it_is_called_by_its_beginning(team: Team) -> None:
    saved = team.ann.prompts.save(PromptDraft("  ", "Which\nregion   sold most? " * 9))
    assert saved.name.startswith("Which region sold most?")
    assert len(saved.name) <= NAME_LENGTH


def test_what_is_no_prompt_is_refused(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("", " \n ", "x" * (TEXT_LENGTH + 1)):
        with pytest.raises(InvalidInputError):
            team.ann.prompts.save(PromptDraft("N", text))
    monkeypatch.setattr(prompts, "MOST", 1)
    team.ann.prompts.save(MONTHLY)
    with pytest.raises(InvalidInputError, match="1 saved prompts"):
        team.ann.prompts.save(MONTHLY)
    team.ben.prompts.save(MONTHLY)


def test_sharing_is_written_down_and_no_words_with_it(team: Team) -> None:
    saved = team.ann.prompts.save(PromptDraft("Secret name", "Secret words", shared=True))
    team.ann.prompts.change(
        saved.id, PromptDraft("Secret name", "Secret words, longer", shared=True)
    )
    team.ann.prompts.change(saved.id, PromptDraft("Secret name", "Secret words"))
    lines = team.ann.team.audit(kind="people")
    assert [line.action for line in lines[:2]] == ["prompt not shared any more", "prompt shared"]
    assert "Secret" not in str(lines)


def test_open_pages_hear_of_a_change(team: Team) -> None:
    before = team.ben.newest_change(["prompts"])
    team.ann.prompts.save(MONTHLY)
    assert team.ben.newest_change(["prompts"]) > before


def test_with_the_account_go_its_prompts_and_with_the_workspace_all(team: Team) -> None:
    team.ben.prompts.save(PromptDraft("Bens", "Shared?", shared=True))
    team.ann.prompts.save(MONTHLY)
    team.eve.prompts.save(MONTHLY)
    team.leaf.purge_account("ben@example.org")
    assert names(team.ann) == ["Monthly"]
    team.leaf.purge_workspace(team.ann.scope.workspace_id)
    rows = team.leaf._house.store.db.read("SELECT user_id FROM prompts")
    assert [row["user_id"] for row in rows] == [team.eve.scope.user_id]


def test_whoever_was_removed_reads_none_any_more(team: Team) -> None:
    team.ann.prompts.save(PromptDraft("Shared", "What?", shared=True))
    own = team.ben.prompts.save(MONTHLY)
    team.ann.team.remove(team.ben.scope.user_id)
    assert names(team.ben) == []
    with pytest.raises(NotFoundError):
        team.ben.prompts.get(own.id)
    with pytest.raises(NotFoundError):
        team.ben.prompts.save(MONTHLY)


def test_a_backup_brings_them_back(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        own = leaf.session(leaf.local_scope())
        saved = own.prompts.save(MONTHLY)
        leaf.backup(tmp_path / "saved")
    other = Settings(home=tmp_path / "other")
    restore(other, tmp_path / "saved")
    with opened(other.home) as leaf:
        found = leaf.session(leaf.local_scope()).prompts.list()
        assert [(one.id, one.name, one.text) for one in found] == [
            (saved.id, "Monthly", MONTHLY.text)
        ]
