"""Uploads: who may send them, where they go and how much is taken. A real app on loopback, with a
websocket of Streamlit's as a page opens it."""

from __future__ import annotations

import asyncio
import gc
import http.client
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from leaf.ui.receiving import FRAME, Held, UploadLimits, UploadRefusedError, Uploads, _Body
from tests.app_process import App
from tests.live_kit import wait_until
from tests.test_ui_cookies import cookie_of
from tests.test_ui_visitors import AUTH

MEBI = 1024 * 1024
BOUNDARY = "----leaf"
XSRF = generate_xsrf_token_string(None, None)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("receiving")
    (folder / "secrets.toml").write_text(AUTH)
    limits = {"LEAF_MAX_UPLOAD_MB": "200", "LEAF_UPLOADS_MB": "450"}
    running = App(folder / "home", secrets=folder / "secrets.toml", **limits).start()
    yield running
    running.stop()


def form(content: bytes, name: str = "a.csv", field: str = "file") -> bytes:
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
        f"Content-Type: text/csv\r\n\r\n"
    )
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


def send(app: App, session_id: str, body: bytes, cookie: str = "", file_id: str = "f1") -> int:
    wire = http.client.HTTPConnection("127.0.0.1", app.port, timeout=60)
    headers = {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "X-Xsrftoken": XSRF,
        "Cookie": f"_streamlit_xsrf={XSRF}; {cookie}",
    }
    try:
        wire.request("PUT", f"/_stcore/upload_file/{session_id}/{file_id}", body, headers)
        return wire.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        return 0  # refused while the body was on its way
    finally:
        wire.close()


