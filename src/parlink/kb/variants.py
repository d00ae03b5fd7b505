"""Other spellings of a surface that no name has: without a rank, a legal form or a plural; tried one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_RANKS = (
    "Mr|Mrs|Ms|Miss|Dr|Prof|Gen|Lt|Col|Sgt|Capt|Sen|Rep|Gov|Rev|Sir|Lord|Lady|Dame|Pope|Saint|St|President"
    "|Prime Minister|Chancellor|Minister|Professor|General|Colonel|Captain|Senator|Governor|Judge|Justice"
    "|King|Queen|Prince|Princess|Brigadier|Major|Admiral|Doctor|the late"
)
_FORMS = (
    r"Inc|Corp|Co|Ltd|Plc|PLC|plc|LLC|AG|SA|NV|SpA|S\.A|N\.V|S\.p\.A|Limited|Corporation|Company|Group|Holdings?|& Co"
)
_NOUNS = (
    "magazine|newspapers?|aircraft|tablets?|stock|shares?|fans?|officials?|government|network|family|cars?|film|movie"
    "|band|team|region|area|district"
)
_DROPPED = (
    re.compile(rf"^(?:(?:{_RANKS})\.? )+(?=\w)"),
    re.compile(rf",? (?:{_FORMS})\.?$"),
    re.compile(f" (?:{_NOUNS})$"),
)
_STATES = re.compile(r"^(?:U\.S\.|US|U\.S) (?=\w)")
_LONGEST = 100  # characters of a surface that is worth it


def variants(surface: str) -> Iterator[str]:
    """Yield spellings that may be known where the surface itself is not.

    >>> list(variants("Campbell Soup Co."))
    ['Campbell Soup']
    >>> list(variants("brain tumours"))
    ['brain tumour']
    >>> list(variants("Brantford, Ontario"))
    ['Brantford']
    """
    plain = " ".join(surface.split())
    if len(plain) > _LONGEST:
        return
    for pattern in _DROPPED:
        if (shorter := pattern.sub("", plain)) not in (plain, ""):
            yield shorter
    if _STATES.match(plain):
        yield _STATES.sub("United States ", plain)
        yield _STATES.sub("", plain)
    head, comma, _ = plain.partition(", ")
    if comma and head:
        yield head
    yield from _singulars(plain)
    if plain[:1].islower() and "-" in plain.strip("-"):
        yield plain.rpartition("-")[0]


def _singulars(plain: str) -> Iterator[str]:
    if len(plain) > len("gas") and plain.endswith("s") and not plain.endswith("ss"):
        if plain.endswith("ies"):
            yield plain[:-3] + "y"
        if plain.endswith(("ses", "xes", "ches", "shes")):
            yield plain[:-2]
        yield plain[:-1]
