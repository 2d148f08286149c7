"""Blobs in a bucket: S3 and what speaks like it, Google Cloud Storage, Azure. By obstore, which this
module alone imports.

Under the prefix stand `leaf.json`, which says how it is laid out, and `blobs/<workspace>/<aa>/<sha256>`.
Large blobs go up in parts, and are there once the last one is.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from leaf.errors import SettingsError, StorageAwayError, StorageError
from leaf.store.objects.base import PIECE, BlobEntry, BlobKey, gone_from, key_at

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

    from leaf.settings.storage import Storage

LAYOUT = 1
MARKER = "leaf.json"
BLOBS = "blobs/"
PART = 8 * 1024 * 1024
"""Bytes of one part of a large blob."""
PARTS = 4
"""Parts that go up side by side."""
CLIENT: ClientConfig = {"connect_timeout": "5s", "read_timeout": "20s", "timeout": "6h"}
"""A stalled connection ends early, a large blob may take its time."""
RETRIES: RetryConfig = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}


class BucketRefusal(NamedTuple):
    """Why a bucket does not do what it is asked."""

    reason: str
    hint: str
    lasting: bool
    """Whether waiting does not mend it."""


class BucketObjects:
    """Safe to use from any number of threads, and from several processes."""

    largest = 0

    def __init__(self, storage: Storage) -> None:
        """Asks nothing yet. Raises SettingsError for an address that leads nowhere."""
        from obstore.exceptions import BaseError
        from obstore.store import from_url

        self.name = f"the bucket {storage.bucket}"
        options: dict[str, Any] = {"config": storage.config} if storage.config else {}
        plain = storage.endpoint.startswith("http://")
        try:
            self._store = from_url(
                storage.url,
                client_options={**CLIENT, "allow_http": plain},
                retry_config=RETRIES,
                **options,
            )
        except (BaseError, ValueError) as e:
            raise SettingsError(
                f"LEAF_STORAGE_URL ({storage.url}) cannot be used: what is needed to reach it is "
                f"not set.",
                "docs/deploy.md says which keys go with it.",
            ) from e

    def put(self, key: BlobKey, path: Path, size: int) -> None:
        import obstore

        with self._said("this file was not kept"):
            obstore.put(
                self._store,
                _at(key),
                path,
                use_multipart=size > PART,
                chunk_size=PART,
                max_concurrency=PARTS,
            )

    def pieces(self, key: BlobKey) -> Iterator[bytes]:
        import obstore

        with self._said("the content of this file cannot be read"):
            try:
                response = obstore.get(self._store, _at(key))
            except FileNotFoundError as e:
                if _code(e) in _NO_BUCKET:
                    raise
                raise gone_from(self.name) from e
            for piece in response.stream(min_chunk_size=PIECE):
                yield bytes(piece)

    def find(self, key: BlobKey) -> BlobEntry | None:
        import obstore

        with self._said("this file cannot be looked for"):
            try:
                meta = obstore.head(self._store, _at(key))
            except FileNotFoundError:
                return None
        return BlobEntry(key, meta["size"], meta["last_modified"])

    def absent(self, _keys: Collection[BlobKey], /) -> set[BlobKey]:
        return set()

    def has_room(self, _size: int, /) -> bool:
        return True

    def delete(self, key: BlobKey) -> None:
        import obstore

        with self._said("the content of this file is still there"):
            try:
                obstore.delete(self._store, _at(key))
            except FileNotFoundError as e:
                if _code(e) in _NO_BUCKET:
                    raise

    def entries(self, workspace_id: str = "") -> Iterator[BlobEntry]:
        import obstore

        inside = f"{BLOBS}{workspace_id}/" if workspace_id else BLOBS
        with self._said("its files cannot be listed"):
            for some in obstore.list(self._store, inside):
                for meta in some:
                    key = key_at(meta["path"].removeprefix(BLOBS))
                    if key is not None:
                        yield BlobEntry(key, meta["size"], meta["last_modified"])

    def check(self, *, writing: bool = False) -> None:
        """Raises SettingsError for what waiting does not mend, StorageError for the rest."""
        import obstore

        try:
            try:
                layout = json.loads(bytes(obstore.get(self._store, MARKER).bytes()))
            except FileNotFoundError as e:
                if _code(e) in _NO_BUCKET:
                    raise
                layout = {"layout": LAYOUT}
                obstore.put(self._store, MARKER, json.dumps(layout).encode())
            if writing:
                self._try_writing()
        except Exception as e:
            refusal = _refusal(e, self.name)
            kind = SettingsError if refusal.lasting else StorageAwayError
            raise kind(f"{_upper(refusal.reason)}.", refusal.hint) from e
        if not isinstance(layout, dict) or layout.get("layout") != LAYOUT:
            raise SettingsError(
                f"{_upper(self.name)} was written by a newer version of Leaf.",
                "Update Leaf, or set LEAF_STORAGE_URL to another prefix. Nothing was changed.",
            )

    def _try_writing(self) -> None:
        import obstore

        trial = f"leaf-check-{secrets.token_hex(6)}"
        obstore.put(self._store, trial, b"Leaf looks whether it may write here.")
        obstore.delete(self._store, trial)

    @contextmanager
    def _said(self, consequence: str) -> Iterator[None]:
        """Say in words that the bucket failed."""
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError, ValueError) as e:
            refusal = _refusal(e, self.name)
            kind = StorageError if refusal.lasting else StorageAwayError
            raise kind(f"{_upper(refusal.reason)}, so {consequence}.", refusal.hint) from e


_NO_BUCKET = {"NoSuchBucket", "ContainerNotFound", "InvalidBucketName"}
_WRONG_KEY = {
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "InvalidSecurity",
    "AuthenticationFailed",
    "AuthenticationRequired",
    "UnauthenticatedError",
}
_NO_RIGHT = {"AccessDenied", "AuthorizationPermissionMismatch", "AuthorizationFailure"}
_CLOCK = {"RequestTimeTooSkewed", "RequestInTheFuture", "RequestExpired"}
_REGION = {
    "AuthorizationHeaderMalformed",
    "PermanentRedirect",
    "IllegalLocationConstraintException",
}
_NO_CREDENTIALS = ("169.254.169.254", "metadata.google.internal", "MissingCredentials")


def _refusal(error: Exception, name: str) -> BucketRefusal:
    code, kind, text = _code(error), type(error).__name__, str(error)
    if code in _NO_BUCKET:
        hint = "Make it, or correct the name in LEAF_STORAGE_URL."
        return BucketRefusal(f"{name} does not exist where it is looked for", hint, True)
    if code in _CLOCK:
        reason = f"the clock of this machine differs too much from that of {name}"
        return BucketRefusal(reason, "Set the clock of this machine.", True)
    if code in _WRONG_KEY or kind == "UnauthenticatedError":
        hint = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the key of your provider."
        return BucketRefusal(f"{name} does not know the key that it is given", hint, True)
    if code in _NO_RIGHT or kind == "PermissionDeniedError":
        hint = "Let it list, get, put and delete objects under the prefix of LEAF_STORAGE_URL."
        return BucketRefusal(f"the key may not do in {name} what Leaf has to", hint, True)
    if code in _REGION or "incorrectly configured region" in text:
        hint = "Set AWS_REGION to the bucket's, or AWS_ENDPOINT_URL to its server."
        return BucketRefusal(f"{name} is in another region than it is looked for", hint, True)
    if any(word in text for word in _NO_CREDENTIALS):
        hint = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the key of your provider."
        return BucketRefusal(f"no key is set for {name}", hint, True)
    hint = "What was opened here lately can be used. Try again in a moment."
    return BucketRefusal(f"{name} does not answer as it should", hint, False)


def _code(error: Exception) -> str:
    """What the server calls the error; empty where it says nothing."""
    match = re.search(r"<Code>(\w+)</Code>", str(error))
    return match[1] if match else ""


def _at(key: BlobKey) -> str:
    return f"{BLOBS}{key.place}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
