"""What the parts of mails say, however they were written, encoded and packed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import NameOID

from leaf.readers.documents.email import MAX_HEADER, parse, read
from leaf.readers.worker import inspect, reader_of
from leaf.readers.worker import read as read_window

HEAD = b"From: Ann <ann@example.org>\r\nDate: Tue, 3 Feb 2009 10:00:00 +0100\r\nSubject: Hi\r\n"


def mail(content: bytes, kind: str = "text/plain", encoding: str = "8bit") -> bytes:
    fields = f"MIME-Version: 1.0\r\nContent-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
    return HEAD + fields.encode() + content


def several(kind: str, *parts: bytes) -> bytes:
    """A body of parts; each begins with its own fields."""
    whole = b"".join(b"--edge\r\n" + part + b"\r\n" for part in parts) + b"--edge--\r\n"
    return mail(whole, f'multipart/{kind}; boundary="edge"', "7bit")


@pytest.mark.parametrize(
    ("name", "written", "words"),
    [
        ("iso-8859-1", "cp1252", "Preis – 5.000 € „netto“"),
        ("iso-8859-1", "utf-8", "Prix : 5 000 €, déjà payé"),
        ("gb2312", "gb18030", "朱镕基 € 囧 総額 100"),
        ("shift_jis", "cp932", "①②㈱テスト髙橋 100"),
        ("x-sjis", "cp932", "①②㈱テスト髙橋 100"),
        ("ks_c_5601-1987", "cp949", "똠방각하 100"),
        ("big5", "big5hkscs", "香港鰂魚涌 邨 咗"),
        ("iso-8859-9", "cp1254", "Fiyat – 5 € şğı"),
        ("windows-949", "cp949", "똠방각하 100"),
        ("iso-2022-jp", "iso2022_jp_ext", "半角 ｱｲｳ テスト"),
    ],
)
def test_character_sets_are_read_as_programs_mean_them(name: str, written: str, words: str) -> None:
    assert parse(mail(words.encode(written), f"text/plain; charset={name}")).paragraphs[1] == words
    coded = base64.b64encode(words.encode(written)).decode()
    subject = f"From: a@example.org\r\nSubject: =?{name}?B?{coded}?=\r\nDate: x\r\n\r\nText.\r\n"
    assert dict(parse(subject.encode()).headers)["Subject"] == words


def test_signs_of_windows_are_read_in_japanese_mails() -> None:
    text = b"\x1b$B-!-j%F%9%H\x1b(B 100"
    assert parse(mail(text, "text/plain; charset=iso-2022-jp")).paragraphs[1] == "①㈱テスト 100"


def test_a_text_that_is_not_what_it_says_is_guessed_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(mail("Größe: 5 €".encode("cp1252"), "text/plain; charset=utf-8"))
    assert read(path).paragraphs[1] == "Größe: 5 €"
    notes = inspect(str(path), path.name)["outline"]["notes"]
    assert [note["kind"] for note in notes] == ["encoding-guessed"]


def test_a_page_in_a_mail_names_its_own_character_set() -> None:
    page = "<html><head><meta charset=windows-1251></head><body>Итого 100</body></html>"
    assert parse(mail(page.encode("cp1251"), "text/html")).paragraphs[1] == "Итого 100"


def test_a_page_is_in_the_character_set_of_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "a.xhtml"
    page = '<?xml version="1.0" encoding="iso-8859-5"?><html><body><p>Итого 100</p></body></html>'
    path.write_bytes(page.encode("iso8859-5"))
    outline = inspect(str(path), path.name)["outline"]
    assert (outline["lines"], list(outline["notes"])) == (1, [])
    assert read_window(str(path), "html")["text"].endswith("Итого 100")


def test_pieces_that_were_encoded_one_by_one_are_all_read() -> None:
    pieces = [b"First: 1,204\n", b"Second: 17\n", b"Third: 5\n"]
    coded = b"\r\n".join(base64.b64encode(piece) for piece in pieces)
    assert parse(mail(coded, encoding="base64")).paragraphs[1] == b"".join(pieces).decode().rstrip(
        "\n"
    )


def test_words_below_an_encoded_text_are_read_and_faults_in_it_are_not() -> None:
    text = b"All of the figures are final.\n" * 20
    coded = base64.encodebytes(text).replace(b"\n", b"!\r\n", 1)
    below = b"_______________\r\nOur list: lists.example.org/figures\r\n"
    _, *words = parse(mail(coded + below, encoding="base64")).paragraphs
    assert "\n".join(words) == text.decode() + below.decode().replace("\r\n", "\n").rstrip("\n")


def test_all_that_is_encoded_in_foreign_mails_comes_out_as_the_standard_library_has_it(
    foreign: Path,
) -> None:
    count = 0
    for path in sorted((foreign / "mail" / "emails").rglob("*.eml")):
        data = path.read_bytes()
        known = {
            part.get_payload(decode=True)
            for part in message_from_bytes(data, policy=policy.compat32).walk()
            if str(part.get("Content-Transfer-Encoding")).lower() == "base64"
        }
        for attachment in parse(data).attachments:
            if str(attachment.part.get("Content-Transfer-Encoding")).lower() == "base64":
                assert attachment.data in known
                count += 1
    assert count > 3


@pytest.mark.parametrize("kind", ["multipart/mixed", "multipart/mixed; boundary=nowhere"])
def test_parts_without_a_boundary_are_one_text(kind: str) -> None:
    message = parse(mail(b"Nobody parts this. Total 17.\r\n", kind, "7bit"))
    assert message.paragraphs[1:] == ("Nobody parts this. Total 17.",)
    assert not message.attachments


def test_a_page_with_pictures_is_a_form_of_its_plain_text() -> None:
    page = several(
        "related",
        b"Content-Type: text/html\r\n\r\n<p>Sales rose to <b>17</b>. <img src='cid:chart'></p>",
        b"Content-Type: image/png; name=chart.png\r\nContent-ID: <chart>\r\n\r\n" + b"x" * 9_000,
    ).removeprefix(HEAD)
    inner = page.replace(b"edge", b"inner")
    both = several("alternative", b"Content-Type: text/plain\r\n\r\nSales rose to 17.", inner)
    message = parse(both)
    assert message.paragraphs[1] == "Sales rose to 17."
    assert "17" not in "".join(message.paragraphs[2:])
    assert [one.name for one in message.attachments] == ["chart.png"]
    more = parse(both.replace(b"<b>17</b>", b"<b>18</b>"))
    assert more.paragraphs[1:3] == ("Sales rose to 17.", "Sales rose to 18.")


INNER = several(
    "mixed",
    b"Content-Type: text/plain\r\n\r\nThe signed total is 1,204.",
    b"Content-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\nk,v\r\nx,1",
).removeprefix(HEAD)


def signature() -> bytes:
    """A message inside its signature."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Ann")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 7, now, now + timedelta(days=9))
    signer = builder.sign(key, hashes.SHA256()), key, hashes.SHA256()
    signed = pkcs7.PKCS7SignatureBuilder(INNER).add_signer(*signer)
    return signed.sign(serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary])


