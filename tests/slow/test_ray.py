"""A real Ray of two workers, one of which is killed: linking, and reading dumps."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from own_processes import descendants
from parlink.corpus import chunks
from parlink.corpus.job import Job
from parlink.corpus.tally import Tally
from parlink.data import jsonl, parallel
from parlink.data.wikipedia import articles
from parlink.errors import DataFormatError
from parlink.kb.build import mediawiki
from parlink.kb.build.build import BuildOptions, build
from tiny_corpus import DOCUMENTS, OPTIONS, link_files, tiny_job

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: pip install 'parlink[ray]'")
pytestmark = pytest.mark.filterwarnings("default")  # Ray leaves sockets and processes to the garbage collector
MANY = [replace(doc, id=f"{doc.id}-{again}") for again in range(30) for doc in DOCUMENTS]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    found = {"PYTHONPATH": os.pathsep.join(sys.path)}  # what the tests are made of, for functions of theirs
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": found})
    yield
    ray.shutdown()


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr(chunks, "CHARACTERS", 500)
    monkeypatch.chdir(tmp_path)
    jsonl.write("in.jsonl", MANY)
    return tiny_job(tmp_path)


def test_a_killed_worker_costs_only_what_it_had_in_hand(job: Job, cluster: None) -> None:
    from parlink.integrations.ray import ray_engine

    killed: list[int] = []

    def kill_one(done: Tally) -> None:
        workers = descendants("ray::_Worker")
        if done.documents and not killed and workers:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    link_files("in.jsonl", "plain.jsonl", job)
    link_files("in.jsonl", "ray.jsonl", job, engine=ray_engine(workers=2), progress=kill_one)
    assert len(killed) == 1
    assert Path("ray.jsonl").read_bytes() == Path("plain.jsonl").read_bytes()


def test_a_dataset_is_linked_though_an_actor_dies(job: Job, cluster: None) -> None:
    from parlink.integrations.ray import link_dataset

    link_files("in.jsonl", "plain.jsonl", replace(job, options=OPTIONS))
    texts = [{"text": doc.text, "year": number} for number, doc in enumerate(MANY)] + [{"text": None, "year": -1}]
    dataset = ray.data.from_items(texts, override_num_blocks=40)
    linked = link_dataset(dataset, model=job.model, kb=job.kb, options=OPTIONS, actors=2, rows=20)
    rows, killed = [], 0
    for row in linked.iter_rows():
        rows.append(row)
        actors = descendants("ray::", "_BatchLinker")
        if not killed and actors:
            killed += 1
            os.kill(actors[0], signal.SIGKILL)
    assert killed == 1
    assert sorted(row["year"] for row in rows) == list(range(-1, len(MANY)))
    wanted = {doc.text: [link.span.start for link in doc.links] for doc in jsonl.read("plain.jsonl") if not doc.spans}
    for row in rows:
        assert row["links_error"] is None
        assert (row["links"] is None) == (row["text"] is None)
        if row["text"] in wanted:
            assert [link["start"] for link in row["links"]] == wanted[row["text"]]


def write_dump(path: Path) -> None:
    texts = [f"A port on the [[Elbe]], like [[Port {n // 2}|the port]] of [[Kent]]; see 18{n}." for n in range(60)]
    pages = (f"<page><title>Port {n}</title><ns>0</ns><text>{text}</text></page>" for n, text in enumerate(texts))
    path.write_text(f"<mediawiki>{''.join(pages)}</mediawiki>")


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a knowledge base, but for the one that says when it was made."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "kb.json"}


def test_a_knowledge_base_and_training_data_are_the_same_bytes(
    tmp_path: Path, cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parlink.integrations.ray import ray_engine

    write_dump(tmp_path / "dump.xml")
    monkeypatch.setattr(parallel, "SMALL_FILE", 0)
    monkeypatch.setattr(mediawiki, "CHUNK_BYTES", 500)
    monkeypatch.setattr(articles, "_PAGES_A_BATCH", 4)
    for name, engine in (("plain", None), ("ray", ray_engine(workers=2))):
        build([tmp_path / "dump.xml"], tmp_path / name, options=BuildOptions(processes=1, engine=engine))
        docs = articles.read(tmp_path / "dump.xml", known=articles.Survey(), engine=engine or map)
        jsonl.write(tmp_path / f"{name}.jsonl", docs)
    assert contents(tmp_path / "ray") == contents(tmp_path / "plain")
    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
    assert (tmp_path / "ray.jsonl").read_bytes().count(b"\n") == 60


def test_what_is_wrong_with_the_data_is_said_as_without_ray(cluster: None) -> None:
    from parlink.integrations.ray import ray_engine

    with pytest.raises(DataFormatError, match=r"^a\.jsonl:3: broken$"):
        list(ray_engine(workers=2)(refuse, range(5)))


def refuse(number: int) -> int:
    if number == 3:
        raise DataFormatError("broken", path="a.jsonl", line=number)
    return number
