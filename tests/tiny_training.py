"""A tiny training run that is real: an encoder folder as on the hub, a few documents of ours, and a config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import save_file

from parlink.checkpoint.pretrained.weights import BERT_LAYER, EMBEDDINGS
from parlink.data import jsonl
from parlink.nn.encoder import Encoder
from parlink.settings import parse
from parlink.train_config import TrainConfig
from parlink.types import Candidate, Document, Link, Span
from tiny import byte_level_bpe
from tiny_model import ENCODER

WIDTH, LAYERS, POSITIONS = 32, 2, 130
CANDIDATES = {
    "Mercury": ("Mercury (planet)", "Mercury (element)", "Mercury (mythology)"),
    "Jordan": ("Jordan", "Michael Jordan", "Jordan River"),
    "Japan": ("Japan", "Japan (band)"),
    "Hamburg": ("Hamburg", "Hamburger SV"),
    "Elbe": ("Elbe",),
}
MARKED = (
    "The planet [Mercury|Mercury (planet)] is small and hot.",
    "The metal [Mercury|Mercury (element)] is a liquid.",
    "The god [Mercury|Mercury (mythology)] had winged shoes.",
    "The country [Jordan|Jordan] has a king.",
    "The player [Jordan|Michael Jordan] scored again.",
    "The river [Jordan|Jordan River] is not long.",
    "The country [Japan|Japan] has many islands, and so has [Mercury|Mercury (planet)] many craters.",
    "The band [Japan|Japan (band)] sang of the river [Elbe|Elbe].",
    "The city of [Hamburg|Hamburg] lies on the [Elbe|Elbe].",
    "The team of [Hamburg|Hamburger SV] beat the team of [Japan|Japan].",
    "Nobody of note is named here.",
    "The bakery of [Jordan|] is no entity, but [Japan|Japan] is one.",
)


def marked(text: str, *, number: int = 0) -> Document:
    """A document from text with links as `[surface|title]`, or `[title]`; an empty title is NIL."""
    plain, links = "", []
    for piece in text.split("["):
        if "]" not in piece:
            plain += piece
            continue
        mention, rest = piece.split("]")
        surface, title = mention.split("|") if "|" in mention else (mention, mention)
        names = CANDIDATES.get(surface, ())
        candidates = tuple(Candidate(name, prior=1 / len(names)) for name in names)
        links.append(Link(Span(len(plain), len(plain) + len(surface)), title or None, candidates=candidates))
        plain += surface + rest
    return Document(plain, id=f"d{number}", links=tuple(links))


DOCUMENTS = tuple(marked(text, number=number) for number, text in enumerate(MARKED))


def write_encoder(folder: Path) -> Path:
    """Write a random RoBERTa of two layers as it would be on the hub, without a masked-LM head."""
    folder.mkdir(parents=True)
    tokenizer = byte_level_bpe()
    sizes = msgspec.structs.replace(
        ENCODER,
        vocab_size=tokenizer.vocab_size,
        hidden=WIDTH,
        layers=LAYERS,
        heads=4,
        intermediate=2 * WIDTH,
        positions=POSITIONS,
    )
    torch.manual_seed(7)
    ours = Encoder(sizes, window=0, dropout=0.0).state_dict()
    save_file(dict(_published(ours)), folder / "model.safetensors")
    settings = {
        "model_type": "roberta",
        "vocab_size": sizes.vocab_size,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.intermediate,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 0,
        "pad_token_id": 1,
    }
    (folder / "config.json").write_text(json.dumps(settings))
    tokenizer.save(folder / "tokenizer.json")
    return folder


def _published(ours: dict[str, torch.Tensor]) -> list[tuple[str, torch.Tensor]]:
    named = []
    for name, tensor in ours.items():
        module, kind = name.rsplit(".", 1)
        if module in EMBEDDINGS:
            named.append((f"{EMBEDDINGS[module]}.{kind}", tensor))
            continue
        _, number, part = module.split(".")
        sources = BERT_LAYER[part]
        for source, piece in zip(sources, tensor.chunk(len(sources)), strict=True):
            named.append((f"encoder.layer.{number}.{source}.{kind}", piece.contiguous()))
    return named


def tiny_settings(folder: Path, **changes: Any) -> dict[str, Any]:
    """The config of a short run in `folder`, whose encoder and data are written there if they are not yet."""
    if not (folder / "encoder").exists():
        write_encoder(folder / "encoder")
        jsonl.write(folder / "train.jsonl", DOCUMENTS)
    settings: dict[str, Any] = {
        "output": str(folder / "run"),
        "encoder": str(folder / "encoder"),
        "validation": str(folder / "train.jsonl"),
        "max_tokens": 128,
        "overlap": 30,
        "window": 16,
        "detector_hidden": 16,
        "train_tokens": 64,
        "batch_size": 4,
        "negatives": 2,
        "natural": 0.5,
        "log_steps": 1,
        "device": "cpu",
        "stages": [
            {"train": [{"path": str(folder / "train.jsonl")}], "steps": 6, "warmup_ratio": 0.5, "decay_ratio": 1}
        ],
    }
    return settings | changes


def tiny_config(folder: Path, **changes: Any) -> TrainConfig:
    """The same, ready to run."""
    return parse(tiny_settings(folder, **changes), TrainConfig, source="tiny")


def toml(settings: dict[str, Any]) -> str:
    """Write a config as a file; strings, numbers and booleans are the same in JSON and TOML."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if key != "stages"]
    for stage in settings["stages"]:
        sets = [
            ", ".join(f"{key} = {json.dumps(value)}" for key, value in dataset.items()) for dataset in stage["train"]
        ]
        rest = [f"{key} = {json.dumps(value)}" for key, value in stage.items() if key != "train"]
        lines += ["[[stages]]", f"train = [{', '.join(f'{{ {keys} }}' for keys in sets)}]", *rest]
    return "\n".join(lines)
