"""Micro-batching: documents of all clients are linked together, small requests in one lane and large ones in another.

Each lane has a thread, so nobody who asks for a sentence waits for somebody else's book. What could not be answered in
time is refused when it comes, by what waits before it and the measured speed of its lane: a queue that is longer than
that only makes everybody late (issue 16). A lane that is idle takes whatever is within the limits.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence

from parlink.config import LinkOptions
from parlink.errors import ParlinkError
from parlink.linking.linker import DEFAULT, Linker
from parlink.serve.lane import AbandonedError, Job, Lane
from parlink.serve.settings import Settings
from parlink.serve.work import estimate_work, searches_titles
from parlink.types import Document


class TooMuchWorkError(ParlinkError):
    """A request is more work than any may be."""


class BusyError(ParlinkError):
    """A request could not be answered in time."""

    def __init__(self, message: str, *, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = max(1, math.ceil(seconds))


class Batcher:
    """The two lanes; to be used from one event loop."""

    def __init__(
        self,
        linker: Linker,
        settings: Settings,
        *,
        options: LinkOptions = DEFAULT,
        observe: Callable[[Sequence[Document]], None] = lambda docs: None,
    ) -> None:
        self._settings, self._tuned = settings, linker.tuned
        self._has_tree = searches_titles(options, linker.tuned)  # it is made before the first request
        self.small, self.large = (
            Lane(linker, batch=settings.batch, wait=settings.wait, observe=observe, options=options) for _ in range(2)
        )
        self._stopping = False

    def __len__(self) -> int:
        return len(self.small) + len(self.large)

    @property
    def age(self) -> float:
        """Seconds since the oldest running batch began."""
        return max(self.small.age, self.large.age)

    def explain_unready(self) -> str | None:
        """Say why no document should be sent here now, or None if it may."""
        if self._stopping or not (self.small.is_alive and self.large.is_alive):
            return "the model does not run"
        if self.age > self._settings.seconds:
            return f"a job has been running for {self.age:.0f} s"
        if len(self) >= self._settings.waiting:
            return f"{len(self)} documents are waiting"
        if self.is_busy:
            return f"a document would wait for {self.small.predict():.1f} s"
        return None

    @property
    def is_busy(self) -> bool:
        """Whether a document of twice those that wait would be refused, so that nobody need read it to tell."""
        return not self.small.is_idle and self.small.predict(2 * self.small.mean_work) > self._settings.patience

    async def start(self) -> None:
        """Start the threads."""
        await self.small.start()
        await self.large.start()

    async def stop(self, seconds: float = 60.0) -> None:
        """Finish what was accepted, as far as that can be done in time."""
        self._stopping = True
        await asyncio.gather(self.small.stop(seconds), self.large.stop(seconds))

    async def link(self, docs: Sequence[Document], options: LinkOptions) -> list[Document]:
        """Link documents with whatever else is waiting; a failed one comes back with `error` set.

        Whoever is canceled while waiting here frees the places in the queue, and work that is only theirs stops.
        """
        works = [estimate_work([doc], options, self._tuned) for doc in docs]
        lane = self._admit(len(docs), sum(works), options)
        loop, request = asyncio.get_running_loop(), object()
        jobs = [Job(doc, options, work, request, loop.create_future()) for doc, work in zip(docs, works, strict=True)]
        lane.put(jobs)
        try:
            return list(await asyncio.gather(*(job.done for job in jobs)))
        except AbandonedError as error:
            raise BusyError(f"{error}; try again later") from error
        finally:
            lane.remove(jobs)

    def _admit(self, documents: int, work: int, options: LinkOptions) -> Lane:
        """Choose the lane of a request, or refuse it."""
        settings = self._settings
        if self._stopping:
            raise BusyError("the service is stopping; try again later")
        if work > settings.work:
            told = f"about {work:,} units, and at most {settings.work:,} are taken"
            raise TooMuchWorkError(f"this is too much work: {told}; send less text, fewer spans, or cheaper options")
        if len(self) + documents > settings.waiting:
            raise BusyError(f"{len(self)} documents are waiting, and at most {settings.waiting} may; try again later")
        cold = searches_titles(options, self._tuned) and not self._has_tree  # may have to make it first
        small = work <= settings.small_work and not cold
        lane, patience = (self.small, settings.patience) if small else (self.large, settings.seconds)
        seconds = lane.predict(work)
        if seconds > patience and not lane.is_idle:
            message = f"this would take {seconds:.1f} s, and at most {patience:g} s are promised; try again later"
            raise BusyError(message, seconds=seconds - patience)
        return lane
