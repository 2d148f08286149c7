"""Messages: asking and asking again, the answer while it is written, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from leaf.agent.export import answer_markdown
from leaf.errors import InvalidInputError, NotFoundError
from leaf.provenance.receipts.documents import of_messages
from leaf.runs.board import ELSEWHERE
from leaf.runs.run import Run, Slice
from leaf.runs.waiting import QueuePlace
from leaf.sessions.asking import Question, ask
from leaf.sessions.house import Part
from leaf.sessions.suggesting import Suggested, follow_ups
from leaf.shapes.chunks import chunk
from leaf.shapes.part_values import data_in
from leaf.store import audit, chats, consents, messages
from leaf.store.model import Chat, Message

MOST_CHUNKS = 1_000_000_000
"""More than a run ever has: a position tells of which run it is."""
THREAD = 24
"""Messages back to which a question is not offered again."""


class Messages(Part):
    """Questions and answers of the user's chats."""

    def get(self, message_id: str) -> Message:
        """Raises NotFoundError."""
        return messages.get(self._db, self._scope, message_id)

    # --- asking

    def send(
        self,
        chat_id: str,
        text: str,
        file_ids: Sequence[str] = (),
        model: str = "",
        head: str = "",
    ) -> Message:
        """Keep the question with its files, and return the pending assistant message, which is
        answered when it is its turn: a chat answers one question at a time. `head` is the last
        message that the asker saw: where another branch is shown by now, the question joins the one
        with that message. Raises InvalidInputError for an empty question, BudgetError where nothing is
        left.
        """
        text, house, scope = _asked(text), self._house, self._scope
        chat = chats.get(self._db, scope, chat_id)
        if file_ids:
            house.library.attach(scope, chat_id, file_ids)
        house.budgets.check(
            scope
        )  # after the files: they wait in the chat while the question is refused
        waiting = [c for c in house.library.chat_files(scope, chat_id) if not c.message_id]
        folders = [f for f in house.drive.folders(scope, chat_id) if not f.message_id]
        return ask(house, scope, chat, Question(text, waiting, folders, None, model, head))

    def edit(self, message_id: str, text: str) -> Message:
        """Ask a question again in other words, as a new branch; the earlier branch stays. Raises
        BudgetError."""
        text, house, scope = _asked(text), self._house, self._scope
        house.budgets.check(scope)
        old = self.get(message_id)
        chat = chats.get(self._db, scope, old.chat_id)
        named = {file["fileId"] for part in old.parts for file in data_in(part, "files") or ()}
        named.update(
            inside.id for file_id in list(named) for inside in house.library.inside(scope, file_id)
        )
        came = [c for c in house.library.chat_files(scope, chat.id) if c.file.id in named]
        refs = {
            folder["ref"] for part in old.parts for folder in data_in(part, "drive-folders") or ()
        }
        folders = [f for f in house.drive.folders(scope, chat.id) if f.ref in refs]
        return ask(house, scope, chat, Question(text, came, folders, old.parent_id))

    def retry(self, message_id: str) -> Message:
        """Answer the same question again, as a new branch beside the old answer.

        Beside an answer that failed, the new one goes on from its last good step. Raises
        BudgetError.
        """
        self._house.budgets.check(self._scope)
        old = self.get(message_id)
        chat = chats.get(self._db, self._scope, old.chat_id)
        answer = messages.add_answer(
            self._db, self._scope, old.parent_id, model=self._model_of(chat)
        )
        self._house.runs.start(self._scope, answer)
        return answer

    def goes_on(self, message: Message) -> bool:
        """Whether `retry` of this answer goes on from its last good step, rather than asking
        again."""
        if message.status != "error":
            return False
        if message.model != self._model_of(chats.get(self._db, self._scope, message.chat_id)):
            return False
        newest = messages.siblings(self._db, self._scope, message.id)[-1]
        return newest == message.id and self._house.runs.goes_on(message.id)

    def _model_of(self, chat: Chat) -> str:
        return self._house.connections.meant(self._scope, chat.model)

    def decide(self, chat_id: str, key: str, allow: bool) -> bool:
        """Answer what a step asks before it goes on. The first answer holds, and is returned.
        Raises NotFoundError."""
        return (
            consents.decide(self._db, self._scope, chat_id, key, "allowed" if allow else "refused")
            == "allowed"
        )

    # --- while it is answered

    def stop(self, message_id: str) -> None:
        """End the run; what was shown is kept."""
        messages.chat_of(self._db, self._scope, message_id)
        self._house.runs.stop(message_id)

    def withdraw(self, message_id: str) -> Message:
        """Take back a question that still waits, by its pending answer. Returns the question; its
        files wait again.

        Raises InvalidInputError once it is being answered.
        """
        return self._house.runs.withdraw(self._scope, message_id)

    def watch(self, message_id: str) -> Run | None:
        """The run of an assistant message, readable from its first chunk; None when it is over and
        stands in the history."""
        messages.chat_of(self._db, self._scope, message_id)
        return self._house.runs.watch(message_id)

    def wait(self, message_id: str, position: int, timeout: float) -> Slice:
        """Chunks of a run from `position`, which is 0 or that of the slice before; see `Run.read`. Where
        the answer is another run by now, since a process took it over, the slice says that this one is
        over. Raises NotFoundError."""
        run = self.watch(message_id)
        if run is None:
            raise NotFoundError(
                "This answer is not being written any more.", "Read it from the chat."
            )
        born, start = divmod(position, MOST_CHUNKS)
        if position and born != run.born:
            return Slice((chunk("abort", reason=ELSEWHERE),), position, True)
        piece = run.read(start, timeout)
        return replace(piece, position=run.born * MOST_CHUNKS + piece.position)

    def place(self, message_id: str) -> QueuePlace | None:
        """Where a question stands that waits, by its pending answer; None once it is its turn.
        Raises NotFoundError."""
        messages.chat_of(self._db, self._scope, message_id)
        return self._house.runs.place(message_id)

    # --- afterwards

    def show_branch(self, message_id: str) -> None:
        """Show the branch that goes through this message, down to its newest end."""
        chat_id = messages.chat_of(self._db, self._scope, message_id)
        end = messages.newest_below(self._db, self._scope, message_id)
        chats.set_head(self._db, self._scope, chat_id, end)

    def set_feedback(self, message_id: str, feedback: int) -> None:
        """1 thumbs up, -1 thumbs down, 0 none."""
        messages.set_feedback(self._db, self._scope, message_id, feedback)

    def follow_ups(self, message_id: str) -> list[Suggested]:
        """Three questions that may follow an answer, each tried; none after one that failed or
        asked back. Raises NotFoundError, SandboxError."""
        answer = self.get(message_id)
        before = messages.history(self._db, self._scope, answer.chat_id, answer.parent_id)
        return follow_ups(self._house, self._scope, answer, list(before[-THREAD:]))

    def markdown(self, message_id: str) -> str:
        """An answer with its question, sources and coverage, for somebody who takes it along."""
        answer = self.get(message_id)
        question = self.get(answer.parent_id) if answer.parent_id else None
        traced = of_messages(self._house.store, self._house.documents, self._scope, [answer])
        text = answer_markdown(answer, question, traced)
        audit.note(self._db, self._scope, "answer exported", f"{answer.chat_id} {message_id}")
        return text


def _asked(text: str) -> str:
    """Raises InvalidInputError for an empty question."""
    if not text.strip():
        raise InvalidInputError("The question is empty.", "Type one.")
    return text.strip()
