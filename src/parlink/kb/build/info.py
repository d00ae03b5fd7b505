"""kb.json: what a KB folder is, where it comes from, and what its other files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import msgspec

from parlink.kb.build.write import Written
from parlink.kb.info import INFO_FILE, File, Info, Source, checksum, content_hash, sha256_of


def write_info(
    folder: Path,
    written: Written,
    *,
    name: str,
    url_template: str | None = None,
    id_scheme: str | None = None,
    sources: Sequence[Source] = (),
    notes: Mapping[str, int] = MappingProxyType({}),
) -> Info:
    """Write kb.json, which says what the other files of a folder are, and their sizes."""
    files = {file.name: File(file.stat().st_size, sha256_of(file)) for file in sorted(folder.iterdir())}
    info = Info(
        name=name,
        hash=content_hash({name: file.sha256 for name, file in files.items()}),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        parlink=version("parlink"),
        titles=written.titles,
        names=written.names,
        ids=written.ids,
        descriptions=written.descriptions,
        types=written.types,
        id_scheme=id_scheme or written.id_scheme,
        url_template=url_template,
        sources=tuple(sources),
        notes=dict(notes),
        files=dict(files),
    )
    info = msgspec.structs.replace(info, checksum=checksum(msgspec.json.encode(info)))
    (folder / INFO_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(info), indent=2))
    return info
