"""Budgets: days and months in a time zone, what is left, who may set what, and runs that end where
nothing is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leaf.budgets.budgets import Budgets
from leaf.budgets.periods import RANGES, period, range_start
from leaf.budgets.rules import amount, effective, percent
from leaf.errors import BudgetError, InvalidInputError, NotFoundError
from leaf.settings import Allowance, Settings, load
from leaf.store import Store, budgets, chats, members, messages, usage
from leaf.store.model import Message, Scope
from tests.leaf_kit import opened
from tests.messages_server import Failure, MessagesServer, Turn
from tests.runs_kit import Desk, text_of, wait_until
from tests.test_members import join, sign_in
from tests.test_store import text, used

ADD = ("add_numbers", {"numbers": [1, 2, 3]})
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


# Days and months


@pytest.mark.parametrize(
    ("zone", "moment", "day", "hours"),
    [
        ("UTC", datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC), date(2026, 11, 30), 24),
        ("UTC", datetime(2026, 12, 1, tzinfo=UTC), date(2026, 12, 1), 24),
        ("Europe/Berlin", datetime(2026, 11, 30, 23, 0, tzinfo=UTC), date(2026, 12, 1), 24),
        ("Europe/Berlin", datetime(2026, 3, 29, 12, tzinfo=UTC), date(2026, 3, 29), 23),
        ("Europe/Berlin", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), date(2026, 10, 25), 25),
        (
            "Africa/Cairo",
            datetime(2026, 4, 24, 12, tzinfo=UTC),
            date(2026, 4, 24),
            23,
        ),  # clocks skip its midnight
        (
            "America/Havana",
            datetime(2023, 11, 5, 12, tzinfo=UTC),
            date(2023, 11, 5),
            25,
        ),  # midnight comes twice
    ],
)
def test_a_day_begins_once_however_clocks_change(
    zone: str, moment: datetime, day: date, hours: int
) -> None:
    found = period("day", moment, ZoneInfo(zone))
    assert (found.first, found.end - found.start) == (day, timedelta(hours=hours))
    assert found.start <= moment < found.end
    before = period("day", found.start - timedelta(microseconds=1), ZoneInfo(zone))
    assert (before.first, before.end) == (day - timedelta(days=1), found.start)


def test_a_month_ends_where_the_next_begins() -> None:
    zone = ZoneInfo("Europe/Berlin")
    december = period("month", datetime(2026, 12, 31, 22, 59, tzinfo=UTC), zone)
    january = period("month", datetime(2026, 12, 31, 23, tzinfo=UTC), zone)
    assert december.first == date(2026, 12, 1)
    assert january.first == date(2027, 1, 1)
    assert december.end == january.start == datetime(2026, 12, 31, 23, tzinfo=UTC)


def test_ranges_begin_at_midnight_of_the_time_zone() -> None:
    starts = {chosen: range_start(chosen, NOON, ZoneInfo("Europe/Berlin")) for chosen in RANGES}
    assert starts == {
        "today": datetime(2026, 11, 20, 23, tzinfo=UTC),
        "7d": datetime(2026, 11, 14, 23, tzinfo=UTC),
        "30d": datetime(2026, 10, 22, 22, tzinfo=UTC),
        "month": datetime(2026, 10, 31, 23, tzinfo=UTC),
        "all": None,
    }


# Figures and words


def test_budgets_are_read_from_words_or_lists() -> None:
    found = load(
        {"LEAF_BUDGET_USER": "$5/day, 2M tokens / month"},
        {"LEAF_BUDGET_WORKSPACE_MAX": ["20.5 USD/month", "500k tokens/day"]},
    )
    assert found.budget_user == Allowance(day_usd=5.0, month_tokens=2_000_000)
    assert found.budget_workspace_max == Allowance(month_usd=20.5, day_tokens=500_000)
    assert not load({}, {}).budget_workspace


def test_the_first_figure_that_is_said_holds_and_never_more_than_the_maximum() -> None:
    own, everyone = Allowance(day_usd=9), Allowance(day_usd=1, day_tokens=100)
    assert effective([own, everyone], Allowance(day_usd=5, month_usd=50)) == Allowance(5, 100, 50)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (5, "usd", "$5.00"),
        (0.0041, "usd", "$0.0041"),
        (0.00001, "usd", "less than $0.0001"),
        (2e6, "tokens", "2,000,000 tokens"),
    ],
)
def test_amounts_are_words(value: float, unit: str, words: str) -> None:
    assert amount(value, unit) == words  # type: ignore[arg-type]


def test_nothing_is_called_full_while_something_is_left() -> None:
    assert (percent(0.999), percent(1.0), percent(1.5)) == ("99 %", "100 %", "150 %")


# What holds for whom


class Team:
    """Ann owns a workspace in which Bob is; what they use is counted at a moment that the test
    sets."""

    def __init__(self, store: Store, **settings: object) -> None:
        self.store = store
        self.ann = sign_in(store).scope
        self.bob = join(store, self.ann, "Bob")
        self.bob = Scope(self.ann.workspace_id, self.bob.user_id)
        self.moment = NOON
        self.settings = replace(Settings(api_key="key"), **settings)  # type: ignore[arg-type]
        self.budgets = Budgets(store.db, self.settings, lambda: self.moment)

    def use(
        self, scope: Scope, cost: float | None = 1.0, tokens: int = 95, model: str = "m"
    ) -> None:
        chat = chats.create(self.store.db, scope, title=f"Chat of {scope.user_id}")
        answer = messages.add_exchange(self.store.db, scope, chat.id, text("?")).answer
        used(self.store, scope, answer, cost=cost, tokens=tokens, model=model, at=self.moment)


def test_a_budget_warns_is_used_up_and_begins_anew(store: Store) -> None:
    team = Team(store, budget_user=Allowance(day_usd=5.0))
    team.use(team.bob, 3.9)
    assert team.budgets.standing(team.bob).warning == ""
    team.use(team.bob, 0.3)
    assert (
        team.budgets.standing(team.bob).warning
        == "84 % of your budget for today is used: $4.20 of $5.00."
    )
    assert team.budgets.reached(team.bob) == ""
    team.use(team.bob, 0.82)
    with pytest.raises(BudgetError) as caught:
        team.budgets.check(team.bob)
    assert str(caught.value) == (
        "Your budget of $5.00 for today is used up ($5.02). "
        "It begins anew at midnight (UTC), or an owner raises it on the Usage page."
    )
    assert team.budgets.reached(team.ann) == ""
    team.moment = datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)
    assert team.budgets.reached(team.bob)
    team.moment = datetime(2026, 11, 22, tzinfo=UTC)
    assert team.budgets.reached(team.bob) == ""


def test_a_budget_of_the_workspace_holds_for_all_and_the_longer_one_is_named(store: Store) -> None:
    team = Team(
        store,
        budget_user=Allowance(day_usd=1.0),
        budget_workspace=Allowance(month_usd=2.0),
        time_zone="Europe/Berlin",
    )
    team.use(team.bob, 1.5)
    assert "Your budget of $1.00 for today" in team.budgets.reached(team.bob)
    team.use(team.ann, 0.6)
    for scope in (team.ann, team.bob):
        said = team.budgets.reached(scope)
        assert said.startswith(
            "The workspace's budget of $2.00 for November is used up ($2.10). It begins anew on 1 "
            "December (Europe/Berlin)"
        )
    assert "you raise it" in team.budgets.reached(team.ann)
    team.moment = datetime(2026, 11, 30, 22, 59, tzinfo=UTC)
    assert team.budgets.reached(team.ann)
    team.moment = datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert team.budgets.reached(team.ann) == ""


def test_tokens_count_where_no_price_is_known(store: Store) -> None:
    team = Team(store, budget_user=Allowance(day_usd=1.0, day_tokens=300))
    for _ in range(3):
        team.use(team.bob, None, tokens=95)
    assert team.budgets.reached(team.bob).startswith(
        "Your budget of 300 tokens for today is used up (300 tokens)."
    )
    assert [(m.unit, m.used) for m in team.budgets.standing(team.bob).meters] == [
        ("usd", 0.0),
        ("tokens", 300.0),
    ]


def test_owners_set_budgets_within_the_maximum_and_members_do_not(store: Store) -> None:
    team = Team(store, budget_user=Allowance(day_usd=5.0), budget_user_max=Allowance(day_usd=10.0))
    team.use(team.bob, 6.0)
    assert team.budgets.reached(team.bob)
    team.budgets.set(team.ann, team.bob.user_id, Allowance(day_usd=10.0))
    assert team.budgets.reached(team.bob) == ""
    team.use(team.bob, 4.0)
    assert "whoever runs Leaf raises it (LEAF_BUDGET_USER_MAX)" in team.budgets.reached(team.bob)
    chosen = team.budgets.plan(team.bob).chosen[team.bob.user_id]
    assert (chosen.allowance, chosen.set_by) == (Allowance(day_usd=10.0), "Ann Example")
    for scope, subject, allowance, error, said in (
        (
            team.ann,
            "members",
            Allowance(day_usd=10.01),
            InvalidInputError,
            "more than this installation allows",
        ),
        (team.ann, "members", Allowance(day_tokens=-1), InvalidInputError, "less than nothing"),
        (team.ann, "somebody", Allowance(day_usd=1.0), NotFoundError, "No such member"),
        (team.bob, "members", Allowance(day_usd=1.0), InvalidInputError, "Only an owner"),
        (team.bob, team.bob.user_id, Allowance(), InvalidInputError, "Only an owner"),
    ):
        with pytest.raises(error, match=said):
            team.budgets.set(scope, subject, allowance)
    team.budgets.set(team.ann, team.bob.user_id, Allowance())
    assert team.budgets.plan(team.ann).chosen == {}


def test_a_budget_of_nothing_lets_nobody_ask(store: Store) -> None:
    team = Team(store)
    team.budgets.set(team.ann, "members", Allowance(month_tokens=0))
    assert "is 0 tokens, so no model can be asked" in team.budgets.reached(team.bob)


def test_rules_cost_nothing_and_are_never_held_back(store: Store) -> None:
    team = Team(store, budget_user=Allowance(day_tokens=0), api_key="")
    assert team.budgets.reached(team.bob) == ""
    assert team.budgets.standing(team.bob).meters == ()


# Who sees what


def test_members_see_their_own_usage_and_the_sum_of_the_workspace(store: Store) -> None:
    team = Team(store)
    team.use(team.ann, 2.0, model="large")
    team.use(team.bob, 0.5)
    report = team.budgets.report(team.bob, "today")
    assert (report.total.cost, report.workspace.cost, report.owner) == (0.5, 2.5, False)
    assert [m.id for m in report.models] == ["m"]
    assert [c.name for c in report.chats] == [f"Chat of {team.bob.user_id}"]
    with pytest.raises(InvalidInputError, match="Only an owner"):
        team.budgets.report(team.bob, "today", "everyone")


def test_owners_see_everybodys_usage_but_not_the_titles_of_their_chats(store: Store) -> None:
    team = Team(store)
    team.use(team.ann, 2.0, model="large")
    team.use(team.bob, 0.5)
    report = team.budgets.report(team.ann, "7d", "everyone")
    assert [(u.name, u.total.cost) for u in report.users] == [("Ann Example", 2.0), ("Bob", 0.5)]
    assert [m.id for m in report.models] == ["large", "m"]
    assert {c.name for c in report.chats} == {f"Chat of {team.ann.user_id}", ""}
    members.remove(store.db, team.ann, team.bob.user_id)
    assert team.budgets.report(team.ann, "7d", "everyone").total.answers == 2
    eve = sign_in(store, "Eve Example").scope
    assert team.budgets.report(eve, "all", "everyone").total.answers == 0
    assert [(r.name, r.total.answers) for r in team.budgets.operator_usage("all", "user")] == [
        ("ann@example.org", 1),
        ("bob@example.org", 1),
    ]


# Runs


def spend_all(resolver: Desk, limit: int = 1_000_000) -> Message:
    """Use up a budget of tokens, as another run would."""
    answer = resolver.save("Earlier")
    messages.stop_pending(resolver.db, resolver.scope, answer.id)
    used(resolver.store, resolver.scope, answer, "other", tokens=limit)
    return answer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


LIMITED = Settings(api_key="key", budget_user=Allowance(day_tokens=1_000_000))


def test_a_run_ends_between_turns_and_keeps_what_it_found(home: Path) -> None:
    asked_for, go_on = threading.Event(), threading.Event()

    def brain(body: dict[str, object]) -> Turn:
        asked_for.set()
        go_on.wait(30)
        return Turn.call(ADD, text="First I add.")

    with MessagesServer(brain) as server, Desk(home, server.url, settings=LIMITED) as resolver:
        asked = resolver.ask("Add")
        assert asked_for.wait(30)
        spend_all(resolver)
        go_on.set()
        answer = resolver.end(asked.id)
        assert len(server.requests) == 1
        assert resolver.tools_run == ["add_numbers"]
    assert answer.status == "completed"
    assert text_of(answer).startswith(
        "First I add.\nI stopped here, so this may be incomplete. Your budget of 1,000,000 tokens"
    )
    assert answer.raw[-1]["role"] == "assistant"


def test_a_waiting_question_whose_turn_comes_too_late_ends_with_the_sentence_and_can_be_retried(
    home: Path,
) -> None:
    asked_for, go_on = threading.Event(), threading.Event()

    def brain(body: dict[str, object]) -> Turn:
        asked_for.set()
        go_on.wait(30)
        return Turn.say("Here.")

    with MessagesServer(brain) as server, Desk(home, server.url, settings=LIMITED) as resolver:
        chat = resolver.chat()
        first, second = resolver.ask("One", chat), resolver.ask("Two", chat)
        assert asked_for.wait(30)
        spend_all(resolver)
        go_on.set()
        assert text_of(resolver.end(first.id)) == "Here."
        refused = resolver.end(second.id)
        assert (refused.status, refused.parts[-1]["type"]) == ("error", "data-usage")
        assert refused.error.startswith("Your budget of 1,000,000 tokens for today is used up")
        assert len(server.requests) == 1
        budgets.set_budget(resolver.db, resolver.scope, "members", Allowance(day_tokens=9_000_000))
        again = messages.add_answer(
            resolver.db, resolver.scope, refused.parent_id, model=refused.model
        )
        resolver.runs.start(resolver.scope, again)
        assert text_of(resolver.end(again.id)) == "Here."


def test_runs_at_the_limit_go_over_it_by_one_turn_each_at_most(home: Path) -> None:
    """Four endless runs of one person; each turn takes 100 tokens and more."""
    with MessagesServer(lambda body: Turn.call(ADD)) as server:
        settings = replace(LIMITED, budget_user=Allowance(day_tokens=5_000))
        with Desk(home, server.url, settings=settings, limits=None) as resolver:
            asked = [resolver.ask(f"Endless {i}") for i in range(3)]
            answers = [resolver.end(a.id) for a in asked]
            spent = usage.total(resolver.db, resolver.scope)
            largest = max(
                r["input_tokens"] + r["output_tokens"]
                for r in resolver.db.read("SELECT * FROM usage_steps")
            )
    assert all("is used up" in text_of(a) + a.error for a in answers)
    assert 5_000 <= spent.input_tokens + spent.output_tokens < 5_000 + 3 * largest


def test_a_stop_for_a_budget_is_the_same_after_a_restart(home: Path) -> None:
    """The budget is reached, the run is cut, the budget is raised: steps that were kept say what
    they said."""
    with MessagesServer(
        [
            Turn.call(ADD),
            Turn.say("Slow and long, word by word.", pieces=40, delay=0.1),
            Turn.say("All."),
        ]
    ) as server:
        with Desk(home, server.url, settings=LIMITED) as resolver:
            asked = resolver.ask("Add")
            wait_until(lambda: len(resolver.shown(asked.id, "text-delta")) > 3)
            spend_all(resolver)
        before = [r["step"] for r in desk_rows(home)]
        with Desk(home, server.url, settings=LIMITED) as resolver:
            resolver.runs.launch()
            answer = resolver.end(asked.id)
        assert len(server.requests) == 2
        after = [r["step"] for r in desk_rows(home)]
    assert (answer.status, before.count("model-1"), after.count("model-1")) == ("completed", 1, 1)
    assert "is used up" in text_of(answer)


def desk_rows(home: Path) -> list[dict[str, object]]:
    from leaf.store import open_store

    store = open_store(Settings(home=home))
    try:
        return store.db.read("SELECT * FROM usage_steps ORDER BY created_at")
    finally:
        store.close()


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([Turn.call(ADD), Failure.unauthorized()], "error"),
        (
            [Turn.call(ADD), Turn.say("Slow and long, word by word.", pieces=60, delay=0.1)],
            "stopped",
        ),
    ],
)
def test_answers_that_fail_or_are_stopped_have_counted(
    home: Path, script: list[Turn | Failure], status: str
) -> None:
    with MessagesServer(script) as server, Desk(home, server.url) as resolver:
        asked = resolver.ask("Add")
        if status == "stopped":
            wait_until(lambda: len(resolver.shown(asked.id, "text-delta")) > 3)
            assert usage.total(resolver.db, resolver.scope).input_tokens > 0  # while it runs
            resolver.runs.stop(asked.id)
        assert resolver.end(asked.id).status == status
        total = usage.total(resolver.db, resolver.scope)
        assert (total.answers, total.input_tokens) == (1, resolver.message(asked.id).usage["input"])


# Asking


def refusing(act: Callable[[], object]) -> str:
    with pytest.raises(BudgetError) as caught:
        act()
    return str(caught.value)


def test_a_question_is_refused_before_it_is_kept_and_its_files_wait(tmp_path: Path) -> None:
    with (
        MessagesServer([Turn.say("Here."), Turn.say("Again.")]) as server,
        opened(
            tmp_path,
            model_url=server.url,
            model="claude-sonnet-5-5",
            budget_user=Allowance(day_tokens=1),
        ) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        answer = session.messages.send(chat.id, "First")
        wait_until(lambda: session.messages.get(answer.id).status == "completed")
        from tests.leaf_kit import SALES, add

        file = add(session, "sales.csv", SALES)
        assert "is used up" in refusing(lambda: session.messages.send(chat.id, "Second", [file.id]))
        assert len(session.chats.thread(chat.id).messages) == 2
        assert [(c.file.id, c.message_id) for c in session.attached.list(chat.id)] == [
            (file.id, "")
        ]
        question = session.messages.get(answer.parent_id)
        assert "is used up" in refusing(lambda: session.messages.edit(question.id, "Other words"))
        assert "is used up" in refusing(lambda: session.messages.retry(answer.id))
        session.usage.set_budget("members", Allowance(day_tokens=1_000_000))
        again = session.messages.retry(answer.id)
        wait_until(lambda: session.messages.get(again.id).status == "completed")


def test_many_runs_record_at_once_and_none_is_lost(store: Store) -> None:
    team = Team(store)
    chat = chats.create(store.db, team.bob)
    answers = [
        messages.add_exchange(store.db, team.bob, chat.id, text("?")).answer for _ in range(8)
    ]

    def record(number: int) -> None:
        used(store, team.bob, answers[number % 8], f"model-{number // 8}", cost=0.25)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(record, range(64)))
    total = usage.total(store.db, team.bob)
    assert (total.answers, total.cost) == (8, 16.0)
