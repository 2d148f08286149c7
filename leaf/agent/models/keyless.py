"""The analyst without a model: rules that meet the Model protocol, so that one loop, one page and one history serve both.

Each turn plays the script of an answer (`rules/analyst.py`) again from its beginning on the results so far, and streams what
comes next.
"""

from __future__ import annotations

import re
import threading

from leaf.agent.models.base import Emit, Json, ModelEvent, ModelRequest, ModelTurn
from leaf.agent.rules.analyst import Answer, answer
from leaf.errors import RunError

_FOLDER_LINE = re.compile(r"^\[Attached: Drive folder .* id=([\w-]+)(?:/([\w-]+))?, .*\]\s*$", re.MULTILINE)
_NO_QUESTION = re.compile(r"^\[Attached: .*\]\s*$|\A\s*(question\s*)?\d{1,2}[.):]\s+", re.MULTILINE | re.I)
_CONNECT = "*No model is connected, so fixed rules answered. Set ANTHROPIC_API_KEY or LEAF_MODEL_URL to ask freely.*"


class KeylessModel:
    """Answers by rules. Takes no tokens and sends nothing anywhere."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        """The next tool calls of the script, or its answer. Raises RunError once `stop` is set."""
        question, done = _question_and_results(request)
        script = answer(question)
        try:
            calls = next(script)
            for results in done:
                calls = script.send(results)
        except StopIteration as end:
            return ModelTurn([_say(end.value, emit)], "end_turn", model="keyless")
        if stop.is_set():
            raise RunError("Stopped.")
        content = []
        for i, (name, given) in enumerate(calls):
            content.append({"type": "tool_use", "id": f"rule_{len(request.messages)}_{i}", "name": name, "input": given})
            emit(ModelEvent("tool-input", "start", i, call_id=str(content[-1]["id"]), name=name))
            emit(ModelEvent("tool-input", "end", i))
        return ModelTurn(content, "tool_use", model="keyless")


def _say(said: Answer, emit: Emit) -> Json:
    text = f"{said.text}\n\n{_CONNECT}"
    emit(ModelEvent("text", "start", 0))
    emit(ModelEvent("text", "delta", 0, text))
    emit(ModelEvent("text", "end", 0))
    if said.questions:
        emit(ModelEvent("questions", questions=said.questions))
    return {"type": "text", "text": text}


def _question_and_results(request: ModelRequest) -> tuple[str, list[list[Json]]]:
    """The newest question, with attached folders as their addresses, and the results since, one list for each turn."""
    question, done = "", list[list[Json]]()
    for content in (message["content"] for message in request.messages if message["role"] == "user"):
        if typed := "\n".join(block["text"] for block in content if block["type"] == "text"):
            with_folders = _FOLDER_LINE.sub(r"https://drive.google.com/drive/folders/\1?resourcekey=\2", typed)
            question, done = _NO_QUESTION.sub("", with_folders).strip(), []
        if results := [_result(block, request) for block in content if block["type"] == "tool_result"]:
            done.append(results)
    return question, done


def _result(block: Json, request: ModelRequest) -> Json:
    """An output as JSON; of a call that failed no data, and the error."""
    failed = {"data": {}, "error": str(block["content"])}
    return failed if block.get("is_error") else {"data": {}, **request.outputs.get(block["tool_use_id"], {})}
