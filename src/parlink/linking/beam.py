"""Find the best names: complete scoring of candidates, beam search over a tree of names, overlap resolution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from parlink.config import ScoreWeights
from parlink.nn.decoder import MentionStates, log_likelihoods, log_normalizers
from parlink.nn.model import LinkingModel
from parlink.nn.prefix_tree import PrefixTree

PRIOR_FLOOR = 1e-4
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameScores:
    """The two parts of the score that the model gives to (mention, name) pairs."""

    lm: Tensor  # (names,) mean log-likelihood, </s> included
    classifier: Tensor  # (names,) raw logit of the discriminative correction


@dataclass(frozen=True, slots=True)
class Found:
    """Names that a beam search finished, of all mentions."""

    mention: Tensor  # (found,)
    name: Tensor  # (found,) as numbered in the tree
    scores: NameScores


def total(scores: NameScores, prior: Tensor, weights: ScoreWeights) -> Tensor:
    """The one definition of a candidate's score."""
    log_prior = prior.clamp(min=PRIOR_FLOOR).log()
    return weights.lm * scores.lm + weights.classifier * scores.classifier + weights.prior * log_prior


def rank_candidates(
    model: LinkingModel,
    mentions: MentionStates,
    names: Sequence[Sequence[Sequence[int]]],
    *,
    batch_names: int = 4096,
) -> NameScores:
    """Score every candidate of every mention; `names[m]` are the token ids of mention m's candidates.

    The scores are flat, in the order given. The candidates of a mention share the work for their common prefixes.
    """
    parts = [NameScores(torch.empty(0), torch.empty(0))]
    for first, last in _chunks([len(own) for own in names], limit=batch_names):
        sequences = [name for own in names[first:last] for name in own]
        owner = torch.repeat_interleave(torch.tensor([len(own) for own in names[first:last]]))
        tree = PrefixTree.build(sequences, groups=owner.tolist(), roots=last - first).to(mentions.vector.device)
        known = mentions[torch.arange(first, last, device=mentions.vector.device)]
        reading = model.read(tree, known)
        lm = log_likelihoods(model.decoder, tree, reading, normalized=model.config.self_normalized)
        vector = known.vector[owner.to(known.vector.device)]
        parts.append(NameScores(lm.cpu(), model.decoder.correct(vector, reading.cell[tree.ends()]).cpu()))
    return NameScores(torch.cat([p.lm for p in parts]), torch.cat([p.classifier for p in parts]))


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


def beam_search(
    model: LinkingModel,
    mentions: MentionStates,
    tree: PrefixTree,
    roots: Tensor,
    *,
    beams: int,
    batch_mentions: int = 64,
) -> Found:
    """Generate names of the tree for all mentions at once; mention m starts at node `roots[m]`.

    At each depth the `beams` likeliest prefixes of a mention live on. Every name that a live prefix
    completes is kept, with the same scores that `rank_candidates` gives it.
    """
    parts = [_Beams(model, tree, own, beams).run(at) for own, at in _mention_batches(mentions, roots, batch_mentions)]
    shift = torch.arange(len(parts)) * batch_mentions
    return Found(
        torch.cat([part.mention + move for part, move in zip(parts, shift, strict=True)] or [torch.empty(0).long()]),
        torch.cat([part.name for part in parts] or [torch.empty(0).long()]),
        NameScores(
            torch.cat([part.scores.lm for part in parts] or [torch.empty(0)]),
            torch.cat([part.scores.classifier for part in parts] or [torch.empty(0)]),
        ),
    )


def _mention_batches(mentions: MentionStates, roots: Tensor, size: int) -> Iterator[tuple[MentionStates, Tensor]]:
    for first in range(0, len(roots), size):
        index = torch.arange(first, min(first + size, len(roots)), device=roots.device)
        yield mentions[index], roots[index]


@dataclass(frozen=True, slots=True)
class _Live:
    """The prefixes that are alive at one depth, those of a mention side by side."""

    mention: Tensor  # (live,)
    node: Tensor  # (live,)
    total: Tensor  # (live,) summed log-likelihood so far
    hidden: Tensor  # (live, hidden)
    cell: Tensor  # (live, hidden)


