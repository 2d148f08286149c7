"""Which model server answers whom: the one that a person has connected themselves, else the one of
the environment, else the rules.

A connection is settings like the environment's with another address, key and model, so that
whatever follows from them (profile, window, pictures) follows for it in the same way. Address and
key are sealed in the vault; beside them stands only what may be shown.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

from leaf.agent.calibration import Calibration
from leaf.agent.endpoint import Endpoint
from leaf.agent.models.base import Emit, Model, ModelRequest, ModelTurn
from leaf.agent.models.chosen import ChosenModel
from leaf.agent.models.directory import KEYLESS, ModelDirectory, model_name
from leaf.agent.models.prices import context_window
from leaf.agent.models.reach import Reach
from leaf.agent.probe import LIST_SECONDS, TEST_SECONDS, ModelList, Server, Tested, probe, within
from leaf.errors import InvalidInputError, LeafError, ModelError, SettingsError
from leaf.settings import DEFAULT_MODEL, Settings, model_address
from leaf.store import chats, integrations, users
from leaf.store.database import Database
from leaf.store.integrations import Integration
from leaf.store.model import Json, Scope
from leaf.store.vault import SealedError, Vault

if TYPE_CHECKING:

    class ModelServer(Model, Server, Protocol):
        """What answers, and can be asked what it has."""

        def prepare(self) -> None: ...


PROVIDER = "model"
VERSION = 1
"""Of what is kept of a connection."""
MOST_KEPT = 200
"""Connections whose clients are held in memory; beyond, the one used longest ago is made again when
needed."""
MODELS_KEPT = 500
CONNECT = "Connect a model in the settings."

Kind = Literal["anthropic", "server"]


@dataclass(frozen=True)
class ModelDraft:
    """What a person says of a connection."""

    kind: Kind = "anthropic"
    url: str = ""
    """Of a server of one's own; Anthropic's needs none."""
    key: str = field(default="", repr=False)
    """Empty: the kept one where the server is the same, else none."""
    model: str = ""
    """For chats that have none of their own."""
    models: tuple[tuple[str, str], ...] = ()
    """Id and name of those that the server was seen to offer."""


@dataclass(frozen=True)
class ModelConnection:
    """What answers a person, as it may be shown: never a key."""

    source: Literal["own", "environment", "none"]
    place: str = ""
    """Address without user and password."""
    kind: Kind = "anthropic"
    ends: str = ""
    """The last four characters of an own connection's key; empty where there is none."""
    since: datetime | None = None
    models: tuple[tuple[str, str], ...] = ()
    """Id and name of what an own connection's server offered when it was saved."""
    why: str = ""
    """Why it cannot be used."""
    allowed: bool = True
    """Whether the person may connect one of their own."""
    restricted: bool = False
    """Whether such a one may lead to public servers only."""
    environment: str = ""
    """What the environment's connection is, which holds without an own one; empty for none."""

    @property
    def words(self) -> str:
        """One line for a terminal."""
        if self.source == "none":
            return f"No model is connected. {CONNECT}"
        if self.source == "environment":
            return f"{self.place}, as set where Leaf runs"
        key = f"its key ends in {self.ends}" if self.ends else "without a key to tell of"
        why = f". {self.why}" if self.why else ""
        return f"{self.place}, connected in the settings, {key}{why}"


@dataclass(frozen=True)
class Connected:
    """A connection as answers use it."""

    id: str
    """The same as long as it is the same connection; empty for the environment's."""
    settings: Settings
    endpoint: Endpoint
    directory: ModelDirectory


OpenServer = Callable[[Settings, str, Reach | None], "ModelServer"]
"""`(settings, name of the server for uploads, reach)`; reach is None for the environment's."""
OpenProbe = Callable[[Settings, Reach | None, float], "ModelServer"]
"""The same to be asked what it has, with so many seconds of patience."""


