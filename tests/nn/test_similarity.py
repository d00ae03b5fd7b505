"""The bi-encoder: vectors of mentions and of entities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from parlink.nn.batch import Batch, collate
from parlink.nn.detector import Mentions
from parlink.nn.losses import Targets, loss_counts, similarity_loss
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.prefix_tree import PrefixTree
from parlink.nn.similarity import AROUND, Similarity, Words
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
    states, words = model.encode(batch), model.encoder.token_embeddings.weight
    got = model.mentions(states, MENTIONS, batch).query
    assert got is not None and got.shape == (3, 6)
    texts = [[5, 6, 7, 8, 9], [5, 6, 7]]
    for number, (row, first, last) in enumerate([(0, 1, 2), (1, 2, 2), (0, 3, 3)]):
        around = texts[row][: first - 1] + texts[row][last:]
        known = [
            states[row, first],
            states[row, last],
            states[row, 1 : 1 + len(texts[row])].mean(0),
            mean(sim, words, around),
            mean(sim, words, texts[row]),
        ]
        torch.testing.assert_close(got[number], sim.mention(torch.cat(known)) / 6**0.5)


@torch.no_grad()
def test_words_far_from_a_mention_are_not_around_it() -> None:
    model, sim = similar_model()
    tokens = [5] * AROUND + [6] + [7] * AROUND
    vectors = []
    for far in (8, 9):
        ids = np.array([0, far, *tokens, far, 2])
        batch = collate([Window(ids, 0, 0, len(ids) - 2)], pad_id=1)
        mention = Mentions(*torch.tensor([[0], [2 + AROUND], [2 + AROUND]]))
        around, _ = sim.surroundings(mention, batch, model.encoder.token_embeddings.weight)
        vectors.append(around)
    torch.testing.assert_close(vectors[0], vectors[1])


@torch.no_grad()
def test_an_entity_is_what_the_formula_says_and_may_have_no_words() -> None:
    model, sim = similar_model()
    words = model.encoder.token_embeddings.weight
    titles, descriptions = [[5, 6], [7], []], [[8], [], []]
    got = model.entities(Words.build(titles), Words.build(descriptions))
    for vector, title, said in zip(got, titles, descriptions, strict=True):
        wanted = sim.entity(torch.cat([mean(sim, words, title), mean(sim, words, said)]))
        torch.testing.assert_close(vector, wanted)
    assert model.entities(Words.build([]), Words.build([])).shape == (0, 6)


def test_the_papers_model_is_the_one_without() -> None:
    plain, more = count_parameters(tiny_model()), count_parameters(tiny_model(similarity=6))
    assert "similarity" not in plain
    assert {name: count for name, count in more.items() if name not in ("similarity", "total")} == {
        name: count for name, count in plain.items() if name != "total"
    }


def test_everything_new_learns_and_word_embeddings_do_not() -> None:
    model, sim = similar_model()
    batch = a_batch()
    query = model.mentions(model.encode(batch).detach(), MENTIONS, batch).query
    assert query is not None
    vectors = model.entities(Words.build([[5, 6], [7], [5]]), Words.build([[8], [], [9]]))
    (query * vectors).square().sum().backward()  # type: ignore[no-untyped-call]
    assert all(weight.grad is not None and weight.grad.any() for weight in sim.parameters())
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
    assert known.query is not None
    logits = known.query @ model.entities(titles, said).T
    wanted = -(logits[0, :2].log_softmax(0)[0] + logits[2, 3:].log_softmax(0)[0])
    torch.testing.assert_close(similarity_loss(model, known, targets), wanted)
    assert loss_counts(batch, targets)[-1] == 2
    assert similarity_loss(tiny_model(), replace(known, query=None), targets) == 0
