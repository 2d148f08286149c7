"""What Google's answers mean, in words for a person, and which of them are worth another try.

Google has two forms of errors, sometimes both in one answer: a list `errors` with reasons such as
`rateLimitExceeded`, and the newer `status` and `details`, of which an `ErrorInfo` has a reason such
as `RATE_LIMIT_EXCEEDED` (see google.api.ErrorReason).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from leaf.errors import DriveError, DriveNotConnectedError, LeafError, NotFoundError

TOO_FAST = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "sharingRateLimitExceeded",
        "RATE_LIMIT_EXCEEDED",
        "RESOURCE_EXHAUSTED",
    }
)
FAULTS = frozenset(
    {
        "backendError",
        "internalError",
        "transientError",
        "INTERNAL",
        "UNAVAILABLE",
        "DEADLINE_EXCEEDED",
        "ABORTED",
    }
)
A_DAY = frozenset({"dailyLimitExceeded", "dailyLimitExceededUnreg"})
USED_UP = frozenset({"quotaExceeded", "downloadQuotaExceeded", "RESOURCE_QUOTA_EXCEEDED"})
DISABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
TOO_LITTLE = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
PROJECT = frozenset(
    {
        "CONSUMER_SUSPENDED",
        "CONSUMER_INVALID",
        "GCP_SUSPENDED",
        "BILLING_DISABLED",
        "USER_PROJECT_DENIED",
    }
)
RULES = frozenset(
    {
        "domainPolicy",
        "SECURITY_POLICY_VIOLATED",
        "ORG_RESTRICTION_VIOLATION",
        "LOCATION_POLICY_VIOLATED",
    }
)
LOCAL = ("The credentials do not contain", "Reauthentication is needed")
"""How Google's library begins what it says by itself of a grant that is over."""
RECONNECT = "Connect Google Drive again on the settings page."


@dataclass(frozen=True)
class DriveFailure:
    """A failed call."""

    error: LeafError
    ends: bool = False
    """Whether the connection does not work until something is done about it."""


def reasons_of(error: Any) -> list[str]:
    """Google's words for an HttpError, of both forms, the most telling first; none where it gave
    none."""
    body = _body(error)
    reasons = [
        str(e["reason"])
        for e in (*_listed(body, "errors"), *_listed(body, "details"))
        if e.get("reason")
    ]
    if any(_is_by_day(e) for e in _listed(body, "details")):
        reasons.insert(0, "dailyLimitExceeded")
    return list(dict.fromkeys([*reasons, *filter(None, [str(body.get("status") or "")])]))


def is_retryable(error: Any) -> bool:
    """Whether the same call may succeed in a moment. What is used up for a day, or for good, will
    not."""
    status, reasons = int(error.resp.status), set(reasons_of(error))
    if reasons & (A_DAY | USED_UP):
        return False
    return status in (408, 409, 429, 500, 502, 503, 504) or (
        status == 403 and bool(reasons & (TOO_FAST | FAULTS))
    )


def _body(error: Any) -> dict[str, Any]:
    try:
        body = json.loads(error.content)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return body if isinstance(body, dict) else {}


