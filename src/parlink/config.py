"""Settings: TOML or JSON in, frozen structs out; a misspelled key is an error that names it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from parlink.errors import ConfigError

Family = Literal["longformer", "roberta", "bert", "distilbert"]
PositiveInt = Annotated[int, msgspec.Meta(ge=1)]
NonNegativeInt = Annotated[int, msgspec.Meta(ge=0)]
PositiveFloat = Annotated[float, msgspec.Meta(gt=0)]
NonNegativeFloat = Annotated[float, msgspec.Meta(ge=0)]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
T = TypeVar("T", bound=msgspec.Struct)
# Keys that are gone, and what to write instead.
REPLACED = {
    name: f"`{name}` is now {name}_steps (a number of steps) or {name}_ratio (a share of the planned steps)"
    for name in ("warmup", "decay")
}


class EncoderConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The architecture of a pre-trained Transformer encoder."""

    family: Family
    vocab_size: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int  # rows of the position table, offset rows included
    position_offset: int = 0  # RoBERTa counts positions from 2
    token_types: int = 0
    layer_norm_eps: float = 1e-12


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model is made of; defaults are the paper's."""

    encoder: EncoderConfig
    window: int = 128  # attention window in tokens, half to each side; 0: full attention
    global_tokens: int = 0  # the document's first tokens, which every token of every window sees, and which see all
    max_tokens: int = 4096  # length of a window of text
    overlap: int = 256  # tokens that neighboring windows of text share
    max_mention_tokens: int = 15
    detector_hidden: int = 128
    dropout: float = 0.1
    attention_dropout: float = 0.0  # of the attention's weights, in training
    bos_id: int = 0  # read before a name's first token
    eos_id: int = 2  # predicted after its last
    tie_output: bool = False  # the output matrix is the word embedding
    self_normalized: bool = False  # a raw logit is read as a log-probability
    nil: bool = False  # NIL is one more candidate, with a reserved one-token name
    descriptions: bool = False  # the correction reads what the KB says of an entity, if it says something
    document_vector: bool = False  # the correction knows what the text around the mention is about

    def __post_init__(self) -> None:
        if self.window < 0 or self.window % 2:
            raise ConfigError(f"window must be an even number of tokens or 0 for full attention, got {self.window}")
        if self.overlap < 2 * self.max_mention_tokens:
            raise ConfigError(
                f"overlap must be at least twice max_mention_tokens ({self.max_mention_tokens}), got {self.overlap}"
            )
        if self.global_tokens < 0:
            raise ConfigError(f"global_tokens must be a number of tokens, or 0 for none, got {self.global_tokens}")
        if self.max_tokens <= 2 * self.overlap + self.global_tokens:
            raise ConfigError(
                f"max_tokens must be more than twice overlap ({self.overlap}) and global_tokens "
                f"({self.global_tokens}) together, got {self.max_tokens}"
            )


PRIOR_FLOOR = 1e-4  # of a candidate that was never seen under the surface


class ScoreWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """score = lm * mean log-likelihood + classifier * f + prior * log max(prior, PRIOR_FLOOR)."""

    lm: float = 1.0
    classifier: float = 1.0
    prior: float = 0.0


def confidence_features(
    *, mention_logit: float | None, total: float, margin: float | None, prior: float | None
) -> tuple[float, float, float, float]:
    """What the confidence of a link is computed from."""
    log_prior = math.log(max(prior or 0.0, PRIOR_FLOOR))
    return (
        10.0 if mention_logit is None else mention_logit,
        total,
        10.0 if margin is None else min(margin, 10.0),
        log_prior,
    )


class Confidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression whose value is the probability that a link is right."""

    bias: float
    mention_logit: float
    total: float
    margin: float
    log_prior: float

    def probability(
        self, *, mention_logit: float | None, total: float, margin: float | None, prior: float | None
    ) -> float:
        """Evaluate the regression; a given span counts as surely detected, a lone candidate as far ahead."""
        features = confidence_features(mention_logit=mention_logit, total=total, margin=margin, prior=prior)
        weights = (self.mention_logit, self.total, self.margin, self.log_prior)
        log_odds = self.bias + sum(w * x for w, x in zip(weights, features, strict=True))
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, log_odds))))


class Tuned(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was chosen on validation data, kept in the model folder."""

    mention_threshold: float = 0.0  # on the log-odds of a start
    score_threshold: float | None = None  # on the best candidate's total
    weights: ScoreWeights = ScoreWeights()
    fallback: bool = False
    document_names: bool = False  # short names take the candidates of longer ones of their document
    confidence: Confidence | None = None


