"""What Prometheus is told: requests, documents, batches, the queue and the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from parlink.types import Document

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one service; labels are routes, never what a client wrote."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        PlatformCollector(registry=self._registry)
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "parlink_requests", "Requests answered", ["method", "path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "parlink_request_seconds", "Time to the answer", ["path"], buckets=SECONDS, registry=self._registry
        )
        self._documents = Counter("parlink_documents", "Documents linked", ["outcome"], registry=self._registry)
        sizes = (1, 2, 4, 8, 16, 32, 64)
        self._batches = Histogram(
            "parlink_batch_documents", "Documents linked together", buckets=sizes, registry=self._registry
        )

    def watch(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Ask for a value at every scrape."""
        Gauge(f"parlink_{name}", description, registry=self._registry).set_function(value)

    def count_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def count_batch(self, docs: Sequence[Document]) -> None:
        """Count documents that were linked together."""
        self._batches.observe(len(docs))
        failed = sum(doc.error is not None for doc in docs)
        self._documents.labels("failed").inc(failed)
        self._documents.labels("linked").inc(len(docs) - failed)

    def render(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
