"""Work on a Ray cluster: a Ray dataset linked by a pool of actors, the chunks of `parlink annotate`, pieces of a dump.

An actor holds one linker. Actors of one machine share its memory: the knowledge base is mapped, and so are the
weights. The model and the knowledge base are paths that every machine can open; the packaged model needs none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from parlink.config import LinkOptions
from parlink.corpus.job import Job
from parlink.data.formats.parquet import LINKS, pack_links
from parlink.data.parallel import Engine
from parlink.errors import ParlinkError
from parlink.integrations.columns import error_column, link_texts, make_job, to_columns
from parlink.linking.linker import DEFAULT

try:
    import pyarrow as pa
    import ray
    import ray.data
except ImportError as error:
    raise ParlinkError("linking on Ray needs Ray: pip install 'parlink[ray]'") from error

T = TypeVar("T")
R = TypeVar("R")
WAITING = 3  # chunks or batches an actor, so that none runs dry and memory stays bounded
ROWS = 256  # of a batch


def link_dataset(
    dataset: Any,
    column: str = "text",
    *,
    model: Path | str | None = None,
    kb: Path | str | None = None,
    options: LinkOptions = DEFAULT,
    top: int = 5,
    output: str = "links",
    actors: int = 2,
    rows: int = ROWS,
) -> Any:
    """Add to a Ray dataset a column of links, a list of structs a row, and one of errors, `links_error`.

    Batches of `rows` flow through a pool of actors, no more of them at a time than the actors can take. If an actor
    dies, Ray starts another, and what it had in hand is linked again.
    """
    return dataset.map_batches(
        _BatchLinker,
        fn_constructor_args=(make_job(model, kb, options=options, top=top, shared=True), column, output),
        batch_format="pyarrow",
        batch_size=rows,
        compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=WAITING),
        num_cpus=1,
    )


def ray_engine(*, workers: int, address: str | None = None) -> Engine:
    """Return what maps a function on a cluster, or on this machine if no address is given."""

    def run(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        if not ray.is_initialized():
            _start(workers, address)
        return map_on_ray(function, items, workers=workers)

    return run


def _start(workers: int, address: str | None) -> None:
    """Join a cluster, or start one on this machine."""
    here = address is None
    try:
        ray.init(
            address=address,
            num_cpus=workers if here else None,
            log_to_driver=False,
            include_dashboard=False if here else None,
        )
    except Exception as error:  # Ray has no type for it: a node that is late is a plain Exception
        what = "did not start; is the machine busy?" if here else f"at {address} cannot be reached."
        raise ParlinkError(f"Ray {what} Try again, or leave out --engine ray ({error})") from error


def map_on_ray(function: Callable[[T], R], items: Iterable[T], *, workers: int) -> Iterator[R]:
    """Yield what a function makes of each item, in order; what a worker had in hand when it died is done again."""
    create: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Worker)
    actors = [create.remote(function) for _ in range(workers)]
    waiting: deque[Any] = deque()
    try:
        for number, item in enumerate(items):
            waiting.append(actors[number % workers].run.remote(item))
            if len(waiting) >= WAITING * workers:
                yield _get(waiting.popleft())
        while waiting:
            yield _get(waiting.popleft())
    finally:
        for actor in actors:
            ray.kill(actor)


def _get(reference: Any) -> Any:
    """Wait for a result; what the function raised is raised as it was, without what Ray has to say about it."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


class _Worker:
    """Applies a function in a process of its own."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def run(self, item: Any) -> Any:
        return self._function(item)


class _BatchLinker:
    """Links batches of rows, in an actor."""

    def __init__(self, job: Job, column: str, output: str) -> None:
        self._job, self._column, self._output = job, column, output

    def __call__(self, table: Any) -> Any:
        links, errors = to_columns(link_texts(self._job, table[self._column].to_pylist()))
        packed = [None if row is None else pack_links(row) for row in links]
        table = table.append_column(self._output, pa.array(packed, type=LINKS))
        return table.append_column(error_column(self._output), pa.array(errors, type=pa.string()))
