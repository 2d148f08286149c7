"""The certificates by which a model server on the network is judged."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache


def trusted() -> ssl.SSLContext:
    """As the HTTP library takes them, for every client of this process: each reading of the file
    takes some 25 ms of a core."""
    return _read(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(4)
def _read(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """The library asks the environment itself."""
    import httpx2

    return httpx2.create_ssl_context()
