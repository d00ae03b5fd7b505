"""Read the config.json of a published encoder into our words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from parlink.errors import CheckpointError
from parlink.model_config import EncoderConfig, Family

Size = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
FAMILIES: dict[str, Family] = {
    "longformer": "longformer",
    "roberta": "roberta",
    "xlm-roberta": "roberta",
    "camembert": "roberta",
    "bert": "bert",
    "distilbert": "distilbert",
}


class BertSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What we need of the config.json of BERT, RoBERTa and Longformer."""

    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    intermediate_size: Size
    max_position_embeddings: Size
    hidden_act: Literal["gelu"] = "gelu"
    position_embedding_type: Literal["absolute"] = "absolute"
    type_vocab_size: Count = 2
    layer_norm_eps: float = 1e-12
    pad_token_id: Count | None = None

    def ours(self, family: Family) -> EncoderConfig:
        """Say the same in our words; all but BERT count positions from the padding token's number."""
        pad_id = self.pad_token_id
        if pad_id is None:
            pad_id = 0 if family == "bert" else 1
        return EncoderConfig(
            family=family,
            vocab_size=self.vocab_size,
            hidden=self.hidden_size,
            layers=self.num_hidden_layers,
            heads=self.num_attention_heads,
            intermediate=self.intermediate_size,
            positions=self.max_position_embeddings,
            position_offset=0 if family == "bert" else pad_id + 1,
            token_types=self.type_vocab_size,
            layer_norm_eps=self.layer_norm_eps,
        )


class DistilBertSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What we need of the config.json of DistilBERT."""

    vocab_size: Size
    dim: Size
    n_layers: Size
    n_heads: Size
    hidden_dim: Size
    max_position_embeddings: Size
    activation: Literal["gelu"] = "gelu"
    pad_token_id: Count | None = None

    def ours(self, family: Family) -> EncoderConfig:
        """Say the same in our words."""
        return EncoderConfig(
            family=family,
            vocab_size=self.vocab_size,
            hidden=self.dim,
            layers=self.n_layers,
            heads=self.n_heads,
            intermediate=self.hidden_dim,
            positions=self.max_position_embeddings,
        )


def read_config(settings: Mapping[str, Any], *, source: Path, layers: int | None = None) -> EncoderConfig:
    """Turn the content of a Hugging Face config.json into ours; `source` is named in errors."""
    got = settings.get("model_type")
    family = FAMILIES.get(str(got))
    if family is None:
        known = ", ".join(FAMILIES)
        raise CheckpointError(f"{source}: model_type is {got!r}; the encoder families known are {known}")
    kind: type[BertSettings | DistilBertSettings] = DistilBertSettings if family == "distilbert" else BertSettings
    try:
        published = msgspec.convert(settings, kind)
    except msgspec.ValidationError as error:
        raise CheckpointError(f"{source}: cannot be reproduced: {error}") from error
    config = published.ours(family)
    if config.hidden % config.heads:
        raise CheckpointError(
            f"{source}: hidden size {config.hidden} is no multiple of num_attention_heads {config.heads}"
        )
    if config.positions <= config.position_offset:
        raise CheckpointError(
            f"{source}: max_position_embeddings is {config.positions}, which leaves no usable position"
        )
    if layers is not None and not 1 <= layers <= config.layers:
        asked = f"{layers} layers asked for, but the encoder has {config.layers}"
        raise CheckpointError(f"{source}: {asked}; ask for 1 to {config.layers}")
    return msgspec.structs.replace(config, layers=layers or config.layers)
