"""NIF 2.1: texts and annotations as RDF, mostly Turtle; offsets are code points.

A mention is a `nif:Phrase`, its entity the `itsrdf:taIdentRef`; a phrase without one is NIL. Titles are written
as Wikipedia URLs, Wikidata ids as theirs, other ids as `itsrdf:taIdent`, the score as `itsrdf:taConfidence`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

try:
    import pyoxigraph as rdf
except ImportError:
    rdf = None  # type: ignore[assignment]

from parlink.data import files
from parlink.data.formats.losses import count_changes, count_losses
from parlink.data.identifiers import WIKIDATA, Resolve, page_url, qid, target
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document, Link, Span

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITSRDF = "http://www.w3.org/2005/11/its/rdf#"
_RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_PREFIXES = {"nif": NIF, "itsrdf": ITSRDF, "xsd": _XSD}
Triple = tuple[str, str, str]
_OURS = "urn:parlink:document:"
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(slots=True)
class _Node:
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def one(self, name: str) -> str | None:
        return next(iter(self.values[name]), None)


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read documents as their last statement comes by; the statements may be in any order.

    The file is read twice, once to count the statements of each document; a document's id is its context's URI
    without the fragment.
    """
    yield from _documents(lambda: _triples(path), path, resolve, Counter() if losses is None else losses)


def decode(raw: bytes, *, name: str = "<turtle>") -> list[Document]:
    """Read documents from Turtle in memory; `name` stands for the file in errors."""
    return list(_documents(lambda: _parse(BytesIO(raw), name), name, None, Counter()))


def encode(documents: Iterable[Document]) -> bytes:
    """Write documents as Turtle in memory."""
    turtle = BytesIO()
    _serialize(documents, turtle, Counter())
    return turtle.getvalue()


def _documents(
    triples: Callable[[], Iterator[Triple]], path: Path | str, resolve: Resolve | None, losses: Counter[str]
) -> Iterator[Document]:
    owners, waiting = _survey(triples())
    contexts: dict[str, dict[str, _Node]] = defaultdict(lambda: defaultdict(_Node))
    for subject, predicate, value in triples():
        owner = owners.get(subject, subject)
        contexts[owner][subject].values[predicate].append(value)
        waiting[owner] -= 1
        if not waiting[owner]:
            doc = _document(owner, contexts.pop(owner), resolve, losses, path=path)
            if doc is not None:
                yield doc


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write Turtle, a context and its phrases at a time; `losses` counts what NIF cannot hold."""
    losses = Counter() if losses is None else losses
    with files.open_output(path) as file:
        _serialize(documents, file, losses)


def _survey(triples: Iterator[Triple]) -> tuple[dict[str, str], Counter[str]]:
    """Say which context each phrase belongs to, and how many statements each context has."""
    owners: dict[str, str] = {}
    statements: Counter[str] = Counter()
    for subject, predicate, value in triples:
        statements[subject] += 1
        if predicate == NIF + "referenceContext":
            owners[subject] = value
    waiting: Counter[str] = Counter()
    for subject, number in statements.items():
        waiting[owners.get(subject, subject)] += number
    return owners, waiting


def _triples(path: Path | str) -> Iterator[Triple]:
    if str(path) == files.STANDARD_STREAM:
        raise ParlinkError("NIF is read twice, so it cannot come from standard input; give a file")
    with files.open_input(path) as file:
        yield from _parse(file, path)


def _parse(file: BinaryIO, path: Path | str) -> Iterator[Triple]:
    try:
        for triple in _parser(file, path):
            # RDF 1.2 has triples as subjects and objects; those say nothing that we read
            subject, value = getattr(triple.subject, "value", ""), getattr(triple.object, "value", "")
            yield subject, triple.predicate.value, value
    except SyntaxError as error:
        raise DataFormatError(f"not valid RDF: {error.msg}", path=path, line=error.lineno) from error
    except files.BROKEN as error:
        raise DataFormatError(f"cannot be read: {error}", path=path) from error


def _parser(file: BinaryIO, path: Path | str) -> Iterator[rdf.Quad]:
    _check_installed()
    suffixes = [suffix.lstrip(".") for suffix in Path(path).suffixes]
    formats = [form for suffix in suffixes if (form := rdf.RdfFormat.from_extension(suffix))]
    return rdf.parse(file, format=(formats or [rdf.RdfFormat.TURTLE])[-1], base_iri="urn:parlink:")


def _check_installed() -> None:
    if rdf is None:
        raise ParlinkError("NIF files need pyoxigraph; install parlink[formats]")


def _document(
    uri: str, nodes: dict[str, _Node], resolve: Resolve | None, losses: Counter[str], *, path: Path | str
) -> Document | None:
    text = nodes[uri].one(NIF + "isString")
    if text is None:
        if len(nodes) > 1:
            raise DataFormatError(f"<{uri}> has phrases, but no nif:isString; the text is missing", path=path)
        return None
    links = [
        _link(subject, node, text, resolve, losses, path=path)
        for subject, node in nodes.items()
        if node.values[ITSRDF + "taIdentRef"] or (subject != uri and NIF + "Phrase" in node.values[_RDF_TYPE])
    ]
    base = uri.partition("#")[0]
    return Document(text, unquote(base[len(_OURS) :]) if base.startswith(_OURS) else base, tuple(links))


def _link(
    subject: str, node: _Node, text: str, resolve: Resolve | None, losses: Counter[str], *, path: Path | str
) -> Link:
    begin, end = node.one(NIF + "beginIndex"), node.one(NIF + "endIndex")
    score = node.one(ITSRDF + "taConfidence")
    try:
        span = Span(int(begin or ""), int(end or ""))
        confidence = None if score is None else float(score)
    except ValueError as error:
        raise DataFormatError(f"<{subject}>: {error}; wanted nif:beginIndex < nif:endIndex", path=path) from error
    if span.end > len(text):
        message = f"<{subject}> ends at {span.end} in a text of {len(text)} characters; NIF counts code points"
        raise DataFormatError(message, path=path)
    anchor = node.one(NIF + "anchorOf")
    if anchor is not None and anchor != text[span.start : span.end]:
        losses["nif:anchorOf that is not the text at its offsets (the offsets are used)"] += 1
    told = target(
        [*node.values[ITSRDF + "taIdentRef"], *node.values[ITSRDF + "taIdent"]], resolve=resolve, losses=losses
    )
    return Link(span, told.title, told.id, confidence=confidence, url=told.url)


def _unique(name: str, seen: Counter[str], losses: Counter[str]) -> str:
    """Return a document's URI without the fragment; a repeated id is numbered."""
    base = name if _is_iri(name) and "#" not in name else _OURS + quote(name, safe="")
    seen[base] += 1
    if seen[base] == 1:
        return base
    losses["id of a document that occurs twice (numbered)"] += 1
    return _unique(f"{name}~{seen[base]}", seen, losses)


