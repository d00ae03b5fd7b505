"""What it costs to keep only k pages a title in the link graph (bottom-k): size, cosines, and what coherence decides.

    python benchmarks/graph_size.py KB FILE.jsonl... [--pages 8,16,32,64,128] [--weight 6.4]

FILES are documents with gold links. No model takes part: the candidates of a name are those of the knowledge base, and
their score is the log of the prior plus `--weight` times the support by the other names. So the column "right"
is what graph and priors do alone, on the mentions whose gold entity is offered. The error of a cosine is the mean
distance to that of the largest k, over pairs of candidates of one document that are related by either.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parlink.data import jsonl
from parlink.kb import KnowledgeBase
from parlink.kb.link_graph import LINKS_FILE, LinkGraph
from parlink.kb.view import View
from parlink.linking.coherence import POOL, ScoredMention, relate, support
from parlink.types import Document


@dataclass(frozen=True)
class Sample:
    """A graph of which only the first k pages of each title are seen."""

    view: View
    k: int

    def pages_of(self, titles: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many pages of each title are kept, and which."""
        kept = [self.view.pages(title)[: self.k] for title in titles]
        return np.array([*map(len, kept)], np.int64), np.concatenate([*kept, np.empty(0, np.int64)])

    def page_weights(self, pages: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much each page says."""
        return self.view.page_weights(pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--pages", default="8,16,32,64,128")
    parser.add_argument("--weight", type=float, default=6.4)
    parser.add_argument("--documents", type=int, default=100, help="of each file, at most")
    options = parser.parse_args()
    kb = KnowledgeBase.open(options.kb)
    view, graph = kb.snapshot(), LinkGraph.open(options.kb / LINKS_FILE, kb.info.titles)
    many = np.asarray(graph.groups.many).astype(np.int64)
    docs = [doc for file in options.files for doc in islice(jsonl.read(file), options.documents)]
    read = [(doc, read_mentions(doc, view)) for doc in docs]
    sizes = [int(k) for k in options.pages.split(",")]
    whole = [relate_all(mentions, Sample(view, max(sizes))) for _, mentions in read]
    print(f"{len(docs)} documents, {int((many > 0).sum()):,} titles that a page links to")
    print("| k | entries | MB | titles cut, % | error of a cosine | right, % |\n|---|---|---|---|---|---|")
    for k in [0, *sizes]:
        entries, sample = int(np.minimum(many, k).sum()), Sample(view, k)
        error = compare(whole, [relate_all(mentions, sample) for _, mentions in read])
        cells = (
            f"{entries:,}",
            f"{entries * graph.page.dtype.itemsize / 1e6:.1f}",
            f"{100 * float((many > k).sum() / (many > 0).sum()):.1f}",
            f"{error:.3f}",
            f"{100 * count_right(read, sample, options.weight):.1f}",
        )
        print(f"| {k} | " + " | ".join(cells) + " |", flush=True)


def read_mentions(doc: Document, view: View) -> list[tuple[str | None, ScoredMention]]:
    """The names of a document with their candidates, and the gold title of each."""
    mentions = []
    for link in doc.links:
        name = doc.text[link.span.start : link.span.end]
        candidates = view.candidates(name, limit=POOL)
        scores = np.log([max(candidate.prior or 0.0, 1e-3) for candidate in candidates])
        mentions.append((link.title, ScoredMention(name, tuple(c.title for c in candidates), scores)))
    return mentions


def relate_all(mentions: list[tuple[str | None, ScoredMention]], sample: Sample) -> NDArray[np.float64]:
    """How all candidates of a document are related."""
    return relate(list(dict.fromkeys(title for _, mention in mentions for title in mention.titles)), sample)


def compare(whole: list[NDArray[np.float64]], cut: list[NDArray[np.float64]]) -> float:
    """The mean distance of two relations, over pairs that either knows of."""
    distances = []
    for ours, theirs in zip(whole, cut, strict=True):
        pairs = np.triu((ours > 0) | (theirs > 0), 1)
        distances.append(np.abs(ours - theirs)[pairs])
    return float(np.concatenate(distances).mean())


def count_right(
    read: list[tuple[Document, list[tuple[str | None, ScoredMention]]]], sample: Sample, weight: float
) -> float:
    """The share of mentions with a gold candidate for which it comes first."""
    right = total = 0
    for _, mentions in read:
        gains = support([mention for _, mention in mentions], sample, weight=weight)
        for (gold, mention), gain in zip(mentions, gains, strict=True):
            if gold in mention.titles:
                total += 1
                right += mention.titles[int(np.argmax(mention.scores + weight * gain))] == gold
    return right / max(1, total)


if __name__ == "__main__":
    main()
