"""A spaCy pipe: `nlp.add_pipe("parlink")` links the entities of a Doc, or finds them where nobody did.

`ent.kb_id_` holds the title of the linked entity (empty for an entity that is not linked), `ent.label_` its type where
parlink found the entity, and `ent._.parlink` the `Link` with its id, its score, its candidates and, for an entity that
is not linked, the reason. Both are kept by `Doc.to_bytes` and by `DocBin(store_user_data=True)`; a program that
only reads them must import this module.

Mentions that parlink finds are widened to whole spaCy tokens. Should two of them then share a token, the longer
one stays, as `spacy.util.filter_spans` has it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from inspect import Parameter, Signature
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_type_hints

import msgspec

from parlink.config import LinkOptions
from parlink.data.formats.docbin import kb_id, key_of, label_of, register_extension
from parlink.errors import ParlinkError
from parlink.kb import copy_kb
from parlink.linking.linker import Linker
from parlink.load_options import Precision
from parlink.settings import parse
from parlink.struct_fields import described_fields
from parlink.types import Document, Link, Span

try:
    from spacy.language import Language
    from spacy.pipeline import Pipe
    from spacy.tokens import Doc
    from spacy.tokens import Span as Entity
    from spacy.util import filter_spans
except ImportError as error:
    raise ParlinkError("the spaCy pipe needs spaCy: pip install 'parlink[spacy]'") from error

Mode = Literal["auto", "given", "detect"]


_fields = [(field.name, field.kind, field.default) for field in described_fields(LinkOptions)]
_LinkFields: Any = msgspec.defstruct("LinkFields", _fields, frozen=True, kw_only=True)  # the options of linking


class Settings(_LinkFields, frozen=True, kw_only=True, forbid_unknown_fields=True):  # type: ignore[call-arg, misc]
    """The config of the pipe: the options of linking, and what concerns spaCy."""

    model: str | None = None  # None: the model that comes with parlink
    kb: str | None = None  # None: the model's own
    device: str = "auto"  # cpu, cuda, cuda:N, or auto for the best there is
    precision: Precision | None = None  # None: float32, and on a GPU bfloat16 where it has that
    mode: Mode = "auto"  # auto: link the entities that a pipe before this one set, and find them if none did
    candidates: int = 5  # how many to keep with an entity
    label: str | None = None  # of the entities that parlink finds; None: their type, or ENTITY

    @property
    def options(self) -> LinkOptions:
        """How to link."""
        return LinkOptions(**{name: getattr(self, name) for name, _, _ in _fields})


def create(nlp: Language, name: str, **config: Any) -> ParlinkPipe:
    """Make the pipe from its config."""
    return ParlinkPipe(Settings(**config), name=name)


# spaCy checks a config by the signature of the function that gets it.
create.__signature__ = Signature(  # type: ignore[attr-defined]
    [
        *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=Any) for name in ("nlp", "name")),
        *(Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind) for name, kind in get_type_hints(Settings).items()),
    ]
)
Language.factory(
    "parlink",
    default_config=msgspec.to_builtins(Settings()),
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "token.ent_kb_id", "span._.parlink"],
    func=create,
)


class ParlinkPipe(Pipe):
    """Set the entities of a Doc and what they refer to; the model is opened for the first one."""

    def __init__(self, settings: Settings, *, name: str = "parlink") -> None:
        self.settings, self.name = settings, name

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ParlinkPipe, name=self.name), (self.settings,)  # the model is opened anew in each process

    @cached_property
    def linker(self) -> Linker:
        """The model and the knowledge base."""
        wanted = self.settings
        return Linker.load(wanted.model, kb=wanted.kb, device=wanted.device, precision=wanted.precision)

    def __call__(self, doc: Doc) -> Doc:
        """Link one Doc, in place."""
        question = _question(doc, self.settings)
        _answer(doc, self.linker.link(question, options=self.settings.options), self.settings)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link many Docs together, in their order."""
        refuse, waiting = self.get_error_handler(), iter(stream)
        while docs := list(islice(waiting, batch_size)):
            questions = (_question(doc, self.settings) for doc in docs)
            answers = self.linker.stream(questions, options=self.settings.options)
            for doc, answer in zip(docs, answers, strict=True):
                if answer.error is not None:
                    refuse(self.name, self, [doc], ParlinkError(answer.error))
                else:
                    _answer(doc, answer, self.settings)
                    yield doc

    def to_disk(self, path: Path | str, *, exclude: Sequence[str] = ()) -> None:
        """Write the settings, and copy the folders that they name, so that the pipeline can be moved."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        _copy(self.settings.model, folder / "model", shutil.copytree)
        _copy(self.settings.kb, folder / "kb", copy_kb)
        (folder / "settings.json").write_bytes(msgspec.json.encode(self.settings))

    def from_disk(self, path: Path | str, *, exclude: Sequence[str] = ()) -> ParlinkPipe:
        """Read what `to_disk` wrote."""
        folder = Path(path)
        data = msgspec.json.decode((folder / "settings.json").read_bytes())
        copied = {name: str(folder / name) for name in _FOLDERS if data[name] is not None}
        return self._set(data | copied, source=str(folder))

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """The settings alone: the folders that they name must be there to read them again."""
        return msgspec.json.encode(self.settings)

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> ParlinkPipe:
        """Read what `to_bytes` wrote."""
        return self._set(msgspec.json.decode(data), source="the bytes of the spaCy pipe")

    def _set(self, data: dict[str, Any], *, source: str) -> ParlinkPipe:
        self.settings = parse(data, Settings, source=source)
        self.__dict__.pop("linker", None)
        return self


_FOLDERS = ("model", "kb")


def _copy(source: str | None, target: Path, copy: Callable[[str, Path], object]) -> None:
    """Copy a folder; nothing if it is there already."""
    if source is None or Path(source).resolve() == target.resolve():
        return
    shutil.rmtree(target, ignore_errors=True)
    copy(source, target)


def _question(doc: Doc, settings: Settings) -> Document:
    """What to ask the linker: the given entities, or the whole text."""
    if settings.mode == "detect" or (settings.mode == "auto" and not doc.has_annotation("ENT_IOB")):
        return Document(doc.text)
    spans = tuple(Span(ent.start_char, ent.end_char) for ent in doc.ents)
    return Document(doc.text if spans else "", spans=spans)  # without entities there is nothing to read


def _answer(doc: Doc, linked: Document, settings: Settings) -> None:
    """Write the links into the Doc."""
    if linked.spans is None:
        doc.set_ents([], default="outside")
        pairs = _widen(doc, linked.links, settings.label)
        doc.set_ents(list(pairs), default="outside")
    else:
        pairs = dict(zip(doc.ents, linked.links, strict=True))
    for ent, link in pairs.items():
        for token in ent:
            token.ent_kb_id_ = kb_id(link)
        kept = replace(link, candidates=link.candidates[: settings.candidates])
        doc.user_data[key_of(Span(ent.start_char, ent.end_char))] = msgspec.to_builtins(kept)


def _widen(doc: Doc, links: Iterable[Link], label: str | None) -> dict[Entity, Link]:
    """The tokens that each link touches; of those that share one, the longest."""
    found: dict[Entity, Link] = {}
    for link in links:
        own = label_of(link) if label is None else label
        ent = doc.char_span(link.span.start, link.span.end, label=own, alignment_mode="expand")
        if ent is not None:
            found.setdefault(ent, link)
    return {ent: found[ent] for ent in filter_spans(found)}


register_extension()
