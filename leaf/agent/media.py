"""Pictures on their way to a model. History holds references; bytes, or the id of an upload, are
put in when a request is made.

The same history always gives the same blocks, and what a new picture adds never changes an earlier
one: pictures are counted from the oldest on, and those that do not fit any more into a request
become a sentence. So the prompt cache holds.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from leaf import logs
from leaf.agent.blocks import text_block, with_pictures
from leaf.errors import ModelError, NotFoundError
from leaf.shapes.raw import RawBlock, RawMessage
from leaf.store import Store, media
from leaf.store.database import now
from leaf.store.model import Scope

MOST_PICTURES = 100
"""Pictures of one request."""
MOST_INLINE = 20_000_000
"""Bytes of base64 in one request of at most 32 MB; the rest is for text."""
KEPT = timedelta(days=30)
"""How long a model server keeps an upload; then it is uploaded again."""
MARGIN = timedelta(hours=1)
"""What expires within this time counts as expired."""
_log = logging.getLogger(__name__)

Upload = Callable[[bytes, str, timedelta], tuple[str, datetime | None]]
"""Bytes, media type and how long to keep them -> id of the upload and when it expires.

Raises NoFilesError where the server takes no files, ModelError that may pass for everything else.
"""


class NoFilesError(ModelError):
    """The model server has no Files API, or does not take this picture: it goes inline."""


@dataclass
class Prepared:
    """Messages with their pictures in place."""

    messages: list[RawMessage]
    file_ids: list[str] = field(default_factory=list)
    """Uploads that they refer to."""


class Media:
    """Puts pictures into requests. Safe to call from any number of threads."""

    def __init__(self, store: Store, *, endpoint: str, uploads: bool) -> None:
        """`endpoint` names the server that keeps uploads; with `uploads` False every picture goes
        inline."""
        self._store = store
        self._endpoint = endpoint
        self._uploads = uploads

    def prepare(
        self, scope: Scope | None, messages: Sequence[RawMessage], upload: Upload
    ) -> Prepared:
        """The messages as they go out. Raises ModelError if a picture could not be uploaded just
        now."""
        resolver = _UploadResolver(self, scope, upload)
        prepared = [with_pictures(message, resolver.block) for message in messages]
        if (
            resolver.missing
        ):  # an earlier message is not what it was, and thinking after it would be refused
            prepared = [_without_thinking(message) for message in prepared]
        return Prepared(prepared, resolver.file_ids)

    def lost(self, scope: Scope | None, file_ids: Sequence[str]) -> bool:
        """The server has not got these uploads any more. Whether any was known, so that preparing
        again makes a difference."""
        if scope is None or not file_ids:
            return False
        return media.forget_model_files(self._store.db, scope, self._endpoint, file_ids) > 0

    def upload_of(self, scope: Scope, sha256: str, upload: Upload) -> str:
        """Id of the upload, made now where there is none; empty if the picture goes inline, now and
        ever after."""
        if not self._uploads:
            return ""
        known = media.model_file(self._store.db, scope, sha256, self._endpoint, now() + MARGIN)
        if known is not None:
            return known
        data, media_type = self.bytes_of(scope, sha256)
        try:
            file_id, expires_at = upload(data, media_type, KEPT)
        except NoFilesError as e:
            _log.warning("pictures go inline: %s", logs.reason(e))
            file_id, expires_at = "", None
        return media.keep_model_file(
            self._store.db, scope, sha256, self._endpoint, file_id, expires_at or now() + KEPT
        )

    def bytes_of(self, scope: Scope, sha256: str) -> tuple[bytes, str]:
        """Raises NotFoundError where the file was deleted for good."""
        picture = media.by_picture(self._store.db, scope, sha256)
        with self._store.blobs.open(scope.workspace_id, picture.sha256) as stream:
            return stream.read(), picture.media_type


class _UploadResolver:
    """One request in the making: what its pictures take so far."""

    def __init__(self, service: Media, scope: Scope | None, upload: Upload) -> None:
        self._service = service
        self._scope = scope
        self._upload = upload
        self._count = self._inline = 0
        self.missing = False
        self.file_ids: list[str] = []

    def block(self, picture: RawBlock) -> RawBlock:
        """The block for one picture that stands in history."""
        source = picture["source"]
        if source["type"] != "leaf":
            return picture
        label = source.get("label") or "A picture"
        if self._count >= MOST_PICTURES:
            return text_block(
                f"[{label}: not shown, since this chat holds {MOST_PICTURES} pictures already. A "
                f"new chat can show it.]"
            )
        try:
            image_source = self._source(source["sha256"])
        except NotFoundError:
            self.missing = True
            return text_block(f"[{label}: its file was deleted for good.]")
        if image_source is None:
            return text_block(
                f"[{label}: not shown, since the pictures of this chat fill a request already. A "
                f"new chat can show it.]"
            )
        self._count += 1
        return {"type": "image", "source": image_source}

    def _source(self, sha256: str) -> RawBlock | None:
        """What the API takes as the source of an image; None where a request has no room for it.
        Raises NotFoundError."""
        if self._scope is None:
            raise NotFoundError("No workspace to find the picture in.")
        if file_id := self._service.upload_of(self._scope, sha256, self._upload):
            self.file_ids.append(file_id)
            return {"type": "file", "file_id": file_id}
        data, media_type = self._service.bytes_of(self._scope, sha256)
        text = base64.b64encode(data).decode()
        if self._inline + len(text) > MOST_INLINE:
            return None
        self._inline += len(text)
        return {"type": "base64", "media_type": media_type, "data": text}


def _without_thinking(message: RawMessage) -> RawBlock:
    if message["role"] != "assistant" or isinstance(message["content"], str):
        return message
    blocks = [
        block
        for block in message["content"]
        if block["type"] not in ("thinking", "redacted_thinking")
    ]
    return {**message, "content": blocks or [text_block("")]}
