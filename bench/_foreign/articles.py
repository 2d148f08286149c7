"""Web pages with articles: how much of the article is read, and how much else comes along.

The measure is that of scrapinghub/article-extraction-benchmark: runs of four words (all words where
there are fewer), each as often as it stands there; precision and recall of a page from what is
shared, their means over the pages, and F1 of the means.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench._foreign import Figure
from leaf.readers.base import Where
from leaf.readers.documents.html import HtmlReader

WORD = re.compile(r"\w+", re.UNICODE)
RUN = 4


def measure(corpora: Path, show: bool) -> list[Figure]:
    """F1 of Leaf, and of trafilatura alone in the same run."""
    folder = corpora / "articles"
    if not (folder / "ground-truth.json").is_file():
        print("articles: the corpus is absent")
        return []
    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    pages = {path.name.split(".")[0]: path for path in (folder / "html").iterdir()}
    known = [
        (pages[key], str(entry["articleBody"]))
        for key, entry in sorted(truth.items())
        if key in pages
    ]
    name = f"articles ({len(known)})"
    start = time.perf_counter()
    ours = _scores(leaf_text, known, show)
    seconds = time.perf_counter() - start
    alone = _scores(trafilatura_text, known, show=False)
    return [
        Figure(name, "F1 of runs of four words", _f1(ours), 0.90),
        Figure(name, "precision", ours[0]),
        Figure(name, "recall", ours[1]),
        Figure(name, "F1 of trafilatura alone", _f1(alone)),
        Figure(name, "pages a second", len(known) / seconds),
    ]


def leaf_text(page: bytes) -> str:
    """The page as read_file gives it."""
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        Path(file.name).write_bytes(page)
        return "\n".join(
            passage.text for passage in HtmlReader().passages(Path(file.name), Where())
        )


def trafilatura_text(page: bytes) -> str:
    import trafilatura

    return trafilatura.extract(page, fast=True, include_comments=False) or ""


def _scores(
    read: Callable[[bytes], str], known: list[tuple[Path, str]], show: bool
) -> tuple[float, float]:
    """Mean precision and mean recall."""
    pairs = []
    for path, article in known:
        page = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found, wanted = runs(read(page)), runs(article)
        same = sum((found & wanted).values())
        precision = same / sum(found.values()) if found else float(not wanted)
        recall = same / sum(wanted.values()) if wanted else 1.0
        pairs.append((precision, recall))
        if show and min(precision, recall) < 0.8:
            print(
                f"  {path.name[:16]}: precision {precision:.2f}, recall {recall:.2f}, "
                f"{sum(wanted.values())} runs"
            )
    return statistics.mean(p for p, _ in pairs), statistics.mean(r for _, r in pairs)


def runs(text: str) -> Counter[tuple[str, ...]]:
    """Runs of four words, how often each stands there."""
    words = WORD.findall(text)
    size = min(RUN, len(words))
    return (
        Counter(tuple(words[i : i + size]) for i in range(len(words) - size + 1))
        if words
        else Counter()
    )


def _f1(scores: tuple[float, float]) -> float:
    precision, recall = scores
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
