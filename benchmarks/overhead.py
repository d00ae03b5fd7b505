"""What linking costs besides the encoder: CPU time as a multiple of the encoder's, on the same windows in the same run.

    python benchmarks/overhead.py DOCUMENTS.jsonl [--documents N] [--warm N] [--runs N] [--model MODEL] [--precision P]

Rows: the local model, which is the paper's (detector, candidates of the knowledge base, generator, correction, prior),
and everything that the model ships with. Documents are linked one at a time and in a list, on one thread, after some
others (`--warm`), so that what is remembered is what a stream of such texts has shown. Each figure is the median of
`--runs` processes; in each of them the encoder reads the windows before and after they are linked: the mean counts.
The last column is the seconds of CPU of the encoder alone, for a thousand tokens.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import process_time

from parlink.config import Tuned
from parlink.data import jsonl
from parlink.evaluation.speed import Way, run_alone
from parlink.load_options import Precision
from parlink.types import Document


def main() -> None:
    options = _options()
    texts = [Document(doc.text) for doc in jsonl.read(options.data)][: options.warm + options.documents]
    warm, measured = texts[: options.warm], texts[options.warm :]
    print(
        f"| {len(measured)} documents, median of {options.runs} | way | times the encoder | encoder, s / 1,000 tokens |"
    )
    print("|---|---|---:|---:|")
    for name, local in (("local model", True), ("everything", False)):
        for way in Way:
            runs = [
                run_alone(measure, options.model, options.precision, warm, measured, way, local)
                for _ in range(options.runs)
            ]
            ratio, seconds = (statistics.median(figures) for figures in zip(*runs, strict=True))
            print(f"| {name} | {way} | {ratio:.2f} | {seconds:.3f} |", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--precision", default="float32")
    return parser.parse_args()


def measure(
    model: Path | None, precision: Precision, warm: Sequence[Document], texts: Sequence[Document], way: Way, local: bool
) -> tuple[float, float]:
    """CPU time of linking as a multiple of the encoder's, and the encoder's for a thousand tokens."""
    import torch

    from parlink.linking.linker import BATCH_TOKENS, Linker
    from parlink.linking.mentions import batch_windows, tokenize

    torch.set_num_threads(1)
    linker = Linker.load(model, precision=precision)
    linker.tuned = local_model(linker.tuned) if local else linker.tuned
    linker.link(list(warm))
    network, singly = linker.network, way is Way.SINGLY
    batch_tokens = network.config.max_tokens if singly else BATCH_TOKENS
    encoder = whole = 0.0
    tokens = 0
    for group in [[text] for text in texts] if singly else [list(texts)]:
        tokenized = [tokenize(doc, tokenizer=linker.tokenizer, config=network.config) for doc in group]
        tokens += sum(len(text.tokens.ids) for text in tokenized)
        batches = [
            [tokenized[place.document].windows[place.window] for place in places]
            for places in batch_windows(tokenized, batch_tokens=batch_tokens)
        ]
        marks = [process_time()]
        for work in ("encode", "link", "encode"):
            if work == "link":
                linker.link(group[0] if singly else group)
            else:
                for windows in batches:
                    network.encode(windows, searched=[True] * len(windows))
            marks.append(process_time())
        before, linked, after = (end - begin for begin, end in pairwise(marks))
        encoder, whole = encoder + (before + after) / 2, whole + linked
    return whole / encoder, 1000 * encoder / tokens


def local_model(tuned: Tuned) -> Tuned:
    """The paper's model: independent decisions by generator, correction and prior."""
    import msgspec

    weights = msgspec.structs.replace(tuned.weights, similarity=0.0, overlap=0.0, coherence=0.0)
    return msgspec.structs.replace(tuned, weights=weights, document_names=False, dictionary=False, decision=None)


if __name__ == "__main__":
    main()
