"""Results of tools as Markdown. Every figure and every quotation stands in a result; only the layout is made here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from leaf.agent.rules.plan import Plan
from leaf.agent.rules.profiles import Column, TableProfile
from leaf.agent.rules.words import split_words
from leaf.formats.locate import unmarked

Json = dict[str, Any]

ROWS_SHOWN = 15
COLUMNS_SHOWN = 12
CELL = 80
QUOTES = 4
QUOTE = 600
CITED = 240
"""Characters of a quotation that are looked up and marked in the file."""
CONNECT = "*No model is connected, so fixed rules answered. Set ANTHROPIC_API_KEY or LEAF_MODEL_URL to ask freely.*"
DRIVE_ITEMS = 30
"""Items of a Drive folder that are named in an answer."""


def number(value: Any, *, plain: bool = False) -> str:
    """A figure for reading: thousands separated, no more decimals than say something."""
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        return (
            {True: "yes", False: "no", None: "(empty)"}.get(value, str(value))
            if not isinstance(value, list | dict)
            else str(value)
        )
    if isinstance(value, int):
        return str(value) if plain else f"{value:,}"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        if value == int(value) and abs(value) < 1e15:
            return str(int(value)) if plain else f"{int(value):,}"
        return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"
    return str(value)


def cell(value: Any, sql_type: str = "", *, plain: bool = False) -> str:
    """A cell of a Markdown table; decimals come as text and are figures all the same."""
    if isinstance(value, str) and sql_type.startswith("DECIMAL"):
        value = float(value)
    text = " ".join(number(value, plain=plain).split())
    text = text if len(text) <= CELL else text[: CELL - 1] + "…"
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").replace("<", "&lt;").replace("![", "[")


def table(
    columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], plain: frozenset[str] = frozenset()
) -> str:
    """At most `ROWS_SHOWN` rows and `COLUMNS_SHOWN` columns."""
    width = min(len(columns), COLUMNS_SHOWN)
    right = [
        t.startswith(("INT", "BIGINT", "DOUBLE", "DECIMAL", "HUGEINT", "FLOAT", "UBIGINT", "SMALLINT", "TINYINT")) for t in types
    ]
    lines = [
        "| " + " | ".join(cell(name) for name in columns[:width]) + " |",
        "| " + " | ".join("---:" if right[i] else "---" for i in range(width)) + " |",
    ]
    for row in rows[:ROWS_SHOWN]:
        cells = (cell(value, types[i], plain=columns[i] in plain) for i, value in enumerate(row[:width]))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def of_plan(plan: Plan, output: Json) -> str:
    """The answer to a question that was read."""
    result = output["data"]["table"]
    parts = [_headline(plan, result)]
    if plan.shape in ("groups", "series", "rows") and result["rows"] and not (plan.shape != "rows" and len(result["rows"]) == 1):
        parts.append(table(result["columns"], result["types"], result["rows"], plan.plain))
        if more := _more(result):
            parts.append(more)
    parts.append(f"Read as: {plan.read_as}, in `{plan.table.name}`. {covered(output)}".strip())
    parts.extend(plan.notes)
    return "\n\n".join(part for part in parts if part)


def of_sql(output: Json) -> str:
    """The result of SQL that the user typed."""
    result = output["data"]["table"]
    if not result["rows"]:
        return f"The query gave no rows. {covered(output)}".strip()
    head = f"The query gave {result['total']:,} row{'s' if result['total'] != 1 else ''}."
    return "\n\n".join(
        p for p in (head, table(result["columns"], result["types"], result["rows"]), _more(result), covered(output)) if p
    )


def covered(output: Json) -> str:
    """`48,210 of 48,210 rows of sales.csv were read.`"""
    seen = [f"{c['seen']:,} of {c['total']:,} {c['unit']} of {c['name']}" for c in output["coverage"]]
    left = [f"{c['name']}: {c['excluded']}" for c in output["coverage"] if c.get("excluded")]
    said = f" {'; '.join(dict.fromkeys(left))}, so that nothing counts twice." if left else ""
    return f"{'; '.join(dict.fromkeys(seen))} were read.{said}" if seen else ""


def _more(result: Json) -> str:
    hidden = []
    if result["total"] > ROWS_SHOWN:
        hidden.append(f"{ROWS_SHOWN} of {result['total']:,} rows")
    if len(result["columns"]) > COLUMNS_SHOWN:
        hidden.append(f"{COLUMNS_SHOWN} of {len(result['columns'])} columns")
    return f"{' and '.join(hidden)} are shown here; the whole result opens with the step above." if hidden else ""


def _headline(plan: Plan, result: Json) -> str:
    rows = result["rows"]
    if not rows:
        return "No row meets these conditions."
    if plan.shape == "rows":
        return f"{_upper(plan.read_as)}:"
    if plan.shape == "value":
        if all(value is None for value in rows[0]):
            return "There is no value for this: no row meets the conditions, or all cells are empty."
        return "\n\n".join(
            f"{_upper(_spoken(name))}: **{_figure(plan, result, 0, i)}**" for i, name in enumerate(result["columns"])
        )
    return _of_groups(plan, result)


def _of_groups(plan: Plan, result: Json) -> str:
    """The two ends of a grouped result, in a sentence."""
    rows, at, name = result["rows"], len(plan.groups), _spoken(plan.measures[0].name)
    first, last = _group(rows[0], plan), _group(rows[-1], plan)
    top, end = _figure(plan, result, 0, at), _figure(plan, result, len(rows) - 1, at)
    if len(rows) == 1 or plan.rank:
        said = f"**{first}** has the {plan.rank} {name}: **{top}**." if plan.rank else f"**{first}**: {name} **{top}**."
        return said.replace(f"the {plan.rank} {plan.rank}", f"the {plan.rank}")
    if plan.shape == "series":
        return f"{_upper(name)} goes from {top} ({first}) to {end} ({last})."
    if result["total"] > len(rows):
        return f"{_upper(name)} by {' and '.join(plan.groups)}: **{first}** first with **{top}**."
    return f"{_upper(name)} by {' and '.join(plan.groups)}: **{first}** first with **{top}**, {last} last with {end}."


def _figure(plan: Plan, result: Json, row: int, column: int) -> str:
    name = result["columns"][column]
    text = cell(result["rows"][row][column], result["types"][column], plain=name in plan.plain)
    return f"{text} %" if name == "share in %" else text


def _group(row: Sequence[Any], plan: Plan) -> str:
    return ", ".join(cell(row[i], plain=name in plan.plain) for i, name in enumerate(plan.groups))


def _spoken(name: str) -> str:
    """A result column's name within a sentence."""
    return f"number of {name}" if name == "rows" or name.startswith("different ") else name.replace(": rows", ": number of rows")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


