"""The examples of Dask and polars run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "cluster"


@pytest.mark.parametrize(("name", "package"), [("dask_frame.py", "dask"), ("polars_frame.py", "polars")])
def test_example(name: str, package: str) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed: pip install 'parlink[cluster]'")
    done = subprocess.run([sys.executable, FOLDER / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Berlin" in done.stdout and "Dover" in done.stdout
