"""Ids: UUIDv7 as text, so that they sort by the time at which they were made."""

from __future__ import annotations


def new_id() -> str:
    from uuid_utils.compat import uuid7

    return str(uuid7())
