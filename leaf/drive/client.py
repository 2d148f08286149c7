"""Calls to Drive: one HTTP client per thread, tries with growing waits that honour Retry-After,
errors in plain words."""

from __future__ import annotations

import http.client
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from leaf.drive.connection import DriveAccess
from leaf.drive.failures import (
    DriveFailure,
    explain,
    explain_refresh,
    is_retryable,
    passes,
    retry_after,
    unreachable,
)
from leaf.errors import DriveError, DriveNotConnectedError, FileTooLargeError
from leaf.retries import Again, Waits, retry

T = TypeVar("T")
TIMEOUT = 60.0
"""Seconds without a byte."""
PIECE = 8 * 1024 * 1024
"""Bytes of a download asked for at a time; no more is in memory."""
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try, where Google does not say."""
LONGEST_WAIT = 60.0
"""A Retry-After beyond this is told instead of waited for."""
_TRUSTED = (".google.com", ".googleapis.com", ".googleusercontent.com")


class ByteSink(Protocol):
    """Where bytes go."""

    def write(self, content: bytes, /) -> int: ...


@cache
def _resource(api_url: str) -> Any:
    """The methods of Drive v3 from the description that comes with the library. Makes requests,
    sends none."""
    import httplib2
    from googleapiclient.discovery import build

    options = {"api_endpoint": api_url} if api_url else None
    return build(
        "drive",
        "v3",
        http=httplib2.Http(),
        static_discovery=True,
        cache_discovery=False,
        client_options=options,
    )


class Client:
    """Drive on behalf of one connection. Safe to share between threads."""

    def __init__(
        self, access: DriveAccess, api_url: str, *, waits: Sequence[float] = WAITS
    ) -> None:
        self.access = access
        self._api_url = api_url
        self._waits = tuple(waits)
        self._thread = threading.local()

    def ask(
        self,
        make: Callable[[Any], Any],
        name: str = "It",
        *,
        keys: Sequence[str] = (),
        stop: threading.Event | None = None,
    ) -> Any:
        """The answer to a request, made by `make` from Drive's resource. `keys` are `id/key` pairs
        of older links.

        Raises NotFoundError, DriveError, DriveNotConnectedError; RunError after `stop`.
        """
        request = make(_resource(self._api_url))
        if keys:
            request.headers["X-Goog-Drive-Resource-Keys"] = ",".join(keys)
        return self.tries(lambda http_client: request.execute(http=http_client), name, stop)

    def download(
        self,
        uri: str,
        out: ByteSink,
        name: str,
        *,
        limit: int,
        resume: bool = True,
        keys: Sequence[str] = (),
        on_progress: Callable[[int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> int:
        """Write what an address gives, piece by piece; a broken connection goes on where it broke.
        Returns the bytes written.

        `resume` within a piece only where the caller can check the whole afterwards: half an answer
        does not say what it was. Raises what `ask` raises, and FileTooLargeError.
        """
        self._check_host(uri)
        headers = {
            "accept-encoding": "identity",
            **({"X-Goog-Drive-Resource-Keys": ",".join(keys)} if keys else {}),
        }
        at, total = 0, -1
        while at != total:
            piece = self.tries(partial(_piece, uri, headers, at, resume), name, stop)
            out.write(piece.content)
            at += len(piece.content)
            total = piece.total if piece.total is not None else total
            if max(at, total) > limit:
                raise too_large(name, max(at, total), limit)
            if on_progress is not None:
                on_progress(at)
        return at

    def media_uri(self, make: Callable[[Any], Any]) -> str:
        """The address of a media request."""
        return str(make(_resource(self._api_url)).uri)

    def tries(
        self, attempt: Callable[[Any], T], name: str, stop: threading.Event | None = None
    ) -> T:
        """The value of an attempt, made again where that can help."""
        from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
        from googleapiclient.errors import HttpError
        from httplib2 import HttpLib2Error

        def again(e: Exception) -> Again | None:
            if isinstance(e, HttpError):
                asked = retry_after(e)
                return Again(asked) if is_retryable(e) and (asked or 0) <= LONGEST_WAIT else None
            if isinstance(e, RefreshError):
                return Again() if passes(e) else None
            if not isinstance(e, broken):
                return None
            self._thread.http = None  # its connection may hold half an answer
            return Again()

        broken = (TransportError, HttpLib2Error, OSError, http.client.HTTPException)
        waits = Waits(wait * random.uniform(0.5, 1.0) for wait in self._waits)
        try:
            value = retry(lambda: attempt(self._http()), again, waits, stop=stop)
        except HttpError as e:
            raise self._told(explain(e, name)) from e
        except RefreshError as e:
            raise self._told(
                explain_refresh(e, self.access.granted_at, self.access.last_refresh())
            ) from e
        except broken as e:
            raise unreachable() from e
        except GoogleAuthError as e:
            raise DriveNotConnectedError(
                "The Drive connection is not usable.", "Connect again.", reason="revoked"
            ) from e
        self.access.works()
        return value

    def _told(self, failure: DriveFailure) -> Exception:
        """The error to raise; one that ends the connection is kept with it, so that the settings
        page can say why."""
        if failure.ends:
            ended = (
                getattr(failure.error, "reason", "")
                if isinstance(failure.error, DriveNotConnectedError)
                else ""
            )
            self.access.fail(failure.error.message, failure.error.hint, ended)
        return failure.error

    def _http(self) -> Any:
        """This thread's own client: httplib2 is not safe to share. A refused token is refreshed
        once."""
        client = getattr(self._thread, "http", None)
        if client is None:
            import httplib2
            from google_auth_httplib2 import AuthorizedHttp

            client = AuthorizedHttp(
                self.access.credentials, http=httplib2.Http(timeout=TIMEOUT), max_refresh_attempts=1
            )
            self._thread.http = client
        return client

    def _check_host(self, uri: str) -> None:
        """The token goes to Google, or to the server that the settings name, and nowhere else."""
        parts = urlsplit(uri)
        google = parts.scheme == "https" and f".{parts.hostname}".endswith(_TRUSTED)
        own = self._api_url and (parts.scheme, parts.netloc) == urlsplit(self._api_url)[:2]
        if not google and not own:
            raise DriveError(
                "Google gave an address for the download that is not its own.",
                "Download it by hand and upload it.",
            )


@dataclass(frozen=True)
class _ByteRange:
    content: bytes
    total: int | None
    """Bytes of the whole; None while that is not known."""


def _piece(uri: str, headers: dict[str, str], at: int, resume: bool, client: Any) -> _ByteRange:
    """The next bytes. What came before a cut is kept, so that the next request begins there."""
    from googleapiclient.errors import HttpError

    try:
        response, content = client.request(
            uri, headers={**headers, "range": f"bytes={at}-{at + PIECE - 1}"}
        )
    except http.client.IncompleteRead as e:
        if not e.partial or not resume:
            raise
        return _ByteRange(e.partial, None)
    if response.status == 206:
        total = str(response.get("content-range", "")).rpartition("/")[2]
        return _ByteRange(content, int(total) if total.isdigit() else None)
    if response.status == 200 and at == 0:
        return _ByteRange(content, len(content))
    if response.status == 416 and at == int(
        str(response.get("content-range", "/0")).rpartition("/")[2] or 0
    ):
        return _ByteRange(b"", at)
    raise HttpError(response, content, uri=uri)


def too_large(name: str, size: int, limit: int) -> FileTooLargeError:
    """Said before a byte comes down, where the size is known."""
    return FileTooLargeError(
        f"{name} is {size / 1e9:,.1f} GB, and at most {limit / 1e9:,.1f} GB is taken."
        if size >= 1e9
        else f"{name} is larger than {limit / 1e6:,.0f} MB, the most that is taken.",
        "Take a part of it, or raise LEAF_MAX_UPLOAD_MB.",
    )
