"""What a tool call was given and what it gave, drawn by its shape: for a step, and for one that a
person edited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from leaf.language.places import place
from leaf.language.text import in_digits, t
from leaf.shapes.results import (
    DriveItemShown,
    Output,
    PassageShown,
    ProfileShown,
    SourceUsed,
    TableShown,
)
from leaf.ui import code, downloads, markdown, pictures, pins, results, tabular, words
from leaf.ui.connection import DRIVE_PAGE
from leaf.ui.findings import draw_findings
from leaf.ui.preview import show as show_preview
from leaf.ui.preview import show_drive, show_result
from leaf.ui.redraw import redraw

if TYPE_CHECKING:
    from leaf.tools.base import Tool

TEXT_SHOWN = 6_000
"""Characters of a result without a shape of its own."""


def draw_input(tool: Tool, given: Mapping[str, Any]) -> None:
    """Code, and the parameters that have words for people."""
    if given.get("sql"):
        st.code(str(given["sql"]).strip(), language="sql", wrap_lines=True)
    if given.get("code"):
        st.code(str(given["code"]).strip(), language="python", wrap_lines=True, line_numbers=True)
    if given.get("spec"):
        st.code(
            json.dumps(given["spec"], indent=1, ensure_ascii=False),
            language="json",
            wrap_lines=True,
            height=180,
        )
    plain = [
        f"{t(tool.inputs[key])}: "
        f"{value if isinstance(value, str | int) else ', '.join(map(str, value))}"
        for key, value in given.items()
        if key in tool.inputs and value not in ("", None, [])
    ]
    if plain:
        st.caption(markdown.label(" · ".join(plain), 400))


def draw_output(output: Output, chat_id: str, key: str) -> None:
    """What a call gave that came to its end; `key` is unique on the page."""
    data = output.get("data") or {}
    if data.get("python"):
        code.draw_output(data["python"])
        for number, table in enumerate(data.get("tables") or ()):
            if name := table.get("name"):
                st.caption(markdown.label(name))
            _draw_table(table, chat_id, f"{key}-{number}")
    elif data.get("table"):
        _draw_table(data["table"], chat_id, key)
    elif data.get("pictures"):
        pictures.draw_seen(data["pictures"], key)
    elif data.get("passages"):
        _draw_passages(data["passages"], output.get("sources") or (), key)
    elif data.get("chart"):
        tabular.draw(data["chart"]["columns"], data["chart"]["rows"], (), key=f"rows-{key}")
    elif data.get("profile"):
        _draw_profile(data["profile"], key)
        draw_findings([finding for finding in data.get("findings") or () if finding.get("text")])
    elif data.get("drive_items"):
        _draw_drive_items(data["drive_items"], key)
    elif data.get("files"):
        for file in data["files"]:
            st.caption(
                f"{words.kind_icon(file.get('kind', ''))} {markdown.label(file.get('name', ''))}"
            )
    else:
        text = output.get("text") or ""
        st.code(
            text[:TEXT_SHOWN] + (" …" if len(text) > TEXT_SHOWN else ""),
            language=None,
            wrap_lines=True,
            height=260,
        )


def _draw_table(table: TableShown, chat_id: str, key: str) -> None:
    tabular.draw(table["columns"], table["rows"], table.get("types") or (), key=f"rows-{key}")
    shown, total = len(table["rows"]), table.get("total", len(table["rows"]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            words.count(total, "row")
            if shown >= total
            else t(
                "The first {shown} of {rows}",
                shown=in_digits(shown),
                rows=words.count(total, "row"),
            ),
            width="stretch",
        )
        places = table.get("places")
        if places and st.button(
            t("Open {places}", places=markdown.label(place(places[0]), 60)),
            key=f"row-{key}",
            type="tertiary",
            icon=":material/my_location:",
            help=t("The first row of this result, in its file"),
        ):
            show_preview(table["scanned"][0]["file_id"], places[0])
            redraw()
        result_id = table.get("result_id")
        gone = result_id and chat_id and results.draw_gone(chat_id, result_id, key, show_result)
        if result_id and chat_id and not gone:
            results.draw_button(chat_id, result_id, total, key, show_result)
            downloads.button(
                t("All rows as CSV"),
                downloads.place("results", chat_id, result_id, "csv"),
                key=f"csv-{key}",
                type="tertiary",
                help=t(
                    "An apostrophe stands before text that a spreadsheet would take "
                    "for a formula; “Open” has the raw form, too."
                ),
            )
            pins.draw_button(chat_id, result_id, key)
    for sentence in table.get("said") or ():
        st.caption(f":material/info: {markdown.label(sentence, 300)}")
    for sentence in table.get("left_out") or ():
        st.caption(f":material/filter_alt: {markdown.label(sentence, 300)}")


def _draw_passages(
    passages: Sequence[PassageShown], sources: Sequence[SourceUsed], key: str
) -> None:
    file_ids = {source["name"]: source["file_id"] for source in sources}
    for number, passage in enumerate(passages[:20]):
        name, at = passage.get("name", ""), passage.get("place", "")
        title = markdown.label(f"{name}, {place(at)}" if at else name)
        if name in file_ids:
            if st.button(
                title,
                key=f"open-{key}-{number}",
                type="tertiary",
                icon=":material/open_in_new:",
                help=t("Open the file at this place"),
            ):
                show_preview(file_ids[name], at)
                redraw()
        else:
            st.caption(title)
        st.markdown("> " + markdown.label(passage.get("text", ""), 600))


DRIVE_ITEMS_SHOWN = 25


def _draw_drive_items(items: Sequence[DriveItemShown], key: str) -> None:
    """What a tool saw in Drive; a click opens the folder or looks into the file."""
    with st.container(gap=None, key=f"drive-found-{key}"):
        for number, item in enumerate(items[:DRIVE_ITEMS_SHOWN]):
            label, symbol = markdown.label(item["name"], 90), words.drive_icon(item["kind"])
            if st.button(label, key=f"found-{key}-{number}", type="tertiary", icon=symbol):
                if item["kind"] == "folder":
                    st.switch_page(DRIVE_PAGE, query_params={"folder": item["ref"]})
                show_preview(item["file_id"]) if item["file_id"] else show_drive(item["ref"])
                redraw()
    if len(items) > DRIVE_ITEMS_SHOWN:
        st.caption(t("and {n} more", n=len(items) - DRIVE_ITEMS_SHOWN))


def _draw_profile(profile: ProfileShown, key: str) -> None:
    columns = profile.get("columns")
    if isinstance(columns, list) and columns and isinstance(columns[0], dict):
        names = list(dict.fromkeys(name for column in columns for name in column))
        tabular.draw(
            names,
            [[_plain(column.get(name)) for name in names] for column in columns],
            (),
            key=f"rows-{key}",
        )
    else:
        st.code(
            json.dumps(profile, indent=1, ensure_ascii=False, default=str)[:TEXT_SHOWN],
            language="json",
            height=260,
        )


def _plain(value: Any) -> Any:
    return (
        value
        if isinstance(value, str | int | float | bool | None)
        else json.dumps(value, ensure_ascii=False, default=str)
    )
