"""Build a KB folder from sources: read, bring titles to one spelling, merge, write, rename into place."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from parlink.data.parallel import Engine, in_processes
from parlink.data.titles import read_redirects
from parlink.data.wikipedia.wikitext import normal_target
from parlink.errors import KnowledgeBaseError
from parlink.kb.build import jsonl, occurrences, sources
from parlink.kb.build.facts import Batch
from parlink.kb.build.gather import Gathering
from parlink.kb.build.ids import read_ids
from parlink.kb.build.info import write_info
from parlink.kb.build.merge import Notes, Rules, entities
from parlink.kb.build.work import open_work_folder, put_in_place, remove_remains
from parlink.kb.build.write import PAGES_A_TITLE, Written, write_tables
from parlink.kb.info import INFO_FILE, Info, Source
from parlink.kb.recovery import recover

_log = logging.getLogger(__name__)
WIKIS = frozenset(["mediawiki", "sql"])  # kinds of sources whose titles are those of Wikipedia
WIKIPEDIA_URL = "https://en.wikipedia.org/wiki/{title}"
Progress = Callable[[str, int, int], None]  # what is going on, how much of it is done, and how much there is


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How to build; `min_links` None: titles that are only linked to are not taken."""

    name: str | None = None  # None: that of the folder
    url_template: str | None = None  # None: Wikipedia's if a source is a MediaWiki dump
    ids: Sequence[Path] = ()
    redirects: Path | None = None
    min_links: int | None = 1
    processes: int | None = None  # None: one a core
    engine: Engine | None = None  # who reads dumps; None: processes of this machine
    language: str = "en"  # of a Wikidata dump
    ignored: Sequence[str] = ()  # columns and keys of one's own data that are passed over
    texts: Sequence[Path] = ()  # dumps and JSONL in which only occurrences of names are counted; else all sources
    origins: Sequence[Source] = ()  # what the sources were made from, which kb.json names in place of them
    links: Sequence[Path] = ()  # lines of {"title", "links"}, for the link graph only
    pages_a_title: int = PAGES_A_TITLE  # that the link graph keeps; 0: no graph
    link_probability: bool = True  # count how often names are links, which means to read texts twice
    replace: bool = False
    resume: bool = False  # go on with what a build that was stopped has gathered

    @property
    def mapping(self) -> Engine:
        """Return what maps over the pieces of a dump."""
        return self.engine or in_processes(self.processes)

    @property
    def read_options(self) -> sources.ReadOptions:
        """Return what the readers of sources have to know."""
        return sources.ReadOptions(engine=self.mapping, language=self.language, ignored=tuple(self.ignored))


DEFAULT = BuildOptions()


@dataclass(frozen=True)
class Report:
    """What came of a build."""

    info: Info
    examples: dict[str, list[str]]  # of what the notes of `info` count


def build(
    paths: Sequence[Path | str],
    output: Path | str,
    *,
    options: BuildOptions = DEFAULT,
    progress: Progress = lambda stage, done, whole: None,
) -> Report:
    """Build a knowledge base; the folder appears when it is complete, and nothing is left behind if it fails."""
    files, target = [Path(path) for path in paths], Path(output).absolute()
    if not files:
        raise KnowledgeBaseError("no sources given; give at least one file to build from")
    kinds = [sources.kind_of(file) for file in files]
    for beside in (*options.ids, *options.links, *options.texts, *([options.redirects] if options.redirects else [])):
        if not beside.is_file():
            raise KnowledgeBaseError(
                f"{beside}: is not there; give a file of ids, links, texts or redirects, or leave it out"
            )
    recover(target)
    remove_remains(target)
    _check_free(target, options)
    with open_work_folder(target, resume=options.resume) as work:
        facts, notes = Gathering(work), Notes()
        read = _gather(files, kinds, facts, options, progress)
        _count_occurrences(files, kinds, facts, work, options, progress)
        rules = Rules(min_links=options.min_links, wiki=not WIKIS.isdisjoint(kinds))
        progress("merging and writing", 0, 0)
        (work / "kb").mkdir()
        written = write_tables(
            entities(facts.by_title_of_now(), rules, notes),
            work / "kb",
            scratch=work,
            occurrences=facts.occurrences(),
            pages_a_title=options.pages_a_title,
        )
        info = _info(work / "kb", written, read, notes, options, name=options.name or target.name)
        put_in_place(work, target)
    return Report(info, {what: list(some) for what, some in notes.examples.items()})


