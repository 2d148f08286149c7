"""Files that Leaf knows but does not read: by what they begin with, and which program saves them in
which form that it reads; and the errors for what cannot be read."""

from __future__ import annotations

from leaf.errors import EncryptedFileError, UnreadableFileError

READS = (
    "Leaf reads tables (CSV, Excel, ODS, Parquet, JSON, Arrow, ORC, SPSS, Stata, SAS), databases "
    "(SQLite, DuckDB), PDF, Word, "
    "PowerPoint, OpenDocument, RTF, EPUB, web pages, e-mail, captions, text, audio, video and "
    "pictures (PNG, JPEG, WebP, GIF, "
    "HEIC, AVIF, TIFF), and what is in archives (ZIP, TAR, GZ, BZ2, XZ)."
)
RESAVE = {
    "a Word 97-2003 document (.doc)": "Open it in Word or LibreOffice, save it as .docx or PDF, "
    "and add that.",
    "a PowerPoint 97-2003 presentation (.ppt)": "Open it in PowerPoint or LibreOffice, save it as "
    ".pptx or PDF, "
    "and add that.",
    "a Pages, Numbers or Keynote file": "Export it as PDF, Word, Excel or PowerPoint, "
    "and add that.",
    "a 7-Zip archive": "Unpack it, and add the folder, or pack it as ZIP.",
    "a RAR archive": "Unpack it, and add the folder, or pack it as ZIP.",
    "a Zstandard file": "Unpack it, and add what is in it, or pack it as gzip.",
    "an Avro file": "Save it as Parquet or CSV, as DuckDB, Spark or pandas do, and add that.",
    "an HDF5 file": "Save its tables as Parquet or CSV, as pandas does, and add those.",
    "a MATLAB file": "Save its variables as CSV in MATLAB (writetable), and add that.",
    "an Access database": "Export its tables from Access as Excel or CSV, and add those.",
    "an Outlook data file (.pst)": "Save its messages from Outlook as .msg, or export the "
    "folder as CSV, "
    "and add that.",
    "a DjVu file": "Save it as PDF in a DjVu viewer, and add that.",
    "an XPS document": "Open it, print it to PDF, and add that.",
    "a WordPerfect document": "Open it in LibreOffice or WordPerfect, save it as .docx or PDF, "
    "and add that.",
    "a Lotus 1-2-3 workbook": "Open it in LibreOffice, save it as .xlsx, and add that.",
    "a Visio drawing": "Save it as PDF in Visio, and add that.",
    "a Kindle book": "Convert it to EPUB, as Calibre does, and add that.",
    "a NetCDF file": "Save its variables as CSV or Parquet, as xarray does, and add those.",
    "a compressed recording": "Unpack it, and add the recording.",
    "compressed twice": "Unpack it, and add the file that is in it.",
    "a workbook of Excel 2, 3 or 4 (.xls)": "Open it in LibreOffice or Excel, save it as .xlsx, "
    "and add that.",
    "a camera's raw picture": "Export it as JPEG or TIFF, and add that.",
}
"""What Leaf knows but does not read -> what to do."""

SIGNATURES = (
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"Obj\x01", "an Avro file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"MATLAB 5.0", "a MATLAB file"),
    (b"\x00\x01\x00\x00Standard Jet DB", "an Access database"),
    (b"\x00\x01\x00\x00Standard ACE DB", "an Access database"),
    (b"!BDN", "an Outlook data file (.pst)"),
    (b"AT&TFORM", "a DjVu file"),
    (b"\xffWPC", "a WordPerfect document"),
    (b"\x00\x00\x02\x00\x06\x04\x06\x00", "a Lotus 1-2-3 workbook"),
    (b"\x00\x00\x1a\x00\x00\x10\x04\x00", "a Lotus 1-2-3 workbook"),
    (b"CDF\x01", "a NetCDF file"),
    (b"CDF\x02", "a NetCDF file"),
)
"""First bytes -> what such a file is."""


def unsupported(name: str, what: str) -> UnreadableFileError:
    """The error for a file that is whole, but not of a kind that Leaf reads."""
    return UnreadableFileError(
        f"'{name}' is {what}, which Leaf does not read.", RESAVE.get(what, READS)
    )


def damaged(name: str, what: str) -> UnreadableFileError:
    """The error for a file that is cut off or broken."""
    return UnreadableFileError(
        f"'{name}' is a damaged or incomplete {what}.",
        "Download or export it again, and add it again.",
    )


def encrypted(name: str, what: str) -> EncryptedFileError:
    """The error for a file that opens with a password alone."""
    return EncryptedFileError(
        f"'{name}' is a {what} protected by a password.",
        "Open it, save a copy without the password, and add that copy.",
    )
