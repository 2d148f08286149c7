"""Google on loopback: OAuth, and as much of Drive v3 as Leaf uses, refusing what Google refuses.

    with DriveServer() as google:
        sheet = google.doc("Sales", SHEET, {XLSX: content}, google.root("ana@example.com"))
        … Settings(google=google.settings()) …
        google.calls("files")

Run `python -m tests.drive_server --port 9000` for one with demo files, or `make demo-drive` for
Leaf beside it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import io
import itertools
import json
import re
import secrets
import threading
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from leaf.settings import Google
from tests.loopback import Handler, LoopbackServer

Json = dict[str, Any]
G = "application/vnd.google-apps."
FOLDER, SHORTCUT, DOC, SHEET, SLIDES, FORM = (
    f"{G}{k}" for k in ("folder", "shortcut", "document", "spreadsheet", "presentation", "form")
)
OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX, XLSX, PPTX = (
    f"{OFFICE}{k}"
    for k in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
)
READONLY = "https://www.googleapis.com/auth/drive.readonly"
ANA, BEN = "ana@example.com", "ben@example.com"
CLIENT_ID, CLIENT_SECRET = "leaf-demo.apps.googleusercontent.com", "demo-secret"
EXPORT_LIMIT = 10 * 1024 * 1024


@dataclass
class Entry:
    """A file, folder or shortcut."""

    id: str
    name: str
    mime: str
    parent: str
    owner: str = ""
    drive: str = ""
    content: bytes = b""
    exports: dict[str, bytes] = field(default_factory=dict)
    words: str = ""
    target: str = ""
    key: str = ""
    """Resource key; asked for from everyone but the owner."""
    shared: set[str] = field(default_factory=set)
    size: int | None = None
    """A size that is claimed without the bytes."""
    can_download: bool = True
    trashed: bool = False
    version: int = 1
    modified: datetime = field(default_factory=lambda: datetime(2026, 5, 1, 12, tzinfo=UTC))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class Fault:
    """What goes wrong with the next matching requests."""

    path: str
    """Pattern over path and query."""
    status: int = 0
    reason: str = ""
    details: tuple[Json, ...] = ()
    """The newer form: what `error.details` holds; `errors` is then left out, unless a `reason` is
    given too."""
    rpc_status: str = ""
    """`error.status` of the newer form, such as `RESOURCE_EXHAUSTED`."""
    retry_after: str = ""
    cut_after: int | None = None
    """Bytes of the body after which the connection is closed."""
    times: int = 1
    before: Callable[[], None] | None = None
    """Done before the request is answered as usual."""
    page: str = ""
    """What is answered in place of JSON, as a gateway does."""


def error_info(reason: str, **metadata: str) -> Json:
    """What `error.details` says of the reason in Google's newer form."""
    about = {"service": "drive.googleapis.com", "consumer": "projects/1", **metadata}
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": about,
    }


