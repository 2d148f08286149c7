"""The operator's view: who has it, and that nobody else does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError
from leaf.sessions.session import Session
from leaf.settings import VARIABLES
from leaf.store.model import Scope
from leaf.ui import state
from leaf.ui.operations import LIMITS
from tests.leaf_kit import CLAIMS, opened
from tests.test_ui_pages import leaf, open_page, words_of  # noqa: F401 - `leaf` is a fixture

CLOSED = "This page is for whoever runs this Leaf"


def signed_in(leaf: Leaf, name: str) -> Session:  # noqa: F811
    claims = {**CLAIMS, "sub": name, "name": name.title(), "email": f"{name}@example.org"}
    return leaf.session(leaf.sign_in(claims).scope)


@pytest.fixture
def shown() -> Callable[[Leaf], str]:
    """Shows the operator's page of a Leaf to its local user."""

    def show(app: Leaf) -> str:
        setattr(sys, state.REGISTRY, state.Registry(leaf=app))
        try:
            return words_of(open_page("operations"))
        finally:
            delattr(sys, state.REGISTRY)

    return show


def test_the_one_person_of_a_local_leaf_runs_it(leaf: Leaf) -> None:  # noqa: F811
    assert leaf.session(leaf.local_scope()).operations.allowed()
    page = open_page("operations")
    text = words_of(page).replace("\\", "")
    assert CLOSED not in text
    assert "Sandbox" in text
    assert str(leaf.settings.home) in text
    assert "LEAF_RUNS_PER_USER" in text


def test_where_everybody_is_one_user_nobody_sees_it(tmp_path: Path, shown: Any) -> None:
    with opened(tmp_path / "home", allow_open=True) as app:
        own = app.session(app.local_scope()).operations
        assert not own.allowed()
        with pytest.raises(InvalidInputError):
            own.audit()
        text = shown(app)
        assert CLOSED in text
        assert str(app.settings.home) not in text
        assert "Sandbox" not in text


def test_where_people_sign_in_the_named_addresses_run_it(tmp_path: Path) -> None:
    with opened(tmp_path / "home", operators=("ann@example.org",)) as app:
        ann, ben = signed_in(app, "ann"), signed_in(app, "ben")
        assert ann.operations.allowed()
        assert not ben.operations.allowed()
        assert {line.workspace_id for line in ann.operations.audit()} == {
            ann.scope.workspace_id,
            ben.scope.workspace_id,
        }
        assert ann.operations.audit_count(email="BEN@example.org") == 1
        for ask in (ben.operations.audit, ben.operations.audit_count):
            with pytest.raises(InvalidInputError, match="whoever runs"):
                ask()
        stranger = Scope(ben.scope.workspace_id, ann.scope.user_id)
        assert not app.session(stranger).operations.allowed()


def test_without_names_nobody_who_signs_in_runs_it(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as app:
        assert not signed_in(app, "ann").operations.allowed()
        assert signed_in(app, "ann").team.audit(), "owners keep the log of their workspace"


def test_settings_say_nothing_of_the_machine(leaf: Leaf) -> None:  # noqa: F811
    text = words_of(open_page("settings")).replace("\\", "")
    assert str(leaf.settings.home) not in text
    assert "Sandbox" not in text
    assert "Live answers" in text


def test_every_limit_that_is_shown_is_a_setting() -> None:
    assert set(LIMITS) <= set(VARIABLES.values())
