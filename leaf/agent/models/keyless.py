"""The analyst without a model: rules that meet the Model protocol, so that one loop, one page and one history serve both.

An answer is a script: a generator that yields batches of tool calls, is given their results, and returns what to say. Each turn
plays the script again from its beginning on the results so far, and streams what comes next.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from leaf.agent.models.base import Emit, Json, ModelEvent, ModelRequest, ModelTurn
from leaf.agent.rules import answers
from leaf.agent.rules.analyst import Analyst, Answer
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.tables import Table, lookup_sql, read_table, shapes_sql
from leaf.errors import RunError

TABLES_DESCRIBED = 8
"""Tables that a question is read against, those whose name it says first."""
PIECE = 24
"""Characters of a text delta."""
LINKS_FOLLOWED = 5
_SQL = re.compile(r"```(?:sql)?\s*\n(.+?)```", re.DOTALL | re.IGNORECASE)
_SQL_START = re.compile(r"\s*(select\b.+|with\b.+\bselect\b.+|from\s+\S+.*)", re.DOTALL | re.IGNORECASE)
_ATTACHED = re.compile(r"^\[Attached: .*\]\s*$", re.MULTILINE)
_FOLDER_LINE = re.compile(r"^\[Attached: Drive folder .* id=([\w-]+)(?:/([\w-]+))?, .*\]\s*$", re.MULTILINE)
_DRIVE_LINK = re.compile(r"https://(?:drive|docs|sheets|slides)\.google\.com/[^\s<>\"')\]]+")
_WITH_PLACE = re.compile(r"(?:\b(?:in|from|of|for|aus|dans|en)\s+)?" + _DRIVE_LINK.pattern)
_GREETING = re.compile(
    r"\W*(hi|hello|hey|hallo|good (morning|afternoon|evening|day)|guten tag|moin|servus|bonjour|hola)\W*(there|leaf|all)?\W*",
    re.I,
)
_THANKS = re.compile(r"\W*(thanks?|thank you|thx|danke|merci|gracias|ok(ay)?|great|perfect|cool|bye|goodbye)\b.{0,30}", re.I)
_HELP = re.compile(r".*\b(what can you do|how (do|can) i use|help me|(who|what) are you)\b.*|\W*help\W*", re.I | re.DOTALL)
_UNITED = re.compile(r"\bacross the (\d+) (?:files|tables) of this shape\b", re.I)
_ABOUT = (
    "I answer questions about your files: attach a table and ask for figures (“total revenue by region”, “top 5 customers by "
    "total revenue”, “average price by month”), attach a text and ask what it says, or type SQL."
)
_NO_FILE = "There is no file in this chat yet. Attach one with the paper clip, or load the sample data, and ask again."


Call = tuple[str, Json]
"""A tool's name and input."""


@dataclass(frozen=True)
class Result:
    """What came of it: an output as JSON, or the text of an error."""

    output: Json
    error: str = ""

    @property
    def data(self) -> Json:
        data: Json = self.output.get("data") or {}
        return data


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
            return ModelTurn([_say(end.value, emit, stop)], "end_turn", model="keyless", seconds=time.monotonic() - started)
        if stop.is_set():
            raise RunError("Stopped.")
        content = []
        for i, (name, given) in enumerate(calls):
            content.append({"type": "tool_use", "id": f"rule_{len(request.messages)}_{i}", "name": name, "input": given})
            emit(ModelEvent("tool-input", "start", i, call_id=str(content[-1]["id"]), name=name))
            emit(ModelEvent("tool-input", "end", i))
        return ModelTurn(content, "tool_use", model="keyless", seconds=time.monotonic() - started)


def _say(said: Answer, emit: Emit, stop: threading.Event) -> Json:
    text = f"{said.text}\n\n{answers.CONNECT}"
    emit(ModelEvent("text", "start", 0))
    for at in range(0, len(text), PIECE):
        if stop.is_set():
            raise RunError("Stopped.")
        emit(ModelEvent("text", "delta", 0, text[at : at + PIECE]))
    emit(ModelEvent("text", "end", 0))
    if said.questions:
        emit(ModelEvent("questions", questions=said.questions))
    return {"type": "text", "text": text}


