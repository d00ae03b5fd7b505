"""The scripts in benchmarks/ run: all say what they want, and measure a tiny model or a tiny knowledge base."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from parlink.checkpoint.folder import save_checkpoint
from parlink.data import jsonl
from parlink.kb.build.build import build
from parlink.types import Candidate, Document, Link, Span
from tiny import byte_level_bpe
from tiny_kb import LINES, tiny_folder
from tiny_model import tiny_checkpoint
from tiny_training import DOCUMENTS, write_encoder

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py"))


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_can_be_imported_and_say_what_they_want(script: str) -> None:
    if "argparse" in (FOLDER / script).read_text():
        assert "usage" in run(script, "--help")
    else:
        subprocess.run([sys.executable, "-c", f"import {Path(script).stem}"], cwd=FOLDER, check=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with a tiny knowledge base inside, and documents beside it."""
    folder = tmp_path_factory.mktemp("benchmarks")
    save_checkpoint(folder / "model", tiny_checkpoint(seed=3, spread=2.0), card="tiny")
    tiny_folder(folder / "model")
    write_encoder(folder / "encoder")
    candidates = (Candidate("Kent", prior=0.8), Candidate("Hamburger SV", prior=0.2))
    link = Link(Span(0, 4), "Kent", candidates=candidates)
    jsonl.write(
        folder / "gold.jsonl", [Document("Kent beat HSV.", id=str(number), links=(link,)) for number in range(4)]
    )
    jsonl.write(folder / "pages.jsonl", [Document("\n".join(["Kent beat HSV. " * 8] * 5)) for _ in range(4)])
    return folder / "model"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("same_title.py GOLD --model MODEL", "| all | 4 |"),
        ("memory.py MODEL --texts 8 --parts 2", "since the first 4 texts"),
        ("kb_changes.py --adds 5", "20"),
        ("kb_size.py -o OUT", "9 sizes"),
        ("own_kb.py MODEL --json", "{"),
        ("measure.py MODEL GOLD --seen GOLD --rows kb -o OUT", "kb"),
        ("table2.py MODEL GOLD --tokenized-only", "F1"),
        ("footprint.py MODEL --data GOLD --threads 1 --runs 1", "tokens"),
        ("train.py --data GOLD --batches 1 --rounds 1 --batch-size 2 --train-tokens 64 --encoder ENCODER", "step"),
        ("serve.py --model MODEL --kb KB --seconds 0.3 --rounds 1", "clients"),
        ("scale.py OUT.d PAGES --model MODEL --kb KB --texts 20 --few 10 --only processes-1", "processes-1 | "),
        ("one_writer.py OUT.d --documents 600", "| 600 | "),
    ],
    ids=lambda value: value.split(".py")[0] if ".py" in value else "",
)
def test_scripts_measure_a_tiny_model(model: Path, tmp_path: Path, command: str, says: str) -> None:
    places = {"MODEL": model, "KB": model / "kb", "GOLD": model.parent / "gold.jsonl", "OUT": tmp_path / "out.json"}
    places |= {"OUT.d": tmp_path / "work", "ENCODER": model.parent / "encoder", "PAGES": model.parent / "pages.jsonl"}
    assert says in run(*(places.get(word, word) for word in command.split()))  # type: ignore[arg-type]


def test_kb_scale(tmp_path: Path) -> None:
    names = [line["title"].replace(" ", "_") for line in LINES]
    with zipfile.ZipFile(tmp_path / "names.whl", "w") as wheel:
        wheel.writestr("names/trie_0.py", f"names = {names!r}\n")
    byte_level_bpe().save(tmp_path / "tokenizer.json")
    out = run("kb_scale.py", tmp_path / "names.whl", tmp_path / "tokenizer.json", tmp_path / "work", "--some", 0)
    figures = {line.split(" ", 2)[1]: json.loads(line.split(" ", 2)[2]) for line in out.splitlines()}
    assert list(figures) == ["build", "tree", "open", "search", "dictionary"]
    assert figures["build"]["titles"] == len(LINES)
    assert figures["search"]["found"] > 0


def test_kb_recall(tmp_path: Path) -> None:
    doc = Document("Kent beat HSV.", links=(Link(Span(0, 4), "Kent"), Link(Span(10, 13), "Hamburger SV")))
    jsonl.write(tmp_path / "gold.jsonl", [doc])
    out = run("kb_recall.py", tiny_folder(tmp_path), tmp_path / "gold.jsonl").splitlines()
    assert out[2].split()[:4] == ["gold", "2", "100.0", "100.0"]


