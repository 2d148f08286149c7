"""Links, on both databases: what anyone sees by one, who makes and ends it, what it leaves behind, and
how members come into a chat by its address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.exports import html
from leaf.exports.shared import ChatShown, chat_page
from leaf.keeping.expired import forget_expired
from leaf.keeping.restore import restore
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.shapes.parts import Part
from leaf.store.database import now
from leaf.store.links import MOST, hashed
from leaf.store.model import Message
from leaf.ui.links import may_update
from tests.filled import Filled, to_fill
from tests.leaf_kit import CLAIMS, SALES, add, finished, opened
from tests.messages_server import Json, Turn

SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY region"
SPEC = {
    "mark": "bar",
    "title": "Revenue by region",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "revenue", "type": "quantitative"},
    },
}


def brain(body: Json) -> Turn:
    last = body["messages"][-1]["content"]
    if isinstance(last, list) and any(block["type"] == "tool_result" for block in last):
        return Turn.say("The North leads with **400**. ![x](https://evil.example/?d=1)")
    if "later" in str(last):
        return Turn.say("Said later.")
    return Turn.call(("query_tables", {"sql": SQL}), ("make_chart", {"spec": SPEC, "sql": SQL}))


@dataclass
class Desk:
    """A chat of Ann's with an answer; Ben is of her workspace, Cy of none of theirs."""

    leaf: Leaf
    ann: Session
    ben: Session
    cy: Session
    chat_id: str
    seen: set[str] = field(default_factory=set)

    def page(self, token: str) -> str:
        found = self.leaf.shared_page(token)
        return found.decode() if found else ""

    def snapshots(self) -> int:
        """How many of those that were seen here are kept."""
        store = self.leaf._house.store
        rows = store.db.read("SELECT sha256 FROM shared_links")
        self.seen |= {str(row["sha256"]) for row in rows}
        return sum(store.blobs.exists(self.ann.scope.workspace_id, one) for one in self.seen)

    def actions(self) -> list[str]:
        return [line.action for line in self.ann.team.audit(kind="people")]


def person(who: str, name: str) -> dict[str, Any]:
    return {**CLAIMS, "sub": who, "name": name, "email": f"{who}@example.org"}


@dataclass(frozen=True)
class Asked:
    """The chat, before anybody has a link to it."""

    filled: Filled
    chat_id: str


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asked]:
    with to_fill(request, tmp_path_factory.mktemp("links"), brain) as filled:
        with filled.first() as leaf:
            ann = leaf.session(leaf.sign_in(person("a", "Ann")).scope)
            ann.team.invite("b@example.org")
            chat = ann.chats.create()
            sales = add(ann, "sales.csv", SALES)
            sent = ann.messages.send(chat.id, "Revenue by <b>region</b>?", [sales.id])
            answer = finished(ann, sent.id, 150)
            assert answer.status == "completed", answer.error
        yield Asked(filled, chat.id)


@pytest.fixture
def desk(asked: Asked, tmp_path: Path) -> Iterator[Desk]:
    with asked.filled.copied(tmp_path / "home", public_links=True) as leaf:
        people = [
            leaf.session(leaf.sign_in(person(who, name)).scope)
            for who, name in (("a", "Ann"), ("b", "Ben"), ("c", "Cy"))
        ]
        yield Desk(leaf, *people, asked.chat_id)


def pinned(desk: Desk) -> str:
    made, _, _ = desk.ann.boards.pin(desk.chat_id, "r1")
    return made.board_id


# What is shown


def test_a_link_shows_the_chat_as_it_stood_until_it_is_updated(desk: Desk) -> None:
    made = desk.ann.links.share_chat(desk.chat_id)
    page = desk.page(made.token)
    for there in (
        "Revenue by &lt;b&gt;region&lt;/b&gt;?",
        "Asked by Ann",
        "<strong>400</strong>",
        "GROUP BY region",
        "<td dir=",
        'src="data:image/png;base64,',
        "sales.csv",
        "4 of 4 rows",
        "noindex",
    ):
        assert there in page, there
    finished(desk.ann, desk.ann.messages.send(desk.chat_id, "And later?", []).id)
    assert "later?" not in desk.page(made.token)
    first = desk.snapshots()
    desk.ann.links.update(made.link.id)
    assert "Said later." in desk.page(made.token)
    assert desk.snapshots() == first
    (link,) = desk.ann.links.of_chat(desk.chat_id)
    assert (link.opened, link.state, link.author) == (3, "open", "Ann")
    assert link.opened_at is not None
    assert link.taken_at > link.created_at
    found = desk.actions()
    assert found.count("public link first opened") == 1
    assert {"public link made", "public link updated"} <= set(found)


