"""Titles whose own spelling links to another title: [[ICJ]] beside [[International Court of Justice|ICJ]]."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter

from recipes.wikipedia.collect import Tables
from recipes.wikipedia.evidence import Mark
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.spelling import spell
from recipes.wikipedia.texts import Texts

_FEWEST = 5  # links to another title, before they say anything
_SHARE = 0.6  # of them that must go to one title
_ALL = 0.9  # of them: the name means nothing else
_MORE = 1.5  # times as many as go to the title itself
_ALIAS_WORTH = 2.0  # links
_MOST_ANCHORS = 3  # that count of those in tables, which repeat
_PRIOR_WORTH = 0.1  # a hundredth of a prior


def merge_elsewhere(pool: Pool, texts: Texts, tables: Tables) -> None:
    """Merge titles that nothing but links know into what their spelling mostly links to.

    If that says the same and more, the bare name is ambiguous: it is left out.
    """
    own: defaultdict[str, float] = defaultdict(float)
    others: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for surface, title, worth in weigh_links(texts, tables):
        spelled, now = spell(surface), pool.now(title)
        if now is None or not is_redirect_perhaps(pool, spelled):
            continue
        if now == spelled:
            own[spelled] += worth
        else:
            others[spelled][now] += worth
    for title, targets in others.items():
        target, links = max(targets.items(), key=itemgetter(1))
        enough = links >= _FEWEST and links > _SHARE * sum(targets.values()) and links > _MORE * own[title]
        if not enough or not _is_stronger(pool, target, title) or title not in pool.titles:
            continue
        if _is_ambiguous(title, target, links / sum(targets.values())):
            pool.leave_out(title, "bare names whose links go to a title that says more")
        else:
            pool.merge(title, target, "merged: links of that spelling go elsewhere")


def _is_ambiguous(title: str, target: str, share: float) -> bool:
    """Whether a name is too bare to be one entity: what is mostly meant says it, and more."""
    if target.startswith((f"{title} (", f"{title}, ")):
        return True
    return share < _ALL and set(title.split()) < set(target.split())


def weigh_links(texts: Texts, tables: Tables) -> Iterator[tuple[str, str, float]]:
    """Yield surface and title of all links and names, with what each is worth in links."""
    for (surface, title), count in texts.all_links:
        yield surface, title, count
    for surface, title, count, kind in tables.names:
        worth = {"anchor": min(count, _MOST_ANCHORS), "alias": _ALIAS_WORTH, "prior": count * _PRIOR_WORTH}
        if kind != "anchor" or spell(surface) != title:
            yield surface, title, worth[kind]


def is_redirect_perhaps(pool: Pool, title: str) -> bool:
    """Whether a title may be nothing but a redirect that we do not know."""
    evidence = pool.titles.get(title)
    if evidence is None or evidence.is_page or evidence.marks & (Mark.ARTICLE | Mark.AIDA):
        return False
    return "t2kmatch" not in evidence.lists or evidence.count <= 3


def _is_stronger(pool: Pool, target: str, title: str) -> bool:
    if target not in pool.titles or title not in pool.titles:
        return False
    stronger, weaker = pool.titles[target], pool.titles[title]
    return stronger.is_page and stronger.strength > 2 * weaker.strength
