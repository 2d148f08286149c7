"""Consent at Google and its return: state used once and bound to the user, PKCE, a lasting
permission to read."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from leaf.drive.connection import CONFIGURE, PROVIDER, SCOPES, UNCONFIGURED
from leaf.drive.failures import unreachable
from leaf.errors import DriveError, InvalidInputError, LeafError, SettingsError
from leaf.settings import Google
from leaf.store import oauth_states
from leaf.store.database import Database
from leaf.store.model import Json, Scope
from leaf.store.vault import SealedError, Vault

LIFETIME = timedelta(minutes=10)
TIMEOUT = 30.0
AGAIN = "Begin again on the settings page."
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Consent:
    """The way to Google and back."""

    def __init__(self, google: Google, db: Database, vault: Vault) -> None:
        self._google = google
        self._db = db
        self._vault = vault

    def begin(self, scope: Scope, redirect_uri: str) -> str:
        """Where to send the browser. Raises SettingsError without a client, InvalidInputError for
        an unsafe way back."""
        if not self._google.has_client:
            raise SettingsError(UNCONFIGURED, CONFIGURE)
        parts = urlsplit(redirect_uri)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise InvalidInputError(
                "Google sends users back only over https, or to localhost.",
                "Serve Leaf over https.",
            )
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(72)
        flow = self._flow(redirect_uri, verifier)
        ciphertext = self._vault.seal(scope, {"verifier": verifier, "redirect_uri": redirect_uri})
        oauth_states.add(self._db, scope, PROVIDER, _hashed(state), ciphertext, LIFETIME)
        url, _ = flow.authorization_url(access_type="offline", prompt="consent", state=state)
        return str(url)

    def finish(self, scope: Scope, query: Mapping[str, str]) -> Any:
        """Google's credentials for what came back. Raises InvalidInputError, DriveError, each with
        one sentence."""
        ciphertext = oauth_states.take(
            self._db, scope, PROVIDER, _hashed(str(query.get("state", "")))
        )
        if ciphertext is None:
            text = (
                "This attempt to connect was used already, is older than ten minutes, or was "
                "begun by someone else."
            )
            raise InvalidInputError(text, AGAIN)
        if error := str(query.get("error", "")):
            raise _refused(error)
        if not (code := str(query.get("code", ""))):
            raise InvalidInputError(
                "Google sent nothing back that could be used: the code is missing.", AGAIN
            )
        try:
            opened, _ = self._vault.open(scope, ciphertext)
        except SealedError as e:
            raise InvalidInputError(
                "The key that protects this attempt was changed meanwhile.", AGAIN
            ) from e
        return self._exchange(self._flow(opened["redirect_uri"], opened["verifier"]), code)

    def revoke(self, token: str) -> bool:
        """Give a token back; False if Google could not be told."""
        import requests

        try:
            answer = requests.post(self._google.revoke_url, data={"token": token}, timeout=TIMEOUT)
        except requests.RequestException:
            return False
        return answer.status_code in (200, 400)  # 400: Google does not know it any more

    def _exchange(self, flow: Any, code: str) -> Any:
        import requests
        from oauthlib.oauth2 import OAuth2Error

        try:
            flow.fetch_token(code=code, include_client_id=True, timeout=TIMEOUT)
        except OAuth2Error as e:
            raise _explain(e) from e
        except requests.RequestException as e:
            raise unreachable() from e
        except Warning as e:  # oauthlib's word for other scopes than those asked for
            flow.oauth2session.token = e.token  # type: ignore[attr-defined]  # oauthlib hangs it on
        credentials = flow.credentials
        granted = flow.oauth2session.token.get("scope", [])
        if not set(SCOPES) & set(granted.split() if isinstance(granted, str) else granted):
            raise DriveError(
                "Leaf was not allowed to read Google Drive.",
                "Connect again and tick the box for Google Drive.",
            )
        if not credentials.refresh_token:
            raise DriveError(
                "Google gave no lasting permission.",
                "Remove Leaf at myaccount.google.com/permissions, then connect again.",
            )
        return credentials

    def _flow(self, redirect_uri: str, verifier: str) -> Any:
        """Google's flow. The logs of the libraries below it print tokens at DEBUG, so they are kept
        above that."""
        from google_auth_oauthlib.flow import Flow

        for name in ("requests_oauthlib", "oauthlib"):
            logging.getLogger(name).setLevel(logging.INFO)
        client: Json = {
            "client_id": self._google.client_id,
            "client_secret": self._google.client_secret,
            "auth_uri": self._google.auth_url,
            "token_uri": self._google.token_url,
        }
        return Flow.from_client_config(
            {"web": client},
            scopes=list(SCOPES),
            redirect_uri=redirect_uri,
            code_verifier=verifier,
            autogenerate_code_verifier=False,
        )


def _hashed(state: str) -> str:
    """As a state is kept: who reads the table cannot finish what somebody began."""
    return hashlib.sha256(state.encode()).hexdigest()


def _refused(error: str) -> LeafError:
    if error == "access_denied":
        return DriveError(
            "You did not allow access, so Google Drive was not connected.",
            "Connect again to allow it.",
        )
    if error in ("admin_policy_enforced", "org_internal"):
        return DriveError(
            "Your organisation does not let Leaf use Google Drive.", "Ask its administrator."
        )
    known = error if error.replace("_", "").isalpha() and len(error) < 40 else "an unknown error"
    return DriveError(f"Google did not connect the account ({known}).", AGAIN)


def _explain(error: Any) -> LeafError:
    if error.error in ("invalid_client", "unauthorized_client"):
        return SettingsError(
            "Google does not accept LEAF_GOOGLE_CLIENT_ID with LEAF_GOOGLE_CLIENT_SECRET.",
            "Copy both from Google's console.",
        )
    if error.error == "invalid_grant":
        return DriveError("Google's code was used already, or is too old.", AGAIN)
    if error.error == "insecure_transport":
        return SettingsError(
            "LEAF_GOOGLE_TOKEN_URL does not begin with https://.",
            "For a trial on loopback set OAUTHLIB_INSECURE_TRANSPORT=1.",
        )
    return DriveError("Google did not take the code.", AGAIN)
