"""How documents are linked: what was tuned for a model, and what a call asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from parlink.decision_config import Confidence, Decision
from parlink.errors import ConfigError
from parlink.struct_checks import check_fields, check_names


class ScoreWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of the sum that a score is.

    score = lm * mean log-likelihood + classifier * f + prior * log max(prior, PRIOR_FLOOR)
            + similarity * (product of the bi-encoder's vectors) + overlap * (of description and text)
            + differs * (1 if the title is not the surface as it stands) + coherence * support
    """

    lm: float = 1.0
    classifier: float = 1.0
    prior: float = 0.0
    similarity: float = 0.0  # of mention and entity, of a model that has a bi-encoder
    overlap: float = 0.0  # of what is said of the entity and the text around, of such a model too; both 0: not computed
    differs: float = 0.0  # makes up for what the other parts see in a title that merely repeats the surface
    coherence: float = 0.0  # of the support by the other mentions of the document; 0: it is not computed

    def __post_init__(self) -> None:
        check_fields(self)
        for name in self.__struct_fields__:
            if math.isinf(getattr(self, name)):
                raise ConfigError(f"{name} must be a finite number, got {getattr(self, name)}")


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
    document_mentions: bool = False  # names of a document are proposed as mentions wherever they stand there
    dictionary: bool = False  # names of the knowledge base are proposed as mentions
    least_linked: float = 0.1  # how often such a name must be a link where it occurs, of a large knowledge base
    confidence: Confidence | None = None
    decision: Decision | None = None  # takes the place of score_threshold and confidence
    shortlist: Shortlist | None = None  # None: all names are read


def _says(description: str, *, ge: float | None = None, le: float | None = None) -> msgspec.Meta:
    """What users are told of an option, in the help of every command, and its bounds."""
    return msgspec.Meta(description=description, ge=ge, le=le)


class LinkOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to link; may change between calls. None is the value tuned for the model.

    Every command that links, the HTTP service and the spaCy pipe have the same options.
    """

    mention_threshold: Annotated[float, _says("Minimum log-odds that a mention starts at a token.")] | None = None
    score_threshold: Annotated[float, _says("Minimum score of the best candidate.")] | None = None
    min_confidence: Annotated[float, _says("Minimum probability that a link is correct.", ge=0, le=1)] | None = None
    weights: ScoreWeights | None = None  # weights of the parts of a score; None: the tuned ones
    search: Annotated[Literal["rank", "beam"], _says("Score every candidate, or generate titles by beam search.")] = (
        "rank"
    )
    beams: Annotated[int, _says("Beam width.", ge=1)] = 5
    fallback: Annotated[bool, _says("Search all titles where a mention has no candidates.")] | None = None
    document_names: (
        Annotated[bool, _says("Let a short name share the candidates of a longer one in the text.")] | None
    ) = None
    document_mentions: Annotated[bool, _says("Propose the names of a document wherever they occur in it.")] | None = (
        None
    )
    dictionary: Annotated[bool, _says("Propose names of the knowledge base as mentions, too.")] | None = None
    least_linked: (
        Annotated[float, _says("Minimum share of links among the occurrences of such a name.", ge=0, le=1)] | None
    ) = None
    any_case: Annotated[bool, _says("Propose one-word names in upper, lower or mixed case alike.")] = False
    max_candidates: Annotated[int, _says("Maximum candidates of a mention.", ge=1)] = 30
    names: Annotated[int, _says("Candidates of a mention that the network scores; 0: all.", ge=0)] | None = None
    titles: tuple[str, ...] | None = None  # link only to these entities; None: to all
    overlaps: Literal["resolve", "keep"] = "resolve"  # resolve: disjoint mentions; keep: all, even where they overlap
    parts: Literal["weighted", "all"] = "weighted"  # of scores: those that count, or all, so that weights can be fitted

    def __post_init__(self) -> None:
        if isinstance(self.titles, list):
            msgspec.structs.force_setattr(self, "titles", tuple(self.titles))
        check_fields(self)

    def replace(self, changes: Mapping[str, Any]) -> LinkOptions:
        """Return the same with other values, by name; unknown names are refused."""
        if not changes:
            return self
        check_names(changes, (*self.__struct_fields__, "options"), what="option")
        return msgspec.structs.replace(self, **changes)

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
            document_mentions=tuned.document_mentions if self.document_mentions is None else self.document_mentions,
            dictionary=tuned.dictionary if self.dictionary is None else self.dictionary,
            least_linked=tuned.least_linked if self.least_linked is None else self.least_linked,
            any_case=self.any_case,
            max_candidates=self.max_candidates,
            titles=None if self.titles is None else frozenset(self.titles),
            overlaps=self.overlaps,
            parts=self.parts,
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
    document_mentions: bool
    dictionary: bool
    least_linked: float
    any_case: bool
    max_candidates: int
    titles: frozenset[str] | None  # the only ones to link to; None: all
    overlaps: Literal["resolve", "keep"]
    parts: Literal["weighted", "all"]
    shortlist: Shortlist | None  # None: all names are read

    @property
    def compares(self) -> bool:
        """Whether mentions are compared with what is known of entities, by a model that can."""
        return self.parts == "all" or bool(self.weights.similarity or self.weights.overlap)


def _with_names(shortlist: Shortlist | None, names: int | None) -> Shortlist | None:
    """A shortlist of another length, of all where that is 0."""
    if names is None:
        return shortlist
    return msgspec.structs.replace(shortlist or Shortlist(), names=names) if names else None
