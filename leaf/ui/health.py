"""What programs that watch over Leaf ask: whether the process lives, whether it can work, and how
much it does. Nobody's content, names or ids are in it.

    /healthz   200 while the process answers at all
    /readyz    200 where questions can be taken; else 503, which parts are not well, and why
    /metrics   Prometheus' text, for whoever sends LEAF_METRICS_TOKEN; 404 where none is set
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from leaf.errors import LeafError, public_reason
from leaf.ui import state

PATIENCE = 3.0
"""Seconds after which a part that does not answer counts as not well."""
REMEMBERED = 1.0
"""Seconds for which an answer holds: whoever asks often makes no more work."""
QUIET = {"cache-control": "no-store"}


def health_routes(
    base: str = "", answer: Callable[[], Mapping[str, str]] | None = None
) -> list[Route]:
    """Their routes, below the path `base`. `answer` gives each part that is looked at, and what
    is wrong with it; empty where it is well."""
    look = _Readiness(answer or _parts)

    async def alive(_: Request) -> Response:
        return PlainTextResponse("ok", headers=QUIET)

    async def ready(_: Request) -> Response:
        why = {name: wrong for name, wrong in sorted((await look()).items()) if wrong}
        body: dict[str, object] = {"ready": not why, "not_well": list(why)}
        return JSONResponse(body | ({"why": why} if why else {}), 503 if why else 200, QUIET)

    return [
        Route(f"{base}/healthz", alive),
        Route(f"{base}/readyz", ready),
        Route(f"{base}/metrics", _metrics),
    ]


class _Readiness:
    """Looks at the parts, one look at a time."""

    def __init__(self, answer: Callable[[], Mapping[str, str]]) -> None:
        self._answer = answer
        self._known: tuple[float, Mapping[str, str]] | None = None
        self._looking: asyncio.Task[Mapping[str, str]] | None = None

    async def __call__(self) -> Mapping[str, str]:
        if self._known and time.monotonic() - self._known[0] < REMEMBERED:
            return self._known[1]
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(asyncio.to_thread(self._answer))
        try:
            parts = await asyncio.wait_for(asyncio.shield(self._looking), PATIENCE)
        except TimeoutError:
            return {"answers in time": "It takes too long."}
        self._known = time.monotonic(), parts
        return parts


def _parts() -> Mapping[str, str]:
    try:
        return state.built().parts()
    except LeafError as e:
        return {"start": public_reason(e)}


async def _metrics(request: Request) -> Response:
    try:
        wanted = (await asyncio.to_thread(state.built)).settings.metrics_token
    except LeafError:
        return PlainTextResponse("Leaf is not ready.", 503, QUIET)
    if not wanted:
        return PlainTextResponse("There are no metrics here.", 404, QUIET)
    authorization = request.headers.get("authorization", "")
    if not hmac.compare_digest(authorization.encode(), f"Bearer {wanted}".encode()):
        return PlainTextResponse(
            "Send LEAF_METRICS_TOKEN as the bearer token.",
            401,
            {**QUIET, "www-authenticate": "Bearer"},
        )
    text = await asyncio.to_thread(_collected)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8", headers=QUIET)


def _collected() -> bytes:
    return state.metrics().text(_now())


def _now() -> Mapping[str, float]:
    from streamlit.runtime import Runtime

    load, live = state.built().load(), state.live()
    return {
        "answers_running": load.running,
        "answers_waiting": load.waiting,
        "answers_for_room": state.built().for_room(),
        "viewers_connected": live.door.connections,
        "viewers_polling": live.polled,
        "viewers_refused": sum(live.door.refused.values()),
        "viewers_elsewhere": live.door.refused["elsewhere"],
        "tabs_open": Runtime.instance()._session_mgr.num_active_sessions(),  # noqa: SLF001 - tests/test_health.py names it
    }
