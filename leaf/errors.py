"""What can go wrong, in words for a person.

    LeafError
    ├── SettingsError           a setting is missing or wrong; names its key
    ├── NotFoundError           no such file, sheet, column, chat …; names the nearest
    │   ├── ResultGoneError        a result is recorded, but its rows are not there any more
    │   └── BlobGoneError          bytes are missing where they should be, or are not what they were
    ├── InvalidInputError       a request that cannot be carried out as written
    │   ├── SpaceError             what Leaf may use of the disk is used up
    │   └── ConflictError          a change made from a version that is not the newest any more
    ├── BudgetError             what may be used in a day or month is used up
    ├── SignInError             the browser has to sign in first, again, or may not at all
    ├── FileError
    │   ├── UnreadableFileError    empty, truncated, not what its name says
    │   ├── EncryptedFileError     needs a password
    │   └── FileTooLargeError      over a limit, which it names
    ├── QueryError              SQL that does not run
    ├── CodeError               Python that does not run
    ├── SandboxError            a confined child ended without an answer
    │   ├── SandboxTimeoutError    over its time
    │   ├── SandboxMemoryError     over its memory
    │   └── SandboxSpaceError      no room for what it wrote
    ├── ModelError              the model server failed; says whether trying again can help
    ├── TranscriptionError      sound could not be turned into words, or no engine is on that does it
    ├── DriveError              Google Drive refused or failed
    │   └── DriveNotConnectedError    no connection, or one that has ended
    ├── StoreError              the database or the disk failed
    │   ├── StoreBusyError         another process holds the database
    │   ├── StoreAwayError         the database does not answer; it may be back in a moment
    │   └── StorageError           where files are stored cannot be reached, or refuses
    │       └── StorageAwayError      it does not answer; it may be back in a moment
    └── RunError                a run that cannot be started, watched or stopped

A message says what and which; the hint says what to do next. Both are shown to people and to
models, so neither holds a key, a token or a path outside the data folder.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal


class LeafError(Exception):
    """Something that a person can be told. `str()` gives the message and, after it, the hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


FAULT = "Leaf failed at this in a way that it did not expect. Try again; its log says more."
"""For a person where anything but a LeafError is raised: its name and words are for the log."""


class SettingsError(LeafError):
    """A setting is missing or wrong; the message names its key."""


class NotFoundError(LeafError):
    """Nothing has that name. Use `not_found` to say which names are near."""


class ResultGoneError(NotFoundError):
    """A result is recorded, but its rows are not there any more. `again` says whether it is known
    what made them."""

    def __init__(self, message: str, hint: str = "", *, again: bool = False) -> None:
        super().__init__(message, hint)
        self.again = again


class BlobGoneError(NotFoundError):
    """The bytes of a file are missing where they should be, or are not what they were. The message
    calls it `this file`: see `about`."""

    def __init__(self, message: str, hint: str = "", *, altered: bool = False) -> None:
        super().__init__(message, hint)
        self.altered = altered
        """Whether there are bytes, but others."""


class InvalidInputError(LeafError):
    """A request that cannot be carried out as written."""


class SpaceError(InvalidInputError):
    """What Leaf may use of the disk is used up: nothing more is kept until something is deleted."""


class BudgetError(LeafError):
    """What a person or a workspace may use in a day or month is used up; the hint says until
    when."""


class ConflictError(InvalidInputError):
    """A change was made from a version that is not the newest any more. Nothing was overwritten."""


