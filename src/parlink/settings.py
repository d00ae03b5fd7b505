"""Settings: TOML or JSON in, frozen structs out; a misspelled key is an error that names it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from parlink.errors import ConfigError

PositiveInt = Annotated[int, msgspec.Meta(ge=1)]
NonNegativeInt = Annotated[int, msgspec.Meta(ge=0)]
PositiveFloat = Annotated[float, msgspec.Meta(gt=0)]
NonNegativeFloat = Annotated[float, msgspec.Meta(ge=0)]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
T = TypeVar("T", bound=msgspec.Struct)
# Keys that are gone, and what to write instead.
REPLACED = {
    name: f"`{name}` is now {name}_steps (a number of steps) or {name}_ratio (a share of the planned steps)"
    for name in ("warmup", "decay")
}


def parse(data: dict[str, Any], kind: type[T], *, source: str) -> T:
    """Turn plain data into a settings struct; `source` is named in the error."""
    _check_numbers(data, source)
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        for name, instead in REPLACED.items():
            if f"unknown field `{name}`" in str(error):
                raise ConfigError(f"{source}: {instead}; got {error}") from error
        known = ", ".join(field.name for field in msgspec.structs.fields(kind))
        raise ConfigError(f"{source}: {error} (known keys: {known})") from error


def _check_numbers(value: object, source: str, key: str = "") -> None:
    """Refuse numbers that no setting can mean: NaN, infinity, and integers of more than 63 bits."""
    if isinstance(value, dict):
        for name, field in value.items():
            _check_numbers(field, source, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_numbers(item, source, f"{key}.{index}")
    elif (isinstance(value, float) and not math.isfinite(value)) or (isinstance(value, int) and abs(value) >> 63):
        raise ConfigError(f"{source}: {key} is {value}; wanted a finite number of at most 63 bits")


def read_toml(path: Path | str) -> dict[str, Any]:
    """Read a TOML file into plain data."""
    try:
        data: dict[str, Any] = msgspec.toml.decode(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); give the path of a TOML file") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    return data


def override(data: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Replace values by `key=value` settings, the value written as in TOML; a bare word is a string.

    A key may lead into tables and lists of tables: `stages.0.steps=100`.
    """
    changed: Any = data
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set wants key=value, got {setting!r}")
        changed = _replace(changed, key.strip().split("."), _value(value.strip()), setting)
    return dict(changed)


def _value(text: str) -> Any:
    try:
        return msgspec.toml.decode(f"value = {text}")["value"]
    except msgspec.DecodeError:
        return text


def _replace(data: Any, path: Sequence[str], value: Any, setting: str) -> Any:
    """The same data with another value at the end of the path."""
    if not path:
        return value
    name, *rest = path
    if isinstance(data, list):
        if not name.isdecimal() or int(name) >= len(data):
            raise ConfigError(f"--set {setting}: {name!r} is not one of the {len(data)} there, counted from 0")
        at = int(name)
        return [*data[:at], _replace(data[at], rest, value, setting), *data[at + 1 :]]
    table = data if isinstance(data, dict) else {}
    return table | {name: _replace(table.get(name), rest, value, setting)}
