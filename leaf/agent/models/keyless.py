"""The analyst without a model: rules that meet the Model protocol, so that one loop, one page and
one history serve both.

An answer is a script: a generator that yields batches of tool calls, is given their results, and
returns what to say. Each turn plays the script again from its beginning on the results so far, and
streams what comes next. A question that has one meaning is answered with its figure, one that has
several is asked back, all others are refused.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from leaf.agent.instructions import is_instructions
from leaf.agent.models.base import Emit, ModelEvent, ModelRequest, ModelTurn
from leaf.agent.rules import answers, doubts
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.kinds import Query
from leaf.agent.rules.offers import OFFERED, in_table, working
from leaf.agent.rules.spoken import SAYS_ABOUT, asked_as, in_all, language_of
from leaf.agent.rules.tables import AskedTable, lookup_sql, read_table
from leaf.agent.rules.understanding import (
    Meant,
    compared,
    completed,
    drawn_as,
    readings_of,
    shape_of,
)
from leaf.errors import RunError
from leaf.language.text import mark, n_, speaking, t
from leaf.readers.locate.where import around
from leaf.shapes.raw import RawBlock, RawMessage, ToolInput
from leaf.shapes.results import FileListed, Output, PassageShown

TABLES_DESCRIBED, LINKS_FOLLOWED, TEXTS_SHOWN = 64, 5, 3
COLUMNS_DESCRIBED, COLUMNS_SHOWN = 40, 12
"""Columns in a description, and beside what was not understood."""
_FENCED = re.compile(r"```(?:sql)?\s*\n(.+?)```", re.DOTALL | re.I)
_TYPED = re.compile(
    r"""\s*(select\s+(?!(?:the|all|an?|some|every)\s).+ | with\s.+\sselect\s.+ | from\s+[\w"]+
    | from\s.+\s(?:select|where|group\sby|order\sby|limit)\s.+)\s*""",
    re.DOTALL | re.I | re.VERBOSE,
)
_LINK = re.compile(
    r"(?:\b(?:in|from|of|for|aus|dans|en)\s+)?(https://(?:drive|docs|sheets|slides)\.google\.com/[^\s<>\"')\]]+)"
)
_FOLDER_LINK = re.compile(r"/folders/|/(my-drive|shared-with-me|shared-drives)$")
_ACROSS = mark("{query} across the {n} tables of this shape")
_HEADING = 200
"""Characters up to which a passage that begins as a heading is nothing else."""
_ABOUT = mark(
    "Hello. I answer questions about your files: attach a table and ask for figures (“total "
    "revenue by region”, “top 5 customers "
    "by total revenue”, “average price by month”), attach a text and ask what it says, or type SQL."
)
_NO_FILE = mark(
    "There is no file in this chat yet. Attach one with the paper clip, or load the sample "
    "data, and ask again."
)
_FOLDER_LINE = re.compile(
    r"^\[Attached: Drive folder .* id=([\w-]+)(?:/([\w-]+))?, .*\]\s*$", re.MULTILINE
)
_NO_QUESTION = re.compile(
    r"^\[Attached: .*\]\s*$|\A\s*(question\s*)?\d{1,2}[.):]\s+", re.MULTILINE | re.I
)
_CONNECT = mark(
    "*No model is connected. Simple questions about tables, searches and SQL work without one; to "
    "ask freely, connect a model in the settings.*"
)
"""Said once in a chat."""
_NOTICE = "*No model is connected."
"""How it begins in English, in every version."""
NOT_UNDERSTOOD = mark("I did not understand: {words}.")
WHICH_IS_MEANT = mark("I did not understand which of these is meant.")


@dataclass(frozen=True)
class Answer:
    """What is said, and questions that can be asked with a press."""

    text: str
    questions: tuple[str, ...] = ()
    refused: bool = False


class Gave(Output, total=False):
    """An output; of a call that failed no data, and the error."""

    error: str


Calls = list[tuple[str, ToolInput]]
"""Names and inputs of tools, called at once."""
Script = Generator[Calls, list[Gave], Answer]


class KeylessModel:
    """Answers by rules. Takes no tokens and sends nothing anywhere."""

    def prepare(self) -> None:
        """There is nothing to load."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        """The next tool calls of the script, or its answer. Raises RunError once `stop` is set."""
        question, done = _question_and_results(request)
        with speaking(language_of(question)):
            return self._next(answer(question), done, request, emit, stop)

    def _next(
        self,
        script: Script,
        done: Sequence[list[Gave]],
        request: ModelRequest,
        emit: Emit,
        stop: threading.Event,
    ) -> ModelTurn:
        try:
            calls = next(script)
            for results in done:
                calls = script.send(results)
        except StopIteration as end:
            told = any(map(_was_told, request.messages))
            return ModelTurn([_say(end.value, emit, told)], "end_turn", model="keyless")
        if stop.is_set():
            raise RunError("Stopped.")
        content = []
        for i, (name, arguments) in enumerate(calls):
            content.append(
                {
                    "type": "tool_use",
                    "id": f"rule_{len(request.messages)}_{i}",
                    "name": name,
                    "input": arguments,
                }
            )
            emit(ModelEvent("tool-input", "start", i, call_id=str(content[-1]["id"]), name=name))
            emit(ModelEvent("tool-input", "end", i))
        return ModelTurn(content, "tool_use", model="keyless")


def tells(text: str) -> bool:
    """Whether an answer says, in any language, that no model is connected."""
    return _NOTICE in text or any(phrase in text for phrase in in_all(_CONNECT))


def _was_told(message: RawMessage) -> bool:
    return message["role"] == "assistant" and any(
        tells(str(block.get("text", ""))) for block in message["content"]
    )


def _say(reply: Answer, emit: Emit, told: bool) -> RawBlock:
    text = reply.text if told else f"{reply.text}\n\n{t(_CONNECT)}"
    emit(ModelEvent("text", "start", 0))
    emit(ModelEvent("text", "delta", 0, text))
    emit(ModelEvent("text", "end", 0))
    if reply.questions:
        emit(ModelEvent("questions", questions=reply.questions))
    return {"type": "text", "text": text}


def _question_and_results(request: ModelRequest) -> tuple[str, list[list[Gave]]]:
    """The newest question, with attached folders as their addresses, and the results since, one
    list for each turn."""
    question, done = "", list[list[Gave]]()
    for content in (
        message["content"] for message in request.messages if message["role"] == "user"
    ):
        if typed := "\n".join(
            block["text"]
            for block in content
            if block["type"] == "text" and not is_instructions(block)
        ):
            with_folders = _FOLDER_LINE.sub(
                r"https://drive.google.com/drive/folders/\1?resourcekey=\2", typed
            )
            question, done = _NO_QUESTION.sub("", with_folders).strip(), []
        if results := [
            _result(block, request) for block in content if block["type"] == "tool_result"
        ]:
            done.append(results)
    return question, done


def _result(block: RawBlock, request: ModelRequest) -> Gave:
    if block.get("is_error"):
        return {"data": {}, "error": str(block["content"])}
    return cast("Gave", {"data": {}, **request.outputs.get(block["tool_use_id"], {})})


def answer(question: str) -> Script:
    """The script of a question."""
    if not question or Grammar(question).is_only("~"):
        return Answer(t(_ABOUT))
    if typed := _FENCED.search(question) or (
        None if question.endswith("?") else _TYPED.fullmatch(question.rstrip(";"))
    ):
        [result] = yield [("query_tables", {"sql": typed[1].strip().rstrip(";")})]
        failed = _failed(result) if "error" in result else ""
        return Answer(failed or answers.of_sql(result["data"]["table"]))
    if links := list(dict.fromkeys(_LINK.findall(question)))[:LINKS_FOLLOWED]:
        question = _LINK.sub(" ", question).strip(" ?.,:;") or "describe the file"
        results = yield [
            ("list_drive_folder", {"folder": link})
            if _FOLDER_LINK.search(link)
            else ("read_drive_file", {"file": link})
            for link in links
        ]
        if texts := list(dict.fromkeys(filter(None, map(_of_drive, results)))):
            return Answer("\n\n".join(texts))
    return (yield from _from_files(question))


def _of_drive(result: Gave) -> str:
    """What is to say of a folder, or of a file that could not be fetched."""
    data = result["data"]
    items = [f"- {item['name']} ({item['kind']})" for item in data.get("drive_items") or ()]
    unconnected = f"{data['why']} {data['hint']}" if "why" in data else ""
    return (
        result.get("error")
        or unconnected
        or "\n".join([f"{result['summary']}.", *items] if items else [])
    )


def _from_files(question: str) -> Script:
    [listed] = yield [("list_files", {})]
    files = listed["data"].get("files")
    if not files:
        why = listed.get("error")
        return Answer(t("The files cannot be listed: {why}", why=why) if why else t(_NO_FILE))
    pressed = asked_as(_ACROSS, question)
    question = pressed[0] if pressed else question
    shape = shape_of(question)
    if drawn := drawn_as(question):
        question = drawn
    read = [(f, Grammar(question, AskedTable("", f["handle"], f["name"]))) for f in files]
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
        tables, left = _unite(tables, int(pressed[1])), 0
    if sides := compared(question, tables):
        return (yield from _compare(*sides))
    sql = lookup_sql(
        tables, [text for table in tables for text in Grammar(question, table).stretches()]
    )
    looked_up = (yield [("query_tables", {"sql": sql})]) if sql else []
    values = [
        row
        for result in looked_up
        if "error" not in result
        for row in result["data"]["table"]["rows"]
    ]
    outcome = _decide([Grammar(question, table, values) for table in tables], left)
    if not isinstance(outcome, Answer):
        outcome = yield from _query(*outcome, drawn=bool(drawn), shape=shape)
    outcome = replace(outcome, text="\n\n".join([outcome.text, *failed]))
    return (yield from _search(question, texts, outcome)) if texts and outcome.refused else outcome


def _describe(
    files: Sequence[FileListed],
) -> Generator[Calls, list[Gave], tuple[list[AskedTable], list[str], int]]:
    """The tables, at most so many, the first of each file before its others; what failed; and how
    many are left."""
    asked = [(file, {"file": file["handle"]}) for file in files]
    results = yield [("describe_table", arguments) for _, arguments in asked[:TABLES_DESCRIBED]]
    firsts = list(zip(asked, results, strict=False))
    asked += [
        (file, {**arguments, "sheet": name})
        for (file, arguments), r in firsts
        for name in r["data"].get("others") or ()
    ]
    if others := asked[len(results) : TABLES_DESCRIBED]:
        results = [*results, *(yield [("describe_table", arguments) for _, arguments in others])]
    each = [(file, result) for (file, _), result in zip(asked, results, strict=False)]
    failed = [
        t("{file} could not be used: {why}", file=file["name"], why=result["error"])
        for file, result in each
        if "error" in result
    ]
    tables = [
        read_table(r["data"]["profile"], file["handle"], file["name"])
        for file, r in each
        if "error" not in r
    ]
    return tables, failed, len(asked) - len(results)


def _failed(result: Gave) -> str:
    return t("The query did not run: {why}", why=result.get("error"))


def _query(table: AskedTable, query: Query, *, drawn: bool, shape: str) -> Script:
    sql = answers.sql_of(query, table)
    [result] = yield [("query_tables", {"sql": sql})]
    if "error" in result:
        return Answer(f"{_failed(result)}\n\n```sql\n{sql}\n```")
    grid = result["data"]["table"]
    spec = answers.chart_of(query, drawn=drawn, shape=shape) if len(grid["rows"]) > 2 else None
    if spec:
        yield [("make_chart", {"spec": spec, "result_id": grid["result_id"]})]
    notes, marked = yield from doubts.looked_at(table, query, grid)
    notes = [*notes, *answers.of_chart(spec, drawn=drawn, shape=shape)]
    return Answer(answers.of_query(query, table, grid, notes, marked))


def _compare(one: Meant, other: Meant) -> Script:
    sql = answers.joined_sql(one, other)
    [result] = yield [("query_tables", {"sql": sql})]
    if "error" in result:
        return Answer(f"{_failed(result)}\n\n```sql\n{sql}\n```")
    grid, notes, marked = result["data"]["table"], list[str](), frozenset[str]()
    for table, query in (one, other):
        more, names = yield from doubts.looked_at(table, query, grid)
        notes, marked = [*notes, *more], marked | names
    return Answer(answers.of_comparison(one, other, grid, list(dict.fromkeys(notes)), marked))


def _begin_of(files: Sequence[FileListed]) -> Script:
    results = yield [
        ("read_file", {"file": f["handle"], "max_tokens": 250}) for f in files[:TEXTS_SHOWN]
    ]
    parts = (
        [t("The first of {n} files are shown; name one to see it.", n=len(files))]
        if len(files) > TEXTS_SHOWN
        else []
    )
    for file, result in zip(files, results, strict=False):
        name, read = answers.cell(file["name"]), result["data"].get("coverage", "")
        head = t("**{file}** begins ({read}):", file=name, read=read)
        failed = t("{file} could not be read: {why}", file=file["name"], why=result.get("error"))
        parts.append(
            failed if "error" in result else answers.of_passages(head, result["data"]["passages"])
        )
    return Answer("\n\n".join(parts))


def _search(question: str, files: Sequence[FileListed], refused: Answer | None = None) -> Script:
    """Passages that say most of the question's words; where the tables could not answer it, that is
    said first."""
    about = asked_as(SAYS_ABOUT, question)
    query = about[1] if about else " ".join(Grammar(question).unknown()) or question
    [result] = yield [("search_files", {"query": query, "files": [f["handle"] for f in files]})]
    passages, notes = result["data"].get("passages") or [], result["data"].get("notes") or []
    if not passages:
        failed = t("The files could not be searched: {why}", why=result.get("error"))
        if "error" not in result:
            failed = n_(
                "Nothing in {n} file matches “{query}”. Try other words.",
                "Nothing in {n} files matches “{query}”. Try other words.",
                len(files),
                query=query,
            )
        return refused or Answer("\n\n".join([failed, *notes]))
    if about and (read := (yield from _under_heading(passages[0]))):
        return Answer(read)
    head = n_(
        "{n} place in the files mentions this:",
        "{n} places in the files mention this:",
        len(passages),
    )
    quotes = answers.of_passages(head, passages, notes)
    return (
        Answer(f"{refused.text.splitlines()[0]}\n\n{quotes}", refused.questions)
        if refused
        else Answer(quotes)
    )


def _under_heading(hit: PassageShown) -> Generator[Calls, list[Gave], str]:
    """What stands around a heading that was found; empty where it is none."""
    text = hit["text"].strip()
    if not text.startswith("#") or len(text) > _HEADING or "handle" not in hit:
        return ""
    where: ToolInput = {"file": hit["handle"], "where": around(hit["place"]), "max_tokens": 400}
    [result] = yield [("read_file", where)]
    passages = result["data"].get("passages")
    head = t("**{file}** at {place}:", file=answers.cell(hit["name"]), place=hit["place"])
    return answers.of_passages(head, passages) if passages else ""


def _unite(tables: Sequence[AskedTable], count: int) -> list[AskedTable]:
    """One table in place of so many of one shape."""
    for first in tables:
        alike = tuple(table.name for table in tables if table.shape == first.shape)
        if len(alike) == count:
            return [
                replace(
                    first,
                    united=alike,
                    rows=0,
                    doubtful=tuple(
                        pair for t in tables if t.shape == first.shape for pair in t.doubtful
                    ),
                    columns=tuple(replace(c, nulls=0) for c in first.columns),
                )
            ]
    return []


def _decide(grammars: Sequence[Grammar], left: int) -> Answer | tuple[AskedTable, Query]:
    """A query to carry out, or what to say instead. `left` tables were not looked at."""
    if not grammars:
        return Answer(t("No table can be read here. Attach one, or ask again."))
    if described := [g for g in grammars if g.describes()]:
        chosen = [g for g in described if g.has("T")] or described
        profiles = "\n\n".join(
            answers.of_profile(g.table, COLUMNS_DESCRIBED) for g in chosen[:OFFERED]
        )
        tables = [g.table for g in grammars]
        return Answer(profiles, working(chosen[0], len(grammars) > 1, tables))
    pairs = readings_of(grammars)
    if not pairs and (meant := completed(grammars)):
        return _ask_back(meant, [g.table for g in grammars], left)
    if len(pairs) == 1 and (not left or pairs[0][0].has("T")):
        return pairs[0][0].table, pairs[0][1]
    return _ask_back(pairs, [g.table for g in grammars], left) if pairs else _refuse(grammars, left)


def _ask_back(
    pairs: Sequence[tuple[Grammar, Query]], tables: Sequence[AskedTable], left: int
) -> Answer:
    """Every meaning as a question that has only this one."""
    several, alike = len({g.table.name for g, _ in pairs}) > 1 or left > 0, pairs[0][0].table.shape
    count = sum(table.shape == alike for table in tables)
    names = list(dict.fromkeys(answers.in_words(query) for _, query in pairs))
    united = [t(_ACROSS, query=names[0], n=count)] if count > 1 and several else []
    asked = [in_table(answers.in_words(query), g.table, several, tables) for g, query in pairs]
    here = n_(
        "{n} table is here; it does not say which.",
        "{n} tables are here; it does not say which.",
        len(tables) + left,
    )
    why = here if several else ""
    shown = [*names[:6], "…"] if len(names) > 6 else names
    meant = t("It can mean: {meanings}.", meanings="; ".join(shown))
    meant = meant if len(names) > 1 else t("Understood: {meaning}.", meaning=names[0])
    text = "\n\n".join(filter(None, (t(WHICH_IS_MEANT), why, meant)))
    return Answer(text, tuple(dict.fromkeys([*united, *asked]))[: OFFERED + 2], refused=True)


def _refuse(grammars: Sequence[Grammar], left: int) -> Answer:
    grammar = min(grammars, key=lambda g: (not g.has("T"), len(g.unknown()), -len(g.named())))
    several, tables = len(grammars) + left > 1, [g.table for g in grammars]
    nearest = grammar.nearest()
    unknown = ", ".join(f"“{word}”" for word in grammar.unknown())
    head = t(NOT_UNDERSTOOD, words=unknown or t("how these words belong together"))
    known = ", ".join(
        t("“{value}” in {column}", value=value, column=f"`{column.name}`")
        if value
        else f"`{column.name}`"
        for column, value in grammar.named().items()
    )
    others = [f"`{g.table.name}` ({g.table.file_name})" for g in grammars if g is not grammar]
    also = t("Also here: {tables}.", tables=", ".join(others[:OFFERED]))
    if len(others) > OFFERED:
        also = t("Also here: {tables} and more.", tables=", ".join(others[:OFFERED]))
    parts = [
        head,
        t("I did understand {words}.", words=known) if known else "",
        t("Without these words it would ask: {query}.", query=answers.in_words(nearest))
        if nearest
        else "",
        answers.of_profile(grammar.table, COLUMNS_SHOWN),
        also if others else "",
    ]
    offers = working(grammar, several, tables)
    if nearest:
        first = in_table(answers.in_words(nearest), grammar.table, several, tables)
        offers = tuple(dict.fromkeys([first, *offers]))[:OFFERED]
    return Answer("\n\n".join(filter(None, parts)), offers, refused=True)
