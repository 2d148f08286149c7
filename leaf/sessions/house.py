"""The packages below, as the one application has them; every session sees the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaf.agent.connections import ModelConnections
from leaf.budgets.budgets import Budgets
from leaf.documents.documents import DocumentService
from leaf.drive.drive import DriveService
from leaf.files.library import Library
from leaf.jobs.jobs import JobService
from leaf.keeping.remover import Remover
from leaf.runs.edited import StepEditor
from leaf.runs.runs import Runs
from leaf.settings import Settings
from leaf.store import Store
from leaf.store.model import Scope
from leaf.tables.notebooks import Notebooks
from leaf.tables.tables import Tables


@dataclass(frozen=True)
class House:
    """What `wiring.build` constructed."""

    settings: Settings
    store: Store
    library: Library
    tables: Tables
    drive: DriveService
    documents: DocumentService
    runs: Runs
    connections: ModelConnections
    budgets: Budgets
    jobs: JobService
    remover: Remover
    editor: StepEditor
    python: Notebooks | None = None
    """None on a machine that cannot confine Python."""

    def stop_all(self, message_ids: Sequence[str]) -> None:
        """End these answers."""
        for message_id in message_ids:
            self.runs.stop(message_id)


class Part:
    """One part of a session: the house as one user in one workspace may use it."""

    def __init__(self, house: House, scope: Scope) -> None:
        self._house = house
        self._scope = scope
        self._db = house.store.db
