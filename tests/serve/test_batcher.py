from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.config import LinkOptions
from parlink.linking.linker import Linker
from parlink.serve.batcher import Batcher, BusyError, TooMuchWorkError
from parlink.serve.lane import RECENT, Lane, link_together
from parlink.serve.settings import Settings
from parlink.serve.work import estimate_work
from parlink.types import Candidate, Document, Link, Span
from tiny import SENTENCES
from tiny_model import tiny_checkpoint

OPTIONS = LinkOptions()
LONG = " ".join(SENTENCES) * 10  # keeps the model busy for some tenths of a second
MENTION = Span(0, 7)
# A lone surrogate has no tokens: the candidates of this document cannot be scored, nor those of any batch it is in.
POISON = Document("Hamburg won.", links=(Link(MENTION, candidates=(Candidate("\ud800"),)),), spans=(MENTION,))


class Sizes(list[int]):
    """The sizes of the batches that were linked."""

    def observe(self, docs: Sequence[Document]) -> None:
        self.append(len(docs))


@asynccontextmanager
async def started(
    linker: Linker, sizes: Sizes | None = None, *, batch: int = 8, waiting: int = 64, **settings: Any
) -> AsyncIterator[Batcher]:
    observe = (Sizes() if sizes is None else sizes).observe
    given = {"patience": 1000.0, "seconds": 1000.0, "small_work": 10**6, "work": 10**9} | settings
    batcher = Batcher(linker, Settings(batch=batch, waiting=waiting, **given), observe=observe)
    await batcher.start()
    try:
        yield batcher
    finally:
        await batcher.stop()


def shape(doc: Document) -> list[tuple[Span, str | None, str | None]]:
    return [(link.span, link.title, link.reason) for link in doc.links]


texts = st.lists(st.sampled_from([*SENTENCES, "Kent 😀 beat Hamburg.", "", "a"]), min_size=1, max_size=5)


@settings(max_examples=25)
@given(st.lists(texts, min_size=1, max_size=6), st.integers(1, 8))
def test_everybody_gets_the_links_of_their_own_documents_in_order(
    linker: Linker, requests: list[list[str]], batch: int
) -> None:
    async def scenario() -> list[list[Document]]:
        async with started(linker, batch=batch) as batcher:
            asked = [batcher.link([Document(text) for text in texts], OPTIONS) for texts in requests]
            return await asyncio.gather(*asked)

    answers = asyncio.run(scenario())
    for texts, answer in zip(requests, answers, strict=True):
        assert [doc.text for doc in answer] == texts
        assert [shape(doc) for doc in answer] == [shape(linker.link(text)) for text in texts]


def test_documents_that_arrive_while_the_model_works_go_together(linker: Linker) -> None:
    sizes = Sizes()

    async def scenario() -> None:
        async with started(linker, sizes) as batcher:
            first = asyncio.create_task(batcher.link([Document(LONG)], OPTIONS))
            await asyncio.sleep(0.02)
            await asyncio.gather(first, *(batcher.link([Document(text)], OPTIONS) for text in SENTENCES))

    asyncio.run(scenario())
    assert sizes == [1, len(SENTENCES)]


def test_a_client_that_is_alone_never_waits_for_others(linker: Linker) -> None:
    async def scenario() -> float:
        async with started(linker, wait=5.0) as batcher:
            began = time.monotonic()
            for number in (1, 3, 1, 1):
                await batcher.link([Document("Hamburg won.")] * number, OPTIONS)
            return time.monotonic() - began

    assert asyncio.run(scenario()) < 5.0


