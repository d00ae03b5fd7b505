"""How often names are links where they occur."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.data import parallel
from parlink.kb import arrays, surfaces
from parlink.kb.build.build import BuildOptions, build
from parlink.kb.build.link_probability import IS_GUESS, SCALE, join
from parlink.kb.names import form
from parlink.kb.shapes import SHAPES, shape
from parlink.kb.tables import Tables
from tiny_kb import write_lines


def probabilities(folder, surface):
    """The probability of each name that is spelled like a surface, and whether it is a guess."""
    columns = arrays.open_mapped(folder / "arrays.safetensors")
    first, last = Tables.open(folder)._range(surfaces.key(surface))
    places = [place for place in range(first, last) if columns["name_form"][place] == form(surface)]
    values = [int(linked) for linked in arrays.Column.of(columns, "name_linked")[np.array(places, int)]]
    guess = int(columns["shape_linked"][shape(surface)])
    return [((guess if value & IS_GUESS else value) / SCALE, bool(value & IS_GUESS)) for value in values]


def shrink(linked, occurs, mean):
    """What a count says, with a mean that is worth four pages, of two digits."""
    return pytest.approx((linked + 4 * mean) / (occurs + 4), abs=5.1e-3)


def count_names(*pages):
    """Columns of names of one shape, given on how many pages each occurs and is a link."""
    names = [(f"n{number}", 0, 0) for number in range(len(pages))]
    seen = [
        ((f"n{number}", 0, what), count) for number, counts in enumerate(pages) for what, count in enumerate(counts)
    ]
    return join(names, seen)


def article(title, text, *links):
    return {
        "title": title,
        "paragraphs": [{"text": text, "links": [[start, end, target] for start, end, target in links]}],
    }


LINES = [
    article("A", "Kent lies by the sea. Kent again.", (0, 4, "Kent"), (17, 20, "Sea")),
    article("B", "In Kent, by the sea; Kentish."),
    article("C", "Kent County and the sea.", (0, 11, "Kent County Council")),
    article("D", "Under the sea."),
    {"title": "Listed Name", "aliases": ["Rye"]},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb")
    build([write_lines(folder / "a.jsonl", LINES)], folder / "kb")
    return folder / "kb"


def test_pages_with_a_link_are_divided_by_pages_with_the_name(folder):
    mean = (1 / 2 + 1 / 4 + 1) / 3  # which is worth a name of each shape
    assert probabilities(folder, "Kent") == [(shrink(1, 2, (1 / 2 + mean) / 2), False)]  # not within a longer link
    assert probabilities(folder, "sea") == [(shrink(1, 4, (1 / 4 + mean) / 2), False)]
    assert probabilities(folder, "Kent County") == [(shrink(1, 1, (1 + mean) / 2), False)]


def test_the_more_pages_the_less_do_names_that_look_alike_say():
    columns = count_names((1000, 0), (2, 0), (2, 2), (0, 0))
    often, seldom, both, never = columns.names.tolist()
    assert often / SCALE == pytest.approx(0.0, abs=5.1e-3)
    assert 0.1 < seldom / SCALE < columns.shapes[0] / SCALE < both / SCALE < 0.9
    assert never == IS_GUESS


def test_a_page_says_nothing_of_its_subject_and_of_parts_of_its_links(tmp_path):
    lines = [
        article("Alan Shearer", "Shearer scored. Alan Shearer."),
        article("B", "Alan Shearer is here, and Shearer.", (0, 12, "Alan Shearer")),
        article("C", "Shearer", (0, 7, "Alan Shearer")),
    ]
    build([write_lines(tmp_path / "a.jsonl", lines)], tmp_path / "kb")
    assert probabilities(tmp_path / "kb", "Shearer") == probabilities(tmp_path / "kb", "Alan Shearer") == [(1.0, False)]
    more = [*lines, article("D", "Shearer, not linked.")]
    build([write_lines(tmp_path / "b.jsonl", more)], tmp_path / "more")
    assert probabilities(tmp_path / "more", "Shearer")[0][0] < 1


def test_names_that_no_text_has_get_the_mean_of_their_shape_and_say_so(folder):
    ((probability, is_guess),) = probabilities(folder, "Rye")
    assert is_guess
    assert 0 < probability < 1


def test_dumps_are_counted_alike_by_one_process_and_several(tmp_path, monkeypatch):
    pages = "".join(
        f"<page><title>{title}</title><revision><text>{text}</text></revision></page>"
        for title, text in {
            "A": "[[Kent]] lies by the sea.",
            "B": "Kent, {{x|[[Kent]]}} the [[sea]].",
            "C": "Kent",
        }.items()
    )
    (tmp_path / "a.xml").write_text(f"<mediawiki>{pages}</mediawiki>")
    build([tmp_path / "a.xml"], tmp_path / "kb")
    mean = (1 / 3 + 1 / 2) / 2
    assert probabilities(tmp_path / "kb", "Kent") == [(shrink(1, 3, (1 / 3 + mean) / 2), False)]
    assert probabilities(tmp_path / "kb", "sea") == [(shrink(1, 2, (1 / 2 + mean) / 2), False)]
    monkeypatch.setattr(parallel, "SMALL_FILE", 0)
    build([tmp_path / "a.xml"], tmp_path / "again", options=BuildOptions(processes=2))
    files = ["arrays.safetensors", "links.safetensors"]
    assert [(tmp_path / "kb" / f).read_bytes() for f in files] == [(tmp_path / "again" / f).read_bytes() for f in files]


def test_no_column_if_nothing_was_counted(tmp_path):
    source = write_lines(tmp_path / "a.jsonl", LINES)
    build([source], tmp_path / "kb", options=BuildOptions(link_probability=False))
    assert "name_linked" not in arrays.open_mapped(tmp_path / "kb" / "arrays.safetensors")


@given(st.text())
def test_every_surface_has_a_shape(surface):
    assert 0 <= shape(surface) < SHAPES


def test_shapes_tell_words_capitals_and_length_apart():
    assert len({shape(name) for name in ("Kent", "kent", "KENT", "Kent County", "kent County", "Kentish town")}) == 6
    assert shape("Kent") == shape("York")
