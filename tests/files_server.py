"""The Files API, and what the Messages API checks of pictures: a part of `messages_server`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import itertools
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

Json = dict[str, Any]

MEDIA_TYPES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
MOST_IMAGES = 100
MANY_IMAGES = 20
EDGE, EDGE_OF_MANY = 8_000, 2_000
LARGEST_IMAGE = 5 * 1024 * 1024
LARGEST_REQUEST = 32 * 1024 * 1024
PATCH = 28
CHARACTERS_A_TOKEN = 2.5


@dataclass(frozen=True)
class StoredFile:
    """An upload."""

    id: str
    name: str
    media_type: str
    data: bytes
    expires_at: datetime | None
    deleted: bool = False

    def to_json(self) -> Json:
        return {
            "id": self.id,
            "type": "file",
            "filename": self.name,
            "mime_type": self.media_type,
            "size_bytes": len(self.data),
            "created_at": "2026-11-01T00:00:00Z",
            "downloadable": False,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
        }


class FilesDesk:
    """The uploads of one server, and the checks of pictures in its requests."""

    def __init__(self) -> None:
        self.files: dict[str, StoredFile] = {}
        self.uploads = 0
        self.refuses: tuple[int, str] | None = None
        """Status and words with which every upload is refused."""
        self._ids = itertools.count(1)
        self._lock = threading.Lock()

    def upload(self, content_type: str, raw: bytes) -> tuple[int, Json]:
        """Status and answer to `POST /v1/files`."""
        if self.refuses:
            return self.refuses[0], _error(
                "not_found_error" if self.refuses[0] == 404 else "api_error", self.refuses[1]
            )
        message = BytesParser(policy=HTTP).parsebytes(
            b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + raw
        )
        fields = {
            part.get_param("name", header="content-disposition"): part
            for part in message.iter_parts()
        }
        if "file" not in fields:
            return 400, _error("invalid_request_error", "file: Field required")
        part = fields["file"]
        seconds = (
            int(fields["expires_in_seconds"].get_content()) if "expires_in_seconds" in fields else 0
        )
        if seconds and not 3600 <= seconds <= 7776000:
            return 400, _error(
                "invalid_request_error", "expires_in_seconds: must be between 3600 and 7776000"
            )
        expires = datetime.now(UTC) + timedelta(seconds=seconds) if seconds else None
        with self._lock:
            self.uploads += 1
            file_id = f"file_{next(self._ids):06d}"
            data = part.get_payload(decode=True)
            assert isinstance(data, bytes)
            self.files[file_id] = StoredFile(
                file_id, part.get_filename() or "unnamed", part.get_content_type(), data, expires
            )
        return 200, self.files[file_id].to_json()

    def get(self, file_id: str) -> tuple[int, Json]:
        file = self.files.get(file_id)
        if file is None or file.deleted:
            return 404, _error("not_found_error", f"File not found: {file_id}")
        return 200, file.to_json()

    def delete(self, file_id: str) -> tuple[int, Json]:
        status, found = self.get(file_id)
        if status != 200:
            return status, found
        self.files[file_id] = replace(self.files[file_id], deleted=True)
        return 200, {"id": file_id, "type": "file_deleted"}

    def expire(self, file_id: str) -> None:
        """Let its time be over."""
        self.files[file_id] = replace(
            self.files[file_id], expires_at=datetime.now(UTC) - timedelta(seconds=1)
        )

    def refusal(self, body: Json, size: int) -> tuple[int, str, str] | None:
        """Status, kind and words with which the API would refuse the request for its pictures."""
        if size > LARGEST_REQUEST:
            return 413, "request_too_large", "Request exceeds the maximum size"
        images = list(images_of(body))
        if len(images) > MOST_IMAGES:
            return (
                400,
                "invalid_request_error",
                f"messages: at most {MOST_IMAGES} images, found {len(images)}",
            )
        for image in images:
            if set(image) - {"type", "source", "cache_control"}:
                return 400, "invalid_request_error", "image: Extra inputs are not permitted"
            if reason := self._refused(
                image["source"], EDGE if len(images) <= MANY_IMAGES else EDGE_OF_MANY
            ):
                return reason
        return None

    def _refused(self, source: Json, edge: int) -> tuple[int, str, str] | None:
        kind = source.get("type")
        if kind == "file" and set(source) == {"type", "file_id"}:
            file = self.files.get(source["file_id"])
            if file is None or file.deleted:
                return 404, "not_found_error", f"File not found: {source['file_id']}"
            if file.expires_at and file.expires_at < datetime.now(UTC):
                return 404, "not_found_error", f"The file {source['file_id']} has expired"
            return _refused_picture(file.media_type, file.data, edge)
        if kind == "base64" and set(source) == {"type", "media_type", "data"}:
            try:
                data = base64.b64decode(source["data"], validate=True)
            except (binascii.Error, ValueError):
                return 400, "invalid_request_error", "image.source.base64: invalid base64 data"
            return _refused_picture(source["media_type"], data, edge)
        return (
            400,
            "invalid_request_error",
            f"image.source: Input tag '{kind}' does not match any of: 'base64', 'url', 'file'",
        )

    def picture(self, source: Json) -> bytes:
        """The bytes behind an image's source."""
        return (
            self.files[source["file_id"]].data
            if source["type"] == "file"
            else base64.b64decode(source["data"])
        )

    def resolved(self, value: Any) -> Any:
        """The request with each picture as what it is to the model: by its content, and as long as
        its tokens."""
        if isinstance(value, dict):
            if value.get("type") == "image" and value.get("source", {}).get("type") in (
                "file",
                "base64",
            ):
                data = self.picture(value["source"])
                width, height = opened(data).size
                tokens = math.ceil(width / PATCH) * math.ceil(height / PATCH)
                seen = hashlib.sha256(data).hexdigest() + "·" * int(tokens * CHARACTERS_A_TOKEN)
                return {**value, "source": {"type": "seen", "picture": seen}}
            return {k: self.resolved(v) for k, v in value.items()}
        return [self.resolved(v) for v in value] if isinstance(value, list) else value


def images_of(body: Json) -> Iterator[Json]:
    """Image blocks of a request in order, those in tool results included."""
    for message in body.get("messages") or []:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "image":
                yield block
            elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
                yield from (part for part in block["content"] if part["type"] == "image")


def opened(data: bytes) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(data))


def _refused_picture(media_type: str, data: bytes, edge: int) -> tuple[int, str, str] | None:
    if media_type not in MEDIA_TYPES:
        return (
            400,
            "invalid_request_error",
            f"image.source.media_type: '{media_type}' is not supported",
        )
    if len(data) > LARGEST_IMAGE:
        return 400, "invalid_request_error", f"image exceeds 5 MB maximum: {len(data)} bytes"
    try:
        image = opened(data)
    except OSError:
        return 400, "invalid_request_error", "Could not process image"
    if image.format != MEDIA_TYPES[media_type]:
        return (
            400,
            "invalid_request_error",
            f"The image was specified using the {media_type} media type, but is {image.format}",
        )
    if max(image.size) > edge:
        return (
            400,
            "invalid_request_error",
            f"image dimensions exceed max allowed size of {edge} pixels",
        )
    return None


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
