"""Links as a pandas DataFrame: a row each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from parlink.errors import ParlinkError
from parlink.types import Document

if TYPE_CHECKING:
    from pandas import DataFrame

FIELDS = ("start", "end", "title", "id", "type", "description", "confidence", "reason", "url")


def docs_to_dataframe(docs: Iterable[Document]) -> DataFrame:
    """Make a table of the links of documents; `document` is the id of its document, or its place where it has none.

    `surface` holds the words of the text. Candidates are left out, and a document without links has no row.
    """
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ParlinkError("a DataFrame needs pandas; install parlink[pandas]") from error
    rows = [
        (doc.id or place, doc.surface(link), *(getattr(link, name) for name in FIELDS))
        for place, doc in enumerate(docs)
        for link in doc
    ]
    return DataFrame(rows, columns=["document", "surface", *FIELDS])
