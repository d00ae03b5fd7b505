"""Draw how much of the gold a knowledge base offers against its titles, from the table of recipes/README.md.

python benchmarks/kb_size.py [-o recipes/size.svg]
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from parlink.evaluation.report.plots import Series, line_plot

TABLE = Path(__file__).parents[1] / "recipes" / "README.md"
SETS = ("testa", "mean of six", "News-Fair")
SHIPS = 2.1  # million titles
_ROW = re.compile(r"^\| \**(\d+(?:,\d{3})+)[^|]*" + r"\| [\d.]+ / ([\d.]+) / [^|]*" * len(SETS), re.MULTILINE)


def read_table(text: str) -> list[Series]:
    """Read the gold among 30 candidates, in percent, against millions of titles; a line for each of the sets."""
    rows = sorted((int(row[0].replace(",", "")) / 1e6, *map(float, row[1:])) for row in _ROW.findall(text))
    return [Series(name, tuple((row[0], row[at]) for row in rows)) for at, name in enumerate(SETS, start=1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=TABLE.with_name("size.svg"))
    output = parser.parse_args().output
    series = read_table(TABLE.read_text())
    title = "Gold among 30 candidates, by titles in the knowledge base"
    output.write_text(line_plot(series, title=title, x_label="million titles", y_label="%", mark=SHIPS))
    print(f"{output.name}: {len(series[0].points)} sizes")


if __name__ == "__main__":
    main()
