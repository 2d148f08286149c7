"""build(settings) -> Leaf: the one place that constructs things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from leaf.errors import StoreBusyError
from leaf.retries import Again, Waits, retry
from leaf.settings import Settings

if TYPE_CHECKING:
    from leaf.agent.connections import ModelConnections
    from leaf.agent.endpoint import Endpoint
    from leaf.agent.loop import Agent
    from leaf.agent.models.claude import ClaudeModel
    from leaf.agent.models.reach import Reach
    from leaf.app import Leaf
    from leaf.budgets.budgets import Budgets
    from leaf.documents.documents import DocumentService
    from leaf.drive.drive import DriveService
    from leaf.files.library import Library
    from leaf.jobs.jobs import JobService
    from leaf.keeping.leftovers import Leftovers
    from leaf.keeping.signing import Signing
    from leaf.keeping.tidying import Tidying
    from leaf.remote.contract import Commands
    from leaf.runs.engine import Engine
    from leaf.runs.execute import Executor
    from leaf.runs.runs import Runs
    from leaf.runs.titles import Titles
    from leaf.sandbox.pool import Pool
    from leaf.sessions.house import House
    from leaf.store import Store
    from leaf.tables.notebooks import Notebooks
    from leaf.tables.tables import Tables

PATIENCE = 2.0
"""Seconds that a command waits for the data."""

T = TypeVar("T")


def build(settings: Settings) -> Leaf:
    """A whole application over the data folder of `settings`. Raises StoreBusyError, StoreError,
    SettingsError."""
    from leaf.app import Leaf
    from leaf.budgets.budgets import Budgets
    from leaf.documents.documents import DocumentService
    from leaf.drive.drive import DriveService
    from leaf.keeping.leftovers import Leftovers
    from leaf.keeping.remover import Remover
    from leaf.keeping.signing import Signing
    from leaf.keeping.tidying import Tidying
    from leaf.runs.edited import StepEditor
    from leaf.runs.engine import Engine
    from leaf.runs.titles import Titles
    from leaf.sandbox.pool import Pool
    from leaf.sessions.house import House
    from leaf.store import open_store
    from leaf.tables.tables import Tables

    store = open_store(settings)
    pool = Pool(settings.home)
    library = _library(settings, store, pool)
    tables = Tables(store, pool, settings.home)
    drive = DriveService(settings, store, library)
    documents = DocumentService(store, pool, library)
    connections = _connections(settings, store)
    budgets = Budgets(store.db, settings, free=connections.keyless)
    python = _notebooks(settings, store, tables)
    titles = Titles(store.db, budgets) if settings.titles else None
    works_on = (store, library, tables, drive, documents)
    executor = _executor(settings, works_on, python, connections, budgets, titles)
    engine = Engine(settings.home, settings.database_url)
    jobs = _jobs(store, library, tables, drive, engine)
    tidying = Tidying(store, lambda: remover.finish())
    signing = Signing(store.db)
    leftovers = Leftovers(store, tables, settings.home)
    begins = [tidying.begin, signing.begin, leftovers.begin]
    runs = _runs(settings, executor, store, engine, jobs, begins)
    remover = Remover(store, library, tables, runs, settings.home, python)
    house = House(
        settings,
        store,
        library,
        tables,
        drive,
        documents,
        runs,
        connections,
        budgets,
        jobs,
        remover,
        StepEditor(store, library, tables, drive, documents, python),
        python,
    )

    close = partial(_close, house, pool, titles, tidying, signing, leftovers)
    return Leaf(house, close, prepare=connections.prepare)


def _executor(
    settings: Settings,
    works_on: tuple[Store, Library, Tables, DriveService, DocumentService],
    python: Notebooks | None,
    connections: ModelConnections,
    budgets: Budgets,
    titles: Titles | None,
) -> Executor:
    from leaf.runs.execute import Executor

    return Executor(
        *works_on,
        _agent(connections.environment.endpoint),
        settings.limits,
        budgets=budgets,
        file_tokens=settings.file_tokens,
        python=python,
        connections=connections,
        titles=titles,
    )


def _close(
    house: House,
    pool: Pool,
    titles: Titles | None,
    tidying: Tidying,
    signing: Signing,
    leftovers: Leftovers,
) -> None:
    """What works is closed before what it works on."""
    house.jobs.close()  # before others hear that this process goes, and take what it has
    house.runs.close()
    signing.close()
    if titles is not None:
        titles.close()
    house.editor.close()
    tidying.close()
    leftovers.close()
    house.library.close()
    house.tables.close()
    if house.python is not None:
        house.python.close()
    pool.close()
    house.store.close()


def reach(settings: Settings) -> tuple[Commands, str]:
    """What a command works on, and where that is: the app that holds the data, or Leaf in this
    process (then an empty address).

    A process that is just starting or ending holds the data for a moment without being the app yet,
    or any more; hence the patience before StoreBusyError is raised.
    """
    from leaf.remote.client import connect, find

    def once() -> tuple[Commands, str]:
        app = find(settings.home)
        if app is not None:
            return connect(app), app.url
        # A command ends with its answer: a title would be paid for and never come.
        return build(replace(settings, titles=False)), ""

    waits = Waits(repeat(0.1), patience=PATIENCE)
    return retry(once, lambda e: Again() if isinstance(e, StoreBusyError) else None, waits)


def _library(settings: Settings, store: Store, pool: Pool) -> Library:
    from leaf.files.library import Library
    from leaf.files.members import Allowed
    from leaf.transcription.engines import choose

    return Library(
        store,
        pool,
        settings.home,
        limit_bytes=settings.max_upload_bytes,
        transcriber=choose(settings),
        patience=settings.limits.seconds / 2,
        archives=Allowed(settings.archive_files, settings.archive_bytes),
    )


def _agent(endpoint: Endpoint) -> Agent:
    from leaf.agent.finishers import FINISHERS
    from leaf.agent.loop import Agent
    from leaf.tools import registry

    return Agent(endpoint, registry.all_tools(), registry.schemas(), FINISHERS)


def _runs(
    settings: Settings,
    executor: Executor,
    store: Store,
    engine: Engine,
    jobs: JobService,
    in_background: list[Callable[[], None]],
) -> Runs:
    from leaf.keeping.expired import forget_expired
    from leaf.runs.board import QueueLimits
    from leaf.runs.runs import Runs
    from leaf.store import audit

    limits = QueueLimits(settings.runs_per_user, settings.runs)
    retention = timedelta(days=settings.audit_days)
    hourly = [
        lambda: audit.unscoped_sweep(store.db, retention),
        lambda: forget_expired(store),
        *in_background,
    ]
    return Runs(executor, store, engine, limits, hourly, others_changed=jobs.adopt)


def _jobs(
    store: Store, library: Library, tables: Tables, drive: DriveService, engine: Engine
) -> JobService:
    from leaf.jobs.jobs import JobService, Work
    from leaf.jobs.work import DriveWork, FilesWork, TranscriptWork
    from leaf.store.jobs import Kind

    works: dict[Kind, Work] = {
        "files": FilesWork(store, library, tables),
        "drive": DriveWork(store, library, tables, drive),
        "transcript": TranscriptWork(store, library),
    }
    return JobService(
        store,
        library,
        works,
        shared=engine.shared,
        process=lambda: engine.process_id if engine.shared else "",
    )


def _notebooks(settings: Settings, store: Store, tables: Tables) -> Notebooks | None:
    """Where Python runs; None on a machine that cannot confine it, where the tools for it are
    absent as well."""
    from leaf.sandbox.capacity import room
    from leaf.sandbox.confine import confinement
    from leaf.sandbox.packages import Packages
    from leaf.sandbox.sessions import LIMITS, Sessions
    from leaf.store.chat_packages import ChatPackages
    from leaf.tables.notebooks import Notebooks

    if confinement().kind != "landlock":
        return None
    limits = replace(LIMITS, memory_mb=min(LIMITS.memory_mb, room().child_mb))
    sessions = Sessions(
        settings.home, idle_seconds=60 * settings.python_idle_minutes, limits=limits
    )
    packages = Packages(
        settings.home,
        settings.packages,
        lists=ChatPackages(store.db),
        check_room=store.space.check,
    )
    return Notebooks(store, sessions, tables, packages)


def confined(
    home: Path,
    function: str,
    arguments: Mapping[str, Any],
    inputs: Mapping[str, Path],
    returns: type[T],
) -> T:
    """One call in a confined child, for a command that needs nothing else. Raises what the function
    raises, SandboxError."""
    from leaf.sandbox.limits import CallLimits
    from leaf.sandbox.pool import Pool

    pool = Pool(home, size=1)
    try:
        return pool.call(
            function,
            arguments,
            returns=returns,
            inputs=inputs,
            limits=CallLimits(
                seconds=30, memory_mb=1024, output_mb=16, answer_mb=64, items=4_000_000
            ),
        )
    finally:
        pool.close()


def _connections(settings: Settings, store: Store) -> ModelConnections:
    from leaf.agent.calibration import Calibration
    from leaf.agent.connections import ModelConnections
    from leaf.agent.models.keyless import KeylessModel

    calibration = Calibration(settings.home / "rates.json")

    def server(given: Settings, name: str, reach: Reach | None) -> ClaudeModel:
        from leaf.agent.media import Media
        from leaf.agent.models.claude import ClaudeModel

        media = Media(store, endpoint=name, uploads=given.uploads_pictures)
        # No retries here: the run waits, and says so.
        return ClaudeModel(given.api_key, given.model_url, retries=0, media=media, reach=reach)

    return ModelConnections(settings, store.db, calibration, server, model_server, KeylessModel())


def model_server(
    settings: Settings, reach: Reach | None = None, seconds: float = 60
) -> ClaudeModel:
    """The model server, to be asked what it has: without pictures, and with less patience than for
    an answer."""
    from leaf.agent.models.claude import ClaudeModel

    return ClaudeModel(
        settings.api_key, settings.model_url, retries=0, stall_seconds=seconds, reach=reach
    )
