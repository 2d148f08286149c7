"""What each kind of note means for figures: whoever repeats notes asks here which of them a figure
cannot do without."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class Effect(Enum):
    """What a note says about the figures that are made from its table."""

    NONE = "none"
    """Nothing: names, places, the look of the file."""
    FIGURES = "figures"
    """A figure means something else, or may be wrong, because of it."""
    COUNTED = "counted"
    """Rows of the file are no rows of data; the counts of what was left out say it."""
    DOUBT = "doubt"
    """Rows are kept as data that may be none, or left out though they may be data; they are named
    one by one."""
    CONTRADICTION = "contradiction"
    """The file says two things that cannot both be right; comes before all else that is doubtful."""


EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(
        ("totals-doubtful", "titles-doubtful", "notes-doubtful", "rows-doubtful"), Effect.DOUBT
    ),
    "totals-differ": Effect.CONTRADICTION,
    **dict.fromkeys(
        ("subtotal-rows", "total-rows", "difference-rows", "summary-rows", "heading-rows"),
        Effect.COUNTED,
    ),
    **dict.fromkeys(("preamble", "footer", "header-repeated", "rows-skipped"), Effect.COUNTED),
    **dict.fromkeys(
        (
            *(
                "header-assumed",
                "header-shifted",
                "header-two-rows",
                "no-header",
                "several-blocks",
                "loose-cells",
            ),
            *("members-left", "rows-long", "rows-ragged", "repaired-quotes", "encoding-guessed"),
            *("cells-unparsed", "error-cells", "missing-words", "no-cached-values", "types-mixed"),
            *("currency", "currency-mixed", "currency-stripped", "percent", "durations"),
            *("records-elsewhere", "scaled", "zeros-in-front"),
            *(
                "numbers-ambiguous",
                "flags-apart",
                "footnote-marks",
                "date-serials",
                "dates-ambiguous",
                "dates-mixed",
                "codes-as-numbers",
                "series-described",
                "cube-sums",
                "cube-totals",
                "periods-mixed",
                "sentinels",
                "numbers-long",
                "labels-once",
                "minus-signs",
                "times-zoned",
                "two-digit-years",
            ),
            *("duplicate-keys", "duplicate-rows", "rows-continued", "sum-columns"),
            *("filtered-rows", "hidden-rows", "hidden-sheet", "merged-cells", "one-column"),
            *("chapters-unread", "codes-kept", "messages-unread", "parts-unread", "tables-cut"),
            "parts-sealed",
            *("archive-cut", "members-unread", "recording-cut"),
            *("pages-damaged", "table-doubtful", "table-extract", "text-garbled"),
            *("cells-parted", "marks-apart"),
            *("hidden-text", "struck-text", "tracked-deletions", "tracked-insertions"),
        ),
        Effect.FIGURES,
    ),
    **dict.fromkeys(
        (
            *(
                "animation",
                "blanks-left-off",
                "binary-left-out",
                "controls-mended",
                "cues-skipped",
                "dimensions-parted",
                "few-words",
                "formulas-of-texts",
                "hidden-columns",
                "hidden-slide",
                "index-cut",
                "merged-labels",
                "pictures-unread",
            ),
            *(
                "names-empty",
                "names-repeated",
                "nested",
                "newlines-mixed",
                "no-sound",
                "no-text-layer",
                "nul-bytes",
            ),
            *("numbers-as-text", "rows-empty"),
            *("rows-estimated", "totals-called", "transcript-partial"),
            *(
                "caption",
                "codes-labelled",
                "columns-described",
                "decimal-comma",
                "not-json",
                "views-skipped",
            ),
            *("members-deep", "members-skipped", "names-guessed"),
            *("page-furniture", "pages-joined", "tables-counted", "tables-sampled"),
        ),
        Effect.NONE,
    ),
}
"""Kind -> its effect. The place to add a kind of note."""

NO_VALUE_TAIL = "→NULL."
"""How short notes end that say which cells have no value: several are said as one."""

OF_TEXTS = frozenset(("encoding-guessed",))
"""Kinds of notes that are about every text of a file and about nothing else of it."""

OUTSIDE = {
    "preamble": "title",
    "footer": "remark",
    "header-repeated": "repeated header",
    "rows-skipped": "unreadable line",
}
"""Kinds of notes that count rows around or between the rows of a table -> what those rows are."""


def joined(texts: Sequence[str]) -> list[str]:
    """Short notes with those on cells without a value said as one: `3 'n/a' in 'a', 2 '..' in
    'b'→NULL.`"""
    empty = [text.removesuffix(NO_VALUE_TAIL) for text in texts if text.endswith(NO_VALUE_TAIL)]
    if len(empty) < 2:
        return list(texts)
    first = next(n for n, text in enumerate(texts) if text.endswith(NO_VALUE_TAIL))
    others = [text for text in texts if not text.endswith(NO_VALUE_TAIL)]
    return [*others[:first], f"{', '.join(empty)}{NO_VALUE_TAIL}", *others[first:]]


def effect(kind: str) -> Effect:
    """The effect of a kind; of one that an older or newer version wrote, the one that hides
    nothing."""
    return EFFECTS.get(kind, Effect.FIGURES)