class DriveServer(LoopbackServer):
    """Accounts, files, tokens, and a record of what was asked."""

    def __init__(self, port: int = 0) -> None:
        self.entries: dict[str, Entry] = {}
        self.drives: dict[str, tuple[str, set[str]]] = {}
        self.requests: list[tuple[str, str]] = []
        self.faults: list[Fault] = []
        self.export_limit = EXPORT_LIMIT
        self.prepares = True
        """Whether `files.download` works."""
        self.incomplete = False
        self.lifetime = 3600
        self.client_secret = CLIENT_SECRET
        self.accounts: list[str] = [ANA, BEN]
        self.service_accounts: set[str] = set()
        self.codes: dict[str, Json] = {}
        self.access: dict[str, tuple[str, float, str]] = {}
        self.refresh: dict[str, tuple[str, str]] = {}
        self.changes: list[Json] = []
        self._operations: dict[str, Json] = {}
        self._ids = itertools.count(1)
        self._results: dict[Any, list[str]] = {}
        self._pages: dict[str, tuple[Any, int]] = {}
        self.lock = threading.RLock()
        super().__init__(_Handler, port)

    def settings(self, **more: Any) -> Google:
        """How Leaf reaches this server."""
        urls = {"api_url": f"{self.url}/drive/v3/", "auth_url": f"{self.url}/o/oauth2/auth"}
        urls |= {"token_url": f"{self.url}/token", "revoke_url": f"{self.url}/revoke"}
        return Google(**{"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, **urls, **more})

    # Files

    def root(self, email: str) -> str:
        """Id of an account's My Drive."""
        file_id = f"root{hashlib.sha1(email.encode()).hexdigest()[:20]}"
        self.entries.setdefault(file_id, Entry(file_id, "My Drive", FOLDER, "", owner=email))
        return file_id

    def shared_drive(self, name: str, *members: str) -> str:
        file_id = self._id("0A")
        self.drives[file_id] = (name, set(members))
        self.entries[file_id] = Entry(file_id, "Drive", FOLDER, "", drive=file_id)
        return file_id

    def add(self, name: str, mime: str, parent: str, content: bytes = b"", **more: Any) -> str:
        with self.lock:
            above = self.entries[parent]
            file_id = more.pop("id", "") or self._id()
            entry = Entry(
                file_id,
                name,
                mime,
                parent,
                owner=above.owner,
                drive=above.drive,
                content=content,
                **more,
            )
            self.entries[file_id] = entry
            self._note(entry)
            return file_id

    def folder(self, name: str, parent: str, **more: Any) -> str:
        return self.add(name, FOLDER, parent, **more)

    def doc(self, name: str, mime: str, exports: dict[str, bytes], parent: str, **more: Any) -> str:
        return self.add(name, mime, parent, exports=exports, **more)

    def shortcut(self, name: str, target: str, parent: str) -> str:
        return self.add(name, SHORTCUT, parent, target=target)

    def edit(self, file_id: str, content: bytes | None = None, **more: Any) -> None:
        """A new revision."""
        with self.lock:
            entry = self.entries[file_id]
            if content is not None:
                entry.content = content
            for name, value in more.items():
                setattr(entry, name, value)
            entry.version += 1
            entry.modified += timedelta(minutes=1)
            self._note(entry)

    def delete(self, file_id: str) -> None:
        with self.lock:
            entry = self.entries.pop(file_id)
            self._note(entry, removed=True)

    # Accounts

    def consent(
        self, url: str, email: str = ANA, *, deny: bool = False, without_drive: bool = False
    ) -> Json:
        """What the browser would do with Google's page: the query that comes back to Leaf."""
        asked = {k: v[0] for k, v in parse_qs(urlsplit(url).query).items()}
        back = self.approve(asked, "" if deny else email, without_drive)
        return {k: v[0] for k, v in parse_qs(urlsplit(back).query).items()}

    def approve(self, asked: Json, email: str, without_drive: bool = False) -> str:
        """Address to send the browser back to. Raises ValueError for what Google shows an error
        page for."""
        if asked.get("client_id") != CLIENT_ID or asked.get("response_type") != "code":
            raise ValueError("invalid_client")
        if (
            asked.get("access_type") != "offline"
            or asked.get("code_challenge_method") != "S256"
            or not asked.get("state")
        ):
            raise ValueError("invalid_request")
        if not email:
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = f"4/{secrets.token_urlsafe(16)}"
        scope = "openid" if without_drive else asked["scope"]
        self.codes[code] = {
            "email": email,
            "scope": scope,
            "redirect": asked["redirect_uri"],
            "challenge": asked["code_challenge"],
        }
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'scope': scope})}"

    def revoke(self, email: str) -> None:
        """As if the user removed Leaf at Google."""
        with self.lock:
            self.refresh = {t: v for t, v in self.refresh.items() if v[0] != email}
            self.access = {t: v for t, v in self.access.items() if v[0] != email}

    def expire(self) -> None:
        """Every access token is over; refresh tokens live."""
        self.access.clear()

    def issue(self, email: str, scope: str) -> Json:
        token = f"ya29.{secrets.token_urlsafe(24)}"
        self.access[token] = (email, time.time() + self.lifetime, scope)
        return {
            "access_token": token,
            "expires_in": self.lifetime,
            "scope": scope,
            "token_type": "Bearer",
        }

    def calls(self, pattern: str = "") -> list[str]:
        """Requests to the API so far."""
        return [
            path
            for _, path in self.requests
            if path.startswith("/drive/") and re.search(pattern, path)
        ]

    # Inside

    def _id(self, prefix: str = "1") -> str:
        return f"{prefix}{hashlib.sha1(str(next(self._ids)).encode()).hexdigest()[:30]}"

    def _note(self, entry: Entry, removed: bool = False) -> None:
        self._results.clear()
        self.changes.append(
            {
                "id": entry.id,
                "removed": removed,
                "drive": entry.drive,
                "entry": entry,
                "time": datetime.now(UTC),
            }
        )

    def above(self, entry: Entry) -> Iterable[Entry]:
        seen = set()
        at: Entry | None = entry
        while at is not None and at.id not in seen:
            seen.add(at.id)
            yield at
            at = self.entries.get(at.parent)

    def visible(self, entry: Entry, email: str) -> bool:
        if entry.drive and email in self.drives[entry.drive][1]:
            return True
        return entry.owner == email or any(email in e.shared for e in self.above(entry))

    def matching(
        self, email: str, q: str, order: str, corpora: str, drive_id: str, all_drives: bool
    ) -> list[str]:
        with self.lock:
            key = (email, q, order, corpora, drive_id, all_drives)
            if key not in self._results:
                test = _parse(q)
                found = [
                    e
                    for e in self.entries.values()
                    if (e.drive == drive_id if corpora == "drive" else all_drives or not e.drive)
                    and e.id != e.drive
                    and not (e.owner and e.id == self.root(e.owner))
                    and test(_Subject(self, e, email))
                    and self.visible(e, email)
                ]
                if order.startswith("folder"):
                    found.sort(key=lambda e: (e.mime != FOLDER, e.name.lower()))
                self._results[key] = [e.id for e in found]
            return self._results[key]

    def row(self, entry: Entry, email: str) -> Json:
        row: Json = {
            "kind": "drive#file",
            "id": entry.id,
            "name": entry.name,
            "mimeType": entry.mime,
            "version": str(entry.version),
            "modifiedTime": entry.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "createdTime": entry.created.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "webViewLink": f"https://drive.google.com/file/d/{entry.id}/view",
            "capabilities": {"canDownload": entry.can_download},
            "trashed": entry.trashed,
        }
        if (
            entry.parent
            and (parent := self.entries.get(entry.parent))
            and self.visible(parent, email)
        ):
            row["parents"] = [entry.parent]
        if entry.drive:
            row["driveId"] = entry.drive
        else:
            row["owners"] = [
                {"displayName": entry.owner.partition("@")[0].title(), "emailAddress": entry.owner}
            ]
        if entry.key:
            row["resourceKey"] = entry.key
        if entry.mime == SHORTCUT:
            target = self.entries.get(entry.target)
            row["shortcutDetails"] = {
                "targetId": entry.target,
                "targetMimeType": target.mime if target else DOC,
            }
            if target and target.key:
                row["shortcutDetails"]["targetResourceKey"] = target.key
        elif not entry.mime.startswith(G):
            row["size"] = str(entry.size if entry.size is not None else len(entry.content))
            row["md5Checksum"] = hashlib.md5(entry.content).hexdigest()
            row["headRevisionId"] = f"r{entry.version}"
        if entry.exports:
            row["exportLinks"] = {
                m: f"{self.url}/drive/v3/export-link/{entry.id}?mime={quote(m)}"
                for m in entry.exports
            }
        return row

    def page(self, ids: list[str], what: Any, token: str, size: int) -> tuple[list[str], str]:
        """A page, and the token of the next. Raises ValueError for a token of another query."""
        at = 0
        if token:
            kept, at = self._pages.get(token, (None, 0))
            if kept != what:
                raise ValueError(token)
        following = ""
        if at + size < len(ids):
            following = f"~!!~{secrets.token_urlsafe(90)}"
            self._pages[following] = (what, at + size)
        return ids[at : at + size], following


