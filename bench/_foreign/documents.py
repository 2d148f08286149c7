"""PDFs of two other readers' own tests: each opens or is refused in a sentence, and its text is
held against theirs.

Every file is opened by the functions that the app calls, in a process of its own with 20 seconds
and 3 GB. A file is refused wrongly if pypdfium2 or pypdf opens it and gives a page.

Closeness to a known text is the mean over files of the F1 of its words: each as often as it stands
there, wherever it stands, ligatures and wide forms as the letters they stand for.
"""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import signal
import statistics
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench._foreign import Figure

SECONDS = 20
MEMORY = 3 << 30
MARKS = re.compile(r"^\((?:no text layer|this page is damaged|the text of this page).*\)$", re.M)


def measure(corpora: Path, show: bool) -> list[Figure]:
    """What became of each PDF, and how close its text is to that of PDFBox."""
    found = []
    for folder, name in (("pdfjs", "pdf.js"), ("pdfbox", "PDFBox")):
        files = sorted(
            path for path in (corpora / folder).rglob("*") if path.suffix.lower() == ".pdf"
        )
        if files:
            found += _survey(name, files, show)
    known = [
        p
        for p in sorted((corpora / "pdfbox").glob("*.pdf"))
        if p.with_name(p.name + ".txt").is_file()
    ]
    return found + (_texts(known, show) if known else [])


def _survey(name: str, files: Sequence[Path], show: bool) -> list[Figure]:
    counts: Counter[str] = Counter()
    slowest = 0.0
    for path in files:
        start = time.perf_counter()
        told = _apart(_all_of, path)
        slowest = max(slowest, time.perf_counter() - start)
        what = told["what"]
        if (what == "refused" or told.get("kind", "pdf") != "pdf") and _apart(_opens, path).get(
            "opens"
        ):
            what = "refused wrongly"
        counts[what] += 1
        counts["notes"] += any(
            kind in ("text-garbled", "pages-damaged") for kind in told.get("notes", ())
        )
        counts["tables"] += told.get("tables") or 0
        if show and (what != "read" or told.get("tables") or told.get("notes")):
            print(
                f"  {path.name}: {what} {told.get('why', '')} {told.get('tables') or 0} tables "
                f"{told.get('notes', '')}"
            )
    of = f"of {len(files)} files"
    return [
        Figure(
            name, f"exceptions that no sentence explains, {of}", counts["raw"], 0, at_least=False
        ),
        Figure(
            name,
            f"files that took over {SECONDS} s or ended their process, {of}",
            counts["died"],
            0,
            at_least=False,
        ),
        Figure(
            name,
            f"files refused that pypdfium2 or pypdf opens, {of}",
            counts["refused wrongly"],
            0,
            at_least=False,
        ),
        Figure(name, f"files refused in a sentence, {of}", counts["refused"]),
        Figure(
            name, f"files with damaged pages or text that can't be trusted, {of}", counts["notes"]
        ),
        Figure(name, "tables found", counts["tables"]),
        Figure(name, "seconds of the slowest file", slowest),
    ]


def _apart(look: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any]:
    """What becomes of a file in a process of its own; this one loads no library, so that none is
    half copied."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.close(read)
        os.write(write, json.dumps(look(path)).encode()[:60_000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    told: dict[str, Any] = json.loads(data) if data else {"what": "died"}
    return told


def _all_of(path: Path) -> dict[str, Any]:
    """Inspected, read, made ready for the search, its tables written."""
    from leaf.errors import LeafError
    from leaf.readers import worker

    try:
        with tempfile.TemporaryDirectory() as folder:
            told = worker.inspect(str(path), path.name)
            outline = told["outline"]
            worker.read(str(path), told["kind"])
            worker.extract(str(path), told["kind"], folder)
            tables = (
                len(worker.tables(str(path), told["kind"], folder + "/tables"))
                if told["kind"] == "pdf"
                else 0
            )
        return {
            "what": "read",
            "kind": told["kind"],
            "tables": tables,
            "notes": [note["kind"] for note in outline["notes"]],
        }
    except LeafError as e:
        return {"what": "refused", "why": str(e)}
    except BaseException as e:  # noqa: BLE001  what is counted is just what nobody expects
        return {"what": "raw", "why": repr(e)[:300]}


def _opens(path: Path) -> dict[str, Any]:
    """Whether another reader opens a file and reads a page of it."""
    import pypdf
    import pypdfium2

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        document = pypdfium2.PdfDocument(path)
        document[0].get_textpage().get_text_bounded()
        return {"opens": True}
    except (pypdfium2.PdfiumError, IndexError):
        pass
    try:
        pypdf.PdfReader(path).pages[0].extract_text()
        return {"opens": True}
    except Exception:  # noqa: BLE001  pypdf raises many kinds
        return {"opens": False}


def _texts(files: Sequence[Path], show: bool) -> list[Figure]:
    pairs = [
        (
            path.name,
            leaf_text(path),
            path.with_name(path.name + ".txt").read_text("utf-8-sig", "replace"),
        )
        for path in files
    ]
    ours = [(name, closeness(text, truth)) for name, text, truth in pairs]
    bare = [
        closeness(pdfium_text(path), truth)
        for path, (_, _, truth) in zip(files, pairs, strict=True)
    ]
    if show:
        for name, score in ours:
            if score < 0.9:
                print(f"  {name}: {score:.2f}")
    name = f"PDFBox text ({len(files)})"
    return [
        Figure(
            name, "F1 of words, mean over files", statistics.mean(score for _, score in ours), 0.93
        ),
        Figure(name, "the same of bare pypdfium2", statistics.mean(bare)),
    ]


def leaf_text(path: Path) -> str:
    """The pages as read_file gives them, without the marks of those that have no text."""
    from leaf.errors import LeafError
    from leaf.readers.base import Where
    from leaf.readers.documents.pdf import PdfReader

    try:
        return MARKS.sub(
            "", "\n".join(passage.text for passage in PdfReader().passages(path, Where()))
        )
    except LeafError:
        return ""


def pdfium_text(path: Path) -> str:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)
    except pypdfium2.PdfiumError:
        return ""


def closeness(text: str, truth: str) -> float:
    """F1 of the words of two texts; 1 where both have none."""
    a, b = (Counter(unicodedata.normalize("NFKC", words).split()) for words in (text, truth))
    if not a and not b:
        return 1.0
    return 2 * sum((a & b).values()) / (sum(a.values()) + sum(b.values()))
