"""Beam search: generate the names of a tree that the model finds likeliest, for many mentions at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from parlink.linking.interrupt import check
from parlink.nn.decoder import MentionStates, NameScores, log_normalizers
from parlink.nn.model import LinkingModel
from parlink.nn.prefix_tree import NameTree


def beam_search(
    model: LinkingModel,
    mentions: MentionStates,
    tree: NameTree,
    roots: Tensor,
    *,
    beams: int,
    batch_mentions: int = 64,
) -> NameScores:
    """Generate names of the tree for all mentions at once; mention m starts at node `roots[m]`.

    At each depth the `beams` likeliest prefixes of a mention live on. Every name that a live prefix
    completes is kept, with the same scores that complete scoring gives it.
    """
    parts = [NameScores.empty()]
    for first in range(0, len(roots), batch_mentions):
        some = slice(first, first + batch_mentions)
        scores = _Beams(model, tree, mentions[some], beams).run(roots[some])
        parts.append(replace(scores, mention=scores.mention + first))
    return NameScores.cat(parts)


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

    def __init__(self, model: LinkingModel, tree: NameTree, mentions: MentionStates, beams: int) -> None:
        self.decoder, self.token_embeddings = model.decoder, model.encoder.token_embeddings
        self.normalized = model.config.self_normalized
        self.tree, self.mentions, self.beams = tree, mentions, beams
        self.of_mention = model.decoder.mention_gates(mentions)

    def run(self, roots: Tensor) -> NameScores:
        live = self._read_bos(roots)
        parts, depth = [NameScores.empty()], 0
        while len(live.node):
            check()
            features = self.decoder.head.features(live.hidden)
            log_z = torch.zeros_like(live.total) if self.normalized else log_normalizers(self.decoder.head, features)
            parts.append(self._finish(live, features, log_z, depth).cpu())
            live, depth = self._extend(live, features, log_z), depth + 1
        return NameScores.cat(parts)

    def _read_bos(self, roots: Tensor) -> _Live:
        of_token = self.decoder.token_gates(self.token_embeddings.weight[self.decoder.bos_id])
        hidden, cell = self.decoder.step(of_token + self.of_mention, self.mentions.hidden, self.mentions.cell)
        mention = torch.arange(len(roots), device=roots.device)
        return _Live(mention, roots, hidden.new_zeros(len(roots)), hidden, cell)

    def _finish(self, live: _Live, features: Tensor, log_z: Tensor, depth: int) -> NameScores:
        """The names that end at live nodes: the one place where they are scored."""
        names = self.tree.names(live.node)
        at, mention = names.row, live.mention[names.row]
        eos = torch.full_like(at, self.decoder.eos_id)
        lm = (live.total[at] + self.decoder.head.logits(features[at], eos) - log_z[at]) / (depth + 1)
        return NameScores(mention, names.value, lm, self.decoder.correct(self.mentions, mention, live.cell[at]))

    def _extend(self, live: _Live, features: Tensor, log_z: Tensor) -> _Live:
        """One token more: the best children of each prefix, then the best of each mention."""
        child = self._children(live.node)
        score = self._token_logits(features, self.tree.tokens(child.clamp(min=0))) + (live.total - log_z)[:, None]
        best = score.masked_fill(child < 0, -torch.inf).topk(min(self.beams, child.shape[1]), dim=1)
        parent, value = self._best_of_mention(live.mention, best.values)
        row, column = parent
        node = child[row, best.indices[row, column]]
        of_token = self.decoder.token_gates(self.token_embeddings(self.tree.tokens(node)))
        inputs = of_token + self.of_mention[live.mention[row]]
        hidden, cell = self.decoder.step(inputs, live.hidden[row], live.cell[row])
        return _Live(live.mention[row], node, value, hidden, cell)

    def _children(self, nodes: Tensor) -> Tensor:
        """The children of each node, (nodes, most children); -1 where there are fewer."""
        children = self.tree.children(nodes)
        counts = torch.bincount(children.row, minlength=len(nodes))
        place = torch.arange(len(children.row), device=nodes.device) - (torch.cumsum(counts, 0) - counts)[children.row]
        grid = nodes.new_full((len(nodes), int(counts.max())), -1)
        grid[children.row, place] = children.value
        return grid

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
