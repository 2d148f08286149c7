"""What is kept of a chat and streamed of it, as JSON with a type for each shape; of Leaf it knows
errors alone.

results   what a tool gave: `Output`, and the shapes that its `data` may hold
pins      what a pin of a board shows
raw       content blocks of the Messages API, which are kept as they came
parts     what a message keeps, one type for each kind: `part_values` tells which kind a part is and
          gives what is in it, `part_parser` has `parse_parts` for what comes from outside
chunks    what a run streams, one type for each kind, and `parse_chunks`

Whatever makes such a value makes it by its type, so mypy sees it; nothing is checked again inside
the process. What comes from a history, a stream or another process goes through a parser once. The
JSON itself is what it always was: kinds and keys that this version does not know are kept as they
came.
"""
