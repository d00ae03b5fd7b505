"""The bi-encoder in numpy compares as that in torch does; graphs that are traced are tested in tests/slow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from parlink.checkpoint.onnx_folder import OnnxSimilarity
from parlink.checkpoint.word_table import WordTable
from parlink.linking.onnx_similarity import OnnxEntityReader, OnnxQueries
from parlink.linking.similarity import EntityReader
from parlink.nn.similarity import Queries, Similarity, Words
from tiny_model import tiny_checkpoint

SAID = {"Hamburg": "a city in the north", "Hamburg (film)": "a film of 1960", "Dresden": None}
TITLES = ["Hamburg", "Dresden", "Hamburg (film)", "Hamburg", ""]
MENTION = np.array([0, 0, 1, 2, 2])


def as_graph(compute: Callable[..., Tensor]) -> Callable[..., list[Any]]:
    return lambda **arrays: [compute(**{name: torch.from_numpy(array) for name, array in arrays.items()}).numpy()]


@torch.inference_mode()
def test_similarity_and_overlap_are_those_of_torch() -> None:
    checkpoint = tiny_checkpoint(seed=3, similarity=6)
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    side = model.similarity
    assert isinstance(side, Similarity)
    for parameter in (side.word_weight, side.rarity, side.center):  # which a new model has all alike
        parameter.copy_(torch.rand(parameter.shape))
    vectors, window = torch.randn(3, 6), torch.tensor([0, 0, 1])
    texts = [np.asarray(ids) for ids in tokenizer.titles(["a film of the north", "a city"])]
    queries = Queries(vectors, window, Words.build([ids.tolist() for ids in texts]))
    wanted = EntityReader(model, tokenizer).compare(queries, torch.from_numpy(MENTION), TITLES, SAID.get)
    tables = (F.softplus(side.word_weight).numpy(), side.rarity.numpy(), side.center.numpy())
    graphs = OnnxSimilarity(as_graph(side.read_mentions), as_graph(side.read_entities), *tables)
    words = WordTable(model.encoder.token_embeddings.weight.numpy())
    reader = OnnxEntityReader(words, graphs, tokenizer)
    got = reader.compare(OnnxQueries(vectors.numpy(), window.numpy(), texts), MENTION, TITLES, SAID.get)
    for ours, theirs in zip(got, wanted, strict=True):
        assert float(theirs.abs().max()) > 0.1
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-4, atol=1e-5)
