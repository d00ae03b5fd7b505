"""How a name looks: how many words, which capitals, how long; names that look alike are links about as often."""

from __future__ import annotations

SHAPES = 4 * 4 * 8  # words, capitals, length
_CAPITALS = 4
_LENGTHS = 8


def shape(surface: str) -> int:
    """Return a number that names have in common which look alike."""
    words = surface.split() or [""]
    if surface.isupper():
        capitals = 3
    else:
        capital = sum(word[:1].isupper() for word in words)
        capitals = 0 if not capital else 2 if capital == len(words) else 1
    return ((min(len(words), 4) - 1) * _CAPITALS + capitals) * _LENGTHS + min(len(surface) // 4, _LENGTHS - 1)
