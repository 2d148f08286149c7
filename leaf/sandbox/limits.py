"""What one call of a confined child may use, and what is said where it ends early: at a limit, by a
stop, for want of disk."""

from __future__ import annotations

import errno
import os
import threading
from dataclasses import dataclass

from leaf import errors
from leaf.settings.disk import wants_room

TICK = 0.02
"""Seconds between two looks at a running child: stop, time, memory."""
ALLOCATION_SLACK = 5 * 1024**3
"""Address space above the memory limit before the kernel itself says no. One DuckDB string may ask
for 4 GB at once, and then the watch gives the clear answer; the kernel's refusal, which often
crashes a library, is for a watch that comes too late."""


@dataclass(frozen=True)
class CallLimits:
    """What one call may use."""

    seconds: float = 60
    """Wall time from the request to the answer."""
    memory_mb: int = 2048
    """Memory held at once, file mappings not counted."""
    output_mb: int = 1024
    """Everything written to disk, temporary files included."""
    answer_mb: int = 8
    """The longest answer as JSON; what is larger is a file's business."""
    items: int = 250_000
    """Values in an answer, those inside others included."""


def resource_limits(limits: CallLimits) -> dict[str, int]:
    """What the kernel itself enforces, for the case that the app is gone or too busy to watch."""
    return {
        "RLIMIT_CPU": int(limits.seconds * (os.cpu_count() or 1)) + 10,
        **lasting_limits(limits),
    }


def lasting_limits(limits: CallLimits) -> dict[str, int]:
    """Those that hold however long a child lives."""
    return {
        "RLIMIT_FSIZE": limits.output_mb * 1024**2,
        "RLIMIT_DATA": limits.memory_mb * 1024**2 + ALLOCATION_SLACK,
    }


def raise_if_stopped(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise errors.RunError("Stopped.")


def timeout_error(limits: CallLimits) -> errors.SandboxTimeoutError:
    return errors.SandboxTimeoutError(
        f"The work took more than {limits.seconds:g} seconds and was ended.",
        "Ask for a smaller part.",
    )


def memory_error(limits: CallLimits) -> errors.SandboxMemoryError:
    message = f"The work needed more than {limits.memory_mb:,} MB of memory and was ended."
    return errors.SandboxMemoryError(message, "Ask for a smaller part.")


def output_error(limits: CallLimits) -> errors.SandboxError:
    return errors.SandboxError(
        f"The work wrote more than {limits.output_mb:,} MB and was ended.",
        "Ask for a smaller part.",
    )


def space_error(most: int) -> errors.SandboxSpaceError:
    """Of the bytes that the kernel gives all children together none are left."""
    return errors.SandboxSpaceError(
        f"The work wrote more than is left of the {most // 1024**2:,} MB that all such work has "
        f"together, and was ended.",
        "Try again in a moment, or ask for a smaller part.",
    )


def disk_error(error: OSError) -> errors.StoreError:
    if wants_room(error):
        return errors.StoreError(
            "There is no space left on the disk.", "Free some space and try again."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return errors.StoreError(
            f"The data folder cannot be written: {error.strerror}.",
            "Free some space or fix its permissions.",
        )
    return errors.StoreError(f"The disk failed: {error.strerror or 'no reason given'}.")