def test_kb_recall_tells_names_from_nouns_by_the_fixed_gold(tmp_path: Path) -> None:
    fixed = json.loads((FOLDER / "gold_titles.json").read_text())["sets"]["elevant-news-fair"]
    doc_id, rows = next(
        (doc_id, rows) for doc_id, rows in fixed.items() if {row[3] for row in rows} == {"name", "noun"}
    )
    text = " " * max(row[1] for row in rows)
    for start, end, *_ in rows:
        text = text[:start] + "Kent".ljust(end - start)[: end - start] + text[end:]
    data = tmp_path / "elevant-news-fair.jsonl"
    data.write_text(json.dumps({"id": doc_id, "text": text, "mentions": []}) + "\n")
    out = run("kb_recall.py", tiny_folder(tmp_path), data, "--misses", 1)
    kinds = [row[3] for row in rows]
    lines = {line[:34].strip(): line[34:].split()[0] for line in out.splitlines()[2:5]}
    assert lines == {
        "elevant-news-fair": str(len(rows)),
        "elevant-news-fair, names": str(kinds.count("name")),
        "elevant-news-fair, nouns": str(kinds.count("noun")),
    }
    assert "(not in KB)" in out


def test_speed_compares_equal_scores_and_draws_them(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(), card="")
    jsonl.write(tmp_path / "gold.jsonl", DOCUMENTS)
    sizes = ("--hidden", 32, "--layers", 1, "--bart-hidden", 16, "--bart-layers", 1, "--genre-steps", 4)
    asked = ("--model", tmp_path / "model", "--documents", 2, "--way", "one at a time", "-o", tmp_path / "out")
    table = [line.split("|") for line in run("speed.py", tmp_path / "gold.jsonl", *asked, *sizes).splitlines()[2:]]
    names = [row[1].strip() for row in table[2:] if len(row) > 2]
    assert [name.split(" (")[0] for name in names] == [
        "plain", "exact", "self-normalized", "int8", "default", "default, int8",
        "GENRE's way, beam 1 *", "GENRE's way, beam 5 *",
    ]  # fmt: skip
    assert "GENRE" in (tmp_path / "out" / "speed.svg").read_text()
    assert len(json.loads((tmp_path / "out" / "speed.json").read_text())) == len(names)


def test_fixed_golds_hold_nothing_of_aida() -> None:
    assert not any(
        "aida" in name or "test" in name for name in json.loads((FOLDER / "gold_titles.json").read_text())["sets"]
    )


def test_dump_scale(tmp_path: Path) -> None:
    texts = ["A port on the [[Elbe]].", "A river, see [[Hamburg|the port]]."]
    pages = (
        f"<page><title>{t}</title><text>{x}</text></page>" for t, x in zip(["Hamburg", "Elbe"], texts, strict=True)
    )
    (tmp_path / "dump.xml").write_text(f"<mediawiki>{''.join(pages)}</mediawiki>")
    out = run("dump_scale.py", tmp_path / "dump.xml", tmp_path / "work", "--times", "1,3", "--rows", 5).splitlines()
    assert [line.split(" | ")[2] for line in out[2:]] == ["2", "6"]


def test_graph_size(tmp_path: Path) -> None:
    lines = [{"title": title, "links": ["Kent", "Elbe"]} for title in ("Kent", "Elbe", "Hamburg")]
    (tmp_path / "links.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    build([tmp_path / "links.jsonl"], tmp_path / "kb")
    doc = Document("Kent is far from the Elbe.", links=(Link(Span(0, 4), "Kent"), Link(Span(21, 25), "Elbe")))
    jsonl.write(tmp_path / "gold.jsonl", [doc])
    out = run("graph_size.py", tmp_path / "kb", tmp_path / "gold.jsonl", "--pages", "1,8").splitlines()
    assert [line.split(" | ")[-1] for line in out[3:]] == ["100.0 |"] * 3


def test_growth(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(), card="tiny")
    settings = ("--most", 256, "--titles", "20,40", "--repeat", 1, "--svg", tmp_path / "svg")
    out = run("growth.py", "--model", tmp_path / "model", "--only", "tokens,beams,titles", *settings)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines()[2:]]
    assert [row[:3] for row in rows] == [["tokens", "64", "256"], ["beams", "1", "20"], ["titles", "20", "40"]]
    assert (tmp_path / "svg" / "tokens.svg").read_text().startswith("<svg")
