"""Data folders and databases of earlier versions: they migrate, list, open, search, go on and are
computed again."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaf.app import Leaf
from leaf.cli.main import main
from leaf.errors import ResultGoneError
from leaf.provenance.coverage import covered_of
from leaf.provenance.receipts.answer import kept_receipts
from leaf.replay import replay
from leaf.sessions.session import Session
from leaf.store import results as rows
from leaf.store.migrate import migrations
from leaf.store.model import Chat, Message
from tests.leaf_kit import finished, opened, text_of

OLD = Path(__file__).parent / "data" / "old"
PASSAGE = "The warehouse in Rotterdam was closed in February"


@dataclass(frozen=True)
class Old:
    """A Leaf of today over data of an earlier version, and the one chat that is in them."""

    leaf: Leaf
    session: Session
    chat: Chat
    home: Path

    @property
    def messages(self) -> list[Message]:
        return list(self.session.chats.thread(self.chat.id).messages)


@pytest.fixture(scope="module", params=["folder_0015", "folder_0011", "postgres_0011"])
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    home = tmp_path_factory.mktemp("old")
    with zipfile.ZipFile(OLD / f"{request.param}.zip") as archive:
        archive.extractall(home)
    url = restored(request, home / "database.sql") if request.param.startswith("postgres") else ""
    with opened(home, database_url=url) as leaf:
        session = leaf.session(leaf.local_scope())
        (chat,) = session.chats.list()
        yield Old(leaf, session, chat, home)


def restored(request: pytest.FixtureRequest, dump: Path) -> str:
    """A database that holds what was dumped."""
    import psycopg

    server = str(request.getfixturevalue("postgres_server"))
    with psycopg.connect(f"postgresql:///postgres{server}", autocommit=True) as connection:
        connection.execute("CREATE DATABASE old_data")
    url = f"postgresql:///old_data{server}"
    with psycopg.connect(url) as connection:
        connection.execute(dump.read_text().encode())
    dump.unlink()
    return url


def test_every_migration_has_run(old: Old) -> None:
    with old.leaf._house.store.db.transaction() as tx:
        applied = [
            row["number"] for row in tx.read("SELECT number FROM leaf_migrations ORDER BY number")
        ]
    assert applied == [m.number for m in migrations()]


def test_chats_and_files_are_listed(old: Old) -> None:
    assert old.chat.title == "total amount by region"
    assert sorted(f.name for f in old.session.files.list()) == ["note.md", "sales.csv"]
    assert [chat.id for chat in old.session.chats.list("Rotterdam")] == [old.chat.id]
    assert old.session.chats.list("Antwerp") == []


def test_the_chat_opens_with_all_that_its_answers_held(old: Old) -> None:
    questions, answers = old.messages[::2], old.messages[1::2]
    assert [text_of(q).partition(" as a")[0] for q in questions] == [
        "total amount by region",
        "total amount by month",
        "what was closed in Rotterdam",
    ]
    assert [a.status for a in answers] == ["completed"] * 3
    assert "375.85" in text_of(answers[0])
    assert kept_receipts(answers[0].parts)
    assert covered_of(answers[0].parts)["files"][0]["name"] == "sales.csv"
    assert any(part["type"] == "tool-make_chart" for part in answers[1].parts)
    assert PASSAGE in text_of(answers[2])
    shown = old.session.chats.markdown(old.chat.id)
    assert all(text in shown for text in ("375.85", "2024-04", PASSAGE))


def test_files_are_read_and_searched(old: Old) -> None:
    (note,) = [f for f in old.session.files.list() if f.name == "note.md"]
    house, scope = old.leaf._house, old.leaf.local_scope()
    assert PASSAGE in house.library.texts.read(scope, note).text
    found = house.library.search(scope, old.session.files.list(), "warehouse closed")
    assert [(hit.file_id, PASSAGE in hit.text) for hit in found.hits[:1]] == [(note.id, True)]


def test_results_are_there_and_the_same_when_they_are_computed_again(old: Old) -> None:
    page = old.session.results.page(old.chat.id, "r1")
    assert [row[0] for row in page.rows] == ["North", "South", "West"]
    assert [round(row[1], 2) for row in page.rows] == [375.85, 230.0, 164.65]
    assert old.session.results.recompute(old.chat.id, "r1").outcome == "same"


def test_the_chat_is_exported_and_replayed(
    old: Old, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, data = tmp_path / "chat.zip", tmp_path / "data"
    bundle.write_bytes(old.session.chats.export(old.chat.id, "folder", tmp_path).read_bytes())
    data.mkdir()
    for file in old.session.files.list():
        (data / file.name).write_bytes(old.session.files.path(file.id).read_bytes())
    assert main(["replay", str(bundle), "--data", str(data)]) == 0
    assert "agree" in capsys.readouterr().out
    (data / "sales.csv").write_text((data / "sales.csv").read_text().replace("120.50", "999.00"))
    assert not replay(bundle, data).agrees


def test_the_chat_goes_on(old: Old) -> None:
    answer = finished(
        old.session, old.session.messages.send(old.chat.id, "total amount by product").id
    )
    assert answer.status == "completed"
    assert "460.15" in text_of(answer)


# --- results that were files alone


ZIP = OLD / "folder_0015.zip"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ZIP) as archive:
        archive.extractall(tmp_path / "home")
    return tmp_path / "home"


def kept_files(home: Path) -> list[Path]:
    return sorted((home / "results").glob("*/*/r*.*"))


def test_results_of_an_earlier_version_are_taken_over_once(home: Path, tmp_path: Path) -> None:
    assert len(kept_files(home)) == 6
    with opened(home) as leaf:
        session = leaf.session(leaf.local_scope())
        (chat,) = session.chats.list()
        assert session.results.page(chat.id, "r2").total == 4
        assert kept_files(home) == []
        answers = session.chats.thread(chat.id).messages[1::2]
        found = rows.find(leaf._house.store.db, session.scope, chat.id, [1, 2, 3])
        assert [row.message_id for row in found][:2] == [answers[0].id, answers[1].id]
        assert all(row.sha256 for row in found)
    with opened(home) as leaf:
        session = leaf.session(leaf.local_scope())
        assert session.results.export(chat.id, "r1", into=tmp_path).read_text().startswith("region")
        found = session.tools.run("query_tables", {"sql": "SELECT 1"}, chat_id=chat.id)
        assert found.data.to_json()["table"]["result_id"] == "r4"


def test_numbers_go_on_above_what_answers_mention_where_the_folder_was_lost(home: Path) -> None:
    for path in kept_files(home):
        path.unlink()
    with opened(home) as leaf:
        session = leaf.session(leaf.local_scope())
        (chat,) = session.chats.list()
        found = session.tools.run("query_tables", {"sql": "SELECT 1"}, chat_id=chat.id)
        assert found.data.to_json()["table"]["result_id"] == "r4"
        with pytest.raises(ResultGoneError, match="The rows of r1 are gone"):
            session.results.page(chat.id, "r1")
        outcome = session.results.recompute(chat.id, "r1")
        assert (outcome.outcome, outcome.kept_as) == ("different", "r5")
        assert "whether they are the same is not known" in outcome.text
        assert [row[0] for row in session.results.page(chat.id, "r5").rows] == [
            "North",
            "South",
            "West",
        ]


def test_a_folder_that_began_again_is_not_taken_for_the_old_answers(
    home: Path, tmp_path: Path
) -> None:
    """After a lost folder another query's rows lay under the old name."""
    first, second = (next((home / "results").glob(f"*/*/{name}.json")) for name in ("r1", "r2"))
    for path in (first, first.with_suffix(".parquet")):
        path.unlink()
    second.rename(first)
    second.with_suffix(".parquet").rename(first.with_suffix(".parquet"))
    first.with_suffix(".csv").write_text("month,total amount\n")
    with opened(home) as leaf:
        session = leaf.session(leaf.local_scope())
        (chat,) = session.chats.list()
        for name in ("r1", "r2"):
            with pytest.raises(ResultGoneError, match=f"The rows of {name} are gone"):
                session.results.export(chat.id, name, into=tmp_path)
        outcome = session.results.recompute(chat.id, "r1")
        assert session.results.page(chat.id, outcome.kept_as).columns == ["region", "total amount"]
