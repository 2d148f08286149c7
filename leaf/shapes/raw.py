"""What goes over the wire to a model and comes from it. It is kept and sent back byte-equal, so its
shapes are those of the Messages API and not ours: these names say what a value is, and nothing is
promised of what stands in it."""

from __future__ import annotations

from typing import Any

RawBlock = dict[str, Any]
"""A content block: `{"type": "text", …}`, `{"type": "tool_use", …}`."""
RawMessage = dict[str, Any]
"""`{"role": "user" | "assistant", "content": [RawBlock] | str}`."""
ToolSchema = dict[str, Any]
"""`{"name", "description", "input_schema"}`."""
ToolInput = dict[str, Any]
"""What a model gave a tool, before it is checked against the tool's input model."""
RawEvent = dict[str, Any]
"""An event of the Messages API's stream, or the whole answer of a server that does not stream."""
