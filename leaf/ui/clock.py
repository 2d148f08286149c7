"""What the clock of whoever reads shows: a server stands elsewhere, mostly in UTC."""

from __future__ import annotations

import zoneinfo
from datetime import date, datetime, tzinfo

import streamlit as st


def zone() -> tzinfo | None:
    """The time zone of the browser; None, the server's, where it names none that is known."""
    try:
        return zoneinfo.ZoneInfo(st.context.timezone) if st.context.timezone else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def local(moment: datetime) -> datetime:
    return moment.astimezone(zone())


def today() -> date:
    return local(datetime.now().astimezone()).date()
