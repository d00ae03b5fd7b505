"""An encoder that is not pre-trained: random weights, and a tokenizer made from the training data itself.

For trying parlink out on data of one's own, and for text that no published encoder knows.
"""

from __future__ import annotations

from collections.abc import Iterator

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from parlink.data import jsonl
from parlink.kb import KnowledgeBase
from parlink.text.tokenizer import Tokenizer
from parlink.train_config import TrainConfig

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def make_tokenizer(config: TrainConfig, *, vocab_size: int) -> Tokenizer:
    """Make a byte-level BPE tokenizer, as RoBERTa's, from the texts and titles of a run; always the same."""
    fast = tokenizers.Tokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    fast.train_from_iterator(_texts(config), trainer)
    fast.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return Tokenizer(fast)


def _texts(config: TrainConfig) -> Iterator[str]:
    """Each text and each title."""
    for path in sorted({dataset.path for stage in config.stages for dataset in stage.train}):
        for doc in jsonl.read(path):
            yield doc.text
            yield from (link.title for link in doc.links if link.title is not None)
    if config.kb is not None:
        yield from KnowledgeBase.open(config.kb).titles()
