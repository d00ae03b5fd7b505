"""The model card: what a model was made from and how well it does, as the README.md of its folder."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from parlink.checkpoint.config_file import ConfigFile
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.weightless import weightless
from parlink.pages import render
from parlink.train_config import SCRATCH, TrainConfig

PATHS = frozenset({"output", "encoder", "validation", "kb", "path", "description_file"})


@dataclass(frozen=True, slots=True)
class Training:
    """A training run that is over."""

    config: TrainConfig
    data: Mapping[str, Mapping[str, int]]  # path of a dataset -> what it holds
    steps: int
    seconds: float
    device: str


@dataclass(frozen=True, slots=True)
class Scores:
    """How well a model does on its validation data."""

    documents: int
    linked: int  # gold mentions with an entity
    explanation: str  # of where candidates came from
    rows: Mapping[str, Sequence[float]]  # form of the text -> linking F1, P, R, detection F1, disambiguation F1


@dataclass(frozen=True, slots=True)
class Weakness:
    """A text on which the model is wrong, and what it says there."""

    text: str
    wrong: str


def model_card(
    training: Training, model: ConfigFile, scores: Scores | None, *, weaknesses: Sequence[Weakness] = ()
) -> str:
    """Fill in the card; `scores` are those on the validation data, `weaknesses` what the model is bad at."""
    config = training.config
    with weightless():
        parameters = count_parameters(LinkingModel(model.model))["total"]
    return render(
        "model_card.md",
        name=_last(config.output),
        encoder="trained from random weights" if config.encoder == SCRATCH else _last(config.encoder),
        model=model,
        parameters=parameters,
        data={_last(path): sizes for path, sizes in training.data.items()},
        training=training,
        date=datetime.now(UTC).date().isoformat(),
        version=version("parlink"),
        commit=commit(),
        validation=_last(config.validation or ""),
        scores=scores,
        weaknesses=weaknesses,
        settings=msgspec.json.format(msgspec.json.encode(dict(_settings(config))), indent=2).decode(),
    )


def commit() -> str | None:
    """The commit of parlink's own source, where it is run from a checkout."""
    file = Path(__file__)
    return _git(file, "ls-files", "--error-unmatch", file.name) and _git(file, "describe", "--always", "--dirty")


def _git(file: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=file.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # no git, or no checkout
        return None
    return done.stdout.strip() or None


def _last(path: str) -> str:
    """The last part of a path, as the rest says nothing elsewhere; a name on the hub stays whole."""
    return path if path.count("/") == 1 and not Path(path).exists() else Path(path).name


def _settings(struct: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """The settings that are not at their default, paths cut to their last part."""
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        if value == field.default:
            continue
        yield field.name, _last(value) if field.name in PATHS else _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return dict(_settings(value))
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
