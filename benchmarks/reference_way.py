"""The paper's algorithm as it was published, plainly: what ours is compared with.

`transformers`' Longformer reads the text, and an LSTM reads each candidate on its own, padded to the longest of its
batch, with a softmax over the whole vocabulary at each step. The weights are those of one of our models, so that the
scores must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from transformers import LongformerConfig, LongformerModel

from parlink.checkpoint.pretrained.weights import BERT_LAYER, EMBEDDINGS
from parlink.linking.mentions import TokenizedDocument, tokenize
from parlink.nn.batch import collate
from parlink.nn.decoder import MentionStates, NameScores
from parlink.nn.detector import Mentions
from parlink.nn.encoder import Encoder
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer
from parlink.types import Document

Names = Sequence[Sequence[Sequence[int]]]  # the token ids of each name of each mention


class ReferenceLinker:
    """A model that links given spans to given candidates the plain way."""

    def __init__(self, model: LinkingModel, tokenizer: Tokenizer) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.encoder = to_longformer(model.encoder, pad_id=tokenizer.pad_id)

    @torch.inference_mode()
    def score(self, documents: Sequence[Document]) -> list[tuple[float, float]]:
        """Log-likelihood and correction of each candidate of each span of some documents, read side by side."""
        texts = [tokenize(doc, tokenizer=self.tokenizer, config=self.model.config) for doc in documents]
        batch = collate([window for text in texts for window in text.windows], pad_id=self.tokenizer.pad_id)
        states = self.encoder(batch.tokens, attention_mask=batch.mask.long()).last_hidden_state
        places, names = [], []
        for (row, first, last), name in _mentions(texts, self.tokenizer):
            places.append((row, first, last))
            names.append(name)
        at = Mentions(*torch.tensor(places).reshape(-1, 3).unbind(1))
        mentions = self.model.decoder.mentions(states, at)
        scores = score_each_alone(self.model, mentions, names)
        return list(zip(scores.lm.tolist(), scores.classifier.tolist(), strict=True))


def _mentions(
    texts: Sequence[TokenizedDocument], tokenizer: Tokenizer
) -> Iterator[tuple[tuple[int, int, int], list[tuple[int, ...]]]]:
    """Where each given span is among the windows of all texts, and the names of its candidates."""
    row = 0
    for text in texts:
        candidates = {link.span: link.candidates for link in text.doc.links}
        for window, proposals in zip(text.windows, text.proposals, strict=True):
            for proposal in proposals:
                first, last = (token - window.offset + 1 for token in (proposal.first, proposal.last))
                yield (row, first, last), [tokenizer.title(one.title) for one in candidates[proposal.span]]
            row += 1


def to_longformer(encoder: Encoder, *, pad_id: int) -> LongformerModel:
    """The same encoder as `transformers` has it."""
    ours = encoder.config
    config = LongformerConfig(
        attention_window=encoder.window,
        vocab_size=ours.vocab_size,
        hidden_size=ours.hidden,
        num_hidden_layers=ours.layers,
        num_attention_heads=ours.heads,
        intermediate_size=ours.intermediate,
        max_position_embeddings=ours.positions,
        type_vocab_size=1,
        layer_norm_eps=ours.layer_norm_eps,
        pad_token_id=pad_id,
    )
    model = LongformerModel(config, add_pooling_layer=False)
    missing, unknown = model.load_state_dict(dict(_longformer_weights(encoder)), strict=False)
    assert not unknown and all("_global" in name or "position_ids" in name for name in missing), (missing, unknown)
    return model.eval()


def _longformer_weights(encoder: Encoder) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in encoder.state_dict().items():
        part, kind = name.rsplit(".", 1)
        if not part.startswith("layers."):
            yield f"{EMBEDDINGS[part]}.{kind}", tensor
            continue
        _, number, part = part.split(".")
        theirs = BERT_LAYER[part]
        for their_name, piece in zip(theirs, tensor.chunk(len(theirs)), strict=True):
            yield f"encoder.layer.{number}.{their_name}.{kind}", piece


def score_each_alone(model: LinkingModel, mentions: MentionStates, names: Names, *, batch: int = 512) -> NameScores:
    """Unroll every candidate on its own, padded to the longest of its batch, with the full softmax."""
    decoder, words = model.decoder, model.encoder.token_embeddings
    pairs = [(mention, name) for mention, own in enumerate(names) for name in own]
    parts = [NameScores.empty()]
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
