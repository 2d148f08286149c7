"""Connecting Google Drive, keeping the connection, and losing it, through Google's own clients
against a server on loopback."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from leaf.errors import (
    DriveError,
    DriveNotConnectedError,
    InvalidInputError,
    LeafError,
    SettingsError,
)
from leaf.settings import load
from leaf.store import integrations
from leaf.store.model import Scope
from leaf.store.vault import SealedError, Vault
from tests.drive_kit import REDIRECT, World, connect, world
from tests.drive_server import ANA, BEN, Fault

PROVIDER = "google-drive"


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """oauthlib refuses http, which is what loopback speaks."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, connected=False) as made:
        yield made


def tokens(w: World) -> list[str]:
    return [*w.google.access, *w.google.refresh]


def test_a_consent_connects_the_account_that_gave_it(fresh: World) -> None:
    assert fresh.drive.connection(fresh.ana).state == "absent"
    url = fresh.drive.begin(fresh.ana, REDIRECT)
    for part in (
        "access_type=offline",
        "prompt=consent",
        "code_challenge_method=S256",
        "drive.readonly",
    ):
        assert part in url
    state = fresh.drive.finish(fresh.ana, fresh.google.consent(url))
    assert (state.state, state.account, state.kind) == ("connected", ANA, "user")
    assert state.since is not None
    assert fresh.drive.connection(fresh.ben).state == "absent"


def test_without_a_client_drive_is_unconfigured_and_says_what_to_set(fresh: World) -> None:
    drive = fresh.another(google=replace(fresh.settings.google, client_id=""))
    assert drive.connection(fresh.ana).state == "unconfigured"
    with pytest.raises(SettingsError, match="LEAF_GOOGLE_CLIENT_ID"):
        drive.begin(fresh.ana, REDIRECT)
    with pytest.raises(DriveNotConnectedError, match="No Google client"):
        drive.list(fresh.ana)


def test_a_denied_consent_connects_nothing(fresh: World) -> None:
    came = fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT), deny=True)
    with pytest.raises(DriveError, match="You did not allow access"):
        fresh.drive.finish(fresh.ana, came)
    assert fresh.drive.connection(fresh.ana).state == "absent"


def test_a_consent_without_the_drive_scope_is_told_as_such(fresh: World) -> None:
    came = fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT), without_drive=True)
    with pytest.raises(DriveError, match="not allowed to read Google Drive"):
        fresh.drive.finish(fresh.ana, came)


def test_a_state_works_once(fresh: World) -> None:
    came = fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT))
    fresh.drive.finish(fresh.ana, came)
    with pytest.raises(InvalidInputError, match="used already"):
        fresh.drive.finish(fresh.ana, came)
    assert fresh.drive.connection(fresh.ana).state == "connected"


def test_a_state_is_of_no_use_to_another_user_and_stays_good_for_its_own(fresh: World) -> None:
    came = fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT))
    stranger = Scope(fresh.ana.workspace_id, fresh.ben.user_id)
    for scope in (fresh.ben, stranger):
        with pytest.raises(InvalidInputError, match="someone else"):
            fresh.drive.finish(scope, came)
    assert fresh.drive.finish(fresh.ana, came).state == "connected"


def test_a_state_is_over_after_ten_minutes(fresh: World) -> None:
    came = fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT))
    with fresh.store.db.transaction() as tx:
        (row,) = tx.read("SELECT created_at, expires_at FROM oauth_states")
        assert row["expires_at"] - row["created_at"] == timedelta(minutes=10)
        tx.execute("UPDATE oauth_states SET expires_at = created_at")
    with pytest.raises(InvalidInputError, match="older than ten minutes"):
        fresh.drive.finish(fresh.ana, came)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": ""}, "code is missing"),
        ({"code": "4/other"}, "used already, or is too old"),
        ({"state": "x"}, "begun by someone"),
    ],
)
def test_a_broken_way_back_is_one_sentence(fresh: World, change: dict[str, str], said: str) -> None:
    came = {**fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT)), **change}
    with pytest.raises(LeafError, match=said):
        fresh.drive.finish(fresh.ana, came)
    assert fresh.drive.connection(fresh.ana).state == "absent"


def test_a_wrong_client_secret_names_the_setting(fresh: World) -> None:
    fresh.google.client_secret = "another"
    came = fresh.google.consent(fresh.drive.begin(fresh.ana, REDIRECT))
    with pytest.raises(SettingsError, match="LEAF_GOOGLE_CLIENT_SECRET"):
        fresh.drive.finish(fresh.ana, came)


