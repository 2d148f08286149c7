"""Writes the tables in these pages that come from the code and from what the benches have kept:
`make docs`.

A test holds the pages to both.
"""

from __future__ import annotations

import importlib
import runpy
from functools import partial
from pathlib import Path

from bench._results import PAGES, Page, results, table
from bench._scaling import scaling_tables
from leaf.readers.base import KINDS, Kind
from leaf.settings import VARIABLES, Settings
from leaf.tools import registry

HERE = Path(__file__).parent

SETTINGS_MEANINGS = {
    "LEAF_HOME": "data folder: history, files, tables, results, indexes, cache",
    "ANTHROPIC_API_KEY": "key for Anthropic's API, or for the server at LEAF_MODEL_URL",
    "LEAF_MODEL": "model for chats that have none of their own",
    "LEAF_MODEL_URL": "base URL of any server that speaks the Messages API; no key needed then "
    "(`ANTHROPIC_BASE_URL` works too)",
    "LEAF_MODEL_PROFILE": "`claude` (thinking, caching) or `basic`; empty: by host and model "
    "name, see below",
    "LEAF_MODEL_WINDOW": "tokens that the model takes, request and answer; empty: by its "
    "name, 32,000 "
    "where unknown",
    "LEAF_MODEL_VISION": "whether the model sees pictures: `yes`, `no` or `auto` (those of "
    "profile `claude` "
    "do, others do not)",
    "LEAF_FILES_API": "whether pictures are uploaded once to the server's Files API: `on`, `off` "
    "or `auto` "
    "(at Anthropic's)",
    "LEAF_OWN_MODELS": "whether people may connect a model of their own on the settings page: `on`, "
    "`off` or `auto` (on where nobody signs in, off where people do); see "
    "[A model of one's own](#a-model-of-ones-own)",
    "LEAF_OWN_MODEL_HOSTS": "servers of your network to which such a connection may lead although "
    "people sign in, as `host` or `host:port`, by commas; empty: none",
    "LEAF_CONTEXT_SHARE": "part of the model's window at which a chat's older results are "
    "folded, see "
    "[context.md](context.md)",
    "LEAF_FILE_TOKENS": "tokens of file content that one answer takes in, see "
    "[context.md](context.md)",
    "LEAF_DATABASE_URL": "`postgresql://…`; empty: DuckDB in the data folder",
    "LEAF_STORAGE_URL": "where the bytes of files last: `s3://bucket/prefix`, `gs://…`, `az://…`, or "
    "`file` for the data folder; empty: the PostgreSQL database, without one the data folder; see "
    "[Where files last](#where-files-last)",
    "LEAF_CACHE_GB": "most that is kept in the data folder of files that last elsewhere, in GiB",
    "LEAF_STORAGE_DATABASE_MB": "most that files in the database may take, in MiB",
    "AWS_ENDPOINT_URL": "server of an S3 that is not Amazon's",
    "AWS_REGION": "region of an S3 bucket",
    "AWS_ACCESS_KEY_ID": "key of an S3 bucket",
    "AWS_SECRET_ACCESS_KEY": "its secret",
    "LEAF_MAX_UPLOAD_MB": "largest file that is taken, in MiB",
    "LEAF_DISK_GB": "most that Leaf uses of the disk, in GB; empty: all of it; see "
    "[keeping.md](keeping.md#a-cap-on-disk-use)",
    "LEAF_UPLOADS_MB": "most that one person may have uploaded and not added yet, in MiB",
    "LEAF_UPLOADS_TOTAL_MB": "the same of everybody together",
    "LEAF_ARCHIVE_FILES": "most files that are taken out of one archive or mail, with those in "
    "archives inside it",
    "LEAF_ARCHIVE_MB": "most that one archive or mail may unpack to, in MiB",
    "LEAF_MAX_OUTPUT_TOKENS": "longest single model turn, in tokens",
    "LEAF_TITLES": "`0` keeps the model from giving chats a title after their first answer: then the "
    "cut question stays",
    "LEAF_OPERATORS": "e-mail addresses of those who see *Operations* where people sign in, separated "
    "by commas; empty: nobody does, see [sign-in.md](sign-in.md#who-runs-leaf)",
    "LEAF_ALLOWED_DOMAINS": "domains whose e-mail addresses may sign in, separated by commas; see "
    "[sign-in.md](sign-in.md)",
    "LEAF_ALLOWED_EMAILS": "addresses that may sign in besides; both empty: everybody whom "
    "the login "
    "provider knows",
    "LEAF_SESSION_HOURS": "hours that a sign-in lasts; empty: as long as the provider's token says "
    "(Google: one hour)",
    "LEAF_ALLOW_OPEN": "`1` lets other machines reach Leaf although no sign-in is set up; all "
    "visitors are "
    "then one user",
    "LEAF_ALLOWED_HOSTS": "names under which others may reach Leaf, by commas "
    "(`*.example.com`: all "
    "below it); "
    "empty: any",
    "LEAF_LOCAL_TOKEN": "`off` opens a Leaf without sign-in to every program of this machine, not only "
    "to browsers that came by the address that it prints; see "
    "[security.md](security.md#without-sign-in)",
    "LEAF_PUBLIC_LINKS": "`on` lets people share a chat or a board read-only with anyone who has the "
    "link; see [security.md](security.md#public-links)",
    "LEAF_LOG": "how the log is written: `text`, `json` (an object a line), `quiet` or `full`; see "
    "[Watching over it](#watching-over-it)",
    "LEAF_AUDIT_DAYS": "days for which the audit log is kept; see [keeping.md](keeping.md#the-audit-log)",
    "LEAF_METRICS_TOKEN": "bearer token for `/metrics`; empty: there are none",
    "LEAF_RUN_TURNS": "model turns of one answer",
    "LEAF_RUN_TOOL_CALLS": "tool calls of one answer",
    "LEAF_RUN_SECONDS": "wall time of one answer",
    "LEAF_RUN_TOKENS": "tokens of one answer, cached input included",
    "LEAF_RUN_MONEY": "US dollars of one answer, at list price",
    "LEAF_MODEL_PATIENCE": "seconds for which an answer waits for a model server that is "
    "down or busy, and a step for a bucket that does not answer",
    "LEAF_RUNS_PER_USER": "answers that are written for one person at once; further questions wait",
    "LEAF_RUNS": "answers that one process writes at once",
    "LEAF_BUDGET_USER": "what one person may use in a workspace, as in `$5/day, 2M "
    "tokens/month`; see "
    "[Budgets](#budgets)",
    "LEAF_BUDGET_WORKSPACE": "what everybody of a workspace together may use",
    "LEAF_BUDGET_USER_MAX": "the most that owners of a workspace can allow one person",
    "LEAF_BUDGET_WORKSPACE_MAX": "the most that they can allow the workspace",
    "LEAF_TIME_ZONE": "where days and months of budgets and of the usage page begin, as in "
    "`Europe/Berlin`",
    "LEAF_TRANSCRIBE_URL": "server with OpenAI's transcription API; empty: faster-whisper, if it "
    "is installed",
    "LEAF_TRANSCRIBE_KEY": "its key",
    "LEAF_TRANSCRIBE_MODEL": "its model",
    "LEAF_WHISPER_MODEL": "faster-whisper's model: `base`, `small`, `medium` …, a repository of "
    "converted "
    "weights, or a folder",
    "LEAF_PYTHON_IDLE_MINUTES": "minutes after which the variables of a chat's Python are "
    "let go; the "
    "next call "
    "makes them anew",
    "LEAF_PACKAGES": "Python packages that chats may install besides the list in "
    "[python.md](python.md), by commas",
    "LEAF_GOOGLE_CLIENT_ID": "OAuth client for Google Drive, see [Google Drive](drive.md)",
    "LEAF_GOOGLE_CLIENT_SECRET": "its secret",
    "LEAF_GOOGLE_CLIENT_JSON": "in place of both: the client's JSON from Google's console, "
    "as text or "
    "as the path "
    "of the file",
    "LEAF_GOOGLE_SERVICE_ACCOUNT": "key of a service account, as text or as the path of the "
    "file; all "
    "users see "
    "what it sees",
    "LEAF_GOOGLE_API_URL": "address of another Drive API, for trials; empty: Google's",
    "LEAF_GOOGLE_AUTH_URL": "where users consent",
    "LEAF_GOOGLE_TOKEN_URL": "where codes become tokens",
    "LEAF_GOOGLE_REVOKE_URL": "where tokens are given back",
    "LEAF_SECRET_KEY": "keys that encrypt tokens and model keys at rest, by commas, the first encrypts; empty: "
    "a key made "
    "in the data folder",
}


