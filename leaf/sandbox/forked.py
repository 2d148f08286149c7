"""The fork server from within: a process that has loaded the libraries of the children, runs
nothing that came from outside, and forks a child for each order.

    order, two pipes → fork → pipes, folder, limits → Landlock → seccomp → "ready"

A child confines itself before it reads its first byte; what is open in the server it closes before.
A fork has one thread only, so the rules hold for all that it ever starts. Runs under `child.py`,
whose functions it uses: in this process that file is `__main__`.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import socket
import sys
import tempfile
import traceback
import warnings
from types import ModuleType
from typing import Any

from leaf.sandbox import seccomp

ORDER_BYTES = 1 << 18
"""Longest order: two lists of paths."""
LARGEST_DESCRIPTOR = 1 << 30
OF_ITSELF = (
    *("auxv", "cgroup", "cmdline", "comm", "environ", "fd", "fdinfo", "limits"),
    *("maps", "smaps", "stat", "statm", "status"),
)
"""What a child may read of /proc/self. The rest tells of the machine: its connections, sockets and
routes (`net`, and `task/…/net`), and what is mounted."""


def serve(orders: int, child: ModuleType) -> tuple[Any, int]:
    """Fork a child for each order on the socket `orders`, and reap those that the app has ended.
    Returns in the children only, with the stream of requests and the descriptor of answers.

    An order is {"folder", "log": paths, "readable", "writable": lists of paths, "env": name ->
    value, "limits": name -> value, "degraded": protections that this kernel may lack}, with two
    descriptors; the answer is {"pid"}, or {"error"} where the system refuses. {"reap": pid}, of a child that has
    ended, is answered with {"status"}, as of waitpid.
    """
    importlib.import_module("sandlock")  # once, and in no child
    channel = socket.socket(fileno=orders)
    channel.send(json.dumps({"ready": True}).encode())
    server = os.getpid()
    while True:
        data, pipes, _, _ = socket.recv_fds(channel, ORDER_BYTES, 2)
        if not data:
            os._exit(0)
        order = json.loads(data)
        if "reap" in order:
            channel.send(json.dumps({"status": os.waitpid(order["reap"], 0)[1]}).encode())
            continue
        with warnings.catch_warnings():
            # of threads that a child does without: those of Arrow and jemalloc, which both know
            # of forks
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                pid = os.fork()
                answer: dict[str, Any] = {"pid": pid}
            except OSError as e:  # one child may have taken all the threads that there are
                pid, answer = -1, {"error": str(e)}
        if pid == 0:
            return _begin(order, pipes, server, child)
        for pipe in pipes:
            os.close(pipe)
        channel.send(json.dumps(answer).encode())


def _begin(
    order: dict[str, Any], pipes: list[int], server: int, child: ModuleType
) -> tuple[Any, int]:
    """Become a child: everything that one started by itself has, and nothing of the server's but
    its libraries. Where that fails the process ends, and its log says why."""
    try:
        child.die_with_parent()
        if os.getppid() != server:  # it was gone before that was asked
            os._exit(1)
        requests, answers = child.take_pipes(*pipes, order["log"])
        _close_all_but(requests.fileno(), answers)
        os.environ.update(order["env"])
        os.chdir(order["folder"])
        tempfile.tempdir = None  # the server's own, found as it warmed up
        child.limit(order["limits"])
        _confine(order)
        _reseed()
    except BaseException:  # noqa: BLE001 - nobody above is this child
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    return requests, answers


def _close_all_but(*descriptors: int) -> None:
    """Close what is open from 3 on, the server's socket above all."""
    first = 3
    for descriptor in sorted(descriptors):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, LARGEST_DESCRIPTOR)


def _confine(order: dict[str, Any]) -> None:
    """Close files by Landlock, and then all that seccomp closes. For good."""
    from sandlock import Protection, Sandbox, confine

    own = [path for name in OF_ITSELF if os.path.exists(path := f"/proc/self/{name}")]
    for path in own:
        # What Landlock opens is a file as it is now. Where the kernel is short of memory it would
        # forget one of /proc that nobody holds, and make another, closed one.
        os.open(path, os.O_PATH)
    confine(
        Sandbox(
            fs_readable=[*order["readable"], *own],
            fs_writable=order["writable"],
            allow_degraded=[Protection[name] for name in order["degraded"]],
        )
    )
    seccomp.close()


def _reseed() -> None:
    """Chance that each process has of its own: forks of one process would all draw the same."""
    random.seed()
    drawn = sys.modules.get("numpy.random")  # where it is loaded later, it seeds itself
    if drawn is not None:
        drawn.seed()
