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


DESCRIPTION_TOKENS = 32  # of what is said of an entity, that a bi-encoder reads
DESCRIPTION_CHARACTERS = 8 * DESCRIPTION_TOKENS  # of it that are tokenized: more than so many tokens need
UNLIKE_WORDS = 0.4  # cosine of two words that have nothing to do with each other
FEW_WORDS = 4.0  # rarity of all words of a description that counts half: a short one may be spoken of by chance
# The most of each size that an encoder may have, well above all that are published: more is damage, or a mistake.
ENCODER_LIMITS = {
    "vocab_size": 10_000_000,
    "hidden": 65_536,
    "layers": 1_000,
    "heads": 1_000,
    "intermediate": 1_000_000,
    "positions": 10_000_000,
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

    def __post_init__(self) -> None:
        for name, most in ENCODER_LIMITS.items():
            if not 1 <= (size := getattr(self, name)) <= most:
                raise ConfigError(f"{name} of the encoder must be from 1 to {most:,}, got {size:,}")


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
    similarity: int = 0  # size of the vectors of the bi-encoder; 0: the paper's model, without one

    def __post_init__(self) -> None:
        encoder = self.encoder
        if encoder.hidden % encoder.heads:
            raise ConfigError(f"hidden ({encoder.hidden}) must be a multiple of heads ({encoder.heads})")
        if not 0 <= encoder.position_offset < encoder.positions:
            raise ConfigError(
                f"position_offset must be below {encoder.positions} positions, got {encoder.position_offset}"
            )
        if not 0 <= encoder.token_types <= 1_000:
            raise ConfigError(f"token_types must be from 0 to 1,000, got {encoder.token_types:,}")
        for name in ("max_mention_tokens", "detector_hidden"):
            if not 1 <= (size := getattr(self, name)) <= 65_536:
                raise ConfigError(f"{name} must be from 1 to 65,536, got {size:,}")
        if not 0 <= self.dropout < 1 or not 0 <= self.attention_dropout < 1:
            raise ConfigError(f"dropouts must be from 0 to below 1, got {self.dropout} and {self.attention_dropout}")
        for name in ("bos_id", "eos_id"):
            if not 0 <= (token := getattr(self, name)) < encoder.vocab_size:
                raise ConfigError(f"{name} must be one of {encoder.vocab_size:,} tokens, got {token}")
        if self.window < 0 or self.window % 2:
            raise ConfigError(f"window must be an even number of tokens or 0 for full attention, got {self.window}")
        if self.overlap < 2 * self.max_mention_tokens:
            raise ConfigError(
                f"overlap must be at least twice max_mention_tokens ({self.max_mention_tokens}), got {self.overlap}"
            )
        if not 0 <= self.similarity <= ENCODER_LIMITS["hidden"]:
            raise ConfigError(f"similarity must be the size of a vector, or 0 for none, got {self.similarity}")
        if self.global_tokens < 0:
            raise ConfigError(f"global_tokens must be a number of tokens, or 0 for none, got {self.global_tokens}")
        if self.max_tokens <= 2 * self.overlap + self.global_tokens:
            raise ConfigError(
                f"max_tokens must be more than twice overlap ({self.overlap}) and global_tokens "
                f"({self.global_tokens}) together, got {self.max_tokens}"
            )


PRIOR_FLOOR = 1e-4  # of a candidate that was never seen under the surface


class ScoreWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of the sum that a score is.

    score = lm * mean log-likelihood + classifier * f + prior * log max(prior, PRIOR_FLOOR)
            + similarity * (product of the bi-encoder's vectors) + overlap * (of description and text)
            + coherence * support
    """

    lm: float = 1.0
    classifier: float = 1.0
    prior: float = 0.0
    similarity: float = 0.0  # of mention and entity, of a model that has a bi-encoder
    overlap: float = 0.0  # of what is said of the entity and the text around, of such a model too
    coherence: float = 0.0  # of the support by the other mentions of the document; 0: it is not computed


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


# What the decision is made by, besides the sources of mentions and candidates: see linking/features.py.
FEATURES = (
    "start",  # log-odds that a mention starts
    "end",  # log-probability of its end
    "dictionary",  # proposed by the dictionary
    "total",  # score of the best candidate
    "margin",  # to the second
    "share",  # of the best in the softmax of the scores
    "lone",  # there is no second
    "log_prior",
    "left_out",  # share of the prior that candidates have which were not scored
    "coherence",
    "candidates",  # log of how many
    "linked",  # log-odds that the surface is a link where it occurs
    "linked_guess",  # which is guessed by how the surface looks
    "title_is_surface",
    "document",  # the best candidate is that of a longer name
    "lower_case",
    "words",  # log of how many the surface has
    "longer",  # probability of a longer mention that the span is part of
    "shorter",  # of a mention that is part of it
    "in_title",  # share of the surface's words that the title has
    "beyond",  # words that the title has and the surface has not
)


class Regression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression on features by name, and on products of two; those it does not name count nothing."""

    bias: float
    weights: dict[str, float]
    pairs: dict[str, dict[str, float]] = {}

    def __post_init__(self) -> None:
        named = self.weights.keys() | self.pairs.keys() | {name for row in self.pairs.values() for name in row}
        if unknown := sorted(named - set(FEATURES)):
            raise ConfigError(f"a regression knows no feature {unknown[0]!r}; known are {', '.join(FEATURES)}")

    def shares(self, features: Sequence[float]) -> dict[str, float]:
        """Say how much each feature adds to the log-odds, in the order of `FEATURES`; of a product each adds half."""
        values = dict(zip(FEATURES, features, strict=True))
        told = {name: self.weights.get(name, 0.0) * value for name, value in values.items()}
        for name, row in self.pairs.items():
            for other, weight in row.items():
                half = 0.5 * weight * values[name] * values[other]
                told[name] += half
                told[other] += half
        return told

    def probability(self, features: Sequence[float]) -> float:
        """Evaluate the regression on values in the order of `FEATURES`."""
        values = dict(zip(FEATURES, features, strict=True))
        log_odds = self.bias + sum(weight * values[name] for name, weight in self.weights.items())
        for name, row in self.pairs.items():
            log_odds += values[name] * sum(weight * values[other] for other, weight in row.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, log_odds))))


