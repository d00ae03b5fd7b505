"""What is said of entities, read by the encoder as a sentence; what was read last is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from parlink.linking.interrupt import check
from parlink.linking.network import Floats
from parlink.model_config import SENTENCE_TOKENS
from parlink.text.tokenizer import Tokenizer
from parlink.text.windows import Window, by_length

BATCH_TOKENS = 2048
MOST = 2**14  # entities that are remembered
EntityText = tuple[str, str]  # title and description, as of `linking.network.entity_texts`


class SentenceReader:
    """Reads entities of a knowledge base that is small enough; several threads may ask."""

    def __init__(self, encode: Callable[[Sequence[Window]], Floats], tokenizer: Tokenizer) -> None:
        self._encode, self._tokenizer = encode, tokenizer
        self._known: dict[EntityText, Floats] = {}  # changed by putting another in its place

    def read(self, texts: Sequence[EntityText]) -> Floats:
        """The vectors of entities, (entities, size)."""
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            if len(known) + len(new) > MOST:  # forget all but what is wanted now
                known = {text: known[text] for text in texts if text in known}
            self._known = known = known | dict(zip(new, self._read(new), strict=True))
        return np.stack([known[text] for text in texts])

    def forget(self) -> None:
        """Forget all entities."""
        self._known = {}

    def _read(self, texts: Sequence[EntityText]) -> list[Floats]:
        windows = [sentence_window(text, self._tokenizer) for text in texts]
        vectors: dict[int, Floats] = {}
        for group in by_length([len(window.ids) for window in windows], batch_tokens=BATCH_TOKENS):
            check()
            vectors |= zip(group, self._encode([windows[number] for number in group]), strict=True)
        return [vectors[number] for number in range(len(texts))]


def sentence_window(text: EntityText, tokenizer: Tokenizer) -> Window:
    """What the encoder reads of an entity: its title, and what is said of it."""
    sentence = ": ".join(filter(None, text))
    ids = tokenizer.title(sentence)[:SENTENCE_TOKENS] if sentence else ()
    return Window(np.array([tokenizer.bos_id, *ids, tokenizer.eos_id], np.int64), 0, 0, len(ids))