def _question_and_results(request: ModelRequest) -> tuple[str, list[list[Result]]]:
    """The newest question without its file lines, and the results since, one list for each turn."""
    question = ""
    done: list[list[Result]] = []
    for message in request.messages:
        if message["role"] != "user":
            continue
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        results = [_result(block, request) for block in blocks if block["type"] == "tool_result"]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        if texts:
            question, done = _ATTACHED.sub("", _FOLDER_LINE.sub(_folder_address, "\n".join(texts))).strip(), []
        if results:
            done.append(results)
    return question, done if question else []


def _folder_address(found: re.Match[str]) -> str:
    """An attached Drive folder as its address, as if that had been typed."""
    return f"https://drive.google.com/drive/folders/{found[1]}{f'?resourcekey={found[2]}' if found[2] else ''}"


def _result(block: Json, request: ModelRequest) -> Result:
    if block.get("is_error"):
        return Result({}, str(block["content"]))
    return Result(dict(request.outputs.get(block["tool_use_id"]) or {}))


# The script


def answer(question: str) -> Script:
    """How a question is answered, from the first tool call to what is said."""
    if _GREETING.fullmatch(question) or not question:
        return Answer(f"Hello. {_ABOUT}")
    if _HELP.fullmatch(question):
        return Answer(_ABOUT)
    if _THANKS.fullmatch(question):
        return Answer("You are welcome. Ask on whenever you like.")
    if sql := typed_sql(question):
        [result] = yield [("query_tables", {"sql": sql})]
        return Answer(f"The query did not run: {result.error}" if result.error else answers.of_sql(result.output))
    if links := list(dict.fromkeys(_DRIVE_LINK.findall(question)))[:LINKS_FOLLOWED]:
        return (yield from _answer_from_drive(links, _WITH_PLACE.sub(" ", question).strip(" ?.,:;")))
    return (yield from _answer_from_files(question))


def typed_sql(question: str) -> str:
    """SQL that the user typed, in a fence or as it stands; empty when there is none."""
    if fenced := _SQL.search(question):
        return fenced.group(1).strip().rstrip(";")
    typed = _SQL_START.fullmatch(question)
    if not typed:
        return ""
    text = typed.group(1).strip().rstrip(";")
    clauses = re.search(r"(?i)\b(select|group by|order by|limit|where)\b|\"", text)
    plain_words = re.match(r"(?i)(from|with)\s", text) and not clauses
    one_table = re.fullmatch(r"(?i)from\s+[\w\"]+", text)
    asked = text.endswith("?") or re.match(r"(?i)select\s+(the|all|a|some|an|every)\s", text)
    return "" if (plain_words and not one_table) or asked else text


def _answer_from_drive(links: Sequence[str], question: str) -> Script:
    """Fetch the files behind links, list the folders; then answer from the files, if there are any."""
    folders = ["/folders/" in link or link.endswith(("/my-drive", "/shared-with-me", "/shared-drives")) for link in links]
    results = yield [
        ("list_drive_folder", {"folder": link}) if is_folder else ("read_drive_file", {"file": link})
        for link, is_folder in zip(links, folders, strict=True)
    ]
    said: list[str] = []
    for is_folder, result in zip(folders, results, strict=True):
        if result.error or result.data.get("drive") == "not-connected":
            said.append(result.error or f"{result.data['why']} {result.data['hint']}".strip())
        elif is_folder:
            said.append(answers.of_drive_folder(result.output))
    found = Answer("")
    if not all(folders) and any(not r.error and r.data.get("passages") for r in results):
        found = yield from _answer_from_files(question or "describe the file")
    return Answer("\n\n".join(filter(None, dict.fromkeys([*said, found.text]))), found.questions)


def _answer_from_files(question: str) -> Script:
    [listed] = yield [("list_files", {})]
    files = listed.data.get("files") or []
    if listed.error or not files:
        return Answer(f"The files cannot be listed: {listed.error}" if listed.error else _NO_FILE)
    pressed = _UNITED.search(question)
    question = _UNITED.sub(" ", question)
    read = {f["handle"]: Grammar(question, Table("", f["handle"], f["name"]), {}) for f in files}
    named = [f for f in files if read[f["handle"]].has("T")]
    tabular, texts = ([f for f in named or files if bool(f["tables"]) == wanted] for wanted in (True, False))
    described = [f for f in texts if read[f["handle"]].describes()]
    if described and (named or not tabular):
        return (yield from _begin_of(described))
    if not tabular:
        return (yield from _search(question, texts))
    analyst = Analyst(question, int(pressed[1]) if pressed else 0)
    yield from _look(analyst, tabular)
    found = analyst.decide()
    if isinstance(found, Answer):
        return (yield from _search(question, texts, found)) if texts and found.questions and not described else found
    table, query = found
    sql = answers.sql_of(query, table)
    [result] = yield [("query_tables", {"sql": sql})]
    if result.error:
        return Answer(f"The query did not run: {result.error}\n\n```sql\n{sql}\n```")
    where = f"{len(table.united)} tables of one shape" if table.united else f"`{table.name}`"
    return Answer("\n\n".join([answers.of_query(query, table, result.output, where), *analyst.failed]))


