"""Several Leafs: a browser that is meant for another one is known and said, and what is said of a
database that does not do as it should."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from websockets.exceptions import InvalidStatus

from leaf.doctor import check
from leaf.errors import LeafError, SettingsError, StoreError
from leaf.settings import Settings
from leaf.settings.storage import Storage
from leaf.store import chats, open_store, postgres, users
from leaf.ui.live.route import SEVERAL
from leaf.ui.live.tickets import Ticket, Tickets
from tests.live_kit import FakeAccess, run_of, serving
from tests.postgres import drop, fresh

TICKET = Ticket("u1", "w1", "m1", FakeAccess(None))


def later(tickets: Tickets) -> Tickets:
    """As if it had begun some time ago."""
    tickets._began -= 60
    return tickets


def test_a_ticket_tells_whether_another_living_process_made_it() -> None:
    here, there = later(Tickets()), later(Tickets())
    words = there.make(TICKET)
    assert here.is_elsewhere(words)
    assert not there.is_elsewhere(words)
    assert here.take(words) is None
    assert there.take(words) == TICKET


@pytest.mark.parametrize("words", ["", "guessed", "a.b.c", ".zz.", f"x.{'f' * 40}.y"])
def test_words_that_are_no_ticket_are_of_nobody(words: str) -> None:
    assert not later(Tickets()).is_elsewhere(words)


def test_a_ticket_of_the_process_before_this_one_is_no_sign_of_a_wrong_balancer() -> None:
    before = Tickets()
    words = before.make(TICKET)
    after = Tickets()
    after._began += 1
    assert not after.is_elsewhere(words)


def test_browsers_of_another_leaf_are_refused_counted_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = later(Tickets())
    with serving() as served, caplog.at_level(logging.WARNING, "leaf"):
        later(served.answers.tickets)
        served.connect(served.ticket(run_of([]))).close()
        for _ in range(SEVERAL):
            assert served.answers.standing("")[0]
            with pytest.raises(InvalidStatus):
                served.connect(other.make(TICKET))
        assert served.answers.door.refused == {"elsewhere": SEVERAL}
        well, how = served.answers.standing("")
    assert not well
    assert "sticky sessions" in how
    assert [r for r in caplog.records if "sticky sessions" in r.getMessage()]


@pytest.mark.parametrize(
    ("keys", "storage", "lacking"),
    [
        ((), "", ["LEAF_SECRET_KEY"]),
        (("k",), "file", ["LEAF_STORAGE_URL"]),
        ((), "file", ["LEAF_SECRET_KEY", "LEAF_STORAGE_URL"]),
        (("k",), "", []),
    ],
)
def test_doctor_says_what_several_leafs_on_one_database_lack(
    postgres_url: str, tmp_path: Path, keys: tuple[str, ...], storage: str, lacking: list[str]
) -> None:
    settings = Settings(
        home=tmp_path, database_url=postgres_url, secret_keys=keys, storage=Storage(url=storage)
    )
    (found,) = (c for c in check(settings) if c.name == "Several Leafs")
    assert found.ok == (not lacking)
    assert [
        name for name in ("LEAF_SECRET_KEY", "LEAF_STORAGE_URL") if name in found.text
    ] == lacking
    assert not found.needed


def test_doctor_says_nothing_of_several_leafs_without_a_server(tmp_path: Path) -> None:
    assert not [c for c in check(Settings(home=tmp_path)) if c.name == "Several Leafs"]


# A database that does not do as it should


def administer(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def failing_insert(url: str, state: str) -> None:
    """From now on new chats meet this SQLSTATE, as the server gives it."""
    administer(
        url,
        "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$",
        "CREATE TRIGGER fails BEFORE INSERT ON chats FOR EACH ROW EXECUTE FUNCTION fails()",
    )


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("25006", "can be read and takes no changes"),
        ("53100", "disk of the database server is full"),
        ("42501", "may not do in the database what Leaf has to"),
    ],
)
def test_a_database_that_takes_nothing_says_so_and_keeps_what_it_has(
    postgres_url: str, tmp_path: Path, state: str, said: str
) -> None:
    store = open_store(Settings(home=tmp_path, database_url=postgres_url))
    scope = users.ensure_local_user(store.db)
    kept = chats.create(store.db, scope)
    failing_insert(postgres_url, state)
    with pytest.raises(StoreError, match=said) as caught:
        chats.create(store.db, scope)
    assert "Error" not in str(caught.value)
    assert chats.get(store.db, scope, kept.id) == kept
    store.close()


def test_a_read_only_database_is_said_at_the_start(postgres_url: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=postgres_url)
    open_store(settings).close()
    name = psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
    administer(postgres_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(StoreError, match="takes no changes"):
        open_store(settings)


@pytest.fixture
def empty_url(postgres_server: str) -> Iterator[str]:
    """A database without any tables: those that are there are of whoever made them."""
    url = fresh(postgres_server)
    yield url
    drop(url)


def test_a_user_without_rights_is_said_at_the_start(empty_url: str, tmp_path: Path) -> None:
    role = f"r{psycopg.conninfo.conninfo_to_dict(empty_url)['dbname']}"
    administer(empty_url, f"CREATE ROLE {role} LOGIN")
    url = empty_url.replace("user=leaf", f"user={role}")
    with pytest.raises(LeafError, match="may not do in the database"):
        open_store(Settings(home=tmp_path, database_url=url))


def test_a_server_that_takes_no_more_connections_is_said_and_works_later(
    empty_url: str, tmp_path: Path
) -> None:
    role = f"s{psycopg.conninfo.conninfo_to_dict(empty_url)['dbname']}"
    administer(
        empty_url,
        f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1",
        f"GRANT ALL ON SCHEMA public TO {role}",
    )
    url = empty_url.replace("user=leaf", f"user={role}")
    with psycopg.connect(url), pytest.raises(StoreError, match="takes no more connections"):
        open_store(Settings(home=tmp_path, database_url=url))
    open_store(Settings(home=tmp_path, database_url=url)).close()


@pytest.mark.parametrize(
    ("number", "taken"), [(90_624, False), (120_019, False), (130_000, True), (180_001, True)]
)
def test_an_old_server_is_refused_by_its_version(number: int, taken: bool) -> None:
    if taken:
        postgres._check_version(number)
        return
    with pytest.raises(SettingsError, match=f"PostgreSQL {number // 10_000}, which is too old"):
        postgres._check_version(number)
