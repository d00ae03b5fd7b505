"""A published encoder must load whatever its folder looks like, or say in one line what is wrong with it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer as Fast
from torch import Tensor, nn
from transformers import BertTokenizer, RobertaTokenizer

from parlink.checkpoint.pretrained.weights import Pretrained, load_pretrained
from parlink.errors import CheckpointError
from parlink.model_config import ModelConfig
from parlink.nn.decoder import OutputHead
from parlink.nn.encoder import Encoder
from published import FAMILIES, VOCAB, WINDOW, publish, random_model
from tiny import SENTENCES, byte_level_bpe, word_piece

TOKENS = torch.arange(6, 18)[None]
MASK = torch.ones_like(TOKENS, dtype=torch.bool)


@pytest.fixture
def roberta(tmp_path: Path) -> Path:
    return publish(random_model("Roberta"), tmp_path / "roberta")


def states(pretrained: Pretrained) -> Tensor:
    window = WINDOW if pretrained.config.family == "longformer" else 0
    encoder = Encoder(pretrained.config, window=window, dropout=0.0)
    encoder.load_state_dict(pretrained.weights)
    with torch.no_grad():
        return encoder(TOKENS, MASK)  # type: ignore[no-any-return]


def logits(pretrained: Pretrained) -> Tensor:
    """What the decoder's output head makes of the encoder's states, with the weights of the masked-LM head."""
    config = ModelConfig(encoder=pretrained.config)
    head = OutputHead(config, nn.Embedding(config.encoder.vocab_size, config.encoder.hidden))
    assert pretrained.head is not None
    head.load_state_dict(pretrained.head)
    with torch.no_grad():
        return head.decoder(head.features(states(pretrained)))  # type: ignore[no-any-return]


def same(first: Pretrained, second: Pretrained) -> bool:
    return first.weights.keys() == second.weights.keys() and all(
        torch.equal(tensor, second.weights[name]) for name, tensor in first.weights.items()
    )


def rewrite_weights(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    weights = {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items()}
    change(weights)
    save_file(weights, folder / "model.safetensors")


def rewrite_config(folder: Path, **changes: Any) -> None:
    settings = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(settings))


def assert_refused(folder: Path | str, *words: str) -> None:
    with pytest.raises(CheckpointError) as raised:
        load_pretrained(folder)
    message = str(raised.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_masked_lm_head_gives_the_published_logits(family: str, tied: bool, tmp_path: Path) -> None:
    model = random_model(family, task="ForMaskedLM", tie_word_embeddings=tied)
    pretrained = load_pretrained(publish(model, tmp_path))
    with torch.no_grad():
        wanted = model(input_ids=TOKENS).logits
    torch.testing.assert_close(logits(pretrained), wanted, rtol=0, atol=1e-4 * wanted.abs().max().item())
    assert pretrained.head is not None
    assert torch.equal(pretrained.head["decoder.weight"], pretrained.weights["token_embeddings.weight"]) == tied


@pytest.mark.parametrize("family", FAMILIES)
def test_an_encoder_without_a_head_has_none(family: str, tmp_path: Path) -> None:
    assert load_pretrained(publish(random_model(family), tmp_path)).head is None


def test_config_is_read_in_our_words(tmp_path: Path) -> None:
    config = load_pretrained(publish(random_model("Longformer"), tmp_path / "longformer")).config
    assert (config.family, config.hidden, config.heads, config.intermediate) == ("longformer", 16, 2, 24)
    assert (config.positions, config.position_offset, config.token_types) == (64, 2, 1)
    config = load_pretrained(publish(random_model("DistilBert"), tmp_path / "distilbert")).config
    assert (config.family, config.hidden, config.heads, config.intermediate) == ("distilbert", 16, 2, 24)
    assert (config.positions, config.position_offset, config.token_types) == (64, 0, 0)


def test_the_first_layers_are_kept(roberta: Path) -> None:
    with torch.no_grad():
        wanted = random_model("Roberta")(input_ids=TOKENS, output_hidden_states=True).hidden_states[1]
    torch.testing.assert_close(states(load_pretrained(roberta, layers=1)), wanted, rtol=0, atol=1e-4)
    assert load_pretrained(roberta, layers=2).config == load_pretrained(roberta).config


@pytest.mark.parametrize("layers", [0, 3])
def test_layers_that_are_not_there_are_refused(layers: int, roberta: Path) -> None:
    with pytest.raises(CheckpointError, match=f"{layers} layers asked for, but the encoder has 2"):
        load_pretrained(roberta, layers=layers)


def test_a_folder_without_prefixes_is_the_same(roberta: Path) -> None:
    before = load_pretrained(roberta)

    def add_prefix(weights: dict[str, Tensor]) -> None:
        for name in list(weights):
            weights[f"roberta.{name}"] = weights.pop(name)

    rewrite_weights(roberta, add_prefix)
    assert same(load_pretrained(roberta), before)


def test_half_precision_is_widened(roberta: Path) -> None:
    def halve(weights: dict[str, Tensor]) -> None:
        weights.update({name: tensor.half() for name, tensor in weights.items()})

    before = load_pretrained(roberta)
    rewrite_weights(roberta, halve)
    for name, tensor in load_pretrained(roberta).weights.items():
        assert tensor.dtype == torch.float32
        torch.testing.assert_close(tensor, before.weights[name], rtol=1e-3, atol=1e-3)


def test_old_names_of_layer_norm_are_read(tmp_path: Path) -> None:
    folder = publish(random_model("Bert", task="ForMaskedLM"), tmp_path)
    before = load_pretrained(folder)

    def rename(weights: dict[str, Tensor]) -> None:
        for name in [name for name in weights if "LayerNorm" in name]:
            old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            weights[old] = weights.pop(name)

    rewrite_weights(folder, rename)
    assert same(load_pretrained(folder), before)
    assert torch.equal(logits(load_pretrained(folder)), logits(before))


def test_shards_are_read_together(tmp_path: Path) -> None:
    model = random_model("Bert", task="ForMaskedLM")
    whole = load_pretrained(publish(model, tmp_path / "whole"))
    model.save_pretrained(tmp_path / "cut", max_shard_size="4KB")
    byte_level_bpe().save(tmp_path / "cut" / "tokenizer.json")
    shards = sorted((tmp_path / "cut").glob("model-*.safetensors"))
    assert len(shards) > 2
    assert same(load_pretrained(tmp_path / "cut"), whole)
    shards[1].unlink()
    assert_refused(tmp_path / "cut", shards[1].name, "missing")


def to_old_format(folder: Path) -> None:
    """Leave only what the hub had before safetensors, with tied tensors that share their memory."""
    weights = load_file(folder / "model.safetensors")
    words = next(name for name in weights if name.endswith("word_embeddings.weight"))
    weights["lm_head.decoder.weight"] = weights[words]
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def test_old_weights_are_converted_once(tmp_path: Path) -> None:
    folder = publish(random_model("Roberta", task="ForMaskedLM"), tmp_path)
    before = load_pretrained(folder)
    wanted = logits(before)
    to_old_format(folder)
    assert same(load_pretrained(folder), before)
    (folder / "pytorch_model.bin").unlink()
    assert torch.equal(logits(load_pretrained(folder)), wanted)
    assert {path.name for path in folder.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json"}
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_read_only_folder_is_converted_into_the_cache(
    roberta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load_pretrained(roberta)
    to_old_format(roberta)
    files = sorted(roberta.iterdir())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may write everywhere
    assert same(load_pretrained(roberta), before)
    assert sorted(roberta.iterdir()) == files
    (cached,) = (tmp_path / "cache").rglob("model.safetensors")
    made = cached.stat().st_mtime_ns
    assert same(load_pretrained(roberta), before)
    assert cached.stat().st_mtime_ns == made


class Payload:
    """An object that plain weights never hold, and that must not be brought to life."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.putenv, ("PARLINK_TEST", "1"))


