"""check(settings) says what is configured and what works here: `leaf doctor`, and the settings
page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from leaf.agent.connections import ModelConnection
from leaf.agent.probe import Tested, ask
from leaf.errors import LeafError
from leaf.settings import Settings
from leaf.wiring import confined, model_server

GIGABYTE = 1024**3
LITTLE_SPACE = 2 * GIGABYTE
WRITTEN = 64 * 1024
"""Bytes that the data folder has to take."""


@dataclass(frozen=True)
class Check:
    """One line of the doctor."""

    name: str
    ok: bool
    text: str
    needed: bool = True
    """Whether Leaf cannot do its work without it."""


class UsedModel(Protocol):
    """What answers whoever asks; see `sessions.models`."""

    def connection(self) -> ModelConnection: ...

    def try_used(self) -> Tested: ...


def check(settings: Settings, used: UsedModel | None = None) -> list[Check]:
    """What is configured, what works here, what does not. Opens nothing that another process may
    hold for long. Without `used` the environment's model is tried."""
    return list(_checks(settings, used))


def _checks(settings: Settings, used: UsedModel | None) -> Iterator[Check]:
    yield _check_versions()
    yield _check_sqlite(settings)
    yield _check_memory()
    yield _check_home(settings.home)
    yield _check_space(settings)
    app, runs = _check_app(settings)
    yield app
    yield _check_store(settings, held=runs)
    yield _check_storage(settings, held=runs)
    if settings.database_url:
        yield _check_sharing(settings)
    yield _check_sandbox(settings)
    yield _check_python()
    yield _check_model(settings, used)
    yield _check_sound(settings)
    yield _check_drive(settings)


