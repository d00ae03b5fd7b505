"""A whole run: what it leaves in its folder, and what the command says."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from typer.testing import CliRunner

from parlink.checkpoint.config_file import read_config
from parlink.checkpoint.folder import load_checkpoint
from parlink.cli.main import app
from parlink.config import Tuned
from parlink.data import jsonl
from parlink.errors import ConfigError
from parlink.evaluation.conditions import Condition
from parlink.evaluation.metrics import Scores
from parlink.evaluation.run import evaluate
from parlink.kb.build.build import BuildOptions, build
from parlink.linking.linker import Linker
from parlink.settings import parse
from parlink.train_config import TrainConfig
from parlink.training.events import StepEvent, TunedEvent, ValidationEvent
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.training.scratch import make_tokenizer
from parlink.training.validation import Validation
from parlink.types import Document, Link, Span
from tiny_training import DOCUMENTS, tiny_config, tiny_settings, toml


def run_of(config: TrainConfig) -> Run:
    return Run(config, initial_checkpoint(config))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Any]]:
    run = run_of(tiny_config(tmp_path_factory.mktemp("finished"), validate_steps=2, nil=True, negatives=1))
    return run, list(run.events())


def test_the_best_model_is_kept_with_the_thresholds_that_were_chosen_for_it(finished: tuple[Run, list[Any]]) -> None:
    run, events = finished
    validations = [event for event in events if isinstance(event, ValidationEvent)]
    [tuned] = [event for event in events if isinstance(event, TunedEvent)]
    assert [event.total for event in validations] == [2, 4, 6]
    assert next(event.best for event in validations if event.f1 == run.progress.best)
    assert all(0 <= event.f1 <= event.detection_f1 <= 1 for event in validations)
    kept = read_config(run.folder / "model").tuned
    assert (kept.mention_threshold, kept.score_threshold) == (tuned.threshold, tuned.score_threshold)
    assert tuned.condition is Condition.GIVEN_STRICT  # not the table of gold surfaces, which hides false detections
    again = evaluate(Linker.load(run.folder / "model"), DOCUMENTS, condition=tuned.condition).report
    assert again.linking.inkb.micro.f1 == pytest.approx(tuned.scores.f1)
    assert kept != Tuned()


def test_the_curves_show_every_loss_and_the_validation(finished: tuple[Run, list[Any]]) -> None:
    text = (finished[0].folder / "curves.svg").read_text()
    ElementTree.fromstring(text)
    for word in ("start", "end", "generation", "classifier", "linking", "detection", "step"):
        assert f">{word}<" in text


def test_the_card_tells_data_settings_time_and_scores_but_no_path(finished: tuple[Run, list[Any]]) -> None:
    run, _ = finished
    card = (run.folder / "model" / "README.md").read_text()
    assert str(run.folder.parent) not in card
    assert not re.search(r"(^|[\s\"(])/\w", card, re.MULTILINE)
    for fact in (
        "train.jsonl: 12 documents",
        "15 linked mentions",
        "6 steps",
        '"nil": true',
        "| as it is | ",
        "parlink 0.",
    ):
        assert fact in card


def test_the_log_has_every_step_and_validation(finished: tuple[Run, list[Any]]) -> None:
    run, events = finished
    logged = list(run.log.entries())
    steps = [entry for entry in logged if "losses" in entry]
    assert [entry["total"] for entry in steps] == [1, 2, 3, 4, 5, 6]
    assert [entry["f1"] for entry in logged if "f1" in entry] == [
        e.f1 for e in events if isinstance(e, ValidationEvent)
    ]
    assert steps[0]["losses"].keys() == {"start", "end", "generation", "classifier", "normalizer", "similarity"}


def test_without_validation_the_last_model_is_kept(tmp_path: Path) -> None:
    run = run_of(tiny_config(tmp_path, validation=None))
    list(run.events())
    kept = load_checkpoint(run.folder / "model").model.state_dict()
    assert all(torch.equal(tensor, kept[name]) for name, tensor in run.model.state_dict().items())
    assert "It was not measured." in (run.folder / "model" / "README.md").read_text()


def test_validation_may_be_on_some_of_the_documents(tmp_path: Path) -> None:
    validation = run_of(tiny_config(tmp_path, validation_documents=5)).validation
    assert validation is not None
    assert [doc.id for doc in validation.some] == ["d0", "d2", "d4", "d7", "d9"]
    assert len(validation.documents) == len(DOCUMENTS)


def test_of_models_with_equal_scores_the_one_trained_longest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tiny_config(tmp_path, validate_steps=1))
    scores = iter([Scores(0.5, 0.5, f1) for f1 in (0.2, 0.5, 0.4, 0.5, 0.3, 0.1)])
    monkeypatch.setattr(Validation, "scores", lambda *_: (score := next(scores), score))
    best, weights = [], {}
    for event in run.events():
        if isinstance(event, ValidationEvent):
            best.append(event.best)
            weights[event.total] = run.model.decoder.lstm.weight_hh.detach().clone()
    assert best == [True, True, False, True, False, False]
    assert torch.equal(load_checkpoint(run.folder / "model").model.decoder.lstm.weight_hh, weights[4])


def test_gradients_are_cut_to_the_norm_allowed(tmp_path: Path) -> None:
    """AdamW hardly notices the size of one gradient, so the gradients themselves are looked at."""
    norms = {}
    for allowed in (1e-3, 1e9):
        config = tiny_config(tmp_path, validation=None, clip_norm=allowed, output=str(tmp_path / str(allowed)))
        run = run_of(config)
        next(run.events())
        gradients = [weight.grad for weight in run.model.parameters() if weight.grad is not None]
        norms[allowed] = float(torch.nn.utils.get_total_norm(gradients))
    assert norms[1e-3] == pytest.approx(1e-3, rel=1e-3)
    assert norms[1e9] > 0.1


def test_a_budget_in_minutes_becomes_steps(tmp_path: Path) -> None:
    settings = tiny_settings(tmp_path, validation=None)
    del settings["stages"][0]["steps"]
    settings["stages"][0]["minutes"] = 0.02
    run = run_of(parse(settings, TrainConfig, source="test"))
    before = [parameter.clone() for parameter in run.model.parameters()]
    events = run.events()
    first = next(events)
    assert isinstance(first, StepEvent)
    assert first.planned == run.progress.planned >= 1
    assert any(not torch.equal(old, new) for old, new in zip(before, run.model.parameters(), strict=True))
    events.close()


def test_an_epoch_is_the_length_of_the_first_dataset(tmp_path: Path) -> None:
    settings = tiny_settings(tmp_path, validation=None)
    settings["stages"] = [{"train": settings["stages"][0]["train"] * 2, "epochs": 2}]
    run = run_of(parse(settings, TrainConfig, source="test"))
    next(run.events())
    assert run.progress.planned == 2 * 2 * 12 / 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"negatvies": 1}, "negatvies"),
        ({"batch_size": 0}, "batch_size"),
        ({"natural": 1.5}, "natural"),
        ({"train_tokens": 20}, "train_tokens must be at least 2 max_mention_tokens"),
        ({"stages": []}, "at least one"),
        ({"stages": [{"train": [], "steps": 1}]}, "at least one dataset"),
        ({"stages": [{"train": [{"path": "x"}]}]}, "exactly one of epochs, steps and minutes"),
        ({"stages": [{"train": [{"path": "x"}], "steps": 1, "epochs": 1}]}, "exactly one of"),
        ({"stages": [{"train": [{"path": "x"}], "stesp": 1}]}, "stesp"),
        ({"stages": [{"train": [{"path": "x"}], "steps": 1, "warmup": 1}]}, "warmup_steps .* or warmup_ratio"),
        ({"stages": [{"train": [{"path": "x"}], "steps": 1, "decay": 1}]}, "decay_steps .* or decay_ratio"),
        (
            {"stages": [{"train": [{"path": "x"}], "steps": 1, "warmup_steps": 1, "warmup_ratio": 0.5}]},
            "both warmup_steps and warmup_ratio",
        ),
        ({"ema_decay": 1.0}, "ema_decay"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tiny_config(tmp_path, **changes)


def test_the_command_trains_refuses_to_start_twice_and_resumes(tmp_path: Path) -> None:
    file = tmp_path / "train.toml"
    file.write_text(toml(tiny_settings(tmp_path)))
    command = ["train", str(file), "--set", "seed=3", "--set", 'device="cpu"']
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == [str(tmp_path / "run" / "model")]
    progress = msgspec.json.decode((tmp_path / "run" / "checkpoint" / "progress.json").read_bytes())
    assert progress["config"]["seed"] == 3
    assert "holds a run, saved at step 6" in str(CliRunner().invoke(app, command).exception)
    again = CliRunner().invoke(app, [*command, "--resume"])
    assert again.exit_code == 0, again.output


def test_data_that_is_missing_for_a_later_stage_is_told_at_the_start(tmp_path: Path) -> None:
    stages = tiny_settings(tmp_path)["stages"]
    later = {"train": [{"path": str(tmp_path / "later.jsonl")}], "steps": 1}
    with pytest.raises(ConfigError, match=r"later\.jsonl: is not there; a stage of the config names it"):
        run_of(tiny_config(tmp_path, stages=[*stages, later]))


def test_a_run_that_was_stopped_still_names_all_its_data(tmp_path: Path) -> None:
    first = tiny_settings(tmp_path)["stages"][0]
    jsonl.write(tmp_path / "later.jsonl", DOCUMENTS[:3])
    config = tiny_config(
        tmp_path, stages=[first, first | {"train": [{"path": str(tmp_path / "later.jsonl")}], "steps": 2}]
    )
    events = run_of(config).events()
    for event in events:
        if isinstance(event, StepEvent) and event.stage == 1:
            break
    events.close()
    list(Run(config, initial_checkpoint(config), resume=True).events())
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "train.jsonl: 12 documents" in card and "later.jsonl: 3 documents" in card


def test_titles_of_validation_data_are_those_of_the_knowledge_base(tmp_path: Path) -> None:
    (tmp_path / "redirects.json").write_text('{"Nippon": "Japan"}')
    (tmp_path / "titles.txt").write_text("Japan\nJordan\n")
    options = BuildOptions(redirects=tmp_path / "redirects.json")
    build([tmp_path / "titles.txt"], tmp_path / "kb", options=options)
    jsonl.write(tmp_path / "gold.jsonl", [Document("Japan won.", links=(Link(Span(0, 5), "Nippon"),))])
    config = tiny_config(tmp_path, validation=str(tmp_path / "gold.jsonl"), kb=str(tmp_path / "kb"))
    validation = Validation.load(config)
    assert validation is not None
    assert [link.title for doc in (*validation.documents, *validation.some) for link in doc.links] == ["Japan"] * 2


def test_a_tokenizer_from_scratch_is_the_same_in_every_process(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, encoder="scratch", validation=None)
    script = (
        "import sys, msgspec; from parlink.train_config import TrainConfig;"
        "from parlink.training.scratch import make_tokenizer;"
        "print(make_tokenizer(msgspec.json.decode(sys.argv[1], type=TrainConfig), vocab_size=300).hash)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, msgspec.json.encode(config)], capture_output=True, text=True, check=True
    )
    tokenizer = make_tokenizer(config, vocab_size=300)
    assert done.stdout.strip() == tokenizer.hash
    assert tokenizer.vocab_size == 300
    assert (tokenizer.bos_id, tokenizer.pad_id, tokenizer.eos_id) == (0, 1, 2)


def test_a_run_from_scratch_needs_no_encoder(tmp_path: Path) -> None:
    run = run_of(tiny_config(tmp_path, encoder="scratch", layers=1))
    list(run.events())
    encoder = load_checkpoint(run.folder / "model").model.config.encoder
    assert (encoder.hidden, encoder.layers) == (64, 1)
