"""The confined children, with real ones: what comes back, what is refused, and that nothing
outlives them."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import NoneType

import pytest

from leaf.errors import (
    EncryptedFileError,
    LeafError,
    QueryError,
    RunError,
    SandboxError,
    SandboxMemoryError,
    SandboxTimeoutError,
    StoreError,
    UnreadableFileError,
)
from leaf.sandbox import forkserver
from leaf.sandbox.capacity import OWN_MB, Capacity, limit_files, memory_mb
from leaf.sandbox.child import NICE
from leaf.sandbox.confine import confinement, readable_paths, start
from leaf.sandbox.kinds import PACKAGE, SCRIPT, ChildKind
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import PRELOAD, Pool
from tests.runs_kit import wait_until

OWN_FORK_SERVERS = True
HERE = Path(__file__).resolve().parent
landlock = pytest.mark.skipif(
    confinement().kind != "landlock", reason="this kernel cannot confine a process"
)


@pytest.fixture(scope="module", params=[pytest.param("landlock", marks=landlock), "process"])
def pool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pool]:
    """Children that are confined, and plain processes as on machines that cannot confine."""
    pool = Pool(
        tmp_path_factory.mktemp("home"),
        preload=(),
        paths=[HERE],
        confined=request.param == "landlock",
    )
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    if confinement().kind != "landlock":
        pytest.skip("this kernel cannot confine a process")
    pool = Pool(tmp_path_factory.mktemp("home"), preload=(), paths=[HERE])
    yield pool
    pool.close()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("not for children")
    return path


def call(
    pool: Pool,
    name: str,
    limits: CallLimits | None = None,
    stop: threading.Event | None = None,
    **arguments: object,
) -> object:
    return pool.call(
        f"sandbox_functions:{name}",
        arguments,
        returns=object,
        limits=limits or CallLimits(seconds=20),
        stop=stop,
    )


# --- what comes back


def test_first_call_waits_for_its_child_and_answers(tmp_path: Path) -> None:
    pool = Pool(tmp_path, preload=(), paths=[HERE])
    try:
        assert call(pool, "echo", value={"a": [1, None, "ü", 2.5]}) == {"a": [1, None, "ü", 2.5]}
    finally:
        pool.close()


def test_output_of_parsers_does_not_mix_with_the_answer(pool: Pool) -> None:
    assert call(pool, "chatter", value="answer") == "answer"


def test_each_call_has_a_process_of_its_own(pool: Pool) -> None:
    assert len({call(pool, "process_id") for _ in range(4)} | {os.getpid()}) == 5


@pytest.mark.parametrize("preload", [(), ("leaf.readers.tabular.sql:warm", "numpy.random")])
def test_each_call_draws_chances_of_its_own_in_a_duckdb_as_any(
    preload: tuple[str, ...], tmp_path: Path
) -> None:
    pool = Pool(tmp_path, preload=preload, paths=[HERE])
    try:
        *drawn, settings = zip(*(call(pool, "draws") for _ in range(3)), strict=True)
    finally:
        pool.close()
    assert [len(set(kind)) for kind in drawn] == [3] * 4
    assert set(settings) == {"[[(3,)], [(8,)]]"}


def test_inputs_are_read_under_their_key_and_outputs_are_moved(
    pool: Pool, secret: Path, tmp_path: Path
) -> None:
    assert (
        pool.call(
            "sandbox_functions:text_of",
            {"path": "in:a.txt"},
            returns=str,
            inputs={"a.txt": secret},
        )
        == "not for children"
    )
    assert pool.call(
        "sandbox_functions:echo",
        {"value": [{"p": "in:a.txt"}]},
        returns=object,
        inputs={"a.txt": secret},
    ) != [{"p": "in:a.txt"}]
    pool.call(
        "sandbox_functions:write_files",
        {"out": "out:", "names": ["a", "b", "c"]},
        returns=NoneType,
        out=tmp_path / "out",
        takes="[ab]",
    )
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a", "b"]


def test_answers_of_several_megabytes_come_whole(pool: Pool) -> None:
    assert len(str(call(pool, "long_answer", size=5_000_000))) == 5_000_000


def test_an_endless_answer_is_refused(confined: Pool) -> None:
    with pytest.raises(SandboxError, match="wrote more than"):
        call(confined, "long_answer", size=70_000_000)


def test_many_threads_call_at_once(pool: Pool) -> None:
    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(lambda n: call(pool, "echo", value=n), range(24))) == list(
            range(24)
        )


@pytest.mark.parametrize("whole", [False, True], ids=["the child", "and its server"])
def test_a_child_found_dead_is_replaced(pool: Pool, whole: bool) -> None:
    first = call(pool, "process_id")
    deadline = time.monotonic() + 20
    waiting: list[int] = []
    while not waiting and time.monotonic() < deadline:
        waiting = [pid for pid in _children_of(os.getpid(), whole) if pid != first]
    assert waiting
    for pid in waiting:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while _runs(pid) and time.monotonic() < deadline:
            time.sleep(0.001)
    assert call(pool, "echo", value="still here") == "still here"


@landlock
def test_a_child_that_waits_is_not_lent_once_its_server_is_gone(
    confined: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(confined, "process_id")
    children = confined._children
    wait_until(lambda: children.waiting() > 0)
    waiting = [child.pid for child in children._waiting]
    monkeypatch.setattr(children._server, "_gone", True)
    assert call(confined, "process_id") not in waiting
    assert not any(map(_runs, waiting))


@landlock
def test_whoever_works_as_the_server_dies_is_told_of_a_crash(confined: Pool) -> None:
    works = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(
            confined.call,
            "sandbox_functions:say_and_sleep",
            {"seconds": 60},
            returns=NoneType,
            on_progress=lambda _done, _total: works.set(),
        )
        assert works.wait(30)
        for pid in _servers_of(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(SandboxError, match="crashed"):
            working.result(timeout=30)
    assert call(confined, "echo", value="still here") == "still here"


# --- errors


@pytest.mark.parametrize(
    ("name", "kind"), [("refuse", QueryError), ("refuse_encrypted", EncryptedFileError)]
)
def test_errors_of_leaf_arrive_as_their_class(pool: Pool, name: str, kind: type[LeafError]) -> None:
    with pytest.raises(kind) as caught:
        call(pool, name)
    assert type(caught.value) is kind
    assert caught.value.hint


@pytest.mark.parametrize("name", ["break_down", "leave", "not_json", "no_such_function"])
def test_other_failures_are_one_plain_sentence(pool: Pool, name: str) -> None:
    with pytest.raises(SandboxError) as caught:
        call(pool, name)
    assert "Traceback" not in str(caught.value)
    assert "/etc/hosts" not in str(caught.value)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGILL])
def test_a_crash_is_told_from_a_lack_of_memory(pool: Pool, number: int) -> None:
    with pytest.raises(SandboxError, match="crashed") as caught:
        call(pool, "die", number=int(number))
    assert not isinstance(caught.value, SandboxMemoryError)


def test_a_crash_in_native_code_leaves_the_app_alone(pool: Pool) -> None:
    with pytest.raises(SandboxError):
        call(pool, "overrun_stack")
    assert call(pool, "echo", value=1) == 1


@pytest.mark.parametrize("piece", [50_000_000, 10**12])
def test_too_much_memory_is_named_as_such(pool: Pool, piece: int) -> None:
    with pytest.raises(SandboxMemoryError, match="256 MB"):
        call(pool, "grow", CallLimits(seconds=20, memory_mb=256), piece=piece)


def test_a_container_of_a_gigabyte_lets_a_call_have_a_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(f"{1024**3}\n")
    space = Capacity(memory_mb(tmp_path))
    assert (space.total_mb, space.running) == (1024, 2)
    assert space.running * space.child_mb + OWN_MB <= 1024
    pool = Pool(tmp_path / "home", preload=(), paths=[HERE], space=space)
    try:
        with pytest.raises(SandboxMemoryError, match=f"{space.child_mb} MB"):
            call(pool, "grow", CallLimits(seconds=20, memory_mb=2048), piece=50_000_000)
        assert call(pool, "echo", value=1) == 1
    finally:
        pool.close()


@pytest.mark.parametrize(("text", "version"), [("max\n", 2), ("9223372036854771712\n", 1)])
def test_a_container_without_a_limit_has_the_memory_of_the_machine(
    tmp_path: Path, text: str, version: int
) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / ("memory.max" if version == 2 else "memory/memory.limit_in_bytes")).write_text(text)
    assert (
        memory_mb(tmp_path) == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024**2
    )
    assert not Capacity(24_000).tight
    assert Capacity(24_000).child_mb > 2048
    assert not Capacity(0).tight


def test_the_files_that_bound_a_container_are_its_own(tmp_path: Path) -> None:
    """Those of its own control groups, of both versions, and of no other."""
    own = tmp_path / "groups"
    own.write_text("4:memory:/pods/mine\n1:cpu,cpuacct:/\n0::/\n")
    known = ("memory/pods/mine/memory.limit_in_bytes", "cpu/cpu.cfs_quota_us", "cpu.max")
    for name in (*known, "memory/pods/other/memory.limit_in_bytes", "cgroup.procs"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {str(path.relative_to(tmp_path)) for path in limit_files(tmp_path, own)} == set(known)
    assert limit_files(tmp_path, tmp_path / "missing") == []


@pytest.mark.parametrize("name", ["spin", "sleep"])
def test_the_wall_limit_ends_a_child(pool: Pool, name: str) -> None:
    with pytest.raises(SandboxTimeoutError, match=r"0\.5 seconds"):
        call(pool, name, CallLimits(seconds=0.5), **({"seconds": 60} if name == "sleep" else {}))


@pytest.mark.parametrize("name", ["spin", "sleep"])
def test_stop_ends_a_child_at_once(pool: Pool, name: str) -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(RunError, match=r"Stopped\."):
        call(pool, name, stop=stop, **({"seconds": 60} if name == "sleep" else {}))
    assert time.monotonic() - began < 10


def test_more_output_than_allowed_ends_a_child(pool: Pool, tmp_path: Path) -> None:
    arguments = {"out": "out:", "files": 8, "size": 1_000_000}
    with pytest.raises(SandboxError, match="wrote more than 4 MB"):
        pool.call(
            "sandbox_functions:fill_disk",
            arguments,
            returns=NoneType,
            limits=CallLimits(seconds=20, output_mb=4),
            out=tmp_path / "out",
            takes=".*",
        )
    assert not (tmp_path / "out").exists()


def test_a_link_among_the_outputs_is_refused(pool: Pool, secret: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not a file"):
        pool.call(
            "sandbox_functions:link_out",
            {"out": "out:", "target": str(secret)},
            returns=NoneType,
            out=tmp_path / "out",
            takes="link",
        )
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["forge_answer", "nonsense_answer"])
def test_an_answer_from_a_taken_over_child_is_only_an_error(pool: Pool, name: str) -> None:
    with pytest.raises(SandboxError):
        call(pool, name)


def test_an_input_that_is_gone_says_so(pool: Pool, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="no longer there"):
        pool.call(
            "sandbox_functions:text_of",
            {"path": "in:a"},
            returns=str,
            inputs={"a": tmp_path / "gone"},
        )


# --- ways out


OUTSIDE = [
    "read",
    "append",
    "write",
    "truncate",
    "delete",
    "rename",
    "chmod",
    "chown",
    "times",
    "attribute",
    "make-folder",
    "link",
]


@pytest.mark.parametrize("way", [*OUTSIDE, "read-through-symlink"])
def test_a_file_outside_is_out_of_reach(confined: Pool, secret: Path, way: str) -> None:
    before = secret.stat()
    assert call(confined, "attempt", way=way, argument=str(secret)) != "done"
    after = secret.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_nlink,
    )
    assert secret.read_text() == "not for children"


@pytest.mark.parametrize("way", ["append", "write", "truncate", "delete", "chmod", "link"])
def test_an_input_cannot_be_changed(confined: Pool, secret: Path, way: str) -> None:
    answer = confined.call(
        "sandbox_functions:attempt",
        {"way": way, "argument": "in:a"},
        returns=str,
        inputs={"a": secret},
    )
    assert answer != "done"
    assert secret.read_text() == "not for children"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/etc/shadow", "/proc/1/environ", "/proc/{pid}/environ", "/proc/self/mem"],
)
def test_files_of_the_system_are_out_of_reach(confined: Pool, path: str) -> None:
    assert call(confined, "attempt", way="read", argument=path.format(pid=os.getpid())) != "done"


@pytest.mark.parametrize("folder", ["/", "/proc", "/etc", str(Path.home()), str(HERE.parent)])
def test_folders_outside_cannot_be_listed(confined: Pool, folder: str) -> None:
    assert call(confined, "attempt", way="list", argument=folder) != "done"


def test_the_network_is_out_of_reach(confined: Pool, tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
    ):
        unix.bind(str(tmp_path / "s"))
        unix.listen()
        udp.bind(("127.0.0.1", 0))
        assert call(confined, "attempt", way="tcp", argument=str(tcp.getsockname()[1])) != "done"
        assert call(confined, "attempt", way="udp", argument=str(udp.getsockname()[1])) != "done"
        assert call(confined, "attempt", way="unix-socket", argument=str(tmp_path / "s")) != "done"
        assert call(confined, "attempt", way="listen") != "done"


@pytest.mark.parametrize("way", ["signal", "kill", "fork", "shell", "memory-file"])
def test_other_processes_are_out_of_reach(confined: Pool, way: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as victim:
        assert call(confined, "attempt", way=way, argument=str(victim.pid)) != "done"
        assert victim.poll() is None
        victim.kill()


SIGNALS = ["owner", "owner-ex", "which-signal", "owner-by-ioctl", "group-by-ioctl"]
FILES = ["lease", "file-flags", "file-attributes", "send-file", "inotify", "fanotify", "space"]


OTHERS = ["session", "group", "sync", "outlive", "merge", "inet-pair", "tipc-pair"]


@pytest.mark.parametrize("way", [*SIGNALS, *FILES, *OTHERS, "datagrams", "packets", "unshare"])
def test_what_older_kernels_leave_open_is_closed_by_seccomp(confined: Pool, way: str) -> None:
    assert call(confined, "attempt", way=way, argument=str(os.getpid())) != "done"


@pytest.mark.parametrize("way", ["streams", "own-signal", "lock", "terminal", "allocate"])
def test_what_libraries_need_is_left_open(confined: Pool, way: str) -> None:
    assert call(confined, "attempt", way=way) == "done"


@pytest.mark.parametrize("way", ["open", "mapped"])
def test_files_without_a_name_count_as_written(confined: Pool, way: str) -> None:
    with pytest.raises(SandboxError, match="wrote more than 30 MB"):
        call(confined, "hide_files", CallLimits(seconds=20, output_mb=30), way=way)


def test_the_machine_is_not_seen_by_the_own_folder_in_proc(confined: Pool) -> None:
    assert call(confined, "of_machine") == []
    assert {"maps", "status", "stat", "statm", "cgroup", "0"} <= set(call(confined, "of_itself"))  # type: ignore[call-overload]


def test_nothing_goes_on_unseen_after_the_first_thread(pool: Pool) -> None:
    with pytest.raises(SandboxMemoryError):  # it is ended, and not let go on until its time is over
        call(pool, "end_first_thread", CallLimits(seconds=15, memory_mb=300), size=600_000_000)


@landlock
def test_a_child_that_does_not_end_makes_nobody_else_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forkserver, "ENDING_SECONDS", 0.3)
    server, first = _server_and_child(tmp_path)
    assert first.wait().signal == signal.SIGKILL  # it was not ended at all
    second = _forked(server, tmp_path / "second")
    second.kill()
    assert second.wait().signal == signal.SIGKILL
    assert server.is_alive()
    server.close()


@landlock
def test_a_server_that_gets_no_further_process_says_so_and_goes_on(tmp_path: Path) -> None:
    """Else the children of others would end with it."""
    code = """
        import json, os, socket, threading
        from leaf.sandbox import child, forked
        def fork():
            raise BlockingIOError(11, "none left")
        os.fork = fork
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        threading.Thread(target=forked.serve, args=(theirs.detach(), child), daemon=True).start()
        for _ in range(3):
            print(ours.recv(100).decode(), flush=True)
            socket.send_fds(ours, [b'{"folder": "/"}'], os.pipe())
        print(ours.recv(100).decode(), len(os.listdir("/proc/self/fd")) < 14, flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        cwd=HERE.parent,
    )
    assert done.stdout.count("none left") == 3, done.stderr
    assert done.stdout.split()[-1] == "True", "it keeps no pipe of a fork that was refused"