def test_old_weights_that_are_not_plain_are_refused(roberta: Path) -> None:
    (roberta / "model.safetensors").unlink()
    torch.save({"weights": Payload()}, roberta / "pytorch_model.bin")
    assert_refused(roberta, "pytorch_model.bin", "plain weights")
    (roberta / "pytorch_model.bin").write_bytes(b"PK\x03\x04 cut off")
    assert_refused(roberta, "pytorch_model.bin")
    torch.save([1, 2], roberta / "pytorch_model.bin")
    assert_refused(roberta, "pytorch_model.bin", "list")
    assert not (roberta / "model.safetensors").exists()


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.3, 0.999])
def test_a_truncated_file_is_named(share: float, roberta: Path) -> None:
    path = roberta / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert_refused(roberta, str(path), "truncated")


def test_a_wrong_shape_is_named(roberta: Path) -> None:
    rewrite_config(roberta, vocab_size=VOCAB + 1)
    assert_refused(roberta, "model.safetensors", "embeddings.word_embeddings.weight", "(60, 16)", "(61, 16)")


def test_a_wrong_shape_of_one_projection_is_named(roberta: Path) -> None:
    name = "encoder.layer.1.attention.self.key.weight"
    rewrite_weights(roberta, lambda weights: weights.update({name: torch.zeros(16, 8)}))
    assert_refused(roberta, name, "(16, 8)", "(16, 16)")


@pytest.mark.parametrize("name", ["encoder.layer.1.output.dense.bias", "embeddings.word_embeddings.weight"])
def test_a_missing_tensor_is_named(name: str, roberta: Path) -> None:
    rewrite_weights(roberta, lambda weights: weights.pop(name))
    assert_refused(roberta, "model.safetensors", name)


def test_an_untied_head_without_its_matrix_is_refused(tmp_path: Path) -> None:
    folder = publish(random_model("Roberta", task="ForMaskedLM"), tmp_path)
    rewrite_weights(folder, lambda weights: weights.pop("lm_head.decoder.weight", None))
    rewrite_config(folder, tie_word_embeddings=False)
    assert_refused(folder, "lm_head.decoder.weight")