def _says(description: str, *, ge: float | None = None, le: float | None = None) -> msgspec.Meta:
    """What users are told of an option, in the help of every command, and its bounds."""
    return msgspec.Meta(description=description, ge=ge, le=le)


class LinkOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to decode; may change between calls, unlike `ModelConfig`. None: the value tuned for the model.

    The fields that say what they mean are options of every command that links.
    """

    mention_threshold: Annotated[float, _says("Least log-odds that a mention starts.")] | None = None
    score_threshold: Annotated[float, _says("Least score of the best candidate.")] | None = None
    min_confidence: Annotated[float, _says("Least probability that a link is right.", ge=0, le=1)] = 0.0
    weights: ScoreWeights | None = None
    search: Annotated[Literal["rank", "beam"], _says("Score every candidate, or search by beam.")] = "rank"
    beams: Annotated[int, _says("Width of the beam.", ge=1)] = 5
    fallback: Annotated[bool, _says("Search all titles for a mention without candidates.")] | None = None
    document_names: Annotated[bool, _says("Let short names take the candidates of longer ones.")] | None = None
    max_candidates: Annotated[int, _says("Candidates of a mention that are scored.", ge=1)] = 30
    titles: tuple[str, ...] | None = None  # link to these entities only
    overlaps: Literal["resolve", "keep"] = "resolve"  # keep: every detected span, which tuning needs

    def __post_init__(self) -> None:
        for name, words in (("search", ("rank", "beam")), ("overlaps", ("resolve", "keep"))):
            if getattr(self, name) not in words:
                raise ConfigError(f"{name} must be {' or '.join(map(repr, words))}, got {getattr(self, name)!r}")
        for name in ("beams", "max_candidates"):
            number = getattr(self, name)
            if type(number) is not int or number < 1:
                raise ConfigError(f"{name} must be a whole number of at least 1, got {number!r}")
        for name in ("mention_threshold", "score_threshold"):
            if (number := getattr(self, name)) is not None and not _is_number(number):
                raise ConfigError(f"{name} must be a number, or None for the model's own, got {number!r}")
        if not _is_number(self.min_confidence) or not 0 <= self.min_confidence <= 1:
            raise ConfigError(f"min_confidence must be a probability from 0 to 1, got {self.min_confidence!r}")
        if self.fallback not in (None, False, True):
            raise ConfigError(f"fallback must be True, False, or None for the model's own, got {self.fallback!r}")
        if not isinstance(self.weights, ScoreWeights | None):
            raise ConfigError(f"weights must be ScoreWeights, or None for the model's own, got {self.weights!r}")
        if self.titles is not None and not _are_strings(self.titles):
            raise ConfigError(f"titles must be a tuple of strings, or None for all titles, got {self.titles!r:.100}")

    def resolve(self, tuned: Tuned) -> LinkSettings:
        """Put the tuned value where an option is None; a confidence fitted to other weights is left out."""
        return LinkSettings(
            mention_threshold=tuned.mention_threshold if self.mention_threshold is None else self.mention_threshold,
            score_threshold=tuned.score_threshold if self.score_threshold is None else self.score_threshold,
            min_confidence=self.min_confidence,
            weights=self.weights or tuned.weights,
            confidence=tuned.confidence if self.weights in (None, tuned.weights) else None,
            search=self.search,
            beams=self.beams,
            fallback=tuned.fallback if self.fallback is None else self.fallback,
            document_names=tuned.document_names if self.document_names is None else self.document_names,
            max_candidates=self.max_candidates,
            titles=None if self.titles is None else frozenset(self.titles),
            overlaps=self.overlaps,
        )


class LinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a call decodes: its options, and the model's tuned values for what they leave open."""

    mention_threshold: float
    score_threshold: float | None  # None: none
    min_confidence: float
    weights: ScoreWeights
    confidence: Confidence | None  # None: the model's own probability
    search: Literal["rank", "beam"]
    beams: int
    fallback: bool
    document_names: bool
    max_candidates: int
    titles: frozenset[str] | None  # the only ones to link to; None: all
    overlaps: Literal["resolve", "keep"]


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and not math.isnan(value)


def _are_strings(values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, str) for value in values)


def parse(data: dict[str, Any], kind: type[T], *, source: str) -> T:
    """Turn plain data into a settings struct; `source` is named in the error."""
    _check_numbers(data, source)
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        for name, instead in REPLACED.items():
            if f"unknown field `{name}`" in str(error):
                raise ConfigError(f"{source}: {instead}; got {error}") from error
        known = ", ".join(field.name for field in msgspec.structs.fields(kind))
        raise ConfigError(f"{source}: {error} (known keys: {known})") from error


