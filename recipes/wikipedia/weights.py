"""How much each name says for its title, in links of running text: the counts of aliases in the knowledge base.

What was never seen in a text weighs by a power of how well known the title is, as names made of a title do in
`parlink.kb.priors`. recipes/README.md says how the numbers were chosen; most settings near these are as good.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice

from parlink.kb.priors import STEP_WEIGHTS
from parlink.kb.surfaces import FOLDED, drop_parenthesis, parts
from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.names import NameEvidence, Sign

SCALE = 10  # counts are whole numbers, so weights are multiplied
_POWER, _MORE = 0.6, 0.5  # as in parlink.kb.priors
_TABLE, _TABLE_POWER = 0.5, 0.6
_PRIOR, _CANDIDATE_PRIOR = 10, 60
_ALIAS, _REDIRECT, _LISTED = 0.4, 1.0, 0.3
_LOWER_REDIRECT = 0.6 / STEP_WEIGHTS[FOLDED]  # their small letters say nothing, so case should cost nothing
_TITLE, _BEFORE_COMMA, _RESPELLED = 1.5, 0.5, 0.5
_FEWEST_LINKS, _NOUN_SHARE = 5, 0.4
_SURNAME, _LISTS_OF_FAMOUS = 2.0, 4
_DIGITS = 4
_RESPELL = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "å": "aa", "Å": "Aa", "ø": "oe"}
    | {"Ø": "Oe", "æ": "ae"}
)


def weigh_names(
    title: str, evidence: Evidence, names: Mapping[str, NameEvidence], *, is_person: bool = False
) -> dict[str, int]:
    """Return the names of a title with their weights as counts."""
    fame = math.pow(evidence.popularity + _MORE, _POWER)
    weights: dict[str, float] = {}
    for surface, name in names.items():
        weights[surface] = _weigh(name, fame)
    for surface, share in _spell_title(title, is_noun=_is_noun(names)):
        weights[surface] = weights.get(surface, 0.0) + share * fame
    if is_person and (weight := _weigh_surname(evidence)):
        for surname in islice(parts(title), 1):
            weights[surname] = weights.get(surname, 0.0) + weight
    return {surface: max(1, _round(SCALE * weight)) for surface, weight in weights.items()}


def scale_popularity(evidence: Evidence) -> int:
    """Return a popularity by which names that the builder makes of a title weigh as these do.

    The builder takes (popularity + 0.5) ** 0.6, and here that should be `SCALE` times what it is for links.
    """
    return max(0, _round(math.pow(SCALE, 1 / _POWER) * (evidence.popularity + _MORE) - _MORE))


def _round(weight: float) -> int:
    """Round to a whole number of four binary digits and zeros; what they leave out says nothing, and costs 2 MB."""
    step = 1 << max(0, int(weight).bit_length() - _DIGITS)
    return round(weight / step) * step


def _weigh(name: NameEvidence, fame: float) -> float:
    soft = (
        _ALIAS * bool(name.signs & Sign.ALIAS)
        + _REDIRECT * bool(name.signs & Sign.REDIRECT)
        + _LOWER_REDIRECT * bool(name.signs & Sign.LOWER_REDIRECT)
        + _LISTED * bool(name.signs & Sign.LISTED)
    )
    priors = _PRIOR * name.prior + _CANDIDATE_PRIOR * name.candidate_prior
    return name.text_links + _TABLE * math.pow(name.table_links, _TABLE_POWER) + priors + soft * fame


def _weigh_surname(evidence: Evidence) -> float:
    """Return how much a bare surname says for a person: news call those so whom everybody knows.

    Links hardly tell, since Wikipedia writes names out; that many lists of different years have a person does.
    """
    return _SURNAME * max(0, len(evidence.lists) - _LISTS_OF_FAMOUS)


def _spell_title(title: str, *, is_noun: bool) -> Iterator[tuple[str, float]]:
    """Yield spellings of the title itself, with how much of its fame each has."""
    if is_noun and title[1:].islower():
        yield title.lower(), _TITLE
    else:
        yield title, _TITLE
    short = drop_parenthesis(title) or title
    if (city := _drop_after_comma(short)) is not None:
        yield city, _BEFORE_COMMA
    if not title.isascii():
        for spelling in {short, title}:
            if (respelled := spelling.translate(_RESPELL)) != spelling:
                yield respelled, _RESPELLED


def _is_noun(names: Mapping[str, NameEvidence]) -> bool:
    """Whether texts mostly link the title in small letters: a common noun, which the capital of its title is not of."""
    links = sum(name.text_links for name in names.values())
    small = sum(name.text_links for surface, name in names.items() if surface.islower())
    return links >= _FEWEST_LINKS and small >= _NOUN_SHARE * links


def _drop_after_comma(title: str) -> str | None:
    """Return what stands before the comma of "Auburn, New York"; None if there is no comma, or no place after it."""
    before, comma, after = title.partition(", ")
    return before if comma and after[:1].isupper() and not any(map(str.isdigit, after)) else None
