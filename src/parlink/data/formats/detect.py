"""Tell which format a file is in, by its name and by the fields of its first document."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import msgspec

from parlink.data import compression, files
from parlink.data.formats import json_list
from parlink.data.formats.paths import expand
from parlink.errors import DataFormatError, ParlinkError

_SUFFIXES = {
    ".ttl": "nif",
    ".nif": "nif",
    ".nt": "nif",
    ".rdf": "nif",
    ".conll": "aida",
    ".ann": "brat",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".spacy": "docbin",
}
_INPUTS = {**_SUFFIXES, ".txt": "text", ".pubtator": "pubtator"}
_OUTPUTS = {**_SUFFIXES, ".tsv": "aida", ".jsonl": "jsonl", ".json": "json"}
_MARKS = {
    "zelda": {"index", "wikipedia_titles"},
    "mentions": {"mentions"},
    "elevant": {"labels"},
    "elevant-predictions": {"entity_mentions"},
    "relik": {"doc_text"},
    "kilt": {"input", "output"},
    "blink": {"context_left", "context_right"},
    "prodigy": {"spans", "answer"},
    "label-studio": {"data", "annotations"},
}


def format_of(path: Path | str, *, predicted: bool = False) -> str:
    """Tell the format of a file, or of the first file of a folder or of a pattern.

    An article of ELEVANT may hold gold and predictions; `predicted` says which are meant.
    """
    name = expand(path)[0]
    suffix = _suffix(Path(name))
    if Path(name).is_dir():
        return "brat"
    if suffix in _INPUTS:
        return _INPUTS[suffix]
    if name == files.STANDARD_STREAM:
        return "jsonl"
    first_line = next(files.lines(name), None)
    if first_line is None:
        raise DataFormatError("the file is empty; wanted documents", path=name)
    number, first = first_line
    if suffix == ".tsv":
        return "aida" if first.startswith(b"-DOCSTART-") else "tsv"
    if re.match(rb"\s*\[", first) and suffix != ".jsonl":
        return _by_fields({*_first_item(name)}, "json", predicted=predicted)
    try:
        fields = msgspec.json.decode(first, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if suffix == ".jsonl":
            return "jsonl"  # whose reader says what is wrong with the line
        message = f"cannot tell its format ({error}); say it with --from FORMAT"
        raise DataFormatError(message, path=name, line=number) from error
    return _by_fields({*fields}, "jsonl", predicted=predicted)


def has_no_lines(path: Path | str) -> bool:
    """Whether a file of JSON lines is empty, as a shard may be."""
    return _suffix(Path(path)) == ".jsonl" and next(files.lines(path), None) is None


def output_format_of(path: Path | str) -> str:
    """Tell the format to write by the suffix of a name; a name without one is a folder for brat."""
    suffix = _suffix(Path(path))
    if suffix in (".nt", ".rdf"):
        raise ParlinkError(f"{path}: parlink writes NIF as Turtle; give a name that ends in .ttl")
    if str(path) == files.STANDARD_STREAM:
        return "jsonl"
    if Path(path).is_dir() or not suffix:
        return "brat"
    if suffix not in _OUTPUTS:
        endings = ", ".join(sorted(_OUTPUTS))
        raise ParlinkError(f"{path}: cannot tell the format of {suffix!r}; wanted {endings}, or --to FORMAT")
    return _OUTPUTS[suffix]


def _suffix(path: Path) -> str:
    """Return the last suffix, that of a compressed file left out."""
    return (path.with_suffix("") if path.suffix in compression.COMPRESSED else path).suffix


def _first_item(path: str) -> list[str]:
    return [name for _, item in islice(json_list.items(path), 1) for name in item]


def _by_fields(fields: set[str], otherwise: str, *, predicted: bool) -> str:
    names = [name for name, marks in _MARKS.items() if marks <= fields]
    if predicted and "elevant-predictions" in names:
        return "elevant-predictions"
    if {"data", "predictions"} <= fields:
        return "label-studio"
    return names[0] if names else otherwise
