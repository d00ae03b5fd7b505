"""Titles that are dates or numbers: pages of Wikipedia, but no entities to link to."""

from __future__ import annotations

import re

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:A\.?D\.? ?)?\d{1,6}(?: ?(?:A\.?D\.?|B\.?C\.?E?\.?|C\.?E\.?))?"
_ERA = r"(?: ?(?:A\.?D\.?|B\.?C\.?E?\.?|C\.?E\.?))?"
_PATTERNS = (
    r"[+\-−]?\d[\d.,/ ]*%?",  # 42, 3.14, 1,000, 2004/05
    rf"{_YEAR}(?: in .+)?",  # 1999, 5 BC, AD 70, 1999 in music
    rf"\d+s{_ERA}(?: in .+)?",  # 1990s
    rf"\d+(?:st|nd|rd|th) (?:[Cc]entury|[Mm]illennium){_ERA}(?: in .+)?",
    rf"(?:{_MONTH})(?: {_DAY})?(?:,? {_YEAR})?",  # May, May 5, May 5, 1999, May 1999
    rf"{_DAY} (?:{_MONTH})(?:,? {_YEAR})?",
    r"\d{4}-\d{2}(?:-\d{2})?",
    r"1 E[+\-−]?\d*(?: \S+)?",  # orders of magnitude
    r".+ \(number\)",
)
_DATE_OR_NUMBER = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_MAY_BE = re.compile(rf"\d|{_MONTH}|.*\(number\)|AD |A\.D|[+\-−]")


def is_date_or_number(title: str) -> bool:
    """Whether a title names a date, a year, a century, a topic by year, or a number."""
    return _MAY_BE.match(title) is not None and _DATE_OR_NUMBER.fullmatch(title) is not None
