"""What linking costs besides the encoder: CPU time as a multiple of the encoder's, on the same windows in the same run.

    python benchmarks/overhead.py DOCUMENTS.jsonl [--documents N] [--warm N] [--runs N] [--model MODEL] [--precision P]

Rows: the local model, which is the paper's (detector, candidates of the knowledge base, generator, correction, prior),
and everything that the model ships with. Documents are linked one at a time and in a list, as commands do (on one
thread, and with `linking.keep`), after some others (`--warm`), so that what is remembered is what a stream of such
texts has shown. Each figure is the median of `--runs` processes; in each of them the encoder reads the windows before
and after they are linked: the mean counts.
The last columns are the seconds of CPU of the encoder alone, for a thousand tokens, and what share of them its linear
maps take when they are computed alone, on as many tokens: how near the encoder is to the machine's matrix products.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from parlink.config import Tuned
from parlink.data import jsonl
from parlink.evaluation.speed import Way, run_alone
from parlink.load_options import Precision
from parlink.types import Document

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.nn.encoder import Encoder


def main() -> None:
    options = _options()
    texts = [Document(doc.text) for doc in jsonl.read(options.data)][: options.warm + options.documents]
    warm, measured = texts[: options.warm], texts[options.warm :]
    columns = ("way", "times the encoder", "encoder, s / 1,000 tokens", "products, share")
    print(f"| {len(measured)} documents, median of {options.runs} | {' | '.join(columns)} |")
    print("|---|---" + "|---:" * (len(columns) - 1) + "|")
    for name, local in (("local model", True), ("everything", False)):
        for way in Way:
            runs = [
                run_alone(measure, options.model, options.precision, warm, measured, way, local)
                for _ in range(options.runs)
            ]
            ratio, seconds, share = (statistics.median(figures) for figures in zip(*runs, strict=True))
            print(f"| {name} | {way} | {ratio:.2f} | {seconds:.3f} | {share:.2f} |", flush=True)


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
) -> tuple[float, float, float]:
    """Linking as a multiple of the encoder, the encoder's CPU time for a thousand tokens, and its products' share."""
    from parlink.linking.keep import keep
    from parlink.linking.linker import Linker
    from parlink.linking.mentions import batch_windows, tokenize

    linker = keep(Linker.load(model, precision=precision))
    import torch  # not before: what is loaded first chooses the kernels

    from parlink.linking.torch_network import TorchNetwork

    torch.set_num_threads(1)
    linker.tuned = local_model(linker.tuned) if local else linker.tuned
    linker.link(list(warm))
    network, singly = linker.network, way is Way.SINGLY
    assert isinstance(network, TorchNetwork)
    batch_tokens = network.config.max_tokens if singly else linker.batch_tokens
    encoder = whole = products = 0.0
    tokens = 0
    for group in [[text] for text in texts] if singly else [list(texts)]:
        tokenized = [tokenize(doc, tokenizer=linker.tokenizer, config=network.config) for doc in group]
        tokens += sum(len(text.tokens.ids) for text in tokenized)
        batches = [
            [tokenized[place.document].windows[place.window] for place in places]
            for places in batch_windows(tokenized, batch_tokens=batch_tokens)
        ]
        marks = [process_time()]
        for work in ("encode", "link", "encode", "multiply"):
            if work == "link":
                linker.link(group[0] if singly else group)
            for windows in batches:
                if work == "encode":
                    network.encode(windows, searched=[True] * len(windows))
                if work == "multiply":
                    multiply(network.model.encoder, sum(len(window.ids) for window in windows))
            marks.append(process_time())
        before, linked, after, multiplied = (end - begin for begin, end in pairwise(marks))
        encoder, whole, products = encoder + (before + after) / 2, whole + linked, products + multiplied
    return whole / encoder, 1000 * encoder / tokens, products / encoder


def multiply(encoder: Encoder, tokens: int) -> None:
    """Compute the linear maps of an encoder on states of so many tokens, and nothing else."""
    import torch

    narrow, wide = (torch.zeros(tokens, size) for size in (encoder.config.hidden, encoder.config.intermediate))
    with torch.inference_mode():
        for layer in encoder.layers:
            for linear, states in ((layer.qkv, narrow), (layer.out, narrow), (layer.up, narrow), (layer.down, wide)):
                linear(states)


def local_model(tuned: Tuned) -> Tuned:
    """The paper's model: independent decisions by generator, correction and prior."""
    import msgspec

    weights = msgspec.structs.replace(tuned.weights, similarity=0.0, overlap=0.0, coherence=0.0)
    return msgspec.structs.replace(tuned, weights=weights, document_names=False, dictionary=False, decision=None)


if __name__ == "__main__":
    main()
