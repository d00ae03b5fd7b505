"""Put faults into a copy of the package, one at a time, and say which of them the tests notice.

    python tests/slow/faults_put_in.py [NUMBER...]

Each fault is a line of the source that is replaced, with the tests that should fail then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Fault(NamedTuple):
    """A line that is replaced, and the tests that should notice."""

    file: str
    right: str
    wrong: str
    tests: str


FAULTS = (
    Fault("nn/batch.py", "(len(group) + 1) * lengths", "len(group) * lengths", "tests/nn/test_batch.py"),
    Fault(
        "nn/batch.py", "(position < lengths[:, None] - 1)", "(position < lengths[:, None])", "tests/nn/test_batch.py"
    ),
    Fault(
        "linking/overlaps.py",
        "bisect_right(ends, spans[i].start",
        "bisect_right(ends, spans[i].start - 1",
        "tests/linking",
    ),
    Fault("linking/overlaps.py", ", -spans[i].start)", ", spans[i].start)", "tests/linking"),
    Fault(
        "linking/decision.py",
        "< least_confidence(settings",
        "<= least_confidence(settings",
        "tests/linking/test_decision.py",
    ),
    Fault(
        "linking/decision.py",
        "for candidate in candidates[1:] if candidate.title]",
        "for candidate in candidates[1:]]",
        "tests/linking",
    ),
    Fault(
        "linking/coherence.py",
        "others = np.delete(by_name, owner, axis=0)",
        "others = by_name",
        "tests/linking/test_coherence.py",
    ),
    Fault(
        "text/windows.py",
        'tokens.end[visible], bounds[:, 0], side="right"',
        'tokens.end[visible], bounds[:, 0], side="left"',
        "tests/text tests/linking/test_input.py",
    ),
    Fault("text/title_cache.py", "self._titles.move_to_end(title)", "pass", "tests/text/test_title_cache.py"),
    Fault("training/average.py", "step / (step + 9)", "step / (step + 99)", "tests/training/test_average.py"),
    Fault("training/optimizer.py", "(step + 1) / warmup", "step / warmup", "tests/training/test_optimizer.py"),
    Fault(
        "training/optimizer.py",
        "if decayed else 0.0",
        "if decayed else config.weight_decay",
        "tests/training/test_optimizer.py",
    ),
    Fault("training/swap.py", "names.get(len(surface.split()), ())", "names.get(1, ())", "tests/training/test_swap.py"),
    Fault(
        "training/divergence.py",
        "WORSE = 3.0",
        "WORSE = 300.0",
        "tests/training/test_survival.py tests/training/test_run.py",
    ),
    Fault("kb/surfaces.py", "_LONGEST_WHOLE = 4", "_LONGEST_WHOLE = 3", "tests/kb/test_surfaces.py"),
    Fault(
        "kb/build/spill.py",
        "yield row, sum(count for _, count in group)",
        "yield row, max(count for _, count in group)",
        "tests/kb/build",
    ),
    Fault(
        "evaluation/counting.py",
        "return Counts(tp, len(wanted) - tp, len(wanted) - tp)",
        "return Counts(tp, 0, len(wanted) - tp)",
        "tests/evaluation",
    ),
    Fault("data/identifiers.py", "|Unknown\\d+", "", "tests/data/test_identifiers.py"),
    Fault(
        "serve/turnstile.py", "self._inside[key] -= 1", "pass", "tests/serve/test_security.py tests/serve/test_load.py"
    ),
    Fault(
        "checkpoint/quantize.py",
        "largest / 127",
        "largest / 63",
        "tests/checkpoint/test_quantize.py tests/checkpoint/test_export.py",
    ),
)


def check_lines() -> None:
    """Say which lines are no longer there, before anything is run."""
    for fault in FAULTS:
        times = (ROOT / "src" / "parlink" / fault.file).read_text().count(fault.right)
        assert times == 1, f"{fault.file}: {fault.right!r} is there {times} times"


def is_noticed(fault: Fault, copy: Path) -> bool:
    """Run the tests on the package with the fault in it."""
    file = copy / "parlink" / fault.file
    good = file.read_text()
    file.write_text(good.replace(fault.right, fault.wrong))
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-p", "no:cacheprovider", *fault.tests.split()]
    try:
        environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode == 1
    finally:
        file.write_text(good)


def main() -> None:
    """Try all faults, or those whose numbers are given."""
    check_lines()
    numbers = [int(word) for word in sys.argv[1:]] or range(len(FAULTS))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            ROOT / "src" / "parlink", Path(folder) / "parlink", ignore=shutil.ignore_patterns("__pycache__")
        )
        noticed = 0
        for number in numbers:
            seen = is_noticed(FAULTS[number], Path(folder))
            noticed += seen
            print(
                f"{number:2} {'noticed' if seen else 'NOT NOTICED':12} {FAULTS[number].file}: {FAULTS[number].wrong}",
                flush=True,
            )
    print(f"{noticed} of {len(numbers)} faults were noticed")


if __name__ == "__main__":
    main()
