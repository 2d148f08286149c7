"""A document for reading: its text, what changed, its versions, downloads. Used by the panel beside
the chat and by its page."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import streamlit as st

from leaf.errors import LeafError
from leaf.language import kept
from leaf.language.problems import told
from leaf.language.text import in_digits, mark, n_, t
from leaf.provenance.citations import Text
from leaf.shapes.parts import ReceiptsData
from leaf.store.model import Document, DocumentVersion
from leaf.ui import (
    clock,
    downloads,
    drawn,
    markdown,
    marks,
    preview,
    receipts,
    results,
    tabular,
    words,
)
from leaf.ui.blocks import blocks
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.toasts import toast

PAGE = Path(__file__).resolve().parents[1] / "pages" / "documents.py"
CHAT_PAGE = PAGE.parent / "chat.py"
SHOWN = 60_000
"""Characters of a document that are drawn; all of it is in the downloads."""
ROWS_SHOWN = 500
VERSIONS_SHOWN = 30
KINDS = {"text": mark("Text"), "code": mark("Code"), "sheet": mark("Sheet")}
ICONS = {"text": ":material/article:", "code": ":material/code:", "sheet": ":material/table:"}
TOLD: dict[str, str] = {form: told for form, _, told in results.FORMS if form.startswith("csv")}
"""What is to be known of a sheet's format before it is chosen."""
TYPES = {
    "meeting-summary": mark("Meeting summary"),
    "report": mark("Report"),
    "action-items": mark("Action items"),
}


def facts(document: Document) -> str:
    """`Meeting summary · version 2 · 14:02`."""
    today = clock.today()
    what = t(TYPES.get(document.document_type, KINDS[document.kind]))
    return t(
        "{what} · version {version} · {updated_at}",
        what=what,
        version=document.version,
        updated_at=words.when(document.updated_at, today),
    )


def draw_traced(document: Document, number: int = 0) -> ReceiptsData | None:
    """How many figures of a version are traced, each behind a click; returns what was found, for
    `draw_text`."""
    receipt_data = session().documents.receipts(document.id, number)
    if receipt_data and receipt_data["figures"]:
        mark = receipts.of_document(document.id, number or document.version)
        title = " · ".join([words.traced(receipt_data), *words.opposite(receipt_data)])
        receipts.draw_list(receipt_data, mark, preview.show_receipt, title)
    return receipt_data


def draw_text(
    kind: str, text: str, name: str, key: str, found: ReceiptsData | None = None, mark: str = ""
) -> None:
    """What stands in a document, or its beginning; with what was `found` for its figures, these as
    marks."""
    if kind == "sheet":
        _draw_sheet(text, key)
    elif kind == "code":
        ending = name.rpartition(".")[2]
        st.code(
            text[:SHOWN],
            language={"py": "python", "js": "javascript", "sh": "bash"}.get(ending, ending),
            wrap_lines=True,
        )
    else:
        numbered = list(enumerate(found["receipts"])) if found else []
        for block in blocks(marks.held(Text(0, text[:SHOWN]), numbered)):
            if block.kind == "code":
                st.code(
                    marks.taken_out(block.text)[0], language=block.language or None, wrap_lines=True
                )
            else:
                st.markdown(drawn.text_of(block.text, mark))
    if kind != "sheet" and len(text) > SHOWN:
        st.caption(
            t(
                "The first {shown} of {n} characters. Download it to see all.",
                shown=in_digits(SHOWN),
                n=in_digits(len(text)),
            )
        )


def _draw_sheet(text: str, key: str) -> None:
    columns, *rows = list(csv.reader(io.StringIO(text)))
    tabular.draw(columns, rows[:ROWS_SHOWN], (), key=key, tall=18)
    more = (
        t(", the first {rows_shown} are shown", rows_shown=in_digits(ROWS_SHOWN))
        if len(rows) > ROWS_SHOWN
        else ""
    )
    st.caption(f"{words.count(len(rows), 'row')}{more}")


def draw_downloads(document: Document, key: str) -> None:
    """A button for each format; made when it is pressed."""
    with st.container(horizontal=True, gap="xsmall", key=f"downloads-{key}"):
        for format in session().documents.formats(document):
            label, told = t(format.label), t(TOLD.get(format.ending, ""))
            downloads.button(
                label,
                downloads.place("documents", document.id, format.ending),
                key=f"download-{key}-{format.ending}",
                help=". ".join(filter(None, (t("Download as {label}", label=label), told))),
            )


