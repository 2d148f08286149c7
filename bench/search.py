"""Search: whether the file that is meant comes first, and whether an excerpt shows what was found.

    python -m bench.search [--corpora ../shared/data/foreign] [--show]

Articles of the web that nobody here chose, among PDFs and mails, are searched for with words of one
sentence of theirs: in other forms than they are written in, between the words of a question. The
baseline of the same run is BM25 (bm25s) over the same whole texts, with stopwords and Snowball's
stemmer, and without either. Exit code 1 if Leaf finds less than the baseline.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report, changed
from bench._foreign import CORPORA
from leaf.files.library import Library
from leaf.files.query import tokens
from leaf.files.stopwords import STOPWORDS
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import open_store, users
from leaf.store.model import File, Scope

EACH = 6
"""Questions for each article."""
OTHERS = 60
FRAMES = (
    "what is said about {}",
    "who was there when {} and why",
    "how did they come to {} in the end",
    "{}",
    "which of the {} was it",
)
HELD = 0.99
"""Share of excerpts that must hold a word that was asked for."""


@dataclass(frozen=True)
class Question:
    """Words to search for, and the one file that is meant."""

    text: str
    file_id: str


Ranks = dict[Question, list[str]]
"""Ids of the files that were found, best first."""


def main() -> int:
    """Print the figures; 1 if a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument(
        "--show", action="store_true", help="name the questions whose file did not come first"
    )
    given = parser.parse_args()
    if not (given.corpora / "articles" / "ground-truth.json").exists():
        print(f"No articles in {given.corpora}: skipped.")
        return 0
    report = Report("search", ("leaf/files",), changed(parser, given))
    with tempfile.TemporaryDirectory() as folder:
        return report.end(_measure(given.corpora, Path(folder), given.show))


def _measure(corpora: Path, folder: Path, show: bool) -> list[Figure]:
    truth = json.loads((corpora / "articles" / "ground-truth.json").read_text(encoding="utf-8"))
    with _library(folder) as (library, scope):
        articles = {
            name: _add(library, scope, f"{name[:8]}.html", _html(corpora, name)) for name in truth
        }
        files = [
            *articles.values(),
            *(_add(library, scope, p.name, p.read_bytes()) for p in _others(corpora)),
        ]
        chance = random.Random(11)
        questions = [
            q
            for name, file in articles.items()
            for q in _questions(file, truth[name]["articleBody"], chance)
        ]
        found = {q: library.search(scope, files, q.text, 10, one_each=True).hits for q in questions}
        started = time.perf_counter()
        every = {q: library.search(scope, files, q.text, 10).hits for q in questions}
        seconds = (time.perf_counter() - started) / len(questions)
        texts = _texts(folder / "search" / f"{scope.workspace_id}.sqlite", files)
    ours = {q: [hit.file_id for hit in hits] for q, hits in found.items()}
    stemmed, plain = (
        _baseline(texts, questions, stems=True),
        _baseline(texts, questions, stems=False),
    )
    excerpts = [(q, hit) for asked in (found, every) for q, hits in asked.items() for hit in hits]
    held = sum(_holds(hit.text, q) for q, hit in excerpts) / len(excerpts)
    print(f"{len(texts)} files with {sum(map(len, texts.values())):,} characters")
    if show:
        print("\n".join(q.text for q, ids in ours.items() if ids[:1] != [q.file_id]))
    name = f"{len(questions)} questions over {len(texts)} files"
    others = {"BM25 with stopwords and stemming": _ndcg(stemmed), "plain BM25": _ndcg(plain)}
    return [
        Figure(name, "nDCG@10", _ndcg(ours), _ndcg(stemmed), True, "{:.3f}", others),
        Figure(
            name,
            f"{len(excerpts):,} excerpts that hold a word asked for",
            held,
            HELD,
            True,
            "{:.2%}",
        ),
        Figure(name, "time of a question", seconds * 1000, shown="{:.0f} ms"),
    ]


@contextmanager
def _library(folder: Path) -> Iterator[tuple[Library, Scope]]:
    pool, store = Pool(folder / "home", size=2), open_store(Settings(home=folder))
    try:
        yield Library(store, pool, folder), users.ensure_local_user(store.db)
    finally:
        pool.close()
        store.close()


