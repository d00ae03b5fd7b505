"""The rows of the paper's Table 2, for a model of ours.

    python benchmarks/table2.py MODEL DATA [--kb FOLDER] [--lm-only MODEL] [--classifier-only MODEL]
                                           [--condition given-surface] [--tokenised-only]

DATA is AIDA as `parlink data aida` writes it. Every row is linking and detection InKB micro-F1, on the text as it
is and detokenised. `--lm-only` and `--classifier-only` are models trained without the other part of the score
(configs/lm-only.toml, configs/classifier-only.toml). The last row needs `--kb`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.progress import track

from parlink.config import LinkOptions, ScoreWeights
from parlink.data import jsonl
from parlink.detokenise import detokenise
from parlink.evaluate import Asked
from parlink.linker import Linker
from parlink.scoring.conditions import Condition
from parlink.scoring.counting import Rules
from parlink.scoring.report import Report, score
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    model: str
    condition: Condition
    options: LinkOptions


def rows(wanted: argparse.Namespace) -> Iterator[Row]:
    given = Condition(wanted.condition)
    yield Row("complete scoring", wanted.model, given, LinkOptions())
    yield Row("  classifier switched off", wanted.model, given, LinkOptions(weights=ScoreWeights(classifier=0.0)))
    yield Row("  generator switched off", wanted.model, given, LinkOptions(weights=ScoreWeights(lm=0.0)))
    if wanted.lm_only:
        yield Row("trained without the classifier", wanted.lm_only, given, LinkOptions())
    if wanted.classifier_only:
        yield Row("trained without the generator", wanted.classifier_only, given, LinkOptions())
    yield Row("beam search, candidates, 5 beams", wanted.model, given, LinkOptions(search="beam"))
    if wanted.kb:
        yield Row("beam search, whole KB, 5 beams", wanted.model, Condition.NONE, LinkOptions(search="beam"))


def measured(row: Row, gold: Sequence[Document], kb: str | None) -> Report:
    linker = Linker.load(row.model, kb=kb)
    asked = Asked.about(gold, linker=linker, condition=row.condition, options=row.options)
    predicted = list(track(asked.links(), description=row.name, total=len(gold), transient=True))
    return score(gold, predicted, rules=Rules(condition=row.condition))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--kb")
    parser.add_argument("--lm-only")
    parser.add_argument("--classifier-only")
    parser.add_argument("--condition", default="given-surface", choices=["given-strict", "given-surface"])
    parser.add_argument("--tokenised-only", action="store_true")
    wanted = parser.parse_args()
    tokenised = list(jsonl.read(wanted.data))
    forms = [tokenised] if wanted.tokenised_only else [tokenised, [detokenise(doc) for doc in tokenised]]
    heads = ("linking F1", "detection F1", "natural: linking F1", "detection F1")[: 2 * len(forms)]
    print(f"{wanted.data}, {len(tokenised)} documents, condition {wanted.condition} (whole KB: none)")
    print(" | ".join([f"{'':34}", *heads]))
    for row in rows(wanted):
        reports = [measured(row, gold, wanted.kb) for gold in forms]
        values = [100 * task.inkb.micro.f1 for report in reports for task in (report.linking, report.detection)]
        print(
            " | ".join([f"{row.name:34}", *(f"{v:{len(h)}.2f}" for v, h in zip(values, heads, strict=True))]),
            flush=True,
        )


if __name__ == "__main__":
    main()
