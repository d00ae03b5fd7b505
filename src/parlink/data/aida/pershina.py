"""The candidate sets of Pershina et al. 2015 (PPRforNED) for AIDA: one file per document number."""

from __future__ import annotations

import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from parlink.data import files
from parlink.data.titles import plain_title
from parlink.errors import DataFormatError
from parlink.types import Candidate

_PAGE = "/wiki/"


@dataclass(frozen=True, slots=True)
class Entry:
    """A mention of the candidate files: its surface, whether it is NIL, and how often each title is linked to.

    In the file the first title is the gold one: never use the order.
    """

    surface: str
    nil: bool
    counts: tuple[tuple[str, int], ...]


def read(source: Path | str) -> dict[int, list[Entry]]:
    """Read all candidates of a folder or of a tar archive, by document number."""
    return {number: list(_entries(name, raw)) for number, name, raw in _members(Path(source))}


def read_graph(source: Path | str, redirects: Mapping[str, str]) -> dict[str, list[str]]:
    """Read which candidates' pages link to which, united over all documents, both in order of title.

    A file says it of the candidates of its own document only, by their page numbers. The graph of one document would
    tell which of its spans are gold, so it is never used alone.
    """
    graph: dict[str, set[str]] = defaultdict(set)
    for _, name, raw in _members(Path(source)):
        titles: dict[str, str] = {}
        linked: dict[str, set[str]] = defaultdict(set)
        for number, kind, fields in _lines(name, raw):
            if kind == "CANDIDATE" and "id" in fields:
                title = _parse_title(fields.get("url", ""), path=name, line=number)
                titles[fields["id"]] = redirects.get(title, title)
                linked[fields["id"]].update(filter(None, fields.get("links", "").split(";")))
        for page, others in linked.items():
            graph[titles[page]].update(titles[other] for other in others if other in titles)
    return {title: sorted(graph[title] - {title}) for title in sorted(graph)}


def candidates(entry: Entry, redirects: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Sort the candidates of an entry by prior, ties by title; titles that redirects make equal are one."""
    merged: dict[str, int] = defaultdict(int)
    for title, count in entry.counts:
        merged[redirects.get(title, title)] += count
    total = sum(merged.values())
    ranked = sorted(merged.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Candidate(title, prior=count / total if total else 1 / len(merged)) for title, count in ranked)


def align(mentions: Sequence[tuple[str, bool]], entries: Sequence[Entry]) -> list[Entry | None]:
    """Give each mention (its surface, and whether it is NIL) its entry.

    An entry belongs to the next mention of the same surface, spaces aside, and the same NIL-ness.
    """
    aligned: list[Entry | None] = [None] * len(mentions)
    keys = [(_squeeze(surface), nil) for surface, nil in mentions]
    first = 0
    for entry in entries:
        key = (_squeeze(entry.surface), entry.nil)
        place = next((index for index in range(first, len(keys)) if keys[index] == key), None)
        if place is not None:
            aligned[place] = entry
            first = place + 1
    return aligned


def _squeeze(surface: str) -> str:
    return "".join(surface.split())


def _members(source: Path) -> Iterator[tuple[int, str, bytes]]:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.name.isdecimal() and path.is_file():
                yield int(path.name), str(path), path.read_bytes()
        return
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                file = archive.extractfile(member) if Path(member.name).name.isdecimal() else None
                if file is not None:
                    yield int(Path(member.name).name), f"{source}!{member.name}", file.read()
    except (OSError, EOFError, tarfile.TarError) as error:
        message = f"cannot be read as a folder or a tar archive of candidates ({error})"
        raise DataFormatError(message, path=source) from error


def _entries(name: str, raw: bytes) -> Iterator[Entry]:
    head: dict[str, str] | None = None
    counts: list[tuple[str, int]] = []
    for number, kind, fields in _lines(name, raw):
        try:
            if kind == "CANDIDATE":
                counts.append((_parse_title(fields["url"], path=name, line=number), int(fields["inCount"])))
                continue
            if head is not None:
                yield _entry(head, counts)
            head, counts = {"surface": fields["origText"], "url": fields["url"]}, []
        except (KeyError, ValueError) as error:
            message = f"a broken {kind} line ({error}); wanted origText and url, or url and inCount"
            raise DataFormatError(message, path=name, line=number) from error
    if head is not None:
        yield _entry(head, counts)


def _lines(name: str, raw: bytes) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield the lines of a candidate file with their number, their kind and their fields."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        kind, *columns = files.decode(line, path=name, line=number).split("\t")
        if kind in ("ENTITY", "CANDIDATE"):
            yield number, kind, {key: value for key, _, value in (column.partition(":") for column in columns)}


def _entry(head: Mapping[str, str], counts: Sequence[tuple[str, int]]) -> Entry:
    return Entry(head["surface"], head["url"] == "NIL", tuple(counts))


def _parse_title(url: str, *, path: str, line: int) -> str:
    _, mark, page = url.partition(_PAGE)
    if not mark:
        raise DataFormatError(f"no Wikipedia page in {url!r}; wanted the URL of a candidate", path=path, line=line)
    return plain_title(page)
