"""The media types that a file of each kind can have: what a child says is taken only if it is one of
these."""

from __future__ import annotations

OTHER = "application/octet-stream"
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
PLAYED = frozenset(
    {
        *("audio/mp4", "audio/mpeg", "audio/aac", "audio/flac", "audio/webm", "audio/x-matroska"),
        *("audio/ogg", "audio/amr", "audio/x-caf", "audio/x-ms-wma", "audio/wav", "audio/aiff"),
        *("video/mp4", "video/quicktime", "video/webm", "video/x-matroska", "video/ogg"),
        *("video/x-flv", "video/x-ms-wmv", "video/mpeg", "video/x-msvideo", "video/mp2t"),
    }
)
"""Sound and moving pictures."""
SEEN = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp"),
        *("image/tiff", "image/heic", "image/avif"),
    }
)
"""Pictures."""
MEDIA_TYPES: dict[str, frozenset[str]] = {
    "csv": frozenset({"text/csv", "text/tab-separated-values"}),
    "excel": frozenset(
        {
            f"{_OFFICE}spreadsheetml.sheet",
            "application/vnd.ms-excel",
            "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
            f"{_OPEN}spreadsheet",
        }
    ),
    "parquet": frozenset({"application/vnd.apache.parquet"}),
    "json": frozenset({"application/json", "application/x-ndjson"}),
    "arrow": frozenset(
        {
            "application/vnd.apache.arrow.file",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.orc",
        }
    ),
    "stats": frozenset(
        {
            *("application/x-spss-sav", "application/x-spss-por", "application/x-stata-dta"),
            *("application/x-sas-xport", "application/x-sas-data"),
        }
    ),
    "database": frozenset({"application/vnd.sqlite3", "application/vnd.duckdb"}),
    "pdf": frozenset({"application/pdf"}),
    "docx": frozenset({f"{_OFFICE}wordprocessingml.document"}),
    "pptx": frozenset({f"{_OFFICE}presentationml.presentation"}),
    "odt": frozenset({f"{_OPEN}text"}),
    "odp": frozenset({f"{_OPEN}presentation"}),
    "rtf": frozenset({"application/rtf"}),
    "epub": frozenset({"application/epub+zip"}),
    "html": frozenset({"text/html", "multipart/related"}),
    "email": frozenset({"message/rfc822"}),
    "msg": frozenset({"application/vnd.ms-outlook"}),
    "mailbox": frozenset({"application/mbox"}),
    "archive": frozenset({"application/zip", "application/x-tar"}),
    "captions": frozenset({"text/vtt", "application/x-subrip"}),
    "audio": PLAYED,
    "video": PLAYED,
    "picture": SEEN,
    "text": frozenset({"text/plain", "text/markdown", "application/xml"}),
    "code": frozenset({"text/plain"}),
}
"""Kind -> what its files can be."""


def media_type_of(kind: str, said: str) -> str:
    """`said` where a file of the kind can be that, else what says nothing."""
    return said if said in MEDIA_TYPES.get(kind, ()) else OTHER
