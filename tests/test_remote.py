"""Commands through the app: who may call, what crosses, and when the key file is believed."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from starlette.applications import Starlette

from leaf import settings
from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, NotFoundError, RunError, StoreBusyError
from leaf.files.library import Added
from leaf.remote import address, codec
from leaf.remote.address import Address, announce, proof, read, withdraw
from leaf.remote.client import connect, find
from leaf.remote.contract import METHODS, Commands, SessionCommands
from leaf.remote.server import CALL_BYTES, routes
from leaf.runs.records import RunRecord, StepRecord
from leaf.runs.run import Slice
from leaf.sessions import session
from leaf.shapes.results import AnyResult
from leaf.store.model import Chat, File, Message, Thread
from leaf.tools.base import Coverage, Source, ToolOutput
from leaf.wiring import build, reach
from tests.app_process import App
from tests.loopback import Handler, LoopbackServer

KEY = "the-key-of-this-test"
NOW = datetime(2026, 1, 2, 3, 4, 5, 678, UTC)
CHAT = Chat("c1", "w1", "u1", "Umsätze \x7f", "", "", NOW, NOW)
MESSAGE = Message(
    "m1",
    "c1",
    "",
    "assistant",
    "completed",
    [{"type": "text", "text": "4,5 €"}],
    [],
    created_at=NOW,
)
FILE = File(
    "f1",
    "w1",
    "u1",
    "a.csv",
    "text/csv",
    "csv",
    3,
    "0" * 64,
    "upload",
    "",
    {"rows": [1, None, 2.5]},
    NOW,
)
OUTPUT = ToolOutput(
    "1",
    "Summed",
    (Source("f1", "1", "a.csv", "rows 1-2", "read"),),
    (Coverage("1", "a.csv", "rows", 1, 2, ((1, 1),)),),
    AnyResult(n=1),
)


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    with closing(build(settings.load({"LEAF_HOME": str(tmp_path_factory.mktemp("home"))}))) as app:
        yield app


class Answer:
    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = json.loads(body) if body.startswith(b"{") else body


def post(
    app: Callable[[], Leaf],
    path: str,
    body: bytes | list[bytes] = b"",
    *,
    peer: str = "127.0.0.1",
    key: str | None = KEY,
    known: str = KEY,
    on_piece: Callable[[int], None] = lambda _: None,
    cut: bool = False,
    **headers: str,
) -> Answer:
    """One request to the routes, as a server hands it over; `cut` leaves before the end of the
    body."""
    given = {
        "host": "127.0.0.1:8501",
        **({"authorization": f"Bearer {key}"} if key is not None else {}),
    }
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    pieces = body if isinstance(body, list) else [body]
    left = iter(enumerate(pieces))
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        number, piece = next(left, (-1, b""))
        on_piece(number)
        if number < 0:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": cut or number + 1 < len(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": (peer, 40000), "server": ("127.0.0.1", 8501),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip
    asyncio.run(Starlette(routes=routes(app, lambda: known))(scope, receive, send))
    content = b"".join(m.get("body", b"") for m in sent)
    return Answer(int(sent[0]["status"]), content)


def call(leaf: Leaf, method: str, **arguments: Any) -> Answer:
    return post(
        lambda: leaf, "/_leaf/call", json.dumps({"method": method, "arguments": arguments}).encode()
    )


# --- what crosses


def of(owner: Any, dotted: str) -> Any:
    """A function of Leaf, or of the part of a session that stands before its name."""
    part, _, name = dotted.rpartition(".")
    if not part:
        return getattr(owner, name)
    where = (
        get_type_hints(SessionCommands.__dict__[part].fget)["return"]
        if owner is Commands
        else PARTS[part]
    )
    return getattr(where, name)


PARTS = {part.__name__.lower(): part for part in session.PARTS}


@pytest.mark.parametrize("name", sorted({*METHODS, "files.add_path", "jobs.take_paths"}))
def test_each_method_is_called_as_leaf_has_it(name: str) -> None:
    offered, own = of(Commands, name), of(Leaf, name)
    assert get_type_hints(offered) == get_type_hints(own)
    told, real = (inspect.signature(function).parameters.values() for function in (offered, own))
    assert [(p.name, p.kind, p.default) for p in told] == [
        (p.name, p.kind, p.default) for p in real
    ]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_each_method_that_may_be_called_is_known_to_the_codec(name: str) -> None:
    found = codec.method(name)
    assert f"{found.part}.{found.name}".lstrip(".") == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("chats.list", [CHAT]),
        ("messages.get", MESSAGE),
        ("chats.thread", Thread((MESSAGE,), 3, {"m1": ("m1", "m2")})),
        ("files.list", [FILE]),
        ("tools.run", OUTPUT),
        ("messages.wait", Slice(({"type": "text-delta", "id": "t", "delta": "ä"},), 4, False)),
        (
            "runs",
            [
                RunRecord(
                    "m1", "c1", "u1", "error", "m", NOW, None, NOW, 2, "local", False, "Failed."
                )
            ],
        ),
        ("run_steps", [StepRecord(1, "model", 0.25, 12, "ok")]),
        ("messages.stop", None),
        ("chats.markdown", "# Title"),
    ],
)
def test_a_value_is_rebuilt_as_it_was(name: str, value: object) -> None:
    assert codec.unpack_value(name, json.loads(codec.pack_value(value))["value"]) == value


def test_an_added_file_is_rebuilt_as_it_was() -> None:
    added = Added(FILE, True)
    assert codec.unpack_added(json.loads(codec.pack_value(added))["value"]) == added


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        (NotFoundError("No chat 'x'.", "There is none."), NotFoundError),
        (StoreBusyError("Busy.", "Wait."), StoreBusyError),
        (type("HomeMadeError", (LeafError,), {})("Own.", ""), LeafError),
    ],
)
def test_an_error_arrives_as_its_own_class(sent: LeafError, arrives: type[LeafError]) -> None:
    arrived = codec.unpack_error(json.loads(codec.pack_error(sent))["error"])
    assert type(arrived) is arrives
    assert (arrived.message, arrived.hint) == (sent.message, sent.hint)


# --- who may call


def test_a_caller_on_this_machine_with_the_key_is_answered(leaf: Leaf) -> None:
    made = call(leaf, "chats.create").body["value"]
    assert call(leaf, "chats.get", chat_id=made["id"]).body["value"] == made


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"key": None}, 401),
        ({"key": ""}, 401),
        ({"key": KEY[:-1]}, 401),
        ({"key": KEY + "ü"}, 401),
        ({"key": "", "known": ""}, 401),
        ({"key": None, "authorization": f"Basic {KEY}"}, 401),
        ({"peer": "192.0.2.7"}, 403),
        ({"peer": "::ffff:192.0.2.7"}, 403),
        ({"peer": "unix"}, 403),
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example:8501"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": "localhost@evil.example"}, 403),
        ({"host": "["}, 403),
        ({"host": ""}, 403),
        ({"origin": "http://127.0.0.1:8501"}, 403),
        ({"x_forwarded_for": "127.0.0.1"}, 403),
        ({"forwarded": "for=127.0.0.1"}, 403),
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/_leaf/call", "/_leaf/files"])
def test_nobody_else_gets_as_far_as_leaf(path: str, given: dict[str, Any], status: int) -> None:
    def untouched() -> Leaf:
        raise AssertionError("Leaf was asked")

    answer = post(untouched, path, codec.pack_call("local_scope", (), {}), **given)
    assert answer.status == status
    assert KEY not in str(answer.body)


@pytest.mark.parametrize(
    "given",
    [{"peer": "::1", "host": "[::1]:8501"}, {"peer": "::ffff:127.0.0.1", "host": "localhost"}],
    ids=str,
)
def test_loopback_has_several_names(leaf: Leaf, given: dict[str, Any]) -> None:
    assert (
        post(lambda: leaf, "/_leaf/call", codec.pack_call("local_scope", (), {}), **given).status
        == 200
    )


@pytest.mark.parametrize(
    "method",
    [
        *(
            "close",
            "session",
            "set_default_model",
            "settings",
            "_house",
            "__class__",
            "__init__",
            "",
            ".",
            "x" * 500,
        ),
        *(
            "chats",
            "chats.delete",
            "chats._house",
            "chats.get.x",
            "files.add_path",
            "files.path",
            "team.remove",
            "nobody.get",
        ),
    ],
)
def test_only_what_is_on_the_list_can_be_called(leaf: Leaf, method: str) -> None:
    answer = call(leaf, method)
    assert answer.status == 422
    assert answer.body["error"]["type"] == "InvalidInputError"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"method": 3}',
        b'{"method": "chats.get"}',
        b'{"method": "chats.get", "arguments": []}',
        b'{"method": "chats.get", "arguments": {"chat_id": 3}}',
        b'{"method": "chats.get", "arguments": {"chat_id": "x", "scope": {"workspace_id": "w", '
        b'"user_id": "u"}}}',
        b'{"method": "messages.wait", "arguments": {"message_id": "m", "position": "first", '
        b'"timeout": 1}}',
        b"\xff\xfe",
        b" " * (CALL_BYTES + 1),
    ],
    ids=lambda b: str(b[:60]),
)
def test_what_is_not_a_call_is_an_error_in_words(leaf: Leaf, body: bytes) -> None:
    answer = post(lambda: leaf, "/_leaf/call", body)
    assert answer.status == 422
    assert answer.body["error"]["message"]


def test_hello_shows_that_the_app_knows_the_key_and_nothing_of_it(leaf: Leaf) -> None:
    answer = post(lambda: leaf, "/_leaf/hello", b'{"nonce": "n1"}', key=None)
    assert answer.body["value"]["proof"] == proof(KEY, "n1")
    assert KEY not in str(answer.body)
    assert post(lambda: leaf, "/_leaf/hello", b'{"nonce": "n1"}', peer="192.0.2.7").status == 403
    assert post(lambda: leaf, "/_leaf/hello", b'{"nonce": "n1"}', known="").status == 403


# --- uploads


def uploads(leaf: Leaf) -> list[Path]:
    return [p for p in (leaf.settings.home / "blobs").rglob(".incoming-*") if p.is_file()]


def test_an_upload_is_on_disk_before_its_last_piece_comes(leaf: Leaf) -> None:
    megabyte, waiting = 1024 * 1024, []

    def look(number: int) -> None:
        waiting.append(number * megabyte - sum(p.stat().st_size for p in uploads(leaf)))

    body = [b'{"name": "big.bin"}\n', *(bytes([n]) * megabyte for n in range(24))]
    answer = post(lambda: leaf, "/_leaf/files", body, on_piece=look)
    assert answer.body["value"]["file"]["size"] == 24 * megabyte
    assert max(waiting) <= 4 * megabyte


@pytest.mark.parametrize(
    "name", ["../../../etc/cron.d/x", "/etc/passwd", "..\\..\\x.csv", "a\x00b.csv", "", "."]
)
def test_a_name_with_a_path_in_it_is_only_a_name(leaf: Leaf, name: str) -> None:
    before = {
        p
        for p in leaf.settings.home.parent.rglob("*")
        if p.is_file() and leaf.settings.home not in p.parents
    }
    answer = post(
        lambda: leaf,
        "/_leaf/files",
        [json.dumps({"name": name}).encode() + b"\n", f"content of {name!r}".encode()],
    )
    kept = answer.body["value"]["file"]
    assert not set(kept["name"]) & set("/\\\x00")
    assert kept["name"].strip(".")
    assert {
        p
        for p in leaf.settings.home.parent.rglob("*")
        if p.is_file() and leaf.settings.home not in p.parents
    } == before


def test_an_upload_that_breaks_off_leaves_nothing(leaf: Leaf) -> None:
    known = leaf.session(leaf.local_scope()).files.list()
    post(lambda: leaf, "/_leaf/files", [b'{"name": "cut.txt"}\n', b"the first half"], cut=True)
    assert leaf.session(leaf.local_scope()).files.list() == known
    assert uploads(leaf) == []


def test_an_upload_over_the_limit_is_read_to_its_end_and_told(tmp_path: Path) -> None:
    pieces = [b'{"name": "big.bin"}\n', *[b"x" * 1024 * 1024] * 5]
    seen: list[int] = []
    with closing(
        build(settings.load({"LEAF_HOME": str(tmp_path), "LEAF_MAX_UPLOAD_MB": "1"}))
    ) as small:
        answer = post(lambda: small, "/_leaf/files", pieces, on_piece=seen.append)
    assert answer.body["error"]["type"] == "FileTooLargeError"
    assert len(pieces) - 1 in seen


# --- the key file


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o377])
def test_the_key_file_is_for_its_owner_only_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        written = announce(tmp_path, "http://127.0.0.1:8501")
    finally:
        os.umask(before)
    assert (tmp_path / "app.json").stat().st_mode & 0o777 == 0o600
    assert read(tmp_path) == written
    assert written.pid == os.getpid()
    assert written.key not in repr(written)
    assert [p.name for p in tmp_path.iterdir()] == ["app.json"]


def test_each_start_has_a_key_of_its_own_and_removes_only_that(tmp_path: Path) -> None:
    first, second = (
        announce(tmp_path, "http://127.0.0.1:1"),
        announce(tmp_path, "http://127.0.0.1:2"),
    )
    assert first.key != second.key
    withdraw(tmp_path, first.key)
    withdraw(tmp_path, "")
    assert read(tmp_path) == second
    withdraw(tmp_path, second.key)
    assert read(tmp_path) is None


def test_a_symbolic_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    announce(tmp_path, "http://127.0.0.1:1")
    elsewhere = tmp_path / "elsewhere.json"
    (tmp_path / "app.json").rename(elsewhere)
    content = elsewhere.read_text()
    (tmp_path / "app.json").symlink_to(elsewhere)
    assert read(tmp_path) is None
    assert announce(tmp_path, "http://127.0.0.1:2") == read(tmp_path)
    assert elsewhere.read_text() == content


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620])
def test_a_key_that_others_can_read_or_write_is_not_used(tmp_path: Path, mode: int) -> None:
    announce(tmp_path, "http://127.0.0.1:1")
    (tmp_path / "app.json").chmod(mode)
    assert read(tmp_path) is None


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away"
)
def test_a_key_file_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    announce(tmp_path, "http://127.0.0.1:1")
    os.chown(tmp_path / "app.json", 12345, 12345)
    assert read(tmp_path) is None


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"url": "http://127.0.0.1:1"}', '{"url": "", "key": "", "pid": "x"}'],
)
def test_a_damaged_key_file_is_not_used(tmp_path: Path, content: str) -> None:
    announce(tmp_path, "http://127.0.0.1:1")
    (tmp_path / "app.json").write_text(content)
    assert read(tmp_path) is None


def test_a_folder_in_its_place_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "app.json").mkdir()
    assert read(tmp_path) is None


def test_a_file_in_the_place_of_the_data_folder_is_not_called_a_key_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    assert read(tmp_path / "file") is None
    assert caplog.text == ""


class Stranger(LoopbackServer):
    """A server that holds the port of an app that is gone. It writes down what it is sent; `say`
    makes its answers."""

    def __init__(self, say: Callable[[bytes], object]) -> None:
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.say = say
        super().__init__(_StrangersHandler)


class _StrangersHandler(Handler):
    app: Stranger

    def do_POST(self) -> None:
        body = self.body()
        self.app.heard.append((dict(self.headers), body))
        said = self.app.say(body)
        self.send(200, said if isinstance(said, bytes) else json.dumps(said))


@pytest.mark.parametrize(
    "said",
    [{"value": {"proof": "0" * 64, "version": "0.1.0"}}, {"value": 3}, [], "hello", {"error": {}}],
    ids=str,
)
def test_a_stranger_on_the_port_is_told_no_key_and_no_question(
    tmp_path: Path, said: object
) -> None:
    with Stranger(lambda _: said) as stranger:
        key = announce(tmp_path, stranger.url).key
        assert find(tmp_path) is None
    assert len(stranger.heard) == 1
    assert key not in str(stranger.heard)


def test_an_app_of_another_version_is_named(tmp_path: Path) -> None:
    keys: list[str] = []

    def say(body: bytes) -> object:
        return {"value": {"proof": proof(keys[0], json.loads(body)["nonce"]), "version": "0.0.1"}}

    with Stranger(say) as old:
        keys.append(announce(tmp_path, old.url).key)
        with pytest.raises(LeafError, match=r"0\.0\.1.*Restart the app"):
            find(tmp_path)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"Internal Server Error", "Its log says why"),
        ({"value": 3}, "not understood"),
        ({}, "not understood"),
    ],
    ids=str,
)
def test_an_app_that_fails_is_told_in_words(said: object, told: str) -> None:
    with Stranger(lambda _: said) as failing, pytest.raises(LeafError, match=told):
        connect(Address(failing.url, KEY, os.getpid())).local_scope()


def test_an_app_that_goes_away_is_told_in_words() -> None:
    with pytest.raises(RunError, match="stopped answering"):
        connect(Address("http://127.0.0.1:9", KEY, os.getpid())).local_scope()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9",
        "http://192.0.2.1:80",
        "http://evil.example",
        "file:///etc/passwd",
        "x",
        "",
    ],
)
def test_an_address_where_no_app_can_be_is_passed_over(tmp_path: Path, url: str) -> None:
    announce(tmp_path, url)
    assert find(tmp_path) is None


def test_a_killed_app_leaves_a_file_that_stops_nobody(tmp_path: Path) -> None:
    left = announce(tmp_path, "http://127.0.0.1:9")
    content = json.loads((tmp_path / "app.json").read_text())
    (tmp_path / "app.json").write_text(json.dumps(content | {"pid": 2**22 + 1}))
    assert not address.alive(2**22 + 1)
    assert address.alive(left.pid)
    commands, app = reach(settings.load({"LEAF_HOME": str(tmp_path)}))
    with closing(commands):
        assert app == ""
        assert commands.session(commands.local_scope()).chats.list() == []


# --- a real app


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    home = tmp_path_factory.mktemp("app")
    running = App(home, log=home.parent / f"{home.name}.log").start()
    yield running
    running.stop()


def test_the_app_is_found_and_does_the_same_as_leaf_itself(app: App, tmp_path: Path) -> None:
    found = find(app.home)
    assert found is not None
    assert found.url == app.url
    commands = connect(found)
    session = commands.session(commands.local_scope())
    path = tmp_path / "note.txt"
    path.write_text("The meeting is on Monday.")
    added = session.files.add_path(path, "for the board")
    assert (added.file.name, added.file.upload_context, added.duplicate) == (
        "note.txt",
        "for the board",
        False,
    )
    assert session.files.list() == [added.file]
    with pytest.raises(NotFoundError, match="no-such-chat"):
        session.chats.get("no-such-chat")
    with pytest.raises(InvalidInputError):
        session.messages.send(session.chats.create().id, " ")
    with pytest.raises(LeafError, match="Cannot open"):
        session.files.add_path(tmp_path / "absent.txt")


def test_a_second_app_on_the_folder_leaves_the_key_file_alone(app: App) -> None:
    before = read(app.home)
    second = App(app.home).start()
    second.stop()
    assert read(app.home) == before
    assert before is not None


def test_the_key_stands_in_no_log(app: App) -> None:
    found = find(app.home)
    assert found is not None
    commands = connect(found)
    commands.local_scope()
    with pytest.raises(LeafError):
        connect(Address(found.url, found.key + "x", found.pid)).local_scope()
    with pytest.raises(LeafError):
        commands.session(commands.local_scope()).chats.get(found.key[::-1])
    assert "127.0.0.1" in app.log.read_text()
    assert found.key not in app.log.read_text()


def test_a_closed_app_takes_its_key_file_with_it(tmp_path: Path) -> None:
    running = App(tmp_path / "home").start()
    assert (tmp_path / "home" / "app.json").stat().st_mode & 0o777 == 0o600
    running.stop()
    assert not (tmp_path / "home" / "app.json").exists()
