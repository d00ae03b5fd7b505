"""Settings of a training run: its stages, their data, and how the model learns; defaults are the paper's."""

from __future__ import annotations

from typing import Annotated

import msgspec

from parlink.errors import ConfigError
from parlink.model_config import EncoderConfig, ModelConfig
from parlink.settings import Fraction, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt


class Shapes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In which other shapes texts are shown, and how often; the rest as they are."""

    lower: Fraction = 0.0
    upper: Fraction = 0.0
    headline: Fraction = 0.0  # every word capitalized
    capitals: Fraction = 0.0  # some words capitalized, in each document another share of them
    unpunctuated: Fraction = 0.0
    natural: Fraction = 0.0  # detokenized

    def __post_init__(self) -> None:
        if (shares := sum(getattr(self, name) for name in self.__struct_fields__)) > 1 + 1e-9:
            raise ConfigError(f"the shares of shapes must be at most 1 together, got {shares:g}")


class Dataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Training documents and how much they count."""

    path: str
    weight: PositiveFloat = 1.0  # share of the training windows, relative to the other datasets
    detection: NonNegativeFloat = 1.0  # weight of the start loss on this data
    unlinked: NonNegativeFloat = 1.0  # further weight where no mention starts: below 1 where names may lack a link
    unlinked_names: NonNegativeFloat | None = None  # the same where a word has a capital; None: as `unlinked`
    swap: Fraction = 0.0  # of the linked names, how many are shown as another name of the data
    shapes: Shapes | None = None  # other shapes of its texts; None: detokenized as often as `natural` says


PAPER_WARMUP, PAPER_DECAY = 500, 10_000  # steps


