"""Finished transcripts: how they are written (WebVTT), and where they last: the words are a blob, and a
row says of which recording."""

from __future__ import annotations

import html
import json
import logging
from contextlib import suppress
from pathlib import Path

from leaf.errors import LeafError
from leaf.readers.locate.where import seconds, timestamp
from leaf.store import Store, blob_names, transcripts
from leaf.store.model import Scope
from leaf.store.transcripts import TranscriptRow
from leaf.transcription.base import Cue

WHOLE = "transcript.vtt"
DONE = "done.json"
LARGEST = 1 << 30
"""Bytes of captions: far more than anybody can say."""

log = logging.getLogger(__name__)
RecordingKey = tuple[str, str]
"""Workspace and SHA-256 of a recording."""


class KeptCaptions:
    """Safe to call from any number of threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: set[RecordingKey] = set()
        """Recordings whose words are known to last."""

    def row(self, key: RecordingKey) -> TranscriptRow | None:
        """What is known of a transcript, without its words."""
        return transcripts.find(self._store.db, *key)

    def words(self, key: RecordingKey) -> Path | None:
        """The captions; None where there are none. Raises BlobGoneError, StorageError."""
        row = self.row(key)
        return self._store.blobs.local(key[0], row.sha256) if row else None

    def check_room(self) -> None:
        """Before a recording is transcribed. Raises SpaceError where nothing more may be kept."""
        self._store.space.check()

    def keep(self, key: RecordingKey, folder: Path) -> None:
        """Make the transcript last that stands in a folder. Where that cannot be done now it is tried
        again when the words are next asked for."""
        if key in self._known:
            return
        try:
            if self.row(key) is None:
                _keep(self._store, key, folder)
        except (LeafError, OSError, ValueError) as e:
            log.warning("a transcript stays in the data folder alone: %s", e)
        else:
            self._known.add(key)

    def forget(self, scope: Scope, sha256: str) -> None:
        """Remove the row, and the words unless something else is made of the same bytes."""
        key = (scope.workspace_id, sha256)
        self._known.discard(key)
        if (row := self.row(key)) is None:
            return
        transcripts.forget(self._store.db, *key)
        if not blob_names.is_named(self._store.db, scope, row.sha256):
            self._store.blobs.delete(scope.workspace_id, row.sha256)


def adopt_all(store: Store, root: Path) -> int:
    """Give transcripts that earlier versions kept in a folder alone their rows; how many. Raises
    StoreError."""
    adopted = 0
    for path in sorted(root.glob(f"*/*/{DONE}")):
        key = (path.parents[1].name, path.parent.name)
        with suppress(OSError, ValueError, KeyError):  # one that is broken is made again
            if transcripts.find(store.db, *key) is None:
                _keep(store, key, path.parent)
                adopted += 1
    return adopted


def _keep(store: Store, key: RecordingKey, folder: Path) -> None:
    record = json.loads((folder / DONE).read_text(encoding="utf-8"))
    with (folder / WHOLE).open("rb") as stream:
        blob = store.blobs.put(key[0], stream, LARGEST)
    row = TranscriptRow(
        blob.sha256,
        blob.size,
        int(record["cues"]),
        float(record["seconds"]),
        str(record.get("engine", "")),
    )
    transcripts.keep(store.db, *key, row)


def webvtt(cues: list[Cue]) -> str:
    """Cues as a WebVTT file."""
    lines = ["WEBVTT", ""]
    for cue in cues:
        lines += [
            f"{_stamp(cue.start)} --> {_stamp(cue.end)}",
            html.escape(" ".join(cue.text.split()), quote=False),
            "",
        ]
    return "\n".join(lines)


def read_webvtt(text: str) -> tuple[Cue, ...]:
    """Cues of a file that `webvtt` wrote."""
    lines = text.split("\n")
    times = [(i, line.split(" --> ")) for i, line in enumerate(lines) if " --> " in line]
    return tuple(Cue(seconds(t[0]), seconds(t[1]), html.unescape(lines[i + 1])) for i, t in times)


def _stamp(seconds: float) -> str:
    thousandths = round(seconds * 1000)
    return f"{timestamp(thousandths // 1000)}.{thousandths % 1000:03d}"
