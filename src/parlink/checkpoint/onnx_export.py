"""Write a model as graphs for onnxruntime, and its tables as arrays that can be mapped (`checkpoint.onnx_folder`)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F

from parlink.checkpoint.config_file import FORMAT, ConfigFile, write_config
from parlink.checkpoint.folder import Checkpoint
from parlink.checkpoint.onnx_folder import FOLDER
from parlink.checkpoint.quantize import SCALE, Bits, dequantize, quantize
from parlink.errors import CheckpointError
from parlink.kb.info import File, sha256_of
from parlink.nn.exportable import (
    CorrectionGraph,
    EncoderGraph,
    EndGraph,
    EntityGraph,
    MentionGraph,
    QueryGraph,
    StepGraph,
)
from parlink.nn.model import LinkingModel
from parlink.text.attention_plan import plan_attention


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a graph: an example, and the names of its axes; those without one have a fixed size."""

    name: str
    example: Tensor
    axes: tuple[str | None, ...]


def write_onnx(folder: Path, checkpoint: Checkpoint, *, card: str, word_bits: Bits | None = None) -> None:
    """Write the files of a model into a folder that is there; `word_bits` None: the fewest that change no word."""
    place = folder / FOLDER
    place.mkdir()
    model = checkpoint.model.eval()
    write_graphs(place, model)
    _write_tables(place, model, word_bits)
    checkpoint.tokenizer.save(folder / "tokenizer.json")
    (folder / "README.md").write_text(card)
    paths = [folder / "tokenizer.json", *sorted(place.iterdir())]
    files = {str(path.relative_to(folder)): File(path.stat().st_size, sha256_of(path)) for path in paths}
    write_config(folder, ConfigFile(format=FORMAT, model=model.config, tuned=checkpoint.tuned, files=files))


def write_graphs(place: Path, model: LinkingModel) -> None:
    """Trace every graph of `nn.exportable` and write it."""
    for name, (module, inputs, outputs) in _graphs(model).items():
        path = place / f"{name}.onnx"
        _trace(path, module.eval(), inputs, outputs)


def _graphs(model: LinkingModel) -> dict[str, tuple[nn.Module, list[Input], list[str]]]:
    hidden = model.config.encoder.hidden
    plan = plan_attention([3, 2], window=model.config.window, front=model.encoder.front)
    blocks, tokens = ("blocks", "reads", "seen"), Input("states", torch.randn(5, hidden), ("tokens", None))
    graphs: dict[str, tuple[nn.Module, list[Input], list[str]]] = {
        "encoder": (
            EncoderGraph(model),
            [
                Input("words", torch.randn(5, hidden), ("tokens", None)),
                Input("place", torch.from_numpy(plan.place), ("tokens",)),
                Input("queries", torch.from_numpy(plan.queries), blocks[:2]),
                Input("keys", torch.from_numpy(plan.keys), ("blocks", "seen")),
                Input("visible", torch.from_numpy(plan.visible.copy()), blocks),
                Input("back", torch.from_numpy(plan.back), ("tokens",)),
            ],
            ["states", "starts"],
        ),
        "ends": (
            EndGraph(model),
            [tokens, _numbers("first", "mentions", 3), Input("last", torch.ones(3, 2).long(), ("mentions", "ends"))],
            ["logits"],
        ),
        "mentions": (
            MentionGraph(model),
            [tokens, _numbers("first", "mentions", 3), _numbers("last", "mentions", 3)],
            ["hidden", "cell", "vector", "gates"],
        ),
        "step": (
            StepGraph(model),
            [
                Input("words", torch.randn(4, hidden), ("distinct", None)),
                *(_numbers(name, "nodes", 6) for name in ("word", "above", "owner")),
                Input("hidden", torch.randn(5, hidden), ("before", None)),
                Input("cell", torch.randn(5, hidden), ("before", None)),
                Input("gates", torch.randn(3, 4 * hidden), ("mentions", None)),
            ],
            ["next_hidden", "next_cell", "features"],
        ),
        "correction": (
            CorrectionGraph(model),
            [
                Input("vector", torch.randn(3, hidden), ("mentions", None)),
                _numbers("owner", "names", 4),
                Input("cell", torch.randn(4, hidden), ("names", None)),
            ],
            ["logits"],
        ),
    }
    if model.similarity is not None:
        known = ("first", "last", "document")
        mentions = [Input(name, torch.randn(3, hidden), ("mentions", None)) for name in known]
        entities = [Input(name, torch.randn(3, hidden), ("entities", None)) for name in ("title", "description")]
        graphs["queries"] = (QueryGraph(model.similarity), mentions, ["vectors"])
        graphs["entities"] = (EntityGraph(model.similarity), entities, ["vectors"])
    return graphs


def _numbers(name: str, axis: str, count: int) -> Input:
    return Input(name, torch.arange(count) % 2, (axis,))


def _trace(path: Path, module: nn.Module, inputs: Sequence[Input], outputs: Sequence[str]) -> None:
    dims = {axis: Dim(axis) for each in inputs for axis in each.axes if axis is not None}
    shapes = {
        each.name: {number: dims[axis] for number, axis in enumerate(each.axes) if axis is not None} for each in inputs
    }
    try:
        with torch.no_grad(), _quiet():
            torch.onnx.export(
                module,
                kwargs={each.name: each.example for each in inputs},
                f=str(path),
                input_names=[each.name for each in inputs],
                output_names=list(outputs),
                dynamic_shapes=shapes,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
    except ImportError as error:
        raise CheckpointError(f"{path.name}: graphs need an extra: pip install 'parlink[onnx]' ({error})") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter warns of its own workings, and logs that torchvision is missing."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _write_tables(place: Path, model: LinkingModel, bits: Bits | None) -> None:
    tables = {"words": model.encoder.token_embeddings.weight.detach()}
    if not model.config.tie_output:
        tables["output"] = model.decoder.head.decoder.weight.detach()
    for name, table in tables.items():
        for part, array in _pack(name, table, bits).items():
            np.save(place / f"{part.replace(SCALE, '_scale')}.npy", array.numpy())
    if model.similarity is not None:
        np.save(place / "word_weight.npy", F.softplus(model.similarity.word_weight.detach()).numpy())
        np.save(place / "center.npy", model.similarity.center.detach().numpy())
        np.save(place / "rarity.npy", model.similarity.rarity.detach().numpy())
    if model.sentence is not None:
        project = model.sentence.project
        np.save(place / "sentence_weight.npy", project.weight.detach().numpy())
        np.save(place / "sentence_bias.npy", project.bias.detach().numpy())
        np.save(place / "sentence_strength.npy", model.sentence.strength.detach().numpy()[None])
    if model.encoder.cases is not None:
        np.save(place / "cases.npy", model.encoder.cases.weight.detach().numpy())
    np.save(place / "output_bias.npy", model.decoder.head.decoder.bias.detach().numpy())


def _pack(name: str, table: Tensor, bits: Bits | None) -> dict[str, Tensor]:
    """Narrow a table; without `bits` as far as that loses nothing, as with one that was narrow on disk."""
    tried: tuple[Bits, ...] = (6, 8, 16, 32) if bits is None else (bits,)
    for width in tried:
        packed = quantize({name: table}, partial(_always, width))
        if bits is not None or torch.allclose(dequantize(packed)[name], table, rtol=1e-6, atol=0.0):
            break
    return packed


def _always(bits: Bits, _name: str) -> Bits:
    return bits
