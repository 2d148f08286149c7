"""Budgets on the page: in the reader's language, and saved only where they were."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leaf import settings
from leaf.app import Leaf
from leaf.settings import Allowance
from leaf.store import usage
from leaf.ui import language, state
from leaf.wiring import build
from tests.test_ui_pages import PATIENCE


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    """Its one user may have five dollars a day, whoever sets what."""
    values = {"LEAF_HOME": str(tmp_path / "home"), "ANTHROPIC_API_KEY": "key"}
    app = build(settings.load({**values, "LEAF_BUDGET_USER_MAX": "$5/day"}))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    yield app
    state.close()


def form() -> None:
    from leaf.ui import budget, toasts
    from leaf.ui.state import session

    toasts.again()
    budget.draw_plan(session().usage.plan())


def meters() -> None:
    from leaf.ui import budget
    from leaf.ui.state import session

    budget.say_standing()
    budget.draw_meters(session().usage.standing())


def test_a_budget_that_is_refused_is_not_said_to_be_saved(leaf: Leaf) -> None:
    own = leaf.session(leaf.local_scope())
    page = AppTest.from_function(form, default_timeout=PATIENCE).run()
    page.number_input[0].set_value(7.0)
    page.button[0].click().run()
    assert "more than this installation allows" in page.warning[0].value
    assert not page.toast
    page.number_input[0].set_value(4.0)
    page.button[0].click().run()
    assert not page.warning
    assert [one.value for one in page.toast] == ["Budgets saved."]
    assert own.usage.plan().chosen["members"].allowance == Allowance(day_usd=4.0)


def test_budgets_are_told_in_the_language_of_the_page(leaf: Leaf) -> None:
    scope = leaf.local_scope()
    usage.unscoped_record(
        leaf._house.store.db, scope, "m", "s", chat_id="c", model="m", input_tokens=1, cached_tokens=0,
        output_tokens=1, cost=4.5,
    )  # fmt: skip
    page = AppTest.from_function(meters, default_timeout=PATIENCE)
    page.session_state[language.KEY] = "de"
    page.run()
    shown = " ".join(one.value.replace("\\", "") for one in (*page.caption, *page.warning))
    assert "90 % Ihres Budgets für heute sind verbraucht: $4,50 von $5,00." in shown
    assert "Beginnt neu um Mitternacht (UTC)" in shown
