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
from recipes.wikipedia.spelling import drop_state

SCALE = 10  # counts are whole numbers, so weights are multiplied
_POWER, _MORE = 0.6, 0.5  # as in parlink.kb.priors
_TABLE, _TABLE_POWER = 0.5, 0.6
_PRIOR, _CANDIDATE_PRIOR = 10, 60
_ALIAS, _REDIRECT, _LISTED = 0.4, 1.0, 0.3
_LOWER_REDIRECT = 0.6 / STEP_WEIGHTS[FOLDED]  # their small letters say nothing, so case should cost nothing
_TITLE, _BEFORE_COMMA, _RESPELLED = 1.5, 0.5, 0.5
_DOUBTFUL_TITLE = 0.2  # in place of _TITLE
_FEWEST_LINKS, _NOUN_SHARE = 5, 0.4
_DAYS = frozenset(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
_DAY_POPULARITY = 100.0  # texts name days all the time, and Wikipedia does not link them
_SURNAME, _LISTS_OF_FAMOUS = 2.0, 4
_DIGITS = 3
_RESPELL = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "å": "aa", "Å": "Aa", "ø": "oe"}
    | {"Ø": "Oe", "æ": "ae"}
)


def weigh_names(
    title: str, evidence: Evidence, names: Mapping[str, NameEvidence], *, is_person: bool = False
) -> dict[str, int]:
    """Return the names of a title with their weights as counts."""
    fame = math.pow((_DAY_POPULARITY if title in _DAYS else evidence.popularity) + _MORE, _POWER)
    weights: dict[str, float] = {}
    for surface, name in names.items():
        weights[surface] = _weigh(name, fame)
    for surface, share in _spell_title(title, is_noun=_is_noun(names), is_doubtful=evidence.is_doubtful):
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
    """Round to a whole number of three binary digits and zeros; what they leave out says nothing, and costs 3 MB."""
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
    return name.fame + name.text_links + _TABLE * math.pow(name.table_links, _TABLE_POWER) + priors + soft * fame


def _weigh_surname(evidence: Evidence) -> float:
    """Return how much a bare surname says for a person: news call those so whom everybody knows.

    Links hardly tell, since Wikipedia writes names out; that many lists of different years have a person does.
    """
    return _SURNAME * max(0, len(evidence.lists) - _LISTS_OF_FAMOUS)


def _spell_title(title: str, *, is_noun: bool, is_doubtful: bool) -> Iterator[tuple[str, float]]:
    """Yield spellings of the title itself, with how much of its fame each has."""
    own = title.lower() if is_noun and title[1:].islower() else title
    yield own, _DOUBTFUL_TITLE if is_doubtful and title not in _DAYS else _TITLE
    short = drop_parenthesis(title) or title
    if (city := drop_state(short)) is not None:
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