class ModelConnections:
    """Of all users. Safe to share between threads."""

    def __init__(
        self,
        settings: Settings,
        db: Database,
        calibration: Calibration,
        open_server: OpenServer,
        open_probe: OpenProbe,
        rules: Model,
    ) -> None:
        self._settings = settings
        self._db = db
        self._vault = Vault(settings.home, settings.secret_keys)
        self._calibration = calibration
        self._open_server = open_server
        self._open_probe = open_probe
        self._rules = endpoint_of(settings, rules, calibration, can_write=False)
        self._kept: OrderedDict[str, Connected] = OrderedDict()
        self._guard = threading.Lock()
        self._environment_server: ModelServer | None = None
        self.environment = self._of_environment()

    # What answers

    def of(self, scope: Scope) -> Connected:
        """What answers this person from now on. One whose key cannot be opened says so when it is
        asked."""
        row = self._row(scope)
        if row is None:
            return self.environment
        with self._guard:
            connection = self._kept.get(row.id) or self._open_row(scope, row)
            self._kept[row.id] = connection
            self._kept.move_to_end(row.id)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return connection

    def prepare(self) -> None:
        """Load what the environment's connection needs for the first question. Asks nobody
        anything."""
        if self._environment_server is not None:
            self._environment_server.prepare()

    def keyless(self, scope: Scope) -> bool:
        """Whether rules answer this person."""
        return self.of(scope).settings.keyless

    def meant(self, scope: Scope, chosen: str) -> str:
        """Which model answers in a chat that has this one, empty for the default."""
        return self.of(scope).directory.meant(chosen)

    def resume(self, scope: Scope, model: str, begun_with: str | None) -> tuple[str, Connected]:
        """Model and connection of an answer that may have been begun with another connection, by
        its id; None where nobody knows."""
        connected = self.of(scope)
        if model == KEYLESS:
            return model, replace(connected, endpoint=self._rules)
        if connected.settings.keyless:
            gone = ModelError("The model that was to answer is not connected any more.", CONNECT)
            return model, replace(connected, endpoint=self._failing(gone))
        if begun_with is not None and begun_with != connected.id:
            return connected.directory.default(), connected
        return model, connected

    # The connection of a person

    def state(self, scope: Scope) -> ModelConnection:
        """As the settings page shows it. Asks no server."""
        allowed, restricted = self._allowed(scope), not self._reach(scope).inner
        of_environment = "" if self._settings.keyless else place_of(self._settings.model_url)
        connection = ModelConnection(
            "environment" if of_environment else "none",
            of_environment,
            allowed=allowed,
            restricted=restricted,
            environment=of_environment,
        )
        row = self._row(scope)
        if row is None:
            return connection
        why = ""
        try:
            self._opened(scope, row)
        except LeafError as e:
            why = str(e)
        return replace(
            connection,
            source="own",
            place=str(row.state.get("place", "")),
            kind="server" if row.state.get("kind") == "server" else "anthropic",
            ends=str(row.state.get("ends", "")),
            since=row.created_at,
            models=_models_of(row.state),
            why=why,
        )

    def test(self, scope: Scope, draft: ModelDraft) -> Tested:
        """Ask the server of a draft what it has, and a model of it for one word. Raises ModelError,
        InvalidInputError."""
        settings = self._settings_of(scope, draft, needs_model=False)
        server = self._open_probe(settings, self._reach(scope), TEST_SECONDS)
        return probe(server, draft.model.strip())

    def save(self, scope: Scope, draft: ModelDraft) -> None:
        """Keep a connection in place of the old one; the next question is answered by it. Raises
        InvalidInputError."""
        settings = self._settings_of(scope, draft, needs_model=True)
        state: Json = {
            "version": VERSION,
            "kind": draft.kind,
            "place": place_of(settings.model_url),
            "ends": settings.api_key[-4:] if len(settings.api_key) > 8 else "",
            "model": settings.model,
            "models": [list(one) for one in draft.models[:MODELS_KEPT]],
        }
        secret = {"key": settings.api_key, "url": settings.model_url}
        sealed = self._vault.seal(scope, secret)
        before = integrations.get(self._db, scope, PROVIDER)
        integrations.put(self._db, scope, PROVIDER, state["place"], sealed, state)
        if before is None or before.state.get("place") != state["place"]:
            chats.forget_models(self._db, scope)

    def remove(self, scope: Scope) -> None:
        """Forget the connection and its key. Answers that run end with it."""
        row = integrations.get(self._db, scope, PROVIDER)
        if row is None:
            return
        integrations.delete(self._db, scope, PROVIDER)
        chats.forget_models(self._db, scope)
        with self._guard:
            self._kept.pop(row.id, None)

    def try_used(self, scope: Scope, model: str = "") -> Tested:
        """The same as `test`, of what answers this person now."""
        connected = self.of(scope)
        if connected.settings.keyless:
            raise ModelError("No model is connected.", CONNECT)
        return probe(self._probe_of(scope, connected), model or connected.directory.default())

    def set_default(self, scope: Scope, model: str) -> None:
        """The model for chats that have none of their own: of the caller's own connection, or of
        everybody without one. Raises InvalidInputError."""
        connected = self.of(scope)
        if connected is self.environment and not users.is_local(self._db, scope):
            raise InvalidInputError(
                "Whoever runs this Leaf chooses the model of new chats.", "Set LEAF_MODEL."
            )
        connected.directory.set_default(model)

    # Inside

    def _row(self, scope: Scope) -> Integration | None:
        return integrations.get(self._db, scope, PROVIDER) if self._allowed(scope) else None

    def _allowed(self, scope: Scope) -> bool:
        if self._settings.own_models:
            return self._settings.own_models == "on"
        return self._reach(scope).inner

    def _reach(self, scope: Scope) -> Reach:
        """Only the one person of a Leaf that nobody else reaches may go into its network."""
        inner = not self._settings.allow_open and users.is_local(self._db, scope)
        return Reach(inner, self._settings.own_model_hosts)

    def _settings_of(self, scope: Scope, draft: ModelDraft, *, needs_model: bool) -> Settings:
        """What a draft comes to. Raises InvalidInputError."""
        users.get_user(self._db, scope)
        if not self._allowed(scope):
            raise InvalidInputError(
                "Models of one's own are not allowed here.",
                "Whoever runs this Leaf can allow them with LEAF_OWN_MODELS=on.",
            )
        url = _url_of(draft)
        self._reach(scope).check(url or "https://api.anthropic.com")
        key = _key_of(draft.key) or self._kept_key(scope, url)
        if not key and draft.kind == "anthropic":
            raise InvalidInputError("A key is needed.", "Copy one from Anthropic's console.")
        model = draft.model.strip() or (DEFAULT_MODEL if draft.kind == "anthropic" else "")
        if needs_model or model:
            model = model_name(model)
        return _own(self._settings, key, url, model)

    def _kept_key(self, scope: Scope, url: str) -> str:
        """A key goes only to the server for which it was given."""
        row = self._row(scope)
        try:
            settings = self._opened(scope, row) if row else None
        except LeafError:
            return ""
        return settings.api_key if settings and settings.model_url == url else ""

    def _opened(self, scope: Scope, row: Integration) -> Settings:
        """Raises SealedError, InvalidInputError where it may not lead there any more, and
        SettingsError."""
        if int(row.state.get("version", VERSION)) > VERSION:
            raise InvalidInputError(
                "A later version of Leaf kept this connection.", "Save it again."
            )
        secret, old_key = self._vault.open(scope, row.secret)
        if old_key:
            integrations.set_secret(self._db, scope, row.id, self._vault.seal(scope, secret))
        url = str(secret.get("url", ""))
        self._reach(scope).check(url or "https://api.anthropic.com")
        return _own(self._settings, str(secret.get("key", "")), url, str(row.state["model"]))

    def _open_row(self, scope: Scope, row: Integration) -> Connected:
        default = _DefaultOfRow(self._db, scope)
        try:
            settings = self._opened(scope, row)
        except (SealedError, InvalidInputError, SettingsError) as e:
            error = ModelError(e.message, e.hint or CONNECT)
            unusable = _own(self._settings, "unusable", "", str(row.state["model"]))
            endpoint = self._failing(error)
            return Connected(row.id, unusable, endpoint, ModelDirectory(unusable, list, default))
        reach = self._reach(scope)
        # An upload belongs to the account of the key by which it was made.
        name = f"{settings.model_url or 'https://api.anthropic.com'}#{row.id}"
        # What a server of somebody's own says it has counted must not move others' estimates.
        calibration = self._calibration if reach.inner else Calibration()
        endpoint = endpoint_of(settings, self._open_server(settings, name, reach), calibration)
        server = self._open_probe(settings, reach, TEST_SECONDS)
        listed = partial(within, LIST_SECONDS, server.list_models)
        directory = ModelDirectory(settings, listed, default, _models_of(row.state))
        return Connected(row.id, settings, endpoint, directory)

    def _of_environment(self) -> Connected:
        settings = self._settings
        if settings.keyless:
            return Connected("", settings, self._rules, ModelDirectory(settings, list))
        place = settings.model_url or "https://api.anthropic.com"
        server = self._environment_server = self._open_server(settings, place, None)
        endpoint = endpoint_of(settings, server, self._calibration)
        chosen = ChosenModel(self._db, settings.home)
        directory = ModelDirectory(settings, self._ask_environment, chosen)
        return Connected("", settings, endpoint, directory)

    def _ask_environment(self) -> ModelList:
        server = self._open_probe(self._settings, None, TEST_SECONDS)
        return within(LIST_SECONDS, server.list_models)

    def _probe_of(self, scope: Scope, connected: Connected) -> ModelServer:
        reach = self._reach(scope) if connected.id else None
        return self._open_probe(connected.settings, reach, TEST_SECONDS)

    def _failing(self, error: ModelError) -> Endpoint:
        return endpoint_of(self._settings, _Failing(error), self._calibration)