# Tables described


def of_profile(profile: TableProfile, output: Json) -> str:
    """What a table holds."""
    head = f"**{profile.file_name}** (table `{profile.name}`): {profile.rows:,} rows, {len(profile.columns)} columns."
    lines = ["| column | type | empty | different | values |", "| --- | --- | ---: | ---: | --- |"]
    for column in profile.columns[:40]:
        facts = (cell(column.name), column.type.lower(), f"{column.nulls:,}", f"{column.distinct:,}", cell(_values(column)))
        lines.append("| " + " | ".join(facts) + " |")
    more = f"40 of {len(profile.columns)} columns are shown here." if len(profile.columns) > 40 else ""
    notes = "\n".join(
        f"- {note if isinstance(note, str) else note.get('text', '')}" for note in output["data"].get("notes") or ()
    )
    return "\n\n".join(part for part in (head, "\n".join(lines), more, notes, covered(output)) if part)


def of_gaps(profile: TableProfile, output: Json) -> str:
    """Empty cells by column."""
    gaps = [c for c in profile.columns if c.nulls]
    if not gaps:
        return f"No cell of `{profile.name}` is empty ({profile.rows:,} rows, {len(profile.columns)} columns). {covered(output)}"
    lines = ["| column | empty cells |", "| --- | ---: |"] + [f"| {cell(c.name)} | {c.nulls:,} |" for c in gaps]
    head = f"{len(gaps)} of {len(profile.columns)} columns of `{profile.name}` ({profile.rows:,} rows) have empty cells."
    return "\n\n".join((head, "\n".join(lines), covered(output)))


def _values(column: Column) -> str:
    if column.top and column.kind != "date":
        return ", ".join(f"{value} ({count:,})" for value, count in column.top[:4])
    if column.min is not None:
        plain = column.is_year or column.is_id
        mean = f", mean {number(column.mean)}" if column.mean is not None and not plain else ""
        return f"{number(column.min, plain=plain)} to {number(column.max, plain=plain)}{mean}"
    return ""


