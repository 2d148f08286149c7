"""Words that readers of a format look for, and numbers and texts that programs trip over."""

from __future__ import annotations

NUMBERS = (
    *(b"0", b"-1", b"1e309", b"NaN", b"Infinity", b"99999999999999999999", b"-9223372036854775809"),
    *(b"2147483648", b"1048577", b"0x7fffffff", b"1.5", b"65536", b""),
)
TEXTS = (
    *(
        "",
        " ",
        "\x00",
        "\ufeff",
        "\u202e",
        "\ud7ff",
        "é",
        "e\u0301",
        "😀",
        "\u2028",
        "\x85",
        "\x1b",
    ),
    *("A" * 5_000, "'", '"', "\\", "=1+1", "null", "None", "true", "NaN", "1e400", "-0", "1.2.3"),
    *("2025-02-30", "0000-00-00", "9999-12-31T23:59:60Z", "25:61", "1,234.5.6", "1 234,5", "12%"),
    *("#REF!", "#DIV/0!", "Total", "Sum", "_row", "_kind", "$", "€ 5", "(3)", "1/0", "\t", "\r"),
    *("../../etc/x", "https://example.org/a?b=c#d", "%s%n", "{0}", "<b>", "&amp;", "--", ";", ","),
)
_OFFICE = (b"<v>", b"r=", b"s=", b't="s"', b"<c/>", b"&#0;", b"&x;", b"]]>", b"<!--", b"xmlns:")
_MAIL = (b"\n\n", b"Content-Type: ", b"multipart/mixed", b"; charset=x", b"=?x?q?=FF?=", b"--X--")
_SHEET = (b"\x09\x08", b"\xfc\x00", b"\x3c\x00", b"\x0a\x00", b"\x85\x00", b"\xfd\x00", b"\x06\x00")
_MP4 = (b"moov", b"trak", b"mdat", b"stsz", b"stco", b"ftyp", b"meta", b"iloc", b"ipco", b"hvcC")
TOKENS: dict[str, tuple[bytes, ...]] = {
    "csv": (b",", b'"', b"\n", b"\r", b";", b"\t", b'""', b"\xef\xbb\xbf", b"\x00", b"\xff"),
    "tsv": (b"\t\x00", b"\x00\xd8", b"\xff\xfe", b'"\x00', b"\n\x00"),
    "json": (b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\u", b"\\ud800", b"null", b"[[[[", b"//"),
    "jsonl": (b"{", b"}", b"\n", b"[", b'"', b"\\ud800", b"null", b"\x1e"),
    "xlsx": _OFFICE, "docx": _OFFICE, "pptx": _OFFICE, "ods": _OFFICE, "odt": _OFFICE, "odp": _OFFICE,
    "xls": _SHEET, "msg": (b"__substg1.0_", b"\x1f\x00", b"\x0d\x00", b"\x02\x01"),
    "pdf": (b"obj", b"endobj", b"stream", b"endstream", b"<<", b">>", b"[", b"]", b"/Kids", b"/Length",
            b"/Filter/FlateDecode", b"/Contents", b" 0 R", b"xref", b"trailer", b"%%EOF", b"/Encrypt", b"BT", b"ET", b"Tj"),
    "html": (b"<table>", b"<td colspan=999999>", b"</", b"<!--", b"<script>", b"&#x110000;", b"<p", b"<![CDATA["),
    "mhtml": (*_MAIL, b"<table>"), "eml": _MAIL, "mbox": (*_MAIL, b"\nFrom x Mon Mar  2 10:00:00 2026\n"),
    "rtf": (b"{", b"}", b"\\u-1?", b"\\'", b"\\bin99999 ", b"\\par", b"\\cell", b"\\row", b"\\ansicpg0"),
    "vtt": (b"-->", b"00:00.000", b"99:99:99.999", b"\n\n", b"<v ", b"WEBVTT", b"NOTE"),
    "srt": (b"-->", b"00:00:00,000", b"-1", b"\n\n"),
    "por": (b"SPSSPORT", b"Z", b"/", b"7", b"8", b"F"),
    "dta": (b"<map>", b"<data>", b"</stata_dta>", b"<variable_types>", b"<strls>"),
    "sav": (b"$FL2", b"\x02\x00\x00\x00", b"\x03\x00\x00\x00", b"\x07\x00\x00\x00", b"\xe7\x03\x00\x00"),
    "parquet": (b"PAR1", b"\x15", b"\x2c", b"\x00", b"\xff\xff\xff\x7f", b"schema"),
    "sqlite": (b"CREATE TABLE ", b"CREATE VIEW x AS SELECT ", b"\x0d", b"\x05", b"(", b")", b"WITHOUT ROWID"),
    "zip": (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"../", b"\xff\xff\xff\xff"),
    "tar": (b"ustar", b"../", b"00000000000", b"77777777777", b"\x80", b"L", b"x"),
    "png": (b"IHDR", b"IDAT", b"IEND", b"acTL", b"iCCP", b"zTXt", b"eXIf"),
    "jpg": (b"\xff\xd8", b"\xff\xda", b"\xff\xc0", b"\xff\xc4", b"\xff\xe1", b"Exif\0\0", b"\xff\xd9"),
    "gif": (b"\x2c", b"\x21\xf9", b"\x3b", b"NETSCAPE2.0"), "webp": (b"VP8X", b"VP8L", b"ANMF", b"EXIF"),
    "tif": (b"II*\0", b"\x00\x01", b"\x11\x01", b"\x17\x01"), "avif": _MP4, "heic": _MP4, "mp4": _MP4, "m4a": _MP4,
    "mkv": (b"\x1a\x45\xdf\xa3", b"\xa3", b"\xec", b"\x15\x49\xa9\x66", b"\x1f\x43\xb6\x75"),
    "wav": (b"RIFF", b"fmt ", b"data", b"LIST", b"fact"), "ogg": (b"OggS", b"OpusHead", b"OpusTags"),
}  # fmt: skip
"""Ending -> what stands in such files."""
