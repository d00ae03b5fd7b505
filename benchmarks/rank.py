"""Complete scoring at the paper's sizes: each candidate alone, through shared prefixes, and self-normalized.

    python benchmarks/rank.py TESTA.jsonl ENCODER_FOLDER [DOCUMENTS]

Only the decoder is timed, with random weights: the candidates of the first documents (default 15) are real,
tokenized by the encoder folder's tokenizer. Scores of the first two ways must agree.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import islice

import msgspec
import torch
from reference_way import score_each_alone

from parlink.data import jsonl
from parlink.linking.names import score_names
from parlink.model_config import EncoderConfig, ModelConfig
from parlink.nn.decoder import MentionStates, NameScores
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer


def timed(work: Callable[[], NameScores]) -> tuple[NameScores, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


@torch.inference_mode()
def main(data: str, folder: str, documents: int = 15) -> None:
    tokenizer = Tokenizer.load(folder)
    encoder = EncoderConfig(
        family="longformer", vocab_size=50265, hidden=768, layers=1, heads=12, intermediate=3072, positions=4098
    )
    config = ModelConfig(encoder=encoder, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id)
    torch.manual_seed(0)
    model = LinkingModel(config).eval()
    links = [link for doc in islice(jsonl.read(data), documents) for link in doc.links if link.candidates]
    names = [[tokenizer.title(c.title) for c in link.candidates] for link in links]
    mentions = MentionStates(*(torch.randn(len(names), encoder.hidden) for _ in range(3)))
    score_names(model, mentions, names[:8] + [[]] * (len(names) - 8))  # warm up
    alone, plain_seconds = timed(lambda: score_each_alone(model, mentions, names))
    shared, shared_seconds = timed(lambda: score_names(model, mentions, names))
    model.config = msgspec.structs.replace(config, self_normalized=True)
    _, raw_seconds = timed(lambda: score_names(model, mentions, names))
    largest = max(float((alone.lm - shared.lm).abs().max()), float((alone.classifier - shared.classifier).abs().max()))
    counts = f"{len(names)} mentions, {sum(map(len, names))} candidates"
    print(f"{documents} documents, {counts}, {torch.get_num_threads()} threads")
    print(f"each candidate alone, padded, full softmax  {plain_seconds:7.2f} s")
    print(
        f"shared prefixes, full softmax               {shared_seconds:7.2f} s  {plain_seconds / shared_seconds:5.1f} x"
    )
    print(f"shared prefixes, self-normalized            {raw_seconds:7.2f} s  {plain_seconds / raw_seconds:5.1f} x")
    print(f"largest difference between the first two: {largest:.1e}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
