"""Micro-batching: documents of all clients wait in one bounded queue, and one thread links them together.

A document that finds the model idle starts at once; what arrives while the model works goes together next. Only
after a batch of several requests does the next one wait, for some milliseconds: clients that were answered
together ask again together. So a client that is alone never waits.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from parlink.config import LinkOptions
from parlink.errors import ParlinkError
from parlink.linking.linker import Linker
from parlink.types import Document

INTERNAL = "internal error; the log of the service says where"
BATCH_CHARACTERS = 16_000  # longer texts gain nothing from company
RETURN_SECONDS = 0.05  # within which clients that were answered together come back
_log = logging.getLogger(__name__)


class QueueFullError(ParlinkError):
    """Too many documents wait already."""


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A document that waits for the model."""

    doc: Document
    options: LinkOptions
    request: object  # the same for all documents that came together
    done: asyncio.Future[Document]

    @property
    def kind(self) -> tuple[LinkOptions, int]:
        """What documents of one batch share: options, and about the same length, so that little is padding."""
        return self.options, max(8, len(self.doc.text).bit_length())


class Batcher:
    """A queue and the thread that empties it; to be used from one event loop."""

    def __init__(
        self,
        linker: Linker,
        *,
        batch: int,
        waiting: int,
        wait: float,
        observe: Callable[[Sequence[Document]], None] = lambda docs: None,
    ) -> None:
        self._linker, self._batch, self._limit, self._wait, self._observe = linker, batch, waiting, wait, observe
        self._waiting: dict[_Job, None] = {}  # ordered, and a job that is given up leaves at once
        self._arrived = asyncio.Event()
        self._company = 1  # requests in the last batch
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_ready(self) -> bool:
        """Whether the model is running and the queue has room."""
        return self._task is not None and not self._task.done() and not self._stopping and len(self) < self._limit

    async def start(self) -> None:
        """Start the thread, and link once so that the first client does not pay for what happens only once."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        await asyncio.get_running_loop().run_in_executor(thread, self._linker.link, "parlink")
        self._task = asyncio.create_task(self._run(thread))

    async def stop(self) -> None:
        """Finish what was accepted, then end the thread."""
        self._stopping = True
        self._arrived.set()
        if self._task is not None:
            await self._task

    async def link(self, docs: Sequence[Document], options: LinkOptions) -> list[Document]:
        """Link documents with whatever else is waiting; a failed one comes back with `error` set.

        Whoever is canceled while waiting here frees the places in the queue.
        """
        if self._stopping:
            raise QueueFullError("the service is stopping; try again later")
        if len(self) + len(docs) > self._limit:
            raise QueueFullError(f"{len(self)} documents are waiting, and at most {self._limit} may; try again later")
        loop = asyncio.get_running_loop()
        request = object()
        jobs = [_Job(doc, options, request, loop.create_future()) for doc in docs]
        self._waiting.update(dict.fromkeys(jobs))
        self._arrived.set()
        try:
            return list(await asyncio.gather(*(job.done for job in jobs)))
        finally:
            for job in jobs:
                self._waiting.pop(job, None)

    async def _run(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._gathered()
                jobs = self._take()
                if not jobs and self._stopping:
                    return
                if jobs:
                    docs = [job.doc for job in jobs]
                    linked = await loop.run_in_executor(thread, link_together, self._linker, docs, jobs[0].options)
                    _deliver(jobs, linked)
                    self._observe(linked)
        finally:
            thread.shutdown(wait=True)

    async def _gathered(self) -> None:
        """Wait for a document, and then a moment for the others that are likely to come."""
        began = time.monotonic()
        while not self._waiting and not self._stopping:
            self._arrived.clear()
            await self._arrived.wait()
        if time.monotonic() - began > RETURN_SECONDS:
            self._company = 1
        try:
            async with asyncio.timeout(self._wait):
                while _requests(self._waiting) < self._company and not self._stopping:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            return

    def _take(self) -> list[_Job]:
        """Remove the first job from the queue, and those behind it that can go with it."""
        jobs: list[_Job] = []
        characters = 0
        for job in self._waiting:
            if jobs and (len(jobs) == self._batch or characters + len(job.doc.text) > BATCH_CHARACTERS):
                break
            if not jobs or job.kind == jobs[0].kind:
                jobs.append(job)
                characters += len(job.doc.text)
        for job in jobs:
            del self._waiting[job]
        self._company = _requests(jobs)
        return jobs


def _requests(jobs: Iterable[_Job]) -> int:
    return len({job.request for job in jobs})


def link_together(linker: Linker, docs: Sequence[Document], options: LinkOptions) -> list[Document]:
    """Link documents in one go; if that fails, each alone, so that one document's failure is its own."""
    try:
        return list(linker.stream(docs, options=options))
    except Exception:
        return [_link_alone(linker, doc, options) for doc in docs]


def _link_alone(linker: Linker, doc: Document, options: LinkOptions) -> Document:
    try:
        return next(linker.stream([doc], options=options))
    except Exception as error:  # a bug of ours must not take the service down; its message may hold text, so no message
        _log.error("%s while linking\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        return replace(doc, links=(), error=INTERNAL)


def _deliver(jobs: Sequence[_Job], linked: Sequence[Document]) -> None:
    for job, doc in zip(jobs, linked, strict=True):
        if not job.done.done():
            job.done.set_result(doc)
