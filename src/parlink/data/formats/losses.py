"""Count what a format cannot hold, so that no conversion loses anything in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from parlink.data.identifiers import Target
from parlink.types import Document, Link

_DOCUMENT = ("spans", "kb", "error", "extra")
_LINK = (
    *("id", "type", "description", "confidence", "reason", "source"),
    *("mention_logit", "mention_probability", "candidates", "url", "extra"),
)


def count_losses(doc: Document, losses: Counter[str], *, held: Collection[str] = ()) -> None:
    """Add to `losses` the fields of a document and of its links that are set and not among those `held`."""
    for name in _DOCUMENT:
        if name not in held and getattr(doc, name) not in (None, {}):
            losses[f"{name} of a document"] += 1
    for link in doc.links:
        for name in _LINK:
            if name not in held and _is_set(getattr(link, name)):
                losses[f"{name} of a link"] += 1


def holds_only_type(link: Link) -> bool:
    """Whether the other fields of a link are a type at most, which formats with a label for each mention can hold."""
    return all(name == "type" and isinstance(kind, str) and kind for name, kind in link.extra.items())


def count_changes(link: Link, told: Target, losses: Counter[str]) -> None:
    """Add to `losses` what a reader of the identifiers as written would take to be another title, id or URL."""
    for name in ("title", "id", "url"):
        if getattr(link, name) != getattr(told, name):
            losses[f"{name} of a link that the format cannot say"] += 1


def _is_set(value: object) -> bool:
    return value is not None and value != () and value != {}
