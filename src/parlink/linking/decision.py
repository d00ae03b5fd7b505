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
) -> Link:
    """Link a mention to the best of its scored candidates, or to NIL; `describe` knows more of a title."""
    confidence = None
    if candidates:
        confidence = estimate_confidence(mention, candidates, settings, surface=surface, linked_by=linked_by)
    link = partial(
        Link,
        mention.span,
        confidence=confidence,
        source=mention.source,
        mention_logit=mention.logit,
        mention_probability=mention.probability,
        candidates=tuple(candidate for candidate in candidates if candidate.title),
    )
    reason = find_reason(mention, candidates, confidence, settings)
    if reason is not None:
        return link(reason=reason)
    best = candidates[0]
    entity = describe(best.title) or Entity(best.title)
    return link(title=best.title, id=best.id, type=entity.type, description=entity.description, url=best.url)


def find_reason(
    mention: Mention, candidates: Sequence[Candidate], confidence: float | None, settings: LinkSettings
) -> Reason | None:
    """Say why a mention is NIL; None: it is linked to its best candidate."""
    if not candidates:
        return "no_candidate"
    best = candidates[0]
    if not best.title:
        return "nil"
    if settings.score_threshold is not None and (best.score or 0.0) < settings.score_threshold:
        return "below_threshold"
    if (confidence or 0.0) < least_confidence(mention.source, settings):
        return "below_confidence"
    return None


def least_confidence(source: str | None, settings: LinkSettings) -> float:
    """Return how probable a link must be; a span that was given is linked unless the caller says how sure to be."""
    if settings.min_confidence is not None:
        return settings.min_confidence
    return 0.0 if settings.decision is None or source == "given" else settings.decision.min_confidence


def estimate_confidence(
    mention: Mention,
    candidates: Sequence[Candidate],
    settings: LinkSettings,
    *,
    surface: str,
    linked_by: LinkedBy = know_no_links,
) -> float:
    """The probability that the best candidate is right; without a fitted regression, the model's own."""
    if settings.decision is not None and candidates[0].title:
        linked = linked_by(surface)
        # A name of one's own knowledge base, which does not know how often names are links, is a mention beyond doubt.
        is_certain = mention.source == "given" or (mention.is_name and linked is None)
        regression = settings.decision.given if is_certain else settings.decision.found
        return regression.probability(
            link_features(
                surface,
                candidates,
                source="given" if is_certain else mention.source,
                mention_logit=None if is_certain else mention.logit,
                mention_probability=None if is_certain else mention.probability,
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
