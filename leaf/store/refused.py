"""Why PostgreSQL let nobody in: one sentence for each cause, and what to do next.

A refused connection often has no code (SQLSTATE), only the words of the server and of its library,
so those are read. Words that are not known, such as those of a server that speaks another language,
are passed on as they are. No sentence holds the password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from leaf.errors import StoreAwayError

LONGEST = 300
"""Characters of the server's own words that are passed on."""


@dataclass(frozen=True)
class Cause:
    words: re.Pattern[str]
    reason: str
    """Without host, names and ids, since `/readyz` tells it to everybody who asks."""
    hint: str


def _cause(words: str, reason: str, hint: str) -> Cause:
    return Cause(re.compile(words, re.IGNORECASE | re.DOTALL), reason, hint)


_CAUSES = (
    _cause(
        "too many (clients|connections)|connection slots|no more connections|max_client_conn",
        "it takes no more connections.",
        "Try again in a moment; nothing was lost. If it lasts, allow it more connections, or put a "
        "pooler before it: each Leaf opens some tens.",
    ),
    _cause(
        "starting up|in recovery mode|not yet accepting|recovery state",
        "it is starting up.",
        "Try again in a moment. If it lasts, the server's own log says what keeps it.",
    ),
    _cause(
        "shutting down|terminating connection due to administrator",
        "it is being shut down.",
        "Try again when it is back, or start it again.",
    ),
    _cause(
        "database .* does not exist|unknown database|no such database",
        "the server has no database of this name.",
        "Create it (`createdb NAME`), or correct the name behind the last / of LEAF_DATABASE_URL.",
    ),
    _cause(
        "role .* does not exist|user .* does not exist|no such user",
        "the server knows no such user.",
        "Create it (`createuser NAME`), or correct the user in LEAF_DATABASE_URL.",
    ),
    _cause(
        "no password supplied|no password was provided|password is empty",
        "the server asks for a password, and LEAF_DATABASE_URL has none.",
        "Write it behind the user: postgresql://user:password@host/name.",
    ),
    _cause(
        "(password|peer|ident|LDAP|GSSAPI|certificate|PAM) authentication failed|"
        "authentication failed for",
        "the server does not take this user with this password.",
        "Check both in LEAF_DATABASE_URL. Letters such as @ / : % are written there as %40 %2F %3A "
        "%25.",
    ),
    _cause(
        "connection is insecure|(SSL|TLS)( connection)? is required|sslmode=require|"
        "^(?!.*SSL encryption).*no pg_hba.conf entry.*(no encryption|SSL off)",
        "the server takes only encrypted connections (TLS).",
        "Add ?sslmode=require to LEAF_DATABASE_URL, or &sslmode=require behind what stands there.",
    ),
    _cause(
        "does not support SSL",
        "LEAF_DATABASE_URL asks for TLS, and the server does not speak it.",
        "Turn it on at the server, or take sslmode out of LEAF_DATABASE_URL.",
    ),
    _cause(
        "certificate|SSL error|SSL negotiation|tlsv1|channel binding",
        "no encrypted connection (TLS) to it can be made.",
        "Check that this is the port of PostgreSQL, and what sslmode and sslrootcert say in "
        "LEAF_DATABASE_URL.",
    ),
    _cause(
        "pg_hba|not permitted to log in|permission denied for database|not currently accepting",
        "the server does not let this user into this database from here.",
        "Whoever runs the server can allow it: the role needs LOGIN and CONNECT, and pg_hba.conf a "
        "line.",
    ),
    _cause(
        "resolve host|translate host name|name or service not known|nodename nor servname|"
        "temporary failure in name",
        "there is no host of this name.",
        "Check the host in LEAF_DATABASE_URL, and that this machine has a network and its names.",
    ),
    _cause(
        "connection refused|no such file or directory",
        "nothing listens there.",
        "Check host and port in LEAF_DATABASE_URL, and that the server runs.",
    ),
    _cause(
        "timeout expired|timed out|no route to host|network is unreachable",
        "it does not answer in time.",
        "Check host and port in LEAF_DATABASE_URL, and that no firewall stands between.",
    ),
    _cause(
        "server closed the connection|connection reset|broken pipe",
        "the connection was cut while it was made.",
        "Try again in a moment. If it lasts, check that this is the port of PostgreSQL.",
    ),
)


def refused(url: str, said: str) -> StoreAwayError:
    """What keeps a connection to this address from being made, by what was said of it."""
    before = f"The PostgreSQL database at {address(url)} cannot be reached"
    if cause := cause_of(said):
        return StoreAwayError(f"{before}: {cause.reason}", cause.hint, reason=cause.reason)
    return StoreAwayError(
        f"{before}. It was said: {_without_secrets(url, said)}",
        "Check LEAF_DATABASE_URL, and that the server runs.",
    )


def cause_of(said: str) -> Cause | None:
    """None for words that are not known."""
    return next((cause for cause in _CAUSES if cause.words.search(said)), None)


def address(url: str) -> str:
    """Host, port and database, without user and password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the address of LEAF_DATABASE_URL"
    options = dict(parse_qsl(parts.query))
    host = options.get("host", "") or parts.netloc.rpartition("@")[2]
    name = options.get("dbname") or unquote(parts.path.removeprefix("/"))
    return "/".join(one for one in (_plain(host) or "this machine", name) if one)


def _plain(host: str) -> str:
    """A folder of sockets is on this machine, whatever its path."""
    return "" if host.startswith("/") else host


def _without_secrets(url: str, message: str) -> str:
    words = " ".join(message.split())
    for secret in _secrets(url):
        words = words.replace(secret, "…")
    return (words[:LONGEST].rstrip(".") or "nothing") + "."


def _secrets(url: str) -> Iterator[str]:
    yield url
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    written = parts.netloc.rpartition("@")[0].partition(":")[2]
    passwords = [value for key, value in parse_qsl(parts.query) if "password" in key.lower()]
    yield from (one for one in (written, unquote(written), *passwords) if one)
