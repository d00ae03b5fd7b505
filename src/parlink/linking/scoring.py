"""Score what each mention may refer to: every candidate that it has, or all titles where it has none.

A score has the same parts whichever way a name was found: the mean log-likelihood of its tokens and the
discriminative correction, both from the model, the prior of the candidate, and, if the model has a
bi-encoder, how well what is known of the entity fits the text. `total` adds them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from parlink.config import PRIOR_FLOOR, LinkSettings, ScoreWeights
from parlink.linking.network import Describe, Floats, Integers, KnownMentions, Network, ScoredNames
from parlink.text.tokenizer import Tokenizer
from parlink.types import Candidate, Entity

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.kb.title_trees import TitleTree

# NIL competes as one more candidate, under a title that no entity can have.
NIL = Candidate("", prior=1.0)
# of some mentions and a title of each, similarity and overlap
Compare = Callable[[KnownMentions, Integers, Sequence[str]], tuple[Floats, Floats]]


def score(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    titles: Callable[[], TitleTree],
    describe: Describe,
) -> list[list[Candidate]]:
    """Score what each mention may refer to, the best first.

    With `settings.fallback` a mention without candidates gets the best of all `titles`, which `describe` knows
    more of; else it gets none.
    """
    compare = partial(_compare, describe) if network.config.similarity else None
    scored: list[list[Candidate]] = [[] for _ in candidates]
    known = [mention for mention, choice in enumerate(candidates) if choice]
    unknown = [mention for mention, choice in enumerate(candidates) if not choice]
    if known:
        choices = score_candidates(
            network, tokenizer, mentions[known], [candidates[mention] for mention in known], settings, compare=compare
        )
        for mention, choice in zip(known, choices, strict=True):
            scored[mention] = choice
    if unknown and settings.fallback:
        choices = search_titles(
            network, tokenizer, mentions[unknown], titles(), settings, describe=describe, compare=compare
        )
        for mention, choice in zip(unknown, choices, strict=True):
            scored[mention] = choice
    return scored


def score_candidates(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    compare: Compare | None = None,
) -> list[list[Candidate]]:
    """Score every candidate; or generate names among them, and those that the beam drops do not come back."""
    nil = [NIL] if network.config.nil else []
    choices = [[*choice, *nil] for choice in candidates]
    names = [[_tokens(candidate, tokenizer) for candidate in choice] for choice in choices]
    flat = [candidate for choice in choices for candidate in choice]
    scores = mentions.generate(names, beams=settings.beams) if settings.search == "beam" else mentions.score(names)
    return _collect(scores, flat.__getitem__, mentions, settings.weights, compare)


def search_titles(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    titles: TitleTree,
    settings: LinkSettings,
    *,
    describe: Describe,
    compare: Compare | None = None,
) -> list[list[Candidate]]:
    """Generate names among all titles of a tree, for every mention; NIL competes where the model knows it."""
    count, weights = len(mentions), settings.weights
    names = [[_tokens(NIL, tokenizer)] if network.config.nil else []] * count
    nil = _collect(mentions.score(names), lambda _: NIL, mentions, weights, compare)
    scores = mentions.search(titles, beams=settings.beams)
    choices = _collect(scores, lambda name: _describe(titles.title(name), describe), mentions, weights, compare)
    return [_sort(none + choice)[: settings.max_candidates] for none, choice in zip(nil, choices, strict=True)]


def total(
    lm: Floats, classifier: Floats, prior: Floats, similarity: Floats, overlap: Floats, weights: ScoreWeights
) -> Floats:
    """The one definition of a candidate's score, but for coherence, which is added later."""
    log_prior: Floats = np.log(np.maximum(prior, np.float32(PRIOR_FLOOR)))
    paper: Floats = weights.lm * lm + weights.classifier * classifier + weights.prior * log_prior
    sums: Floats = paper + weights.similarity * similarity + weights.overlap * overlap
    return sums


def _tokens(candidate: Candidate, tokenizer: Tokenizer) -> tuple[int, ...]:
    return tokenizer.title(candidate.title) if candidate.title else (tokenizer.nil_id,)


def _compare(
    describe: Describe, mentions: KnownMentions, mention: Integers, titles: Sequence[str]
) -> tuple[Floats, Floats]:
    return mentions.compare(mention, titles, describe)


def _describe(title: str, describe: Describe) -> Candidate:
    entity = describe(title) or Entity(title)
    return Candidate(title, id=entity.id, url=entity.url, match_type="search")


def _collect(
    scores: ScoredNames,
    candidate: Callable[[int], Candidate],
    mentions: KnownMentions,
    weights: ScoreWeights,
    compare: Compare | None,
) -> list[list[Candidate]]:
    """Write scores and their parts into the candidates that names stand for; by mention, best first."""
    candidates = [candidate(name) for name in scores.name.tolist()]
    prior = np.array([each.prior or 0.0 for each in candidates], np.float32)
    titles = [each.title for each in candidates]
    nothing = np.zeros_like(prior)
    similarity, overlap = (nothing, nothing) if compare is None else compare(mentions, scores.mention, titles)
    sums = total(scores.lm, scores.classifier, prior, similarity, overlap, weights)
    parts = (sums, scores.lm, scores.classifier, similarity, overlap)
    names = ("score", "lm", "classifier", "similarity", "overlap")[: 3 if compare is None else 5]
    choices: list[list[Candidate]] = [[] for _ in range(len(mentions))]
    for mention, each, *values in zip(
        scores.mention.tolist(), candidates, *(part.tolist() for part in parts), strict=True
    ):
        choices[mention].append(replace(each, **dict(zip(names, values, strict=False))))
    return [_sort(choice) for choice in choices]


def _sort(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: (-(candidate.score or 0.0), candidate.title))
