"""One Transformer encoder that covers Longformer, RoBERTa, BERT and DistilBERT, with windowed attention."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from parlink.model_config import EncoderConfig
from parlink.nn.linear import Linear, gelu_of
from parlink.text.letter_case import CASES

Attend = Callable[
    [Tensor], Tensor
]  # (windows, length, 3, heads, size) queries, keys, values -> (windows, length, hidden)
EMBEDDING_STD = 0.02  # BERT's; it matters only to an encoder trained from nothing


class Layer(nn.Module):
    """Self-attention and a feed-forward net, each with a residual and a LayerNorm after it."""

    def __init__(self, config: EncoderConfig, *, dropout: float) -> None:
        super().__init__()
        hidden, eps = config.hidden, config.layer_norm_eps
        self.heads = config.heads
        self.qkv = Linear(hidden, 3 * hidden)
        self.out = Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=eps)
        self.up = Linear(hidden, config.intermediate)
        self.down = Linear(config.intermediate, hidden)
        self.norm = nn.LayerNorm(hidden, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, attend: Attend) -> Tensor:
        """Map states (windows, length, hidden) to the next layer's."""
        mixed = attend(self.qkv(states).unflatten(-1, (3, self.heads, -1)))
        states = self.attention_norm(states + self.dropout(self.out(mixed)))
        change = self.down(gelu_of(self.up, states))
        return self.norm(states + self.dropout(change))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Token ids in, contextual states out; it has no parameter that it does not use.

    A token sees the real tokens at most half a `window` away from it; `window` 0 is full
    attention. Texts longer than the position table repeat it (its offset rows excluded).

    With `global_tokens`, so many tokens after the special one that begins a window, and that one, are seen by every
    token and see every token: Longformer's global attention, but with the projections that all tokens have. They are
    the document's first tokens in every window (`text.windows`), and have the positions of the place where they stand.
    """

    def __init__(
        self,
        config: EncoderConfig,
        *,
        window: int,
        dropout: float,
        attention_dropout: float = 0.0,
        global_tokens: int = 0,
        letter_case: bool = False,
    ) -> None:
        super().__init__()
        self.config = config
        self.window, self.attention_dropout = window, attention_dropout
        self.front = global_tokens + 1 if global_tokens else 0  # the special token before them too
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden)
        self.positions = nn.Embedding(config.positions, config.hidden)
        self.types = nn.Embedding(1, config.hidden) if config.token_types else None  # only type 0 occurs
        self.cases = nn.Embedding(CASES, config.hidden) if letter_case else None
        self.norm = nn.LayerNorm(config.hidden, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(config, dropout=dropout) for _ in range(config.layers))
        self.compute_dtype: torch.dtype | None = None  # of the layers; None: that of the embeddings
        for table in (self.token_embeddings, self.positions, self.types):
            if table is not None:
                nn.init.normal_(table.weight, std=EMBEDDING_STD)
        if self.cases is not None:  # at first it changes nothing
            nn.init.zeros_(self.cases.weight)

    def forward(
        self,
        tokens: Tensor,  # (windows, length) long
        mask: Tensor,  # (windows, length) bool, True: a real token; padding is on the right
        case: Tensor | None = None,  # (windows, length) how words are capitalized; None: not at all
    ) -> Tensor:  # (windows, length, hidden)
        """Encode windows of text; states at padding are finite and mean nothing.

        Where a token sees only its neighbors, windows are laid end to end without their padding, and cost their tokens.
        A single window that is short needs no such care.
        """
        words = self.embed(tokens, case)
        states = words.to(self.compute_dtype or words.dtype)
        dropout = self.attention_dropout if self.training else 0.0
        if self.window == 0 or self.front or (len(mask) == 1 and mask.shape[1] <= 2 * self.window):
            attend = attention(mask, window=self.window, front=self.front, dtype=states.dtype, dropout=dropout)
            return self._transform(states, attend).to(words.dtype)
        window, place = torch.nonzero(mask, as_tuple=True)
        attend = packed_attention(window, reach=self.window // 2, dtype=states.dtype, dropout=dropout)
        packed = self._transform(states[window, place][None], attend)[0].to(words.dtype)
        return torch.zeros_like(words).index_put((window, place), packed)

    def _transform(self, states: Tensor, attend: Attend) -> Tensor:
        for layer in self.layers:
            states = layer(states, attend)
        return states

    def embed(self, tokens: Tensor, case: Tensor | None = None) -> Tensor:
        """Sum what is known of each token before any context: word, capitals, position and type."""
        words = self.token_embeddings(tokens)
        if self.cases is not None:
            words = words + self.cases(torch.zeros_like(tokens) if case is None else case)
        return self.add_places(words, torch.arange(tokens.shape[1], device=tokens.device))

    def add_places(self, words: Tensor, place: Tensor) -> Tensor:
        """The same of word embeddings (..., length, hidden) and where in a window each is, (length,)."""
        offset = self.config.position_offset
        fixed = self.positions(place % (self.config.positions - offset) + offset)  # (length, hidden)
        if self.types is not None:
            fixed = fixed + self.types.weight
        return self.dropout(self.norm(words + fixed))  # type: ignore[no-any-return]


def attention(mask: Tensor, *, window: int, front: int = 0, dtype: torch.dtype, dropout: float = 0.0) -> Attend:
    """Choose how to attend in padded windows, with the part that all layers share worked out once.

    The first `front` tokens are global. Without them, and with a window, this is for short texts alone: up to two
    windows, all pairs under a band mask are as fast as blocks (measured on a CPU).
    """
    if window == 0:
        return partial(full_attention, bias=as_bias(mask[:, None, None, :], dtype), dropout=dropout)
    reach = window // 2
    if not front or mask.shape[1] <= max(2 * window, front):
        return partial(full_attention, bias=as_bias(band(mask, reach, front)[:, None], dtype), dropout=dropout)
    near = as_bias(front_and_blocks(mask, reach, front)[:, None], dtype)
    real = as_bias(mask[:, None, None, :], dtype)
    return partial(global_attention, near=near, real=real, reach=reach, front=front, dropout=dropout)


def packed_attention(window: Tensor, *, reach: int, dtype: torch.dtype, dropout: float = 0.0) -> Attend:
    """Attend within windows that lie end to end; token i is of window `window[i]`."""
    bias = as_bias(block_band(window, reach)[:, None], dtype)
    return partial(sliding_window_attention, bias=bias, reach=reach, dropout=dropout)


def as_bias(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn what may be seen into numbers to add to the scores.

    They are finite, also when mixed precision rounds them to bfloat16, so that a query that sees nothing is not left
    to each kernel's reading of a softmax of -inf.
    """
    hidden = torch.finfo(dtype).min / 2
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, hidden)


