"""The model at step 0: a trained one, or an encoder with fresh heads and an output layer that knows the words."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import torch

from parlink.checkpoint.config_file import read_config, trained_folder
from parlink.checkpoint.folder import Checkpoint, load_weights
from parlink.checkpoint.pretrained.weights import load_pretrained
from parlink.config import ScoreWeights, Tuned
from parlink.errors import ConfigError
from parlink.model_config import EncoderConfig
from parlink.nn.decoder import OutputHead
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer
from parlink.train_config import SCRATCH, SCRATCH_SIZES, TrainConfig
from parlink.training.scratch import make_tokenizer


def initial_checkpoint(config: TrainConfig) -> Checkpoint:
    """Build the model of a config around its encoder; what is not pre-trained is random by the seed."""
    checkpoint = _build(config)
    similarity = checkpoint.model.similarity
    if similarity is not None and not similarity.center.any():  # it is new
        similarity.center.copy_(checkpoint.model.encoder.token_embeddings.weight.detach().mean(0))
    return checkpoint


def _build(config: TrainConfig) -> Checkpoint:
    if config.encoder == SCRATCH:
        return _from_scratch(config)
    if (trained := trained_folder(config.encoder)) is not None:
        return _from_trained(config, trained)
    pretrained = load_pretrained(config.encoder, layers=config.layers)
    tokenizer = Tokenizer.load(pretrained.tokenizer)
    model = _random_model(config, pretrained.config, tokenizer)
    cases = model.encoder.cases  # which no published encoder has
    model.encoder.load_state_dict(pretrained.weights | ({} if cases is None else {"cases.weight": cases.weight}))
    head = model.decoder.head
    if pretrained.head is None:
        _output_from_embeddings(head, model.encoder.token_embeddings.weight)
    elif config.tie_output:  # the word embeddings stay as they are
        head.load_state_dict(pretrained.head | {"decoder.weight": model.encoder.token_embeddings.weight})
    else:
        head.load_state_dict(pretrained.head)
    return Checkpoint(model, tokenizer, _start_values(config))


def _from_trained(config: TrainConfig, folder: Path) -> Checkpoint:
    """Go on from a trained model; what the config says of objective, NIL and lengths may be new, the sizes may not."""
    known, tokenizer = read_config(folder).model, Tokenizer.load(folder / "tokenizer.json")
    sizes = known.encoder
    if config.tie_output is None:
        config = msgspec.structs.replace(config, tie_output=known.tie_output)
    if config.tie_output != known.tie_output:
        want, got = ("true", "false") if known.tie_output else ("false", "true")
        raise ConfigError(f"tie_output = {got}, but {folder} is trained with {want}; set `tie_output = {want}`")
    if config.layers not in (None, sizes.layers):
        raise ConfigError(f"layers = {config.layers}, but {folder} is trained with {sizes.layers}; leave `layers` out")
    if known.similarity and config.similarity not in (0, known.similarity):  # 0: it is kept, and not trained
        size = known.similarity
        got = f"similarity = {config.similarity}, but {folder} is trained with {size}"
        raise ConfigError(f"{got}; set `similarity = {size}`")
    model = _random_model(
        config,
        sizes,
        tokenizer,
        similarity=config.similarity or known.similarity,
        sentence=known.sentence,
        letter_case=config.letter_case or known.letter_case,
    )
    trained = LinkingModel(
        msgspec.structs.replace(model.config, similarity=known.similarity, letter_case=known.letter_case)
    )
    load_weights(folder / "model.safetensors", trained, assign=False)
    model.load_state_dict(trained.state_dict(), strict=False)  # a bi-encoder and `letter_case` may be new
    return Checkpoint(model, tokenizer, _start_values(config))


def _from_scratch(config: TrainConfig) -> Checkpoint:
    sizes = config.architecture or SCRATCH_SIZES
    tokenizer = make_tokenizer(config, vocab_size=sizes.vocab_size)
    sizes = msgspec.structs.replace(
        sizes, vocab_size=max(sizes.vocab_size, tokenizer.vocab_size), layers=config.layers or sizes.layers
    )
    return Checkpoint(_random_model(config, sizes, tokenizer), tokenizer, _start_values(config))


def _start_values(config: TrainConfig) -> Tuned:
    """Candidates are scored by the parts that are trained."""
    trained = {"lm": config.generation_weight > 0, "classifier": config.classifier_weight > 0}
    trained["similarity"] = config.similarity > 0 and config.similarity_weight > 0
    return Tuned(weights=ScoreWeights(**{name: float(is_trained) for name, is_trained in trained.items()}))


def _random_model(config: TrainConfig, encoder: EncoderConfig, tokenizer: Tokenizer, **known: int) -> LinkingModel:
    """A model of a config, but for what is known otherwise."""
    torch.manual_seed(config.seed)
    settings = config.model(encoder, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id)
    return LinkingModel(msgspec.structs.replace(settings, **known))


@torch.no_grad()
def _output_from_embeddings(head: OutputHead, embeddings: torch.Tensor) -> None:
    """Let the word embeddings be the output matrix, scaled so that the first logits are small and Z is near 1."""
    head.decoder.weight.copy_(embeddings)
    head.norm.weight.fill_(1 / float(embeddings.norm(dim=1).mean()))
    head.decoder.bias.fill_(-math.log(len(embeddings)))
