"""Tiny random encoders in the published format, made with `transformers`, and our names for their tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedModel

from parlink.checkpoint.pretrained.weights import BERT_LAYER, DISTILBERT_LAYER, EMBEDDINGS
from tiny import byte_level_bpe

WINDOW = 8
VOCAB = 60
PAD = {"Longformer": 1, "Roberta": 1, "XLMRoberta": 1, "Camembert": 1, "Bert": 0, "DistilBert": 0}
FAMILIES = list(PAD)
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 64,
}
DISTILBERT_SIZES: dict[str, Any] = {
    "dim": 16,
    "n_layers": 2,
    "n_heads": 2,
    "hidden_dim": 24,
    "max_position_embeddings": 64,
}


def random_model(family: str, *, task: str = "Model", **changes: Any) -> PreTrainedModel:
    """An encoder of two layers in which every parameter, LayerNorms and biases too, is random."""
    sizes = dict(DISTILBERT_SIZES if family == "DistilBert" else SIZES)
    if family == "Longformer":
        sizes |= {"attention_window": [WINDOW, WINDOW], "type_vocab_size": 1}
    sizes |= {"vocab_size": VOCAB, "pad_token_id": PAD[family], "attn_implementation": "eager"} | changes
    torch.manual_seed(1)
    model: PreTrainedModel = getattr(transformers, family + task)(getattr(transformers, family + "Config")(**sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    nn.Module.eval(model)
    return model


def publish(model: PreTrainedModel, folder: Path) -> Path:
    """Save a model as it would be on the hub, with a tokenizer."""
    model.save_pretrained(folder)
    byte_level_bpe().save(folder / "tokenizer.json")
    return folder


def published_names(name: str, family: str) -> list[str]:
    """The names in a published encoder of one tensor of ours, more than one if it is their concatenation."""
    module, kind = name.rsplit(".", 1)
    if module in EMBEDDINGS:
        return [f"{EMBEDDINGS[module]}.{kind}"]
    _, number, part = module.split(".")
    if family == "DistilBert":
        return [f"transformer.layer.{number}.{source}.{kind}" for source in DISTILBERT_LAYER[part]]
    return [f"encoder.layer.{number}.{source}.{kind}" for source in BERT_LAYER[part]]
