"""How a setting's text becomes a value: `(text, key)`. Each raises SettingsError, which names the
key and what to write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from leaf.errors import SettingsError
from leaf.settings.mail import one_form

MOST = 1e15
"""From there on a number is as good as without an end."""
CENTURY = 36_500.0
"""In days."""


def text(given: str, _key: str) -> str:
    """As it stands."""
    return given


def key(given: str, key: str) -> str:
    """What goes into a header of a request: one line. The error never shows it."""
    if not given.isprintable():
        raise SettingsError(
            f"{key} holds a line break or another control character.", "Give one line."
        )
    return given


def folder(given: str, key: str) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError as e:
        raise SettingsError(
            f"{key} is '{given}', and there is no such user.", "Give a path."
        ) from e


def number(given: str, key: str) -> float:
    try:
        value = float(given)
    except ValueError as e:
        raise SettingsError(f"{key} is '{given}'.", "Give a number.") from e
    if not value > 0:
        raise SettingsError(f"{key} is {given}.", "Give a number above 0.")
    return value


def finite(given: str, key: str) -> float:
    """A number with which one can count on."""
    amount = number(given, key)
    if not amount < MOST:
        raise SettingsError(f"{key} is {given[:80]}.", "Give a number that is finite.")
    return amount


def days(given: str, key: str) -> float:
    """For how long something is kept: what is longer than a century is that, as dates end."""
    return min(number(given, key), CENTURY)


def whole(given: str, key: str) -> int:
    return int(finite(given, key))


def count(given: str, key: str) -> int:
    """At least one."""
    return max(1, whole(given, key))


def mebibytes(given: str, key: str) -> int:
    """In bytes."""
    return int(finite(given, key) * 1024 * 1024)


def gibibytes(given: str, key: str) -> int:
    """In bytes."""
    return int(finite(given, key) * 1024**3)


def share(given: str, key: str) -> float:
    value = number(given, key)
    if value > 1:
        raise SettingsError(f"{key} is {value:g}.", "Give a part of one, such as 0.8.")
    return value


def domains(given: str, key: str) -> tuple[str, ...]:
    """Split at commas and spaces, in lower case; `@example.org` is the domain `example.org`."""
    return _who(given, key, "domains like example.org", lambda word: "@" not in word)


def emails(given: str, key: str) -> tuple[str, ...]:
    """Split at commas and spaces, in lower case."""
    return _who(given, key, "addresses like ann@example.org", lambda word: "@" in word)


def _who(raw_value: str, key: str, kind: str, fits: Callable[[str], bool]) -> tuple[str, ...]:
    words = tuple(one_form(word).removeprefix("@") for word in _words(raw_value))
    if not words or not all(map(fits, words)):
        raise SettingsError(f"{key} is '{raw_value}'.", f"Give {kind}, separated by commas.")
    return words


def hosts(given: str, key: str) -> tuple[str, ...]:
    """Names of hosts, split at commas and spaces, in lower case, without port and last dot."""
    names = tuple(word.lower().removesuffix(".") for word in _words(given))
    wrong = [
        name for name in names if not re.fullmatch(r"(\*\.)?[\w-]+(\.[\w-]+)*|[0-9a-f:.]+", name)
    ]
    if wrong:
        raise SettingsError(
            f"{key} holds '{wrong[0]}'.",
            "Give names like leaf.example.org or *.example.org, separated by commas.",
        )
    return names


def places(given: str, key: str) -> tuple[str, ...]:
    """Hosts with or without a port, split at commas and spaces, in lower case."""
    names = tuple(word.lower() for word in _words(given))
    wrong = [
        name
        for name in names
        if not re.fullmatch(r"([\w-]+(\.[\w-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?", name)
    ]
    if wrong:
        raise SettingsError(
            f"{key} holds '{wrong[0]}'.",
            "Give hosts like ollama.example.org or 10.0.0.5:11434, separated by commas.",
        )
    return names


def packages(given: str, key: str) -> tuple[str, ...]:
    """Names of packages, separated by commas and spaces."""
    names = tuple(re.sub(r"[-_.]+", "-", word).lower() for word in _words(given))
    wrong = [name for name in names if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name)]
    if wrong:
        raise SettingsError(
            f"{key} holds '{wrong[0]}'.",
            "Give names of packages without versions, separated by commas.",
        )
    return names


def secrets(given: str, _key: str) -> tuple[str, ...]:
    """Split at commas only, and as they stand."""
    return tuple(word.strip() for word in given.split(",") if word.strip())


def choice(*options: str) -> Callable[[str, str], str]:
    """One of the options; empty for `auto`."""

    def read(given: str, key: str) -> str:
        chosen = given.lower()
        if chosen not in ("auto", *options):
            raise SettingsError(f"{key} is '{chosen}'.", f"Set it to {', '.join(options)} or auto.")
        return "" if chosen == "auto" else chosen

    return read


def token(given: str, key: str) -> str:
    """A password of programs: too long to be guessed, without blanks."""
    if len(given) < 16 or any(character.isspace() for character in given):
        raise SettingsError(
            f"{key} is no token.", "Set at least 16 characters without blanks, made by chance."
        )
    return given


def profile(given: str, key: str) -> str:
    if given not in ("", "claude", "basic"):
        raise SettingsError(
            f"{key} is '{given}'.", "Set it to 'claude' or 'basic', or leave it out."
        )
    return given


def switch(given: str, key: str) -> bool:
    chosen = given.lower()
    if chosen not in ("0", "1", "false", "true", "no", "yes", "off", "on"):
        raise SettingsError(f"{key} is '{chosen}'.", "Set it to 1 or 0.")
    return chosen in ("1", "true", "yes", "on")


def time_zone(given: str, key: str) -> str:
    try:
        ZoneInfo(given)
    except (ZoneInfoNotFoundError, ValueError, OSError) as e:
        raise SettingsError(f"{key} is '{given}'.", "Give a name like Europe/Berlin or UTC.") from e
    return given


def url(given: str, key: str) -> str:
    if given and urlsplit(given).scheme not in ("http", "https"):
        raise SettingsError(
            f"{key} is '{given}'.", "Give an address that begins with http:// or https://."
        )
    return given


def base_url(given: str, key: str) -> str:
    """Without a slash at its end."""
    return url(given, key).rstrip("/")


def json_object(given: str, key: str) -> dict[str, Any]:
    """A JSON object given as text or as the path of a file. The error never shows the text, which
    holds a secret."""
    if not given:
        return {}
    try:
        value = json.loads(
            given if given.startswith("{") else Path(given).expanduser().read_text(encoding="utf-8")
        )
    except (OSError, ValueError, RuntimeError) as e:  # the last for a `~user` that is nobody
        raise SettingsError(
            f"{key} is neither JSON nor the path of a JSON file.",
            "Give the file that Google's console makes.",
        ) from e
    if not isinstance(value, dict):
        raise SettingsError(
            f"{key} is not a JSON object.", "Give the file that Google's console makes."
        )
    return value


def _words(raw_value: str) -> list[str]:
    return raw_value.replace(",", " ").split()
