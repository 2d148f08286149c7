"""Pictures on the page: small ones that open the file they are of, always with words beside
them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import said
from leaf.language.text import t
from leaf.shapes.results import PictureShown
from leaf.ui import markdown
from leaf.ui.preview import show as show_preview
from leaf.ui.redraw import redraw
from leaf.ui.state import session

KEPT = "thumbnails"
MOST_KEPT = 60
"""Small pictures that a browser's session holds, some 10 kB each."""


def draw_thumbnail(file_id: str, name: str, key: str, box: tuple[int, int] = (176, 120)) -> bool:
    """A small picture that opens the file when it is pressed. False, and nothing drawn, where there
    is none."""
    thumbnail = _thumbnail(file_id)
    if thumbnail is None:
        return False
    data, width, height = thumbnail
    shown = _fitted(width, height, box)
    with st.container(key=f"thumb-{key}", width=shown):
        st.image(data, width=shown, alt=name)
        if st.button(t("Open {name}", name=markdown.label(name, 60)), key=key):
            show_preview(file_id)
            redraw()
    return True


def draw_seen(seen: Sequence[PictureShown], key: str) -> None:
    """What a model was shown; pressing one opens the file at that page."""
    with st.container(horizontal=True, gap="small", key=f"seen-{key}"):
        for number, picture in enumerate(seen):
            label = str(picture.get("label") or t("Picture"))
            try:
                data = session().files.seen_picture(str(picture["sha256"]))
            except LeafError as e:
                st.caption(markdown.label(f"{label}: {said(e.message)}", 200))
                continue
            shown = _fitted(int(picture["width"]), int(picture["height"]), (320, 260))
            with st.container(key=f"thumb-{key}-{number}", width=shown):
                st.image(data, width=shown, alt=label)
                if st.button(
                    t("Open {label}", label=markdown.label(label, 60)), key=f"look-{key}-{number}"
                ):
                    show_preview(
                        str(picture["file_id"]),
                        f"page {picture['page']}" if label.startswith("page ") else "",
                    )
                    redraw()


def _fitted(width: int, height: int, box: tuple[int, int]) -> int:
    """The width at which a picture lies within a box, never enlarged, and wide enough to be
    pressed."""
    return max(24, round(width * min(1.0, box[0] / width, box[1] / height)))


Small = tuple[bytes, int, int]


def _thumbnail(file_id: str) -> Small | None:
    """Kept for the session, since a page is drawn often and a file never changes; None is kept
    too."""
    cache: dict[str, Small | None] = st.session_state.setdefault(KEPT, {})
    if file_id not in cache:
        try:
            thumbnail = session().files.thumbnail(file_id)
        except LeafError:
            thumbnail = None
        while len(cache) >= MOST_KEPT:
            cache.pop(next(iter(cache)))
        cache[file_id] = thumbnail
    return cache[file_id]
