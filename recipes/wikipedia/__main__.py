"""Make the knowledge base of the English Wikipedia that ships with parlink.

python -m recipes.wikipedia DATA -o FOLDER [--titles N] [--aida train.jsonl]
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from parlink.errors import ParlinkError
from recipes.wikipedia.make import TITLES, make
from recipes.wikipedia.sources import Data


def main() -> int:
    """Parse, make, and say what came of it."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.wikipedia", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with wikipedia/ and knowledge/, see recipes/README.md")
    parser.add_argument("-o", "--output", type=Path, required=True, help="KB folder; the report is written beside it")
    parser.add_argument("--titles", type=int, default=TITLES, help="how many titles to keep (%(default)s); 0: all")
    parser.add_argument("--aida", type=Path, help="AIDA's training documents, made by `parlink data aida`")
    parser.add_argument("--name", default="wikipedia")
    parser.add_argument("--replace", action="store_true")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    try:
        info = make(
            Data(options.data, options.aida),
            options.output,
            titles=options.titles or None,
            name=options.name,
            replace=options.replace,
        )
    except ParlinkError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.output}: {info.titles:,} titles, {info.names:,} names, {info.descriptions:,} descriptions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
