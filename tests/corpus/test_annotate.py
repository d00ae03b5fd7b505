"""Files of documents in, linked documents out: each once, the same bytes however they are linked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from parlink.checkpoint.folder import save_checkpoint
from parlink.cli.main import app
from parlink.config import LinkOptions
from parlink.corpus import chunks, journal
from parlink.corpus.annotate import annotate
from parlink.corpus.chunks import Chunk
from parlink.corpus.inputs import Shard, find_inputs
from parlink.corpus.job import Job, LinkedChunk, link_entries
from parlink.corpus.lock import hold
from parlink.corpus.output import choose_output
from parlink.data import formats, jsonl
from parlink.data.formats import nif
from parlink.data.formats.entries import Entry
from parlink.errors import ParlinkError
from parlink.kb import KnowledgeBase
from parlink.linking.linker import Linker
from parlink.types import Document, Entity, Span
from tiny_corpus import DOCUMENTS, OPTIONS, link_files, tiny_job
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr(chunks, "CHARACTERS", 200)  # five documents a chunk
    monkeypatch.chdir(tmp_path)
    jsonl.write("in.jsonl", DOCUMENTS)
    return tiny_job(tmp_path)


def stop_after(number: int) -> Callable[..., Iterator[LinkedChunk]]:
    """An engine that breaks after some chunks."""

    def run(function: Callable[[Chunk], LinkedChunk], items: Iterable[Chunk]) -> Iterator[LinkedChunk]:
        for place, item in enumerate(items):
            if place == number:
                raise KeyboardInterrupt
            yield function(item)

    return run


def visible(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def titles(doc: Document) -> tuple[str, list[tuple[Span, str | None]]]:
    return doc.text, [(link.span, link.title) for link in doc.links]


def test_lines_are_what_the_linker_says_with_fewer_candidates(job: Job, tmp_path: Path) -> None:
    done = link_files("in.jsonl", "new/linked.jsonl", replace(job, top=1))
    linker = Linker.load(job.model, kb=job.kb)
    docs = list(jsonl.read("new/linked.jsonl"))
    assert list(map(titles, docs)) == [titles(linker.link(doc, options=OPTIONS)) for doc in DOCUMENTS]
    assert [doc.id for doc in docs] == [doc.id for doc in DOCUMENTS]
    links = [link for doc in docs for link in doc.links]
    assert {len(link.candidates) for link in links} <= {0, 1}
    assert done.tally.documents == 40 and done.tally.errors == 0 and done.errors is None
    assert done.tally.links == sum(link.title is not None for link in links) > 0
    assert done.tally.nil.total() == sum(link.title is None for link in links)
    assert done.tally.titles.total() == done.tally.links
    assert done.tally.tokens == sum(len(linker.tokenizer.encode(doc.text).ids) for doc in DOCUMENTS)
    assert visible(tmp_path / "new") == {"linked.jsonl"}
    with pytest.raises(ParlinkError, match="cannot be written"):
        link_files("in.jsonl", "new/linked.jsonl/below-a-file.jsonl", job)


def test_two_processes_write_the_bytes_of_one(job: Job) -> None:
    link_files("in.jsonl", "one.jsonl", job)
    link_files("in.jsonl", "two.jsonl", job, workers=2)
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


def test_the_bytes_of_a_chunk_do_not_depend_on_those_before(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(seed=3, spread=3.0, similarity=128), card="")
    options = structs.replace(OPTIONS, parts="all")
    job = Job(model=tmp_path / "model", kb=tiny_folder(tmp_path), options=options)
    one, other = (Chunk(tuple(Entry("", document=doc) for doc in docs)) for docs in (DOCUMENTS[1:2], DOCUMENTS))
    fresh, used = (Linker.load(tmp_path / "model", kb=job.kb) for _ in range(2))
    link_entries(
        used, replace(job, options=structs.replace(options, max_candidates=1)), one
    )  # entities that the other has too
    assert link_entries(used, job, other).documents == link_entries(fresh, job, other).documents


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "a.csv", "a.ttl", "a.spacy"])
@pytest.mark.parametrize("parts", [None, 7])
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(job: Job, name: str, parts: int | None) -> None:
    link_files("in.jsonl", f"whole/{name}", job, parts=parts)
    for number in (0, 2, 3):
        with pytest.raises(KeyboardInterrupt):
            link_files("in.jsonl", f"broken/{name}", job, parts=parts, engine=stop_after(number))
    link_files("in.jsonl", f"broken/{name}", job, parts=parts)
    names = visible(Path("whole"))
    assert len(names) == (1 if parts is None else 6)
    assert visible(Path("broken")) == names
    for part in names:
        assert Path("whole", part).read_bytes() == Path("broken", part).read_bytes()
    if name != "a.csv":
        docs = [doc for part in formats.expand("whole") for doc in formats.read(part)]
        assert [doc.id for doc in docs] == [doc.id for doc in DOCUMENTS]


class KilledError(BaseException):
    pass


@pytest.mark.parametrize(("name", "parts"), [("a.jsonl", None), ("a.jsonl", 6), ("a.jsonl.gz", None)])
def test_a_kill_before_any_change_of_a_file_loses_nothing(
    job: Job, monkeypatch: pytest.MonkeyPatch, name: str, parts: int | None
) -> None:
    Path("in.jsonl").write_bytes(b"".join(map(jsonl.encode, DOCUMENTS[:9])) + b"{broken\n")
    wanted = link_files("in.jsonl", f"whole/{name}", job, parts=parts)
    changes = {
        (journal, "_append"): journal._append,
        (journal, "_truncate"): journal._truncate,
        (Path, "replace"): Path.replace,
        (Path, "unlink"): Path.unlink,
    }
    for survived in range(200):
        left = [survived]

        def count(change: Callable[..., object], left: list[int] = left) -> Callable[..., object]:
            def counted(*given: object, **named: object) -> object:
                if not left[0]:
                    raise KilledError
                left[0] -= 1
                return change(*given, **named)

            return counted

        output = f"killed-{survived}/{name}"
        with monkeypatch.context() as patch:
            for (place, attribute), change in changes.items():
                patch.setattr(place, attribute, count(change))
            try:
                link_files("in.jsonl", output, job, parts=parts)
                killed = False
            except KilledError:
                killed = True
        done = link_files("in.jsonl", output, job, parts=parts)
        assert done.tally == wanted.tally
        for path in visible(Path("whole")):
            assert Path(f"killed-{survived}", path).read_bytes() == Path("whole", path).read_bytes(), survived
        assert visible(Path(f"killed-{survived}")) == visible(Path("whole"))
        if not killed:
            return
    raise AssertionError("never came to an end")


def test_what_differs_is_named(job: Job, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        link_files("in.jsonl", "out.jsonl", job, engine=stop_after(3))
    other = tiny_job(tmp_path / "other", seed=4)
    for changed, name in [
        (replace(job, model=other.model), "another model"),
        (replace(job, top=2), r"another option top \(5, and now 2\)"),
        (replace(job, options=LinkOptions(mention_threshold=-4.0)), "another option mention_threshold"),
    ]:
        with pytest.raises(ParlinkError, match=f"out.jsonl: was begun with {name}.*remove"):
            link_files("in.jsonl", "out.jsonl", changed)
    with pytest.raises(ParlinkError, match="another option part_documents"):
        link_files("in.jsonl", "out.jsonl", job, parts=3)
    assert job.kb is not None
    KnowledgeBase.open(job.kb).add(Entity("Bonn"))
    with pytest.raises(ParlinkError, match="another knowledge base"):
        link_files("in.jsonl", "out.jsonl", job)


def test_a_changed_input_is_refused(job: Job) -> None:
    with pytest.raises(KeyboardInterrupt):
        link_files("in.jsonl", "out.jsonl", job, engine=stop_after(3))
    jsonl.write("in.jsonl", DOCUMENTS)
    with pytest.raises(ParlinkError, match=r"in\.jsonl has changed since it was begun"):
        link_files("in.jsonl", "out.jsonl", job)


def test_a_knowledge_base_that_changes_during_the_run_stops_it(job: Job) -> None:
    assert job.kb is not None
    kb = KnowledgeBase.open(job.kb)

    def change(function: Callable[[Chunk], LinkedChunk], items: Iterable[Chunk]) -> Iterator[LinkedChunk]:
        for place, item in enumerate(items):
            if place == 2:
                kb.add(Entity("Bonn"))
            yield function(item)

    with pytest.raises(ParlinkError, match="was changed during the run"):
        link_files("in.jsonl", "out.jsonl", job, engine=change)


def test_a_complete_run_is_complete_and_another_file_is_left_alone(job: Job) -> None:
    first = link_files("in.jsonl", "out.jsonl", job)
    again = link_files("in.jsonl", "out.jsonl", job)
    assert again.is_old and again.tally == first.tally
    with pytest.raises(ParlinkError, match=r"another option top .* remove out.jsonl"):
        link_files("in.jsonl", "out.jsonl", replace(job, top=1))
    Path("out.jsonl").unlink()
    assert not link_files("in.jsonl", "out.jsonl", replace(job, top=1)).is_old
    Path("mine.jsonl").write_text("mine")
    with pytest.raises(ParlinkError, match="is there already"):
        link_files("in.jsonl", "mine.jsonl", job)
    assert Path("mine.jsonl").read_text() == "mine"
    assert not Path(".mine.jsonl.run").exists()


def test_the_second_run_into_an_output_is_told_who_holds_it(job: Job) -> None:
    output = choose_output("out.jsonl")
    output.run_folder.mkdir()
    with hold(output.run_folder, "out.jsonl"), pytest.raises(ParlinkError, match=r"written by process \d+ on .* since"):
        link_files("in.jsonl", "out.jsonl", job)
    link_files("in.jsonl", "out.jsonl", job)


def test_broken_places_and_documents_that_fail_go_to_the_errors(job: Job) -> None:
    lines = [jsonl.encode(doc) for doc in DOCUMENTS[:3]]
    Path("bad.jsonl").write_bytes(lines[0] + b"{broken\n\n" + lines[1] + b'{"text": 3}\n' + lines[2])
    Path("bad.csv").write_text("id,text\n7,Kent\n8\n")
    Path("good.txt").write_text("Kent")
    Path("latin.txt").write_bytes(b"Z\xfcrich")
    paths = ["bad.jsonl", "bad.csv", "good.txt", "latin.txt"]
    done = annotate(find_inputs(paths), choose_output("out.jsonl"), job=job)
    assert done.errors == "out.errors.jsonl"
    assert [doc.id for doc in jsonl.read("out.jsonl")] == ["0", "1", "2", "7", "good"]
    errors = [json.loads(line) for line in Path("out.errors.jsonl").read_text().splitlines()]
    places = [(error["file"], error["line"]) for error in errors]
    assert places == [("bad.jsonl", 2), ("bad.jsonl", 5), ("bad.csv", 3), ("latin.txt", None)]
    assert "not valid JSON" in errors[0]["reason"] and "the row has 1 fields" in errors[2]["reason"]
    assert done.tally.unreadable == 4


def test_shards_joined_are_the_whole(job: Job) -> None:
    link_files("in.jsonl", "whole.jsonl", job)
    for number in (1, 2, 3):
        link_files("in.jsonl", f"shard-{number}.jsonl", job, shard=Shard(number, 3))
    formats.concat([f"shard-{number}.jsonl" for number in (1, 2, 3)], "joined.jsonl", unique=True)
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


def test_pages_are_linked_at_their_places(job: Job) -> None:
    page = "<p>Hamburg beat <b>Kent</b> &amp; Z&uuml;rich 3 to 2</p>"
    jsonl.write("in.jsonl", [Document(page)])
    link_files("in.jsonl", "out.jsonl", replace(job, strip="html"))
    doc = next(jsonl.read("out.jsonl"))
    plain = Linker.load(job.model, kb=job.kb).link("Hamburg beat Kent & Zürich 3 to 2\n", options=OPTIONS)
    assert doc.text == page and len(doc.links) == len(plain.links) > 0
    for link, wanted in zip(doc.links, plain.links, strict=True):
        assert link.title == wanted.title
        assert page[link.span.start :].startswith(plain.text[wanted.span.start]) or page[link.span.start] == "&"


def test_the_command_reads_any_format_and_says_what_became_of_it(job: Job) -> None:
    jsonl.write("a.jsonl", DOCUMENTS[:2])
    nif.write("b.ttl", [Document("Kent won.", id="http://x.y/1")])
    command = ["annotate", "a.jsonl", "b.ttl", "--model", str(job.model), "--kb", str(job.kb)]
    done = CliRunner().invoke(app, [*command, "-o", "c.jsonl", "--report", "c.html", "--mention-threshold", "-5"])
    assert done.exit_code == 0, (done.output, done.exception)
    shown = done.stdout.splitlines()
    assert shown[0] == "c.jsonl: 3 documents" and shown[-1] == "errors: 0"
    assert shown[1].startswith("links: ") and shown[2].startswith("NIL: ") and shown[3].startswith("most frequent: ")
    assert [doc.text for doc in jsonl.read("c.jsonl")] == [DOCUMENTS[0].text, DOCUMENTS[1].text, "Kent won."]
    page = Path("c.html").read_text()
    assert "Most frequent entities" in page and shown[3].removeprefix("most frequent: ").split(" ")[0] in page
    streamed = CliRunner().invoke(app, [*command, "-o", "-", "--mention-threshold", "-5"])
    assert streamed.stdout_bytes == Path("c.jsonl").read_bytes()
    assert "cannot tell the format" in str(CliRunner().invoke(app, [*command, "-o", "c.xyz"]).exception)


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(job: Job, tmp_path: Path) -> None:
    link_files("in.jsonl", "whole.jsonl", job)
    limit = Path("whole.jsonl").stat().st_size // 2
    small = (
        "import resource, sys; from parlink.cli.main import run; from parlink.corpus import chunks; "
        f"chunks.CHARACTERS = 200; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY)); run()"
    )
    given = ["in.jsonl", "-o", "out.jsonl", "--model", str(job.model), "--kb", str(job.kb), "--mention-threshold=-5"]
    command = [sys.executable, "-c", small, "annotate", *given]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and not Path("out.jsonl").exists()
    assert "out.jsonl: cannot be written (File too large)" in done.stderr and "Traceback" not in done.stderr
    link_files("in.jsonl", "out.jsonl", job)
    assert Path("out.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A disk of its own, whose pages can be made more and fewer."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("a small disk needs root, to mount it")

    def resize(pages: int) -> Path:
        subprocess.run(["mount", "-o", f"remount,nr_blocks={pages}", str(folder)], check=True)
        return folder

    yield resize
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_wherever_the_disk_is_full_the_run_stops_in_a_line_and_goes_on_when_there_is_room(
    job: Job, disk: Callable[[int], Path], name: str
) -> None:
    link_files("in.jsonl", name, job)
    stops = 0
    for pages in range(1, 60, 2):
        folder = disk(pages)
        (folder / "other").write_bytes(b"of somebody else")  # a page, so that the first disk is full from the start
        try:
            link_files("in.jsonl", folder / name, job)
            break
        except ParlinkError as error:
            assert "cannot be written (No space left on device)" in str(error)
            stops += 1
        with pytest.raises(ParlinkError, match="No space left on device"):
            link_files("in.jsonl", folder / name, job)
        disk(1000)
        link_files("in.jsonl", folder / name, job)
        assert (folder / name).read_bytes() == Path(name).read_bytes()
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert stops > 4 and (folder / name).read_bytes() == Path(name).read_bytes()
