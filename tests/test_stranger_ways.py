"""The ways in beside a session, of a running app: every route, every method that crosses to
commands, every command. Whoever is not let in gets nothing of the owner's by any, and changes
nothing."""

from __future__ import annotations

import argparse
import http.client
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets import InvalidStatus, Subprotocol
from websockets.sync.client import connect

from leaf.cli import main as cli
from leaf.remote import codec
from leaf.remote.contract import METHODS as CROSSING
from leaf.store.duckdb import DuckDatabase
from leaf.ui.live.route import PROTOCOL
from tests import forked_programs
from tests.app_process import ROOT, App
from tests.drive_server import CLIENT_ID, CLIENT_SECRET
from tests.stranger_entries import METHODS, harmless, value_of
from tests.stranger_kit import PRIVATE, WHO, Given, Planted, World, claims, opened_world, told
from tests.stranger_ways import COMMANDS, NOT_ASKED_SO, OPERATORS, ROUTES, Command
from tests.test_ui_cookies import cookie_of
from tests.test_ui_visitors import AUTH

XSRF = generate_xsrf_token_string(None, None)
TABLE = """
import json, app
from starlette.routing import Mount, WebSocketRoute
found = app.app._build_starlette_app().routes
print(json.dumps([[r.path, sorted(getattr(r, "methods", None) or
    (["WS"] if isinstance(r, WebSocketRoute) else ["GET", "HEAD"]))] for r in found]))
"""
METHODS_TRIED = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass
class Running:
    """The app over a filled folder, and who comes to it."""

    app: App
    world: World
    given: Given
    folder: Path
    cookies: Mapping[str, str]
    owners_session: str = ""
    owners_media: tuple[str, ...] = ()
    wrote: list[str] = field(default_factory=list)
    """After which calls the database had another size."""
    stamp: object = None

    def look(self, asked: str) -> None:
        """Remember whether the call wrote."""
        now = self.world.kept.stamp()
        if now != self.stamp:
            self.wrote.append(asked)
            self.stamp = now


