"""Parquet: a document a row; links are a list of structs, candidates a list in each, other columns as they came.

What a column cannot hold (fields of links and candidates that parlink does not know, a field of a document that has
another type than in the first rows, or came later) stands as JSON in a column `extra`, and is read back from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files, jsonl
from parlink.data.formats.rows import DEFAULT, Fields, Rows, check_columns, read_rows, to_document
from parlink.data.identifiers import Resolve
from parlink.data.parallel import batches
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise ParlinkError("Parquet files need pyarrow; install parlink[tables]") from error

_ROWS = 1000  # documents that are held at once, and whose fields make the columns of a file
_EXTRA = "extra"
_SCALARS = {str: pa.string(), int: pa.int64(), float: pa.float64()}


def read(
    path: Path | str,
    *,
    fields: Fields = DEFAULT,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    """Read a document a row, some rows at a time; errors name the row as the line, from 1."""
    return read_rows(rows(path, fields), resolve, losses)


def rows(path: Path | str, fields: Fields) -> Rows:
    """Yield what makes the document of each row."""
    with files.open_input(path) as file:
        try:
            table = pq.ParquetFile(file)
            check_columns(table.schema_arrow.names, fields, path)
            values = (row for batch in table.iter_batches(_ROWS) for row in batch.to_pylist())
            for number, row in enumerate(values, start=1):
                yield number, partial(_make, row, fields, path, number)
        except (pa.ArrowException, *files.BROKEN) as error:
            raise DataFormatError(f"not a Parquet file, or broken ({error})", path=path) from error


def _make(row: dict[str, Any], fields: Fields, path: Path | str, number: int) -> Document:
    return to_document(_unpack(row, path=path, line=number), fields, path=path, line=number)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a document a row, compressed by zstd; nothing is lost but that an absent field of a column is null."""
    schema: Any = None
    with files.open_output(path) as file:
        for docs in batches(documents, _ROWS):
            rows = [jsonl.to_json(doc) for doc in docs]
            if schema is None:
                schema = pa.schema([*_core_fields(), *_extra_fields(rows), pa.field(_EXTRA, pa.string())])
                writer = pq.ParquetWriter(file, schema, compression="zstd")
            writer.write_table(_table(rows, schema))
        if schema is None:
            writer = pq.ParquetWriter(file, pa.schema([*_core_fields(), pa.field(_EXTRA, pa.string())]))
        writer.close()


def _core_fields() -> list[Any]:
    """The columns of every document, in the order of the fields of `Document`."""
    span = pa.struct([pa.field("start", pa.int64()), pa.field("end", pa.int64())])
    lists = {"links": LINKS, "spans": pa.list_(span)}
    return [pa.field(name, lists.get(name) or _SCALARS[kind]) for name, kind in jsonl.DOCUMENT_FIELDS.items()]


def _struct(kinds: Mapping[str, type], lists: Mapping[str, Any]) -> Any:
    members = [pa.field(name, lists.get(name) or _SCALARS[kind]) for name, kind in kinds.items()]
    return pa.struct([*members, pa.field(_EXTRA, pa.string())])


def _extra_fields(rows: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """The columns that hold the other fields of the first documents exactly."""
    for name in dict.fromkeys(name for row in rows for name in row if name not in jsonl.DOCUMENT_FIELDS):
        values = [row.get(name) for row in rows]
        array = _array(values, None)
        if name != _EXTRA and array is not None and not pa.types.is_null(array.type) and _is_kept(array):
            yield pa.field(name, array.type)


def _array(values: list[Any], kind: Any) -> Any:
    """Make a column, or None if it would not give back the same values."""
    try:
        array = pa.array(values, type=kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array if array.to_pylist() == values else None


def _is_kept(array: Any) -> bool:
    """Whether Parquet gives a column back; it has no structs without members, for one."""
    file = BytesIO()
    try:
        pq.write_table(pa.table({"column": array}), file)
        return bool(pq.read_table(file)["column"].to_pylist() == array.to_pylist())
    except pa.ArrowException:
        return False


def _table(rows: Sequence[Mapping[str, Any]], schema: Any) -> Any:
    columns: list[Any] = []
    held = {*jsonl.DOCUMENT_FIELDS}
    for field in schema:
        if field.name == _EXTRA:
            rest = [{name: value for name, value in row.items() if name not in held} for row in rows]
            columns.append(pa.array([_to_json(extra) for extra in rest], type=field.type))
        elif field.name == "links":
            links = [pack_links(row["links"]) if "links" in row else None for row in rows]
            columns.append(pa.array(links, type=field.type))
        else:
            values = [row.get(field.name) for row in rows]
            array = _array(values, field.type)
            held |= set() if array is None else {field.name}
            columns.append(pa.nulls(len(rows), field.type) if array is None else array)
    return pa.Table.from_arrays(columns, schema=schema)


def _pack(value: dict[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    known = {name: field for name, field in value.items() if name in kinds}
    return {**known, _EXTRA: _to_json({name: field for name, field in value.items() if name not in kinds})}


def pack_links(links: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Bring links of parlink's JSON into the shape of `LINKS`."""
    rows = [_pack(link, jsonl.LINK_FIELDS) for link in links]
    for row in rows:
        if "candidates" in row:
            row["candidates"] = [_pack(candidate, jsonl.CANDIDATE_FIELDS) for candidate in row["candidates"]]
    return rows


LINKS = pa.list_(
    _struct(jsonl.LINK_FIELDS, {"candidates": pa.list_(_struct(jsonl.CANDIDATE_FIELDS, {}))})
)  # the type of a column of links


def _to_json(extra: Mapping[str, Any]) -> str | None:
    return msgspec.json.encode(extra).decode() if extra else None


def _unpack(value: dict[str, Any], *, path: Path | str, line: int) -> dict[str, Any]:
    """Bring the fields that stand as JSON back among the others."""
    unpacked = {name: field for name, field in value.items() if name != _EXTRA}
    for name in ("links", "candidates"):
        if isinstance(unpacked.get(name), list) and all(isinstance(inner, dict) for inner in unpacked[name]):
            unpacked[name] = [_unpack(inner, path=path, line=line) for inner in unpacked[name]]
    if isinstance(value.get(_EXTRA), str):
        extra = jsonl.parse(value[_EXTRA], dict[str, Any], path=path, line=line, wanted="wanted an object in `extra`")
        unpacked = {**unpacked, **extra}
    elif value.get(_EXTRA) is not None:
        unpacked[_EXTRA] = value[_EXTRA]
    return unpacked
