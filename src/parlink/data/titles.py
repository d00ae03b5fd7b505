"""One spelling for a title: percent-decoded, spaces for underscores, then brought through redirects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from parlink.data import files, jsonl
from parlink.data.references import unescape_title

_LONGEST_CHAIN = 100
_SAFE = "!$&'()*+,-./:;=@~"


def plain_title(written: str) -> str:
    """Turn a title as it stands in a URL into the title as it is read; undoes `url_title`."""
    return _unquote(written.replace("_", " "))


def url_title(title: str) -> str:
    """Turn a title into the last part of a URL; an underscore of the title's own is percent-encoded."""
    return "_".join(quote(word, safe=_SAFE).replace("_", "%5F") for word in title.split(" "))


def _unquote(written: str) -> str:
    try:
        return unquote(written, errors="strict")
    except UnicodeDecodeError:  # a percent sign of the title's own
        return written


def read_redirects(path: Path | str) -> dict[str, str]:
    """Read a JSON object of title to current title; chains are followed."""
    table = jsonl.parse(files.content(path), dict[str, str], path=path, wanted="wanted a JSON object of title to title")
    redirects = {_plain_target(old): _plain_target(new) for old, new in table.items()}
    return {old: follow(old, redirects) for old in redirects}


def _plain_target(written: str) -> str:
    return plain_title(unescape_title(written))


def follow(title: str, redirects: Mapping[str, str]) -> str:
    """Return where the redirects of a title end; a circle leads nowhere, so its titles stay as they are.

    So does a chain of more than `_LONGEST_CHAIN`, which is no wiki's.
    """
    seen, target = {title}, title
    while target in redirects:
        target = redirects[target]
        if target in seen or len(seen) > _LONGEST_CHAIN:
            return title
        seen.add(target)
    return target
