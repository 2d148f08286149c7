"""What a confined child closes behind itself, besides what `confine` has closed from outside:
capabilities, and system calls that are harmless on oneself and not on others. Standard library
only; runs in the child, before any untrusted byte.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping, Sequence

DAC_OVERRIDE = 1 << 1
"""The one capability that stays where Leaf runs as root: to read files of its own that belong to
somebody else."""
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, ERROR = 0x7FFF0000, 0x00050000
REFUSE = ERROR | errno.EACCES
LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16
"""Offsets in `struct seccomp_data`: system call, architecture, the low half of the first
argument; each further argument is 8 bytes behind."""
CALLS = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41,
            "prlimit64": 302,
            "kill": 62,
            "tgkill": 234,
            "capset": 126,
            "fcntl": 72,
            "ioctl": 16,
            "socketpair": 53,
            "connect": 42,
            "bind": 49,
            "sendmsg": 46,
            "sendmmsg": 307,
            "fallocate": 285,
            "unshare": 272,
            "inotify_init": 253,
            "inotify_init1": 294,
            "inotify_add_watch": 254,
            "fanotify_init": 300,
            "fanotify_mark": 301,
            "memfd_secret": 447,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198,
            "prlimit64": 261,
            "kill": 129,
            "tgkill": 131,
            "capset": 91,
            "fcntl": 25,
            "ioctl": 29,
            "socketpair": 199,
            "connect": 203,
            "bind": 200,
            "sendmsg": 211,
            "sendmmsg": 269,
            "fallocate": 47,
            "unshare": 97,
            "inotify_init1": 26,
            "inotify_add_watch": 27,
            "fanotify_init": 262,
            "fanotify_mark": 263,
            "memfd_secret": 447,
        },
    ),
}
"""Machine -> its number for the kernel and those of the calls, where it has them."""
CLOSED = (
    # Before kernel 6.12 Landlock leaves abstract sockets open, to whoever has any socket. A message
    # could also carry an open file away, where nobody counts what it takes on the disk.
    *("socket", "connect", "bind", "sendmsg", "sendmmsg", "unshare"),
    # Memory that no count of the process shows. sandlock knows the call by no name.
    "memfd_secret",
    # These tell when others open, read or change files, which Landlock does not hide.
    *("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
)
"""Calls that are refused whatever their arguments are."""
SIGNALLING = (8, 10, 15, 1024, 1026)
"""What `fcntl` is not for: F_SETOWN, F_SETSIG and F_SETOWN_EX have the kernel signal any process of
the user; F_SETLEASE makes whoever opens the file wait; F_NOTIFY."""
TERMINAL = (0x5401, 0x802C542A, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)
"""All that `ioctl` is for: TCGETS and TCGETS2 (is it a terminal?), TIOCGWINSZ, FIONBIO, FIONREAD,
FIONCLEX, FIOCLEX. Others name a process that is signalled, or change files that can only be read."""
SOCK_STREAM, KIND_OF_SOCKET = 1, 0xF
OTHER_TABLE = 0x40000000
"""From here on numbers are those of another table of calls (x32)."""


def close() -> None:
    """Give up capabilities and refuse: sockets but pairs of streams, limits and signals of other
    processes in every way that there is, watching of files, space on the disk without writing.
    Raises OSError.

    On another machine than those of `CALLS` only what `confine` closes is closed.
    """
    if platform.machine() not in CALLS:
        return
    architecture, calls = CALLS[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    _give_up_capabilities(libc, calls["capset"])
    _filter(libc, program(architecture, calls, os.getpid()))


def _give_up_capabilities(libc: ctypes.CDLL, capset: int) -> None:
    header = struct.pack("Ii", 0x20080522, 0)
    found = ctypes.create_string_buffer(24)
    # What a process has not it cannot keep: only where it runs as root is there anything to keep.
    kept = DAC_OVERRIDE if os.geteuid() == 0 and _effective() & DAC_OVERRIDE else 0
    found.raw = struct.pack("6I", kept, kept, 0, 0, 0, 0)
    if libc.syscall(capset, header, found) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")


def _effective() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next((int(line.split()[1], 16) for line in status if line.startswith("CapEff:")), 0)


Line = tuple[int, int, int, int]
"""An instruction of the kernel's own kind: (code, jump if so, jump if not, value), jumps counted
from the next instruction."""


def program(architecture: int, calls: Mapping[str, int], pid: int) -> list[Line]:
    """The filter of a process of this number."""
    return [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, REFUSE),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, OTHER_TABLE),
        (RETURN, 0, 0, REFUSE),
        *(line for name in CLOSED if name in calls for line in _rule(calls[name], [])),
        # It takes space faster than anybody counts; who writes byte by byte instead is counted.
        *_rule(calls["fallocate"], [], ERROR | errno.EOPNOTSUPP),
        *_rule(calls["prlimit64"], _only(0, (0,))),  # 0 is oneself
        *_rule(calls["kill"], _only(0, (pid,))),
        *_rule(calls["tgkill"], _only(0, (pid,))),
        *_rule(calls["socketpair"], _only(1, (SOCK_STREAM,), KIND_OF_SOCKET)),
        *_rule(calls["ioctl"], _only(1, TERMINAL), ERROR | errno.ENOTTY),
        *_rule(calls["fcntl"], _none_of(1, SIGNALLING)),
        (RETURN, 0, 0, ALLOW),
    ]


def _rule(number: int, test: list[Line], refusal: int = REFUSE) -> list[Line]:
    """Refuse a call that does not pass the test, which jumps over the refusal where it does."""
    body = [*test, (RETURN, 0, 0, refusal), (RETURN, 0, 0, ALLOW)]
    return [(EQUAL, 0, len(body), number), *body]


def _only(argument: int, values: Sequence[int], bits: int = 0xFFFFFFFF) -> list[Line]:
    """Pass if those bits of an argument are one of the values."""
    tests = [(EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [(LOAD, 0, 0, FIRST + 8 * argument), (AND, 0, 0, bits), *tests]


def _none_of(argument: int, values: Sequence[int]) -> list[Line]:
    """Pass if an argument is none of the values."""
    last = len(values) - 1
    tests = [(EQUAL, last - i, 1 if i == last else 0, value) for i, value in enumerate(values)]
    return [(LOAD, 0, 0, FIRST + 8 * argument), *tests]


def _filter(libc: ctypes.CDLL, lines: Sequence[Line]) -> None:
    packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    head = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(lines), ctypes.addressof(packed))
    )
    given = [ctypes.c_ulong(n) for n in (SECCOMP_MODE_FILTER, ctypes.addressof(head), 0, 0)]
    if libc.prctl(PR_SET_SECCOMP, *given) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls cannot be set")