def test_a_way_back_over_plain_http_is_refused_but_on_loopback(fresh: World) -> None:
    with pytest.raises(InvalidInputError, match="only over https"):
        fresh.drive.begin(fresh.ana, "http://leaf.example.com/settings")


def test_an_api_that_is_not_enabled_is_an_error_of_the_card_until_it_works(w: World) -> None:
    w.google.faults.append(Fault("/files", 403, "accessNotConfigured"))
    with pytest.raises(DriveError, match="API is not enabled"):
        w.drive.list(w.ana)
    state = w.drive.connection(w.ana)
    assert (state.state, state.account) == ("error", ANA)
    assert "not enabled" in state.why
    w.drive.list(w.ana)
    assert w.drive.connection(w.ana).state == "connected"


def test_an_expired_token_is_refreshed_once_and_the_new_one_is_kept(w: World) -> None:
    before = integrations.get(w.store.db, w.ana, PROVIDER)
    w.google.expire()
    w.drive.list(w.ana)
    asked = [path for _, path in w.google.requests]
    assert asked.count("/token") == 1
    after = integrations.get(w.store.db, w.ana, PROVIDER)
    assert before is not None
    assert after is not None
    assert before.secret != after.secret
    w.google.requests.clear()
    w.another().list(w.ana)
    assert "/token" not in [path for _, path in w.google.requests]


def test_a_revoked_grant_is_an_error_that_asks_to_connect_again(w: World) -> None:
    w.google.revoke(ANA)
    with pytest.raises(DriveNotConnectedError, match="revoked"):
        w.drive.list(w.ana)
    state = w.drive.connection(w.ana)
    assert (state.state, state.account) == ("error", ANA)
    assert "Connect" in state.hint
    w.google.requests.clear()
    with pytest.raises(DriveNotConnectedError, match="revoked"):
        w.drive.list(w.ana)
    assert w.google.requests == []
    connect(w.drive.begin, w.drive.finish, w.google, w.ana)
    assert w.drive.connection(w.ana).state == "connected"


@pytest.mark.parametrize("status", [502, 503, 403, 404])
def test_a_page_of_a_gateway_in_place_of_a_token_ends_no_grant(w: World, status: int) -> None:
    w.google.expire()
    w.google.faults.append(Fault("^/token", status, page="<html>Bad Gateway</html>", times=99))
    with pytest.raises(DriveError, match="cannot be reached"):
        w.drive.list(w.ana)
    assert w.drive.connection(w.ana).state == "connected"
    w.google.faults.clear()
    w.google.faults.append(Fault("^/token", status, page="<html>Bad Gateway</html>"))
    w.drive.list(w.ana)


def test_a_refusal_that_names_no_reason_known_to_oauth_ends_no_grant(w: World) -> None:
    w.google.expire()
    w.google.faults.append(Fault("^/token", 403, "rateLimitExceeded", times=99))
    with pytest.raises(DriveError, match="cannot be reached"):
        w.drive.list(w.ana)
    assert w.drive.connection(w.ana).state == "connected"


def test_what_failed_in_one_process_and_works_in_another_is_connected_again(w: World) -> None:
    other = w.another()
    other.list(w.ana)
    w.google.faults.append(Fault("/files", 403, "accessNotConfigured"))
    with pytest.raises(DriveError, match="API is not enabled"):
        w.drive.list(w.ana)
    assert other.connection(w.ana).state == "error"
    other.list(w.ana)
    assert other.connection(w.ana).state == w.drive.connection(w.ana).state == "connected"


def test_a_grant_that_ends_after_a_week_is_put_down_to_testing_mode(w: World) -> None:
    with w.store.db.transaction() as tx:
        tx.execute(
            "UPDATE integrations SET created_at = created_at - INTERVAL 8 DAY, updated_at = "
            "updated_at - INTERVAL 2 DAY"
        )
    w.google.revoke(ANA)
    with pytest.raises(DriveNotConnectedError, match="testing mode after 7 days"):
        w.another().list(w.ana)


def test_disconnecting_revokes_at_google_and_forgets(w: World) -> None:
    assert w.google.refresh
    assert w.drive.disconnect(w.ana).state == "absent"
    assert not w.google.refresh
    assert integrations.get(w.store.db, w.ana, PROVIDER) is None
    with pytest.raises(DriveNotConnectedError, match="not connected"):
        w.drive.list(w.ana)


def test_disconnecting_while_google_is_away_forgets_and_says_so(w: World) -> None:
    away = w.another(google=replace(w.settings.google, revoke_url="http://127.0.0.1:9/revoke"))
    state = away.disconnect(w.ana)
    assert state.state == "absent"
    assert "could not be told" in state.why


