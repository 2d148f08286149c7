"""Charts and figures as pictures, for what is handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from leaf.errors import LeafError
from leaf.sessions.house import House
from leaf.shapes.pins import PinContent
from leaf.shapes.results import Rows
from leaf.store.model import Scope

if TYPE_CHECKING:
    from leaf.exports.boards import PinTold
    from leaf.sessions.boards import PinShown
    from leaf.shapes.results import ChartShown, FigureDrawn


def picture(
    house: House, scope: Scope, chat_id: str, drawn: ChartShown | FigureDrawn
) -> bytes | str:
    """A chart or a figure of a chat as PNG, or why not."""
    try:
        if "spec" not in drawn:
            return house.library.pictures.figure(scope, chat_id, drawn["sha256"])
        chart = cast("ChartShown", drawn)
        return _chart(house, chart["spec"], chart["columns"], chart["rows"])
    except LeafError as e:
        return str(e)


def pins_told(house: House, shown: Sequence[PinShown]) -> list[PinTold]:
    """Pins as an export tells them, the first charts drawn."""
    from leaf.exports.boards import CHARTS, PinTold

    return [
        PinTold(
            one.pin.title if one.pin.content else "",
            one.pin.content,
            one.pin.state,
            _pinned(house, one.pin.content) if at < CHARTS and one.pin.content else None,
            tuple(one.stale),
        )
        for at, one in enumerate(shown)
    ]


def _pinned(house: House, content: PinContent) -> bytes | None:
    """None for a table, and for a chart that cannot be drawn, whose rows are shown then."""
    spec = content.get("spec")
    if spec is None:
        return None
    try:
        return _chart(house, spec, content["columns"], content["rows"])
    except LeafError:
        return None


def _chart(house: House, spec: Mapping[str, Any], columns: Sequence[str], rows: Rows) -> bytes:
    with TemporaryDirectory(prefix="leaf-chart-") as folder:
        return house.tables.draw(dict(spec), columns, rows, "png", Path(folder)).read_bytes()
