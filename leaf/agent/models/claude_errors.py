"""What goes wrong with a model server, in one clear sentence each, and what to do about it."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from leaf.agent.models import openai_only, wire
from leaf.agent.models.base import TooLongError, TurnCutError
from leaf.agent.models.reach import InnerAddressError
from leaf.errors import ModelError
from leaf.retries import retry_after

if TYPE_CHECKING:
    import anthropic
    import httpx2

ANTHROPIC = "https://api.anthropic.com"
_AGAIN = "Wait a minute, then ask again."


class ErrorTranslator:
    """Says what the SDK, the connection or the server at one address means. Safe to use from any
    number of threads."""

    def __init__(
        self,
        url: str,
        api_key: str,
        stall_seconds: float,
        client_of: Callable[..., httpx2.Client],
        *,
        own: bool = False,
    ) -> None:
        """`client_of` makes the HTTP client that may be used to look closer; `own` says that the
        connection was made on the settings page, not by the environment."""
        self._url = url
        self._api_key = api_key
        self._stall_seconds = stall_seconds
        self._client_of = client_of
        self._own = own

    def place(self) -> str:
        """The server's address without what may be secret in it."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def translate(self, error: Exception, model: str, *, began: bool) -> ModelError:
        """One clear sentence for what the SDK or the connection threw, and what to do. It never
        holds the key, also where the server said it."""
        failure = self._translate(error, model, began=began)
        if len(self._api_key) > 3 and self._api_key in failure.message:
            failure.message = failure.message.replace(self._api_key, "(the key)")
            failure.args = (failure.message, failure.hint)
        return failure

    def _translate(self, error: Exception, model: str, *, began: bool) -> ModelError:
        import anthropic
        import httpx2

        place = self.place()
        if isinstance(error, anthropic.APIStatusError):
            return self._translate_status(error, model)
        if isinstance(error, wire.BrokenOffError):
            return _translate_event(error)
        if isinstance(error, wire.NotMessagesError) and _too_long(error.said):
            return _longer(error.said)
        if isinstance(error, wire.NotMessagesError) and not began:
            return self._no_messages_api(error.said, openai=error.openai)
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            kind = TurnCutError if began else ModelError
            return kind(
                f"The model server at {place} sent nothing for {self._stall_seconds:g} seconds.",
                "Ask again.",
                retryable=True,
            )
        if isinstance(error, anthropic.APIConnectionError):
            if cause := self._why_unreached(error):
                return cause
            return ModelError(
                f"The model server at {place} cannot be reached.",
                self._where_to_look(),
                retryable=True,
            )
        if isinstance(error, httpx2.HTTPError):
            return TurnCutError(
                "The connection to the model was cut in the middle of the answer.",
                "Ask again.",
                retryable=True,
            )
        if began:
            words = error.said if isinstance(error, wire.NotMessagesError) else ""
            return TurnCutError(f"The model server at {place} {_foreign(words)}", "Ask again.")
        return self._no_messages_api("", openai=False)

    def _why_unreached(self, error: Exception) -> ModelError | None:
        """What kept the connection from being made, where more can be said than that there is
        none."""
        host = urlsplit(self._url).hostname or ""
        for cause in _causes(error):
            if isinstance(cause, InnerAddressError):
                return ModelError(cause.message, cause.hint)
            if isinstance(cause, socket.gaierror):
                return ModelError(
                    f"There is no host named {host}, or its name cannot be looked up just now.",
                    self._where_to_look(),
                    retryable=True,
                )
            if isinstance(cause, ssl.SSLCertVerificationError):
                why = str(cause.verify_message).rstrip(".")
                return ModelError(
                    f"The certificate of {host} is not trusted: {why}.",
                    "Check the address; a certificate of an authority of your own is trusted with "
                    "SSL_CERT_FILE.",
                )
            if isinstance(cause, ssl.SSLError):
                return ModelError(
                    f"The server at {self.place()} does not speak HTTPS.",
                    "Try the address with http://, or check its port.",
                )
        return None

    def _no_messages_api(
        self, words: str, *, openai: bool, status: int | None = None
    ) -> ModelError:
        """What answers there is something else: a server of OpenAI's API alone, which is named, or
        anything."""
        place, mark = self.place(), f" ({status})" if status else ""
        if openai or (
            self._url != ANTHROPIC
            and openai_only.speaks_openai(self._url, self._api_key, self._client_of)
        ):
            text = (
                f"The server at {place} speaks only OpenAI's API{mark}, and Leaf needs one "
                f"that speaks the Messages API."
            )
            return ModelError(text, openai_only.what_to_do(own=self._own), status=status)
        if status:
            return ModelError(
                f"There is no Messages API at {place}{mark}.", self._where_to_look(), status=status
            )
        return ModelError(f"The model server at {place} {_foreign(words)}", self._where_to_look())

    def _translate_status(self, error: anthropic.APIStatusError, model: str) -> ModelError:
        status, place, words = error.status_code, self.place(), words_of(error)
        if status == 401:
            return ModelError(
                f"The model server at {place} refused the key (401).",
                "Check the key in the settings." if self._own else "Check ANTHROPIC_API_KEY.",
                status=status,
            )
        if status == 403:
            return ModelError(
                f"The key may not use this model or server (403): {words}.",
                "Choose another model.",
                status=status,
            )
        if status == 404 and model and _is_about_model(error, words, model):
            hint = "Choose another in the settings" + ("." if self._own else ", or set LEAF_MODEL.")
            return ModelError(
                f"The model server at {place} has no model '{model}' (404).", hint, status=status
            )
        if status in (404, 405, 501) or (status in (400, 422) and openai_only.is_about_path(words)):
            return self._no_messages_api(words, openai=False, status=status)
        if status == 413 or (status in (400, 422) and _too_long(words)):
            return _longer(words, status)
        if status == 402 or "credit balance" in words.lower():
            hint = "Top it up, or use another key."
            return ModelError(
                f"The account of this key has no credit left ({status}).", hint, status=status
            )
        if 300 <= status < 400:
            return ModelError(
                f"The server at {place} sends on to another address ({status}), which is not "
                "followed.",
                "Give the address to which it leads.",
                status=status,
            )
        reason = words or "no reason given"
        if status == 429 or status >= 500:
            text = f"The model server failed ({status}): {reason}."
            if status == 429:
                text = "The model server takes no more requests for now (429)."
            elif status in (503, 529):
                text = f"The model is overloaded ({status})."
            return ModelError(
                text,
                _AGAIN,
                retryable=True,
                status=status,
                wait=retry_after(error.response.headers),
            )
        return ModelError(
            f"The model server rejected the request ({status}): {reason}.", status=status
        )

    def _where_to_look(self) -> str:
        if self._url == ANTHROPIC:
            return "Check the connection to the internet, then ask again."
        what = "the address in the settings" if self._own else "LEAF_MODEL_URL"
        return f"Check that it runs there and that {what} is right."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it, the last first."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        yield cause
        cause = cause.__cause__ or cause.__context__


