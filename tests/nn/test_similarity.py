"""The bi-encoder: vectors of mentions and of entities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from parlink.nn.batch import Batch, collate
from parlink.nn.detector import Mentions
from parlink.nn.losses import Targets, loss_counts, similarity_loss
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.prefix_tree import PrefixTree
from parlink.nn.similarity import FEW, UNLIKE, Similarity, Words
from parlink.text.windows import Window
from tiny_model import tiny_model

MENTIONS = Mentions(torch.tensor([0, 1, 0]), torch.tensor([1, 2, 3]), torch.tensor([2, 2, 3]))


def similar_model(seed: int = 3) -> tuple[LinkingModel, Similarity]:
    model = tiny_model(seed=seed, similarity=6).double()
    assert model.similarity is not None
    with torch.no_grad():
        model.similarity.word_weight.normal_()
    return model, model.similarity


def a_batch() -> Batch:
    ids = np.array([0, 5, 6, 7, 8, 9, 2])
    return collate([Window(ids, 0, 0, 5), Window(ids[:5], 0, 0, 3)], pad_id=1)


def mean(sim: Similarity, words: Tensor, tokens: list[int]) -> Tensor:
    if not tokens:
        return words.new_zeros(words.shape[1])
    weight = torch.nn.functional.softplus(sim.word_weight[tokens])
    return (weight[:, None] * words[tokens]).sum(0) / weight.sum()


@torch.no_grad()
def test_a_mention_is_what_the_formula_says() -> None:
    model, sim = similar_model()
    batch = a_batch()
    states = model.encode(batch)
    queries = model.mentions(states, MENTIONS, batch).queries
    assert queries is not None and queries.vectors.shape == (3, 6)
    for number, (row, first, last) in enumerate([(0, 1, 2), (1, 2, 2), (0, 3, 3)]):
        known = [states[row, first], states[row, last], states[row, 1 : 6 - 2 * row].mean(0)]
        torch.testing.assert_close(queries.vectors[number], sim.mention(torch.cat(known)) / 6**0.5)
    assert [queries.words[torch.tensor([row])].tokens.tolist() for row in (0, 1)] == [[5, 6, 7, 8, 9], [5, 6, 7]]
    assert queries[[2]].window.tolist() == [0]


@torch.no_grad()
def test_overlap_is_how_near_the_nearest_words_of_the_window_are() -> None:
    model, sim = similar_model()
    words = model.encoder.token_embeddings.weight
    sim.center.normal_()
    sim.rarity.uniform_(0, 5)
    windows, said = [[5, 6, 7], [8]], [[5, 9], [], [10, 11, 8]]
    pairs = [(0, 0), (1, 2), (0, 2), (1, 1), (0, 0)]
    window, entity = (torch.tensor(column) for column in zip(*pairs, strict=True))
    got = sim.overlap(Words.build(windows), window, Words.build(said), entity, words)
    for value, (row, number) in zip(got.tolist(), pairs, strict=True):
        total = weights = 0.0
        for token in said[number]:
            cosines = [
                float(torch.cosine_similarity(words[token] - sim.center, words[c] - sim.center, dim=0))
                for c in windows[row]
            ]
            weight = float(sim.rarity[token])
            total += weight * max(max(cosines) - UNLIKE, 0.0) / (1 - UNLIKE)
            weights += weight
        assert value == pytest.approx(total / (weights + FEW))


@torch.no_grad()
def test_an_entity_is_what_the_formula_says_and_may_have_no_words() -> None:
    model, sim = similar_model()
    words = model.encoder.token_embeddings.weight
    titles, descriptions = [[5, 6], [7], []], [[8], [], []]
    got = model.entities(Words.build(titles), Words.build(descriptions)).vectors
    for vector, title, said in zip(got, titles, descriptions, strict=True):
        wanted = sim.entity(torch.cat([mean(sim, words, title), mean(sim, words, said)]))
        torch.testing.assert_close(vector, wanted)
    assert model.entities(Words.build([]), Words.build([])).vectors.shape == (0, 6)


def test_the_papers_model_is_the_one_without() -> None:
    plain, more = count_parameters(tiny_model()), count_parameters(tiny_model(similarity=6))
    assert "similarity" not in plain
    assert {name: count for name, count in more.items() if name not in ("similarity", "total")} == {
        name: count for name, count in plain.items() if name != "total"
    }


def test_everything_new_learns_and_word_embeddings_do_not() -> None:
    model, sim = similar_model()
    batch = a_batch()
    known = model.mentions(model.encode(batch).detach(), MENTIONS, batch)
    entities = model.entities(Words.build([[5, 6], [7], [5]]), Words.build([[8], [], [9]]))
    assert known.queries is not None
    alike, overlap = model.compare(known.queries, torch.arange(3), entities, torch.arange(3))
    assert not overlap.requires_grad
    alike.square().sum().backward()  # type: ignore[no-untyped-call]
    learned = [weight for weight in sim.parameters() if weight.requires_grad]
    assert all(weight.grad is not None and weight.grad.any() for weight in learned)
    assert model.encoder.token_embeddings.weight.grad is None


@torch.no_grad()
def test_the_loss_is_that_of_a_plain_loop() -> None:
    model, _ = similar_model()
    batch = a_batch()
    known = model.mentions(model.encode(batch), MENTIONS, batch)
    names = [[[5, 6], [7]], [[8]], [[9], [5], [6, 7]]]  # of the three mentions; the first is right, one has no rival
    flat = [name for choice in names for name in choice]
    titles, said = Words.build(flat), Words.build([name[:1] for name in flat])
    targets = Targets(
        starts=torch.zeros(2, 7),
        start_weight=torch.zeros(2, 7),
        mentions=MENTIONS,
        linked=torch.arange(3),
        tree=PrefixTree.build(flat, groups=[0, 0, 1, 2, 2, 2], roots=3),
        owner=torch.tensor([0, 0, 1, 2, 2, 2]),
        gold=torch.tensor([0, 2, 3]),
        entities=(titles, said),
    )
    assert known.queries is not None
    logits, _ = model.compare(known.queries, targets.owner, model.entities(titles, said), torch.arange(6))
    wanted = -(logits[:2].log_softmax(0)[0] + logits[3:].log_softmax(0)[0])
    torch.testing.assert_close(similarity_loss(model, known, targets), wanted)
    assert loss_counts(batch, targets)[-1] == 2
    assert similarity_loss(tiny_model(), replace(known, queries=None), targets) == 0
    few = replace(known, queries=replace(known.queries, vectors=known.queries.vectors.bfloat16()))
    for offset in (0.0, 50.0):  # that all products have more, in bfloat16 as in training on a CPU that has it
        model.bfloat16()
        assert model.similarity is not None
        model.similarity.entity[-1].bias.fill_(offset)
        vectors = model.entities(titles, said).vectors.float()
        logits = (few.queries.vectors.float()[targets.owner] * vectors).sum(-1)
        wanted = -(logits[:2].log_softmax(0)[0] + logits[3:].log_softmax(0)[0])
        torch.testing.assert_close(similarity_loss(model, few, targets), wanted)