@contextmanager
def page(app: App, cookie: str = "") -> Iterator[str]:
    """An open page; its session."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    with connect(
        f"ws://127.0.0.1:{app.port}/_stcore/stream",
        origin="https://app.example.org",  # type: ignore[arg-type] # a type of its own for text
        subprotocols=[Subprotocol("streamlit"), Subprotocol(XSRF)],
        additional_headers={"Cookie": f"_streamlit_xsrf={XSRF}; {cookie}"},
        max_size=None,
    ) as socket:
        ask = BackMsg()
        ask.rerun_script.query_string = ""
        socket.send(ask.SerializeToString())
        while True:
            found = ForwardMsg.FromString(socket.recv(30))
            if found.WhichOneof("type") == "new_session":
                break
        yield found.new_session.initialize.session_id


def resident(app: App) -> int:
    assert app._process is not None
    status = Path(f"/proc/{app._process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def readers(app: App) -> list[int]:
    """Processes of the app that read files."""
    assert app._process is not None
    found = list[int]()
    for thread in Path(f"/proc/{app._process.pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # what has ended meanwhile reads none
            children = (thread / "children").read_text().split()
            found += [
                int(pid)
                for pid in children
                if b"leaf.readers.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
            ]
    return found


def test_what_reads_files_is_started_when_the_first_one_begins_to_come(app: App) -> None:
    ann = cookie_of("ann")
    with page(app, ann) as session_id:
        assert send(app, session_id, form(b"a,b\n1,2\n")) == 403
        assert not readers(app)
        assert send(app, session_id, form(b"a,b\n1,2\n"), ann) == 204
        wait_until(lambda: bool(readers(app)))


def test_only_a_session_of_somebody_signed_in_takes_what_they_send(app: App) -> None:
    ann, bob = cookie_of("ann"), cookie_of("bob")
    with page(app) as anonymous, page(app, ann) as anns:
        assert send(app, anonymous, form(b"x")) == 403
        assert send(app, anonymous, form(b"x"), ann) == 403
        assert send(app, anns, form(b"x")) == 403
        assert send(app, anns, form(b"x"), bob) == 403
        assert send(app, anns, form(b"x"), ann) == 204
        assert send(app, anns, b"no form", ann) == 400
        assert send(app, anns, form(b"x").replace(b"filename", b"else"), ann) == 400


def test_uploads_lie_on_disk_within_limits_and_go_with_what_was_sent_them(app: App) -> None:
    """Six of 200 MB took 1.2 GB of memory."""
    cleo = cookie_of("cleo")
    body, lying = form(bytes(199 * MEBI)), app.home / "uploads"
    with page(app, cleo) as session_id:
        before = resident(app)
        sent = [send(app, session_id, body, cleo, f"f{number}") for number in range(3)]
        assert sent[:2] == [204, 204]
        assert sent[2] in (0, 413)
        assert resident(app) - before < 100 * MEBI
        assert send(app, session_id, form(bytes(201 * MEBI)), cleo) in (0, 413)
        sizes = sorted(path.stat().st_size for path in lying.iterdir())
        assert [size for size in sizes if size > MEBI] == [199 * MEBI] * 2
        assert {path.stat().st_mode & 0o777 for path in lying.iterdir()} == {0o600}


def uploads(home: Path, **limits: int) -> Uploads:
    given = UploadLimits(**{"file": 100, "person": 250, "total": 300, **limits})
    return Uploads(lambda: given, lambda: home)


def test_each_person_and_all_together_have_a_bound(tmp_path: Path) -> None:
    store = uploads(tmp_path)
    ann = [Held(store, "ann") for _ in range(3)]
    for held in ann[:2]:
        held.write(bytes(100))
    with pytest.raises(UploadRefusedError, match="larger"):
        ann[0].write(b"x")
    with pytest.raises(UploadRefusedError, match="at once"):
        ann[2].write(bytes(51))
    bob = Held(store, "bob")
    bob.write(bytes(100))
    with pytest.raises(UploadRefusedError, match="at once"):
        Held(store, "cleo").write(b"x")
    bob.drop()
    Held(store, "cleo").write(bytes(100))
    ann[0].finish()
    del ann, held
    assert store._held == {}
    assert list(store.folder().iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left, new = (uploads(tmp_path).folder() / f"upload-{name}" for name in ("left", "new"))
    for path in (left, new):
        path.write_text("x")
    os.utime(left, (1, 1))
    gone = new.with_name("upload-gone")
    gone.symlink_to(
        "what another process has handed over"
    )  # a name whose file is gone when it is looked at
    uploads(tmp_path).clear()
    gone.unlink()
    assert list((tmp_path / "uploads").iterdir()) == [new]


@pytest.mark.parametrize("cut", [1, 7, 64, 100_000])
@pytest.mark.parametrize("name", ["a.csv", "folder/ü ß.csv", "a;b=c.csv"])
def test_a_form_is_read_however_it_is_cut(tmp_path: Path, cut: int, name: str) -> None:
    content = b"a,b\r\n--" + BOUNDARY.encode()[:-1] + b"\r\n1,2\r\n" * 50
    held = Held(uploads(tmp_path, file=10_000, person=10_000, total=10_000), "ann")
    body = form(content, name)

    async def read() -> tuple[str, str]:
        reader = _Body(_headers(), held)
        for start in range(0, len(body), cut):
            await reader.take(body[start : start + cut])
        return reader.end()

    assert asyncio.run(read()) == (name, "text/csv")
    held.finish()
    assert held.path.read_bytes() == content


@pytest.mark.parametrize(
    "body",
    [
        form(b"x")[:-10].replace(b"--" + BOUNDARY.encode(), b"--other"),
        form(b"x").replace(b"--\r\n", b"\r\n") + form(b"y"),
        b"x" * (FRAME + 1),
        form(b"x", "n" * (FRAME + 1)),
    ],
)
def test_what_is_no_form_with_one_file_is_refused(tmp_path: Path, body: bytes) -> None:
    async def read() -> Any:
        reader = _Body(_headers(), Held(uploads(tmp_path), "ann"))
        await reader.take(body)
        return reader.end()

    with pytest.raises(UploadRefusedError):
        asyncio.run(read())


def _headers() -> Headers:
    return Headers({"content-type": f"multipart/form-data; boundary={BOUNDARY}"})


def test_what_came_stays_until_it_was_handed_over_or_its_session_has_ended(tmp_path: Path) -> None:
    uploads = Uploads(lambda: UploadLimits(MEBI, 3, 10), lambda: tmp_path)

    def came(session_id: str, file_id: str) -> Path:
        held = Held(uploads, "ann")
        held.write(b"1")
        held.finish()
        uploads.keep(session_id, file_id, held)
        return held.path

    first, second, third = came("a", "f1"), came("a", "f2"), came("b", "f3")
    gc.collect()
    assert [path.read_bytes() for path in (first, second, third)] == [b"1"] * 3
    assert uploads.of("a", "f1") is not None
    assert uploads.of("b", "f1") is None, "another session does not get it"
    uploads.drop("f1")
    assert not first.exists()
    assert uploads.sweep(lambda session_id: session_id == "a")
    assert (second.exists(), third.exists()) == (True, False)
    assert not uploads.sweep(lambda _: False)
    assert not second.exists()
    assert [path.exists() for path in (came("c", "f4"), came("c", "f5"), came("c", "f6"))] == [
        True
    ] * 3, "what is gone does not count any more"
