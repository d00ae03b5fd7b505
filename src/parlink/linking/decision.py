"""Link or NIL, with a reason, and how sure that is.

Where a decision is fitted, its probability decides. A model without one links to the best candidate, unless that
scores below the model's threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from parlink.config import LinkSettings
from parlink.kb.tables import Linked
from parlink.linking.features import LinkedBy, know_no_links, link_features
from parlink.linking.mentions import Mention
from parlink.types import Candidate, Entity, Link

Reason = Literal["no_token", "no_candidate", "nil", "below_threshold", "below_confidence"]


def decide(
    mention: Mention,
    candidates: Sequence[Candidate],
    settings: LinkSettings,
    *,
    surface: str,
    describe: Callable[[str], Entity | None],
    linked_by: LinkedBy = know_no_links,
    own_kb: bool = False,
) -> Link:
    """Link a mention to the best of its scored candidates, or to NIL; `describe` knows more of a title.

    `own_kb` says that the knowledge base is one's own, and not one that has a name for nearly every word.
    """
    linked = linked_by(surface) if settings.decision is not None else None
    certain = is_certain(mention, linked, settings, own_kb=own_kb)
    confidence = None
    if candidates:
        confidence = estimate_confidence(mention, candidates, settings, surface=surface, linked=linked, certain=certain)
    link = partial(
        Link,
        mention.span,
        confidence=confidence,
        source=mention.source,
        mention_logit=mention.logit,
        mention_probability=mention.probability,
        candidates=tuple(candidate for candidate in candidates if candidate.title),
    )
    reason = find_reason(candidates, confidence, settings, certain=certain)
    if reason is not None:
        return link(reason=reason)
    best = candidates[0]
    entity = describe(best.title) or Entity(best.title)
    return link(title=best.title, id=best.id, type=entity.type, description=entity.description, url=best.url)


def is_certain(mention: Mention, linked: Linked | None, settings: LinkSettings, *, own_kb: bool) -> bool:
    """Whether a span is a mention beyond doubt: it is given, or a name that somebody put into the knowledge base.

    In a knowledge base of one's own, what the detector takes for a mention is hardly ever a name by chance.
    """
    named = mention.is_name and linked is None  # which only names of one's own are not known to be links or not
    detected = mention.logit is not None and mention.logit > settings.mention_threshold
    return mention.source == "given" or named or (own_kb and detected)


def find_reason(
    candidates: Sequence[Candidate], confidence: float | None, settings: LinkSettings, *, certain: bool
) -> Reason | None:
    """Say why a mention is NIL; None: it is linked to its best candidate."""
    if not candidates:
        return "no_candidate"
    best = candidates[0]
    if not best.title:
        return "nil"
    if settings.score_threshold is not None and (best.score or 0.0) < settings.score_threshold:
        return "below_threshold"
    if (confidence or 0.0) < least_confidence(settings, certain=certain):
        return "below_confidence"
    return None


def least_confidence(settings: LinkSettings, *, certain: bool) -> float:
    """Return how probable a link must be; what is surely a mention is linked unless the caller says how sure to be."""
    if settings.min_confidence is not None:
        return settings.min_confidence
    return 0.0 if settings.decision is None or certain else settings.decision.min_confidence


def estimate_confidence(
    mention: Mention,
    candidates: Sequence[Candidate],
    settings: LinkSettings,
    *,
    surface: str,
    linked: Linked | None,
    certain: bool,
) -> float:
    """The probability that the best candidate is right; without a fitted regression, the model's own."""
    if settings.decision is not None and candidates[0].title:
        regression = settings.decision.given if certain else settings.decision.found
        return regression.probability(
            link_features(
                surface,
                candidates,
                source="given" if certain else mention.source,
                mention_logit=None if certain else mention.logit,
                mention_probability=None if certain else mention.probability,
                linked=linked,
            )
        )
    scores = [candidate.score or 0.0 for candidate in candidates]
    if settings.confidence is None:
        share = 1 / sum(math.exp(score - scores[0]) for score in scores)
        return share if mention.probability is None else share * mention.probability
    # The margin is that to the next named candidate: the regression was fitted on lists without NIL.
    rivals = [candidate.score or 0.0 for candidate in candidates[1:] if candidate.title]
    return settings.confidence.probability(
        mention_logit=mention.logit,
        total=scores[0],
        margin=scores[0] - rivals[0] if rivals else None,
        prior=candidates[0].prior,
    )