def open_signature() -> bytes:
    """The same in pieces, of lengths that nothing but their ends tell, and signed by nobody."""
    pieces = [INNER[at : at + 50] for at in range(0, len(INNER), 50)]
    octets = b"".join(b"\x04" + bytes([len(piece)]) + piece for piece in pieces)
    kind = bytes.fromhex("06092a864886f70d0107")
    content = b"\x30\x80" + kind + b"\x01\xa0\x80\x24\x80" + octets + b"\x00\x00" * 3
    return (
        b"\x30\x80" + kind + b"\x02\xa0\x80\x30\x80\x02\x01\x01\x31\x00" + content + b"\x00\x00" * 3
    )


@pytest.mark.parametrize("written", [signature, open_signature])
def test_what_is_inside_a_signature_is_read(written: Callable[[], bytes]) -> None:
    coded = base64.encodebytes(written())
    message = parse(mail(coded, "application/pkcs7-mime; name=smime.p7m", "base64"))
    assert message.paragraphs[1] == "The signed total is 1,204."
    assert [one.name for one in message.attachments] == ["a.csv"]
    assert message.notes == ()


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_a_broken_signature_is_an_attachment(cut: int) -> None:
    coded = base64.encodebytes(open_signature()[: 20 + cut])
    message = parse(mail(coded, "application/pkcs7-mime; name=smime.p7m", "base64"))
    assert [one.name for one in message.attachments] == ["smime.p7m"]
    assert [note.kind for note in message.notes] == ["parts-sealed"]


def test_a_signature_beside_its_message_is_named_and_no_file() -> None:
    signed = several(
        "signed",
        b"Content-Type: text/plain\r\n\r\nThe total is 17.",
        b"Content-Type: application/pkcs7-signature; name=smime.p7s\r\n\r\nx",
    )
    message = parse(signed)
    assert message.paragraphs[1:] == ("The total is 17.", "Signature: smime.p7s")
    assert message.attachments == ()


ENVELOPE = bytes.fromhex("3080 06092a864886f70d010703 a080")
PGP = "-----BEGIN PGP MESSAGE-----\r\n\r\nhQEMA\r\n-----END PGP MESSAGE-----\r\n"


