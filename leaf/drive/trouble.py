"""What Google's answers mean, in words for a person, and which of them are worth another try."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from leaf.errors import DriveError, DriveNotConnectedError, LeafError, NotFoundError

RETRYABLE_REASONS = frozenset(
    {"rateLimitExceeded", "userRateLimitExceeded", "backendError", "internalError", "sharingRateLimitExceeded"}
)
RECONNECT = "Connect Google Drive again on the settings page."


@dataclass(frozen=True)
class Trouble:
    """A failed call."""

    error: LeafError
    ends: bool = False
    """Whether the connection does not work until something is done about it."""


def reason_of(error: Any) -> str:
    """Google's word for an HttpError, such as `rateLimitExceeded`; empty where it gave none."""
    try:
        body = json.loads(error.content)["error"]
        listed = [str(e.get("reason", "")) for e in (*body.get("errors", ()), *body.get("details", ()))]
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    return next((reason for reason in listed if reason), "")


def is_retryable(error: Any) -> bool:
    """Whether the same call may succeed later."""
    status = int(error.resp.status)
    return status in (429, 500, 502, 503, 504) or (status == 403 and reason_of(error) in RETRYABLE_REASONS)


def retry_after(error: Any) -> float | None:
    """Seconds that Google asks to wait; None where it does not say."""
    given = str(error.resp.get("retry-after", "")).strip()
    if not given:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(given) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def explain(error: Any, name: str) -> Trouble:
    """An HttpError that no further try would mend. `name` is what was asked for, as far as it is known."""
    status, reason = int(error.resp.status), reason_of(error)
    if status == 401:
        return Trouble(
            DriveNotConnectedError("Google no longer accepts the Drive connection.", RECONNECT, reason="revoked"), True
        )
    if reason in ("accessNotConfigured", "SERVICE_DISABLED"):
        hint = "Enable it in Google's console (APIs & Services), wait a minute, and try again."
        return Trouble(
            DriveError("The Google Drive API is not enabled for this app's Google project.", hint, reason=reason), True
        )
    if reason in ("insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"):
        text = "The Drive connection lacks the permission to read files."
        return Trouble(DriveNotConnectedError(text, "Connect again and tick the box for Google Drive.", reason=reason), True)
    if reason in ("dailyLimitExceeded", "quotaExceeded", "downloadQuotaExceeded"):
        return Trouble(
            DriveError("Google's quota for this is used up.", "Try again tomorrow.", reason=reason),
            reason == "dailyLimitExceeded",
        )
    if is_retryable(error):
        busy = "Google Drive limits how fast it may be asked" if status in (403, 429) else "Google Drive does not work just now"
        return Trouble(DriveError(f"{busy}.", "Try again in a few minutes.", reason=reason or str(status)))
    if status == 404:
        return Trouble(
            NotFoundError(f"{name} is not in Google Drive, or not shared with the connected account.", "Check the link.")
        )
    if reason in ("exportSizeLimitExceeded", "fileNotExportable"):
        return Trouble(
            DriveError(f"Google does not export {name} this way.", "Download it by hand and upload it.", reason=reason)
        )
    if status == 403:
        text = f"Google does not let the connected account read {name}."
        return Trouble(DriveError(text, "Ask its owner.", reason=reason))
    if status == 400:
        return Trouble(
            DriveError("Google Drive did not understand the request.", "List or search from the beginning.", reason=reason)
        )
    return Trouble(DriveError(f"Google Drive answered with status {status}.", "Try again.", reason=reason or str(status)))


def explain_refresh(error: Any, granted_at: datetime | None, last_refresh: datetime | None) -> Trouble:
    """A token that could not be refreshed."""
    if getattr(error, "retryable", False):
        return Trouble(unreachable())
    details = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], dict) else {}
    code = str(details.get("error", "")) or str(error.args[0] if error.args else "")
    if "invalid_client" in code or "unauthorized_client" in code:
        text = "Google does not accept this app's client id and secret."
        return Trouble(
            DriveError(text, "Check LEAF_GOOGLE_CLIENT_ID and LEAF_GOOGLE_CLIENT_SECRET.", reason="invalid_client"), True
        )
    if _ended_after_a_week(granted_at, last_refresh):
        text = "The Drive connection expired: Google ends those of apps in testing mode after 7 days."
        hint = "Connect again. To make it last, publish the app or make it internal in Google's console."
        return Trouble(DriveNotConnectedError(text, hint, reason="expired"), True)
    text = "Access to Google Drive was revoked, or has expired."
    return Trouble(DriveNotConnectedError(text, RECONNECT, reason="revoked"), True)


def _ended_after_a_week(granted_at: datetime | None, last_refresh: datetime | None) -> bool:
    """Google does not say which it was. One that worked up to its seventh day and not after it looks like testing mode."""
    if granted_at is None or last_refresh is None:
        return False
    now = datetime.now(UTC)
    return (now - granted_at).days >= 7 and (last_refresh - granted_at).days < 8


def unreachable() -> DriveError:
    return DriveError("Google Drive cannot be reached.", "Check the network and try again.", reason="unreachable")
