"""The model that comes with the package: within its limits, quick to open, and right about plain cases."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from parlink import Linker
from parlink.checkpoint.config_file import packaged_model

ROOT = Path(__file__).parent.parent
LINK_OFFLINE = """
import socket, sys

def refuse(*_):
    raise OSError("this test has no network")

socket.socket.connect = refuse
import parlink
from parlink import Linker

assert parlink.__file__.startswith(sys.prefix), parlink.__file__
print([link.title for link in Linker.load().link("Egypt beat Germany in Paris.").links])
"""


def shipped(path: Path) -> list[Path]:
    """The files of a folder without the trees of titles, which are made where they are needed."""
    return [file for file in path.rglob("*") if file.is_file() and file.parent.name != "trees"]


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in shipped(path))


def test_it_is_as_small_as_promised() -> None:
    folder = packaged_model()
    assert size(folder) <= 170e6
    assert max(file.stat().st_size for file in shipped(folder)) <= 90e6
    assert size(folder / "kb") < 125e6


def test_its_card_says_what_one_has_to_know() -> None:
    card = (packaged_model() / "README.md").read_text()
    for heading in ("## Data", "## Scores", "## Limits", "## Intended use", "## Footprint", "## Licenses"):
        assert heading in card, heading


def test_it_knows_a_name_from_its_context() -> None:
    doc = Linker.load().link("The king of Jordan flew to Egypt. George Washington never lived in Washington.")
    found = {doc.text[link.span.start : link.span.end]: link.title for link in doc.links}
    assert found["Jordan"] == "Jordan"
    assert found["George Washington"] == "George Washington"
    assert found["Washington"] == "Washington, D.C."
    assert found["Egypt"] == "Egypt"


def test_the_demo_links_an_ambiguous_name_and_one_that_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    before, after = capsys.readouterr().out.split("\nA plane")
    assert re.search(r"\nQuillmere Observatory +none", before)
    assert re.search(r"\nQuillmere Observatory +Quillmere Observatory ", after)
    assert re.search(r"\nJordan +Jordan ", after) and re.search(r"\nWashington +Washington, D.C. ", after)
    assert "Quillmere Observatory" in (tmp_path / "demo.html").read_text()
    assert list(tmp_path.iterdir()) == [tmp_path / "demo.html"]


@pytest.mark.slow
def test_the_wheel_links_offline_in_an_environment_of_its_own(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--wheel-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 100e6
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--disable-pip-version-check", wheel], check=True)
    # The packages that it depends on are these, already here; a .pth file read from another place is not obeyed,
    # so that the checkout itself, which is installed there as editable, stays out.
    own = sysconfig.get_path("purelib", vars={"base": str(tmp_path / "env")})
    (Path(own) / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    done = subprocess.run([python, "-c", LINK_OFFLINE], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "'Egypt'" in done.stdout and "'Paris'" in done.stdout
