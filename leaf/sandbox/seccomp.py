"""What a confined child closes behind itself, besides its files: capabilities, and system calls that
are harmless on oneself and not on others. Standard library only; runs in the child, before any
untrusted byte.

Refused calls are named one by one, since libraries need most; those that are younger than the list
do not exist for a child.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping, Sequence

from leaf.sandbox.syscalls import CALLS, MACHINES, YOUNGEST

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
CLOSED = (
    # Before kernel 6.12 Landlock leaves abstract sockets open, to whoever has any socket. A message
    # could also carry an open file away, where nobody counts what it takes on the disk.
    *("socket", "connect", "bind", "listen", "accept", "accept4", "sendmsg", "sendmmsg"),
    # Another process or program: there is this one.
    *("fork", "vfork", "execve", "execveat"),
    # What reaches other processes.
    *(
        "tkill",
        "rt_sigqueueinfo",
        "rt_tgsigqueueinfo",
        "pidfd_open",
        "pidfd_send_signal",
        "pidfd_getfd",
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "process_madvise",
        "process_mrelease",
        "kcmp",
        "migrate_pages",
        "move_pages",
        "setpriority",
        "ioprio_set",
        "sched_setaffinity",
        "sched_setattr",
        "sched_setparam",
        "sched_setscheduler",
    ),
    # A group or session of its own, to which the kernel may give a share of the processor of its own.
    *("setpgid", "setsid"),
    # Memory, queues and semaphores that others find by a number, or that no count of the process
    # shows.
    *(
        "memfd_create",
        "memfd_secret",
        "shmget",
        "shmat",
        "shmdt",
        "shmctl",
        "msgget",
        "msgsnd",
        "msgrcv",
        "msgctl",
        "semget",
        "semop",
        "semctl",
        "semtimedop",
        "mq_open",
        "mq_unlink",
    ),
    # Places that all of the machine share, of which one process could take every one; writing to
    # the disk what others have in memory.
    *("io_setup", "sync", "syncfs"),
    # Mode, owner and times of files, which Landlock does not cover.
    *(
        "chmod",
        "fchmod",
        "fchmodat",
        "chown",
        "fchown",
        "lchown",
        "fchownat",
        "utime",
        "utimes",
        "futimesat",
        "utimensat",
        "setxattr",
        "lsetxattr",
        "fsetxattr",
        "removexattr",
        "lremovexattr",
        "fremovexattr",
    ),
    # Files by another way than their path, and other trees of files.
    *(
        "open_by_handle_at",
        "name_to_handle_at",
        "chroot",
        "pivot_root",
        "mount",
        "umount2",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "move_mount",
        "open_tree",
        "mount_setattr",
        "unshare",
        "setns",
        "quotactl",
        "quotactl_fd",
    ),
    # These tell when others open, read or change files, which Landlock does not hide.
    *("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
    # Calls that would pass by this list, and doors of the kernel that no reader needs.
    *(
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "userfaultfd",
        "bpf",
        "perf_event_open",
        "keyctl",
        "add_key",
        "request_key",
        "personality",
        "modify_ldt",
        "lookup_dcookie",
        "nfsservctl",
    ),
    # The machine, where Leaf runs as root.
    *(
        "clock_settime",
        "clock_adjtime",
        "adjtimex",
        "settimeofday",
        "swapon",
        "swapoff",
        "reboot",
        "sethostname",
        "setdomainname",
        "kexec_load",
        "kexec_file_load",
        "init_module",
        "finit_module",
        "delete_module",
        "ioperm",
        "iopl",
        "acct",
        "syslog",
        "vhangup",
    ),
)
"""Calls that are refused whatever their arguments are."""
SIGNALLING = (8, 10, 15, 1024, 1026)
"""What `fcntl` is not for: F_SETOWN, F_SETSIG and F_SETOWN_EX have the kernel signal any process of
the user; F_SETLEASE makes whoever opens the file wait; F_NOTIFY."""
TERMINAL = (0x5401, 0x802C542A, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)
"""All that `ioctl` is for: TCGETS and TCGETS2 (is it a terminal?), TIOCGWINSZ, FIONBIO, FIONREAD,
FIONCLEX, FIOCLEX. Others name a process that is signalled, or change files that can only be read."""
AF_UNIX, SOCK_STREAM, KIND_OF_SOCKET = 1, 1, 0xF
CLONE_THREAD, MAP_HUGETLB = 0x10000, 0x40000
OWN_RIGHTS = (1, 4, 28, 62, 67, 0x59616D61)
"""What `prctl` is not for: PR_SET_PDEATHSIG, by which it ends with the app, PR_SET_DUMPABLE,
PR_SET_SECUREBITS, PR_SCHED_CORE, by which nobody else runs on the other half of its core,
PR_SET_MEMORY_MERGE, by which time tells what others have in memory, PR_SET_PTRACER."""


def close() -> None:
    """Give up capabilities and refuse what `CLOSED` names, and besides: sockets but pairs of streams,
    limits and signals of other processes, processes but threads, space on the disk without writing.
    Raises OSError.

    On another machine than those of `MACHINES` only what `confine` closes is closed.
    """
    if platform.machine() not in MACHINES:
        return
    architecture, place = MACHINES[platform.machine()]
    number_of = {name: numbers[place] for name, numbers in CALLS.items()}
    calls = {name: number for name, number in number_of.items() if number is not None}
    libc = ctypes.CDLL(None, use_errno=True)
    _give_up_capabilities(libc, calls["capset"])
    _filter(libc, program(architecture, calls, os.getpid()))


def _give_up_capabilities(libc: ctypes.CDLL, capset: int) -> None:
    header = struct.pack("Ii", 0x20080522, 0)
    data = ctypes.create_string_buffer(24)
    # What a process has not it cannot keep: only where it runs as root is there anything to keep.
    mask = DAC_OVERRIDE if os.geteuid() == 0 and _effective() & DAC_OVERRIDE else 0
    data.raw = struct.pack("6I", mask, mask, 0, 0, 0, 0)
    if libc.syscall(capset, header, data) != 0:
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
        (AT_LEAST, 0, 1, YOUNGEST),  # and those of another table (x32)
        (RETURN, 0, 0, ERROR | errno.ENOSYS),
        *(line for name in CLOSED if name in calls for line in _rule(calls[name], [])),
        # It takes space faster than anybody counts; who writes byte by byte instead is counted.
        *_rule(calls["fallocate"], [], ERROR | errno.EOPNOTSUPP),
        # libraries ask for threads in the older way, whose arguments can be looked at, where they
        # hear that this one does not exist
        *_rule(calls["clone3"], [], ERROR | errno.ENOSYS),
        *_rule(calls["clone"], _only(0, (CLONE_THREAD,), CLONE_THREAD)),
        # huge pages are set aside for somebody, a database as a rule, and no count of memory has them
        *_rule(calls["mmap"], _only(3, (0,), MAP_HUGETLB)),
        *_rule(calls["prctl"], _none_of(0, OWN_RIGHTS)),
        *_rule(calls["prlimit64"], _only(0, (0,))),  # 0 is oneself
        *_rule(calls["kill"], _only(0, (pid,))),
        *_rule(calls["tgkill"], _only(0, (pid,))),
        # other families would be made by the kernel before it finds that they know no pairs
        *_rule(
            calls["socketpair"],
            _and(0, AF_UNIX, _only(1, (SOCK_STREAM,), KIND_OF_SOCKET)),
        ),
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


def _and(argument: int, value: int, test: list[Line]) -> list[Line]:
    """Pass if an argument is that value and the test, which stands behind, passes."""
    return [(LOAD, 0, 0, FIRST + 8 * argument), (EQUAL, 0, len(test), value), *test]


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
    arguments = [ctypes.c_ulong(n) for n in (SECCOMP_MODE_FILTER, ctypes.addressof(head), 0, 0)]
    if libc.prctl(PR_SET_SECCOMP, *arguments) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls cannot be set")
