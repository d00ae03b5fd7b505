"""Our sorted spill (kb/build/spill.py) against DuckDB: rows in, distinct rows with their counts out, in order.

    pip install duckdb
    python benchmarks/spill.py spill [--rows 1500000] [--held 300000]
    python benchmarks/spill.py duckdb [--rows 1500000] [--memory 150MB]

The rows look like facts; nine of ten are distinct. Seconds are of CPU, on one thread, making the rows not counted.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from parlink.kb.build.spill import Spill

Row = tuple[str, str, int, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=["spill", "duckdb"])
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--held", type=int, default=300_000, help="rows that the spill holds in memory")
    parser.add_argument("--memory", default="150MB", help="memory_limit of DuckDB")
    options = parser.parse_args()
    start = time.process_time()
    for _ in make_rows(options.rows):
        pass
    making = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        way = with_spill if options.way == "spill" else with_duckdb
        counted = way(Path(folder), options)
        taken = time.process_time()
        total = distinct = 0
        for _, count in counted:
            total, distinct = total + count, distinct + 1
        end = time.process_time()
    assert total == options.rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = f"in {taken - start - making:.1f} s, out {end - taken:.1f} s"
    print(f"{options.way}: {seconds}, {distinct:,} distinct, {peak:.0f} MB")


def make_rows(count: int) -> Iterator[Row]:
    rng = random.Random(0)
    for _ in range(count):
        title = rng.randrange(count // 4)
        yield f"Title number {title} (thing)", "", 1 + title % 5, f"name {rng.randint(0, 9)} of {title}"


def with_spill(folder: Path, options: argparse.Namespace) -> Iterator[tuple[Row, int]]:
    spill: Spill[Row] = Spill(folder, "facts", max_rows=options.held)
    for row in make_rows(options.rows):
        spill.add(row)
    return iter(spill)


def with_duckdb(folder: Path, options: argparse.Namespace) -> Iterator[tuple[Row, int]]:
    import duckdb
    import pyarrow as pa

    limits = {"memory_limit": options.memory, "threads": 1, "temp_directory": str(folder)}
    connection = duckdb.connect(str(folder / "facts.duckdb"), config=limits)
    connection.execute("create table facts(title varchar, id varchar, kind utinyint, value varchar, times bigint)")
    rows = make_rows(options.rows)
    while batch := Counter(islice(rows, 100_000)):
        columns = [*zip(*batch, strict=True), list(batch.values())]
        piece = pa.table(dict(zip(["title", "id", "kind", "value", "times"], columns, strict=True)))
        connection.register("piece", piece)
        connection.execute("insert into facts select * from piece")
    query = "select title, id, kind, value, sum(times)::bigint from facts group by all order by title, id, kind, value"
    return fetch(connection.execute(query))


def fetch(result: Any) -> Iterator[tuple[Row, int]]:
    while fetched := result.fetchmany(4096):
        for title, identifier, kind, value, count in fetched:
            yield (title, identifier, kind, value), count


if __name__ == "__main__":
    main()
