"""Check what was given for the fields of a struct against their types and bounds; say in a sentence what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from parlink.errors import ConfigError

MOST_SHOWN = 100  # characters of a value


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be, in words, and the test of it."""

    fits: Callable[[object], bool]
    words: tuple[str, ...]  # each a way to be right


def check_fields(struct: msgspec.Struct) -> None:
    """Refuse a value that is not of its field's type or bounds; NaN and a truth value are no numbers."""
    for name, rule in _rules(type(struct)).items():
        value = getattr(struct, name)
        if not rule.fits(value):
            *others, last = rule.words
            wanted = f"{', '.join(others)} or {last}" if others else last
            raise ConfigError(f"{name} must be {wanted}, got {_shorten(repr(value))}")


def check_names(given: Iterable[str], known: Iterable[str], *, what: str) -> None:
    """Refuse a name that is not known, and say which is nearest."""
    names = list(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            told = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
            raise ConfigError(f"unknown {what} {name!r}; {told}")


@cache
def _rules(kind: type[msgspec.Struct]) -> dict[str, Rule]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: _make_rule(hints[field.name]) for field in msgspec.structs.fields(kind)}


def _make_rule(hint: Any) -> Rule:
    if get_origin(hint) is Annotated:
        plain, meta, *_ = get_args(hint)
        return _bound(_make_rule(plain), meta.ge, meta.le)
    if get_origin(hint) in (Union, UnionType):
        rules = [_make_rule(part) for part in get_args(hint)]
        return Rule(lambda value: any(rule.fits(value) for rule in rules), sum((rule.words for rule in rules), ()))
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return Rule(lambda value: isinstance(value, str) and value in words, tuple(map(repr, words)))
    return _KINDS.get(hint) or Rule(lambda value: isinstance(value, hint), (f"a {hint.__name__}",))


def _bound(rule: Rule, ge: float | None, le: float | None) -> Rule:
    if ge is None:
        return rule
    least, most = ge, math.inf if le is None else le
    (word,) = rule.words
    words = f"{word} of at least {ge:g}" if le is None else f"{word} from {ge:g} to {le:g}"
    return Rule(lambda value: rule.fits(value) and least <= value <= most, (words,))  # type: ignore[operator]


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and not math.isnan(value)


def _are_strings(values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, str) for value in values)


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


_KINDS = {
    NoneType: Rule(lambda value: value is None, ("None",)),
    bool: Rule(lambda value: isinstance(value, bool), ("True", "False")),
    int: Rule(lambda value: type(value) is int, ("a whole number",)),
    float: Rule(_is_number, ("a number",)),
    str: Rule(lambda value: isinstance(value, str), ("a string",)),
    tuple[str, ...]: Rule(_are_strings, ("a tuple of strings",)),
}
