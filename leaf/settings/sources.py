"""Where settings come from: the environment, then Streamlit's secrets. The only place that imports
pydantic-settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import PlainValidator, ValidationInfo, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from leaf.errors import SettingsError
from leaf.settings.address import model_address
from leaf.settings.google import said_by_client
from leaf.settings.keys import Key, keyed, keys
from leaf.settings.readers import json_object
from leaf.settings.values import Settings

T = TypeVar("T")


def read(environ: Mapping[str, str], secrets: Mapping[str, object]) -> Settings:
    """Raises SettingsError, which names the key."""
    handed: dict[str, Any] = {"environ": environ, "secrets": secrets}
    raw_settings = _model()(**handed)
    value_of = {
        name: value
        for name in raw_settings.model_fields_set
        if (value := getattr(raw_settings, name)) != ""
    }
    value_of = {**said_by_client(value_of.get("LEAF_GOOGLE_CLIENT_JSON", {})), **value_of}
    if "ANTHROPIC_BASE_URL" in value_of and "LEAF_MODEL_URL" not in value_of:
        value_of["LEAF_MODEL_URL"] = model_address(
            value_of["ANTHROPIC_BASE_URL"], "ANTHROPIC_BASE_URL"
        )
    settings = _made(Settings, value_of)
    return replace(settings, home=settings.home.resolve())


class _From(PydanticBaseSettingsSource):
    """A mapping from keys to values. A key that stands there empty is not given."""

    def __init__(self, settings_cls: type[BaseSettings], values: Mapping[str, object]) -> None:
        super().__init__(settings_cls)
        self._given = values

    def get_field_value(self, _field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._given.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        values = {
            name: self.get_field_value(field, name)[0]
            for name, field in self.settings_cls.model_fields.items()
        }
        return {name: _text(value) for name, value in values.items() if value not in (None, "")}


class _Given(BaseSettings):
    """What was said, by key. The fields of `Settings` are added to those that stand for no single
    field."""

    model_config = SettingsConfigDict(
        extra="ignore", frozen=True, case_sensitive=True, validate_default=False
    )

    ANTHROPIC_BASE_URL: str = ""
    LEAF_GOOGLE_CLIENT_JSON: Annotated[
        dict[str, Any], PlainValidator(lambda text: json_object(text, "LEAF_GOOGLE_CLIENT_JSON"))
    ] = {}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_args: Any,
        **_others: Any,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over secrets; no other file is read."""
        handed = cast(InitSettingsSource, init_settings).init_kwargs
        return tuple(_From(settings_cls, handed[name]) for name in ("environ", "secrets"))


@cache
def _model() -> type[_Given]:
    """Read by the readers beside the fields, whose errors say what to write; pydantic's own would
    show what was given."""
    fields: dict[str, Any] = {
        key.name: (Annotated[Any, _validator(key)], None) for _, key in keys(Settings)
    }
    return create_model("Given", __base__=_Given, **fields)


def _validator(key: Key) -> PlainValidator:
    return PlainValidator(lambda text, info: _read(key, text, info))


def _read(key: Key, text: str, info: object) -> Any:
    """What Python's own parsers say of an address may show what was given, a password with it."""
    name = cast(ValidationInfo, info).field_name or ""
    try:
        return key.read(text, name)
    except (ValueError, RecursionError):
        raise SettingsError(f"{name} cannot be read.", "Look for what is mistyped in it.") from None


def _made(kind: type[T], value_of: Mapping[str, Any]) -> T:
    """A dataclass from what was said; the rest keeps its default."""
    values: dict[str, Any] = {}
    for name, plain, key in keyed(kind):
        if key is None:
            values[name] = _made(plain, value_of)
        elif key.name in value_of:
            values[name] = value_of[key.name]
    return kind(**values)


def _text(value: object) -> str:
    """A value as the environment would give it: lists by commas, tables as JSON."""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value).strip()