def _add(library: Library, scope: Scope, name: str, data: bytes) -> File:
    return library.add(scope, name, io.BytesIO(data)).file


def _html(corpora: Path, name: str) -> bytes:
    return gzip.decompress((corpora / "articles" / "html" / f"{name}.html.gz").read_bytes())


def _others(corpora: Path) -> list[Path]:
    """PDFs, Word files and mails to be searched beside the articles."""
    found = sorted(
        p
        for folder in ("pdfjs", "mail", "poi")
        for p in (corpora / folder).rglob("*")
        if p.suffix in (".pdf", ".eml", ".docx")
    )
    return [
        p
        for p in random.Random(3).sample(found, min(OTHERS, len(found)))
        if p.stat().st_size < 1_000_000
    ]


def _questions(file: File, body: str, chance: random.Random) -> Iterator[Question]:
    """Some words of a sentence each, in another form, between words that say nothing."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", body) if len(_subjects(s)) >= 4]
    for sentence in chance.sample(sentences, min(EACH, len(sentences))):
        words = _subjects(sentence)
        begin = chance.randrange(len(words) - 3)
        chosen = [_inflected(word) for word in words[begin : begin + chance.choice((3, 4, 6))]]
        yield Question(chance.choice(FRAMES).format(" ".join(chosen)), file.id)


def _subjects(text: str) -> list[str]:
    return [
        word
        for *_, word in tokens(text)
        if word.isalpha() and len(word) > 3 and word not in STOPWORDS["english"]
    ]


def _inflected(word: str) -> str:
    """The word in another form, by the commonest endings of English."""
    for ending, other in (
        ("ies", "y"),
        ("ing", "ed"),
        ("ed", "ing"),
        ("ss", "ss"),
        ("s", ""),
        ("", "s"),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending) + other if ending else word + other
    return word


def _texts(index: Path, files: Sequence[File]) -> dict[str, str]:
    """The whole text of each file as Leaf has read it."""
    ids = {f"{file.sha256} {file.kind}": file.id for file in files}
    texts: dict[str, list[str]] = {}
    with closing(sqlite3.connect(index)) as db:
        for content, text in db.execute("SELECT content, text FROM passages ORDER BY id"):
            texts.setdefault(ids[content], []).append(text)
    return {file_id: "\n".join(pieces) for file_id, pieces in texts.items()}


def _baseline(texts: Mapping[str, str], questions: Sequence[Question], *, stems: bool) -> Ranks:
    """BM25 over whole texts, Lucene's formula, with the same constants."""
    import bm25s
    import snowballstemmer

    stemmer = snowballstemmer.stemmer("english")
    cut: dict[str, Any] = (
        {"stopwords": "en", "stemmer": stemmer.stemWords} if stems else {"stopwords": None}
    )
    index, ids = bm25s.BM25(k1=1.2, b=0.75), list(texts)
    index.index(
        bm25s.tokenize(list(texts.values()), show_progress=False, return_ids=False, **cut),
        show_progress=False,
    )
    asked = bm25s.tokenize(
        [q.text for q in questions], show_progress=False, return_ids=False, **cut
    )
    rows, _ = index.retrieve(asked, k=10, show_progress=False)
    return {q: [ids[i] for i in row] for q, row in zip(questions, rows, strict=True)}


def _ndcg(ranks: Ranks) -> float:
    """With one right file a question: 1 / log2(1 + its rank)."""
    gains = (
        1 / math.log2(2 + ids.index(q.file_id)) if q.file_id in ids else 0.0
        for q, ids in ranks.items()
    )
    return sum(gains) / len(ranks)


def _holds(excerpt: str, question: Question) -> bool:
    """Whether some word of the excerpt is a form of one that was asked for: both begin alike, for
    half of the longer one."""
    asked = [word for *_, word in tokens(question.text) if word not in STOPWORDS["english"]]
    return any(_are_forms(word, other) for *_, word in tokens(excerpt) for other in asked)


def _are_forms(one: str, other: str) -> bool:
    unlike = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    same = next(unlike, min(len(one), len(other)))
    return same >= min(3, len(one), len(other)) and 2 * same >= max(len(one), len(other))


if __name__ == "__main__":
    sys.exit(main())