@pytest.mark.parametrize(
    "message",
    [
        mail(base64.encodebytes(ENVELOPE), "application/pkcs7-mime; name=smime.p7m", "base64"),
        several("encrypted", b"Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1"),
        mail(PGP.encode()),
        several("mixed", b"Content-Type: application/ms-tnef; name=winmail.dat\r\n\r\nx"),
        several("mixed", b"Content-Type: application/x; name=message.rpmsg\r\n\r\nx"),
    ],
)
def test_what_cannot_be_read_of_a_message_is_said(tmp_path: Path, message: bytes) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(message)
    looked = inspect(str(path), path.name)["outline"]["notes"]
    assert [note["kind"] for note in looked] == ["parts-sealed"]
    window = read_window(str(path), "email")
    assert window["notes"][0]["text"] in window["text"]
    box = tmp_path / "a.mbox"
    box.write_bytes(
        b"".join(b"From a\n" + one + b"\n" for one in (message, mail(b"Text."), message))
    )
    (note,) = inspect(str(box), box.name)["outline"]["notes"]
    assert (note["kind"], note["count"]) == ("parts-sealed", 2)


@pytest.mark.parametrize("shown", [b"", b"\r\nContent-Disposition: inline; filename=data.csv"])
def test_a_table_that_is_sent_as_a_text_is_a_file(shown: bytes) -> None:
    kind = b"Content-Type: text/plain; name=data.csv" + shown
    message = parse(
        several(
            "mixed", b"Content-Type: text/plain\r\n\r\nSee below.", kind + b"\r\n\r\na,b\r\n1,2"
        )
    )
    assert [(one.name, one.data) for one in message.attachments] == [("data.csv", b"a,b\r\n1,2")]


def test_a_document_under_an_unknown_type_is_a_file() -> None:
    kind = b"Content-Type: X-ZIP; name=all.zip\r\nContent-Transfer-Encoding: base64\r\n\r\nUEsDBA=="
    message = parse(several("mixed", b"Content-Type: text/plain\r\n\r\nSee below.", kind))
    assert [(one.name, one.data) for one in message.attachments] == [("all.zip", b"PK\x03\x04")]
    assert message.paragraphs[1] == "See below."


def test_a_part_of_a_message_says_so() -> None:
    kind = "message/partial; id=x; number={}; total=3"
    later = parse(mail(b"nlzNO8mVGVkbzXm8W55Z\r\n" * 20, kind.format(2), "7bit"))
    assert later.paragraphs[1:] == (
        "This is part 2 of 3 of a message, which cannot be read whole.",
    )
    first = parse(mail(b"Subject: Inner\r\n\r\nIt begins.\r\n", kind.format(1), "7bit"))
    assert first.paragraphs[-1] == "It begins."


def test_a_long_list_of_recipients_is_whole_in_the_table_and_cut_with_a_word_in_the_text(
    tmp_path: Path,
) -> None:
    names = ", ".join(f"Person {number} <p{number}@example.org>" for number in range(1_000))
    box = tmp_path / "a.mbox"
    box.write_bytes(b"From a\nTo: " + names.encode() + b"\n" + mail(b"Text."))
    reader: Any = reader_of("mailbox")
    (info,) = reader.tables(box, tmp_path / "out")
    query = f"SELECT \"to\" FROM read_parquet('{tmp_path / 'out' / info.parquet}')"
    assert duckdb.sql(query).fetchall() == [(names,)]
    text = read_window(str(box), "mailbox")["text"]
    assert f"… ({len(names) - MAX_HEADER:,} more characters)" in text


PLAIN = mail("Größe 5.".encode(), "text/plain; charset=utf-8")
NOTES = b'<?xml version="1.0"?><plist version="1.0"><dict/></plist>'


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + PLAIN,
        b"\r\n\r\n" + PLAIN,
        PLAIN.decode().encode("utf-16"),
        PLAIN.replace(b"\r\n", b"\r\r\n"),
        PLAIN.replace(b"\r\n", b"\r"),
        str(len(PLAIN)).encode() + b"  \n" + PLAIN + NOTES,
    ],
)
def test_what_programs_put_around_a_mail_is_none_of_it(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(data)
    assert inspect(str(path), path.name)["kind"] == "email"
    message = read(path)
    assert dict(message.headers)["From"] == "Ann <ann@example.org>"
    assert message.paragraphs[1:] == ("Größe 5.",)


def test_names_of_attachments_are_read_however_they_are_written() -> None:
    fields = (
        b"filename*0*=utf-8''%E2%82%AC%20r;\r\n filename*1*=ate;\r\n filename*2=\"s.csv\"",
        b'filename="=?utf-8?B?w7xiZXIuY3N2?="',
        'filename="über.csv"'.encode("cp1252"),
        'filename="über.csv"'.encode(),
    )
    parts = [b"Content-Disposition: attachment; " + field + b"\r\n\r\na" for field in fields]
    names = [one.name for one in parse(several("mixed", *parts)).attachments]
    assert names == ["€ rates.csv", "über.csv", "über.csv", "über.csv"]
