"""A run survives: killed, stopped, out of disk or changed behind its back."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from safetensors.torch import load_file

from parlink.data import jsonl
from parlink.errors import CheckpointError, ConfigError, ParlinkError, TrainingError
from parlink.train_config import TrainConfig
from parlink.training.events import StepEvent
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.training.state import load_state, read_progress, save_state
from parlink.types import Document
from tiny_training import tiny_config, tiny_settings

Weights = dict[str, torch.Tensor]
STAGES = (
    {"steps": 7, "warmup_ratio": 0.5, "decay_ratio": 1},
    {"epochs": 1.5, "warmup_steps": 2, "decay_steps": 20, "learning_rate": 5e-4},
)


def two_stages(folder: Path, **changes: Any) -> dict[str, Any]:
    settings = tiny_settings(folder, validate_steps=4, checkpoint_minutes=0, **changes)
    train = settings["stages"][0]["train"]
    return settings | {"stages": [{"train": train, **stage} for stage in STAGES]}


def new_run(config: TrainConfig, *, resume: bool = False) -> Run:
    return Run(config, initial_checkpoint(config), resume=resume)


def weights_of(run: Run) -> Weights:
    return {name: tensor.clone() for name, tensor in run.model.state_dict().items()}


def assert_same(ours: Weights, theirs: Weights, *, within: float = 1e-6) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], atol=within, rtol=0, msg=lambda m, n=name: f"{n}: {m}")


def steps(run: Run, count: int) -> None:
    """Let a run do some steps, then leave it, as `break` does."""
    events = run.events()
    for event in events:
        if isinstance(event, StepEvent) and event.total == count:
            break
    events.close()


def logged(run: Run) -> list[dict[str, Any]]:
    timeless = ("seconds", "tokens_per_second")
    return [{k: v for k, v in entry.items() if k not in timeless} for entry in run.log.entries()]


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> None:
    """A shell that starts this in the background has SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of two stages that nothing has stopped."""
    run = new_run(msgspec.convert(two_stages(tmp_path_factory.mktemp("whole")), TrainConfig))
    list(run.events())
    return run


def assert_same_run(run: Run, whole: Run) -> None:
    """Weights, the log, the best score and the model that is kept are those of the unbroken run."""
    assert_same(weights_of(run), weights_of(whole))
    assert logged(run) == logged(whole)
    assert run.progress.best == whole.progress.best
    kept, wanted = (load_file(one.folder / "model" / "model.safetensors") for one in (run, whole))
    assert_same(kept, wanted)


KILLED_SCRIPT = """
import os, signal, sys
import msgspec
from parlink.train_config import TrainConfig
from parlink.data import jsonl
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run

