"""What the confidence of a link is computed from: numbers that say how sure each step of linking was."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from parlink.decision_config import FEATURES, PRIOR_FLOOR
from parlink.kb.tables import Linked
from parlink.linking.document_names import MATCH_TYPE
from parlink.linking.surroundings import NOTHING_AROUND, Surroundings
from parlink.types import Candidate, Entity, Link

LinkedBy = Callable[[str], Linked | None]  # surface -> how often it is a link where it occurs
Describe = Callable[[str], Entity | None]  # title -> what is known of it
OWN_NAME = 0.5  # how often a name is a link, if the knowledge base does not know: the names of one's own mostly are
_WORD = re.compile(r"\w+")
_FAR = 10.0  # a score so far ahead is as far as any


def know_no_links(_surface: str) -> Linked | None:
    """Stand for a knowledge base that does not know how often names are links."""
    return None


def know_no_entity(_title: str) -> Entity | None:
    """Stand for a knowledge base that says nothing of its titles."""
    return None


def link_features(
    surface: str,
    candidates: Sequence[Candidate],
    *,
    source: str | None,
    mention_logit: float | None,
    mention_probability: float | None,
    linked: Linked | None,
    entity: Entity | None = None,
    around: Surroundings = NOTHING_AROUND,
) -> tuple[float, ...]:
    """Return the features of the link of a surface to the best of its candidates, in the order of `FEATURES`.

    `entity` is what the knowledge base knows of that candidate.
    """
    best = candidates[0]
    scores = [candidate.score or 0.0 for candidate in candidates if candidate.title]
    margin = min(scores[0] - scores[1], _FAR) if len(scores) > 1 else 0.0
    share = 1 / sum(math.exp(score - scores[0]) for score in scores)
    kind = None if entity is None else entity.type
    named, titled = (set(_WORD.findall(name.casefold())) for name in (surface, best.title))
    values = {
        "start": _clip(mention_logit or 0.0),
        "end": _log_end(mention_logit, mention_probability),
        "dictionary": float(source == "dictionary"),
        "repeated": float(source == "document"),
        "total": scores[0],
        "margin": margin,
        "share": share,
        "lone": float(len(scores) == 1),
        "log_prior": math.log(max(best.prior or 0.0, PRIOR_FLOOR)),
        "left_out": min(max(1 - sum(candidate.prior or 0.0 for candidate in candidates), 0.0), 1.0),
        "coherence": best.coherence or 0.0,
        "candidates": math.log(len(scores)),
        "linked": _log_odds(OWN_NAME if linked is None else linked.probability),
        "linked_guess": float(linked is not None and linked.is_guess),
        "title_is_surface": float(best.title == surface),
        "document": float(best.match_type == MATCH_TYPE),
        "lower_case": float(surface.islower()),
        "words": math.log(1 + surface.count(" ")),
        "longer": around.longer,
        "shorter": around.shorter,
        "in_title": len(named & titled) / max(len(named), 1),
        "beyond": float(len(titled - named)),
        "person": float(kind == "person"),
        "place": float(kind == "place"),
        "organization": float(kind == "organization"),
        "upper": float(surface.isupper()),
        "capital_before": float(around.capital_before),
        "capital_after": float(around.capital_after),
        "begins": float(around.begins),
    }
    return tuple(values[name] for name in FEATURES)


def features_of(
    link: Link,
    text: str,
    linked_by: LinkedBy,
    around: Surroundings = NOTHING_AROUND,
    *,
    describe: Describe = know_no_entity,
) -> tuple[float, ...]:
    """Return the features of a link that was made, with all candidates that were scored."""
    surface = text[link.span.start : link.span.end]
    return link_features(
        surface,
        link.candidates,
        source=link.source,
        mention_logit=link.mention_logit,
        mention_probability=link.mention_probability,
        linked=linked_by(surface),
        entity=describe(link.candidates[0].title),
        around=around,
    )


def _log_end(logit: float | None, probability: float | None) -> float:
    """The log of p(end | start), which detection multiplies with p(start)."""
    if logit is None or probability is None:
        return 0.0
    log_start = -math.log1p(math.exp(-logit)) if logit > 0 else logit - math.log1p(math.exp(logit))
    return _clip(math.log(max(probability, 1e-30)) - log_start)


def _log_odds(probability: float) -> float:
    p = min(max(probability, 0.01), 0.99)
    return math.log(p / (1 - p))


def _clip(value: float) -> float:
    return min(max(value, -_FAR), _FAR)
