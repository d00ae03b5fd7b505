"""Batches of training links as tensors: what the bi-encoder reads of mentions and of their candidates."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from parlink.decision_config import PRIOR_FLOOR
from parlink.kb.view import View
from parlink.model_config import DESCRIPTION_CHARACTERS
from parlink.nn.model import LinkingModel
from parlink.nn.similarity import TOKENS, Words
from parlink.text.tokenizer import Tokenizer
from recipes.similarity.links import LinkedWindow, TrainingLink


@dataclass(frozen=True, slots=True)
class Example:
    """A link, the window that it stands in, and what the frozen encoder says of it."""

    link: TrainingLink
    window: LinkedWindow
    states: tuple[Tensor, Tensor, Tensor]  # first, last, mean of the window: (hidden,) each


@dataclass(frozen=True, slots=True)
class Examples:
    """Some links, side by side."""

    states: tuple[Tensor, Tensor, Tensor]  # first, last, mean of the window: (links, hidden) each
    titles: Words  # of each entity once
    descriptions: Words
    entity: Tensor  # (candidates,) which entity it is
    owner: Tensor  # (candidates,) whose candidate it is
    log_prior: Tensor  # (candidates,)
    right: Tensor  # (links,) which candidate is right


@dataclass(frozen=True, slots=True)
class Reader:
    """Makes batches; in some, title or description of an entity is left out, so that either alone must do."""

    tokenizer: Tokenizer
    kb: View
    leads: Mapping[str, str]
    no_title: float = 0.3
    no_description: float = 0.15
    lead: float = 0.3  # how often the lead is read in place of the description

    def read(self, examples: Sequence[Example], rng: random.Random) -> Examples:
        """The tensors of some links."""
        candidates = [candidate for example in examples for candidate in example.link.candidates]
        number = {title: place for place, title in enumerate(dict.fromkeys(each.title for each in candidates))}
        texts = [self._texts(title, rng) for title in number]
        sizes = torch.tensor([len(example.link.candidates) for example in examples])
        starts = sizes.cumsum(0) - sizes
        prior = torch.tensor([each.prior or 0.0 for each in candidates])
        return Examples(
            states=_stack(examples),
            titles=Words.build([title for title, _ in texts]),
            descriptions=Words.build([said for _, said in texts]),
            entity=torch.tensor([number[each.title] for each in candidates]),
            owner=torch.repeat_interleave(sizes),
            log_prior=prior.clamp(min=PRIOR_FLOOR).log(),
            right=starts + torch.tensor([example.link.right for example in examples]),
        )

    def _texts(self, title: str, rng: random.Random) -> tuple[Sequence[int], Sequence[int]]:
        entity = self.kb.entity(title)
        said = (entity.description if entity is not None else None) or ""
        if rng.random() < self.lead:
            said = self.leads.get(title, said)
        words, description = self.tokenizer.title(title)[:TOKENS], self._tokens(said)
        if description and rng.random() < self.no_title:
            return (), description
        return words, () if rng.random() < self.no_description else description

    def _tokens(self, text: str) -> Sequence[int]:
        return self.tokenizer.title(text[:DESCRIPTION_CHARACTERS])[:TOKENS] if text else ()


def _stack(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor]:
    first, last, mean = (torch.stack(part).float() for part in zip(*(each.states for each in examples), strict=True))
    return first, last, mean


def read_examples(model: LinkingModel, window: LinkedWindow) -> list[Example]:
    """Let the encoder read a window, and list its links."""
    config = model.config
    ids = torch.tensor([[config.bos_id, *window.ids.tolist(), config.eos_id]])
    case = torch.tensor([[0, *window.case.tolist(), 0]])
    states = model.encoder(ids, torch.ones_like(ids, dtype=torch.bool), case)[0, 1:-1].half()
    mean = states.mean(0)
    return [Example(link, window, (states[link.first], states[link.last], mean)) for link in window.links]
