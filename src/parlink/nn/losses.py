"""The four losses of the joint objective, that of a bi-encoder, and the penalty that makes the output self-normalized.

Each comes as a sum, and what it is to be divided by apart from it, so that the parts of a batch, in one process or in
several, can add both up first.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from parlink.nn.batch import Batch
from parlink.nn.decoder import MentionStates
from parlink.nn.detector import Mentions
from parlink.nn.model import LinkingModel
from parlink.nn.output_terms import output_terms
from parlink.nn.prefix_tree import PrefixTree
from parlink.nn.similarity import Words

PARTS = ("start", "end", "generation", "classifier", "normalizer", "similarity")


@dataclass(frozen=True, slots=True)
class Targets:
    """What a batch should come out as."""

    starts: Tensor  # (windows, length) 1 where a mention starts
    start_weight: Tensor  # (windows, length) how much the start loss counts there
    mentions: Mentions  # the gold mentions
    linked: Tensor  # (linked,) indices of the mentions whose entity is known
    tree: PrefixTree  # names of each linked mention: the gold one and negatives
    owner: Tensor  # (names,) which of the linked mentions a name belongs to
    gold: Tensor  # (linked,) which name is right
    entities: tuple[Words, Words] | None = None  # titles and descriptions of the names, for a model that reads them

    def to(self, device: torch.device | str) -> Targets:
        """The same targets on another device."""
        fields = ("starts", "start_weight", "mentions", "linked", "tree", "owner", "gold")
        moved = {name: getattr(self, name).to(device) for name in fields}
        entities = None if self.entities is None else (self.entities[0].to(device), self.entities[1].to(device))
        return Targets(**moved, entities=entities)


def loss_counts(batch: Batch, targets: Targets) -> Tensor:
    """What to divide each loss of a batch by, in the order of PARTS, (parts,)."""
    links = len(targets.linked)
    contested = (torch.bincount(targets.owner, minlength=links) > 1).sum()
    compared = 0 if targets.entities is None else contested
    counts = (batch.owned.sum(), len(targets.mentions.row), links, contested, links, compared)
    return torch.tensor([float(count) for count in counts], device=batch.tokens.device)


def joint_losses(
    model: LinkingModel, batch: Batch, targets: Targets, *, label_smoothing: float, generate: bool = True
) -> Tensor:
    """Sum every loss over a batch, in the order of PARTS, (parts,).

    Those of the output layer, a large part of the work, are computed only if `generate`.
    """
    states = model.encode(batch)
    start = start_loss(model.detector.start_logits(states), targets)
    end = end_loss(model, states, batch.content, targets.mentions)
    names = name_losses(model, states, batch, targets, label_smoothing=label_smoothing, generate=generate)
    return torch.cat([torch.stack([start, end]), names])


def name_losses(
    model: LinkingModel,
    states: Tensor,
    batch: Batch,
    targets: Targets,
    *,
    label_smoothing: float,
    generate: bool = True,
) -> Tensor:
    """Sum the losses of disambiguation, the last four of PARTS, from the encoder's states."""
    known = model.mentions(states, targets.mentions[targets.linked], batch)
    reading = model.read(targets.tree, known)
    generation = normalizer = reading.hidden.new_zeros(())
    if generate:
        generation, normalizer = generation_loss(model, targets, reading.hidden, label_smoothing=label_smoothing)
    logits = model.decoder.correct(known, targets.owner, reading.cell[targets.tree.ends()])
    classifier = classifier_loss(logits, targets.owner, targets.gold)
    return torch.stack([generation, classifier, normalizer, similarity_loss(model, known, targets)])


def similarity_loss(model: LinkingModel, known: MentionStates, targets: Targets) -> Tensor:
    """Cross-entropy of gold against negatives by the bi-encoder alone, summed; 0 for a model without one."""
    if targets.entities is None or known.queries is None:
        return known.vector.new_zeros(())
    entities, queries = model.entities(*targets.entities).vectors, known.queries.vectors[targets.owner]
    wide = torch.promote_types(entities.dtype, torch.float32)  # what products have in common may be large
    alike = (queries.to(wide) * entities.to(wide)).sum(-1)
    return classifier_loss(alike, targets.owner, targets.gold)


def end_loss(model: LinkingModel, states: Tensor, content: Tensor, mentions: Mentions) -> Tensor:
    """Cross-entropy of the mentions' lengths, summed."""
    if not len(mentions.row):
        return states.sum() * 0
    logits = model.detector.end_logits(states, content, mentions.row, mentions.first)
    return F.cross_entropy(logits, mentions.last - mentions.first, reduction="sum")


def start_loss(logits: Tensor, targets: Targets) -> Tensor:
    """Binary cross-entropy of "a mention starts here", summed where it is judged."""
    return F.binary_cross_entropy_with_logits(logits, targets.starts, targets.start_weight, reduction="sum")


def gold_path(tree: PrefixTree, leaf: Tensor, *, eos_id: int) -> tuple[Tensor, Tensor, Tensor]:
    """Every prediction on the way to each leaf: the node it is made at, the right token, and whose leaf it is."""
    parent, token = tree.parents(), tree.token.long()
    node, owner = leaf, torch.arange(len(leaf), device=leaf.device)
    nodes, tokens, owners = [leaf], [torch.full_like(leaf, eos_id)], [owner]
    for _ in range(len(tree.level) - 2):  # one step up for all names at once
        below = node >= tree.roots
        node, owner = node[below], owner[below]
        tokens.append(token[node])
        node = parent[node]
        nodes.append(node)
        owners.append(owner)
    return torch.cat(nodes), torch.cat(tokens), torch.cat(owners)


def generation_loss(
    model: LinkingModel, targets: Targets, hidden: Tensor, *, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """Smoothed cross-entropy of the gold names, and (log Z)^2: means over a name's tokens, summed over names."""
    head, tree = model.decoder.head, targets.tree
    node, token, owner = gold_path(tree, tree.ends()[targets.gold], eos_id=model.decoder.eos_id)
    length = torch.bincount(owner, minlength=len(targets.gold))
    share = 1 / length[owner].to(hidden.dtype)
    features = head.features(model.decoder.dropout(hidden[node]))
    log_z, right, mean = output_terms(features, head.decoder.weight, head.decoder.bias, token)
    smoothed = (1 - label_smoothing) * right + label_smoothing * mean
    return (share * (log_z - smoothed)).sum(), (share * log_z.square()).sum()


def classifier_loss(logits: Tensor, owner: Tensor, gold: Tensor) -> Tensor:
    """Cross-entropy of gold against negatives, summed over the mentions that have a negative."""
    if not len(gold):
        return logits.sum() * 0
    sizes = torch.bincount(owner, minlength=len(gold))
    order = torch.argsort(owner, stable=True)
    place = torch.arange(len(owner), device=owner.device) - (torch.cumsum(sizes, 0) - sizes)[owner[order]]
    rows = logits.new_full((len(gold), int(sizes.max())), -torch.inf)
    rows[owner[order], place] = logits[order]
    losses = torch.logsumexp(rows, -1) - logits[gold]
    return losses[sizes > 1].sum()
