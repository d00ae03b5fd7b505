from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from parlink.checkpoint import card
from parlink.checkpoint.card import Scores, Training, Weakness, model_card
from parlink.checkpoint.config_file import FORMAT, ConfigFile
from parlink.config import Tuned
from parlink.train_config import Dataset, Stage, TrainConfig
from tiny_model import tiny_model

SCORES = Scores(10, 1234, "Candidates come from the knowledge base.", {"as it is": (0.5, 0.25, 0.75, 1.0, 0.125)})
HOSTILE = "a | b\n\n# <b>{{ 6 * 7 }}</b> {% raw %} [x](javascript:1)"


def training(output: str = "runs/tiny") -> Training:
    stage = Stage(train=(Dataset(path="data/train.jsonl"),), steps=5000)
    config = TrainConfig(output=output, encoder="scratch", validation="dev.jsonl", stages=(stage,))
    return Training(config, {"data/train.jsonl": {"documents": 1200, "mentions": 34}}, 5000, 630, "cpu")


def config_file() -> ConfigFile:
    return ConfigFile(format=FORMAT, model=tiny_model().config, tuned=Tuned(mention_threshold=0.5))


@pytest.mark.parametrize("scores", [SCORES, None], ids=["measured", "not measured"])
def test_the_card_reads_as_it_did(
    scores: Scores | None, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "commit", lambda: "f00dcafe")
    text = model_card(training(), config_file(), scores, weaknesses=[Weakness("Obama spoke.", "Michelle Obama")])
    text = text.partition("```json\n")[
        0
    ]  # the settings are those of the training config, whose keys are its own matter
    text = re.sub(r"finished \d{4}-\d\d-\d\d", "finished DATE", text)
    assert re.sub(r"Made by parlink [\w.+]+,", "Made by parlink VERSION,", text) == snapshot


def test_a_card_without_weaknesses_has_no_section_for_them() -> None:
    assert "What it is bad at" not in model_card(training(), config_file(), None)


def test_a_name_and_a_text_are_neither_templates_nor_markdown() -> None:
    text = model_card(training("{{ 6 * 7 }}"), config_file(), None, weaknesses=[Weakness(HOSTILE, HOSTILE)])
    assert "# {{ 6 * 7 }}\n" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| a ")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert not re.search(r"(?<!\\)[<>\[\]#]", row)
