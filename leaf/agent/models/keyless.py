"""The analyst without a model: rules that meet the Model protocol, so that one loop, one page and one history serve both.

An answer is a script: a generator that yields batches of tool calls, is given their results, and returns the answer's text. Each
turn plays the script again from its beginning on the results so far, and streams what comes next.
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
from leaf.agent.rules.plan import Plan, UnclearError, make_plan
from leaf.agent.rules.profiles import TableProfile, read_profile
from leaf.agent.rules.reading import ASKING_WORDS, FUNCTION_WORDS, Reading, looked_up, lookup_sql, read, unknown_values
from leaf.agent.rules.words import fold, name_words, split_words
from leaf.errors import RunError

TABLES_DESCRIBED = 8
"""Tables that a question is read against, those whose name it says first."""
PIECE = 24
"""Characters of a text delta."""
_SQL = re.compile(r"```(?:sql)?\s*\n(.+?)```", re.DOTALL | re.IGNORECASE)
_SQL_START = re.compile(r"\s*(select\b.+|with\b.+\bselect\b.+|from\s+\S+.*)", re.DOTALL | re.IGNORECASE)
_ATTACHED = re.compile(r"^\[Attached: .*\]\s*$", re.MULTILINE)
_FOLDER_LINE = re.compile(r"^\[Attached: Drive folder .* id=([\w-]+)(?:/([\w-]+))?, .*\]\s*$", re.MULTILINE)
_DRIVE_LINK = re.compile(r"https://(?:drive|docs|sheets|slides)\.google\.com/[^\s<>\"')\]]+")
LINKS_FOLLOWED = 5
_GREETING = re.compile(
    r"\W*(hi|hello|hey|hallo|good (morning|afternoon|evening|day)|guten tag|moin|servus)\W*(there|leaf|all)?\W*", re.I
)
_THANKS = re.compile(r"\W*(thanks?|thank you|thx|danke|ok(ay)?|great|perfect|cool|bye|goodbye)\b.{0,30}", re.I)
_HELP = re.compile(r".*\b(what can you do|how (do|can) i use|help me|who are you|what are you)\b.*|\W*help\W*", re.I | re.DOTALL)
_DESCRIBE = (
    r"\b(describe|description|summar\w+|overview|what(’|'|\s+i)?s in|what is (in|inside)|what does .* (hold|contain|look like)|"
    r"schema|structure|which columns|what columns|(list|show) .*columns|the columns|column names|data types|tell me about|"
    r"inhalt|beschreib\w*|uberblick|main points|explain (the|this) (file|document|table)|gist)\b"
)


@dataclass(frozen=True)
class Call:
    """A tool call that the script wants."""

    name: str
    input: Json


@dataclass(frozen=True)
class Result:
    """What came of it: an output as JSON, or the text of an error."""

    output: Json
    error: str = ""

    @property
    def data(self) -> Json:
        data: Json = self.output.get("data") or {}
        return data


Script = Generator[list[Call], list[Result], str]


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
            content = [_text_block(str(end.value), emit, stop)]
            return ModelTurn(content, "end_turn", model="keyless", seconds=time.monotonic() - started)
        if stop.is_set():
            raise RunError("Stopped.")
        content = [_call_block(call, f"rule_{len(request.messages)}_{i}", i, emit) for i, call in enumerate(calls)]
        return ModelTurn(content, "tool_use", model="keyless", seconds=time.monotonic() - started)


def _text_block(text: str, emit: Emit, stop: threading.Event) -> Json:
    emit(ModelEvent("text", "start", 0))
    for at in range(0, len(text), PIECE):
        if stop.is_set():
            raise RunError("Stopped.")
        emit(ModelEvent("text", "delta", 0, text[at : at + PIECE]))
    emit(ModelEvent("text", "end", 0))
    return {"type": "text", "text": text}


def _call_block(call: Call, call_id: str, index: int, emit: Emit) -> Json:
    emit(ModelEvent("tool-input", "start", index, call_id=call_id, name=call.name))
    emit(ModelEvent("tool-input", "end", index))
    return {"type": "tool_use", "id": call_id, "name": call.name, "input": call.input}


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
            question, done = _ATTACHED.sub("", _with_folder_links("\n".join(texts))).strip(), []
        if results:
            done.append(results)
    return question, done if question else []


def _with_folder_links(text: str) -> str:
    """Lines of attached Drive folders as the folders' addresses, as if those had been typed."""

    def address(found: re.Match[str]) -> str:
        key = f"?resourcekey={found[2]}" if found[2] else ""
        return f"https://drive.google.com/drive/folders/{found[1]}{key}"

    return _FOLDER_LINE.sub(address, text)


