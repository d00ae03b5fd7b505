"""A page about a linked corpus: how much of what, why not the rest, and the most frequent entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from parlink.pages import render
from parlink.pages.link_card import REASONS

SHOWN = 100  # most frequent entities


def render_report(
    name: str, *, counts: Mapping[str, int], nil: Counter[str], titles: Counter[str], losses: Mapping[str, int]
) -> str:
    """Render the page; titles come from a knowledge base, and are escaped."""
    reasons = {REASONS.get(reason, reason.replace("_", " ")): count for reason, count in nil.most_common()}
    return render(
        "corpus_report.html",
        name=name,
        counts=counts,
        reasons=reasons,
        titles=titles.most_common(SHOWN),
        number_of_titles=len(titles),
        losses=losses,
    )
