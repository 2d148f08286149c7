"""Cutting a growing text: block i never changes once block i + 1 has begun, and nothing is lost."""

from __future__ import annotations

import random

import pytest

from leaf.ui.blocks import blocks
from leaf.ui.live.html import pieces

PIECES = [
    "A paragraph of some words that goes on for a while.\n\n",
    "## Heading\n\n",
    "- item one\n- item two\n\n  more of two\n\n",
    "1. first\n\n2. second\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "```python\nprint('x')\n\n# y\n```\n\n",
    "~~~\n```\n~~~\n",
    "> quoted\n>\n> still\n\n",
    "$$\nx\n\ny\n$$\n\n",
    "Text with `code` and $5.\n",
    "```sql\nselect 1\n```",
    "\n",
    "[1]: https://a.example\n\n",
    " Words behind a blank.\n\n",
    " - an item behind a blank\n\n",
    "   Words as deep as an item's.\n\n",
    "第一个词和第二个词。\n\n",
    "كلمات من اليمين\n\n",
    "「引用」です。\n\n",
]


def texts() -> list[str]:
    chance = random.Random(7)
    return ["".join(chance.choices(PIECES, k=chance.randint(3, 25))) for _ in range(40)]


@pytest.mark.parametrize("text", texts())
def test_cutting_piece_by_piece_and_in_one_go_gives_the_same_blocks(text: str) -> None:
    whole = blocks(text, target=60)
    for end in range(len(text)):
        part = blocks(text[:end], target=60)
        assert part[:-1] == whole[: max(0, len(part) - 1)]
        assert len(part) <= len(whole) + 1


@pytest.mark.parametrize("text", texts())
def test_no_word_is_lost(text: str) -> None:
    joined = "".join(block.text for block in blocks(text, target=60))
    for word in (
        "paragraph",
        "Heading",
        "item one",
        "second",
        "| 1 | 2 |",
        "print",
        "quoted",
        "select 1",
    ):
        assert joined.count(word) == text.count(word)


def test_a_long_text_is_cut_only_where_nothing_is_torn() -> None:
    text = "- item\n\n" * 50 + "New paragraph.\n\nAnother one.\n"
    assert [block.text[:4] for block in blocks(text, target=60)] == ["- it", "New "]


def test_a_fence_becomes_code_with_its_language_while_it_is_open_and_after() -> None:
    open_fence = blocks("Look:\n\n```sql\nselect 1\n")
    closed = blocks("Look:\n\n```sql\nselect 1\n```")
    assert open_fence == closed
    assert (closed[1].kind, closed[1].language, closed[1].text) == ("code", "sql", "select 1")


def test_a_blank_line_inside_a_fence_or_formula_is_no_place_to_cut() -> None:
    text = "$$\n" + "a\n\nb\n\n" * 50 + "$$\n\nAfter.\n"
    assert len(blocks(text, target=60)) == 2


def test_blocks_drawn_each_by_itself_look_like_the_whole() -> None:
    chance = random.Random(3)
    prose = [piece for piece in PIECES if "```" not in piece and piece[:1] not in "~["]
    for _ in range(300):
        text = "".join(chance.choices(prose, k=chance.randint(3, 25)))
        apart = [piece for block in blocks(text, target=60) for piece in pieces(block.text)]
        assert apart == pieces(text)


@pytest.mark.parametrize("word", ["word ", "слово ", "كلمة ", "שלום ", "词语", "शब्द "])
@pytest.mark.parametrize("gap", ["\n\n", "\n \n", "\n\n "])
def test_a_long_text_is_cut_in_any_script(word: str, gap: str) -> None:
    text = (word * 30 + gap) * 100
    assert max(len(block.text) for block in blocks(text)) < 3_000
