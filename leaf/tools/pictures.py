"""The tool that looks at pictures: view_file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, Field

from leaf.errors import InvalidInputError
from leaf.files.pictures import MOST_PAGES, FilePreview
from leaf.readers.media.picture import tokens_of
from leaf.shapes.results import PictureShown, ToolResult
from leaf.store.media import DerivedPicture
from leaf.store.model import ChatFile
from leaf.tools.base import (
    LEAST_READ,
    Coverage,
    Picture,
    Source,
    Tool,
    ToolContext,
    ToolOutput,
    find_file,
    no_room,
    within_budget,
)


class ViewFileInput(BaseModel):
    file: str = Field(title="File", description="Handle (f1) or name of a picture or PDF.")
    pages: str = Field(
        "",
        title="Pages",
        description="Of a PDF or TIFF: '3', '3-5' or '3, 7-9'. Empty: the first three.",
    )


class PagesSeen(ToolResult):
    pictures: list[PictureShown]


def view_file(context: ToolContext, given: ViewFileInput) -> ToolOutput:
    """Pictures for the model, one line of text for each, and what was left out."""
    chat_file = find_file(context, given.file)
    file = chat_file.file
    if not context.hooks.sees:
        raise InvalidInputError(
            "The model that answers here cannot see pictures.",
            "Use read_file for the text that there is, and tell the user that pictures need a "
            "model that sees "
            "(LEAF_MODEL_VISION=yes if this one does).",
        )
    within_budget(context, LEAST_READ)
    view = context.library.pictures.view(context.scope, file, given.pages, stop=context.stop)
    fitting = _fitting(context, view)
    over = [one.page for one in view.pictures[len(fitting) :]]
    pages = [one.page for one in fitting]
    several = view.total > 1 or file.kind == "pdf"
    place = ", ".join(_runs(pages, "page")) if several else ""
    pictures = tuple(
        Picture(
            one.sha256,
            one.media_type,
            one.width,
            one.height,
            f"page {one.page} of {file.name}" if several else file.name,
        )
        for one in fitting
    )
    covered = (
        f"{place} of {view.total:,}"
        if several
        else f"a picture, {file.outline.get('width')}×{file.outline.get('height')}"
    )
    lines = [
        f"{file.name} ({chat_file.handle}) · {covered}, shown below",
        *_not_shown(over, view.left_out),
        *(
            f"Note: {note['text']}"
            for note in file.outline.get("notes") or ()
            if note["kind"] == "animation"
        ),
    ]
    return ToolOutput(
        "\n".join(lines),
        f"Looked at {place + ' of ' if place else ''}{file.name}",
        sources=(Source(chat_file.handle, file.id, file.name, place, "viewed"),),
        coverage=(_coverage(chat_file, pages, view.total),) if several else (),
        data=PagesSeen(
            pictures=[
                _shown(chat_file, one, picture.label)
                for one, picture in zip(fitting, pictures, strict=True)
            ]
        ),
        pictures=pictures,
    )


def _not_shown(over: Sequence[int], left_out: Sequence[int]) -> Iterator[str]:
    """Which pages are missing, and why: no room for `over`, or more than one call shows."""
    if over:
        rest = ", ".join(_runs([*over, *left_out]))
        yield (
            f"Not shown: pages {rest}; this answer has no room for more of the files "
            f"(LEAF_FILE_TOKENS)."
        )
    elif left_out:
        rest = ", ".join(_runs(left_out))
        yield f"Not shown: pages {rest}; one call shows {MOST_PAGES}. Go on with pages='{rest}'."


def _fitting(context: ToolContext, view: FilePreview) -> list[DerivedPicture]:
    """The first pictures, as many as the answer's budget of file content has room for. Raises
    InvalidInputError for none."""
    left = context.hooks.file_tokens
    fitting: list[DerivedPicture] = []
    for one in view.pictures:
        tokens = tokens_of(one.width, one.height)
        if left is not None and tokens > left:
            break
        left = None if left is None else left - tokens
        fitting.append(one)
    if not fitting:
        raise no_room()
    return fitting


def _shown(chat_file: ChatFile, picture: DerivedPicture, label: str) -> PictureShown:
    return {
        "file_id": chat_file.file.id,
        "sha256": picture.sha256,
        "page": picture.page,
        "label": label,
        "width": picture.width,
        "height": picture.height,
        "tokens": tokens_of(picture.width, picture.height),
    }


def _coverage(chat_file: ChatFile, pages: Sequence[int], total: int) -> Coverage:
    ranges = tuple((run[0], run[-1]) for run in _grouped(pages))
    return Coverage(chat_file.file.id, chat_file.file.name, "pages", len(pages), total, ranges)


def _grouped(pages: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for page in pages:
        if runs and runs[-1][-1] == page - 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    return runs


def _runs(pages: Sequence[int], unit: str = "") -> list[str]:
    """`3-5`, or with a unit `pages 3-5` and `page 9`."""
    named = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in _grouped(pages)]
    return (
        [f"{unit}s {text}" if "-" in text else f"{unit} {text}" for text in named]
        if unit
        else named
    )


TOOLS = (
    Tool(
        "view_file",
        "See a picture, or pages of a PDF as pictures: scans, photos, drawings, charts, layout. A "
        "page costs about 2,400 tokens, "
        "its text by read_file a quarter of that; use this where the text is missing or "
        "not enough.",
        ViewFileInput,
        view_file,
        "Looking at a picture",
        icon="visibility",
        result=PagesSeen,
    ),
)
