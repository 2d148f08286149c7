"""The article of a web page apart from what surrounds it: menus, teasers, comments, legal notes.

An article is taken only where the page says that it is one, or where nearly all its prose is in it.
Others are read whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

MAX_ARTICLE = 3_000_000
"""Characters up to which the article is looked for; trafilatura takes minutes on larger pages."""
MAX_ARTICLE_ELEMENTS = 60_000
TINY = 200
"""Characters of an article that is too short to be trusted alone."""
PROSE = 80
"""Characters of a paragraph that is prose, not a heading, a menu or a button."""
FAIR = 0.3
"""Share of the whole text at which an article is taken without further evidence."""
_DECLARED = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*Article|\w*BlogPosting|Report)"')
_SHOWN = 60
_PREFIX = re.compile(r"^(?:#+ |- |\s*\| ?)+")


def article_of(text: str, root: Any, full: Sequence[str], rows: int) -> list[str]:
    """Paragraphs of the article; empty where the page is none, or where what was taken for one
    leaves too much out.

    `full` is all the text of the page, `rows` the number of rows in its tables of data.
    """
    size = sum(map(len, full))
    if (
        size <= TINY
        or len(text) > MAX_ARTICLE
        or sum(1 for _ in root.iter()) > MAX_ARTICLE_ELEMENTS
    ):
        return []
    article = _extracted(text)
    length = sum(map(len, article))
    if length < TINY or sum(" | " in paragraph for paragraph in article) < 0.9 * rows:
        return []
    return article if length >= FAIR * size or _holds_the_prose(root, text, article, full) else []


def left_aside(article: Sequence[str], full: Sequence[str]) -> list[str]:
    """Paragraphs of the page that are not in the article."""
    inside = _plain(" ".join(article))
    return [
        paragraph for paragraph in full if _plain(_PREFIX.sub("", paragraph))[:_SHOWN] not in inside
    ]


def _holds_the_prose(root: Any, text: str, article: Sequence[str], full: Sequence[str]) -> bool:
    """Whether a small part of a page is its article all the same: what else there is are links,
    pictures and small print."""
    length = sum(map(len, article))
    prose = sum(len(paragraph) for paragraph in article if len(paragraph) >= PROSE)
    links = _plain(" ".join("".join(link.itertext()) for link in root.iter("a")))
    others = [
        p for p in left_aside(article, full) if _plain(_PREFIX.sub("", p))[:_SHOWN] not in links
    ]
    other_prose = sum(len(p) for p in others if len(p) >= PROSE and not p.startswith("[picture:"))
    if _declared(root, text):
        return prose >= 0.5 * length and other_prose <= 2 * length
    return (
        prose >= 5 * TINY and other_prose <= FAIR * length and sum(map(len, others)) <= 0.7 * length
    )


def _declared(root: Any, text: str) -> bool:
    """Whether a page says of itself that it is an article."""
    types = {
        str(value).strip().lower() for value in root.xpath('//meta[@property="og:type"]/@content')
    }
    return "article" in types or (not types and bool(_DECLARED.search(text)))


def _plain(text: str) -> str:
    return "".join(text.split())


def _extracted(text: str) -> list[str]:
    """What trafilatura takes for the article; empty if it finds none or fails on the page."""
    import trafilatura

    try:
        article = trafilatura.extract(
            text, fast=True, include_comments=False, include_tables=True, output_format="txt"
        )
    except (ValueError, TypeError, AttributeError, RecursionError, KeyError, IndexError):
        return []  # the whole text, which needs no guesses, is given instead
    lines = (line.strip().strip("|").strip() for line in (article or "").split("\n"))
    return [line for line in lines if line and not set(line) <= set("-| ")]
