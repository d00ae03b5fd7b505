"""A guard against slower code that holds on any machine: the work of linking a fixed document is what it was.

A change that means to do more or less work changes the numbers here, and says so. Those that are printed by a failure
are the new ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from counted_work import Work, count_calls, count_work
from parlink.config import LinkOptions, Shortlist, Tuned
from parlink.linking.linker import Linker
from parlink.types import Document, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint

SENTENCE = "Kent met HSV in Hamburg. "
NAMES = ("Kent", "HSV", "Hamburg")
EXPECTED = Work(flops=1_011_360, bytes=467_436, moves=45)
OPTIONS = LinkOptions(dictionary=False)


def document(sentences: int) -> Document:
    starts = [(SENTENCE.index(name) + len(SENTENCE) * i, name) for i in range(sentences) for name in NAMES]
    return Document(SENTENCE * sentences, spans=tuple(Span(start, start + len(name)) for start, name in starts))


def work(folder: Path, *documents: Document, shortlist: Shortlist | None = None) -> Work:
    checkpoint = replace(tiny_checkpoint(seed=3, max_tokens=256), tuned=Tuned(shortlist=shortlist))
    linker = Linker(checkpoint, kb=(kb := tiny_kb(folder)), source=kb)
    linker.link(list(documents), options=OPTIONS)  # so that nothing is done for the first time
    return count_work(lambda: linker.link(list(documents), options=OPTIONS))


def test_a_fixed_document_takes_the_work_that_it_took(tmp_path: Path) -> None:
    counted = work(tmp_path, document(4))
    assert counted.flops == pytest.approx(EXPECTED.flops, rel=0.05), counted
    assert counted.bytes == pytest.approx(EXPECTED.bytes, rel=0.05), counted


def test_nothing_moves_between_devices_for_each_mention(tmp_path: Path) -> None:
    few, many = (work(tmp_path / str(sentences), document(sentences)) for sentences in (2, 6))
    assert many.moves == few.moves
    assert many.moves <= EXPECTED.moves


def test_names_that_are_not_read_take_no_work(tmp_path: Path) -> None:
    whole = work(tmp_path / "all", document(4)).flops
    assert work(tmp_path / "one", document(4), shortlist=Shortlist(names=1, margin=0.0)).flops < 0.95 * whole


def test_symbols_take_the_work_of_as_many_tokens_of_words(tmp_path: Path) -> None:
    linker = Linker(tiny_checkpoint(seed=3, max_tokens=256), kb=(kb := tiny_kb(tmp_path)), source=kb)
    options = LinkOptions(mention_threshold=30.0)  # the work of reading, without that of mentions

    def count(text: str) -> tuple[int, float, float]:
        linked = partial(linker.link, text, options=options)
        return len(linker.tokenizer.encode(text).ids), count_work(linked).flops, count_calls(linked)

    few, many = count(2_000 * "\N{GRINNING FACE}"), count(4_000 * "\N{GRINNING FACE}")
    words = count(100 * SENTENCE)
    assert len(linker.tokenizer.encode(2_000 * "\N{GRINNING FACE}").ids) > 4 * 256  # several windows
    for emoji in (few, many):
        for work, of_words in zip(emoji[1:], words[1:], strict=True):
            assert work / emoji[0] == pytest.approx(of_words / words[0], rel=0.25)
    assert many[1] < 2.2 * few[1] and many[2] < 2.2 * few[2]


def test_a_short_text_beside_a_long_one_costs_its_own_tokens(tmp_path: Path) -> None:
    short, long = document(1), document(6)
    together = work(tmp_path / "both", long, *[short] * 8).flops
    apart = work(tmp_path / "long", long).flops + 8 * work(tmp_path / "short", short).flops
    assert together < 1.1 * apart
