"""The page that a browser gets which is not let in: by itself, in its language, light or dark."""

from __future__ import annotations

import html

from leaf.language.text import current

PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Leaf</title>{head}<style>:root {{ color-scheme: light dark }}
body {{ font: 16px/1.6 sans-serif; color: #1d2420; background: #fbfaf7; max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem }}
h1 {{ font: 600 1.7rem serif }} @media (prefers-color-scheme: dark) {{ body {{ color: #e6eae6; background: #111614 }} }}</style>
<h1>{title}</h1><p>{message}</p><p>{hint}</p></html>"""


def page(title: str, message: str, hint: str, head: str = "") -> str:
    """With these words, which are said in the language of this thread; `head` is HTML."""
    return PAGE.format(
        language=current(),
        head=head,
        title=html.escape(title),
        message=html.escape(message),
        hint=html.escape(hint),
    )
