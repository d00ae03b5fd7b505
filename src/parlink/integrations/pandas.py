"""Pandas: link a column of texts, and show links as a DataFrame of a row each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlink.config import LinkOptions
from parlink.errors import ParlinkError, TextError
from parlink.linking.linker import DEFAULT
from parlink.types import Document

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FIELDS = ("start", "end", "title", "id", "type", "description", "confidence", "reason", "url")


def docs_to_dataframe(docs: Iterable[Document] | Document) -> DataFrame:
    """Make a table of the links of documents, or of one, a row each.

    `document` is the id of the link's document, or its place where it has none;
    `surface` holds the words of the text. Candidates are left out, and a document without links has no row. One that
    failed has a row with nothing but its `error`.
    """
    rows: list[tuple[Any, ...]] = []
    nothing = [None] * (1 + len(FIELDS))
    if not isinstance(docs, Iterable):
        raise TextError(f"a table is made of documents that were linked, got {docs!r:.60}")
    for place, doc in enumerate([docs] if isinstance(docs, Document) else docs):
        if not isinstance(doc, Document):
            raise TextError(f"a table is made of documents that were linked, got {doc!r:.60}")
        name = doc.id or place
        if doc.error is not None:
            rows.append((name, *nothing, doc.error))
        rows += [(name, doc.surface(link), *(getattr(link, field) for field in FIELDS), None) for link in doc]
    table = _pandas().DataFrame(rows, columns=["document", "surface", *FIELDS, "error"])
    return table.astype({"start": "Int64", "end": "Int64"})  # which may be missing, and stay whole numbers


def link_series(
    texts: Series[str],
    *,
    model: Path | str | None = None,
    kb: Path | str | None = None,
    options: LinkOptions = DEFAULT,
    top: int = 5,
    **fields: Any,
) -> Series[Any]:
    """Return the links of each text, as a list of dicts, under the same index; None where there is no text.

    The same function serves Dask, a partition at a time, and polars. The linker is opened once in a process. A text
    that cannot be linked has None too; `parlink annotate` and the adapters of Ray and Spark say why. `fields` are those
    of `LinkOptions`, as in `Linker.link`.
    """
    from parlink.integrations.columns import link_texts, make_job, to_columns

    links, _ = to_columns(link_texts(make_job(model, kb, options=options.replace(fields), top=top), texts.tolist()))
    return _pandas().Series(links, index=texts.index, name="links", dtype=object)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ParlinkError("a DataFrame needs pandas; install parlink[pandas]") from error
    return pandas
