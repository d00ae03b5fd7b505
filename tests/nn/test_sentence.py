"""The vectors of stretches of text."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlink.errors import ConfigError
from parlink.model_config import SENTENCE_REACH
from parlink.nn.batch import Batch, collate
from parlink.nn.detector import Mentions
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.sentence import range_means
from parlink.nn.similarity import Words
from parlink.text.windows import Window
from tiny_model import tiny_model

LONG = 4 * SENTENCE_REACH


def sentence_model() -> LinkingModel:
    model = tiny_model(seed=3, similarity=6, sentence=5, max_tokens=512).double()
    assert model.sentence is not None
    model.sentence.strength.fill_(7.0)
    return model


def a_batch() -> Batch:
    rng = np.random.default_rng(0)
    windows = [np.concatenate(([0], rng.integers(3, 16, size), [2])) for size in (LONG, 5)]
    return collate([Window(ids, 0, 0, len(ids) - 2) for ids in windows], pad_id=1)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 6)), max_size=8))
def test_means_are_those_of_each_range(ranges: list[tuple[int, int, int]]) -> None:
    values = torch.randn(2, 7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    row, first, last = torch.tensor(ranges, dtype=torch.long).reshape(-1, 3).T
    means = range_means(values, row, torch.minimum(first, last), torch.maximum(first, last))
    for mean, (where, a, b) in zip(means, ranges, strict=True):
        torch.testing.assert_close(mean, values[where, min(a, b) : max(a, b) + 1].mean(0))


@torch.no_grad()
def test_the_text_around_a_mention_is_what_the_formula_says() -> None:
    model, batch = sentence_model(), a_batch()
    assert model.sentence is not None
    states, words = model.encode(batch), model.encoder.token_embeddings(batch.tokens)
    middle = 2 * SENTENCE_REACH
    mentions = Mentions(torch.tensor([0, 0, 1]), torch.tensor([1, middle, 2]), torch.tensor([2, middle + 1, 3]))
    queries = model.mentions(states, mentions, batch).queries
    assert queries is not None and queries.around is not None
    near = [(0, 1, 2 + SENTENCE_REACH), (0, middle - SENTENCE_REACH, middle + 1 + SENTENCE_REACH), (1, 1, 5)]
    for vector, (row, first, last) in zip(queries.around, near, strict=True):
        stretch = [values[row, first : last + 1].mean(0) for values in (states, words)]
        made = model.sentence.project(torch.cat(stretch))
        torch.testing.assert_close(vector, 7 * made / made.norm())
    assert torch.equal(queries[[1]].around, queries.around[[1]])  # type: ignore[arg-type]


@torch.no_grad()
def test_where_an_entity_was_read_the_cosine_is_added_to_the_similarity() -> None:
    model, batch = sentence_model(), a_batch()
    states = model.encode(batch)
    known = model.mentions(states, Mentions(*(torch.tensor([n]) for n in (0, 3, 4))), batch)
    entities = model.entities(Words.build([[5], [6]]), Words.build([[7], []]))
    said = model.read_sentences(batch)
    torch.testing.assert_close(said.norm(dim=1), torch.ones(2, dtype=said.dtype))
    pairs = torch.tensor([0, 0]), torch.tensor([0, 1])
    assert known.queries is not None and known.queries.around is not None
    bare, overlap = model.compare(known.queries, pairs[0], entities, pairs[1])
    read = type(entities)(entities.vectors, entities.descriptions, said)
    full, same = model.compare(known.queries, pairs[0], read, pairs[1])
    torch.testing.assert_close(full - bare, said @ known.queries.around[0])
    assert torch.equal(overlap, same)


def test_a_model_counts_its_sentence_vectors_and_needs_a_bi_encoder_for_them() -> None:
    model = tiny_model(similarity=6, sentence=5)
    assert count_parameters(model)["sentence"] == 5 * (2 * model.config.encoder.hidden + 1) + 1
    assert "sentence" not in count_parameters(tiny_model(similarity=6))
    with pytest.raises(ConfigError, match=r"sentence \(5\) is a part of the bi-encoder"):
        tiny_model(sentence=5)
    with pytest.raises(ConfigError, match="sentence must be the size of a vector"):
        tiny_model(similarity=6, sentence=-1)