config = msgspec.json.decode(sys.argv[1], type=TrainConfig)
run = Run(config, initial_checkpoint(config))
run.optimizer.register_step_post_hook(lambda *_: run.progress.total == 8 and os.kill(os.getpid(), signal.SIGKILL))
list(run.events())
"""


def test_a_killed_run_goes_on_to_the_same_weights_as_an_unbroken_one(tmp_path: Path, whole: Run) -> None:
    settings = two_stages(tmp_path)
    command = [sys.executable, "-c", KILLED_SCRIPT, json.dumps(settings)]
    broken = subprocess.run(command, capture_output=True, text=True)
    assert broken.returncode == -signal.SIGKILL, broken.stderr
    assert read_progress(tmp_path / "run" / "checkpoint").total == 8  # the ninth step was not saved
    resumed = new_run(msgspec.convert(settings, TrainConfig), resume=True)
    list(resumed.events())
    assert_same_run(resumed, whole)


@pytest.mark.parametrize("stop", [1, 4, 7, 9])
def test_a_run_that_is_left_at_any_step_goes_on_to_the_same_weights(tmp_path: Path, whole: Run, stop: int) -> None:
    config = msgspec.convert(two_stages(tmp_path) | {"checkpoint_minutes": 60}, TrainConfig)
    first = new_run(config)
    steps(first, stop)
    assert read_progress(first.folder / "checkpoint").total == stop
    resumed = new_run(config, resume=True)
    list(resumed.events())
    assert [entry["total"] for entry in resumed.log.entries() if "f1" in entry] == [4, 7, 11, 12]
    assert_same_run(resumed, whole)


def test_ctrl_c_while_the_weights_change_waits_for_the_step_to_end(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    run, plain = new_run(config), new_run(msgspec.structs.replace(config, output=str(tmp_path / "plain")))
    run.optimizer.register_step_pre_hook(_interrupt_at(3, run))
    with pytest.raises(KeyboardInterrupt):
        list(run.events())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    steps(plain, 3)
    saved = read_progress(run.folder / "checkpoint")
    assert saved.step == saved.total == 3
    assert_same(load_file(run.folder / "checkpoint" / "model-3.safetensors"), weights_of(plain))


def test_ctrl_c_while_the_gradients_are_made_leaves_the_step_before(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    run = new_run(config)
    run.model.decoder.register_full_backward_pre_hook(_interrupt_at(3, run))
    run.model.detector.start.register_full_backward_pre_hook(_interrupt_at(3, run))
    with pytest.raises(KeyboardInterrupt):
        list(run.events())
    assert read_progress(run.folder / "checkpoint").total == 2
    list(new_run(config, resume=True).events())


def test_a_second_ctrl_c_waits_until_the_state_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(tiny_config(tmp_path, validation=None))
    events, sync = run.events(), os.fsync
    next(events)

    def interrupted(file: int) -> None:
        signal.raise_signal(signal.SIGINT)
        sync(file)

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        events.throw(KeyboardInterrupt)
    assert read_progress(run.folder / "checkpoint").total == run.progress.total > 0


def _interrupt_at(step: int, run: Run) -> Any:
    def interrupt(*_: object) -> None:
        if run.progress.total + 1 == step:
            signal.raise_signal(signal.SIGINT)

    return interrupt


class KilledError(BaseException):
    """Stands for a kill: nothing may be tidied up after it."""


@pytest.mark.parametrize("fatal", range(3))
def test_a_kill_between_any_two_renames_leaves_one_good_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    config = tiny_config(tmp_path, validation=None)
    run = new_run(config)
    folder = run.folder / "checkpoint"
    steps(run, 2)
    before = weights_of(run)
    events = run.events()
    next(events)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", _killed_after(fatal))
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(KilledError):
            save_state(folder, run.model, run.optimizer, run.progress, average=run.average)
    again = initial_checkpoint(config)
    tokenizer = run.tokenizer.hash
    kept = load_state(folder, again.model, run.optimizer, config, windows=4, tokenizer=tokenizer, average=run.average)
    assert kept.total == 2
    assert_same(dict(again.model.state_dict()), before)
    events.close()  # saves the third step again
    wanted = {"progress.json", "model-3.safetensors", "optimizer-3.safetensors"}
    assert {path.name for path in folder.iterdir()} == wanted


def test_what_a_run_killed_after_its_last_checkpoint_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    list(new_run(config).events())
    folder = tmp_path / "run" / "checkpoint"
    wanted = {path.name for path in folder.iterdir()}
    (folder / "model-1.safetensors").write_bytes(b"the weights before")
    list(new_run(config, resume=True).events())
    assert {path.name for path in folder.iterdir()} == wanted


def _killed_after(count: int) -> Any:
    replace, done = Path.replace, 0

    def until_killed(path: Path, target: Path) -> Path:
        nonlocal done
        if done == count:
            raise KilledError
        done += 1
        return replace(path, target)

    return until_killed


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """No file may grow over `size`; writing on fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("validated", [False, True])
def test_a_full_disk_stops_the_run_and_keeps_the_last_checkpoint(tmp_path: Path, validated: bool) -> None:
    settings = tiny_settings(tmp_path, checkpoint_minutes=0, validate_steps=3)
    config = msgspec.convert(settings | ({} if validated else {"validation": None}), TrainConfig)
    run = new_run(config)
    events = run.events()
    while run.progress.total < 3:
        next(events)
    with disk_with_room_for(50_000), pytest.raises(ParlinkError, match="cannot be written"):
        list(events)
    saved = read_progress(run.folder / "checkpoint").total
    assert saved == 2
    assert not list(run.folder.rglob("*.partial"))
    resumed = new_run(config, resume=True)
    list(resumed.events())
    assert resumed.progress.total == 6


def test_divergence_stops_the_run_names_the_batch_and_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None, checkpoint_minutes=0)
    run = new_run(config)
    steps(run, 2)
    with torch.no_grad():
        run.model.detector.start[2].weight.fill_(torch.nan)
    with pytest.raises(TrainingError, match=r"step 3: the loss has diverged.*documents of the batch: d\d") as caught:
        list(run.events())
    assert str(run.folder / "checkpoint") in str(caught.value)
    assert read_progress(run.folder / "checkpoint").total == 2
    resumed = new_run(config, resume=True)
    list(resumed.events())
    assert resumed.progress.total == 6