def _serialize(documents: Iterable[Document], file: BinaryIO, losses: Counter[str]) -> None:
    _check_installed()
    rdf.serialize(_triples_of(documents, losses), file, format=rdf.RdfFormat.TURTLE, prefixes=_PREFIXES)


def _triples_of(documents: Iterable[Document], losses: Counter[str]) -> Iterator[rdf.Triple]:
    """Say each document in turn: first its context, then its phrases in the order of the links."""
    seen: Counter[str] = Counter()
    for doc in documents:
        count_losses(doc, losses, held=("id", "confidence", "url"))
        base = _unique(doc.id, seen, losses)
        context = rdf.NamedNode(f"{base}#char=0,{len(doc.text)}")  # a phrase may be the whole text, so its URI differs
        yield from _string_triples(context, "Context", 0, len(doc.text))
        yield rdf.Triple(context, rdf.NamedNode(NIF + "isString"), rdf.Literal(doc.text))
        used: Counter[Span] = Counter()
        for link in doc.links:
            used[link.span] += 1
            again = f"_{used[link.span]}" if used[link.span] > 1 else ""  # the same span with another entity
            phrase = rdf.NamedNode(f"{base}#offset_{link.span.start}_{link.span.end}{again}")
            yield from _phrase_triples(phrase, link, doc.text, losses)
            yield rdf.Triple(phrase, rdf.NamedNode(NIF + "referenceContext"), context)


def _string_triples(subject: rdf.NamedNode, kind: str, start: int, end: int) -> Iterator[rdf.Triple]:
    for name in (kind, "OffsetBasedString"):
        yield rdf.Triple(subject, rdf.NamedNode(_RDF_TYPE), rdf.NamedNode(NIF + name))
    integer = rdf.NamedNode(_XSD + "nonNegativeInteger")
    for name, index in (("beginIndex", start), ("endIndex", end)):
        yield rdf.Triple(subject, rdf.NamedNode(NIF + name), rdf.Literal(str(index), datatype=integer))


def _phrase_triples(phrase: rdf.NamedNode, link: Link, text: str, losses: Counter[str]) -> Iterator[rdf.Triple]:
    start, end = link.span.start, link.span.end
    yield from _string_triples(phrase, "Phrase", start, end)
    yield rdf.Triple(phrase, rdf.NamedNode(NIF + "anchorOf"), rdf.Literal(text[start:end]))
    if link.confidence is not None:
        confidence = rdf.Literal(repr(link.confidence), datatype=rdf.NamedNode(_XSD + "double"))
        yield rdf.Triple(phrase, rdf.NamedNode(ITSRDF + "taConfidence"), confidence)
    references, names = _identifiers(link)
    count_changes(link, target([*references, *names]), losses)
    for reference in references:
        yield rdf.Triple(phrase, rdf.NamedNode(ITSRDF + "taIdentRef"), rdf.NamedNode(reference))
    for name in names:
        yield rdf.Triple(phrase, rdf.NamedNode(ITSRDF + "taIdent"), rdf.Literal(name))


def _identifiers(link: Link) -> tuple[list[str], list[str]]:
    """Return the URIs that say what a link leads to, and the ids that are no URIs."""
    if link.title is None:
        return [], []
    is_wikidata = link.id is not None and qid(link.id) == link.id
    references = [page_url(link.title)]
    references += [f"{WIKIDATA}{link.id}"] if is_wikidata else []
    references += [link.url] if link.url and _is_iri(link.url) else []
    return references, [link.id] if link.id is not None and not is_wikidata else []


def _is_iri(text: str) -> bool:
    """Whether a URL can stand in RDF, which is stricter than browsers are."""
    try:
        return _ABSOLUTE.match(text) is not None and bool(rdf.NamedNode(text))
    except ValueError:
        return False
