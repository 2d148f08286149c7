"""Sentences that are made and kept in English, as steps of an answer have them, said in the language
of whoever reads them.

Models, exports and logs read them in English, and answers of earlier versions have nothing else.
What a sentence says is found by its pattern; one that is not here is said as it was kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from string import Formatter

from leaf.language.text import ENGLISH, current, forms, mark, separated, speaking, t

LONGEST = 400
"""Characters; a longer text is no line of a step."""
WHOLE = (
    mark("Queried {tables}: {rows}"),
    mark("Queried no table: {rows}"),
    mark("Queried {tables} by {key}: {rows}"),
    mark("Queried no table by {key}: {rows}"),
    mark("Queried by {key} in {tables}: {rows}"),  # earlier versions
    mark("Summed {column} in {tables}: {rows}"),
    mark("Summed {column} by {key} in {tables}: {rows}"),
    mark("Averaged {column} in {tables}: {rows}"),
    mark("Averaged {column} by {key} in {tables}: {rows}"),
    mark("Took the median of {column} in {tables}: {rows}"),
    mark("Took the median of {column} by {key} in {tables}: {rows}"),
    mark("Found the largest {column} in {tables}: {rows}"),
    mark("Found the largest {column} by {key} in {tables}: {rows}"),
    mark("Found the smallest {column} in {tables}: {rows}"),
    mark("Found the smallest {column} by {key} in {tables}: {rows}"),
    mark("Counted rows in {tables}: {rows}"),
    mark("Counted rows by {key} in {tables}: {rows}"),
    mark("Looked at the columns of {table}: {rows} × {columns}"),
    mark("Drew {name}"),
    mark("Drew a chart of {result}"),
    mark("Ran Python"),
    mark("Ran Python: {made}"),
    mark("{comment}: {made}"),
    mark("Installed {name}"),
    mark("Removed {name}"),
    mark("{name} is there already"),
    mark("Looked for files: none here"),
    mark("Listed files {n}-{m} of {total}"),
    mark("Listed {files}"),
    mark("Read nothing of {name}"),
    mark("Read {place} of {name}"),
    mark("Read {place} of {name} in Drive"),
    mark("Searched {files} for {query}: {passages}"),
    mark("Looked at {place} of {name}"),
    mark("Looked at {name}"),
    mark("Listed the Drive folder {name}: {items}"),
    mark("Searched Drive for {query}: {items}"),
    mark("Searched Drive in {folder} for {query}: {items}"),
    mark("Fetched {name} from Drive: it cannot be read"),
    mark("Google Drive is not connected"),
    mark("Wrote {name}"),
    mark("Wrote {name} from {files}"),
    mark("Wrote {name} from the text given"),
    mark("Wrote {name} from {files} and the text given"),
    mark("Left {name} as it is"),
    mark("Changed {name}: {lines}"),
    mark("Deleted {name}"),
)
"""What a step did. A value may be anything but where its name is one of `WORDS` or a figure's."""
PARTS = (
    mark("{n} left out as {kinds}"),
    mark("{n} as {kinds}"),
    mark("a total"),
    mark("totals"),
    mark("a subtotal"),
    mark("subtotals"),
    mark("a title"),
    mark("titles"),
    mark("a summary"),
    mark("summaries"),
    mark("an unreadable line"),
    mark("unreadable lines"),
    mark("a note"),
    mark("notes"),
    mark("an average or another summary"),
    mark("averages or other summaries"),
    mark("{n} row that may be {kinds} is counted as data"),
    mark("{n} rows that may be {kinds} are counted as data"),
    mark("{n} printed total does not add up: {which}"),
    mark("{n} printed totals do not add up: {which}"),
    mark("'{column}' in row {row} is {n}, its rows give {m}"),
    mark("and {n} more"),
    mark("Nothing changed"),
    mark("wrote {name}"),
)
"""Of which such lines are made, and what is said of rows and of documents."""


def _pairs() -> Iterator[tuple[str, str]]:
    """English for one and for several, each with how the language says it."""
    for pair in (
        ("{n} row", "{n} rows"),
        ("{n} column", "{n} columns"),
        ("{n} file", "{n} files"),
        ("{n} passage", "{n} passages"),
        ("{n} item", "{n} items"),
        ("{n} item on this page", "{n} items on this page"),
        ("{n} line added", "{n} lines added"),
        ("{n} line removed", "{n} lines removed"),
        ("{n} row left out as {kinds}", "{n} rows left out as {kinds}"),
    ):
        yield from zip(pair, forms(*pair), strict=True)
    pictures = forms("{n} picture", "{n} pictures")  # what Python calls figures
    yield from zip(("{n} figure", "{n} figures"), pictures, strict=True)


WORDS = ("rows", "columns", "files", "passages", "items", "lines", "made", "kinds", "which")
"""Names of values that are `PARTS`, or a list of them; of `which` with semicolons."""
FIGURES = ("n", "m", "total")


def said(text: str) -> str:
    """What a step did, in the language of this thread: `Queried sales: 30 rows`. Values stay as they
    are; a figure is written as the language does."""
    language = current()
    if language == ENGLISH or not text or len(text) > LONGEST:
        return text
    return _said(language, text, WHOLE) or text


def part(text: str) -> str:
    """The same of what is no step: `2 left out as totals, 1 as a title`, `3 lines added`."""
    language = current()
    if language == ENGLISH or not text or len(text) > LONGEST:
        return text
    return _said(language, text, PARTS) or _list(language, text) or text


@lru_cache(maxsize=4_096)
def _said(language: str, text: str, among: tuple[str, ...]) -> str:
    """Empty for what nobody knows. Of several patterns that with the most of its own words is
    meant."""
    for pattern, wording in _patterns(language, among):
        match = pattern.fullmatch(text)
        values = match and _values(language, match.groupdict())
        if values is not None:
            return wording.format_map(values)
    return ""


def _values(language: str, groups: dict[str, str]) -> dict[str, str] | None:
    """None where one should be a sentence and is none."""
    values = {}
    for name, value in groups.items():
        if name in WORDS:
            value = _list(language, value, "; " if name == "which" else ", ")
            if not value:
                return None
        elif name in FIGURES:
            value = separated(value)
        values[name] = value
    return values


def _list(language: str, text: str, between: str = ", ") -> str:
    """`30 rows, 1 figure`; empty where one of them is not known."""
    known = [_said(language, each, PARTS) for each in text.split(between)]
    return between.join(known) if all(known) else ""


@lru_cache(maxsize=16)
def _patterns(language: str, among: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    with speaking(language):
        sentences = [(text, t(text)) for text in among]
        sentences += _pairs() if among is PARTS else ()
    sentences.sort(key=lambda one: -sum(len(words) for words, *_ in Formatter().parse(one[0])))
    return tuple((re.compile(_pattern(text)), wording) for text, wording in sentences)


def _pattern(sentence: str) -> str:
    parts = []
    for words, name, _, _ in Formatter().parse(sentence):
        parts.append(re.escape(words))
        if name:
            value = r"-?[\d,.]+(?:e[+-]?\d+)?" if name in FIGURES else ".+?"
            parts.append(f"(?P<{name}>{value})")
    return "".join(parts)