def test_of_a_token_only_the_hash_is_kept(desk: Desk) -> None:
    made = desk.ann.links.share_chat(desk.chat_id)
    assert len(made.token) == 43
    db = desk.leaf._house.store.db
    tables = ("shared_links", "shared_link_chats", "audit")
    rows = repr([db.read(f"SELECT * FROM {table}") for table in tables])
    assert made.token not in rows
    assert hashed(made.token) in rows
    assert made.token not in repr(desk.ann.links.all())


def test_nothing_of_the_page_acts_and_no_id_is_on_it(desk: Desk) -> None:
    made, board = desk.ann.links.share_chat(desk.chat_id), pinned(desk)
    shared_board = desk.ann.links.share_board(board)
    for token in (made.token, shared_board.token):
        page = re.sub(r'src="data:[^"]*', 'src="data:', desk.page(token))
        assert not re.search(r"<(script|iframe|object|link|form|base|svg)\b| on\w+=", page, re.I)
        assert set(re.findall(r'src="([^":]*:)', page)) <= {"data:"}
        assert "evil.example" not in "".join(re.findall(r'src="([^"]*)', page))
        ids = [desk.chat_id, board, desk.ann.scope.user_id, desk.ann.scope.workspace_id]
        ids += [file.id for file in desk.ann.files.list()]
        assert not [one for one in ids if one in page]
        assert "Ben" not in page
        assert "example.org" not in page


def test_a_board_is_shown_as_it_stood(desk: Desk) -> None:
    board = pinned(desk)
    desk.ann.boards.rename(board, "Weekly")
    made = desk.ann.links.share_board(board, 7)
    page = desk.page(made.token)
    assert '<h1 dir="auto">Weekly</h1>' in page
    assert "GROUP BY region" in page
    desk.ann.boards.rename(board, "Monthly")
    assert "Weekly" in desk.page(made.token)
    desk.ann.links.update(made.link.id)
    assert "Monthly" in desk.page(made.token)
    assert [link.title for link in desk.ann.links.of_board(board)] == ["Monthly"]


HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(1)>

