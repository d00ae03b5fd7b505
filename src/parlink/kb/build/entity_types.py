"""The type of an entity, one of eight, from what sources call it: a word of their own, or a Wikidata class."""

from __future__ import annotations

_WORDS = {
    "person": "per people human individual character fictional_character politician artist athlete scientist writer",
    "organization": "org organisation company business institution agency club team band party university school norp",
    "place": "loc location gpe fac facility country city town village settlement region river mountain building",
    "event": "war battle election tournament competition festival disaster conflict incident",
    "work": "work_of_art film movie book song album painting series television_show video_game newspaper law",
    "product": "software vehicle device weapon drug food brand ship aircraft car",
    "species": "taxon animal plant organism genus family breed",
    "other": "misc thing concept unknown chemical disease language date",
}
# Values of P31 ("instance of") that are common in Wikidata.
_CLASSES = {
    "person": "Q5 Q15632617 Q95074",
    "organization": """Q43229 Q4830453 Q6881511 Q783794 Q891723 Q476028 Q847017 Q12973014 Q215380 Q5741069 Q7278 Q3918
        Q875538 Q902104 Q163740 Q79913 Q484652 Q327333 Q9826 Q3914 Q38723 Q31855 Q18127 Q46970 Q22687 Q2085381
        Q1616075 Q14350 Q16334295""",
    "place": """Q6256 Q3624078 Q515 Q1549591 Q1093829 Q532 Q3957 Q486972 Q5119 Q4022 Q8502 Q23397 Q23442 Q5107 Q82794
        Q35657 Q16110 Q484170 Q747074 Q262166 Q15284 Q56061 Q123705 Q165 Q9430 Q46831 Q34442 Q79007 Q12280 Q41176
        Q55488 Q1248784 Q33506 Q16970 Q23413 Q483110 Q22698 Q39816 Q8514 Q4421 Q40080 Q11303 Q3947 Q16917 Q3336843
        Q634 Q523 Q3863 Q318""",
    "event": """Q1656682 Q198 Q178561 Q40231 Q7944 Q132241 Q27020041 Q16510064 Q18608583 Q500834 Q13406554 Q1190554
        Q3839081 Q744913 Q12184""",
    "work": """Q11424 Q571 Q7725634 Q5398426 Q482994 Q7366 Q134556 Q7889 Q8261 Q25379 Q1344 Q3305213 Q860861 Q41298
        Q5633421 Q11032 Q15416 Q21191270 Q1004 Q21198342 Q63952888 Q202866 Q24862 Q93204 Q47461344 Q3331189 Q169930
        Q105543609 Q207628 Q386724 Q838948 Q24856 Q277759 Q35127""",
    "product": "Q7397 Q166142 Q9135 Q9143 Q3231690 Q11446 Q11436 Q15056993 Q19723451 Q22645 Q2424752 Q12140 Q728",
    "species": "Q16521 Q7432 Q310890 Q23038290 Q55983715 Q39367",
}
# Pages of a wiki that are no entities: disambiguation, lists, categories, templates, modules.
NO_ENTITIES = frozenset(["Q4167410", "Q13406463", "Q4167836", "Q11266439", "Q17442446", "Q15184295", "Q22808320"])

_BY_WORD = {word: kind for kind, words in _WORDS.items() for word in (kind, *words.split())}
_BY_CLASS = {number: kind for kind, numbers in _CLASSES.items() for number in numbers.split()}


def type_of(written: str) -> str:
    """Return which of `TYPES` a word or a Wikidata class is; "other" if it is none that we know."""
    word = written.strip()
    return _BY_CLASS.get(word) or _BY_WORD.get("_".join(word.lower().split()), "other")


def is_known(written: str) -> bool:
    """Whether we know what a word or a Wikidata class stands for."""
    word = written.strip()
    return word in _BY_CLASS or "_".join(word.lower().split()) in _BY_WORD
