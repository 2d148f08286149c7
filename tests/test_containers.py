"""Files inside files: archives and mails, their members as files of their own, and what an archive
may not do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import threading
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import pypdf
import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError, RunError
from leaf.files.library import Added, Library
from leaf.files.line import attached_lines
from leaf.files.members import Allowed
from leaf.files.names import clean_path, shortened
from leaf.provenance.receipts.answer import of_answer
from leaf.readers.packed import inner_name
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, chats, open_store
from leaf.store.model import File, Scope
from leaf.store.slugs import slugs
from leaf.wiring import build
from tests.removal_kit import forget_file

SALES = b"region,amount\nNorth,10\nSouth,20\n"
EARLIER = b"region,amount\nNorth,1\nSouth,2\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(Settings(home=tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def library(store: Store, pool: Pool, tmp_path: Path) -> Library:
    return Library(
        store, pool, tmp_path, limit_bytes=5_000_000, archives=Allowed(files=40, size=300_000_000)
    )


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Leaf]:
    with closing(build(Settings(home=tmp_path))) as built:
        yield built


def zipped(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return out.getvalue()


def tarred(members: Mapping[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def mail(subject: str, attached: Mapping[str, bytes]) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = (
        "ann@example.org",
        "bob@example.org",
        subject,
    )
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    message.set_content("The figures are attached.")
    for name, content in attached.items():
        message.add_attachment(
            content, maintype="application", subtype="octet-stream", filename=name
        )
    return message


def add(library: Library, scope: Scope, name: str, content: bytes, folder: str = "") -> Added:
    return library.add(scope, name, io.BytesIO(content), folder=folder)


def names(files: tuple[File, ...] | list[File]) -> list[str]:
    return sorted(file.name for file in files)


def notes(file: File) -> dict[str, str]:
    return {note["kind"]: note["text"] for note in file.outline.get("notes") or ()}


# What comes out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("years.zip", zipped({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER})),
        ("years.tar", tarred({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER})),
        ("years.tar.gz", tarred({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}, "w:gz")),
        ("years.tgz", tarred({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}, "w:gz")),
        ("years.tar.bz2", tarred({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}, "w:bz2")),
        ("years.tar.xz", tarred({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}, "w:xz")),
        (
            "stored.zip",
            zipped({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}, zipfile.ZIP_STORED),
        ),
        (
            "lzma.zip",
            zipped({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}, zipfile.ZIP_LZMA),
        ),
        ("no ending", zipped({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER})),
    ],
)
def test_members_are_files_of_their_own(
    library: Library, scope: Scope, name: str, content: bytes
) -> None:
    told: list[tuple[str, int, int]] = []
    added = library.add(scope, name, io.BytesIO(content), on_member=lambda *one: told.append(one))
    assert (added.file.kind, added.file.outline["members"]) == ("archive", 2)
    assert names(added.inside) == [f"{name}/2023/sales.csv", f"{name}/2024/sales.csv"]
    assert told == [(f"{name}/2024/sales.csv", 1, 2), (f"{name}/2023/sales.csv", 2, 2)]
    for member in added.inside:
        assert (member.kind, member.outline["rows"], member.parent_id) == ("csv", 2, added.file.id)
        assert library.open(scope, member.id).read_bytes() in (SALES, EARLIER)
    assert "2024/sales.csv (32 bytes)" in library.texts.read(scope, added.file).text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sales.csv.gz", gzip.compress(SALES)),
        ("sales.csv.bz2", bz2.compress(SALES)),
        ("sales.csv.xz", lzma.compress(SALES)),
        ("sales.csv.gz", gzip.compress(SALES[:10]) + gzip.compress(SALES[10:])),
    ],
    ids=[
        "gz",
        "bz2",
        "xz",
        "gz in two pieces",
    ],  # the bytes hold the time, and each worker has its own
)
def test_compressed_table_is_that_table(app: Leaf, name: str, content: bytes) -> None:
    session = app.session(app.local_scope())
    added = session.files.add(name, io.BytesIO(content))
    assert (added.file.kind, added.file.outline["rows"], added.inside) == ("csv", 2, ())
    chat = session.chats.create()
    session.attached.add(chat.id, [added.file.id])
    output = session.tools.run(
        "query_tables", {"sql": "SELECT sum(amount) FROM sales"}, chat_id=chat.id
    )
    assert output.data.table["rows"] == [[30]]
    assert "North" in session.tools.run("read_file", {"file": name}, chat_id=chat.id).text
    assert "North" in session.tools.run("search_files", {"query": "North"}, chat_id=chat.id).text
    rows = session.files.preview(added.file.id).rows
    assert rows is not None
    assert rows.total == 2
    assert session.files.path(added.file.id).read_bytes() == content


def test_archives_inside_archives_come_out_to_a_small_depth(library: Library, scope: Scope) -> None:
    content = zipped({"deepest.csv": SALES})
    for level in range(4):
        content = zipped({f"level{level}.zip": content, f"beside{level}.csv": SALES})
    added = add(library, scope, "outer.zip", content)
    assert names(added.inside) == [
        "outer.zip/beside3.csv",
        "outer.zip/level3.zip",
        "outer.zip/level3.zip/beside2.csv",
        "outer.zip/level3.zip/level2.zip",
        "outer.zip/level3.zip/level2.zip/beside1.csv",
        "outer.zip/level3.zip/level2.zip/level1.zip",
    ]
    assert (
        "add it by itself"
        in notes(next(f for f in added.inside if f.base == "level1.zip"))["members-deep"]
    )


def test_what_systems_put_beside_files_is_left_out_and_counted(
    library: Library, scope: Scope
) -> None:
    members = {
        "data/": b"",
        "data/sales.csv": SALES,
        "__MACOSX/data/._sales.csv": b"\0\5\26\7",
        "data/.DS_Store": b"\0\0\0\1Bud1",
        "data/Thumbs.db": b"x",
    }
    added = add(library, scope, "mac.zip", zipped(members))
    assert names(added.inside) == ["mac.zip/data/sales.csv"]
    assert (
        notes(added.file)["members-skipped"] == "Left out of the archive: 1 folder, 3 system files."
    )


def test_attachments_of_mails_are_files_of_the_mail(app: Leaf) -> None:
    session = app.session(app.local_scope())
    one = bytes(
        mail("Q1", {"figures.csv": SALES, "years.zip": zipped({"2023/sales.csv": EARLIER})})
    )
    added = session.files.add("report.eml", io.BytesIO(one))
    assert added.file.kind == "email"
    assert names(added.inside) == [
        "report.eml/figures.csv",
        "report.eml/years.zip",
        "report.eml/years.zip/2023/sales.csv",
    ]
    box = b"".join(
        b"From ann Mon Mar  2 10:00:00 2026\n" + bytes(mail(s, {"figures.csv": c})) + b"\n"
        for s, c in (("Q1", SALES), ("Q2", EARLIER))
    )
    all_mails = session.files.add("archive.mbox", io.BytesIO(box))
    assert names(all_mails.inside) == ["archive.mbox/1/figures.csv", "archive.mbox/2/figures.csv"]
    chat = session.chats.create()
    session.attached.add(chat.id, [added.file.id, all_mails.file.id])
    sql = "SELECT sum(amount) FROM figures_1 UNION ALL SELECT sum(amount) FROM figures_2"
    assert session.tools.run("query_tables", {"sql": sql}, chat_id=chat.id).data.table["rows"] == [
        [30],
        [3],
    ]


def test_tables_in_the_text_of_a_mail_are_queried_beside_its_attachments(app: Leaf) -> None:
    session = app.session(app.local_scope())
    message = mail("Q1", {"figures.csv": SALES})
    rows = "".join(f"<tr><td>{name}<td>{units}" for name, units in (("North", 1204), ("South", 17)))
    page = f"<html><body><table><tr><th>Region<th>Units{rows}</table></body></html>"
    whole = EmailMessage()
    whole["From"], whole["Subject"] = "ann@example.org", "Q1"
    whole.set_content("Region Units North 1204 South 17")
    whole.add_alternative(page, subtype="html")
    for part in message.iter_attachments():
        whole.make_mixed()
        whole.attach(part)
    added = session.files.add("report.eml", io.BytesIO(bytes(whole)))
    assert (added.file.outline["tables"], names(added.inside)) == (1, ["report.eml/figures.csv"])
    chat = session.chats.create()
    session.attached.add(chat.id, [added.file.id])
    sql = "SELECT sum(units) FROM report UNION ALL SELECT sum(amount) FROM figures"
    answer = session.tools.run("query_tables", {"sql": sql}, chat_id=chat.id)
    assert answer.data.table["rows"] == [[1221], [30]]
    read = session.tools.run("read_file", {"file": "f1", "where": "paragraph 2"}, chat_id=chat.id)
    assert "North 1204" in read.text


def test_attachments_without_a_name_and_with_a_path_for_one(library: Library, scope: Scope) -> None:
    message = mail("odd", {"../../etc/cron.d/job.csv": SALES})
    message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv")
    added = add(library, scope, "odd.eml", bytes(message))
    assert names(added.inside) == ["odd.eml/..-..-etc-cron.d-job.csv", "odd.eml/attachment-2.csv"]


def test_files_that_are_attached_in_a_pdf_come_out(library: Library, scope: Scope) -> None:
    """An invoice with its data: what is in them stands nowhere on the pages."""
    sheet = pypdf.PdfWriter()
    sheet.add_blank_page(200, 200)
    plain = io.BytesIO()
    sheet.write(plain)
    sheet.add_attachment("sales.csv", SALES)
    sheet.add_attachment("../years/2023.csv", EARLIER)
    content = io.BytesIO()
    sheet.write(content)
    added = add(library, scope, "invoice.pdf", content.getvalue())
    assert added.file.outline["members"] == 2
    inside = library.inside(scope, added.file.id)
    assert names(inside) == ["invoice.pdf/..-years-2023.csv", "invoice.pdf/sales.csv"]
    assert not any(file.outline.get("error") for file in inside)
    assert add(library, scope, "invoice.pdf", content.getvalue()).duplicate
    alone = add(library, scope, "alone.pdf", plain.getvalue()).file
    assert (alone.outline["members"], library.inside(scope, alone.id)) == (None, [])


def test_attachments_of_outlook_messages_come_out(
    library: Library, scope: Scope, foreign: Path
) -> None:
    found = {
        path.name: add(library, scope, path.name, path.read_bytes())
        for path in sorted((foreign / "poi").rglob("*.msg"))
    }
    attached = {name: names(added.inside) for name, added in found.items() if added.inside}
    assert attached, "no message of the corpus holds an attachment"
    for name, inside in attached.items():
        assert all(path.startswith(f"{name}/") for path in inside)


# Names


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\Windows\\win.ini", "Windows/win.ini"),
        ("..\\..\\a.txt", "a.txt"),
        ("a/./b//c.csv", "a/b/c.csv"),
        ("a/\u202egnp.csv", "a/gnp.csv"),
        ("a\x00b/c\nd.csv", "ab/c d.csv"),
        ("deep/" * 200 + "last.csv", "last.csv"),
        ("u\u0308ber/a\u0308.csv", "über/ä.csv"),
        ("...", "file"),
    ],
)
def test_paths_in_archives_lead_nowhere(given: str, kept: str) -> None:
    folder, _, name = given.replace("\\", "/").rpartition("/")
    path = clean_path(folder, name)
    assert path == kept or path.endswith(f"/{kept}")
    assert len(path) <= 300
    assert ".." not in path.split("/")
    assert not path.startswith("/")


def test_members_with_names_that_lead_out_stay_inside(
    library: Library, scope: Scope, tmp_path: Path
) -> None:
    content = zipped(
        {"../../../outside.csv": SALES, "/root.csv": EARLIER, "C:\\drive.csv": b"a,b\n1,2\n"}
    )
    added = add(library, scope, "out.zip", content)
    assert names(added.inside) == ["out.zip/drive.csv", "out.zip/outside.csv", "out.zip/root.csv"]
    assert not list(tmp_path.parent.glob("outside.csv"))
    assert not Path("/root.csv").exists()


def renamed(content: bytes, old: bytes, new: bytes) -> bytes:
    """The same archive with a name written in other bytes of the same length."""
    assert len(old) == len(new)
    assert content.count(old) == 2
    return content.replace(old, new)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Übersicht.csv".encode("cp437"), "Übersicht.csv"),
        ("Übersicht.csv".encode(), "Übersicht.csv"),
        ("销售数据.csv".encode(), "销售数据.csv"),
        ("销售数据统计报告二零二四年.csv".encode("gbk"), "销售数据统计报告二零二四年.csv"),
        ("Отчёт о продажах за год.csv".encode("cp866"), "Отчёт о продажах за год.csv"),
    ],
)
def test_names_in_the_code_page_of_their_packer(
    library: Library, scope: Scope, raw: bytes, shown: str
) -> None:
    placeholder = b"x" * len(raw)
    content = renamed(zipped({placeholder.decode(): SALES}), placeholder, raw)
    assert names(add(library, scope, "names.zip", content).inside) == [f"names.zip/{shown}"]


def test_unicode_name_in_the_extra_field_holds(library: Library, scope: Scope) -> None:
    info = zipfile.ZipInfo("plain.csv")
    body = b"\x01" + struct.pack("<I", zlib.crc32(b"plain.csv")) + "销售.csv".encode()
    info.extra = struct.pack("<HH", 0x7075, len(body)) + body
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, SALES)
    assert names(add(library, scope, "extra.zip", out.getvalue()).inside) == ["extra.zip/销售.csv"]


def test_members_of_one_name_are_all_kept(library: Library, scope: Scope) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", SALES)
        archive.writestr("A.csv", b"x,y\n1,2\n")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.csv", EARLIER)
    assert names(add(library, scope, "twice.zip", out.getvalue()).inside) == [
        "twice.zip/A (2).csv",
        "twice.zip/a (3).csv",
        "twice.zip/a.csv",
    ]


def test_equal_names_in_two_folders_need_no_numbers(library: Library, scope: Scope) -> None:
    first, second = (
        add(library, scope, "sales.csv", SALES, "2024"),
        add(library, scope, "sales.csv", EARLIER, "2023"),
    )
    again = add(library, scope, "sales.csv", SALES, "2024")
    other = add(library, scope, "sales.csv", b"region,amount\nWest,3\n", "2024")
    assert (first.file.name, second.file.name, other.file.name) == (
        "2024/sales.csv",
        "2023/sales.csv",
        "2024/sales (2).csv",
    )
    assert again.duplicate
    assert again.file.id == first.file.id
    assert (first.file.folder, first.file.base) == ("2024", "sales.csv")
    assert library.rename(scope, first.file.id, "revenue.csv").name == "2024/revenue.csv"


def test_sql_names_are_told_apart_by_folder() -> None:
    assert slugs(["2024/sales.csv", "2023/sales.csv", "costs.csv"]) == [
        "sales_2024",
        "sales_2023",
        "costs",
    ]
    assert slugs(["z/2024/sales.csv"], ["sales", "sales_2024"]) == ["sales_2024_z"]
    assert slugs(["a/销售.csv", "b/销售.csv"]) == ["销售_a", "销售_b"]
    assert slugs(["sales.csv", "sales.xlsx"]) == ["sales", "sales_2"]


def test_long_names_keep_their_end() -> None:
    assert (
        shortened("2024.zip/a folder with a long name/january.csv", 30)
        == "2024.zip/a folder…/january.csv"
    )
    assert len(shortened("f/" + "x" * 90 + ".csv", 40)) == 40
    assert [inner_name(n) for n in ("a.csv.gz", "a.tgz", "a.csv", ".gz")] == [
        "a.csv",
        "a.tar",
        "a.csv",
        ".gz",
    ]


# What an archive may not do


def test_password_is_said_for_the_whole_and_for_a_member(library: Library, scope: Scope) -> None:
    locked = bytearray(zipped({"secret.csv": SALES}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(signature) + at] |= 1
    whole = add(library, scope, "locked.zip", bytes(locked)).file
    assert "protected by a password" in whole.outline["error"]
    assert "locked.zip" in whole.outline["error"]
    mixed = bytearray(zipped({"open.csv": SALES, "secret.csv": EARLIER}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        mixed[mixed.index(signature, mixed.index(signature) + 4) + at] |= 1
    added = add(library, scope, "mixed.zip", bytes(mixed))
    assert names(added.inside) == ["mixed.zip/open.csv"]
    assert (
        notes(added.file)["members-unread"]
        == "1 file in it could not be taken out: secret.csv: it is protected by a password."
    )


def test_damaged_member_is_named_and_its_neighbours_come_out(
    library: Library, scope: Scope
) -> None:
    content = bytearray(
        zipped({"a.csv": SALES, "broken.csv": b"q,r\n5,6\n", "z.csv": EARLIER}, zipfile.ZIP_STORED)
    )
    content[content.index(b"q,r")] ^= 1
    added = add(library, scope, "part.zip", bytes(content))
    assert names(added.inside) == ["part.zip/a.csv", "part.zip/z.csv"]
    assert (
        notes(added.file)["members-unread"]
        == "1 file in it could not be taken out: broken.csv: it is damaged."
    )


def test_member_that_no_reader_knows_is_named_and_kept(library: Library, scope: Scope) -> None:
    added = add(
        library,
        scope,
        "mixed.zip",
        zipped({"sales.csv": SALES, "tool.exe": b"MZ" + bytes(range(256)) * 20}),
    )
    by_name = {file.base: file for file in added.inside}
    assert by_name["sales.csv"].outline["rows"] == 2
    assert "tool.exe" in by_name["tool.exe"].outline["error"]


def test_archive_that_is_cut_off_gives_what_it_has(library: Library, scope: Scope) -> None:
    whole = tarred({"a.csv": SALES, "b.csv": b"n\n" + b"1\n" * 4_000})
    added = add(library, scope, "cut.tar", whole[: 512 + 512 + 512 + 700])
    assert names(added.inside) == ["cut.tar/a.csv"]
    assert "b.csv: it is damaged" in notes(added.file)["members-unread"]
    assert (
        "damaged"
        in add(library, scope, "cut.zip", zipped({"a.csv": SALES})[:-30]).file.outline["error"]
    )
    assert (
        "damaged"
        in add(library, scope, "cut.csv.gz", gzip.compress(SALES * 1_000)[:-40]).file.outline[
            "error"
        ]
    )


def test_links_and_devices_are_left_out(library: Library, scope: Scope) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (
            ("link.csv", tarfile.SYMTYPE),
            ("hard.csv", tarfile.LNKTYPE),
            ("pipe", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert (
        "3 links" in notes(add(library, scope, "links.tar", out.getvalue()).file)["members-skipped"]
    )
    info = zipfile.ZipInfo("link.csv")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    zip_out = io.BytesIO()
    with zipfile.ZipFile(zip_out, "w") as packed:
        packed.writestr(info, "/etc/passwd")
    added = add(library, scope, "links.zip", zip_out.getvalue())
    assert (added.inside, notes(added.file)["members-skipped"]) == (
        (),
        "Left out of the archive: 1 link.",
    )


def zeros(megabytes: int) -> bytes:
    return bytes(1_000_000) * megabytes


BOMBS = {
    "ratio.zip": lambda: zipped({"zeros.csv": zeros(250)}),
    "nested.zip": lambda: zipped({f"{i}.zip": zipped({"zeros.csv": zeros(200)}) for i in range(3)}),
    "ratio.csv.gz": lambda: gzip.compress(zeros(250)),
    "ratio.tar.gz": lambda: gzip.compress(tarred({"zeros.csv": zeros(250)})),
    "ratio.tar.bz2": lambda: bz2.compress(tarred({"zeros.csv": zeros(150)})),
    "many.zip": lambda: zipped({f"{i}.csv": b"a,b\n1,2\n" for i in range(41)}),
    "entries.zip": lambda: zipped({f"{i}": b"" for i in range(20_001)}, zipfile.ZIP_STORED),
    "sparse.tar": lambda: sparse(),
}


def sparse() -> bytes:
    """A GNU archive that says one of its members is 8 TB of nothing."""
    info = tarfile.TarInfo("huge.csv")
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = tarfile.itn(8 * 1024**4, 12, tarfile.GNU_FORMAT)
    header[386:398] = b"00000000000\0"
    header[398:410] = b"00000000000\0"
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    return bytes(header) + bytes(1_024)


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_in_a_sentence(library: Library, scope: Scope, name: str) -> None:
    content = BOMBS[name]()
    began = time.monotonic()
    added = add(library, scope, name, content)
    assert time.monotonic() - began < 20
    told = [added.file, *added.inside]
    said = [str(file.outline.get("error") or "") for file in told] + [
        text for file in told for text in notes(file).values()
    ]
    assert any(
        "limit" in text or "the most that" in text or "no ordinary" in text or "larger than" in text
        for text in said
    ), said
    assert sum(file.size for file in added.inside) < 10_000_000


def test_overlapping_members_are_refused(library: Library, scope: Scope) -> None:
    """Many entries of the directory that all name the same bytes: small to store, large to
    unpack."""
    single = zipped({"a.csv": zeros(4)})
    start = single.index(b"PK\x01\x02")
    end = single.index(b"PK\x05\x06")
    entry = single[start:end]
    count = 39
    tail = bytearray(single[end:])
    tail[8:10] = tail[10:12] = struct.pack("<H", count)
    tail[12:16] = struct.pack("<I", len(entry) * count)
    added = add(library, scope, "overlap.zip", single[:start] + entry * count + bytes(tail))
    said = str(added.file.outline.get("error") or notes(added.file).get("members-unread"))
    assert "over the limit" in said or "damaged" in said


def test_stop_ends_the_unpacking_and_adding_again_goes_on(
    store: Store, pool: Pool, tmp_path: Path, scope: Scope
) -> None:
    """Members are entered in batches, so that some more may come after the stop."""
    library, stop = Library(store, pool, tmp_path), threading.Event()
    content = zipped({f"{i}.csv": b"a,b\n1,%d\n" % i for i in range(200)})
    with pytest.raises(RunError):
        library.add(
            scope,
            "many.zip",
            io.BytesIO(content),
            stop=stop,
            on_member=lambda _, at, __: stop.set() if at == 2 else None,
        )
    assert len(library.list(scope)) < 201
    assert len(add(library, scope, "many.zip", content).inside) == 200
    assert len(library.list(scope)) == 201


# What is done with them


def test_deleting_and_renaming_an_archive_takes_its_members_along(
    library: Library, scope: Scope
) -> None:
    added = add(
        library,
        scope,
        "years.zip",
        zipped({"2024/sales.csv": SALES, "in.zip": zipped({"a.csv": EARLIER})}),
    )
    alone = next(file for file in added.inside if file.base == "sales.csv")
    library.delete(scope, alone.id)
    library.delete(scope, added.file.id)
    assert library.list(scope) == []
    library.restore(scope, added.file.id)
    assert names(library.list(scope)) == ["years.zip", "years.zip/in.zip", "years.zip/in.zip/a.csv"]
    library.rename(scope, added.file.id, "all.zip")
    assert names(library.list(scope)) == ["all.zip", "all.zip/in.zip", "all.zip/in.zip/a.csv"]
    assert names(library.inside(scope, added.file.id)) == ["all.zip/in.zip", "all.zip/in.zip/a.csv"]
    forget_file(library, scope, added.file.id)
    assert library.list(scope) == library.list(scope, deleted=True) == []


def test_members_of_long_names_keep_them_when_their_archive_is_renamed(
    library: Library, scope: Scope
) -> None:
    short, long = "a" * 120, "b" * 190
    content = zipped({f"{long}.csv": SALES, f"{long[:-1]}.csv": EARLIER, "c.csv": b"c\n1\n"})
    added = add(library, scope, f"{short}.zip", content)
    assert sorted(names(added.inside)) == [f"{short}.zip/c.csv", f"{long[:-1]}.csv", f"{long}.csv"]
    library.rename(scope, added.file.id, "all.zip")
    inside = names(library.inside(scope, added.file.id))
    assert sorted(inside) == ["all.zip/c.csv", f"{long[:-1]}.csv", f"{long}.csv"]


def test_adding_an_archive_again_brings_back_what_was_deleted(
    library: Library, scope: Scope
) -> None:
    content = zipped({"a.csv": SALES, "b.csv": EARLIER})
    added = add(library, scope, "two.zip", content)
    library.delete(scope, added.inside[0].id)
    again = add(library, scope, "two.zip", content)
    assert again.duplicate
    assert names(again.inside) == ["two.zip/a.csv", "two.zip/b.csv"]
    assert len(library.list(scope)) == 3


def test_attaching_an_archive_attaches_what_came_out_of_it(
    library: Library, store: Store, scope: Scope
) -> None:
    added = add(
        library, scope, "years.zip", zipped({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER})
    )
    chat = chats.create(store.db, scope)
    library.attach(scope, chat.id, [added.file.id])
    there = {c.file.name: c.slug for c in library.chat_files(scope, chat.id)}
    assert there["years.zip/2024/sales.csv"] == "sales_2024"
    assert there["years.zip/2023/sales.csv"] == "sales_2023"
    library.detach(scope, chat.id, added.file.id)
    assert library.chat_files(scope, chat.id) == []


def test_files_of_an_older_version_have_no_parent(
    store: Store, library: Library, scope: Scope
) -> None:
    file = add(library, scope, "sales.csv", SALES).file
    with store.db.transaction() as tx:
        tx.execute("UPDATE files SET parent_id = NULL WHERE id = :id", {"id": file.id})
    assert (library.get(scope, file.id).parent_id, library.get(scope, file.id).folder) == ("", "")
    library.delete(scope, file.id)
    assert library.restore(scope, file.id).deleted_at is None


# Lists, words above tables, the command line


def test_list_files_takes_a_pattern_and_pages(app: Leaf) -> None:
    session = app.session(app.local_scope())
    members = {f"{2020 + i % 3}/part{i}.csv": b"a,b\n1,%d\n" % i for i in range(60)}
    added = session.files.add("all.zip", io.BytesIO(zipped(members)))
    chat = session.chats.create()
    session.attached.add(chat.id, [added.file.id])

    def listed(**given: str) -> str:
        return session.tools.run("list_files", given, chat_id=chat.id).text

    first = listed()
    head = (
        "1-50 of 61 files. All of them: 60 Table (CSV), 1 Archive; in all.zip/2020/ 20, "
        "all.zip/2021/ 20, all.zip/2022/ 20."
    )
    assert first.splitlines()[0] == head
    assert first.count(" · ") > 100
    assert "Go on with cursor='50'" in first
    second = listed(cursor="50")
    assert second.splitlines()[0].startswith("51-61 of 61 files.")
    assert "cursor" not in second
    handles = {
        line.split(" · ")[0]
        for line in (first + "\n" + second).splitlines()
        if line.startswith("f")
    }
    assert len(handles) == 61
    assert (
        listed(pattern="*/2021/*.csv").splitlines()[0]
        == "20 files that match '*/2021/*.csv', of 61 in this chat:"
    )
    assert (
        listed(pattern="part7.csv").splitlines()[0]
        == "1 file that matches 'part7.csv', of 61 in this chat:"
    )
    assert listed(pattern="part1?.csv").splitlines()[0].startswith("10 files")
    assert listed(pattern="2022 table").splitlines()[0].startswith("20 files")
    assert listed(pattern="nothing").startswith("No file matches 'nothing'; 61 files in this chat.")
    with pytest.raises(InvalidInputError, match="is no cursor"):
        listed(cursor="next")
    assert session.tools.run(
        "read_file", {"file": "2020/part0.csv"}, chat_id=chat.id
    ).text.startswith("all.zip/2020/part0.csv")


def test_files_of_one_name_show_the_words_above_their_tables(app: Leaf) -> None:
    session = app.session(app.local_scope())
    chat = session.chats.create()
    ids = []
    for folder, title in (("a", b"Revenue of the North\n\n"), ("b", b"Revenue of the South\n\n")):
        content = title + b"month,amount,count\n2024-01,10,1\n2024-02,20,2\n2024-03,30,3\n"
        ids.append(session.files.add("report.csv", io.BytesIO(content), folder=folder).file.id)
    ids.append(
        session.files.add(
            "other.csv", io.BytesIO(b"Costs\n\nm,a,c\n2024-01,1,2\n2024-02,2,3\n")
        ).file.id
    )
    session.attached.add(chat.id, ids)
    lines = session.tools.run("list_files", {}, chat_id=chat.id).text.splitlines()
    assert "titled 'Revenue of the North'" in lines[0]
    assert "titled 'Revenue of the South'" in lines[1]
    assert "titled" not in lines[2]
    with pytest.raises(
        InvalidInputError,
        match=r"Several files are named 'report.csv'. Use a handle: f1 a/report.csv, f2 b/",
    ):
        session.tools.run("read_file", {"file": "report.csv"}, chat_id=chat.id)


def test_names_in_any_script_are_sql_names(app: Leaf) -> None:
    session = app.session(app.local_scope())
    chat = session.chats.create()
    given = (
        "销售.csv",
        "продажи.csv",
        "المبيعات.csv",
        "Größe.csv",
        unicodedata.normalize("NFD", "Übersicht.csv"),
    )
    ids = [
        session.files.add(name, io.BytesIO(b"a,b\n1,%d\n" % i)).file.id
        for i, name in enumerate(given)
    ]
    session.attached.add(chat.id, ids)
    for i, name in enumerate(("销售", "продажи", "المبيعات", "grosse", "ubersicht")):
        output = session.tools.run(
            "query_tables", {"sql": f"SELECT b FROM {name}"}, chat_id=chat.id
        )
        assert output.data.table["rows"] == [[i]]


def test_attached_line_of_many_files_counts_their_folders(library: Library, scope: Scope) -> None:
    members = {f"{2020 + i % 2}/part{i}.csv": b"a,b\n1,%d\n" % i for i in range(21)}
    added = add(library, scope, "all.zip", zipped(members))
    line = attached_lines(library.as_chat_files([added.file, *added.inside]))
    counts = "21 Table (CSV), 1 Archive; in all.zip/2020/ 11, all.zip/2021/ 10"
    assert line == f"[Attached: 22 files, f1 to f22: {counts}. call list_files to see them]"
    one = attached_lines(library.as_chat_files([added.file]))
    assert "21 files inside" in one


def test_question_shows_the_archive_and_asked_again_takes_all_of_it(app: Leaf) -> None:
    session = app.session(app.local_scope())
    added = session.files.add(
        "years.zip", io.BytesIO(zipped({"2024/sales.csv": SALES, "2023/sales.csv": EARLIER}))
    )
    chat = session.chats.create()
    answer = session.messages.send(chat.id, "how many rows are there?", [added.file.id])
    question = session.messages.get(answer.parent_id)
    shown = next(part["data"] for part in question.parts if part["type"] == "data-files")
    assert [file["name"] for file in shown] == ["years.zip"]
    assert str(question.raw).count("[Attached:") == 3
    again = session.messages.get(
        session.messages.edit(question.id, "how many rows are there now?").parent_id
    )
    assert str(again.raw).count("[Attached:") == 3


def test_years_of_folders_are_no_figures_of_an_answer(app: Leaf) -> None:
    session = app.session(app.local_scope())
    chat = session.chats.create()
    file = session.files.add("sales.csv", io.BytesIO(SALES), folder="all/2024").file
    session.attached.add(chat.id, [file.id])
    output = session.tools.run(
        "query_tables", {"sql": "SELECT sum(amount) AS total FROM sales"}, chat_id=chat.id
    ).to_json()
    said = "all/2024/sales.csv, 2024/sales.csv and sales.csv give 30."
    call = {
        "type": "tool-query_tables",
        "toolCallId": "c1",
        "state": "output-available",
        "input": {},
        "output": output,
    }
    found = of_answer([call, {"type": "text", "text": said}], ())
    assert found is not None
    assert [(receipt["kind"], receipt["text"]) for receipt in found["receipts"]] == [
        ("exact", "30")
    ]