class Stage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part of a training run: its data, its length and its learning rates."""

    train: tuple[Dataset, ...]
    epochs: PositiveFloat | None = None  # of the first dataset
    steps: PositiveInt | None = None
    minutes: PositiveFloat | None = None  # turned into steps after a short measurement
    encoder_learning_rate: NonNegativeFloat = 1e-4
    learning_rate: NonNegativeFloat = 1e-3
    warmup_steps: NonNegativeInt | None = None  # until the full rate; the paper's 500 where neither key is given
    warmup_ratio: Fraction | None = None  # the same as a share of the planned steps
    decay_steps: PositiveInt | None = None  # the step at which the rate would be 0; the paper's is 10,000
    decay_ratio: PositiveFloat | None = None  # the same as a share of the planned steps

    def __post_init__(self) -> None:
        if not self.train:
            raise ConfigError("a stage needs at least one dataset under `train`")
        for name, usual in (("warmup", PAPER_WARMUP), ("decay", PAPER_DECAY)):
            steps, ratio = getattr(self, f"{name}_steps"), getattr(self, f"{name}_ratio")
            if steps is not None and ratio is not None:
                raise ConfigError(f"a stage has both {name}_steps and {name}_ratio; give one of them")
            if steps is None and ratio is None:
                msgspec.structs.force_setattr(self, f"{name}_steps", usual)
        if sum(length is not None for length in (self.epochs, self.steps, self.minutes)) != 1:
            raise ConfigError("a stage needs exactly one of epochs, steps and minutes")


SCRATCH = "scratch"  # the encoder that is not pre-trained: random weights, and a tokenizer made from the data
SCRATCH_SIZES = EncoderConfig(
    family="roberta",
    vocab_size=1000,
    hidden=64,
    layers=2,
    heads=4,
    intermediate=256,
    positions=514,
    position_offset=2,
    layer_norm_eps=1e-5,
)


class TrainConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training run; defaults are the paper's."""

    output: str
    encoder: str  # a folder, a name on the Hugging Face hub, "scratch", or a trained model: its folder, or "default"
    validation: str | None = None
    validation_documents: PositiveInt | None = None  # how many to validate on while training; None: all
    stages: tuple[Stage, ...]
    kb: str | None = None  # candidates for mentions that have none in the data
    # the model
    architecture: EncoderConfig | None = None  # sizes, for `parlink info` without the encoder's files, or of "scratch"
    layers: PositiveInt | None = None  # None: all
    window: int = 128
    global_tokens: NonNegativeInt = 0  # the document's first tokens, in sight of every token
    max_tokens: int = 4096
    overlap: int = 256
    max_mention_tokens: PositiveInt = 15
    detector_hidden: PositiveInt = 128
    dropout: Fraction = 0.1
    attention_dropout: Fraction = 0.0  # of the attention's weights
    tie_output: bool | None = None  # None: as the trained model that the run goes on from, else false
    freeze_embeddings: bool = False
    letter_case: bool = False  # the encoder reads how words are capitalized: for a tokenizer that does not keep it
    nil: bool = False  # NIL is one more candidate; else NIL mentions are not mentions
    similarity: NonNegativeInt = 0  # size of the bi-encoder's vectors, which reads kb and description_file; 0: none
    description_file: str | None = None  # JSON lines with `title` and `text`, for training
    description_dropout: Fraction = 0.25  # how often descriptions are left out in training
    title_dropout: Fraction = 0.0  # how often the title of an entity that is described is left out for the bi-encoder
    # the objective
    start_weight: NonNegativeFloat = 1.0
    end_weight: NonNegativeFloat = 1.0
    generation_weight: NonNegativeFloat = 1.0
    classifier_weight: NonNegativeFloat = 1.0
    similarity_weight: NonNegativeFloat = 1.0
    normalizer_weight: NonNegativeFloat = 0.0  # of (log Z)^2; above 0 the model is self-normalized
    label_smoothing: Fraction = 0.1
    negatives: NonNegativeInt = 1  # a mention, from its candidates
    batch_negatives: NonNegativeInt = 0  # a mention, from the names of the batch
    hard_negatives: NonNegativeInt = 0  # a mention, that the model takes for its title, found once a stage
    type_negatives: NonNegativeInt = 0  # a mention, entities of the same type in the kb
    natural: Fraction = 0.0  # share of documents shown detokenized
    # the optimizer
    seed: NonNegativeInt = 0
    batch_size: PositiveInt = 32  # windows, in each process
    accumulate: PositiveInt = 1  # batches whose gradients make one step
    ema_decay: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0  # above 0, validated and kept is the weights' average
    train_tokens: int = 1024  # longest window in training
    shuffle_megabytes: PositiveFloat = 32.0  # of lines of each dataset that are in memory, and shuffled, at a time
    weight_decay: NonNegativeFloat = 1e-2
    clip_norm: PositiveFloat = 1.0
    # the run
    device: str | None = None  # None: cuda where there is one, else cpu
    mixed_precision: bool | None = None  # bfloat16; None: on a CUDA device that has it
    validate_steps: PositiveInt | None = None  # None: after each epoch
    checkpoint_minutes: NonNegativeFloat = 5.0
    timeout_minutes: PositiveFloat = 30.0  # that a process waits for the others
    log_steps: PositiveInt = 10

    def __post_init__(self) -> None:
        if not self.stages:
            raise ConfigError("a training config needs at least one [[stages]] table with its data and its length")
        if self.similarity and self.kb is None and self.description_file is None:
            raise ConfigError("similarity needs a kb or a description_file to take descriptions from")
        if (self.hard_negatives or self.type_negatives) and self.kb is None:
            raise ConfigError("hard_negatives and type_negatives come from a knowledge base; give `kb`")
        least = 2 * self.max_mention_tokens + self.global_tokens + 3
        if self.train_tokens < least:
            sum_of = "2 max_mention_tokens + global_tokens + 3"
            raise ConfigError(f"train_tokens must be at least {sum_of} = {least}, got {self.train_tokens}")

    @property
    def loss_weights(self) -> tuple[float, ...]:
        """The weight of each part, in the order of `nn.losses.PARTS`."""
        return (
            self.start_weight,
            self.end_weight,
            self.generation_weight,
            self.classifier_weight,
            self.normalizer_weight,
            self.similarity_weight,
        )

    def model(self, encoder: EncoderConfig, *, bos_id: int, eos_id: int) -> ModelConfig:
        """What the model will be made of, given the encoder that is found."""
        return ModelConfig(
            encoder=encoder,
            window=self.window,
            global_tokens=self.global_tokens,
            max_tokens=self.max_tokens,
            overlap=self.overlap,
            max_mention_tokens=self.max_mention_tokens,
            detector_hidden=self.detector_hidden,
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            bos_id=bos_id,
            eos_id=eos_id,
            tie_output=bool(self.tie_output),
            self_normalized=self.normalizer_weight > 0,
            nil=self.nil,
            letter_case=self.letter_case,
            similarity=self.similarity,
        )
