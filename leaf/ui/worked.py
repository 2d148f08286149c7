"""The steps of an answer in words: all of them in one line, and why one did not work."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from leaf.language.problems import said
from leaf.language.text import t
from leaf.shapes.parts import ToolPart
from leaf.ui.words import count, cut, tool_of

REASON = 110
"""Characters of a reason; the step itself has all of it."""
LOOKED = 2_000
"""Characters of an error in which its first sentence is looked for."""
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
_END = re.compile(r"[.!?…](?=\s+[^\sa-z]|\s*$)|[。！？]")
"""An end of a sentence. A small letter after it says that it was an abbreviation."""


def worked(parts: Sequence[ToolPart]) -> str:
    """The steps of an answer in one line: `4 steps · 2 queries · 1 chart · Reading a file did not
    work: No file f9`."""
    failed = [part for part in parts if part["state"] == "output-error"]
    tools = [tool_of(part) for part in parts if part["state"] == "output-available"]
    counted = Counter(tool.counted for tool in tools if tool.counted)
    pieces = [count(len(parts), "step")]
    pieces += [count(number, *noun) for noun, number in counted.items()]
    titles = Counter(t(tool_of(part).title) for part in failed)
    reasons = {t(tool_of(part).title): reason(part) for part in failed}
    for title, number in titles.items():
        times = f" {count(number, 'time')}" if number > 1 else ""
        why = f": {reasons[title]}" if reasons[title] else ""
        pieces.append(t("{title} did not work", title=title) + times + why)
    return " · ".join(pieces)


def reason(part: ToolPart) -> str:
    """The first sentence of what a failed step says, without its full stop; empty where it says
    nothing. It is somebody else's text, to be drawn as such."""
    text = said(str(part.get("errorText") or "").strip()[:LOOKED])
    line = text.split("\n", 1)[0].strip()
    # What is quoted may hold ends of sentences: of a file's name, of a cell, of code.
    blind = _QUOTED.sub(lambda match: "x" * len(match[0]), line)
    end = _END.search(blind)
    return cut(line[: end.start()] if end else line, REASON).rstrip(":")
