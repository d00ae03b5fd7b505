"""Where linked documents go: one file or numbered parts, in any format that parlink writes."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from parlink.cache import user_cache
from parlink.data import files, formats, jsonl
from parlink.data.compression import COMPRESSED
from parlink.data.places import is_file, remote_url
from parlink.errors import ParlinkError

DIGITS = 5


@dataclass(frozen=True, slots=True)
class Output:
    """A file, or parts of `part_documents` documents each, with a number in their names."""

    path: str
    format: str
    part_documents: int | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it has no name to be kept under: standard output, a pipe, a device."""
        target = Path(self.path)
        return self.path == files.STANDARD_STREAM or (target.exists() and not target.is_file() and not target.is_dir())

    @property
    def run_folder(self) -> Path:
        """Where the state of a run is kept: beside a local output, in the cache for a remote one."""
        url = remote_url(self.path)
        if url is not None:
            return user_cache() / "runs" / hashlib.sha256(url.encode()).hexdigest()[:16]
        return Path(self.path).with_name(f".{Path(self.path).name}.run")

    @property
    def errors(self) -> str:
        """The file of what could not be linked, beside the output."""
        folder, slash, _ = self.path.rpartition("/")
        return f"{folder}{slash}{files.stem(self.path)}.errors.jsonl"

    def target(self, part: int) -> str:
        """The name of a part; of the output itself, if it has none."""
        if self.part_documents is None:
            return self.path
        folder, slash, name = self.path.rpartition("/")
        stem = files.stem(name)
        return f"{folder}{slash}{stem}-{part:0{DIGITS}}{name[len(stem) :]}"

    def exists(self) -> bool:
        """Whether something has the name of the output, or of its first part, already."""
        return is_file(self.target(0))

    def publish(self, journal: Path, part: int) -> Counter[str]:
        """Give a part its name, in its format; return what the format could not hold."""
        losses: Counter[str] = Counter()
        target = self.target(part)
        is_plain = self.format == "jsonl" and PurePosixPath(target).suffix not in COMPRESSED
        if is_plain and remote_url(target) is None:
            journal.replace(target)
        else:
            formats.WRITERS[self.format](target, jsonl.read(journal), losses=losses)
        return losses


def choose_output(path: str, *, output_format: str | None = None, part_documents: int | None = None) -> Output:
    """Tell the format from the name, and check what can be checked before the work."""
    files.check_name(path)
    kind = output_format or formats.output_format_of(path)
    if kind not in formats.WRITERS or kind == "brat":
        names = ", ".join(name for name in formats.WRITERS if name != "brat")
        raise ParlinkError(f"{path}: annotate does not write {kind}; give a name or --to that says one of {names}")
    output = Output(path, kind, part_documents)
    if output.is_stream and part_documents is not None:
        raise ParlinkError(f"{path}: has no parts; give the name of a file, or leave out --part-documents")
    return output
