"""Score what each mention may refer to: every candidate that it has, or all titles where it has none.

A score has the same parts whichever way a name was found: the mean log-likelihood of its tokens and the
discriminative correction, both from the model, the prior of the candidate, and, if the model has a
bi-encoder, how well what is known of the entity fits the text. `total` adds them up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from parlink.config import PRIOR_FLOOR, LinkSettings, ScoreWeights
from parlink.kb.title_trees import TitleTree
from parlink.linking.beam import beam_search
from parlink.linking.interrupt import check
from parlink.linking.similarity import Describe, EntityReader
from parlink.nn.decoder import MentionStates, NameScores, log_likelihoods
from parlink.nn.model import LinkingModel
from parlink.nn.prefix_tree import PrefixTree
from parlink.text.tokenizer import Tokenizer
from parlink.types import Candidate, Entity

# NIL competes as one more candidate, under a title that no entity can have.
NIL = Candidate("", prior=1.0)
Names = Sequence[Sequence[Sequence[int]]]  # the token ids of each name of each mention
# of some mentions and a title of each, similarity and overlap
Compare = Callable[[MentionStates, Tensor, Sequence[str]], tuple[Tensor, Tensor]]


def score(
    model: LinkingModel,
    tokenizer: Tokenizer,
    states: MentionStates,
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    titles: Callable[[], TitleTree],
    describe: Describe,
    reader: EntityReader | None = None,
) -> list[list[Candidate]]:
    """Score what each mention may refer to, the best first.

    With `settings.fallback` a mention without candidates gets the best of all `titles`, which `describe` knows
    more of; else it gets none. `reader` is for a model with a bi-encoder.
    """
    compare = None if reader is None else partial(reader.compare, describe=describe)
    scored: list[list[Candidate]] = [[] for _ in candidates]
    known = [mention for mention, choice in enumerate(candidates) if choice]
    unknown = [mention for mention, choice in enumerate(candidates) if not choice]
    if known:
        choices = score_candidates(
            model, tokenizer, states[known], [candidates[mention] for mention in known], settings, compare=compare
        )
        for mention, choice in zip(known, choices, strict=True):
            scored[mention] = choice
    if unknown and settings.fallback:
        choices = search_titles(
            model, tokenizer, states[unknown], titles(), settings, describe=describe, compare=compare
        )
        for mention, choice in zip(unknown, choices, strict=True):
            scored[mention] = choice
    return scored


def score_candidates(
    model: LinkingModel,
    tokenizer: Tokenizer,
    states: MentionStates,
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    compare: Compare | None = None,
) -> list[list[Candidate]]:
    """Score every candidate; or generate names among them, and those that the beam drops do not come back."""
    nil = [NIL] if model.config.nil else []
    choices = [[*choice, *nil] for choice in candidates]
    names = [[_tokens(candidate, tokenizer) for candidate in choice] for choice in choices]
    flat = [candidate for choice in choices for candidate in choice]
    scores = (
        generate_names(model, states, names, beams=settings.beams)
        if settings.search == "beam"
        else score_names(model, states, names)
    )
    return _collect(scores, flat.__getitem__, states, settings.weights, compare)


def search_titles(
    model: LinkingModel,
    tokenizer: Tokenizer,
    states: MentionStates,
    titles: TitleTree,
    settings: LinkSettings,
    *,
    describe: Describe,
    compare: Compare | None = None,
) -> list[list[Candidate]]:
    """Generate names among all titles of a tree, for every mention; NIL competes where the model knows it."""
    count, weights = len(states.vector), settings.weights
    names = [[_tokens(NIL, tokenizer)] if model.config.nil else []] * count
    nil = _collect(score_names(model, states, names), lambda _: NIL, states, weights, compare)
    roots = torch.zeros(count, dtype=torch.long, device=states.vector.device)
    scores = beam_search(model, states, titles.tree, roots, beams=settings.beams)
    choices = _collect(scores, lambda name: _describe(titles.title(name), describe), states, weights, compare)
    return [_sort(none + choice)[: settings.max_candidates] for none, choice in zip(nil, choices, strict=True)]


def score_names(
    model: LinkingModel,
    mentions: MentionStates,
    names: Names,
    *,
    batch_names: int = 4096,
) -> NameScores:
    """Score every name of every mention, in the order given; names are numbered through all mentions.

    The names of a mention share the work for their common prefixes.
    """
    counts = np.fromiter(map(len, names), np.int64, len(names))
    parts = [NameScores.empty()]
    for first, last in _chunks(counts.tolist(), limit=batch_names):
        check()
        tree, owner = _tree(names[first:last])
        tree, owner = tree.to(mentions.vector.device), owner.to(mentions.vector.device)
        states = mentions[slice(first, last)]
        reading = model.read(tree, states)
        lm = log_likelihoods(model.decoder, tree, reading, normalized=model.config.self_normalized)
        name = torch.arange(len(owner)) + int(counts[:first].sum())
        classifier = model.decoder.correct(states, owner, reading.cell[tree.ends()])
        parts.append(NameScores(owner.cpu() + first, name, lm.cpu(), classifier.cpu()))
    return NameScores.cat(parts)


def generate_names(model: LinkingModel, mentions: MentionStates, names: Names, *, beams: int) -> NameScores:
    """Score the names that a beam search finds among those of each mention; numbered as by `score_names`."""
    tree, _ = _tree(names)
    device = mentions.vector.device
    roots = torch.arange(len(names), device=device)
    return beam_search(model, mentions, tree.to(device), roots, beams=beams)


def total(
    lm: Tensor, classifier: Tensor, prior: Tensor, similarity: Tensor, overlap: Tensor, weights: ScoreWeights
) -> Tensor:
    """The one definition of a candidate's score, but for coherence, which is added later."""
    log_prior = prior.clamp(min=PRIOR_FLOOR).log()
    paper = weights.lm * lm + weights.classifier * classifier + weights.prior * log_prior
    return paper + weights.similarity * similarity + weights.overlap * overlap


