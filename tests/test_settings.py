"""Settings come from the environment and from secrets; a wrong one is named."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leaf.errors import SettingsError
from leaf.settings import DEFAULT_MODEL, VARIABLES, Settings, load


def test_defaults_need_nothing() -> None:
    settings = load({}, {})
    assert settings.keyless
    assert settings.model == DEFAULT_MODEL
    assert settings.home == Path(".leaf").resolve()


def test_environment_wins_over_secrets() -> None:
    settings = load(
        {"LEAF_MODEL": "from-environment"},
        {"LEAF_MODEL": "from-secrets", "ANTHROPIC_API_KEY": "secret"},
    )
    assert settings.model == "from-environment"
    assert settings.api_key == "secret"
    assert not settings.keyless


def test_a_model_server_needs_no_key() -> None:
    settings = load({"LEAF_MODEL_URL": "http://localhost:11434/"}, {})
    assert settings.model_url == "http://localhost:11434"
    assert not settings.keyless


def test_the_key_is_not_in_the_representation() -> None:
    assert "sk-secret" not in repr(load({"ANTHROPIC_API_KEY": "sk-secret"}, {}))


@pytest.mark.parametrize(
    ("url", "model", "expected"),
    [
        ("", "anything", "claude"),
        ("https://api.anthropic.com", "anything", "claude"),
        ("https://eu.anthropic.com/v1", "anything", "claude"),
        ("http://localhost:11434", "qwen3", "basic"),
        ("http://localhost:4000", "claude-sonnet-5-5", "claude"),
        ("https://anthropic.com.example.org", "other", "basic"),
    ],
)
def test_profile_follows_host_and_model_name(url: str, model: str, expected: str) -> None:
    assert Settings(model_url=url).profile_for(model) == expected


def test_a_given_profile_is_taken() -> None:
    assert replace(Settings(), model_profile="basic").profile_for("claude-opus-5-5") == "basic"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("LEAF_MODEL_PROFILE", "gpt"),
        ("LEAF_MODEL_URL", "localhost:11434"),
        ("LEAF_RUN_TURNS", "many"),
        ("LEAF_RUN_TURNS", "inf"),
        ("LEAF_RUN_MONEY", "-1"),
        ("LEAF_RUN_SECONDS", "nan"),
        ("LEAF_MAX_UPLOAD_MB", "0"),
        ("LEAF_ALLOWED_DOMAINS", "ann@example.org"),
        ("LEAF_ALLOWED_DOMAINS", ","),
        ("LEAF_ALLOWED_EMAILS", "example.org"),
        ("LEAF_OPERATORS", "ann"),
        ("LEAF_TITLES", "maybe"),
        ("LEAF_PUBLIC_LINKS", "members"),
        ("LEAF_SESSION_HOURS", "-1"),
        ("LEAF_ALLOW_OPEN", "maybe"),
        ("LEAF_BUDGET_USER", "5/day"),
        ("LEAF_BUDGET_USER_MAX", "$5/year"),
        ("LEAF_BUDGET_WORKSPACE", "$1.2.3/day"),
        ("LEAF_TIME_ZONE", "Mars/Olympus"),
        ("LEAF_TIME_ZONE", "../etc"),
        ("LEAF_LOG", "loud"),
        ("LEAF_STORAGE_URL", "https://bucket.s3.amazonaws.com"),
        ("LEAF_STORAGE_URL", "s3://"),
        ("LEAF_STORAGE_URL", "s3://key:secret@bucket"),
        ("LEAF_STORAGE_URL", "s3://bucket?region=x"),
        ("LEAF_CACHE_GB", "0"),
        ("AWS_ENDPOINT_URL", "minio:9000"),
        ("LEAF_METRICS_TOKEN", "short"),
        ("ANTHROPIC_API_KEY", "sk-one\nsk-two"),
        ("LEAF_TRANSCRIBE_KEY", "sk\x00"),
        ("LEAF_CACHE_GB", "inf"),
        ("LEAF_DISK_GB", "inf"),
        ("LEAF_SESSION_HOURS", "1e308"),
        ("LEAF_MAX_UPLOAD_MB", "1e308"),
        ("LEAF_BUDGET_USER", f"{'9' * 400} tokens/day"),
        ("LEAF_HOME", "~nobody-of-this-name/leaf"),
        ("LEAF_GOOGLE_CLIENT_JSON", "~nobody-of-this-name/client.json"),
        ("LEAF_OWN_MODELS", "maybe"),
        ("LEAF_OWN_MODEL_HOSTS", "http://10.0.0.5"),
        ("LEAF_OWN_MODEL_HOSTS", "*.example.org"),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: str) -> None:
    with pytest.raises(SettingsError, match=key):
        load({key: value}, {})


@pytest.mark.parametrize("key", ["AWS_ENDPOINT_URL", "LEAF_STORAGE_URL", "LEAF_GOOGLE_TOKEN_URL"])
def test_an_address_that_python_cannot_read_is_named_and_not_shown(key: str) -> None:
    with pytest.raises(SettingsError, match=key) as caught:
        load({key: "http://ann:hunter2@[::1"}, {})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("days", ["inf", "1000000"])
def test_the_audit_log_can_be_kept_for_ever(days: str) -> None:
    kept = timedelta(days=load({"LEAF_AUDIT_DAYS": days}, {}).audit_days)
    assert (datetime.now(UTC) - kept).year < 1950


def test_who_may_sign_in_is_read_from_words_or_lists() -> None:
    settings = load(
        {"LEAF_ALLOWED_EMAILS": " Ann@Example.org, bob@example.net, jose\u0301@example.org"},
        {"LEAF_ALLOWED_DOMAINS": ["@Example.com", "b.org"]},
    )
    assert settings.allowed_emails == (
        "ann@example.org",
        "bob@example.net",
        "jos\u00e9@example.org",
    )
    assert settings.allowed_domains == ("example.com", "b.org")


@pytest.mark.parametrize(
    ("value", "is_open"), [("1", True), ("true", True), ("0", False), ("no", False)]
)
def test_serving_others_without_sign_in_has_to_be_said(value: str, is_open: bool) -> None:
    assert load({"LEAF_ALLOW_OPEN": value}, {}).allow_open is is_open
    assert not load({}, {}).allow_open


@pytest.mark.parametrize("key", VARIABLES)
def test_a_key_reaches_its_field_and_no_other(key: str) -> None:
    plain, found = _flat(load({}, {})), _flat(load({key: VALUES.get(key, "2")}, {}))
    assert [name for name in found if found[name] != plain[name]] == [VARIABLES[key]]


VALUES = {
    "LEAF_MODEL_URL": "http://127.0.0.1:9000",
    "LEAF_STORAGE_URL": "s3://bucket/prefix",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9000",
    "LEAF_MODEL_PROFILE": "basic",
    "LEAF_MODEL_VISION": "no",
    "LEAF_FILES_API": "off",
    "LEAF_OWN_MODELS": "on",
    "LEAF_CONTEXT_SHARE": "0.5",
    "LEAF_ALLOWED_DOMAINS": "example.org",
    "LEAF_ALLOWED_EMAILS": "ann@example.org",
    "LEAF_ALLOW_OPEN": "1",
    "LEAF_LOCAL_TOKEN": "off",
    "LEAF_TITLES": "off",
    "LEAF_PUBLIC_LINKS": "on",
    "LEAF_OPERATORS": "ann@example.org",
    **{
        f"LEAF_BUDGET_{name}": "$1/day"
        for name in ("USER", "WORKSPACE", "USER_MAX", "WORKSPACE_MAX")
    },
    "LEAF_TIME_ZONE": "Asia/Tokyo",
    "LEAF_LOG": "json",
    "LEAF_METRICS_TOKEN": "sixteen-or-more-letters",
    "LEAF_TRANSCRIBE_URL": "http://127.0.0.1:9000",
    "LEAF_GOOGLE_CLIENT_JSON": '{"web": {"client_secret": "s"}}',
    "LEAF_GOOGLE_SERVICE_ACCOUNT": '{"client_email": "e", "private_key": "k"}',
    **{
        f"LEAF_GOOGLE_{name}_URL": "http://127.0.0.1:9000"
        for name in ("API", "AUTH", "TOKEN", "REVOKE")
    },
}


def _flat(value: object, inside: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for field in fields(value):  # type: ignore[arg-type]
        each = getattr(value, field.name)
        found |= (
            _flat(each, f"{inside}{field.name}.")
            if field.name in ("limits", "sound", "google", "storage")
            else {inside + field.name: each}
        )
    return found


def test_the_address_of_anthropics_own_variable_is_taken_unless_leafs_is_given() -> None:
    assert load({"ANTHROPIC_BASE_URL": "http://a:1/v1"}, {}).model_url == "http://a:1"
    assert (
        load({"ANTHROPIC_BASE_URL": "nothing"}, {"LEAF_MODEL_URL": "http://b:2"}).model_url
        == "http://b:2"
    )
    with pytest.raises(SettingsError, match="ANTHROPIC_BASE_URL"):
        load({"ANTHROPIC_BASE_URL": "nothing"}, {})


@pytest.mark.parametrize("value", [" ", "\t"])
def test_a_blank_key_is_as_good_as_none(value: str) -> None:
    assert load({"LEAF_MODEL": value, "LEAF_GOOGLE_AUTH_URL": value}, {}) == load({}, {})


def test_what_reads_settings_is_loaded_only_to_read_them() -> None:
    """The values are used everywhere, in confined children too; pydantic-settings costs a tenth of
    a second."""
    rooms = "leaf.settings, leaf.readers.worker, leaf.tables.child, leaf.sandbox.child"
    code = f"import sys, {rooms}; sys.exit('pydantic_settings' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
