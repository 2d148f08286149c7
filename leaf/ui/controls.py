"""Controls that show only an icon, with a name for those who do not see it (the style sheet hides
the label from the eye), and what a control does when it fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.ui import markdown
from leaf.ui.redraw import redraw


def icon_button(name: str, key: str, icon: str, disabled: bool = False) -> bool:
    """A quiet button. `name` says what it does, to screen readers and on hover."""
    return st.button(
        name,
        key=f"icon-{key}",
        icon=f":material/{icon}:",
        type="tertiary",
        help=name,
        disabled=disabled,
    )


def icon_menu(name: str, options: Sequence[str], key: str, icon: str = "more_horiz") -> str | None:
    """A quiet menu of options in English, which are drawn in the language of the page; which was chosen
    just now, or None."""
    return st.menu_button(
        name,
        options,
        key=f"icon-{key}",
        icon=f":material/{icon}:",
        type="tertiary",
        help=name,
        format_func=t,
    )


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Id -> name, as a menu takes them, which refuses two of one name: the second is `Board (2)`."""
    told: dict[str, str] = {}
    for one, name in names.items():
        tries = itertools.chain([name], (f"{name} ({n})" for n in itertools.count(2)))
        told[one] = next(name for name in tries if name not in told.values())
    return told


def then_redraw(act: Callable[..., object], *given: object) -> None:
    """Carry something out and draw the page anew; `say_problem` then says what went wrong, if
    anything did."""
    try:
        act(*given)
    except LeafError as e:
        st.session_state["problem"] = told(e)
    redraw()


def say_problem() -> None:
    """What the last `then_redraw` could not do."""
    problem = st.session_state.pop("problem", None)
    if problem:
        st.warning(markdown.paragraph(problem), icon=":material/warning:")
