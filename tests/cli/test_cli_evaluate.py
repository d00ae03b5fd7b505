"""`parlink evaluate` and `parlink tune` from the outside, with a tiny random model."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner, Result

from parlink.checkpoint.folder import load_checkpoint, save_checkpoint
from parlink.cli.evaluate import evaluate
from parlink.cli.score_table import show_report
from parlink.cli.tune import tune
from parlink.config import LinkOptions, Shortlist
from parlink.data import formats, jsonl
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition
from parlink.evaluation.run import evaluate as ask
from parlink.evaluation.setup import Setup, score_predictions
from parlink.kb import KnowledgeBase
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Link
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint

app = typer.Typer()
app.command()(evaluate)
app.command()(tune)


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0
    return [msgspec.json.decode(line) for line in result.stdout.splitlines()]


SENTENCES = [
    "Kent beat Leicester , and Dresden saw the game .",
    "The coach of Hamburg praised Leicester .",
    "From Dresden the river runs to Hamburg .",
    "Japan and Jordan met in Paris on Saturday .",
    "No one in Texas knew of the planet Mercury .",
    "In Istanbul the fans of Kent took a train .",
]


def mentions(doc: Document, number: int) -> Document:
    """Gold that a random model can find: some of its own spans, every third without an entity."""
    links = []
    for place, link in enumerate(doc.links[:4]):
        surface = doc.text[link.span.start : link.span.end]
        candidates = (Candidate("Hamburg", prior=0.3), Candidate(f"The {surface}", prior=0.7))
        title = ("Hamburg", f"The {surface}", None)[place % 3]
        links.append(Link(link.span, title, candidates=candidates))
    return Document(doc.text, id=str(number), links=tuple(links))


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    found = Linker(tiny_checkpoint(spread=3.0)).stream(
        map(Document, SENTENCES), options=LinkOptions(mention_threshold=-5.0)
    )
    jsonl.write(tmp_path / "gold.jsonl", [mentions(doc, number) for number, doc in enumerate(found)])
    return tmp_path / "gold.jsonl"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(spread=3.0), card="tiny")
    return tmp_path / "model"


def test_gold_against_itself_is_perfect(gold: Path) -> None:
    (value,) = lines(run("evaluate", gold, "--predictions", gold, "--json"))
    for task in ("linking", "detection", "disambiguation"):
        assert value[task]["inkb"]["micro"] == value[task]["inkb"]["macro"] == {"precision": 1, "recall": 1, "f1": 1}


@pytest.mark.parametrize("condition", ["given-strict", "given-surface"])
def test_a_model_is_scored_and_its_saved_predictions_score_the_same(
    gold: Path, model: Path, tmp_path: Path, condition: str
) -> None:
    saved, page = tmp_path / "p.jsonl", tmp_path / "r.html"
    options = ("--model", model, "--condition", condition, "--mention-threshold", "-3.2", "--save-predictions", saved)
    (value,) = lines(run("evaluate", gold, *options, "--report", page, "--json"))
    assert value["condition"] == condition and value["predicted"] > 0
    assert page.read_text().startswith("<!doctype html>")
    (again,) = lines(run("evaluate", gold, "--predictions", saved, "--compare", gold, "--seen", gold, "--json"))
    assert again["linking"] == value["linking"] and again["condition"] == condition
    assert again["comparison"]["other_f1"] == 1.0 and again["seen"]["unseen"]["counts"]["tp"] == 0


def test_several_conditions_are_several_lines(gold: Path, model: Path) -> None:
    both = ("--condition", "given-strict", "--condition", "given-surface")
    values = lines(run("evaluate", gold, "--model", model, *both, "--json"))
    assert [value["condition"] for value in values] == ["given-strict", "given-surface"]
    with pytest.raises(ParlinkError, match="wants one --condition"):
        run("evaluate", gold, "--model", model, *both, "--save-predictions", gold.parent / "x.jsonl")


def test_the_table_names_its_condition_and_its_rules(gold: Path, model: Path) -> None:
    result = run("evaluate", gold, "--model", model, "--condition", "given-surface", "--weak", "--natural")
    shown = " ".join(result.stdout.split())
    assert "candidates: given-surface" in shown and "gold surfaces" in shown and "match: weak" in shown
    assert "titles are compared as they are" in shown and "candidate recall: 100.00%" in shown


def test_redirects_are_applied_and_named(gold: Path, tmp_path: Path) -> None:
    redirects, predicted = tmp_path / "r.json", tmp_path / "p.jsonl"
    redirects.write_text('{"Hammonia": "Hamburg"}')
    predicted.write_text(gold.read_text().replace('"title":"Hamburg"', '"title":"Hammonia"'))
    (plain,) = lines(run("evaluate", gold, "--predictions", predicted, "--json"))
    (value,) = lines(run("evaluate", gold, "--predictions", predicted, "--redirects", redirects, "--json"))
    assert 0 < plain["linking"]["inkb"]["micro"]["f1"] < 1 and value["linking"]["inkb"]["micro"]["f1"] == 1.0
    assert plain["redirects"] is None and value["redirects"].endswith("r.json")


def test_errors_name_file_and_line(gold: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    twice.write_text(gold.read_text() + gold.read_text().splitlines()[0])
    with pytest.raises(ParlinkError, match=r"twice\.jsonl:7: document '0' was already at .*twice\.jsonl:1"):
        run("evaluate", gold, "--predictions", twice)


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path]:
    """Gold whose entities are named in several ways, and a knowledge base that knows them all but one."""
    text = " ".join(SENTENCES[:3])
    found = Linker(tiny_checkpoint(spread=3.0)).link(text, options=LinkOptions(mention_threshold=-5.0)).links[:4]
    names = [{"title": "http://en.wikipedia.org/wiki/Hamburg"}, {"id": "Q51974"}, {"title": "Zürich"}, {"id": "Q9"}]
    links = [{"start": f.span.start, "end": f.span.end, **name} for f, name in zip(found, names, strict=True)]
    (tmp_path / "named.jsonl").write_bytes(msgspec.json.encode({"id": "1", "text": text, "links": links}) + b"\n")
    return tmp_path / "named.jsonl", tiny_folder(tmp_path / "kb")


def test_identifiers_are_resolved_by_the_kb_in_every_format(linked: tuple[Path, Path], tmp_path: Path) -> None:
    gold, kb = linked
    said = tmp_path / "said.jsonl"
    known = KnowledgeBase.open(kb)
    (doc,) = jsonl.read(gold)
    titles = [known.resolve(link.title or link.id or "") for link in doc.links]
    assert titles == ["Hamburg", "Hamburger SV", "Zürich", None]
    jsonl.write(said, [replace(doc, links=tuple(map(titled, doc.links, titles)))])
    (plain,) = lines(run("evaluate", gold, "--predictions", said, "--json"))
    assert plain["linking"]["counts"] == {"tp": 1, "fp": 2, "fn": 3} and plain["coverage"] is None
    for name in ("a.ttl", "a.tsv", "brat", "a.jsonl"):
        formats.convert(gold, tmp_path / name, resolve=known.resolve)
        doc = next(formats.read(tmp_path / name))
        jsonl.write(said, [replace(doc, links=tuple(map(titled, doc.links, titles)))])
        (value,) = lines(run("evaluate", tmp_path / name, "--predictions", said, "--kb", kb, "--json"))
        assert value["coverage"]["part"] == value["linking"]["counts"]["tp"] == 3, name


def titled(link: Link, title: str | None) -> Link:
    return Link(link.span, title)


@pytest.mark.parametrize("condition", ["kb", "none"])
def test_a_knowledge_base_is_searched_or_looked_up(linked: tuple[Path, Path], model: Path, condition: str) -> None:
    gold, kb = linked
    options = ("--model", model, "--kb", kb, "--condition", condition)
    (tuned,) = lines(run("tune", gold, *options, "--json"))
    (value,) = lines(run("evaluate", gold, *options, "--json"))
    assert value["condition"] == tuned["condition"] == condition and value["kb"] in value["redirects"]
    assert (value["candidate_recall"] is None) == (condition == "none")
    ours, tuning = value["linking"]["inkb"]["micro"], tuned["linking"]["inkb"]["micro"]
    assert ours == pytest.approx(tuning)  # redirects apply to both
    assert condition == "kb" or value["predicted"] > 0


def test_a_table_of_hundreds_fits_eighty_columns(gold: Path) -> None:
    evaluation = Setup.read([gold], kb=None)
    stream = io.StringIO()
    show_report(score_predictions(evaluation, gold, []), console=Console(file=stream, width=80))
    assert "…" not in stream.getvalue() and stream.getvalue().count(" 100.00") >= 11
    assert max(map(len, stream.getvalue().splitlines())) <= 80


def test_options_that_would_do_nothing_are_refused(gold: Path, model: Path) -> None:
    for option in (("--save-predictions", gold.parent / "x.jsonl"), ("--model", model)):
        with pytest.raises(ParlinkError, match="leave out --model"):
            run("evaluate", gold, "--predictions", gold, *option)


def test_tune_fits_a_decision_over_several_datasets(linked: tuple[Path, Path], model: Path, tmp_path: Path) -> None:
    gold, kb = linked
    other = tmp_path / "other.jsonl"
    other.write_bytes(gold.read_bytes())
    options = ("--model", model, "--kb", kb, "--decision", "--weights", "--dictionary", "--document-names")
    options += ("--document-mentions", "--names", "2")
    (value,) = lines(run("tune", gold, other, *options, "--json"))
    tuned = load_checkpoint(model).tuned
    assert value["tuned"] == msgspec.to_builtins(tuned) and tuned.decision is not None
    assert tuned.dictionary and tuned.document_names and tuned.document_mentions
    assert tuned.shortlist is not None and tuned.shortlist.names == 2
    assert tuned.shortlist.lm != Shortlist().lm  # but what the names have that are not read
    assert [each["name"] for each in value["sets"]] == [gold.name, "other.jsonl"]
    shown = run("tune", gold, *options)
    assert "a link is made from a confidence of" in shown.stdout and "coherence" in shown.stdout
    (after,) = lines(run("evaluate", gold, "--model", model, "--kb", kb, "--json"))
    assert after["condition"] == "kb"


def test_tune_refuses_and_warns_as_evaluate_does(gold: Path, model: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    twice.write_text(gold.read_text() * 2)
    with pytest.raises(ParlinkError, match=r"twice\.jsonl:7: document '0' was already"):
        run("tune", twice, "--model", model)
    twice.write_text(gold.read_text() + gold.read_text().splitlines()[0].replace('"id":"0"', '"id":"9"'))
    assert "warning: 1 gold documents with the text of an earlier one" in run("tune", twice, "--model", model).stderr


def test_tune_refuses_the_weights_of_a_model_that_knows_nil(gold: Path, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "nil", tiny_checkpoint(nil=True), card="tiny")
    with pytest.raises(ParlinkError, match="nil = true"):
        run("tune", gold, "--model", tmp_path / "nil", "--weights")


def test_tune_writes_the_model_folder_and_draws(gold: Path, model: Path, tmp_path: Path) -> None:
    (value,) = lines(run("tune", gold, "--model", model, "--weights", "-o", tmp_path / "curves", "--json"))
    tuned = load_checkpoint(model).tuned
    assert value["tuned"] == msgspec.to_builtins(tuned)
    assert all(Path(curve).read_text().startswith("<svg") for curve in value["curves"])
    assert len(value["curves"]) >= 2 and Path(value["curves"][0]).parent == tmp_path / "curves"
    (after,) = lines(run("evaluate", gold, "--model", model, "--condition", "given-strict", "--json"))
    assert value["linking"]["inkb"]["micro"]["f1"] > 0.2
    assert after["linking"]["inkb"]["micro"]["f1"] == pytest.approx(value["linking"]["inkb"]["micro"]["f1"])
    shown = run("tune", gold, "--model", model)
    assert "candidates: given-strict\nthreshold" in shown.stdout and "use --condition kb" not in shown.stderr
    shown = run("tune", gold, "--model", model, "--condition", "given-surface")
    assert "candidates: given-surface\nthreshold" in shown.stdout and "use --condition kb" in shown.stderr


def test_an_output_that_cannot_be_written_and_another_text_are_told_before_the_work(
    gold: Path, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "no-model").mkdir()
    for option in ("--report", "--save-predictions"):
        with pytest.raises(ParlinkError, match="is a folder; give the name of a file"):
            run("evaluate", gold, "--model", tmp_path / "no-model", option, tmp_path)
    other = tmp_path / "other.jsonl"
    other.write_text(gold.read_text().replace("Kent", "Bath", 1))
    linker, told = Linker(tiny_checkpoint(spread=3.0)), list[int]()
    documents, others = list(jsonl.read(gold)), list(jsonl.read(other))
    with pytest.raises(ParlinkError, match="its text differs"):
        ask(linker, documents, condition=Condition.GIVEN_STRICT, other=others, progress=told.append)
    assert not told


def test_predictions_are_scored_where_elevant_has_them_beside_the_gold(tmp_path: Path) -> None:
    article = {
        "id": 1,
        "title": "a",
        "text": "Kent won.",
        "labels": [{"id": 0, "span": [0, 4], "entity_id": "Q1", "name": "Kent"}],
        "entity_mentions": [{"span": [0, 4], "id": "Q2", "recognized_by": "x", "linked_by": "x", "candidates": []}],
    }
    path = tmp_path / "articles.jsonl"
    path.write_bytes(msgspec.json.encode(article))
    [scores] = lines(run("evaluate", path, "--predictions", path, "--json"))
    assert scores["linking"]["inkb"]["micro"]["f1"] == 0
    assert scores["detection"]["inkb"]["micro"]["f1"] == 1


def test_the_report_is_written_though_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    data, report = tmp_path / "gold.jsonl", tmp_path / "report.html"
    jsonl.write(data, [Document("Kent won.", id="1")])
    read, written = os.pipe()
    os.close(read)  # as of `| head`
    command = [sys.executable, "-m", "parlink", "evaluate", data, "--predictions", data, "--report", report]
    subprocess.run(command, stdout=written, stderr=subprocess.DEVNULL, check=False, timeout=60)
    os.close(written)
    assert report.read_text().startswith("<!doctype html>")
