"""Names for short: in a document about Gerhard Schröder, "Schröder" may be whoever the longer name may be.

A mention whose words are some of those of a longer mention of the same document, in their order, or their initials,
gets the best candidates of the longer one too, with the priors that they have there and the match type `document`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from parlink.linking.mentions import Mention, surfaces_of
from parlink.types import Candidate, Document

TAKEN = 3  # candidates of each longer name
MATCH_TYPE = "document"
_WORD = re.compile(r"\w+")
Words = tuple[str, ...]
Choice = Sequence[Candidate]


def add_longer_names(
    docs: Sequence[Document], mentions: Sequence[Mention], candidates: Sequence[Choice], *, limit: int
) -> list[Choice]:
    """Add to the candidates of each mention those of the longer names of its document, `limit` in all."""
    names: list[dict[str, Choice]] = [{} for _ in docs]
    surfaces = surfaces_of(docs, mentions)
    for mention, surface, choice in zip(mentions, surfaces, candidates, strict=True):
        if choice or surface not in names[mention.document]:
            names[mention.document][surface] = choice
    longer = [find_longer(choices) for choices in names]
    given = [{link.span for link in doc.links if link.candidates} for doc in docs]  # the only ones there
    result: list[Choice] = []
    for mention, surface, choice in zip(mentions, surfaces, candidates, strict=True):
        known = {} if mention.span in given[mention.document] else names[mention.document]
        more = [c for name in longer[mention.document].get(surface, ()) for c in known.get(name, ())[:TAKEN]]
        result.append(unite(choice, more, limit=limit) if more else choice)
    return result


def find_longer(names: Mapping[str, Choice]) -> dict[str, list[str]]:
    """Say for each name of a document which longer ones, that have candidates, it may be short for."""
    words = {name: _fold_words(name) for name in names}
    heads = {name: _fold_words(name.partition(",")[0]) for name in names}  # IL is not short for "Chicago, IL"
    by_word: dict[str, list[str]] = defaultdict(list)
    for name, sequence in words.items():
        if len(sequence) > 1 and names[name]:
            for key in dict.fromkeys((*heads[name], _initials(sequence))):
                by_word[key].append(name)
    longer: dict[str, list[str]] = {}
    for name, sequence in words.items():
        listed = by_word.get(sequence[0], ()) if sequence else ()
        found = [other for other in listed if _is_short_for(name, sequence, words[other], heads[other])]
        if found:
            longer[name] = found
    return longer


def unite(candidates: Choice, more: Choice, *, limit: int) -> Choice:
    """The candidates with the others added, the most probable first; of one that is in both the higher prior counts."""
    priors = {candidate.title: candidate.prior or 0.0 for candidate in reversed(more)}
    known = {candidate.title for candidate in candidates}
    raised = [replace(c, prior=max(c.prior or 0.0, priors.get(c.title, 0.0))) for c in candidates]
    added = [replace(c, match_type=MATCH_TYPE) for c in _first_of_each(more) if c.title not in known]
    return sorted([*raised, *added], key=lambda candidate: -(candidate.prior or 0.0))[:limit]


def _first_of_each(candidates: Choice) -> Iterator[Candidate]:
    titles: set[str] = set()
    for candidate in candidates:
        if candidate.title not in titles:
            titles.add(candidate.title)
            yield candidate


def _is_short_for(name: str, words: Words, longer: Words, head: Words) -> bool:
    if len(words) == 1 and name.isupper() and len(name) > 1 and _initials(longer) == words[0]:
        return True
    room = len(head) - len(words)
    return len(words) < len(longer) and any(head[at : at + len(words)] == words for at in range(room + 1))


def _fold_words(name: str) -> Words:
    return tuple(word.casefold() for word in _WORD.findall(name))


def _initials(words: Words) -> str:
    return "".join(word[0] for word in words)
