"""Web archives (MHTML): a page, or a workbook or document saved as one, in the clothes of a mail.
Browsers, Excel, Word and Confluence write them, the latter three under the endings `.xls` and
`.doc`.
"""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.message import Message
from urllib.parse import unquote

from leaf.readers.encoding import decode

_SENT = ("received", "to", "cc", "delivered-to", "return-path")
"""Headers of mails that were on their way."""
_OWN = ("x-document-type", "snapshot-content-location", "content-location")
_SAVED = re.compile(r"<?(?:Saved|Gespeichert|Von .* gespeichert|Enregistré|Guardado)\b", re.I)
_BODY = re.compile(r"<body\b[^>]*>(.*?)(?:</body\s*>|\Z)", re.I | re.S)
_SHEET = re.compile(
    r"<x:Name>(.*?)</x:Name>.{0,400}?<x:WorksheetSource\s+HRef=\"([^\"]+)\"", re.I | re.S
)
_TABLE = re.compile(r"<table\b[^>]*>", re.I)
_FRAMES = re.compile(r"<frameset\b", re.I)


def is_archive(text: str, suffix: str) -> bool:
    """Whether what begins as a mail is a saved page: parts that belong together, and nobody whom it
    was sent to."""
    head, _, rest = text.partition("\n\n")
    lines = re.sub(r"\n[ \t]+", " ", head).split("\n")
    fields = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
    }
    if (
        "multipart/related" not in fields.get("content-type", "").lower()
        or "text/html" not in rest.lower()
    ):
        return False
    if any(name in fields for name in _SENT):
        return False
    saved = "from" not in fields or bool(_SAVED.match(fields["from"]))
    return saved or any(name in fields for name in _OWN) or suffix in ("mht", "mhtml", "xls", "doc")


def page_in(data: bytes) -> str | None:
    """The page of a web archive, the sheets of a workbook one after the other with their names
    above; None where it is none."""
    head = data[:20_000].replace(b"\r\n", b"\n")
    if b"multipart/related" not in head.lower() or not is_archive(head.decode("latin-1"), ""):
        return None
    parts = [
        p
        for p in message_from_bytes(data, policy=policy.compat32).walk()
        if p.get_content_type() == "text/html"
    ]
    pages = {_location(part): _text(part) for part in parts}
    frames = next((page for page in pages.values() if _FRAMES.search(page)), "")
    names = {unquote(at).rpartition("/")[2]: name for name, at in _SHEET.findall(frames)}
    shown = [
        (names.get(at, ""), page)
        for at, page in pages.items()
        if page is not frames and (not frames or _is_sheet(at, names))
    ]
    if len(shown) == 1 and not shown[0][0]:
        return shown[0][1]
    return (
        "<html><body>"
        + "".join(_named(name, _body(page)) for name, page in shown)
        + "</body></html>"
    )


def _named(name: str, body: str) -> str:
    """A sheet below its name, which is also the caption of its table."""
    if not name:
        return body
    return f"<h1>{name}</h1>" + _TABLE.sub(
        lambda m: f"{m[0]}<caption>{name}</caption>", body, count=1
    )


def _is_sheet(location: str, names: dict[str, str]) -> bool:
    return location in names if names else "tabstrip" not in location


def _location(part: Message) -> str:
    """The last name in the address of a part; made up where it has none."""
    return (
        unquote(str(part.get("Content-Location") or id(part))).replace("\\", "/").rpartition("/")[2]
    )


def _body(page: str) -> str:
    match = _BODY.search(page)
    return match[1] if match else page


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset()
    try:
        return data.decode(charset) if charset else decode(data)[0]
    except (LookupError, ValueError):
        return decode(data)[0]
