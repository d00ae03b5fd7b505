"""From documents to mentions: windows are encoded, mentions are detected or taken as given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from parlink.nn.batch import by_length, collate
from parlink.nn.decoder import MentionStates
from parlink.nn.detector import Mentions, detect
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer, Tokens
from parlink.text.windows import Window, char_span, covering_range, windows
from parlink.types import Document, Span


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut into windows."""

    doc: Document
    tokens: Tokens
    windows: list[Window]
    given: list[tuple[Span, tuple[int, int]]]  # the given spans that touch a token, and the tokens they touch


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a document that is to be linked."""

    document: int  # index among the documents prepared together
    span: Span
    detection: float | None = None  # log-odds of the start; None: the span was given
    probability: float | None = None  # p(start) p(end | start)


@dataclass(frozen=True, slots=True)
class FoundMentions:
    """The mentions of a batch of windows, and what the decoder needs to know of each."""

    mentions: list[Mention]
    states: MentionStates
    windows: int  # how many they are of


def prepare(doc: Document, *, model: LinkingModel, tokenizer: Tokenizer) -> Prepared:
    """Tokenize a document and cut it into windows."""
    tokens = tokenizer.encode(doc.text)
    config = model.config
    cut = windows(tokens, tokenizer=tokenizer, max_tokens=config.max_tokens, overlap=config.overlap)
    touched = ((span, covering_range(tokens, span)) for span in doc.spans or ())
    return Prepared(doc, tokens, cut, [(span, covered) for span, covered in touched if covered is not None])


def find_mentions(
    model: LinkingModel, pool: Sequence[Prepared], *, threshold: float, batch_tokens: int, pad_id: int
) -> Iterator[FoundMentions]:
    """The mentions of all documents, a batch of windows at a time, the longest windows first."""
    device = model.encoder.token_embeddings.weight.device
    places = [(document, window) for document, one in enumerate(pool) for window in range(len(one.windows))]
    lengths = [len(pool[document].windows[window].ids) for document, window in places]
    for group in by_length(lengths, batch_tokens=batch_tokens):
        chosen = [places[i] for i in group]
        batch = collate([pool[document].windows[window] for document, window in chosen], pad_id=pad_id).to(device)
        encoded = model.encode(batch)
        detection = detect(model.detector, encoded, batch, threshold=threshold)
        free = torch.tensor([pool[document].doc.spans is None for document, _ in chosen], device=device)
        kept = torch.nonzero(free[detection.mentions.row]).squeeze(1)
        detected = detection.mentions[kept]
        found = _detected(pool, chosen, detected, detection.start_logit[kept], detection.log_probability[kept])
        given, spans = _given(pool, chosen)
        states = [model.decoder.mentions(encoded, mentions) for mentions in (detected, given.to(device))]
        yield FoundMentions(found + spans, MentionStates.cat(states), len(group))


def _detected(
    pool: Sequence[Prepared],
    chosen: Sequence[tuple[int, int]],
    mentions: Mentions,
    start_logit: Tensor,
    log_probability: Tensor,
) -> list[Mention]:
    """Detected tokens as characters of their documents."""
    columns = (mentions.row, mentions.first, mentions.last, start_logit, log_probability.exp())
    found = []
    for row, first, last, detection, probability in zip(*(column.tolist() for column in columns), strict=True):
        document, window = chosen[row]
        tokens, shift = pool[document].tokens, pool[document].windows[window].offset - 1
        found.append(Mention(document, char_span(tokens, first + shift, last + shift), detection, probability))
    return found


def _given(pool: Sequence[Prepared], chosen: Sequence[tuple[int, int]]) -> tuple[Mentions, list[Mention]]:
    """The given spans whose first token these windows own; one longer than its window is cut at the window's end."""
    places: list[tuple[int, int, int]] = []
    found = []
    for row, (document, index) in enumerate(chosen):
        one, window = pool[document], pool[document].windows[index]
        for span, covered in one.given:
            if not window.own_first <= covered[0] < window.own_last:
                continue
            first, last = (token - window.offset + 1 for token in covered)
            places.append((row, first, min(last, len(window.ids) - 2)))
            found.append(Mention(document, span))
    return Mentions(*torch.tensor(places, dtype=torch.long).reshape(-1, 3).unbind(1)), found
