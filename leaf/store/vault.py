"""Secrets at rest: encrypted by Fernet, readable only together with the keys and for the user for
whom they were sealed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from leaf.errors import LeafError, SettingsError, StoreError
from leaf.settings.disk import wants_room
from leaf.store.model import Scope

KEY_FILE = "secret.key"
MAKE_ONE = (
    "Make one: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())'"
)


class SealedError(LeafError):
    """A secret that these keys do not open."""


class Vault:
    """Seals and opens. With several keys the first seals and every one opens, so that keys can be
    changed without loss."""

    def __init__(self, home: Path, keys: tuple[str, ...] = ()) -> None:
        self._home = home
        self._keys = keys

    def seal(self, scope: Scope, secret: dict[str, Any]) -> str:
        """The secret as encrypted text, bound to this user and workspace."""
        bound = {"workspace": scope.workspace_id, "user": scope.user_id, "secret": secret}
        return str(self._fernet().encrypt(json.dumps(bound).encode()).decode())

    def open(self, scope: Scope, sealed: str) -> tuple[dict[str, Any], bool]:
        """The secret, and whether it was sealed by an old key and should be sealed again. Raises
        SealedError."""
        from cryptography.fernet import InvalidToken

        try:
            text = self._fernet().decrypt(sealed.encode())
        except InvalidToken as e:
            raise SealedError(
                "The key that opens the kept connection is missing.",
                "Connect again, or give LEAF_SECRET_KEY the old key beside the new one.",
            ) from e
        bound = json.loads(text)
        if (bound["workspace"], bound["user"]) != (scope.workspace_id, scope.user_id):
            raise SealedError("The kept connection belongs to somebody else.", "Connect again.")
        return bound["secret"], not self._is_newest(sealed)

    def _is_newest(self, sealed: str) -> bool:
        from cryptography.fernet import Fernet, InvalidToken

        try:
            Fernet(self._all_keys()[0]).decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True

    def _fernet(self) -> Any:
        from cryptography.fernet import Fernet, MultiFernet

        try:
            return MultiFernet([Fernet(key) for key in self._all_keys()])
        except ValueError as e:
            raise SettingsError("LEAF_SECRET_KEY is not a key, or a list of keys.", MAKE_ONE) from e

    def _all_keys(self) -> tuple[str, ...]:
        """The keys of the settings; those first, and the one in the data folder if it was used
        before there were any."""
        if not self._keys:
            return (self._made_key(),)
        file_key = self._kept_key()
        return (*self._keys, file_key) if file_key else self._keys

    def _kept_key(self) -> str:
        try:
            return (self._home / KEY_FILE).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return ""

    def _made_key(self) -> str:
        """The key in the data folder, made at first use, readable by its owner alone."""
        from cryptography.fernet import Fernet

        path = self._home / KEY_FILE
        try:
            if file_key := self._kept_key():
                if path.stat().st_mode & 0o077:
                    path.chmod(0o600)
                return file_key
            self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = self._home / f".{KEY_FILE}.{os.getpid()}"
            try:
                with open(
                    os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
                ) as file:
                    file.write(Fernet.generate_key())
                os.link(
                    temporary, path
                )  # whole or not at all, and only one of two processes that begin at once
            except FileExistsError:
                pass
            finally:
                temporary.unlink(missing_ok=True)
            return self._kept_key()
        except OSError as e:
            raise StoreError(
                f"The key file {KEY_FILE} in the data folder cannot be used: {e.strerror}.",
                "Free some space." if wants_room(e) else "Check who may read it.",
            ) from e
