"""The audit log for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from leaf.shapes.harmless import inert
from leaf.store.audit import AuditLine

COLUMNS = ("time (UTC)", "who", "who (id)", "kind", "what", "on", "outcome", "workspace")


def audit_csv(lines: Sequence[AuditLine]) -> str:
    """A row for each line, in their order; no cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in lines:
        cells = (line.who, line.user_id, line.kind, line.action, line.subject, line.outcome)
        at = f"{line.happened_at:%Y-%m-%d %H:%M:%S}"
        writer.writerow([at, *(inert(cell) for cell in cells), line.workspace_id])
    return out.getvalue()