class _DefaultOfRow:
    """The default model of a person's own connection, which stands beside it."""

    def __init__(self, db: Database, scope: Scope) -> None:
        self._db = db
        self._scope = scope

    def read(self) -> str:
        row = integrations.get(self._db, self._scope, PROVIDER)
        return str(row.state.get("model", "")) if row else ""

    def write(self, model: str) -> None:
        row = integrations.get(self._db, self._scope, PROVIDER)
        if row is not None:
            state = {**row.state, "model": model}
            integrations.set_state(self._db, self._scope, row.id, state)


class _Failing:
    """Stands where a model should be."""

    def __init__(self, error: ModelError) -> None:
        self._error = error

    def turn(self, _request: ModelRequest, _emit: Emit, _stop: threading.Event) -> ModelTurn:
        raise ModelError(self._error.message, self._error.hint)


def endpoint_of(
    settings: Settings, model: Model, calibration: Calibration, *, can_write: bool = True
) -> Endpoint:
    """A model server as these settings want it used."""
    return Endpoint(
        model,
        profile_for=settings.profile_for,
        sees_for=settings.sees,
        window_for=lambda model: settings.model_window or context_window(model),
        can_write=can_write,
        calibration=calibration,
        context_share=settings.context_share,
        max_output_tokens=settings.max_output_tokens,
        patience=settings.model_patience,
    )