def test_a_loss_that_is_finite_but_far_above_guessing_is_divergence(tmp_path: Path) -> None:
    run = new_run(tiny_config(tmp_path, validation=None))
    run.progress = run.progress.moved(mean_loss=1000.0)
    with pytest.raises(TrainingError, match="its mean of late is 1e\\+03, worse than guessing"):
        next(run.events())


def test_a_new_run_does_not_overwrite_an_old_one(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    steps(new_run(config), 1)
    with pytest.raises(ConfigError, match="saved at step 1; go on with --resume"):
        new_run(config)


def test_resume_without_a_checkpoint_starts_at_the_beginning(tmp_path: Path) -> None:
    run = new_run(tiny_config(tmp_path, validation=None), resume=True)
    assert run.progress.total == 0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 5}, "seed = 0, the config says 5"),
        ({"negatives": 3}, "negatives = 2, the config says 3"),
        ({"batch_size": 8}, "batch_size = 4, the config says 8"),
        ({"stages.learning_rate": 0.5}, r"stages\[0\].learning_rate = 0.001, the config says 0.5"),
        ({"stages.steps": 9}, r"stages\[0\].steps = 6, the config says 9"),
    ],
)
def test_a_changed_config_is_refused_by_the_name_of_the_key(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    settings = tiny_settings(tmp_path, validation=None)
    steps(new_run(msgspec.convert(settings, TrainConfig)), 1)
    for key, value in changes.items():
        if key.startswith("stages."):
            settings["stages"][0][key.removeprefix("stages.")] = value
        else:
            settings[key] = value
    with pytest.raises(ConfigError, match=named):
        new_run(msgspec.convert(settings, TrainConfig), resume=True)


def test_data_that_has_changed_is_refused(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    steps(new_run(config), 1)
    jsonl.write(tmp_path / "train.jsonl", [Document("Quite other words.")])
    with pytest.raises(ConfigError, match=r"train\.jsonl: has changed since the run began"):
        new_run(config, resume=True)


def test_a_run_whose_data_do_not_fit_into_the_buffer_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """The buffer holds three documents, and the stop is in the middle of a pool, far from where the epoch began."""
    stage = tiny_settings(tmp_path)["stages"][0] | {"steps": 42}
    train = [*stage["train"], stage["train"][0] | {"swap": 0.5, "weight": 0.5}]
    changes: dict[str, Any] = {
        "shuffle_megabytes": 0.001,
        "validate_steps": 21,
        "accumulate": 2,
        "batch_size": 2,
        "ema_decay": 0.9,
        "attention_dropout": 0.2,
        "stages": [stage | {"train": train}],
    }
    whole = new_run(tiny_config(tmp_path, **changes, output=str(tmp_path / "whole")))
    list(whole.events())
    config = tiny_config(tmp_path, **changes)
    cursors = []
    for stop in (5, 32, 33, 40):
        steps(new_run(config, resume=True), stop)
        cursors += read_progress(tmp_path / "run" / "checkpoint").cursors
    assert any(cursor.epoch > 1 and cursor.line > 0 for cursor in cursors)
    resumed = new_run(config, resume=True)
    list(resumed.events())
    assert_same_run(resumed, whole)
    assert_same(resumed.average.weights, whole.average.weights)


def test_a_tokenizer_made_from_other_data_is_refused(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None, encoder="scratch")
    steps(new_run(config), 1)
    jsonl.write(tmp_path / "train.jsonl", [Document("Quite other words, and quince jam for tea.")])
    with pytest.raises(ConfigError, match="another tokenizer; has the data changed"):
        new_run(config, resume=True)


def test_what_does_not_change_the_weights_may_change(tmp_path: Path) -> None:
    steps(new_run(tiny_config(tmp_path, validation=None)), 1)
    config = tiny_config(tmp_path, validation=None, log_steps=7, checkpoint_minutes=9)
    assert new_run(config, resume=True).progress.total == 1


@pytest.mark.parametrize("name", ["progress.json", "model-1.safetensors", "optimizer-1.safetensors"])
def test_a_broken_checkpoint_is_named(tmp_path: Path, name: str) -> None:
    config = tiny_config(tmp_path, validation=None)
    run = new_run(config)
    steps(run, 1)
    file = run.folder / "checkpoint" / name
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(CheckpointError, match=name):
        new_run(config, resume=True)


def test_a_log_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    run = new_run(config)
    steps(run, 2)
    with run.log.path.open("ab") as file:
        file.write(b'{"stage": 0, "st')
    assert [entry["total"] for entry in new_run(config, resume=True).log.entries()] == [1, 2]