class SignInError(LeafError):
    """The browser has to sign in first, again, or may not at all."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        reason: Literal["none", "expired", "ended", "refused"],
    ) -> None:
        super().__init__(message, hint)
        self.reason = reason
        """`none` nobody has signed in; `expired` its time is over; `ended` signed out; `refused`
        this account may not."""


class FileError(LeafError):
    """A file that cannot be used."""


class UnreadableFileError(FileError):
    """Empty, truncated, damaged, or not what its name says."""


class EncryptedFileError(FileError):
    """The file needs a password."""


class FileTooLargeError(FileError):
    """The file is over a limit; the message names the limit."""


class QueryError(LeafError):
    """SQL that does not run."""


class CodeError(LeafError):
    """Python that does not run; the message holds the line and the traceback from the user's code
    on."""


class SandboxError(LeafError):
    """A confined child ended without an answer."""


class SandboxTimeoutError(SandboxError):
    """A confined child took longer than its limit."""


class SandboxMemoryError(SandboxError):
    """A confined child wanted more memory than its limit."""


class SandboxSpaceError(SandboxError):
    """There was no room for what a confined child wrote; a moment later there may be."""


class ModelError(LeafError):
    """The model server failed."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        retryable: bool = False,
        status: int | None = None,
        wait: float = 0.0,
    ) -> None:
        super().__init__(message, hint)
        self.retryable = retryable
        """Whether the same request may succeed later (overload, rate limit, cut connection)."""
        self.status = status
        """HTTP status, where there was one."""
        self.wait = wait
        """Seconds after which the server wants to be asked again, where it said."""


class TranscriptionError(LeafError):
    """Sound could not be turned into words; the message says why, without any key."""


class DriveError(LeafError):
    """Google Drive refused or failed."""

    def __init__(self, message: str, hint: str = "", *, reason: str = "") -> None:
        super().__init__(message, hint)
        self.reason = reason
        """Google's word for it, such as `exportSizeLimitExceeded`."""


class DriveNotConnectedError(DriveError):
    """The user has no connection to Drive, or it has ended."""


class StoreError(LeafError):
    """The database or the disk failed."""


class StoreBusyError(StoreError):
    """Another process holds the database."""

    def __init__(self, message: str, hint: str = "", *, pid: int | None = None) -> None:
        super().__init__(message, hint)
        self.pid = pid


class StoreAwayError(StoreError):
    """The database does not answer; it may be back in a moment. What was being done is not known to
    be done."""

    def __init__(self, message: str, hint: str = "", *, reason: str = "") -> None:
        super().__init__(message, hint)
        self.reason = reason
        """Why, without names and addresses; empty where that is not known."""


def public_reason(error: Exception) -> str:
    """Why something does not work, for programs that may know no names, paths and addresses."""
    known = error.reason if isinstance(error, StoreAwayError) else ""
    return known or "It does not work; the log and the page say more."


class StorageError(StoreError):
    """Where files are stored cannot be reached, or refuses. The message calls the file `this file`:
    see `about`."""


class StorageAwayError(StorageError):
    """Where files are stored does not answer as it should: waiting may mend it."""


class RunError(LeafError):
    """A run that cannot be started, watched or stopped."""


def about(error: BlobGoneError | StorageError, name: str) -> BlobGoneError | StorageError:
    """The same, with the file's name."""
    message = error.message.replace("this file", name, 1)
    if isinstance(error, BlobGoneError):
        return BlobGoneError(message, error.hint, altered=error.altered)
    return type(error)(message, error.hint)


@contextmanager
def work_on(name: str) -> Iterator[None]:
    """Have what a child ends with say whose work it was: of several files a person must know
    which."""
    try:
        yield
    except SandboxError as e:
        if name in e.message:
            raise
        raise type(e)(f"{name}: {e.message}", e.hint) from e


def not_found(what: str, name: str, candidates: Iterable[str], where: str = "") -> NotFoundError:
    """`No column 'reveneu' in sales.csv. Did you mean 'revenue'?`, or the names there are, at most
    12 of them."""
    names = list(dict.fromkeys(candidates))
    lowered = {n.lower(): n for n in names}
    near = [lowered[n] for n in difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)]
    place = f" in {where}" if where else ""
    if near:
        hint = "Did you mean " + " or ".join(f"'{n}'" for n in near) + "?"
    elif names:
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        hint = "There is " + ", ".join(f"'{n}'" for n in names[:12]) + more + "."
    else:
        hint = "There is none."
    return NotFoundError(f"No {what} '{name}'{place}.", hint)
