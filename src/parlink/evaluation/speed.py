"""How fast documents are linked, and in how much memory: each measurement in a process of its own.

CPU seconds say what the work costs also where others use the machine; wall clock says what a user waits for.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from parlink.load_options import LoadOptions
from parlink.types import Document

T = TypeVar("T")
# What is linked where no documents are given.
TEXT = "The king of Jordan flew to Egypt on Monday, while in Chicago the Bulls celebrated Michael Jordan once more. "
TEXTS = (Document(TEXT * 10),) * 20


class Way(StrEnum):
    """How documents come."""

    SINGLY = "one at a time"
    BATCHES = "in batches"


@dataclass(frozen=True, slots=True)
class Speed:
    """What it took to link some documents."""

    name: str
    way: Way
    documents: int
    tokens: int
    wall: float  # seconds
    cpu: float  # seconds, of all threads
    peak: float  # MB of memory that were ever resident, the model included
    note: str = ""
    batch_tokens: int | None = None  # read together; None: those of a document, or not known

    @property
    def documents_per_second(self) -> float:
        """Documents in a second of wall clock."""
        return self.documents / self.wall

    @property
    def tokens_per_second(self) -> float:
        """Tokens in a second of wall clock."""
        return self.tokens / self.wall


def compare_precisions(
    documents: Sequence[Document],
    *,
    model: Path | None = None,
    kb: Path | None = None,
    loads: Sequence[LoadOptions],
    threads: int = 1,
) -> Iterator[Speed]:
    """Measure a model on whole documents, one at a time and in batches, opened in each of several ways."""
    for load in loads:
        for way in Way:
            yield run_alone(measure_model, load, way, documents, model, kb, threads)


def measure_model(
    load: LoadOptions,
    way: Way,
    documents: Sequence[Document],
    model: Path | None,
    kb: Path | None,
    threads: int,
) -> Speed:
    """Open a model, let it warm up, and measure it; spans and links of the documents are not shown to it."""
    from parlink.linking.keep import keep
    from parlink.linking.linker import Linker

    linker = keep(Linker.load(model, kb=kb, device=load.device, precision=load.precision))
    import torch  # not before: what is loaded first chooses the kernels

    torch.set_num_threads(threads)
    texts = [Document(doc.text) for doc in documents]
    linker.link(texts[0])
    work = {
        Way.SINGLY: lambda: [linker.link(text) for text in texts],
        Way.BATCHES: lambda: list(linker.stream(texts)),
    }
    tokens = sum(len(linker.tokenizer.encode(text.text).ids) for text in texts)
    measured, _ = measure(work[way], name=linker.network.precision, way=way, documents=len(texts), tokens=tokens)
    return replace(measured, batch_tokens=linker.batch_tokens if way is Way.BATCHES else None)


def measure(work: Callable[[], T], *, name: str, way: Way, documents: int, tokens: int) -> tuple[Speed, T]:
    """Do some work once, and say what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Speed(name, way, documents, tokens, wall, cpu, peak_memory()), result


def run_alone(function: Callable[..., T], *arguments: object) -> T:
    """Call a function in a new process, so that its memory is its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(function, *arguments).result()


def peak_memory() -> float:
    """The most memory that this process ever had, in MB.

    Linux hands the figure of getrusage on from the process that started this one, so it is asked otherwise there.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return largest / (1e6 if sys.platform == "darwin" else 1e3)
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024 / 1e6


def extrapolate(speed: Speed, times: float, *, note: str) -> Speed:
    """What the whole would take, of which so many times less was measured."""
    return replace(speed, wall=speed.wall * times, cpu=speed.cpu * times, note=note)
