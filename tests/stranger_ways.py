"""What the walk of strangers may meet on the ways beside a session: each route with the statuses
that answer it, each command with how it is given. Add a line for a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NO_DOWNLOAD = (400, 404, 405)
"""405 for HEAD of what would be made; 409 says that something is for owners, or for operators. A
member is given what she used herself."""
ROUTES: Mapping[str, tuple[int, ...]] = {
    "/_leaf/hello": (200, 422),
    "/_leaf/call": (401,),
    "/_leaf/files": (401,),
    "/_leaf/live": (),
    "/_leaf/downloads/{workspace_id}/files/{file_id}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/generated/{file_id}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/played/{file_id}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/written/{chat_id}/{sha256}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/results/{chat_id}/{result_id}/{form}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/chats/{chat_id}/{form}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/boards/{board_id}/{form}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/documents/{document_id}/{form}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/answers/{message_id}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/charts/{message_id}/{call_id}/{form}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/edited/{edit_id}/{form}": NO_DOWNLOAD,
    "/_leaf/downloads/{workspace_id}/usage/{range}/{whose}": (*NO_DOWNLOAD, 200),
    "/_leaf/downloads/{workspace_id}/audit": (*NO_DOWNLOAD, 409),
    "/_leaf/downloads/{workspace_id}/audit-of-all": (*NO_DOWNLOAD, 409),
    "/_leaf/shared/{token:path}": (400, 404, 405, 429),
    "/_leaf/uploads": (403,),
    "/_leaf/uploads/{job}": (400, 403, 405),
    "/_leaf/uploads/{job}/close": (400, 403, 405),
    "/_leaf/uploads/{job}/go-on": (400, 403, 405),
    "/_leaf/uploads/{job}/left": (400, 403, 405),
    "/_leaf/uploads/{job}/without": (400, 403, 405),
    "/_leaf/uploads/{job}/{position:int}": (400, 403, 405),
    "/_leaf/uploads/{job}/{position:int}/again": (400, 403, 405),
    "/healthz": (200,),
    "/readyz": (200,),
    "/metrics": (404,),
    "/_stcore/health": (200, 204),
    "/_stcore/metrics": (200, 204),
    "/_stcore/host-config": (200,),
    "/_stcore/stream": (),
    "/_stcore/upload_file/{session_id}/{file_id}": (403,),
    "/_stcore/agent/interact": (403, 405),
    "/_stcore/agent/openapi.json": (200, 405),
    "/_stcore/agent/mcp": (400, 403, 405),
    "/_stcore/bidi-components/{path:path}": (204, 400, 404),
    "/media/{file_id:path}": (204, 400, 403, 404),
    "/component/{path:path}": (204, 400, 404),
    "/auth/login": (302,),
    "/auth/logout": (200,),
    "/oauth2callback": (302,),
    "": (200, 307),
}
"""Path -> how strangers are answered who ask as it can be asked, with the owner's ids: the same for
nobody, for somebody of another workspace, and for a member outside the chat. None: a websocket,
which has a test of its own."""
NOT_ASKED_SO = (200, 204, 302, 307, 400, 403, 404, 405)
"""For methods that a route does not take; 200 is the page around every page, which is empty."""

OPERATORS: Mapping[str, Mapping[str, Any]] = {
    "runs": {},
    "run_steps": {"message_id": "none"},
    "resume_run": {"message_id": "none"},
    "usage_of_all": {"range": "30d", "by": "user"},
    "workspaces": {},
    "accounts": {},
    "purge_workspace": {"workspace_id": "none"},
    "purge_account": {"email": "nobody@example.org"},
    "backup": {"target": "/dev/null"},
    "audit": {},
    "unlink_account": {"email": "nobody@example.org"},
}
"""Methods for whoever runs Leaf, and how they are called here: with nothing of the owner's."""


@dataclass(frozen=True)
class Command:
    """A command, as somebody gives it who acts for the local user."""

    words: tuple[str, ...]
    """`ID` stands for each of the owner's ids in turn, `PATH` for a file; none: it is not given,
    since this process would become another."""
    ends: tuple[int, ...] = (0,)
    """Exit codes."""
    takes: tuple[str, ...] = ()
    """Its arguments that are ids."""
    operator: bool = False
    """Whether it is for whoever runs Leaf: it may name people and ids of all, and no content."""
    spares: tuple[str, ...] = ()
    """Kinds of ids that are not given: the operator's right reaches them."""


def command(words: str, *ends: int, **more: Any) -> Command:
    return Command(tuple(words.split()), ends or (0,), **more)


ID, CHAT = ("id",), ("chat",)
COMMANDS: Mapping[str, Command] = {
    "ask": command("ask Anything? --chat ID", 2, takes=CHAT),
    "watch": command("watch ID", 2, takes=ID),
    "tools": command("tools"),
    "tool": command("tool list_files {} --chat ID", 1, takes=CHAT),
    "files add": command("files add PATH --chat ID", 1, takes=CHAT),
    "files list": command("files list --json"),
    "files jobs": command("files jobs --json"),
    "files purge": command("files purge ID --yes", 1, takes=ID),
    "files stop": command("files stop ID", 1, takes=ID),
    "chats list": command("chats list --json"),
    "chats show": command("chats show ID --json", 1, takes=ID),
    "chats purge": command("chats purge ID --yes", 1, takes=ID),
    "models list": command("models list"),
    "models test": command("models test", 0, 1),
    "runs list": command("runs list --json", operator=True),
    "runs show": command("runs show ID --json", 0, 1, takes=ID, operator=True),
    "runs resume": command("runs resume ID", 1, takes=ID, operator=True),
    "usage": command("usage --by user", operator=True),
    "users list": command("users list", operator=True),
    "users unlink": command("users unlink nobody@example.org", 1, operator=True),
    "users purge": command("users purge nobody@example.org --yes", 1, operator=True),
    "workspaces list": command("workspaces list", operator=True),
    "workspaces purge": command(
        "workspaces purge ID --yes", 1, takes=ID, operator=True, spares=("workspace_id",)
    ),
    "backup": command("backup PATH", 1, operator=True),
    "restore": command("restore PATH", 1, 2, operator=True),
    "audit": command("audit", operator=True),
    "replay": command("replay PATH", 1),
    "doctor": command("doctor", 0, 1),
    "storage check": command("storage check", 1, operator=True),
    "storage move": command("storage move", 1, operator=True),
    "storage sweep": command("storage sweep", 1, operator=True),
    "run": Command(()),
}
