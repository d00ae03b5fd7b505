"""What the knowledge base says of entities, in linking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from msgspec import structs

from parlink.config import LinkOptions, ScoreWeights
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.linking import similarity
from parlink.linking.linker import Linker
from parlink.linking.similarity import EntityReader
from parlink.nn.similarity import Words
from parlink.types import Candidate, Document, Span
from tiny_model import tiny_checkpoint

TITLES = {"Hamburg": "a city", "Hamburg (film)": "a film of 1960", "Dresden": None, "Jordan": "a country"}
ALL = LinkOptions(parts="all")  # also those of weight 0
DOC = Document("Hamburg beat Dresden", spans=(Span(0, 7), Span(13, 20)))


class AnyTitle:
    """A source that offers the same titles for whatever is asked."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        return [Candidate(title) for title in TITLES][:limit]


def linker(folder: Path, texts: dict[str, str | None], *, size: int = 6) -> Linker:
    folder.mkdir()
    lines = [
        f'{{"title": "{title}"' + (f', "description": "{text}"' if text else "") + "}\n"
        for title, text in texts.items()
    ]
    (folder / "kb.jsonl").write_text("".join(lines))
    build([folder / "kb.jsonl"], folder / "kb")
    checkpoint = tiny_checkpoint(seed=3, similarity=size)
    return Linker(checkpoint, kb=KnowledgeBase.open(folder / "kb"), source=AnyTitle())


def similarities(linked: Document) -> list[dict[str, float | None]]:
    return [{candidate.title: candidate.similarity for candidate in link.candidates} for link in linked.links]


def test_similarity_depends_on_what_the_kb_says_of_a_candidate(tmp_path: Path) -> None:
    changed = TITLES | {"Hamburg (film)": "a dish"}
    first, second = (
        similarities(linker(tmp_path / n, texts).link(DOC, options=ALL)) for n, texts in (("a", TITLES), ("b", changed))
    )
    for before, after in zip(first, second, strict=True):
        for title in TITLES:
            same = after[title] == pytest.approx(before[title], rel=1e-4)
            assert same == (title != "Hamburg (film)"), title


def test_a_model_without_a_bi_encoder_has_no_similarity(tmp_path: Path) -> None:
    assert {None} == {
        alike
        for link in similarities(linker(tmp_path / "kb", TITLES, size=0).link(DOC, options=ALL))
        for alike in link.values()
    }


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_similarity_counts_by_its_weight_and_without_one_changes_nothing(tmp_path: Path, weight: float) -> None:
    model, weights = linker(tmp_path / "kb", TITLES), ScoreWeights(similarity=weight, overlap=2 * weight)
    linked = model.link(DOC, options=LinkOptions(weights=weights, parts="all"))
    for candidate in (candidate for link in linked.links for candidate in link.candidates):
        assert candidate.lm is not None and candidate.classifier is not None
        assert candidate.similarity and candidate.overlap is not None
        paper = torch.tensor(candidate.lm) + torch.tensor(candidate.classifier)
        added = weight * candidate.similarity + 2 * weight * candidate.overlap
        assert candidate.score == pytest.approx(float(paper) + added, rel=1e-4)


def test_nothing_is_compared_where_it_does_not_count(tmp_path: Path) -> None:
    model = linker(tmp_path / "kb", TITLES)
    assert model.link(DOC).links
    assert {None} == {alike for link in similarities(model.link(DOC)) for alike in link.values()}
    for weights in (ScoreWeights(similarity=1.0), ScoreWeights(overlap=1.0)):
        told = similarities(model.link(DOC, options=LinkOptions(weights=weights)))
        assert told and None not in {alike for link in told for alike in link.values()}


@pytest.mark.parametrize("options", [LinkOptions(), LinkOptions(search="beam", beams=9), LinkOptions(fallback=True)])
def test_a_title_that_is_not_the_surface_is_told_and_counts_by_its_weight(tmp_path: Path, options: LinkOptions) -> None:
    model = linker(tmp_path / "kb", TITLES)
    model = model.with_candidates(None) if options.fallback else model
    told = set()
    for weight in (0.0, 3.0):
        linked = model.link(DOC, options=structs.replace(options, weights=ScoreWeights(differs=weight)))
        for link in linked.links:
            for candidate in link.candidates:
                assert candidate.differs == float(candidate.title != linked.surface(link))
                added = weight * candidate.differs
                assert candidate.score == pytest.approx(
                    (candidate.lm or 0) + (candidate.classifier or 0) + added, rel=1e-4
                )
                told.add(candidate.differs)
    assert told == {0.0, 1.0}


@pytest.mark.parametrize(
    "options", [LinkOptions(search="beam", beams=9, parts="all"), LinkOptions(fallback=True, beams=9, parts="all")]
)
def test_every_way_to_find_a_name_gives_it_the_same_similarity(tmp_path: Path, options: LinkOptions) -> None:
    model = linker(tmp_path / "kb", TITLES)
    wanted = similarities(model.link(DOC, options=ALL))
    other = model.with_candidates(None) if options.fallback else model
    for ours, theirs in zip(similarities(other.link(DOC, options=options)), wanted, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-5)


def test_entities_are_those_of_the_model_however_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "MOST", 4)
    checkpoint = tiny_checkpoint(seed=3, similarity=6)
    reader, title = EntityReader(checkpoint.model, checkpoint.tokenizer), checkpoint.tokenizer.title
    said = {"a": "a city", "c": "a river"}
    with torch.inference_mode():
        for titles in (["a", "b", "a"], ["c", "", "d", "a"], ["x", "y", "z"], ["a"]):
            texts = (titles, [said.get(each, "") for each in titles])
            words = [Words.build([title(text) if text else () for text in each]) for each in texts]
            wanted = checkpoint.model.entities(*words)
            got = reader.read(titles, said.get)
            torch.testing.assert_close(got.vectors, wanted.vectors)
            assert got.descriptions.tokens.tolist() == wanted.descriptions.tokens.tolist()
            assert len(reader._rows) <= 4
