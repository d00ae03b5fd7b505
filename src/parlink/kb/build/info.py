"""kb.json: what a KB folder is, where it comes from, and what its other files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import msgspec

from parlink.kb.build.sources import sha256 as sha256_of
from parlink.kb.build.write import Written
from parlink.kb.tables import INFO_FILE, Info, Source


def write_info(
    folder: Path,
    written: Written,
    *,
    name: str,
    url_template: str | None = None,
    sources: Sequence[Source] = (),
    notes: Mapping[str, int] = MappingProxyType({}),
) -> Info:
    """Write kb.json, which says what the other files of a folder are, and their sizes."""
    files = sorted(folder.iterdir())
    digest = sha256()
    for file in files:
        digest.update(f"{file.name} {sha256_of(file)}\n".encode())
    info = Info(
        name=name,
        hash=digest.hexdigest(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        parlink=version("parlink"),
        titles=written.titles,
        names=written.names,
        ids=written.ids,
        descriptions=written.descriptions,
        url_template=url_template,
        sources=tuple(sources),
        notes=dict(notes),
        files={file.name: file.stat().st_size for file in files},
    )
    (folder / INFO_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(info), indent=2))
    return info
