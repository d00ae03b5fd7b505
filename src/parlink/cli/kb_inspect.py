"""`parlink kb lookup|check|diff|merge`: look into knowledge bases, compare them, put them together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import JustifyMethod

    from parlink.kb.check import Finding
    from parlink.kb.view import View
    from parlink.types import Candidate

Folder = Annotated[Path, typer.Argument(help="Folder of the knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Overlay = Annotated[
    Path | None, typer.Option(help="File that holds the changes, if not the one beside the folder.", show_default=False)
]
_NUMBERS = {"popularity": 80, "pages": 100}  # columns that a terminal must have to show them
_EXAMPLES = 3  # of a finding, on the terminal


def lookup(
    folder: Folder,
    surface: Annotated[str, typer.Argument(help="Text of a mention.")],
    limit: Annotated[int, typer.Option(help="Maximum candidates to show.", min=1)] = 30,
    overlay: Overlay = None,
    as_json: AsJson = False,
) -> None:
    """Show the entities that a name may refer to. With priors, popularity, types and descriptions."""
    from parlink.kb import KnowledgeBase

    view = KnowledgeBase.open(folder, overlay=overlay).snapshot()
    candidates = view.candidates(surface, limit=limit)
    if as_json:
        for candidate in candidates:
            _print_json(_describe(view, candidate))
    elif candidates:
        _print_candidates(view, candidates)
    else:
        typer.echo(f"no candidates for {surface!r}", err=True)


def check(
    folder: Folder,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with examples.")] = None,
    overlay: Overlay = None,
    as_json: AsJson = False,
) -> None:
    """Check files and content. Lists likely mistakes: duplicates, redirects, names, descriptions."""
    from parlink.cli.bars import spinner
    from parlink.data import files
    from parlink.kb import KnowledgeBase
    from parlink.kb.check import check as check_view
    from parlink.kb.verify import verify
    from parlink.pages import render

    files.check_name(report)
    opened = KnowledgeBase.open(folder, overlay=overlay)
    view = opened.snapshot()
    with spinner(f"checking {len(view):,} titles"):
        verify(folder, overlay=opened.overlay)
        findings = check_view(view)
    if report is not None:
        page = render("kb_check.html", name=view.name, titles=len(view), findings=findings)
        with files.open_output(report) as file:
            file.write(page.encode())
    if as_json:
        _print_json({what: {"count": each.count, "examples": each.examples} for what, each in findings.items()})
    else:
        _print_findings(f"{view.name}: every file is whole, {len(view):,} titles", findings)


def diff(
    old: Folder,
    new: Annotated[Path, typer.Argument(help="Folder to compare it with.")],
    show: Annotated[int, typer.Option(help="Maximum lines to show of each kind.", min=0)] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare two knowledge bases: entities, their facts, and names."""
    import msgspec

    from parlink.cli.bars import spinner
    from parlink.kb import KnowledgeBase
    from parlink.kb.difference import diff as compare

    with spinner("comparing"):
        difference = compare(*(KnowledgeBase.open(each).snapshot() for each in (old, new)))
    if as_json:
        _print_json(msgspec.to_builtins(difference))
        return
    changed = [
        f"{each.title}: {each.field} {each.old or 'none'} -> {each.new or 'none'}" for each in difference.changed
    ]
    renamed = [f"{before} -> {after}" for before, after in difference.renamed.items()]
    kinds = {"added": difference.added, "removed": difference.removed, "renamed": renamed, "changed": changed}
    for kind, lines in (kinds | {"names found otherwise": difference.names}).items():
        print(f"{kind}: {len(lines):,}")
        for line in lines[:show]:
            print(f"  {line}")


def merge(
    first: Folder,
    second: Annotated[Path, typer.Argument(help="Folder whose entities are added; where both differ, the first wins.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make.")],
    name: Annotated[str | None, typer.Option(help="Name shown in results; default: that of the folder.")] = None,
) -> None:
    """Merge two knowledge bases into a new one, with their changes."""
    from parlink.cli.bars import spinner
    from parlink.kb import KnowledgeBase
    from parlink.kb.build.union import merge as write_union

    with spinner("merging"):
        info = write_union(KnowledgeBase.open(first), KnowledgeBase.open(second), output, name=name)
    print(f"{output}: {info.titles:,} titles, {info.names:,} names, {sum(info.sizes().values()) / 1e6:.1f} MB")
    for what, count in info.notes.items():
        print(f"{what}: {count:,}")


def _describe(view: View, candidate: Candidate) -> dict[str, Any]:
    entity = view.entity(candidate.title)
    assert entity is not None, "candidates are entities"
    known = {
        "title": candidate.title,
        "id": candidate.id,
        "type": entity.type,
        "description": entity.description,
        "prior": candidate.prior,
        "match_type": candidate.match_type,
        "popularity": entity.popularity,
        "pages": len(view.pages(candidate.title)) if view.has_links else None,
        "url": candidate.url,
    }
    return {name: value for name, value in known.items() if value is not None}


def _print_candidates(view: View, candidates: Sequence[Candidate]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False)
    described = [_describe(view, candidate) | {"prior": f"{candidate.prior:.4f}"} for candidate in candidates]
    numbers = [column for column, width in _NUMBERS.items() if console.width >= width]
    wanted = ("prior", "match_type", *numbers, "title", "type", "id", "description")
    columns = [column for column in wanted if any(column in row for row in described)]
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        justify: JustifyMethod = "right" if column in numbers else "left"
        keep_whole = column in numbers or (column == "type" and bool(numbers))
        table.add_column(column.replace("_", " "), overflow="fold", justify=justify, no_wrap=keep_whole)
    for row in described:
        cells = (row.get(column, "") for column in columns)
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells))
    console.print(table)


def _print_findings(heading: str, findings: dict[str, Finding]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("what may be wrong", "count", "such as", box=None, pad_edge=False, header_style="dim")
    for what, finding in findings.items():
        table.add_row(what, f"{finding.count:,}", "; ".join(finding.examples[:_EXAMPLES]))
    console = Console(markup=False, highlight=False)
    console.print(heading)
    console.print(table)


def _print_json(value: Any) -> None:
    import msgspec

    print(msgspec.json.encode(value).decode())
