"""Score the names of mentions: all of them, or those that a beam search finds; by torch."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from parlink.linking.beam import beam_search
from parlink.linking.interrupt import check
from parlink.linking.network import Names
from parlink.nn.decoder import MentionStates, NameScores, log_likelihoods
from parlink.nn.forest import chunks
from parlink.nn.model import LinkingModel
from parlink.nn.prefix_tree import PrefixTree


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
    for first, last in chunks(counts.tolist(), limit=batch_names):
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


def _tree(names: Names) -> tuple[PrefixTree, Tensor]:
    """The names of each mention below a root of its own, and which mention each is of."""
    owner = np.repeat(np.arange(len(names)), [len(choice) for choice in names])
    tree = PrefixTree.build([name for choice in names for name in choice], groups=owner, roots=len(names))
    return tree, torch.from_numpy(owner)
