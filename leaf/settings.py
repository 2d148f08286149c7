"""What can be configured: one frozen `Settings`, read once from the environment and Streamlit's secrets, then passed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from leaf.errors import SettingsError

DEFAULT_MODEL = "claude-sonnet-5-5"


@dataclass(frozen=True)
class RunLimits:
    """Where one run ends with an answer that says so."""

    turns: int = 40
    """Model turns."""
    tool_calls: int = 80
    seconds: float = 900.0
    """Wall time."""
    tokens: int = 3_000_000
    """Input and output together, cached input included."""
    money: float = 5.0
    """US dollars at list price."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be set. Each field's environment variable stands in `VARIABLES`."""

    home: Path = Path(".leaf")
    """Data folder: database, blobs, tables, results, indexes."""
    api_key: str = field(default="", repr=False)
    """Key for the model server; empty means keyless, unless `model_url` is set."""
    model: str = DEFAULT_MODEL
    model_url: str = ""
    """Base URL of any server that speaks the Messages API; empty means Anthropic's."""
    model_profile: str = ""
    """`claude` or `basic`; empty means by host and model name, see `profile_for`."""
    database_url: str = ""
    """`postgresql://…`; empty means DuckDB in `home`."""
    max_upload_bytes: int = 1_000 * 1024 * 1024
    """Largest file that is taken, in bytes."""
    max_output_tokens: int = 16_000
    """Longest single model turn."""
    limits: RunLimits = RunLimits()
    model_patience: float = 120.0
    """Seconds for which a run waits for a model server that is down or busy."""
    runs_per_user: int = 3
    """Answers that are written for one person at once; further questions wait."""
    runs: int = 20
    """Answers that this process writes at once."""

    @property
    def keyless(self) -> bool:
        """Whether no model can be reached, so that the rules answer."""
        return not self.api_key and not self.model_url

    def profile_for(self, model: str) -> str:
        """`claude` for Anthropic's own hosts and for model names that begin with `claude`, else `basic`."""
        if self.model_profile:
            return self.model_profile
        host = urlsplit(self.model_url).hostname or "" if self.model_url else "api.anthropic.com"
        official = host == "anthropic.com" or host.endswith(".anthropic.com")
        return "claude" if official or model.startswith("claude") else "basic"


VARIABLES = {
    "LEAF_HOME": "home",
    "ANTHROPIC_API_KEY": "api_key",
    "LEAF_MODEL": "model",
    "LEAF_MODEL_URL": "model_url",
    "LEAF_MODEL_PROFILE": "model_profile",
    "LEAF_DATABASE_URL": "database_url",
    "LEAF_MAX_UPLOAD_MB": "max_upload_bytes",
    "LEAF_MAX_OUTPUT_TOKENS": "max_output_tokens",
    "LEAF_RUN_TURNS": "limits.turns",
    "LEAF_RUN_TOOL_CALLS": "limits.tool_calls",
    "LEAF_RUN_SECONDS": "limits.seconds",
    "LEAF_RUN_TOKENS": "limits.tokens",
    "LEAF_RUN_MONEY": "limits.money",
    "LEAF_MODEL_PATIENCE": "model_patience",
    "LEAF_RUNS_PER_USER": "runs_per_user",
    "LEAF_RUNS": "runs",
}
"""Environment variable (and key in Streamlit's secrets) -> field."""


def load(environ: Mapping[str, str] | None = None, secrets: Mapping[str, object] | None = None) -> Settings:
    """Read the settings; the environment wins over secrets. Raises SettingsError, which names the key."""
    environ = os.environ if environ is None else environ
    secrets = secrets or {}
    values: dict[str, str] = {}
    for key in (*VARIABLES, "ANTHROPIC_BASE_URL"):
        value = environ.get(key) or secrets.get(key)
        if value not in (None, ""):
            values[key] = str(value).strip()
    if "ANTHROPIC_BASE_URL" in values:
        values.setdefault("LEAF_MODEL_URL", values["ANTHROPIC_BASE_URL"])
    profile = values.get("LEAF_MODEL_PROFILE", "")
    if profile not in ("", "claude", "basic"):
        raise SettingsError(f"LEAF_MODEL_PROFILE is '{profile}'.", "Set it to 'claude' or 'basic', or leave it out.")
    url = values.get("LEAF_MODEL_URL", "")
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(f"LEAF_MODEL_URL is '{url}'.", "Give an address that begins with http:// or https://.")
    default = RunLimits()
    return Settings(
        home=Path(values.get("LEAF_HOME", ".leaf")).expanduser().resolve(),
        api_key=values.get("ANTHROPIC_API_KEY", ""),
        model=values.get("LEAF_MODEL", DEFAULT_MODEL),
        model_url=url.rstrip("/"),
        model_profile=profile,
        database_url=values.get("LEAF_DATABASE_URL", ""),
        max_upload_bytes=int(_number(values, "LEAF_MAX_UPLOAD_MB", 1_000) * 1024 * 1024),
        max_output_tokens=int(_number(values, "LEAF_MAX_OUTPUT_TOKENS", 16_000)),
        limits=RunLimits(
            turns=int(_number(values, "LEAF_RUN_TURNS", default.turns)),
            tool_calls=int(_number(values, "LEAF_RUN_TOOL_CALLS", default.tool_calls)),
            seconds=_number(values, "LEAF_RUN_SECONDS", default.seconds),
            tokens=int(_number(values, "LEAF_RUN_TOKENS", default.tokens)),
            money=_number(values, "LEAF_RUN_MONEY", default.money),
        ),
        model_patience=_number(values, "LEAF_MODEL_PATIENCE", 120),
        runs_per_user=_count(values, "LEAF_RUNS_PER_USER", 3),
        runs=_count(values, "LEAF_RUNS", 20),
    )


def _count(values: Mapping[str, str], key: str, default: int) -> int:
    return max(1, int(_number(values, key, default)))


def _number(values: Mapping[str, str], key: str, default: float) -> float:
    text = values.get(key)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError as e:
        raise SettingsError(f"{key} is '{text}'.", "Give a number.") from e
    if number <= 0:
        raise SettingsError(f"{key} is {text}.", "Give a number above 0.")
    return number
