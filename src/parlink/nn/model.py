"""The whole model: one encoder, shared by mention detection and entity disambiguation."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from parlink.load_options import Precision
from parlink.model_config import ModelConfig
from parlink.nn.batch import Batch
from parlink.nn.decoder import Decoder, MentionStates, Reading
from parlink.nn.detector import Detector, Mentions
from parlink.nn.encoder import Encoder
from parlink.nn.prefix_tree import PrefixTree
from parlink.nn.sentence import SentenceHead
from parlink.nn.similarity import Entities, Queries, Similarity, Words


class LinkingModel(nn.Module):
    """Encoder, detector and decoder, trained together."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.precision: Precision = "float32"  # `nn.precision` changes it
        self.encoder = Encoder(
            config.encoder,
            window=config.window,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            global_tokens=config.global_tokens,
            letter_case=config.letter_case,
        )
        self.detector = Detector(config)
        self.decoder = Decoder(config, self.encoder.token_embeddings)
        self.similarity = Similarity(config) if config.similarity else None
        self.sentence = SentenceHead(config) if config.sentence else None

    def encode(self, batch: Batch) -> Tensor:
        """The state of every token, (windows, length, hidden)."""
        states: Tensor = self.encoder(batch.tokens, batch.mask, batch.case)
        return states

    def mentions(self, states: Tensor, mentions: Mentions, batch: Batch) -> MentionStates:
        """What is known of each mention of encoded windows."""
        known = self.decoder.mentions(states, mentions)
        if self.similarity is None:
            return known
        return replace(known, queries=self.ask(states, mentions, batch, around=True))

    def ask(self, states: Tensor, mentions: Mentions, batch: Batch, *, around: bool) -> Queries:
        """What is compared of each mention with entities; `around` says whether the text around it is read too."""
        assert self.similarity is not None
        queries = self.similarity.mentions(states, mentions, batch)
        if self.sentence is None or not around:
            return queries
        words = self.encoder.token_embeddings.weight
        return replace(queries, around=self.sentence.around(states, mentions, batch, words))

    def read(self, tree: PrefixTree, mentions: MentionStates) -> Reading:
        """Read the names of every mention."""
        return self.decoder.read(tree, mentions, self.encoder.token_embeddings)

    def entities(self, titles: Words, descriptions: Words) -> Entities:
        """What mentions are compared with, of a model that has a bi-encoder."""
        assert self.similarity is not None
        return self.similarity.entities(titles, descriptions, self.encoder.token_embeddings.weight)

    def read_sentences(self, batch: Batch) -> Tensor:
        """The vectors of short texts, (windows, sentence size), of a model that has `nn.sentence`."""
        assert self.sentence is not None
        return self.sentence.whole(self.encode(batch), batch, self.encoder.token_embeddings.weight)

    def compare(self, queries: Queries, mention: Tensor, entities: Entities, entity: Tensor) -> tuple[Tensor, Tensor]:
        """Similarity and overlap of pairs of a mention and an entity, (pairs,) each."""
        assert self.similarity is not None
        words = self.encoder.token_embeddings.weight
        return self.similarity.compare(queries, mention, entities, entity, words)


def count_parameters(model: LinkingModel) -> dict[str, int]:
    """The number of weights of each part; a tied matrix counts where it comes from."""
    parts: dict[str, nn.Module] = {
        "encoder": model.encoder,
        "start": model.detector.start,
        "end": model.detector.end,
        "projections": nn.ModuleList(
            [model.decoder.first_hidden, model.decoder.first_cell, model.decoder.mention_vector]
        ),
        "lstm": model.decoder.lstm,
        "output": model.decoder.head,
        "classifier": model.decoder.classifier,
    }
    if model.similarity is not None:
        parts["similarity"] = model.similarity
    if model.sentence is not None:
        parts["sentence"] = model.sentence
    seen: set[int] = set()
    counts = {}
    for name, part in parts.items():
        uncounted = [p for p in part.parameters() if id(p) not in seen]
        seen.update(map(id, uncounted))
        counts[name] = sum(p.numel() for p in uncounted)
    return counts | {"total": sum(counts.values())}
