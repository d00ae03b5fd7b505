"""Whether a title is chosen since it repeats the surface: how often such a title is chosen, and how often it is right.

    python benchmarks/same_title.py SET... [--model MODEL]

Of gold mentions whose span is given, those count that have the surface itself among the titles of their candidates, the
right title, and another one. Without a bias the two shares are the same. The columns `without` are those of the same
weights with `differs` 0, which were fitted together with it, so the others would be a little different alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from parlink import Linker, LinkOptions
from parlink.evaluation.conditions import Condition
from parlink.evaluation.context import apply_redirects
from parlink.evaluation.run import Evaluator
from parlink.evaluation.setup import Setup
from parlink.linking.parts import weighted_total


@dataclass(frozen=True)
class Choice:
    """A mention that may be the entity called like it: whether it is, and whether that is chosen."""

    right: bool
    chosen: bool
    chosen_without: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="+", metavar="SET")
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    linker = Linker.load(options.model)
    print("| set | mentions | right, % | chosen, % | without | chosen wrongly / left wrongly | without |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    together: list[Choice] = []
    for path in options.sets:
        choices = list(judge(linker, path))
        together += choices
        show(path.stem, choices)
    show("all", together)


def judge(linker: Linker, path: Path) -> Iterator[Choice]:
    assert linker.kb is not None
    setup = Setup.read([path], kb=linker.kb.folder)
    gold = [item.doc for item in setup.gold]
    evaluator = Evaluator.about(gold, linker=linker, condition=Condition.KB, options=LinkOptions(names=0))
    weights = (linker.tuned.weights, msgspec.structs.replace(linker.tuned.weights, differs=0.0))
    for wanted, linked in zip(gold, evaluator.choices(), strict=True):
        right, doc = (apply_redirects(each, setup.context.redirects) for each in (wanted, linked))
        titles = {link.span: link.title for link in right.links}
        for link in doc.links:
            surface, offered = doc.surface(link), {candidate.title for candidate in link.candidates}
            if len(offered) > 1 and {surface, titles[link.span]} <= offered:
                best = [max(link.candidates, key=lambda c: weighted_total(c, each)).title for each in weights]
                yield Choice(titles[link.span] == surface, *(title == surface for title in best))


def show(name: str, choices: Sequence[Choice]) -> None:
    shares, wrongly = [share([each.right for each in choices])], []
    for chosen in ([each.chosen for each in choices], [each.chosen_without for each in choices]):
        pairs = list(zip([each.right for each in choices], chosen, strict=True))
        shares.append(share(chosen))
        wrongly.append(f"{pairs.count((False, True))} / {pairs.count((True, False))}")
    print(f"| {name} | {len(choices)} | {' | '.join(shares)} | {' | '.join(wrongly)} |", flush=True)


def share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / max(len(values), 1):.1f}"


if __name__ == "__main__":
    main()
