"""What each part of linking a document as a whole is worth, added one at a time; linking InKB micro-F1 and time.

    python benchmarks/decide.py SET... [--natural SET] [--documents N] [--model MODEL] [--kb KB]
        [--given-surface AIDA] [--graph KB] [--json]

Rows: local (the paper's independent decisions), + similarity, overlap and differs, + document names, + coherence, +
decision, + dictionary, + document mentions. The dictionary comes after the decision, as without one all names that it
finds would be linked. The model must have a fitted decision (`parlink tune --decision`). SETs are files of gold
documents, linked with candidates of the knowledge base, those of `--natural` detokenized; AIDA is scored in given-
surface with coherence over the graph of the knowledge base KB. The last columns are the CPU seconds of all sets, and
the own-KB benchmark, right end to end. If the decision was fitted on a SET, its figures here are not held out: those
that `parlink tune --decision` prints are.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import msgspec
from own_kb import FOLDER, list_entities, measure

from parlink import KnowledgeBase, Linker
from parlink.config import Tuned
from parlink.data import jsonl
from parlink.evaluation.conditions import Condition
from parlink.evaluation.context import apply_redirects
from parlink.evaluation.counting import Rules, inkb
from parlink.evaluation.metrics import scores, total
from parlink.evaluation.run import Evaluator
from parlink.evaluation.setup import Setup
from parlink.kb.build.build import build

_NOTHING = {"document_names": False, "document_mentions": False, "dictionary": False}


def main() -> None:
    wanted = _options()
    linker = Linker.load(wanted.model, kb=wanted.kb)
    if linker.tuned.decision is None:
        sys.exit("the model has no fitted decision; make one with parlink tune --decision")
    with TemporaryDirectory() as folder:
        own = _own_linker(wanted.model, Path(folder))
        for name, tuned in _parts(linker.tuned):
            row = {"part": name, **_measure(wanted, tuned, own)}
            print(json.dumps(row) if wanted.json else "  ".join(f"{key} {value}" for key, value in row.items()))
            sys.stdout.flush()


def _parts(tuned: Tuned) -> Iterator[tuple[str, Tuned]]:
    """The tuned values with ever more of the parts."""
    alone = msgspec.structs.replace(tuned.weights, similarity=0.0, overlap=0.0, differs=0.0, coherence=0.0)
    described = msgspec.structs.replace(tuned.weights, coherence=0.0)
    local = msgspec.structs.replace(tuned, weights=alone, decision=None, **_NOTHING)
    yield "local", local
    yield "+ similarity, overlap, differs", (similar := msgspec.structs.replace(local, weights=described))
    yield "+ document names", (named := msgspec.structs.replace(similar, document_names=True))
    yield "+ coherence", (coherent := msgspec.structs.replace(named, weights=tuned.weights))
    yield "+ decision", (decided := msgspec.structs.replace(coherent, decision=tuned.decision))
    yield "+ dictionary", (named := msgspec.structs.replace(decided, dictionary=True))
    yield "+ document mentions", msgspec.structs.replace(named, document_mentions=True)


def _measure(wanted: argparse.Namespace, tuned: Tuned, own: Linker) -> dict[str, object]:
    row: dict[str, object] = {}
    begin = process_time()
    for path in wanted.sets:
        row[path.stem] = _f1(wanted, path, tuned, wanted.kb, Condition.KB)
    for path in wanted.natural:
        row[f"{path.stem}, natural"] = _f1(wanted, path, tuned, wanted.kb, Condition.KB, natural=True)
    if wanted.given_surface is not None:
        row["given-surface"] = _f1(wanted, wanted.given_surface, tuned, wanted.graph, Condition.GIVEN_SURFACE)
    row["seconds"] = round(process_time() - begin, 1)
    own.tuned = tuned
    row["own KB, %"] = measure(own, list(jsonl.read(FOLDER / "sentences.jsonl")))["right end to end, %"]
    return row


def _f1(
    wanted: argparse.Namespace,
    path: Path,
    tuned: Tuned,
    kb: Path | None,
    condition: Condition,
    *,
    natural: bool = False,
) -> float:
    linker = _load(wanted.model, kb)
    linker.tuned = tuned
    assert linker.kb is not None, "a model without a knowledge base needs --kb"
    setup = Setup.read([path], kb=linker.kb.folder, natural=natural)
    gold = [item.doc for item in setup.gold][: wanted.documents]
    predicted = Evaluator.about(gold, linker=linker, condition=condition).links()
    redirects, rules = setup.context.redirects, Rules(condition=condition)
    counts = [
        inkb(apply_redirects(right, redirects), apply_redirects(doc, redirects), rules)
        for right, doc in zip(gold, predicted, strict=True)
    ]
    return round(100 * scores(total(counts)).f1, 2)


@cache
def _load(model: Path | None, kb: Path | None) -> Linker:
    return Linker.load(model, kb=kb)


def _own_linker(model: Path | None, folder: Path) -> Linker:
    """The model with the knowledge base of examples/own_kb, without descriptions."""
    source = folder / "entities.jsonl"
    source.write_text("\n".join(map(json.dumps, list_entities(descriptions=False))))
    build([source], folder / "kb")
    return Linker.load(model, kb=KnowledgeBase.open(folder / "kb"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path, help="gold documents; see development_sets.py")
    parser.add_argument("--natural", nargs="*", type=Path, default=[], help="sets that are detokenized")
    parser.add_argument("--documents", type=int, help="of each set, from its beginning; default: all")
    parser.add_argument("--model", type=Path, help="model folder; default: the model that comes with parlink")
    parser.add_argument("--kb", type=Path, help="knowledge base folder; default: the model's own")
    parser.add_argument("--given-surface", type=Path, help="AIDA documents with candidates")
    parser.add_argument("--graph", type=Path, help="knowledge base whose graph is taken in given-surface")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
