"""Words are found in every chat that has them and in no other, whatever is signed of it; a write of
words leaves no signature that holds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import InvalidInputError, NotFoundError
from leaf.keeping import signing
from leaf.keeping.signing import Signing
from leaf.settings import Settings
from leaf.store import Store, chat_search, chats, messages, open_store, signatures, users
from leaf.store.database import Database, now, searched
from leaf.store.model import Scope
from tests.removal_kit import purge_chat
from tests.runs_kit import wait_until

ROOT = Path(__file__).resolve().parents[1]
TOMORROW = timedelta(days=1)
WORDS = (
    "warehouse", "ware", "house", "Revenue", "nation", "information", "q3", "7", "4,812", "100%",
    "net_sales", "İstanbul", "Straße", "STRASSE", "ΣΟΦΟΣ", "ﬁnance", "売上高", "今月の売上は高い",
    "مبيعات", "продажи", "🚀🚀🚀", "a", "e\\f", "x" * 30, "null\x00byte", "half\ud800pair", "e\u0301te",
    "no\u00a0break", "line\u2028break", "vertical\x0btab",
)  # fmt: skip


def text(words: str) -> list[Any]:
    return [{"type": "text", "text": words}]


class Life:
    """People of two workspaces who ask, answer, share, rename, take back and delete, at random,
    while some of their chats are signed."""

    def __init__(self, store: Store, seed: int) -> None:
        self.db, self.draw = store.db, random.Random(seed)
        owner = users.ensure_local_user(self.db)
        other = users.ensure_user(self.db, "other@example.org", "Other")
        self.people = [owner, other, self._member("p1@example.org", owner)]
        self.chats: list[tuple[Scope, str]] = []

    def _member(self, email: str, of: Scope) -> Scope:
        scope = users.ensure_user(self.db, email, email)
        with self.db.transaction() as tx:
            tx.execute(
                "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
                "(:w, :u, 'member', :at)",
                {"w": of.workspace_id, "u": scope.user_id, "at": now()},
            )
        return replace(scope, workspace_id=of.workspace_id)

    def live(self, turns: int) -> None:
        acts = [self.begin, self.begin, self.ask, self.ask, self.ask, self.answer, self.answer]
        acts += [self.edit, self.again, self.withdraw, self.rename, self.delete, self.restore]
        acts += [self.share, self.sign, self.sign, self.set_clock_back]
        if self.draw.random() < 0.5:
            acts += [self.purge]
        for _ in range(turns):
            try:
                self.draw.choice(acts)()
            except (NotFoundError, InvalidInputError):
                continue  # it is deleted, or not waiting

    def words(self) -> str:
        gaps = [" ", "\n", "\t", "\u00a0", "", "-"]
        chosen = self.draw.choices(WORDS, k=self.draw.randrange(6))
        return "".join(word + self.draw.choice(gaps) for word in chosen)

    def chat(self) -> tuple[Scope, str]:
        return self.draw.choice(self.chats or [self.begin()])

    def message(self, role: str, status: str = "") -> tuple[Scope, str]:
        scope, chat_id = self.chat()
        rows = self.db.read(
            "SELECT id FROM messages WHERE chat_id = :chat AND role = :role AND (:status = '' OR "
            "status = :status) ORDER BY id",
            {"chat": chat_id, "role": role, "status": status},
        )
        if not rows:
            raise NotFoundError("None.", "")
        return scope, str(self.draw.choice(rows)["id"])

    def begin(self) -> tuple[Scope, str]:
        scope = self.draw.choice(self.people)
        self.chats.append((scope, chats.create(self.db, scope, title=self.words()).id))
        return self.chats[-1]

    def ask(self) -> None:
        scope, chat_id = self.chat()
        messages.add_exchange(self.db, scope, chat_id, text(self.words()), title=self.words())

    def answer(self) -> None:
        scope, message_id = self.message("assistant")
        status = self.draw.choice(["completed", "stopped", "failed"])
        parts = text(self.words()) + text(self.words())
        messages.finish(
            self.db,
            scope,
            message_id,
            parts=parts,
            raw=[],
            usage={},
            status=status,  # type: ignore[arg-type]
        )

    def edit(self) -> None:
        scope, message_id = self.message("user")
        question = messages.get(self.db, scope, message_id)
        messages.add_exchange(
            self.db, scope, question.chat_id, text(self.words()), parent_id=question.parent_id
        )

    def again(self) -> None:
        messages.add_answer(self.db, *self.message("user"))

    def withdraw(self) -> None:
        messages.withdraw(self.db, *self.message("assistant", "pending"))

    def rename(self) -> None:
        chats.rename(self.db, *self.chat(), self.words())

    def delete(self) -> None:
        chats.delete(self.db, *self.chat())

    def restore(self) -> None:
        chats.restore(self.db, *self.chat())

    def purge(self) -> None:
        one = self.chat()
        purge_chat(self.db, *one)
        self.chats.remove(one)

    def share(self) -> None:
        (owner, chat_id), guest = self.chat(), self.draw.choice(self.people)
        with self.db.transaction(owner) as tx:
            tx.execute("DELETE FROM chat_participants WHERE chat_id = :c AND user_id = :u",
                       {"c": chat_id, "u": guest.user_id})  # fmt: skip
            tx.execute(
                "INSERT INTO chat_participants (chat_id, user_id, created_at) VALUES (:c, :u, :at)",
                {"c": chat_id, "u": guest.user_id, "at": now() + TOMORROW},
            )

    def sign(self) -> None:
        if self.db.engine == "duckdb" and self.chats:
            some = self.draw.sample(self.chats, self.draw.randint(1, len(self.chats)))
            signatures.unscoped_sign(self.db, [chat_id for _, chat_id in some])

    def set_clock_back(self) -> None:
        scope, chat_id = self.chat()
        set_ahead(self.db, scope, chat_id, now() + TOMORROW)


def set_ahead(db: Database, scope: Scope, chat_id: str, at: datetime) -> None:
    """As if the chat was written to before somebody set the clock back."""
    with db.transaction(scope) as tx:
        tx.execute("UPDATE chats SET updated_at = :at WHERE id = :c", {"at": at, "c": chat_id})


class Everything:
    """All that a search may look at, as it is now."""

    def __init__(self, db: Database) -> None:
        self._chats = db.read(
            "SELECT c.id, lower(c.title) AS title, c.workspace_id, p.user_id, c.deleted_at IS NOT "
            "NULL AS deleted FROM chats c JOIN chat_participants p ON p.chat_id = c.id JOIN "
            "workspace_members m ON m.workspace_id = c.workspace_id AND m.user_id = p.user_id "
            "ORDER BY c.updated_at DESC, c.id DESC"
        )
        self._said: dict[str, list[str]] = {}
        for row in db.read("SELECT chat_id, words FROM messages"):
            self._said.setdefault(str(row["chat_id"]), []).append(str(row["words"]))

    def searched(self, scope: Scope, query: str, deleted: bool) -> list[str]:
        """What a search should find, by looking at every row."""
        words = [
            re.sub("[\x00\ud800-\udfff]", "\ufffd", word) for word in searched(query).split()[:10]
        ]
        wanted = (scope.workspace_id, scope.user_id, deleted)
        return [
            str(row["id"])
            for row in self._chats
            if (row["workspace_id"], row["user_id"], bool(row["deleted"])) == wanted
            and all(
                any(word in t for t in (row["title"], *self._said.get(row["id"], [])))
                for word in words
            )
        ]


def query_of(life: Life) -> str:
    """Pieces of words, and words that begin in one message and end in the next."""
    found = []
    for _ in range(life.draw.choice([1, 1, 1, 2, 3])):
        word = life.draw.choice(WORDS) + life.draw.choice(["", "", life.draw.choice(WORDS)])
        start = life.draw.randrange(len(word))
        found.append(word[start : start + life.draw.choice([1, 2, 3, 4, 5, 6, 9, 40])])
    return life.draw.choice([str, str.upper, str.lower])(" ".join(found))


@pytest.mark.parametrize("seed", range(4))
def test_a_search_finds_what_is_there_whatever_is_signed(
    store: Store, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    life = Life(store, seed)
    for _ in range(4):
        life.live(60)
        everything = Everything(store.db)
        for number in range(40):
            monkeypatch.setattr(chats, "NEWEST", life.draw.choice([1, 3, 2_000]))
            monkeypatch.setattr(chat_search, "FIRST", life.draw.choice([1, 2, 100]))
            monkeypatch.setattr(chat_search, "MOST", life.draw.choice([0, 5, 20_000]))
            monkeypatch.setattr(chat_search, "RARE", life.draw.choice([0.0, 0.02, 1.1]))
            scope, query, deleted = life.draw.choice(life.people), query_of(life), number % 7 == 0
            limit, offset = life.draw.choice([(200, 0), (2, 0), (1, 1), (3, 4), (0, 0)])
            listed = chats.list_chats(
                store.db, scope, query=query, deleted=deleted, limit=limit, offset=offset
            )
            expected = everything.searched(scope, query, deleted)[offset : offset + limit]
            assert [chat.id for chat in listed] == expected, query
            assert all((chat.deleted_at is not None) == deleted for chat in listed)


def test_whoever_left_the_workspace_finds_nothing(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope, title="Warehouse")
    assert [c.id for c in chats.list_chats(store.db, scope, query="warehouse")] == [chat.id]
    with store.db.transaction(scope) as tx:
        tx.execute("DELETE FROM workspace_members")
    assert chats.list_chats(store.db, scope, query="warehouse") == []


# Signatures


@pytest.fixture
def duck(tmp_path: Path) -> Any:
    store = open_store(Settings(home=tmp_path / "home"))
    yield store
    store.close()


@pytest.fixture
def me(duck: Store) -> Scope:
    return users.ensure_local_user(duck.db)


def signed(db: Database, chat_id: str) -> bool:
    """Whether the chat has a signature that holds."""
    rows = db.read(f"SELECT s.chat_id FROM {signatures.joined()} WHERE c.id = :c", {"c": chat_id})
    return rows[0]["chat_id"] is not None


def test_a_text_has_the_bits_of_everything_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    monkeypatch.setattr(signatures, "MOST_PIECES", 1_000)
    for size in (7, 50, 100_000):
        monkeypatch.setattr(signatures, "CHUNK", size)
        said = [
            " ".join(draw.choices([w for w in WORDS if w.isprintable()], k=draw.randrange(12)))
            for _ in range(30)
        ]
        rows = signatures.sign([(n // 2, one.lower()) for n, one in enumerate(said)], 15)
        bits = [
            {
                64 * c + b
                for c, column in enumerate(row.tolist())
                for b in range(64)
                if column >> b & 1
            }
            for row in rows
        ]
        for number in range(15):
            pair = said[2 * number : 2 * number + 2]
            pieces = {bit for one in pair for word in one.lower().split() for bit in
                      signatures.bits_of(word)}  # fmt: skip
            assert bits[number] == pieces


def test_bits_stay_what_they_are_since_signatures_stay() -> None:
    assert signatures.bits_of("売上高") == [2877]
    assert signatures.bits_of("revenue") == [5183, 7273, 1012, 7814, 5134, 3553, 7821, 5210]
    assert signatures.bits_of("q3") == []


def writers(db: Database, scope: Scope, chat_id: str) -> dict[str, Callable[[], object]]:
    """Each way in which words come into a chat, or go."""
    asked = messages.add_exchange(db, scope, chat_id, text("first"))

    def finish() -> None:
        messages.finish(
            db, scope, asked.answer.id, parts=text("said"), raw=[], usage={}, status="completed"
        )

    return {
        "add_exchange": lambda: messages.add_exchange(db, scope, chat_id, text("second")),
        "add_answer": lambda: messages.add_answer(db, scope, asked.question.id),
        "finish": finish,
        "finish again": finish,
        "withdraw": lambda: messages.withdraw(
            db, scope, messages.add_exchange(db, scope, chat_id, text("third")).answer.id
        ),
    }


@pytest.mark.parametrize("ahead", [timedelta(0), TOMORROW])
def test_no_signature_holds_after_words_were_written(
    duck: Store, me: Scope, ahead: timedelta
) -> None:
    """Also where the clock was set back meanwhile."""
    chat_id = chats.create(duck.db, me).id
    for name, write in writers(duck.db, me, chat_id).items():
        set_ahead(duck.db, me, chat_id, now() + ahead)
        signatures.unscoped_sign(duck.db, [chat_id])
        assert signed(duck.db, chat_id), name
        before = chats.get(duck.db, me, chat_id).updated_at
        write()
        assert not signed(duck.db, chat_id), name
        assert chats.get(duck.db, me, chat_id).updated_at > before, name


def test_nothing_else_writes_words() -> None:
    found = set()
    for path in sorted((ROOT / "leaf").rglob("*.py")):
        for function in re.split(r"\n(?=(?:    )?(?:async )?def )", path.read_text()):
            if re.search(
                r"INSERT INTO messages|DELETE FROM messages|UPDATE messages (?:AS \w+ )?SET[^;]*?"
                r"\b(?:words|chat_id) = :",
                re.sub(r'"\s+f?"', "", function),
            ):
                found.add(f"{path.name}: {function.split('def ')[1].split('(')[0]}")
    writers = {"_insert", "finish", "unscoped_keep_shown", "withdraw"}
    assert found == {f"messages.py: {name}" for name in writers}
    source = (ROOT / "leaf/store/messages.py").read_text()
    inserting = {
        function.split("(")[0]
        for function in source.split("\ndef ")[1:]
        if re.search(r"\b_insert\(tx", function)
    }
    assert inserting - {"_insert"} == {"add_exchange", "add_answer"}


def test_a_word_that_no_signature_has_room_for_is_looked_for_in_no_message(
    duck: Store, me: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_search, "RARE", 0.1)
    ids = [chats.create(duck.db, me, title=f"Chat {n}").id for n in range(20)]
    for chat_id in ids:
        messages.add_exchange(duck.db, me, chat_id, text("The warehouse of the nation"))
    messages.add_exchange(duck.db, me, ids[4], text("zinfandel"))
    signatures.unscoped_sign(duck.db, ids)
    asked: list[tuple[str, Mapping[str, Any]]] = []

    class Listened:
        engine = "duckdb"

        def read(self, sql: str, params: Mapping[str, Any] | None = None) -> Any:
            asked.append((sql, params or {}))
            return duck.db.read(sql, params or {})

    assert chats.list_chats(Listened(), me, query="nowhere") == []  # type: ignore[arg-type]
    assert not [sql for sql, _ in asked if "messages" in sql]
    found = chats.list_chats(Listened(), me, query="ZINFANDEL")  # type: ignore[arg-type]
    assert [chat.id for chat in found] == [ids[4]]
    assert [given["ids"] for sql, given in asked if "messages" in sql] == [[ids[4]]]


def test_what_was_deleted_or_written_while_it_was_signed_gets_no_signature(
    duck: Store, me: Scope
) -> None:
    gone, written, kept = (chats.create(duck.db, me) for _ in range(3))
    purge_chat(duck.db, me, gone.id)
    messages.add_exchange(duck.db, me, written.id, text("more"))
    row = signatures.sign([], 1).tolist()[0]
    three = [gone, written, kept]
    signatures._keep_signatures(
        duck.db, [chat.id for chat in three], [chat.updated_at for chat in three], [row] * 3
    )
    left = duck.db.read("SELECT chat_id FROM chat_signatures")
    assert [r["chat_id"] for r in left] == [kept.id]
    purge_chat(duck.db, me, kept.id)
    assert duck.db.read("SELECT chat_id FROM chat_signatures") == []


# In the background


@pytest.fixture
def old(duck: Store, me: Scope, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Chats that were written to in the morning; the last one a minute ago."""
    monkeypatch.setattr(signing, "PIECE", 3)
    monkeypatch.setattr(signing, "ROUND", 6)
    ids = [chats.create(duck.db, me, title=f"Chat {n}").id for n in range(20)]
    for chat_id in ids:
        messages.add_exchange(duck.db, me, chat_id, text("The warehouse"))
        set_ahead(duck.db, me, chat_id, datetime.now(UTC) - timedelta(hours=5))
    set_ahead(duck.db, me, ids[-1], datetime.now(UTC) - timedelta(minutes=1))
    return ids


