"""From facts, sorted by title, to entities: what counts as one, what it is called, and by which names it is found."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import groupby

from parlink.data.wikipedia.mediawiki import skip_reason
from parlink.kb.build.entity_types import is_known, type_of
from parlink.kb.build.facts import Fact, Kind

Counted = tuple[Fact, int]

_EXAMPLES = 20
_LONGEST_PARENTHESIS = 40  # characters of a description that tells two equal names apart
_MAKES_ENTITY = frozenset({Kind.NAME, Kind.LINK, Kind.LISTED, Kind.REDIRECT})
_NO_ENTITY = frozenset({Kind.LEFT_OUT, Kind.FLAGGED})
_GIVES_NAME = frozenset({Kind.LINK, Kind.LISTED, Kind.ALIAS, Kind.REDIRECT})


@dataclass
class Notes:
    """What was merged, renamed and left out: how often, and the first few."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, what: str, example: str, count: int = 1) -> None:
        """Take note of something that the user may want to know."""
        self.counts[what] += count
        if len(self.examples[what]) < _EXAMPLES:
            self.examples[what].append(example)


@dataclass
class Known:
    """An entity of the knowledge base that is being built."""

    title: str
    id: str = ""
    description: str = ""
    counts: Counter[str] = field(default_factory=Counter)  # surface: how often it was seen
    redirects: set[str] = field(default_factory=set)  # surfaces that are former or other titles
    type: str = ""  # one of `entity_types.TYPES`, or empty
    pages: array[int] = field(default_factory=lambda: array("Q"))  # keys of the pages that link to it, ascending
    kind: str = ""  # what its sources call the type, such as a DBpedia class
    popularity: int | None = None  # None: how often it was seen
    hidden: set[str] = field(default_factory=set)  # keys by which parts of the title do not find it


@dataclass(frozen=True)
class Rules:
    """What counts as an entity; `min_links` None: only what a source lists, not what texts merely link to."""

    min_links: int | None = 1
    wiki: bool = False  # dates, numbers and lists that texts link to are left out


def entities(facts: Iterable[Counted], rules: Rules, notes: Notes) -> Iterator[Known]:
    """Turn sorted facts into entities with unique titles."""
    waiting = _Waiting()
    for title, group in groupby(facts, key=lambda counted: counted[0].title):
        yield from waiting.release(title, notes)
        facts_of_title, pages = _part_pages(group)
        primary, *others = _split(title, facts_of_title, notes)
        if not _is_entity(title, primary, rules, notes):
            continue
        entity = _collect(title, primary, notes)
        entity.pages = pages
        yield entity
        for facts_of_other in others:
            waiting.hold(_collect(title, facts_of_other, notes))
    yield from waiting.release(None, notes)


def _part_pages(facts: Iterable[Counted]) -> tuple[list[Counted], array[int]]:
    """Part the pages that link to a title, of which there may be very many, from the rest."""
    rest: list[Counted] = []
    pages = array("Q")
    for counted in facts:
        if counted[0].kind == Kind.PAGE:
            pages.append(int(counted[0].value, 16))
        else:
            rest.append(counted)
    return rest, pages


def bring_to_now(facts: Iterable[Counted], resolve: Callable[[str], str]) -> Iterator[Counted]:
    """Bring facts to the titles of now."""
    for title, group in groupby(facts, key=lambda counted: counted[0].title):
        now = resolve(title)
        for fact, count in group:
            if fact.kind != Kind.REDIRECT or fact.value != now:
                yield fact._replace(title=now), count


class _Waiting:
    """Entities under made titles, until it is certain that no source has the same."""

    def __init__(self) -> None:
        self._entities: dict[str, Known] = {}
        self._titles: list[str] = []  # a heap

    def hold(self, entity: Known) -> None:
        """Make the title of an entity unique, and keep it."""
        _make_unique(entity, self._entities)
        self._entities[entity.title] = entity
        heappush(self._titles, entity.title)

    def release(self, title: str | None, notes: Notes) -> Iterator[Known]:
        """Yield what waits for titles up to `title`; where that is the same, the id tells the two apart."""
        while self._titles and (title is None or self._titles[0] <= title):
            made = heappop(self._titles)
            entity = self._entities.pop(made)
            if made == title:
                _rename(entity, f"{made[:-1]}, {entity.id})")
            notes.add("names made unique", f"{entity.title} has the id {entity.id}")
            yield entity


