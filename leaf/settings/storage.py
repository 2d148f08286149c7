"""Where the bytes of files last, and how a bucket is reached."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

from leaf.errors import SettingsError
from leaf.settings import readers
from leaf.settings.keys import Key

FOLDER = "file"
"""Says that it is the data folder, also beside PostgreSQL."""
SCHEMES = ("s3", "gs", "az")


def storage_url(given: str, key: str) -> str:
    """`s3://bucket/prefix`, `gs://…`, `az://…`, or `file`."""
    if given.lower() == FOLDER:
        return FOLDER
    parts = urlsplit(given)
    if parts.scheme not in SCHEMES or not re.fullmatch(r"[\w.-]{1,255}", parts.netloc):
        raise SettingsError(
            f"{key} is no address of a bucket.",
            "Write s3://bucket/prefix, gs://bucket/prefix, az://container/prefix, or file for the "
            "data folder. Keys are set apart from it.",
        )
    if parts.query or parts.fragment:
        raise SettingsError(f"{key} has more than a bucket and a prefix.", "Leave out ? and #.")
    return given.rstrip("/")


@dataclass(frozen=True)
class Storage:
    """Where the bytes of files last."""

    url: Annotated[str, Key("LEAF_STORAGE_URL", storage_url)] = ""
    """`s3://bucket/prefix`, `gs://…`, `az://…`, or `file` for the data folder; empty: the PostgreSQL
    database, and without one the data folder."""
    cache_bytes: Annotated[int, Key("LEAF_CACHE_GB", readers.gibibytes)] = 5 * 1024**3
    """Bytes of files that are kept in the data folder where they last elsewhere."""
    database_bytes: Annotated[int, Key("LEAF_STORAGE_DATABASE_MB", readers.mebibytes)] = (
        400 * 1024 * 1024
    )
    """Bytes of files that the database may hold."""
    endpoint: Annotated[str, Key("AWS_ENDPOINT_URL", readers.base_url)] = ""
    """Server of an S3 that is not Amazon's."""
    region: Annotated[str, Key("AWS_REGION")] = ""
    key_id: Annotated[str, Key("AWS_ACCESS_KEY_ID")] = field(default="", repr=False)
    secret: Annotated[str, Key("AWS_SECRET_ACCESS_KEY")] = field(default="", repr=False)

    @property
    def bucket(self) -> str:
        """Its name; empty for the data folder and the database."""
        return urlsplit(self.url).netloc

    @property
    def config(self) -> dict[str, Any]:
        """How an S3 bucket is reached, by obstore's names; what is left out it reads from the
        environment."""
        if not self.url.startswith("s3:"):
            return {}
        options = {
            "endpoint": self.endpoint,
            "region": self.region,
            "access_key_id": self.key_id,
            "secret_access_key": self.secret,
        }
        return {name: value for name, value in options.items() if value}
