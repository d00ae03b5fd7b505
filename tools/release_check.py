"""Check the wheel in dist/ before a release: version, contents, size, metadata, and that it links a text offline."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
MOST_BYTES = 100_000_000
NEEDED = (
    r"parlink/py\.typed",
    r"parlink/default/model\.safetensors",
    r"parlink/default/kb/kb\.json",
    r"parlink/default/README\.md",
    r"parlink/serve/static/index\.html",
    r"parlink/pages/templates/.*\.html",
    r"parlink-.*\.dist-info/licenses/LICENSE",
    r"parlink-.*\.dist-info/licenses/NOTICE",
)
UNWANTED = re.compile(r"__pycache__|\.overlay\.|/trees/|^(?!parlink[/-])")
LINK = """
import socket

def refuse(*_):
    raise OSError("no network")

socket.socket.connect = refuse
import parlink
assert {"Germany", "Paris"} <= {link.title for link in parlink.link("Germany beat Egypt in Paris.")}
"""


def main() -> int:
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        print(f"dist/ holds {len(wheels)} wheels; wanted one, which `make wheel` makes")
        return 1
    checks: dict[str, Callable[[Path], Iterator[str]]] = {
        "one version": check_versions,
        "contents": check_contents,
        "size": check_size,
        "twine": check_metadata,
        "installs and links offline": check_install,
    }
    failed = False
    for name, check in checks.items():
        faults = list(check(wheels[0]))
        failed = failed or bool(faults)
        print(f"{name}: {'; '.join(faults) or 'good'}")
    return int(failed)


def check_versions(wheel: Path) -> Iterator[str]:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    if f"-{version}-" not in wheel.name:
        yield f"the wheel is {wheel.name}, pyproject.toml says {version}"
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text():
        yield f"CITATION.cff has another version than {version}"
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M):
        yield f"CHANGELOG.md has no heading '## [{version}] - DATE'"


def check_contents(wheel: Path) -> Iterator[str]:
    names = zipfile.ZipFile(wheel).namelist()
    for pattern in NEEDED:
        if not any(re.fullmatch(pattern, name) for name in names):
            yield f"nothing is called {pattern}"
    for name in filter(UNWANTED.search, names):
        yield f"{name} should not be in it"


def check_size(wheel: Path) -> Iterator[str]:
    size = wheel.stat().st_size
    print(f"  {wheel.name}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        yield f"{size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f}"


def check_metadata(wheel: Path) -> Iterator[str]:
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel], capture_output=True, text=True)
    if done.returncode:
        yield done.stdout + done.stderr


def check_install(wheel: Path) -> Iterator[str]:
    """Install into an empty environment, with what constraints.txt names, and link a text without a network."""
    for number in PYTHONS:
        python = _find_python(number)
        print(f"  Python {number}: {python or 'is not installed here, not checked'}")
        if python is not None:
            with TemporaryDirectory() as folder:
                yield from _install(wheel, python, Path(folder))


def _find_python(number: str) -> str | None:
    """Return an interpreter that runs: on the path, where pyenv may have one in name only, or among pyenv's."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names = [shutil.which(f"python{number}"), *map(str, versions.glob(f"{number}.*/bin/python"))]
    runs = (name for name in names if name and not subprocess.run([name, "-c", ""], capture_output=True).returncode)
    return next(runs, None)


def _install(wheel: Path, python: str, folder: Path) -> Iterator[str]:
    own = folder / "env" / "bin" / "python"
    install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint"]
    steps = (
        [python, "-m", "venv", folder / "env"],
        [*install, ROOT / "constraints.txt", wheel],
        [own, "-c", LINK],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            yield f"{python}: {' '.join(map(str, step[:4]))}: {done.stderr.strip().splitlines()[-1]}"
            return


if __name__ == "__main__":
    sys.exit(main())
