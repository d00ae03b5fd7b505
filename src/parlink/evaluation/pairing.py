"""Gold documents and the predictions for them, brought together; nothing is lost without a word."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parlink.data import files, formats, jsonl
from parlink.data.identifiers import Resolve
from parlink.errors import ParlinkError
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document and where it was read: a file and line, or its number in a list."""

    doc: Document
    place: str


@dataclass(frozen=True, slots=True)
class EvalWarning:
    """Something odd that the score went on with, how often, and where first if that is known."""

    what: str
    count: int
    first: str | None = None

    def __str__(self) -> str:
        return f"{self.count:,} {self.what}" + ("" if self.first is None else f"; first: {self.first}")


@dataclass(frozen=True, slots=True)
class PairedDocuments:
    """Gold documents with the predictions for each, in the order of gold."""

    gold: tuple[Document, ...]
    predicted: tuple[Document, ...]
    warnings: tuple[EvalWarning, ...] = ()
    other: tuple[Document, ...] | None = None  # another system's predictions


def locate(documents: Iterable[Document | LocatedDocument], name: str) -> list[LocatedDocument]:
    """Number the documents that came from no file."""
    return [
        item if isinstance(item, LocatedDocument) else LocatedDocument(item, f"{name} document {number}")
        for number, item in enumerate(documents, start=1)
    ]


def read_documents(
    paths: Iterable[Path | str],
    *,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
    predicted: bool = False,
) -> list[LocatedDocument]:
    """Read files of any known format whole, each document with its place; a file without a document is an error.

    `resolve` turns identifiers of other formats into titles; `losses` counts those it could not. `predicted` says
    that a file with gold and predictions is read for the latter.
    """
    found: list[LocatedDocument] = []
    for path in paths:
        before = len(found)
        kind = formats.format_of(path, predicted=predicted)
        found += _read_lines(path) if kind == "jsonl" else _read_other(path, kind, resolve, losses)
        if len(found) == before:
            raise ParlinkError(f"{path}: no document in it; give a file with one document at least")
    return found


def _read_lines(path: Path | str) -> Iterator[LocatedDocument]:
    for number, line in files.lines(path):
        yield LocatedDocument(jsonl.decode(line, path=path, line=number), f"{os.fspath(path)}:{number}")


def _read_other(
    path: Path | str, kind: str, resolve: Resolve | None, losses: Counter[str] | None
) -> Iterator[LocatedDocument]:
    for number, doc in enumerate(formats.read(path, kind, resolve=resolve, losses=losses), start=1):
        yield LocatedDocument(doc, f"{os.fspath(path)}: document {number}")


def check_gold(gold: Sequence[LocatedDocument]) -> tuple[EvalWarning, ...]:
    """Refuse a document twice and spans outside the text; count repeated texts and overlapping gold mentions."""
    _refuse_twins(gold)
    crossing: list[str] = []
    repeated: list[str] = []
    texts: set[str] = set()
    for item in gold:
        _refuse_spans_outside(item)
        crossing += [item.place] * _overlapping(item.doc)
        repeated += [item.place] * (item.doc.text in texts)
        texts.add(item.doc.text)
    return _warn("gold documents with the text of an earlier one (each still counts)", repeated) + _warn(
        "gold mentions that overlap an earlier one (each still counts)", crossing
    )


def pair(gold: Sequence[LocatedDocument], predicted: Sequence[LocatedDocument]) -> PairedDocuments:
    """Find the prediction for each gold document: by id where all have one, else by order; texts must agree."""
    warnings = check_gold(gold)
    answers, lost = _answers(gold, predicted)
    return PairedDocuments(tuple(item.doc for item in gold), answers, warnings + lost)


def add_other(
    paired: PairedDocuments, gold: Sequence[LocatedDocument], other: Sequence[LocatedDocument] | None
) -> PairedDocuments:
    """Add another system's predictions, found in the same way, and what is odd about them."""
    if other is None:
        return paired
    answers, lost = _answers(gold, other)
    named = tuple(replace(warned, what=f"(the other system) {warned.what}") for warned in lost)
    return replace(paired, other=answers, warnings=paired.warnings + named)


