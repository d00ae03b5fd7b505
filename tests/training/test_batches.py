"""Which examples come when, and what they are compared with."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.config import Dataset, Stage
from parlink.text.windows import Window
from parlink.training.batches import example_batches, training_batch
from parlink.training.data import StageData
from parlink.training.examples import Example, GoldMention
from parlink.training.optimizer import lr_factor
from tiny import byte_level_bpe


def example(name: str, *, length: int = 6, mentions: tuple[GoldMention, ...] = (), **known: Any) -> Example:
    window = Window(np.arange(3, 3 + length), offset=0, own_first=0, own_last=length - 2)
    return Example(window, mentions, name, **known)


def dataset(name: str, size: int) -> list[tuple[list[Example], ...]]:
    return [([example(f"{name}{i}", length=4 + i % 7)], [example(f"{name}{i} natural")]) for i in range(size)]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_every_example_comes_once_before_any_comes_again(size: int, batch_size: int, seed: int) -> None:
    batches = example_batches([dataset("a", size)], [1.0], batch_size=batch_size, natural=0.0, seed=str(seed))
    seen = Counter(one.document for batch in islice(batches, 64) for one in batch)  # two pools
    assert max(seen.values()) - min(seen[f"a{i}"] for i in range(size)) <= 2


def test_batches_follow_from_the_seed_and_hold_examples_of_like_length() -> None:
    def names(seed: str) -> list[list[str]]:
        batches = example_batches([dataset("a", 50)], [1.0], batch_size=4, natural=0.5, seed=seed)
        return [[one.document for one in batch] for batch in islice(batches, 40)]

    assert names("1") == names("1") != names("2")
    batches = list(islice(example_batches([dataset("a", 50)], [1.0], batch_size=4, natural=0.0, seed="1"), 32))
    spread = [max(lengths) - min(lengths) for b in batches if (lengths := [len(one.window.ids) for one in b])]
    assert sum(spread) / len(spread) < 1


def test_datasets_are_mixed_by_weight_and_shown_naturally_by_share() -> None:
    data = [dataset("a", 30), dataset("b", 300)]
    batches = example_batches(data, [3.0, 1.0], batch_size=8, natural=0.25, seed="s")
    drawn = [one.document for batch in islice(batches, 320) for one in batch]
    assert abs(sum(name.startswith("a") for name in drawn) / len(drawn) - 0.75) < 0.03
    assert abs(sum(name.endswith("natural") for name in drawn) / len(drawn) - 0.25) < 0.03


def test_an_epoch_is_the_first_dataset_once_with_its_share_of_the_others() -> None:
    sets = (Dataset(path="a", weight=1.0), Dataset(path="b", weight=3.0))
    assert StageData(sets, (dataset("a", 10), dataset("b", 5))).epoch == 40


MENTION = GoldMention(1, 2, "Kent", ("Kent", "Kent, Ohio", "Kent County"))
OTHER = GoldMention(4, 4, "Ohio", ("Ohio",))
NIL = GoldMention(1, 1, None, ("Kent", "Ohio"))
BARE_NIL = GoldMention(3, 3, None, ())


def names_of(mentions: tuple[GoldMention, ...], **settings: int) -> list[list[tuple[int, ...]]]:
    """The token ids of the names of each linked mention, the gold one first."""
    tokenizer = byte_level_bpe()
    wanted = {"nil": False, "negatives": 1, "batch_negatives": 0} | settings
    given_names = {tokenizer.title(t): t for m in (MENTION, OTHER, NIL) for t in (m.title, *m.candidates) if t}
    given_names[(tokenizer.nil_id,)] = "NIL"
    _, targets = training_batch(
        [example("d", length=8, mentions=mentions)],
        tokenizer=tokenizer,
        rng=random.Random(3),
        **wanted,  # type: ignore[arg-type]
    )
    tree = targets.tree
    parents, tokens = tree.parents().tolist(), tree.token.tolist()
    result: list[list[tuple[int, ...]]] = [[] for _ in targets.linked]
    for name, (leaf, owner) in enumerate(zip(tree.ends().tolist(), targets.owner.tolist(), strict=True)):
        path, node = [], leaf
        while node >= tree.roots:
            path.append(tokens[node])
            node = parents[node]
        assert node == owner
        assert (name in targets.gold.tolist()) == (len(result[owner]) == 0)
        result[owner].append(given_names[tuple(path[::-1])])  # type: ignore[arg-type]
    return result


def test_negatives_are_drawn_from_the_candidates_as_many_as_asked_for() -> None:
    [[gold, one]] = names_of((MENTION,))
    assert gold == "Kent"
    assert one in ("Kent, Ohio", "Kent County")
    [names] = names_of((MENTION,), negatives=5)
    assert names[0] == "Kent"
    assert sorted(names[1:]) == ["Kent County", "Kent, Ohio"]
    assert names_of((MENTION,), negatives=0) == [["Kent"]]


def test_negatives_from_the_batch_are_other_mentions_titles() -> None:
    assert names_of((MENTION, OTHER), negatives=0, batch_negatives=4) == [["Kent", "Ohio"], ["Ohio", "Kent"]]


def test_nil_is_one_more_candidate_and_one_without_candidates_trains_detection_only() -> None:
    assert names_of((OTHER,), nil=True) == [["Ohio", "NIL"]]
    [names] = names_of((NIL, BARE_NIL), nil=True, negatives=5)
    assert names[0] == "NIL"
    assert sorted(names[1:]) == ["Kent", "Ohio"]


def test_starts_weigh_as_their_dataset_says() -> None:
    examples = [
        example("a", length=6, mentions=(GoldMention(2, 3, "Kent", ()),), detection=0.5, unlinked=0.2),
        example("b", length=4),
    ]
    batch, targets = training_batch(
        examples, tokenizer=byte_level_bpe(), nil=False, negatives=1, batch_negatives=0, rng=random.Random(0)
    )
    assert batch.tokens.shape == (2, 6)
    torch.testing.assert_close(targets.start_weight, torch.tensor([[0, 0.1, 0.5, 0.1, 0.1, 0], [0, 1.0, 1.0, 0, 0, 0]]))
    assert targets.starts.nonzero().tolist() == [[0, 2]]


def test_a_start_of_which_nothing_is_known_is_not_judged() -> None:
    examples = [example("a", length=6, mentions=(GoldMention(2, 3, "Kent", ()),), unknown=(4,))]
    _, targets = training_batch(
        examples, tokenizer=byte_level_bpe(), nil=False, negatives=1, batch_negatives=0, rng=random.Random(0)
    )
    assert targets.start_weight.tolist() == [[0, 1, 1, 1, 0, 0]]


STAGE = Stage(train=(Dataset(path="a"),), steps=1)


@given(st.floats(0, 600), st.floats(0.01, 2000), st.integers(1, 800))
def test_the_rate_rises_then_falls_and_stays_between_0_and_1(warmup: float, decay: float, planned: int) -> None:
    stage = Stage(train=STAGE.train, steps=1, warmup=warmup, decay=decay)
    rates = [lr_factor(step, stage=stage, planned=planned) for step in range(planned)]
    assert all(0 <= one <= 1 for one in rates)
    top = rates.index(max(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_warm_up_and_decay_are_steps_or_shares_of_the_plan() -> None:
    shares = Stage(train=STAGE.train, steps=1, warmup=0.1, decay=1)
    steps = Stage(train=STAGE.train, steps=1, warmup=20, decay=200)
    for step in range(200):
        assert lr_factor(step, stage=shares, planned=200) == lr_factor(step, stage=steps, planned=200)
    paper = [lr_factor(step, stage=STAGE, planned=3000) for step in (0, 249, 499, 500, 2999)]
    assert paper == [1 / 500, 0.5, 1.0, 1.0, (10_000 - 2999) / 9500]
