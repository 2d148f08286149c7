"""What can be configured: one frozen `Settings`, read once from the environment and Streamlit's secrets, then passed down."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from leaf.errors import SettingsError

DEFAULT_MODEL = "claude-sonnet-5-5"
GOOGLE_AUTH_URL = "https://accounts.google.com/o/oauth2/auth"
GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token"
GOOGLE_REVOKE_URL = "https://oauth2.googleapis.com/revoke"


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
class Allowance:
    """What may be used in a day and in a month; None where nothing is said. Tokens are input and output together."""

    NAMES: ClassVar[tuple[str, ...]] = ("day_usd", "day_tokens", "month_usd", "month_tokens")

    day_usd: float | None = None
    day_tokens: int | None = None
    month_usd: float | None = None
    month_tokens: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return any(getattr(self, name) is not None for name in self.NAMES)


@dataclass(frozen=True)
class Google:
    """How Google Drive is reached."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    service_account: str = field(default="", repr=False)
    """Key of a service account as JSON; every user then sees what was shared with it."""
    api_url: str = ""
    """Address of another Drive API, such as `http://127.0.0.1:9000/drive/v3/`; empty means Google's."""
    auth_url: str = GOOGLE_AUTH_URL
    token_url: str = GOOGLE_TOKEN_URL
    revoke_url: str = GOOGLE_REVOKE_URL

    @property
    def has_client(self) -> bool:
        """Whether users can connect a Drive of their own."""
        return bool(self.client_id and self.client_secret)


