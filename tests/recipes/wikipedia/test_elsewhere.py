from __future__ import annotations

from recipes.wikipedia.collect import NameRow, Tables
from recipes.wikipedia.elsewhere import merge_elsewhere
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.texts import Texts
from tiny_data import linked


def tables_of(*names: NameRow) -> Tables:
    return Tables(list(names), {}, {}, [], {}, frozenset(), {})


def test_a_title_whose_spelling_links_elsewhere_is_merged_from_five_links_on() -> None:
    court = "International Court of Justice"
    for links, now in ((4, "ICJ"), (5, court)):
        pool = Pool({"ICJ": linked(2), court: linked(20, kind="Legislature")})
        texts = Texts()
        texts.links.update({("ICJ", court): links, ("ICJ", "ICJ"): 2})
        merge_elsewhere(pool, texts, tables_of())
        assert pool.now("ICJ") == now


def test_a_bare_name_is_left_out_and_not_merged() -> None:
    pool = Pool({"Sitka": linked(), "Sitka, Alaska": linked(20, kind="City")})
    merge_elsewhere(pool, Texts(), tables_of(NameRow("Sitka", "Sitka, Alaska", 90, "prior")))
    assert "Sitka" not in pool.titles and pool.now("Sitka") is None
