"""One spelling for a title, whatever source it comes from."""

from __future__ import annotations

import unicodedata


def spell(title: str) -> str:
    """Return a title composed (NFC), with single spaces and its first letter upper case, as Wikipedia has it."""
    plain = title if title.isascii() else unicodedata.normalize("NFC", title)
    plain = " ".join(plain.split())
    first = plain[:1].upper()
    return first + plain[1:] if len(first) == 1 else plain
