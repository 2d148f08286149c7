"""All that the figures of an answer may be matched to, in one book. What calls of earlier answers
gave is kept, for the next answers of their chat."""

from __future__ import annotations

import hashlib
import marshal
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from leaf.provenance.receipts.evidence import Evidence, EvidenceBook
from leaf.provenance.receipts.reading import read

KEPT_VALUES = 30_000
"""Values of earlier calls that are kept for the next answers, of all chats together: about 30
MB."""


class EvidenceCache:
    """What calls of earlier answers gave, read once: each later answer of a chat is matched to it
    again."""

    def __init__(self) -> None:
        self._books: OrderedDict[tuple[str, str, bytes], EvidenceBook] = OrderedDict()
        self._values = 0
        self._lock = threading.Lock()

    def read(self, one: Evidence) -> EvidenceBook | None:
        """What a call gave, with all of its texts; None for one that cannot be told apart from
        another."""
        try:  # the second version of the format writes equal values as equal bytes
            content: Any = (one.input, one.output)
            mark = hashlib.blake2b(marshal.dumps(content, 2), digest_size=16).digest()
        except ValueError:
            return None
        key = (one.message_id, one.call_id, mark)
        with self._lock:
            if book := self._books.get(key):
                self._books.move_to_end(key)
                return book
        new_book = read(one)
        with self._lock:
            self._values += 0 if key in self._books else len(new_book.values)
            self._books[key] = new_book
            while self._values > KEPT_VALUES and self._books:
                _, gone = self._books.popitem(last=False)
                self._values -= len(gone.values)
        return new_book


_KEPT = EvidenceCache()


def book_of(evidence: Iterable[Evidence]) -> EvidenceBook:
    """`evidence`: the calls of this answer first, then those of earlier ones, newest first."""
    book = EvidenceBook()
    for one in evidence:
        call_book = _KEPT.read(one) if one.message_id else None
        if call_book is None or call_book.characters > book.characters_left:
            call_book = read(one, book.characters_left)
        book.add(call_book)
    book.close()
    return book
