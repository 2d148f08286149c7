"""What can be configured: one frozen `Settings`, read once from the environment and Streamlit's
secrets, then passed down.

values.py has the fields, each with its key; sources.py reads them; readers.py makes values of
texts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from leaf.settings.address import model_address
from leaf.settings.allowance import Allowance
from leaf.settings.google import Google
from leaf.settings.values import DEFAULT_MODEL, VARIABLES, RunLimits, Settings, Sound

__all__ = [
    "DEFAULT_MODEL",
    "VARIABLES",
    "Allowance",
    "Google",
    "RunLimits",
    "Settings",
    "Sound",
    "load",
    "model_address",
]


def load(
    environ: Mapping[str, str] | None = None, secrets: Mapping[str, object] | None = None
) -> Settings:
    """Read the settings; the environment wins over secrets. Raises SettingsError, which names the
    key."""
    from leaf.settings.sources import read

    return read(os.environ if environ is None else environ, secrets or {})