def example(profile: TableProfile) -> str:
    """A question that this table can answer."""
    texts = [c for c in profile.of_kind("text") if not c.is_id and 1 < c.distinct <= 50] or profile.of_kind("text")
    dates, measures = profile.of_kind("date"), profile.measures
    if measures and texts:
        return (
            f"total {measures[0].name} by {texts[0].name}"
            if measures[0].summed
            else f"average {measures[0].name} by {texts[0].name}"
        )
    if measures and dates:
        return f"{measures[0].name} by month"
    if texts:
        return f"how many rows by {texts[0].name}"
    return f"average {measures[0].name}" if measures else "how many rows"


def columns_of(profiles: Sequence[TableProfile], reason: str = "") -> str:
    """What can be asked, where a question could not be read."""
    lines = [reason] if reason else ["The question could not be matched to the tables."]
    for profile in profiles[:6]:
        names = ", ".join(f"`{c.name}`" for c in profile.columns[:30]) + (" …" if len(profile.columns) > 30 else "")
        lines.append(f"Columns of `{profile.name}` ({profile.file_name}): {names}.")
    lines.append(f"For example: “{example(profiles[0])}”. SQL works too: `SELECT … FROM {profiles[0].name}`.")
    return "\n\n".join(lines)


# Texts


def of_passages(passages: Sequence[Json], question: str, notes: Sequence[str] = ()) -> str:
    """The best passages, quoted with their places."""
    wanted = {word.stem for word in split_words(question)}
    quotes = [
        f"{_quote(p['text'], wanted)}\n\n— {cell(p['name'])}, {p['place']} {_citation(p)}".rstrip() for p in passages[:QUOTES]
    ]
    more = f"{len(passages) - QUOTES} more places were found; they open with the step above." if len(passages) > QUOTES else ""
    head = (
        f"{len(passages)} place{'s' if len(passages) != 1 else ''} in the files mention{'s' if len(passages) == 1 else ''} this:"
    )
    return "\n\n".join(part for part in (head, *quotes, more, *notes) if part)


def _citation(passage: Json) -> str:
    """What makes a quotation a mark in the page: its locator and the beginning of its words."""
    words = " ".join(unmarked(passage["text"]).replace('"', "'").replace("[", "(").replace("]", ")").strip("… \n").split())
    if not passage.get("handle") or len(words) < 12:
        return ""
    cut = words if len(words) <= CITED else words[:CITED].rsplit(" ", 1)[0] + " …"
    return f'[{passage["handle"]}#{passage["place"]} "{cut}"]'


def of_drive_folder(output: Json) -> str:
    """The items of a Drive folder, and that there are more where there are."""
    items = output["data"]["drive_items"]
    lines = [f"{output['summary']}."]
    lines += [f"- {item['name']} ({item['kind']})" for item in items[:DRIVE_ITEMS]]
    if len(items) > DRIVE_ITEMS or output["data"]["cursor"]:
        lines.append("- … and more. Name a file to read it, or paste its link.")
    return "\n".join(lines)


def of_beginning(passage: Json, coverage: str) -> str:
    """How a text begins."""
    head = f"**{cell(passage['name'])}** begins ({coverage or passage['place']}):"
    return f"{head}\n\n{_quote(passage['text'], set(), limit=1_500)}"


def _quote(text: str, wanted: set[str], limit: int = QUOTE) -> str:
    """A passage as a quotation; a long one is cut to the sentences that say most of what was asked for."""
    lines = [line.strip() for line in unmarked(text).splitlines() if line.strip()]
    flat = "\n".join(lines)
    if len(flat) > limit and wanted:
        sentences = re.split(r"(?<=[.!?])\s+|\n", flat)
        overlap = [len(wanted & {w.stem for w in split_words(s)}) for s in sentences]
        best = max(range(len(sentences)), key=lambda i: (overlap[i], -i))
        first, size = max(0, best - 1), 0
        picked: list[str] = []
        for sentence in sentences[first:]:
            if picked and size + len(sentence) > limit:
                break
            picked.append(sentence)
            size += len(sentence)
        flat = ("… " if first else "") + " ".join(picked)
    flat = flat if len(flat) <= limit else flat[:limit].rsplit(" ", 1)[0] + " …"
    safe = flat.replace("<", "&lt;").replace("![", "[")
    return "\n".join(f"> {line}  " for line in safe.splitlines())
