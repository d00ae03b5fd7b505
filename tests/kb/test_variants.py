"""Surfaces that no name has are found by other spellings, and only then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.kb.variants import variants
from parlink.kb.view import VARIANT
from tiny_kb import tiny_kb

LINES = [{"title": "Campbell Soup"}, {"title": "Tumor"}, {"title": "Kent", "aliases": ["Kents"]}, {"title": "Ann Lee"}]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    return tiny_kb(tmp_path_factory.mktemp("kb"), LINES)


@pytest.mark.parametrize(
    ("surface", "title"),
    [
        ("Campbell Soup Co.", "Campbell Soup"),
        ("tumors", "Tumor"),
        ("Senator Ann Lee", "Ann Lee"),
        ("Kent, Ohio", "Kent"),
    ],
)
def test_another_spelling_finds_it(kb, surface, title):
    assert [(c.title, c.match_type) for c in kb.candidates(surface)] == [(title, VARIANT)]


def test_a_known_name_is_not_changed(kb):
    assert [c.match_type for c in kb.candidates("Kents")] == ["exact"]


def test_nothing_is_found_where_no_spelling_is_known(kb):
    assert list(kb.candidates("Zurich Inc.")) == []


@given(st.text(max_size=120))
def test_variants_are_few_and_never_empty(surface):
    assert all(variants(surface))
    assert len(list(variants(surface))) < 12
