"""An answer as it is written, chunk by chunk, and what Ctrl-C does meanwhile."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from leaf.cli.common import print_json
from leaf.cli.writer import TextWriter
from leaf.errors import NotFoundError, RunError

if TYPE_CHECKING:
    from leaf.remote.contract import SessionCommands
    from leaf.shapes.chunks import Chunk
    from leaf.store.model import Message

UNFINISHED = ("pending", "streaming")


def attend(viewer: Viewer, app: str, *, unattended: str) -> str:
    """Print an answer to its end. Ctrl-C asks what to do; where nobody can be asked, `unattended`
    is done (stop or detach).

    Returns the type of the last chunk, or `detached`.
    """
    with CtrlC() as ctrl_c:
        while not viewer.print_news():
            wish = ctrl_c.ask(unattended) if ctrl_c.pressed else ""
            if wish == "detach":
                goes_on = (
                    f"goes on in the app at {app}" if app else "goes on when Leaf starts again"
                )
                print(
                    f"Detached. The answer {goes_on}; see it with: {viewer.again}", file=sys.stderr
                )
                return "detached"
            if wish == "stop":
                viewer.stop()
    return viewer.last


class Viewer:
    """Prints a run from its first chunk to its last; an answer that is over, from the history."""

    def __init__(self, session: SessionCommands, message: Message, as_json: bool) -> None:
        self.again = f"python -m leaf watch {message.id}"
        self.last = ""
        """Type of the newest chunk."""
        self._session = session
        self._id = message.id
        self._position = 0
        self._write = print_json if as_json else TextWriter().write

    def print_news(self) -> bool:
        """Wait a little for chunks and print them; True after the last one."""
        try:
            piece = self._session.messages.wait(self._id, self._position, timeout=0.5)
        except RunError as e:
            raise RunError(e.message, f"{e.hint} See the answer with: {self.again}") from e
        except NotFoundError:
            if self._position:
                raise
            self._print(_recorded(self._session.messages.get(self._id)))
            return True
        self._position = piece.position
        self._print(piece.chunks)
        return piece.done

    def stop(self) -> None:
        self._session.messages.stop(self._id)

    def _print(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self.last = str(chunk["type"])
            self._write(chunk)
        sys.stdout.flush()


def _recorded(message: Message) -> list[Chunk]:
    """The stream of an answer that is over."""
    from leaf.agent.events import replay
    from leaf.shapes.chunks import chunk

    if message.status in UNFINISHED:
        last: Chunk = chunk("error", errorText="This answer is not being written at the moment.")
    elif message.status == "completed":
        last = chunk("finish", finishReason="stop")
    elif message.status == "stopped":
        last = chunk("abort", reason="Stopped. What was found so far is kept.")
    else:
        last = chunk("error", errorText=message.error)
    return [chunk("start", messageId=message.id), *replay(message.parts), last]


class CtrlC:
    """Ctrl-C is noted, so that nothing is cut off in the middle; pressed again before that was
    seen, it ends all."""

    def __init__(self) -> None:
        self.pressed = False

    def __enter__(self) -> CtrlC:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def ask(self, unattended: str) -> str:
        """`stop`, `detach`, or empty to go on. Ctrl-C at the question, or the end of the input, is
        a stop."""
        self.pressed = False
        if not sys.stdin.isatty():
            return unattended
        print(
            "\nStop the answer (s), detach and let it go on (d), or go on watching (Enter)? ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            typed = sys.stdin.readline() or "s"
        except KeyboardInterrupt:
            print(file=sys.stderr)
            typed = "s"
        finally:
            signal.signal(signal.SIGINT, self._note)
        return {"s": "stop", "d": "detach"}.get(typed.strip().lower()[:1], "")

    def _note(self, *_: object) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
