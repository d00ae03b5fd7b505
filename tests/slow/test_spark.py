"""Linking on a real local Spark of two workers, one of which is killed."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from own_processes import descendants, parent_of
from parlink.errors import ParlinkError
from parlink.linking.linker import Linker
from tiny_corpus import DOCUMENTS, OPTIONS, tiny_job

sql: Any = pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install 'parlink[spark]'")
pytestmark = [
    pytest.mark.filterwarnings("default"),  # Spark leaves sockets to the garbage collector
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java: apt-get install default-jre-headless"),
]
TEXTS = [*(doc.text for doc in DOCUMENTS), None]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers would be whatever `python3` is
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", 8).getOrCreate()
    yield session
    session.stop()


def workers() -> list[int]:
    """The Python workers, which are forked by a daemon."""
    processes = descendants("pyspark.daemon")
    return [process for process in processes if parent_of(process) in processes]


def kill_a_worker() -> bool:
    """Wait for both workers, and kill one in its work."""
    for _ in range(600):
        if len(workers()) >= 2:
            time.sleep(0.5)
            os.kill(workers()[0], signal.SIGKILL)
            return True
        time.sleep(0.1)
    return False


def test_a_column_is_linked_though_a_worker_dies(spark: Any, tmp_path: Path) -> None:
    from parlink.integrations.spark import link_column

    job = tiny_job(tmp_path)
    frame = spark.createDataFrame([(n, text) for n, text in enumerate(TEXTS)], "year int, text string").repartition(4)
    linked = link_column(frame, "text", model=job.model, kb=job.kb, options=OPTIONS, top=2)
    assert linked.columns == ["year", "text", "links", "links_error"]
    with ThreadPoolExecutor(1) as pool:
        killed = pool.submit(kill_a_worker)
        rows = sorted(linked.collect(), key=lambda row: row.year)
        assert killed.result()
    linker = Linker.load(job.model, kb=job.kb)
    assert [row.year for row in rows] == list(range(len(TEXTS)))
    assert rows[-1].links is None
    for row in rows[:-1]:
        wanted = linker.link(row.text, options=OPTIONS).links
        assert [(link.start, link.end, link.title) for link in row.links] == [
            (link.span.start, link.span.end, link.title) for link in wanted
        ]
        assert row.links_error is None and all(len(link.candidates or ()) <= 2 for link in row.links)


def test_a_column_that_is_not_there_is_named(spark: Any) -> None:
    from parlink.integrations.spark import link_column

    with pytest.raises(ParlinkError, match="no column 'body'; the DataFrame has text"):
        link_column(spark.createDataFrame([("Kent",)], "text string"), "body")
