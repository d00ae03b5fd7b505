"""Count the steps that a backtracking matcher takes, so that tests can tell linear from quadratic without a clock.

`CountedPattern` stands in for a compiled pattern: its answers are those of `re`, and beside them it goes the way of
a plain backtracking matcher over the same parsed pattern, a step for every test of a character or position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {ops.CATEGORY_SPACE: r"\s", ops.CATEGORY_WORD: r"\w", ops.CATEGORY_DIGIT: r"\d"}
_NEGATED = {ops.CATEGORY_NOT_SPACE: r"\s", ops.CATEGORY_NOT_WORD: r"\w", ops.CATEGORY_NOT_DIGIT: r"\d"}


class Counter:
    """Steps of all patterns of a run."""

    steps = 0


class CountedPattern:
    """A pattern that counts; what it finds is checked against `re`."""

    def __init__(self, pattern: re.Pattern[Any], counter: Counter) -> None:
        self._pattern, self._counter = pattern, counter
        self._ignore_case = bool(pattern.flags & re.IGNORECASE)
        self._multiline = bool(pattern.flags & re.MULTILINE)
        self._tree = list(parser.parse(pattern.pattern, pattern.flags))

    def match(self, text: Any) -> re.Match[Any] | None:
        matched = self._pattern.match(text)
        self._check(matched, self._end_at(text, 0))
        return matched

    def fullmatch(self, text: Any) -> re.Match[Any] | None:
        for _ in self._sequence(self._tree, 0, text, 0):
            pass
        return self._pattern.fullmatch(text)

    def search(self, text: Any) -> re.Match[Any] | None:
        return next(iter(self.finditer(text)), None)

    def findall(self, text: Any) -> list[Any]:
        list(self.finditer(text))
        return self._pattern.findall(text)

    def finditer(self, text: Any) -> Iterator[re.Match[Any]]:
        start = 0
        for matched in self._pattern.finditer(text):
            self._fail(text, start, matched.start())
            self._check(matched, self._end_at(text, matched.start()))
            start = matched.end()
            yield matched
        self._fail(text, start, len(text) + 1)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: Any, count: int = 0) -> Any:
        for number, _ in enumerate(self.finditer(text), start=1):
            if number == count:
                break
        return self._pattern.sub(replacement, text, count=count)

    def _fail(self, text: Any, start: int, end: int) -> None:
        for position in range(start, end):
            self._end_at(text, position)

    def _end_at(self, text: Any, position: int) -> int | None:
        return next(self._sequence(self._tree, 0, text, position), None)

    def _check(self, matched: re.Match[Any] | None, end: int | None) -> None:
        assert (matched.end() if matched else None) == end, f"the counter went another way than re: {matched}, {end}"

    def _sequence(self, items: list[Any], index: int, text: Any, position: int) -> Iterator[int]:
        if index == len(items):
            yield position
            return
        for end in self._item(*items[index], text, position):
            yield from self._sequence(items, index + 1, text, end)

    def _item(self, op: Any, value: Any, text: Any, position: int) -> Iterator[int]:
        self._counter.steps += 1
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY):
            if position < len(text) and self._takes(op, value, text[position]):
                yield position + 1
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            yield from self._repeat(op, *value, text, position)
        elif op is ops.SUBPATTERN:
            yield from self._sequence(list(value[3]), 0, text, position)
        elif op is ops.BRANCH:
            for branch in value[1]:
                yield from self._sequence(list(branch), 0, text, position)
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            if self._looks(*value, text, position) == (op is ops.ASSERT):
                yield position
        elif op is ops.AT:
            if self._stands(value, text, position):
                yield position
        else:
            raise NotImplementedError(op)

    def _repeat(self, op: Any, least: int, most: int, body: Any, text: Any, position: int) -> Iterator[int]:
        items = list(body)
        if op is ops.MIN_REPEAT:
            yield from self._lazy(items, least, most, text, position)
            return
        ends = [position]
        while len(ends) <= most:
            end = next(self._sequence(items, 0, text, ends[-1]), None)
            if end is None or end == ends[-1]:
                break
            ends.append(end)
        if len(ends) > least:
            yield from [ends[-1]] if op is ops.POSSESSIVE_REPEAT else self._give_back(ends[least:])

    def _give_back(self, ends: list[int]) -> Iterator[int]:
        for end in reversed(ends):
            self._counter.steps += 1
            yield end

    def _lazy(self, items: list[Any], least: int, most: int, text: Any, position: int) -> Iterator[int]:
        end: int | None = position
        for count in range(most + 1):
            if end is None:
                return
            if count >= least:
                self._counter.steps += 1
                yield end
            end = next(self._sequence(items, 0, text, end), None)

    def _looks(self, direction: int, body: Any, text: Any, position: int) -> bool:
        start = position if direction > 0 else position - body.getwidth()[0]
        return start >= 0 and next(self._sequence(list(body), 0, text, start), None) is not None

    def _stands(self, where: Any, text: Any, position: int) -> bool:
        if where in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            before = text[position - 1 : position]
            return position == 0 or (self._multiline and before == "\n")
        if where is ops.AT_END:
            return position == len(text) or text[position:] == "\n" or (self._multiline and text[position] == "\n")
        if where is ops.AT_BOUNDARY:
            return re.compile(r"\b").match(text, position) is not None
        raise NotImplementedError(where)

    def _takes(self, op: Any, value: Any, letter: Any) -> bool:
        letters = {letter} if isinstance(letter, int) else {ord(letter)}
        if self._ignore_case and not isinstance(letter, int):
            letters |= {ord(form) for form in (letter.lower(), letter.upper(), letter.swapcase()) if len(form) == 1}
        if op is ops.ANY:
            return letters != {10}
        if op in (ops.LITERAL, ops.NOT_LITERAL):
            return (value in letters) == (op is ops.LITERAL)
        negated = value[0][0] is ops.NEGATE
        return any(self._in(entry, letters, letter) for entry in value[negated:]) != negated

    @staticmethod
    def _in(entry: tuple[Any, Any], letters: set[int], letter: Any) -> bool:
        op, value = entry
        if op is ops.CATEGORY:
            shorthand = _CATEGORIES.get(value) or _NEGATED[value]
            text = chr(letter) if isinstance(letter, int) else letter
            return (re.match(shorthand, text) is not None) == (value in _CATEGORIES)
        if op is ops.RANGE:
            return any(value[0] <= number <= value[1] for number in letters)
        return value in letters
