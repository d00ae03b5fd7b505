"""The tokenizer: text to token ids, each with the exact characters that it stands for."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import tokenizers
from numpy.typing import NDArray

from parlink.errors import CheckpointError, TextError
from parlink.text.title_cache import TitleCache

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# Beginning, end, padding, unknown and mask, as the families that parlink loads spell them.
SPECIAL_TOKENS = (("<s>", "</s>", "<pad>", "<unk>", "<mask>"), ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"))
WORD_MARKERS = frozenset("▁Ġ")  # how SentencePiece and byte-level BPE write the space before a word
WHITESPACE = np.array([point for point in range(0x3001) if chr(point).isspace()], dtype=np.uint32)
FIRST_MARK = 0x300  # no combining character comes before it in Unicode
HANGUL_PARTS = range(0x1160, 0x1200)  # vowels and finals of syllables that are written in parts


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a whole text, special tokens excluded, with their exact character ranges.

    Ranges neither begin nor end with whitespace, and starts and ends never decrease. A token that is
    only whitespace has an empty range, at a character of the text. Tokens that are parts of the same
    character have the range of the whole character.
    """

    ids: IntArray  # (tokens,)
    start: IntArray  # (tokens,) first character
    end: IntArray  # (tokens,) one past the last character
    marked_end: IntArray  # (tokens,) one past the combining marks that follow, which may be tokens of their own


