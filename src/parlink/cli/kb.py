"""`parlink kb`: build a knowledge base, look into it, change it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parlink.cli.engine import ADDRESS, ENGINE, EngineName, choose_engine
from parlink.cli.kb_inspect import AsJson, Folder, Overlay, check, diff, lookup, merge

if TYPE_CHECKING:
    from parlink.kb import KnowledgeBase
    from parlink.kb.build.build import Report
    from parlink.kb.info import Info

app = typer.Typer(no_args_is_help=True)

Title = Annotated[str, typer.Argument(help="Title of the entity.")]


@app.callback()
def kb() -> None:
    """Build a knowledge base, look into it, change it."""


@app.command()
def build(
    sources: Annotated[
        list[Path], typer.Argument(help="JSONL, CSV, TSV, Parquet, TXT, MediaWiki XML and SQL, Wikidata JSON.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make.")],
    name: Annotated[str | None, typer.Option(help="Name shown in results; default: that of the folder.")] = None,
    ids: Annotated[list[Path] | None, typer.Option(help="Title and id: CSV, TSV, JSON; or a dump.")] = None,
    redirects: Annotated[Path | None, typer.Option(help="JSON object: title to current title.")] = None,
    url_template: Annotated[str | None, typer.Option(help="Such as https://example.org/{title} or .../{id}.")] = None,
    min_links: Annotated[
        int, typer.Option(help="Links that make a title without a page of its own an entity.", min=1)
    ] = 1,
    pages_only: Annotated[bool, typer.Option(help="Ignore titles that have no page of their own.")] = False,
    lang: Annotated[str, typer.Option(help="Language of names in a Wikidata dump.")] = "en",
    ignore: Annotated[list[str] | None, typer.Option(help="Column or key of your data to skip.")] = None,
    texts: Annotated[
        list[Path] | None, typer.Option(help="Texts in which to count how often names are links; default: the sources.")
    ] = None,
    links: Annotated[list[Path] | None, typer.Option(help='Lines of {"title", "links"}, for the link graph.')] = None,
    pages_a_title: Annotated[int, typer.Option(help="Maximum pages per title in the link graph.", min=0)] = 128,
    link_probability: Annotated[bool, typer.Option(help="Count how often names are links in the texts.")] = True,
    processes: Annotated[int | None, typer.Option(help="Processes; default: one per core.", min=1)] = None,
    engine: Annotated[EngineName, ENGINE] = EngineName.PROCESSES,
    address: Annotated[str | None, ADDRESS] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped build.")] = False,
    replace: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
) -> None:
    """Build a knowledge base from one or more sources."""
    from parlink.cli.bars import stage_bars
    from parlink.kb.build.build import BuildOptions
    from parlink.kb.build.build import build as build_folder

    options = BuildOptions(
        name=name,
        url_template=url_template,
        ids=ids or (),
        redirects=redirects,
        min_links=None if pages_only else min_links,
        language=lang,
        ignored=ignore or (),
        texts=texts or (),
        links=links or (),
        pages_a_title=pages_a_title,
        link_probability=link_probability,
        processes=processes,
        engine=choose_engine(engine, processes or os.cpu_count() or 1, address),
        resume=resume,
        replace=replace,
    )
    with stage_bars() as progress:
        report = build_folder(sources, output, options=options, progress=progress)
    _print_report(report, output)


@app.command()
def info(folder: Folder, overlay: Overlay = None, as_json: AsJson = False) -> None:
    """Show its sources, license and size."""
    import msgspec

    from parlink.kb import KnowledgeBase

    opened = KnowledgeBase.open(folder, overlay=overlay)
    if as_json:
        whole = {"kb": opened.name, "titles_now": len(opened), **msgspec.to_builtins(opened.info)}
        print(msgspec.json.encode(whole).decode())
        return
    print(f"{opened.name}: {len(opened):,} titles now")
    _print_info(opened.info)


for command in (lookup, check, diff, merge):
    app.command()(command)


@app.command()
def add(
    folder: Folder,
    title: Title,
    id: Annotated[str | None, typer.Option(help="Identifier, such as a QID.")] = None,
    type: Annotated[str | None, typer.Option(help="What it is: person, organization, place ...")] = None,
    description: Annotated[str | None, typer.Option(help="One line about the entity.")] = None,
    alias: Annotated[list[str] | None, typer.Option(help="Surface form; may be given more than once.")] = None,
    count: Annotated[int, typer.Option(help="How often each of its names was seen.", min=1)] = 1,
    overlay: Overlay = None,
) -> None:
    """Add an entity; no rebuild, no retraining."""
    from parlink.kb import KnowledgeBase
    from parlink.types import Entity

    entity = Entity(title, id=id, type=type, description=description)
    opened = KnowledgeBase.open(folder, overlay=overlay)
    opened.add(entity, aliases=alias or (), count=count)
    _warn_of_rivals(opened, title, (title, *(alias or ())))


@app.command()
def rename(
    folder: Folder,
    old: Annotated[str, typer.Argument(help="Title now.")],
    new: Annotated[str, typer.Argument(help="Title to be.")],
    overlay: Overlay = None,
) -> None:
    """Give an entity another title. It is still found by the old one."""
    from parlink.kb import KnowledgeBase

    KnowledgeBase.open(folder, overlay=overlay).rename(old, new)


@app.command()
def remove(folder: Folder, title: Title, overlay: Overlay = None) -> None:
    """Remove an entity with its aliases."""
    from parlink.kb import KnowledgeBase

    KnowledgeBase.open(folder, overlay=overlay).remove(title)


@app.command()
def alias(
    folder: Folder,
    surface: Annotated[str, typer.Argument(help="Text that refers to the entity.")],
    title: Title,
    count: Annotated[int, typer.Option(help="How often it was seen.", min=1)] = 1,
    remove: Annotated[bool, typer.Option("--remove", help="Let the surface no longer find the title.")] = False,
    overlay: Overlay = None,
) -> None:
    """Add an alias of an entity, or remove one."""
    from parlink.kb import KnowledgeBase

    opened = KnowledgeBase.open(folder, overlay=overlay)
    if remove:
        opened.remove_alias(surface, title)
    else:
        opened.add_alias(surface, title, count=count)
        _warn_of_rivals(opened, title, (surface,))


def _warn_of_rivals(kb: KnowledgeBase, title: str, names: Sequence[str]) -> None:
    """Say which names of an entity mean others so much more often that it is no candidate for them."""
    for name in names:
        candidates = [candidate.title for candidate in kb.candidates(name)]
        if candidates and title not in candidates:
            typer.echo(f"{name!r} means {candidates[0]!r} and others far more often: give a higher --count", err=True)


def _print_report(report: Report, folder: Path) -> None:
    print(f"{folder}: {sum(report.info.sizes().values()) / 1e6:.1f} MB")
    _print_info(report.info)
    for title in report.examples.get("names made unique", ()):
        typer.echo(f"made unique: {title}", err=True)


def _print_info(info: Info) -> None:
    scheme = f" ({info.id_scheme})" if info.id_scheme else ""
    print(f"titles {info.titles:,}, names {info.names:,}, ids {info.ids:,}{scheme}")
    print(f"types {info.types:,}, descriptions {info.descriptions:,}")
    print(f"made {info.created} by parlink {info.parlink}, format {info.format}, hash {info.hash[:16]}")
    print(f"URLs {info.url_template or 'none'}")
    for source in info.sources:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in sorted(source.skipped.items()))
        print(f"source {source.path}: {source.kind}, sha256 {source.sha256[:16]}, {source.entries:,} entries")
        if source.license or source.url:
            print(f"  {'; '.join(filter(None, (source.license, source.url)))}")
        if skipped:
            print(f"  skipped: {skipped}")
        for warning in source.warnings:
            print(f"  warning: {warning}")
    for what, count in sorted(info.notes.items()):
        print(f"{what}: {count:,}")