def _result(block: Json, request: ModelRequest) -> Result:
    if block.get("is_error"):
        return Result({}, str(block["content"]))
    return Result(dict(request.outputs.get(block["tool_use_id"]) or {}))


# The script


def answer(question: str) -> Script:
    """How a question is answered, from the first tool call to the text."""
    if said := _small_talk(question):
        return f"{said}\n\n{answers.CONNECT}"
    sql = typed_sql(question)
    if links := list(dict.fromkeys(_DRIVE_LINK.findall(question)))[:LINKS_FOLLOWED]:
        text = yield from _answer_from_drive(links, _DRIVE_LINK.sub(" ", question).strip(" ?.,:;"))
        return f"{text}\n\n{answers.CONNECT}"
    text = (yield from _run_sql(sql)) if sql else (yield from _answer_from_files(question))
    return f"{text}\n\n{answers.CONNECT}"


def _small_talk(question: str) -> str:
    about = (
        "I answer questions about your files: attach a table and ask for figures (“total revenue by region”, “top 5 products by "
        "price”, “orders over time”), attach a text and ask what it says, or type SQL."
    )
    if _GREETING.fullmatch(question) or not question:
        return f"Hello. {about}"
    if _HELP.fullmatch(question):
        return about
    return "You are welcome. Ask on whenever you like." if _THANKS.fullmatch(question) else ""


def typed_sql(question: str) -> str:
    """SQL that the user typed, in a fence or as it stands; empty when there is none."""
    if fenced := _SQL.search(question):
        return fenced.group(1).strip().rstrip(";")
    typed = _SQL_START.fullmatch(question)
    if not typed:
        return ""
    text = typed.group(1).strip().rstrip(";")
    plain_words = re.match(r"(?i)(from|with)\s", text) and not re.search(
        r"(?i)\b(select|group by|order by|limit|where)\b|\"", text
    )
    one_table = re.fullmatch(r"(?i)from\s+[\w\"]+", text)
    asked = text.endswith("?") or re.match(r"(?i)select\s+(the|all|a|some|an|every)\s", text)
    return "" if (plain_words and not one_table) or asked else text


def _run_sql(sql: str) -> Script:
    [result] = yield [Call("query_tables", {"sql": sql})]
    if result.error:
        return f"The query did not run: {result.error}"
    return answers.of_sql(result.output)


def _answer_from_files(question: str) -> Script:
    [listed] = yield [Call("list_files", {})]
    if listed.error:
        return f"The files cannot be listed: {listed.error}"
    files = listed.data.get("files") or []
    if not files:
        return "There is no file in this chat yet. Attach one with the paper clip, or load the sample data, and ask again."
    named = _named_files(question, files)
    tabular = [f for f in named or files if f["tables"]]
    texts = [f for f in named or files if not f["tables"]]
    describing = bool(re.search(_DESCRIBE, fold(question)))
    if describing and texts and (named or not tabular):
        return (yield from _begin_of(texts))
    failed: list[str] = []
    profiles: list[TableProfile] = []
    outputs: list[Json] = []
    if tabular:
        profiles, outputs, failed = yield from _describe(tabular)
    if profiles:
        text = yield from _answer_from_tables(question, profiles, outputs, describing, must=not texts)
        if text:
            return "\n\n".join([text, *failed])
    if not profiles and failed and not texts:
        return "\n\n".join(failed)
    return (yield from _search(question, named or files, profiles))


