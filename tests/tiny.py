"""Tiny real tokenizers, made in milliseconds from a few sentences of ours, the same in every process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from tokenizers import Tokenizer as Fast
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from parlink.text.tokenizer import Tokenizer

SENTENCES = (
    "The river Elbe runs from the mountains of Bohemia through Dresden and Hamburg to the North Sea.",
    "Hamburg beat Dresden two to one on Saturday, and the coach of Hamburg praised the young goalkeeper.",
    "New York City is the largest city of the state of New York; Germany and Japan have embassies there.",
    "Japan (country) and Japan (band) share a name, as do Jordan, the country, and Jordan the player.",
    "A café in Zürich, a naïve façade in Besançon and a piñata in Málaga: accents are letters too.",
    "In 1996 the team from Köln lost 3-2; the fans went home by train, some of them to Istanbul.",
    "Mercury is a planet, a metal and a god, and Paris is a city in France and a town in Texas.",
)
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@lru_cache
def byte_level_bpe() -> Tokenizer:
    """Byte-level BPE as RoBERTa's: <s> 0, <pad> 1, </s> 2, <unk> 3, and <mask> last."""
    fast = Fast(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=ROBERTA,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    fast.train_from_iterator(SENTENCES, trainer)
    fast.add_special_tokens(["<mask>"])
    fast.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return Tokenizer(fast)


@lru_cache
def word_piece(lowercase: bool) -> Tokenizer:
    """WordPiece as BERT's; the lower-casing one strips accents too."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = [word for text in SENTENCES for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))]
    inner = [f"##{piece}" for piece in ranked(inside for word in words for inside in letters_and_pairs(word[1:]))]
    names = dict.fromkeys([*BERT, *ranked(word[0] for word in words), *inner, *ranked(words)])
    fast = Fast(models.WordPiece({name: index for index, name in enumerate(names)}, unk_token="[UNK]"))
    fast.add_special_tokens(BERT)
    fast.normalizer = normalizer
    fast.pre_tokenizer = splitter
    fast.decoder = decoders.WordPiece()
    fast.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return Tokenizer(fast)


@lru_cache
def metaspace() -> Tokenizer:
    """Unigram with compatibility normalization and word markers, as XLM-R's; <mask> is last."""
    words = [f"▁{word}" for text in SENTENCES for word in text.split()]
    counts = Counter(words) + Counter(piece for word in words for piece in letters_and_pairs(word))
    scores = [(name, math.log(counts[name] / counts.total())) for name in ranked(counts.elements())]
    fast = Fast(models.Unigram([*((name, 0.0) for name in ROBERTA), *scores], unk_id=3))
    fast.add_special_tokens([*ROBERTA, "<mask>"])
    fast.normalizer = normalizers.NFKC()
    fast.pre_tokenizer = pre_tokenizers.Metaspace()
    fast.decoder = decoders.Metaspace()
    fast.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return Tokenizer(fast)


def letters_and_pairs(word: str) -> list[str]:
    """Every letter of a word, and every two neighbors."""
    return [*word, *map("".join, pairwise(word))]


def ranked(pieces: Iterable[str]) -> list[str]:
    """Single letters, and longer pieces that occur twice, in an order that is always the same.

    The library's own trainers of WordPiece and Unigram give another vocabulary in every process.
    """
    return sorted(piece for piece, count in Counter(pieces).items() if count > 1 or len(piece) == 1)
