"""Where wrong names come from."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from parlink.errors import ConfigError
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.linking.linker import Linker
from parlink.training.examples import GoldMention
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.training.negatives import Negatives, NegativeSampler, SameType, find_confusions
from parlink.types import Entity
from tiny_model import tiny_checkpoint
from tiny_training import CANDIDATES, DOCUMENTS, tiny_config


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    titles = {title for names in CANDIDATES.values() for title in names}
    (tmp_path / "titles.txt").write_text("\n".join(sorted(titles)))
    build([tmp_path / "titles.txt"], tmp_path / "kb")
    return KnowledgeBase.open(tmp_path / "kb")


def test_every_source_gives_as_many_as_asked_for_and_none_twice() -> None:
    mention = GoldMention(1, 1, "a", ("a", "b", "c"))
    types = SameType({"a": "t"}, {"t": ["a", "b", "h"]})
    counts = Negatives(candidates=9, hard=1, same_type=9, batch=9, nil=True)
    names = NegativeSampler(counts, {"a": ["b", "x", "y"]}, types).names(mention, ["a", "c", "z"], random.Random(0))
    assert names[0] == "a"
    assert sorted(names[1:3]) == ["b", "c"]  # type: ignore[type-var]
    assert names[3] in ("x", "y")
    assert names[4:] == ["h", "z", None]


def test_entities_are_sorted_by_type() -> None:
    entities = [Entity("Elbe", type="river"), None, Entity("Jordan River", type="river"), Entity("Japan")]
    types = SameType.gather(entities)
    assert types.titles == {"river": ["Elbe", "Jordan River"]}
    assert types.type_of == {"Elbe": "river", "Jordan River": "river"}


def test_confusions_are_other_titles_that_the_beam_finds(kb: KnowledgeBase) -> None:
    confusions = find_confusions(Linker(tiny_checkpoint(seed=3), kb=kb), DOCUMENTS)
    assert confusions.keys() == {link.title for doc in DOCUMENTS for link in doc.links if link.title}
    assert all(
        wrong and title not in wrong and all(each in kb for each in wrong) for title, wrong in confusions.items()
    )


def test_hard_negatives_are_found_once_a_stage_and_a_run_goes_on_with_them(tmp_path: Path, kb: KnowledgeBase) -> None:
    stage = {"train": [{"path": str(tmp_path / "train.jsonl")}], "steps": 3, "warmup_steps": 0}
    settings: dict[str, Any] = {
        "kb": str(tmp_path / "kb"),
        "hard_negatives": 2,
        "type_negatives": 1,
        "validation": None,
        "stages": [stage, stage],
    }
    config = tiny_config(tmp_path, **settings, output=str(tmp_path / "whole"))
    whole = Run(config, initial_checkpoint(config))
    list(whole.events())
    files = [(tmp_path / "whole" / f"confusions-{stage}.json").read_bytes() for stage in (0, 1)]
    assert files[0] != files[1]
    config = tiny_config(tmp_path, **settings)
    for count in (2, 2):
        events = Run(config, initial_checkpoint(config), resume=True).events()
        for _ in range(count):
            next(events)
        events.close()
    resumed = Run(config, initial_checkpoint(config), resume=True)
    list(resumed.events())
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], weight), name


def test_negatives_from_a_knowledge_base_need_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="hard_negatives and type_negatives come from a knowledge base"):
        tiny_config(tmp_path, hard_negatives=1)
