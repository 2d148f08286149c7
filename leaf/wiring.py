"""build(settings) -> Leaf: the one place that constructs things. check(settings) says what is configured and what works here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from leaf.errors import LeafError, StoreBusyError
from leaf.retries import Again, Waits, retry
from leaf.settings import Settings

if TYPE_CHECKING:
    from leaf.agent.calibration import Calibration
    from leaf.agent.loop import Agent
    from leaf.agent.models.base import Model
    from leaf.app import Leaf
    from leaf.drive.drive import Drive
    from leaf.files.library import Library
    from leaf.jobs.jobs import Jobs
    from leaf.remote.contract import Commands
    from leaf.sandbox.pool import Pool
    from leaf.store import Store
    from leaf.tables.notebooks import Notebooks
    from leaf.tables.tables import Tables

GIGABYTE = 1024**3
LITTLE_SPACE = 2 * GIGABYTE
PATIENCE = 2.0
"""Seconds that a command waits for the data."""


def build(settings: Settings) -> Leaf:
    """A whole application over the data folder of `settings`. Raises StoreBusyError, StoreError, SettingsError."""
    from leaf.agent.calibration import Calibration
    from leaf.agent.models.directory import ModelDirectory
    from leaf.app import Leaf
    from leaf.budgets.budgets import Budgets
    from leaf.documents.documents import Documents
    from leaf.drive.drive import Drive
    from leaf.runs.engine import Engine
    from leaf.runs.execute import Executor
    from leaf.runs.runs import QueueLimits, Runs
    from leaf.sandbox.pool import Pool
    from leaf.sessions.house import House
    from leaf.store import open_store
    from leaf.tables.tables import Tables

    store = open_store(settings)
    pool = Pool(settings.home)
    library = _library(settings, store, pool)
    tables = Tables(store, pool, settings.home)
    drive = Drive(settings, store, library)
    documents = Documents(store, pool, library)
    calibration = Calibration(settings.home / "rates.json")
    agent = _agent(settings, store, calibration)
    engine = Engine(settings.home, settings.database_url)
    queue = QueueLimits(settings.runs_per_user, settings.runs)
    budgets = Budgets(store.db, settings)
    python = _notebooks(settings, store, tables)
    executor = Executor(
        store,
        library,
        tables,
        drive,
        documents,
        agent,
        settings.limits,
        budgets=budgets,
        file_tokens=settings.file_tokens,
        python=python,
    )
    runs = Runs(executor, store, engine, queue)
    models = ModelDirectory(settings, lambda: _ask_models(settings))
    jobs = _jobs(settings, store, library, tables, drive)

    def close() -> None:
        runs.close()
        jobs.close()
        library.close()
        if python is not None:
            python.close()
        pool.close()
        store.close()

    house = House(settings, store, library, tables, drive, documents, runs, models, calibration, budgets, jobs, python)
    return Leaf(house, close)


def reach(settings: Settings) -> tuple[Commands, str]:
    """What a command works on, and where that is: the app that holds the data, or Leaf in this process (then an empty address).

    A process that is just starting or ending holds the data for a moment without being the app yet, or any more; hence the
    patience before StoreBusyError is raised.
    """
    from leaf.remote.client import connect, find

    def once() -> tuple[Commands, str]:
        app = find(settings.home)
        return (connect(app), app.url) if app is not None else (build(settings), "")

    waits = Waits(repeat(0.1), patience=PATIENCE)
    return retry(once, lambda e: Again() if isinstance(e, StoreBusyError) else None, waits)


def _library(settings: Settings, store: Store, pool: Pool) -> Library:
    from leaf.files.library import Library
    from leaf.files.members import Allowed
    from leaf.sound.engines import choose

    return Library(
        store,
        pool,
        settings.home,
        limit_bytes=settings.max_upload_bytes,
        transcriber=choose(settings),
        patience=settings.limits.seconds / 2,
        archives=Allowed(settings.archive_files, settings.archive_bytes),
    )


def _agent(settings: Settings, store: Store, calibration: Calibration) -> Agent:
    from leaf.agent.endpoint import Endpoint
    from leaf.agent.finishers import FINISHERS
    from leaf.agent.loop import Agent
    from leaf.agent.models.prices import context_window
    from leaf.tools import registry

    endpoint = Endpoint(
        _model(settings, store),
        profile_for=settings.profile_for,
        sees_for=settings.sees,
        window_for=lambda model: settings.model_window or context_window(model),
        can_write=not settings.keyless,
        calibration=calibration,
        context_share=settings.context_share,
        max_output_tokens=settings.max_output_tokens,
        patience=settings.model_patience,
    )
    return Agent(endpoint, registry.all_tools(), registry.schemas(), FINISHERS)


def _jobs(settings: Settings, store: Store, library: Library, tables: Tables, drive: Drive) -> Jobs:
    from leaf.jobs.jobs import Jobs, Work
    from leaf.jobs.work import DriveWork, FilesWork, TranscriptWork
    from leaf.store.jobs import Kind

    works: dict[Kind, Work] = {
        "files": FilesWork(store, library, tables),
        "drive": DriveWork(store, library, tables, drive),
        "transcript": TranscriptWork(store, library),
    }
    return Jobs(store, library, works, shared=bool(settings.database_url))


def _notebooks(settings: Settings, store: Store, tables: Tables) -> Notebooks | None:
    """Where Python runs; None on a machine that cannot confine it, where the tools for it are absent as well."""
    from leaf.sandbox.confine import confinement
    from leaf.sandbox.packages import Packages
    from leaf.sandbox.room import room
    from leaf.sandbox.sessions import LIMITS, Sessions
    from leaf.tables.notebooks import Notebooks

    if confinement().kind != "landlock":
        return None
    limits = replace(LIMITS, memory_mb=min(LIMITS.memory_mb, room().child_mb))
    sessions = Sessions(settings.home, idle_seconds=60 * settings.python_idle_minutes, limits=limits)
    return Notebooks(store, sessions, tables, Packages(settings.home, settings.packages))


def confined(home: Path, function: str, arguments: Mapping[str, Any], inputs: Mapping[str, Path]) -> Any:
    """One call in a confined child, for a command that needs nothing else. Raises what the function raises, SandboxError."""
    from leaf.sandbox.pool import Limits, Pool

    pool = Pool(home, size=1)
    try:
        return pool.call(function, arguments, inputs=inputs, limits=Limits(seconds=30, memory_mb=1024, output_mb=16))
    finally:
        pool.close()


def _model(settings: Settings, store: Store) -> Model:
    if settings.keyless:
        from leaf.agent.models.keyless import KeylessModel

        return KeylessModel()
    from leaf.agent.media import Media
    from leaf.agent.models.claude import ANTHROPIC, ClaudeModel

    media = Media(store, endpoint=settings.model_url or ANTHROPIC, uploads=settings.uploads_pictures)
    # No retries here: the run waits, and says so.
    return ClaudeModel(api_key=settings.api_key, base_url=settings.model_url, retries=0, media=media)


def _ask_models(settings: Settings) -> list[tuple[str, str]]:
    from leaf.agent.models.claude import ClaudeModel

    return ClaudeModel(api_key=settings.api_key, base_url=settings.model_url).list_models()


@dataclass(frozen=True)
class Check:
    """One line of the doctor."""

    name: str
    ok: bool
    text: str
    needed: bool = True
    """Whether Leaf cannot do its work without it."""


def check(settings: Settings) -> list[Check]:
    """What is configured, what works here, what does not. Opens nothing that another process may hold for long."""
    return list(_checks(settings))


def _checks(settings: Settings) -> Iterator[Check]:
    yield _check_versions()
    yield _check_sqlite(settings)
    yield _check_memory()
    yield _check_home(settings.home)
    app, runs = _check_app(settings)
    yield app
    yield _check_store(settings, held=runs)
    yield _check_sandbox(settings)
    yield _check_python()
    yield _check_model(settings)
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
    system = ", ".join(filter(None, (f"{platform.system()} {platform.release()} {platform.machine()}", libc)))
    packages = {
        "DuckDB": "duckdb",
        "Streamlit": "streamlit",
        "DBOS": "dbos",
        "SQLAlchemy": "sqlalchemy",
        "anthropic": "anthropic",
    }
    versions = {name: installed(package) for name, package in packages.items()}
    named = ", ".join(f"{name} {found}" for name, found in versions.items())
    text = f"{leaf.__version__} on Python {platform.python_version()}, {system}; {named}"
    if "missing" in versions.values():
        return Check("Leaf", False, f"{text}. Install what is missing: python -m pip install -r requirements.txt")
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
        return Check("SQLite", False, f"{text} has no full-text search (FTS5). Use a Python whose SQLite has it.")
    except LeafError as e:
        return Check("SQLite", False, str(e))
    return Check("SQLite", True, text)


def _check_memory() -> Check:
    from leaf.sandbox.room import room

    found = room()
    if not found.total_mb:
        return Check("Memory", True, "this system does not say how much there is", needed=False)
    if not found.tight:
        return Check("Memory", True, f"{found.total_mb:,} MB", needed=False)
    text = f"{found.total_mb:,} MB; files and SQL are handled {found.running} at a time, with at most {found.child_mb:,} MB each"
    return Check("Memory", True, text, needed=False)


def _check_home(home: Path) -> Check:
    import shutil

    try:
        home.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(home).free
    except OSError as e:
        return Check("Data folder", False, f"{home} cannot be used: {e.strerror}. Set LEAF_HOME to another folder.")
    space = f"{free / GIGABYTE:,.0f} GB free"
    if free < LITTLE_SPACE:
        return Check("Data folder", False, f"{home}, only {space}. Make room, or set LEAF_HOME to another disk.", needed=False)
    return Check("Data folder", True, f"{home}, {space}")


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


def _check_sandbox(settings: Settings) -> Check:
    from leaf.sandbox.confine import confinement
    from leaf.sandbox.pool import Pool

    found = confinement()
    pool = Pool(settings.home, size=1)
    try:
        pool.call("platform:python_version", {})
    except LeafError as e:
        return Check("Sandbox", False, str(e))
    finally:
        pool.close()
    if found.kind == "landlock":
        return Check("Sandbox", True, "files and SQL are handled in a confined child process (Landlock)")
    return Check(
        "Sandbox", False, f"files and SQL are handled in a child process without confinement: {found.reason}", needed=False
    )


def _check_sound(settings: Settings) -> Check:
    from leaf.sound.engines import HOW, choose

    engine = choose(settings)
    if engine is None:
        return Check("Sound", False, f"audio and video are not transcribed. {HOW}", needed=False)
    return Check("Sound", True, f"audio and video are transcribed by {engine.name}")


def _check_python() -> Check:
    from leaf.sandbox.confine import confinement

    found = confinement()
    if found.kind == "landlock":
        return Check("Python", True, "the agent can run code in a confined child process (Landlock)", needed=False)
    text = f"the agent runs no code, since nothing here could confine it: {found.reason}"
    return Check("Python", False, text, needed=False)


def _check_drive(settings: Settings) -> Check:
    if settings.google.service_account:
        return Check("Google Drive", True, "a service account is configured", needed=False)
    if settings.google.has_client:
        return Check("Google Drive", True, "users can connect theirs", needed=False)
    text = "not configured: set LEAF_GOOGLE_CLIENT_ID and LEAF_GOOGLE_CLIENT_SECRET, see docs/drive.md."
    return Check("Google Drive", False, text, needed=False)


def _check_model(settings: Settings) -> Check:
    if settings.keyless:
        text = "none connected: rules answer. Set ANTHROPIC_API_KEY, or LEAF_MODEL_URL for a server of your own."
        return Check("Model", False, text, needed=False)
    where = urlsplit(settings.model_place).netloc or "Anthropic's API"
    profile = settings.profile_for(settings.model)
    try:
        answers = _try_model(settings)
        offered = _offered(settings)
    except LeafError as e:
        return Check("Model", False, f"{settings.model} at {where}: {e}")
    return Check("Model", True, f"{settings.model} at {where} (profile {profile}){answers}, {offered}")


def _try_model(settings: Settings) -> str:
    """Ask a server of one's own for one word: that it lists models does not say that it can be asked. Raises ModelError."""
    import threading

    from leaf.agent.models.base import ModelRequest
    from leaf.agent.models.claude import ClaudeModel

    if not settings.model_url:
        return ""
    model = ClaudeModel(api_key=settings.api_key, base_url=settings.model_url, stall_seconds=60)
    question = {"role": "user", "content": [{"type": "text", "text": "Answer with the one word: ready"}]}
    request = ModelRequest(settings.model, "Be brief.", (), [question], max_tokens=8, profile="basic")
    model.turn(request, lambda _event: None, threading.Event())
    return " answers"


def _offered(settings: Settings) -> str:
    """How many models there are. A server of one's own may answer without listing them. Raises ModelError."""
    try:
        return f"{len(_ask_models(settings))} models offered"
    except LeafError:
        if not settings.model_url:
            raise
        return "which does not list its models"