def count(db: Database) -> int:
    return int(db.read("SELECT count(*) AS n FROM chat_signatures")[0]["n"])


def test_chats_that_rest_are_signed_once_each(duck: Store, old: list[str]) -> None:
    work = Signing(duck.db)
    work.begin()
    work.begin()
    wait_until(lambda: count(duck.db) == len(old) - 1)
    work.close()
    assert not signed(duck.db, old[-1])
    assert Signing(duck.db).sign_all() == 0


def test_signing_goes_on_where_it_was_ended(duck: Store, me: Scope, old: list[str]) -> None:
    signatures.unscoped_sign(duck.db, old[:8])
    messages.add_exchange(duck.db, me, old[2], text("more"))
    set_ahead(duck.db, me, old[2], datetime.now(UTC) - timedelta(hours=4))
    ended = Signing(duck.db)
    ended.close()
    ended.begin()
    assert ended.sign_all() == 0
    assert Signing(duck.db).sign_all() == 12
    assert count(duck.db) == len(old) - 1
    assert [c.id for c in chats.list_chats(duck.db, me, query="more")] == [old[2]]


def test_postgresql_keeps_no_signatures(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    set_ahead(store.db, scope, chat.id, datetime.now(UTC) - timedelta(hours=5))
    work = Signing(store.db)
    work.begin()
    if store.db.engine == "duckdb":
        wait_until(lambda: count(store.db) == 1)
    work.close()
    assert count(store.db) == (store.db.engine == "duckdb")
