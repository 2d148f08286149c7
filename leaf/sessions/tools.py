"""One tool at a time, outside a run: what the command line gives a person of what the agent has."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from leaf.sessions.house import Part
from leaf.shapes.raw import ToolInput
from leaf.tools import registry
from leaf.tools.base import NO_CHAT, ToolOutput, context_of

LIBRARY_FILES = 200
"""Files that a tool run outside a chat can see."""


class Tools(Part):
    """The agent's tools, on the user's files."""

    def run(
        self,
        name: str,
        given: str | ToolInput,
        *,
        chat_id: str = "",
        file_ids: Sequence[str] = (),
        message_id: str = "",
    ) -> ToolOutput:
        """Run one tool: on the chat's files, on `file_ids`, or on the newest of the library.

        Calls that name the same `message_id`, which need not be one of the chat's, share the
        variables of Python. Raises the LeafError whose text the model would get.
        """
        house, scope = self._house, self._scope
        if chat_id:
            house.library.attach(scope, chat_id, file_ids)
            files = house.library.chat_files(scope, chat_id, deleted=True)
        else:
            chosen = [house.library.get(scope, i) for i in file_ids] or house.library.list(scope)[
                :LIBRARY_FILES
            ]
            files = house.library.as_chat_files(chosen)
        rooms = (house.library, house.tables, house.drive, house.documents)
        context = context_of(
            scope,
            chat_id or NO_CHAT,
            files,
            *rooms,
            threading.Event(),
            message_id=message_id,
            python=house.python,
        )
        return registry.run(name, given, context)
