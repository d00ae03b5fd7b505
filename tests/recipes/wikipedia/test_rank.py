from __future__ import annotations

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.rank import choose
from tiny_data import linked


def test_common_nouns_without_links_rank_above_what_only_lists_know() -> None:
    pool = Pool(
        {"Listed": Evidence(), "Seen": Evidence(seen=50), "Alias rich": Evidence(redirects=9), "Linked": linked()}
    )
    assert choose(pool, 3) == {"Linked", "Seen", "Alias rich"}
    assert choose(pool, None) == set(pool.titles)


def test_what_news_may_mean_ranks_above_other_lists() -> None:
    pool = Pool({name: Evidence(lists=frozenset([name])) for name in ("dwie", "kamel")})
    assert choose(pool, 1) == {"dwie"}
