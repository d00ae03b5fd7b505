"""Windows of text as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from parlink.text.windows import Window


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows side by side, padded on the right."""

    tokens: Tensor  # (windows, length)
    mask: Tensor  # (windows, length) True at real tokens
    content: Tensor  # (windows, length) True where a mention may lie: no padding, no special token
    owned: Tensor  # (windows, length) True where a mention may start: what this window judges

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in ("tokens", "mask", "content", "owned")))


def collate(windows: Sequence[Window], *, pad_id: int) -> Batch:
    """Pad windows to the longest of them."""
    lengths = torch.tensor([len(window.ids) for window in windows])
    tokens = torch.full((len(windows), int(lengths.max())), pad_id)
    for row, window in zip(tokens, windows, strict=True):
        row[: len(window.ids)] = torch.from_numpy(window.ids)
    position = torch.arange(tokens.shape[1])
    # In a window, ids[0] is a special token and ids[1] is the document's token `offset`.
    first = torch.tensor([window.own_first - window.offset + 1 for window in windows])
    last = torch.tensor([window.own_last - window.offset + 1 for window in windows])
    return Batch(
        tokens=tokens,
        mask=position < lengths[:, None],
        content=(position > 0) & (position < lengths[:, None] - 1),
        owned=(position >= first[:, None]) & (position < last[:, None]),
    )
