"""What an answer rests on: which of its steps it used, and what those read. Pure; made once for
each answer.

A step is used where that can be shown: a figure has its receipt there, a citation names it, its
chart, picture or document is part of the answer, or its words stand in the text. Where nothing
shows it, the answer rests on what was read if that is one table or file alone; else nobody can
tell, and it is said to have been looked at. Listing files and looking at columns reads no rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from leaf.errors import LeafError
from leaf.provenance import partly
from leaf.provenance.citations import Text, citation_of, flow
from leaf.provenance.coverage import key_of, merge_coverage
from leaf.readers.base import KINDS, Where, ending
from leaf.readers.locate.where import parse
from leaf.readers.packed import ENDINGS
from leaf.shapes.part_values import is_tool, succeeded, texts_of, tool_name
from leaf.shapes.parts import CoverageData, Part, PrintedSeen, ReceiptKept, ResultSeen
from leaf.shapes.results import Covered, Data, Output, UnreadTable, tables_of
from leaf.store.model import Message
from leaf.tools.registry import declared

ARCHIVES = frozenset((*KINDS["archive"].endings, *ENDINGS))
"""Endings of files that hold nothing but other files."""
UNTOUCHED_NAMED = 20
"""Files and tables that are kept by name among those that were not touched."""
WORDS = 6
"""Words in a row that an answer and a passage have in common, for the answer to quote it."""
CELLS = 2_000
"""Texts of one result that are looked for in an answer."""
_STANDS = frozenset({"exact", "rounded", "derived", "counted", "printed", "quoted"})
"""Kinds of receipts that show where a figure comes from; one that stands in a query or in the
question shows nothing."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Basis:
    """What an answer rests on."""

    outputs: tuple[Output, ...] = ()
    """Of the steps that it used, or may have used: their `sources` are those of the answer."""
    covered: CoverageData = field(default_factory=lambda: CoverageData())
    """The data of the part `data-coverage`; empty for an answer that touched nothing."""


@dataclass(frozen=True)
class _Step:
    """A tool call that succeeded."""

    call_id: str
    tool: str
    message_id: str
    """The earlier answer that it belongs to; empty for this one."""
    output: Output

    @property
    def data(self) -> Data:
        return self.output.get("data") or {}

    @property
    def reads(self) -> bool:
        """Whether it brought rows or words of a file: a list of files and the columns of a table do
        not."""
        return (
            bool(self.output.get("coverage") or self.output.get("sources")) and not self.describes
        )

    @property
    def describes(self) -> bool:
        return any(
            source.get("action") == "described" for source in self.output.get("sources") or ()
        )

    @property
    def results(self) -> set[str]:
        """Ids of the results that it made."""
        return {table["result_id"] for table in tables_of(self.data) if table.get("result_id")}


def of_answer(
    parts: Sequence[Part],
    history: Sequence[Message],
    receipts: Sequence[ReceiptKept],
    files: Mapping[str, str],
) -> Basis:
    """`receipts` are those of the answer's figures, `files` the names of the chat's files by
    handle."""
    texts = "\n".join(piece.text for piece in flow(parts) if isinstance(piece, Text))
    steps = [_narrowed(step, receipts, parts, texts) for step in _steps(parts)]
    used = [
        *_earlier(steps, receipts, history),
        *(step for step in steps if _is_shown(step, steps, receipts, parts, texts)),
    ]
    reading = [step for step in steps if step.reads and step not in used]
    for step in reversed(reading):  # the newest first: what it says was not taken from an older one
        if _says(step, texts, used, history):
            used.append(step)
    reading = [step for step in reading if step not in used]
    if (
        not any(step.reads for step in used)
        and len({key for step in reading for key in _read(step)}) == 1
    ):
        used, reading = [*used, *reading], []
    return _basis(steps, used, reading, files)


def _basis(
    steps: Sequence[_Step], used: Sequence[_Step], looked: Sequence[_Step], files: Mapping[str, str]
) -> Basis:
    read = [step for step in used if step.reads]
    covered = merge_coverage(step.output for step in read)
    known = {key_of(cover) for cover in covered}
    also = [
        cover
        for cover in merge_coverage(step.output for step in looked)
        if key_of(cover) not in known
    ]
    others = [
        s
        for s in looked
        if {key_of(c) for c in s.output.get("coverage") or ()} - known
        or not s.output.get("coverage")
    ]
    behind = [s for s in looked if s not in others and partly.reads_texts(s.output)]
    looked = others
    described = [step for step in steps if step.describes]
    touched = {_table(cover) for cover in (*covered, *also)}
    columns = {
        _table(c): str(c["name"]) for step in described for c in step.output.get("coverage") or ()
    }
    columns = {table: name for table, name in columns.items() if table not in touched}
    if not (read or looked):
        read = described
    if not (read or looked):
        return Basis()
    own_steps = [step for step in steps if step in read or step in looked]
    outputs = tuple(step.output for step in (*(s for s in read if s not in own_steps), *own_steps))
    names = [str(cover["name"]) for cover in (*covered, *also)]
    untouched = _untouched([*steps, *used], {*touched, *columns}, names, files)
    coverage: CoverageData = {
        "files": covered,
        "looked": also,
        "described": list(columns.values()),
        "untouched": untouched[:UNTOUCHED_NAMED],
        "opened": _opened([*read, *looked]),
        "more": max(0, len(untouched) - UNTOUCHED_NAMED),
        **_in_part(read, looked, behind, steps, [*covered, *also]),
    }
    return Basis(
        outputs, cast("CoverageData", {key: value for key, value in coverage.items() if value})
    )


