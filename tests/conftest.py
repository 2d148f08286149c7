"""Fixtures that several packages share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leaf.sandbox import children
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, open_store, users
from leaf.store.model import Scope
from tests import forked_programs, postgres, s3_server
from tests.app_process import App
from tests.fork_servers import ForkServers
from tests.new_homes import NewHomes
from tests.storage_kit import KEPT, kept_at

if TYPE_CHECKING:
    from tests.stranger_kit import Planted

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Failures:
    """Says at once which test failed: a run that is cut off has told all that it knew."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        why = str(crash.message if crash else report.longrepr).partition("\n")[0]
        terminal = self._config.get_terminal_writer()
        terminal.line()
        terminal.line(f"{report.when} of {report.nodeid} failed: {why[:300]}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(config), "failures")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by what they need, which their fixtures tell: see `make quick`. What is the same
    wherever files last is shown once."""
    same = [item for item in items if _is_repeated(item)]
    config.hook.pytest_deselected(items=same)
    items[:] = [item for item in items if not _is_repeated(item)]
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        chosen = getattr(getattr(item, "callspec", None), "params", {})
        by_place = "database" in (chosen.get("place"), chosen.get("blobs"), chosen.get("lasting"))
        chosen_names = (chosen.get(name) for name in ("settings", "world", "kept", "module_kept"))
        by_name = any(str(name).startswith("postgres") for name in chosen_names)
        if "postgres_server" in fixtures or by_name or by_place:
            item.add_marker(pytest.mark.postgres)
        if "real_data" in fixtures:
            item.add_marker(pytest.mark.corpora)


def _is_repeated(item: pytest.Item) -> bool:
    chosen = getattr(getattr(item, "callspec", None), "params", {})
    where = chosen.get("kept", chosen.get("module_kept", KEPT[0]))
    return where != KEPT[0] and item.get_closest_marker("any_store") is not None


def pytest_collection_finish() -> None:
    """What is loaded by now stays: no collection need look at it again."""
    gc.freeze()


@pytest.fixture(scope="session")
def fork_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServers]:
    """Of this test process."""
    servers = ForkServers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


@pytest.fixture(scope="module", autouse=True)
def share_fork_servers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every Leaf and every pool of a module asks servers that have started already."""
    if getattr(request.module, "OWN_FORK_SERVERS", False):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(children, "ForkServer", request.getfixturevalue("fork_servers").lend)
        yield


@pytest.fixture(scope="session")
def new_homes(tmp_path_factory: pytest.TempPathFactory) -> NewHomes:
    """Of this test process."""
    return NewHomes(tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module", autouse=True)
def copy_databases(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a new data folder of a module's tests holds was made already."""
    if getattr(request.module, "OWN_DATABASES", False):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        request.getfixturevalue("new_homes").begin(patch)
        yield


@pytest.fixture(scope="module", autouse=True)
def fork_apps(request: pytest.FixtureRequest) -> Iterator[None]:
    """Apps begin as forks of a process that has their libraries; those that a test starts with
    another Python, or from another folder, begin anew all the same, and all of a module that looks
    at what an app loads."""
    if getattr(request.module, "OWN_PROCESSES", False):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(App, "popen", forked_programs.Popen)
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of third-party files; tests that need it are skipped where it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip("the folder of third-party files is not beside this repository")
    return REAL_DATA


@pytest.fixture(scope="session")
def foreign(real_data: Path) -> Path:
    """Folder of public corpora with their truth."""
    if not (real_data / "foreign").is_dir():
        pytest.skip("the folder of foreign corpora is not beside this repository")
    return real_data / "foreign"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with postgres.shared() as address:
        yield address


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest, postgres_server: str) -> str:
    """A database on the tests' server, for one test."""
    return postgres.of_test(request)


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    """The port of an S3 server on this machine."""
    with s3_server.server() as port:
        yield port


@pytest.fixture(params=KEPT)
def kept(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of a Leaf that has its history and files somewhere, fresh for a test."""
    return kept_at(request, request.param)


@pytest.fixture(scope="module", params=KEPT)
def module_kept(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The same for all tests of one file."""
    return kept_at(request, request.param)


@pytest.fixture(params=["duckdb", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    return Settings(home=tmp_path / "home", database_url=url)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """Confined children for the tests of one file."""
    opened = Pool(tmp_path_factory.mktemp("home"), size=2)
    yield opened
    opened.close()


@pytest.fixture
def scope(store: Store) -> Scope:
    """The person of a machine without sign-in."""
    return users.ensure_local_user(store.db)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = open_store(settings)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    """What strangers are kept from: made once, and taken before the first of them comes."""
    from tests import stranger_kit

    with stranger_kit.planted(tmp_path_factory.mktemp("planted")) as made:
        yield made
