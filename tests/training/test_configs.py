"""The configs that come with parlink, and how a command line changes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from parlink.config import ScoreWeights
from parlink.errors import ConfigError
from parlink.settings import override, parse, read_toml
from parlink.train_config import Dataset, Stage, TrainConfig
from parlink.training.initial import initial_checkpoint
from tiny_training import tiny_config

FOLDER = Path(__file__).parents[2] / "configs"


def read(name: str) -> TrainConfig:
    return parse(read_toml(FOLDER / name), TrainConfig, source=name)


def test_the_paper_config_has_the_papers_values_which_are_the_defaults() -> None:
    paper = read("paper.toml")
    [stage] = paper.stages
    assert stage == Stage(train=(Dataset(path="data/aida/train.jsonl"),), epochs=100)
    plain = TrainConfig(
        output=paper.output, encoder="allenai/longformer-base-4096", validation=paper.validation, stages=paper.stages
    )
    assert msgspec.structs.replace(paper, architecture=None, layers=None) == plain
    assert paper.layers == 8


@pytest.mark.parametrize(
    ("name", "changed"),
    [("lm-only.toml", {"classifier_weight": 0.0}), ("classifier-only.toml", {"generation_weight": 0.0})],
)
def test_the_ablations_differ_from_the_paper_in_one_weight(name: str, changed: dict[str, Any]) -> None:
    ablation = read(name)
    assert ablation == msgspec.structs.replace(read("paper.toml"), output=ablation.output, **changed)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.name)
def test_every_config_can_be_read(path: Path) -> None:
    assert read(path.name).stages


@pytest.mark.parametrize(
    ("changes", "weights"),
    [
        ({}, ScoreWeights(lm=1, classifier=1)),
        ({"classifier_weight": 0.0}, ScoreWeights(lm=1, classifier=0)),
        ({"generation_weight": 0.0}, ScoreWeights(lm=0, classifier=1)),
    ],
)
def test_a_model_scores_by_the_parts_that_are_trained(
    tmp_path: Path, changes: dict[str, Any], weights: ScoreWeights
) -> None:
    assert initial_checkpoint(tiny_config(tmp_path, **changes)).tuned.weights == weights


DATA = {"seed": 0, "stages": [{"steps": 5, "train": [{"path": "a"}]}, {"steps": 6}], "architecture": {"layers": 2}}


@pytest.mark.parametrize(
    ("setting", "path", "wanted"),
    [
        ("seed=3", ("seed",), 3),
        ("output=runs/x", ("output",), "runs/x"),
        ('output="3"', ("output",), "3"),
        ("nil = true", ("nil",), True),
        ("stages.1.steps=9", ("stages", 1, "steps"), 9),
        ("stages.0.train.0.path=b/c.jsonl", ("stages", 0, "train", 0, "path"), "b/c.jsonl"),
        ("architecture.hidden=64", ("architecture", "hidden"), 64),
        ("name=a=b", ("name",), "a=b"),
    ],
)
def test_a_setting_replaces_one_value(setting: str, path: tuple[str | int, ...], wanted: object) -> None:
    changed: Any = override(DATA, [setting])
    assert changed != DATA
    inside = changed
    for key in path:
        inside = inside[key]
    assert inside == wanted
    assert DATA["seed"] == 0
    assert changed["architecture"]["layers"] == 2
    assert changed["stages"][0]["steps"] == 5


@pytest.mark.parametrize("setting", ["seed", "=3", "stages.2.steps=1", "stages.x=1"])
def test_a_setting_that_leads_nowhere_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=f"--set.*{setting.split('.')[-1].split('=')[0]}"):
        override(DATA, [setting])