@dataclass(frozen=True)
class Sound:
    """How sound is transcribed."""

    url: str = ""
    """A server with OpenAI's transcription API, such as `https://api.openai.com/v1`; empty means faster-whisper, if installed."""
    key: str = field(default="", repr=False)
    model: str = "whisper-1"
    """The server's model."""
    whisper_model: str = "small"
    """faster-whisper's model: a size, a repository of converted weights, or a folder."""


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
    model_vision: str = ""
    """Whether the model sees pictures: `yes` or `no`; empty means by the profile, see `sees`."""
    files_api: str = ""
    """Whether pictures go to the model server's Files API: `on` or `off`; empty means on at Anthropic's, off elsewhere."""
    model_window: int = 0
    """Tokens that the model takes, request and answer together; 0 means by the model's name."""
    context_share: float = 0.8
    """Part of the model's window at which a chat's older tool results are folded."""
    file_tokens: int = 100_000
    """Tokens of file content that one answer takes in."""
    database_url: str = ""
    """`postgresql://…`; empty means DuckDB in `home`."""
    max_upload_bytes: int = 1_000 * 1024 * 1024
    """Largest file that is taken, in bytes."""
    archive_files: int = 5_000
    """Most files that are taken out of one archive or mail, with those in archives inside it."""
    archive_bytes: int = 2_000 * 1024 * 1024
    """Most bytes that one archive or mail may unpack to."""
    max_output_tokens: int = 16_000
    """Longest single model turn."""
    allowed_domains: tuple[str, ...] = ()
    """Domains whose addresses may sign in; with `allowed_emails` empty too, everybody whom the login provider knows."""
    allowed_emails: tuple[str, ...] = ()
    """Addresses that may sign in, besides those of `allowed_domains`."""
    session_hours: float = 0.0
    """How long a sign-in lasts; 0 means as long as the provider's token says."""
    allow_open: bool = False
    """Whether Leaf may be reached from other machines without sign-in."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which others may reach it; empty: any. `*.example.org` is every name below."""
    limits: RunLimits = RunLimits()
    model_patience: float = 120.0
    """Seconds for which a run waits for a model server that is down or busy."""
    runs_per_user: int = 3
    """Answers that are written for one person at once; further questions wait."""
    runs: int = 20
    """Answers that this process writes at once."""
    budget_user: Allowance = Allowance()
    """What one person may use in a workspace, where its owners have not said."""
    budget_workspace: Allowance = Allowance()
    """What everybody of a workspace together may use, where its owners have not said."""
    budget_user_max: Allowance = Allowance()
    """The most that owners can allow one person; it holds where nothing else does."""
    budget_workspace_max: Allowance = Allowance()
    """The same for a whole workspace."""
    time_zone: str = "UTC"
    """In which days and months of budgets and of the usage page begin: an IANA name such as `Europe/Berlin`."""
    sound: Sound = Sound()
    python_idle_minutes: float = 15.0
    """Minutes after which the variables of a chat's Python are let go; the next call makes them anew."""
    packages: tuple[str, ...] = ()
    """Python packages that a chat may install besides Leaf's own list."""
    google: Google = Google()
    secret_keys: tuple[str, ...] = field(default=(), repr=False)
    """Keys that encrypt tokens at rest; the first encrypts, all decrypt. None: a key made in `home`."""

    @property
    def keyless(self) -> bool:
        """Whether no model can be reached, so that the rules answer."""
        return not self.api_key and not self.model_url

    @property
    def model_place(self) -> str:
        """`model_url` as it may be shown: without a user or password; empty for Anthropic's."""
        parts = urlsplit(self.model_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def profile_for(self, model: str) -> str:
        """`claude` for Anthropic's own hosts and for model names that begin with `claude`, else `basic`."""
        if self.model_profile:
            return self.model_profile
        host = urlsplit(self.model_url).hostname or "" if self.model_url else "api.anthropic.com"
        official = host == "anthropic.com" or host.endswith(".anthropic.com")
        return "claude" if official or model.startswith("claude") else "basic"

    def sees(self, model: str) -> bool:
        """Whether a model sees pictures. Where nothing is said, those of the `claude` profile do."""
        if self.keyless:
            return False
        return self.model_vision == "yes" if self.model_vision else self.profile_for(model) == "claude"

    @property
    def uploads_pictures(self) -> bool:
        """Whether pictures are uploaded once and referred to, rather than sent along with every request."""
        if self.files_api:
            return self.files_api == "on"
        host = (urlsplit(self.model_url).hostname or "") if self.model_url else "api.anthropic.com"
        return host == "anthropic.com" or host.endswith(".anthropic.com")


VARIABLES = {
    "LEAF_HOME": "home",
    "ANTHROPIC_API_KEY": "api_key",
    "LEAF_MODEL": "model",
    "LEAF_MODEL_URL": "model_url",
    "LEAF_MODEL_PROFILE": "model_profile",
    "LEAF_MODEL_WINDOW": "model_window",
    "LEAF_MODEL_VISION": "model_vision",
    "LEAF_FILES_API": "files_api",
    "LEAF_CONTEXT_SHARE": "context_share",
    "LEAF_FILE_TOKENS": "file_tokens",
    "LEAF_DATABASE_URL": "database_url",
    "LEAF_MAX_UPLOAD_MB": "max_upload_bytes",
    "LEAF_ARCHIVE_FILES": "archive_files",
    "LEAF_ARCHIVE_MB": "archive_bytes",
    "LEAF_MAX_OUTPUT_TOKENS": "max_output_tokens",
    "LEAF_ALLOWED_DOMAINS": "allowed_domains",
    "LEAF_ALLOWED_EMAILS": "allowed_emails",
    "LEAF_SESSION_HOURS": "session_hours",
    "LEAF_ALLOW_OPEN": "allow_open",
    "LEAF_ALLOWED_HOSTS": "allowed_hosts",
    "LEAF_RUN_TURNS": "limits.turns",
    "LEAF_RUN_TOOL_CALLS": "limits.tool_calls",
    "LEAF_RUN_SECONDS": "limits.seconds",
    "LEAF_RUN_TOKENS": "limits.tokens",
    "LEAF_RUN_MONEY": "limits.money",
    "LEAF_MODEL_PATIENCE": "model_patience",
    "LEAF_RUNS_PER_USER": "runs_per_user",
    "LEAF_RUNS": "runs",
    "LEAF_BUDGET_USER": "budget_user",
    "LEAF_BUDGET_WORKSPACE": "budget_workspace",
    "LEAF_BUDGET_USER_MAX": "budget_user_max",
    "LEAF_BUDGET_WORKSPACE_MAX": "budget_workspace_max",
    "LEAF_TIME_ZONE": "time_zone",
    "LEAF_TRANSCRIBE_URL": "sound.url",
    "LEAF_TRANSCRIBE_KEY": "sound.key",
    "LEAF_TRANSCRIBE_MODEL": "sound.model",
    "LEAF_WHISPER_MODEL": "sound.whisper_model",
    "LEAF_PYTHON_IDLE_MINUTES": "python_idle_minutes",
    "LEAF_PACKAGES": "packages",
    "LEAF_GOOGLE_CLIENT_ID": "google.client_id",
    "LEAF_GOOGLE_CLIENT_SECRET": "google.client_secret",
    "LEAF_GOOGLE_CLIENT_JSON": "google.client_id",
    "LEAF_GOOGLE_SERVICE_ACCOUNT": "google.service_account",
    "LEAF_GOOGLE_API_URL": "google.api_url",
    "LEAF_GOOGLE_AUTH_URL": "google.auth_url",
    "LEAF_GOOGLE_TOKEN_URL": "google.token_url",
    "LEAF_GOOGLE_REVOKE_URL": "google.revoke_url",
    "LEAF_SECRET_KEY": "secret_keys",
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
            values[key] = _text(value)
    url_key = "LEAF_MODEL_URL" if "LEAF_MODEL_URL" in values else "ANTHROPIC_BASE_URL"
    profile = values.get("LEAF_MODEL_PROFILE", "")
    if profile not in ("", "claude", "basic"):
        raise SettingsError(f"LEAF_MODEL_PROFILE is '{profile}'.", "Set it to 'claude' or 'basic', or leave it out.")
    default = RunLimits()
    return Settings(
        home=Path(values.get("LEAF_HOME", ".leaf")).expanduser().resolve(),
        api_key=values.get("ANTHROPIC_API_KEY", ""),
        model=values.get("LEAF_MODEL", DEFAULT_MODEL),
        model_url=model_address(values.get(url_key, ""), url_key),
        model_profile=profile,
        model_vision=_choice(values, "LEAF_MODEL_VISION", ("yes", "no")),
        files_api=_choice(values, "LEAF_FILES_API", ("on", "off")),
        model_window=int(_number(values, "LEAF_MODEL_WINDOW", 0)),
        context_share=_share(values, "LEAF_CONTEXT_SHARE", 0.8),
        file_tokens=_count(values, "LEAF_FILE_TOKENS", 100_000),
        database_url=values.get("LEAF_DATABASE_URL", ""),
        max_upload_bytes=int(_number(values, "LEAF_MAX_UPLOAD_MB", 1_000) * 1024 * 1024),
        archive_files=_count(values, "LEAF_ARCHIVE_FILES", 5_000),
        archive_bytes=int(_number(values, "LEAF_ARCHIVE_MB", 2_000) * 1024 * 1024),
        max_output_tokens=int(_number(values, "LEAF_MAX_OUTPUT_TOKENS", 16_000)),
        allowed_domains=_words(values, "LEAF_ALLOWED_DOMAINS"),
        allowed_emails=_words(values, "LEAF_ALLOWED_EMAILS"),
        session_hours=_number(values, "LEAF_SESSION_HOURS", 0.0),
        allow_open=_switch(values, "LEAF_ALLOW_OPEN"),
        allowed_hosts=_hosts(values),
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
        budget_user=_allowance(values, "LEAF_BUDGET_USER"),
        budget_workspace=_allowance(values, "LEAF_BUDGET_WORKSPACE"),
        budget_user_max=_allowance(values, "LEAF_BUDGET_USER_MAX"),
        budget_workspace_max=_allowance(values, "LEAF_BUDGET_WORKSPACE_MAX"),
        time_zone=_time_zone(values),
        sound=_sound(values),
        python_idle_minutes=_number(values, "LEAF_PYTHON_IDLE_MINUTES", 15),
        packages=_packages(values),
        google=_google(values),
        secret_keys=tuple(key.strip() for key in values.get("LEAF_SECRET_KEY", "").split(",") if key.strip()),
    )


_ENDPOINT = re.compile(r"(?i)(/v1)?(/messages(/count_tokens)?|/chat/completions|/completions|/responses|/models)?$")
"""What people paste behind the base: the version, and an endpoint of the Messages API or of OpenAI's."""


def model_address(given: str, key: str = "LEAF_MODEL_URL") -> str:
    """The base of a model server's address, to which `/v1/messages` is added; empty for nothing. Raises SettingsError.

    Whatever stands behind the base is taken off, so that the address of an endpoint is as good as the base itself. The error
    shows no user, password or query, which may be secret.
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
    place = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}" + (f":{port}" if port else "")
    if not host or re.search(r"[\s\x00-\x1f]", text):
        raise SettingsError(f"{key} is not an address.", _ADDRESS)
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    if parts.query or parts.fragment:
        raise SettingsError(
            f"{key} has something behind a ? or # after {place}{path}.", "Leave that out; only the address is needed."
        )
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return place.replace("://", f"://{login}", 1) + _ENDPOINT.sub("", path).rstrip("/")


_ADDRESS = "Give the address of a server that speaks the Messages API, such as http://localhost:11434."


def _text(value: object) -> str:
    """A value as the environment would give it: lists by commas, tables as JSON."""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value).strip()


def _count(values: Mapping[str, str], key: str, default: int) -> int:
    return max(1, int(_number(values, key, default)))


def _share(values: Mapping[str, str], key: str, default: float) -> float:
    share = _number(values, key, default)
    if share > 1:
        raise SettingsError(f"{key} is {share:g}.", "Give a part of one, such as 0.8.")
    return share


def _words(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    """Split at commas and spaces, in lower case; `@example.org` is the domain `example.org`."""
    words = tuple(word.lower().removeprefix("@") for word in values.get(key, "").replace(",", " ").split())
    wrong = [w for w in words if ("@" in w) != (key == "LEAF_ALLOWED_EMAILS")]
    if wrong or (key in values and not words):
        kind = "addresses like ann@example.org" if key == "LEAF_ALLOWED_EMAILS" else "domains like example.org"
        raise SettingsError(f"{key} is '{values[key]}'.", f"Give {kind}, separated by commas.")
    return words


def _hosts(values: Mapping[str, str]) -> tuple[str, ...]:
    """Names of hosts, split at commas and spaces, in lower case, without port and last dot."""
    key = "LEAF_ALLOWED_HOSTS"
    names = tuple(word.lower().removesuffix(".") for word in values.get(key, "").replace(",", " ").split())
    wrong = [name for name in names if not re.fullmatch(r"(\*\.)?[\w-]+(\.[\w-]+)*|[0-9a-f:.]+", name)]
    if wrong:
        raise SettingsError(
            f"{key} holds '{wrong[0]}'.", "Give names like leaf.example.org or *.example.org, separated by commas."
        )
    return names


def _choice(values: Mapping[str, str], key: str, options: tuple[str, ...]) -> str:
    """One of the options; empty for `auto`, or for nothing."""
    text = values.get(key, "auto").lower()
    if text not in ("auto", *options):
        raise SettingsError(f"{key} is '{text}'.", f"Set it to {', '.join(options)} or auto.")
    return "" if text == "auto" else text


def _packages(values: Mapping[str, str]) -> tuple[str, ...]:
    """Names of packages, separated by commas and spaces."""
    names = tuple(re.sub(r"[-_.]+", "-", word).lower() for word in values.get("LEAF_PACKAGES", "").replace(",", " ").split())
    wrong = [name for name in names if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name)]
    if wrong:
        raise SettingsError(f"LEAF_PACKAGES holds '{wrong[0]}'.", "Give names of packages without versions, separated by commas.")
    return names


def _switch(values: Mapping[str, str], key: str) -> bool:
    text = values.get(key, "0").lower()
    if text not in ("0", "1", "false", "true", "no", "yes"):
        raise SettingsError(f"{key} is '{text}'.", "Set it to 1 or 0.")
    return text in ("1", "true", "yes")


_FIGURE = re.compile(
    r"(?:\$\s*(?P<dollars>[\d.]+)|(?P<number>[\d._]+)\s*(?P<times>[km]?)\s*(?P<unit>usd|tokens?))\s*/\s*(?P<span>day|month)"
)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def _allowance(values: Mapping[str, str], key: str) -> Allowance:
    """`$5/day, 2M tokens/month`. Raises SettingsError."""
    figures: dict[str, float] = {}
    for piece in filter(None, (p.strip() for p in values.get(key, "").split(","))):
        found = _FIGURE.fullmatch(piece.lower())
        try:
            if found is None:
                raise ValueError
            amount = float(found["dollars"] or found["number"]) * _TIMES[found["times"] or ""]
        except ValueError as e:
            raise SettingsError(
                f"{key} holds '{piece}'.", "Write budgets like: $5/day, $50/month, 2M tokens/day, 500k tokens/month."
            ) from e
        money = found["dollars"] is not None or found["unit"] == "usd"
        figures[f"{found['span']}_{'usd' if money else 'tokens'}"] = amount
    tokens = {name: int(value) for name, value in figures.items() if name.endswith("tokens")}
    return Allowance(figures.get("day_usd"), tokens.get("day_tokens"), figures.get("month_usd"), tokens.get("month_tokens"))


def _time_zone(values: Mapping[str, str]) -> str:
    name = values.get("LEAF_TIME_ZONE", "UTC")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as e:
        raise SettingsError(f"LEAF_TIME_ZONE is '{name}'.", "Give a name like Europe/Berlin or UTC.") from e
    return name


def _sound(values: Mapping[str, str]) -> Sound:
    url = values.get("LEAF_TRANSCRIBE_URL", "")
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(f"LEAF_TRANSCRIBE_URL is '{url}'.", "Give an address that begins with http:// or https://.")
    default = Sound()
    return Sound(
        url=url.rstrip("/"),
        key=values.get("LEAF_TRANSCRIBE_KEY", ""),
        model=values.get("LEAF_TRANSCRIBE_MODEL", default.model),
        whisper_model=values.get("LEAF_WHISPER_MODEL", default.whisper_model),
    )


def _google(values: Mapping[str, str]) -> Google:
    """Google's settings; single ones win over the client's JSON."""
    client = _json(values, "LEAF_GOOGLE_CLIENT_JSON")
    client = client.get("web") or client.get("installed") or client
    urls = {name: values.get(f"LEAF_GOOGLE_{name.upper()}", "") for name in ("api_url", "auth_url", "token_url", "revoke_url")}
    for name, url in urls.items():
        if url and urlsplit(url).scheme not in ("http", "https"):
            raise SettingsError(f"LEAF_GOOGLE_{name.upper()} is '{url}'.", "Give an address that begins with https://.")
    account = _json(values, "LEAF_GOOGLE_SERVICE_ACCOUNT")
    if account and not (account.get("client_email") and account.get("private_key")):
        raise SettingsError(
            "LEAF_GOOGLE_SERVICE_ACCOUNT has no client_email or private_key.", "Give the service account's key file."
        )
    return Google(
        client_id=values.get("LEAF_GOOGLE_CLIENT_ID") or str(client.get("client_id", "")),
        client_secret=values.get("LEAF_GOOGLE_CLIENT_SECRET") or str(client.get("client_secret", "")),
        service_account=json.dumps(account) if account else "",
        api_url=urls["api_url"],
        auth_url=urls["auth_url"] or str(client.get("auth_uri", "")) or GOOGLE_AUTH_URL,
        token_url=urls["token_url"] or str(client.get("token_uri", "")) or GOOGLE_TOKEN_URL,
        revoke_url=urls["revoke_url"] or GOOGLE_REVOKE_URL,
    )


def _json(values: Mapping[str, str], key: str) -> dict[str, Any]:
    """A JSON object given as text or as the path of a file. The error never shows the text, which holds a secret."""
    given = values.get(key, "")
    if not given:
        return {}
    try:
        found = json.loads(given if given.startswith("{") else Path(given).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise SettingsError(
            f"{key} is neither JSON nor the path of a JSON file.", "Give the file that Google's console makes."
        ) from e
    if not isinstance(found, dict):
        raise SettingsError(f"{key} is not a JSON object.", "Give the file that Google's console makes.")
    return found


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
