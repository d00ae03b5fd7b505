"""Add an entity at run time, and link to it at once: `python examples/add_entity.py`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from parlink import Document, Entity, KnowledgeBase, Linker, Span
from parlink.kb.build.build import build

QUESTION = Document("Passengers praise the quiet Skylark.", spans=(Span(28, 35),))

with TemporaryDirectory() as folder:
    titles = Path(folder, "titles.txt")
    titles.write_text("Skylark (bird)\nHamburg\n")
    build([titles], Path(folder, "kb"))
    kb = KnowledgeBase.open(Path(folder, "kb"))
    linker = Linker.load(kb=kb)

    def ask(when: str) -> None:
        (link,) = linker.link(QUESTION).links
        known = [candidate.title for candidate in link.candidates]
        print(f"{when:8} {link.title or link.reason}, out of {known}")

    ask("before")
    kb.add(Entity("Skylark (train)", id="T-7", description="night train"), aliases=["Skylark"], count=5)
    ask("added")  # nothing was trained or loaded again, and other processes see it too
    kb.rename("Skylark (train)", "Skylark Express")
    ask("renamed")
    kb.remove("Skylark Express")
    ask("removed")
