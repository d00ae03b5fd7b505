"""Our links against those of mwparserfromhell, on wikitext of ours.

Where the two differ on purpose:
- We join the letters that follow a link to its anchor, as MediaWiki shows it ([[bus]]es).
- An underscore in the target is shown as a space where the link has no label.
- A target that a template makes ([[{{x}}]]) is not known here.
- Links to files, categories, other wikis and sections are no links to articles.
- mwparserfromhell reads a link in a link's label (only files and images have those in MediaWiki), and reads templates
  and tags that are broken off in its own way: the random texts below have whole ones only.
"""

from __future__ import annotations

import mwparserfromhell
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.data.wikipedia.wikitext import links, normal_target


def oracle_links(wikitext: str) -> list[tuple[str, str]]:
    """Anchor and target of every link, in order."""
    parsed = mwparserfromhell.parse(wikitext, skip_style_tags=True)
    pairs = []
    for link in parsed.filter_wikilinks(recursive=True):
        anchor = str(link.title).replace("_", " ") if link.text is None else link.text.strip_code()
        pairs.append((" ".join(anchor.replace("''", "").split()), normal_target(str(link.title))))
    return pairs


@pytest.mark.parametrize(
    "wikitext",
    [
        "The [[Elbe]] and the [[Weser|river Weser]].",
        "{{box|[[Elbe]]|x={{y|[[Weser|w]]}}}} [[Oder]]",
        "{| class=x\n| [[Elbe]]\n|-\n| [[Weser|w]]\n|}",
        "A<ref>[[Elbe]] {{cite|[[Weser]]}}</ref> [[Oder]]",
        "<nowiki>[[Elbe]]</nowiki> [[Weser]]",
        "<pre>[[Elbe]]</pre> [[Weser]]",
        "<!-- [[Elbe]] --> [[Weser]]",
        "<math>[[Elbe]]</math> [[Weser]]",
        "[[Elbe#Course|course]] [[new_york|it]]",
        "[[Elbe\nriver]] [[Weser|the\nriver]]",
        "[[Elbe|''the'' river]] [[Weser",
        "[http://a.b [[Elbe]]] [[Weser]]",
        "* [[Elbe]]\n*# [[Weser]]\n== [[Oder]] ==",
        "[[Elbe]]]] {{ [[Weser]]",
        "[[<b>]] [[a{b]] [[Oder]]",
    ],
)
def test_links_of_hand_written_wikitext(wikitext: str) -> None:
    assert list(links(wikitext)) == [pair for pair in oracle_links(wikitext) if all(pair)]


words = st.sampled_from(["Elbe", "Weser river", "Saxony", "a_b", "Tom & Jerry", "ü", "C++", "the (x)", "1,5"])
plain = st.lists(st.sampled_from(["flows ", "to ", "'' ", "''' ", "&amp; ", "- ", "(", ") ", ", ", "\n\n"])).map(
    "".join
)
link = st.one_of(words.map("[[{}]] ".format), st.tuples(words, words).map("[[{0[0]}|{0[1]}]] ".format))
wholes = [
    "{{{{box|{}}}}}",
    "<ref>{}</ref>",
    "<nowiki>{}</nowiki>",
    "<!--{}-->",
    "<pre>{}</pre>",
    "<b>{}</b>",
    "\n* {}\n",
]
pieces = st.recursive(
    st.one_of(plain, link),
    lambda inner: st.tuples(st.sampled_from(wholes), st.lists(inner, max_size=3).map("".join)).map(
        lambda pair: pair[0].format(pair[1])
    ),
    max_leaves=8,
)


@given(st.lists(pieces, max_size=5).map("".join))
def test_links_of_random_wikitext(wikitext: str) -> None:
    expected = [pair for pair in oracle_links(wikitext) if all(pair)]
    assert list(links(wikitext)) == expected
