"""GENRE's way of linking a text: a BART writes it out again, token by token, with the links marked up in it.

    Leicester play Kent  ->  { Leicester } [ Leicestershire County Cricket Club ] play { Kent } [ ... ]

The weights are random, so the decoder is led along the gold mark-up; what it costs does not depend on them. It computes
the logits of every step for every beam, with a cache of keys and values that is put in order at each step as a search
does. The search itself, and the tree of titles that constrains it, are left out: GENRE does more.
"""

from __future__ import annotations

import torch
from transformers import BartConfig, BartForConditionalGeneration
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from parlink.text.tokenizer import Tokenizer
from parlink.types import Document


def bart(tokenizer: Tokenizer, *, hidden: int = 1024, layers: int = 12, positions: int = 1024) -> torch.nn.Module:
    """A BART with random weights; the defaults are BART-large's."""
    config = BartConfig(
        vocab_size=max(50_265, tokenizer.vocab_size),  # BART has the first
        max_position_embeddings=positions,
        d_model=hidden,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_ffn_dim=4 * hidden,
        decoder_ffn_dim=4 * hidden,
        encoder_attention_heads=max(1, hidden // 64),
        decoder_attention_heads=max(1, hidden // 64),
        pad_token_id=tokenizer.pad_id,
        bos_token_id=tokenizer.bos_id,
        eos_token_id=tokenizer.eos_id,
        decoder_start_token_id=tokenizer.eos_id,
        forced_eos_token_id=tokenizer.eos_id,
    )
    torch.manual_seed(0)
    return BartForConditionalGeneration(config).eval()


def mark_up(doc: Document) -> str:
    """The text with its links marked up as GENRE writes them."""
    marked, at = "", 0
    for link in sorted(doc.links, key=lambda link: link.span):
        if link.title is not None and link.span.start >= at:
            surface = doc.text[link.span.start : link.span.end]
            marked += doc.text[at : link.span.start] + f"{{ {surface} }} [ {link.title} ]"
            at = link.span.end
    return marked + doc.text[at:]


@torch.inference_mode()
def write_out(model: torch.nn.Module, source: list[int], target: list[int], *, beams: int) -> None:
    """Read a text, and write its mark-up, each token for all beams."""
    encoded = model.get_encoder()(torch.tensor([source]).expand(beams, -1))
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    order = torch.arange(beams)
    for token in target:
        tokens = torch.full((beams, 1), token)
        step = model(decoder_input_ids=tokens, encoder_outputs=encoded, past_key_values=cache, use_cache=True)
        cache = step.past_key_values
        if beams > 1:
            cache.reorder_cache(order)
