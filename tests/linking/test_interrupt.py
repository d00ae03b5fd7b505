from __future__ import annotations

from collections.abc import Callable

import pytest

from parlink.config import LinkOptions
from parlink.linking.interrupt import check, interruptible
from parlink.linking.linker import Linker
from parlink.types import Document, Span
from tiny import SENTENCES
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint


class Stop(Exception):  # noqa: N818
    """What a caller raises who no longer waits."""


def stop_after(calls: int) -> Callable[[], None]:
    remaining = iter(range(calls))

    def checkpoint() -> None:
        if next(remaining, None) is None:
            raise Stop

    return checkpoint


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    kb = tiny_kb(tmp_path_factory.mktemp("kb"))
    return Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)


def count_steps(linker: Linker, docs: list[Document], options: LinkOptions) -> int:
    steps: list[None] = []
    with interruptible(lambda: steps.append(None)):
        list(linker.stream(docs, options=options, batch_tokens=64))
    return len(steps)


@pytest.mark.parametrize(
    "options",
    [LinkOptions(), LinkOptions(search="beam"), LinkOptions(fallback=True, mention_threshold=-10.0)],
    ids=["rank", "beam", "fallback"],
)
def test_linking_stops_at_any_step_and_the_linker_is_as_good_as_before(linker: Linker, options: LinkOptions) -> None:
    docs = [Document(text) for text in SENTENCES]
    whole, steps = list(linker.stream(docs, options=options)), count_steps(linker, docs, options)
    assert steps > 2
    for calls in range(0, steps, max(1, steps // 5)):
        with pytest.raises(Stop), interruptible(stop_after(calls)):
            list(linker.stream(docs, options=options, batch_tokens=64))
    again = list(linker.stream(docs, options=options))
    assert [[link.title for link in doc.links] for doc in again] == [
        [link.title for link in doc.links] for doc in whole
    ]


def test_more_windows_and_deeper_beams_have_more_steps(linker: Linker) -> None:
    short, long = [Document(SENTENCES[0])], [Document(" ".join(SENTENCES) * 10)]
    assert count_steps(linker, long, LinkOptions()) > count_steps(linker, short, LinkOptions())
    given = [Document("Hamburg won.", spans=(Span(0, 7),))]
    assert count_steps(linker, given, LinkOptions(search="beam")) > count_steps(linker, given, LinkOptions()) > 1


def test_without_anybody_who_asks_nothing_happens() -> None:
    check()
    with pytest.raises(Stop), interruptible(stop_after(0)):
        check()
    check()
