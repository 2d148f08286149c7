"""What stands in place of a tool result that was compacted: which call it was, what it gave and
covered, and how to see it again.

Made from what is stored, by no clock and no model, so that it is the same in every request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from leaf.agent.blocks import refuse_binary
from leaf.provenance.coverage import in_words
from leaf.shapes.raw import RawBlock
from leaf.shapes.results import Covered, Output, SourceUsed, TableShown
from leaf.tools.registry import declared

KEPT = 600
"""Characters up to which a result stays as it is: a receipt would hardly be shorter."""
PLACES = 6
_VALUE = 160


def result_stub(block: RawBlock, use: RawBlock | None, output: Output | None) -> RawBlock:
    """A tool_result block with a receipt for its content; the block itself where that is short and
    text alone.

    `use` is the call's tool_use block, `output` its `ToolOutput` as JSON, where they are known.
    """
    content = block["content"]
    if isinstance(content, str) and len(content) <= KEPT:
        return block
    return {**block, "content": refuse_binary(receipt(use, output, content))}


def receipt(use: RawBlock | None, output: Output | None, content: str | Sequence[RawBlock]) -> str:
    """The text of a receipt."""
    name = use["name"] if use else "This call"
    lines = [f"[Folded to save room] {name}({_short_input(use['input']) if use else ''})"]
    if output:
        lines.append(str(output.get("summary") or "").strip())
        lines.append(_covered(output.get("coverage") or ()))
        lines.append(_places(output.get("sources") or ()))
        data = output.get("data") or {}
        if (table := data.get("table")) and table.get("result_id"):
            lines.append(_rows_kept(table))
        lines += data.get("remarks") or ()
    else:
        lines.append(_first_line(content))
    if declared(name).repeatable:
        lines.append("Make the call again to see its result again.")
    return "\n".join(line for line in lines if line)


def _rows_kept(table: TableShown) -> str:
    rows = f"Its rows are kept as result {table['result_id']}"
    shown, total = table.get("shown", 0), table.get("total", 0)
    return f"{rows}; {shown:,} of {total:,} were shown." if 0 < shown < total else f"{rows}."


def picture_stub(block: RawBlock) -> RawBlock:
    """A line in place of a picture that came with an earlier question."""
    label = str(block["source"].get("label") or "A picture")
    return {"type": "text", "text": f"[{label}: folded to save room; view_file shows it again.]"}


def _short_input(arguments: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={_short(value)}"
        for key, value in arguments.items()
        if value not in ("", None, [], {})
    )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def _covered(coverage: Sequence[Covered]) -> str:
    pieces = [in_words(cover) for cover in coverage[:PLACES]]
    return f"It saw {'; '.join(pieces)}." if pieces else ""


def _places(sources: Sequence[SourceUsed]) -> str:
    """`Places: f2#pages 3-5, f2#pages 9.`"""
    named = dict.fromkeys(
        f"{s['handle']}#{s['place']}" if s["place"] else str(s["handle"]) for s in sources
    )
    more = f" and {len(named) - PLACES} more" if len(named) > PLACES else ""
    return f"Places: {', '.join(list(named)[:PLACES])}{more}." if named else ""


def _first_line(content: str | Sequence[RawBlock]) -> str:
    text = (
        content
        if isinstance(content, str)
        else next((part["text"] for part in content if part["type"] == "text"), "")
    )
    line = " ".join(text.split("\n", 1)[0].split())
    return line if len(line) <= 200 else line[:199] + "…"
