"""Texts that a mail holds in several forms, as plain text and as a web page: each is read once, and
nothing that only one of them says is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import Message

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import KINDS, ending
from leaf.readers.documents.html import paragraphs_of
from leaf.readers.documents.mail_words import name_of, text_of

LACKING = 0.2
"""Share of the words of a form of a text that another may lack and still say the same: forms differ
in hints, links and the names of pictures."""
_FORMS = ("plain", "html", "x-amp-html", "watch-html", "enriched", "richtext")
"""Subtypes of forms of one text, the plainest first."""
_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u9fff]|[^\W_\u0e00-\u0e7f\u3040-\u9fff]+")
"""A word, or a sign of a script without blanks, where lines break anywhere."""
_FILES = frozenset(
    end
    for kind, known in KINDS.items()
    if kind not in ("text", "code", "html")
    for end in known.endings
)
"""Endings of what is no text of a mail, whatever it is sent as."""
_MOST_IN_FORM = 200
"""Parts of one form that are looked at."""
GAP = re.compile(r"\n\s*\n")


def is_attached(part: Message) -> bool:
    """Whether a part came beside the text, and is none of it: a table or document is none, though it
    may be sent as a text that is shown, or under a type that nobody knows."""
    if part.get_content_disposition() == "attachment":
        return True
    name = name_of(part)
    return bool(name) and (
        part.get_content_subtype() not in ("plain", "html") or ending(name) in _FILES
    )


def alternatives(parts: list[Message]) -> list[Message]:
    """Of forms of one text the plain one, and others with the words that it lacks: many plain forms
    only say that the mail is a web page. What is no form of the text, such as an invitation, stays,
    and so do the pictures that came with a form.
    """
    forms = [part for part in parts if _texts(part)]
    words = {id(part): _words(part) for part in forms}
    selection: list[Message] = []
    for part in sorted(forms, key=_rank):
        known = set[str]().union(*(words[id(one)] for one in selection))
        if _says_more(words[id(part)], known):
            selection.append(part)
    if not selection:
        return parts
    if len(selection) > 1 and words[id(selection[0])] <= words[id(selection[1])]:
        del selection[0]
    left = {id(part) for part in forms} - {id(part) for part in selection}
    return [one for part in parts for one in (_beside(part) if id(part) in left else [part])]


def of_both_forms(plain: str, page: str) -> list[str]:
    """The paragraphs of a text that is there as plain text and as a web page: the plain ones where
    they have the page's words, else the page's, with the plain ones where these say more."""
    paragraphs = [one.strip("\n") for one in GAP.split(plain)] if plain.strip() else []
    if not page.strip():
        return paragraphs
    shown = paragraphs_of(page, whole=True)[1]
    plain_words = set(_WORD.findall(plain.casefold()))
    words = set(_WORD.findall("\n".join(shown).casefold()))
    if not _says_more(words, plain_words):
        return paragraphs
    return shown if plain_words <= words else [*paragraphs, *shown]


def _says_more(words: set[str], known: set[str]) -> bool:
    """Whether a form says what others do not: many other words, or any other figure."""
    other = words - known
    return len(other) > LACKING * len(words) or any(c.isdigit() for word in other for c in word)


def _texts(form: Message) -> list[Message]:
    """The texts that make up one form: itself, or those of a page with what it shows."""
    return [part for part in _leaves(form) if _is_form(part)]


def _beside(form: Message) -> list[Message]:
    """What came with a form and is no text of it."""
    return [part for part in _leaves(form) if not _is_form(part)]


def _leaves(form: Message) -> Iterator[Message]:
    """The parts of a form that hold no others; a message in it is one."""
    stack = [form]
    for _ in range(_MOST_IN_FORM):
        if not stack:
            return
        part = stack.pop()
        inner = part.get_payload() if part.get_content_maintype() == "multipart" else None
        if isinstance(inner, list):
            stack.extend(item for item in reversed(inner) if isinstance(item, Message))
        else:
            yield part
    yield from reversed(stack)


def _is_form(part: Message) -> bool:
    """Whether a part is one form of a text that may come in several."""
    return (
        part.get_content_maintype() == "text"
        and part.get_content_subtype() in _FORMS
        and not is_attached(part)
    )


def _rank(form: Message) -> int:
    """Place among forms, the plainest first; a page with pictures is a page."""
    return max(_FORMS.index(part.get_content_subtype()) for part in _texts(form))


def _words(form: Message) -> set[str]:
    """The words that a form of a text shows."""
    return set[str]().union(*(_words_of(part) for part in _texts(form)))


def _words_of(part: Message) -> set[str]:
    text = text_of(part)[0]
    if part.get_content_subtype() != "plain" and text.strip():
        try:
            text = "\n".join(paragraphs_of(text, whole=True)[1])
        except (FileTooLargeError, UnreadableFileError):
            return set()  # said where there is no other form
    return set(_WORD.findall(text.casefold()))
