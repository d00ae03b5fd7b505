"""Link to a knowledge base of your own, without training: `python examples/own_kb.py`."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from parlink import Document, Linker, Span
from parlink.kb.build.build import build

MACHINES = [
    {"title": "Falcon (coffee machine)", "id": "M-1", "aliases": ["Falcon"]},
    {"title": "Falcon (label printer)", "id": "M-2", "aliases": ["Falcon", "FP 20"]},
    {"title": "Kestrel (forklift)", "id": "M-3", "aliases": ["Kestrel"]},
]
TEXT = "The Falcon has printed no label since Monday; the Kestrel is fine."

with TemporaryDirectory() as folder:
    source = Path(folder, "machines.jsonl")
    source.write_text("\n".join(map(json.dumps, MACHINES)))
    build([source], Path(folder, "kb"))
    linker = Linker.load(kb=Path(folder, "kb"))

    spans = (Span(4, 10), Span(50, 57))  # known here; leave them out, and parlink looks for mentions itself
    for link in linker.link(Document(TEXT, spans=spans)).links:
        others = ", ".join(candidate.title for candidate in link.candidates[1:])
        print(f"{TEXT[link.span.start : link.span.end]}: {link.title} [{link.id}]  not: {others or '-'}")
