"""Link a text: `python examples/link_text.py`."""

from parlink import Document, Linker, Span

TEXT = "Ada Lovelace was born in London and wrote the first program for a machine that Charles Babbage had designed."

linker = Linker.load()  # the model that comes with parlink

doc = linker.link(TEXT)
for link in doc.links:
    surface = TEXT[link.span.start : link.span.end]
    print(f"{surface:20} {link.title or link.reason:30} {link.confidence or 0:.2f}  {link.url or ''}")

# Mentions that are known already are only disambiguated, and every candidate comes with its parts.
(link,) = linker.link(Document(TEXT, spans=(Span(25, 31),))).links
print(f"\nWhich London? {link.title or link.reason}")
for candidate in link.candidates[:5]:
    print(f"  {candidate.title:30} prior {candidate.prior or 0:.3f}  score {candidate.score or 0:.2f}")
