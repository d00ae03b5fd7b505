"""Which examples come when, and what they are compared with."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.data import files, jsonl
from parlink.text.windows import Window
from parlink.train_config import Dataset, Stage
from parlink.training.batches import POOL, BatchStream, training_batch
from parlink.training.data import StageData, TrainingData
from parlink.training.examples import Example, GoldMention
from parlink.training.negatives import Negatives, NegativeSampler
from parlink.training.optimizer import lr_factor
from parlink.training.stream import Cursor, ExampleStream
from parlink.types import Document
from tiny import byte_level_bpe
from tiny_training import tiny_config


def example(name: str, *, length: int = 6, mentions: tuple[GoldMention, ...] = (), **known: Any) -> Example:
    window = Window(np.arange(3, 3 + length), offset=0, own_first=0, own_last=length - 2)
    return Example(window, mentions, name, **known)


START = Cursor()


def stream(path: Path, name: str, size: int, *, cursor: Cursor = START, buffer_bytes: int = 10**6) -> ExampleStream:
    """A dataset whose document i has the number i, and one window of each of two lengths."""
    path.write_text("".join(f"{i}\n" for i in range(size)))

    def build(line: bytes, number: int, rng: random.Random) -> list[Example]:
        shown = f"{name}{int(line)}"
        return [example(shown, length=4 + number % 7), example(f"{shown} {rng.random():.3f}", length=5)]

    return ExampleStream(str(path), build, buffer_bytes=buffer_bytes, seed=name, cursor=cursor)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.jsonl"


@pytest.mark.parametrize("buffer_bytes", [1, 7, 40, 10**6])
def test_every_window_comes_once_an_epoch_in_another_order_each_time(path: Path, buffer_bytes: int) -> None:
    examples = stream(path, "a", 30, buffer_bytes=buffer_bytes)
    epochs = [[next(examples) for _ in range(60)] for _ in range(3)]
    for epoch in epochs:
        assert sorted(one.document for one in epoch if " " not in one.document) == sorted(f"a{i}" for i in range(30))
    orders = [[one.document.split()[0] for one in epoch] for epoch in epochs]
    assert (orders[0] != orders[1] != orders[2]) == (buffer_bytes > 1)
    drawn = [{one.document for one in epoch if " " in one.document} for epoch in epochs]
    assert not drawn[0] & drawn[1]  # what is drawn for a document is drawn anew


@given(st.integers(1, 12), st.integers(1, 30), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_a_stream_goes_on_from_any_cursor(size: int, buffer_bytes: int, taken: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.jsonl"
        whole = stream(path, "a", size, buffer_bytes=buffer_bytes)
        for _ in range(taken):
            next(whole)
        again = stream(path, "a", size, buffer_bytes=buffer_bytes, cursor=whole.cursor)
        assert [next(again).document for _ in range(40)] == [next(whole).document for _ in range(40)]


def test_a_stream_holds_no_more_lines_than_fit_into_its_buffer(path: Path) -> None:
    examples = stream(path, "a", 100, buffer_bytes=30)  # ten lines of three bytes
    order = [int(next(examples).document[1:].split()[0]) for _ in range(200)]
    assert all(abs(number - place // 2) <= 10 for place, number in enumerate(order))
    assert order != sorted(order)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_data_are_the_same_stream(tmp_path: Path, suffix: str) -> None:
    plain = stream(tmp_path / "data.jsonl", "a", 20, buffer_bytes=20)
    packed = tmp_path / f"data.jsonl{suffix}"
    with files.open_output(packed) as file:
        file.write((tmp_path / "data.jsonl").read_bytes())
    again = ExampleStream(str(packed), plain._build, buffer_bytes=20, seed="a", cursor=Cursor())
    assert [next(again).document for _ in range(50)] == [next(plain).document for _ in range(50)]


def batches_of(path: Path, sizes: dict[str, int], weights: list[float], **settings: Any) -> BatchStream:
    streams = [stream(path.with_name(name), name, size) for name, size in sizes.items()]
    return BatchStream(streams, weights, **settings)


def test_batches_follow_from_the_seed_and_hold_examples_of_like_length(path: Path) -> None:
    def names(seed: str) -> list[list[str]]:
        batches = batches_of(path, {"a": 50}, [1.0], batch_size=4, seed=seed)
        return [[one.document for one in batch] for batch in islice(batches, 40)]

    assert names("1") == names("1") != names("2")
    batches = list(islice(batches_of(path, {"a": 50}, [1.0], batch_size=4, seed="1"), 32))
    spread = [max(lengths) - min(lengths) for b in batches if (lengths := [len(one.window.ids) for one in b])]
    assert sum(spread) / len(spread) < 1


def test_batches_go_on_from_any_step(path: Path) -> None:
    whole = batches_of(path, {"a": 9, "b": 5}, [2.0, 1.0], batch_size=3, seed="1")
    given_out = iter(whole)
    for step in range(1, 3 * POOL):
        next(given_out)
        if step % 7 and step % POOL not in (0, 1, POOL - 1):
            continue
        places = whole.cursors(step)
        streams = [
            stream(path.with_name(n), n, s, cursor=c) for (n, s), c in zip([("a", 9), ("b", 5)], places, strict=True)
        ]
        again = BatchStream(streams, [2.0, 1.0], batch_size=3, seed="1", step=step)
        wanted = list(islice(batches_of(path, {"a": 9, "b": 5}, [2.0, 1.0], batch_size=3, seed="1"), step, step + 40))
        assert [[e.document for e in b] for b in islice(again, 40)] == [[e.document for e in b] for b in wanted]


def test_datasets_are_mixed_by_weight(path: Path) -> None:
    batches = batches_of(path, {"a": 30, "b": 300}, [3.0, 1.0], batch_size=8, seed="s")
    drawn = [one.document for batch in islice(batches, 320) for one in batch]
    assert abs(sum(name.startswith("a") for name in drawn) / len(drawn) - 0.75) < 0.03


def test_documents_are_shown_naturally_by_share(tmp_path: Path) -> None:
    path = tmp_path / "tokenized.jsonl"
    documents = [Document(f"It is so , said number {i} .", id=str(i)) for i in range(40)]
    jsonl.write(path, documents)
    config = tiny_config(tmp_path, natural=0.25, stages=[{"train": [{"path": str(path)}], "steps": 1}])
    tokenizer = byte_level_bpe()
    batches = TrainingData(config, tokenizer).stage(config.stages[0]).batches(batch_size=4, seed="s")
    lengths = {doc.id: len(tokenizer.encode(doc.text).ids) for doc in documents}
    natural = [len(one.window.ids) - 2 < lengths[one.document] for batch in islice(batches, 64) for one in batch]
    assert abs(sum(natural) / len(natural) - 0.25) < 0.08


def test_an_epoch_is_the_first_dataset_once_with_its_share_of_the_others(tmp_path: Path) -> None:
    sets = (Dataset(path="a", weight=1.0), Dataset(path="b", weight=3.0))
    assert StageData(tiny_config(tmp_path), sets, (10, 5), ()).epoch == 40


MENTION = GoldMention(1, 2, "Kent", ("Kent", "Kent, Ohio", "Kent County"))
OTHER = GoldMention(4, 4, "Ohio", ("Ohio",))
NIL = GoldMention(1, 1, None, ("Kent", "Ohio"))
BARE_NIL = GoldMention(3, 3, None, ())


def names_of(mentions: tuple[GoldMention, ...], *, seed: int = 3, **settings: int) -> list[list[tuple[int, ...]]]:
    """The token ids of the names of each linked mention, the gold one first."""
    tokenizer = byte_level_bpe()
    names = {"negatives": "candidates", "batch_negatives": "batch", "nil": "nil"}
    counts = Negatives(**{names[key]: value for key, value in settings.items()})  # type: ignore[arg-type]
    given_names = {tokenizer.title(t): t for m in (MENTION, OTHER, NIL) for t in (m.title, *m.candidates) if t}
    given_names[(tokenizer.nil_id,)] = "NIL"
    _, targets = training_batch(
        [example("d", length=8, mentions=mentions)],
        tokenizer=tokenizer,
        rng=random.Random(seed),
        sampler=NegativeSampler(counts),
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


def test_every_candidate_has_its_turn_as_a_negative() -> None:
    drawn = [names_of((MENTION,), seed=seed)[0][1] for seed in range(200)]
    for title in ("Kent, Ohio", "Kent County"):
        assert 60 < drawn.count(title) < 140  # type: ignore[arg-type]


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
        examples, tokenizer=byte_level_bpe(), sampler=NegativeSampler(Negatives()), rng=random.Random(0)
    )
    assert batch.tokens.shape == (2, 6)
    torch.testing.assert_close(targets.start_weight, torch.tensor([[0, 0.1, 0.5, 0.1, 0.1, 0], [0, 1.0, 1.0, 0, 0, 0]]))
    assert targets.starts.nonzero().tolist() == [[0, 2]]


def test_words_with_a_capital_weigh_apart_where_no_mention_starts() -> None:
    examples = [
        example("a", length=6, mentions=(GoldMention(2, 3, "Kent", ()),), capitals=(2, 4), unlinked_names=0.25),
    ]
    _, targets = training_batch(
        examples, tokenizer=byte_level_bpe(), sampler=NegativeSampler(Negatives()), rng=random.Random(0)
    )
    assert targets.start_weight.tolist() == [[0, 1, 1, 1, 0.25, 0]]


def test_a_start_of_which_nothing_is_known_is_not_judged() -> None:
    examples = [example("a", length=6, mentions=(GoldMention(2, 3, "Kent", ()),), unknown=(4,))]
    _, targets = training_batch(
        examples, tokenizer=byte_level_bpe(), sampler=NegativeSampler(Negatives()), rng=random.Random(0)
    )
    assert targets.start_weight.tolist() == [[0, 1, 1, 1, 0, 0]]


STAGE = Stage(train=(Dataset(path="a"),), steps=1)


@given(st.integers(0, 600), st.integers(1, 2000), st.integers(1, 800))
def test_the_rate_rises_then_falls_and_stays_between_0_and_1(warmup: int, decay: int, planned: int) -> None:
    stage = Stage(train=STAGE.train, steps=1, warmup_steps=warmup, decay_steps=decay)
    rates = [lr_factor(step, stage=stage, planned=planned) for step in range(planned)]
    assert all(0 <= rate <= 1 for rate in rates)
    top = rates.index(max(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_warm_up_and_decay_are_steps_or_shares_of_the_plan() -> None:
    shares = Stage(train=STAGE.train, steps=1, warmup_ratio=0.1, decay_ratio=1)
    steps = Stage(train=STAGE.train, steps=1, warmup_steps=20, decay_steps=200)
    for step in range(200):
        assert lr_factor(step, stage=shares, planned=200) == lr_factor(step, stage=steps, planned=200)
    paper = [lr_factor(step, stage=STAGE, planned=3000) for step in (0, 249, 499, 500, 2999)]
    assert paper == [1 / 500, 0.5, 1.0, 1.0, (10_000 - 2999) / 9500]


def test_one_step_of_warm_up_is_one_step() -> None:
    stage = Stage(train=STAGE.train, steps=1, warmup_steps=1)
    assert lr_factor(0, stage=stage, planned=1000) == 1.0
    assert lr_factor(0, stage=Stage(train=STAGE.train, steps=1, warmup_steps=0), planned=1000) == 1.0