def _listed(body: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = body.get(key)
    return [e for e in value if isinstance(e, dict)] if isinstance(value, list) else []


def _is_by_day(detail: dict[str, Any]) -> bool:
    """Whether an ErrorInfo speaks of a limit by day: `quota_unit` is then like `1/d/{project}`."""
    about = detail.get("metadata")
    return isinstance(about, dict) and (
        "/d/" in f"{about.get('quota_unit', '')}/" or "PerDay" in str(about.get("quota_limit", ""))
    )


def retry_after(error: Any) -> float | None:
    """Seconds that Google asks to wait, by a header or a `RetryInfo`; None where it does not
    say."""
    delay = str(error.resp.get("retry-after", "")).strip()
    delays = [str(e["retryDelay"]) for e in _listed(_body(error), "details") if e.get("retryDelay")]
    delay = delay or next((d.removesuffix("s") for d in delays), "")
    if not delay:
        return None
    try:
        return max(0.0, float(delay))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(delay) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def explain(error: Any, name: str) -> DriveFailure:
    """An HttpError that no further try would mend. `name` is what was asked for, as far as it is
    known."""
    status, reasons = int(error.resp.status), reasons_of(error)
    reason, words = next(iter(reasons), ""), set(reasons)
    if broken := _of_connection(status, reason, words):
        return broken
    if is_retryable(error):
        fast = status == 429 or words & TOO_FAST
        busy = (
            "Google Drive limits how fast it may be asked"
            if fast
            else "Google Drive does not work just now"
        )
        return DriveFailure(
            DriveError(f"{busy}.", "Try again in a few minutes.", reason=reason or str(status))
        )
    if status == 404:
        return DriveFailure(
            NotFoundError(
                f"{name} is not in Google Drive, or not shared with the connected account.",
                "Check the link.",
            )
        )
    if reason in ("exportSizeLimitExceeded", "fileNotExportable"):
        return DriveFailure(
            DriveError(
                f"Google does not export {name} this way.",
                "Download it by hand and upload it.",
                reason=reason,
            )
        )
    if words & RULES:
        text = f"The rules of an organisation do not let Leaf read {name} in Google Drive."
        return DriveFailure(DriveError(text, "Ask its administrator.", reason=reason))
    if status == 403:
        text = f"Google does not let the connected account read {name}."
        return DriveFailure(DriveError(text, "Ask its owner.", reason=reason))
    if status == 400:
        return DriveFailure(
            DriveError(
                "Google Drive did not understand the request.",
                "List or search from the beginning.",
                reason=reason,
            )
        )
    return DriveFailure(
        DriveError(
            f"Google Drive answered with status {status}.",
            "Try again.",
            reason=reason or str(status),
        )
    )


def _of_connection(status: int, reason: str, words: set[str]) -> DriveFailure | None:
    """What is wrong with the connection, the app's project or its quota, whatever was asked for;
    None where nothing is."""
    if status == 401:
        return DriveFailure(
            DriveNotConnectedError(
                "Google no longer accepts the Drive connection.", RECONNECT, reason="revoked"
            ),
            True,
        )
    if words & DISABLED:
        hint = "Enable it in Google's console (APIs & Services), wait a minute, and try again."
        return DriveFailure(
            DriveError(
                "The Google Drive API is not enabled for this app's Google project.",
                hint,
                reason=reason,
            ),
            True,
        )
    if words & PROJECT:
        text, hint = (
            "Google has stopped this app's Google project.",
            "Its owner finds out why in Google's console.",
        )
        return DriveFailure(DriveError(text, hint, reason=reason), True)
    if words & TOO_LITTLE:
        text = "The Drive connection lacks the permission to read files."
        return DriveFailure(
            DriveNotConnectedError(
                text, "Connect again and tick the box for Google Drive.", reason=reason
            ),
            True,
        )
    if words & (A_DAY | USED_UP):
        return DriveFailure(
            DriveError("Google's quota for this is used up.", "Try again tomorrow.", reason=reason),
            bool(words & A_DAY),
        )
    return None


def passes(error: Any) -> bool:
    """Whether a token could not be refreshed for a reason that says nothing of the grant: what
    answered was busy, or did not speak OAuth, as a gateway's page does not. Google's library calls
    such a page final, whatever its status."""
    if getattr(error, "retryable", False):
        return True
    message = str(error.args[0]) if error.args else ""
    return bool(message) and not _oauth_error(error) and not message.startswith(LOCAL)


def _oauth_error(error: Any) -> str:
    """What a token server calls the error; empty where none has answered."""
    details = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], dict) else {}
    code = details.get("error")
    return code if isinstance(code, str) else ""


def is_no_member(error: LeafError) -> bool:
    """Whether this says of a shared drive that the account does not belong to it. Single files and
    folders of it may be shared with the account all the same."""
    return isinstance(error, NotFoundError) or (
        isinstance(error, DriveError) and error.reason == "teamDriveMembershipRequired"
    )


def explain_refresh(
    error: Any, granted_at: datetime | None, last_refresh: datetime | None
) -> DriveFailure:
    """A token that could not be refreshed."""
    if passes(error):
        return DriveFailure(unreachable())
    code = _oauth_error(error) or str(error.args[0] if error.args else "")
    if "invalid_client" in code or "unauthorized_client" in code:
        text = "Google does not accept this app's client id and secret."
        return DriveFailure(
            DriveError(
                text,
                "Check LEAF_GOOGLE_CLIENT_ID and LEAF_GOOGLE_CLIENT_SECRET.",
                reason="invalid_client",
            ),
            True,
        )
    if _ended_after_a_week(granted_at, last_refresh):
        text = (
            "The Drive connection expired: Google ends those of apps in testing mode after 7 days."
        )
        hint = (
            "Connect again. To make it last, publish the app or make it internal in "
            "Google's console."
        )
        return DriveFailure(DriveNotConnectedError(text, hint, reason="expired"), True)
    text = "Access to Google Drive was revoked, or has expired."
    return DriveFailure(DriveNotConnectedError(text, RECONNECT, reason="revoked"), True)


def _ended_after_a_week(granted_at: datetime | None, last_refresh: datetime | None) -> bool:
    """Google does not say which it was. One that worked up to its seventh day and not after it
    looks like testing mode."""
    if granted_at is None or last_refresh is None:
        return False
    now = datetime.now(UTC)
    return (now - granted_at).days >= 7 and (last_refresh - granted_at).days < 8


def unreachable() -> DriveError:
    return DriveError(
        "Google Drive cannot be reached.", "Check the network and try again.", reason="unreachable"
    )
