"""What a lead says that its subject is: the noun phrase after "is a", and its head noun."""

from __future__ import annotations

import re
from itertools import pairwise

_BRACKETS = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
_ADVERBS = """also now currently formerly usually either both primarily officially originally generally often today once
    still then commonly"""
_CLASSIFIERS = "name title term word type kind form style class set group series collection variety member"
_IS = re.compile(
    rf"\b(?:is|was|are|were|refers to|has been|became)(?: (?:{'|'.join(_ADVERBS.split())}))? "
    r"(?:(?:one|part|any|some|each|two|three|four|five|several) of (?:the )?|(?:a|an|the|any)\b"
    rf"(?: (?:{'|'.join(_CLASSIFIERS.split())}) (?:given to|for|of) (?:a |an |the )?)?)\s*"
)
_CLAUSES = """who which that whose where when located situated based born best known founded licensed established
    operated owned developed published released directed written produced designed created used named formed played
    headquartered serving competing playing starring featuring containing consisting held built made set being
    having covering found native endemic currently formerly while because although also and/or but as with"""
_PREPOSITIONS = """in of from for by at on to near between during within under over among into about against along and
    or"""
_DETERMINERS = "the a an its his her their both former u.s. first second third north south east west"
_EMPTY = """a an the as is was are were be it he she they that this which who with its his her their one two three four
    five several many most"""
_STOP, _JOIN = frozenset(_CLAUSES.split()), frozenset(_PREPOSITIONS.split())
_LAST = _JOIN | frozenset(_DETERMINERS.split())
_EMPTY_ENDS = _JOIN | frozenset(_EMPTY.split())  # in small letters: "Division Two" is a name
_PARTICIPLE = re.compile(
    r"[a-z-]+(?:ed|ing|wn)|spoken|written|given|broadcast|annually|originally|primarily|loosely|together|mainly|home"
)
_LONGEST = 8
MOST_CHARACTERS = 100


def space_punctuation(text: str) -> str:
    """Part commas and full stops from words, as the leads of tables have it."""
    return text.replace(",", " ,").replace(". ", " . ")


def noun_phrase(lead: str) -> str | None:
    """Return the noun phrase after "is a", at most eight words, without its article.

    >>> noun_phrase("Alan Shearer ( born 1970 ) is an English former footballer who played as a striker .")
    'English former footballer'
    >>> noun_phrase("Paris is the capital and most populous city of France , with 2,148,271 residents .")
    'capital and most populous city of France'
    """
    plain = lead
    while (shorter := _BRACKETS.sub("", plain)) != plain:
        plain = shorter
    match = _IS.search(plain)
    if match is None:
        return None
    words = _take_phrase(plain[match.end() :].split())
    if words and match[0].split()[1:3] == ["one", "of"]:
        words = ["one", "of", "the", *words]
    phrase = " ".join(words).replace(" 's", "'s").rstrip(" .,")
    return phrase[:MOST_CHARACTERS] or None


def _take_phrase(following: list[str]) -> list[str]:
    """Return the words that belong to the phrase, up to a clause, a participle or a full stop."""
    words: list[str] = []
    for word, after in pairwise([*following, "."]):
        if word == "," and len(words) < 2:
            continue  # "a philosophical , social and political ideology"
        if len(words) == _LONGEST or _ends_phrase(word) or _is_clause(words, word, after):
            break
        words.append(word)
        if _ends_sentence(word):
            break
    while words and (words[-1].lower() in _LAST or words[-1] in _EMPTY_ENDS):
        words.pop()
    return words


def drop_last_words(words: list[str]) -> list[str]:
    """Return a phrase without function words at its end.

    >>> drop_last_words("coastal city and is one".split())
    ['coastal', 'city']
    """
    end = len(words)
    while end and words[end - 1] in _EMPTY_ENDS:
        end -= 1
    return words[:end]


def _is_clause(words: list[str], word: str, after: str) -> bool:
    """Whether a participle begins a clause: "... played by", but not "an American microblogging and ... service"."""
    return bool(words) and _PARTICIPLE.fullmatch(word) is not None and after in _JOIN - {"and", "or"}


def _ends_phrase(word: str) -> bool:
    is_mark = not word[0].isalnum() and word not in ("'s", "&")
    return word.lower() in _STOP or is_mark or word[-1] in ",;:"


def _ends_sentence(word: str) -> bool:
    return word.endswith(".") and len(word) > 2 and word.count(".") == 1 and word not in ("St.", "Jr.", "Dr.")


def head_nouns(phrase: str) -> list[str]:
    """Return the words that may say what kind of thing a phrase names, the most telling first.

    >>> head_nouns("American singer and television host")
    ['singer', 'host']
    >>> head_nouns("species of flowering plant in the family")
    ['species', 'plant', 'family']
    """
    heads: list[str] = []
    last = ""
    for word in [*phrase.split(), "of"]:
        if word.lower() in _JOIN or word == "&":
            if last:
                heads.append(last)
            last = ""
        else:
            last = word.lower().strip("'\"").removesuffix("'s")
    return heads
