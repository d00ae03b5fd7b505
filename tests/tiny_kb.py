"""A tiny real knowledge base, built in milliseconds from a few lines of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from parlink.kb import KnowledgeBase
from parlink.kb.build.build import BuildOptions, build
from parlink.kb.build.info import write_info
from parlink.kb.build.merge import Known
from parlink.kb.build.write import write_tables

LINES: list[dict[str, Any]] = [
    {"title": "Hamburg", "id": "Q1055", "aliases": [{"surface": "HSV", "count": 2}], "count": 40},
    {
        "title": "Hamburger SV",
        "id": "Q51974",
        "aliases": [{"surface": "HSV", "count": 6}, {"surface": "Hamburg", "count": 1}],
        "count": 9,
    },
    {"title": "Kent", "description": "county in England", "count": 30},
    {"title": "Kent (band)", "id": "Q1", "description": "Swedish rock band", "count": 5},
    {"title": "Kent County Cricket Club", "aliases": [{"surface": "Kent", "count": 10}]},
    {"title": "Zürich", "count": 7},
    {"title": "Emma Oberländer", "description": "painter", "count": 3},
    {"title": "Otto Oberländer", "count": 1},
    {"title": "Lloyd's of London", "aliases": ["Lloyd's"]},
    {"title": "C++"},
    {"title": "C#"},
    {"title": "!!!"},
]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def tiny_folder(folder: Path, lines: list[dict[str, Any]] = LINES, **options: Any) -> Path:
    """Build a KB folder from JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "kb"
    build([write_lines(folder / "kb.jsonl", lines)], target, options=BuildOptions(replace=True, **options))
    return target


def tiny_kb(folder: Path, lines: list[dict[str, Any]] = LINES, **options: Any) -> KnowledgeBase:
    return KnowledgeBase.open(tiny_folder(folder, lines, **options))


def folder_of(entities: Iterable[Known], folder: Path, **info: Any) -> Path:
    """Write a KB folder of entities as they are, without sources."""
    folder.mkdir(parents=True)
    with TemporaryDirectory() as scratch:
        written = write_tables(sorted(entities, key=lambda entity: entity.title), folder, scratch=Path(scratch))
    write_info(folder, written, name="own", **info)
    return folder


def found(kb: KnowledgeBase, surface: str) -> list[tuple[str, str | None]]:
    """Titles and steps of the candidates."""
    return [(candidate.title, candidate.match_type) for candidate in kb.candidates(surface)]