def _answer_from_drive(links: Sequence[str], question: str) -> Script:
    """Fetch the files behind links, list the folders; then answer from the files, if there are any."""
    folders = ["/folders/" in link or link.endswith(("/my-drive", "/shared-with-me", "/shared-drives")) for link in links]
    calls = [
        Call("list_drive_folder", {"folder": link}) if is_folder else Call("read_drive_file", {"file": link})
        for link, is_folder in zip(links, folders, strict=True)
    ]
    results = yield calls
    said: list[str] = []
    for is_folder, result in zip(folders, results, strict=True):
        if result.error or result.data.get("drive") == "not-connected":
            said.append(result.error or f"{result.data['why']} {result.data['hint']}".strip())
        elif is_folder:
            said.append(answers.of_drive_folder(result.output))
    if not all(folders) and any(not r.error and r.data.get("passages") for r in results):
        said.append((yield from _answer_from_files(question or "describe the file")))
    return "\n\n".join(dict.fromkeys(said))


def _named_files(question: str, files: Sequence[Json]) -> list[Json]:
    """Files whose name the question says, with or without its ending."""
    asked = f" {fold(question)} "
    stems = [word.stem for word in split_words(question)]
    found = []
    for file in files:
        name = fold(file["name"])
        words = name_words(re.sub(r"\.\w{1,8}$", "", file["name"]))
        spoken = any(tuple(stems[i : i + len(words)]) == words for i in range(len(stems))) if len(words) > 1 else False
        if name in asked or re.search(rf"(?<!\w){re.escape(file['handle'])}(?!\w)", asked) or spoken:
            found.append(file)
    return found


def _describe(files: Sequence[Json]) -> Generator[list[Call], list[Result], tuple[list[TableProfile], list[Json], list[str]]]:
    """Profiles of the files' tables, their outputs, and what could not be opened."""
    chosen = files[:TABLES_DESCRIBED]
    results = yield [Call("describe_table", {"file": f["handle"]}) for f in chosen]
    profiles, outputs, failed, others = [], [], [], []
    for file, result in zip(chosen, results, strict=True):
        if result.error:
            failed.append(f"{file['name']} could not be used: {result.error}")
            continue
        profiles.append(read_profile(result.data["profile"], file["handle"], file["name"]))
        outputs.append(result.output)
        others += [(file, name) for name in result.data.get("others") or ()]
    others = others[: TABLES_DESCRIBED - len(profiles)]
    if others:
        results = yield [Call("describe_table", {"file": file["handle"], "sheet": name}) for file, name in others]
        for (file, _), result in zip(others, results, strict=True):
            if not result.error:
                profiles.append(read_profile(result.data["profile"], file["handle"], file["name"]))
                outputs.append(result.output)
    return profiles, outputs, failed


def _answer_from_tables(
    question: str, profiles: Sequence[TableProfile], outputs: Sequence[Json], describing: bool, *, must: bool
) -> Script:
    """The answer from the table that explains most of the question; empty when none does and there are texts to search."""
    readings = [read(question, profile) for profile in profiles]
    best = max(range(len(readings)), key=lambda i: readings[i].score)
    reading = readings[best]
    if describing and not (reading.named and _asks_figure(question)):
        chosen = [i for i, r in enumerate(readings) if r.table_named] or list(range(len(profiles)))
        return "\n\n".join(answers.of_profile(profiles[i], outputs[i]) for i in chosen[:4])
    if _asks_gaps(reading):
        return answers.of_gaps(reading.table, outputs[best])
    reading = yield from _look_up(question, readings, best)
    if not must and not (
        reading.named or reading.conditions or reading.table_named or reading.says("how many row", "number of row")
    ):
        return ""
    if not reading.named and not reading.conditions and reading.unplaced() and not _counts_rows(reading):
        return answers.columns_of(profiles, _not_understood(reading)) if must else ""
    try:
        plan = make_plan(reading)
    except UnclearError as e:
        return answers.columns_of(
            [reading.table], " ".join([str(e), *([_not_understood(reading)] if reading.unplaced() else [])])
        )
    return (yield from _carry_out(plan, readings, reading))


def _asks_figure(question: str) -> bool:
    stems = {word.stem for word in split_words(question)}
    return bool(
        stems & {"total", "sum", "average", "mean", "median", "count", "many", "max", "min", "by", "per", "highest", "lowest"}
    )


