"""Results: rows of whole results, computed again, taken elsewhere, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from leaf.errors import NotFoundError
from leaf.sessions.house import Part
from leaf.store import chats, messages
from leaf.tables.tables import Recomputed, ResultPage
from leaf.tools.recompute import again
from leaf.tools.registry import declared

ChartForm = Literal["png", "svg", "json"]


class Results(Part):
    """Results of the user's chats."""

    def page(
        self,
        chat_id: str,
        result_id: str,
        *,
        offset: int = 0,
        limit: int = 200,
        order_by: str = "",
        descending: bool = False,
        where: Mapping[str, str] | None = None,
    ) -> ResultPage:
        """Rows of a whole result, sorted and filtered if asked: see `tables.filters.condition`."""
        chats.get(self._db, self._scope, chat_id)
        return self._house.tables.result(
            self._scope, chat_id, result_id, offset=offset, limit=limit, order_by=order_by, descending=descending, where=where
        )

    def recompute(self, chat_id: str, result_id: str) -> Recomputed:
        """Run a result's query again and compare. Raises NotFoundError, QueryError, FileError, SandboxError."""
        chats.get(self._db, self._scope, chat_id)
        files = self._house.library.chat_files(self._scope, chat_id, deleted=True)
        return self._house.tables.recompute(self._scope, chat_id, files, result_id)

    def recompute_cell(self, message_id: str, call_id: str) -> Recomputed:
        """Run a cell of Python again, after those before it, and compare its tables and what it prints.

        Raises NotFoundError, SandboxError, FileError.
        """
        house, message = self._house, messages.get(self._db, self._scope, message_id)
        part = next((p for p in message.parts if p.get("toolCallId") == call_id), None)
        cell = part is not None and declared(part["type"].removeprefix("tool-")).replay == "cell"
        if part is None or not cell or house.python is None:
            raise NotFoundError("This cell is not there any more, or Python is not available on this machine.")
        return again(house.python, house.tables, house.library, self._scope, message, part)

    def export(self, chat_id: str, result_id: str, form: Literal["csv", "xlsx", "parquet"] = "csv") -> Path:
        """The whole result as a file. Raises NotFoundError, and InvalidInputError where Excel has no room for it."""
        chats.get(self._db, self._scope, chat_id)
        names = {c.file.id: c.file.name for c in self._house.library.chat_files(self._scope, chat_id, deleted=True)}
        return self._house.tables.export(self._scope, chat_id, result_id, form, names)

    def draw(
        self, spec: Mapping[str, object], columns: Sequence[str], rows: Sequence[Sequence[object]], form: ChartForm
    ) -> bytes:
        """A chart with its rows as PNG, SVG, or Vega-Lite in JSON. Raises InvalidInputError for what cannot be drawn."""
        with TemporaryDirectory(prefix="leaf-chart-") as folder:
            return self._house.tables.draw(spec, columns, rows, form, Path(folder)).read_bytes()

    def number_next(self, chat_id: str, number: int) -> None:
        """Let the chat's next result be `r<number>`, as it was where the chat comes from."""
        chats.get(self._db, self._scope, chat_id)
        self._house.tables.number_next(self._scope, chat_id, number)
