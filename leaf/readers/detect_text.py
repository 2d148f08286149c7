"""What kind of text a file holds, by its beginning: captions, web pages, mails, JSON, tables, code,
prose. The name's ending only decides between kinds that are all plain text."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

from leaf.readers.base import KINDS
from leaf.readers.detect_rows import holds_rows
from leaf.readers.documents.webarchive import is_archive
from leaf.readers.encoding import Encoding

TEXT_MEDIA = {
    "md": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "tab": "text/tab-separated-values",
}


_CONTROL_DELIMITERS = "\x1f\x01"
"""Control characters that part cells, as Hive and others write them."""


def is_binary(head: bytes, sample: str, encoding: Encoding) -> bool:
    """Whether control characters that no text holds stand in more than one of a hundred places."""
    usual = "\t\n\r\f\b\x1a\x1b" + "".join(
        sign for sign in _CONTROL_DELIMITERS if _columns_agree(_whole_lines(sample), sign)
    )
    control = sum(sample.count(chr(c)) for c in range(32) if chr(c) not in usual) + sample.count(
        "\ufffd"
    )
    if (
        encoding.guessed
        and encoding.bom == 0
        and not encoding.name.startswith(("utf-16", "utf-32"))
    ):
        return control > len(sample) * 0.002 or b"\x00" in head
    return control > len(sample) * 0.01


HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.I | re.S,
)
HTML_TAG = re.compile(
    r"<(?:div|p|table|tr|td|ul|li|span|h[1-6]|a\s+href|br|img|script|style|title|meta)\b[^>]*>",
    re.I,
)
SRT_START = re.compile(
    r"\s*\d+\s*\n\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}\s*-->\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}"
)
HEADER = re.compile(r"([!-9;-~]+)[ \t]*:")
MAIL_HEADERS = frozenset(
    [
        "from",
        "to",
        "subject",
        "date",
        "received",
        "mime-version",
        "message-id",
        "return-path",
        "delivered-to",
        "content-type",
    ]
)
JSON_START = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*(?:[\[{"\]]|-?\d|true|false|null))')


def text_kind(sample: str, suffix: str, *, cut: bool) -> tuple[str, str]:
    """Kind and media type of plain text, from its beginning; `cut` says that the text goes on after
    the sample."""
    text = sample.replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith("WEBVTT"):
        return "captions", "text/vtt"
    if SRT_START.match(text):
        return "captions", "application/x-subrip"
    if HTML_START.match(text[:20_000]):
        return "html", "text/html"
    if HEADER.match(text) and is_archive(text, suffix):
        return "html", "multipart/related"
    if _is_mail(sample.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n"), suffix):
        return "email", "message/rfc822"
    if _is_json(text, suffix, cut):
        return "json", "application/json"
    if suffix in KINDS["html"].endings or (
        len(HTML_TAG.findall(text[:20_000])) >= 5 and text.lstrip().startswith("<")
    ):
        return "html", "text/html"
    if _is_delimited(text, suffix, cut):
        return "csv", TEXT_MEDIA.get(suffix, "text/csv")
    if suffix in KINDS["code"].endings or text.startswith("#!"):
        return "code", "text/plain"
    return "text", "application/xml" if text.lstrip().startswith("<?xml") else TEXT_MEDIA.get(
        suffix, "text/plain"
    )


def _is_mail(text: str, suffix: str) -> bool:
    """Whether headers of a mail come first. A line that is none may stand among them; a mail's
    ending asks for less."""
    lines = text.lstrip("\n").split("\n")
    begins = lines[0].startswith("From ")
    seen: set[str] = set()
    wrong = 0
    for line in lines[begins : begins + 400]:
        if not line.strip():
            break
        if line[0] in " \t" and seen:
            continue
        match = HEADER.match(line)
        if match:
            seen.add(match[1].lower())
        else:
            wrong += 1
    known = seen & MAIL_HEADERS
    named = suffix in KINDS["email"].endings + KINDS["mailbox"].endings
    strong = len(known) >= 2 and bool(known & {"from", "received", "mime-version", "message-id"})
    return wrong <= (len(seen) // 4 if len(known) >= 3 else 0) and (
        len(known) >= 3 or strong or bool(known and named)
    )


def _is_json(text: str, suffix: str, cut: bool) -> bool:
    if not JSON_START.match(text):
        return False
    if suffix in KINDS["json"].endings:
        return True
    start = len(text) - len(text.lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except RecursionError:
        return True
    except json.JSONDecodeError as e:
        return cut and (e.pos >= len(text) - 200 or e.msg.startswith("Unterminated string"))
    rest = text[end:].lstrip()
    return not rest or bool(JSON_START.match(rest)) or (cut and len(rest) < 20)


LOG_LINE = re.compile(
    r"\W{0,2}(?:\w{3} [ \d]\d|\d{4}[-/]\d\d[-/]\d\d)[T "
    r"]\d\d:\d\d(?::\d\d)?(?:[,.]\d+)?\W{1,20}\S*\s*(?:\[|[A-Za-z]+)"
)
RULE_LINE = re.compile(r"[\s:|+-]{3,}$")
CODE_LINE = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|for|while|function|const|let|var|select|public|private|create|insert|update|delete|alter|drop)\b|#include|//|/\*|--)",
    re.I,
)


_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_NAMED = re.compile(r"(?<=[^\W\d_]),(?= [^\W_])|(?<=[.)]),(?= [^\W_])")
"""A comma in a name, as in `Portland, OR`."""
_BLANKS = re.compile(r"(?<=.) (?= )")


def _is_delimited(text: str, suffix: str, cut: bool) -> bool:
    """Whether most lines fall into equally many cells. A table's ending asks for less, an ending of
    prose or code for more."""
    lines = [line for line in text.split("\n")[: -1 if cut else None] if line.strip()][:400]
    named = suffix in KINDS["csv"].endings
    if not lines or (named and len(lines) == 1):
        return named
    if named:
        return True
    if len(lines) < 2 or sum(bool(LOG_LINE.match(line)) for line in lines) > len(lines) * 0.5:
        return False
    if (
        suffix in KINDS["code"].endings
        and sum(bool(CODE_LINE.match(line)) for line in lines) > len(lines) * 0.1
    ):
        return False
    if any(RULE_LINE.match(line) and "|" in line for line in lines[:5]) or suffix in ("md", "rst"):
        return False
    return any(
        _columns_agree(lines, delimiter)
        for delimiter in ("\t", ";", "|", ",", "^", "~", *_CONTROL_DELIMITERS)
    ) or holds_rows(lines)


def _whole_lines(sample: str) -> list[str]:
    """Lines of a sample that are not empty; what follows the last line ending may be cut."""
    lines = sample.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:400]
    return [line for line in (lines[:-1] or lines) if line.strip()]


def _is_laid_out(lines: list[str]) -> bool:
    """Whether commas stand within numbers or behind a word of a name alone, at no place of their own,
    and runs of blanks between values: `83 882,6    12,5` is laid out for the eye."""
    blank = sum("  " in line.strip() for line in lines)
    if blank < 0.8 * len(lines):
        return False
    commas = sum(line.count(",") for line in lines)
    inside = sum(len(_DECIMAL.findall(line)) for line in lines)
    if inside == commas:
        return True
    named = [[m.start() for m in _NAMED.finditer(line)] for line in lines]
    if inside + sum(map(len, named)) < commas:
        return False
    _, most = Counter(place for line in named for place in line).most_common(1)[0]
    return most < 0.8 * len(lines) and _has_borders(lines)


def _has_borders(lines: list[str]) -> bool:
    """Whether two blanks or more stand below each other between the values of nearly all lines."""
    spread = [line.expandtabs(8).rstrip() for line in lines]
    open_at = Counter(at for line in spread for at in {m.start() for m in _BLANKS.finditer(line)})
    return any(count >= 0.8 * len(lines) for count in open_at.values())


def _columns_agree(lines: list[str], delimiter: str) -> bool:
    if sum(delimiter in line for line in lines) < max(2, len(lines) * 0.6):
        return False
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return False
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    if width < 2 or count < max(2, len(rows) * 0.8):
        return False
    cells = [cell for row in rows if len(row) == width for cell in row]
    if width == 2 and not any(cell.strip() for cell in cells[1::2]):
        return False  # the sign ends lines, as in code
    if delimiter != ",":
        return True
    if _is_laid_out(lines):
        return False
    if width > 6:
        return True
    prose = sum(cell.startswith(" ") and cell[1:2].isalpha() for cell in cells) + sum(
        len(cell.split()) > 8 for cell in cells
    )
    return prose <= len(cells) * 0.25
