"""Every figure that we print of a model, from `parlink evaluate` alone, kept with the command behind it.

    python benchmarks/measure.py MODEL AIDA_TESTA.jsonl --seen AIDA_TRAIN.jsonl --kb KB -o results/NAME.json
    python benchmarks/measure.py MODEL A.jsonl B.jsonl ... --kb KB --each -o results/NAME.json

The first prints the table of a model on data whose links have candidates; the second one row of the kb condition for
each file. What was measured before stays in the output file, under its name, until it is measured again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parlink.checkpoint.card import commit

HEADS = (
    "data",
    "candidates",
    "text",
    "linking F1",
    "95 %",
    "P",
    "R",
    "detection F1",
    "given spans",
    "candidate recall",
    "not in the KB",
    "seen / unseen",
)
ROWS = (
    ("given-surface", False),
    ("given-surface", True),
    ("given-strict", False),
    ("kb", False),
    ("kb", True),
    ("none", False),
    ("none", True),
)


def main() -> None:
    wanted = _options()
    results: dict[str, Any] = json.loads(wanted.output.read_text()) if wanted.output.exists() else {}
    print("| " + " | ".join(HEADS) + " |")
    print("|---" * len(HEADS) + "|")
    for data, condition, natural in _rows(wanted):
        name = f"{data.stem} {condition} {'natural' if natural else 'as it is'}"
        results[name] = _measured(wanted, data, condition, natural=natural)
        print(_line(data.stem, condition, natural, results[name]), flush=True)
        wanted.output.parent.mkdir(parents=True, exist_ok=True)
        wanted.output.write_text(json.dumps(results, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--seen", type=Path)
    parser.add_argument("--each", action="store_true", help="the kb condition for each file, as it is")
    parser.add_argument("--rows", help="only rows whose condition is among these, by commas")
    parser.add_argument("--threshold", type=float, help="detection threshold, if not the model's own")
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser.parse_args()


def _rows(wanted: argparse.Namespace) -> list[tuple[Path, str, bool]]:
    rows = (("kb", False),) if wanted.each else ROWS
    kept = [row for row in rows if wanted.rows is None or row[0] in wanted.rows.split(",")]
    return [(data, condition, natural) for data in wanted.data for condition, natural in kept]


def _measured(wanted: argparse.Namespace, data: Path, condition: str, *, natural: bool) -> dict[str, Any]:
    options = ["--model", wanted.model, "--condition", condition, "--json"]
    options += [] if wanted.kb is None else ["--kb", wanted.kb]
    options += [] if wanted.seen is None else ["--seen", wanted.seen]
    options += [] if wanted.threshold is None else ["--mention-threshold", wanted.threshold]
    options += ["--natural"] if natural else []
    words = [str(word) for word in ("evaluate", data, *options)]
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "parlink", *words], stdout=subprocess.PIPE, text=True, check=True)
    return {
        "command": " ".join(["parlink", *(Path(word).name if "/" in word else word for word in words)]),
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(time.perf_counter() - begin),
        **_kept(json.loads(done.stdout)),
    }


def _kept(report: dict[str, Any]) -> dict[str, Any]:
    """The figures of a report; the text of its errors and what follows from the rest is left out."""
    tasks = {
        task: {
            **{key: round(100 * value, 2) for key, value in report[task]["inkb"]["micro"].items()},
            "macro_f1": round(100 * report[task]["inkb"]["macro"]["f1"], 2),
            "f1_95": [round(100 * report[task]["intervals"]["f1"][side], 2) for side in ("low", "high")],
        }
        for task in ("linking", "detection", "disambiguation")
    }
    seen = report.get("seen")
    kept = {
        key: report[key] for key in ("kb", "redirects", "documents", "gold", "candidate_recall", "coverage", "errors")
    }
    shares = {side: round(100 * seen[side]["micro"]["f1"], 2) for side in ("seen", "unseen")} if seen else None
    return {**tasks, **kept, "seen": shares}


def _line(data: str, condition: str, natural: bool, row: dict[str, Any]) -> str:
    linking, recall, seen, known = row["linking"], row["candidate_recall"], row["seen"], row["coverage"]
    cells = (
        data,
        condition,
        "natural" if natural else "as it is",
        f"{linking['f1']:.2f}",
        "{:.1f} to {:.1f}".format(*linking["f1_95"]),
        *(f"{value:.2f}" for value in (linking["precision"], linking["recall"])),
        *(f"{row[task]['f1']:.2f}" for task in ("detection", "disambiguation")),
        "" if recall is None else f"{100 * recall['share']:.1f} %",
        "" if known is None else f"{known['whole'] - known['part']} of {known['whole']}",
        "" if seen is None else f"{seen['seen']:.1f} / {seen['unseen']:.1f}",
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
