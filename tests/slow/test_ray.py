"""Linking on a real Ray of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from own_processes import descendants
from parlink.corpus import chunks
from parlink.corpus.job import Job
from parlink.corpus.tally import Tally
from parlink.data import jsonl
from tiny_corpus import DOCUMENTS, OPTIONS, link_files, tiny_job

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: pip install 'parlink[ray]'")
pytestmark = pytest.mark.filterwarnings("default")  # Ray leaves sockets and processes to the garbage collector
MANY = [replace(doc, id=f"{doc.id}-{again}") for again in range(30) for doc in DOCUMENTS]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
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
