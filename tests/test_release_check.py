"""The check of releases finds what is wrong with a wheel."""

from __future__ import annotations

import runpy
import zipfile
from pathlib import Path

CHECK = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "release_check.py"))
WHOLE = (
    "parlink/py.typed",
    "parlink/kb/overlay.py",
    "parlink/default/model.safetensors",
    "parlink/default/kb/kb.json",
    "parlink/default/README.md",
    "parlink/serve/static/index.html",
    "parlink/pages/templates/report.html",
    "parlink-1.0.dist-info/licenses/LICENSE",
    "parlink-1.0.dist-info/licenses/NOTICE",
)


def make_wheel(folder: Path, *names: str) -> Path:
    with zipfile.ZipFile(folder / "parlink-1.0-py3-none-any.whl", "w") as wheel:
        for name in names:
            wheel.writestr(name, "")
    return folder / "parlink-1.0-py3-none-any.whl"


def test_a_whole_wheel_is_good(tmp_path: Path) -> None:
    assert list(CHECK["check_contents"](make_wheel(tmp_path, *WHOLE))) == []


def test_what_is_missing_and_what_does_not_belong_is_named(tmp_path: Path) -> None:
    unwanted = ("tests/test_x.py", "parlink/default/kb.overlay.sqlite", "parlink/__pycache__/x.pyc")
    faults = "\n".join(CHECK["check_contents"](make_wheel(tmp_path, *WHOLE[1:], *unwanted)))
    assert "py\\.typed" in faults
    assert all(name in faults for name in unwanted)
    assert len(faults.splitlines()) == 4


def test_another_version_is_named(tmp_path: Path) -> None:
    assert "pyproject.toml says" in "\n".join(CHECK["check_versions"](make_wheel(tmp_path)))
