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
    Fault("text/windows.py", "(len(group) + 1) * lengths", "len(group) * lengths", "tests/nn/test_batch.py"),
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
        "best.sum(1)[title] - own,",
        "best.sum(1)[title],",
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
    Fault("training/optimizer.py", "(step + 1) / warmup", "step / warmup", "tests/training/test_batches.py"),
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
        "sum(times)::bigint",
        "max(times)::bigint",
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
        "largest=2 ** (bits - 1) - 1",
        "largest=2 ** (bits - 2) - 1",
        "tests/checkpoint/test_quantize.py tests/checkpoint/test_export.py",
    ),
)

# Those of issue 16 that nobody had noticed, and whose tests were written for them. They come after the twenty.
FORMERLY_UNNOTICED = (
    Fault("evaluation/resampling.py", "[2.5, 97.5], axis=0", "[5, 95], axis=0", "tests/evaluation/test_resampling.py"),
    Fault("evaluation/resampling.py", "[2.5, 97.5])", "[5, 95])", "tests/evaluation/test_resampling.py"),
    Fault("nn/decoder.py", "F.gelu(self.dense(hidden))", "F.relu(self.dense(hidden))", "tests/nn/test_decoder.py"),
    Fault(
        "training/negatives.py",
        "rng.sample(spare, min(count, len(spare)))",
        "spare[:count]",
        "tests/training/test_batches.py",
    ),
    Fault("training/loop.py", "self.config.clip_norm)", "1e9)", "tests/training/test_run.py"),
    Fault("linking/candidates.py", "limit = settings.max_candidates if", "limit = 99 if", "tests/linking"),
    Fault("kb/view.py", "return best[:limit]", "return best", "tests/kb/test_kb.py"),
    Fault(
        "training/loop.py", "linking.f1 >= progress.best", "linking.f1 > progress.best", "tests/training/test_run.py"
    ),
    Fault("text/windows.py", "offset + overlap // 2 for", "offset + overlap // 3 for", "tests/text"),
    Fault("corpus/chunks.py", "gathered, characters = [], 0", "gathered = []", "tests/corpus/test_chunks.py"),
    Fault("kb/overlay.py", "status.st_size, status.st_mtime_ns)", "status.st_size)", "tests/kb/test_overlay.py"),
    Fault(
        "kb/edits.py",
        "former=_sort({*record.former, old} - {title})",
        "former=_sort({*record.former} - {title})",
        "tests/kb/test_overlay.py",
    ),
    Fault("kb/edits.py", "for name in (old, title) if", "for name in (title,) if", "tests/kb/test_overlay.py"),
)
ALL = FAULTS + FORMERLY_UNNOTICED


def check_lines() -> None:
    """Say which lines are no longer there, before anything is run."""
    for fault in ALL:
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
    numbers = [int(word) for word in sys.argv[1:]] or range(len(ALL))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            ROOT / "src" / "parlink", Path(folder) / "parlink", ignore=shutil.ignore_patterns("__pycache__")
        )
        noticed = 0
        for number in numbers:
            seen = is_noticed(ALL[number], Path(folder))
            noticed += seen
            print(
                f"{number:2} {'noticed' if seen else 'NOT NOTICED':12} {ALL[number].file}: {ALL[number].wrong}",
                flush=True,
            )
    print(f"{noticed} of {len(numbers)} faults were noticed")


if __name__ == "__main__":
    main()
