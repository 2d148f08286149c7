"""The command line: what it prints and how it exits. Each test runs the real command in a process
of its own."""

from __future__ import annotations

import json
import os
import platform
import pty
import shlex
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest
import streamlit

from leaf.agent.connections import ModelDraft
from leaf.agent.events import reduce
from leaf.cli.files import FilesBelow
from leaf.sandbox.confine import confinement
from tests import forked_programs
from tests.app_process import PATIENCE, App
from tests.leaf_kit import opened
from tests.messages_server import MessagesServer, Turn, analyst

SALES = "region,month,revenue\nNorth,2025-01,100\nSouth,2025-01,250.5\nNorth,2025-02,300\nEast,2025-02,49.5\n"


class Cli:
    """Runs `python -m leaf` on a data folder of its own."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        self._environ = {
            k: v for k, v in os.environ.items() if not k.startswith(("LEAF_", "ANTHROPIC_"))
        }
        self._environ |= {"LEAF_HOME": str(home), "PYTHONUTF8": "1", **environ}

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return forked_programs.run(
            [sys.executable, "-m", "leaf", *arguments],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """The command while it runs."""
        command = [sys.executable, "-m", "leaf", *arguments]
        pipe = subprocess.PIPE
        return forked_programs.Popen(
            command, env=self._environ, stdin=stdin, stdout=pipe, stderr=pipe, text=True, bufsize=1
        )


WAYS = ["alone", "through the app"]


@pytest.fixture(params=WAYS)
def new_cli(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Cli]]:
    """The command line in its two ways: it opens the data itself, or an app holds them and it works
    through that."""
    apps: list[App] = []

    def start(model_url: str = "") -> Cli:
        home = tmp_path / "home"
        if request.param != "alone":
            apps.append(App(home, model_url).start())
        return Cli(home, **model_environ(model_url))

    yield start
    for app in apps:
        app.stop()


@pytest.fixture
def cli(new_cli: Callable[..., Cli]) -> Cli:
    return new_cli()


@pytest.fixture
def alone(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "home")


@pytest.fixture(scope="module", params=WAYS)
def shared_cli(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cli]:
    """For tests that do not mind what others have left: an app takes seconds to start."""
    home = tmp_path_factory.mktemp("shared")
    app = App(home).start() if request.param != "alone" else None
    yield Cli(home)
    if app is not None:
        app.stop()


def model_environ(url: str) -> dict[str, str]:
    named = {
        "LEAF_MODEL_URL": url,
        "LEAF_MODEL": "claude-sonnet-5-5",
        "LEAF_MODEL_PATIENCE": PATIENCE,
    }
    return named if url else {}


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "Q3 Sales.csv"
    path.write_text(SALES)
    return path


def chunks(printed: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_a_question_that_is_refused_leaves_no_empty_chat(tmp_path: Path, sales: Path) -> None:
    with MessagesServer(lambda _: Turn.say("42.")) as server:
        cli = Cli(tmp_path / "home", LEAF_BUDGET_USER="10 tokens/day", **model_environ(server.url))
        assert cli("ask", "What is it?").returncode == 0
        refused = cli("ask", "And now?")
        assert (refused.returncode, "used up" in refused.stderr) == (1, True)
        assert len(cli("chats", "list").stdout.splitlines()) == 1
        waits = cli("ask", "-f", str(sales), "And of these?")
        assert waits.returncode == 1
        _, chat = waits.stderr.split("[chat ")
        goes_on = cli("chats", "show", chat.partition("]")[0])
        assert goes_on.returncode == 0, "its files wait for a question there, so it is named"
        assert len(server.requests) == 1


def test_ask_answers_from_a_file_without_a_key(shared_cli: Cli, sales: Path) -> None:
    done = shared_cli("ask", "-f", str(sales), "total revenue by region")
    assert done.returncode == 0, done.stderr
    assert "400" in done.stdout
    assert "250.5" in done.stdout
    assert "Source: Q3 Sales.csv" in done.stderr
    assert "4 of 4 rows" in done.stderr


def test_ask_json_prints_one_chunk_a_line_and_ends_with_finish(
    shared_cli: Cli, sales: Path
) -> None:
    done = shared_cli("ask", "--json", "-f", str(sales), "total revenue by region")
    stream = chunks(done.stdout)
    assert done.returncode == 0
    assert stream[0]["type"] == "start"
    assert stream[-1]["type"] == "finish"
    kinds = {c["type"] for c in stream}
    assert {
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-available",
        "tool-output-available",
        "source-document",
    } <= kinds
    assert all("args" not in c for c in stream)


def test_a_chat_goes_on_and_is_found_again(cli: Cli, sales: Path) -> None:
    cli("ask", "-f", str(sales), "total revenue by region")
    (chat,) = json.loads(cli("chats", "list", "--json").stdout)
    assert chat["title"] == "total revenue by region"
    again = cli("ask", "--chat", chat["id"], "average revenue by month")
    assert again.returncode == 0, again.stderr
    shown = json.loads(cli("chats", "show", chat["id"], "--json").stdout)
    assert [m["role"] for m in shown["messages"]] == ["user", "assistant"] * 2
    assert "400" in cli("chats", "show", chat["id"]).stdout


def test_a_model_server_answers_through_tools(new_cli: Callable[..., Cli], sales: Path) -> None:
    with MessagesServer(analyst) as server:
        cli = new_cli(server.url)
        done = cli("ask", "--json", "-f", str(sales), "What is in my files?")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    stream = chunks(done.stdout)
    assert stream[-1]["type"] == "finish"
    assert any(c["type"] == "tool-output-available" for c in stream)


def test_a_model_server_that_is_down_is_a_failed_run(new_cli: Callable[..., Cli]) -> None:
    cli = new_cli("http://127.0.0.1:9")
    done = cli("ask", "--json", "hello")
    assert done.returncode == 1
    assert chunks(done.stdout)[-1]["type"] == "error"
    assert "127.0.0.1:9" in str(chunks(done.stdout)[-1]["errorText"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("ask", "-f", "no-such-file.csv", "hello"),
        ("ask", "--chat", "no-such-chat", "hello"),
        ("ask", ""),
        ("files", "add", "no-such-file.csv"),
        ("watch", "no-such-message"),
        ("audit", "--limit", "-1"),
        ("run", "--port", "65536"),
        ("run", "--address", "203.0.113.7"),
        ("fly",),
    ],
)
def test_wrong_usage_exits_with_2(shared_cli: Cli, arguments: tuple[str, ...]) -> None:
    assert shared_cli(*arguments).returncode == 2


def test_tools_are_listed_with_their_schemas(alone: Cli) -> None:
    tools = json.loads(alone("tools", "--json").stdout)
    assert [t["name"] for t in tools] == [
        "list_files",
        "read_file",
        "search_files",
        "view_file",
        "describe_table",
        "query_tables",
        "make_chart",
        *(
            ["run_python", "add_package", "remove_package"]
            if confinement().kind == "landlock"
            else []
        ),
        "list_drive_folder",
        "search_drive",
        "read_drive_file",
        "create_document",
        "write_file",
        "edit_file",
        "delete_file",
    ]
    assert all(t["input_schema"]["type"] == "object" and t["description"] for t in tools)
    assert set(tools[1]["input_schema"]["properties"]) == {
        "file",
        "where",
        "line_numbers",
        "max_tokens",
        "cursor",
    }
    assert "read_file" in alone("tools").stdout


def test_a_tool_prints_what_the_model_would_get(shared_cli: Cli, sales: Path) -> None:
    done = shared_cli(
        "tool",
        "query_tables",
        '{"sql": "SELECT sum(revenue) AS total FROM q3_sales"}',
        "-f",
        str(sales),
    )
    assert done.returncode == 0, done.stderr
    assert "700" in done.stdout
    output = json.loads(
        shared_cli(
            "tool", "read_file", '{"file": "f1", "where": "rows 2-3"}', "-f", str(sales), "--json"
        ).stdout
    )
    assert {"text", "summary", "sources", "coverage", "data"} <= set(output)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("read_fil", "{}", "read_file"),
        ("read_file", '{"file": "Q3 Sale.csv"}', "Q3 Sales.csv"),
        ("read_file", "{}", "file"),
        ("read_file", "{", "JSON"),
        ("query_tables", '{"sql": "SELECT reveneu FROM q3_sales"}', "revenue"),
        ("query_tables", '{"sql": "SELECT 1 FROM q3_sale"}', "q3_sales"),
        ("query_tables", '{"sql": "DROP TABLE q3_sales"}', "read"),
    ],
)
def test_a_failing_tool_exits_with_1_and_the_text_for_the_model(
    shared_cli: Cli, sales: Path, name: str, given: str, said: str
) -> None:
    done = shared_cli("tool", name, given, "-f", str(sales))
    assert done.returncode == 1
    assert said in done.stdout
    assert "Traceback" not in done.stderr


def test_files_are_added_once_a_name_and_listed(cli: Cli, tmp_path: Path, sales: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "note.txt").write_text("The meeting is on Monday.")
    (folder / "copy.csv").write_text(SALES)
    done = cli("files", "add", str(sales), str(folder), str(sales), "--context", "for the board")
    assert done.returncode == 0, done.stderr
    said = [line.split("  ", 1)[1] for line in done.stdout.splitlines()]
    assert said[0] == "Q3 Sales.csv  added"
    assert said[-1] == "Q3 Sales.csv  already there"
    assert "folder/copy.csv  added, same content as Q3 Sales.csv" in said
    files = json.loads(cli("files", "list", "--json").stdout)
    assert sorted(f["name"] for f in files) == [
        "Q3 Sales.csv",
        "folder/copy.csv",
        "folder/deep/note.txt",
    ]
    assert all(f["upload_context"] == "for the board" for f in files)


def test_a_folder_and_an_archive_go_into_a_chat_with_their_paths(cli: Cli, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "years.zip", "w") as archive:
        archive.writestr("2024/sales.csv", SALES)
        archive.writestr("2023/sales.csv", SALES.replace("100", "7"))
        archive.writestr("__MACOSX/x", "x")
    (tmp_path / "2022").mkdir()
    (tmp_path / "2022" / "sales.csv").write_text(SALES.replace("100", "8"))
    done = cli(
        "files",
        "add",
        str(tmp_path / "years.zip"),
        str(tmp_path / "2022"),
        "--chat",
        "new",
        "--share",
        "--context",
        "all",
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    said = [line.split("  ", 1)[1] for line in lines[:-1]]
    assert said[0] == "years.zip  added  Left out of the archive: 1 system file."
    assert said[1:] == [
        "years.zip/2024/sales.csv  taken out",
        "years.zip/2023/sales.csv  taken out",
        "2022/sales.csv  added",
    ]
    assert lines[-1].endswith(" as f1, f2, f3, f4")
    chat = lines[-1].split()[2]
    sql = "SELECT count(*) AS n FROM sales_2024 UNION ALL SELECT count(*) FROM sales_2022"
    asked = cli("tool", "query_tables", json.dumps({"sql": sql}), "--chat", chat)
    assert asked.returncode == 0, asked.stdout
    assert cli("files", "add", str(tmp_path / "2022"), "--chat", "no-such-chat").returncode == 1


def test_a_file_that_cannot_be_added_is_told_and_no_other_with_it(
    shared_cli: Cli, tmp_path: Path, sales: Path
) -> None:
    assert shared_cli("files", "add", str(sales)).returncode == 0
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "lost.csv").symlink_to("/proc/self/mem")  # gives EIO, as a disk that dies
    (tmp_path / "away" / "more.csv").write_text("a\n1\n")
    done = shared_cli("files", "add", str(tmp_path / "away"))
    assert done.returncode == 1
    lost, more = done.stdout.splitlines()
    assert lost.startswith("-  away/lost.csv  not added")
    assert "Input/output error" in lost
    assert more.endswith("  away/more.csv  added")
    assert "1 of 2 files is there; 1 failed." in done.stderr


def test_of_a_folder_hidden_files_and_folders_are_left_out_and_counted(
    alone: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    for name in (".git/objects/ab", "deep/.cache", "empty"):
        (folder / name).mkdir(parents=True)
    for name in (".git/objects/ab/cdef", ".git/config", ".env", "deep/.cache/x", "deep/a.csv"):
        (folder / name).write_text(SALES)
    done = alone("files", "add", str(folder))
    assert [line.split("  ")[1:] for line in done.stdout.splitlines()] == [
        ["project/deep/a.csv", "added"]
    ]
    assert "Left out: 3 files and folders with a dot before the name." in done.stderr
    none = alone("files", "add", str(folder / "empty"))
    assert none.returncode == 2
    assert "There is no file to add" in none.stderr


def test_a_folder_that_cannot_be_looked_into_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sales.csv").write_text(SALES)
    scan = os.scandir

    def denied(path: str) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", denied)
    found = FilesBelow.below([tmp_path])
    assert [path.parent.name for path, _ in found.paths] == ["a"]
    assert len(found.unreadable) == 1
    assert f"Cannot look into '{tmp_path / 'b'}': Permission denied." in capsys.readouterr().err


def test_a_question_whose_file_is_not_taken_leaves_no_empty_chat(
    tmp_path: Path, sales: Path
) -> None:
    cli = Cli(tmp_path / "home", LEAF_MAX_UPLOAD_MB="0.00001")
    done = cli("ask", "total revenue", "-f", str(sales))
    assert done.returncode == 1
    assert "is larger than" in done.stderr
    assert json.loads(cli("chats", "list", "--json").stdout) == []


def test_all_chats_are_listed(alone: Cli) -> None:
    with opened(alone.home) as leaf:
        chats = leaf.session(leaf.local_scope()).chats
        made = [chats.create().id for _ in range(1_003)]
    listed = json.loads(alone("chats", "list", "--json").stdout)
    assert sorted(chat["id"] for chat in listed) == sorted(made)


def in_a_shell(
    home: Path, *arguments: str, after: str = "", encoding: str = ""
) -> subprocess.CompletedProcess[str]:
    """A command with streams as a shell makes them."""
    command = shlex.join([sys.executable, "-m", "leaf", *arguments])
    given = {"PYTHONIOENCODING": encoding} if encoding else {}
    return subprocess.run(
        ["sh", "-c", f"{command} {after}"],
        env={**os.environ, "LEAF_HOME": str(home), **given},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def at_a_terminal(home: Path, *arguments: str) -> str:
    """What a command writes to the terminal that it has as its stdout and stderr."""
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "leaf", *arguments],
        env={**os.environ, "LEAF_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=inside,
    )
    os.close(inside)
    written = b""
    try:
        while piece := os.read(terminal, 65_536):
            written += piece
    except OSError:  # nobody has its other end any more
        pass
    os.close(terminal)
    assert process.wait(timeout=60) == 0, written
    return written.decode()


def test_what_stands_in_a_file_gives_no_command_to_the_terminal(tmp_path: Path) -> None:
    path, clipboard = tmp_path / "rows.json", "\x1b]52;c;ZXZpbA==\x07"
    path.write_text(json.dumps([{"a": 1, "b": f"{clipboard}ü"}, {"a": 2, "b": "\x9b31m"}]))
    asked = at_a_terminal(tmp_path / "home", "ask", "select b from rows", "-f", str(path))
    assert "| \\x1b]52;c;ZXZpbA==\\x07ü |" in asked
    assert "| \\x9b31m |" in asked
    assert not {"\x1b", "\x07", "\x9b"} & set(asked)
    assert (
        clipboard
        in in_a_shell(tmp_path / "home", "ask", "select b from rows", "-f", str(path)).stdout
    )
    added = at_a_terminal(tmp_path / "home", "files", "add", str(path))
    assert "rows.json  already there" in added
    assert "\r\x1b[K" in added  # how far it is


def test_what_an_encoding_lacks_ends_no_command(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "Größe.csv").write_text(SALES)
    added = in_a_shell(home, "files", "add", str(tmp_path / "Größe.csv"), encoding="ascii")
    assert added.returncode == 0, added.stderr
    assert "Gr\\xf6\\xdfe.csv  added" in added.stdout
    listed = in_a_shell(home, "files", "list", "--json", encoding="ascii")
    assert [file["name"] for file in json.loads(listed.stdout)] == ["Größe.csv"]


def test_a_name_that_is_no_text_is_told_as_json(tmp_path: Path) -> None:
    name = os.fsdecode(b"no\xff.csv")
    done = in_a_shell(tmp_path, "ask", "--json", "sum", "-f", name, encoding="utf-8:strict")
    assert done.returncode == 2
    assert chunks(done.stdout) == [
        {"type": "error", "errorText": "No file 'no?.csv'. Check the path."}
    ]


@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [
        ("<&-", ["chats", "purge", "no-such-chat"], 2),
        (">&-", ["ask", "What can you do?"], 0),
        ("2>&-", ["chats", "list"], 0),
    ],
)
def test_a_closed_stream_fails_no_command(
    tmp_path: Path, closed: str, arguments: list[str], code: int
) -> None:
    done = in_a_shell(tmp_path / "home", *arguments, after=closed)
    assert done.returncode == code, done.stderr
    assert "did not expect" not in done.stderr


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["tools", "--json"], ["files", "list", "--json"]])
def test_whoever_reads_no_more_fails_no_command_and_a_full_disk_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], buffered: str
) -> None:
    """Whatever Python keeps back until it ends."""
    monkeypatch.setenv("PYTHONUNBUFFERED", buffered)
    read = Cli(tmp_path).start(*arguments)
    assert read.stdout is not None
    read.stdout.close()
    assert read.wait(60) == 0
    assert read.stderr is not None
    assert read.stderr.read() == ""
    full = in_a_shell(tmp_path, *arguments, after=">/dev/full")
    assert (full.returncode, full.stderr) == (
        1,
        "leaf: The output cannot be written: No space left on device.\n",
    )


def test_an_unreadable_file_is_said_and_the_question_is_answered(
    shared_cli: Cli, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    added = shared_cli("files", "add", str(empty))
    assert added.returncode == 1
    assert "empty" in added.stdout
    assert shared_cli("ask", "-f", str(empty), "what is in it?").returncode == 0


def test_a_second_process_is_told_which_one_holds_the_data(alone: Cli) -> None:
    held = forked_programs.Popen(
        [sys.executable, "-c", "import sys; from leaf.settings import load; from leaf.wiring import build; leaf = build(load());"
         " print('open', flush=True); sys.stdin.read(); leaf.close()"],
        env={**os.environ, "LEAF_HOME": str(alone.home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == "open\n"
        done = alone("files", "list")
        assert done.returncode == 1
        assert f"process {held.pid}" in done.stderr
    finally:
        held.communicate("", timeout=60)


SLOW = "\n\n".join(f"Paragraph {i} of an answer that takes its time." for i in range(1, 31))


class Asked:
    """`ask --json` at a terminal, in the middle of a slow answer."""

    def __init__(self, cli: Cli, *, terminal: bool = True) -> None:
        self._terminal, inside = pty.openpty()
        self.process = cli.start(
            "ask", "--json", "Tell me", stdin=inside if terminal else subprocess.DEVNULL
        )
        os.close(inside)
        self.chunks: list[dict[str, object]] = []
        assert self.process.stdout is not None
        while not any(c["type"] == "text-delta" for c in self.chunks):
            self.chunks.append(json.loads(self.process.stdout.readline()))
        self.id = str(self.chunks[0]["messageId"])

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._terminal)

    def interrupt(self, typed: str = "") -> int:
        """Press Ctrl-C, type an answer when asked, and read to the end; returns the exit code."""
        assert self.process.stderr is not None
        self.process.send_signal(signal.SIGINT)
        if typed:
            asked = ""
            while not asked.endswith("? "):
                asked += self.process.stderr.read(1)
            os.write(self._terminal, typed.encode())
        assert self.process.stdout is not None
        self.chunks += chunks(self.process.stdout.read())
        self.said = self.process.stderr.read()
        os.close(self._terminal)
        return self.process.wait(timeout=60)


@pytest.fixture
def slow_cli(new_cli: Callable[..., Cli]) -> Iterator[Cli]:
    with MessagesServer(lambda _: Turn.say(SLOW, pieces=60, delay=0.05)) as server:
        yield new_cli(server.url)


def text_of(stream: list[dict[str, object]]) -> str:
    return "".join(str(part["text"]) for part in reduce(stream) if part["type"] == "text")


@pytest.mark.parametrize(
    ("typed", "terminal"), [("s\n", True), ("", False)], ids=["asked", "nobody to ask"]
)
def test_ctrl_c_stops_and_keeps_what_was_found(slow_cli: Cli, typed: str, terminal: bool) -> None:
    asked = Asked(slow_cli, terminal=terminal)
    assert asked.interrupt(typed) == 1
    assert asked.chunks[-1]["type"] == "abort"
    watched = slow_cli("watch", asked.id, "--json")
    assert watched.returncode == 1
    assert chunks(watched.stdout)[-1]["type"] == "abort"
    assert text_of(chunks(watched.stdout)) == text_of(asked.chunks) != ""
    assert len(text_of(asked.chunks)) < len(SLOW)


def test_enter_after_ctrl_c_goes_on_to_the_end(slow_cli: Cli) -> None:
    asked = Asked(slow_cli)
    assert asked.interrupt("\n") == 0
    assert asked.chunks[-1]["type"] == "finish"
    assert text_of(asked.chunks) == SLOW


def test_a_detached_answer_goes_on_and_is_watched_from_its_beginning(slow_cli: Cli) -> None:
    asked = Asked(slow_cli)
    assert asked.interrupt("d\n") == 0
    assert f"python -m leaf watch {asked.id}" in asked.said
    assert asked.chunks[-1]["type"] == "text-delta"
    in_the_app = "goes on in the app" in asked.said
    watchers = [slow_cli.start("watch", asked.id, "--json") for _ in range(2 if in_the_app else 1)]
    for watcher in watchers:
        printed, _ = watcher.communicate(timeout=60)
        assert watcher.returncode == 0
        assert chunks(printed)[0]["type"] == "start"
        assert chunks(printed)[-1]["type"] == "finish"
        assert text_of(chunks(printed)) == SLOW


def test_a_killed_answer_is_resumed_to_its_end(alone: Cli) -> None:
    with MessagesServer(lambda _: Turn.say(SLOW, pieces=60, delay=0.05)) as server:
        cli = Cli(alone.home, **model_environ(server.url))
        asked = Asked(cli)
        asked.kill()
        resumed = cli("runs", "resume", asked.id, "--json")
        assert resumed.returncode == 0, resumed.stderr
        assert text_of(chunks(resumed.stdout)) == SLOW
        assert cli("runs", "resume", asked.id).returncode == 1


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_closes_the_data_and_its_answer_goes_on(
    alone: Cli, how: signal.Signals
) -> None:
    if signal.getsignal(how) is signal.SIG_IGN:
        pytest.skip(
            "these tests are to outlast their terminal, and so are the processes they start"
        )
    with MessagesServer(lambda _: Turn.say(SLOW, pieces=60, delay=0.05)) as server:
        cli = Cli(alone.home, **model_environ(server.url))
        asked = Asked(cli)
        asked.process.send_signal(how)
        _, said = asked.process.communicate(timeout=60)
        assert (asked.process.returncode, said) == (128 + how, "")
        assert [path.name for path in cli.home.glob("leaf.duckdb*")] == ["leaf.duckdb"]
        resumed = cli("runs", "resume", asked.id, "--json")
        assert text_of(chunks(resumed.stdout)) == SLOW


def test_runs_are_listed_with_their_steps(cli: Cli, sales: Path) -> None:
    asked = chunks(cli("ask", "--json", "-f", str(sales), "total revenue by region").stdout)
    (run,) = json.loads(cli("runs", "list", "--json").stdout)
    assert (run["message_id"], run["status"]) == (asked[0]["messageId"], "completed")
    assert json.loads(cli("runs", "list", "--status", "error", "--json").stdout) == []
    shown = json.loads(cli("runs", "show", run["message_id"], "--json").stdout)
    assert shown["status"] == "completed"
    assert [s["outcome"] for s in shown["steps"]] == ["ok"] * len(shown["steps"]) != []
    listed = cli("runs", "list").stdout
    assert run["message_id"] in listed
    assert listed.strip() in cli("runs", "show", run["message_id"]).stdout
    over = cli("runs", "resume", run["message_id"])
    assert over.returncode == 1
    assert "completed" in over.stderr


@pytest.mark.parametrize("command", ["show", "resume"])
def test_a_run_that_is_not_there_is_a_failure(shared_cli: Cli, command: str) -> None:
    done = shared_cli("runs", command, "no-such-run")
    assert done.returncode == 1
    assert "no-such-run" in done.stderr


def test_a_finished_answer_is_watched_from_the_history(shared_cli: Cli, sales: Path) -> None:
    asked = chunks(shared_cli("ask", "--json", "-f", str(sales), "total revenue by region").stdout)
    watched = shared_cli("watch", str(asked[0]["messageId"]), "--json")
    assert watched.returncode == 0, watched.stderr
    assert [chunks(watched.stdout)[i]["type"] for i in (0, -1)] == ["start", "finish"]
    assert reduce(chunks(watched.stdout)) == reduce(asked)
    assert "400" in shared_cli("watch", str(asked[0]["messageId"])).stdout


def test_the_id_of_a_question_is_not_one_of_an_answer(shared_cli: Cli) -> None:
    shared_cli("ask", "An id, please")
    (chat,) = (
        c
        for c in json.loads(shared_cli("chats", "list", "--json").stdout)
        if c["title"] == "An id, please"
    )
    question = json.loads(shared_cli("chats", "show", chat["id"], "--json").stdout)["messages"][0]
    done = shared_cli("watch", question["id"])
    assert done.returncode == 2
    assert chat["id"] in done.stderr


def test_doctor_says_what_works(shared_cli: Cli) -> None:
    done = shared_cli("doctor")
    assert done.returncode == 0, done.stdout
    for name in ("Data folder", "App", "History", "Sandbox", "Model"):
        assert name in done.stdout
    versions = {
        "DuckDB": duckdb.__version__,
        "Streamlit": streamlit.__version__,
        "DBOS": version("dbos"),
    }
    for name, found in {"Python": platform.python_version(), **versions}.items():
        assert f"{name} {found}" in done.stdout
    assert f"SQLite: {sqlite3.sqlite_version}" in done.stdout
    assert ("Leaf adds the clock" in done.stdout) == (
        (3, 35) <= sqlite3.sqlite_version_info < (3, 42)
    )


def test_models_and_doctor_say_which_model_answers_without_its_key(
    new_cli: Callable[..., Cli],
) -> None:
    cli = new_cli()
    assert "No model is connected" in cli("models", "list").stdout
    tested = cli("models", "test", "--json")
    assert tested.returncode == 1
    assert json.loads(tested.stdout)["type"] == "error"
    with MessagesServer(lambda _: Turn.say("ready"), models=("llama", "qwen")) as server:
        given = {"LEAF_MODEL_URL": server.url, "ANTHROPIC_API_KEY": "of-the-environment"}
        other = Cli(cli.home.with_name("other"), LEAF_MODEL="llama", **given)
        listed = other("models", "list")
        assert listed.stdout.splitlines()[1:] == ["llama  Llama", "qwen  Qwen"], listed
        tested = other("models", "test", "qwen")
        assert tested.returncode == 0, tested.stderr
        assert "qwen answered" in tested.stdout
        assert server.requests[-1].body["model"] == "qwen"
        unknown = other("models", "test", "nope")
        assert unknown.returncode == 1
        assert "has no model 'nope'" in unknown.stderr
        with opened(cli.home.with_name("own")) as leaf:
            draft = ModelDraft("server", server.url, "sk-own-key-ending-in-9876", "llama")
            leaf.session(leaf.local_scope()).models.save(draft)
        doctor = Cli(cli.home.with_name("own"))("doctor")
    assert (
        f"llama at {server.url}, connected in the settings, its key ends in 9876" in doctor.stdout
    )
    assert "sk-own-key" not in doctor.stdout + doctor.stderr


def test_start_up_loads_no_heavy_library() -> None:
    heavy = [
        "duckdb",
        "pandas",
        "pyarrow",
        "streamlit",
        "anthropic",
        "pypdfium2",
        "openpyxl",
        "lxml",
        "trafilatura",
    ]
    code = (
        f"import sys, leaf.__main__, leaf.wiring; print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_start_up_loads_no_reader_of_a_format() -> None:
    """Files are read in children: what finds headers, totals and tables would only lie about."""
    code = "import sys, leaf.ui.server, leaf.wiring; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = ("leaf.readers.tabular.", "leaf.readers.documents.")
    light = {f"leaf.readers.tabular.{name}" for name in ("cells", "sql", "wide")}
    loaded = {name for name in done.stdout.split() if name.startswith(rooms)}
    assert loaded <= light, loaded - light


def test_the_operator_hands_an_address_over_or_is_told_that_nobody_has_it(shared_cli: Cli) -> None:
    assert shared_cli("chats", "list").returncode == 0
    done = shared_cli("users", "unlink", "nobody@example.org")
    assert done.returncode == 1
    assert "Nobody has signed in as nobody@example.org." in done.stderr


def test_usage_prints_what_answers_took_by_day_model_and_user(new_cli: Callable[..., Cli]) -> None:
    with MessagesServer([Turn.say("Here.")]) as server:
        cli = new_cli(server.url)
        empty = cli("usage")
        assert (empty.returncode, empty.stdout, empty.stderr) == (
            0,
            "",
            "Nothing was used in this time.\n",
        )
        assert cli("ask", "What?").returncode == 0
        rows = json.loads(cli("usage", "--by", "model", "--json").stdout)
        assert [(r["name"], r["total"]["answers"]) for r in rows] == [("claude-sonnet-5-5", 1)]
        assert rows[0]["total"]["input_tokens"] > 0
        by_user = cli("usage", "--range", "today", "--by", "user").stdout.splitlines()
        assert [line.split()[0] for line in by_user] == ["user", "local"]
        assert "$" in by_user[1]
        assert cli("usage", "--range", "year").returncode == 2
