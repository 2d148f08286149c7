"""The licences of the packages that Leaf installs, as their own metadata state them.

    python docs/licences.py

writes `licences.json` anew from the packages of `requirements.lock` that are installed here; those of
other systems stay as they were noted. `make docs` makes the table of `licences.md` from that file, and a
test compares both with what is installed and with the list of what is allowed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
LOCK = HERE.parent / "requirements.lock"
NOTED = HERE / "licences.json"
ALLOWED = frozenset(
    [
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "MPL-1.1",
        "MPL-2.0",
        "OFL-1.1",
        "PSF-2.0",
        "Zlib",
    ]
)
"""Licences under which a package may be used without asking, by SPDX."""
EXCEPTIONS: Mapping[str, str] = {
    "psycopg": "LGPL-3.0-only: the driver of PostgreSQL, used as it comes and loaded with a "
    "`postgresql://` address alone",
    "psycopg-binary": "LGPL-3.0-only: its compiled part",
}
"""Packages under another licence, and why they are there."""
CARRIED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "av": (
        "FFmpeg (LGPL-2.1), built with x264 and x265 (GPL-2.0), GMP, Nettle and libunistring "
        "(LGPL-3.0); Leaf decodes sound and never calls an encoder. Who may not pass on GPL code "
        "leaves the package out: recordings are then listed and not read",
        (
            *("avcodec", "avdevice", "avfilter", "avformat", "avutil", "swresample", "swscale"),
            *("x264", "x265", "gmp", "gnutls", "nettle", "hogweed", "unistring"),
            *("mp3lame", "asound"),
        ),
    ),
    "pi-heif": ("libheif and libde265 (LGPL-3.0), which read HEIC", ("heif", "de265")),
    "numpy": (
        "OpenBLAS (BSD-3-Clause); the run-time library of GCC (GPL-3.0 with its exception, "
        "libquadmath LGPL-2.1)",
        ("gfortran", "quadmath"),
    ),
    "scipy": ("the same as numpy", ("gfortran", "quadmath")),
    "scikit-learn": ("GCC's libgomp (GPL-3.0 with its exception)", ("gomp",)),
    "psycopg-binary": (
        "libpq (PostgreSQL), OpenSSL (Apache-2.0), Kerberos (MIT), OpenLDAP, SASL (BSD), keyutils "
        "(LGPL-2.1)",
        ("keyutils", "crypt"),
    ),
}
"""What wheels carry besides their own code, and those of its libraries whose licences ask for more
than to be named."""
COPYLEFT = frozenset(library for _, libraries in CARRIED.values() for library in libraries)
OWN: Mapping[str, str] = {
    "altair": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "duckdb": "MIT",
    "httpx2-jsfetch": "BSD-3-Clause",
    "itsdangerous": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "markdown-it-py": "MIT",
    "matplotlib": "PSF-2.0",
    "mdurl": "MIT",
    "obstore": "MIT",
    "olefile": "BSD-2-Clause",
    "pyasn1-modules": "BSD-2-Clause",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "pysqlite3": "Zlib",
    "reportlab": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
}
"""Packages whose metadata have no SPDX expression to take: as their licence files or classifiers
say."""
SPELLINGS = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "mit license": "MIT",
    "bsd 3-clause license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "2-clause bsd": "BSD-2-Clause",
    "the bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause or apache-2.0": "BSD-3-Clause OR Apache-2.0",
}


def locked() -> dict[str, str]:
    """Name -> version of every package that `make run` may install, on any system; one that has
    several versions for several Pythons with all of them."""
    found: dict[str, str] = {}
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        if named := re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", line):
            name, version = named[1].lower(), named[2]
            found[name] = f"{found[name]}, {version}" if name in found else version
    return found


def stated(name: str) -> str:
    """The licence of an installed package by SPDX. Raises PackageNotFoundError, and KeyError where
    the metadata name none that is known."""
    about = metadata.metadata(name)
    if name in OWN:
        return OWN[name]
    said = about.get("License-Expression") or " ".join((about.get("License") or "").split())
    said = re.sub(r"\s+Copyright .*", "", said)
    return SPELLINGS.get(said.lower(), said)


def noted() -> dict[str, str]:
    return dict(json.loads(NOTED.read_text(encoding="utf-8"))) if NOTED.exists() else {}


def is_allowed(expression: str) -> bool:
    """Whether each part that has to be kept leaves a licence that is allowed."""
    parts = (
        re.sub(r"[()]", "", expression).split(" AND ") if " AND " in expression else [expression]
    )
    return all(any(one in ALLOWED for one in part.strip("() ").split(" OR ")) for part in parts)


def table() -> str:
    """Every package with its version and licence; what is carried besides stands with it."""
    rows = ["| package | version | licence | its wheels carry besides |", "|---|---|---|---|"]
    licences = noted()
    for name, version in sorted(locked().items()):
        carried = CARRIED[name][0] if name in CARRIED else ""
        rows.append(f"| {name} | {version} | {licences.get(name, '?')} | {carried} |")
    return "\n".join(rows)


def main() -> None:
    known = noted()
    found: dict[str, str] = {}
    for name in locked():
        try:
            found[name] = stated(name)
        except metadata.PackageNotFoundError:
            found[name] = known.get(name, OWN.get(name, ""))
    NOTED.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
