"""Explain links: who proposed a span, the parts of each candidate's score, what decided, what would have changed it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from parlink.config import LinkOptions, LinkSettings, ScoreWeights
from parlink.decision_config import Regression
from parlink.linking.decision import least_confidence
from parlink.linking.features import Describe, LinkedBy, features_of, know_no_entity, know_no_links
from parlink.linking.linker import Linker
from parlink.linking.overlaps import resolve
from parlink.linking.parts import PARTS, weighted_parts
from parlink.linking.surroundings import NOTHING_AROUND, Surroundings, survey
from parlink.types import Candidate, Document, Link

SHOWN = {"lm": "name", "classifier": "context"}  # what parts are called in tables, if not by their own name
_REASONS = 5  # of the confidence that are told


def explain(linker: Linker, text: str | Document, *, options: LinkOptions, top: int = 5) -> str:
    """Link a text, and say of every span that was looked at what became of it and why."""
    settings = options.resolve(linker.tuned)
    everything = linker.link(text, options=msgspec.structs.replace(options, overlaps="keep"))
    answer = resolve(everything, everything.links, settings, kb=everything.kb)
    view = None if linker.kb is None else linker.kb.snapshot()
    linked_by, describe = (know_no_links, know_no_entity) if view is None else (view.linked, view.entity)
    links = everything.links
    around = survey(everything.text, [link.span for link in links], [link.mention_probability for link in links])
    lines = [
        line
        for link, about in zip(links, around, strict=True)
        for line in (
            *explain_link(link, answer, settings, linked_by=linked_by, describe=describe, around=about, top=top),
            "",
        )
    ]
    return "\n".join(lines) if lines else "no span of the text was looked at\n"


def explain_link(
    link: Link,
    answer: Document,
    settings: LinkSettings,
    *,
    linked_by: LinkedBy = know_no_links,
    describe: Describe = know_no_entity,
    around: Surroundings = NOTHING_AROUND,
    top: int = 5,
) -> Iterator[str]:
    """Say what became of a span, given what was answered for its document, a line at a time."""
    text = answer.text
    surface = text[link.span.start : link.span.end]
    yield f"{surface!r} at {link.span.start}: {_outcome(link, answer)}"
    yield f"  proposed: {_proposal(link)}{_linked(surface, linked_by)}"
    if not link.candidates:
        return
    yield f"  {'candidate':36} {'total':>8}" + "".join(f" {SHOWN.get(part, part):>10}" for part in PARTS)
    for candidate in link.candidates[:top]:
        parts = "".join(f" {value:10.2f}" for value in weighted_parts(candidate, settings.weights).values())
        yield f"  {candidate.title[:36]:36} {candidate.score or 0.0:8.2f}{parts}  {candidate.match_type or ''}".rstrip()
    yield f"  {_rivals(link.candidates, settings.weights)}"
    certain = _was_certain(link, text, settings, linked_by, describe)
    if settings.decision is not None:
        judged = replace(link, source="given", mention_logit=None, mention_probability=None) if certain else link
        regression = settings.decision.given if certain else settings.decision.found
        values = features_of(judged, text, linked_by, NOTHING_AROUND if certain else around, describe=describe)
        yield f"  confidence {link.confidence or 0.0:.2f} by {_reasons(values, regression)}"
    yield f"  {_threshold(link, settings, certain=certain)}"


def _outcome(link: Link, answer: Document) -> str:
    if link.title is None:
        return f"not linked ({link.reason})"
    if link in answer.links:
        return f"{link.title}, confidence {link.confidence or 0.0:.2f}"
    rivals = [other for other in answer.links if other.span.overlaps(link.span)]
    names = ", ".join(repr(answer.text[other.span.start : other.span.end]) for other in rivals)
    return f"{link.title}, confidence {link.confidence or 0.0:.2f}, gave way to {names}"


def _proposal(link: Link) -> str:
    if link.mention_logit is None:
        return "given with the text"
    return (
        f"by the {link.source}; the detector gives its start log-odds of {link.mention_logit:.1f}, "
        f"and the span a probability of {link.mention_probability or 0.0:.2f}"
    )


def _linked(surface: str, linked_by: LinkedBy) -> str:
    linked = linked_by(surface)
    if linked is None:
        return ""
    return f"; a link {'in about' if linked.is_guess else 'in'} {linked.probability:.0%} of the pages that have it"


def _rivals(candidates: Sequence[Candidate], weights: ScoreWeights) -> str:
    """Say by how much the best is ahead, and which part alone made it the best."""
    if len(candidates) == 1:
        return "there is no other candidate"
    best, second = candidates[0], candidates[1]
    ahead = f"ahead of {second.title} by {(best.score or 0.0) - (second.score or 0.0):.2f}"
    changes = []
    for name in PARTS:
        without = max(
            candidates, key=lambda each: sum(weighted_parts(each, weights).values()) - _part(each, name, weights)
        )
        if without.title != best.title:
            changes.append(f"without {SHOWN.get(name, name)} it would be {without.title}")
    return f"{ahead}; {'; '.join(changes) or 'without any one part it would be the same'}"


def _part(candidate: Candidate, name: str, weights: ScoreWeights) -> float:
    return weighted_parts(candidate, weights)[name]


def _was_certain(link: Link, text: str, settings: LinkSettings, linked_by: LinkedBy, describe: Describe) -> bool:
    """Whether the span was taken for a mention beyond doubt (`decision.is_certain`), which its confidence tells."""
    if link.source == "given" or settings.decision is None or not link.candidates:
        return link.source == "given"
    given = replace(link, source="given", mention_logit=None, mention_probability=None)
    sure = settings.decision.given.probability(features_of(given, text, linked_by, describe=describe))
    return math.isclose(sure, link.confidence or 0.0, rel_tol=1e-6)


def _reasons(values: Sequence[float], regression: Regression) -> str:
    """What says most for and against the link, in log-odds."""
    told = regression.shares(values)
    most = sorted(told, key=lambda name: -abs(told[name]))[:_REASONS]
    return ", ".join(f"{name} {told[name]:+.1f}" for name in most)


def _threshold(link: Link, settings: LinkSettings, *, certain: bool) -> str:
    """Say what the confidence was held against, and what would have made the other answer."""
    least = least_confidence(settings, certain=certain)
    confidence = link.confidence or 0.0
    if link.reason == "below_confidence":
        return f"below the least confidence of {least:.2f}; --min-confidence {confidence:.2f} would link it"
    if link.reason is not None:
        return f"not linked: {link.reason}"
    return f"linked from a confidence of {least:.2f} on; a --min-confidence above {confidence:.2f} would not link it"