def _has_tables(kind: Kind) -> bool:
    """Whether the reader of documents of this kind finds tables in them."""
    module, _, name = kind.reader.partition(":")
    return hasattr(getattr(importlib.import_module(module), name), "tables")


def settings_table() -> str:
    """Every environment variable with its default."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for variable, path in VARIABLES.items():
        value: object = Settings()
        for name in path.split("."):
            value = getattr(value, name)
        if variable in (
            "LEAF_MAX_UPLOAD_MB",
            "LEAF_ARCHIVE_MB",
            "LEAF_UPLOADS_MB",
            "LEAF_UPLOADS_TOTAL_MB",
            "LEAF_STORAGE_DATABASE_MB",
        ):
            value = int(str(value)) // 1024**2
        if variable == "LEAF_CACHE_GB":
            value = int(str(value)) // 1024**3
        value = "on" if value is True else value
        rows.append(
            f"| `{variable}` | {f'`{value}`' if value else ''} | {SETTINGS_MEANINGS[variable]} |"
        )
    return "\n".join(rows)


def tools_table() -> str:
    """Every tool with its parameters."""
    rows = ["| tool | parameters | what it does |", "|---|---|---|"]
    for schema in registry.schemas():
        required = schema["input_schema"].get("required", [])
        names = [
            f"`{n}`" if n in required else f"`{n}?`"
            for n in schema["input_schema"].get("properties", {})
        ]
        rows.append(
            f"| `{schema['name']}` | {' '.join(names)} | "
            f"{schema['description'].split('. ')[0].rstrip('.')} |"
        )
    return "\n".join(rows)


def formats_table() -> str:
    """Every kind of file with its usual endings."""
    rows = ["| kind | endings | SQL |", "|---|---|---|"]
    rows += [
        f"| {k.label} | {', '.join(k.endings)} | "
        f"{'yes' if k.tabular else 'its tables' if _has_tables(k) else ''} |"
        for k in KINDS.values()
    ]
    return "\n".join(rows)


def figures_table(page: Page) -> str:
    """What the benches have kept."""
    return table(page, results())


def scaling() -> str:
    """What many people need, by what one answer was measured to cost."""
    return scaling_tables(results())


def licences_table() -> str:
    """Every package that is installed, with its licence."""
    return str(runpy.run_path(str(HERE / "licences.py"))["table"]())


TABLES = {
    "licences": licences_table,
    "settings": settings_table,
    "tools": tools_table,
    "formats": formats_table,
    "scaling": scaling,
    **{page.marker: partial(figures_table, page) for page in PAGES},
}


def filled(page: str) -> str:
    """The page with each table between its markers made anew."""
    for name, make in TABLES.items():
        head, opening, rest = page.partition(f"<!-- {name} -->\n")
        if opening:
            _, closing, tail = rest.partition(f"<!-- /{name} -->")
            page = f"{head}{opening}{make()}\n{closing}{tail}"
    return page


if __name__ == "__main__":
    for path in HERE.glob("*.md"):
        path.write_text(filled(path.read_text()))
