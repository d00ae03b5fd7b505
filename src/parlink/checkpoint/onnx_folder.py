"""A model folder with graphs for onnxruntime in place of weights for torch: config.json, tokenizer.json and onnx/."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlink.checkpoint.config_file import check_sizes, read_config
from parlink.checkpoint.word_table import Floats, WordTable, map_array
from parlink.config import Tuned
from parlink.errors import CheckpointError
from parlink.model_config import ModelConfig
from parlink.text.letter_case import CASES
from parlink.text.tokenizer import Tokenizer

FOLDER = "onnx"
Graph = Callable[..., list[NDArray[Any]]]  # inputs by name -> outputs


@dataclass(frozen=True, slots=True)
class OnnxSimilarity:
    """The two sides of a bi-encoder."""

    queries: Graph
    entities: Graph
    word_weight: Floats  # (vocabulary,)
    rarity: Floats  # (vocabulary,) of words, in text
    center: Floats  # (hidden,) of the word embeddings


@dataclass(frozen=True, slots=True)
class OnnxSentence:
    """What makes vectors of stretches of text (`nn.sentence`)."""

    weight: Floats  # (size, 2 * hidden)
    bias: Floats  # (size,)
    strength: Floats  # (1,)


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """The graphs of a model (`nn.exportable` says what goes in and out), and the tables beside them."""

    config: ModelConfig
    words: WordTable
    output: WordTable  # the output matrix
    output_bias: Floats  # (vocabulary,)
    encoder: Graph
    ends: Graph
    mentions: Graph
    step: Graph
    correction: Graph
    similarity: OnnxSimilarity | None  # of a model with a bi-encoder
    sentence: OnnxSentence | None  # of one that compares sentences too
    cases: Floats | None = None  # (cases, hidden) what capitals add to words, of a model that reads them


@dataclass(frozen=True, slots=True)
class OnnxCheckpoint:
    """A model with what it needs to read text, and the values tuned for it."""

    model: OnnxModel
    tokenizer: Tokenizer
    tuned: Tuned


def has_graphs(folder: Path) -> bool:
    """Whether a model folder is one for onnxruntime."""
    return (folder / FOLDER).is_dir()


def load_onnx(folder: Path) -> OnnxCheckpoint:
    """Open a model folder that `parlink export --format onnx` made."""
    if not has_graphs(folder):
        message = f"{folder}: has no graphs for onnxruntime"
        raise CheckpointError(f"{message}; make a folder that has, by `parlink export MODEL -o FOLDER --format onnx`")
    file = read_config(folder)
    check_sizes(folder, file)
    place, config = folder / FOLDER, file.model
    shape = (config.encoder.vocab_size, config.encoder.hidden)
    words = WordTable.open(place / "words.npy", shape=shape)
    model = OnnxModel(
        config=config,
        words=words,
        output=words if config.tie_output else WordTable.open(place / "output.npy", shape=shape),
        output_bias=np.array(map_array(place / "output_bias.npy", shape[:1]), np.float32),
        encoder=open_graph(place / "encoder.onnx"),
        ends=open_graph(place / "ends.onnx"),
        mentions=open_graph(place / "mentions.onnx"),
        step=open_graph(place / "step.onnx"),
        correction=open_graph(place / "correction.onnx"),
        similarity=_open_similarity(place, shape) if config.similarity else None,
        sentence=_open_sentence(place, config) if config.sentence else None,
        cases=np.array(map_array(place / "cases.npy", (CASES, shape[1])), np.float32) if config.letter_case else None,
    )
    return OnnxCheckpoint(model, Tokenizer.load(folder / "tokenizer.json"), file.tuned)


def _open_similarity(place: Path, shape: tuple[int, int]) -> OnnxSimilarity:
    return OnnxSimilarity(
        queries=open_graph(place / "queries.onnx"),
        entities=open_graph(place / "entities.onnx"),
        word_weight=np.array(map_array(place / "word_weight.npy", shape[:1]), np.float32),
        rarity=np.array(map_array(place / "rarity.npy", shape[:1]), np.float32),
        center=np.array(map_array(place / "center.npy", shape[1:]), np.float32),
    )


def _open_sentence(place: Path, config: ModelConfig) -> OnnxSentence:
    shapes = {"weight": (config.sentence, 2 * config.encoder.hidden), "bias": (config.sentence,), "strength": (1,)}
    arrays = (map_array(place / f"sentence_{name}.npy", shape) for name, shape in shapes.items())
    return OnnxSentence(*(np.array(array, np.float32) for array in arrays))


def open_graph(path: Path) -> Graph:
    """Open a graph, to be computed on as many threads as OMP_NUM_THREADS says, else on one a core."""
    try:
        import onnxruntime
    except ImportError as error:
        raise CheckpointError(f"{path}: needs onnxruntime: pip install 'parlink[onnx]'") from error
    options = onnxruntime.SessionOptions()
    threads = os.environ.get("OMP_NUM_THREADS", "")
    options.intra_op_num_threads = int(threads) if threads.isdecimal() else 0
    options.enable_cpu_mem_arena = False  # it would keep what the largest batch needed
    options.add_session_config_entry(
        "session.intra_op.allow_spinning", "0"
    )  # waiting threads leave their core to others
    options.log_severity_level = 3  # errors only
    if not path.is_file():
        raise CheckpointError(f"{path}: missing; export the model again")
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes have no common base but this
        reason = str(error).splitlines()[0]
        raise CheckpointError(f"{path}: cannot be opened ({reason}); export the model again") from error
    return lambda **arrays: session.run(None, arrays)
