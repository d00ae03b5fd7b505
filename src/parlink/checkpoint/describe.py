"""What a model, or the model that a config would make, consists of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from parlink.checkpoint.config_file import read_config, trained_folder
from parlink.checkpoint.pretrained.config import read_config as read_encoder_config
from parlink.checkpoint.pretrained.files import encoder_folder, read_json, tokenizer_file
from parlink.errors import ConfigError
from parlink.model_config import EncoderConfig, ModelConfig
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.weightless import weightless
from parlink.settings import parse, read_toml
from parlink.text.tokenizer import Tokenizer
from parlink.train_config import SCRATCH, SCRATCH_SIZES, TrainConfig


def describe(source: Path | str, *, layers: int | None = None) -> dict[str, Any]:
    """Sizes and number of parameters by part, of a model folder or of a training config; no weight is read.

    With `layers`, as if only so many layers of the encoder were kept.
    """
    if Path(source).suffix == ".toml":
        job = parse(read_toml(source), TrainConfig, source=str(source))
        config, layers = _model_of(job), layers or job.layers
    else:
        config = read_config(source).model
    config = msgspec.structs.replace(config, encoder=_with_layers(config.encoder, layers))
    with weightless():
        model = LinkingModel(config)
    return {"model": msgspec.to_builtins(config), "parameters": count_parameters(model)}


def _model_of(config: TrainConfig) -> ModelConfig:
    """The model that a run would make, with all layers of its encoder."""
    if (trained := trained_folder(config.encoder)) is not None:
        known = read_config(trained).model
        made = config.model(known.encoder, bos_id=known.bos_id, eos_id=known.eos_id)
        return made if config.tie_output is not None else msgspec.structs.replace(made, tie_output=known.tie_output)
    sizes = config.architecture or (SCRATCH_SIZES if config.encoder == SCRATCH else None)
    if sizes is not None:
        return config.model(sizes, bos_id=0, eos_id=2)
    folder = encoder_folder(config.encoder)
    sizes = read_encoder_config(read_json(folder / "config.json"), source=folder / "config.json")
    tokenizer = Tokenizer.load(tokenizer_file(folder))
    return config.model(sizes, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id)


def _with_layers(encoder: EncoderConfig, layers: int | None) -> EncoderConfig:
    if layers is None:
        return encoder
    if not 0 < layers <= encoder.layers:
        raise ConfigError(f"the encoder has {encoder.layers} layers, cannot keep {layers}; give 1 to {encoder.layers}")
    return msgspec.structs.replace(encoder, layers=layers)