def test_a_connection_of_one_user_serves_no_other(w: World) -> None:
    colleague = Scope(w.ana.workspace_id, w.ben.user_id)
    w.drive.begin(w.ben, REDIRECT)
    for scope in (w.ben, colleague):
        assert w.drive.connection(scope).state == "absent"
        with pytest.raises(DriveNotConnectedError):
            w.drive.list(scope)
    w.drive.disconnect(w.ben)
    assert w.drive.connection(w.ana).state == "connected"


def test_tokens_are_encrypted_at_rest_and_in_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with world(tmp_path) as w:
        file_id = w.google.add("a.txt", "text/plain", w.root, b"text")
        w.drive.bring(w.ana, file_id)
        w.google.expire()
        w.drive.list(w.ana)
        secrets = [*tokens(w), "demo-secret", *w.google.codes]
        row = integrations.get(w.store.db, w.ana, PROVIDER)
        w.google.revoke(ANA)
        with pytest.raises(DriveNotConnectedError):
            w.drive.list(w.ana)
        secrets += tokens(w)
    assert row is not None
    assert len(secrets) >= 3
    stored = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    for secret in secrets:
        assert secret not in caplog.text
        assert secret not in row.secret
        assert secret.encode() not in stored or secret == "demo-secret"


def test_the_key_file_is_its_owners_alone(w: World) -> None:
    assert stat.S_IMODE(os.stat(w.settings.home / "secret.key").st_mode) == 0o600


def test_keys_are_rotated_without_losing_the_connection(w: World) -> None:
    first, second = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    w.another(secret_keys=(first,)).list(w.ana)  # made by the key file, sealed anew by the first
    (w.settings.home / "secret.key").unlink()
    w.another(secret_keys=(second, first)).list(w.ana)
    w.another(secret_keys=(second,)).list(w.ana)
    with pytest.raises(DriveNotConnectedError, match="key that opens"):
        w.another(secret_keys=(first,)).list(w.ana)


def test_a_sealed_secret_opens_for_its_user_alone(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    sealed = vault.seal(Scope("w", "ana"), {"token": "t"})
    assert vault.open(Scope("w", "ana"), sealed) == ({"token": "t"}, False)
    for scope in (Scope("w", "ben"), Scope("v", "ana")):
        with pytest.raises(SealedError, match="somebody else"):
            vault.open(scope, sealed)


def test_a_key_that_is_none_names_its_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="LEAF_SECRET_KEY"):
        Vault(tmp_path, ("short",)).seal(Scope("w", "u"), {})


def test_a_service_account_reads_what_is_shared_with_it(fresh: World) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = "leaf@project.iam.gserviceaccount.com"
    fresh.google.service_accounts.add(account)
    shared = fresh.google.add(
        "shared.txt", "text/plain", fresh.google.root(BEN), b"text", shared={account}
    )
    fresh.google.add("private.txt", "text/plain", fresh.google.root(BEN), b"no")
    info = {
        "client_email": account,
        "private_key": pem,
        "token_uri": f"{fresh.google.url}/token",
        "type": "service_account",
    }
    drive = fresh.another(google=fresh.google.settings(service_account=json.dumps(info)))
    assert (drive.connection(fresh.ana).kind, drive.connection(fresh.ana).account) == (
        "service",
        account,
    )
    assert [i.id for i in drive.list(fresh.ana, "shared-with-me").items] == [shared]


def test_settings_read_the_consoles_json_as_text_or_file_and_never_show_it(tmp_path: Path) -> None:
    client = {
        "web": {
            "client_id": "i",
            "client_secret": "s3cret",
            "auth_uri": "https://a/",
            "token_uri": "https://t/",
        }
    }
    path = tmp_path / "client.json"
    path.write_text(json.dumps(client))
    for given in (json.dumps(client), str(path)):
        settings = load({"LEAF_GOOGLE_CLIENT_JSON": given, "LEAF_SECRET_KEY": "a, b"})
        google = settings.google
        assert (google.client_id, google.client_secret, google.auth_url, google.token_url) == (
            "i",
            "s3cret",
            "https://a/",
            "https://t/",
        )
        assert settings.secret_keys == ("a", "b")
        assert "s3cret" not in repr(settings)
    with pytest.raises(SettingsError, match="LEAF_GOOGLE_CLIENT_JSON is neither JSON nor"):
        load({"LEAF_GOOGLE_CLIENT_JSON": "{broken s3cret"})
    with pytest.raises(SettingsError, match="LEAF_GOOGLE_API_URL"):
        load({"LEAF_GOOGLE_API_URL": "localhost:9000"})
