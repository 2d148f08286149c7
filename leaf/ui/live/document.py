"""What an answer shows, with a number on everything that tells when it changed last. Pure.

A viewer names the number that it has seen, and gets what changed since, joined: everything at the
beginning, little when it keeps up, no more than what there is when it is slow or was away. So
nothing is kept for any viewer, and nobody's slowness costs memory.

An operation is a list, as it goes to the browser:

    ["clear"]                                     forget everything
    ["+", id, parent, after, kind, fields]        a node, within `parent` (0: the answer) behind `after` (0: first)
    ["=", id, fields]                             its fields, all of them
    ["t", id, from, [[level, html], …]]           the pieces of a text, from that one on
    ["a", id, words]                              words at the end of a text, of code or of a thought
    ["tail", kind, text]                          the last line: what is going on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from leaf.ui.live.html import HtmlPiece

Operation = list[Any]


@dataclass
class Node:
    """One element of the answer, or of a document in it that is being written."""

    id: int
    kind: str
    fields: dict[str, Any]
    parent: int
    born: int
    set_at: int
    touched: int
    """The newest change of any sort."""
    pieces: list[tuple[int, HtmlPiece]] = field(default_factory=list)
    """Each with its number; numbers never fall along the list."""
    words: list[tuple[int, str]] = field(default_factory=list)
    """Words behind the pieces, each with its number."""


class LiveDocument:
    """All nodes in their order. Changes belong to the next number until `commit` makes it the
    newest."""

    def __init__(self) -> None:
        self.number = 0
        self.nodes: list[Node] = []
        self._ids = 0
        self._cleared = 0
        self._tail = (0, "", "")
        self._recent: dict[int, Node] = {}
        """By id, the one that changed last at the end."""
        self._changed = False

    def add(
        self,
        kind: str,
        fields: dict[str, Any] | None = None,
        *,
        parent: Node | None = None,
        after: Node | None = None,
    ) -> Node:
        """A new node at the end, or right behind `after`."""
        self._ids += 1
        now = self.number + 1
        node = Node(self._ids, kind, fields or {}, parent.id if parent else 0, now, now, now)
        if after is None:
            self.nodes.append(node)
        else:
            self.nodes.insert(self._index(after) + 1, node)
        self._touch(node)
        return node

    def set(self, node: Node, **fields: Any) -> None:
        """Give it other fields."""
        if any(node.fields.get(key) != value for key, value in fields.items()):
            node.fields = {**node.fields, **fields}
            node.set_at = self.number + 1
            self._touch(node)

    def place(self, node: Node, pieces: Sequence[HtmlPiece]) -> None:
        """Let it show these pieces and no words behind them. What stays as it was is not sent
        again."""
        wanted = list(pieces) or [HtmlPiece(0, "")]
        most = min(len(wanted), len(node.pieces))
        same = next((i for i in range(most) if node.pieces[i][1] != wanted[i]), most)
        if same == len(wanted) == len(node.pieces) and not node.words:
            return
        if same == len(wanted) or (node.words and same == len(node.pieces)):
            same -= 1  # what stands behind it goes only when it is put anew
        now = self.number + 1
        node.pieces[max(0, same) :] = [(now, piece) for piece in wanted[max(0, same) :]]
        node.words.clear()
        self._touch(node)

    def say(self, node: Node, words: str) -> None:
        """Add words at its end."""
        if words:
            node.words.append((self.number + 1, words))
            self._touch(node)

    def tail(self, kind: str, text: str = "") -> None:
        """What the last line says."""
        if self._tail[1:] != (kind, text):
            self._tail = (self.number + 1, kind, text)
            self._changed = True

    def drop_within(self, parent: Node) -> None:
        """Forget what stands within it; who shows it learns that from its fields."""
        for node in [node for node in self.nodes if node.parent == parent.id]:
            del self._recent[node.id]
        self.nodes = [node for node in self.nodes if node.parent != parent.id]

    def clear(self) -> None:
        """Begin anew."""
        self.nodes, self._recent = [], {}
        self._cleared = self.number + 1
        self._tail = (self.number + 1, "", "")
        self._changed = True

    def commit(self) -> bool:
        """Make what changed the newest number; False if nothing did."""
        if not self._changed:
            return False
        self.number += 1
        self._changed = False
        return True

    def since(self, number: int) -> list[Operation]:
        """What changed after that number, in the order in which it is to be carried out. Only after
        `commit`."""
        if number < self._cleared:
            number = 0
        operations: list[Operation] = [] if number >= self._cleared else [["clear"]]
        for node, after in self._changed_since(number):
            operations += _of_node(node, after, number)
        if self._tail[0] > number:
            operations.append(["tail", *self._tail[1:]])
        return operations

    def _touch(self, node: Node) -> None:
        node.touched = self.number + 1
        self._recent.pop(node.id, None)
        self._recent[node.id] = node
        self._changed = True

    def _changed_since(self, number: int) -> list[tuple[Node, int]]:
        """Nodes that changed, in their order, each with the id of the one before it. Looks from the
        end, where most happens."""
        left = 0
        for node in reversed(self._recent.values()):
            if node.touched <= number:
                break
            left += 1
        changes: list[tuple[Node, int]] = []
        for at in range(len(self.nodes) - 1, -1, -1):
            if not left:
                break
            node = self.nodes[at]
            if node.touched > number:
                left -= 1
                changes.append((node, self._before(at) if node.born > number else 0))
        return changes[::-1]

    def _before(self, at: int) -> int:
        parent = self.nodes[at].parent
        for i in range(at - 1, -1, -1):
            if self.nodes[i].parent == parent:
                return self.nodes[i].id
            if self.nodes[i].id == parent:
                break
        return 0

    def _index(self, node: Node) -> int:
        return next(i for i in range(len(self.nodes) - 1, -1, -1) if self.nodes[i] is node)


def _of_node(node: Node, after: int, number: int) -> list[Operation]:
    operations: list[Operation] = []
    if node.born > number:
        operations.append(["+", node.id, node.parent, after, node.kind, node.fields])
    elif node.set_at > number:
        operations.append(["=", node.id, node.fields])
    first = _first_after(node.pieces, number)
    if first < len(node.pieces):
        operations.append(
            ["t", node.id, first, [[piece.level, piece.html] for _, piece in node.pieces[first:]]]
        )
        words = node.words
    else:
        words = node.words[_first_after(node.words, number) :]
    if words:
        operations.append(["a", node.id, "".join(text for _, text in words)])
    return operations


def _first_after(numbered: Sequence[tuple[int, Any]], number: int) -> int:
    """Index of the first entry with a higher number; looks from the end."""
    at = len(numbered)
    while at and numbered[at - 1][0] > number:
        at -= 1
    return at
