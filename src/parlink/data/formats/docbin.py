"""spaCy's DocBin (`.spacy`): entities with their title as `kb_id_`, both ways.

`ent._.parlink` is the whole `Link`, as the spaCy pipe sets it; a `kb_id_` that was corrected in spaCy wins over it.
Tokens are those of spaCy's blank English, cut at the edges of mentions too. Links that overlap one before them stand in
the span group `parlink`. A DocBin is read and written as a whole, so a large corpus wants several files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from parlink.data import files, jsonl
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document, Link, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as Entity
    from spacy.vocab import Vocab

_GROUP = "parlink"  # the span group, and the key of the document's own fields in `user_data`
_LABEL = "ENTITY"  # of a link without a type


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read documents; an entity without `kb_id_` is NIL."""
    spacy = _import_spacy()
    raw = files.content(path)
    try:
        docs = spacy.tokens.DocBin().from_bytes(raw)
    except ValueError as error:
        raise DataFormatError(f"not a DocBin of spaCy ({str(error).splitlines()[0]})", path=path) from error
    for doc in docs.get_docs(spacy.blank("xx").vocab):
        entities = [*doc.ents, *doc.spans.get(_GROUP, ())]
        links = [jsonl.link_to_json(_link(doc, entity, resolve, losses)) for entity in entities]
        fields = msgspec.json.decode(doc.user_data.get(_GROUP, "{}"))
        yield jsonl.from_json({**fields, "text": doc.text, "links": links}, path=path)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write documents; `losses` counts links that share a span with another."""
    losses = Counter() if losses is None else losses
    spacy = _import_spacy()
    nlp = spacy.blank("en")
    nlp.max_length = files.MAX_LINE
    docs = spacy.tokens.DocBin(store_user_data=True)
    for doc in documents:
        docs.add(_make_doc(doc, nlp, nlp.vocab, losses))
    with files.open_output(path) as file:
        file.write(docs.to_bytes())


def to_doc(doc: Document, vocab: Vocab) -> Doc:
    """Turn a document into a Doc of spaCy."""
    spacy = _import_spacy()
    if not isinstance(vocab, spacy.vocab.Vocab):
        raise ParlinkError(f"to_spacy wants a Vocab, as in doc.to_spacy(nlp.vocab), got {vocab!r:.60}")
    nlp = spacy.blank("en")
    nlp.max_length = files.MAX_LINE
    register_extension()
    return _make_doc(doc, nlp, vocab, Counter())


def register_extension() -> None:
    """Make spaCy know `ent._.parlink`."""
    from spacy.tokens import Span as Entity

    Entity.set_extension("parlink", getter=_read_link, force=True)


def key_of(span: Span) -> Any:
    """Where spaCy keeps the value of `ent._.parlink`, so that it moves it along when it joins or cuts Docs."""
    return "._.", "parlink", span.start, span.end


def kb_id(link: Link) -> str:
    """What spaCy calls the entity of a link: its title, "" for NIL; the id is that of `ent._.parlink`."""
    return link.title or ""


def _read_link(entity: Entity) -> Link | None:
    span = Span(entity.start_char, entity.end_char)
    plain = entity.doc.user_data.get(key_of(span))
    return None if plain is None else replace(msgspec.convert(plain, Link), span=span)


def _make_doc(doc: Document, nlp: Any, vocab: Vocab, losses: Counter[str]) -> Doc:
    from spacy.tokens import Doc

    words, spaces = _tokens(doc, nlp)
    tokens = Doc(vocab, words=words, spaces=spaces)
    entities: list[Entity] = []
    overlapping: list[Entity] = []
    last = 0
    for link in sorted(doc.links, key=lambda link: link.span):
        entity = tokens.char_span(link.span.start, link.span.end, label=label_of(link), kb_id=kb_id(link))
        if entity is None:
            raise AssertionError(f"no token begins and ends at {link.span}")
        (entities if link.span.start >= last else overlapping).append(entity)
        last = max(last, link.span.end)
        if key_of(link.span) in tokens.user_data:
            losses["fields of a link that has the span of another (its title is kept)"] += 1
        tokens.user_data.setdefault(key_of(link.span), msgspec.to_builtins(link))
    tokens.set_ents(entities, default="outside")
    if overlapping:
        tokens.spans[_GROUP] = overlapping
    fields = {name: value for name, value in jsonl.to_json(doc).items() if name not in ("text", "links")}
    tokens.user_data[_GROUP] = msgspec.json.encode(fields).decode()
    return tokens


def _tokens(doc: Document, nlp: Any) -> tuple[list[str], list[bool]]:
    """Return the tokens of a text, and whether a space follows each; no token goes over the edge of a mention."""
    starts, ends = {link.span.start for link in doc.links}, {link.span.end for link in doc.links}
    cuts = {0, len(doc.text)} | starts | ends
    for token in nlp.make_doc(doc.text):
        cuts |= {token.idx, token.idx + len(token)}
    words: list[str] = []
    spaces: list[bool] = []
    for start, end in pairwise(sorted(cuts)):
        is_space = doc.text[start:end] == " " and start not in starts and end not in ends
        if is_space and words and not spaces[-1]:
            spaces[-1] = True
        else:
            words.append(doc.text[start:end])
            spaces.append(False)
    return words, spaces


def _link(doc: Doc, entity: Entity, resolve: Resolve | None, losses: Counter[str] | None) -> Link:
    span = Span(entity.start_char, entity.end_char)
    link = _read_link(entity) or Link(span)
    is_kept = entity.kb_id_ == kb_id(link)
    if is_kept and resolve is None:
        return link
    name = link.title if is_kept else entity.kb_id_
    told = target([page_url(name)] if name else [], resolve=resolve, losses=losses)
    return replace(link, title=told.title) if is_kept else Link(span, told.title)


def label_of(link: Link) -> str:
    """What spaCy labels the entity of a link with: its type, where that is known."""
    kind = jsonl.link_to_json(link).get("type")
    return kind if isinstance(kind, str) and kind else _LABEL


def _import_spacy() -> Any:
    try:
        import spacy
        import spacy.tokens
    except ImportError as error:
        raise ParlinkError("DocBin files need spaCy; install parlink[spacy]") from error
    return spacy
