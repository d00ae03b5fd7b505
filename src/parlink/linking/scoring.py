"""Score what each mention may refer to: every candidate that it has, or all titles where it has none.

A score has the same parts whichever way a name was found: the mean log-likelihood of its tokens and the
discriminative correction, both from the model, and the prior of the candidate. `total` adds them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from parlink.config import PRIOR_FLOOR, LinkSettings, ScoreWeights
from parlink.linking.network import Floats, KnownMentions, Network, Reader, ScoredNames, Vectors
from parlink.text.tokenizer import Tokenizer
from parlink.types import Candidate, Entity

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.kb.title_trees import TitleTree

# NIL competes as one more candidate, under a title that no entity can have.
NIL = Candidate("", prior=1.0)
TitleReader = Callable[[Sequence[str]], Vectors]  # titles -> what a network reads of their descriptions


def score(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    titles: Callable[[], TitleTree],
    describe: Callable[[str], Entity | None],
) -> list[list[Candidate]]:
    """Score what each mention may refer to, the best first.

    With `settings.fallback` a mention without candidates gets the best of all `titles`, which `describe` knows
    more of; else it gets none.
    """
    reader = None if network.reader is None else partial(_read, network.reader, describe)
    scored: list[list[Candidate]] = [[] for _ in candidates]
    known = [mention for mention, choice in enumerate(candidates) if choice]
    unknown = [mention for mention, choice in enumerate(candidates) if not choice]
    if known:
        choices = score_candidates(
            network, tokenizer, mentions[known], [candidates[mention] for mention in known], settings, reader=reader
        )
        for mention, choice in zip(known, choices, strict=True):
            scored[mention] = choice
    if unknown and settings.fallback:
        choices = search_titles(
            network, tokenizer, mentions[unknown], titles(), settings, describe=describe, reader=reader
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
    reader: TitleReader | None = None,
) -> list[list[Candidate]]:
    """Score every candidate; or generate names among them, and those that the beam drops do not come back."""
    nil = [NIL] if network.config.nil else []
    choices = [[*choice, *nil] for choice in candidates]
    names = [[_tokens(candidate, tokenizer) for candidate in choice] for choice in choices]
    flat = [candidate for choice in choices for candidate in choice]
    described = None if reader is None else lambda numbers: reader([flat[i].title for i in numbers])
    scores = (
        mentions.generate(names, beams=settings.beams, described=described)
        if settings.search == "beam"
        else mentions.score(names, described=described)
    )
    return _collect(scores, flat.__getitem__, len(choices), settings.weights)


def search_titles(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    titles: TitleTree,
    settings: LinkSettings,
    *,
    describe: Callable[[str], Entity | None],
    reader: TitleReader | None = None,
) -> list[list[Candidate]]:
    """Generate names among all titles of a tree, for every mention; NIL competes where the model knows it."""
    count, weights = len(mentions), settings.weights
    names = [[_tokens(NIL, tokenizer)] if network.config.nil else []] * count
    nil = _collect(mentions.score(names), lambda _: NIL, count, weights)
    described = None if reader is None else partial(_read_titles, reader, titles)
    scores = mentions.search(titles, beams=settings.beams, described=described)
    choices = _collect(scores, lambda name: _describe(titles.title(name), describe), count, weights)
    return [_sort(none + choice)[: settings.max_candidates] for none, choice in zip(nil, choices, strict=True)]


def total(lm: Floats, classifier: Floats, prior: Floats, weights: ScoreWeights) -> Floats:
    """The one definition of a candidate's score."""
    log_prior: Floats = np.log(np.maximum(prior, np.float32(PRIOR_FLOOR)))
    score: Floats = weights.lm * lm + weights.classifier * classifier + weights.prior * log_prior
    return score


def _tokens(candidate: Candidate, tokenizer: Tokenizer) -> tuple[int, ...]:
    return tokenizer.title(candidate.title) if candidate.title else (tokenizer.nil_id,)


def _read(reader: Reader, describe: Callable[[str], Entity | None], titles: Sequence[str]) -> Vectors:
    """What the model reads of what is known of titles; each is asked for once, and NIL has nothing."""
    texts = {title: None if (entity := describe(title)) is None else entity.description for title in set(titles)}
    return reader([texts[title] for title in titles])


def _read_titles(reader: TitleReader, titles: TitleTree, names: list[int]) -> Vectors:
    return reader([titles.title(name) for name in names])


def _describe(title: str, describe: Callable[[str], Entity | None]) -> Candidate:
    entity = describe(title) or Entity(title)
    return Candidate(title, id=entity.id, url=entity.url, match_type="search")


def _collect(
    scores: ScoredNames, candidate: Callable[[int], Candidate], mentions: int, weights: ScoreWeights
) -> list[list[Candidate]]:
    """Write scores and their parts into the candidates that names stand for; by mention, best first."""
    candidates = [candidate(name) for name in scores.name.tolist()]
    prior = np.array([each.prior or 0.0 for each in candidates], np.float32)
    parts = (total(scores.lm, scores.classifier, prior, weights), scores.lm, scores.classifier)
    choices: list[list[Candidate]] = [[] for _ in range(mentions)]
    for mention, each, *values in zip(
        scores.mention.tolist(), candidates, *(part.tolist() for part in parts), strict=True
    ):
        choices[mention].append(replace(each, score=values[0], lm=values[1], classifier=values[2]))
    return [_sort(choice) for choice in choices]


def _sort(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: (-(candidate.score or 0.0), candidate.title))
