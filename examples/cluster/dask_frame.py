"""Link a column of a Dask DataFrame, a partition at a time: `python examples/cluster/dask_frame.py`."""

import dask.dataframe as dd
import pandas as pd

from parlink.integrations.pandas import link_series

texts = ["The night train from Berlin to Vienna was on time.", "The ferry to Dover smelt of fish.", "No complaints."]


def main() -> None:
    frame = dd.from_pandas(pd.DataFrame({"text": texts}), npartitions=2)
    links = frame["text"].map_partitions(link_series, meta=pd.Series(name="links", dtype=object))
    for text, found in zip(texts, links.compute(scheduler="processes", num_workers=2), strict=True):
        print([text[link["start"] : link["end"]] for link in found])


if __name__ == "__main__":  # processes are started
    main()
