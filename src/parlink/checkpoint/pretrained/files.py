"""Find the files of a Hugging Face style encoder, and bring old formats to safetensors and tokenizer.json, once."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from parlink.cache import user_cache
from parlink.errors import CheckpointError

INDEX = "model.safetensors.index.json"
WEIGHTS = "model.safetensors"
OLD_WEIGHTS = "pytorch_model.bin"
TOKENIZER = "tokenizer.json"
WANTED = ("config.json", "model*.safetensors", INDEX, TOKENIZER, "tokenizer_config.json", "vocab.*", "merges.txt")
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def encoder_folder(name_or_folder: str | Path) -> Path:
    """Give the folder of an encoder; a name that is no folder is fetched from the Hugging Face hub."""
    folder = Path(name_or_folder)
    if folder.is_dir():
        return folder
    if isinstance(name_or_folder, Path) or not HUB_NAME.fullmatch(name_or_folder):
        raise CheckpointError(f"{name_or_folder}: no such folder; give an encoder's folder or its name on the hub")
    return _fetch(name_or_folder)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds one object."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: missing; an encoder's folder needs this file") from error
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CheckpointError(f"{path}: not a JSON object: {error}; download or copy it again") from error


def weight_files(folder: Path) -> list[Path]:
    """Give the safetensors files of an encoder, made from `pytorch_model.bin` if there is nothing else."""
    if (folder / WEIGHTS).exists():
        return [folder / WEIGHTS]
    if (folder / INDEX).exists():
        return _shards(folder / INDEX)
    if (folder / OLD_WEIGHTS).exists():
        return [_made_once(folder, WEIGHTS, source=folder / OLD_WEIGHTS, write=_convert_weights)]
    raise CheckpointError(f"{folder}: has no weights; one of {WEIGHTS}, {INDEX} or {OLD_WEIGHTS} must be there")


def tokenizer_file(folder: Path) -> Path:
    """Give the `tokenizer.json` of an encoder, made from its vocabulary if there is none."""
    if (folder / TOKENIZER).exists():
        return folder / TOKENIZER
    if (folder / "vocab.json").exists() and (folder / "merges.txt").exists():
        return _made_once(folder, TOKENIZER, source=folder / "vocab.json", write=_write_byte_level_bpe)
    if (folder / "vocab.txt").exists():
        return _made_once(folder, TOKENIZER, source=folder / "vocab.txt", write=_write_word_piece)
    raise CheckpointError(f"{folder}: has no {TOKENIZER}, nor vocab.json and merges.txt, nor vocab.txt to make it from")


def _fetch(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise CheckpointError(
            f"{name}: no such folder, and fetching from the hub needs an extra: pip install 'parlink[hub]'"
        ) from error
    try:
        folder = Path(snapshot_download(name, allow_patterns=list(WANTED)))
        if not any(folder.glob("*.safetensors")):
            snapshot_download(name, allow_patterns=[OLD_WEIGHTS])
    except (OSError, ValueError) as error:  # no network, no such name, not a valid name
        raise CheckpointError(
            f"{name}: no such folder, and it cannot be fetched from the hub ({_first_line(error)}); "
            "check the name and the network, or give the folder of an encoder"
        ) from error
    return folder


def _shards(index: Path) -> list[Path]:
    mapping = read_json(index).get("weight_map")
    if not isinstance(mapping, dict) or not mapping:
        raise CheckpointError(f"{index}: has no 'weight_map'; download or copy it again")
    return [index.parent / name for name in sorted(set(mapping.values()))]


def _made_once(folder: Path, name: str, *, source: Path, write: Callable[[Path, Path], None]) -> Path:
    """Make a file beside its source, or in the user's cache where the folder is read-only."""
    place = folder if os.access(folder, os.W_OK) else _cache_folder(source)
    target = place / name
    if target.exists():
        return target
    try:
        with tempfile.TemporaryDirectory(dir=place, prefix=f".{name}.") as temporary:
            write(source, Path(temporary) / name)
            (Path(temporary) / name).replace(target)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{target}: cannot be made from {source} ({_first_line(error)})") from error
    return target


def _cache_folder(source: Path) -> Path:
    """A folder of its own for each version of a source file."""
    state = source.stat()
    version = hashlib.sha256(f"{source.resolve()} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]
    folder = user_cache() / "encoders" / version
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _convert_weights(source: Path, target: Path) -> None:
    try:
        stored = torch.load(source, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise CheckpointError(
            f"{source}: cannot be read as plain weights ({_first_line(error)}); "
            f"download it again, or put {WEIGHTS} beside it"
        ) from error
    if not isinstance(stored, Mapping):
        raise CheckpointError(f"{source}: holds {type(stored).__name__}, not a table of weights by name")
    save_file(_separate(stored), target, metadata={"format": "pt"})


def _separate(stored: Mapping[str, Any]) -> dict[str, Tensor]:
    """Keep the tensors, and copy those that share their memory with another, which safetensors refuses."""
    weights: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, value in stored.items():
        if isinstance(value, Tensor):
            storage = value.untyped_storage().data_ptr()
            weights[name] = value.clone().contiguous() if storage in seen else value.contiguous()
            seen.add(storage)
    return weights


def _write_byte_level_bpe(vocab: Path, target: Path) -> None:
    """Write RoBERTa's tokenizer, as `transformers` makes it from the same files."""
    merges = vocab.with_name("merges.txt")
    try:
        model = models.BPE.from_file(str(vocab), str(merges))
    except Exception as error:  # tokenizers raises nothing narrower
        raise CheckpointError(f"{vocab}, {merges.name}: no byte-level BPE ({_first_line(error)})") from error
    tokenizer = Tokenizer(model)
    ids = {name: _token_id(tokenizer, name, vocab) for name in ("<s>", "</s>")}
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), add_prefix_space=False
    )
    _save_tokenizer(tokenizer, target, special=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))


def _write_word_piece(vocab: Path, target: Path) -> None:
    """Write BERT's tokenizer; lower-casing as `tokenizer_config.json` says, else as the vocabulary shows."""
    names = vocab.read_text(encoding="utf-8").splitlines()
    settings_file = vocab.with_name("tokenizer_config.json")
    settings = read_json(settings_file) if settings_file.exists() else {}
    cased = any(name != name.lower() for name in names if not name.startswith("["))
    tokenizer = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    ids = {name: _token_id(tokenizer, name, vocab) for name in ("[CLS]", "[SEP]")}
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=settings.get("do_lower_case", not cased),
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    _save_tokenizer(tokenizer, target, special=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))


def _token_id(tokenizer: Tokenizer, name: str, vocab: Path) -> int:
    number: int | None = tokenizer.token_to_id(name)
    if number is None:
        raise CheckpointError(f"{vocab}: has no {name!r}; give a folder with a {TOKENIZER}")
    return number


def _save_tokenizer(tokenizer: Tokenizer, target: Path, *, special: tuple[str, ...]) -> None:
    tokenizer.add_special_tokens([name for name in special if tokenizer.token_to_id(name) is not None])
    tokenizer.save(str(target))


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
