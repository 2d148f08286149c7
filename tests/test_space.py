"""What is used of the disk, by kind, and what happens once the cap is reached."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from leaf.doctor import _check_space
from leaf.errors import SpaceError
from leaf.files.captions import KeptCaptions
from leaf.sandbox.packages import InstallPlan, Packages
from leaf.settings import Settings, load
from leaf.store.space import GIGABYTE, Space
from leaf.tools.base import ToolOutput
from tests.leaf_kit import SALES, add, finished, opened

CAP = 16.0 * 1024**2 / GIGABYTE
"""Sixteen megabytes; a history with an answer or two takes about three."""


def test_kinds_are_added_up_from_the_folder(tmp_path: Path) -> None:
    for name, taken in (
        ("blobs/w/aa/x", 3_000),
        ("tables/w/x/0.parquet", 500),
        ("leaf.duckdb", 700),
        ("runs.sqlite-wal", 50),
        ("boxes/1/in/file", 9_999),
        ("app.json", 5),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(taken))
    used = Space(tmp_path, 10_000).used()
    assert used.kinds == {"files": 3_000, "history": 750, "converted tables": 500, "other": 5}
    assert (used.total, used.limit) == (4_255, 10_000)
    assert list(used.kinds) == ["files", "history", "converted tables", "other"]
    assert Space(tmp_path / "nothing").used().total == 0


def test_at_the_cap_uploads_results_and_tables_are_refused_and_all_else_works(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, disk_gb=CAP) as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", SALES)
        chat = session.chats.create()
        session.attached.add(chat.id, [file.id])

        def query() -> ToolOutput:
            return session.tools.run("query_tables", {"sql": "SELECT 1"}, chat_id=chat.id)

        query()
        ballast = tmp_path / "blobs" / "ballast"
        ballast.write_bytes(bytes(17 * 1024**2))
        leaf._house.store.space.look_again()
        said = "The 16.0 MB that Leaf may use on this disk are used up"
        with pytest.raises(SpaceError, match=said):
            add(session, "more.csv", b"a,b\n1,2\n")
        with pytest.raises(SpaceError, match=said):
            query()
        plan, stop = InstallPlan("seaborn", "0.13.2"), threading.Event()
        packages = Packages(tmp_path, check_room=leaf._house.store.space.check)
        for kept in (packages, leaf._house.python and leaf._house.python.packages):
            with pytest.raises(SpaceError, match=said):
                (kept or packages).add(session.scope.workspace_id, chat.id, plan, stop)
        with pytest.raises(SpaceError, match=said):
            KeptCaptions(leaf._house.store).check_room()
        answer = finished(session, session.messages.send(chat.id, "total revenue", [file.id]).id)
        assert answer.status == "completed"
        assert said in repr(answer.parts)
        assert session.files.path(file.id).read_bytes() == SALES
        job = session.jobs.begin(1, origin="test")
        session.jobs.take_paths(job.id, [file_of(tmp_path)])
        session.jobs.all_arrived(job.id)
        session.jobs.wait(job.id, 60)
        assert [one.problem.startswith(said) for one in session.jobs.outcomes(job.id)] == [True]
        ballast.unlink()
        session.files.purge(file.id)  # after which Leaf looks again
        assert add(session, "again.csv", SALES)


def file_of(folder: Path) -> Path:
    path = folder.parent / "one.csv"
    path.write_bytes(b"x,y\n1,2\n")
    return path


def test_doctor_says_how_much_is_used_and_when_it_is_full(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "x").write_bytes(bytes(3 * 1024**2))
    ok = _check_space(Settings(home=tmp_path, disk_gb=1))
    assert (ok.ok, ok.text) == (True, "3.0 MB of 1 GB used: 3.0 MB files.")
    full = _check_space(Settings(home=tmp_path, disk_gb=CAP / 8))
    assert not full.ok
    assert "LEAF_DISK_GB" in full.text
    assert not full.needed


def test_the_setting_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAF_DISK_GB", "1.5")
    assert load().disk_gb == 1.5