@landlock
def test_a_child_without_a_handle_closes_its_pipes_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A descriptor that is closed twice may be another's by then."""
    server, first = _server_and_child(tmp_path)

    def none(_pid: int) -> int:
        raise OSError(24, "too many open files")

    monkeypatch.setattr(os, "pidfd_open", none)
    with pytest.raises(OSError, match="too many") as failure:
        _forked(server, tmp_path / "second")
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]
    del failure
    gc.collect()
    for descriptor in opened:
        os.close(descriptor)  # raises if it is closed already
    first.kill()
    server.close()


@landlock
def test_a_server_that_does_not_answer_is_gone_before_the_system_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one death is three failures to fork, after which callers are told."""
    server, _ = _server_and_child(tmp_path)
    monkeypatch.setattr(server._process, "poll", lambda: None)
    assert server.is_alive()
    server.kill()
    with pytest.raises(RuntimeError, match="fork server"):
        _forked(server, tmp_path / "second")
    assert not server.is_alive()
    server.close()


def test_a_server_that_works_is_waited_for_and_one_that_does_nothing_is_not(tmp_path: Path) -> None:
    """Else a busy moment has each child of this process started anew, which takes forty times as
    much of a core and keeps the machine busy."""
    if not forkserver.can_confine_itself():
        pytest.skip("this kernel starts each child anew")
    for name, ready in (("load_long", True), ("rest", False)):
        kind = ChildKind(confined=True, preload=(f"sandbox_functions:{name}",), paths=(HERE,))
        server = forkserver.ForkServer(tmp_path / name, kind)
        began = time.monotonic()
        try:
            if ready:
                server.wait_until_ready(1.5)
                assert time.monotonic() - began > 1.5
            else:
                with pytest.raises(RuntimeError, match="does not answer"):
                    server.wait_until_ready(0.8)
                assert time.monotonic() - began < 20
        finally:
            server.close()


def test_after_a_server_that_failed_the_next_child_is_forked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not forkserver.can_confine_itself():
        pytest.skip("this kernel starts each child anew")
    tries: list[float] = []
    wait_until_ready = forkserver.ForkServer.wait_until_ready

    def fail_once(server: forkserver.ForkServer, seconds: float) -> None:
        tries.append(seconds)
        if len(tries) == 1:
            raise RuntimeError("the fork server does not answer")
        wait_until_ready(server, seconds)

    monkeypatch.setattr(forkserver.ForkServer, "wait_until_ready", fail_once)
    pool = Pool(tmp_path, preload=(), paths=[HERE])
    for value in range(4):
        assert call(pool, "echo", value=value) == value
    pool.close()
    assert len(tries) == 2


def _server_and_child(folder: Path) -> tuple[forkserver.ForkServer, forkserver.Forked]:
    if not forkserver.can_confine_itself():
        pytest.skip("this kernel starts each child anew")
    server = forkserver.ForkServer(folder / "server", ChildKind(confined=True, preload=()))
    server.wait_until_ready(20)
    return server, _forked(server, folder / "first")


def _forked(server: forkserver.ForkServer, folder: Path) -> forkserver.Forked:
    folder.mkdir()
    readable = [PACKAGE]
    return server.fork(
        folder,
        home=folder,
        log=folder / ".log",
        readable=readable,
        writable=[folder],
        limits={},
    )


@landlock
def test_a_data_folder_among_the_libraries_stays_closed(tmp_path: Path) -> None:
    """As where an environment was made in the folder of a project, in which `.leaf` lies too."""
    (tmp_path / "library.txt").write_text("of all")
    home = tmp_path / "some" / "home"
    home.mkdir(parents=True)
    (home / "blob").write_text("another's")
    pool = Pool(home, preload=(), paths=[HERE, tmp_path])
    with contextlib.closing(pool):
        read = "sandbox_functions:text_of"
        assert pool.call(read, {"path": str(tmp_path / "library.txt")}, returns=str) == "of all"
        own = {"path": "in:own"}
        assert pool.call(read, own, returns=str, inputs={"own": home / "blob"}) == "another's"
        with pytest.raises(SandboxError, match="in a way that Leaf did not expect"):
            pool.call(read, {"path": str(home / "blob")}, returns=str)


def test_of_an_environment_only_what_is_installed_is_open(tmp_path: Path) -> None:
    paths = readable_paths([], tmp_path)
    assert not {sys.prefix, sys.base_prefix} & {*paths} - {"/usr"}
    assert any(Path(pytest.__file__).is_relative_to(path) for path in paths)


AUTOGROUP = Path("/proc/self/autogroup")


@landlock
@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel shares cores by process alone")
@pytest.mark.parametrize("kind", ["fork server", "alone", "unconfined"])
def test_the_session_of_children_gives_way_to_the_app(tmp_path: Path, kind: str) -> None:
    """Each session has an equal part of the cores otherwise, whatever its processes are worth."""
    own = AUTOGROUP.read_text()
    if kind == "fork server":
        server, child = _server_and_child(tmp_path)
        group = Path(f"/proc/{child.pid}/autogroup").read_text()
        child.kill()
        child.wait()
        server.close()
    else:
        config = ChildKind(confined=kind == "alone", preload=()).config()
        folder = tmp_path / "work"
        folder.mkdir()
        one = start(
            SCRIPT,
            json.dumps({**config, "orders": None, "log": str(folder / ".log"), "limits": {}}),
            folder=folder,
            home=folder,
            readable=[PACKAGE],
            writable=[folder],
            confined=kind == "alone",
        )
        group = Path(f"/proc/{one.pid}/autogroup").read_text()
        one.kill()
        one.wait()
    if not group or not own:
        pytest.skip("this kernel has the file, and groups no session")
    apart = group.split()[0] != own.split()[0]
    assert apart or kind == "alone"
    assert group.split()[-1] == (str(NICE) if apart else own.split()[-1])
    assert AUTOGROUP.read_text() == own


def test_threads_are_allowed(confined: Pool) -> None:
    assert call(confined, "threads", count=20) == 20


def test_no_key_reaches_a_child(tmp_path: Path, pool: Pool) -> None:
    script = f"""
        import json, os, sys
        from pathlib import Path
        from leaf.sandbox.pool import Pool
        os.environ["ANTHROPIC_API_KEY"] = "sk-secret"
        for confined in (None, False):
            pool = Pool(Path({str(tmp_path)!r}), preload=(), paths=[Path({str(HERE)!r})], confined=confined)
            print(json.dumps(pool.call("sandbox_functions:environment", {{}}, returns=dict)))
            pool.close()
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.count("TMPDIR") == 2
    assert "sk-secret" not in said.stdout
    assert "ANTHROPIC" not in said.stdout