def test_clients_that_were_answered_together_are_awaited_together(linker: Linker) -> None:
    sizes = Sizes()

    async def client(batcher: Batcher, pause: float) -> None:
        for _ in range(3):
            await batcher.link([Document("Hamburg won.")], OPTIONS)
            await asyncio.sleep(pause)  # the first comes back before the others do

    async def scenario() -> None:
        async with started(linker, sizes, wait=1.0) as batcher:
            await asyncio.gather(*(batcher.link([Document("Kent won.")], OPTIONS) for _ in range(4)))
            await asyncio.gather(*(client(batcher, 0.005 * number) for number in range(4)))

    asyncio.run(scenario())
    assert sizes[:4] == [4, 4, 4, 4]


def test_only_documents_with_equal_options_and_like_length_share_a_batch(linker: Linker) -> None:
    sizes = Sizes()
    other = LinkOptions(mention_threshold=100.0)

    async def scenario() -> list[list[Document]]:
        async with started(linker, sizes) as batcher:
            short, long = [Document("Hamburg won.")], [Document(LONG)]
            asked = [(short, OPTIONS), (short, other), (long, OPTIONS), (short, OPTIONS)]
            return await asyncio.gather(*(batcher.link(docs, options) for docs, options in asked))

    answers = asyncio.run(scenario())
    assert sorted(sizes) == [1, 1, 2]
    assert answers[1][0].links == ()
    assert answers[0][0].links


def test_a_poisoned_document_fails_alone(linker: Linker) -> None:
    (alone,) = linker.stream([POISON])
    assert alone.error is not None
    assert "surrogate" in alone.error
    docs = [Document("Hamburg won."), POISON, Document("Kent won.")]
    first, second, third = link_together(linker, docs, OPTIONS)
    assert (first.error, third.error) == (None, None)
    assert second.error is not None
    assert "surrogate" in second.error
    assert [shape(first), shape(third)] == [shape(linker.link(docs[0])), shape(linker.link(docs[2]))]