class Tokenizer:
    """A Hugging Face fast tokenizer, which becomes parlink's own, with what parlink needs of it."""

    def __init__(self, fast: tokenizers.Tokenizer, *, source: str = "tokenizer") -> None:
        fast.no_truncation()
        fast.no_padding()
        fast.encode_special_tokens = True  # "</s>" in a text is text
        self._post_processor = fast.post_processor
        fast.post_processor = None  # some trim a character too many; we trim ourselves
        vocabulary: dict[str, int] = fast.get_vocab(with_added_tokens=True)
        names = next((names for names in SPECIAL_TOKENS if vocabulary.keys() >= set(names)), None)
        if names is None:
            known = " or ".join(" ".join(names) for names in SPECIAL_TOKENS)
            raise CheckpointError(f"{source}: the special tokens are missing; parlink needs {known} in the vocabulary")
        self._fast = fast
        self.bos_id, self.eos_id, self.pad_id, self.unk_id, self.nil_id = (vocabulary[name] for name in names)
        self.vocab_size = max(vocabulary.values()) + 1
        # A Unigram model finds its own "</s>" in a text whatever we ask; in a text it is an unknown token.
        self._text_id = np.arange(self.vocab_size)
        self._text_id[[self.bos_id, self.eos_id, self.pad_id, self.nil_id]] = self.unk_id
        self._word_markers = [index for token, index in vocabulary.items() if token and WORD_MARKERS.issuperset(token)]
        self._title = TitleCache(self._encode_titles)

    @classmethod
    def load(cls, path: Path | str) -> Tokenizer:
        """Read a tokenizer.json, or the one in a folder."""
        file = Path(path) / "tokenizer.json" if Path(path).is_dir() else Path(path)
        if not file.is_file():
            raise CheckpointError(f"{file}: no such file; a Hugging Face fast tokenizer (tokenizer.json) is needed")
        try:
            fast = tokenizers.Tokenizer.from_file(str(file))
        except Exception as error:  # the Rust library raises a bare Exception
            raise CheckpointError(f"{file}: not a readable tokenizer.json ({error}); fetch it again") from error
        return cls(fast, source=str(file))

    def save(self, path: Path | str) -> None:
        """Write a tokenizer.json, or one into a folder."""
        file = Path(path) / "tokenizer.json" if Path(path).is_dir() else Path(path)
        temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
        temporary.write_text(self._to_json(), encoding="utf-8")
        temporary.replace(file)

    @cached_property
    def hash(self) -> str:
        """A fingerprint of everything that decides which token ids a text gets."""
        parts = json.loads(self._to_json())
        deciding = {key: parts[key] for key in ("added_tokens", "normalizer", "pre_tokenizer", "model")}
        return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def reads_words_alone(self) -> bool:
        """Whether each word, the space before it included, has the same tokens whatever stands around it.

        That is certain of byte-level tokenizers, which split a text at spaces and change nothing in it before.
        """
        parts = json.loads(self._to_json())
        splits = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
        return (
            parts["normalizer"] is None
            and splits.items() <= (parts["pre_tokenizer"] or {}).items()
            and not parts["model"].get("dropout")
            and all(token["special"] for token in parts["added_tokens"])
        )

    def encode(self, text: str) -> Tokens:
        """Tokenize a whole text, without special tokens."""
        points = _code_points(text)
        encoding = self._fast.encode(text, add_special_tokens=False)
        ids = self._text_id[np.array(encoding.ids, dtype=np.int64)]
        offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        start, end = _repair(offsets[:, 0], offsets[:, 1], points=points, marker=np.isin(ids, self._word_markers))
        return Tokens(ids=ids, start=start, end=end, marked_end=_next(~_combining(points))[end])

    def title(self, title: str) -> tuple[int, ...]:
        """Tokenize a title on its own, without special tokens; remembers the titles seen last."""
        return self._title([title])[0]

    def each_title(self, titles: Sequence[str]) -> list[tuple[int, ...]]:
        """Tokenize titles as `title` does, those that are not remembered at once."""
        return self._title(titles)

    def titles(self, titles: Sequence[str]) -> list[IntArray]:
        """Tokenize many titles at once, each as `title` does; remembers none."""
        flat, lengths = self.titles_laid_flat(titles)
        ends = np.cumsum([0, *lengths.tolist()]).tolist()
        return [flat[first:last] for first, last in pairwise(ends)]

    def titles_laid_flat(self, titles: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Tokenize many titles at once as `titles` does: all their tokens end to end, and how many each has."""
        try:
            "".join(titles).encode()
        except UnicodeEncodeError:
            for title in titles:  # one of them is at fault, and the error says where
                _code_points(title)
            raise
        encodings = self._fast.encode_batch_fast(list(titles), add_special_tokens=False)
        lengths = np.fromiter(map(len, encodings), np.int64, len(encodings))
        ids = chain.from_iterable(encoding.ids for encoding in encodings)
        return self._text_id[np.fromiter(ids, np.int64, int(lengths.sum()))], lengths

    def _to_json(self) -> str:
        # Reading may change the last digit of a score, once; so what is written and hashed has been read.
        whole = tokenizers.Tokenizer.from_str(self._fast.to_str())
        whole.post_processor = self._post_processor
        return str(whole.to_str(pretty=True))

    def _encode_titles(self, titles: Sequence[str]) -> list[tuple[int, ...]]:
        return [tuple(ids.tolist()) for ids in self.titles(titles)]


def _code_points(text: str) -> NDArray[np.uint32]:
    try:
        return np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint32, copy=False)
    except UnicodeEncodeError as error:
        message = f"lone surrogate at character {error.start}; a text must be valid Unicode, decode or remove it first"
        raise TextError(message) from error


def _repair(
    start: IntArray, end: IntArray, *, points: NDArray[np.uint32], marker: BoolArray
) -> tuple[IntArray, IntArray]:
    """Make the library's ranges those that `Tokens` promises."""
    if not len(start):
        return start, end
    space = np.isin(points, WHITESPACE)
    # A word marker that the tokenizer put before a letter has been given that letter's range.
    borrowed = marker & (np.append(start[1:], -1) == start)
    blank = borrowed | (_next(~space)[start] >= end)
    place = start
    start = np.where(blank, place, _next(~space)[place])
    # A marker inside a character that normalizes to several words shares that character.
    end = np.maximum.accumulate(np.where(blank, place, _previous(~space)[end]))
    # A normalizer that strips or composes accents leaves them out of the range of their letter.
    accented = np.minimum(_next(~_combining(points))[end], np.append(start[1:], len(points)))
    return start, np.where(blank, end, np.maximum(end, accented))


def _next(wanted: BoolArray) -> IntArray:
    """For every position up to the end, the first wanted character at or after it, else the end."""
    count = len(wanted)
    found = np.append(np.where(wanted, np.arange(count), count), count)
    return np.minimum.accumulate(found[::-1])[::-1]


def _previous(wanted: BoolArray) -> IntArray:
    """For every position up to the end, one past the last wanted character before it, else 0."""
    return np.maximum.accumulate(np.append(0, np.where(wanted, np.arange(1, len(wanted) + 1), 0)))


def _combining(points: NDArray[np.uint32]) -> BoolArray:
    """Tell which characters belong to the letter before them: marks, half-width marks, Hangul vowels and finals."""
    distinct = np.unique(points[points >= FIRST_MARK])
    return np.isin(points, [point for point in distinct if point in HANGUL_PARTS or _is_mark(chr(point))])


def _is_mark(character: str) -> bool:
    return unicodedata.category(unicodedata.normalize("NFKC", character)[0]).startswith("M")
