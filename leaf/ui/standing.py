"""What stays as it is, and is otherwise gone through all the same: the theme and the marks, by
Streamlit for each run of a script, what the start has loaded, by the garbage collector, and what is
installed, by each start."""

from __future__ import annotations

import base64
import gc
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    by_section: dict[str, CustomThemeConfig] = {}

    def populate_once(msg: CustomThemeConfig, section: str = "theme") -> None:
        if section not in by_section:
            whole = CustomThemeConfig()
            read(whole, section)
            by_section[section] = whole
        msg.MergeFrom(by_section[section])

    populate_once.plain = read  # type: ignore[attr-defined]
    app_session._populate_theme_msg = populate_once  # noqa: SLF001


def keep_marks() -> None:
    """Read each drawing that stands for the app, in the tab and above the sidebar, once: Streamlit
    reads it for each run, and loads NumPy and Pillow (14 MB) to look whether it is one of theirs.
    tests/test_idle.py names what is not public here."""
    from streamlit.commands import logo, page_config

    for module in (logo, page_config):
        plain = getattr(module.image_to_url, "plain", module.image_to_url)

        def image_to_url(image: Any, *rest: Any, plain: Any = plain, **options: Any) -> str:
            drawn = isinstance(image, str) and image.endswith(".svg") and Path(image).is_file()
            return _drawing(image) if drawn else str(plain(image, *rest, **options))

        image_to_url.plain = plain  # type: ignore[attr-defined]
        module.image_to_url = image_to_url  # type: ignore[attr-defined]


@cache
def _drawing(path: str) -> str:
    """As an address that holds it."""
    encoded = base64.b64encode(Path(path).read_bytes()).decode()
    return f"data:image/svg+xml;base64,{encoded}"


def look_for_no_components() -> None:
    """Before it serves, Streamlit reads what every installed package says of itself, for components
    of others. Leaf has its own alone. tests/test_idle.py names what is not public here."""
    from streamlit.components.v2 import manifest_scanner

    manifest_scanner.scan_component_manifests = _nothing_found


def _nothing_found(max_workers: int | None = None) -> list[Any]:  # noqa: ARG001 - as Streamlit asks
    return []


def leave_loaded_alone() -> None:
    """No collection looks any more at what is loaded by now and stays: a third of a million
    objects, for which every thread would wait a third of a second each time."""
    gc.collect()
    gc.freeze()
