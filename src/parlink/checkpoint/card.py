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

from parlink.checkpoint.folder import ConfigFile
from parlink.config import SCRATCH, TrainConfig
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.weightless import weightless

TEMPLATE = """---
library_name: parlink
tags:
- entity-linking
---
# {name}

A [parlink](https://arxiv.org/abs/2109.03792) model: it finds the mentions in a text and links each to an entity.

```python
from parlink import Linker

linker = Linker.load("{name}", kb="KB_FOLDER")
print(linker.link("A text.").links)
```

## What it was made from

- Encoder: {encoder}, {layers} layers; {parameters:,} parameters in all.
{data}
- Training: {steps:,} steps in {minutes:.0f} minutes on {device}, finished {date}.
- Made by parlink {version}{commit}.

## How well it does

{scores}

## Settings

What is not listed has its default.

```json
{settings}
```
"""
SCORES = """InKB micro scores in percent on {data}, {documents} documents with {linked} linked mentions. {explanation}
The model and its thresholds ({thresholds}) were chosen on this very data: expect less on other text.

| text | linking F1 | P | R | detection F1 | right entity for a given mention |
|---|---|---|---|---|---|
{rows}"""
PATHS = frozenset({"output", "encoder", "validation", "kb", "path"})


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


def model_card(training: Training, model: ConfigFile, scores: Scores | None) -> str:
    """Fill in the card; `scores` are those on the validation data."""
    config = training.config
    with weightless():
        parameters = count_parameters(LinkingModel(model.model))["total"]
    known = commit()
    return TEMPLATE.format(
        name=_last(config.output),
        encoder="trained from random weights" if config.encoder == SCRATCH else _last(config.encoder),
        layers=model.model.encoder.layers,
        parameters=parameters,
        data="\n".join(f"- Data: {_last(path)}: {_listed(sizes)}." for path, sizes in training.data.items()),
        steps=training.steps,
        minutes=training.seconds / 60,
        device=training.device,
        date=datetime.now(UTC).date().isoformat(),
        version=version("parlink"),
        commit=f", commit {known}" if known else "",
        scores="It was not measured." if scores is None else _scores(_last(config.validation or ""), model, scores),
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


def _scores(data: str, model: ConfigFile, scores: Scores) -> str:
    least = "none" if model.tuned.score_threshold is None else f"{model.tuned.score_threshold:.3g}"
    return SCORES.format(
        data=data,
        documents=f"{scores.documents:,}",
        linked=f"{scores.linked:,}",
        explanation=scores.explanation,
        thresholds=f"{model.tuned.mention_threshold:g} on detection, {least} on the score",
        rows="\n".join(_row(form, values) for form, values in scores.rows.items()),
    )


def _row(form: str, values: Sequence[float]) -> str:
    return " | ".join([f"| {form}", *(f"{100 * value:.1f}" for value in values)]) + " |"


def _listed(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sizes.items())


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