def _tree(names: Names) -> tuple[PrefixTree, Tensor]:
    """The names of each mention below a root of its own, and which mention each is of."""
    owner = np.repeat(np.arange(len(names)), [len(choice) for choice in names])
    tree = PrefixTree.build([name for choice in names for name in choice], groups=owner, roots=len(names))
    return tree, torch.from_numpy(owner)


def _chunks(sizes: Sequence[int], *, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of neighbors whose sizes sum to at most `limit`, or of one that is larger."""
    first, filled = 0, 0
    for index, size in enumerate(sizes):
        if filled and filled + size > limit:
            yield first, index
            first, filled = index, 0
        filled += size
    if first < len(sizes):
        yield first, len(sizes)


def _tokens(candidate: Candidate, tokenizer: Tokenizer) -> tuple[int, ...]:
    return tokenizer.title(candidate.title) if candidate.title else (tokenizer.nil_id,)


def _describe(title: str, describe: Describe) -> Candidate:
    entity = describe(title) or Entity(title)
    return Candidate(title, id=entity.id, url=entity.url, match_type="search")


def _collect(
    scores: NameScores,
    candidate: Callable[[int], Candidate],
    states: MentionStates,
    weights: ScoreWeights,
    compare: Compare | None,
) -> list[list[Candidate]]:
    """Write scores and their parts into the candidates that names stand for; by mention, best first."""
    candidates = [candidate(name) for name in scores.name.tolist()]
    prior = torch.tensor([each.prior or 0.0 for each in candidates])
    titles = [each.title for each in candidates]
    nothing = torch.zeros(len(titles))
    similarity, overlap = (nothing, nothing) if compare is None else compare(states, scores.mention, titles)
    sums = total(scores.lm, scores.classifier, prior, similarity, overlap, weights)
    parts = (sums, scores.lm, scores.classifier, similarity, overlap)
    names = ("score", "lm", "classifier", "similarity", "overlap")[: 3 if compare is None else 5]
    choices: list[list[Candidate]] = [[] for _ in range(len(states.vector))]
    for mention, each, *values in zip(
        scores.mention.tolist(), candidates, *(part.tolist() for part in parts), strict=True
    ):
        choices[mention].append(replace(each, **dict(zip(names, values, strict=False))))
    return [_sort(choice) for choice in choices]


def _sort(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: (-(candidate.score or 0.0), candidate.title))
