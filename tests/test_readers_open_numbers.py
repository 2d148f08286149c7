"""Numbers of items and headings in OpenDocument texts, counted as LibreOffice counts them. The texts of
`LEGAL` and `CONTINUED`, and what they show, are those of its own tests."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.test_readers_office import SPACES, open_document, rows, texts

LOEXT = 'xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'


def level(number: int, form: str, more: str = "", kind: str = "list-level-style-number") -> str:
    return f'<text:{kind} text:level="{number}" style:num-format="{form}" {more}/>'


def styles(*named: tuple[str, tuple[str, ...]]) -> str:
    lists = "".join(
        f'<text:list-style style:name="{name}">{"".join(levels)}</text:list-style>'
        for name, levels in named
    )
    return f"<office:automatic-styles>{lists}</office:automatic-styles>"


def items(*texts: str) -> str:
    return "".join(f"<text:list-item>{text}</text:list-item>" for text in texts)


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def listed(content: str, style: str = "", more: str = "") -> str:
    name = f'text:style-name="{style}"' if style else ""
    return f"<text:list {name} {more}>{content}</text:list>"


DOTTED = level(1, "1", 'style:num-suffix="."')
BELOW = level(2, "1", 'text:display-levels="2"')
LETTERS = level(2, "a", 'style:num-suffix=")"')


@pytest.mark.parametrize(
    ("named", "body", "lines"),
    [
        ((("L", (DOTTED,)),), listed(items(p("a"), p("b") + p("more")), "L"), ["1. a", "2. b", "more"]),
        (
            (("L", (DOTTED, LETTERS)),),
            listed(items(p("a") + listed(items(p("x"), p("y"))), p("b") + listed(items(p("z")))), "L"),
            ["1. a", "a) x", "b) y", "2. b", "a) z"],
        ),
        (
            (("L", (DOTTED, BELOW)),),
            listed(items(p("a"), p("b") + listed(items(p("x"), p("y")))), "L"),
            ["1. a", "2. b", "2.1 x", "2.2 y"],
        ),
        (
            (("L", (level(1, "1", 'style:num-prefix="§ " text:start-value="7"'),)),),
            listed(items(p("a"), p("b")), "L"),
            ["§ 7 a", "§ 8 b"],
        ),
        (
            (("L", (DOTTED,)),),
            listed('<text:list-item text:start-value="5"><text:p>a</text:p></text:list-item>' + items(p("b")), "L"),
            ["5. a", "6. b"],
        ),
        (
            (("L", (DOTTED,)),),
            listed(f"<text:list-header>{p('h')}</text:list-header>" + items(p("a")), "L"),
            ["h", "1. a"],
        ),
        (
            (("L", (level(1, "", 'style:num-suffix=":"'),)),),
            listed(items(p("a")), "L"),
            [": a"],
        ),
        ((("L", (level(1, "一, 二, 三, ..."),)),), listed(items(p("a")), "L"), ["- a"]),
        (
            (("L", ('<text:list-level-style-bullet text:level="1" text:bullet-char="•"/>',)),),
            listed(items(p("a"), p("b")), "L"),
            ["- a", "- b"],
        ),
        (
            (("L", (DOTTED,)), ("M", (DOTTED,))),
            listed(items(p("a")), "L") + listed(items(p("b")), "M") + listed(items(p("c")), "L")
            + listed(items(p("d")), "L", 'text:continue-numbering="true"'),
            ["1. a", "1. b", "1. c", "2. d"],
        ),
        (
            (("L", (level(1, "a"),)),),
            listed("".join(items(p("t")) for _ in range(28)), "L"),
            [*(f"{chr(97 + n)} t" for n in range(26)), "aa t", "ab t"],
        ),
    ],
)  # fmt: skip
def test_items_have_the_numbers_that_are_shown(
    tmp_path: Path, named: tuple[tuple[str, tuple[str, ...]], ...], body: str, lines: list[str]
) -> None:
    path = open_document(tmp_path / "a.odt", "text", body, style=styles(*named))
    assert texts(path) == lines


CONTINUED = (
    listed(items(p("a"), p("b")), "L", 'xml:id="list1"')
    + "<text:p>c<text:note><text:note-body>"
    + listed(items(p("xyz")), "M")
    + "</text:note-body></text:note></text:p>"
    + listed(items(p("d")), "L", 'text:continue-list="list1"')
)


def test_a_list_goes_on_where_the_one_that_it_names_ended(tmp_path: Path) -> None:
    bullet = '<text:list-level-style-bullet text:level="1" text:bullet-char="•"/>'
    style = styles(("L", (DOTTED,)), ("M", (bullet,)))
    path = open_document(tmp_path / "a.odt", "text", CONTINUED, style=style)
    assert texts(path) == ["1. a", "2. b", "c [footnote: - xyz]", "3. d"]


def chapters(path: Path, levels: str, body: str, named: str = "") -> Path:
    """A text with the numbers of its chapters in its other part."""
    open_document(path, "text", body)
    outline = f'<text:outline-style style:name="Outline">{levels}</text:outline-style>'
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "styles.xml",
            f"<office:document-styles {SPACES} {LOEXT}><office:styles>{named}{outline}</office:styles>"
            "</office:document-styles>",
        )
    return path


LEGAL = (
    '<text:outline-level-style text:level="1" loext:num-list-format="CH %1%" style:num-format="I"/>'
    '<text:outline-level-style text:level="2" loext:is-legal="true" loext:num-list-format="Sect %1%.%2%"'
    ' style:num-format="01, 02, 03, ..." text:display-levels="2"/>'
)


def h(number: int, text: str, more: str = "") -> str:
    return f'<text:h text:outline-level="{number}" {more}>{text}</text:h>'


def test_headings_have_the_numbers_of_their_chapters(tmp_path: Path) -> None:
    body = h(1, "") + h(2, "Foo") + h(1, "") + h(2, "Bar")
    path = chapters(tmp_path / "a.odt", LEGAL, body)
    assert texts(path) == ["## Sect 1.01 Foo", "## Sect 2.01 Bar"]


def test_headings_that_are_not_counted_have_no_number(tmp_path: Path) -> None:
    kind = "outline-level-style"
    plain = '<style:style style:name="P" style:family="paragraph" style:list-style-name=""/>'
    based = '<style:style style:name="Q" style:family="paragraph" style:parent-style-name="P"/>'
    body = (
        h(1, "Preface", 'text:style-name="Q"')
        + h(1, "Scope")
        + h(2, "Dates", 'text:is-list-header="true"')
        + h(2, "Terms")
        + h(1, "Fees", 'text:restart-numbering="true" text:start-value="7"')
        + h(1, "<text:number>IX</text:number>End")
    )
    levels = level(1, "1", kind=kind) + level(2, "1", 'text:display-levels="2"', kind)
    path = chapters(tmp_path / "a.odt", levels, body, plain + based)
    assert texts(path) == [
        "# Preface",
        "# 1 Scope",
        "## Dates",
        "## 1.1 Terms",
        "# 7 Fees",
        "# IX End",
    ]


def test_texts_without_numbers_of_chapters_stay_as_they_are(tmp_path: Path) -> None:
    path = chapters(tmp_path / "a.odt", level(1, "", kind="outline-level-style"), h(1, "Scope"))
    assert texts(path) == ["# Scope"]


def test_cells_that_hold_only_their_number_show_it(tmp_path: Path) -> None:
    cells = [
        f"<table:table-row><table:table-cell>{listed(items('<text:p/>'), 'L', more)}</table:table-cell>"
        f"<table:table-cell>{p(name)}</table:table-cell></table:table-row>"
        for name, more in (("Rent", ""), ("Water", 'text:continue-numbering="true"'))
    ]
    head = "".join(f"<table:table-cell>{p(name)}</table:table-cell>" for name in ("No", "What"))
    table = f"<table:table><table:table-row>{head}</table:table-row>{''.join(cells)}</table:table>"
    path = open_document(tmp_path / "a.odt", "text", table, style=styles(("L", (level(1, "1"),))))
    assert texts(path) == ["No | What", "1 | Rent", "2 | Water"]
    assert rows(path) == [(1, "Rent"), (2, "Water")]
