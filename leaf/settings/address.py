"""The address of a model server, as people paste it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from leaf.errors import SettingsError

_ENDPOINT = re.compile(
    r"(?i)(/v1)?(/messages(/count_tokens)?|/chat/completions|/completions|/responses|/models)?$"
)
"""What people paste behind the base: the version, and an endpoint of the Messages API or of
OpenAI's."""


def model_address(given: str, key: str = "LEAF_MODEL_URL") -> str:
    """The base of a model server's address, to which `/v1/messages` is added; empty for nothing.
    Raises SettingsError.

    Whatever stands behind the base is taken off, so that the address of an endpoint is as good as
    the base itself. The error shows no user, password or query, which may be secret.
    """
    text = given.strip().strip("\"'<>").strip()
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as e:
        raise SettingsError(f"{key} is not an address.", _ADDRESS) from e
    if parts.scheme not in ("http", "https"):
        shown = text.partition("?")[0].rpartition("@")[2]
        raise SettingsError(f"{key} is '{shown}', without http:// or https:// in front.", _ADDRESS)
    place = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}" + (
        f":{port}" if port else ""
    )
    if not host or re.search(r"[\s\x00-\x1f]", text):
        raise SettingsError(f"{key} is not an address.", _ADDRESS)
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    if parts.query or parts.fragment:
        raise SettingsError(
            f"{key} has something behind a ? or # after {place}{path}.",
            "Leave that out; only the address is needed.",
        )
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return place.replace("://", f"://{login}", 1) + _ENDPOINT.sub("", path).rstrip("/")


_ADDRESS = (
    "Give the address of a server that speaks the Messages API, such as http://localhost:11434."
)
