"""What a model is made of: its encoder, and what is built on that; defaults are the paper's."""

from __future__ import annotations

from typing import Literal

import msgspec

from parlink.errors import ConfigError

Family = Literal["longformer", "roberta", "bert", "distilbert"]
DESCRIPTION_TOKENS = 32  # of what is said of an entity, that a bi-encoder reads
DESCRIPTION_CHARACTERS = 8 * DESCRIPTION_TOKENS  # of it that are tokenized: more than so many tokens need
SENTENCE_TOKENS = 48  # of an entity's title and description together, that an encoder reads as a sentence
SENTENCE_REACH = 40  # tokens on either side of a mention that are read with it
UNLIKE_WORDS = 0.4  # cosine of two words that have nothing to do with each other
FEW_WORDS = 4.0  # rarity of all words of a description that counts half: a short one may be spoken of by chance
# The most of each size that an encoder may have, well above all that are published: more is damage, or a mistake.
ENCODER_LIMITS = {
    "vocab_size": 10_000_000,
    "hidden": 65_536,
    "layers": 1_000,
    "heads": 1_000,
    "intermediate": 1_000_000,
    "positions": 10_000_000,
}


class EncoderConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The architecture of a pre-trained Transformer encoder."""

    family: Family
    vocab_size: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int  # rows of the position table, offset rows included
    position_offset: int = 0  # RoBERTa counts positions from 2
    token_types: int = 0
    layer_norm_eps: float = 1e-12

    def __post_init__(self) -> None:
        for name, most in ENCODER_LIMITS.items():
            if not 1 <= (size := getattr(self, name)) <= most:
                raise ConfigError(f"{name} of the encoder must be from 1 to {most:,}, got {size:,}")


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model is made of; defaults are the paper's."""

    encoder: EncoderConfig
    window: int = 128  # attention window in tokens, half to each side; 0: full attention
    global_tokens: int = 0  # the document's first tokens, which every token of every window sees, and which see all
    max_tokens: int = 4096  # length of a window of text
    overlap: int = 256  # tokens that neighboring windows of text share
    max_mention_tokens: int = 15
    detector_hidden: int = 128
    dropout: float = 0.1
    attention_dropout: float = 0.0  # of the attention's weights, in training
    bos_id: int = 0  # read before a name's first token
    eos_id: int = 2  # predicted after its last
    tie_output: bool = False  # the output matrix is the word embedding
    self_normalized: bool = False  # a raw logit is read as a log-probability
    nil: bool = False  # NIL is one more candidate, with a reserved one-token name
    letter_case: bool = False  # the encoder reads how words are capitalized, which its tokenizer does not keep
    similarity: int = 0  # size of the vectors of the bi-encoder; 0: the paper's model, without one
    sentence: int = 0  # size of the vectors of stretches of text, beside a bi-encoder; 0: none

    def __post_init__(self) -> None:
        encoder = self.encoder
        if encoder.hidden % encoder.heads:
            raise ConfigError(f"hidden ({encoder.hidden}) must be a multiple of heads ({encoder.heads})")
        if not 0 <= encoder.position_offset < encoder.positions:
            raise ConfigError(
                f"position_offset must be below {encoder.positions} positions, got {encoder.position_offset}"
            )
        if not 0 <= encoder.token_types <= 1_000:
            raise ConfigError(f"token_types must be from 0 to 1,000, got {encoder.token_types:,}")
        for name in ("max_mention_tokens", "detector_hidden"):
            if not 1 <= (size := getattr(self, name)) <= 65_536:
                raise ConfigError(f"{name} must be from 1 to 65,536, got {size:,}")
        if not 0 <= self.dropout < 1 or not 0 <= self.attention_dropout < 1:
            raise ConfigError(f"dropouts must be from 0 to below 1, got {self.dropout} and {self.attention_dropout}")
        for name in ("bos_id", "eos_id"):
            if not 0 <= (token := getattr(self, name)) < encoder.vocab_size:
                raise ConfigError(f"{name} must be one of {encoder.vocab_size:,} tokens, got {token}")
        if self.window < 0 or self.window % 2:
            raise ConfigError(f"window must be an even number of tokens or 0 for full attention, got {self.window}")
        if self.overlap < 2 * self.max_mention_tokens:
            raise ConfigError(
                f"overlap must be at least twice max_mention_tokens ({self.max_mention_tokens}), got {self.overlap}"
            )
        if not 0 <= self.similarity <= ENCODER_LIMITS["hidden"]:
            raise ConfigError(f"similarity must be the size of a vector, or 0 for none, got {self.similarity}")
        if not 0 <= self.sentence <= ENCODER_LIMITS["hidden"]:
            raise ConfigError(f"sentence must be the size of a vector, or 0 for none, got {self.sentence}")
        if self.sentence and not self.similarity:
            raise ConfigError(
                f"sentence ({self.sentence}) is a part of the bi-encoder; give the size of `similarity` too"
            )
        if self.global_tokens < 0:
            raise ConfigError(f"global_tokens must be a number of tokens, or 0 for none, got {self.global_tokens}")
        if self.max_tokens <= 2 * self.overlap + self.global_tokens:
            raise ConfigError(
                f"max_tokens must be more than twice overlap ({self.overlap}) and global_tokens "
                f"({self.global_tokens}) together, got {self.max_tokens}"
            )
