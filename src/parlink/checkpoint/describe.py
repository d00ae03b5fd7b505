"""What a model, or the model that a config would make, consists of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from parlink.checkpoint.folder import read_config, trained_folder
from parlink.checkpoint.pretrained.weights import load_pretrained
from parlink.config import SCRATCH, SCRATCH_SIZES, EncoderConfig, ModelConfig, TrainConfig, parse, read_toml
from parlink.errors import ConfigError
from parlink.nn.model import LinkingModel, count_parameters
from parlink.nn.weightless import weightless
from parlink.text.tokenizer import Tokenizer


def describe(source: Path | str, *, layers: int | None = None) -> dict[str, Any]:
    """Sizes and number of parameters by part, of a model folder or of a training config; no weight is read."""
    config = _config_of_run(Path(source), layers) if Path(source).suffix == ".toml" else read_config(source).model
    with weightless():
        model = LinkingModel(config)
    return {"model": msgspec.to_builtins(config), "parameters": count_parameters(model)}


def _config_of_run(path: Path, layers: int | None) -> ModelConfig:
    config = parse(read_toml(path), TrainConfig, source=str(path))
    wanted = layers or config.layers
    if (trained := trained_folder(config.encoder)) is not None:
        known = read_config(trained).model
        return config.model(known.encoder, bos_id=known.bos_id, eos_id=known.eos_id)
    sizes = config.architecture or (SCRATCH_SIZES if config.encoder == SCRATCH else None)
    if sizes is None:
        pretrained = load_pretrained(config.encoder, layers=wanted)
        tokenizer = Tokenizer.load(pretrained.tokenizer)
        return config.model(pretrained.config, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id)
    return config.model(_with_layers(sizes, wanted), bos_id=0, eos_id=2)


def _with_layers(encoder: EncoderConfig, layers: int | None) -> EncoderConfig:
    if layers is None:
        return encoder
    if not 0 < layers <= encoder.layers:
        raise ConfigError(f"the encoder has {encoder.layers} layers, cannot keep {layers}; give 1 to {encoder.layers}")
    return msgspec.structs.replace(encoder, layers=layers)
