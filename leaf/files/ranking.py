"""Which passages answer a query best, by the words that the index has of the files that are
searched.

Okapi BM25 (Robertson and Zaragoza 2009, formula 3.15 with the idf of Lucene) over passages and over
whole files: a passage is ranked by its own words, a file by all of its words and by its best
passage. How rare a word is, is counted in the files that are searched and in no others of the
workspace.
"""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaf.files.query import Term
from leaf.files.stems import beginning, forms, stem
from leaf.files.stopwords import without_stopwords

K1, B = 1.2, 0.75
NAME_WEIGHT = 2.0
"""What a word in the file's name adds to the score; BM25 of a rare word in a passage is between 2
and 10."""
STRICT = 3
"""Words of a query up to which passages with only some of them are left out where others have
all."""
MOST_WANTED = 48
"""Words and pairs of characters that are looked up for one query; each is a bit of a number in
SQLite."""
FORMS = 400
"""Words of the index that one word of a query stands for, at most."""
VOCABULARY = 20_000
"""Words of the index that are looked at for the forms of one word."""
LONGER = 10
"""Letters that a form or the rest of a compound may have more than the word."""

TEMPORARY = (
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)",
    "CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab(main, words, instance)",
    "CREATE TEMP TABLE chosen (content TEXT PRIMARY KEY, named INTEGER NOT NULL DEFAULT 0, bonus "
    "REAL NOT NULL DEFAULT 0)",
    "CREATE TEMP TABLE forms (number INTEGER NOT NULL, word TEXT NOT NULL)",
    """
    CREATE TEMP TABLE found (
        id INTEGER NOT NULL, content TEXT NOT NULL, size INTEGER NOT NULL, number INTEGER NOT NULL, times INTEGER NOT NULL)
    """,
    "CREATE TEMP TABLE weights (number INTEGER PRIMARY KEY, weight REAL NOT NULL)",
)
OCCURRENCES = """
    INSERT INTO found SELECT p.id, p.content, p.size, f.number, count(*)
    FROM forms f CROSS JOIN occurrences o ON o.term = f.word CROSS JOIN passages p ON p.id = o.doc
    CROSS JOIN chosen c ON c.content = p.content WHERE f.number = ? GROUP BY p.id
"""
PHRASES = """
    INSERT INTO found SELECT p.id, p.content, p.size, ?, 1
    FROM words JOIN passages p ON p.id = words.rowid JOIN chosen c ON c.content = p.content WHERE words MATCH ?
"""
SCORED = f"""
    WITH scored AS (
        SELECT f.id, f.content, sum(1 << f.number) | max(c.named) AS mask, max(c.bonus)
            + sum(w.weight * f.times * {K1 + 1} / (f.times + {K1} * ({1 - B} + {B} * f.size / :size))) AS score
        FROM found f JOIN weights w ON w.number = f.number JOIN chosen c ON c.content = f.content GROUP BY f.id),
    placed AS (
        SELECT *, row_number() OVER (PARTITION BY content ORDER BY score DESC, id) AS nth,
            count(*) OVER (PARTITION BY content) AS there
        FROM scored WHERE mask = :all OR NOT :strict)
    SELECT id, content, score, there - 1, mask = :all FROM placed WHERE nth <= :each ORDER BY score DESC, id LIMIT :most
"""


