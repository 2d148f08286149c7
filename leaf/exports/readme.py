"""README.md of a bundle: what is in it, which files it needs, and how to compute it again. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.agent.export import as_words, markdown_table
from leaf.exports.manifest import Manifest
from leaf.shapes.harmless import harmless_markdown

WORDS = """\
# {title}

A chat of Leaf: the questions, the answers, and everything that the figures in them were computed with.
The data files are not in it. Whoever has them can compute every figure again, without a model and without a key.

| | |
|---|---|
| `chat.md` | the whole chat, for reading |
| `chat.ipynb` | the same as a notebook that runs |
| `queries/` | the SQL of each query, numbered as they ran |
| `cells/` | the Python of each cell, numbered as they ran |
| `files/` | what that Python wrote, the newest of each name |
| `manifest.json` | files with their SHA-256, calls with their results (the first 200 rows), figures with what they rest on |

## Compute it again

Put the files below into a folder, under any name; they are found by their SHA-256. Then, where Leaf is installed:

    python -m leaf replay THIS.zip --data FOLDER

runs every query and every cell in order over the same tables, compares what comes out cell by cell (numbers to 9 digits), and
traces every figure anew. It says which agree, and ends with code 1 if any does not. It works in a temporary folder of its own.

The notebook does the same cell by cell. With Leaf importable it reads the files as the chat did, spreadsheets included, and
checks the figures. Without Leaf it needs `duckdb` and `pandas`, and reads CSV and Parquet files with DuckDB's own reader: that
is the same for plain files, and can differ for files that Leaf had to repair. It runs the Python of the chat in its own process,
unconfined, as notebooks do: read it before you run a notebook that somebody else gave you.

## Files

{files}
{more}"""


def readme(manifest: Manifest, left: Sequence[str] = ()) -> str:
    """For whoever opens the folder; `left` are files that Python wrote and that are not in it."""
    rows: list[list[object]] = [
        [
            as_words(file.name),
            f"{file.size:,}",
            f"`{file.sha256}`",
            ", ".join(f"`{t.name}`" for t in file.tables),
        ]
        for file in manifest.files
    ]
    files = markdown_table(["File", "Bytes", "SHA-256", "Tables in SQL"], rows) if rows else "None."
    more = ""
    if manifest.packages:
        packages = "\n".join(f"- {package}" for package in manifest.packages)
        more = (
            f"\n## Python packages\n\nInstalled for this chat besides Leaf's own:\n\n{packages}\n"
        )
    if left:
        names = "\n".join(f"- {name}" for name in left)
        more += f"\n## Not in `files/`\n\nWhat Python wrote as well:\n\n{names}\n"
    more += f"\nMade by Leaf {manifest.leaf} on {manifest.exported}.\n"
    return harmless_markdown(
        WORDS.format(title=manifest.title or "Untitled chat", files=files, more=more)
    )