def _asks_gaps(reading: Reading) -> bool:
    asked = reading.says("missing", "null", "empty", "blank", "fehlend", "gap", "incomplete")
    return asked and not reading.named and not reading.conditions


def _counts_rows(reading: Reading) -> bool:
    return reading.table_named or reading.says("how many row", "number of row", "how many record", "how many entry", "row count")


def _not_understood(reading: Reading) -> str:
    words = ", ".join(f"“{word}”" for word in dict.fromkeys(reading.unplaced()))
    return f"No column or value here is called {words}."


def _look_up(question: str, readings: Sequence[Reading], best: int) -> Generator[list[Call], list[Result], Reading]:
    """Look into the table for words that may be values, where its profile does not list all of them."""
    reading = readings[best]
    sql = lookup_sql(reading, unknown_values(reading))
    if not sql:
        return reading
    [result] = yield [Call("query_tables", {"sql": sql})]
    if result.error:
        return reading
    values = looked_up(result.data["table"]["rows"])
    return read(question, reading.table, values) if values else reading


def _carry_out(plan: Plan, readings: Sequence[Reading], reading: Reading) -> Script:
    [result] = yield [Call("query_tables", {"sql": plan.sql})]
    if result.error:
        return f"The query did not run: {result.error}\n\n```sql\n{plan.sql}\n```"
    text = answers.of_plan(plan, result.output)
    if rivals := _rivals(readings, reading):
        text += f"\n\nThe same could be asked of {rivals}: name the table to choose."
    if plan.chart and result.data["table"]["rows"]:
        [drawn] = yield [Call("make_chart", {"result_id": result.data["table"]["result_id"], "spec": plan.chart})]
        text = f"{text}\n\nThe chart could not be drawn: {drawn.error}" if drawn.error else f"The chart is drawn above.\n\n{text}"
    return text


def _rivals(readings: Sequence[Reading], reading: Reading) -> str:
    """Other tables that explain the question just as well."""
    same = [r for r in readings if r.table is not reading.table and r.named and r.score >= reading.score]
    return ", ".join(f"`{r.table.name}`" for r in same)


# Texts


def _begin_of(files: Sequence[Json]) -> Script:
    results = yield [Call("read_file", {"file": f["handle"], "max_tokens": 1_500}) for f in files[:3]]
    parts = []
    for file, result in zip(files, results, strict=False):
        passages: list[Any] = result.data.get("passages") or []
        if result.error:
            parts.append(f"{file['name']} could not be read: {result.error}")
        elif passages:
            parts.append(answers.of_beginning(passages[0], str(result.data.get("coverage", ""))))
    if len(files) > 3:
        parts.append(f"3 of {len(files)} files are shown; name one to see it.")
    return "\n\n".join(parts)


def _search(question: str, files: Sequence[Json], profiles: Sequence[TableProfile]) -> Script:
    words = [w.text for w in split_words(question) if w.kind in ("quoted", "date", "number")]
    words += [w.text for w in split_words(question) if w.kind == "word" and w.stem not in FUNCTION_WORDS | ASKING_WORDS]
    query = " ".join(dict.fromkeys(words)) or question
    [result] = yield [Call("search_files", {"query": query, "files": [f["handle"] for f in files]})]
    if result.error:
        return f"The files could not be searched: {result.error}"
    passages = result.data.get("passages") or []
    notes = [str(note) for note in result.data.get("notes") or ()]
    if not passages:
        tried = f"Nothing in {len(files)} file{'s' if len(files) != 1 else ''} matches “{query}”. Try other words."
        return "\n\n".join([answers.columns_of(profiles, tried) if profiles else tried, *notes])
    if len(passages[0]["text"]) < 160 and passages[0]["place"] and not profiles:
        [around] = yield [Call("read_file", {"file": passages[0]["handle"], "where": passages[0]["place"], "max_tokens": 600})]
        found = around.data.get("passages") or []
        if found and len(found[0]["text"]) > len(passages[0]["text"]):
            passages = [{**passages[0], "text": found[0]["text"]}, *passages[1:]]
    return answers.of_passages(passages, question, notes)