def _steps(parts: Sequence[Part], message_id: str = "") -> Iterator[_Step]:
    for part in parts:
        output = succeeded(part)
        if output is not None and is_tool(part):
            yield _Step(part["toolCallId"], tool_name(part), message_id, output)


def _narrowed(
    step: _Step, receipts: Sequence[ReceiptKept], parts: Sequence[Part], texts: str
) -> _Step:
    """A search as what it gave: the passages that the answer shows, or all of them where it shows
    none, counted for each file."""
    sources = step.output.get("sources") or ()
    passages = step.data.get("passages") or ()
    if (
        not sources
        or len(sources) != len(passages)
        or any(source.get("action") != "found" for source in sources)
    ):
        return step
    cited = _cited(parts)
    places = {
        str(r.get("place"))
        for r in receipts
        if r.get("call_id") == step.call_id and r["kind"] in _STANDS
    }
    runs = _runs(texts)
    shown = [
        source
        for source, passage in zip(sources, passages, strict=True)
        if _passage(source["handle"], source["place"]) in cited
        or f"{source['name']} {source['place']}" in places
        or not runs.isdisjoint(_runs(passage["text"]))
    ]
    hits = shown or list(sources)
    counts = Counter((source["file_id"], source["name"]) for source in hits)
    coverage: list[Covered] = [
        {
            "file_id": file_id,
            "name": name,
            "unit": "passages",
            "seen": count,
            "total": count,
            "ranges": [],
        }
        for (file_id, name), count in counts.items()
    ]
    return replace(step, output={**step.output, "sources": hits, "coverage": coverage})


def _earlier(
    steps: Sequence[_Step], receipts: Sequence[ReceiptKept], history: Sequence[Message]
) -> list[_Step]:
    """Steps of earlier answers that figures of this one come from, or its charts are drawn from."""
    wanted = {
        (str(r.get("message_id")), str(r.get("call_id")))
        for r in receipts
        if r.get("message_id") and r["kind"] in _STANDS
    }
    charts = _charted(steps) - {result for step in steps for result in step.results}
    if not wanted and not charts:
        return []
    older_steps: list[_Step] = []
    for message in reversed(history):  # a long chat is not read further back than this needs
        for step in (
            reversed(list(_steps(message.parts, message.id))) if message.role == "assistant" else ()
        ):
            if (step.message_id, step.call_id) in wanted or step.results & charts:
                older_steps += [step] if step.reads else []
                wanted.discard((step.message_id, step.call_id))
                charts -= step.results
        if not wanted and not charts:
            break
    return older_steps[::-1]


def _charted(steps: Sequence[_Step]) -> set[str]:
    """Ids of results that the answer shows as a chart."""
    return {chart.get("result_id", "") for step in steps if (chart := step.data.get("chart"))}


def _is_shown(
    step: _Step,
    steps: Sequence[_Step],
    receipts: Sequence[ReceiptKept],
    parts: Sequence[Part],
    texts: str,
) -> bool:
    """Whether the answer shows what a step gave: a figure, a citation, a chart, a picture, a
    document, or words of a file."""
    if any(
        r.get("call_id") == step.call_id and not r.get("message_id") and r["kind"] in _STANDS
        for r in receipts
    ):
        return True
    if not step.reads:
        return False
    if declared(step.tool).effect == "write" or step.data.get("figures") or step.data.get("chart"):
        return True
    return bool(step.results & _charted(steps)) or _is_cited(step, parts) or _is_quoted(step, texts)


def _is_cited(step: _Step, parts: Sequence[Part]) -> bool:
    """Whether a citation names one of its passages; else, for what has none, its file."""
    passages = {_passage(*_parted(sent["source"])) for sent in step.output.get("passages") or ()}
    if passages:
        return not passages.isdisjoint(_cited(parts))
    files = {citation["file_id"] for part in parts if (citation := citation_of(part))}
    return not files.isdisjoint(source["file_id"] for source in step.output.get("sources") or ())


_Passage = tuple[str, Where | str]


def _cited(parts: Sequence[Part]) -> set[_Passage]:
    """The passages that citations name, and those at which their words were found."""
    cited = [citation for part in parts if (citation := citation_of(part))]
    return {
        passage
        for citation in cited
        for passage in (
            _passage(*_parted(citation["source"])),
            _passage(citation["handle"], citation["place"]),
        )
    }