@dataclass(frozen=True)
class _Subject:
    google: DriveServer
    entry: Entry
    email: str

    def parents(self, value: str) -> bool:
        return self.entry.parent == (self.google.root(self.email) if value == "root" else value)

    def full_text(self, value: str) -> bool:
        text = f"{self.entry.name} {self.entry.words or _plain(self.entry.content)}".lower()
        if len(value) > 1 and value[0] == value[-1] == '"':
            return value[1:-1].lower() in text
        return all(word in re.findall(r"\w+", text) for word in re.findall(r"\w+", value.lower()))

    def shared_with_me(self) -> bool:
        return self.email in self.entry.shared


def _plain(content: bytes) -> str:
    return content[:200_000].decode(errors="ignore") if b"\0" not in content[:1000] else ""


# The search language

_TOKEN = re.compile(r"\s*(?:('(?:[^'\\]|\\.)*')|(<=|>=|!=|[()=<>])|([A-Za-z]+))")


def _parse(q: str) -> Callable[[_Subject], bool]:
    """A test for a query. Raises ValueError where Google answers 400."""
    tokens: list[str] = []
    at = 0
    while at < len(q.rstrip()):
        found = _TOKEN.match(q, at)
        if not found:
            raise ValueError(q[at:])
        tokens.append(next(g for g in found.groups() if g))
        at = found.end()
    if not tokens:
        return lambda _: True
    test = _either(tokens)
    if tokens:
        raise ValueError(tokens[0])
    return test


