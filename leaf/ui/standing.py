"""What stays as it is while a process serves, and is otherwise gone through again and again: the
theme, by Streamlit for each run of a script, and what the start has loaded, by the garbage
collector."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig


def keep_theme() -> None:
    """Read each section of the theme once: its 300 options are looked for among all options of
    Streamlit's config, which is read at the start only. tests/test_idle.py names what is not public
    here."""
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig
    from streamlit.runtime import app_session

    populate = app_session._populate_theme_msg  # noqa: SLF001
    read = getattr(populate, "plain", populate)  # Streamlit's own, also where ours stands already
    kept: dict[str, CustomThemeConfig] = {}

    def populate_once(msg: CustomThemeConfig, section: str = "theme") -> None:
        if section not in kept:
            whole = CustomThemeConfig()
            read(whole, section)
            kept[section] = whole
        msg.MergeFrom(kept[section])

    populate_once.plain = read  # type: ignore[attr-defined]
    app_session._populate_theme_msg = populate_once  # noqa: SLF001


def leave_loaded_alone() -> None:
    """No collection looks any more at what is loaded by now and stays: a third of a million
    objects, for which every thread would wait a third of a second each time."""
    gc.collect()
    gc.freeze()
