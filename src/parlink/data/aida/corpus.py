"""AIDA-CoNLL from its raw parts: CoNLL-2003 tokens, the AIDA annotations and candidate sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from parlink.data import files, jsonl
from parlink.data.aida import pershina
from parlink.data.titles import plain_title, read_redirects
from parlink.errors import DataFormatError
from parlink.types import Document, Link, Span

SPLITS = {"eng.train": "train", "eng.testa": "testa", "eng.testb": "testb"}  # raw file to split

_LABEL = re.compile(r"-DOCSTART- \(((\d+)(testa|testb)?(?: .*)?)\)")
_NIL = "--NME--"


@dataclass(frozen=True, slots=True)
class Annotations:
    """What AIDA says about one document: a title, or None for NIL, by the mention's first token."""

    label: str
    number: int
    line: int
    titles: dict[int, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a split holds."""

    documents: int
    with_link: int
    linked: int
    nil: int
    recalled: int  # linked mentions whose title is among the candidates

    @property
    def recall(self) -> float:
        """The share of linked mentions whose title is among the candidates."""
        return self.recalled / self.linked if self.linked else 1.0


def build(
    conll: Path | str, *, annotations: Path | str, candidates: Path | str, redirects: Path | str, output: Path | str
) -> dict[str, Counts]:
    """Write `<split>.jsonl` for each raw split in the folder `conll`, and `graph.jsonl`; say what each split holds.

    `graph.jsonl` has a line `{"title", "links": [titles]}` for every candidate whose page links to other candidates.
    """
    raw = {split: Path(conll) / name for name, split in SPLITS.items() if (Path(conll) / name).is_file()}
    if not raw:
        raise DataFormatError(f"has none of {', '.join(SPLITS)}; give the folder of the CoNLL-2003 files", path=conll)
    renamed = read_redirects(redirects)
    annotated = read_annotations(annotations)
    entries = pershina.read(candidates)
    counts = {}
    for split, path in raw.items():
        docs = list(join(path, annotated[split], entries, renamed, annotations_path=annotations))
        jsonl.write(Path(output) / f"{split}.jsonl", docs)
        counts[split] = count(docs)
    _write_graph(Path(output) / "graph.jsonl", pershina.read_graph(candidates, renamed))
    return counts


def _write_graph(path: Path, graph: Mapping[str, Sequence[str]]) -> None:
    with files.open_output(path) as file:
        for title, links in graph.items():
            if links:
                file.write(msgspec.json.encode({"title": title, "links": links}) + b"\n")


def join(
    conll: Path | str,
    annotated: Sequence[Annotations],
    entries: Mapping[int, Sequence[pershina.Entry]],
    redirects: Mapping[str, str],
    *,
    annotations_path: Path | str,
) -> Iterator[Document]:
    """Join one raw split with its annotations and candidates, both in the order of the documents."""
    documents = list(_raw_documents(conll))
    if len(documents) != len(annotated):
        message = f"{len(annotated)} annotated documents for the {len(documents)} of {conll}; the files do not belong"
        raise DataFormatError(message, path=annotations_path)
    for tokens, given in zip(documents, annotated, strict=True):
        mentions = _mentions(tokens, given, path=annotations_path)
        if given.number not in entries:
            message = f"no candidates for the document {given.label!r}; give the candidate files of all documents"
            raise DataFormatError(message, path=annotations_path, line=given.line)
        yield _document(tokens, mentions, given, entries[given.number], redirects)


def count(docs: Sequence[Document]) -> Counts:
    """Count documents, mentions and how many golds are among their candidates."""
    links = [link for doc in docs for link in doc.links]
    linked = [link for link in links if link.title is not None]
    return Counts(
        documents=len(docs),
        with_link=sum(any(link.title is not None for link in doc.links) for doc in docs),
        linked=len(linked),
        nil=len(links) - len(linked),
        recalled=sum(any(candidate.title == link.title for candidate in link.candidates) for link in linked),
    )


def read_annotations(path: Path | str) -> dict[str, list[Annotations]]:
    """Read the AIDA-YAGO2 annotations of each split, in the order of the file."""
    splits: dict[str, list[Annotations]] = {split: [] for split in SPLITS.values()}
    current: Annotations | None = None
    for number, raw in files.lines(path):
        line = files.decode(raw, path=path, line=number)
        if match := _LABEL.fullmatch(line):
            current = Annotations(match[1], int(match[2]), number)
            splits[match[3] or "train"].append(current)
            continue
        columns = line.split("\t")
        if current is None or not columns[0].isdecimal() or len(columns) < 2:
            message = f"got {line!r}; wanted '-DOCSTART- (label)' or token index, name and Wikipedia URL in columns"
            raise DataFormatError(message, path=path, line=number)
        current.titles[int(columns[0])] = _title(columns, path=path, line=number)
    return splits


def _title(columns: Sequence[str], *, path: Path | str, line: int) -> str | None:
    if columns[1] == _NIL:
        return None
    _, mark, page = (columns[2] if len(columns) > 2 else "").partition("/wiki/")
    if not mark:
        message = f"got {columns[1]!r} without a Wikipedia URL in the third column; wanted {_NIL} or a URL"
        raise DataFormatError(message, path=path, line=line)
    return plain_title(page)


def _raw_documents(path: Path | str) -> Iterator[list[tuple[str, str]]]:
    tokens: list[tuple[str, str]] | None = None
    for number, raw in files.lines(path):
        word, *columns = raw.decode("latin-1").split()
        if word == "-DOCSTART-":
            if tokens is not None:
                yield tokens
            tokens = []
        elif tokens is None or not columns or not re.fullmatch("O|[BI]-.+", columns[-1]):
            message = f"got {raw!r}; wanted a first line -DOCSTART-, then a token and its columns, the IOB1 tag last"
            raise DataFormatError(message, path=path, line=number)
        else:
            tokens.append((word, columns[-1]))
    if tokens is not None:
        yield tokens


def _chunks(tags: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and past-the-end token of every IOB1 chunk; sentence boundaries do not cut."""
    chunks: list[tuple[int, int]] = []
    before = "O"
    for index, tag in enumerate(tags):
        if tag != "O":
            continues = before != "O" and tag[0] == "I" and tag[2:] == before[2:]
            chunks.append((chunks.pop()[0] if continues else index, index + 1))
        before = tag
    return chunks


def _mentions(tokens: Sequence[tuple[str, str]], given: Annotations, *, path: Path | str) -> list[tuple[int, int]]:
    chunks = _chunks([tag for _, tag in tokens])
    odd = {first for first, _ in chunks} ^ given.titles.keys()
    if odd:
        message = f"annotations and CoNLL chunks of {given.label!r} do not meet at the tokens {sorted(odd)}"
        raise DataFormatError(f"{message}; use the CoNLL-2003 files with IOB1 tags", path=path, line=given.line)
    return chunks


def _document(
    tokens: Sequence[tuple[str, str]],
    mentions: Sequence[tuple[int, int]],
    given: Annotations,
    entries: Sequence[pershina.Entry],
    redirects: Mapping[str, str],
) -> Document:
    words = [word for word, _ in tokens]
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    text = " ".join(words)
    spans = [Span(starts[first], starts[past] - 1) for first, past in mentions]
    titles = [given.titles[first] for first, _ in mentions]
    surfaces = [(text[span.start : span.end], title is None) for span, title in zip(spans, titles, strict=True)]
    links = [
        Link(
            span,
            None if title is None else redirects.get(title, title),
            candidates=pershina.candidates(entry, redirects) if entry else (),
        )
        for span, title, entry in zip(spans, titles, pershina.align(surfaces, entries), strict=True)
    ]
    return Document(text, given.label, tuple(links))