class _Beams:
    """One beam search: what stays the same from depth to depth."""

    def __init__(self, model: LinkingModel, tree: PrefixTree, mentions: MentionStates, beams: int) -> None:
        self.decoder, self.token_embeddings = model.decoder, model.encoder.token_embeddings
        self.normalized = model.config.self_normalized
        self.tree, self.mentions, self.beams = tree, mentions, beams
        self.of_mention = model.decoder.mention_gates(mentions)

    def run(self, roots: Tensor) -> Found:
        live = self._read_bos(roots)
        found: list[Found] = []
        for depth in range(len(self.tree.level) - 1):
            features = self.decoder.head.features(live.hidden)
            log_z = torch.zeros_like(live.total) if self.normalized else log_normalizers(self.decoder.head, features)
            found.append(self._finished(live, features, log_z, depth))
            live = self._extend(live, features, log_z)
        return Found(
            torch.cat([f.mention for f in found]).cpu(),
            torch.cat([f.name for f in found]).cpu(),
            NameScores(
                torch.cat([f.scores.lm for f in found]).cpu(), torch.cat([f.scores.classifier for f in found]).cpu()
            ),
        )

    def _read_bos(self, roots: Tensor) -> _Live:
        of_token = self.decoder.token_gates(self.token_embeddings.weight[self.decoder.bos_id])
        hidden, cell = self.decoder.step(of_token + self.of_mention, self.mentions.hidden, self.mentions.cell)
        mention = torch.arange(len(roots), device=roots.device)
        return _Live(mention, roots, hidden.new_zeros(len(roots)), hidden, cell)

    def _finished(self, live: _Live, features: Tensor, log_z: Tensor, depth: int) -> Found:
        """The names that end at live nodes: the one place where they are scored."""
        names = self.tree.names(live.node)
        at = torch.unique(names.row)  # names with equal tokens share a leaf
        eos = torch.full_like(at, self.decoder.eos_id)
        lm = (live.total[at] + self.decoder.head.logits(features[at], eos) - log_z[at]) / (depth + 1)
        classifier = self.decoder.correct(self.mentions.vector[live.mention[at]], live.cell[at])
        place = torch.searchsorted(at, names.row)
        return Found(live.mention[names.row], names.value, NameScores(lm[place], classifier[place]))

    def _extend(self, live: _Live, features: Tensor, log_z: Tensor) -> _Live:
        """One token more: the best children of each prefix, then the best of each mention."""
        first, last = self.tree.child[live.node].long(), self.tree.child[live.node + 1].long()
        widest = int((last - first).max()) if len(first) else 0
        child = first[:, None] + torch.arange(widest, device=first.device)
        exists = child < last[:, None]
        token = self.tree.token[child.clamp(max=self.tree.nodes - 1)].long()
        score = self._token_logits(features, token) + (live.total - log_z)[:, None]
        best = score.masked_fill(~exists, -torch.inf).topk(min(self.beams, widest), dim=1)
        parent, value = self._best_of_mention(live.mention, best.values)
        row, column = parent
        node = child[row, best.indices[row, column]]
        of_token = self.decoder.token_gates(self.token_embeddings(self.tree.token[node].long()))
        inputs = of_token + self.of_mention[live.mention[row]]
        hidden, cell = self.decoder.step(inputs, live.hidden[row], live.cell[row])
        return _Live(live.mention[row], node, value, hidden, cell)

    def _token_logits(self, features: Tensor, token: Tensor) -> Tensor:
        """Logits of the tokens asked for, through whichever is less work: these rows of the matrix, or all."""
        head = self.decoder.head
        if token.numel() < head.decoder.out_features:
            row = torch.arange(len(token), device=token.device).repeat_interleave(token.shape[1])
            return head.logits(features[row], token.flatten()).view_as(token).to(features.dtype)
        everything: Tensor = head.decoder(features)
        return everything.gather(1, token)

    def _best_of_mention(self, mention: Tensor, scores: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """The best `beams` of the extensions (live, k) of each mention: where they are, and their totals."""
        sizes = torch.bincount(mention, minlength=len(self.mentions.vector))
        place = torch.arange(len(mention), device=mention.device) - (torch.cumsum(sizes, 0) - sizes)[mention]
        width = scores.shape[1]
        grid = scores.new_full((len(sizes), self.beams, width), -torch.inf)
        source = torch.zeros((len(sizes), self.beams), dtype=torch.long, device=mention.device)
        grid[mention, place], source[mention, place] = scores, torch.arange(len(mention), device=mention.device)
        best = grid.flatten(1).topk(min(self.beams, self.beams * width), dim=1)
        alive = best.values > -torch.inf
        owner, rank = torch.nonzero(alive, as_tuple=True)
        flat = best.indices[owner, rank]
        return (source[owner, flat // max(width, 1)], flat % max(width, 1)), best.values[owner, rank]