def _translate_event(error: wire.BrokenOffError) -> ModelError:
    """An error in place of an answer, or of the rest of one. Overload and inner faults may pass; a
    refused request will not."""
    if _too_long(error.said):
        return _longer(error.said)
    if error.kind in (
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "billing_error",
        "not_found_error",
    ):
        return ModelError(
            f"The model server broke the answer off: {error.said or 'no reason given'}."
        )
    reason = (
        "it is overloaded" if error.kind == "overloaded_error" else error.said or "no reason given"
    )
    return TurnCutError(f"The model server broke the answer off: {reason}.", _AGAIN, retryable=True)


def _foreign(words: str) -> str:
    return "sent something that is not a Messages API stream" + (f": {words}." if words else ".")


def _is_about_model(error: anthropic.APIStatusError, words: str, model: str) -> bool:
    """Whether a 404 means the model. Of the servers that do not use the Messages API's own form, it
    names it."""
    body = error.body if isinstance(error.body, dict) else {}
    own = body.get("type") == "error" and not openai_only.is_about_path(words)
    return bool(words) and (
        own or model in words or ("model" in words.lower() and not openai_only.is_about_path(words))
    )


def words_of(error: anthropic.APIStatusError) -> str:
    """The server's own words, at most 300 characters; empty where the body is no JSON, which is a
    page for browsers."""
    body = error.body if isinstance(error.body, dict) else {}
    return wire.words(body.get("error") or body.get("detail") or body)


_TOO_LONG = (
    "too long",
    "context window",
    "context length",
    "context limit",
    "context size",
    "maximum context",
    "maximum model length",
    "exceeds the max",
)
_COUNTED = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<tokens>\d+) tokens > (?P<most>\d+)",
        r"(?P<tokens>\d+) \+ (?P<answer>\d+) > (?P<most>\d+)",
        r"\((?P<tokens>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)",
        r"context length is (?P<most>\d+) tokens.*?\((?P<tokens>\d+) in the messages, "
        r"(?P<answer>\d+) in the completion",
        r"context length is (?P<most>\d+) tokens.*? (?P<tokens>\d+) (?:input )?tokens",
    )
)
"""How servers name their own count and their limit, with what was left for the answer where that
is taken off it: Anthropic's, llama.cpp's, vLLM's."""


def _too_long(words: str) -> bool:
    return any(phrase in words.lower() for phrase in _TOO_LONG)


def _longer(words: str, status: int | None = None) -> TooLongError:
    mark = f" ({status})" if status else ""
    tokens, most = _figures(words)
    return TooLongError(
        f"The question with its history is longer than the model can take{mark}.",
        "Start a new chat, or ask with fewer files.",
        status=status,
        tokens=tokens,
        most=most,
    )


def _figures(words: str) -> tuple[int, int]:
    """The server's own count and its limit, where it names them: `prompt is too long: 1200000
    tokens > 1000000 maximum`. A limit that is all for the answer is none."""
    for pattern in _COUNTED:
        if match := pattern.search(words):
            figures = {name: int(value or 0) for name, value in match.groupdict().items()}
            most = figures["most"] - figures.get("answer", 0)
            return (figures["tokens"], most) if 0 < most < figures["tokens"] else (0, 0)
    return 0, 0
