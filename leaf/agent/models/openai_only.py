"""Whether a server without the Messages API is one of OpenAI's API, so that a person can be told
what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from leaf.agent.models.reach import InnerAddressError

if TYPE_CHECKING:
    import httpx2

SECONDS = 4.0
IN_FRONT = (
    "Newer versions of Ollama, LM Studio, llama.cpp and vLLM offer /v1/messages themselves; in "
    "front of any other server put a "
    "gateway that translates, such as LiteLLM, and "
)
_ABOUT_PATH = (
    "endpoint",
    "invalid url",
    "unknown url",
    "no route",
    "unsupported path",
    "unknown path",
    "unknown request url",
)


def what_to_do(*, own: bool) -> str:
    """With a connection of the environment, or with a person's own."""
    return IN_FRONT + (
        "give the gateway's address." if own else "set LEAF_MODEL_URL to the gateway's address."
    )


def is_about_path(said: str) -> bool:
    """Whether a server's words blame the address that was asked, not the question: LM Studio says
    so with status 200."""
    return "/messages" in said or any(phrase in said.lower() for phrase in _ABOUT_PATH)


def speaks_openai(base: str, key: str, client_of: Callable[..., httpx2.Client]) -> bool:
    """Whether the server lists models, or refuses an empty chat, in OpenAI's way. Costs nothing
    there."""
    import httpx2

    headers = {"authorization": f"Bearer {key or 'no-key'}"}
    with client_of(timeout=SECONDS, headers=headers) as client:
        for version in ("/v1", ""):
            try:
                listed = client.get(f"{base}{version}/models")
                if listed.status_code == 200 and _lists_models(_json(listed)):
                    return True
                refused = client.post(
                    f"{base}{version}/chat/completions", json={"model": "", "messages": []}
                )
            except (httpx2.HTTPError, httpx2.InvalidURL, InnerAddressError):
                return False
            if refused.status_code not in (404, 405, 501) and _is_openai_error(_json(refused)):
                return True
    return False


def _json(response: Any) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _lists_models(answer: Any) -> bool:
    data = answer.get("data") if isinstance(answer, dict) else None
    first = data[0] if isinstance(data, list) and data else {}
    return isinstance(answer, dict) and (
        answer.get("object") == "list"
        or (isinstance(first, dict) and first.get("object") == "model")
    )


def _is_openai_error(answer: Any) -> bool:
    """An error without the Messages API's own mark, and not about the address."""
    if not isinstance(answer, dict) or answer.get("type") == "error":
        return False
    error = (
        answer.get("error")
        or answer.get("detail")
        or (answer if answer.get("object") == "error" else None)
    )
    message = str(error.get("message") or "") if isinstance(error, dict) else str(error or "")
    return bool(error) and not is_about_path(message)
