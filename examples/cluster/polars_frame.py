"""Link a column of a polars DataFrame: `python examples/cluster/polars_frame.py`."""

import pandas as pd
import polars as pl

from parlink.integrations.pandas import link_series

texts = ["The night train from Berlin to Vienna was on time.", "The ferry to Dover smelt of fish.", "No complaints."]
frame = pl.DataFrame({"text": texts})

# A list of structs a row; `explode` and `unnest` make a row a link of it.
links = link_series(pd.Series(frame["text"].to_list()), top=0)
linked = frame.with_columns(pl.Series("links", links.to_list()))
table = linked.explode("links").unnest("links").drop_nulls("start")
print(table.select("text", "start", "end", "title"))