def place_of(url: str) -> str:
    """An address as it may be shown; Anthropic's where none is given."""
    parts = urlsplit(url or "https://api.anthropic.com")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _own(settings: Settings, key: str, url: str, model: str) -> Settings:
    """The settings with another connection. What was said of the environment's server holds only
    where the environment has none."""
    own = replace(settings, api_key=key, model_url=url, model=model)
    if settings.keyless:
        return own
    return replace(own, model_profile="", model_window=0, model_vision="", files_api="")


def _url_of(draft: ModelDraft) -> str:
    """Empty for Anthropic's. Raises InvalidInputError."""
    if draft.kind == "anthropic":
        return ""
    try:
        url = model_address(draft.url, "The address")
    except SettingsError as e:
        raise InvalidInputError(e.message, e.hint) from e
    if not url:
        raise InvalidInputError("An address is needed.", "For example http://localhost:11434.")
    if "@" in urlsplit(url).netloc:
        raise InvalidInputError(
            "The address holds a user or a password.", "Give the key in its own field."
        )
    return url


def _key_of(text: str) -> str:
    """Without blanks around it. Raises InvalidInputError for what no server takes as a key."""
    key = text.strip()
    if not all("!" <= character <= "~" for character in key) or len(key) > 4_000:
        raise InvalidInputError("This is not a key.", "Copy it again, without blanks in it.")
    return key


def _models_of(state: Json) -> tuple[tuple[str, str], ...]:
    return tuple((str(one[0]), str(one[1])) for one in state.get("models", ()) if len(one) == 2)
