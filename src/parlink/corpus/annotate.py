"""Link a corpus: read chunks, have them linked, keep each exactly once, and say what became of it all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import msgspec

from parlink.corpus import fingerprint, tally
from parlink.corpus.fingerprint import Fingerprint
from parlink.corpus.inputs import Inputs, Shard, read_chunks
from parlink.corpus.job import Job, LinkedChunk, link_chunk
from parlink.corpus.journal import Journal
from parlink.corpus.lock import hold
from parlink.corpus.output import Output
from parlink.corpus.tally import Tally
from parlink.data import files, formats, jsonl
from parlink.data.parallel import Engine, in_processes
from parlink.errors import ParlinkError

Progress = Callable[[Tally], None]  # told of the documents of each chunk


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """What run.json says: how a run began, and, once it is complete, what came of it."""

    fingerprint: Fingerprint
    tally: dict[str, object] | None = None
    losses: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of a corpus."""

    tally: Tally
    losses: Counter[str]  # what the format of the output could not hold
    errors: str | None  # the file that names every failure, if there is one
    seconds: float  # of this run; what a run before it has done took its own time
    is_old: bool = False  # the output was complete before


def annotate(
    inputs: Inputs,
    output: Output,
    *,
    job: Job,
    engine: Engine | None = None,
    workers: int = 1,
    shard: Shard | None = None,
    progress: Progress = lambda done: None,
) -> Summary:
    """Link all documents of the inputs, in order and in bounded memory; go on with a run of the same that was stopped.

    Chunks are linked by `engine`, else by `workers` processes of one thread. The bytes of the output are the same
    however many work on it and however often they were killed.
    """
    began = time.monotonic()
    link = engine or in_processes(workers)
    read = partial(read_chunks, inputs, shard=shard, part_documents=output.part_documents)
    work = partial(link_chunk, replace(job, shared=engine is not None or workers > 1))
    if output.is_stream:
        return _annotate_stream(link(work, read()), output, progress, began)
    now = fingerprint.take(job, inputs.names, _list_settings(inputs, output, shard))
    if output.exists() and not (output.run_folder / "run.json").exists():
        raise ParlinkError(f"{output.target(0)}: is there already; remove it, or choose another output")
    with files.refuse(output.path):
        output.run_folder.mkdir(parents=True, exist_ok=True)
    with hold(output.run_folder, output.path):
        if (complete := _begin(output, now)) is not None:
            return complete
        journal = Journal(output)
        journal.recover()
        progress(journal.tally)
        if not journal.is_whole:
            for linked in link(work, journal.skip(read())):
                _check_kb(linked, now)
                journal.commit(linked)
                progress(linked.tally)
        journal.finish()
        _write_run(output, RunFile(fingerprint=now, tally=journal.tally.to_json(), losses=journal.losses))
        journal.remove()
    return _summarize(output, journal.tally, journal.losses, seconds=time.monotonic() - began)


def _list_settings(inputs: Inputs, output: Output, shard: Shard | None) -> dict[str, Any]:
    """The options that the output depends on, beside those of the job."""
    return {
        "shard": None if shard is None else f"{shard.number}/{shard.total}",
        "part_documents": output.part_documents,
        "to": output.format,
        "text_field": inputs.fields.text,
        "id_field": inputs.fields.id,
    }


def _begin(output: Output, now: Fingerprint) -> Summary | None:
    """Begin or go on; a run that is complete has its summary."""
    path = output.run_folder / "run.json"
    if path.exists():
        began = msgspec.json.decode(path.read_bytes(), type=RunFile)
        if began.tally is None:
            fingerprint.compare(began.fingerprint, now, output=output.path, remove=path.parent)
            return None
        if output.exists():
            fingerprint.compare(began.fingerprint, now, output=output.path, remove=output.target(0))
            Journal(output).remove()
            return _summarize(output, tally.from_json(began.tally), Counter(began.losses), is_old=True)
    Journal(output).remove()
    _write_run(output, RunFile(fingerprint=now))
    return None


def _check_kb(linked: LinkedChunk, now: Fingerprint) -> None:
    """Refuse links to another state of the knowledge base than that in which the run began."""
    for state in linked.kb:
        if state is not None and state != now["knowledge base"]:
            raise ParlinkError(
                f"the knowledge base was changed during the run ({now['knowledge base']}, and now {state}); "
                "take the change back, or begin anew"
            )


def _annotate_stream(results: Iterator[LinkedChunk], output: Output, progress: Progress, began: float) -> Summary:
    """Write documents as they come, to where nothing can be gone on with."""
    total, losses = Tally(), Counter[str]()

    def watch() -> Iterator[bytes]:
        for linked in results:
            total.add(linked.tally)
            progress(linked.tally)
            yield linked.documents

    lines = chain.from_iterable(documents.splitlines() for documents in watch())
    formats.WRITERS[output.format](output.path, map(jsonl.decode, lines), losses=losses)
    return Summary(total, losses, None, time.monotonic() - began)


def _write_run(output: Output, value: RunFile) -> None:
    with files.open_output(output.run_folder / "run.json") as file:
        file.write(msgspec.json.encode(value))


def _summarize(
    output: Output, total: Tally, losses: Counter[str], *, seconds: float = 0.0, is_old: bool = False
) -> Summary:
    return Summary(total, losses, output.errors if total.errors else None, seconds, is_old)