def _gather(
    files: Sequence[Path], kinds: Sequence[str], facts: Gathering, options: BuildOptions, progress: Progress
) -> list[Source]:
    """Read all sources, and what is given beside them."""
    wants_numbers = "sql" in kinds
    read_options = replace(options.read_options, page_numbers=wants_numbers)
    read = []
    for number, (file, kind) in enumerate(zip(files, kinds, strict=True)):
        batches = partial(sources.read, file, kind=kind, source=number, options=read_options)
        settings = replace(read_options, engine=map)
        read.append(_read(file, kind, facts, batches, progress, settings=(number, settings)))
    if wants_numbers:
        facts.resolve_page_numbers()
    for file in options.links:
        read.append(_read(file, "links", facts, partial(jsonl.read_page_links, file), progress))
    return read + list(_read_beside(facts, options, wiki=not WIKIS.isdisjoint(kinds)))


def _read(
    file: Path,
    kind: str,
    facts: Gathering,
    batches: Callable[[], Iterator[Batch]],
    progress: Progress,
    *,
    settings: object = None,
) -> Source:
    """Read a source into a part of its own, if that is not there already."""
    checksum = sources.sha256(file)
    part = facts.open_part(kind, checksum, settings)
    entries, size, whole = 0, 0, sources.unpacked_size(file)
    progress(file.name, 0, whole)
    if part.source is not None:
        progress(file.name, whole, whole)
        return part.source
    skipped: Counter[str] = Counter()
    warnings: list[str] = []
    for batch in batches():
        part.take(batch)
        entries, size, skipped = entries + batch.entries, size + batch.size, skipped + batch.skipped
        warnings += batch.warnings
        progress(file.name, min(size, whole), whole)
    progress(file.name, whole, whole)
    for warning in warnings:
        _log.warning("%s: %s", file, warning)
    source = Source(
        path=file.name,
        kind=kind,
        sha256=checksum,
        entries=entries,
        skipped=dict(skipped),
        warnings=tuple(warnings),
    )
    return part.finish(source)


def _count_occurrences(
    files: Sequence[Path],
    kinds: Sequence[str],
    facts: Gathering,
    work: Path,
    options: BuildOptions,
    progress: Progress,
) -> None:
    """Count, in a second pass over the texts, how often what they link is a link."""
    if options.texts:
        files, kinds = options.texts, [sources.kind_of(file) for file in options.texts]
    texts = [(file, kind) for file, kind in zip(files, kinds, strict=True) if kind in occurrences.WITH_TEXTS]
    names = work / "surfaces.marisa"
    surfaces = facts.surfaces(aliases=bool(options.texts))
    if not options.link_probability or not texts or not occurrences.write_names(surfaces, names):
        return
    for file, kind in texts:
        batches = partial(occurrences.read, file, kind=kind, names=names, engine=options.mapping)
        _read(file, f"{kind} again", facts, batches, lambda stage, *step: progress(f"{stage}, names", *step))


def _read_beside(facts: Gathering, options: BuildOptions, *, wiki: bool) -> Iterator[Source]:
    """Read the tables of redirects and ids; titles of a wiki may be spelled as in its URLs."""
    if (file := options.redirects) is not None:
        redirects = read_redirects(file)
        if wiki:
            redirects = {old: new.partition("#")[0] or new for old, new in redirects.items()}  # no section
        taken = facts.take_redirects(redirects)
        yield Source(path=file.name, kind="redirects", sha256=sources.sha256(file), entries=taken)
    for file in options.ids:
        pairs = ((normal_target(title) if wiki else title, identifier) for title, identifier in read_ids(file))
        yield Source(path=file.name, kind="ids", sha256=sources.sha256(file), entries=facts.take_ids(pairs))


def _info(
    folder: Path, written: Written, read: Sequence[Source], notes: Notes, options: BuildOptions, *, name: str
) -> Info:
    wiki = any(source.kind in WIKIS for source in read)
    return write_info(
        folder,
        written,
        name=name,
        url_template=options.url_template or (WIKIPEDIA_URL if wiki else None),
        id_scheme="own" if written.id_scheme == "page" and not wiki else None,
        sources=options.origins or read,
        notes=notes.counts,
    )


def _check_free(target: Path, options: BuildOptions) -> None:
    if not target.exists():
        return
    if not (target / INFO_FILE).is_file():
        raise KnowledgeBaseError(f"{target}: there already, and no knowledge base; give another folder")
    if not options.replace:
        raise KnowledgeBaseError(f"{target}: there already; give another folder, or ask to replace it")
