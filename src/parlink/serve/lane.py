"""A lane of the service: jobs that wait, and a thread that links them together.

A job that finds the lane idle starts at once; what arrives while it works goes together next. Only after a batch of
several requests does the next one wait, for some milliseconds: clients that were answered together ask again together.
So a client that is alone never waits.

The lane measures how fast it works, and so knows how long what waits will take: it goes by the slowest of its last
batches, since on a machine that others use too the next one may be as slow. A batch is stopped between its steps as
soon as nobody waits for any of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from parlink.config import LinkOptions
from parlink.linking.interrupt import interruptible
from parlink.linking.linker import DEFAULT, Linker
from parlink.serve.work import estimate_work
from parlink.types import Document, Span

INTERNAL = "internal error; the log of the service says where"
BATCH_SECONDS = 1.0  # of work that go together: longer batches gain little, and the next ones wait for them
BATCH_TOKENS = 2048  # read at once, so that a long text can be stopped
RETURN_SECONDS = 0.05  # within which clients that were answered together come back
RECENT = 8  # batches, by the slowest of which the lane predicts
MEMORY = 0.7  # how much of the measured speed is that of earlier batches: the last few seconds count
WARM_UP = Document("parlink in Hamburg", spans=(Span(0, 7), Span(11, 18)))
_log = logging.getLogger(__name__)


class AbandonedError(Exception):
    """Nobody waits for this work; no `ParlinkError`, because the linker keeps those for itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A document that waits for the model."""

    doc: Document
    options: LinkOptions
    work: float
    request: object  # the same for all documents that came together
    done: asyncio.Future[Document]

    @property
    def kind(self) -> tuple[LinkOptions, int]:
        """What documents of one batch share: options, and about the same length, so that little is padding."""
        return self.options, max(8, len(self.doc.text).bit_length())


class Lane:
    """A queue and the thread that empties it; to be used from one event loop."""

    def __init__(
        self,
        linker: Linker,
        *,
        batch: int,
        wait: float,
        observe: Callable[[Sequence[Document]], None],
        options: LinkOptions = DEFAULT,
    ) -> None:
        self._linker, self._batch, self._wait, self._observe = linker, batch, wait, observe
        self._options = options  # of most requests
        self._waiting: dict[Job, None] = {}  # ordered, and a job that is given up leaves at once
        self._waiting_work = 0.0  # of these: under load it is asked for thousands of times a second
        self._running: Sequence[Job] = ()
        self._running_work, self._began = 0.0, 0.0
        self._work, self._seconds = 1.0, 1.0  # done so far, the past fading
        self._speeds: deque[float] = deque(maxlen=RECENT)  # of the last batches
        self._arrived = asyncio.Event()
        self._company = 1  # requests in the last batch
        self._stopping = self._halted = False
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return not self._waiting and not self._running

    @property
    def is_alive(self) -> bool:
        """Whether jobs are taken and done."""
        return self._task is not None and not self._task.done() and not self._stopping

    @property
    def age(self) -> float:
        """Seconds since the running batch began; 0 if none is running."""
        return time.monotonic() - self._began if self._running else 0.0

    @property
    def speed(self) -> float:
        """Work done a second, of late; a batch that takes longer than that would have it counts at once."""
        speed = self._work / max(self._seconds, 1e-6)
        return min(speed, self._running_work / self.age) if self._running and self.age > 0 else speed

    def predict(self, work: float = 0.0) -> float:
        """Return in how many seconds more work would be done, if it came now and the lane were as slow as it was."""
        speed = min(self.speed, *self._speeds) if self._speeds else self.speed
        remaining = max(self._running_work - speed * self.age, 0.0)
        return (self._waiting_work + remaining + work) / speed

    @property
    def mean_work(self) -> float:
        """How much work a document is, of those that wait; 0 if none does."""
        return self._waiting_work / max(len(self._waiting), 1)

    async def start(self) -> None:
        """Start the thread, and link twice: the first client shall not pay for what happens only once."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        loop = asyncio.get_running_loop()
        for _ in range(2):
            began = time.monotonic()
            await loop.run_in_executor(thread, link_together, self._linker, [WARM_UP], self._options)
            self._work = estimate_work([WARM_UP], self._options, self._linker.tuned)
            self._seconds = time.monotonic() - began
        self._task = asyncio.create_task(self._run(thread))

    async def stop(self, seconds: float) -> None:
        """Finish what was accepted; what is not done in time is stopped, and its clients are told."""
        self._stopping = True
        self._arrived.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            self._halted = True
            for job in (*self._waiting, *self._running):
                if not job.done.done():
                    job.done.set_exception(AbandonedError("the service is stopping"))
            self.remove(tuple(self._waiting))
            await asyncio.wait({self._task}, timeout=1.0)

    def put(self, jobs: Iterable[Job]) -> None:
        """Let jobs wait for their turn."""
        for job in jobs:
            self._waiting[job] = None
            self._waiting_work += job.work
        self._arrived.set()

    def remove(self, jobs: Iterable[Job]) -> None:
        """Take back the jobs that still wait."""
        for job in jobs:
            if job in self._waiting:
                del self._waiting[job]
                self._waiting_work -= job.work

    async def _run(self, thread: ThreadPoolExecutor) -> None:
        try:
            while True:
                await self._gather()
                jobs = self._take()
                if jobs:
                    await self._link(thread, jobs)
                elif self._stopping:
                    return
        finally:
            thread.shutdown(wait=False)

    async def _link(self, thread: ThreadPoolExecutor, jobs: Sequence[Job]) -> None:
        self._running, self._began = jobs, time.monotonic()
        self._running_work = sum(job.work for job in jobs)
        try:
            linked = await asyncio.get_running_loop().run_in_executor(thread, self._link_jobs, jobs)
        except AbandonedError:
            linked = []
        work, seconds = self._running_work, self.age
        self._running, self._running_work = (), 0.0
        self._measure(work, seconds, finished=bool(linked))
        for job, doc in zip(jobs, linked, strict=False):
            if not job.done.done():
                job.done.set_result(doc)
        if linked:
            self._observe(linked)

    def _measure(self, work: float, seconds: float, *, finished: bool) -> None:
        """Take a batch into the speed; one that was stopped only if it was slower than expected even so."""
        if finished or work < self.speed * seconds:
            self._work = MEMORY * self._work + work
            self._seconds = MEMORY * self._seconds + seconds
            self._speeds.append(work / max(seconds, 1e-6))

    def _link_jobs(self, jobs: Sequence[Job]) -> list[Document]:
        def checkpoint() -> None:
            if self._halted or all(job.done.done() for job in jobs):
                raise AbandonedError

        with interruptible(checkpoint):
            return link_together(self._linker, [job.doc for job in jobs], jobs[0].options)

    async def _gather(self) -> None:
        """Wait for a document, and then a moment for the others that are likely to come."""
        began = time.monotonic()
        while not self._waiting and not self._stopping:
            self._arrived.clear()
            await self._arrived.wait()
        if time.monotonic() - began > RETURN_SECONDS:
            self._company = 1
        try:
            async with asyncio.timeout(self._wait):
                while _count_requests(self._waiting) < self._company and not self._stopping:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            return

    def _take(self) -> list[Job]:
        """Remove the first job from the queue, and those behind it that can go with it."""
        jobs: list[Job] = []
        work, most = 0.0, BATCH_SECONDS * self.speed
        for job in self._waiting:
            if len(jobs) == self._batch or work >= most:
                break
            if not jobs or (job.kind == jobs[0].kind and work + job.work <= most):
                jobs.append(job)
                work += job.work
        self.remove(jobs)
        self._company = _count_requests(jobs)
        return jobs


def _count_requests(jobs: Iterable[Job]) -> int:
    return len({job.request for job in jobs})


def link_together(linker: Linker, docs: Sequence[Document], options: LinkOptions) -> list[Document]:
    """Link documents in one go; if that fails, each alone, so that one document's failure is its own."""
    try:
        return list(linker.stream(docs, options=options, batch_tokens=BATCH_TOKENS))
    except AbandonedError:
        raise
    except Exception:
        return [_link_alone(linker, doc, options) for doc in docs]


def _link_alone(linker: Linker, doc: Document, options: LinkOptions) -> Document:
    try:
        return next(linker.stream([doc], options=options, batch_tokens=BATCH_TOKENS))
    except AbandonedError:
        raise
    except Exception as error:  # a bug of ours must not take the service down; its message may hold text, so no message
        _log.error("%s while linking\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        return replace(doc, links=(), error=INTERNAL)
