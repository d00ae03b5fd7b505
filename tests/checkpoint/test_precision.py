"""A model computes in the precision asked for, or says why not."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest
import torch

from parlink.checkpoint.folder import Checkpoint
from parlink.checkpoint.int8_kernel import CRASH, _ask, answer_file, ends_processes, find_token_bits
from parlink.checkpoint.precision import set_precision
from parlink.config import Tuned
from parlink.errors import ConfigError
from parlink.linking.linker import Linker
from parlink.load_options import Precision
from parlink.model_config import ModelConfig
from parlink.nn.model import LinkingModel
from parlink.types import Document
from tiny import byte_level_bpe
from tiny_model import ENCODER, tiny_model
from tiny_training import DOCUMENTS

CPU = torch.device("cpu")


def linker(precision: Precision | None) -> Linker:
    torch.manual_seed(0)
    tokenizer = byte_level_bpe()
    encoder = msgspec.structs.replace(ENCODER, vocab_size=tokenizer.vocab_size, hidden=64, intermediate=128, layers=2)
    config = ModelConfig(encoder=encoder, max_tokens=64, overlap=30, window=8)
    model = LinkingModel(config).eval()
    set_precision(model, precision, device=CPU)
    return Linker(Checkpoint(model, tokenizer, Tuned()))


def given() -> list[Document]:
    return [Document(doc.text, links=doc.links, spans=tuple(link.span for link in doc.links)) for doc in DOCUMENTS]


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_fewer_bits_score_nearly_the_same_and_each_document_as_if_alone(precision: Precision) -> None:
    if precision == "int8" and find_token_bits() is None:
        pytest.skip("this CPU has no 8-bit kernel that is of use")
    if precision == "bfloat16" and ends_processes():
        pytest.skip("the system forbids the instructions for bfloat16 that this CPU has")
    exact, narrow = linker(None), linker(precision)
    assert (exact.network.precision, narrow.network.precision) == ("float32", precision)
    titles = [
        [{one.title: one.score for one in link.candidates} for doc in each.link(given()) for link in doc]
        for each in (exact, narrow)
    ]
    for ours, theirs in zip(*titles, strict=True):
        assert theirs == pytest.approx(ours, abs=0.1)
    together, alone = narrow.link(given()), [narrow.link(doc) for doc in given()]
    for ours, theirs in zip(together, alone, strict=True):
        assert [link.title for link in ours] == [link.title for link in theirs]


@pytest.mark.parametrize(("precision", "answer"), [("int8", "0"), ("int8", CRASH), ("bfloat16", CRASH)])
def test_a_cpu_without_a_kernel_links_in_float32_and_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    precision: Precision,
    answer: str,
) -> None:
    monkeypatch.setenv("PARLINK_CACHE", str(tmp_path))
    answer_file().parent.mkdir(parents=True)
    answer_file().write_text(answer)
    _ask.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            assert linker(precision).network.precision == "float32"
    finally:
        _ask.cache_clear()
    assert "so it is float32" in caplog.text


def test_what_cannot_be_is_refused() -> None:
    model = tiny_model()
    with pytest.raises(ConfigError, match="int8 is for the CPU, and the device is cuda"):
        set_precision(model, "int8", device=torch.device("cuda"))
    with pytest.raises(ConfigError, match="precision must be float32, bfloat16, int8 or None, got 'int4'"):
        set_precision(model, "int4", device=CPU)  # type: ignore[arg-type]
