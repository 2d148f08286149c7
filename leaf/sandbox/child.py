"""The other end of the pool: runs inside the confined process as `python -I child.py CONFIG`,
answers one request, which may be to call a function several times, and ends, or hands its two pipes
to the function that `serve` names and ends after that.

Where CONFIG names `orders`, it is a fork server instead: it loads the libraries once, and each
child is a fork of it that confines itself before it reads its first byte; see `forked`.

Only the standard library is imported here. One line of JSON comes in, one goes out, on a copy of
the first stdout: a parser that prints to stdout writes into a log file instead of the answer.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import importlib.util
import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NICE = 10
"""Where the kernel's scale goes from 0 to 19: a tenth of the weight of the app, where cores are short."""
NO_ROOM = {
    "IOException": "No space left",
    "FileNotFoundError": "No usable temporary directory",
}
"""Names of errors of DuckDB and `tempfile` -> what stands in them where a disk takes no more."""


def main() -> None:
    # until all is loaded: modules make many objects and no rubbish, and looking for it is an eighth
    # of the start
    gc.disable()
    config = json.loads(sys.argv[1])
    _yield_to_app()
    die_with_parent()
    requests, answers = _alone(config) if config["orders"] is None else _forked(config)
    gc.enable()
    send(answers, json.dumps({"ready": True}))
    if config["serve"]:
        module, _, function = config["serve"].partition(":")
        getattr(importlib.import_module(module), function)(requests, answers)
        os._exit(0)
    line = requests.readline()
    if not line:
        os._exit(0)
    threading.Thread(target=_end_with_pipe, args=(requests,), daemon=True).start()
    request = json.loads(line)
    limit(request["limits"])
    _tell_progress(request["progress"], answers)
    for arguments in request["arguments"]:
        send(answers, _answer(request["function"], arguments))
    os._exit(0)


def _alone(config: dict[str, Any]) -> tuple[Any, int]:
    """The pipes of a child that was started by itself, when it has loaded its libraries."""
    pipes = take_pipes(0, 1, config["log"])
    limit(config["limits"])
    _make_importable(config)
    if config["confined"]:
        from leaf.sandbox import seccomp

        seccomp.close()  # before there is a second thread: the rules of a thread are its own
    _load(config["preload"])
    gc.freeze()
    return pipes


def _forked(config: dict[str, Any]) -> tuple[Any, int]:
    """The pipes of a child, in each fork of this process."""
    _make_importable(config)
    _load(config["preload"])
    from leaf.sandbox import forked

    gc.collect()  # what warming up has left would be in every child, its threads would not
    gc.freeze()
    return forked.serve(config["orders"], sys.modules[__name__])


def _load(preload: list[str]) -> None:
    for name in preload:
        with contextlib.suppress(Exception):  # the call that needs it will fail and say why
            _preload(name)


def _tell_progress(name: str, answers: int) -> None:
    """Give `module:function` what passes on how far a call is: a function of what is done of how
    much."""
    module, _, function = name.partition(":")
    tell_to = getattr(importlib.import_module(module), function)
    tell_to(lambda done, total: send(answers, json.dumps({"progress": [done, total]})))


def _preload(name: str) -> None:
    """Import a module, or call `module:function`."""
    module, _, function = name.partition(":")
    library = importlib.import_module(module)
    if function:
        getattr(library, function)()


def _answer(function: str, arguments: dict[str, Any]) -> str:
    """Run the function and give its value as JSON; every way it can fail becomes JSON too: nothing
    else crosses the pipe."""
    from leaf import logs
    from leaf.errors import LeafError

    try:
        module, name = function.split(":")
        value = getattr(importlib.import_module(module), name)(**arguments)
        return json.dumps({"value": value}, ensure_ascii=False)
    except MemoryError:
        return json.dumps({"memory": True})
    except BaseException as e:  # noqa: BLE001 - Rust panics and SystemExit of parsers are no Exception
        full = any(map(_is_want_of_room, _with_causes(e)))
        if isinstance(e, LeafError) and not full:
            return json.dumps(
                {"error": {"class": type(e).__name__, "message": e.message, "hint": e.hint}}
            )
        wide = isinstance(e, OSError) and e.errno in (errno.EFBIG, errno.EDQUOT)
        details = "".join(traceback.format_exception(e))[-8_000:]
        return json.dumps(
            {
                "failure": {
                    "type": type(e).__name__,
                    "details": details,
                    "trace": logs.trace(e)[-8_000:],
                    "disk_full": full,
                    "too_big": wide,
                }
            }
        )


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised for, or after: a reader calls a file damaged, and a library says
    that it cannot tidy up, where there was no room to write."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            pending += [one.__cause__, one.__context__]
            yield one


def _is_want_of_room(error: BaseException) -> bool:
    """Whether a disk took no more."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return True
    words = NO_ROOM.get(type(error).__name__)
    return words is not None and words in str(error)


def _yield_to_app() -> None:
    """Where cores are short, pages and words on their way to them come before the reading of
    files."""
    with contextlib.suppress(AttributeError, OSError):  # not on Windows, and not in every container
        os.nice(NICE)


def send(answers: int, line: str) -> None:
    """Write one line of JSON. Halves of characters, which no text can hold, become `?`."""
    data = memoryview(line.encode("utf-8", "replace") + b"\n")
    while data:
        data = data[os.write(answers, data) :]


def take_pipes(inwards: int, outwards: int, log: str) -> tuple[Any, int]:
    """Keep the two pipes to ourselves; descriptors 0 to 2 become nothing and the log, whoever
    writes there."""
    requests, answers = os.fdopen(os.dup(inwards), "rb"), os.dup(outwards)
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(source, target)
    return requests, answers


def _end_with_pipe(requests: Any) -> None:
    """The app never sends a second line: whatever comes now means that it is gone."""
    requests.read(1)
    os._exit(1)


def die_with_parent() -> None:
    """Ask Linux to end this process with the app, even while a library holds the interpreter's
    lock."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL


def limit(limits: dict[str, int]) -> None:
    """Lower resource limits, name of the limit -> value. Where the system lacks one, the app's own
    watch remains."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for name, value in limits.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):
            which = getattr(resource, name)
            hard = resource.getrlimit(which)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (bound, bound))


def _make_importable(config: dict[str, Any]) -> None:
    """Import `leaf` from its own folder: the folder above it, which may hold the user's data, is
    closed to this process."""
    sys.dont_write_bytecode = True
    sys.path.extend(p for p in config["paths"] if p not in sys.path)
    package = Path(config["package"])
    spec = importlib.util.spec_from_file_location(
        "leaf", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError("leaf")
    module = importlib.util.module_from_spec(spec)
    sys.modules["leaf"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    main()