def _either(tokens: list[str]) -> Callable[[_Subject], bool]:
    tests = [_both(tokens)]
    while tokens and tokens[0] == "or":
        tokens.pop(0)
        tests.append(_both(tokens))
    return lambda s: any(t(s) for t in tests)


def _both(tokens: list[str]) -> Callable[[_Subject], bool]:
    tests = [_term(tokens)]
    while tokens and tokens[0] == "and":
        tokens.pop(0)
        tests.append(_term(tokens))
    return lambda s: all(t(s) for t in tests)


def _term(tokens: list[str]) -> Callable[[_Subject], bool]:
    if not tokens:
        raise ValueError("end")
    first = tokens.pop(0)
    if first == "(":
        test = _either(tokens)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("parenthesis")
        return test
    if first == "not":
        inner = _term(tokens)
        return lambda s: not inner(s)
    if len(tokens) < 2:
        raise ValueError(first)
    operator, second = tokens.pop(0), tokens.pop(0)
    if first.startswith("'"):
        if (operator, second) != ("in", "parents"):
            raise ValueError(operator)
        folder = _text(first)
        return lambda s: s.parents(folder)
    return _comparison(first, operator, second)


def _comparison(name: str, operator: str, given: str) -> Callable[[_Subject], bool]:
    if name in ("trashed", "sharedWithMe") and operator == "=" and given in ("true", "false"):
        wanted = given == "true"
        return lambda s: (s.entry.trashed if name == "trashed" else s.shared_with_me()) == wanted
    value = _text(given)
    tests: dict[tuple[str, str], Callable[[_Subject], bool]] = {
        ("name", "="): lambda s: s.entry.name == value,
        ("name", "contains"): lambda s: (
            any(w.startswith(value.lower()) for w in re.findall(r"\w+", s.entry.name.lower()))
            or s.entry.name.lower().startswith(value.lower())
        ),
        ("fullText", "contains"): lambda s: s.full_text(value),
        ("mimeType", "="): lambda s: s.entry.mime == value,
        ("mimeType", "!="): lambda s: s.entry.mime != value,
        ("mimeType", "contains"): lambda s: s.entry.mime.startswith(value),
        ("modifiedTime", ">="): lambda s: s.entry.modified >= datetime.fromisoformat(value),
        ("modifiedTime", ">"): lambda s: s.entry.modified > datetime.fromisoformat(value),
    }
    if (name, operator) not in tests:
        raise ValueError(name)
    return tests[name, operator]


def _text(literal: str) -> str:
    if not literal.startswith("'"):
        raise ValueError(literal)
    return re.sub(r"\\(.)", r"\1", literal[1:-1])


# Fields


def _mask(fields: str) -> Json:
    """`files(id,name),nextPageToken` -> {"files": {"id": {}, "name": {}}, "nextPageToken": {}}."""
    top: Json = {}
    stack, name = [top], ""
    for c in f"{fields},":
        if c in ",()/":
            if name:
                stack[-1][name] = stack[-1].get(name) or {}
            if c == "(":
                stack.append(stack[-1][name])
            elif c == ")":
                stack.pop()
            name = ""
        elif not c.isspace():
            name += c
    return top


def _masked(value: Any, mask: Json) -> Any:
    if not mask or "*" in mask:
        return value
    if isinstance(value, list):
        return [_masked(v, mask) for v in value]
    return (
        {k: _masked(v, mask[k]) for k, v in value.items() if k in mask}
        if isinstance(value, dict)
        else value
    )


