"""The import contract of pyproject.toml catches what it is there to catch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BREAKS = {
    "kb/build/build.py": "import parlink.serve.settings",
    "data/jsonl.py": "import parlink.config",
    "nn/model.py": "import parlink.data.files",
    "nn/losses.py": "import parlink.kb",
    "text/windows.py": "import parlink.nn.batch",
    "kb/tables.py": "import parlink.kb.build.facts",
    "linking/linker.py": "import parlink.evaluation.run",
    "pages/linked_text.py": "import parlink.linking.linker",
    "types.py": "import parlink.errors",
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache"], cwd=folder, env={"PYTHONPATH": str(folder / "src")}, capture_output=True, text=True
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("default", "__pycache__", "static")
    shutil.copytree(ROOT / "src" / "parlink", tmp_path / "src" / "parlink", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contract_is_kept(copied: Path) -> None:
    result = lint(copied)
    assert result.returncode == 0, result.stdout


def test_an_import_against_the_grain_is_found_wherever_it_is(copied: Path) -> None:
    for name, statement in BREAKS.items():
        module = copied / "src" / "parlink" / name
        good = module.read_text()
        module.write_text(f"{good}\n{statement}\n")
        result = lint(copied)
        assert result.returncode == 1 and "BROKEN" in result.stdout, (name, result.stdout)
        module.write_text(good)


def test_a_module_that_the_contract_does_not_name_is_found(copied: Path) -> None:
    (copied / "src" / "parlink" / "helpers.py").write_text('"""A module without a room."""\n')
    result = lint(copied)
    assert result.returncode == 1 and "helpers" in result.stdout, result.stdout
