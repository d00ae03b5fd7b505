"""Files of documents in, JSON lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlink.checkpoint.folder import save_checkpoint
from parlink.cli.main import app
from parlink.config import LinkOptions
from parlink.data import jsonl
from parlink.data.formats import nif
from parlink.errors import DataFormatError, ParlinkError
from parlink.kb.surface_table import SurfaceTable
from parlink.linking.annotate import Annotated, annotate
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Span
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint

OPTIONS = LinkOptions(mention_threshold=-5.0)
DOCUMENTS = [Document(f"Hamburg beat Kent {n} to {n}, and Dresden saw it.", id=str(n)) for n in range(7)]


@pytest.fixture
def linker() -> Linker:
    names = tuple(Candidate(title) for title in ("Hamburg", "Kent", "Dresden"))
    table = SurfaceTable({word: names for doc in DOCUMENTS for word in doc.text.split()})
    return Linker(tiny_checkpoint(seed=3, spread=3.0), source=table)


def titles(doc: Document) -> tuple[str, list[tuple[Span, str | None]]]:
    return doc.text, [(link.span, link.title) for link in doc.links]


def test_lines_are_what_the_linker_says_with_fewer_candidates(linker: Linker, tmp_path: Path) -> None:
    output, told = tmp_path / "new" / "linked.jsonl", list[int]()
    done = annotate(linker, DOCUMENTS, output, options=OPTIONS, top=1, progress=told.append)
    assert done == Annotated(7, 0) and sum(told) == 7
    with pytest.raises(ParlinkError, match="cannot be written"):
        annotate(linker, DOCUMENTS, output / "below-a-file.jsonl")
    assert list(output.parent.iterdir()) == [output]
    for doc, wanted in zip(jsonl.read(output), DOCUMENTS, strict=True):
        assert doc.id == wanted.id
        assert titles(doc) == titles(linker.link(wanted, options=OPTIONS))
        assert {len(link.candidates) for link in doc.links} <= {0, 1}
    assert any(link.title for doc in jsonl.read(output) for link in doc.links)


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_a_run_that_was_stopped_goes_on_behind_its_last_whole_line(linker: Linker, tmp_path: Path, cut: int) -> None:
    whole, output, partial = (tmp_path / name for name in ("whole.jsonl", "linked.jsonl", "linked.jsonl.partial"))
    annotate(linker, DOCUMENTS, whole, options=OPTIONS)

    def broken() -> Iterator[Document]:
        yield from DOCUMENTS[:4]
        raise DataFormatError("broken", path="in.jsonl", line=5)

    with pytest.raises(DataFormatError):
        annotate(linker, broken(), output, options=OPTIONS)
    partial.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:3]) + b'{"text": "' + b"x" * cut)
    with pytest.raises(ParlinkError, match="--resume"):
        annotate(linker, DOCUMENTS, output, options=OPTIONS)
    with pytest.raises(ParlinkError, match="is of another document"):
        annotate(linker, DOCUMENTS[1:], output, options=OPTIONS, resume=True)
    told = list[int]()
    assert annotate(linker, DOCUMENTS, output, options=OPTIONS, resume=True, progress=told.append) == Annotated(7, 0)
    assert told == [3, 1, 1, 1, 1]
    assert list(map(titles, jsonl.read(output))) == list(map(titles, jsonl.read(whole)))
    assert not partial.exists()
    with pytest.raises(ParlinkError, match="is there already"):
        annotate(linker, DOCUMENTS, output, options=OPTIONS, resume=True)


class Unreadable:
    """A source that cannot say anything of one surface."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        if surface == "Kent":
            raise ParlinkError("cannot be read")
        return []


def test_a_document_that_fails_is_in_its_place_and_counted(tmp_path: Path) -> None:
    linker = Linker(tiny_checkpoint(), source=Unreadable())
    asked = [Document(text, spans=(Span(0, 4),)) for text in ("Bath won.", "Kent won.", "Bonn won.")]
    assert annotate(linker, asked, tmp_path / "linked.jsonl") == Annotated(3, 1)
    assert [doc.error for doc in jsonl.read(tmp_path / "linked.jsonl")] == [None, "cannot be read", None]


def test_the_command_reads_any_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_checkpoint(tmp_path / "model", tiny_checkpoint(seed=3, spread=3.0), card="")
    jsonl.write("a.jsonl", DOCUMENTS[:2])
    nif.write("b.ttl", [Document("Kent won.", id="http://x.y/1")])
    command = ["annotate", "a.jsonl", "b.ttl", "--model", "model", "--kb", str(tiny_folder(tmp_path)), "-o"]
    done = CliRunner().invoke(app, [*command, "c.jsonl"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.stdout == "c.jsonl: 3 documents\n"
    assert [doc.text for doc in jsonl.read("c.jsonl")] == [DOCUMENTS[0].text, DOCUMENTS[1].text, "Kent won."]
    assert "give a name that ends in .jsonl" in str(CliRunner().invoke(app, [*command, "c.ttl"]).exception)