class Decision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How links are decided: by the probability that each is right, of which there must be enough."""

    found: Regression  # for mentions that are found
    given: Regression  # for those that come with the document
    min_confidence: Fraction  # of a link to a mention that is found; one that is given is always linked
    proposal_threshold: float  # log-odds of a start from which a span is looked at


class Shortlist(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which names of a mention the network reads: see linking/shortlist.py."""

    names: Annotated[int, msgspec.Meta(ge=1)] = 4  # of the candidates that are best by all that is known without them
    margin: float = 2.0  # how far behind the best of these such a candidate may be
    lm: float = -6.0  # what a name that is not read is taken to have, as such names have on average
    classifier: float = -5.0


class Tuned(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was chosen on validation data, kept in the model folder."""

    mention_threshold: float = 0.0  # on the log-odds of a start
    score_threshold: float | None = None  # on the best candidate's total
    weights: ScoreWeights = ScoreWeights()
    fallback: bool = False
    document_names: bool = False  # short names take the candidates of longer ones of their document
    dictionary: bool = False  # names of the knowledge base are proposed as mentions
    least_linked: float = 0.1  # how often such a name must be a link where it occurs, of a large knowledge base
    confidence: Confidence | None = None
    decision: Decision | None = None  # takes the place of score_threshold and confidence
    shortlist: Shortlist | None = None  # None: all names are read


def _says(description: str, *, ge: float | None = None, le: float | None = None) -> msgspec.Meta:
    """What users are told of an option, in the help of every command, and its bounds."""
    return msgspec.Meta(description=description, ge=ge, le=le)


class LinkOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to decode; may change between calls, unlike `ModelConfig`. None: the value tuned for the model.

    The fields that say what they mean are options of every command that links.
    """

    mention_threshold: Annotated[float, _says("Least log-odds that a mention starts.")] | None = None
    score_threshold: Annotated[float, _says("Least score of the best candidate.")] | None = None
    min_confidence: Annotated[float, _says("Least probability that a link is right.", ge=0, le=1)] | None = None
    weights: ScoreWeights | None = None
    search: Annotated[Literal["rank", "beam"], _says("Score every candidate, or search by beam.")] = "rank"
    beams: Annotated[int, _says("Width of the beam.", ge=1)] = 5
    fallback: Annotated[bool, _says("Search all titles for a mention without candidates.")] | None = None
    document_names: Annotated[bool, _says("Let short names take the candidates of longer ones.")] | None = None
    dictionary: Annotated[bool, _says("Propose the names of the knowledge base as mentions.")] | None = None
    least_linked: Annotated[float, _says("How often such a name is a link where it occurs.", ge=0, le=1)] | None = None
    any_case: Annotated[bool, _says("Propose names of one word in any spelling.")] = False
    max_candidates: Annotated[int, _says("Candidates of a mention that are scored.", ge=1)] = 30
    names: Annotated[int, _says("Candidates of a mention whose names are read; 0: all.", ge=0)] | None = None
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
        least = self.min_confidence
        if least is not None and not (_is_number(least) and 0 <= least <= 1):
            raise ConfigError(f"min_confidence must be a probability from 0 to 1, got {least!r}")
        if self.fallback not in (None, False, True):
            raise ConfigError(f"fallback must be True, False, or None for the model's own, got {self.fallback!r}")
        if self.names is not None and (type(self.names) is not int or self.names < 0):
            raise ConfigError(
                f"names must be a whole number, 0 for all, or None for the model's own, got {self.names!r}"
            )
        if not isinstance(self.weights, ScoreWeights | None):
            raise ConfigError(f"weights must be ScoreWeights, or None for the model's own, got {self.weights!r}")
        if self.titles is not None and not _are_strings(self.titles):
            raise ConfigError(f"titles must be a tuple of strings, or None for all titles, got {self.titles!r:.100}")

    def resolve(self, tuned: Tuned) -> LinkSettings:
        """Put the tuned value where an option is None; what was fitted to other weights is left out."""
        fitted = tuned if self.weights in (None, tuned.weights) else Tuned()
        decision = fitted.decision
        mention_threshold = tuned.mention_threshold if self.mention_threshold is None else self.mention_threshold
        least_score = None if decision else tuned.score_threshold
        return LinkSettings(
            mention_threshold=mention_threshold,
            proposal_threshold=decision.proposal_threshold
            if decision and self.mention_threshold is None
            else mention_threshold,
            score_threshold=least_score if self.score_threshold is None else self.score_threshold,
            min_confidence=self.min_confidence,
            weights=self.weights or tuned.weights,
            confidence=fitted.confidence,
            decision=decision,
            search=self.search,
            beams=self.beams,
            fallback=tuned.fallback if self.fallback is None else self.fallback,
            document_names=tuned.document_names if self.document_names is None else self.document_names,
            dictionary=tuned.dictionary if self.dictionary is None else self.dictionary,
            least_linked=tuned.least_linked if self.least_linked is None else self.least_linked,
            any_case=self.any_case,
            max_candidates=self.max_candidates,
            titles=None if self.titles is None else frozenset(self.titles),
            overlaps=self.overlaps,
            shortlist=_with_names(fitted.shortlist, self.names),
        )


class LinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a call decodes: its options, and the model's tuned values for what they leave open."""

    mention_threshold: float  # from which a mention without an entity is told of
    proposal_threshold: float  # from which spans are looked at
    score_threshold: float | None  # None: none
    min_confidence: float | None  # None: what the decision says, if there is one
    weights: ScoreWeights
    confidence: Confidence | None  # None: the model's own probability
    decision: Decision | None  # None: by the thresholds
    search: Literal["rank", "beam"]
    beams: int
    fallback: bool
    document_names: bool
    dictionary: bool
    least_linked: float
    any_case: bool
    max_candidates: int
    titles: frozenset[str] | None  # the only ones to link to; None: all
    overlaps: Literal["resolve", "keep"]
    shortlist: Shortlist | None  # None: all names are read


def _with_names(shortlist: Shortlist | None, names: int | None) -> Shortlist | None:
    """A shortlist of another length, of all where that is 0."""
    if names is None:
        return shortlist
    return msgspec.structs.replace(shortlist or Shortlist(), names=names) if names else None


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
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
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
