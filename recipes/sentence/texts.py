"""Texts whose vectors are learned: what is said of entities, and stretches of documents."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from parlink.kb.view import View
from parlink.linking.sentences import sentence_window
from parlink.model_config import DESCRIPTION_CHARACTERS, SENTENCE_REACH
from parlink.text.tokenizer import IntArray, Tokenizer
from parlink.types import Document

WINDOW = 240  # tokens of a document that are read together
STRETCHES = 4  # of each window
BARE = 0.15  # how often a lead is read without its title


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a window, and its text."""

    ids: IntArray  # (length,) of the window, with special tokens at both ends
    first: int  # its first token in the window
    last: int  # its last, inclusive
    text: str


def entity_stretches(leads: Mapping[str, str], kb: View, tokenizer: Tokenizer, rng: random.Random) -> Iterator[Stretch]:
    """What is said of entities that have a lead: the lead, with the title or without, or the one line of the KB."""
    for title, lead in leads.items():
        entity = kb.entity(title)
        said = entity.description if entity is not None and rng.random() < 0.5 else None
        text = ("" if said is None and rng.random() < BARE else title, (said or lead)[:DESCRIPTION_CHARACTERS])
        ids = sentence_window(text, tokenizer).ids
        if len(ids) > 2:
            yield Stretch(ids, 1, len(ids) - 2, ": ".join(filter(None, text)))


def document_stretches(documents: Iterable[Document], tokenizer: Tokenizer, rng: random.Random) -> Iterator[Stretch]:
    """What stands around some words of each document, as it will around mentions."""
    for doc in documents:
        tokens = tokenizer.encode(doc.text)
        count = len(tokens.ids)
        if not count:
            continue
        begin = rng.randrange(max(count - WINDOW, 0) + 1)
        run = tokens.ids[begin : begin + WINDOW]
        ids = np.concatenate(([tokenizer.bos_id], run, [tokenizer.eos_id]))
        for _ in range(STRETCHES if len(run) > 2 * SENTENCE_REACH else 1):
            middle = rng.randrange(len(run))
            first, last = max(middle - SENTENCE_REACH, 0), min(middle + SENTENCE_REACH, len(run) - 1)
            text = doc.text[int(tokens.start[begin + first]) : int(tokens.end[begin + last])]
            yield Stretch(ids, first + 1, last + 1, text)
