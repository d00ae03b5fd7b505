"""What `make demo` runs: link a text with the model that comes with parlink, add an entity, and write a page."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from parlink import Entity, KnowledgeBase, Linker
from parlink.checkpoint.config_file import packaged_model
from parlink.cli.show import show
from parlink.pages.linked_text import to_html

TEXT = """A plane from Jordan landed in Egypt on Monday.
Officials in Washington said that George Washington would have approved.
In Germany, a crowd in Hamburg waited for the ships on the banks of the Elbe.
Nobody at the Quillmere Observatory took any notice."""
NEW = Entity("Quillmere Observatory", id="demo-1", description="an observatory of our own, in no encyclopedia")
PAGE = Path("demo.html")


def main() -> None:
    console = Console(stderr=True, highlight=False)
    with TemporaryDirectory() as folder:
        kb = KnowledgeBase.open(packaged_model() / "kb", overlay=Path(folder) / "changes.json")
        linker = Linker.load(kb=kb)
        console.print(f"The model that comes with parlink, linking to {len(kb):,} titles of Wikipedia:\n")
        show(linker.link(TEXT))
        kb.add(NEW, aliases=["Quillmere"])
        console.print(f"\nNow {NEW.title!r} is added to the knowledge base, and nothing is trained again:\n")
        doc = linker.link(TEXT)
        show(doc)
        PAGE.write_text(to_html(doc), encoding="utf-8")
    console.print(f"\nThe same as a page, with every candidate and its score: {PAGE}")


if __name__ == "__main__":
    main()
