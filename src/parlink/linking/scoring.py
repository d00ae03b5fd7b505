"""Score what each mention may refer to: every candidate that it has, or all titles where it has none.

A score has the same parts whichever way a name was found: the mean log-likelihood of its tokens and the
discriminative correction, both from the model, the prior of the candidate, whether its title is other than the
surface, and, if the model has a bi-encoder, how well what is known of the entity fits the text. `Parts.total` adds
them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from parlink.config import LinkSettings, ScoreWeights, Shortlist
from parlink.decision_config import PRIOR_FLOOR
from parlink.linking.network import Describe, Floats, Integers, KnownMentions, Network, Say, ScoredNames
from parlink.linking.shortlist import choose_names
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
    surfaces: Sequence[str],
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    titles: Callable[[], TitleTree],
    describe: Describe,
    say: Say,
    read: bool = False,
) -> list[list[Candidate]]:
    """Score what each mention, of a surface in the text, may refer to, the best first.

    With `settings.fallback` a mention without candidates gets the best of all `titles`, which `describe` knows
    more of; else it gets none. With `read`, the encoder reads what is said of entities, by `say`.
    A bi-encoder is asked only where its parts count, unless all parts are wanted.
    """
    compare = partial(_compare, say, read) if network.config.similarity and settings.compares else None
    scored: list[list[Candidate]] = [[] for _ in candidates]
    known = [mention for mention, choice in enumerate(candidates) if choice]
    unknown = [mention for mention, choice in enumerate(candidates) if not choice]
    if known:
        choices = score_candidates(
            network,
            tokenizer,
            mentions[known],
            [surfaces[mention] for mention in known],
            [candidates[mention] for mention in known],
            settings,
            compare=compare,
        )
        for mention, choice in zip(known, choices, strict=True):
            scored[mention] = choice
    if unknown and settings.fallback:
        choices = search_titles(
            network,
            tokenizer,
            mentions[unknown],
            [surfaces[mention] for mention in unknown],
            titles(),
            settings,
            describe=describe,
            compare=compare,
        )
        for mention, choice in zip(unknown, choices, strict=True):
            scored[mention] = choice
    return scored


def score_candidates(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    surfaces: Sequence[str],
    candidates: Sequence[Sequence[Candidate]],
    settings: LinkSettings,
    *,
    compare: Compare | None = None,
) -> list[list[Candidate]]:
    """Score every candidate; or generate names among them, and those that the beam drops do not come back."""
    nil = [NIL] if network.config.nil else []
    choices = [[*choice, *nil] for choice in candidates]
    flat = [candidate for choice in choices for candidate in choice]
    if settings.search == "beam":
        names = [_tokenize(choice, tokenizer) for choice in choices]
        found = mentions.generate(names, beams=settings.beams)
        return _collect(found, flat.__getitem__, mentions, surfaces, settings.weights, compare)
    mention = np.repeat(np.arange(len(choices)), [len(choice) for choice in choices])
    known = _know(flat, mention, mentions, surfaces, compare)
    read = choose_names(known.total(settings.weights), mention, settings.shortlist)
    lm, classifier = _read_names(flat, mention, read, mentions, tokenizer, settings.shortlist)
    return _write(flat, mention, replace(known, lm=lm, classifier=classifier), settings.weights, len(mentions))


def search_titles(
    network: Network,
    tokenizer: Tokenizer,
    mentions: KnownMentions,
    surfaces: Sequence[str],
    titles: TitleTree,
    settings: LinkSettings,
    *,
    describe: Describe,
    compare: Compare | None = None,
) -> list[list[Candidate]]:
    """Generate names among all titles of a tree, for every mention; NIL competes where the model knows it."""
    count, weights = len(mentions), settings.weights
    names = [_tokenize([NIL], tokenizer) if network.config.nil else []] * count
    nil = _collect(mentions.score(names), lambda _: NIL, mentions, surfaces, weights, compare)
    found = mentions.search(titles, beams=settings.beams)
    choices = _collect(
        found, lambda name: _describe(titles.title(name), describe), mentions, surfaces, weights, compare
    )
    return [_sort(none + choice)[: settings.max_candidates] for none, choice in zip(nil, choices, strict=True)]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the scores of candidates, (candidates,) each, but for coherence, which is added later."""

    prior: Floats
    differs: Floats
    lm: Floats
    classifier: Floats
    similarity: Floats | None  # None: no bi-encoder was asked
    overlap: Floats | None

    def total(self, weights: ScoreWeights) -> Floats:
        """The one definition of a candidate's score."""
        log_prior: Floats = np.log(np.maximum(self.prior, np.float32(PRIOR_FLOOR)))
        sums: Floats = weights.lm * self.lm + weights.classifier * self.classifier + weights.prior * log_prior
        sums = sums + weights.differs * self.differs
        for weight, part in ((weights.similarity, self.similarity), (weights.overlap, self.overlap)):
            sums = sums if part is None else sums + weight * part
        return sums