def _look(analyst: Analyst, files: Sequence[Json]) -> Generator[list[Call], list[Result], None]:
    """Describe the tables, at most so many; look for what the question may name in them, and for tables of one shape."""
    asked = [(f, "") for f in files[:TABLES_DESCRIBED]]
    left = [name for f in files[TABLES_DESCRIBED:] for name in f["tables"]]
    while asked:
        results = yield [("describe_table", {"file": f["handle"], **({"sheet": name} if name else {})}) for f, name in asked]
        others = [(f, n) for (f, name), r in zip(asked, results, strict=True) if not name for n in r.data.get("others") or ()]
        for (file, _), result in zip(asked, results, strict=True):
            if result.error:
                analyst.failed.append(f"{file['name']} could not be used: {result.error}")
            else:
                analyst.tables.append(read_table(result.data["profile"], file["handle"], file["name"]))
                analyst.outputs.append(result.output)
        room = max(0, TABLES_DESCRIBED - len(analyst.tables))
        asked, left = others[:room], [*left, *(name for _, name in others[room:])]
    if left and analyst.tables:
        [shapes] = yield [("query_tables", {"sql": shapes_sql(left)})]
        analyst.add_shapes(left, shapes.data["table"]["rows"] if not shapes.error else [])
    analyst.unite()
    lookups = [lookup_sql(table, Grammar(analyst.question, table, {}).stretches()) for table in analyst.tables]
    if any(lookups):
        found = yield [("query_tables", {"sql": sql}) for sql in lookups if sql]
        rows = iter([] if r.error else r.data["table"]["rows"] for r in found)
        analyst.values = [next(rows) if sql else [] for sql in lookups]


# Texts


def _begin_of(files: Sequence[Json]) -> Script:
    results = yield [("read_file", {"file": f["handle"], "max_tokens": 1_500}) for f in files[:3]]
    parts = []
    for file, result in zip(files, results, strict=False):
        passages: list[Any] = result.data.get("passages") or []
        if result.error:
            parts.append(f"{file['name']} could not be read: {result.error}")
        elif passages:
            parts.append(answers.of_beginning(passages[0], str(result.data.get("coverage", ""))))
    return Answer("\n\n".join([*parts, *([f"3 of {len(files)} files are shown; name one to see it."] if len(files) > 3 else [])]))


def _search(question: str, files: Sequence[Json], refused: Answer | None = None) -> Script:
    """Passages that say most of the question's words; where the tables could not answer it, that is said first."""
    query = " ".join(Grammar(question, Table("", "", ""), {}).unknown()) or question
    [result] = yield [("search_files", {"query": query, "files": [f["handle"] for f in files]})]
    passages, notes = result.data.get("passages") or [], [str(note) for note in result.data.get("notes") or ()]
    if result.error or not passages:
        tried = f"Nothing in {len(files)} file{'s' if len(files) != 1 else ''} matches “{query}”. Try other words."
        failed = f"The files could not be searched: {result.error}" if result.error else tried
        return refused or Answer("\n\n".join([failed, *notes]))
    if len(passages[0]["text"]) < 160 and passages[0]["place"]:
        [around] = yield [("read_file", {"file": passages[0]["handle"], "where": passages[0]["place"], "max_tokens": 600})]
        found = around.data.get("passages") or []
        if found and len(found[0]["text"]) > len(passages[0]["text"]):
            passages = [{**passages[0], "text": found[0]["text"]}, *passages[1:]]
    said = answers.of_passages(passages, question, notes)
    return Answer(f"{refused.text.splitlines()[0]}\n\n{said}", refused.questions) if refused else Answer(said)
