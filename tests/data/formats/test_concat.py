"""Shards into one file: every document, in the order given, and none twice where that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlink.cli.data import app
from parlink.data import formats, jsonl
from parlink.errors import ParlinkError
from parlink.types import Document


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"part-{number}.jsonl{suffix}" for number, suffix in ((2, ".gz"), (10, ""), (1, ".zst"))]
    jsonl.write(paths[0], [Document("a", "1"), Document("b", "2")])
    jsonl.write(paths[1], [])
    jsonl.write(paths[2], [Document("c", "3")])
    return paths


def test_the_order_is_that_of_the_arguments(tmp_path: Path, shards: list[Path]) -> None:
    formats.concat(shards, tmp_path / "all.jsonl", unique=True)
    assert [doc.id for doc in jsonl.read(tmp_path / "all.jsonl")] == ["1", "2", "3"]
    lines = (tmp_path / "all.jsonl").read_bytes().splitlines(keepends=True)
    assert lines == [jsonl.encode(doc) for path in shards for doc in jsonl.read(path)]


def test_numbers_in_names_count_as_numbers(tmp_path: Path, shards: list[Path]) -> None:
    jsonl.write(shards[1], [Document("d", "4")])
    formats.concat([tmp_path / "part-*"], tmp_path / "all.jsonl")
    assert [doc.id for doc in jsonl.read(tmp_path / "all.jsonl")] == ["3", "1", "2", "4"]


def test_ids_that_come_twice_are_refused_if_asked(tmp_path: Path, shards: list[Path]) -> None:
    output = tmp_path / "all.jsonl"
    with pytest.raises(ParlinkError, match="document 4 has the id '1', which another has too"):
        formats.concat([*shards, shards[0]], output, unique=True)
    assert not output.exists()
    formats.concat([*shards, shards[0]], output)
    assert len(list(jsonl.read(output))) == 5
    jsonl.write(shards[1], [Document("no id")])
    with pytest.raises(ParlinkError, match="document 3 has no id"):
        formats.concat(shards, output, unique=True)


def test_command(tmp_path: Path, shards: list[Path]) -> None:
    result = CliRunner().invoke(app, ["concat", *map(str, shards), "-o", str(tmp_path / "all.parquet"), "--unique"])
    assert result.exit_code == 0, result.output
    assert [doc.text for doc in formats.read(tmp_path / "all.parquet")] == ["a", "b", "c"]