class _Refused(Exception):
    def __init__(self, status: int, reason: str, text: str = "") -> None:
        super().__init__(status, reason)
        self.status, self.reason, self.text = status, reason, text or reason


class _Handler(Handler):
    app: DriveServer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length).decode()
        parts = urlsplit(self.path)
        self.q = {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
        if (
            self.headers.get("x-http-method-override") == "GET"
        ):  # how the client sends an address that is too long
            method, self.q = (
                "GET",
                {k: v[0] for k, v in parse_qs(body, keep_blank_values=True).items()},
            )
        self.cut: int | None = None
        with self.app.lock:
            self.app.requests.append((method, self.path))
            fault = next(
                (f for f in self.app.faults if f.times > 0 and re.search(f.path, self.path)), None
            )
            if fault:
                fault.times -= 1
        try:
            if fault and fault.before:
                fault.before()
            if fault and fault.page:
                self._send(fault.status, fault.page.encode(), "text/html")
                return
            if fault and fault.status:
                raise _Refused(fault.status, fault.reason or "backendError")
            if fault:
                self.cut = fault.cut_after
            if parts.path.startswith("/drive/v3/"):
                self._drive(
                    method, [p for p in parts.path.removeprefix("/drive/v3/").split("/") if p]
                )
            else:
                self._oauth(method, parts.path, {k: v[0] for k, v in parse_qs(body).items()})
        except _Refused as e:
            error: Json = {"code": e.status, "message": e.text}
            if not (fault and fault.rpc_status and not fault.reason):
                error["errors"] = [{"domain": "global", "reason": e.reason, "message": e.text}]
            if fault and fault.rpc_status:
                error |= {
                    "status": fault.rpc_status,
                    **({"details": list(fault.details)} if fault.details else {}),
                }
            after = {"retry-after": fault.retry_after} if fault and fault.retry_after else {}
            self._send(e.status, json.dumps({"error": error}).encode(), headers=after)

    def _send(
        self, status: int, body: bytes, kind: str = "application/json", headers: Json | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.cut is not None:
            self.wfile.write(body[: self.cut])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(body)

    def _json(self, value: Any, status: int = 200) -> None:
        fields = self.q.get("fields", "")
        self._send(status, json.dumps(_masked(value, _mask(fields)) if fields else value).encode())

    # OAuth

    def _oauth(self, method: str, path: str, form: Json) -> None:
        if path == "/o/oauth2/auth":
            self._consent_page()
        elif path == "/o/oauth2/approve":
            try:
                back = self.app.approve(self.q, self.q.pop("account", ""))
            except ValueError as e:
                self._send(400, str(e).encode(), "text/plain")
                return
            self._send(302, b"", headers={"location": back})
        elif path == "/token" and method == "POST":
            self._token(form)
        elif path == "/revoke" and method == "POST":
            token = form.get("token", "")
            known = self.app.refresh.get(token) or self.app.access.get(token)
            if known:
                self.app.revoke(known[0])
            self._json({} if known else {"error": "invalid_token"}, 200 if known else 400)
        else:
            self._send(404, b"{}")

    def _consent_page(self) -> None:
        def link(account: str, text: str) -> str:
            address = f"/o/oauth2/approve?{urlencode({**self.q, 'account': account})}"
            return f'<p><a href="{html.escape(address)}">{html.escape(text)}</a></p>'

        links = "".join(link(a, f"Allow as {a}") for a in self.app.accounts)
        page = (
            f"<!doctype html><title>Demo account</title><h1>Leaf wants to read your "
            f"Drive</h1>{links}{link('', 'Deny')}"
        )
        self._send(200, page.encode(), "text/html; charset=utf-8")

    def _token(self, form: Json) -> None:
        grant = form.get("grant_type", "")
        if grant == "urn:ietf:params:oauth:grant-type:jwt-bearer":
            claims = json.loads(base64.urlsafe_b64decode(form["assertion"].split(".")[1] + "=="))
            if claims["iss"] not in self.app.service_accounts:
                self._json({"error": "invalid_grant", "error_description": "Invalid JWT"}, 400)
                return
            self._json(self.app.issue(claims["iss"], claims["scope"]))
            return
        if (
            form.get("client_id") != CLIENT_ID
            or form.get("client_secret") != self.app.client_secret
        ):
            self._json(
                {"error": "invalid_client", "error_description": "The OAuth client was not found."},
                401,
            )
            return
        self._code(form) if grant == "authorization_code" else self._refresh(form)

    def _code(self, form: Json) -> None:
        kept = self.app.codes.pop(form.get("code", ""), None)
        challenge = (
            base64.urlsafe_b64encode(
                hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            )
            .decode()
            .rstrip("=")
        )
        if (
            not kept
            or kept["redirect"] != form.get("redirect_uri")
            or kept["challenge"] != challenge
        ):
            self._json({"error": "invalid_grant", "error_description": "Bad Request"}, 400)
            return
        token = f"1//{secrets.token_urlsafe(24)}"
        self.app.refresh[token] = (kept["email"], kept["scope"])
        self._json({**self.app.issue(kept["email"], kept["scope"]), "refresh_token": token})

    def _refresh(self, form: Json) -> None:
        known = self.app.refresh.get(form.get("refresh_token", ""))
        if known is None:
            self._json(
                {
                    "error": "invalid_grant",
                    "error_description": "Token has been expired or revoked.",
                },
                400,
            )
            return
        self._json(self.app.issue(*known))

    # Drive

    def _drive(self, method: str, path: list[str]) -> None:
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        email, until, scope = self.app.access.get(token, ("", 0.0, ""))
        if not email or until < time.time():
            raise _Refused(401, "authError", "Invalid Credentials")
        if READONLY not in scope:
            raise _Refused(403, "insufficientPermissions", "Insufficient Permission")
        self.email = email
        match path:
            case ["about"]:
                self._json(
                    {
                        "user": {
                            "displayName": email.partition("@")[0].title(),
                            "emailAddress": email,
                        }
                    }
                )
            case ["drives"]:
                rows = [
                    {"id": i, "name": n}
                    for i, (n, members) in self.app.drives.items()
                    if email in members
                ]
                self._json({"drives": rows})
            case ["drives", drive_id]:
                self._json({"id": drive_id, "name": self._shared_drive(drive_id)[0]})
            case ["files"]:
                self._list()
            case ["files", file_id]:
                self._get(self._find(file_id))
            case ["files", file_id, "export"]:
                self._export(self._find(file_id))
            case ["files", file_id, "download"] if method == "POST":
                self._prepare(self._find(file_id))
            case ["operations", name]:
                self._operation(name)
            case ["prepared" | "export-link", file_id]:
                self._bytes(self._find(file_id).exports[self.q["mime"]], self.q["mime"])
            case ["changes", "startPageToken"]:
                if drive_id := self.q.get("driveId", ""):
                    self._shared_drive(drive_id)
                self._json({"startPageToken": str(len(self.app.changes) + 1)})
            case ["changes"]:
                self._changes()
            case _:
                raise _Refused(404, "notFound")

    def _shared_drive(self, drive_id: str) -> tuple[str, set[str]]:
        found = self.app.drives.get(drive_id)
        if not found or self.email not in found[1]:
            raise _Refused(404, "notFound", f"Shared drive not found: {drive_id}")
        return found

    def _is_member(self, drive_id: str) -> bool:
        """What is shared of other shared drives stands in the user's own log."""
        return drive_id in self.app.drives and self.email in self.app.drives[drive_id][1]

    def _find(self, file_id: str) -> Entry:
        entry = self.app.entries.get(self.app.root(self.email) if file_id == "root" else file_id)
        keys = dict(
            k.split("/")
            for k in self.headers.get("x-goog-drive-resource-keys", "").split(",")
            if "/" in k
        )
        hidden = (
            entry is None
            or not self.app.visible(entry, self.email)
            or (entry.drive and not self._supports_drives())
        )
        if (
            entry is None
            or hidden
            or (entry.key and entry.owner != self.email and keys.get(entry.id) != entry.key)
        ):
            raise _Refused(404, "notFound", f"File not found: {file_id}.")
        return entry

    def _supports_drives(self) -> bool:
        """`files.get` needs to be told so; the other methods do not."""
        return self.q.get("supportsAllDrives") == "true" or not re.fullmatch(
            r"/drive/v3/files/[^/]+", urlsplit(self.path).path
        )

    def _list(self) -> None:
        corpora, drive_id = self.q.get("corpora", "user"), self.q.get("driveId", "")
        all_drives = (
            self.q.get("includeItemsFromAllDrives") == "true"
            and self.q.get("supportsAllDrives") == "true"
        )
        if corpora in ("drive", "allDrives") and not all_drives:
            raise _Refused(403, "teamDrivesNotSupported")
        if corpora == "drive":
            self._shared_drive(drive_id)
        for folder in re.findall(r"'([^']+)' in parents", self.q.get("q", "")):
            if folder in self.app.entries and self.app.entries[folder].key:
                self._find(folder)  # refused without its resource key
        if "fullText" in self.q.get("q", "") and "orderBy" in self.q:
            raise _Refused(
                403, "forbidden", "Sorting is not supported for queries with fullText terms."
            )
        asked = (
            self.email,
            self.q.get("q", ""),
            self.q.get("orderBy", ""),
            corpora,
            drive_id,
            all_drives,
        )
        try:
            ids = self.app.matching(*asked)
            ids, token = self.app.page(
                ids,
                asked,
                self.q.get("pageToken", ""),
                min(int(self.q.get("pageSize", "100")), 1000),
            )
        except ValueError as e:
            raise _Refused(400, "invalid", "Invalid Value") from e
        rows = [self.app.row(self.app.entries[i], self.email) for i in ids]
        self._json(
            {
                "files": rows,
                "incompleteSearch": self.app.incomplete,
                **({"nextPageToken": token} if token else {}),
            }
        )

    def _get(self, entry: Entry) -> None:
        if self.q.get("alt") != "media":
            self._json(self.app.row(entry, self.email))
        elif entry.mime.startswith(G):
            raise _Refused(
                403,
                "fileNotDownloadable",
                "Only files with binary content can be directly downloaded.",
            )
        elif not entry.can_download:
            raise _Refused(403, "cannotDownloadFile", "This file cannot be downloaded by the user.")
        else:
            self._bytes(entry.content, entry.mime)

    def _bytes(self, content: bytes, mime: str) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        if not asked:
            self._send(200, content, mime)
            return
        first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        if first >= len(content):
            self._send(416, b"", mime, {"content-range": f"bytes */{len(content)}"})
            return
        self._send(
            206,
            content[first : last + 1],
            mime,
            {"content-range": f"bytes {first}-{last}/{len(content)}"},
        )

    def _exported(self, entry: Entry) -> bytes:
        if self.q.get("mimeType", "") not in entry.exports:
            raise _Refused(400, "badRequest", "The requested conversion is not supported.")
        return entry.exports[self.q["mimeType"]]

    def _export(self, entry: Entry) -> None:
        content = self._exported(entry)
        if len(content) > self.app.export_limit:
            raise _Refused(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        self._send(200, content, self.q["mimeType"])

    def _prepare(self, entry: Entry) -> None:
        if not self.app.prepares:
            raise _Refused(403, "forbidden")
        self._exported(entry)
        name = f"op{secrets.token_hex(8)}"
        uri = f"{self.app.url}/drive/v3/prepared/{entry.id}?mime={quote(self.q['mimeType'])}"
        self.app._operations[name] = {"polls": 0, "uri": uri}
        self._json({"name": name, "done": False})

    def _operation(self, name: str) -> None:
        kept = self.app._operations.get(name)
        if not kept:
            raise _Refused(404, "notFound")
        kept["polls"] += 1
        done = {"response": {"downloadUri": kept["uri"]}}
        self._json({"name": name, "done": True, **done})

    def _changes(self) -> None:
        try:
            at = int(self.q["pageToken"]) - 1
        except (KeyError, ValueError) as e:
            raise _Refused(400, "invalid", "Invalid Value") from e
        drive_id = self.q.get("driveId", "")
        if drive_id:
            self._shared_drive(drive_id)
        size = min(int(self.q.get("pageSize", "100")), 1000)
        end = min(at + size, len(self.app.changes))
        rows = [
            row for change in self.app.changes[at:end] if (row := self._change(change, drive_id))
        ]
        more = (
            {"nextPageToken": str(end + 1)}
            if end < len(self.app.changes)
            else {"newStartPageToken": str(end + 1)}
        )
        self._json({"changes": rows, **more})

    def _change(self, change: Json, drive_id: str) -> Json | None:
        entry: Entry = change["entry"]
        if (change["drive"] != drive_id) if drive_id else self._is_member(change["drive"]):
            return None
        if not self.app.visible(entry, self.email):
            return None
        row = {
            "changeType": "file",
            "fileId": change["id"],
            "time": change["time"].strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        gone = change["id"] not in self.app.entries
        return {
            **row,
            "removed": gone,
            **({} if gone else {"file": self.app.row(entry, self.email)}),
        }


# Demo


def docx(*paragraphs: str) -> bytes:
    """A Word document of these paragraphs."""
    body = "".join(f"<w:p><w:r><w:t>{html.escape(p)}</w:t></w:r></w:p>" for p in paragraphs)
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package, office = (
        "http://schemas.openxmlformats.org/package/2006",
        "http://schemas.openxmlformats.org/officeDocument/2006",
    )
    types = (
        f'<?xml version="1.0"?><Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/word/document.xml" '
        f'ContentType="{DOCX}.main+xml"/></Types>'
    )
    rels = (
        f'<?xml version="1.0"?><Relationships '
        f'xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", rels)
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?><w:document '
            f'xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>',
        )
    return out.getvalue()


def xlsx(sheets: dict[str, list[list[Any]]]) -> bytes:
    """A workbook of these sheets."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def fill(google: DriveServer) -> None:
    """Files for a first look: two accounts, a shared drive, Google's own formats, shortcuts, a
    large folder."""
    regions = ["North", "South", "East", "West"]
    sales = [["region", "month", "revenue"]] + [
        [r, f"2026-{m:02}", 1000 * m + 37 * i] for m in range(1, 13) for i, r in enumerate(regions)
    ]
    targets: list[list[Any]] = [
        ["region", "target"],
        *([r, 80_000 + 500 * i] for i, r in enumerate(regions)),
    ]
    csv = "\n".join(",".join(map(str, row)) for row in sales).encode()
    mine = google.root(ANA)
    reports = google.folder("Reports 2026", mine)
    google.doc(
        "Sales by region",
        SHEET,
        {XLSX: xlsx({"Sales": sales, "Targets": targets})},
        reports,
        words="sales revenue region target",
    )
    minutes = (
        "Steering committee, 4 May 2026",
        "The budget for 2027 was raised to 1.2 million euros.",
        "Ana prepares the hiring plan.",
    )
    google.doc(
        "Minutes of the steering committee",
        DOC,
        {DOCX: docx(*minutes)},
        reports,
        words=" ".join(minutes),
    )
    google.add("sales.csv", "text/csv", reports, csv)
    google.add(
        'Plan: Q1/Q2 "draft" o\'brien.txt',
        "text/plain",
        reports,
        b"Draft of the plan.\nNothing is decided.\n",
    )
    archive = google.folder("Archive", reports)
    for n in range(1, 261):
        google.add(
            f"invoice-{n:04}.csv",
            "text/csv",
            archive,
            f"item,amount\nchair,{n * 3}\ndesk,{n * 7}\n".encode(),
        )
    google.shortcut("Back to the reports", reports, archive)
    google.add("holiday.mp4", "video/mp4", mine, b"", size=5_000_000_000)
    team = google.shared_drive("Marketing team", ANA, BEN)
    campaign = google.folder("Campaigns", team)
    google.add(
        "campaigns.csv",
        "text/csv",
        campaign,
        b"campaign,clicks,cost\nSpring,1200,340.5\nSummer,2100,512.25\n",
    )
    google.shortcut(
        "Sales (shortcut)",
        next(e.id for e in google.entries.values() if e.name == "sales.csv"),
        mine,
    )
    hers = google.root(BEN)
    google.add("From Ben.csv", "text/csv", hers, b"city,visits\nOslo,12\nRome,40\n", shared={ANA})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=9000)
    given = parser.parse_args()
    google = DriveServer(given.port)
    fill(google)
    print(f"Google on {google.url}: accounts {', '.join(google.accounts)}", flush=True)
    with google:
        threading.Event().wait()


if __name__ == "__main__":
    main()