def change_in_words(summary: str) -> str:
    """`3 lines added, 1 line removed`, within a sentence."""
    phrase = kept.part(summary)
    return phrase[:1].lower() + phrase[1:]


def draw_difference(document: Document, older: int, newer: int) -> None:
    """Lines that were added have a plus, lines that were removed a minus before them."""
    diff = session().documents.compare(document, older, newer)
    st.caption(
        t(
            "From version {older} to {newer}: {summary}",
            older=older,
            newer=newer,
            summary=change_in_words(diff.summary),
        )
        if older
        else t("Version {newer} was the first.", newer=newer)
    )
    if older and diff.lines:
        text = diff.text()
        st.code(
            text[:SHOWN] + ("\n…" if len(text) > SHOWN else ""), language="diff", wrap_lines=True
        )


def draw_versions(document: Document, key: str) -> None:
    """Each version with what it changed, behind a click, and the way back to it."""
    versions = session().documents.versions(document.id)
    for version in versions[:VERSIONS_SHOWN]:
        holder = st.expander(
            _title(version, document),
            type="compact",
            key=f"version-{key}-{version.number}",
            on_change="rerun",
        )
        if holder.open:
            with holder:
                _draw_version(document, version, key)
    if len(versions) > VERSIONS_SHOWN:
        rest = len(versions) - VERSIONS_SHOWN
        st.caption(n_("and {n} earlier version", "and {n} earlier versions", rest))


def _title(version: DocumentVersion, document: Document) -> str:
    today = clock.today()
    how = {"edit_file": t("edited by Leaf"), "write_file": t("rewritten by Leaf")}.get(
        version.note, version.note
    )
    who = (
        t(" by {author}", author=version.author)
        if version.author and not version.message_id
        else ""
    )
    newest = t(" (newest)") if version.number == document.version else ""
    return markdown.label(
        t(
            "Version {number}{newest} · {how}{who} · {created_at}",
            number=version.number,
            newest=newest,
            how=how,
            who=who,
            created_at=words.when(version.created_at, today),
        ),
        120,
    )


def _draw_version(document: Document, version: DocumentVersion, key: str) -> None:
    draw_difference(document, version.number - 1, version.number)
    if version.number == document.version or document.deleted_at is not None:
        return
    if st.button(
        t("Restore this version"), key=f"restore-{key}-{version.number}", icon=":material/history:"
    ):
        try:
            session().documents.restore_version(document.id, version.number)
        except LeafError as e:
            st.warning(markdown.paragraph(told(e)))
        else:
            toast(
                t("Version {number} is the newest again.", number=version.number),
                icon=":material/check:",
            )
            redraw()
    with st.container(key=f"old-{key}-{version.number}"):
        text = session().documents.content(document, version.number)
        receipt_data = session().documents.receipts(document.id, version.number)
        st.caption(
            t("Its text · {traced}", traced=words.traced(receipt_data))
            if receipt_data and receipt_data["figures"]
            else t("Its text")
        )
        mark = receipts.of_document(document.id, version.number)
        draw_text(
            document.kind,
            text,
            document.file_name,
            f"old-rows-{key}-{version.number}",
            receipt_data,
            mark,
        )


def draw_panel(document: Document) -> None:
    """What the panel beside the chat shows below its title."""
    st.caption(markdown.label(facts(document)))
    with st.container(horizontal=True, vertical_alignment="center", key="panel-tools"):
        shown = st.segmented_control(
            t("Show"), ["Document", "Last change", "Versions"], default="Document", format_func=t, key="preview-document-shown",
            label_visibility="collapsed", required=True,
        )  # fmt: skip
        if st.button(
            t("Edit"),
            key="panel-edit",
            icon=":material/edit:",
            help=t("Edit by hand on the Documents page"),
        ):
            st.session_state.pop("preview", None)  # the page shows it whole
            st.switch_page(PAGE, query_params={"document": document.id})
    draw_downloads(document, "panel")
    if shown == "Last change":
        draw_difference(document, document.version - 1, document.version)
    elif shown == "Versions":
        draw_versions(document, "panel")
    else:
        draw_newest(document, "panel-rows")


def draw_newest(document: Document, key: str) -> None:
    """The newest version with the marks of its figures."""
    receipt_data = draw_traced(document)
    text = session().documents.content(document)
    draw_text(
        document.kind,
        text,
        document.file_name,
        key,
        receipt_data,
        receipts.of_document(document.id, document.version),
    )
