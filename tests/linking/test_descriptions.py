"""What the knowledge base says of entities, in linking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from parlink.config import LinkOptions
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.linking import descriptions
from parlink.linking.descriptions import DescriptionVectors
from parlink.linking.linker import Linker
from parlink.nn.descriptions import Descriptions
from parlink.types import Candidate, Document, Span
from tiny_model import tiny_checkpoint

TITLES = {"Hamburg": "a city", "Hamburg (film)": "a film of 1960", "Dresden": None, "Jordan": "a country"}
DOC = Document("Hamburg beat Dresden", spans=(Span(0, 7), Span(13, 20)))


class AnyTitle:
    """A source that offers the same titles for whatever is asked."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        return [Candidate(title) for title in TITLES][:limit]


def linker(folder: Path, texts: dict[str, str | None], *, descriptions: bool = True) -> Linker:
    folder.mkdir()
    lines = [
        f'{{"title": "{title}"' + (f', "description": "{text}"' if text else "") + "}\n"
        for title, text in texts.items()
    ]
    (folder / "kb.jsonl").write_text("".join(lines))
    build([folder / "kb.jsonl"], folder / "kb")
    checkpoint = tiny_checkpoint(seed=3, descriptions=descriptions, document_vector=True)
    torch.manual_seed(0)
    for name, weight in checkpoint.model.named_parameters():
        if name.startswith("decoder.inputs.of_"):
            torch.nn.init.normal_(weight)
    return Linker(checkpoint, kb=KnowledgeBase.open(folder / "kb"), source=AnyTitle())


def corrections(linked: Document) -> list[dict[str, float | None]]:
    return [{candidate.title: candidate.classifier for candidate in link.candidates} for link in linked.links]


def test_the_correction_depends_on_what_the_kb_says_of_a_candidate(tmp_path: Path) -> None:
    changed = TITLES | {"Hamburg (film)": "a dish"}
    first, second = (corrections(linker(tmp_path / n, texts).link(DOC)) for n, texts in (("a", TITLES), ("b", changed)))
    for before, after in zip(first, second, strict=True):
        for title in TITLES:
            same = after[title] == pytest.approx(before[title], rel=1e-4)
            assert same == (title != "Hamburg (film)"), title


def test_a_model_without_descriptions_does_not_look_at_them(tmp_path: Path) -> None:
    linkers = (
        linker(tmp_path / n, texts, descriptions=False) for n, texts in (("a", TITLES), ("b", dict.fromkeys(TITLES)))
    )
    first, second = (corrections(each.link(DOC)) for each in linkers)
    assert first == second


@pytest.mark.parametrize("options", [LinkOptions(search="beam", beams=9), LinkOptions(fallback=True, beams=9)])
def test_every_way_to_find_a_name_gives_it_the_same_correction(tmp_path: Path, options: LinkOptions) -> None:
    model = linker(tmp_path / "kb", TITLES)
    wanted = corrections(model.link(DOC))
    other = model.with_candidates(None) if options.fallback else model
    for ours, theirs in zip(corrections(other.link(DOC, options=options)), wanted, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-5)


def test_vectors_are_those_of_the_model_however_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "MOST", 4)
    checkpoint = tiny_checkpoint(seed=3, descriptions=True)
    vectors = DescriptionVectors(checkpoint.model, checkpoint.tokenizer)
    for texts in (["a city", None, "a city"], ["a river", "", "a film", "a city"], ["x", "y", "z"], ["a city"]):
        tokens = [checkpoint.tokenizer.title(text) if text else () for text in texts]
        wanted = checkpoint.model.describe(Descriptions.build(tokens))
        torch.testing.assert_close(vectors(texts), wanted)
        assert len(vectors._rows) <= 4
