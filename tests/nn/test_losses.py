"""The losses, against plain loops over mentions, names and tokens."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from parlink.nn.batch import Batch
from parlink.nn.losses import PARTS, Targets, classifier_loss, joint_losses, loss_counts
from parlink.nn.model import LinkingModel
from parlink.text.windows import Window
from parlink.training.batches import training_batch
from parlink.training.examples import Example, GoldMention
from parlink.training.negatives import Negatives, NegativeSampler
from tiny import byte_level_bpe
from tiny_model import tiny_model

TITLES = ("New York", "New York City", "Japan", "Japan (band)", "Jordan")
TOKENIZER = byte_level_bpe()
SMOOTHING = 0.1


@st.composite
def examples(draw: st.DrawFn, *, nil: bool = False) -> list[Example]:
    """Windows of different lengths with mentions anywhere, some without negatives, some NIL, some weighted less."""
    result = []
    for number in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 12))
        mentions = []
        for first in draw(st.lists(st.integers(1, length), max_size=3, unique=True)):
            last = draw(st.integers(first, min(length, first + 14)))
            title = draw(st.sampled_from([*TITLES, None] if nil else TITLES))
            mentions.append(GoldMention(first, last, title, tuple(draw(st.sets(st.sampled_from(TITLES), max_size=3)))))
        body = draw(st.lists(st.integers(4, TOKENIZER.vocab_size - 2), min_size=length, max_size=length))
        ids = np.array([TOKENIZER.bos_id, *body, TOKENIZER.eos_id])
        weights = draw(st.sampled_from([(1.0, 1.0), (0.5, 0.1), (1.0, 0.0)]))
        result.append(Example(Window(ids, 0, 0, length), tuple(mentions), str(number), *weights))
    return result


def model_for(seed: int) -> LinkingModel:
    return tiny_model(seed=seed, vocab_size=TOKENIZER.vocab_size, spread=2.0, eos_id=2).double()


def targets_of(windows: list[Example], *, nil: bool = False, negatives: int = 9) -> tuple[Batch, Targets]:
    rng = random.Random(0)
    sampler = NegativeSampler(Negatives(candidates=negatives, nil=nil))
    batch, targets = training_batch(windows, tokenizer=TOKENIZER, sampler=sampler, rng=rng)
    starts, weight = targets.starts.double(), targets.start_weight.double()
    rest = (targets.mentions, targets.linked, targets.tree, targets.owner, targets.gold)
    return batch, Targets(starts, weight, *rest)


def losses(model: LinkingModel, windows: list[Example], **kind: bool) -> Tensor:
    return joint_losses(model, *targets_of(windows, **kind), label_smoothing=SMOOTHING)


def plain_losses(model: LinkingModel, windows: list[Example], *, nil: bool) -> tuple[list[float], list[float]]:
    """Every sum and count, one window, one mention, one name and one token at a time."""
    sums, counts = [0.0] * len(PARTS), [0.0] * len(PARTS)

    def add(part: str, value: float, count: float = 1.0) -> None:
        sums[PARTS.index(part)] += float(value)
        counts[PARTS.index(part)] += count

    for example in windows:
        tokens = torch.from_numpy(example.window.ids)[None]
        states = model.encoder(tokens, torch.ones_like(tokens, dtype=torch.bool))[0]
        length = len(example.window.ids)
        starting = {mention.first for mention in example.mentions}
        for place in range(1, length - 1):
            logit = float(model.detector.start(states[place]))
            right = place in starting
            weight = example.detection * (1.0 if right else example.unlinked)
            add("start", weight * math.log1p(math.exp(-logit if right else logit)))
        for mention in example.mentions:
            ends = range(mention.first, min(mention.first + 15, length - 1))
            logits = [float(model.detector.end(torch.cat([states[mention.first], states[e]]))) for e in ends]
            add("end", _log_sum(logits) - logits[mention.last - mention.first])
            _add_names(model, states, mention, nil, add)
    return sums, counts


def _add_names(model: LinkingModel, states: Tensor, mention: GoldMention, nil: bool, add: object) -> None:
    assert callable(add)
    if mention.title is None and not mention.candidates:
        return
    both = torch.cat([states[mention.first], states[mention.last]])
    decoder = model.decoder
    vector = decoder.mention_vector(both)
    names = [mention.title, *(t for t in mention.candidates if t != mention.title)]
    names += [None] if nil and mention.title is not None else []
    scores = []
    for number, title in enumerate(names):
        ids = [TOKENIZER.nil_id] if title is None else list(TOKENIZER.title(title))
        hidden, cell = decoder.first_hidden(both), decoder.first_cell(both)
        terms, penalties = [], []
        for read, predicted in zip([decoder.bos_id, *ids], [*ids, decoder.eos_id], strict=True):
            embedding = model.encoder.token_embeddings.weight[read]
            hidden, cell = decoder.lstm(torch.cat([embedding, vector]), (hidden, cell))
            logits = decoder.head.decoder(decoder.head.features(hidden))
            target = torch.tensor(predicted)
            terms.append(float(F.cross_entropy(logits, target, label_smoothing=SMOOTHING)))
            penalties.append(float(logits.logsumexp(-1)) ** 2)
        if number == 0:
            add("generation", sum(terms) / len(terms))
            add("normalizer", sum(penalties) / len(penalties))
        scores.append(float(decoder.classifier(torch.cat([vector, cell]))))
    if len(scores) > 1:
        add("classifier", _log_sum(scores) - scores[0])


def _log_sum(values: list[float]) -> float:
    return math.log(sum(math.exp(value) for value in values))


@pytest.mark.parametrize("nil", [False, True])
@given(data=st.data(), seed=st.integers(0, 20))
@settings(max_examples=15, deadline=None)
def test_every_loss_is_that_of_a_plain_loop(nil: bool, data: st.DataObject, seed: int) -> None:
    windows = data.draw(examples(nil=nil))
    model = model_for(seed)
    with torch.no_grad():
        got = losses(model, windows, nil=nil)
        sums, counts = plain_losses(model, windows, nil=nil)
    assert loss_counts(*targets_of(windows, nil=nil)).tolist() == counts
    assert got.tolist() == pytest.approx(sums, rel=1e-6, abs=1e-9)


@given(windows=examples(), seed=st.integers(0, 20))
@settings(max_examples=15, deadline=None)
def test_a_batch_with_padding_equals_its_windows_alone(windows: list[Example], seed: int) -> None:
    model = model_for(seed)
    together = losses(model, windows)
    together.sum().backward()  # type: ignore[no-untyped-call]
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    alone = [losses(model, [window]) for window in windows]
    torch.stack(alone).sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(together, torch.stack(alone).sum(0))
    counts = torch.stack([loss_counts(*targets_of([window])) for window in windows]).sum(0)
    assert torch.equal(loss_counts(*targets_of(windows)), counts)
    again = [p.grad for p in model.parameters() if p.grad is not None]
    torch.testing.assert_close(gradients, again, atol=1e-9, rtol=1e-7)


def test_no_mention_and_no_negative_give_zero_and_gradients_that_are_numbers() -> None:
    model = model_for(1)
    ids = np.array([0, 9, 10, 2])
    for mentions in ((), (GoldMention(1, 1, "Japan", ()),), (GoldMention(1, 1, "Japan", ("Japan",)),)):
        windows = [Example(Window(ids, 0, 0, 2), mentions)]
        got = losses(model, windows)
        got.sum().backward()  # type: ignore[no-untyped-call]
        assert torch.isfinite(got).all()
        assert got[PARTS.index("classifier")] == 0
        assert loss_counts(*targets_of(windows))[PARTS.index("classifier")] == 0
        assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_the_classifier_loss_does_not_depend_on_the_order_of_names() -> None:
    logits = torch.tensor([0.3, -1.0, 2.0, 0.1, 0.7], dtype=torch.float64)
    owner, gold = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([1, 4])
    order = torch.tensor([3, 0, 4, 1, 2])
    where = torch.argsort(order)
    ours = classifier_loss(logits, owner, gold)
    theirs = classifier_loss(logits[order], owner[order], where[gold])
    torch.testing.assert_close(ours, theirs)
    wanted = F.cross_entropy(logits[None, :2], torch.tensor([1])) + F.cross_entropy(logits[None, 2:], torch.tensor([2]))
    torch.testing.assert_close(ours, wanted)


def test_without_the_generator_the_other_losses_are_the_same_and_the_output_layer_is_untouched() -> None:
    model = model_for(3)
    ids = np.array([0, 9, 10, 11, 2])
    windows = [Example(Window(ids, 0, 0, 3), (GoldMention(1, 2, "Japan", ("Jordan",)),))]
    whole = losses(model, windows)
    batch, targets = targets_of(windows)
    without = joint_losses(model, batch, targets, label_smoothing=SMOOTHING, generate=False)
    kept = [PARTS.index(part) for part in ("start", "end", "classifier")]
    torch.testing.assert_close(without[kept], whole[kept])
    without.sum().backward()  # type: ignore[no-untyped-call]
    assert model.decoder.head.dense.weight.grad is None
    assert model.decoder.classifier[0].weight.grad is not None


def test_the_penalty_makes_raw_logits_log_probabilities() -> None:
    """With it, log Z on the names of a few mentions goes to 0; without it, it does not."""
    left = {}
    for weight in (0.0, 1.0):
        model = tiny_model(seed=2, vocab_size=TOKENIZER.vocab_size, spread=1.0)
        ids = np.array([0, 9, 10, 11, 2])
        windows = [Example(Window(ids, 0, 0, 3), (GoldMention(1, 2, "Japan", ()), GoldMention(3, 3, "Jordan", ())))]
        sampler = NegativeSampler(Negatives(candidates=0))
        batch, targets = training_batch(windows, tokenizer=TOKENIZER, sampler=sampler, rng=random.Random(0))
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
        for _ in range(60):
            got = joint_losses(model, batch, targets, label_smoothing=0.0)
            optimizer.zero_grad()
            (got[2] + weight * got[4]).backward()
            optimizer.step()
        left[weight] = float(got[4].detach().sqrt())
    assert left[1.0] < 0.3 < left[0.0]


def test_dropout_is_rescaled() -> None:
    """Means of many draws are the values without dropout: nothing is left smaller or larger by it."""
    model = tiny_model(dropout=0.4)
    values = torch.ones(20_000)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            assert abs(float(module.train()(values).mean()) - 1) < 0.03
            assert torch.equal(module.eval()(values), values)
    words = torch.randn(1, 8).expand(20_000, 8)
    torch.manual_seed(0)
    dropped = model.train().decoder.token_gates(words).mean(0)
    torch.testing.assert_close(dropped, model.eval().decoder.token_gates(words[:1])[0], atol=0.05, rtol=0)