![a](https://evil.example/?d=1) [go](javascript:alert(1)) [in](/settings) [out](https://example.com/x)

# Large

<https://evil.example/"onmouseover="x> [x]: https://evil.example/r.png

| a |
|---|
| <b>b</b> ![c](https://evil.example/c.png) |
"""


def told(*parts: Part, title: str = "T") -> str:
    at = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    question = Message("q", "c", "", "user", "completed", [{"type": "text", "text": HOSTILE}], [])
    answer = Message("a", "c", "q", "assistant", "completed", list(parts), [])
    return chat_page(ChatShown(title, [question, answer], {}, at), lambda _: b"\x89PNG")


def test_a_board_is_no_way_around_the_host_of_a_chat(desk: Desk) -> None:
    desk.ann.chats.add_participant(desk.chat_id, "b@example.org")
    made, board, _ = desk.ben.boards.pin(desk.chat_id, "r1")
    with pytest.raises(InvalidInputError, match="is shared by Ann; only they can"):
        desk.ben.links.share_board(board.id)
    assert desk.ben.links.of_board(board.id) == []
    anns = desk.ann.links.share_chat(desk.chat_id), desk.ann.links.share_board(pinned(desk))
    desk.ann.chats.remove_participant(desk.chat_id, desk.ann.scope.user_id)
    bens = desk.ben.links.share_board(board.id)  # whose chat it is now
    assert "North" in desk.page(bens.token)
    desk.ben.chats.add_participant(desk.chat_id, "a@example.org")
    assert "North" in desk.page(bens.token)
    for one in anns:  # who came back as a guest lets nobody in
        assert not desk.page(one.token)
    with pytest.raises(InvalidInputError, match="is shared by Ben"):
        desk.ann.links.update(anns[1].link.id)
    desk.ben.boards.remove(made.id)
    assert "North" not in desk.page(desk.ben.links.share_board(board.id).token)


def test_a_link_of_a_board_opens_again_once_what_closed_it_was_removed(desk: Desk) -> None:
    board = pinned(desk)
    link = desk.ann.links.share_board(board)
    desk.ann.chats.delete(desk.chat_id)
    (resting,) = desk.ann.links.of_board(board)
    assert resting.state == "resting"
    assert may_update(resting)
    desk.ann.boards.remove(desk.ann.boards.pins(board)[0].pin.id)
    desk.ann.links.update(link.link.id)
    assert "Nothing is pinned here" in desk.page(link.token)


def test_a_page_has_no_word_of_a_chat_that_its_maker_cannot_open(desk: Desk) -> None:
    desk.ann.chats.add_participant(desk.chat_id, "b@example.org")
    made, board, _ = desk.ben.boards.pin(desk.chat_id, "r1")
    desk.ann.chats.remove_participant(desk.chat_id, desk.ben.scope.user_id)
    page = desk.page(desk.ben.links.share_board(board.id).token)
    assert "takes no part" in page
    assert "region" in made.title
    assert "region" not in page


def test_hostile_words_are_words() -> None:
    tool: Any = {
        "type": "tool-query_tables",
        "toolCallId": "c1",
        "state": "output-available",
        "input": {"sql": "SELECT '</pre><script>x</script>'", "drive": "1AbCdEfDriveId"},
        "output": {
            "summary": "<script>s</script>",
            "data": {
                "table": {
                    "columns": ["<script>c</script>"],
                    "rows": [["<script>r</script>"], [None]],
                    "total": 2,
                }
            },
        },
    }
    page = told({"type": "text", "text": HOSTILE}, tool, title="<script>t</script>")
    assert "<script" not in page
    assert "<img" not in page
    assert 'href="https://example.com/x" rel="noopener noreferrer nofollow"' in page
    found = re.findall(r'<[a-z][^>]*\bhref="([^"]*)', page)
    assert all(address.startswith("https://") for address in found), found
    assert not re.search(r"<[^>]*\son\w+\s*=", page)
    assert "1AbCdEfDriveId" not in page
    assert page.count("<h1") == 1
    assert "<h3>Large</h3>" in page


@pytest.mark.parametrize("text", ["[a](HTTPS://e.example)", "<mailto:a@b.example>"])
def test_links_to_the_web_and_to_mail_stay(text: str) -> None:
    assert "<a href=" in html.words(text)


# Who may


def test_only_the_host_makes_links_and_all_of_the_chat_may_end_them(desk: Desk) -> None:
    made = desk.ann.links.share_chat(desk.chat_id)
    with pytest.raises(NotFoundError):
        desk.ben.links.of_chat(desk.chat_id)
    with pytest.raises(NotFoundError):
        desk.ben.links.revoke(made.link.id)
    desk.ann.chats.add_participant(desk.chat_id, "b@example.org")
    with pytest.raises(InvalidInputError, match="only they can"):
        desk.ben.links.share_chat(desk.chat_id)
    (link,) = desk.ben.links.of_chat(desk.chat_id)
    assert not link.own
    with pytest.raises(InvalidInputError, match="Ann's"):
        desk.ben.links.update(link.id)
    with pytest.raises(InvalidInputError, match="owner"):
        desk.ben.links.all()
    assert desk.ben.links.revoke(link.id)
    assert not desk.page(made.token)
    assert "public link revoked" in desk.actions()
    with pytest.raises(NotFoundError):
        desk.ann.links.revoke(link.id)
    with pytest.raises(InvalidInputError):
        desk.ann.links.share_chat(desk.chat_id, -1)


def test_owners_see_and_end_all_links_without_the_titles_of_others_chats(desk: Desk) -> None:
    chat = desk.ben.chats.create()
    asked = desk.ben.messages.send(chat.id, "Of Ben, later?", [])
    finished(desk.ben, asked.id)
    made = desk.ben.links.share_chat(chat.id)
    mine = desk.ann.links.share_chat(desk.chat_id)
    titles = {link.id: (link.title, link.author) for link in desk.ann.links.all()}
    assert titles[made.link.id] == ("", "Ben")
    assert titles[mine.link.id][0]
    desk.ann.links.revoke(made.link.id)
    assert not desk.page(made.token)
    assert desk.page(mine.token)


def test_there_is_no_link_where_it_is_not_allowed(desk: Desk) -> None:
    made = desk.ann.links.share_chat(desk.chat_id)
    house = desk.leaf._house
    without = Leaf(
        replace(house, settings=replace(house.settings, public_links=False)), lambda: None
    )
    assert without.shared_page(made.token) is None
    ann = without.session(desk.ann.scope)
    assert not ann.links.allowed()
    with pytest.raises(InvalidInputError, match="LEAF_PUBLIC_LINKS"):
        ann.links.share_chat(desk.chat_id)
    assert ann.links.revoke(ann.links.all()[0].id)  # what there is can be ended


def test_an_empty_chat_and_one_link_too_many_are_refused(desk: Desk) -> None:
    with pytest.raises(InvalidInputError, match="Nothing was asked"):
        desk.ann.links.share_chat(desk.ann.chats.create().id)
    board = pinned(desk)
    for _ in range(MOST):
        desk.ann.links.share_board(board)
    with pytest.raises(InvalidInputError, match="already"):
        desk.ann.links.share_board(board)
    assert len(desk.ann.links.of_board(board)) == MOST


# When it opens nothing


def test_a_link_rests_while_its_chat_is_away_or_its_maker_is(desk: Desk) -> None:
    board = pinned(desk)
    made, other = desk.ann.links.share_chat(desk.chat_id), desk.ann.links.share_board(board)
    desk.ann.chats.delete(desk.chat_id)
    assert (desk.page(made.token), desk.page(other.token)) == ("", "")
    assert {link.state for link in desk.ann.links.all()} == {"resting"}
    desk.ann.chats.restore(desk.chat_id)
    assert desk.page(made.token)
    assert desk.page(other.token)
    desk.ann.chats.add_participant(desk.chat_id, "b@example.org")
    desk.ann.chats.remove_participant(desk.chat_id, desk.ann.scope.user_id)
    assert (desk.page(made.token), desk.page(other.token)) == ("", "")


def test_a_maker_who_was_removed_from_the_workspace_shares_nothing(desk: Desk) -> None:
    chat = desk.ben.chats.create()
    finished(desk.ben, desk.ben.messages.send(chat.id, "Later?", []).id)
    made = desk.ben.links.share_chat(chat.id)
    assert desk.page(made.token)
    desk.ann.team.remove(desk.ben.scope.user_id)
    assert not desk.page(made.token)


def test_a_link_ends_when_it_was_said_and_its_snapshot_goes_some_days_later(desk: Desk) -> None:
    made = desk.ann.links.share_chat(desk.chat_id, 7)
    stays = desk.ann.links.share_board(pinned(desk))
    assert made.link.expires_at is not None
    assert abs(made.link.expires_at - now() - timedelta(days=7)) < timedelta(minutes=5)
    assert stays.link.expires_at is None
    before, store = desk.snapshots(), desk.leaf._house.store
    for past, there in ((timedelta(seconds=1), before), (timedelta(days=8), before - 1)):
        with store.db.transaction(desk.ann.scope) as tx:
            tx.execute(
                "UPDATE shared_links SET expires_at = :at WHERE id = :id",
                {"at": now() - past, "id": made.link.id},
            )
        assert not desk.page(made.token)
        forget_expired(store)
        assert desk.snapshots() == there
    assert [link.id for link in desk.ann.links.all()] == [stays.link.id]
    assert desk.page(stays.token)


# What is left


@pytest.mark.parametrize("how", ["revoke", "chat", "board", "account", "workspace"])
def test_no_byte_of_a_snapshot_is_left(desk: Desk, how: str) -> None:
    board = pinned(desk)
    made, other = desk.ann.links.share_chat(desk.chat_id), desk.ann.links.share_board(board)
    assert desk.snapshots() == 2
    scope = desk.ann.scope
    acts: dict[str, Callable[[], object]] = {
        "revoke": lambda: [desk.ann.links.revoke(one.link.id) for one in (made, other)],
        "chat": lambda: desk.ann.chats.purge(desk.chat_id),
        "board": lambda: desk.ann.boards.delete(board),
        "account": lambda: desk.leaf.purge_account("a@example.org"),
        "workspace": lambda: desk.leaf.purge_workspace(scope.workspace_id),
    }
    desk.ann.team.set_role(desk.ben.scope.user_id, "owner")  # whom her account may leave behind
    acts[how]()
    assert desk.snapshots() == (1 if how == "board" else 0)
    assert not desk.page(other.token)
    assert bool(desk.page(made.token)) == (how == "board")
    db = desk.leaf._house.store.db
    for table in ("shared_links", "shared_link_chats"):
        assert len(db.read(f"SELECT * FROM {table}")) == (1 if how == "board" else 0)


def test_a_link_outlives_a_restore(desk: Desk, tmp_path: Path) -> None:
    made = desk.ann.links.share_chat(desk.chat_id)
    desk.leaf.backup(tmp_path / "saved")
    other = Settings(home=tmp_path / "other", public_links=True)
    restore(other, tmp_path / "saved")
    with opened(other.home, public_links=True) as leaf:
        page = leaf.shared_page(made.token)
        assert page is not None
        assert b"<strong>400</strong>" in page


# Members


def test_members_join_a_chat_by_its_address_where_its_people_let_them(desk: Desk) -> None:
    assert desk.ben.links.host_of(desk.chat_id) == ""
    with pytest.raises(NotFoundError):
        desk.ben.links.join(desk.chat_id)
    with pytest.raises(NotFoundError):
        desk.ben.links.set_open(desk.chat_id, True)
    desk.ann.links.set_open(desk.chat_id, True)
    assert desk.ann.links.is_open(desk.chat_id)
    assert desk.ben.links.host_of(desk.chat_id) == "Ann"
    assert desk.ben.team.workspace_of(desk.chat_id) == desk.ann.scope.workspace_id
    assert desk.cy.links.host_of(desk.chat_id) == ""
    with pytest.raises(NotFoundError):
        desk.cy.links.join(desk.chat_id)
    desk.ben.links.join(desk.chat_id)
    desk.ben.links.join(desk.chat_id)
    assert [p.name for p in desk.ben.chats.participants(desk.chat_id)] == ["Ann", "Ben"]
    found = desk.actions()
    assert found.count("joined chat by its link") == 1
    assert "chat opened to members" in found


def test_nobody_joins_a_chat_of_somebody_who_was_removed(desk: Desk) -> None:
    chat = desk.ben.chats.create()
    finished(desk.ben, desk.ben.messages.send(chat.id, "Later?", []).id)
    desk.ben.links.set_open(chat.id, True)
    assert desk.ann.links.host_of(chat.id) == "Ben"
    desk.ann.team.remove(desk.ben.scope.user_id)
    assert desk.ann.links.host_of(chat.id) == ""
    with pytest.raises(NotFoundError):
        desk.ann.links.join(chat.id)


def test_a_page_with_the_name_of_somebody_goes_with_their_account(desk: Desk) -> None:
    desk.ann.chats.add_participant(desk.chat_id, "b@example.org")
    before = desk.ann.links.share_chat(desk.chat_id)
    finished(desk.ben, desk.ben.messages.send(desk.chat_id, "Later?", []).id)
    after = desk.ann.links.share_chat(desk.chat_id)
    assert "Ben" in desk.page(after.token)
    assert desk.snapshots() == 2
    desk.leaf.purge_account("b@example.org")
    assert desk.page(before.token)
    assert not desk.page(after.token)
    assert desk.snapshots() == 1
    assert "Ben" not in desk.page(desk.ann.links.share_chat(desk.chat_id).token)


def test_a_chat_that_was_closed_again_or_put_away_lets_nobody_in(desk: Desk) -> None:
    desk.ann.links.set_open(desk.chat_id, True)
    desk.ann.links.set_open(desk.chat_id, False)
    with pytest.raises(NotFoundError):
        desk.ben.links.join(desk.chat_id)
    desk.ann.links.set_open(desk.chat_id, True)
    desk.ann.chats.delete(desk.chat_id)
    assert desk.ben.links.host_of(desk.chat_id) == ""
    with pytest.raises(LeafError):
        desk.ben.links.join(desk.chat_id)