class BrokenTable:
    """A source of candidates that fails for all surfaces but one."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        return [Candidate({"Kent": "Kent"}[surface])]


def test_an_unexpected_failure_is_logged_without_the_text(caplog: pytest.LogCaptureFixture) -> None:
    linker = Linker(tiny_checkpoint(seed=3), source=BrokenTable())
    docs = [Document("Kent won.", spans=(Span(0, 4),)), Document("Secret won.", spans=(Span(0, 6),))]
    first, second = link_together(linker, docs, OPTIONS)
    assert first.links[0].title == "Kent"
    assert second.error == "internal error; the log of the service says where"
    assert "KeyError" in caplog.text
    assert "Secret" not in caplog.text


def test_the_queue_is_bounded_and_whoever_gives_up_leaves_it(linker: Linker) -> None:
    async def scenario() -> None:
        async with started(linker, waiting=3) as batcher:
            busy = asyncio.create_task(batcher.link([Document(LONG)], OPTIONS))
            await asyncio.sleep(0.02)
            three = asyncio.create_task(batcher.link([Document("a")] * 3, OPTIONS))
            await asyncio.sleep(0)
            assert (len(batcher), batcher.explain_unready()) == (3, "3 documents are waiting")
            with pytest.raises(BusyError, match="3 documents are waiting"):
                await batcher.link([Document("b")], OPTIONS)
            three.cancel()
            await asyncio.gather(three, return_exceptions=True)
            assert (len(batcher), batcher.explain_unready()) == (0, None)
            (doc,) = await batcher.link([Document("b")], OPTIONS)
            assert doc.text == "b"
            await busy

    asyncio.run(scenario())


def test_stopping_finishes_what_was_accepted(linker: Linker) -> None:
    async def scenario() -> list[list[Document]]:
        async with started(linker, batch=1) as batcher:
            asked = [asyncio.create_task(batcher.link([Document(text)], OPTIONS)) for text in SENTENCES]
            await asyncio.sleep(0)
        return await asyncio.gather(*asked)

    assert [doc.text for (doc,) in asyncio.run(scenario())] == list(SENTENCES)


def test_a_model_that_does_not_run_is_not_ready(linker: Linker) -> None:
    assert Batcher(linker, Settings()).explain_unready() == "the model does not run"


HARD = LinkOptions(mention_threshold=-10.0, search="beam", beams=20)
BOOK = Document(" ".join(SENTENCES) * 200)  # keeps the model busy for many seconds


def test_work_that_nobody_waits_for_stops(linker: Linker) -> None:
    async def scenario() -> float:
        async with started(linker) as batcher:
            asked = asyncio.create_task(batcher.link([BOOK], HARD))
            await asyncio.sleep(0.3)
            assert batcher.age > 0.1
            asked.cancel()
            began = time.monotonic()
            while batcher.age:
                await asyncio.sleep(0.001)
            stopped = time.monotonic() - began
            began = time.monotonic()
            await batcher.link([BOOK], HARD)
            return stopped / (time.monotonic() - began)

    assert asyncio.run(scenario()) < 0.5


def test_a_batch_goes_on_while_one_of_its_clients_waits(linker: Linker) -> None:
    async def scenario() -> Document:
        async with started(linker) as batcher:
            busy = asyncio.create_task(batcher.link([Document(LONG)], OPTIONS))
            await asyncio.sleep(0.02)
            gone, stays = (asyncio.create_task(batcher.link([Document("Kent won.")], OPTIONS)) for _ in range(2))
            while len(batcher):
                await asyncio.sleep(0)
            gone.cancel()
            await busy
            return (await stays)[0]

    assert shape(asyncio.run(scenario())) == shape(linker.link("Kent won."))


def test_small_requests_do_not_wait_for_large_ones(linker: Linker) -> None:
    async def scenario() -> bool:
        async with started(linker, small_work=1_000) as batcher:
            book = asyncio.create_task(batcher.link([BOOK], OPTIONS))
            await asyncio.sleep(0.05)
            for _ in range(3):
                await batcher.link([Document("Kent won.")], OPTIONS)
            early = not book.done()
            book.cancel()
            return early

    assert asyncio.run(scenario())


@pytest.mark.parametrize(("usual", "lane"), [(False, "large"), (True, "small")])
def test_a_search_of_all_titles_is_small_only_where_the_service_has_made_its_tree(
    linker: Linker, usual: bool, lane: str
) -> None:
    async def scenario() -> int:
        batcher = Batcher(linker, Settings(), options=LinkOptions(fallback=usual))
        task = asyncio.create_task(batcher.link([Document("Kent won.")], LinkOptions(fallback=True)))
        await asyncio.sleep(0)
        waiting = len(getattr(batcher, lane))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return waiting

    assert asyncio.run(scenario()) == 1


def test_what_could_not_be_answered_in_time_is_refused_at_once(linker: Linker) -> None:
    async def scenario() -> None:
        async with started(linker, waiting=10_000, patience=0.5) as batcher:
            asked = []
            with pytest.raises(BusyError, match="promised") as refused:
                for _ in range(10_000):
                    asked.append(asyncio.create_task(batcher.link([Document(SENTENCES[0])], OPTIONS)))
                    await asyncio.sleep(0)
                    for task in asked:
                        if task.done() and task.exception() is not None:
                            task.result()
            assert refused.value.retry_after >= 1
            assert batcher.small.predict() < 2.0  # no more was let in than the patience allows, and a batch
            await asyncio.gather(*asked, return_exceptions=True)
            assert batcher.explain_unready() is None

    asyncio.run(scenario())


def test_a_document_of_twice_those_that_wait_is_known_to_be_refused_before_it_is_read(linker: Linker) -> None:
    async def scenario() -> None:
        doc, longer = Document(SENTENCES[0]), Document(2 * SENTENCES[0])
        seconds = float(estimate_work([doc], OPTIONS, linker.tuned))  # at a speed of 1, which is that of the start
        batcher = Batcher(linker, Settings(patience=3.5 * seconds, small_work=10**6))
        assert not batcher.is_busy
        tasks = [asyncio.create_task(batcher.link([doc], OPTIONS)) for _ in range(2)]
        await asyncio.sleep(0)
        assert batcher.small.predict() == 2 * seconds and batcher.is_busy
        with pytest.raises(BusyError):
            await batcher.link([longer], OPTIONS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert batcher.small.predict() == 0 and batcher.small.mean_work == 0  # who went away waits no more

    asyncio.run(scenario())


def test_the_slowest_of_the_last_batches_tells_how_long_the_next_may_take(linker: Linker) -> None:
    lane = Lane(linker, batch=8, wait=0.0, observe=lambda docs: None)
    for seconds in (1.0, 4.0, *[1.0] * (RECENT - 1)):
        lane._measure(100.0, seconds, finished=True)
    assert lane.predict(100.0) == 4.0  # though the mean has long forgotten it
    lane._measure(100.0, 1.0, finished=True)
    assert lane.predict(100.0) < 1.2


def test_too_much_work_is_refused_whatever_its_length(linker: Linker) -> None:
    spans = tuple(Span(0, 7) for _ in range(2_000))
    asked = [
        (Document("Hamburg won.", spans=spans), LinkOptions(fallback=True, beams=20)),
        (Document("Hamburg won. " * 7_000), LinkOptions(fallback=True, beams=20, mention_threshold=-10.0)),
    ]

    async def scenario() -> None:
        async with started(linker, work=400_000) as batcher:
            for doc, options in asked:
                with pytest.raises(TooMuchWorkError, match="at most 400,000"):
                    await batcher.link([doc], options)

    asyncio.run(scenario())


@pytest.mark.parametrize("mark", ["\u0301", "👩\u200d👧", "中", "\x01", "~"])
def test_what_has_a_token_a_character_is_more_work_than_words(linker: Linker, mark: str) -> None:
    words, odd = (estimate_work([Document((text * 8_000)[:8_000])], OPTIONS, linker.tuned) for text in ("word ", mark))
    assert 2 * words < odd < 16 * words
    prose = "In Zürich, Mr. O'Neill said: “That's 5 % more than we hoped for.” Nobody asked why. "
    assert estimate_work([Document(prose * 90)], OPTIONS, linker.tuned) < 2 * words


def test_many_documents_go_in_batches_of_bounded_work(linker: Linker) -> None:
    sizes = Sizes()

    async def scenario() -> float:
        async with started(linker, sizes, batch=1_000, waiting=1_000) as batcher:
            await asyncio.gather(*(batcher.link([Document(text)], OPTIONS) for text in SENTENCES * 50))
            return batcher.small.speed

    speed = asyncio.run(scenario())
    assert speed > 0
    assert len(sizes) > 1
    assert sum(sizes) == 50 * len(SENTENCES)


def test_stopping_ends_what_cannot_be_finished(linker: Linker) -> None:
    async def scenario() -> float:
        async with started(linker, seconds=1e9, patience=1e9) as batcher:
            asked = [asyncio.create_task(batcher.link([BOOK], HARD)) for _ in range(3)]
            await asyncio.sleep(0.05)
            began = time.monotonic()
            await batcher.stop(0.1)
            stopped = time.monotonic() - began
            for task in asked:
                with pytest.raises(BusyError, match="stopping"):
                    await task
            with pytest.raises(BusyError, match="stopping"):
                await batcher.link([Document("a")], OPTIONS)
            return stopped

    assert asyncio.run(scenario()) < 10.0


def test_readiness_knows_the_age_of_the_running_job(linker: Linker) -> None:
    async def scenario() -> str | None:
        async with started(linker, seconds=0.05, patience=1000.0) as batcher:
            asked = asyncio.create_task(batcher.link([BOOK], HARD))
            await asyncio.sleep(0.3)
            reason = batcher.explain_unready()
            asked.cancel()
            return reason

    assert re.fullmatch(r"a job has been running for \d+ s", asyncio.run(scenario()) or "")
