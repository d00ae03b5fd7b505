"""A model folder with weights for torch: config.json, model.safetensors, tokenizer.json and the model card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from parlink.checkpoint.config_file import FORMAT, ConfigFile, check_sizes, read_config, write_config
from parlink.checkpoint.quantize import Bits, dequantize, quantize
from parlink.checkpoint.recovery import finish, replacing
from parlink.config import Tuned
from parlink.errors import CheckpointError
from parlink.kb.info import File, sha256_of
from parlink.nn.model import LinkingModel
from parlink.nn.weightless import weightless
from parlink.text.tokenizer import Tokenizer

CHECKED = ("model.safetensors", "tokenizer.json")  # their sizes when a folder is opened, the rest by `verify`
EMBEDDINGS = "encoder.token_embeddings.weight"
TIED = "decoder.head.decoder.weight"  # to the embeddings, if the config says so
# What format 1 called the same.
OLD_WEIGHTS = {"encoder.words.": "encoder.token_embeddings."}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model with what it needs to read text, and the values tuned for it."""

    model: LinkingModel
    tokenizer: Tokenizer
    tuned: Tuned


def save_checkpoint(folder: Path | str, checkpoint: Checkpoint, *, card: str) -> None:
    """Write a model folder, under a temporary name first."""
    with replacing(folder) as temporary:
        write_checkpoint(temporary, checkpoint, card=card)


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, card: str, bits: Bits = 32, word_bits: Bits = 32) -> None:
    """Write the files of a model into a folder that is there."""
    save_weights(folder / "model.safetensors", checkpoint.model, bits=bits, word_bits=word_bits)
    checkpoint.tokenizer.save(folder / "tokenizer.json")
    (folder / "README.md").write_text(card)
    files = {name: File((folder / name).stat().st_size, sha256_of(folder / name)) for name in CHECKED}
    config = ConfigFile(format=FORMAT, model=checkpoint.model.config, tuned=checkpoint.tuned, files=files)
    write_config(folder, config)


def load_checkpoint(folder: Path | str) -> Checkpoint:
    """Open a model folder."""
    folder = Path(folder)
    finish(folder)
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: no such model folder; give a folder made by `parlink train`")
    if (folder / "onnx").is_dir() and not (folder / "model.safetensors").exists():
        raise CheckpointError(f"{folder}: holds graphs for onnxruntime and no weights; load it with runtime='onnx'")
    config = read_config(folder)
    check_sizes(folder, config)
    with weightless():
        model = LinkingModel(config.model)
    load_weights(folder / "model.safetensors", model)
    return Checkpoint(model.eval(), Tokenizer.load(folder / "tokenizer.json"), config.tuned)


def save_weights(path: Path, model: LinkingModel, *, bits: Bits = 32, word_bits: Bits = 32) -> None:
    """Write all weights of a model, a tied matrix once; tables of embeddings may be narrower than the rest."""
    weights = model.state_dict()
    if model.config.tie_output:
        del weights[TIED]
    save_tensors(path, quantize(weights, lambda name: word_bits if name in (EMBEDDINGS, TIED) else bits))


def save_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors to a file that is open to whoever may open its folder; safetensors shuts others out."""
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, metadata={"format": "pt"})
    path.chmod(path.parent.stat().st_mode & 0o666)


def load_weights(path: Path, model: LinkingModel, *, assign: bool = True) -> None:
    """Put the weights of a file into a model, after checking names and shapes.

    `assign` makes them the model's own tensors, as a model on the meta device needs; else they are copied.
    """
    try:
        weights = dequantize(_with_new_names(load_file(path)))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: missing; a model folder needs this file") from error
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); it is truncated or no safetensors file") from error
    wanted = model.state_dict()
    if model.config.tie_output:
        weights[TIED] = weights.get(EMBEDDINGS, torch.empty(0))
    for name, tensor in wanted.items():
        if name not in weights:
            raise CheckpointError(f"{path}: has no {name!r}, which config.json asks for")
        if weights[name].shape != tensor.shape:
            got, want = tuple(weights[name].shape), tuple(tensor.shape)
            raise CheckpointError(f"{path}: {name!r} has shape {got}, but config.json asks for {want}")
    unknown = sorted(weights.keys() - wanted.keys())
    if unknown:
        raise CheckpointError(f"{path}: holds {unknown[0]!r}, which the model of config.json does not have")
    model.load_state_dict(weights, assign=assign)
    if assign and model.config.tie_output:
        model.decoder.head.decoder.weight = model.encoder.token_embeddings.weight


def _with_new_names(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    for old, new in OLD_WEIGHTS.items():
        weights = {name.replace(old, new, 1) if name.startswith(old) else name: w for name, w in weights.items()}
    return weights