def _know(
    candidates: Sequence[Candidate],
    mention: Integers,
    mentions: KnownMentions,
    surfaces: Sequence[str],
    compare: Compare | None,
) -> Parts:
    """All that is known of candidates before their names are read."""
    prior = np.array([each.prior or 0.0 for each in candidates], np.float32)
    titles, nothing = [each.title for each in candidates], np.zeros_like(prior)
    differs = np.array([t != surfaces[m] for t, m in zip(titles, mention.tolist(), strict=True)], np.float32)
    compared = (None, None) if compare is None else compare(mentions, mention, titles)
    return Parts(prior, differs, nothing, nothing, *compared)


def _read_names(
    candidates: Sequence[Candidate],
    mention: Integers,
    read: NDArray[np.bool_],
    mentions: KnownMentions,
    tokenizer: Tokenizer,
    shortlist: Shortlist | None,
) -> tuple[Floats, Floats]:
    """Log-likelihood and correction of each candidate: those of names that are `read`, and else what is usual."""
    owners, owner = np.unique(mention[read], return_inverse=True)
    names: list[list[tuple[int, ...]]] = [[] for _ in owners]
    tokens = _tokenize([candidates[number] for number in np.flatnonzero(read).tolist()], tokenizer)
    for place, name in zip(owner.tolist(), tokens, strict=True):
        names[place].append(name)
    scores = mentions[owners.tolist()].score(names)
    usual = (0.0, 0.0) if shortlist is None else (shortlist.lm, shortlist.classifier)
    lm, classifier = (np.full(len(candidates), value, scores.lm.dtype) for value in usual)
    lm[read], classifier[read] = scores.lm, scores.classifier
    return lm, classifier


def _tokenize(candidates: Sequence[Candidate], tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """The names of candidates as the decoder reads them."""
    tokens = tokenizer.each_title([candidate.title for candidate in candidates])
    return [ids if candidate.title else (tokenizer.nil_id,) for candidate, ids in zip(candidates, tokens, strict=True)]


def _compare(
    say: Say, read: bool, mentions: KnownMentions, mention: Integers, titles: Sequence[str]
) -> tuple[Floats, Floats]:
    return mentions.compare(mention, titles, say, read=read)


def _describe(title: str, describe: Describe) -> Candidate:
    entity = describe(title) or Entity(title)
    return Candidate(title, id=entity.id, url=entity.url, match_type="search")


def _collect(
    scores: ScoredNames,
    candidate: Callable[[int], Candidate],
    mentions: KnownMentions,
    surfaces: Sequence[str],
    weights: ScoreWeights,
    compare: Compare | None,
) -> list[list[Candidate]]:
    """Score the candidates that the names of a search stand for; by mention, best first."""
    candidates = [candidate(name) for name in scores.name.tolist()]
    known = _know(candidates, scores.mention, mentions, surfaces, compare)
    parts = replace(known, lm=scores.lm, classifier=scores.classifier)
    return _write(candidates, scores.mention, parts, weights, len(mentions))


def _write(
    candidates: Sequence[Candidate], mention: Integers, parts: Parts, weights: ScoreWeights, mentions: int
) -> list[list[Candidate]]:
    """Write scores and their parts into candidates; by mention, best first."""
    unknown = [None] * len(candidates)
    compared = [unknown if part is None else part.tolist() for part in (parts.similarity, parts.overlap)]
    own = (parts.total(weights), parts.differs, parts.lm, parts.classifier)
    columns = (*(part.tolist() for part in own), *compared)
    choices: list[list[Candidate]] = [[] for _ in range(mentions)]
    for place, c, score, differs, lm, f, sim, overlap in zip(mention.tolist(), candidates, *columns, strict=True):
        # `replace` would take three times as long.
        values = (score, c.prior, lm, f, sim, overlap, differs)
        choices[place].append(Candidate(c.title, c.id, *values, c.coherence, c.match_type, c.url, c.extra))
    return [_sort(choice) for choice in choices]


def _sort(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: (-(candidate.score or 0.0), candidate.title))
