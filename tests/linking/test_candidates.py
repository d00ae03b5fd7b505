"""What each mention may refer to, and how many of these are scored."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parlink.config import LinkOptions, Tuned
from parlink.linking.candidates import look_up
from parlink.linking.linker import Linker
from parlink.linking.mentions import Mention
from parlink.types import Candidate, Document, Link, Span
from tiny_kb import LINES, tiny_kb
from tiny_model import tiny_checkpoint

TITLES = tuple(Candidate(f"Kent {number}") for number in range(9))
DOC = Document("Kent met Kent", links=(Link(Span(9, 13), candidates=TITLES[5:]),))
SETTINGS = LinkOptions().resolve(Tuned())
MENTIONS = [Mention(0, Span(0, 4), "given"), Mention(0, Span(9, 13), "given")]


class Generous:
    """A source that gives more than is asked for, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        self.asked.append((surface, limit))
        return TITLES


@pytest.mark.parametrize("most", [1, 3, 30])
def test_no_more_candidates_are_looked_up_than_are_allowed(most: int) -> None:
    source = Generous()
    settings = LinkOptions(max_candidates=most).resolve(Tuned())
    first, second = look_up([DOC], MENTIONS, source, settings)
    assert source.asked == [("Kent", most)]
    assert (tuple(first), tuple(second)) == (TITLES[:most], TITLES[5:][:most])


def test_a_surface_is_looked_up_once() -> None:
    source = Generous()
    doc = Document("Kent met Kent")
    first, second = look_up([doc, doc], [*MENTIONS, Mention(1, Span(0, 4), "given")], source, SETTINGS)[:2]
    assert first == second and len(source.asked) == 1


@pytest.mark.parametrize(
    ("search", "fallback"), [("rank", False), ("beam", False), ("rank", True)], ids=["rank", "beam", "all titles"]
)
def test_a_link_has_no_more_candidates_than_are_allowed(
    search: str, fallback: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kb = tiny_kb(tmp_path_factory.mktemp("kb"))
    linker = Linker(tiny_checkpoint(seed=4, spread=2.0), kb=kb, source=None if fallback else Generous())
    for most in (1, 3, len(LINES)):
        options = LinkOptions(search=search, fallback=fallback, beams=20, max_candidates=most)  # type: ignore[arg-type]
        (link,) = linker.link(Document("Kent", spans=(Span(0, 4),)), options=options).links
        assert len(link.candidates) == min(most, len(LINES) if fallback else len(TITLES))
