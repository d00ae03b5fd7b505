"""Complete scoring at the paper's sizes: each candidate alone, through shared prefixes, and self-normalized.

    python benchmarks/rank.py TESTA.jsonl ENCODER_FOLDER [DOCUMENTS]

Only the decoder is timed, with random weights: the candidates of the first documents (default 15) are real,
tokenized by the encoder folder's tokenizer. Scores of the first two ways must agree.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice

import msgspec
import torch

from parlink.config import EncoderConfig, ModelConfig
from parlink.data import jsonl
from parlink.linking.names import score_names
from parlink.nn.decoder import MentionStates, NameScores
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer

Names = Sequence[Sequence[Sequence[int]]]


def plain(model: LinkingModel, mentions: MentionStates, names: Names, *, batch: int = 512) -> NameScores:
    """Unroll every candidate on its own, padded to the longest of its batch, with the full softmax."""
    decoder, words = model.decoder, model.encoder.token_embeddings
    pairs = [(mention, name) for mention, own in enumerate(names) for name in own]
    parts = []
    for first in range(0, len(pairs), batch):
        part = pairs[first : first + batch]
        owner = torch.tensor([mention for mention, _ in part])
        length = torch.tensor([len(name) for _, name in part])
        padded = torch.zeros(len(part), int(length.max()), dtype=torch.long)
        for row, (_, name) in zip(padded, part, strict=True):
            row[: len(name)] = torch.tensor(name)
        read = torch.cat([torch.full((len(part), 1), decoder.bos_id), padded], 1)
        right = torch.cat([padded, torch.zeros(len(part), 1, dtype=torch.long)], 1)
        right[torch.arange(len(part)), length] = decoder.eos_id
        hidden, cell, vector = mentions.hidden[owner], mentions.cell[owner], mentions.vector[owner]
        score, last = torch.zeros(len(part)), cell
        for step in range(read.shape[1]):
            hidden, cell = decoder.lstm(torch.cat([words(read[:, step]), vector], -1), (hidden, cell))
            logits = decoder.head.decoder(decoder.head.features(hidden)).log_softmax(-1)
            score += torch.where(step <= length, logits.gather(1, right[:, step : step + 1]).squeeze(1), 0.0)
            last = torch.where((step == length)[:, None], cell, last)
        name = torch.arange(first, first + len(part))
        parts.append(NameScores(owner, name, score / (length + 1), decoder.correct(mentions, owner, last)))
    return NameScores.cat(parts)


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
    alone, plain_seconds = timed(lambda: plain(model, mentions, names))
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
