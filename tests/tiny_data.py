"""A data folder for recipes of a few lines, each file in the true shape of its source; all texts are ours."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.sources import RECENT_NAMES

DUMP = """<mediawiki>
<siteinfo><namespaces><namespace key="0" /><namespace key="10">Template</namespace></namespaces></siteinfo>
{pages}
</mediawiki>
"""
PAGE = "<page><title>{title}</title><id>{number}</id><revision><text>{text}</text></revision></page>"
OLD_PAGES = {
    "Mercury (planet)": "'''Mercury''' is the smallest planet of the [[Solar System]] of [[Johannes Kepler|Kepler]].",
    "Mercury": "'''Mercury''' may be:\n* [[Mercury (planet)]], a planet\n* [[Freddie Mercury]], a singer\n{{disambig}}",
    "ICJ": "#REDIRECT [[International Court of Justice]]",
    "List of planets": "* [[Mercury (planet)]]",
    "Planet": "A '''planet''' is a body that moves around a [[star]]; a [[planet]] may have a [[moon]], and [[1999]].",
}
NEW_PAGES = {
    "Kent (band)": "'''Kent''' was a Swedish rock band from [[Eskilstuna]] that sang for many years and parted."
}
BIOGRAPHY = {
    "Johannes Kepler": "'''Johannes Kepler''' was a German astronomer who wrote of the [[planet]]s of the sun."
}
SCHOOLS = [
    {
        "title": "Sweden",
        "paragraphs": [
            {
                "text": "Sweden is a country in the north of Europe with many lakes, and its capital is Stockholm.",
                "links": [[79, 88, "Stockholm"], [27, 32, "International Court of Justice"]],
                "deleted_link_starts": [27],
            }
        ],
    }
]
PAGES_2014 = [{"title": "Kent (band)", "paragraphs": [{"text": "RCA", "links": [[0, 3, "RCA Records"]]}]}]
PAGE_LINKS = [{"title": "Rock bands of Sweden", "links": ["Kent (band)", "Stockholm", "Eskilstuna"]}]
LEADS = [
    {"title": "Freddie Mercury", "text": "Freddie Mercury ( born 1946 ) was a British singer and songwriter ."},
    {"title": "Stockholm", "text": "Stockholm is the capital of Sweden , with many islands ."},
]
VITAL = {
    "Solar System": {"title": "Solar System", "extract": "The Solar System is the system of the Sun.", "topic": "x"}
}
REDIRECTS = {"Kepler,_Johannes": "Johannes_Kepler"}
TABLES = {
    "titles": [
        ("Freddie Mercury", "", 12, "kamel,ottqa,sronen_people"),
        ("Kent (band)", "Band", 5, "t2kmatch"),
        ("Stockholm", "City", 40, "t2kmatch,ottqa"),
        ("Eskilstuna", "City", 3, "t2kmatch"),
        ("Zu\u0308rich", "City", 9, "t2kmatch"),  # decomposed
        ("Zürich", "", 1, "ottqa"),
        ("!!!", "Band", 1, "t2kmatch"),
        ("Senate (Nigeria)", "Legislature", 3, "t2kmatch"),
        ("Senate of Nigeria", "", 1, "ottqa"),
        ("Eskilstuna 1", "City", 0, "t2kmatch"),
        ("List of towns", "", 1, "ottqa"),
    ],
    "names": [
        ("Kent", "Kent (band)", 3, "anchor"),
        ("Mercury", "Freddie Mercury", 10, "prior"),
        ("Farrokh Bulsara", "Freddie Mercury", 1, "alias"),
    ],
    "redirects-lower": [("queen of nigeria's senate", "Senate (Nigeria)"), ("mercury, freddie", "Freddie Mercury")],
    "facts": [
        ("Kent (band)", "Band", "genre=Alternative rock; hometown=Eskilstuna"),
        ("Stockholm", "City", "country=Sweden"),
        ("Eskilstuna", "City"),
    ],
    "ids": [("Freddie Mercury", "Q15869"), ("Stockholm", "Q1754")],
    "cased-by-text": [("Gamla stan", 7), ("Stockholm", 3)],
}
RECENT = {
    **{name: [("Eskilstuna", "place", "town in Sweden", "", "")] for name in RECENT_NAMES},
    "people": [("Zlatan Ibrahimović", "person", "Swedish footballer", "Ibrahimović | Zlatan", 4)],
    "things": [("Spotify", "organization", "Swedish music streaming company", "Spotify AB", 3)],
    "renamed": [("Gamla stan", "Old Town (Stockholm)"), ("Stockholm", "Freddie Mercury")],
}
AIDA = {
    "id": "1",
    "text": "Kent plays in Stockholm .",
    "links": [
        {"start": 0, "end": 4, "title": "Kent (band)", "candidates": [{"title": "Kent (band)", "prior": 0.4}]},
        {"start": 14, "end": 23, "title": "Stockholm"},
    ],
}


def linked(text_links: int = 1, *, kind: str = "", marks: int = 0) -> Evidence:
    """Make the evidence of a title that texts link to."""
    return Evidence(text_links=text_links, kind=kind, marks=marks)


def write_data(folder: Path) -> Path:
    """Write the folder, and return it; AIDA's training documents lie in it as train.jsonl, our own tables in recent."""
    wikipedia, knowledge = folder / "wikipedia", folder / "knowledge"
    wikipedia.mkdir(parents=True)
    knowledge.mkdir()
    (wikipedia / "enwik8.xml.gz").write_bytes(gzip.compress(_dump(OLD_PAGES)))
    (wikipedia / "enwiki-sample-2010s.xml.bz2").write_bytes(bz2.compress(_dump(NEW_PAGES)))
    (wikipedia / "enwiki-minidump-2020s.xml.bz2").write_bytes(bz2.compress(_dump(NEW_PAGES)))
    (knowledge / "featured-bios-2012.xml.gz").write_bytes(gzip.compress(_dump(BIOGRAPHY)))
    (wikipedia / "schools2007.jsonl.gz").write_bytes(_lines(SCHOOLS))
    (knowledge / "pages2014.jsonl.gz").write_bytes(_lines(PAGES_2014))
    (knowledge / "page-links.jsonl.gz").write_bytes(_lines(PAGE_LINKS))
    (knowledge / "leads.jsonl.gz").write_bytes(_lines(LEADS))
    (wikipedia / "vital-summaries.json.gz").write_bytes(gzip.compress(json.dumps(VITAL).encode()))
    (wikipedia / "redirects.json").write_text(json.dumps(REDIRECTS))
    for name, rows in TABLES.items():
        text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (knowledge / f"{name}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "recent").mkdir()
    for name, rows in RECENT.items():
        (folder / "recent" / f"{name}.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    (folder / "train.jsonl").write_text(json.dumps(AIDA) + "\n")
    return folder


def _dump(pages: dict[str, str]) -> bytes:
    written = [PAGE.format(title=title, number=n, text=text) for n, (title, text) in enumerate(pages.items(), start=1)]
    return DUMP.format(pages="\n".join(written)).encode()


def _lines(objects: list[dict[str, object]]) -> bytes:
    return gzip.compress("".join(json.dumps(each) + "\n" for each in objects).encode())
