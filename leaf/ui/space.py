"""What is used of the disk, in Settings."""

from __future__ import annotations

import streamlit as st

from leaf.store.space import SpaceUsed, size


def draw(used: SpaceUsed) -> None:
    """The whole, and each kind with its bar."""
    if not used.total:
        return
    most = f" of {size(used.limit)} that may be used" if used.limit else ""
    st.markdown(f"**{size(used.total)}**{most}")
    with st.container(key="space", gap="xxsmall"):
        for kind, amount in used.kinds.items():
            st.progress(
                min(1.0, amount / (used.limit or used.total)),
                text=f"{kind.capitalize()}: {size(amount)}",
            )
    if used.limit and used.total >= used.limit:
        st.warning(
            "Nothing more is kept until chats or files are deleted for good, or LEAF_DISK_GB is "
            "raised.",
            icon=":material/hard_drive:",
        )
