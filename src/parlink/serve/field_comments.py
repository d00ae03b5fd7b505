"""What the fields of a dataclass mean, from the comments beside them, for readers of the code and of the API alike."""

from __future__ import annotations

import inspect
import re

_FIELD = re.compile(r"^    (\w+): .*\s# (.+)$", re.MULTILINE)


def read_comments(kind: type) -> dict[str, str]:
    """Return the comment beside each field that has one, as a sentence; none where the source is not at hand."""
    try:
        source = inspect.getsource(kind)
    except OSError:
        return {}
    return {name: f"{words[0].upper()}{words[1:]}." for name, words in _FIELD.findall(source)}