def _split(title: str, facts: Sequence[Counted], notes: Notes) -> list[list[Counted]]:
    """Part the facts about a title by entity, the one seen most first; facts without an id are about that one."""
    ids = {fact.id for fact, _ in facts if fact.kind == Kind.NAME and fact.id}
    for fact, count in facts:
        if fact.kind == Kind.NAME and count > 1:
            notes.add("titles given twice in one source, merged", title)
    if len(ids) <= 1:
        return [list(facts)]
    seen: Counter[str] = Counter()
    for fact, count in facts:
        seen[fact.id] += count if fact.kind == Kind.ALIAS else 0
    order = sorted(ids, key=lambda id: (-seen[id], len(id), id))
    by_id: dict[str, list[Counted]] = {id: [] for id in order}
    for counted in facts:
        by_id[counted[0].id if counted[0].id in ids else order[0]].append(counted)
    return list(by_id.values())


def _is_entity(title: str, facts: Sequence[Counted], rules: Rules, notes: Notes) -> bool:
    kinds = {fact.kind for fact, _ in facts}
    if Kind.NAME in kinds and Kind.FLAGGED not in kinds:
        return True
    links = sum(count for fact, count in facts if fact.kind == Kind.LINK)
    reason = None
    if kinds & _NO_ENTITY or (rules.wiki and skip_reason(title, "text")):
        reason = "titles left out that texts link to (dates, numbers, lists, disambiguation)"
    elif not kinds & _MAKES_ENTITY:
        reason = "ids and aliases of unknown titles, left out"
    elif rules.min_links is None or (kinds & _MAKES_ENTITY == {Kind.LINK} and links < rules.min_links):
        reason = "titles left out that texts link to too seldom"
    if reason is None:
        notes.add("titles known only from links, redirects and candidates", title)
    elif kinds and not kinds <= _NO_ENTITY:
        notes.add(reason, title)
    return reason is None


def _collect(title: str, facts: Sequence[Counted], notes: Notes) -> Known:
    given = [fact.id for fact, _ in facts] + [fact.value for fact, _ in facts if fact.kind == Kind.IDENTIFIER]
    entity = Known(title, id=next(filter(None, given), ""))
    for fact, count in facts:
        if fact.kind == Kind.DESCRIPTION and len(fact.value) > len(entity.description):
            entity.description = fact.value
        elif fact.kind in _GIVES_NAME:
            entity.counts[fact.value] += count
        if fact.kind == Kind.REDIRECT:
            entity.redirects.add(fact.value)
        elif fact.kind == Kind.CLASS:
            entity.kind = entity.kind or fact.value
        elif fact.kind == Kind.POPULARITY:
            entity.popularity = (entity.popularity or 0) + count
    entity.type = _choose_type([fact.value for fact, _ in facts if fact.kind == Kind.TYPE], notes)
    entity.counts[title] = max(1, entity.counts[title])
    return entity


def _choose_type(written: Sequence[str], notes: Notes) -> str:
    if not written:
        return ""
    for word in filter(is_known, written):
        return type_of(word)
    notes.add('types that are none of ours, taken as "other"', written[0])
    return type_of(written[0])


def _make_unique(entity: Known, taken: Container[str]) -> None:
    """Add a parenthesis to a title: the beginning of the description, or the id."""
    words = entity.description.split(". ")[0].split(", ")[0].strip(" .()")
    while len(words) > _LONGEST_PARENTHESIS:
        words = words.rpartition(" ")[0]
    described = f"{entity.title} ({words})"
    if words and described not in taken:
        _rename(entity, described)
        return
    title = f"{entity.title} ({entity.id})"
    while title in taken:
        title = f"{title[:-1]}, {entity.id})"
    _rename(entity, title)


def _rename(entity: Known, title: str) -> None:
    entity.title = title
    entity.counts[title] = max(1, entity.counts[title])
