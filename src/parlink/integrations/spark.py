"""Link a column of a Spark DataFrame: Arrow in and out, a linker opened once a Python worker.

What Spark sends to the workers is the path of the model, which every machine must be able to open; the model that comes
with parlink needs none. A worker that dies costs its task, which Spark runs again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlink.config import LinkOptions
from parlink.corpus.job import Job
from parlink.data.formats.parquet import LINKS, pack_links
from parlink.errors import ParlinkError
from parlink.integrations.columns import error_column, link_texts, make_job, to_columns
from parlink.linking.linker import DEFAULT

if TYPE_CHECKING:
    import pandas as pd

try:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StringType, StructField, StructType
except ImportError as error:
    raise ParlinkError("linking on Spark needs PySpark: pip install 'parlink[spark]'; and Java") from error


def link_column(
    df: Any,
    column: str = "text",
    *,
    model: Path | str | None = None,
    kb: Path | str | None = None,
    options: LinkOptions = DEFAULT,
    top: int = 5,
    output: str = "links",
) -> Any:
    """Add to a DataFrame a column of links, an array of structs, and one of errors, `links_error`."""
    if column not in df.columns:
        raise ParlinkError(f"no column {column!r}; the DataFrame has {', '.join(df.columns)}")
    links = StructField(output, from_arrow_type(LINKS))
    errors = StructField(error_column(output), StringType())
    job = make_job(model, kb, options=options, top=top, shared=True)
    schema = StructType([*df.schema.fields, links, errors])
    return df.mapInPandas(partial(_link_frames, job, column, output), schema)


def _link_frames(job: Job, column: str, output: str, frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        links, errors = to_columns(link_texts(job, frame[column].tolist()))
        packed = [None if row is None else pack_links(row) for row in links]
        yield frame.assign(**{output: packed, error_column(output): errors})