@pytest.fixture(scope="module")
def running(planted: Planted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("ways")
    (folder / "secrets.toml").write_text(AUTH)
    shutil.copytree(planted.home, folder / "home")
    with opened_world(planted, folder / "home", busy=False) as world:
        for job in world.owner.session.jobs.list():
            world.owner.session.jobs.forget(job.id)  # as her page does, once she has seen it
        world.owner.session.drive.changes(world.owner.given["chat_id"])  # the same
        world.kept.remember()
        plain = harmless(folder)
    cookies = {who: cookie_of(name, **claims(name, mark)) for who, (name, mark) in WHO.items()}
    cookies |= {"nobody": "", "forged": cookies["owner"][:-4] + "AAAA"}
    google = {
        "LEAF_GOOGLE_CLIENT_ID": CLIENT_ID,
        "LEAF_GOOGLE_CLIENT_SECRET": CLIENT_SECRET,
        "LEAF_GOOGLE_API_URL": f"{planted.google.url}/drive/v3/",
        "LEAF_GOOGLE_AUTH_URL": f"{planted.google.url}/o/oauth2/auth",
        "LEAF_GOOGLE_TOKEN_URL": f"{planted.google.url}/token",
        "LEAF_GOOGLE_REVOKE_URL": f"{planted.google.url}/revoke",
        "OAUTHLIB_INSECURE_TRANSPORT": "1",
        "LEAF_PUBLIC_LINKS": "on",
    }
    app = App(folder / "home", secrets=folder / "secrets.toml", **google).start()
    try:
        made = Running(app, world, {**plain, **world.owner.given}, folder, cookies)
        with drawn(app, cookies["owner"], "", f"chat={made.given['chat_id']}") as shown:
            made.owners_session, found = shown[0], told(shown[1])
            made.owners_media = tuple(sorted(set(re.findall(r"media/([0-9a-f]+\.\w+)", found))))
            assert made.owners_media
            assert PRIVATE in found
            for cookie in (cookies["other"], cookies["colleague"]):
                with drawn(app, cookie, ""):
                    pass  # their first sign-in is written down
            made.stamp = world.kept.stamp()
            yield made
    finally:
        app.stop()


@contextmanager
def drawn(app: App, cookie: str, page: str, query: str = "") -> Iterator[tuple[str, bytes]]:
    """A page that was opened: its session, and all that was sent to it."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    with connect(
        f"ws://127.0.0.1:{app.port}/_stcore/stream",
        origin="https://app.example.org",  # type: ignore[arg-type] # a type of its own for text
        subprotocols=[Subprotocol("streamlit"), Subprotocol(XSRF)],
        additional_headers={"Cookie": f"_streamlit_xsrf={XSRF}; {cookie}"},
        max_size=None,
    ) as socket:
        ask = BackMsg()
        ask.rerun_script.query_string = query
        ask.rerun_script.page_name = page
        socket.send(ask.SerializeToString())
        sent, session_id, over = [], "", False
        while True:
            try:
                sent.append(socket.recv(0.25 if over else 30))
            except TimeoutError:
                break
            message = ForwardMsg.FromString(sent[-1])
            kind = message.WhichOneof("type")
            if kind == "new_session":
                session_id, over = message.new_session.initialize.session_id, False
            over = over or kind == "script_finished"
        yield session_id, b"".join(bytes(one) for one in sent)


def ask(app: App, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
    """Status, and all that came back."""
    with closing(http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)) as wire:
        wire.request(method, path, body, headers)
        answer = wire.getresponse()
        return answer.status, f"{answer.getheaders()} {told(answer.read())}"


# Routes


@pytest.fixture(scope="module")
def table() -> list[tuple[str, list[str]]]:
    """(Path, methods) of every route of the app, Streamlit's too; `WS` for a websocket."""
    command = [sys.executable, "-c", TABLE]
    done = forked_programs.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [(path, methods) for path, methods in json.loads(done.stdout.splitlines()[-1])]


def unknown_routes(table: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    return [
        f"The route {path} has no entry: say what a stranger meets there, in ROUTES of "
        "tests/stranger_ways.py."
        for path, _ in table
        if path not in ROUTES
    ]


def paths_of(path: str, running: Running) -> list[str]:
    """The route with the owner's ids in its places, and with what leads out of it."""
    places = re.findall(r"\{[^}]*\}", path)
    given = running.given
    values = [*running.owners_media[:2], given["chat_id"], given["file_id"], given["figure"]]
    values += ["../../leaf.duckdb", quote("../../app.json", safe=""), "..%2f..%2fapp.json"]
    found = (
        [_named(path, {**given, **given["of the chat"]})]
        if path.startswith("/_leaf/downloads/")
        else []
    )
    for value in values if places else [""]:
        made = path
        for place in places:
            owners = running.owners_session if "session" in place else value
            made = made.replace(place, owners)
        found.append(made)
    return found if places else [path, f"{path}?chat={given['chat_id']}&file={given['file_id']}"]


FORMS = {"results": "csv", "chats": "folder", "boards": "html", "documents": "md"}
SAID = {"range": "30d", "whose": "mine"}
KNOWN = {"sha256": "written"}
"""How a download's address is filled in, where that is not what the world has under its name."""


def _named(path: str, given: Given) -> str:
    """A download of the owner's as her page asks for it."""

    def value(place: re.Match[str]) -> str:
        if place[1] == "form":
            return FORMS.get(path.split("/")[4], "png")
        return str(SAID.get(place[1]) or given.get(KNOWN.get(place[1], place[1])))

    return re.sub(r"\{(\w+)\}", value, path) + f"?name={quote(given['written_name'])}"


def test_every_route_has_an_entry_and_every_entry_its_route(
    table: list[tuple[str, list[str]]],
) -> None:
    assert not unknown_routes(table), "\n".join(unknown_routes(table))
    assert set(ROUTES) == {path for path, _ in table}
    assert unknown_routes([*table, ("/_leaf/peek/{chat_id}", ["GET"])]) == [
        "The route /_leaf/peek/{chat_id} has no entry: say what a stranger meets there, in ROUTES "
        "of tests/stranger_ways.py."
    ]


@pytest.mark.parametrize("who", ["nobody", "forged", "other", "colleague"])
def test_no_route_tells_a_stranger_anything(
    running: Running, table: list[tuple[str, list[str]]], who: str
) -> None:
    stranger = "colleague" if who == "colleague" else "other"
    cookie = f"_streamlit_xsrf={XSRF}; {running.cookies[who]}"
    headers = {"Cookie": cookie, "X-Xsrftoken": XSRF, "Content-Type": "application/json"}
    body = json.dumps({"method": "chats.get", "arguments": {"chat_id": running.given["chat_id"]}})
    said = []
    for path in dict.fromkeys(path for path, _ in table):
        takes = {method for one, methods in table if one == path for method in methods}
        for made in paths_of(path, running):
            for method in METHODS_TRIED:
                status, found = ask(running.app, method, made, body.encode(), **headers)
                running.look(f"{who}: {method} {made}")
                if status not in (ROUTES[path] if method in takes else NOT_ASKED_SO):
                    said.append(f"{who}: {method} {made} was answered by {status}")
                if leaks := running.world.leaks(stranger, found, [made, body]):
                    said.append(f"{who}: {method} {made} told {leaks}")
    assert not said, "\n".join(said)


@pytest.mark.parametrize("who", ["nobody", "forged", "other", "colleague"])
def test_no_page_draws_what_a_stranger_may_not_see(running: Running, who: str) -> None:
    stranger = "colleague" if who == "colleague" else "other"
    given = running.given
    for page, query in (
        ("", f"chat={given['chat_id']}"),
        ("", f"chat={given['chat_id']}&message={given['message_id']}"),
        ("files", f"file={given['of the chat']['file_id']}"),
        ("documents", f"document={given['document_id']}"),
        ("drive", f"for={given['chat_id']}&folder={given['folder_ref']}"),
        ("usage", f"chat={given['chat_id']}"),
        ("settings", ""),
    ):
        with drawn(running.app, running.cookies[who], page, query) as (_, found):
            leaks = running.world.leaks(stranger, told(found), query)
        running.look(f"{who}: {page}?{query}")
        assert not leaks, f"{who}: the page '{page}?{query}' told {leaks}"


def test_the_owner_takes_along_what_the_others_do_not(running: Running) -> None:
    given = {**running.given, **running.given["of the chat"]}
    said = {}
    for path in (one for one in ROUTES if one.startswith("/_leaf/downloads/")):
        brought = "/files/" in path  # what Leaf has written is none
        made = _named(path, running.given if brought else given)
        said[path.removeprefix("/_leaf/downloads/{workspace_id}/")], _ = ask(
            running.app, "GET", made, Cookie=running.cookies["owner"]
        )
    charts = [path for path in said if path.startswith(("played/", "charts/", "edited/"))]
    assert {said.pop(path) for path in charts} == {404}  # her steps drew none, and nothing sounds
    assert said.pop("audit-of-all") == 409  # she does not run Leaf
    assert set(said.values()) == {200}, said


def test_the_owner_is_shown_what_the_others_are_not(running: Running) -> None:
    for media in running.owners_media:
        status, _ = ask(running.app, "GET", f"/media/{media}", Cookie=running.cookies["owner"])
        assert status == 200


@pytest.mark.parametrize("words", ["", "0" * 43, "the chat"])
@pytest.mark.parametrize("who", ["nobody", "other", "colleague"])
def test_no_live_answer_goes_to_whoever_has_no_ticket(
    running: Running, who: str, words: str
) -> None:
    ticket = running.given["chat_id"] if words == "the chat" else words
    protocols = [Subprotocol(PROTOCOL), *([Subprotocol(ticket)] if ticket else [])]
    address = f"ws://127.0.0.1:{running.app.port}/_leaf/live?message={running.given['message_id']}"
    with (
        pytest.raises(InvalidStatus),
        connect(
            address, subprotocols=protocols, additional_headers={"Cookie": running.cookies[who]}
        ),
    ):
        raise AssertionError("a stranger was let in")


# What crosses to commands


def crossing_calls(name: str, given: Given) -> list[dict[str, Any]]:
    """Arguments that are the owner's, as far as a method takes some."""
    if name in OPERATORS:
        return [dict(OPERATORS[name])]
    calls = []
    parameters = codec.method(name).signature.parameters.values()
    needed = {
        one.name: value_of(one.name, METHODS[name], given, given)
        for one in parameters
        if one.default is one.empty
    }
    calls.append(needed)
    for one in parameters:
        if one.name in ("chat_id", "target", "file_ids") and one.name not in needed:
            value = value_of(one.name, METHODS[name], given, given)
            calls.append({**needed, one.name: value})
    return calls


@pytest.mark.parametrize("key", ["", "0" * 43, "right"])
def test_no_method_that_crosses_tells_of_anybody_but_the_local_user(
    running: Running, key: str
) -> None:
    told_key = json.loads((running.app.home / "app.json").read_text())["key"]
    said = []
    for name in sorted({*CROSSING}):
        if name != "local_scope" and "." not in name and name not in OPERATORS:
            said.append(
                f"{name} has no entry: say in OPERATORS of tests/stranger_ways.py how it "
                "is called with nothing of the owner's."
            )
            continue
        for arguments in crossing_calls(name, running.given):
            body = codec.to_json({"method": name, "arguments": arguments})
            sent = {"Authorization": f"Bearer {told_key if key == 'right' else key}"} if key else {}
            status, found = ask(running.app, "POST", "/_leaf/call", body, **sent)
            running.look(f"{name}({arguments})")
            asked = f"{name}({arguments})"
            if key != "right":
                well = status == 401
            elif name in OPERATORS or name == "local_scope":
                well = status in (200, 422)
            else:
                by = METHODS[name].by
                meets = METHODS[name].meets if not by or set(by) & set(arguments) else "own"
                well = (status == 422 and "NotFoundError" in found) if meets == "gone" else True
            if not well:
                said.append(f"{asked} was answered by {status}: {found[:300]}")
            # Whoever runs Leaf sees who is there and which answers there were; never what was said.
            if name in OPERATORS and key == "right":
                leaks = [PRIVATE] if PRIVATE.lower() in found.lower() else []
            else:
                leaks = running.world.leaks("other", found, arguments)
            if leaks:
                said.append(f"{asked} told {leaks}: {found[:300]}")
    assert not said, "\n".join(said)


# Commands


def commands_of(parser: argparse.ArgumentParser, before: str = "") -> dict[str, list[str]]:
    """`files purge` -> the names of its arguments, of every command that a parser takes."""
    found: dict[str, list[str]] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                found |= commands_of(below, f"{before} {name}".strip())
    return found or {before: [action.dest for action in parser._actions if action.dest != "help"]}


def unknown_commands(commands: Iterable[str]) -> list[str]:
    return [
        f"The command '{name}' has no entry: say how a stranger gives it and what they meet, in "
        "COMMANDS of tests/stranger_ways.py."
        for name in commands
        if name not in COMMANDS
    ]


def test_every_command_has_an_entry_and_every_entry_its_command() -> None:
    parser = cli._parser()
    there = commands_of(parser)
    assert not unknown_commands(there), "\n".join(unknown_commands(there))
    assert set(COMMANDS) == set(there)
    for name, arguments in there.items():
        assert {"id", "chat"} & set(arguments) == set(COMMANDS[name].takes), name
    parser._subparsers._group_actions[0].add_parser("peek")  # type: ignore[union-attr, attr-defined]
    assert unknown_commands(commands_of(parser)) == [
        "The command 'peek' has no entry: say how a stranger gives it and what they meet, in "
        "COMMANDS of tests/stranger_ways.py."
    ]


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if one.words])
def test_no_command_tells_of_anybody_but_the_local_user(
    running: Running,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command: Command = COMMANDS[name]
    monkeypatch.setenv("LEAF_HOME", str(running.app.home))
    given = running.given
    kinds = ("chat_id", "message_id", "file_id", "document_id", "job_id", "workspace_id")
    ids = [given[kind] for kind in kinds if kind not in command.spares] if command.takes else [""]
    for one in ids:
        words = [one if w == "ID" else w for w in command.words]
        words = [str(running.folder / "stranger.txt") if w == "PATH" else w for w in words]
        code = cli.main(words)
        out = capsys.readouterr()
        running.look(" ".join(words))
        found = out.out + out.err
        assert code in command.ends, f"{words} ended with {code}: {found}"
        if command.operator:
            leaks = [PRIVATE] if PRIVATE.lower() in found.lower() else []
        else:
            leaks = running.world.leaks("other", found, words)
        assert not leaks, f"{words} told {leaks}: {found}"


def test_afterwards_the_owner_has_all_that_she_had(running: Running) -> None:
    """Of what this worker has tried so far: tests that it takes over from another come later."""
    running.app.stop()
    kept = running.world.kept
    try:
        with closing(DuckDatabase(running.app.home / "leaf.duckdb")) as db:
            changes = kept.compare(db, "other")
    finally:
        running.app.start()
    assert not changes, f"one of {running.wrote} changed {changes}"
