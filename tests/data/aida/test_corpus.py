"""AIDA from raw parts, on two tiny documents of ours in the real file formats."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlink.cli.data import app
from parlink.data import jsonl
from parlink.data.aida import corpus as aida
from parlink.data.aida import pershina
from parlink.data.titles import read_redirects
from parlink.errors import DataFormatError
from parlink.types import Candidate, Document, Link, Span

TRAIN = """-DOCSTART- -X- O O

NORTHERN NNP I-NP I-MISC
LEAGUE NNP I-NP I-MISC

EASTERN NNP I-NP I-MISC
GROUP NNP I-NP I-MISC

Lübeck NNP I-NP I-ORG
met VBD I-VP O
St NNP I-NP B-ORG
. . O I-ORG
Gallen NNP I-NP I-ORG
Lugano NNP I-NP B-ORG
in IN I-PP O
Bern NNP I-NP I-LOC

-DOCSTART- -X- O O

Bern NNP I-NP I-LOC
slept VBD I-VP O
. . O O
"""
TESTA = """-DOCSTART- -X- O O

Rain NN I-NP O
fell VBD I-VP O
. . O O
"""
ANNOTATIONS = """-DOCSTART- (1 NORTHERN)
0\t--NME--
4\tVfB_L\\u00fcbeck\thttp://en.wikipedia.org/wiki/VfB_Lübeck\t1\t/m/1
6\tFC_St._Gallen\thttp://en.wikipedia.org/wiki/FC_St._Gallen\t2\t/m/2
9\tFC_Lugano\thttp://en.wikipedia.org/wiki/FC%20Lugano\t3\t/m/3
11\tBerne\thttp://en.wikipedia.org/wiki/Berne\t4\t/m/4

-DOCSTART- (2 Bern)
0\t--NME--

