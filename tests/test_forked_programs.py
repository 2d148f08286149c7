"""Programs that begin as forks: for whoever starts one it is as if it had been started anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked_programs

ABOUT = """
import atexit, json, os, sys, threading, time
atexit.register(print, "at exit")
threading.Thread(target=lambda: (time.sleep(0.2), print("a thread", flush=True))).start()
print(json.dumps([sys.argv, __name__, os.getcwd(), sys.path[0], os.environ.get("GIVEN"), len(os.environ), sys.stdin.read()]))
print("an error", file=sys.stderr)
sys.exit({code})
"""


def both(code: str, *arguments: str, **options: object) -> list[tuple[int, str, str]]:
    """How it ended and what it said, as a fork and as a new process."""
    command = [sys.executable, "-c", code, *arguments]
    known = {"capture_output": True, "text": True, "timeout": 60, **options}
    ran = [forked_programs.run(command, **known), subprocess.run(command, **known)]  # type: ignore[call-overload]
    return [(done.returncode, done.stdout, done.stderr) for done in ran]


@pytest.mark.parametrize("code", ["0", "3", "'a reason'", "None", "-1", "True"])
def test_a_fork_is_given_and_says_what_a_new_process_would(tmp_path: Path, code: str) -> None:
    told = both(
        ABOUT.format(code=code),
        *("one", "--two"),
        cwd=tmp_path,
        env={"GIVEN": "ö", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
    )
    assert told[0] == told[1]
    assert "a thread\nat exit\n" in told[0][1]


@pytest.mark.parametrize(
    "code",
    ["raise ValueError('what went wrong')", "raise KeyboardInterrupt", "import nothing_of_it"],
)
def test_a_fork_fails_as_a_new_process_does(code: str) -> None:
    forked, new = both(code)
    assert forked[:2] == new[:2]
    assert forked[2].splitlines()[-1:] == new[2].splitlines()[-1:]


def test_a_fork_hears_signals_and_is_waited_for() -> None:
    with forked_programs.Popen(
        [sys.executable, "-c", "print('begun', flush=True); input(); print('heard')"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "begun\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        assert process.communicate("a line\n", timeout=30)[0] == "heard\n"
        assert process.returncode == 0
    for how in (signal.SIGTERM, signal.SIGKILL):
        with forked_programs.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as one:
            one.send_signal(how)
            assert one.wait(30) == -how
            assert one.poll() == -how


def test_many_forks_end_in_any_order() -> None:
    code = "import sys, time; time.sleep(float(sys.argv[1])); sys.exit(int(sys.argv[2]))"
    begun = [
        forked_programs.Popen([sys.executable, "-c", code, str(0.3 - i * 0.03), str(i)])
        for i in range(10)
    ]
    assert [process.wait(60) for process in begun] == list(range(10))


def test_a_fork_leaves_no_descriptor_and_no_random_numbers_of_another() -> None:
    code = "import os, random; print(sorted(os.listdir('/proc/self/fd')), random.random())"
    before = os.listdir("/proc/self/fd")
    said = [both(code)[0][1].partition("]") for _ in range(3)]
    assert os.listdir("/proc/self/fd") == before
    assert {fds for fds, _, _ in said} == {"['0', '1', '2', '3'"}
    assert len({number for _, _, number in said}) == 3


def test_another_python_and_other_options_are_started_as_ever(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print('tests.forked_programs' in sys.modules)")
    for command in ([sys.executable, str(script)], [sys.executable, "-I", "-c", "print(False)"]):
        done = forked_programs.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "False\n")


def test_where_code_was_changed_on_the_disk_all_are_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = [sys.executable, "-c", "import sys; print('leaf.cli.main' in sys.modules)"]
    assert forked_programs.run(command, capture_output=True, text=True).stdout == "True\n"
    monkeypatch.setenv(forked_programs.ANEW, "1")
    assert forked_programs.run(command, capture_output=True, text=True).stdout == "False\n"
