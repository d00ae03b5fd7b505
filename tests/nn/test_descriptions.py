"""What the correction reads besides the mention and the name."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from parlink.nn.batch import Batch, collate
from parlink.nn.decoder import MentionStates
from parlink.nn.descriptions import TOKENS, Descriptions
from parlink.nn.detector import Mentions
from parlink.nn.model import LinkingModel, count_parameters
from parlink.text.windows import Window
from tiny_model import tiny_model

KINDS = [(True, True), (True, False), (False, True)]
OWNER = torch.tensor([0, 0, 1, 1])
SAID = Descriptions.build([(5, 6, 7), (), (8,), (5, 6, 7)])


def reading_model(*, descriptions: bool = True, document_vector: bool = True, seed: int = 3) -> LinkingModel:
    model = tiny_model(seed=seed, descriptions=descriptions, document_vector=document_vector).double()
    with torch.no_grad():
        for name, weight in model.decoder.named_parameters():
            if name.startswith("inputs.") and not weight.any():
                weight.normal_()
    return model


def a_batch() -> Batch:
    ids = np.array([0, 5, 6, 7, 8, 9, 2])
    return collate([Window(ids, 0, 0, 5), Window(ids[:5], 0, 0, 3)], pad_id=1)


def mention_states(model: LinkingModel, batch: Batch) -> tuple[Tensor, MentionStates]:
    states = model.encode(batch)
    mentions = Mentions(torch.tensor([0, 1]), torch.tensor([1, 2]), torch.tensor([2, 2]))
    return states, model.decoder.mentions(states, mentions, batch.content)


def cells(model: LinkingModel) -> Tensor:
    return torch.randn(4, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_each_text_is_kept_once_and_cut() -> None:
    said = Descriptions.build([(5, 6), (), (7,) * 50, (5, 6), (7,) * 40])
    assert said.text.tolist() == [1, 0, 2, 1, 2]
    assert said.first.tolist() == [0, 2]
    assert said.tokens.tolist() == [5, 6] + [7] * TOKENS
    assert len(Descriptions.build([]).tokens) == len(Descriptions.build([(), ()]).tokens) == 0


@pytest.mark.parametrize(("descriptions", "document_vector"), KINDS)
@torch.no_grad()
def test_at_first_nothing_that_is_said_changes_anything(descriptions: bool, document_vector: bool) -> None:
    model = tiny_model(seed=3, descriptions=descriptions, document_vector=document_vector).double()
    plain = tiny_model(seed=4).double()
    weights = model.state_dict()
    plain.load_state_dict({name: weights[name] for name in plain.state_dict()})
    batch = a_batch()
    wanted = plain.decoder.correct(mention_states(plain, batch)[1], OWNER, cells(plain))
    known = mention_states(model, batch)[1]
    assert torch.equal(model.decoder.correct(known, OWNER, cells(model), model.describe(SAID)), wanted)
    assert torch.equal(model.decoder.correct(known, OWNER, cells(model)), wanted)


@pytest.mark.parametrize(("descriptions", "document_vector"), KINDS)
@torch.no_grad()
def test_the_correction_is_what_the_formula_says_name_by_name(descriptions: bool, document_vector: bool) -> None:
    model = reading_model(descriptions=descriptions, document_vector=document_vector)
    batch, decoder = a_batch(), model.decoder
    states, known = mention_states(model, batch)
    got = decoder.correct(known, OWNER, cells(model), model.describe(SAID))
    inputs, words = decoder.inputs, model.encoder.token_embeddings.weight
    assert inputs is not None
    documents = [states[0, 1:6].mean(0), states[1, 1:4].mean(0)]
    texts: list[tuple[int, ...]] = [(5, 6, 7), (), (8,), (5, 6, 7)]
    for name, (owner, text) in enumerate(zip(OWNER.tolist(), texts, strict=True)):
        context = inputs.mention(known.vector[owner])
        if inputs.document is not None:
            context = context + inputs.document(documents[owner])
        context = inputs.context_norm(context)
        added = inputs.of_context(context)
        if descriptions:
            said = inputs.projection(words[list(text)].mean(0)) if text else inputs.missing
            said = inputs.description_norm(said)
            added = added + inputs.of_description(torch.cat([said, said * context]))
        both = torch.cat([known.vector[owner], cells(model)[name]])
        wanted = decoder.classifier[3:](decoder.classifier[:3](both) + added)
        torch.testing.assert_close(got[name : name + 1], wanted)


@torch.no_grad()
def test_nothing_said_of_any_name_is_no_description_for_each() -> None:
    model = reading_model()
    _, known = mention_states(model, a_batch())
    none = model.describe(Descriptions.build([()] * 4))
    without = model.decoder.correct(known, OWNER, cells(model))
    torch.testing.assert_close(model.decoder.correct(known, OWNER, cells(model), none), without)
    assert not torch.allclose(model.decoder.correct(known, OWNER, cells(model), model.describe(SAID)), without)


def test_the_papers_model_is_the_one_without() -> None:
    plain, more = count_parameters(tiny_model()), count_parameters(tiny_model(descriptions=True, document_vector=True))
    assert "classifier inputs" not in plain
    assert {name: count for name, count in more.items() if name not in ("classifier inputs", "total")} == {
        name: count for name, count in plain.items() if name != "total"
    }
    assert tiny_model().describe(SAID) is None


def test_everything_new_learns() -> None:
    model = reading_model().train()
    _, known = mention_states(model, a_batch())
    model.decoder.correct(known, OWNER, cells(model), model.describe(SAID)).square().sum().backward()  # type: ignore[no-untyped-call]
    assert model.decoder.inputs is not None
    assert all(weight.grad is not None and weight.grad.any() for weight in model.decoder.inputs.parameters())
    before = model.encoder.token_embeddings.weight.grad
    assert before is not None and not before[10].any()