def _check_numbers(value: object, source: str, key: str = "") -> None:
    """Refuse numbers that no setting can mean: NaN, infinity, and integers of more than 63 bits."""
    if isinstance(value, dict):
        for name, field in value.items():
            _check_numbers(field, source, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_numbers(item, source, f"{key}.{index}")
    elif (isinstance(value, float) and not math.isfinite(value)) or (isinstance(value, int) and abs(value) >> 63):
        raise ConfigError(f"{source}: {key} is {value}; wanted a finite number of at most 63 bits")


def read_toml(path: Path | str) -> dict[str, Any]:
    """Read a TOML file into plain data."""
    try:
        data: dict[str, Any] = msgspec.toml.decode(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); give the path of a TOML file") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    return data


def override(data: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Replace values by `key=value` settings, the value written as in TOML; a bare word is a string.

    A key may lead into tables and lists of tables: `stages.0.steps=100`.
    """
    changed: Any = data
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set wants key=value, got {setting!r}")
        changed = _replace(changed, key.strip().split("."), _value(value.strip()), setting)
    return dict(changed)


def _value(text: str) -> Any:
    try:
        return msgspec.toml.decode(f"value = {text}")["value"]
    except msgspec.DecodeError:
        return text


def _replace(data: Any, path: Sequence[str], value: Any, setting: str) -> Any:
    """The same data with another value at the end of the path."""
    if not path:
        return value
    name, *rest = path
    if isinstance(data, list):
        if not name.isdecimal() or int(name) >= len(data):
            raise ConfigError(f"--set {setting}: {name!r} is not one of the {len(data)} there, counted from 0")
        at = int(name)
        return [*data[:at], _replace(data[at], rest, value, setting), *data[at + 1 :]]
    table = data if isinstance(data, dict) else {}
    return table | {name: _replace(table.get(name), rest, value, setting)}


class Shapes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In which other shapes texts are shown, and how often; the rest as they are."""

    lower: Fraction = 0.0
    upper: Fraction = 0.0
    headline: Fraction = 0.0  # every word capitalized
    unpunctuated: Fraction = 0.0
    natural: Fraction = 0.0  # detokenized

    def __post_init__(self) -> None:
        if (shares := self.lower + self.upper + self.headline + self.unpunctuated + self.natural) > 1 + 1e-9:
            raise ConfigError(f"the shares of shapes must be at most 1 together, got {shares:g}")


class Dataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Training documents and how much they count."""

    path: str
    weight: PositiveFloat = 1.0  # share of the training windows, relative to the other datasets
    detection: NonNegativeFloat = 1.0  # weight of the start loss on this data
    unlinked: NonNegativeFloat = 1.0  # further weight where no mention starts: below 1 where names may lack a link
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
    nil: bool = False  # NIL is one more candidate; else NIL mentions are not mentions
    descriptions: bool = False  # the correction reads what is said of an entity, by the kb and the description_file
    description_file: str | None = None  # JSON lines with `title` and `text`, for training
    description_dropout: Fraction = 0.25  # how often descriptions are left out in training
    document_vector: bool = False  # the correction reads the mean of the states of the window
    # the objective
    start_weight: NonNegativeFloat = 1.0
    end_weight: NonNegativeFloat = 1.0
    generation_weight: NonNegativeFloat = 1.0
    classifier_weight: NonNegativeFloat = 1.0
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
    mixed_precision: bool | None = None  # bfloat16; None: on a CUDA device that has it, never on a CPU
    validate_steps: PositiveInt | None = None  # None: after each epoch
    checkpoint_minutes: NonNegativeFloat = 5.0
    log_steps: PositiveInt = 10

    def __post_init__(self) -> None:
        if not self.stages:
            raise ConfigError("a training config needs at least one [[stages]] table with its data and its length")
        if self.descriptions and self.kb is None and self.description_file is None:
            raise ConfigError("descriptions = true needs a kb or a description_file to take them from")
        if (self.hard_negatives or self.type_negatives) and self.kb is None:
            raise ConfigError("hard_negatives and type_negatives come from a knowledge base; give `kb`")
        least = 2 * self.max_mention_tokens + self.global_tokens + 3
        if self.train_tokens < least:
            sum_of = "2 max_mention_tokens + global_tokens + 3"
            raise ConfigError(f"train_tokens must be at least {sum_of} = {least}, got {self.train_tokens}")

    @property
    def loss_weights(self) -> tuple[float, float, float, float, float]:
        """The weight of each part, in the order of `nn.losses.PARTS`."""
        return (
            self.start_weight,
            self.end_weight,
            self.generation_weight,
            self.classifier_weight,
            self.normalizer_weight,
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
            descriptions=self.descriptions,
            document_vector=self.document_vector,
        )