def failures(predicted: Iterable[LocatedDocument]) -> tuple[EvalWarning, ...]:
    """Count the documents that came back with an error instead of links."""
    failed = [f"{item.place}: {item.doc.error}" for item in predicted if item.doc.error is not None]
    return _warn("documents that could not be linked (their mentions count as missed)", failed)


def _answers(
    gold: Sequence[LocatedDocument], predicted: Sequence[LocatedDocument]
) -> tuple[tuple[Document, ...], tuple[EvalWarning, ...]]:
    for item in predicted:
        _refuse_spans_outside(item)
    by_id = all(item.doc.id for item in gold) and all(item.doc.id for item in predicted)
    answers, missing = _by_id(gold, predicted) if by_id else (_by_order(gold, predicted), ())
    warnings = _warn("gold documents without predictions (their mentions count as missed)", missing)
    return tuple(answers), warnings + failures(predicted)


def _by_id(gold: Sequence[LocatedDocument], predicted: Sequence[LocatedDocument]) -> tuple[list[Document], list[str]]:
    _refuse_twins(predicted)
    texts: dict[str, LocatedDocument] = {item.doc.id: item for item in gold}
    wanted = {(item.doc.id, item.doc.text) for item in gold}
    for item in predicted:
        if item.doc.id not in texts:
            raise ParlinkError(
                f"{item.place}: predictions for document {item.doc.id!r}, which is not in the gold data; "
                "remove them, or give the gold file that has it"
            )
        if (item.doc.id, item.doc.text) not in wanted:
            raise ParlinkError(_different_texts(texts[item.doc.id], item))
    found = {(item.doc.id, item.doc.text): item.doc for item in predicted}
    answers = [found.get((i.doc.id, i.doc.text), Document(i.doc.text, id=i.doc.id)) for i in gold]
    return answers, [item.place for item in gold if (item.doc.id, item.doc.text) not in found]


def _by_order(gold: Sequence[LocatedDocument], predicted: Sequence[LocatedDocument]) -> list[Document]:
    if len(gold) != len(predicted):
        raise ParlinkError(
            f"{len(predicted)} predicted documents for {len(gold)} gold ones, and not all have an id to match them by; "
            "give every document an id, or one prediction for each gold document in the same order"
        )
    for wanted, item in zip(gold, predicted, strict=True):
        if wanted.doc.text != item.doc.text:
            raise ParlinkError(_different_texts(wanted, item))
    return [item.doc for item in predicted]


def _different_texts(gold: LocatedDocument, predicted: LocatedDocument) -> str:
    ours, theirs = gold.doc.text, predicted.doc.text
    same = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return (
        f"{predicted.place}: its text differs from that of {gold.place} from character {same} on; "
        "predictions must be made on the very text of the gold data, in the same order where there are no ids"
    )


def _refuse_twins(items: Sequence[LocatedDocument]) -> None:
    first: dict[tuple[str, str], str] = {}
    for item in items:
        key = (item.doc.id, item.doc.text)
        if item.doc.id and key in first:
            raise ParlinkError(
                f"{item.place}: document {item.doc.id!r} was already at {first[key]}; it would count twice, remove one"
            )
        first[key] = item.place


def _refuse_spans_outside(item: LocatedDocument) -> None:
    for link in item.doc.links:
        if link.span.end > len(item.doc.text):
            raise ParlinkError(
                f"{item.place}: the span [{link.span.start}, {link.span.end}) is outside its text of "
                f"{len(item.doc.text)} characters; spans are Unicode code points, half-open"
            )


def _overlapping(doc: Document) -> int:
    reach = overlapping = 0
    for span in sorted(link.span for link in doc.links):
        overlapping += span.start < reach
        reach = max(reach, span.end)
    return overlapping


def _warn(what: str, places: Sequence[str]) -> tuple[EvalWarning, ...]:
    return (EvalWarning(what, len(places), places[0]),) if places else ()
