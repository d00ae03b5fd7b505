"""Which titles each page links to, for the link graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from itertools import chain

from recipes.wikipedia.pool import Pool
from recipes.wikipedia.texts import AIDA_PAGE, Texts


def gather_page_links(pool: Pool, titles: Container[str], texts: Texts) -> Iterator[tuple[str, list[str]]]:
    """Yield pages with the titles they link to, of those that are kept; a page that says nothing is passed over.

    Rows of one page are united. Documents of AIDA are pages that have no title.
    """
    pages: defaultdict[str, set[str]] = defaultdict(set)
    for title, links in chain(texts.pages, texts.table_pages):
        page = title if title.startswith(AIDA_PAGE) else pool.now(title) or title
        pages[page].update(now for link in links if (now := pool.now(link)) is not None and now in titles)
    for page, targets in pages.items():
        if len(targets) > 1 or (targets and page in titles):
            yield page, sorted(targets)
