"""The tables of a KB folder, memory-mapped: titles, ids, descriptions, and the names by which titles are found.

kb.json            what it is, where it comes from, and size and checksum of every other file
titles.marisa      the titles; the number that the trie gives a title is its id in every array
keys.marisa        the keys of all names (`surfaces.key`)
ids.marisa         the identifiers, such as QIDs; not there if no entity has one
descriptions.marisa, kinds.marisa   the distinct descriptions, and what sources call the types; may be missing
links.safetensors  which pages link to a title; see `link_graph`
arrays.safetensors
    name_start       (keys / 16,) where the names begin that hang on every sixteenth key
    name_many        (keys,)     how many names hang on a key
    name_title       (names,)    the title; its two highest bits say what kind of name it is
    name_count       (names,)    how often the name was seen for the title; popularity of the title if made of it
    COLUMN_values    (some,)     what the numbers of a column stand for; may be missing: for themselves
    name_form        (names,)    `form` of the name as it is spelled
    title_count      (titles,)   how often the title was seen under any name; may be missing, if there is a popularity
    title_id         (titles,)   its id's number in ids.marisa + 1; 0: none
    id_title         (ids,)      the title that has the id
    name_linked      (names,)    how often the name is a link where it occurs; see `Linked`
    shape_linked     (shapes,)   the same of names that look alike (`shapes`), which is what guesses in name_linked are
    title_type       (titles,)   place in TYPES + 1; 0: none
    title_description, title_kind   (titles,) number in descriptions.marisa, kinds.marisa + 1; 0: none
    title_popularity (titles,)   how well known the title is, if that is not title_count
Format 1 has, in place of title_description, description_start (titles + 1,) and description (bytes,), and no types;
before format 3, name_form has 32 bits, name_count of names made of a title is title_count, and name_start (keys + 1,)
is that of all keys; before format 4, nothing is encoded, and guesses stand in name_linked;
before format 5, only name_count is encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import marisa_trie
import numpy as np
from numpy.typing import NDArray

from parlink.errors import KnowledgeBaseError
from parlink.kb import arrays, surfaces
from parlink.kb.info import File, Info, check_file, read_info
from parlink.kb.link_graph import LINKS_FILE, LinkGraph
from parlink.kb.names import KIND_SHIFT, REDIRECT, TITLE_MASK, Names, form, narrow
from parlink.kb.shapes import SHAPES, shape

ARRAYS_FILE = "arrays.safetensors"
TITLES_FILE, KEYS_FILE, IDS_FILE = "titles.marisa", "keys.marisa", "ids.marisa"
DESCRIPTIONS_FILE, KINDS_FILE = "descriptions.marisa", "kinds.marisa"
TYPES = ("person", "organization", "place", "event", "work", "product", "species", "other")

LINKED_BITS = 15  # of name_linked: the probability; the highest bit says that it is a guess
LINKED_SCALE = (1 << LINKED_BITS) - 1
REMEMBERED, FEW_NAMES = 1 << 12, 256  # keys, and names of one: 25 MB at most, and some 2 as a rule
CHECKED_BYTES = 32 << 20  # that are read at opening to see whether they are whole, which takes some 20 ms


@dataclass(frozen=True, slots=True)
class Linked:
    """How often a name is a link where it occurs."""

    probability: float
    is_guess: bool  # the mean of names that look like it, since no text was seen with it


class Tables:
    """An opened KB folder; nothing in it ever changes."""

    def __init__(self, folder: Path, info: Info) -> None:
        self.folder, self.info = folder, info
        self.titles = _trie(folder / TITLES_FILE, info.titles)
        self._keys = _trie(folder / KEYS_FILE)
        self._ids = _trie(folder / IDS_FILE, info.ids) if info.ids else None
        self._descriptions, self._kinds = (
            _trie(folder / name) if name in info.files else None for name in (DESCRIPTIONS_FILE, KINDS_FILE)
        )
        self._arrays = arrays.open_mapped(folder / ARRAYS_FILE)
        self.graph = LinkGraph.open(folder / LINKS_FILE, info.titles) if LINKS_FILE in info.files else None
        self._name_start, self._name_title, self._name_form = (
            self._arrays[name] for name in ("name_start", "name_title", "name_form")
        )
        self._name_count = arrays.Column.of(self._arrays, "name_count")
        self._name_linked, self._popularity = (
            arrays.Column.of(self._arrays, name) if name in self._arrays else None
            for name in ("name_linked", "title_popularity")
        )
        is_counted = "title_count" in self._arrays
        self._title_count = arrays.Column.of(self._arrays, "title_count" if is_counted else "title_popularity")
        self._remembered: dict[str, tuple[int, Names]] = {}
        self._check_shapes()

    @classmethod
    def open(cls, folder: Path) -> Tables:
        """Open a KB folder in milliseconds, whatever its size.

        What is cheap to check is checked: sizes, headers, and the checksums of small files, first of the tries, whose
        damage could crash the process. `verify` checks the rest.
        """
        info = read_info(folder)
        try:
            _check_files(folder, info)
            return cls(folder, info)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise _damaged(folder, error) from error

    def _check_shapes(self) -> None:
        """Refuse arrays that are missing, or do not have one number for each of what they are about."""
        titles, names, ids = self.info.titles, self.info.names, self.info.ids
        keys = len(self._keys)
        starts = -(-keys // arrays.SHARED) if "name_many" in self._arrays else keys + 1
        wanted = {"name_start": starts, "name_many": keys, "id_title": ids, "description_start": titles + 1}
        wanted |= {"shape_linked": SHAPES}
        wanted |= dict.fromkeys(("name_title", "name_count", "name_form", "name_linked"), names)
        columns = ("count", "id", "type", "description", "kind", "popularity")
        wanted |= {f"title_{column}": titles for column in columns}
        needed = ["title_id", "id_title"] * bool(ids) + ["title_kind"] * bool(self._kinds)
        old = ["description_start", "description"] * bool(self.info.descriptions)
        for name in (*needed, *(["title_description"] if self._descriptions else old)):
            if name not in self._arrays:
                raise ValueError(f"there is no {name}")
        for name, array in self._arrays.items():
            if array.shape != (wanted.get(name, len(array)),):
                raise ValueError(f"{name} has the shape {array.shape}, wanted {wanted[name]}")

    def __len__(self) -> int:
        return self.info.titles

    def title(self, number: int) -> str:
        """Return the title with a number."""
        return str(self.titles.restore_key(number))

    def number(self, title: str) -> int | None:
        """Return the number of a title, or None if there is no such title."""
        return _get(self.titles, title)

    def names(self, key: str) -> Names:
        """Find the names that hang on a key (`surfaces.key`)."""
        return self._rows(key)[1]

    def _rows(self, key: str) -> tuple[int, Names]:
        """The first row of the names of a key, and these; remembered, as linking asks for a name more than once."""
        rows = self._remembered.get(key)
        if rows is None:
            first, last = self._range(key)
            rows = first, self._names(first, last)
            if last - first <= FEW_NAMES:
                if len(self._remembered) >= REMEMBERED:
                    self._remembered.clear()
                self._remembered[key] = rows
        return rows

    def _names(self, first: int, last: int) -> Names:
        title = self._name_title[first:last]
        numbers = (title & TITLE_MASK).astype(np.int64)
        self._check(numbers.max(initial=0) < self.info.titles, "name_title")
        return Names(
            title=numbers,
            kind=(title >> KIND_SHIFT).astype(np.int64),
            form=narrow(self._name_form[first:last]),
            count=self._read(self._name_count, slice(first, last)).astype(np.float64),
        )

    def redirect(self, old: str) -> int | None:
        """Return the number of the title that `old` is a former or other title of."""
        names = self.names(surfaces.key(old))
        redirects = names.title[(names.kind == REDIRECT) & (names.form == form(old))]
        return int(redirects[0]) if len(redirects) else None

    def with_id(self, identifier: str) -> int | None:
        """Return the number of the title that has an identifier; of several the one seen most."""
        number = _get(self._ids, identifier) if self._ids is not None else None
        if number is None:
            return None
        title = int(self._arrays["id_title"][number])
        self._check(title < self.info.titles, "id_title")
        return title

    def all_with_id(self, identifier: str) -> list[int]:
        """Return the numbers of all titles that have an identifier, which means to look at all titles."""
        number = _get(self._ids, identifier) if self._ids is not None else None
        return [] if number is None else np.flatnonzero(self._arrays["title_id"] == number + 1).tolist()

    def id(self, number: int) -> str | None:
        """Return the identifier of a title."""
        place = int(self._arrays["title_id"][number]) if self._ids is not None else 0
        self._check(place <= self.info.ids, "title_id")
        return str(self._ids.restore_key(place - 1)) if self._ids is not None and place else None

    def description(self, number: int) -> str | None:
        """Return the description of a title."""
        if self._descriptions is not None:
            return self._string(self._descriptions, "title_description", number)
        return self._old_description(number) if self.info.descriptions else None

    def kind(self, number: int) -> str | None:
        """Return what sources call the type of a title, such as a DBpedia class."""
        return None if self._kinds is None else self._string(self._kinds, "title_kind", number)

    def type(self, number: int) -> str | None:
        """Return which of TYPES a title is."""
        if "title_type" not in self._arrays:
            return None
        place = int(self._arrays["title_type"][number])
        self._check(place <= len(TYPES), "title_type")
        return TYPES[place - 1] if place else None

    def popularity(self, number: int) -> int:
        """Return how well known a title is."""
        return int(self._read(self._popularity or self._title_count, np.array([number]))[0])

    def title_counts(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often titles were seen under any name."""
        return self._read(self._title_count, numbers).astype(np.int64)

    @property
    def has_popularity(self) -> bool:
        """Whether sources said how well known titles are."""
        return self._popularity is not None

    def linked(self, surface: str) -> Linked | None:
        """Return how often a surface is a link where it occurs; None if the knowledge base does not know.

        Of several names under its key the one that is spelled most like it tells.
        """
        if self._name_linked is None:
            return None
        first, names = self._rows(surfaces.key(surface))
        if not len(names.title):
            return None
        steps = names.steps(surface)
        near = self._read(self._name_linked, slice(first, first + len(steps)))[steps == steps.min()]
        value = int((near ^ LINKED_SCALE).min()) ^ LINKED_SCALE  # the highest of those that are no guesses, else of all
        is_guess = bool(value >> LINKED_BITS)
        if is_guess and "shape_linked" in self._arrays:
            value = int(self._arrays["shape_linked"][shape(surface)])
        return Linked((value & LINKED_SCALE) / LINKED_SCALE, is_guess=is_guess)

    @property
    def shape_linked(self) -> NDArray[np.uint16] | None:
        """How often names of each shape are links, as in `name_linked`; None if nobody counted."""
        return self._arrays.get("shape_linked")

    def linked_forms(self, key: str) -> dict[int, float]:
        """Return how often the spellings of a key are links where they occur, by form; guesses are left out."""
        first, last = self._range(key)
        if self._name_linked is None or first == last:
            return {}
        column = self._read(self._name_linked, slice(first, last))
        counted = (column >> LINKED_BITS) == 0
        return dict(
            zip(
                narrow(self._name_form[first:last][counted]).tolist(),
                (column[counted] / LINKED_SCALE).tolist(),
                strict=True,
            )
        )

    def has_key(self, key: str) -> bool:
        """Whether names hang on a key."""
        return _get(self._keys, key) is not None

    def key_prefixes(self, text: str) -> list[str]:
        """Return the keys on which names hang that a text begins with."""
        try:
            return list(self._keys.prefixes(text))
        except UnicodeEncodeError:  # a lone surrogate
            return []

    def name_keys(self) -> Iterator[str]:
        """Yield the keys of all names."""
        return iter(self._keys.iterkeys())

    def _read(self, column: arrays.Column, rows: slice | NDArray[np.int64]) -> arrays.Array:
        try:
            return column[rows]
        except ValueError as error:
            raise _damaged(self.folder, error) from error

    def _string(self, trie: Any, array: str, number: int) -> str | None:
        place = int(self._arrays[array][number])
        self._check(place <= len(trie), array)
        return str(trie.restore_key(place - 1)) if place else None

    def _old_description(self, number: int) -> str | None:
        first, last = self._arrays["description_start"][number : number + 2].tolist()
        text = self._arrays["description"]
        self._check(first <= last <= len(text), "description_start")
        try:
            return text[first:last].tobytes().decode() if first < last else None
        except UnicodeDecodeError as error:
            raise _damaged(self.folder, error) from error

    def _range(self, key: str) -> tuple[int, int]:
        number = _get(self._keys, key)
        if number is None:
            return 0, 0
        if (many := self._arrays.get("name_many")) is None:
            first, last = self._name_start[number : number + 2].tolist()
        else:
            first, last = arrays.Groups(self._name_start, many).range(number)
        self._check(first <= last <= self.info.names, "name_start")
        return first, last

    def _check(self, right: bool | np.bool_, array: str) -> None:
        """Refuse to go on with a number that points nowhere."""
        if not right:
            raise _damaged(self.folder, f"{array} points outside")


def _get(trie: Any, text: str) -> int | None:
    try:
        number: int | None = trie.get(text)
    except UnicodeEncodeError:  # a lone surrogate
        return None
    return number


def _trie(path: Path, size: int | None = None) -> Any:
    trie = marisa_trie.Trie().mmap(str(path))
    if size not in (None, len(trie)):
        raise ValueError(f"{path.name} has {len(trie):,} strings, wanted {size:,}")
    return trie


def _check_files(folder: Path, info: Info) -> None:
    budget = CHECKED_BYTES
    for name, size in info.sizes().items():
        if (folder / name).stat().st_size != size:
            raise ValueError(f"{name} should have {size:,} bytes")
    for name, file in sorted(info.files.items(), key=lambda item: not item[0].endswith(".marisa")):
        if isinstance(file, File) and (budget := budget - file.size) >= 0:
            check_file(folder / name, file)


def _damaged(folder: Path, why: object) -> KnowledgeBaseError:
    return KnowledgeBaseError(f"{folder}: the knowledge base is damaged ({why}); build it again")
