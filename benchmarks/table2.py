"""The rows of the paper's Table 2, for a model of ours.

    python benchmarks/table2.py MODEL DATA [--kb FOLDER] [--lm-only MODEL] [--classifier-only MODEL]
                                           [--condition given-surface] [--threshold 0] [--tokenized-only]

DATA is AIDA as `parlink data aida` writes it, or any other set whose links have candidates. Every row is linking
and detection InKB micro-F1, on the text as it is and detokenized. `--lm-only` and `--classifier-only` are models
trained without the other part of the score (configs/lm-only.toml, configs/classifier-only.toml). The last row needs
`--kb`, or a model with a KB of its own. With `--kb` its redirects apply to the titles of all rows.
Where a part is switched off no score threshold applies: the model's own is tuned for the whole score.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
from rich.progress import track

from parlink.config import LinkOptions
from parlink.data import formats
from parlink.evaluation.conditions import Condition
from parlink.evaluation.context import EvalContext, gather
from parlink.evaluation.counting import Rules
from parlink.evaluation.run import Evaluator
from parlink.evaluation.scoring import Report, score
from parlink.kb import KnowledgeBase
from parlink.linking.linker import Linker
from parlink.text.detokenize import detokenize
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    linker: Linker
    condition: Condition
    options: LinkOptions


def rows(wanted: argparse.Namespace, kb: KnowledgeBase | None) -> Iterator[Row]:
    given, linker = Condition(wanted.condition), Linker.load(wanted.model, kb=kb)
    own = LinkOptions(mention_threshold=wanted.threshold)
    yield Row("complete scoring", linker, given, own)
    yield Row("  classifier switched off", linker, given, without(linker, "classifier", own))
    yield Row("  generator switched off", linker, given, without(linker, "lm", own))
    if wanted.lm_only:
        yield Row("trained without the classifier", Linker.load(wanted.lm_only, kb=kb), given, own)
    if wanted.classifier_only:
        yield Row("trained without the generator", Linker.load(wanted.classifier_only, kb=kb), given, own)
    yield Row("beam search, candidates, 5 beams", linker, given, msgspec.structs.replace(own, search="beam"))
    if linker.kb is not None:
        yield Row("beam search, whole KB, 5 beams", linker, Condition.NONE, own)


def without(linker: Linker, part: str, options: LinkOptions) -> LinkOptions:
    """Switch a part of the score off; the score threshold, tuned for the whole score, goes with it."""
    weights = msgspec.structs.replace(linker.tuned.weights, **{part: 0.0})
    return msgspec.structs.replace(options, weights=weights, score_threshold=-math.inf)


def measured(row: Row, gold: Sequence[Document], context: EvalContext) -> Report:
    asked = Evaluator.about(gold, linker=row.linker, condition=row.condition, options=row.options)
    predicted = list(track(asked.links(), description=row.name, total=len(gold), transient=True))
    return score(gold, predicted, rules=Rules(condition=row.condition), context=context)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--kb")
    parser.add_argument("--lm-only")
    parser.add_argument("--classifier-only")
    parser.add_argument("--condition", default="given-surface", choices=["given-strict", "given-surface"])
    parser.add_argument("--threshold", type=float, help="detection threshold; default: each model's own")
    parser.add_argument("--tokenized-only", action="store_true")
    wanted = parser.parse_args()
    kb = None if wanted.kb is None else KnowledgeBase.open(wanted.kb)
    context = gather(kb=kb)
    tokenized = list(formats.read(wanted.data, resolve=None if kb is None else kb.resolve))
    forms = [tokenized] if wanted.tokenized_only else [tokenized, [detokenize(doc) for doc in tokenized]]
    heads = ("linking F1", "detection F1", "natural: linking F1", "detection F1")[: 2 * len(forms)]
    print(f"{wanted.data}, {len(tokenized)} documents, condition {wanted.condition} (whole KB: none)")
    print(f"redirects: {context.redirects.source if context.redirects else 'none, titles compared as they are'}")
    print(" | ".join([f"{'':34}", *heads]))
    for row in rows(wanted, kb):
        reports = [measured(row, gold, context) for gold in forms]
        values = [100 * task.inkb.micro.f1 for report in reports for task in (report.linking, report.detection)]
        print(
            " | ".join([f"{row.name:34}", *(f"{v:{len(h)}.2f}" for v, h in zip(values, heads, strict=True))]),
            flush=True,
        )


if __name__ == "__main__":
    main()
