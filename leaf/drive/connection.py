"""The kept connection of a user, its state, and the credentials made from it."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leaf.drive.failures import RECONNECT
from leaf.drive.model import DriveConnection
from leaf.errors import DriveNotConnectedError, SettingsError
from leaf.settings import Google
from leaf.store import drive_files, integrations
from leaf.store.database import Database
from leaf.store.integrations import Integration
from leaf.store.model import Json, Scope
from leaf.store.vault import SealedError, Vault

PROVIDER = "google-drive"
SCOPES = ("https://www.googleapis.com/auth/drive.readonly",)
UNCONFIGURED = "No Google client is configured, so Drive cannot be connected."
CONFIGURE = (
    "Set LEAF_GOOGLE_CLIENT_ID and LEAF_GOOGLE_CLIENT_SECRET; docs/drive.md shows how to get them."
)
MOST_KEPT = 500
"""Credentials held in memory; beyond, the one used longest ago is opened again when needed."""


@dataclass(frozen=True)
class DriveAccess:
    """What a client acts with."""

    key: str
    """The same for the same connection."""
    credentials: Any
    granted_at: datetime | None
    last_refresh: Callable[[], datetime | None]
    fail: Callable[[str, str, str], None]
    """Says of the connection why it does not work: why, hint, reason."""
    works: Callable[[], None]
    """Says that it does after all."""


class Connections:
    """Of all users. Safe to share between threads."""

    def __init__(self, google: Google, db: Database, vault: Vault) -> None:
        self._google = google
        self._db = db
        self._vault = vault
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._service: Any = None
        self._guard = threading.Lock()

    def state(self, scope: Scope) -> DriveConnection:
        """As the settings page shows it. Asks nothing of Google."""
        row = integrations.get(self._db, scope, PROVIDER)
        if row is None and self._google.service_account:
            return DriveConnection(
                "connected",
                str(json.loads(self._google.service_account)["client_email"]),
                kind="service",
            )
        if row is None and not self._google.has_client:
            return DriveConnection("unconfigured", why=UNCONFIGURED, hint=CONFIGURE)
        if row is None:
            return DriveConnection("absent", hint="Connect Google Drive on the settings page.")
        if why := str(row.state.get("why", "")):
            failed = row.state.get("since")
            since = datetime.fromisoformat(failed) if failed else row.created_at
            hint, ended = str(row.state.get("hint", "")), bool(row.state.get("ended"))
            return DriveConnection("error", row.account, why, hint, since, ended=ended)
        return DriveConnection("connected", row.account, since=row.created_at)

    def save(self, scope: Scope, account: str, token: Json, state: Json) -> None:
        """Keep a new connection in place of the old one."""
        drive_files.forget(self._db, scope)
        integrations.put(self._db, scope, PROVIDER, account, self._vault.seal(scope, token), state)

    def delete(self, scope: Scope) -> str:
        """Forget the connection; returns the token to be revoked, empty if there is none that can
        be opened."""
        row = integrations.get(self._db, scope, PROVIDER)
        integrations.delete(self._db, scope, PROVIDER)
        drive_files.forget(self._db, scope)
        if row is None:
            return ""
        with self._guard:
            self._kept.pop(row.id, None)
        try:
            token, _ = self._vault.open(scope, row.secret)
        except SealedError:
            return ""
        return str(token.get("refresh_token") or token.get("token") or "")

    def open(self, scope: Scope) -> DriveAccess:
        """What to act with. Raises DriveNotConnectedError."""
        row = integrations.get(self._db, scope, PROVIDER)
        if row is None:
            return self._service_access()
        if row.state.get("ended"):
            raise DriveNotConnectedError(
                str(row.state["why"]),
                str(row.state.get("hint", "")),
                reason=str(row.state["ended"]),
            )
        with self._guard:
            credentials = self._kept.get(row.id)
            if credentials is None:
                credentials = self._kept[row.id] = self._open_row(scope, row)
            self._kept.move_to_end(row.id)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._access(scope, row, credentials)

    def _access(self, scope: Scope, row: Integration, credentials: Any) -> DriveAccess:
        failing = threading.Event()
        if row.state.get("why"):
            failing.set()

        def fail(why: str, hint: str, ended: str) -> None:
            failing.set()
            state = {
                "why": why,
                "hint": hint,
                "since": datetime.now(UTC).isoformat(),
                **({"ended": ended} if ended else {}),
            }
            integrations.set_state(self._db, scope, row.id, state)

        def works() -> None:
            if failing.is_set():
                failing.clear()
                integrations.set_state(self._db, scope, row.id, {})

        def last_refresh() -> datetime | None:
            newest = integrations.get(self._db, scope, PROVIDER)
            return newest.updated_at if newest else None

        return DriveAccess(row.id, credentials, row.created_at, last_refresh, fail, works)

    def _open_row(self, scope: Scope, row: Integration) -> Any:
        try:
            token, old_key = self._vault.open(scope, row.secret)
        except SealedError as e:
            raise DriveNotConnectedError(e.message, e.hint, reason="sealed") from e
        if old_key:
            integrations.set_secret(self._db, scope, row.id, self._vault.seal(scope, token))

        def save(fresh: Json) -> None:
            integrations.set_secret(self._db, scope, row.id, self._vault.seal(scope, fresh))

        return user_credentials(self._google, token, save)

    def _service_access(self) -> DriveAccess:
        if not self._google.service_account:
            if not self._google.has_client:
                raise DriveNotConnectedError(UNCONFIGURED, CONFIGURE, reason="unconfigured")
            raise DriveNotConnectedError(
                "Google Drive is not connected.", "The user can connect it on the settings page."
            )
        with self._guard:
            if self._service is None:
                self._service = _service_credentials(self._google)
        return DriveAccess(
            "service", self._service, None, lambda: None, lambda *_: None, lambda: None
        )


def user_credentials(google: Google, token: Json, save: Callable[[Json], None]) -> Any:
    """Google's credentials of a kept token. They refresh themselves, one thread at a time, and hand
    each new token to `save`."""
    from google.oauth2.credentials import Credentials

    refreshing = threading.Lock()

    class SavingCredentials(Credentials):
        def refresh(self, request: Any) -> None:
            seen = self.token
            with refreshing:
                if self.token != seen and self.valid:
                    return  # another thread has done it meanwhile
                super().refresh(request)  # type: ignore[no-untyped-call]  # google-auth is not typed
                save(token_of(self))

    return SavingCredentials(  # type: ignore[no-untyped-call]  # google-auth is not typed
        token["token"],
        refresh_token=token["refresh_token"],
        token_uri=google.token_url,
        client_id=google.client_id,
        client_secret=google.client_secret,
        scopes=list(SCOPES),
        expiry=datetime.fromisoformat(token["expiry"]) if token.get("expiry") else None,
    )


def token_of(credentials: Any) -> Json:
    """What must be kept of credentials; expiry is UTC without a zone, as google-auth has it."""
    return {
        "token": credentials.token,
        "refresh_token": credentials.refresh_token,
        "expiry": credentials.expiry.isoformat() if credentials.expiry else "",
    }


def _service_credentials(google: Google) -> Any:
    from google.oauth2 import service_account

    try:
        info = json.loads(google.service_account)
        return service_account.Credentials.from_service_account_info(
            {"token_uri": google.token_url, **info}, scopes=list(SCOPES)
        )
    except ValueError as e:
        raise SettingsError(
            "LEAF_GOOGLE_SERVICE_ACCOUNT is not a usable key.",
            "Make a new key in Google's console.",
        ) from e


__all__ = [
    "PROVIDER",
    "RECONNECT",
    "SCOPES",
    "Connections",
    "DriveAccess",
    "token_of",
    "user_credentials",
]
