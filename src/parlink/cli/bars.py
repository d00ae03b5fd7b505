"""What standard error shows beside a result: notes, and the bars of `parlink.bars`."""

from __future__ import annotations

from rich.console import Console

from parlink.bars import document_bar as document_bar


def tell(note: str) -> None:
    """Print a note beside the result."""
    Console(stderr=True).print(note, style="yellow", soft_wrap=True)
