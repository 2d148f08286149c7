"""class Session: the door. Whoever holds one acts for its user in its workspace; every part is
bound to them when it is made."""

from __future__ import annotations

from collections.abc import Iterable

from leaf.sessions.attached import Attached
from leaf.sessions.boards import Boards
from leaf.sessions.chats import Chats
from leaf.sessions.documents import Documents
from leaf.sessions.drive import Drive
from leaf.sessions.edits import Edits
from leaf.sessions.files import Files
from leaf.sessions.house import House
from leaf.sessions.jobs import Jobs
from leaf.sessions.links import Links
from leaf.sessions.messages import Messages
from leaf.sessions.models import Models
from leaf.sessions.operations import Operations
from leaf.sessions.projects import Projects
from leaf.sessions.prompts import Prompts
from leaf.sessions.python import Python
from leaf.sessions.results import Results
from leaf.sessions.team import Team
from leaf.sessions.tools import Tools
from leaf.sessions.transcripts import Transcripts
from leaf.sessions.usage import Usage
from leaf.store.changes import ALL
from leaf.store.model import Scope

PARTS = (
    Chats,
    Messages,
    Files,
    Attached,
    Transcripts,
    Documents,
    Results,
    Edits,
    Boards,
    Links,
    Projects,
    Drive,
    Models,
    Python,
    Jobs,
    Tools,
    Team,
    Usage,
    Prompts,
    Operations,
)
"""Every class by which a user reaches anything."""


class Session:
    """What one user may do in one workspace. Cheap to make, and safe to use from any number of
    threads.

    Everything that is not theirs is not there: reading it raises NotFoundError, listing leaves it
    out.
    """

    def __init__(self, house: House, scope: Scope) -> None:
        self.scope = scope
        self.chats = Chats(house, scope)
        self.messages = Messages(house, scope)
        self.files = Files(house, scope)
        self.attached = Attached(house, scope)
        self.transcripts = Transcripts(house, scope)
        self.documents = Documents(house, scope)
        self.results = Results(house, scope)
        self.edits = Edits(house, scope)
        self.boards = Boards(house, scope)
        self.links = Links(house, scope)
        self.projects = Projects(house, scope)
        self.drive = Drive(house, scope)
        self.models = Models(house, scope)
        self.python = Python(house, scope)
        self.jobs = Jobs(house, scope)
        self.tools = Tools(house, scope)
        self.team = Team(house, scope)
        self.usage = Usage(house, scope)
        self.prompts = Prompts(house, scope)
        self.operations = Operations(house, scope)
        self._changes = house.store.db.changes

    def newest_change(self, topics: Iterable[str] = ALL) -> int:
        """Grows with every change of these topics in the workspace."""
        return self._changes.newest(self.scope.workspace_id, topics)
