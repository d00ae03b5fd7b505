"""Read a Hugging Face style encoder folder: its architecture, and its weights under our names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from parlink.checkpoint.pretrained.config import read_config
from parlink.checkpoint.pretrained.files import encoder_folder, read_json, tokenizer_file, weight_files
from parlink.errors import CheckpointError
from parlink.model_config import EncoderConfig, Family
from parlink.nn.encoder import Encoder
from parlink.nn.weightless import weightless

PREFIXES = ("", "longformer.", "roberta.", "bert.", "distilbert.")
WORDS = "embeddings.word_embeddings.weight"
EMBEDDINGS = {
    "token_embeddings": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
BERT_LAYER = {
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "out": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "up": ("intermediate.dense",),
    "down": ("output.dense",),
    "norm": ("output.LayerNorm",),
}
DISTILBERT_LAYER = {
    "qkv": ("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    "out": ("attention.out_lin",),
    "attention_norm": ("sa_layer_norm",),
    "up": ("ffn.lin1",),
    "down": ("ffn.lin2",),
    "norm": ("output_layer_norm",),
}
OLD_SPELLING = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


class HeadNames(NamedTuple):
    """Where a family stores its masked-LM head."""

    dense: str
    norm: str
    decoder: str
    bias: str  # the decoder's bias, in case it is not stored with the decoder


HEADS: dict[Family, HeadNames] = {
    "longformer": HeadNames("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"),
    "roberta": HeadNames("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"),
    "bert": HeadNames(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        "cls.predictions.decoder",
        "cls.predictions.bias",
    ),
    "distilbert": HeadNames("vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"),
}


@dataclass(frozen=True, slots=True)
class Pretrained:
    """An encoder as it was published.

    Tensors may be views of the file, and a tied output matrix is the word embeddings themselves: copy before changing.
    """

    config: EncoderConfig
    weights: dict[str, Tensor]  # by the names of Encoder's state dict
    head: dict[str, Tensor] | None  # masked-LM head: dense, norm, decoder, each with weight and bias
    tokenizer: Path  # a tokenizer.json


def load_pretrained(name_or_folder: str | Path, *, layers: int | None = None) -> Pretrained:
    """Read an encoder's folder, or one fetched from the hub by name, keeping its first `layers` layers."""
    folder = encoder_folder(name_or_folder)
    settings = read_json(folder / "config.json")
    config = read_config(settings, source=folder / "config.json", layers=layers)
    stored = Stored(weight_files(folder))
    weights = dict(_encoder_weights(config, stored))
    tied = weights["token_embeddings.weight"] if settings.get("tie_word_embeddings", True) else None
    head = _head_weights(config, stored, tied=tied)
    return Pretrained(config, weights, head, tokenizer_file(folder))


class Stored:
    """The tensors of some safetensors files, memory-mapped and read one by one, in float32."""

    def __init__(self, files: list[Path]) -> None:
        self._files: dict[str, tuple[Path, Any]] = {}  # tensor name -> its file, and the file opened
        self._place = ", ".join(str(path) for path in files)
        for path in files:
            opened = _open(path)
            self._files.update((name, (path, opened)) for name in opened.keys())  # noqa: SIM118 (no mapping)

    def __contains__(self, name: str) -> bool:
        return self._spelling(name) in self._files

    def read(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Read one tensor, which must have this shape."""
        name = self._spelling(name)
        if name not in self._files:
            raise CheckpointError(f"{self._place}: has no tensor {name!r}, which config.json asks for")
        path, opened = self._files[name]
        got = tuple(opened.get_slice(name).get_shape())
        if got != shape:
            raise CheckpointError(f"{path}: {name!r} has shape {got}, but config.json asks for {shape}")
        tensor: Tensor = opened.get_tensor(name)
        return tensor.float()

    def _spelling(self, name: str) -> str:
        """The first BERTs call a LayerNorm's weight gamma and its bias beta."""
        for new, old in OLD_SPELLING.items():
            older = name.replace(new, old)
            if name not in self._files and older in self._files:
                return older
        return name


def _open(path: Path) -> Any:
    try:
        return safe_open(path, framework="pt")
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: missing; an encoder's folder needs this file") from error
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"{path}: truncated or no safetensors file ({error}); download or copy it again"
        ) from error


def _encoder_weights(config: EncoderConfig, stored: Stored) -> Iterator[tuple[str, Tensor]]:
    with weightless():
        wanted = Encoder(config, window=0, dropout=0.0).state_dict()
    prefix = next((prefix for prefix in PREFIXES if prefix + WORDS in stored), "")
    for name, like in wanted.items():
        shape = tuple(like.shape)
        if name == "types.weight":  # we have but the row of type 0
            yield name, stored.read(prefix + _source(config, name)[0], (config.token_types, config.hidden))[:1]
            continue
        sources = _source(config, name)
        part = (shape[0] // len(sources), *shape[1:])
        tensors = [stored.read(prefix + source, part) for source in sources]
        yield name, tensors[0] if len(tensors) == 1 else torch.cat(tensors)


def _source(config: EncoderConfig, name: str) -> list[str]:
    """Give the published names of a tensor of ours; several are its parts, to be joined."""
    module, kind = name.rsplit(".", 1)
    if not module.startswith("layers."):
        return [f"{EMBEDDINGS[module]}.{kind}"]
    _, number, part = module.split(".")
    if config.family == "distilbert":
        return [f"transformer.layer.{number}.{source}.{kind}" for source in DISTILBERT_LAYER[part]]
    return [f"encoder.layer.{number}.{source}.{kind}" for source in BERT_LAYER[part]]


def _head_weights(config: EncoderConfig, stored: Stored, *, tied: Tensor | None) -> dict[str, Tensor] | None:
    names = HEADS[config.family]
    if f"{names.dense}.weight" not in stored:
        return None
    width, vocabulary = config.hidden, config.vocab_size
    bias = f"{names.decoder}.bias"
    matrix = f"{names.decoder}.weight"
    return {
        "dense.weight": stored.read(f"{names.dense}.weight", (width, width)),
        "dense.bias": stored.read(f"{names.dense}.bias", (width,)),
        "norm.weight": stored.read(f"{names.norm}.weight", (width,)),
        "norm.bias": stored.read(f"{names.norm}.bias", (width,)),
        "decoder.weight": tied
        if tied is not None and matrix not in stored
        else stored.read(matrix, (vocabulary, width)),
        "decoder.bias": stored.read(bias if bias in stored else names.bias, (vocabulary,)),
    }
