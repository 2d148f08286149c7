"""Projects: chats and files that belong together, with instructions for the model."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.agent.blocks import refuse_binary
from leaf.sessions.house import Part
from leaf.store import project_chats, projects
from leaf.store.model import Chat, File, Participant
from leaf.store.projects import MOST_PROJECTS, Project

ProjectList = list[Project]
ChatList = list[Chat]
FileList = list[File]
People = list[Participant]
Names = list[str]


class Projects(Part):
    """The projects that the user is in."""

    def list(self, query: str = "", limit: int = MOST_PROJECTS) -> ProjectList:
        """The one used last first; with `query`, those whose title holds its words."""
        return projects.list_projects(self._db, self._scope, query=query, limit=limit)

    def get(self, project_id: str) -> Project:
        """Raises NotFoundError, also for one that the user is not in."""
        return projects.get(self._db, self._scope, project_id)

    def create(self, title: str) -> Project:
        """One for the user alone. Raises InvalidInputError for an empty title."""
        return projects.create(self._db, self._scope, title)

    def rename(self, project_id: str, title: str) -> None:
        """For its host. Raises NotFoundError, InvalidInputError."""
        projects.rename(self._db, self._scope, project_id, title)

    def instruct(self, project_id: str, text: str) -> None:
        """What the model is told from the next question on, in each chat of the project. For its
        host. Raises NotFoundError, InvalidInputError for a text that is too long, or binary."""
        projects.instruct(self._db, self._scope, project_id, refuse_binary(text))

    def delete(self, project_id: str) -> bool:
        """For good; its chats and files stay. For its host. Returns whether the last byte is gone
        now; else it goes at the next start. Raises NotFoundError, InvalidInputError."""
        return self._house.remover.project(self._scope, project_id)

    # --- chats

    def chats(self, project_id: str, limit: int = 50) -> ChatList:
        """Chats of a project in which something was asked, newest first."""
        return project_chats.list_chats(self._db, self._scope, project_id, limit=limit)

    def of(self, chat_id: str) -> Project | None:
        """The project of a chat; None for one in none."""
        return projects.of_chat(self._db, self._scope, chat_id)

    def new_chat(self, project_id: str, model: str = "") -> Chat:
        """A chat of the project without a question, with its files beside the first; others see it
        once something is asked. Raises NotFoundError."""
        files = projects.list_files(self._db, self._scope, project_id)
        chat = project_chats.begin(self._db, self._scope, project_id, model)
        self._house.library.attach(self._scope, chat.id, [file.id for file in files])
        return chat

    def newcomers(self, chat_id: str, project_id: str) -> Names:
        """Names of who would see a chat if it were moved there, and does not now. Raises
        NotFoundError."""
        return project_chats.newcomers(self._db, self._scope, chat_id, project_id)

    def move(self, chat_id: str, project_id: str, shown: bool = False) -> None:
        """Put a chat into a project; with no id, into none. For its host. `shown`: the user knows
        that others will see it. Raises NotFoundError, InvalidInputError."""
        self._house.stop_all(
            project_chats.move(self._db, self._scope, chat_id, project_id, shown=shown)
        )

    # --- files

    def files(self, project_id: str) -> FileList:
        """Those that each new chat of the project has from the start. Raises NotFoundError."""
        return projects.list_files(self._db, self._scope, project_id)

    def add_files(self, project_id: str, file_ids: Sequence[str]) -> None:
        """For its host. Raises NotFoundError, InvalidInputError."""
        projects.add_files(self._db, self._scope, project_id, file_ids)

    def remove_file(self, project_id: str, file_id: str) -> None:
        """Chats that have it keep it. For its host. Raises NotFoundError, InvalidInputError."""
        projects.remove_file(self._db, self._scope, project_id, file_id)

    # --- people

    def members(self, project_id: str) -> People:
        """The host first. Raises NotFoundError."""
        return projects.list_members(self._db, self._scope, project_id)

    def add_member(self, project_id: str, email: str) -> None:
        """Bring in a member of the workspace, who sees all its chats. For its host. Raises
        NotFoundError, InvalidInputError."""
        projects.add_member(self._db, self._scope, project_id, email)

    def remove_member(self, project_id: str, user_id: str) -> None:
        """Take somebody out (for its host), or leave; their chats leave with them. Raises
        NotFoundError, InvalidInputError."""
        self._house.stop_all(projects.remove_member(self._db, self._scope, project_id, user_id))