@landlock
def test_a_temporary_folder_that_takes_nothing_leaves_no_child_without_confinement() -> None:
    script = "import tempfile; tempfile.tempdir = '/none'; from leaf.sandbox.confine import confinement; print(confinement())"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=HERE.parent, capture_output=True, text=True, check=True
    )
    assert "kind='landlock'" in done.stdout


# --- what is left behind


@pytest.mark.parametrize("busy", ["", "spin"])
@pytest.mark.parametrize("confined", [pytest.param(None, marks=landlock), False])
def test_children_do_not_outlive_a_killed_app(
    tmp_path: Path, busy: str, confined: bool | None
) -> None:
    script = f"""
        import threading, time
        from pathlib import Path
        from leaf.sandbox.pool import Pool
        pool = Pool(Path({str(tmp_path)!r}), preload=(), paths=[Path({str(HERE)!r})], confined={confined})
        print(pool.call("sandbox_functions:process_id", {{}}, returns=int), flush=True)
        if {busy!r}:
            threading.Thread(
                    target=pool.call,
                    args=("sandbox_functions:{busy}", {{}}),
                    kwargs={{"returns": object}},
                    daemon=True,
                ).start()
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=HERE.parent, stdout=subprocess.PIPE
    ) as app:
        assert app.stdout is not None
        app.stdout.readline()
        children = _await_children(app.pid, 2 if busy else 1)
        app.kill()
    deadline = time.monotonic() + 20
    while any(_is_alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_is_alive(pid) for pid in children)
    assert [p for p in (tmp_path / "boxes").iterdir() if p.is_dir()]
    successor = Pool(tmp_path, preload=(), paths=[HERE])
    call(successor, "echo", value=1)
    assert len([p for p in (tmp_path / "boxes").iterdir() if p.is_dir()]) == 1
    successor.close()
    assert not [p for p in (tmp_path / "boxes").iterdir() if p.is_dir()]


def test_close_ends_children_that_work_and_their_callers_are_told(tmp_path: Path) -> None:
    pool = Pool(tmp_path, preload=(), paths=[HERE])
    before = call(pool, "process_id")
    with ThreadPoolExecutor(1) as threads:
        call_in_thread = threads.submit(
            call, pool, "sleep", CallLimits(seconds=100), None, seconds=90
        )
        time.sleep(0.5)
        pool.close()
        with pytest.raises(SandboxError):
            call_in_thread.result(timeout=20)
    with pytest.raises(SandboxError, match="shutting down"):
        call(pool, "echo", value=before)


def test_close_does_not_wait_for_a_child_that_starts(tmp_path: Path) -> None:
    pool = Pool(tmp_path, preload=("sandbox_functions:rest",), paths=[HERE])
    pool.warm()
    wait_until(lambda: any(tmp_path.glob("boxes/*/*/**/.log")))
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 8
    assert list(tmp_path.glob("boxes/*/")) == []


def test_what_a_child_does_before_a_call_comes_succeeds_and_loads_nothing_it_never_uses() -> None:
    code = "\n".join(
        (
            "import sys",
            "from leaf.sandbox import child",
            f"for name in {PRELOAD}: child._preload(name)",
            "unused = ('pandas', 'pydantic', 'leaf.store', 'leaf.settings')",
            "assert [m for m in sys.modules if m.startswith(unused)] == []",
            "import importlib.util; assert importlib.util.find_spec('pandas') is None",
            "import pyarrow; assert pyarrow.array([1, 2]).to_pylist() == [1, 2]",
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_data_folder_that_cannot_be_written_is_named_and_no_caller_hangs(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    pool = Pool(tmp_path / "home", preload=(), paths=[HERE])
    for _ in range(2):
        with pytest.raises(StoreError, match="disk"):
            call(pool, "echo", value=1)
    (tmp_path / "home").unlink()
    assert call(pool, "echo", value=1) == 1
    pool.close()


def test_boxes_are_removed_after_each_call(tmp_path: Path, secret: Path) -> None:
    pool = Pool(tmp_path, preload=(), paths=[HERE])
    for _ in range(3):
        pool.call("sandbox_functions:text_of", {"path": "in:a"}, returns=str, inputs={"a": secret})
    boxes = [
        p
        for folder in (tmp_path / "boxes").iterdir()
        if folder.is_dir()
        for p in folder.iterdir()
        if p.is_dir()
    ]
    pool.close()
    assert not any((box / "in" / "a").exists() for box in boxes)
    assert secret.stat().st_nlink == 1


def _children_of(pid: int, servers: bool = False) -> list[int]:
    """The running `child.py`s below a process: those that answer, and with `servers` also those
    that fork them."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    direct = [child for child in below.get(pid, ()) if _is_alive(child)]
    forking = [child for child in direct if _forks(child)]
    forked = [child for server in forking for child in below.get(server, ())]
    return [child for child in direct if servers or child not in forking] + forked


def _servers_of(pid: int) -> list[int]:
    return [child for child in _children_of(pid, servers=True) if child not in _children_of(pid)]


def _forks(pid: int) -> bool:
    return b'"orders": null' not in _command(pid)


def _await_children(pid: int, count: int) -> list[int]:
    deadline = time.monotonic() + 20
    while len(found := _children_of(pid)) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found
    return _children_of(pid, servers=True)


def _runs(pid: int) -> bool:
    """Whether a process has not let go of its files yet: they are closed after its memory, and
    before it is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _is_alive(pid: int) -> bool:
    return b"child.py" in _command(pid)
