"""Settings come from the environment and from secrets; a wrong one is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leaf.errors import SettingsError
from leaf.settings import DEFAULT_MODEL, Settings, load


def test_defaults_need_nothing() -> None:
    settings = load({}, {})
    assert settings.keyless
    assert settings.model == DEFAULT_MODEL
    assert settings.home == Path(".leaf").resolve()


def test_environment_wins_over_secrets() -> None:
    settings = load({"LEAF_MODEL": "from-environment"}, {"LEAF_MODEL": "from-secrets", "ANTHROPIC_API_KEY": "secret"})
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
        ("LEAF_RUN_MONEY", "-1"),
        ("LEAF_MAX_UPLOAD_MB", "0"),
        ("LEAF_ALLOWED_DOMAINS", "ann@example.org"),
        ("LEAF_ALLOWED_DOMAINS", ","),
        ("LEAF_ALLOWED_EMAILS", "example.org"),
        ("LEAF_SESSION_HOURS", "-1"),
        ("LEAF_ALLOW_OPEN", "maybe"),
        ("LEAF_BUDGET_USER", "5/day"),
        ("LEAF_BUDGET_USER_MAX", "$5/year"),
        ("LEAF_BUDGET_WORKSPACE", "$1.2.3/day"),
        ("LEAF_TIME_ZONE", "Mars/Olympus"),
        ("LEAF_TIME_ZONE", "../etc"),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: str) -> None:
    with pytest.raises(SettingsError, match=key):
        load({key: value}, {})


def test_who_may_sign_in_is_read_from_words_or_lists() -> None:
    settings = load(
        {"LEAF_ALLOWED_EMAILS": " Ann@Example.org, bob@example.net"}, {"LEAF_ALLOWED_DOMAINS": ["@Example.com", "b.org"]}
    )
    assert settings.allowed_emails == ("ann@example.org", "bob@example.net")
    assert settings.allowed_domains == ("example.com", "b.org")


@pytest.mark.parametrize(("value", "is_open"), [("1", True), ("true", True), ("0", False), ("no", False)])
def test_serving_others_without_sign_in_has_to_be_said(value: str, is_open: bool) -> None:
    assert load({"LEAF_ALLOW_OPEN": value}, {}).allow_open is is_open
    assert not load({}, {}).allow_open