def _check_versions() -> Check:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import leaf

    def installed(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "missing"

    libc = " ".join(platform.libc_ver()).strip()
    system = ", ".join(
        filter(None, (f"{platform.system()} {platform.release()} {platform.machine()}", libc))
    )
    packages = {
        "DuckDB": "duckdb",
        "Streamlit": "streamlit",
        "DBOS": "dbos",
        "SQLAlchemy": "sqlalchemy",
        "anthropic": "anthropic",
    }
    versions = {name: installed(package) for name, package in packages.items()}
    named = ", ".join(f"{name} {number}" for name, number in versions.items())
    text = f"{leaf.__version__} on Python {platform.python_version()}, {system}; {named}"
    if "missing" in versions.values():
        return Check(
            "Leaf",
            False,
            f"{text}. Install what is missing: python -m pip install -r requirements.txt",
        )
    return Check("Leaf", True, text)


def _check_sqlite(settings: Settings) -> Check:
    """SQLite keeps the search index, and the runs where there is no PostgreSQL."""
    import sqlite3
    from contextlib import closing

    from leaf.runs.sqlite import driver

    text = sqlite3.sqlite_version
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
        if not settings.database_url:
            used = driver()
            text += f", {used.note}" if used.note else ""
    except sqlite3.OperationalError:
        return Check(
            "SQLite",
            False,
            f"{text} has no full-text search (FTS5). Use a Python whose SQLite has it.",
        )
    except LeafError as e:
        return Check("SQLite", False, str(e))
    return Check("SQLite", True, text)


def _check_memory() -> Check:
    from leaf.sandbox.capacity import room

    memory = room()
    if not memory.total_mb:
        return Check("Memory", True, "this system does not say how much there is", needed=False)
    if not memory.tight:
        return Check("Memory", True, f"{memory.total_mb:,} MB", needed=False)
    text = (
        f"{memory.total_mb:,} MB; files and SQL are handled {memory.running} at a time, with at "
        f"most {memory.child_mb:,} MB each"
    )
    return Check("Memory", True, text, needed=False)


def _check_home(home: Path) -> Check:
    import shutil
    import tempfile

    from leaf.settings.private import keep_private, readers

    try:
        others = readers(home) if home.exists() else ""
        keep_private(home)
        free = shutil.disk_usage(home).free
        with tempfile.TemporaryFile(dir=home) as file:
            file.write(bytes(WRITTEN))
    except LeafError as e:
        return Check("Data folder", False, str(e))
    except OSError as e:
        return Check(
            "Data folder",
            False,
            f"{home} cannot be used: {e.strerror}. Mend that, or set LEAF_HOME to another folder.",
        )
    if others:
        return Check(
            "Data folder",
            False,
            f"{others} could look into {home}; Leaf has just taken that away. What was read before "
            f"cannot be called back: look who could.",
            needed=False,
        )
    space = f"{free / GIGABYTE:,.0f} GB free"
    if free < LITTLE_SPACE:
        return Check(
            "Data folder",
            False,
            f"{home}, only {space}. Make room, or set LEAF_HOME to another disk.",
            needed=False,
        )
    return Check("Data folder", True, f"{home}, {space}")


def _check_space(settings: Settings) -> Check:
    from leaf.store.space import GIGABYTE as GIB
    from leaf.store.space import Space

    used = Space(settings.home, int(settings.disk_gb * GIB)).used()
    full = bool(used.limit) and used.total >= used.limit
    text = f"{used.words}." + (
        " Nothing more is kept: delete chats and files for good, or raise LEAF_DISK_GB."
        if full
        else ""
    )
    return Check("Disk use", not full, text, needed=False)


def _check_app(settings: Settings) -> tuple[Check, bool]:
    """The line, and whether an app holds the data."""
    from leaf.remote.client import find

    try:
        app = find(settings.home)
    except LeafError as e:
        return Check("App", False, str(e)), True
    if app is None:
        return Check("App", True, "none that commands can reach"), False
    return Check("App", True, f"runs at {app.url}, process {app.pid}; commands go through it"), True


def _check_store(settings: Settings, *, held: bool) -> Check:
    from leaf.store import open_store

    kind = "PostgreSQL" if settings.database_url else "DuckDB"
    if held:
        return Check("History", True, f"{kind}, held by the app")
    try:
        open_store(settings).close()
    except LeafError as e:
        return Check("History", False, str(e))
    return Check("History", True, f"{kind}, opens")


def _check_storage(settings: Settings, *, held: bool) -> Check:
    """Where the bytes of files last, and whether they can be written there."""
    from leaf.settings.storage import FOLDER

    if settings.storage.bucket:
        return _check_bucket(settings)
    if settings.database_url and settings.storage.url != FOLDER:
        return _check_files_in_database(settings, held=held)
    lasting = "in the data folder; they last as long as its disk does"
    return Check("Files", True, lasting, needed=False)


def _check_sharing(settings: Settings) -> Check:
    """Whether other Leafs can work on the same database."""
    from leaf.settings.storage import FOLDER

    lacking = []
    if not settings.secret_keys:
        lacking.append("LEAF_SECRET_KEY, or what one Leaf has sealed opens at no other")
    if settings.storage.url == FOLDER:
        lacking.append("LEAF_STORAGE_URL without `file`, or each has files that others lack")
    if lacking:
        text = f"this one alone works well on its database; for others set {'; and '.join(lacking)}"
        return Check("Several Leafs", False, text, needed=False)
    text = (
        "others may work on the same database, with the same settings; a balancer has to keep each "
        "browser at one of them (sticky sessions)"
    )
    return Check("Several Leafs", True, text, needed=False)


def _check_bucket(settings: Settings) -> Check:
    from leaf.store.objects.bucket import BucketObjects

    try:
        bucket = BucketObjects(settings.storage)
        bucket.check(writing=True)
    except LeafError as e:
        return Check("Files", False, str(e))
    return Check("Files", True, f"in {bucket.name}, which takes and deletes them")


def _check_files_in_database(settings: Settings, *, held: bool) -> Check:
    from leaf.store import open_store
    from leaf.store.objects.base import in_megabytes

    most = in_megabytes(settings.storage.database_bytes)
    if held:
        return Check("Files", True, f"in the database, at most {most}, held by the app")
    try:
        store = open_store(settings)
    except LeafError:
        return Check("Files", False, "in the database, which does not open: see History")
    try:
        store.blobs.place.check(writing=True)
    except LeafError as e:
        return Check("Files", False, str(e))
    finally:
        store.close()
    return Check("Files", True, f"in the database, at most {most}")


def _check_sandbox(settings: Settings) -> Check:
    from leaf.sandbox.confine import confinement

    status = confinement()
    try:
        confined(settings.home, "platform:python_version", {}, {}, str)
    except LeafError as e:
        return Check("Sandbox", False, str(e))
    if status.kind == "landlock":
        text = "files and SQL are handled in a confined child process (Landlock)"
        return Check("Sandbox", True, f"{text}; {_bound_of(settings.home)}")
    return Check(
        "Sandbox",
        False,
        f"files and SQL are handled in a child process without confinement: {status.reason}",
        needed=False,
    )


def _bound_of(home: Path) -> str:
    """What keeps children from filling the disk."""
    from leaf.sandbox.boxes import own_space

    if most := own_space(home):
        size = f"{most / 1024**2:,.0f} MB"
        return f"what they write is bounded by the kernel, {size} for all, and each by Leaf's watch"
    return "what they write is bounded by Leaf's watch, and each file by the kernel"


def _check_sound(settings: Settings) -> Check:
    from leaf.transcription.engines import HOW, choose

    engine = choose(settings)
    if engine is None:
        return Check("Sound", False, f"audio and video are not transcribed. {HOW}", needed=False)
    return Check("Sound", True, f"audio and video are transcribed by {engine.name}")


def _check_python() -> Check:
    from leaf.sandbox.confine import confinement

    status = confinement()
    if status.kind == "landlock":
        return Check(
            "Python",
            True,
            "the agent can run code in a confined child process (Landlock)",
            needed=False,
        )
    text = f"the agent runs no code, since nothing here could confine it: {status.reason}"
    return Check("Python", False, text, needed=False)


def _check_drive(settings: Settings) -> Check:
    if settings.google.service_account:
        return Check("Google Drive", True, "a service account is configured", needed=False)
    if settings.google.has_client:
        return Check("Google Drive", True, "users can connect theirs", needed=False)
    text = (
        "not configured: set LEAF_GOOGLE_CLIENT_ID and LEAF_GOOGLE_CLIENT_SECRET, see "
        "docs/drive.md."
    )
    return Check("Google Drive", False, text, needed=False)


def _check_model(settings: Settings, used: UsedModel | None) -> Check:
    own = _own_model(used)
    if used and own and own.source == "own":
        return _check_own_model(used, own)
    if settings.keyless:
        text = (
            "none connected: simple questions only. Connect one in the settings, or set "
            "ANTHROPIC_API_KEY, or LEAF_MODEL_URL for a server of your own."
        )
        return Check("Model", False, text, needed=False)
    where = urlsplit(settings.model_place).netloc or "Anthropic's API"
    profile = settings.profile_for(settings.model)
    try:
        answers = _try_model(settings)
        offered = _offered(settings)
    except LeafError as e:
        return Check("Model", False, f"{settings.model} at {where}: {e}")
    return Check(
        "Model", True, f"{settings.model} at {where} (profile {profile}){answers}, {offered}"
    )


def _own_model(used: UsedModel | None) -> ModelConnection | None:
    """None also where the data cannot be opened, which another line says."""
    try:
        return used.connection() if used else None
    except LeafError:
        return None


def _check_own_model(used: UsedModel, own: ModelConnection) -> Check:
    """A connection that was made on the settings page."""
    try:
        trial = used.try_used()
    except LeafError as e:
        return Check("Model", False, f"{own.words}: {e}")
    return Check("Model", True, f"{trial.model} at {own.words}; it answers")


def _try_model(settings: Settings) -> str:
    """Ask a server of one's own for one word: that it lists models does not say that it can be
    asked. Raises ModelError."""
    if not settings.model_url:
        return ""
    ask(model_server(settings), settings.model)
    return " answers"


def _offered(settings: Settings) -> str:
    """How many models there are. A server of one's own may answer without listing them. Raises
    ModelError."""
    try:
        return f"{len(model_server(settings).list_models())} models offered"
    except LeafError:
        if not settings.model_url:
            raise
        return "which does not list its models"
