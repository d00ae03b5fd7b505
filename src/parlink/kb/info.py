"""What kb.json says of a knowledge base: what it is, where it comes from, and size and checksum of every other file."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import msgspec

from parlink.errors import KnowledgeBaseError

FORMAT = 5
INFO_FILE = "kb.json"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a knowledge base was built from."""

    path: str
    kind: str
    sha256: str
    entries: int  # lines, or pages
    license: str | None = None  # of what is taken from it
    url: str | None = None  # where to get it
    skipped: dict[str, int] = {}  # why an entry was left out, and how often
    warnings: tuple[str, ...] = ()  # what is wrong with the file, such as an end that is missing


class File(msgspec.Struct, frozen=True):
    """What a file of the folder must be."""

    size: int
    sha256: str


class Info(msgspec.Struct, frozen=True, kw_only=True):
    """What kb.json says of a knowledge base."""

    format: int = FORMAT
    name: str
    hash: str  # of the content, so that results can name exactly what they were linked against
    created: str
    parlink: str
    titles: int
    names: int
    ids: int
    descriptions: int
    types: int = 0
    id_scheme: str | None = None  # what the ids are: "wikidata", "page" (numbers of a wiki's pages) or "own"
    url_template: str | None
    sources: tuple[Source, ...]
    notes: dict[str, int] = {}  # what the build merged, renamed and left out
    files: dict[str, File | int]  # of format 1: bytes of each
    checksum: str | None = None  # of kb.json itself; see `checksum`

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each file."""
        return {name: file if isinstance(file, int) else file.size for name, file in self.files.items()}


def check_file(path: Path, wanted: File) -> None:
    """Read a file and raise ValueError if it is not the one that was written."""
    if sha256_of(path) != wanted.sha256:
        raise ValueError(f"the checksum of {path.name} is wrong")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def content_hash(files: Mapping[str, str]) -> str:
    """Return the hash that names the content of a folder, given the SHA-256 of each file but kb.json."""
    return sha256("".join(f"{name} {files[name]}\n" for name in sorted(files)).encode()).hexdigest()


def checksum(raw: bytes) -> str:
    """Return the checksum of a kb.json: of all that it says but the checksum itself, however it is laid out."""
    said = {name: value for name, value in msgspec.json.decode(raw).items() if name != "checksum"}
    return sha256(msgspec.json.encode(said, order="sorted")).hexdigest()


def read_info(folder: Path) -> Info:
    """Read what a KB folder says of itself."""
    file = folder / INFO_FILE
    try:
        raw = file.read_bytes()
    except OSError as error:
        message = f"{folder}: no knowledge base there ({error.strerror}); make one with `parlink kb build`"
        raise KnowledgeBaseError(message) from error
    try:
        version = msgspec.json.decode(raw, type=dict[str, Any]).get("format")
        if isinstance(version, int) and version > FORMAT:
            raise KnowledgeBaseError(
                f"{folder}: the knowledge base has format {version}, and this parlink reads up to {FORMAT}; "
                "install a newer parlink, or build it again"
            )
        info = msgspec.json.decode(raw, type=Info)
        if info.checksum not in (None, checksum(raw)):
            raise KnowledgeBaseError(
                f"{file}: changed or damaged (its checksum is wrong); build the knowledge base again"
            )
        return info
    except (msgspec.DecodeError, UnicodeError) as error:
        raise KnowledgeBaseError(f"{file}: broken ({error}); build the knowledge base again") from error
