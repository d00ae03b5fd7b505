from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.config import ScoreWeights
from parlink.linking.beam import beam_search
from parlink.linking.names import score_names
from parlink.linking.overlaps import resolve_overlaps
from parlink.linking.scoring import Parts
from parlink.nn.decoder import MentionStates
from parlink.nn.model import LinkingModel
from parlink.nn.prefix_tree import PrefixTree
from parlink.types import Span
from tiny_model import random_mentions, tiny_model

Name = list[int]
NAME = st.lists(st.integers(3, 15), max_size=5)
CANDIDATES = st.lists(st.lists(NAME, max_size=6), min_size=1, max_size=4)


def alone(model: LinkingModel, mentions: MentionStates, mention: int, name: Name) -> tuple[float, float]:
    """Score one name of one mention, token by token, through nn.LSTMCell and the full softmax."""
    decoder, vector = model.decoder, mentions.vector[mention]
    hidden, cell = mentions.hidden[mention], mentions.cell[mention]
    steps = []
    for read, predicted in zip([decoder.bos_id, *name], [*name, decoder.eos_id], strict=True):
        hidden, cell = decoder.lstm(torch.cat([model.encoder.token_embeddings.weight[read], vector]), (hidden, cell))
        logits = decoder.head.decoder(decoder.head.features(hidden))
        steps.append(logits[predicted] - (0 if model.config.self_normalized else logits.logsumexp(-1)))
    return float(torch.stack(steps).mean()), float(decoder.classifier(torch.cat([vector, cell])))


@given(CANDIDATES, st.integers(0, 99), st.booleans(), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
@torch.no_grad()
def test_shared_scoring_equals_scoring_each_name_alone(
    names: list[list[Name]], seed: int, normalized: bool, batch_names: int
) -> None:
    model = tiny_model(seed=seed, spread=2.0, self_normalized=normalized).double()
    mentions = random_mentions(model, len(names), seed=seed)
    scores = score_names(model, mentions, names, batch_names=batch_names)
    wanted = [alone(model, mentions, m, name) for m, own in enumerate(names) for name in own]
    torch.testing.assert_close(scores.lm, torch.tensor([lm for lm, _ in wanted], dtype=torch.float64))
    torch.testing.assert_close(scores.classifier, torch.tensor([f for _, f in wanted], dtype=torch.float64))


@given(CANDIDATES, st.integers(0, 99), st.integers(1, 5), st.booleans())
@settings(max_examples=60, deadline=None)
@torch.no_grad()
def test_beam_search_finds_only_whole_names_with_the_scores_of_complete_scoring(
    names: list[list[Name]], seed: int, beams: int, normalized: bool
) -> None:
    model = tiny_model(seed=seed, spread=2.0, self_normalized=normalized).double()
    mentions = random_mentions(model, len(names), seed=seed)
    flat = [name for own in names for name in own]
    owner = [m for m, own in enumerate(names) for _ in own]
    tree = PrefixTree.build(flat, groups=owner, roots=len(names))
    found = beam_search(model, mentions, tree, torch.arange(len(names)), beams=beams, batch_mentions=2)
    complete = score_names(model, mentions, names)
    assert [owner[name] for name in found.name.tolist()] == found.mention.tolist()
    assert (complete.mention.tolist(), complete.name.tolist()) == (owner, list(range(len(flat))))
    assert len(set(found.name.tolist())) == len(found.name)
    torch.testing.assert_close(found.lm, complete.lm[found.name])
    torch.testing.assert_close(found.classifier, complete.classifier[found.name])


@given(st.lists(NAME, min_size=1, max_size=12), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
@torch.no_grad()
def test_with_room_for_all_the_whole_tree_is_found(names: list[Name], seed: int) -> None:
    model = tiny_model(seed=seed, spread=2.0)
    mentions = random_mentions(model, 3, seed=seed)
    tree = PrefixTree.build(names)
    found = beam_search(model, mentions, tree, torch.zeros(3, dtype=torch.long), beams=64)
    pairs = set(zip(found.mention.tolist(), found.name.tolist(), strict=True))
    assert pairs == {(m, n) for m in range(3) for n in range(len(names))}


@torch.no_grad()
def test_no_mention_and_no_candidate_give_nothing() -> None:
    model = tiny_model()
    assert len(score_names(model, random_mentions(model, 0), []).lm) == 0
    assert len(score_names(model, random_mentions(model, 2), [[], []]).lm) == 0
    empty = PrefixTree.build([])
    assert len(beam_search(model, random_mentions(model, 2), empty, torch.zeros(2).long(), beams=3).name) == 0
    assert len(beam_search(model, random_mentions(model, 0), empty, torch.zeros(0).long(), beams=3).name) == 0


@torch.no_grad()
def test_a_name_of_300_tokens_is_scored_like_any_other() -> None:
    model = tiny_model(seed=5).double()
    mentions = random_mentions(model, 1)
    name = [3 + i % 13 for i in range(300)]
    scores = score_names(model, mentions, [[name, [4]]])
    lm, classifier = alone(model, mentions, 0, name)
    torch.testing.assert_close(scores.lm[0], torch.tensor(lm, dtype=torch.float64))
    torch.testing.assert_close(scores.classifier[0], torch.tensor(classifier, dtype=torch.float64))


def test_total_is_the_weighted_sum_and_a_missing_prior_has_a_floor() -> None:
    lm, classifier, prior = np.array([[-1.0, -2.0], [0.5, 1.0], [1.0, 0.0]], np.float32)
    similarity, overlap = np.array([[0.5, 0.0], [0.0, 0.2]], np.float32)
    differs = np.array([0.0, 1.0], np.float32)
    weights = ScoreWeights(lm=2.0, classifier=3.0, prior=1.0, similarity=4.0, overlap=5.0, differs=0.7)
    wanted = [-2.0 + 1.5 + 0.0 + 2.0, -4.0 + 3.0 + math.log(1e-4) + 1.0 + 0.7]
    parts = Parts(prior, differs, lm, classifier, similarity, overlap)
    np.testing.assert_allclose(parts.total(weights), wanted, rtol=1e-6)


SPANS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 5), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), max_size=8
)


@given(SPANS)
def test_overlaps_are_resolved_as_brute_force_does(raw: list[tuple[int, int, float]]) -> None:
    spans = [Span(start, start + length) for start, length, _ in raw]
    probabilities = [p for *_, p in raw]

    def worth(chosen: tuple[int, ...]) -> tuple[float, int, int]:
        return (
            sum(probabilities[i] for i in chosen),
            sum(spans[i].end - spans[i].start for i in chosen),
            -sum(spans[i].start for i in chosen),
        )

    def disjoint(chosen: tuple[int, ...]) -> bool:
        return not any(spans[a].overlaps(spans[b]) for a, b in combinations(chosen, 2))

    every = (c for n in range(len(spans) + 1) for c in combinations(range(len(spans)), n))
    best = max(worth(chosen) for chosen in every if disjoint(chosen))
    kept = resolve_overlaps(list(range(len(spans))), spans, probabilities)
    assert disjoint(tuple(kept))
    assert worth(tuple(kept)) == best
    assert [spans[i] for i in kept] == sorted(spans[i] for i in kept)
    lonely = {i for i, a in enumerate(spans) if not any(a.overlaps(b) for j, b in enumerate(spans) if j != i)}
    assert lonely <= set(kept)
