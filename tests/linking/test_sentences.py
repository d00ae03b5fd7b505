"""What the encoder reads of entities, in linking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from parlink.checkpoint.onnx_folder import OnnxSentence
from parlink.config import LinkOptions
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.linking import linker as linker_module
from parlink.linking import sentences
from parlink.linking.interrupt import interruptible
from parlink.linking.linker import Linker
from parlink.linking.network import Floats
from parlink.linking.onnx_sentence import Stretches
from parlink.linking.sentences import SentenceReader, sentence_window
from parlink.model_config import SENTENCE_TOKENS
from parlink.nn.batch import collate
from parlink.text.windows import Window
from parlink.types import Document, Span
from tiny import byte_level_bpe
from tiny_model import tiny_checkpoint

ENTITIES = [
    {"title": "Hamburg (city)", "aliases": ["Hamburg"], "description": "a city in the north"},
    {"title": "Hamburg (film)", "aliases": ["Hamburg"], "description": "a film of 1960"},
    {"title": "Dresden", "aliases": ["Hamburg"]},
]
DOC = Document("A ship left Hamburg for Dresden", spans=(Span(12, 19),))


def similarities(folder: Path, *, strength: float) -> dict[str, float]:
    folder.mkdir()
    (folder / "kb.jsonl").write_text("\n".join(map(json.dumps, ENTITIES)))
    build([folder / "kb.jsonl"], folder / "kb")
    checkpoint = tiny_checkpoint(seed=3, similarity=6, sentence=5)
    assert checkpoint.model.sentence is not None
    checkpoint.model.sentence.strength.fill_(strength)
    kb = KnowledgeBase.open(folder / "kb")
    (link,) = Linker(checkpoint, kb=kb, source=kb).link(DOC, options=LinkOptions(parts="all")).links
    return {candidate.title: candidate.similarity or 0.0 for candidate in link.candidates}


def test_the_encoder_reads_what_a_small_kb_says(tmp_path: Path) -> None:
    without, once, twice = (similarities(tmp_path / str(n), strength=n) for n in (0.0, 1.0, 2.0))
    gains = {title: once[title] - without[title] for title in without}
    assert len({round(gain, 4) for gain in gains.values()}) == 3
    for title, gain in gains.items():
        assert abs(gain) <= 1 + 1e-5
        assert twice[title] - without[title] == pytest.approx(2 * gain, rel=1e-3, abs=1e-5)


def test_a_large_kb_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = similarities(tmp_path / "none", strength=0.0)
    monkeypatch.setattr(linker_module, "OWN_TITLES", len(ENTITIES) - 1)
    assert similarities(tmp_path / "large", strength=5.0) == pytest.approx(wanted, rel=1e-5)


def test_an_entity_is_read_once_and_only_some_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def encode(windows: Sequence[Window]) -> Floats:
        read.append(len(windows))
        return np.array([[len(window.ids), window.ids[1]] for window in windows], np.float32)

    reader = SentenceReader(encode, byte_level_bpe())
    texts = [("Kent", "a county"), ("Kent", ""), ("Kent", "a county"), ("", "")]
    monkeypatch.setattr(sentences, "MOST", 3)
    first = reader.read(texts[:3])
    assert read == [2] and first.shape == (3, 2) and np.array_equal(first[0], first[2])
    assert np.array_equal(reader.read(texts[:1]), first[:1]) and read == [2]
    reader.read([("Ghent", ""), ("Bonn", "")])  # more than are remembered
    assert read == [2, 2]
    assert np.array_equal(reader.read(texts[:3]), first) and read == [2, 2, 2]


def test_whoever_waits_may_stop_the_reading_between_batches() -> None:
    def stop() -> None:
        if len(read) == 2:
            raise TimeoutError

    read: list[int] = []

    def encode(windows: Sequence[Window]) -> Floats:
        read.append(len(windows))
        return np.zeros((len(windows), 2), np.float32)

    texts = [(f"Kent {number}", "a county " * 40) for number in range(200)]
    with pytest.raises(TimeoutError), interruptible(stop):
        SentenceReader(encode, byte_level_bpe()).read(texts)
    assert len(read) == 2 and sum(read) < len(texts)


def test_title_and_description_are_read_up_to_a_length() -> None:
    tokenizer = byte_level_bpe()
    ids = sentence_window(("Kent", "a county"), tokenizer).ids.tolist()
    assert ids == [tokenizer.bos_id, *tokenizer.title("Kent: a county"), tokenizer.eos_id]
    assert len(sentence_window(("Kent", "x " * 500), tokenizer).ids) == SENTENCE_TOKENS + 2
    assert sentence_window(("", ""), tokenizer).ids.tolist() == [tokenizer.bos_id, tokenizer.eos_id]


@torch.inference_mode()
def test_numpy_reads_stretches_as_torch_does() -> None:
    checkpoint = tiny_checkpoint(seed=3, similarity=6, sentence=5)
    model, head = checkpoint.model, checkpoint.model.sentence
    assert head is not None
    window = sentence_window(("Kent", "a county in the south"), checkpoint.tokenizer)
    batch = collate([window], pad_id=1)
    states, words = model.encode(batch)[0].numpy(), model.encoder.token_embeddings(batch.tokens)[0].numpy()
    arrays = (part.detach().numpy() for part in (head.project.weight, head.project.bias, head.strength[None]))
    vectors = Stretches(OnnxSentence(*arrays), states, words).read(np.array([1]), np.array([len(window.ids) - 2]))
    np.testing.assert_allclose(vectors, model.read_sentences(batch).numpy(), rtol=1e-4, atol=1e-6)
