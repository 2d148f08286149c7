"""Results: rows of whole results, computed again, taken elsewhere, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from leaf.errors import NotFoundError
from leaf.runs.edited import part_of
from leaf.sessions.house import Part
from leaf.sessions.pinning import remarks_on
from leaf.shapes.part_values import call_in, tool_name
from leaf.shapes.parts import ToolPart
from leaf.store import audit, chats, edited_steps, messages, newer_files
from leaf.store.model import File
from leaf.tables.again import Recomputed
from leaf.tables.paging import FIRST, ResultPage, RowsWanted
from leaf.tables.results import StoredResult
from leaf.tools.recompute import OneTable, again, in_place, results_shown
from leaf.tools.registry import declared

ChartForm = Literal["png", "svg", "json"]
ResultForm = Literal["csv", "csv-raw", "xlsx", "parquet"]


class Results(Part):
    """Results of the user's chats."""

    def page(self, chat_id: str, result_id: str, wanted: RowsWanted = FIRST) -> ResultPage:
        """Rows of a whole result, sorted and filtered if asked."""
        chats.get(self._db, self._scope, chat_id)
        return self._house.tables.results.page(self._scope, chat_id, result_id, wanted)

    def gone(self, chat_id: str, result_id: str) -> NotFoundError | None:
        """Why the rows of a result are not there, and what to do; None where they are. One that is
        recorded is a ResultGoneError. Raises NotFoundError where there is no such chat."""
        chats.get(self._db, self._scope, chat_id)
        try:
            self._house.tables.results.path(self._scope, chat_id, result_id)
        except NotFoundError as gone:
            return gone
        return None

    def recompute(self, chat_id: str, result_id: str) -> Recomputed:
        """Run what made a result again and compare; rows that are gone are put back or become a new
        result, which `kept_as` then names. Raises NotFoundError, QueryError, FileError,
        SandboxError."""
        return self._recompute(chat_id, result_id, None)

    def recompute_newest(self, chat_id: str, result_id: str) -> Recomputed:
        """The same over the newest version of each file: the one that came last under its name.
        What comes out otherwise, or of other files, is kept as a new result. Raises as
        `recompute`."""
        there = self._house.library.chat_files(self._scope, chat_id, deleted=True)
        newer = newer_files.newer(self._db, self._scope, [c.file.id for c in there])
        return self._recompute(chat_id, result_id, newer)

    def _recompute(
        self, chat_id: str, result_id: str, newer: Mapping[str, File] | None
    ) -> Recomputed:
        """`newer` are read in place of the files of these ids, and what comes out is kept; None for
        neither. Results that it was made from are made of the newer files before."""
        keep = newer is not None
        chats.get(self._db, self._scope, chat_id)
        results = self._house.tables.results
        one = results.get(self._scope, chat_id, result_id)
        # What was computed again before names the result of the step itself, whose code runs.
        first = results.find(self._scope, chat_id, str(one.about.get("again") or "")) or one
        instead = {} if newer is None else self._instead(chat_id, first, one, newer)
        only = OneTable(first.name, one.name, keep, newer or {}, instead)
        if one.how == "code" and first.edited:
            return self._run_edited(first.edited, only)
        if one.how == "code" and (call_id := self._cell_of(first)):
            return self._run_cell(first.row.message_id, call_id, only)
        files = self._house.library.chat_files(self._scope, chat_id, deleted=True)
        files, again = in_place(files, newer or {}), self._house.tables.again
        return again.recompute(self._scope, chat_id, files, result_id, keep=keep, instead=instead)

    def _instead(
        self, chat_id: str, first: StoredResult, one: StoredResult, newer: Mapping[str, File]
    ) -> dict[str, str]:
        """For each result that the code of `first` names the one that stands for it: where its
        files are others now, that which comes of making it again. Raises as `recompute`."""
        named, stood = (list(of.about.get("results") or ()) for of in (first, one))
        there = self._house.library.chat_files(self._scope, chat_id, deleted=True)
        files = {c.file.id: c.file for c in in_place(there, newer)}
        substitutes: dict[str, str] = {}
        for name, known in zip(named, stood if len(stood) == len(named) else named, strict=True):
            tables = self._house.tables.results.get(self._scope, chat_id, known).tables
            substitutes[name] = known
            if any(t["file_id"] not in files for t in tables):
                again = self._recompute(chat_id, known, newer)
                if again.outcome != "same" and not again.kept_as:
                    raise NotFoundError(again.text)
                substitutes[name] = again.kept_as or known
        return substitutes

    def _cell_of(self, one: StoredResult) -> str:
        """The call of the cell that made a result; empty where no answer has it."""
        if not one.row.message_id:
            return ""
        message = messages.get(self._db, self._scope, one.row.message_id)
        for part in message.parts:
            if one.name in results_shown(part):
                return str(part.get("toolCallId") or "")
        return ""

    def recompute_cell(self, message_id: str, call_id: str) -> Recomputed:
        """Run a cell of Python again, after those before it, and compare its tables and what it
        prints.

        Raises NotFoundError, SandboxError, FileError.
        """
        return self._run_cell(message_id, call_id)

    def _run_edited(self, edit_id: str, only: OneTable) -> Recomputed:
        step = edited_steps.get(self._db, self._scope, edit_id)
        return self._run_again(step.message_id, part_of(step), only, edited=True)

    def _run_cell(self, message_id: str, call_id: str, only: OneTable | None = None) -> Recomputed:
        message = messages.get(self._db, self._scope, message_id)
        return self._run_again(message_id, call_in(message.parts, call_id), only)

    def _run_again(
        self, message_id: str, part: ToolPart | None, only: OneTable | None, *, edited: bool = False
    ) -> Recomputed:
        house, message = self._house, messages.get(self._db, self._scope, message_id)
        cell = part is not None and declared(tool_name(part)).replay == "cell"
        if part is None or not cell or house.python is None:
            raise NotFoundError(
                "This cell is not there any more, or Python is not available on this machine."
            )
        return again(
            house.python,
            house.tables,
            house.library,
            self._scope,
            message,
            part,
            only=only,
            edited=edited,
        )

    def export(self, chat_id: str, result_id: str, form: ResultForm = "csv", *, into: Path) -> Path:
        """The whole result as a file, which is made in the folder `into`; of the CSV forms
        `csv-raw` leaves formulas.

        Raises NotFoundError, and InvalidInputError where Excel has no room for it.
        """
        chats.get(self._db, self._scope, chat_id)
        names = {
            c.file.id: c.file.name
            for c in self._house.library.chat_files(self._scope, chat_id, deleted=True)
        }
        results, remarks = self._house.tables.results, list[tuple[str, str]]()
        if form == "xlsx":
            results.path(self._scope, chat_id, result_id)  # or they were put back only for Excel
            remarks = remarks_on(self._house, self._scope, chat_id, result_id)
        path = results.export(
            *(self._scope, chat_id, result_id, form), into=into, names=names, remarks=remarks
        )
        audit.note(self._db, self._scope, "result exported", f"{chat_id} {result_id}")
        return path

    def draw(
        self,
        chat_id: str,
        spec: Mapping[str, object],
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        form: ChartForm,
    ) -> bytes:
        """A chart of a chat with its rows, as PNG, SVG, or Vega-Lite in JSON, for somebody who
        takes it along. Raises NotFoundError, InvalidInputError for what cannot be drawn."""
        chats.get(self._db, self._scope, chat_id)
        with TemporaryDirectory(prefix="leaf-chart-") as folder:
            drawn = self._house.tables.draw(spec, columns, rows, form, Path(folder)).read_bytes()
        audit.note(self._db, self._scope, "chart exported", chat_id)
        return drawn

    def keep_table(self, chat_id: str, path: Path) -> str:
        """Keep a table that was made elsewhere, a Parquet file, as the chat's next result, of which
        this gives the name. Raises NotFoundError, UnreadableFileError, SandboxError."""
        chats.get(self._db, self._scope, chat_id)
        queries = self._house.tables.queries
        return queries.keep_frame(self._scope, chat_id, path, "", "").result_id

    def number_next(self, chat_id: str, number: int) -> None:
        """Let the chat's next result be `r<number>`, as it was where the chat comes from."""
        chats.get(self._db, self._scope, chat_id)
        self._house.tables.results.number_next(self._scope, chat_id, number)
