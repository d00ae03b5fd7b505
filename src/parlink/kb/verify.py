"""Whether the files of a KB folder are, to the last bit, those that were written."""

from __future__ import annotations

from pathlib import Path

from parlink.errors import KnowledgeBaseError
from parlink.kb.info import File, content_hash, read_info, sha256_of
from parlink.kb.overlay import OverlayFile


def verify(folder: Path | str, *, overlay: Path | None = None) -> None:
    """Read a knowledge base whole, and its changes, and raise KnowledgeBaseError if anything in it is damaged."""
    path = Path(folder).resolve()
    info = read_info(path)
    try:
        digests = {name: sha256_of(path / name) for name in info.files}
    except OSError as error:
        raise KnowledgeBaseError(f"{path}: a file cannot be read ({error}); build it again") from error
    wrong = [name for name, file in info.files.items() if isinstance(file, File) and digests[name] != file.sha256]
    if wrong or content_hash(digests) != info.hash:
        which = ", ".join(wrong) or "some file"
        raise KnowledgeBaseError(
            f"{path}: the knowledge base is damaged (the checksum of {which} is wrong); build it again"
        )
    if overlay is not None:
        OverlayFile(overlay).verify()
