"""What a confined child closes behind itself, besides what `confine` has closed from outside: capabilities, and system calls that
are harmless on oneself and not on others. Standard library only; runs in the child, before any untrusted byte.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

DAC_OVERRIDE = 1 << 1
"""The one capability that stays where Leaf runs as root: to read files of its own that belong to somebody else."""
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16
"""Offsets in `struct seccomp_data`: system call, architecture, the low half of the first argument."""
CALLS = {
    "x86_64": (0xC000003E, {"socket": 41, "prlimit64": 302, "kill": 62, "tgkill": 234, "capset": 126}),
    "aarch64": (0xC00000B7, {"socket": 198, "prlimit64": 261, "kill": 129, "tgkill": 131, "capset": 91}),
}
"""Machine -> its number for the kernel and those of the calls."""
OTHER_TABLE = 0x40000000
"""From here on numbers are those of another table of calls (x32)."""


def close() -> None:
    """Give up capabilities and refuse: sockets of every kind, limits and signals of other processes. Raises OSError.

    On another machine than those of `CALLS` only what `confine` closes is closed.
    """
    if platform.machine() not in CALLS:
        return
    architecture, calls = CALLS[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    _give_up_capabilities(libc, calls["capset"])
    _filter(libc, architecture, calls)


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


def _filter(libc: ctypes.CDLL, architecture: int, calls: dict[str, int]) -> None:
    """A filter of the kernel's own kind: (code, jump if so, jump if not, value), jumps counted from the next instruction."""
    pid = os.getpid()
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 0, 11, architecture),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 9, 0, OTHER_TABLE),
        (EQUAL, 8, 0, calls["socket"]),
        (EQUAL, 3, 0, calls["prlimit64"]),
        (EQUAL, 4, 0, calls["kill"]),
        (EQUAL, 3, 0, calls["tgkill"]),
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, FIRST),  # prlimit64: 0 is oneself
        (EQUAL, 3, 2, 0),
        (LOAD, 0, 0, FIRST),  # kill, tgkill: one's own number
        (EQUAL, 1, 0, pid),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(packed)))
    given = [ctypes.c_ulong(n) for n in (SECCOMP_MODE_FILTER, ctypes.addressof(head), 0, 0)]
    if libc.prctl(PR_SET_SECCOMP, *given) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls cannot be set")
