"""What `parlink annotate` says at the end, on the terminal and as a page."""

from __future__ import annotations

import sys
from pathlib import Path

from parlink.cli.bars import tell
from parlink.corpus.annotate import Summary
from parlink.corpus.output import Output
from parlink.data import files
from parlink.pages.corpus_report import render_report

_SHOWN = 5  # most frequent entities


def print_summary(summary: Summary, output: Output) -> None:
    """Print counts on standard output; on standard error if the documents went to standard output."""
    stream = sys.stderr if output.is_stream else sys.stdout
    tally = summary.tally
    already = " (complete already)" if summary.is_old else ""
    print(f"{output.path}: {tally.documents:,} documents{already}", file=stream)
    print(f"links: {tally.links:,} to {len(tally.titles):,} entities", file=stream)
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in tally.nil.most_common())
    print(f"NIL: {tally.nil.total():,}" + (f" ({reasons})" if reasons else ""), file=stream)
    frequent = ", ".join(f"{title} {count:,}" for title, count in tally.titles.most_common(_SHOWN))
    print(f"most frequent: {frequent or 'none'}", file=stream)
    for loss, count in sorted(summary.losses.items()):
        tell(f"warning: the output cannot hold {loss} ({count:,} times)")
    where = "" if summary.errors is None else f"; {summary.errors} says where and why"
    print(f"errors: {tally.errors:,}{where}", file=stream)


def write_report(path: Path, summary: Summary, output: Output) -> None:
    """Write the page."""
    page = render_report(
        output.path,
        counts={
            "documents": summary.tally.documents,
            "tokens": summary.tally.tokens,
            "links": summary.tally.links,
            "NIL": summary.tally.nil.total(),
            "documents that could not be linked": summary.tally.unlinked,
            "entries that are no documents": summary.tally.unreadable,
        },
        nil=summary.tally.nil,
        titles=summary.tally.titles,
        losses=summary.losses,
    )
    with files.open_output(path) as file:
        file.write(page.encode())
