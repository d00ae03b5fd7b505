"""What was merged and dropped on the way: how often, with samples to look at."""

from __future__ import annotations

import html
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from parlink.data import files

SAMPLES = 200
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>What was merged and dropped</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
td {{ padding-right: 1rem }} td:first-child {{ text-align: right }} ul {{ columns: 2 20rem }}
</style>
<h1>What was merged and dropped</h1>
<table>{rows}</table>
{sections}
</html>
"""


@dataclass
class Report:
    """Counts by reason, and up to `SAMPLES` samples of each, every one as likely as any other."""

    counts: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[str]] = field(default_factory=dict)
    _random: random.Random = field(default_factory=lambda: random.Random(1))

    def add(self, why: str, sample: str) -> None:
        """Count a case."""
        self.counts[why] += 1
        samples = self.samples.setdefault(why, [])
        if len(samples) < SAMPLES:
            samples.append(sample)
        elif (place := self._random.randrange(self.counts[why])) < SAMPLES:
            samples[place] = sample

    def write(self, path: Path) -> None:
        """Write `path`.json and `path`.html."""
        values = {why: {"count": count, "samples": self.samples.get(why, [])} for why, count in self._ordered()}
        with files.open_output(path.with_name(f"{path.name}.json")) as file:
            file.write(msgspec.json.format(msgspec.json.encode(values), indent=1))
        with files.open_output(path.with_name(f"{path.name}.html")) as file:
            file.write(self._page().encode())

    def _ordered(self) -> list[tuple[str, int]]:
        return sorted(self.counts.items())

    def _page(self) -> str:
        rows = [
            f'<tr><td>{count:,}</td><td><a href="#{number}">{html.escape(why)}</a></td></tr>'
            for number, (why, count) in enumerate(self._ordered())
        ]
        sections = []
        for number, (why, count) in enumerate(self._ordered()):
            items = "".join(f"<li>{html.escape(sample)}</li>" for sample in self.samples.get(why, ()))
            sections.append(f'<h2 id="{number}">{html.escape(why)}: {count:,}</h2>\n<ul>{items}</ul>')
        return _PAGE.format(rows="\n".join(rows), sections="\n".join(sections))