def test_an_unknown_family_is_named_with_the_known_ones(roberta: Path) -> None:
    rewrite_config(roberta, model_type="gpt2")
    assert_refused(roberta, "config.json", "'gpt2'", "longformer, roberta, xlm-roberta", "bert", "distilbert")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", None),
        ("hidden_act", "relu"),
        ("position_embedding_type", "relative_key"),
        ("hidden_size", None),
        ("hidden_size", "large"),
        ("num_attention_heads", 3),
        ("num_hidden_layers", 0),
        ("max_position_embeddings", 2),
        ("type_vocab_size", -1),
        ("pad_token_id", "one"),
        ("layer_norm_eps", "small"),
    ],
)
def test_a_config_that_we_cannot_reproduce_is_refused(key: str, value: object, roberta: Path) -> None:
    rewrite_config(roberta, **{key: value})
    assert_refused(roberta, "config.json", key)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe"])
def test_a_config_that_is_no_json_object_is_refused(content: bytes, roberta: Path) -> None:
    (roberta / "config.json").write_bytes(content)
    assert_refused(roberta, "config.json", "not a JSON object")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(name: str, roberta: Path) -> None:
    (roberta / name).unlink()
    assert_refused(roberta, str(roberta), name)


def test_byte_level_tokenizer_is_made_from_vocabulary_and_merges(roberta: Path) -> None:
    parts: dict[str, Any] = json.loads((roberta / "tokenizer.json").read_text())
    vocab = parts["model"]["vocab"] | {token["content"]: token["id"] for token in parts["added_tokens"]}
    merges: list[Any] = [tuple(pair) for pair in parts["model"]["merges"]]
    (roberta / "vocab.json").write_text(json.dumps(vocab))
    (roberta / "merges.txt").write_text("\n".join(["#version: 0.2", *map(" ".join, merges)]))
    (roberta / "tokenizer.json").unlink()
    made = Fast.from_file(str(load_pretrained(roberta).tokenizer))
    oracle = RobertaTokenizer(vocab=vocab, merges=merges)
    assert_tokens_agree(made, oracle)


@pytest.mark.parametrize("settings", [None, {"do_lower_case": True}, {"do_lower_case": False}])
@pytest.mark.parametrize("lowercase", [True, False])
def test_word_piece_tokenizer_is_made_from_vocabulary(
    lowercase: bool, settings: dict[str, bool] | None, tmp_path: Path
) -> None:
    folder = publish(random_model("Bert"), tmp_path)
    word_piece(lowercase).save(folder / "tokenizer.json")
    vocab = Fast.from_file(str(folder / "tokenizer.json")).get_vocab()
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocab, key=lambda name: vocab[name])), encoding="utf-8")
    if settings is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    made = Fast.from_file(str(load_pretrained(folder).tokenizer))
    lowers = lowercase if settings is None else settings["do_lower_case"]
    assert_tokens_agree(made, BertTokenizer(vocab=vocab, do_lower_case=lowers))


def assert_tokens_agree(made: Fast, oracle: Any) -> None:
    for text in (*SENTENCES, "Straße  <mask> [MASK] naïve 東京\n"):
        wanted = oracle(text, return_offsets_mapping=True)
        got = made.encode(text)
        assert got.ids == wanted["input_ids"]
        assert got.offsets == [tuple(pair) for pair in wanted["offset_mapping"]]


@pytest.mark.parametrize(("name", "content"), [("vocab.json", "{}"), ("vocab.txt", "a\nb"), ("vocab.json", "{")])
def test_a_vocabulary_that_makes_no_tokenizer_is_refused(name: str, content: str, roberta: Path) -> None:
    (roberta / "tokenizer.json").unlink()
    (roberta / name).write_text(content)
    (roberta / "merges.txt").write_text("#version: 0.2\n")
    assert_refused(roberta, name)
    assert not (roberta / "tokenizer.json").exists()


@pytest.fixture
def offline_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's own cache, with no network behind it."""
    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
    return cache


@pytest.mark.usefixtures("offline_hub")
@pytest.mark.parametrize("name", ["someone/no-such-encoder", "no-such-encoder", "a--b/c..d"])
def test_a_name_that_cannot_be_fetched_asks_for_a_folder(name: str) -> None:
    assert_refused(name, name, "hub", "give the folder")


@pytest.mark.parametrize("old", [False, True])
def test_a_name_in_the_hub_cache_is_loaded(old: bool, offline_hub: Path, roberta: Path) -> None:
    before = load_pretrained(roberta)
    if old:
        to_old_format(roberta)
    repository = offline_hub / "models--someone--small"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("0" * 40)
    (repository / "snapshots").mkdir()
    roberta.rename(repository / "snapshots" / ("0" * 40))
    assert same(load_pretrained("someone/small"), before)


def test_without_the_hub_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert_refused("someone/small", "someone/small", "parlink[hub]")


@pytest.mark.parametrize("place", ["/no/such/folder", "../no such folder", Path("someone/small"), "~x/y/z"])
def test_a_path_that_is_no_folder_is_not_looked_for_on_the_hub(place: str | Path) -> None:
    assert_refused(place, str(place), "no such folder")
