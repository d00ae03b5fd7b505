"""A model that was exported to ONNX links as torch does, without torch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from parlink.checkpoint.export import export, export_onnx
from parlink.checkpoint.folder import save_checkpoint
from parlink.checkpoint.verify import verify
from parlink.config import LinkOptions
from parlink.errors import CheckpointError, ConfigError
from parlink.kb.build.build import build
from parlink.linking.linker import Linker
from parlink.types import Document, Span
from tiny_model import tiny_checkpoint

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
pytestmark = pytest.mark.slow  # making the graphs takes half a minute

ENTITIES = """title\taliases\tdescription
Kent\tKent\tcounty in England
Kent County Cricket Club\tKent|Kent CCC\tcricket club
Hamburg\tHamburg\t
Hamburger SV\tHamburg|HSV\tfootball club in Hamburg
"""
TEXTS = (
    "Kent",
    "Kent beat Hamburg.",
    "HSV lost in Kent, and Kent CCC lost in Hamburg. " * 9,
    "",
    "Nobody is named here but Hamburg, which is a city, and Kent, which is not.",
)
OPTIONS = LinkOptions(mention_threshold=-1.0, overlaps="keep", dictionary=True, parts="all")
WITHOUT_TORCH = """
import sys
from parlink import Linker
links = Linker.load(sys.argv[1], runtime="onnx").link("Kent beat Hamburg.").links
assert "torch" not in sys.modules
print(len(links))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model for torch, and the same for onnxruntime; each with a knowledge base."""
    place = tmp_path_factory.mktemp("onnx")
    (place / "entities.tsv").write_text(ENTITIES)
    build([place / "entities.tsv"], place / "kb")
    save_checkpoint(
        place / "made",
        tiny_checkpoint(seed=3, spread=2.0, similarity=4, sentence=5, nil=True, letter_case=True),
        card="# A card\n",
    )
    model = export(place / "made", place / "model", bits=32, word_bits=32, kb=place / "kb")
    return model, export_onnx(model, place / "graphs")


@pytest.fixture(scope="module")
def linkers(folders: tuple[Path, Path]) -> tuple[Linker, Linker]:
    return Linker.load(folders[0]), Linker.load(folders[1])


def scores(doc: Document) -> dict[tuple[Span, str], tuple[float, ...]]:
    return {
        (link.span, c.title): (c.lm or 0.0, c.classifier or 0.0, c.similarity or 0.0, c.overlap or 0.0, c.score or 0.0)
        for link in doc.links
        for c in link.candidates
    }


def test_links_and_scores_are_those_of_torch_one_at_a_time_and_in_a_batch(linkers: tuple[Linker, Linker]) -> None:
    ours, theirs = ([*linker.link(list(TEXTS), options=OPTIONS)] for linker in linkers)
    alone = [linkers[1].link(text, options=OPTIONS) for text in TEXTS]
    assert sum(len(doc.links) for doc in ours) > 10
    for one, other, single in zip(ours, theirs, alone, strict=True):
        for again in (other, single):
            assert [(link.span, link.title, link.reason) for link in one.links] == [
                (link.span, link.title, link.reason) for link in again.links
            ]
            assert scores(one).keys() == scores(again).keys()
            for key, values in scores(one).items():
                assert scores(again)[key] == pytest.approx(values, abs=1e-3)
            np.testing.assert_allclose(
                [link.mention_probability or 0.0 for link in one.links],
                [link.mention_probability or 0.0 for link in again.links],
                atol=1e-3,
            )


def test_given_spans_and_an_empty_text_are_linked(linkers: tuple[Linker, Linker]) -> None:
    doc = Document("Kent beat Hamburg.", spans=(Span(0, 4), Span(10, 17)))
    ours, theirs = (linker.link(doc) for linker in linkers)
    assert [link.title for link in ours.links] == [link.title for link in theirs.links]
    assert linkers[1].link("").links == ()


def test_torch_is_never_imported(folders: tuple[Path, Path]) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, folders[1]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_searches_are_refused_with_what_to_do(linkers: tuple[Linker, Linker]) -> None:
    with pytest.raises(ConfigError, match="runtime='torch'"):
        linkers[1].link("Kent beat Hamburg.", options=LinkOptions(search="beam", mention_threshold=-9.0))
    with pytest.raises(ConfigError, match="device 'cuda'"):
        Linker.load("anywhere", device="cuda", runtime="onnx")
    with pytest.raises(ConfigError, match="runtime must be"):
        Linker.load(runtime="tensorflow")  # type: ignore[arg-type]


def test_a_folder_without_graphs_says_how_to_make_them(folders: tuple[Path, Path]) -> None:
    with pytest.raises(CheckpointError, match="--format onnx"):
        Linker.load(folders[0], runtime="onnx")
    with pytest.raises(CheckpointError, match="runtime='onnx'"):
        Linker.load(folders[1], runtime="torch")


def test_a_damaged_graph_is_found(folders: tuple[Path, Path], tmp_path: Path) -> None:
    assert verify(folders[1])
    damaged = tmp_path / "damaged"
    shutil.copytree(folders[1], damaged)
    graph = damaged / "onnx" / "step.onnx"
    graph.write_bytes(graph.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match=r"step\.onnx"):
        Linker.load(damaged)


def test_a_missing_runtime_says_which_extra_to_install(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(CheckpointError, match=r"parlink\[onnx\]"):
        Linker.load(folders[1])