def band(mask: Tensor, reach: int, front: int = 0) -> Tensor:
    """Say which key each query sees: (windows, length, length)."""
    place = torch.arange(mask.shape[1], device=mask.device)
    near = (place[:, None] - place).abs() <= reach
    return (near | (place < front) | (place[:, None] < front)) & mask[:, None, :]


def block_band(window: Tensor, reach: int) -> Tensor:
    """Say which key of the three blocks around it each query sees: (blocks, reach, 3 * reach).

    Token i is of window `window[i]`. The windows are cut into blocks of `reach` tokens; a block may hold the end of one
    window and the start of the next, so query and key must be of the same window.
    """
    tail = -len(window) % reach
    queries = F.pad(window, (0, tail), value=-1).view(-1, reach)
    keys = F.pad(window, (reach, reach + tail), value=-2).unfold(0, 3 * reach, reach)
    place = torch.arange(3 * reach, device=window.device)
    near = (place - place[reach : 2 * reach, None]).abs() <= reach
    return near & (queries[:, :, None] == keys[:, None, :])


def front_and_blocks(mask: Tensor, reach: int, front: int) -> Tensor:
    """Say which of the front tokens, and which key of the three blocks around it, each query sees.

    (windows * blocks, reach, front + 3 * reach). Every window is cut into blocks of its own. A front token that is
    near is seen once, as one of the front.
    """
    windows, length = mask.shape
    blocks = -(-length // reach)
    behind = mask & (torch.arange(length, device=mask.device) >= front)
    keys = F.pad(behind, (reach, blocks * reach - length + reach)).unfold(1, 3 * reach, reach).flatten(0, 1)
    place = torch.arange(3 * reach, device=mask.device)
    near = (place - place[reach : 2 * reach, None]).abs() <= reach
    first = mask[:, None, :front].expand(windows, blocks, front).flatten(0, 1)[:, None].expand(-1, reach, front)
    return torch.cat([first, near & keys[:, None]], -1)


def full_attention(qkv: Tensor, *, bias: Tensor, dropout: float = 0.0) -> Tensor:
    """Attend from every token to every token, with a bias (windows, 1, 1 or length, length)."""
    queries, keys, values = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (windows, heads, length, size) each
    mixed = mix(queries, keys, values, bias, dropout=dropout)
    return mixed.transpose(1, 2).flatten(2)


def sliding_window_attention(qkv: Tensor, *, bias: Tensor, reach: int, dropout: float = 0.0) -> Tensor:
    """Attend from each block to itself and its two neighbors, with a bias (blocks, 1, reach, 3 * reach).

    All tokens lie in one row, (1, tokens, ...). Keys and values of neighboring blocks are overlapping views.
    """
    tokens = qkv.shape[1]
    after = len(bias) * reach - tokens + reach
    padded = F.pad(qkv[0], (0, 0, 0, 0, 0, 0, reach, after))
    queries = padded[reach:-reach, 0].unfold(0, reach, reach).permute(0, 1, 3, 2)  # (blocks, heads, reach, size)
    keys, values = padded[:, 1:].unfold(0, 3 * reach, reach).permute(1, 0, 2, 4, 3)
    mixed = mix(queries, keys, values, bias, dropout=dropout)
    return mixed.transpose(1, 2).reshape(1, len(bias) * reach, -1)[:, :tokens]


def mix(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor, *, dropout: float) -> Tensor:
    """Mix values as the queries ask; in bfloat16 on a CPU torch's own kernel, backwards, takes four times as long."""
    if queries.device.type != "cpu" or queries.dtype != torch.bfloat16:
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias, dropout_p=dropout)
    scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(-1, -2) + bias.to(queries.dtype)
    return F.dropout(scores.softmax(-1), dropout) @ values


