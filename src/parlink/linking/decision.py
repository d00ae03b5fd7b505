"""Link or NIL, with a reason, and how sure that is.

Where a decision is fitted, its probability decides. A model without one links to the best candidate, unless that
scores below the model's threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal

from parlink.config import LinkSettings
from parlink.kb.surfaces import EXACT, FOLDED, STEPS, STRIPPED, TITLE
from parlink.kb.tables import Linked
from parlink.linking.document_names import MATCH_TYPE
from parlink.linking.features import Describe, LinkedBy, know_no_links, link_features
from parlink.linking.mentions import Mention, surfaces_of
from parlink.linking.overlaps import keep_longest, lies_within
from parlink.linking.surroundings import NOTHING_AROUND, Surroundings, survey
from parlink.types import Candidate, Document, Entity, Link, Span

Reason = Literal["no_token", "no_candidate", "nil", "below_threshold", "below_confidence", "within_name"]
SPELLED = tuple(STEPS[step] for step in (EXACT, FOLDED, STRIPPED, TITLE))  # match types of a name as it stands


def decide_documents(
    docs: Sequence[Document],
    mentions: Sequence[Mention],
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    describe: Describe,
    linked_by: LinkedBy,
    own_kb: bool,
) -> list[list[Link]]:
    """Decide all mentions, each in sight of the others of its document; the links by document."""
    surfaces = surfaces_of(docs, mentions)
    names: list[list[Span]] = [[] for _ in docs]
    for mention, surface in zip(mentions, surfaces, strict=True):
        if mention.is_name and is_own_name(mention, linked_by(surface)):
            names[mention.document].append(mention.span)
    longest = [keep_longest(spans) for spans in names]
    links: list[list[Link]] = [[] for _ in docs]
    for mention, surface, choice, around in zip(mentions, surfaces, candidates, _survey(docs, mentions), strict=True):
        link = decide(
            mention,
            choice,
            settings,
            surface=surface,
            describe=describe,
            linked_by=linked_by,
            own_kb=own_kb,
            around=around,
            nested=lies_within(mention.span, longest[mention.document]),
        )
        links[mention.document].append(link)
    return links


def _survey(docs: Sequence[Document], mentions: Sequence[Mention]) -> list[Surroundings]:
    """What stands around each mention, in their order."""
    by_document: list[list[int]] = [[] for _ in docs]
    for number, mention in enumerate(mentions):
        by_document[mention.document].append(number)
    result = [NOTHING_AROUND] * len(mentions)
    for doc, numbers in zip(docs, by_document, strict=True):
        listed = [mentions[number] for number in numbers]
        surveyed = survey(doc.text, [m.span for m in listed], [m.probability for m in listed])
        for number, around in zip(numbers, surveyed, strict=True):
            result[number] = around
    return result


def decide(
    mention: Mention,
    candidates: Sequence[Candidate],
    settings: LinkSettings,
    *,
    surface: str,
    describe: Describe,
    linked_by: LinkedBy = know_no_links,
    own_kb: bool = False,
    around: Surroundings = NOTHING_AROUND,
    nested: bool = False,
) -> Link:
    """Link a mention to the best of its scored candidates, or to NIL; `describe` knows more of a title.

    `own_kb` says that the knowledge base is one's own, and not one that has a name for nearly every word,
    `nested` that the mention lies within a longer name of one's own: the longest at its place is what is meant.
    """
    linked = linked_by(surface) if settings.decision is not None else None
    certain = is_certain(mention, candidates, linked, settings, own_kb=own_kb)
    confidence = None
    if candidates:
        confidence = estimate_confidence(
            mention,
            candidates,
            settings,
            surface=surface,
            linked=linked,
            describe=describe,
            around=around,
            certain=certain,
        )
    link = partial(
        Link,
        mention.span,
        confidence=confidence,
        source=mention.source,
        mention_logit=mention.logit,
        mention_probability=mention.probability,
        candidates=tuple(candidate for candidate in candidates if candidate.title),
    )
    reason = "within_name" if nested else find_reason(candidates, confidence, settings, certain=certain)
    if reason is not None:
        return link(reason=reason)
    best = candidates[0]
    entity = describe(best.title) or Entity(best.title)
    return link(title=best.title, id=best.id, type=entity.type, description=entity.description, url=best.url)


def is_certain(
    mention: Mention, candidates: Sequence[Candidate], linked: Linked | None, settings: LinkSettings, *, own_kb: bool
) -> bool:
    """Whether a span is a mention beyond doubt: it is given, or a name that somebody put into the knowledge base.

    In a knowledge base of one's own, what is looked at and spelled as one of its names, in whatever case, is hardly
    ever so by chance; nor is another spelling that the detector takes for a mention.
    """
    if mention.source == "given" or is_own_name(mention, linked):
        return True
    if not own_kb or not candidates:
        return False
    match_type = candidates[0].match_type
    detected = mention.logit is not None and mention.logit > settings.mention_threshold
    return match_type in SPELLED or (detected and match_type != MATCH_TYPE)


def is_own_name(mention: Mention, linked: Linked | None) -> bool:
    """Whether the dictionary found a name of one's own, of which alone it is not known how often they are links."""
    return mention.is_name and linked is None


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
    describe: Describe,
    around: Surroundings,
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
                entity=describe(candidates[0].title),
                around=NOTHING_AROUND if certain else around,
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
