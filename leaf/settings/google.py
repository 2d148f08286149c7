"""How Google Drive is reached, and what the JSON files of Google's console say of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

from leaf.errors import SettingsError
from leaf.settings.keys import Key
from leaf.settings.readers import json_object

GOOGLE_AUTH_URL = "https://accounts.google.com/o/oauth2/auth"
GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token"
GOOGLE_REVOKE_URL = "https://oauth2.googleapis.com/revoke"


def service_account(given: str, key: str) -> str:
    """The account's key as JSON text."""
    account = json_object(given, key)
    if account and not (account.get("client_email") and account.get("private_key")):
        raise SettingsError(
            f"{key} has no client_email or private_key.", "Give the service account's key file."
        )
    return json.dumps(account) if account else ""


def address(given: str, key: str) -> str:
    if given and urlsplit(given).scheme not in ("http", "https"):
        raise SettingsError(f"{key} is '{given}'.", "Give an address that begins with https://.")
    return given


@dataclass(frozen=True)
class Google:
    """How Google Drive is reached."""

    client_id: Annotated[str, Key("LEAF_GOOGLE_CLIENT_ID")] = ""
    client_secret: Annotated[
        str, Key("LEAF_GOOGLE_CLIENT_SECRET", also=("LEAF_GOOGLE_CLIENT_JSON",))
    ] = field(default="", repr=False)
    service_account: Annotated[str, Key("LEAF_GOOGLE_SERVICE_ACCOUNT", service_account)] = field(
        default="", repr=False
    )
    """Key of a service account as JSON; every user then sees what was shared with it."""
    api_url: Annotated[str, Key("LEAF_GOOGLE_API_URL", address)] = ""
    """Address of another Drive API, such as `http://127.0.0.1:9000/drive/v3/`; empty means
    Google's."""
    auth_url: Annotated[str, Key("LEAF_GOOGLE_AUTH_URL", address)] = GOOGLE_AUTH_URL
    token_url: Annotated[str, Key("LEAF_GOOGLE_TOKEN_URL", address)] = GOOGLE_TOKEN_URL
    revoke_url: Annotated[str, Key("LEAF_GOOGLE_REVOKE_URL", address)] = GOOGLE_REVOKE_URL

    @property
    def has_client(self) -> bool:
        """Whether users can connect a Drive of their own."""
        return bool(self.client_id and self.client_secret)


def said_by_client(client: Mapping[str, Any]) -> dict[str, str]:
    """What the JSON of an OAuth client says, by the keys that would say it singly; those win over
    it."""
    client = client.get("web") or client.get("installed") or client
    field_of = {
        "LEAF_GOOGLE_CLIENT_ID": "client_id",
        "LEAF_GOOGLE_CLIENT_SECRET": "client_secret",
        "LEAF_GOOGLE_AUTH_URL": "auth_uri",
        "LEAF_GOOGLE_TOKEN_URL": "token_uri",
    }
    return {key: str(client[name]) for key, name in field_of.items() if client.get(name)}
