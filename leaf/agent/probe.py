"""Whether a model server answers, found out by asking it: which models it has, and one word of one
of them. Within a bounded time, whatever the server does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from leaf.agent.models.base import ModelRequest, ModelTurn
from leaf.errors import InvalidInputError, ModelError, RunError

TEST_SECONDS = 30.0
"""For one word. Some servers load the model first."""
LIST_SECONDS = 10.0
NOT_LISTED = (404, 405, 501)
"""What servers say that have the Messages API but no list of their models."""

T = TypeVar("T")
ModelList = list[tuple[str, str]]


class Server(Protocol):
    """A model server as it is tried."""

    def list_models(self) -> ModelList: ...

    def turn(
        self, request: ModelRequest, emit: Callable[[object], None], stop: threading.Event
    ) -> ModelTurn: ...


@dataclass(frozen=True)
class Tested:
    """A server that answers."""

    model: str
    """Which of its models was asked."""
    seconds: float
    """Until it had answered."""
    models: tuple[tuple[str, str], ...] = ()
    """Id and name of those that it offers; none where it does not say."""

    @property
    def duration(self) -> str:
        """In words."""
        return f"in {self.seconds:.1f} seconds" if self.seconds >= 1 else "within a second"


def probe(server: Server, model: str = "", seconds: float = TEST_SECONDS) -> Tested:
    """Ask a model for one word, the first that is offered where none is named. Raises ModelError,
    and InvalidInputError where no model is named by anybody."""
    try:
        models = tuple(within(min(LIST_SECONDS, seconds), server.list_models))
    except ModelError as e:
        if e.status in (401, 402) or e.retryable or not (model or e.status in NOT_LISTED):
            raise  # a question would end in the same way
        models = ()
    if not (model := model or (models[0][0] if models else "")):
        raise InvalidInputError("The server names no models.", "Type the name of one.")
    began = time.monotonic()
    ask(server, model, seconds)
    return Tested(model, time.monotonic() - began, models)


def ask(server: Server, model: str, seconds: float = TEST_SECONDS) -> None:
    """Have one word said. Raises ModelError."""
    question = {
        "role": "user",
        "content": [{"type": "text", "text": "Answer with the one word: ready"}],
    }
    request = ModelRequest(model, "Be brief.", (), [question], max_tokens=8, profile="basic")
    over = threading.Event()
    alarm = threading.Timer(seconds, over.set)
    alarm.daemon = True
    alarm.start()
    try:
        server.turn(request, lambda _event: None, over)
    except RunError as e:
        raise _too_slow(seconds) from e
    finally:
        alarm.cancel()


def within(seconds: float, act: Callable[[], T]) -> T:
    """What `act` returns or raises; after so many seconds nobody waits for it any more. Raises
    ModelError then."""
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(act())
        except BaseException as e:  # noqa: BLE001 - raised again by the thread that waits
            failed.append(e)

    thread = threading.Thread(target=work, name="model-server", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise _too_slow(seconds)
    return done[0]


def _too_slow(seconds: float) -> ModelError:
    return ModelError(
        f"The model server did not answer within {seconds:g} seconds.",
        "A server that has just started may still be loading the model: try again in a minute.",
        retryable=True,
    )