-DOCSTART- (947testa RAIN)
"""


PAGES = ["VfB_L%C3%BCbeck", "Lübeck", "FC_St._Gallen", "Abbey_of_St._Gall", "Lugano", "HC_Lugano", "Bern", "Berne"]
IDS = {title: number for number, title in enumerate([*PAGES, "Canton_of_Bern"], start=1)}
LINKS = {"Lübeck": "1;2;99", "Bern": "7;8;9;3", "Berne": "7;5", "Canton_of_Bern": "8;9"}


def entity(surface: str, url: str, *candidates: tuple[str, int]) -> str:
    lines = [f"ENTITY\ttext:of another mention\tqid:Q1\torigText:{surface}\turl:{url}"]
    page = "http://en.wikipedia.org/wiki/"
    lines += [
        f"CANDIDATE\tid:{IDS[title]}\tinCount:{count}\tlinks:{LINKS.get(title, '')}\turl:{page}{title}\tname:x\t"
        for title, count in candidates
    ]
    return "\n".join(lines) + "\n"


PAGE = "http://en.wikipedia.org/wiki/"
CANDIDATES = {
    "1": entity("Lübeck", PAGE + "VfB_L%C3%BCbeck", ("VfB_L%C3%BCbeck", 10), ("Lübeck", 30))
    + entity("St. Gallen", PAGE + "FC_St._Gallen", ("FC_St._Gallen", 0), ("Abbey_of_St._Gall", 0))
    + entity("Lugano", PAGE + "FC_Lugano", ("Lugano", 3), ("HC_Lugano", 3))
    + entity("Bern", PAGE + "Bern", ("Bern", 2), ("Berne", 3), ("Canton_of_Bern", 5)),
    "2": entity("Bern", "NIL", ("Berne", 1)),
    "947": "",
}


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    (tmp_path / "eng.train").write_text(TRAIN, encoding="latin-1")
    (tmp_path / "eng.testa").write_text(TESTA, encoding="latin-1")
    (tmp_path / "annotations.tsv").write_text(ANNOTATIONS, encoding="utf-8")
    (tmp_path / "redirects.json").write_text('{"Berne": "Bern_(city)", "Bern": "Berne"}')
    for number, content in CANDIDATES.items():
        path = tmp_path / "PPRforNED" / "AIDA_candidates" / "PART_1_1000" / number
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


def build(raw: Path, candidates: Path) -> dict[str, aida.Counts]:
    return aida.build(
        raw,
        annotations=raw / "annotations.tsv",
        candidates=candidates,
        redirects=raw / "redirects.json",
        output=raw / "out",
    )


def ranked(*candidates: tuple[str, float]) -> tuple[Candidate, ...]:
    return tuple(Candidate(title, prior=prior) for title, prior in candidates)


TEXT = "NORTHERN LEAGUE EASTERN GROUP Lübeck met St . Gallen Lugano in Bern"
GOLDEN = [
    Document(
        TEXT,
        "1 NORTHERN",
        (
            Link(Span(0, 29)),
            Link(Span(30, 36), "VfB Lübeck", candidates=ranked(("Lübeck", 0.75), ("VfB Lübeck", 0.25))),
            Link(Span(41, 52), "FC St. Gallen", candidates=ranked(("Abbey of St. Gall", 0.5), ("FC St. Gallen", 0.5))),
            Link(Span(53, 59), "FC Lugano", candidates=ranked(("HC Lugano", 0.5), ("Lugano", 0.5))),
            Link(Span(63, 67), "Bern (city)", candidates=ranked(("Bern (city)", 0.5), ("Canton of Bern", 0.5))),
        ),
    ),
    Document("Bern slept .", "2 Bern", (Link(Span(0, 4), candidates=ranked(("Bern (city)", 1.0))),)),
]


def test_golden(raw: Path) -> None:
    counts = build(raw, raw / "PPRforNED")
    assert list(jsonl.read(raw / "out" / "train.jsonl")) == GOLDEN
    assert list(jsonl.read(raw / "out" / "testa.jsonl")) == [Document("Rain fell .", "947testa RAIN")]
    assert counts["train"] == aida.Counts(documents=2, with_link=1, linked=4, nil=2, recalled=3)
    assert counts["train"].recall == 0.75
    assert set(counts) == {"train", "testa"}
    assert not (raw / "out" / "testb.jsonl").exists()


def test_the_graph_is_united_over_documents_and_goes_through_redirects(raw: Path) -> None:
    build(raw, raw / "PPRforNED")
    lines = [json.loads(line) for line in (raw / "out" / "graph.jsonl").read_text().splitlines()]
    assert lines == [
        {"title": "Bern (city)", "links": ["Canton of Bern", "FC St. Gallen", "Lugano"]},
        {"title": "Canton of Bern", "links": ["Bern (city)"]},
        {"title": "Lübeck", "links": ["VfB Lübeck"]},
    ]


def test_candidates_from_the_archive_are_the_same(raw: Path) -> None:
    build(raw, raw / "PPRforNED" / "AIDA_candidates")
    folder, graph = ((raw / "out" / name).read_bytes() for name in ("train.jsonl", "graph.jsonl"))
    with tarfile.open(raw / "p.tar.gz", "w:gz") as archive:
        archive.add(raw / "PPRforNED", "PPRforNED")
    build(raw, raw / "p.tar.gz")
    assert (raw / "out" / "train.jsonl").read_bytes() == folder
    assert (raw / "out" / "graph.jsonl").read_bytes() == graph


def test_the_order_in_the_candidate_file_does_not_matter() -> None:
    counts = (("B", 1), ("A", 1), ("C", 5))
    forwards = pershina.candidates(pershina.Entry("x", False, counts), {})
    backwards = pershina.candidates(pershina.Entry("x", False, counts[::-1]), {})
    assert forwards == backwards
    assert [candidate.title for candidate in forwards] == ["C", "A", "B"]


def test_an_entry_goes_to_the_next_mention_of_its_surface_and_kind() -> None:
    entries = [pershina.Entry("Anna's", False, (("A", 1),)), pershina.Entry("Anna's", False, (("B", 1),))]
    mentions = [("Anna 's", True), ("Anna 's", False), ("Bob", False), ("Anna ' s", False)]
    assert pershina.align(mentions, entries) == [None, entries[0], None, entries[1]]


def test_circles_of_redirects_stay_put(tmp_path: Path) -> None:
    path = tmp_path / "redirects.json"
    path.write_text(json.dumps({"A": "B", "B": "A", "C": "D_d", "D d": "E%21"}))
    assert read_redirects(path) == {"A": "A", "B": "B", "C": "E!", "D d": "E!"}


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("annotations.tsv", "4\tVfB", "5\tVfB", r"annotations.tsv:1: .*tokens \[4, 5\]"),
        ("annotations.tsv", "0\t--NME--", "zero", "annotations.tsv:2: "),
        ("annotations.tsv", "http://en.wikipedia.org/wiki/Berne", "", "annotations.tsv:6: .*URL"),
        ("annotations.tsv", "-DOCSTART- (2 Bern)\n0\t--NME--\n", "", "1 annotated documents for the 2"),
        ("eng.train", "met VBD I-VP O", "met", "eng.train:10: "),
        ("eng.train", "-DOCSTART- -X- O O\n\nN", "N", "eng.train:1: "),
        ("PPRforNED/AIDA_candidates/PART_1_1000/1", "inCount:10", "inCount:ten", "1:2: .*ten"),
        ("redirects.json", "{", "[", "redirects.json"),
    ],
)
def test_broken_files_are_errors_with_their_line(raw: Path, name: str, old: str, new: str, says: str) -> None:
    path = raw / name
    encoding = "latin-1" if name.startswith("eng") else "utf-8"
    path.write_text(path.read_text(encoding).replace(old, new, 1), encoding)
    with pytest.raises(DataFormatError, match=says):
        build(raw, raw / "PPRforNED")


def test_missing_parts_are_errors(raw: Path) -> None:
    with pytest.raises(DataFormatError, match="has none of"):
        build(raw / "PPRforNED", raw / "PPRforNED")
    with pytest.raises(DataFormatError, match="cannot be read"):
        build(raw, raw / "nowhere")
    (raw / "PPRforNED" / "AIDA_candidates" / "PART_1_1000" / "2").unlink()
    with pytest.raises(DataFormatError, match="no candidates for the document '2 Bern'"):
        build(raw, raw / "PPRforNED")


def test_command_prints_counts_and_recall(raw: Path) -> None:
    options = ["--conll", raw, "--annotations", raw / "annotations.tsv", "--candidates", raw / "PPRforNED"]
    options += ["--redirects", raw / "redirects.json", "-o", raw / "out"]
    result = CliRunner().invoke(app, [str(option) for option in ["aida", *options]])
    assert result.exit_code == 0, result.output
    assert "train: 2 documents, 1 with a link, 4 linked and 2 NIL mentions" in result.output
    assert "75.00%" in result.output
