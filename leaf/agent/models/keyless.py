"""The analyst without a model: rules that meet the Model protocol, so that one loop, one page and one history serve both.

An answer is a script: a generator that yields batches of tool calls, is given their results, and returns what to say. Each turn
plays the script again from its beginning on the results so far, and streams what comes next.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from leaf.agent.models.base import Emit, Json, ModelEvent, ModelRequest, ModelTurn
from leaf.agent.rules import analyst, answers
from leaf.agent.rules.analyst import Answer
from leaf.agent.rules.grammar import Grammar, Query
from leaf.agent.rules.tables import Table, known_values, lookup_sql, read_table, split_words
from leaf.errors import RunError

TABLES_DESCRIBED, LINKS_FOLLOWED, TEXTS_SHOWN = 64, 5, 3
_SQL = re.compile(r"```(?:sql)?\s*\n(.+?)```", re.DOTALL | re.I)
_TYPED = re.compile(
    r"""\s*(select\s+(?!(?:the|all|an?|some|every)\s).+ | with\s.+\sselect\s.+ | from\s+[\w"]+
    | from\s.+\s(?:select|where|group\sby|order\sby|limit)\s.+)\s*""",
    re.DOTALL | re.I | re.VERBOSE,
)
_ATTACHED = re.compile(r"^\[Attached: .*\]\s*$", re.MULTILINE)
_FOLDER_LINE = re.compile(r"^\[Attached: Drive folder .* id=([\w-]+)(?:/([\w-]+))?, .*\]\s*$", re.MULTILINE)
_LINK = re.compile(r"https://(?:drive|docs|sheets|slides)\.google\.com/[^\s<>\"')\]]+")
_LINK_WITH_PLACE = re.compile(r"(?:\b(?:in|from|of|for|aus|dans|en)\s+)?" + _LINK.pattern)
_FOLDER_LINK = re.compile(r"/folders/|/(my-drive|shared-with-me|shared-drives)$")
_NUMBERED = re.compile(r"\s*(question\s*)?\d{1,2}[.):]\s+", re.I)
_UNITED = re.compile(r"\bacross the (\d+) tables of this shape\b", re.I)
_ABOUT = (
    "Hello. I answer questions about your files: attach a table and ask for figures (“total revenue by region”, “top 5 customers "
    "by total revenue”, “average price by month”), attach a text and ask what it says, or type SQL."
)
_NO_FILE = "There is no file in this chat yet. Attach one with the paper clip, or load the sample data, and ask again."


Call = tuple[str, Json]
"""A tool's name and input."""


@dataclass(frozen=True)
class Result:
    """What came of it: an output as JSON and its data, or the text of an error."""

    output: Json
    data: Json
    error: str = ""


Script = Generator[list[Call], list[Result], Answer]


class KeylessModel:
    """Answers by rules. Takes no tokens and sends nothing anywhere."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        """The next tool calls of the script, or its answer. Raises RunError once `stop` is set."""
        started = time.monotonic()
        question, done = _question_and_results(request)
        script = answer(question)
        try:
            calls = next(script)
            for results in done:
                calls = script.send(results)
        except StopIteration as end:
            return ModelTurn([_say(end.value, emit)], "end_turn", model="keyless", seconds=time.monotonic() - started)
        if stop.is_set():
            raise RunError("Stopped.")
        content = []
        for i, (name, given) in enumerate(calls):
            content.append({"type": "tool_use", "id": f"rule_{len(request.messages)}_{i}", "name": name, "input": given})
            emit(ModelEvent("tool-input", "start", i, call_id=str(content[-1]["id"]), name=name))
            emit(ModelEvent("tool-input", "end", i))
        return ModelTurn(content, "tool_use", model="keyless", seconds=time.monotonic() - started)


def _say(said: Answer, emit: Emit) -> Json:
    text = f"{said.text}\n\n{answers.CONNECT}"
    emit(ModelEvent("text", "start", 0))
    emit(ModelEvent("text", "delta", 0, text))
    emit(ModelEvent("text", "end", 0))
    if said.questions:
        emit(ModelEvent("questions", questions=said.questions))
    return {"type": "text", "text": text}


def _question_and_results(request: ModelRequest) -> tuple[str, list[list[Result]]]:
    """The newest question, with attached folders as their addresses, and the results since, one list for each turn."""
    question, done = "", list[list[Result]]()
    for message in request.messages:
        if message["role"] != "user":
            continue
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        results = [_result(block, request) for block in blocks if block["type"] == "tool_result"]
        if texts := [block["text"] for block in blocks if block["type"] == "text"]:
            typed = _FOLDER_LINE.sub(r"https://drive.google.com/drive/folders/\1?resourcekey=\2", "\n".join(texts))
            question, done = _ATTACHED.sub("", typed).replace("?resourcekey=\n", "\n").strip(), []
        if results:
            done.append(results)
    return question, done if question else []


def _result(block: Json, request: ModelRequest) -> Result:
    output = dict(request.outputs.get(block["tool_use_id"]) or {})
    return Result({}, {}, str(block["content"])) if block.get("is_error") else Result(output, output.get("data") or {})


# The script


def answer(question: str) -> Script:
    """How a question is answered, from the first tool call to what is said."""
    if not question or Grammar(question, Table("", "", ""), {}).is_only("~"):
        return Answer(_ABOUT)
    if sql := typed_sql(question):
        [result] = yield [("query_tables", {"sql": sql})]
        return Answer(f"The query did not run: {result.error}" if result.error else answers.of_sql(result.output))
    if links := list(dict.fromkeys(_LINK.findall(question)))[:LINKS_FOLLOWED]:
        question = _LINK_WITH_PLACE.sub(" ", question).strip(" ?.,:;") or "describe the file"
        results = yield [
            ("list_drive_folder", {"folder": link}) if _FOLDER_LINK.search(link) else ("read_drive_file", {"file": link})
            for link in links
        ]
        if said := list(dict.fromkeys(filter(None, map(_of_drive, results)))):
            return Answer("\n\n".join(said))
    return (yield from _from_files(question))


def _of_drive(result: Result) -> str:
    """What is to say of a folder, or of a file that could not be fetched."""
    if result.error or result.data.get("drive") == "not-connected":
        return result.error or f"{result.data['why']} {result.data['hint']}"
    items = result.data.get("drive_items") or ()
    return "\n".join([f"{result.output['summary']}.", *(f"- {item['name']} ({item['kind']})" for item in items)] if items else [])


def typed_sql(question: str) -> str:
    """SQL that the user typed, in a fence or as it stands; empty when there is none."""
    fenced, typed = _SQL.search(question), _TYPED.fullmatch(question.strip().rstrip(";"))
    found = fenced or (None if question.rstrip().endswith("?") else typed)
    return found[1].strip().rstrip(";") if found else ""


def _from_files(question: str) -> Script:
    [listed] = yield [("list_files", {})]
    files = listed.data.get("files") or []
    if listed.error or not files:
        return Answer(f"The files cannot be listed: {listed.error}" if listed.error else _NO_FILE)
    pressed, question = _UNITED.search(question), _UNITED.sub(" ", question[m.end() if (m := _NUMBERED.match(question)) else 0 :])
    read = [(f, Grammar(question, Table("", f["handle"], f["name"]), {})) for f in files]
    named = [(f, grammar) for f, grammar in read if grammar.has("T")]
    tabular = [f for f, _ in named or read if f["tables"]]
    texts = [f for f, _ in named or read if not f["tables"]]
    described = [f for f, grammar in named or read if not f["tables"] and grammar.describes()]
    if described and (named or not tabular):
        return (yield from _begin_of(described))
    if not tabular:
        return (yield from _search(question, texts))
    tables, failed, left = yield from _describe(tabular)
    if pressed:
        tables, left = analyst.unite(tables, int(pressed[1])), 0
    values = yield from _look_up(question, tables)
    found = analyst.decide([Grammar(question, t, known_values(t, values)) for t in tables], left)
    if not isinstance(found, Answer):
        found = yield from _query(*found)
    found = replace(found, text="\n\n".join([found.text, *failed]))
    return (yield from _search(question, texts, found)) if texts and found.refused else found


def _describe(files: Sequence[Json]) -> Generator[list[Call], list[Result], tuple[list[Table], list[str], int]]:
    """The tables, at most so many, the first of each file before its others; what failed; and how many are left."""
    tables, failed, left = list[Table](), list[str](), 0
    asked = [(file, "") for file in files]
    while asked:
        room = TABLES_DESCRIBED - len(tables)
        asked, left = asked[:room], left + len(asked[room:])
        results = yield [("describe_table", {"file": f["handle"], **({"sheet": name} if name else {})}) for f, name in asked]
        others = []
        for (file, name), result in zip(asked, results, strict=True):
            if result.error:
                failed.append(f"{file['name']} could not be used: {result.error}")
                continue
            tables.append(read_table(result.data["profile"], file["handle"], file["name"]))
            others += [(file, other) for other in result.data.get("others") or () if not name]
        asked = others
    return tables, failed, left


def _look_up(question: str, tables: Sequence[Table]) -> Generator[list[Call], list[Result], list[Sequence[str]]]:
    """Table, column and text of the cells that the question may name."""
    sql = lookup_sql(tables, [text for table in tables for text in Grammar(question, table, {}).stretches()])
    [found] = (yield [("query_tables", {"sql": sql})]) if sql else [Result({}, {}, "nothing to look for")]
    return [] if found.error else found.data["table"]["rows"]


def _query(table: Table, query: Query) -> Script:
    sql = answers.sql_of(query, table)
    [result] = yield [("query_tables", {"sql": sql})]
    if result.error:
        return Answer(f"The query did not run: {result.error}\n\n```sql\n{sql}\n```")
    if (spec := answers.chart_of(query)) and len(result.data["table"]["rows"]) > 2:
        yield [("make_chart", {"spec": spec, "result_id": result.data["table"]["result_id"]})]
    return Answer(answers.of_query(query, table, result.output))


# Texts


def _begin_of(files: Sequence[Json]) -> Script:
    results = yield [("read_file", {"file": f["handle"], "max_tokens": 1_500}) for f in files[:TEXTS_SHOWN]]
    parts = []
    for file, result in zip(files, results, strict=False):
        head = f"**{answers.cell(file['name'])}** begins ({result.data.get('coverage', '')}):"
        failed = f"{file['name']} could not be read: {result.error}"
        parts.append(failed if result.error else answers.of_passages(head, result.data["passages"], set()))
    more = [f"{TEXTS_SHOWN} of {len(files)} files are shown; name one to see it."] if len(files) > TEXTS_SHOWN else []
    return Answer("\n\n".join([*parts, *more]))


def _search(question: str, files: Sequence[Json], refused: Answer | None = None) -> Script:
    """Passages that say most of the question's words; where the tables could not answer it, that is said first."""
    query = " ".join(Grammar(question, Table("", "", ""), {}).unknown()) or question
    [result] = yield [("search_files", {"query": query, "files": [f["handle"] for f in files]})]
    passages, notes = result.data.get("passages") or [], [str(note) for note in result.data.get("notes") or ()]
    if not passages:
        tried = f"Nothing in {len(files)} file{'s' if len(files) != 1 else ''} matches “{query}”. Try other words."
        failed = f"The files could not be searched: {result.error}" if result.error else tried
        return refused or Answer("\n\n".join([failed, *notes]))
    head = "One place in the files mentions this:" if len(passages) == 1 else f"{len(passages)} places in the files mention this:"
    said = answers.of_passages(head, passages, {word.key for word in split_words(question)}, notes)
    return Answer(f"{refused.text.splitlines()[0]}\n\n{said}", refused.questions) if refused else Answer(said)
