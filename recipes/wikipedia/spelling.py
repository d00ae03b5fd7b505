"""How titles are spelled: one spelling whatever source they come from, and what a comma adds to a place."""

from __future__ import annotations

import unicodedata

from parlink.data.references import unescape_title

_NO_PLACES = frozenset(["Jr.", "Sr.", "Jr", "Sr", "Inc.", "Inc", "Ltd.", "LLC", "II", "III"])


def spell(title: str) -> str:
    """Return a title as Wikipedia has it: composed (NFC), no character references, single spaces, a capital first."""
    plain = unescape_title(title)
    plain = plain if plain.isascii() else unicodedata.normalize("NFC", plain)
    plain = " ".join(plain.split())
    first = plain[:1].upper()
    return first + plain[1:] if len(first) == 1 else plain


def drop_state(title: str) -> str | None:
    """Return what stands before the comma of "Auburn, New York"; None if there is no comma, or no place after it."""
    before, comma, after = title.partition(", ")
    is_place = after[:1].isupper() and after not in _NO_PLACES and not any(map(str.isdigit, after))
    return before if comma and is_place else None
