"""Scored candidates of each mention: of the ones it has, or of a whole tree of titles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from parlink.config import ScoreWeights
from parlink.kb.title_trees import TitleTree
from parlink.linking.beam import Found, NameScores, beam_search, rank_candidates, total
from parlink.nn.decoder import MentionStates
from parlink.nn.model import LinkingModel
from parlink.nn.prefix_tree import PrefixTree
from parlink.text.tokenizer import Tokenizer
from parlink.types import Candidate

# NIL competes as one more candidate, under a title that no entity can have.
NIL = Candidate("", prior=1.0)
Ranked = list[list[Candidate]]


@dataclass(frozen=True, slots=True)
class Ranker:
    """A model that scores candidates, each score made of the same parts in every kind of search."""

    model: LinkingModel
    tokenizer: Tokenizer
    weights: ScoreWeights

    def rank(self, states: MentionStates, choices: Sequence[Sequence[Candidate]]) -> Ranked:
        """Score every candidate."""
        lists = [self._with_nil(own) for own in choices]
        scores = rank_candidates(self.model, states, [[self._name(c) for c in own] for own in lists])
        flat = iter(self._scored([c for own in lists for c in own], scores))
        return [_sorted([next(flat) for _ in own]) for own in lists]

    def beam(self, states: MentionStates, choices: Sequence[Sequence[Candidate]], *, beams: int) -> Ranked:
        """Generate names among the candidates; those that are pruned do not come back."""
        lists = [self._with_nil(own) for own in choices]
        flat = [c for own in lists for c in own]
        owner = [mention for mention, own in enumerate(lists) for _ in own]
        tree = PrefixTree.build([self._name(c) for c in flat], groups=owner, roots=len(lists))
        device = states.vector.device
        roots = torch.arange(len(lists), device=device)
        found = beam_search(self.model, states, tree.to(device), roots, beams=beams)
        return self._collected(found, flat.__getitem__, len(lists))

    def search(
        self,
        states: MentionStates,
        trees: Sequence[TitleTree],
        describe: Callable[[str], Candidate],
        *,
        beams: int,
        limit: int,
    ) -> Ranked:
        """Generate names among all titles of some trees; `describe` makes a candidate of a title."""
        count, device = len(states.vector), states.vector.device
        ranked = self.rank(states, [()] * count) if self.model.config.nil else [[] for _ in range(count)]
        for titles in trees:
            roots = torch.zeros(count, dtype=torch.long, device=device)
            found = _without_removed(
                beam_search(self.model, states, titles.tree.to(device), roots, beams=beams), titles
            )
            own = self._collected(found, lambda name, titles=titles: describe(titles.title(name)), count)  # type: ignore[misc]
            ranked = [before + now for before, now in zip(ranked, own, strict=True)]
        return [_sorted(own)[:limit] for own in ranked]

    def _with_nil(self, own: Sequence[Candidate]) -> list[Candidate]:
        return [*own, NIL] if self.model.config.nil else list(own)

    def _name(self, candidate: Candidate) -> tuple[int, ...]:
        return self.tokenizer.title(candidate.title) if candidate.title else (self.tokenizer.nil_id,)

    def _scored(self, candidates: Sequence[Candidate], scores: NameScores) -> list[Candidate]:
        """Write the score and its parts into candidates."""
        prior = torch.tensor([c.prior or 0.0 for c in candidates])
        parts = (total(scores, prior, self.weights), scores.lm, scores.classifier)
        return [
            replace(candidate, score=score, lm=lm, classifier=classifier)
            for candidate, score, lm, classifier in zip(candidates, *(part.tolist() for part in parts), strict=True)
        ]

    def _collected(self, found: Found, candidate: Callable[[int], Candidate], mentions: int) -> Ranked:
        """The names found, by mention, best first."""
        ranked: Ranked = [[] for _ in range(mentions)]
        scored = self._scored([candidate(name) for name in found.name.tolist()], found.scores)
        for mention, one in zip(found.mention.tolist(), scored, strict=True):
            ranked[mention].append(one)
        return [_sorted(own) for own in ranked]


def _sorted(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-(c.score or 0.0), c.title))


def _without_removed(found: Found, titles: TitleTree) -> Found:
    if titles.removed is None:
        return found
    kept = ~torch.from_numpy(titles.removed)[found.name]
    scores = NameScores(found.scores.lm[kept], found.scores.classifier[kept])
    return Found(found.mention[kept], found.name[kept], scores)
