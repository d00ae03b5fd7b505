"""brat standoff: a folder of NAME.txt and NAME.ann; entities are normalizations such as `Wikipedia:Kent_(band)`.

The text is kept byte for byte. A document's name is its id, percent-encoded where a file name needs it. The type of
a mention is that of its link, or "Entity".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from parlink.data import files
from parlink.data.formats.losses import count_changes, count_losses
from parlink.data.identifiers import WIKIDATA, WIKIPEDIA, Resolve, Target, page_url, qid, target
from parlink.errors import DataFormatError
from parlink.types import Document, Link, Span

_TYPE = "Entity"
_BASES = {"Wikipedia": WIKIPEDIA, "DBpedia": "http://dbpedia.org/resource/", "Wikidata": WIKIDATA}
_OPAQUE = {"ID", "URL"}  # how we write ids and URLs of other kinds
_MENTION = re.compile(r"(T\S*)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t.*)?")
_REFERENCE = re.compile(r"N\S*\tReference (T\S*) ([^\s:]+):([^\t]*)(?:\t(.*))?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_LONGEST_NAME = 200


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read every NAME.txt of a folder in the order of the names, with NAME.ann if it is there; or one such pair."""
    losses = Counter() if losses is None else losses
    given = Path(path)
    texts = sorted(given.glob("*.txt")) if given.is_dir() else [given.with_suffix(".txt")]
    if not texts:
        raise DataFormatError("has no .txt file; give a folder of brat documents", path=path)
    for text_path in texts:
        with files.open_input(text_path) as file:
            text = _text(file.read(), path=text_path)
        annotations = text_path.with_suffix(".ann")
        links = _links(annotations, text, resolve, losses) if annotations.exists() else ()
        yield Document(text, unquote(text_path.stem), tuple(links))


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a pair of files for each document into the folder `path`; `losses` counts what brat cannot hold."""
    losses = Counter() if losses is None else losses
    used: set[str] = set()
    for number, doc in enumerate(documents, start=1):
        count_losses(doc, losses, held=("id", "url", *_held_type(doc)))
        name = _name(doc.id, number, used, losses)
        with files.open_output(Path(path) / f"{name}.txt") as file:
            file.write(doc.text.encode())
        with files.open_output(Path(path) / f"{name}.ann") as file:
            file.write("".join(_lines(doc, losses)).encode())


def _text(raw: bytes, *, path: Path) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise DataFormatError(f"not UTF-8: {error}; convert the file to UTF-8", path=path) from error


def _links(path: Path, text: str, resolve: Resolve | None, losses: Counter[str]) -> Iterator[Link]:
    mentions: dict[str, tuple[str, Span]] = {}
    identifiers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    names: dict[str, str] = {}
    for number, raw in files.lines(path):
        line = files.decode(raw, path=path, line=number)
        if mention := _MENTION.fullmatch(line):
            mentions[mention[1]] = (mention[2], _span(mention[3], text, losses, path=path, line=number))
        elif reference := _REFERENCE.fullmatch(line):
            identifiers[reference[1]].append((reference[2], reference[3]))
            names.setdefault(reference[1], reference[4] or "")
        elif line.startswith(("T", "N")):
            raise DataFormatError(f"got {line!r}; wanted 'T1<tab>Type start end<tab>text'", path=path, line=number)
        else:
            losses["brat annotation that is neither a mention nor a normalization"] += 1
    for key, (kind, span) in mentions.items():
        found = _target(identifiers[key], names.get(key), resolve, losses)
        yield Link(span, found.title, found.id, url=found.url, type=None if kind == _TYPE else kind)


def _span(offsets: str, text: str, losses: Counter[str], *, path: Path, line: int) -> Span:
    numbers = [int(number) for number in re.findall(r"\d+", offsets)]
    if len(numbers) > 2:
        losses["brat mention in several pieces (taken from its start to its end)"] += 1
    start, end = min(numbers), max(numbers)
    if not start < end <= len(text):
        message = f"the span [{start}, {end}) of a text of {len(text)} characters; wanted start < end <= length"
        raise DataFormatError(message, path=path, line=line)
    return Span(start, end)


def _target(
    references: Sequence[tuple[str, str]], name: str | None, resolve: Resolve | None, losses: Counter[str]
) -> Target:
    identifiers = [
        f"{_BASES[resource]}{entity}" if resource in _BASES else unquote(entity) if resource in _OPAQUE else entity
        for resource, entity in references
    ]
    return target(identifiers, name=name, resolve=resolve, losses=losses)


def _lines(doc: Document, losses: Counter[str]) -> Iterator[str]:
    normalizations = 0
    for number, link in enumerate(doc.links, start=1):
        surface = _CONTROL.sub(" ", doc.text[link.span.start : link.span.end])
        yield f"T{number}\t{_kind(link)} {link.span.start} {link.span.end}\t{surface}\n"
        references = _references(link)
        count_changes(link, _target(references, link.title, None, Counter()), losses)
        for resource, entity in references:
            normalizations += 1
            name = _CONTROL.sub(" ", link.title or "")
            yield f"N{normalizations}\tReference T{number} {resource}:{entity}\t{name}\n"


def _references(link: Link) -> list[tuple[str, str]]:
    if link.title is None:
        return []
    references = [("Wikipedia", page_url(link.title).removeprefix(WIKIPEDIA))]
    if link.id is not None:
        references.append(("Wikidata", link.id) if qid(link.id) == link.id else ("ID", quote(link.id, safe=":/")))
    if link.url is not None:
        references.append(("URL", quote(link.url, safe=":/?#&=")))
    return references


def _kind(link: Link) -> str:
    return link.type if link.type and re.fullmatch(r"[^\s\x00-\x1f]+", link.type) else _TYPE


def _held_type(doc: Document) -> tuple[str, ...]:
    """Say that the types of links are held, if brat can spell all of them."""
    return ("type",) if all(link.type in (None, _kind(link)) and link.type != _TYPE for link in doc.links) else ()


def _name(doc_id: str, number: int, used: set[str], losses: Counter[str]) -> str:
    name = re.sub(r"^\.", "%2E", quote(doc_id, safe=" !$&'()+,;=@~"))
    if not doc_id or len(name) > _LONGEST_NAME or name in used:
        losses["id of a document that cannot name a file, or not a second one (numbered)"] += 1
        name = f"document-{number}"
        while name in used:
            name += "_"
    used.add(name)
    return name