def _parted(source: str) -> tuple[str, str]:
    handle, _, place = source.partition("#")
    return handle, place


def _passage(handle: str, place: str) -> _Passage:
    """A passage, the same however its place is written: `p. 3` and `page 3`, `B2` and `b2`."""
    try:
        return handle.strip(), parse(place.casefold())
    except LeafError:
        return handle.strip(), place.strip().casefold()


def _is_quoted(step: _Step, texts: str) -> bool:
    """Whether the answer and a passage have some words in a row."""
    passages = step.data.get("passages") or ()
    if not passages:
        return False
    runs = _runs(texts)
    return any(not runs.isdisjoint(_runs(passage["text"])) for passage in passages)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return {tuple(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}


def _says(step: _Step, texts: str, used: Sequence[_Step], history: Sequence[Message]) -> bool:
    """Whether words of its rows stand in the answer that stand neither in the question nor in a
    step that it used."""
    asked = "\n".join(text for m in history[-1:] for text in texts_of(m.parts)).casefold()
    known = {text for one in used for text in _cells(one)}
    answer = texts.casefold()
    return any(
        text not in known
        and text not in asked
        and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", answer)
        for text in _cells(step)
    )


def _cells(step: _Step) -> list[str]:
    """Different texts of a step's rows, as they would be written."""
    texts: dict[str, None] = {}
    for table in tables_of(step.data):
        for row in table["rows"]:
            for cell in row:
                if (
                    isinstance(cell, str)
                    and 3 <= len(cell) <= 200
                    and not cell.replace(".", "").isdigit()
                ):
                    texts[cell.casefold()] = None
            if len(texts) >= CELLS:
                break
    return list(texts)


def _in_part(
    read: Sequence[_Step],
    looked: Sequence[_Step],
    behind: Sequence[_Step],
    steps: Sequence[_Step],
    covered: Sequence[Covered],
) -> CoverageData:
    """Of which results, tables and prints the model was shown a part. `behind` was looked at while
    others read all of its tables: there texts alone count, which somebody may have read."""
    short = {_table(cover) for cover in covered if partly.is_short(cover)}
    charts = _charted(steps)
    used, seen, other = ([step.output for step in which] for which in (read, looked, behind))
    texts = [
        *partly.results(other, charts, short, looked=True),
        *partly.tables(other, covered, looked=True),
        *partly.abridged(other, looked=True),
    ]
    return {
        "results": [
            *partly.drawn([step.output for step in steps]),
            *partly.results(used, charts, short, looked=False),
            *partly.tables(used, covered, looked=False),
            *partly.abridged(used, looked=False),
            *partly.results(seen, charts, short, looked=True),
            *(cast("ResultSeen", {**one, "texts": True}) for one in texts),
        ],
        "printed": [
            *partly.printed(used, looked=False),
            *partly.printed(seen, looked=True),
            *(
                cast("PrintedSeen", {**one, "texts": True})
                for one in partly.printed(other, looked=True)
            ),
        ],
    }


def _opened(steps: Iterable[_Step]) -> list[str]:
    """Names of files that code opened itself, so that nobody knows how much of them it read."""
    names: dict[str, None] = {}
    for step in steps:
        counted = {cover["file_id"] for cover in step.output.get("coverage") or ()}
        for source in step.output.get("sources") or ():
            if source.get("action") == "computed" and source["file_id"] not in counted:
                names[source["name"]] = None
    return list(names)


def _read(step: _Step) -> set[tuple[str, str]]:
    """The tables, or files, that a step read."""
    tables = {_table(cover) for cover in step.output.get("coverage") or ()}
    return tables or {(str(source["file_id"]), "") for source in step.output.get("sources") or ()}


def _table(cover: Covered | UnreadTable) -> tuple[str, str]:
    return cover["file_id"], cover.get("table", "")


def _untouched(
    steps: Sequence[_Step],
    touched: set[tuple[str, str]],
    read: Sequence[str],
    files: Mapping[str, str],
) -> list[str]:
    """Names of tables beside those that were read, and of files that no step opened."""
    beside = {
        _table(one): str(one["name"]) for step in steps for one in step.data.get("beside") or ()
    }
    opened = {source["handle"] for step in steps for source in step.output.get("sources") or ()}
    tables = [
        name
        for table, name in beside.items()
        if table not in touched
        and not any(one == name or one.startswith(f"{name}!") for one in read)
    ]
    archives = _archives(files.values())
    others = (
        name for handle, name in files.items() if handle not in opened and name not in archives
    )
    return list(dict.fromkeys([*tables, *others]))


def _archives(names: Iterable[str]) -> set[str]:
    """Those of the files that are archives and nothing besides what came out of them, which stands
    for itself."""
    there = list(names)
    folders = {name[:at] for name in there for at, c in enumerate(name) if c == "/"}
    return {name for name in there if name in folders and ending(name) in ARCHIVES}