def global_attention(
    qkv: Tensor, *, near: Tensor, real: Tensor, reach: int, front: int, dropout: float = 0.0
) -> Tensor:
    """Attend from each block to the front tokens, itself and its two neighbors, and from the front to everything.

    `near` is a bias (windows * blocks, 1, reach, front + 3 * reach), and `real` one (windows, 1, 1, length).
    """
    windows, length, _, heads, size = qkv.shape
    blocks = len(near) // windows
    padded = F.pad(qkv, (0, 0, 0, 0, 0, 0, reach, blocks * reach - length + reach))
    queries = padded[:, reach:-reach, 0].reshape(-1, reach, heads, size).transpose(1, 2)  # (., heads, reach, size)
    neighbors = padded[:, :, 1:].unfold(1, 3 * reach, reach).transpose(-1, -2)  # (windows, blocks, 2, heads, ., size)
    first = qkv[:, None, :front, 1:].permute(0, 1, 3, 4, 2, 5).expand(-1, blocks, -1, -1, -1, -1)
    keys, values = torch.cat([first, neighbors], -2).flatten(0, 1).unbind(1)
    mixed = mix(queries, keys, values, near, dropout=dropout)
    behind = mixed.transpose(1, 2).reshape(windows, blocks * reach, -1)[:, front:length]
    queries, keys, values = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (windows, heads, length, size) each
    mixed = mix(queries[:, :, :front], keys, values, real, dropout=dropout)
    return torch.cat([mixed.transpose(1, 2).flatten(2), behind], 1)