@dataclass(frozen=True)
class Wanted:
    """One word or phrase of a query, as it stands in the index."""

    phrase: tuple[str, ...]
    """Words that stand side by side."""
    forms: frozenset[str] = frozenset()
    """Where it is a single word: all words of the index that count as it."""

    def places(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Numbers of the first and last word of each of its places among these words."""
        size = len(self.phrase)
        for i, word in enumerate(words):
            if word in self.forms or (
                word == self.phrase[0] and tuple(words[i : i + size]) == self.phrase
            ):
                yield i, i + size - 1


@dataclass(frozen=True)
class Ranked:
    """A passage that was found."""

    id: int
    content: str
    score: float
    more: int
    """Other passages of the same content that were found."""


@dataclass(frozen=True)
class Ranking:
    """What was found."""

    passages: tuple[Ranked, ...]
    """Best first."""
    wanted: tuple[Wanted, ...]
    partly: bool
    """Whether no passage has all of the words."""


Names = Mapping[str, Sequence[Sequence[str]]]
"""What the index knows a text by -> the words of each name that it has, as the index would have
them."""


def rank(
    db: sqlite3.Connection, names: Names, terms: Sequence[Term], most: int, *, one_each: bool
) -> Ranking:
    """At least the best `most` passages of those contents, where there are so many; `one_each`: the
    best one of each content."""
    for statement in TEMPORARY:
        db.execute(statement)
    db.executemany("INSERT INTO chosen (content) VALUES (?)", ((content,) for content in names))
    wanted = tuple(_look_up(db, names, terms))
    named = _weigh_names(db, names, wanted)
    _weigh(db)
    every = (1 << len(wanted)) - 1
    by_name = [content for content, mask in named.items() if mask == every]
    whole = bool(by_name) or _any_whole(db, every)
    rows = _passages(db, every, whole and len(wanted) <= STRICT, one_each, most)
    rows += _first_passages(
        db, set(by_name) - {row.content for row in rows}, NAME_WEIGHT * len(wanted)
    )
    if one_each:
        scores = _scores(db)
        rows = [Ranked(r.id, r.content, r.score + scores.get(r.content, 0.0), r.more) for r in rows]
    return Ranking(tuple(sorted(rows, key=lambda r: (-r.score, r.id))), wanted, not whole)


def _look_up(db: sqlite3.Connection, names: Names, terms: Sequence[Term]) -> list[Wanted]:
    """The words and phrases of a query, each counted in the passages; what is nowhere is looked for
    by its beginning or parts."""
    spoken = _languages(db)
    in_names = {word for several in names.values() for words in several for word in words}
    known: list[Wanted] = []
    waiting = _without_stopwords(terms, spoken)
    while waiting and len(known) < MOST_WANTED:
        term = waiting.pop(0)
        words = term.words
        if len(words) == 1 and not any(words[0] in wanted.forms for wanted in known):
            known.append(_count_word(db, len(known), words[0], spoken, in_names))
        elif len(words) > 1:
            count = db.execute(PHRASES, (len(known), f'"{" ".join(words)}"')).rowcount
            parts = [] if count or term.quoted else _parts(words)
            waiting = [*map(Term, parts), *waiting]
            known += [] if parts else [Wanted(words)]
    return known


def _parts(words: Sequence[str]) -> list[str]:
    """The words of a phrase that stands nowhere, one by one; of a run of characters without blanks
    each two neighbours."""
    pairs = [a + b for a, b in pairwise(words) if len(a) == len(b) == 1 and not (a + b).isascii()]
    if len(pairs) < len(words) - 1:
        return list(dict.fromkeys(words))
    return pairs if len(pairs) > 1 else []


def _without_stopwords(terms: Sequence[Term], spoken: Sequence[str]) -> list[Term]:
    """The terms that say what a query is about. A word in capitals among others is a name: `US`,
    `WHO`, `IT`."""
    shouted = all(term.text.isupper() for term in terms)
    plain = [
        t.words[0]
        for t in terms
        if len(t.words) == 1 and not t.quoted and (shouted or not (t.text.isupper() and t.text[1:]))
    ]
    left = (
        set(without_stopwords(plain, spoken))
        if len(plain) < len(terms) or len(plain) > 1
        else set(plain)
    )
    return [
        t
        for t in terms
        if t.words and (t.words[0] not in plain or t.words[0] in left or len(t.words) > 1)
    ]


def _count_word(
    db: sqlite3.Connection, number: int, word: str, spoken: Sequence[str], in_names: set[str]
) -> Wanted:
    """A word in all of its forms; if it is nowhere, whatever begins with it."""
    start = beginning(word, spoken)
    same = forms(
        word,
        [*_vocabulary(db, start, len(word)), *(w for w in in_names if w.startswith(start))],
        spoken,
    )[:FORMS]
    if not _count_forms(db, number, same) and len(word) >= 3 and not in_names.intersection(same):
        stems = [
            root
            for root in (stem(word, language) for language in spoken or ("english",))
            if word.startswith(root)
        ]
        longer = _vocabulary(db, min([*stems, word], key=len), len(word) + LONGER)[:FORMS]
        _count_forms(db, number, longer)
        same = [*same, *longer]
    return Wanted((word,), frozenset(same))


def _vocabulary(db: sqlite3.Connection, start: str, longest: int) -> list[str]:
    """Words of the index that begin so."""
    rows = db.execute(
        "SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND length(term) <= ? LIMIT ?",
        (start, start + "\U0010ffff", longest + LONGER, VOCABULARY),
    )
    return [term for (term,) in rows]


def _count_forms(db: sqlite3.Connection, number: int, words: Sequence[str]) -> int:
    """Keep where the words stand; in how many passages."""
    db.executemany("INSERT INTO forms VALUES (?, ?)", ((number, word) for word in words))
    return db.execute(OCCURRENCES, (number,)).rowcount


def _languages(db: sqlite3.Connection) -> list[str]:
    rows = db.execute(
        "SELECT DISTINCT s.languages FROM sources s JOIN chosen c ON c.content = s.content"
    )
    return list(dict.fromkeys(name for (names,) in rows for name in names.split()))


def _weigh_names(db: sqlite3.Connection, names: Names, wanted: Sequence[Wanted]) -> dict[str, int]:
    """Which words the best name of each content has, as bits; kept with what they add to the score
    of its passages."""
    masks = {
        content: max((_mask(words, wanted) for words in several), key=int.bit_count, default=0)
        for content, several in names.items()
    }
    rows = (
        (mask, NAME_WEIGHT * mask.bit_count(), content) for content, mask in masks.items() if mask
    )
    db.executemany("UPDATE chosen SET named = ?, bonus = ? WHERE content = ?", rows)
    return masks


def _mask(words: Sequence[str], wanted: Sequence[Wanted]) -> int:
    return sum(1 << number for number, each in enumerate(wanted) if any(each.places(words)))


def _weigh(db: sqlite3.Connection) -> None:
    """How much a word counts for a passage."""
    (there,) = db.execute(
        "SELECT coalesce(sum(s.passages), 0) FROM sources s JOIN chosen c ON c.content = s.content"
    ).fetchone()
    rows = db.execute("SELECT number, count(*) FROM found GROUP BY number").fetchall()
    db.executemany(
        "INSERT INTO weights VALUES (?, ?)",
        ((number, _idf(there, having)) for number, having in rows),
    )


def _idf(there: int, having: int) -> float:
    return math.log(1 + (there - having + 0.5) / (having + 0.5))


def _any_whole(db: sqlite3.Connection, every: int) -> bool:
    row = db.execute(
        "SELECT 1 FROM found f JOIN chosen c ON c.content = f.content GROUP BY f.id "
        "HAVING sum(1 << f.number) | max(c.named) = ? LIMIT 1",
        (every,),
    )
    return row.fetchone() is not None


def _passages(
    db: sqlite3.Connection, every: int, strict: bool, one_each: bool, most: int
) -> list[Ranked]:
    (size,) = db.execute(
        "SELECT sum(s.characters) * 1.0 / sum(s.passages) FROM sources s JOIN chosen c ON "
        "c.content = s.content"
    ).fetchone()
    parameters = {
        "size": size or 1.0,
        "all": every,
        "strict": strict,
        "each": 1 if one_each else most,
        "most": -1 if one_each else most,
    }
    return [
        Ranked(int(row), content, float(score), int(more))
        for row, content, score, more, _ in db.execute(SCORED, parameters)
    ]


def _first_passages(db: sqlite3.Connection, contents: set[str], score: float) -> list[Ranked]:
    """What to show of files that were found by their names alone."""
    rows = [
        (
            content,
            *db.execute("SELECT min(id) FROM passages WHERE content = ?", (content,)).fetchone(),
        )
        for content in sorted(contents)
    ]
    return [Ranked(row, content, score, 0) for content, row in rows if row is not None]


def _scores(db: sqlite3.Connection) -> dict[str, float]:
    """BM25 of each content by all of its text."""
    sizes = dict(
        db.execute(
            "SELECT s.content, s.characters FROM sources s JOIN chosen c ON c.content = s.content"
        )
    )
    rows = db.execute(
        "SELECT content, number, sum(times) FROM found GROUP BY content, number"
    ).fetchall()
    having: defaultdict[int, int] = defaultdict(int)
    for _, number, _ in rows:
        having[number] += 1
    mean = sum(sizes.values()) / len(sizes) if sizes else 1.0
    scores: defaultdict[str, float] = defaultdict(float)
    for content, number, times in rows:
        scores[content] += (
            _idf(len(sizes), having[number])
            * times
            * (K1 + 1)
            / (times + K1 * (1 - B + B * sizes[content] / mean))
        )
    return scores
