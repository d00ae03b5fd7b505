"""The errors that a caller may want to catch; each says what was got, what was wanted and what to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path


class ParlinkError(Exception):
    """Base of every error that parlink raises on purpose; its text is meant for the user."""


class ConfigError(ParlinkError):
    """A configuration file or option that cannot be used."""


class CheckpointError(ParlinkError):
    """A model folder that is missing, truncated or does not fit."""


class KnowledgeBaseError(ParlinkError):
    """A knowledge base folder, source or change that cannot be used."""


class TextError(ParlinkError):
    """A text that cannot be linked."""


class TrainingError(ParlinkError):
    """A training run that cannot go on; its last good checkpoint is kept."""


class DataFormatError(ParlinkError):
    """A data file whose content is broken, with the file and the line."""

    def __init__(self, message: str, *, path: Path | str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        self.reason = message  # without the place
        place = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{place}: {message}")

    def __reduce__(self) -> tuple[Callable[[], DataFormatError], tuple[()]]:
        """Let it be raised in another process than the one that read the file."""
        return partial(type(self), self.reason, path=self.path, line=self.line), ()
