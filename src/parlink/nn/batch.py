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
    case: Tensor | None = None  # (windows, length) how words are capitalized, of a model that reads it

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        tokens, mask, content, owned = (x.to(device) for x in (self.tokens, self.mask, self.content, self.owned))
        return Batch(tokens, mask, content, owned, None if self.case is None else self.case.to(device))


def collate(windows: Sequence[Window], *, pad_id: int) -> Batch:
    """Pad windows to the longest of them."""
    lengths = torch.tensor([len(window.ids) for window in windows])
    tokens = torch.full((len(windows), int(lengths.max())), pad_id)
    case = torch.zeros_like(tokens) if any(window.case is not None for window in windows) else None
    for number, window in enumerate(windows):
        tokens[number, : len(window.ids)] = torch.from_numpy(window.ids)
        if case is not None and window.case is not None:
            case[number, : len(window.ids)] = torch.from_numpy(window.case)
    position = torch.arange(tokens.shape[1])
    # In a window, ids[0] is a special token and ids[1] is the document's token `offset`.
    first = torch.tensor([window.own_first - window.offset + 1 for window in windows])
    last = torch.tensor([window.own_last - window.offset + 1 for window in windows])
    return Batch(
        tokens=tokens,
        mask=position < lengths[:, None],
        content=(position > 0) & (position < lengths[:, None] - 1),
        owned=(position >= first[:, None]) & (position < last[:, None]),
        case=case,
    )
