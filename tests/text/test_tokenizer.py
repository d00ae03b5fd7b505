"""Tokens must slice the original text where they should, whatever the tokenizer did to it."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Fast
from tokenizers import models, pre_tokenizers

from parlink.errors import CheckpointError, ConfigError, TextError
from parlink.text.tokenizer import Tokenizer, Tokens
from parlink.text.windows import (
    before_stray_marks,
    char_span,
    covering_range,
    covering_ranges,
    mention_span,
    token_range,
    windows,
)
from parlink.types import Span
from tiny import byte_level_bpe, metaspace, word_piece

BUILDERS: dict[str, Callable[[], Tokenizer]] = {
    "byte-level": byte_level_bpe,
    "cased": lambda: word_piece(lowercase=False),
    "uncased": lambda: word_piece(lowercase=True),
    "metaspace": metaspace,
}
HAZARDS = [
    "Hamburg", "Japan", "the", "👩‍👩‍👧", "🇩🇪", "❤️", "Jose\u0301", "e\u0301\u0302", "a\u0323\u0301", "a\u0301\u0323",
    "İstanbul", "ﬁne", "Ａｂｃ", "ｶﾞ", "㍿", "½", "´", "ﷺ", "한국", "\u1112\u1161\u11ab",
    "北京", "x\u200by", "\u200d", "\ufeff", "\u00ad", "a\x00b",
    "\u0301", "Straße", "ΟΔΟΣ", "▁", "Ġ", "##s", "</s>", "<s>",
    "<pad>", "<mask>", "[SEP]", "[MASK]", "\r\n", "\t", " ", "  ", "\u00a0", "\u3000", ",",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(HAZARDS) | st.text(max_size=3), max_size=12).map("".join)


@pytest.fixture(params=BUILDERS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return BUILDERS[request.param]()


def each_tokenizer() -> st.SearchStrategy[Tokenizer]:
    return st.sampled_from(list(BUILDERS.values())).map(lambda build: build())


def fast(tokenizer: Tokenizer) -> Fast:
    """The tokenizer of the library, as anyone would load it from what we save."""
    return Fast.from_str(tokenizer._fast.to_str())


def changed(tokenizer: Tokenizer, *path: str, value: object) -> Tokenizer:
    """The same tokenizer with one value of its JSON replaced."""
    data = json.loads(tokenizer._fast.to_str())
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return Tokenizer(Fast.from_str(json.dumps(data)))


def token_names(tokenizer: Tokenizer, tokens: Tokens) -> list[str]:
    names = {index: name for name, index in tokenizer._fast.get_vocab().items()}
    return [names[index] for index in tokens.ids.tolist()]


def pieces(text: str, tokens: Tokens) -> list[str]:
    return [text[start:end] for start, end in zip(tokens.start, tokens.end, strict=True)]


def clusters(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """First and last of each run of tokens that share characters."""
    first = 0
    for index in range(1, len(tokens.ids) + 1):
        if index == len(tokens.ids) or tokens.start[index] >= tokens.end[first:index].max():
            yield first, index - 1
            first = index


def squeezed(text: str) -> str:
    return "".join(text.replace("▁", " ").split())


# Ranges


@given(each_tokenizer(), TEXTS)
def test_ranges_are_ordered_inside_the_text_and_trimmed(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text)
    assert len(tokens.ids) == len(tokens.start) == len(tokens.end)
    assert tokens.ids.dtype == tokens.start.dtype == tokens.end.dtype == np.int64
    assert (np.diff(tokens.start) >= 0).all() and (np.diff(tokens.end) >= 0).all()
    assert ((tokens.start >= 0) & (tokens.start <= tokens.end) & (tokens.end <= len(text))).all()
    assert (tokens.start < len(text)).all()
    assert all(piece == piece.strip() for piece in pieces(text, tokens))


@pytest.mark.parametrize("prefix_space", [False, True])
@given(text=TEXTS)
def test_byte_level_ranges_are_those_of_the_bytes(text: str, prefix_space: bool) -> None:
    tokenizer = changed(byte_level_bpe(), "pre_tokenizer", "add_prefix_space", value=prefix_space)
    tokens = tokenizer.encode(text)
    owner = [index for index, character in enumerate(text) for _ in character.encode()]
    added = [None] * (prefix_space and text[:1] not in ("", " "))
    names = token_names(tokenizer, tokens)
    owners = iter([*added, *owner])
    for name, start, end in zip(names, tokens.start, tokens.end, strict=True):
        characters = [next(owners) for _ in name]  # byte-level tokens are spelled with a character a byte
        mine = [index for index in characters if index is not None and not text[index].isspace()]
        assert (start, end) == (mine[0], mine[-1] + 1) if mine else start == end
    assert next(owners, None) is None


@given(st.sampled_from(["cased", "uncased", "metaspace"]), TEXTS)
def test_the_slice_of_a_token_normalizes_to_the_token(name: str, text: str) -> None:
    tokenizer = BUILDERS[name]()
    tokens = tokenizer.encode(text)
    names = token_names(tokenizer, tokens)
    normalizer = fast(tokenizer).normalizer
    for first, last in clusters(tokens):
        if tokenizer.unk_id in tokens.ids[first : last + 1]:
            continue
        parts = [name.removeprefix("##") for name in names[first : last + 1]]
        sliced = text[tokens.start[first] : tokens.end[last]]
        assert squeezed("".join(parts)) == squeezed(normalizer.normalize_str(sliced))


@given(each_tokenizer(), TEXTS)
def test_what_has_no_token_is_whitespace_or_removed_by_the_normalizer(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text)
    covered = np.zeros(len(text), dtype=bool)
    for start, end in zip(tokens.start, tokens.end, strict=True):
        covered[start:end] = True
    normalizer = fast(tokenizer).normalizer
    left = [character for character, seen in zip(text, covered, strict=True) if not seen and not character.isspace()]
    assert all(normalizer is not None and normalizer.normalize_str(character) == "" for character in left)


@pytest.mark.parametrize(
    "hazard", [hazard for hazard in HAZARDS if hazard.strip(" \r\n\t\u00a0\u3000\u200d\ufeff\u00ad\u0301")]
)
def test_a_hazard_between_spaces_is_a_mention(tokenizer: Tokenizer, hazard: str) -> None:
    text = f"in {hazard} and\r\n{hazard}"
    tokens = tokenizer.encode(text)
    for start in (3, len(text) - len(hazard)):
        span = Span(start, start + len(hazard))
        found = token_range(tokens, span)
        assert found is not None and char_span(tokens, *found) == span


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("byte-level", "to  Japan\r\n", ["t", "o", "", "Japan", "", ""]),
        ("byte-level", "北", ["北"] * 3),
        ("uncased", "He\u0301, İ", ["H", "e\u0301", ",", "İ"]),
        ("uncased", "a\x00 b\u200b\tc", ["a", "b", "c"]),
        ("metaspace", "Japan  Elbe", ["Japan", "", "", "E", "l", "be"]),
        ("metaspace", "☃\r\n☃\n", ["", "☃\r\n☃"]),
        ("metaspace", "ﷺ", ["", *["ﷺ"] * 7]),
        ("metaspace", "e\u0301 \u1112\u1161\u11ab ｶﾞ", ["", "e\u0301", "", "\u1112\u1161\u11ab", "", "ｶﾞ"]),
    ],
)
def test_pieces_of(name: str, text: str, expected: list[str]) -> None:
    assert pieces(text, BUILDERS[name]().encode(text)) == expected


# Spans


@given(each_tokenizer(), TEXTS, st.data())
def test_tokens_to_characters_and_back(tokenizer: Tokenizer, text: str, data: st.DataObject) -> None:
    tokens = tokenizer.encode(text)
    if not len(tokens.ids):
        return
    last = data.draw(st.integers(0, len(tokens.ids) - 1))
    first = data.draw(st.integers(0, last))
    span = char_span(tokens, first, last)
    found = token_range(tokens, span)
    assert span.end <= len(text)
    if (tokens.start == tokens.end)[first : last + 1].all():
        assert span.end - span.start == 1 and (found is None or char_span(tokens, *found) == span)
        return
    assert found is not None and char_span(tokens, *found) == span
    visible = np.flatnonzero(tokens.start < tokens.end)
    assert found[0] in visible and found[1] in visible
    assert all(found[0] <= index <= found[1] for index in visible if first <= index <= last)
    assert text[span.start : span.end] == text[span.start : span.end].strip()


@given(each_tokenizer(), TEXTS, st.integers(0, 20), st.integers(1, 8))
def test_a_span_has_tokens_only_on_boundaries(tokenizer: Tokenizer, text: str, start: int, length: int) -> None:
    tokens = tokenizer.encode(text)
    span = Span(start, start + length)
    found = token_range(tokens, span)
    visible = tokens.start < tokens.end
    pairs = zip(tokens.start[visible].tolist(), tokens.end[visible].tolist(), strict=True)
    starts, ends = zip(*pairs, strict=True) if visible.any() else ((), ())
    if found is None:
        assert not (span.start in starts and span.end in ends and starts.index(span.start) <= ends.index(span.end))
    else:
        assert char_span(tokens, *found) == span


def test_a_span_off_boundaries_has_no_tokens(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode("to Japan now")
    assert token_range(tokens, Span(3, 8)) is not None
    assert token_range(tokens, Span(2, 8)) is None
    assert token_range(tokens, Span(3, 9)) is None
    assert token_range(tokens, Span(2, 3)) is None
    assert token_range(tokens, Span(9, 40)) is None
    assert token_range(tokenizer.encode(""), Span(0, 1)) is None


@given(each_tokenizer(), TEXTS, st.integers(0, 20), st.integers(1, 8))
def test_covering_tokens_are_those_that_touch_a_span(tokenizer: Tokenizer, text: str, start: int, length: int) -> None:
    tokens = tokenizer.encode(text)
    span = Span(start, start + length)
    ranges = enumerate(zip(tokens.start.tolist(), tokens.end.tolist(), strict=True))
    touching = [index for index, (first, end) in ranges if first < end and Span(first, end).overlaps(span)]
    assert covering_range(tokens, span) == ((touching[0], touching[-1]) if touching else None)


@given(each_tokenizer(), TEXTS, st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=9))
def test_many_spans_are_covered_as_each_alone(tokenizer: Tokenizer, text: str, places: list[tuple[int, int]]) -> None:
    tokens = tokenizer.encode(text)
    spans = [Span(start, start + length) for start, length in places]
    first, last = covering_ranges(tokens, spans)
    together = [(a, b) if a <= b else None for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    assert together == [covering_range(tokens, span) for span in spans]


@given(each_tokenizer(), TEXTS, st.data())
def test_a_mention_can_be_read_and_keeps_its_marks(tokenizer: Tokenizer, text: str, data: st.DataObject) -> None:
    tokens = tokenizer.encode(text)
    if not len(tokens.ids):
        return
    last = data.draw(st.integers(0, len(tokens.ids) - 1))
    first = data.draw(st.integers(0, last))
    span, plain = mention_span(text, tokens, first, last), char_span(tokens, first, last)
    surface = text[plain.start : plain.end]
    if span is None:
        is_blank = (tokens.start == tokens.end)[first : last + 1].all()
        assert is_blank or all(unicodedata.category(character)[0] in "CZ" for character in surface)
        return
    assert span.start == plain.start and span.end >= plain.end
    assert all(unicodedata.category(unicodedata.normalize("NFKC", c)[0])[0] in "ML" for c in text[plain.end : span.end])
    assert not unicodedata.category(text[span.end : span.end + 1] or "a").startswith("M")


@pytest.mark.parametrize(
    ("found", "name"),
    [
        ("Dallas !", "Dallas"),
        ("Penn State ! ....", "Penn State"),
        ("Dallas \n# ?", "Dallas"),
        ("Yahoo!", "Yahoo!"),
        ("St. John 's", "St. John 's"),
        ("the U.S .", "the U.S ."),
        ("? !", "?"),
        ("!", "!"),
    ],
)
def test_marks_behind_white_space_are_of_no_name(found: str, name: str) -> None:
    text = f"a {found} b"
    span = before_stray_marks(text, Span(2, 2 + len(found)))
    assert text[span.start : span.end] == name


def test_a_character_in_several_tokens_is_whole() -> None:
    tokens = byte_level_bpe().encode("a 👍 b")
    found = token_range(tokens, Span(2, 3))
    assert found is not None and found[1] - found[0] == 3
    assert all(char_span(tokens, index, index) == Span(2, 3) for index in range(found[0], found[1] + 1))


# Texts and titles


@given(each_tokenizer(), TEXTS)
def test_special_tokens_never_come_from_text(tokenizer: Tokenizer, text: str) -> None:
    special = {tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id, tokenizer.nil_id}
    assert not special.intersection(tokenizer.encode(text).ids.tolist())
    assert not special.intersection(tokenizer.title(text))


@given(each_tokenizer(), st.lists(TEXTS, max_size=4))
def test_titles_are_tokenized_on_their_own(tokenizer: Tokenizer, titles: list[str]) -> None:
    batch = tokenizer.titles(titles)
    assert [tuple(ids.tolist()) for ids in batch] == [tokenizer.title(title) for title in titles]
    assert [ids.tolist() for ids in batch] == [tokenizer.encode(title).ids.tolist() for title in titles]


def test_a_title_that_looks_special_keeps_a_token(tokenizer: Tokenizer) -> None:
    assert tokenizer.title("</s>") and tokenizer.title("[SEP]")
    assert tokenizer.titles([]) == []


@pytest.mark.parametrize("text", ["", " ", "\r\n\t ", "\x00"])
def test_texts_without_words(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text)
    assert all(piece in ("", "\x00") for piece in pieces(text, tokens))
    assert text or windows(tokens, tokenizer=tokenizer, max_tokens=16, overlap=4) == []


def test_lone_surrogates_are_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(TextError, match="lone surrogate at character 3"):
        tokenizer.encode("abc\ud800d")
    with pytest.raises(TextError, match="lone surrogate at character 0"):
        tokenizer.title("\udc80")


@pytest.mark.parametrize("name", ["byte-level", "cased"])
def test_a_megabyte_is_quick(name: str) -> None:
    tokenizer = BUILDERS[name]()
    text = "Hamburg the Japan\n" * 56_000
    began = time.monotonic()
    tokens = tokenizer.encode(text)
    cut = windows(tokens, tokenizer=tokenizer, max_tokens=4096, overlap=256)
    assert time.monotonic() - began < 30  # a second or two, unless something grows with the square
    assert sum(window.own_last - window.own_first for window in cut) == len(tokens.ids)
    assert token_range(tokens, Span(len(text) - 6, len(text) - 1)) is not None


# Windows


@given(st.integers(0, 120), st.integers(3, 40), st.data())
def test_windows_own_every_token_once_and_hold_its_mention(count: int, max_tokens: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, max_tokens - 3))
    tokenizer = word_piece(lowercase=False)
    position = np.arange(count)
    tokens = Tokens(ids=position + 10, start=2 * position, end=2 * position + 1, marked_end=2 * position + 1)
    cut = windows(tokens, tokenizer=tokenizer, max_tokens=max_tokens, overlap=overlap)
    assert [index for window in cut for index in range(window.own_first, window.own_last)] == list(range(count))
    for window in cut:
        last = window.offset + len(window.ids) - 3
        assert len(window.ids) <= max_tokens and window.own_first < window.own_last
        assert (window.ids[0], window.ids[-1]) == (tokenizer.bos_id, tokenizer.eos_id)
        assert (window.ids[1:-1] == tokens.ids[window.offset : last + 1]).all()
        assert window.offset <= window.own_first and last < count
        longest = max(overlap // 2, 1)
        assert all(min(first + longest, count) - 1 <= last for first in range(window.own_first, window.own_last))
    for one, other in pairwise(cut):
        assert len(one.ids) == max_tokens and one.offset + len(one.ids) - 2 - other.offset == overlap
        assert one.own_last == other.own_first == other.offset + overlap // 2  # as much context on either side


@given(st.integers(1, 120), st.integers(1, 8), st.integers(12, 40), st.data())
def test_every_window_has_the_head_of_the_document_in_sight(
    count: int, prefix: int, max_tokens: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, max_tokens - 3 - prefix))
    position = np.arange(count)
    tokens = Tokens(ids=position + 10, start=2 * position, end=2 * position + 1, marked_end=2 * position + 1)
    cut = windows(tokens, tokenizer=word_piece(lowercase=False), max_tokens=max_tokens, overlap=overlap, prefix=prefix)
    assert [index for window in cut for index in range(window.own_first, window.own_last)] == list(range(count))
    for window in cut:
        assert len(window.ids) <= max_tokens
        assert window.ids[1 : prefix + 1].tolist()[:count] == tokens.ids[:prefix].tolist()
        for token in range(window.own_first, min(window.own_last + max(overlap // 2, 1) - 1, count)):
            assert window.ids[token - window.offset + 1] == tokens.ids[token]


def test_a_text_that_fits_is_one_window(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode("Hamburg and the Elbe")
    fits = len(tokens.ids) + 2
    assert len(windows(tokens, tokenizer=tokenizer, max_tokens=fits, overlap=2)) == 1
    assert len(windows(tokens, tokenizer=tokenizer, max_tokens=fits - 1, overlap=2)) == 2


@pytest.mark.parametrize("overlap", [-1, 8, 9])
def test_windows_that_could_not_advance_are_refused(overlap: int) -> None:
    tokenizer = byte_level_bpe()
    with pytest.raises(ConfigError, match="overlap must be at least 0 and less than max_tokens - 2 = 8"):
        windows(tokenizer.encode("Japan"), tokenizer=tokenizer, max_tokens=10, overlap=overlap)


# Files


def test_special_ids() -> None:
    bpe, piece, unigram = byte_level_bpe(), word_piece(lowercase=True), metaspace()
    assert (bpe.bos_id, bpe.pad_id, bpe.eos_id, bpe.unk_id) == (0, 1, 2, 3)
    assert bpe.nil_id == bpe.vocab_size - 1 and unigram.nil_id == unigram.vocab_size - 1
    assert (piece.pad_id, piece.unk_id, piece.bos_id, piece.eos_id, piece.nil_id) == (0, 1, 2, 3, 4)


def test_saved_and_loaded_is_the_same(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    tokenizer.save(tmp_path / "other.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.json", "tokenizer.json"]
    for path in (tmp_path, str(tmp_path / "other.json")):
        loaded = Tokenizer.load(path)
        assert loaded.hash == tokenizer.hash and loaded.vocab_size == tokenizer.vocab_size
        anyone = Fast.from_file(str(tmp_path / "tokenizer.json")).encode("Japan").ids
        assert (anyone[0], anyone[-1]) == (tokenizer.bos_id, tokenizer.eos_id)
        assert loaded.title("New York </s>") == tokenizer.title("New York </s>")


def test_hash_is_of_what_decides_token_ids(tokenizer: Tokenizer) -> None:
    library = fast(tokenizer)
    library.enable_truncation(4)
    library.enable_padding(length=64)
    same = Tokenizer(library)
    library = fast(tokenizer)
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    assert len(tokenizer.hash) == 16 and same.hash == tokenizer.hash
    assert len({build().hash for build in BUILDERS.values()}) == len(BUILDERS)
    assert Tokenizer(library).hash != tokenizer.hash


def test_hash_survives_a_score_that_the_library_writes_otherwise(tmp_path: Path) -> None:
    special = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    tokenizer = Tokenizer(Fast(models.Unigram([*special, ("y", -3.8606328162237706)], unk_id=3)))
    tokenizer.save(tmp_path)
    assert Tokenizer.load(tmp_path).hash == tokenizer.hash


def test_truncation_and_padding_of_the_file_are_off(tokenizer: Tokenizer) -> None:
    library = fast(tokenizer)
    library.enable_truncation(4)
    library.enable_padding(length=64)
    text = "Hamburg, Dresden and the Elbe"
    assert Tokenizer(library).encode(text).ids.tolist() == tokenizer.encode(text).ids.tolist()
    assert Tokenizer(library).titles([text])[0].tolist() == list(tokenizer.title(text))


@pytest.mark.parametrize("content", ["", "{", "{}", '{"model": 3}', "\x00"])
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: not a readable tokenizer"):
        Tokenizer.load(tmp_path)


def test_a_missing_file_or_special_token_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: no such file"):
        Tokenizer.load(tmp_path)
    byte_level = Fast(models.BPE())
    byte_level.add_special_tokens(["<s>", "</s>"])
    byte_level.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: the special tokens are missing; parlink needs <s>"):
        Tokenizer.load(tmp_path)
