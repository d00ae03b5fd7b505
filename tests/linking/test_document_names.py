from __future__ import annotations

from parlink.linking.document_names import add_longer_names, find_longer
from parlink.linking.mentions import Mention
from parlink.types import Candidate, Document, Link, Span

TEXT = "Gerhard Schröder met the European Central Bank. Schröder thanked the ECB; Gerhard paid the bank of Kent."
GERHARD = Candidate("Gerhard Schröder", prior=0.9, match_type="exact")
ERNST = Candidate("Ernst Schröder", prior=0.6, match_type="part")
KENT = Candidate("Kent", prior=1.0, match_type="exact")
BANK = Candidate("European Central Bank", prior=1.0, match_type="exact")
CHOICES = {
    "Gerhard Schröder": (GERHARD,),
    "European Central Bank": (BANK,),
    "Schröder": (ERNST, Candidate("Gerhard Schröder", prior=0.1, match_type="part")),
    "ECB": (),
    "Gerhard": (),
    "Kent": (KENT,),
}


def added(choices: dict[str, tuple[Candidate, ...]], *, limit: int = 30) -> dict[str, list[Candidate]]:
    places = {"Schröder": TEXT.rindex("Schröder"), "Gerhard": TEXT.rindex("Gerhard")}
    mentions = []
    for name in choices:
        start = places.get(name, TEXT.index(name))
        mentions.append(Mention(0, Span(start, start + len(name)), "detector"))
    result = add_longer_names([Document(TEXT)], mentions, list(choices.values()), limit=limit)
    return {name: list(choice) for name, choice in zip(choices, result, strict=True)}


def test_a_part_of_a_name_gets_the_candidates_of_the_whole() -> None:
    choices = added(CHOICES)
    assert [(c.title, c.prior, c.match_type) for c in choices["Schröder"]] == [
        ("Gerhard Schröder", 0.9, "part"),
        ("Ernst Schröder", 0.6, "part"),
    ]
    assert [(c.title, c.match_type) for c in choices["Gerhard"]] == [("Gerhard Schröder", "document")]


def test_initials_get_the_candidates_of_what_they_stand_for() -> None:
    assert [(c.title, c.match_type) for c in added(CHOICES)["ECB"]] == [("European Central Bank", "document")]
    assert not find_longer({"ecb": (), "European Central Bank": (BANK,)})


def test_a_town_may_do_without_its_state_but_the_state_is_not_the_town() -> None:
    names = {"Chicago, IL": (KENT,), "Chicago": (), "IL": (), "Chicago Bulls": (BANK,), "Martin King, Jr.": (KENT,)}
    assert find_longer(names) == {"Chicago": ["Chicago, IL", "Chicago Bulls"]}
    assert find_longer({"King": (), "Martin King, Jr.": (KENT,)}) == {"King": ["Martin King, Jr."]}


def test_other_names_keep_what_they_have() -> None:
    choices = added(CHOICES)
    assert choices["Kent"] == [KENT] and choices["Gerhard Schröder"] == [GERHARD]
    assert not find_longer({"Kent": (KENT,), "Kents Bank": (BANK,), "": ()})


def test_a_longer_name_without_candidates_has_none_to_give() -> None:
    assert added({"Gerhard Schröder": (), "Schröder": (ERNST,)})["Schröder"] == [ERNST]


def test_the_limit_holds() -> None:
    assert [c.title for c in added(CHOICES, limit=1)["Schröder"]] == ["Gerhard Schröder"]


def test_documents_do_not_lend_names_to_each_other() -> None:
    docs = [Document("Gerhard Schröder"), Document("Schröder")]
    mentions = [Mention(0, Span(0, 16), "detector"), Mention(1, Span(0, 8), "detector")]
    assert add_longer_names(docs, mentions, [(GERHARD,), (ERNST,)], limit=30)[1] == (ERNST,)


def test_given_candidates_are_the_only_ones() -> None:
    text = "Gerhard Schröder and Schröder"
    given = Document(text, links=(Link(Span(21, 29), candidates=(ERNST,)),))
    mentions = [Mention(0, Span(0, 16), "detector"), Mention(0, Span(21, 29), "detector")]
    assert add_longer_names([given], mentions, [(GERHARD,), (ERNST,)], limit=30)[1] == (ERNST,)
