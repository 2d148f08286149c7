"""The fields of `Settings`, each beside its key. A field without a key is a dataclass of further
ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from leaf.settings import readers
from leaf.settings.address import model_address
from leaf.settings.allowance import Allowance, allowance
from leaf.settings.google import Google
from leaf.settings.keys import Key, keys
from leaf.settings.storage import Storage

DEFAULT_MODEL = "claude-sonnet-5-5"


@dataclass(frozen=True)
class RunLimits:
    """Where one run ends with an answer that says so."""

    turns: Annotated[int, Key("LEAF_RUN_TURNS", readers.whole)] = 40
    """Model turns."""
    tool_calls: Annotated[int, Key("LEAF_RUN_TOOL_CALLS", readers.whole)] = 80
    seconds: Annotated[float, Key("LEAF_RUN_SECONDS", readers.number)] = 900.0
    """Wall time."""
    tokens: Annotated[int, Key("LEAF_RUN_TOKENS", readers.whole)] = 3_000_000
    """Input and output together, cached input included."""
    money: Annotated[float, Key("LEAF_RUN_MONEY", readers.number)] = 5.0
    """US dollars at list price."""


@dataclass(frozen=True)
class Sound:
    """How sound is transcribed."""

    url: Annotated[str, Key("LEAF_TRANSCRIBE_URL", readers.base_url)] = ""
    """A server with OpenAI's transcription API, such as `https://api.openai.com/v1`; empty means
    faster-whisper, if installed."""
    key: Annotated[str, Key("LEAF_TRANSCRIBE_KEY", readers.key)] = field(default="", repr=False)
    model: Annotated[str, Key("LEAF_TRANSCRIBE_MODEL")] = "whisper-1"
    """The server's model."""
    whisper_model: Annotated[str, Key("LEAF_WHISPER_MODEL")] = "small"
    """faster-whisper's model: a size, a repository of converted weights, or a folder."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be set. Each field's environment variable stands in `VARIABLES`."""

    home: Annotated[Path, Key("LEAF_HOME", readers.folder)] = Path(".leaf")
    """Data folder: database, blobs, tables, results, indexes."""
    api_key: Annotated[str, Key("ANTHROPIC_API_KEY", readers.key)] = field(default="", repr=False)
    """Key for the model server; empty means keyless, unless `model_url` is set."""
    model: Annotated[str, Key("LEAF_MODEL")] = DEFAULT_MODEL
    model_url: Annotated[str, Key("LEAF_MODEL_URL", model_address)] = ""
    """Base URL of any server that speaks the Messages API; empty means Anthropic's."""
    model_profile: Annotated[str, Key("LEAF_MODEL_PROFILE", readers.profile)] = ""
    """`claude` or `basic`; empty means by host and model name, see `profile_for`."""
    model_window: Annotated[int, Key("LEAF_MODEL_WINDOW", readers.whole)] = 0
    """Tokens that the model takes, request and answer together; 0 means by the model's name."""
    model_vision: Annotated[str, Key("LEAF_MODEL_VISION", readers.choice("yes", "no"))] = ""
    """Whether the model sees pictures: `yes` or `no`; empty means by the profile, see `sees`."""
    files_api: Annotated[str, Key("LEAF_FILES_API", readers.choice("on", "off"))] = ""
    """Whether pictures go to the model server's Files API: `on` or `off`; empty means on at
    Anthropic's, off elsewhere."""
    own_models: Annotated[str, Key("LEAF_OWN_MODELS", readers.choice("on", "off"))] = ""
    """Whether people may connect a model of their own on the settings page: `on` or `off`; empty
    means on where nobody signs in, off where people do."""
    own_model_hosts: Annotated[tuple[str, ...], Key("LEAF_OWN_MODEL_HOSTS", readers.places)] = ()
    """Servers of this network, as `host` or `host:port`, to which such a connection may lead also
    where people sign in."""
    context_share: Annotated[float, Key("LEAF_CONTEXT_SHARE", readers.share)] = 0.8
    """Part of the model's window at which a chat's older tool results are compacted."""
    file_tokens: Annotated[int, Key("LEAF_FILE_TOKENS", readers.count)] = 100_000
    """Tokens of file content that one answer takes in."""
    database_url: Annotated[str, Key("LEAF_DATABASE_URL")] = ""
    """`postgresql://…`; empty means DuckDB in `home`."""
    storage: Storage = field(default_factory=Storage)
    max_upload_bytes: Annotated[int, Key("LEAF_MAX_UPLOAD_MB", readers.mebibytes)] = (
        1_000 * 1024 * 1024
    )
    """Largest file that is taken, in bytes."""
    disk_gb: Annotated[float, Key("LEAF_DISK_GB", readers.finite)] = 0.0
    """Most that Leaf uses of the disk that holds `home`, in GB; 0 means all of it."""
    uploads_person: Annotated[int, Key("LEAF_UPLOADS_MB", readers.mebibytes)] = 10_000 * 1024 * 1024
    """Bytes that one person may have uploaded and not added yet."""
    uploads_total: Annotated[int, Key("LEAF_UPLOADS_TOTAL_MB", readers.mebibytes)] = (
        50_000 * 1024 * 1024
    )
    """The same of everybody together."""
    archive_files: Annotated[int, Key("LEAF_ARCHIVE_FILES", readers.count)] = 5_000
    """Most files that are taken out of one archive or mail, with those in archives inside it."""
    archive_bytes: Annotated[int, Key("LEAF_ARCHIVE_MB", readers.mebibytes)] = 2_000 * 1024 * 1024
    """Most bytes that one archive or mail may unpack to."""
    max_output_tokens: Annotated[int, Key("LEAF_MAX_OUTPUT_TOKENS", readers.whole)] = 16_000
    """Longest single model turn."""
    titles: Annotated[bool, Key("LEAF_TITLES", readers.switch)] = True
    """Whether a model that is connected gives each chat a title after its first answer."""
    operators: Annotated[tuple[str, ...], Key("LEAF_OPERATORS", readers.emails)] = ()
    """Addresses of those who see the operator's page where people sign in."""
    allowed_domains: Annotated[tuple[str, ...], Key("LEAF_ALLOWED_DOMAINS", readers.domains)] = ()
    """Domains whose addresses may sign in; with `allowed_emails` empty too, everybody whom the
    login provider knows."""
    allowed_emails: Annotated[tuple[str, ...], Key("LEAF_ALLOWED_EMAILS", readers.emails)] = ()
    """Addresses that may sign in, besides those of `allowed_domains`."""
    session_hours: Annotated[float, Key("LEAF_SESSION_HOURS", readers.finite)] = 0.0
    """How long a sign-in lasts; 0 means as long as the provider's token says."""
    allow_open: Annotated[bool, Key("LEAF_ALLOW_OPEN", readers.switch)] = False
    """Whether Leaf may be reached from other machines without sign-in."""
    allowed_hosts: Annotated[tuple[str, ...], Key("LEAF_ALLOWED_HOSTS", readers.hosts)] = ()
    """Names under which others may reach it; empty: any. `*.example.org` is every name below."""
    local_token: Annotated[bool, Key("LEAF_LOCAL_TOKEN", readers.switch)] = True
    """Whether a browser has to show, where nobody signs in, that it was opened with the address
    that Leaf prints."""
    public_links: Annotated[bool, Key("LEAF_PUBLIC_LINKS", readers.switch)] = False
    """Whether people may let anyone who has a link read a snapshot of a chat or a board."""
    audit_days: Annotated[float, Key("LEAF_AUDIT_DAYS", readers.days)] = 400.0
    """Days for which lines of the audit log are kept."""
    log: Annotated[str, Key("LEAF_LOG", readers.choice("text", "json", "quiet", "full"))] = ""
    """How the log is written: `text`, `json` (one object a line) or `quiet` (what is wrong alone);
    empty means text."""
    metrics_token: Annotated[str, Key("LEAF_METRICS_TOKEN", readers.token)] = field(
        default="", repr=False
    )
    """What a collector of metrics has to send as its bearer token; empty: there are none."""
    limits: RunLimits = RunLimits()
    model_patience: Annotated[float, Key("LEAF_MODEL_PATIENCE", readers.number)] = 120.0
    """Seconds for which a run waits for a model server that is down or busy."""
    runs_per_user: Annotated[int, Key("LEAF_RUNS_PER_USER", readers.count)] = 3
    """Answers that are written for one person at once; further questions wait."""
    runs: Annotated[int, Key("LEAF_RUNS", readers.count)] = 20
    """Answers that this process writes at once."""
    budget_user: Annotated[Allowance, Key("LEAF_BUDGET_USER", allowance)] = field(
        default_factory=Allowance
    )
    """What one person may use in a workspace, where its owners have not said."""
    budget_workspace: Annotated[Allowance, Key("LEAF_BUDGET_WORKSPACE", allowance)] = field(
        default_factory=Allowance
    )
    """What everybody of a workspace together may use, where its owners have not said."""
    budget_user_max: Annotated[Allowance, Key("LEAF_BUDGET_USER_MAX", allowance)] = field(
        default_factory=Allowance
    )
    """The most that owners can allow one person; it holds where nothing else does."""
    budget_workspace_max: Annotated[Allowance, Key("LEAF_BUDGET_WORKSPACE_MAX", allowance)] = field(
        default_factory=Allowance
    )
    """The same for a whole workspace."""
    time_zone: Annotated[str, Key("LEAF_TIME_ZONE", readers.time_zone)] = "UTC"
    """In which days and months of budgets and of the usage page begin: an IANA name such as
    `Europe/Berlin`."""
    sound: Sound = Sound()
    python_idle_minutes: Annotated[float, Key("LEAF_PYTHON_IDLE_MINUTES", readers.number)] = 15.0
    """Minutes after which the variables of a chat's Python are let go; the next call makes them
    anew."""
    packages: Annotated[tuple[str, ...], Key("LEAF_PACKAGES", readers.packages)] = ()
    """Python packages that a chat may install besides Leaf's own list."""
    google: Google = field(default_factory=Google)
    secret_keys: Annotated[tuple[str, ...], Key("LEAF_SECRET_KEY", readers.secrets)] = field(
        default=(), repr=False
    )
    """Keys that encrypt tokens at rest; the first encrypts, all decrypt. None: a key made in
    `home`."""

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
        """`claude` for Anthropic's own hosts and for model names that begin with `claude`, else
        `basic`."""
        if self.model_profile:
            return self.model_profile
        host = urlsplit(self.model_url).hostname or "" if self.model_url else "api.anthropic.com"
        official = host == "anthropic.com" or host.endswith(".anthropic.com")
        return "claude" if official or model.startswith("claude") else "basic"

    def sees(self, model: str) -> bool:
        """Whether a model sees pictures. Where nothing is said, those of the `claude` profile
        do."""
        if self.keyless:
            return False
        return (
            self.model_vision == "yes" if self.model_vision else self.profile_for(model) == "claude"
        )

    @property
    def uploads_pictures(self) -> bool:
        """Whether pictures are uploaded once and referred to, rather than sent along with every
        request."""
        if self.files_api:
            return self.files_api == "on"
        host = (urlsplit(self.model_url).hostname or "") if self.model_url else "api.anthropic.com"
        return host == "anthropic.com" or host.endswith(".anthropic.com")


VARIABLES = {name: path for path, key in keys(Settings) for name in (key.name, *key.also)}
"""Environment variable (and key in Streamlit's secrets) -> field."""
