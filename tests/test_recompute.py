"""Cells of Python computed again, and figures that they printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.errors import NotFoundError
from leaf.provenance.receipts.answer import kept_receipts
from leaf.sandbox.confine import confinement
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

pytestmark = pytest.mark.skipif(
    confinement().kind != "landlock", reason="Python is offered only where it can be confined"
)

CSV = b"region,revenue\nNorth,1200.5\nSouth,800.25\nEast,450.1\n"
FIRST = "factor = 2"
SECOND = "print('mean', sales.revenue.mean() * factor)\nsales.assign(double=sales.revenue * factor)"
CHANCE = "import random\nrandom.random()"


def test_cell_is_run_again_after_those_before_it_and_its_figures_have_receipts(
    tmp_path: Path,
) -> None:
    turns = [
        Turn.call(("run_python", {"code": FIRST})),
        Turn.call(("run_python", {"code": SECOND})),
        Turn.call(("run_python", {"code": CHANCE})),
        Turn.say("Twice the mean is 1,633.9. North doubled is 2,401. A wrong one is 7,777."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", CSV)
        message = finished(
            session,
            session.messages.send(session.chats.create().id, "Double it", [file.id]).id,
            seconds=150,
        )
        assert [(r["text"], r["kind"]) for r in kept_receipts(message.parts)] == [
            ("1,633.9", "printed"),
            ("2,401", "exact"),
            ("7,777", "none"),
        ]
        calls = [str(p["toolCallId"]) for p in message.parts if p["type"] == "tool-run_python"]
        same = session.results.recompute_cell(message.id, calls[1])
        assert (same.outcome, "its tables and what it prints are the same" in same.text) == (
            "same",
            True,
        )
        other = session.results.recompute_cell(message.id, calls[2])
        assert (other.outcome, other.text) == (
            "different",
            "Computed again, it prints something else.",
        )
        with pytest.raises(NotFoundError):
            session.results.recompute_cell(message.id, "nothing")
        session.files.delete(file.id)
        assert session.results.recompute_cell(message.id, calls[1]).text == (
            "sales.csv was deleted, so this cannot be computed again."
        )
