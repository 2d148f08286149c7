"""Who signed in: the claims of a login provider, read and checked. Pure; what they open is decided
by `store.logins`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime

from leaf.errors import InvalidInputError, SignInError
from leaf.settings import Settings
from leaf.store.members import clean_address
from leaf.store.model import Identity

DISTINGUISHING = ("iss", "sub", "aud", "iat", "exp", "nonce", "sid", "auth_time", "at_hash")
"""Claims that tell one sign-in from another."""


def identify(claims: Mapping[str, object], settings: Settings, at: datetime) -> Identity:
    """The account behind a login, which Streamlit has taken from a signed token but not judged.

    Raises SignInError: nobody signed in, the time is over, or this account may not.
    """
    if claims.get("is_logged_in") is not True:
        raise SignInError("You are not signed in.", reason="none")
    _check_time(claims, settings, at)
    issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if not issuer or not subject:
        raise _refused(
            "The login provider did not say which account this is.",
            "Ask whoever runs Leaf to check its settings.",
        )
    email = _email(claims)
    if not may_sign_in(email, settings):
        raise _refused(
            f"{email} may not use this Leaf.",
            "Sign in with another account, or ask whoever runs it to let you in.",
        )
    given_name = _line(claims.get("given_name"))
    name = _line(claims.get("name")) or given_name or email.partition("@")[0]
    return Identity(
        issuer=issuer,
        subject=subject,
        email=email,
        name=name,
        first_name=given_name or name.split()[0],
        verified=_verified(claims) is True,
        login_id=_login_id(claims),
    )


def may_sign_in(email: str, settings: Settings) -> bool:
    """Whether the settings let the address in."""
    if not settings.allowed_emails and not settings.allowed_domains:
        return True
    return email in settings.allowed_emails or email.rpartition("@")[2] in settings.allowed_domains


def ends_at(claims: Mapping[str, object], settings: Settings) -> float | None:
    """Until when somebody is signed in, in seconds since 1970; None where the provider does not
    say."""
    begun, ends = claims.get("iat"), claims.get("exp")
    if settings.session_hours and isinstance(begun, int | float) and not isinstance(begun, bool):
        ends = begun + settings.session_hours * 3600
    return None if not isinstance(ends, int | float) or isinstance(ends, bool) else ends


def _check_time(claims: Mapping[str, object], settings: Settings, at: datetime) -> None:
    ends = ends_at(claims, settings)
    if ends is None:
        raise _refused(
            "The login provider did not say until when you are signed in.", "Sign in again."
        )
    if at.timestamp() >= ends:
        raise SignInError(
            "Your sign-in has expired.", "Sign in again to go on where you were.", reason="expired"
        )


def _email(claims: Mapping[str, object]) -> str:
    if not claims.get("email"):
        raise _refused(
            "Your account did not tell its e-mail address.",
            "Leaf needs it; ask whoever runs it for the scope `email`.",
        )
    if _verified(claims) is False:
        raise _refused(
            f"The address {claims['email']} is not verified.",
            "Verify it with your login provider, then sign in again.",
        )
    try:
        return clean_address(str(claims["email"]))
    except InvalidInputError as e:
        raise _refused(e.message, "Sign in with another account.") from e


def _verified(claims: Mapping[str, object]) -> bool | None:
    """Some providers write the boolean as a word; some say nothing, which is None."""
    claim = claims.get("email_verified")
    return None if claim is None else str(claim).strip().lower() in ("true", "1")


def _line(claim: object) -> str:
    return " ".join(str(claim or "").split())[:100].strip()


def _login_id(claims: Mapping[str, object]) -> str:
    text = json.dumps([claims.get(name) for name in DISTINGUISHING], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _refused(message: str, hint: str) -> SignInError:
    return SignInError(message, hint, reason="refused")
