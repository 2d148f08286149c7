"""The whole house where files last elsewhere than on its disk: the disk is lost between two
questions, two houses work on one store, the store is away or was altered; and the commands."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.cli.main import main
from leaf.doctor import check
from leaf.documents.documents import DocumentDraft
from leaf.errors import LeafError, StorageError
from leaf.files.line import problem
from leaf.replay import replay
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.settings.storage import Storage
from leaf.settings.values import Sound
from leaf.store import care, open_store
from leaf.store.documents import VersionChange
from leaf.store.objects.base import key_of
from tests import pictures_kit, sounds
from tests.leaf_kit import SALES, add, finished, opened
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import wait_until
from tests.storage_kit import choose, fresh_bucket, storage_at
from tests.tcp_proxy import TcpProxy
from tests.transcription_server import TranscriptionServer

SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY 1"
CHART = {"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"field": "revenue"}}}
CODE = """
import matplotlib.pyplot as plt
total = int(sales.revenue.sum())
plt.bar(["all"], [total])
plt.show()
with open("out.csv", "w") as out:
    out.write("a,b\\n1,2\\n")
print(total)
"""
TURNS = [
    Turn.call(("query_tables", {"sql": SQL})),
    Turn.call(("make_chart", {"result_id": "r1", "spec": CHART})),
    Turn.call(("run_python", {"code": CODE})),
    Turn.say("North made 400."),
]
AGAIN = [Turn.call(("run_python", {"code": "print(total + 1)"})), Turn.say("One more.")]
"""What is answered after the disk was lost, from a variable of before."""


@dataclass(frozen=True)
class Lasting:
    """Where a house has what lasts."""

    home: Path
    url: str
    storage: Storage

    def settings(self, **more: Any) -> dict[str, Any]:
        return {"database_url": self.url, "storage": self.storage, **more}

    def lose_disk(self) -> None:
        """All of the data folder but for DuckDB."""
        for path in self.home.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif self.url or not path.name.startswith("leaf.duckdb"):
                path.unlink()


@pytest.fixture(params=["database", "bucket"])
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Lasting:
    return Lasting(tmp_path / "home", *choose(request, request.param))


@pytest.fixture
def in_bucket(s3_port: int, tmp_path: Path) -> Lasting:
    return Lasting(tmp_path / "home", "", storage_at(s3_port, fresh_bucket(s3_port)))


def seen(leaf: Leaf, ids: Mapping[str, str]) -> dict[str, Any]:
    """All that somebody can open of what was made."""
    session = leaf.session(leaf.local_scope())
    chat, document = ids["chat"], session.documents.get(ids["document"])
    shown = session.chats.thread(chat).messages
    return {
        "files": [(f.name, problem(f)) for f in session.files.list()],
        "sales": session.files.path(ids["sales"]).read_bytes(),
        "thumbnail": session.files.thumbnail(ids["picture"]),
        "rows": session.results.page(chat, "r1").rows,
        "result": session.results.export(chat, "r1", "parquet", into=Path()).read_bytes(),
        "documents": [session.documents.content(document, n) for n in (1, 2)],
        "export": session.documents.export(document.id, "md").data,
        "written": session.python.written(chat, ids["written"], "out.csv").read_bytes(),
        "messages": [(m.id, m.role, m.parts) for m in shown],
        "transcript": session.transcripts.text(ids["recording"]),
        "figure": session.python.figure(chat, ids["figure"]),
        "chart": _chart(session, chat),
        "chat on paper": session.chats.markdown(chat),
    }


def _chart(session: Session, chat: str) -> bytes:
    """Of the rows that are kept."""
    page = session.results.page(chat, "r1")
    return session.results.draw(chat, CHART, page.columns, page.rows, "svg")


def make(leaf: Leaf, tmp_path: Path) -> dict[str, str]:
    session = leaf.session(leaf.local_scope())
    scope, house = session.scope, leaf._house
    sales, picture = (
        add(session, "sales.csv", SALES),
        add(session, "red.png", pictures_kit.png()),
    )
    recording = add(session, "talk.m4a", sounds.recording([(1.0, 400), (1.0, 0), (1.0, 500)]))
    session.transcripts.text(recording.id)
    chat = session.chats.create()
    answer = finished(session, session.messages.send(chat.id, "Who leads?", [sales.id]).id, 170)
    assert answer.status == "completed", answer.error
    (drawn,) = [p for p in answer.parts if p["type"] == "tool-run_python"]
    draft = DocumentDraft("Summary", "text", "# Summary\n\none\n")
    document = house.documents.create(scope, chat.id, draft, VersionChange("created", "m1"))
    session.documents.save(document.id, "# Summary\n\ntwo\n", 1)
    (tmp_path / "out.csv").write_bytes(b"a,b\n1,2\n")
    written = house.library.keep_written(scope, chat.id, "", "out.csv", tmp_path / "out.csv")
    return {
        "chat": chat.id,
        "sales": sales.id,
        "picture": picture.id,
        "document": document.id,
        "written": written.sha256,
        "recording": recording.id,
        "figure": drawn["output"]["data"]["figures"][0]["sha256"],
    }


def test_a_lost_disk_loses_nothing(lasting: Lasting, tmp_path: Path) -> None:
    with MessagesServer([*TURNS, *AGAIN]) as server, TranscriptionServer() as listener:
        model = {"api_key": "k", "model_url": server.url, "model": "claude-sonnet-5-5"}
        sound = {"sound": Sound(url=listener.url, key=listener.key)}
        with opened(lasting.home, **lasting.settings(**model, **sound)) as leaf:
            ids = make(leaf, tmp_path)
            before = seen(leaf, ids)
        lasting.lose_disk()
        with opened(lasting.home, **lasting.settings(**model)) as leaf:
            after = seen(leaf, ids)
            session = leaf.session(leaf.local_scope())
            asked = {"sql": "SELECT count(*) AS n FROM sales"}
            counted = session.tools.run("query_tables", asked, chat_id=ids["chat"])
            packed = session.chats.export(ids["chat"], "folder", tmp_path).read_bytes()
            rebuilt = finished(session, session.messages.send(ids["chat"], "And one?").id, 170)
    assert {name: after[name] == before[name] for name in before} == dict.fromkeys(before, True)
    assert counted.data.to_json()["table"]["rows"] == [[4]]
    (cell,) = [p for p in rebuilt.parts if p["type"] == "tool-run_python"]
    assert "701" in str(cell["output"]), cell
    bundle, data = tmp_path / "chat.zip", tmp_path / "data"
    bundle.write_bytes(packed)
    data.mkdir()
    (data / "sales.csv").write_bytes(SALES)
    replayed = replay(bundle, data, lambda _line: None)
    assert replayed.agrees, [line for line in replayed.lines if not line.agrees]


def test_the_disk_is_lost_between_two_questions_of_one_process(
    lasting: Lasting, tmp_path: Path
) -> None:
    with opened(lasting.home, **lasting.settings()) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES), session.chats.create()
        session.attached.add(chat.id, [file.id])
        for name in ("cache", "tables"):
            shutil.rmtree(lasting.home / name, ignore_errors=True)
        asked = {"sql": "SELECT count(*) AS n FROM sales"}
        for _ in range(2):
            ran = session.tools.run("query_tables", asked, chat_id=chat.id)
            assert ran.data.to_json()["table"]["rows"] == [[4]]


def test_two_houses_work_on_one_store(lasting: Lasting, postgres_url: str, tmp_path: Path) -> None:
    there = replace(lasting, url=lasting.url or postgres_url)
    with (
        opened(tmp_path / "one", **there.settings()) as one,
        opened(tmp_path / "two", **there.settings()) as two,
    ):
        mine, yours = (leaf.session(leaf.local_scope()) for leaf in (one, two))
        file = add(mine, "sales.csv", SALES)
        assert yours.files.path(file.id).read_bytes() == SALES
        assert yours.files.preview(file.id)
        yours.files.delete(file.id)
        yours.files.purge(file.id)
        assert (
            one._house.store.blobs.place.find(key_of(mine.scope.workspace_id, file.sha256)) is None
        )
        again = add(mine, "sales.csv", SALES)
        assert yours.files.path(again.id).read_bytes() == SALES


def test_a_file_that_was_altered_in_the_bucket_is_refused_and_mended_by_uploading_it(
    in_bucket: Lasting, tmp_path: Path
) -> None:
    with opened(in_bucket.home, **in_bucket.settings()) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES), session.chats.create()
        session.attached.add(chat.id, [file.id])
        (tmp_path / "bad").write_bytes(b"region,revenue\nNorth,1000000\n")
        blobs = leaf._house.store.blobs
        blobs.place.put(key_of(session.scope.workspace_id, file.sha256), tmp_path / "bad", 28)
        shutil.rmtree(in_bucket.home / "cache")
        said = r"sales\.csv.*altered or cut.*Upload"
        with pytest.raises(LeafError, match=said):
            session.files.path(file.id)
        asked = {"sql": "SELECT sum(revenue) AS n FROM sales"}
        with pytest.raises(LeafError, match=said):
            session.tools.run("query_tables", asked, chat_id=chat.id)
        (listed,) = session.files.list()
        assert "altered or cut" in problem(listed)
        assert session.files.add("sales.csv", BytesIO(SALES)).duplicate
        ran = session.tools.run("query_tables", asked, chat_id=chat.id)
        assert ran.data.to_json()["table"]["rows"] == [[700]]


def test_while_the_bucket_is_away_the_house_says_so(s3_port: int, tmp_path: Path) -> None:
    name = fresh_bucket(s3_port)
    with TcpProxy(s3_port) as proxy:
        storage = storage_at(proxy.port, name)
        with opened(tmp_path / "home", storage=storage) as leaf:
            session = leaf.session(leaf.local_scope())
            file, other = add(session, "sales.csv", SALES), add(session, "b.csv", b"a\n1\n")
            assert not any(leaf.parts().values())
            session.files.path(other.id).unlink()
            proxy.cut()
            assert leaf.parts()["storage"]
            assert session.files.path(file.id).read_bytes() == SALES
            with pytest.raises(StorageError, match=rf"The bucket {name} .*b\.csv cannot be read"):
                session.files.path(other.id)
            with pytest.raises(StorageError, match="was not kept"):
                add(session, "new.csv", b"a\n2\n")
            assert sorted(f.name for f in session.files.list()) == ["b.csv", "sales.csv"]
            assert not any(problem(f) for f in session.files.list())
            proxy.heal()
            assert session.files.path(other.id).read_bytes() == b"a\n1\n"
            add(session, "new.csv", b"a\n2\n")


@pytest.mark.parametrize(("patience", "heals"), [(60.0, True), (1.0, False)])
def test_a_call_waits_for_a_bucket_that_is_away_and_makes_its_document_once(
    s3_port: int, tmp_path: Path, patience: float, heals: bool
) -> None:
    turns = [
        Turn.call(("create_document", {"title": "Notes", "content": "Written down."})),
        Turn.say("That is all."),
    ]
    with TcpProxy(s3_port) as proxy, MessagesServer(turns) as server:
        storage = storage_at(proxy.port, fresh_bucket(s3_port))
        model = {"model_url": server.url, "api_key": "k", "model_patience": patience}
        with opened(tmp_path / "home", storage=storage, **model) as leaf:
            session = leaf.session(leaf.local_scope())
            chat = session.chats.create()
            proxy.cut()
            asked = session.messages.send(chat.id, "Write it down.").id
            if heals:
                run = session.messages.watch(asked)
                assert run is not None
                wait_until(lambda: "Trying again in" in str(run.read().chunks))
                proxy.heal()
            answer = finished(session, asked)
            (call,) = [p for p in answer.parts if p["type"] == "tool-create_document"]
            documents = session.documents.list(chat_id=chat.id)
            assert len(server.requests) == 2
            assert answer.status == "completed"
            if heals:
                assert call["state"] == "output-available"
                assert [session.documents.content(d) for d in documents] == ["Written down.\n"]
            else:  # it is told in the end, and answers as it can
                assert "does not answer as it should" in call["errorText"]
                assert not documents


# From a folder to a store, and the commands


@pytest.fixture
def environment(lasting: Lasting, monkeypatch: pytest.MonkeyPatch) -> Lasting:
    storage = lasting.storage
    variables = {
        "LEAF_HOME": str(lasting.home),
        "LEAF_DATABASE_URL": lasting.url,
        "LEAF_STORAGE_URL": storage.url,
        "AWS_ENDPOINT_URL": storage.endpoint,
        "AWS_REGION": storage.region,
        "AWS_ACCESS_KEY_ID": storage.key_id,
        "AWS_SECRET_ACCESS_KEY": storage.secret,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return lasting


def test_a_folder_is_moved_to_the_store_and_back(
    environment: Lasting, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = environment.home
    folder = {"database_url": environment.url, "storage": Storage(url="file")}
    with opened(home, **folder) as leaf:
        session = leaf.session(leaf.local_scope())
        files = [add(session, f"{i}.csv", f"a\n{i}\n".encode()) for i in range(5)]
    assert main(["storage", "check"]) == 1
    assert "0.csv: in the data folder alone; storage move copies it." in capsys.readouterr().out
    interrupted = iter([False, False, True])
    copied = care._copied

    def breaks(*given: Any) -> str:
        if next(interrupted, False):
            raise StorageError("away")
        return copied(*given)

    monkeypatch.setattr(care, "_copied", breaks)
    assert main(["storage", "move"]) == 1
    monkeypatch.setattr(care, "_copied", copied)
    assert main(["storage", "move"]) == 0
    assert "3 were copied to" in capsys.readouterr().out
    assert main(["storage", "check"]) == 0
    assert "5 of 5 are whole in" in capsys.readouterr().out
    shutil.rmtree(home / "blobs")
    with opened(home, **environment.settings()) as leaf:
        session = leaf.session(leaf.local_scope())
        assert session.files.path(files[3].id).read_bytes() == b"a\n3\n"
    assert main(["storage", "move", "--back", "--remove"]) == 0
    assert "5 were moved to the folder" in capsys.readouterr().out
    with opened(home, **folder) as leaf:
        session = leaf.session(leaf.local_scope())
        assert [session.files.path(f.id).read_bytes() for f in files] == [
            f"a\n{i}\n".encode() for i in range(5)
        ]
        assert list(open_place(environment).entries()) == []


def open_place(lasting: Lasting) -> Any:
    """The store alone, beside whoever holds the database."""
    if lasting.storage.bucket:
        from leaf.store.objects.bucket import BucketObjects

        return BucketObjects(lasting.storage)
    settings = Settings(home=lasting.home.parent / "beside", database_url=lasting.url)
    return open_store(settings).blobs.place


def test_check_names_what_is_missing_and_what_is_altered(
    environment: Lasting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(environment.home, **environment.settings()) as leaf:
        session = leaf.session(leaf.local_scope())
        gone, bad = add(session, "gone.csv", b"a\n1\n"), add(session, "bad.csv", b"a\n2\n")
        add(session, "good.csv", b"a\n3\n")
        place, workspace = leaf._house.store.blobs.place, session.scope.workspace_id
        place.delete(key_of(workspace, gone.sha256))
        (tmp_path / "other").write_bytes(b"other")
        place.put(key_of(workspace, bad.sha256), tmp_path / "other", 5)
    assert main(["storage", "check"]) == 1
    said = capsys.readouterr().out
    assert f"file gone.csv: missing from {place.name}" in said
    assert f"file bad.csv: altered in {place.name}" in said
    assert "1 of 3 are whole" in said


def test_sweep_deletes_what_is_nobodys_and_old_and_nothing_else(
    environment: Lasting, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(environment.home, **environment.settings()) as leaf:
        session = leaf.session(leaf.local_scope())
        blobs, workspace = leaf._house.store.blobs, session.scope.workspace_id
        file = add(session, "sales.csv", SALES)
        orphan = blobs.put(workspace, BytesIO(b"nobody's"), 100).sha256
        blobs.put("another-installation", BytesIO(b"theirs"), 100)
    assert main(["storage", "sweep"]) == 0
    assert "0 that belong to nothing were deleted" in capsys.readouterr().out
    monkeypatch.setattr(care, "FRESH", timedelta(seconds=-5))
    assert main(["storage", "sweep", "--trial"]) == 0
    assert "1 that belong to nothing would be deleted" in capsys.readouterr().out
    assert main(["storage", "sweep"]) == 0
    said = capsys.readouterr().out
    assert "1 that belong to nothing were deleted (8 bytes)" in said
    assert "of other installations, stay" in said
    with opened(environment.home, **environment.settings()) as leaf:
        blobs = leaf._house.store.blobs
        assert not blobs.exists(workspace, orphan)
        assert blobs.exists("another-installation", hashlib.sha256(b"theirs").hexdigest())
        assert leaf.session(leaf.local_scope()).files.path(file.id).read_bytes() == SALES


def test_an_old_folder_beside_postgresql_opens_without_a_word(
    postgres_url: str, tmp_path: Path
) -> None:
    folder = {"database_url": postgres_url, "storage": Storage(url="file")}
    with opened(tmp_path, **folder) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES), session.chats.create()
        session.attached.add(chat.id, [file.id])
    with opened(tmp_path, database_url=postgres_url) as leaf:
        session = leaf.session(leaf.local_scope())
        assert session.files.path(file.id).is_relative_to(tmp_path / "blobs")
        place = leaf._house.store.blobs.place
        assert place.find(key_of(session.scope.workspace_id, file.sha256)) is not None


def test_a_full_quota_is_said_and_what_was_kept_is_used(postgres_url: str, tmp_path: Path) -> None:
    storage = Storage(database_bytes=100_000)
    with opened(tmp_path, database_url=postgres_url, storage=storage) as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", SALES)
        with pytest.raises(StorageError, match="LEAF_STORAGE_DATABASE_MB"):
            add(session, "large.bin", os.urandom(150_000))
        assert [f.name for f in session.files.list()] == ["sales.csv"]
        assert session.files.path(file.id).read_bytes() == SALES


def test_where_the_store_takes_nothing_more_questions_are_answered(
    postgres_url: str, tmp_path: Path
) -> None:
    def settings(most: int) -> dict[str, Any]:
        return {"database_url": postgres_url, "storage": Storage(database_bytes=most)}

    with opened(tmp_path, **settings(len(SALES))) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES), session.chats.create()
        session.attached.add(chat.id, [file.id])
        session.tools.run("query_tables", {"sql": SQL}, chat_id=chat.id)
        rows = session.results.page(chat.id, "r1").rows
        assert len(rows) == 3
        place = leaf._house.store.blobs.place
        assert [entry.size for entry in place.entries()] == [len(SALES)]
    with opened(tmp_path, **settings(1_000_000)) as leaf:
        session = leaf.session(leaf.local_scope())
        assert session.results.page(chat.id, "r1").rows == rows
        assert len(list(leaf._house.store.blobs.place.entries())) == 2


def test_the_doctor_says_where_files_last(environment: Lasting) -> None:
    from leaf.settings import load

    (found,) = (c for c in check(load()) if c.name == "Files")
    assert found.ok, found.text
    wrong = replace(load(), storage=storage_at(9, "shelf"), database_url="")
    started = time.monotonic()
    (found,) = (c for c in check(wrong) if c.name == "Files")
    assert not found.ok
    assert "The bucket shelf does not answer" in found.text
    assert "Error" not in json.dumps(found.text)
    assert time.monotonic() - started < 60
