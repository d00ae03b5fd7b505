"""Tutorials and guides are run as they stand, and print what they say; the site is built without a warning."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from executed_page import ROOT, run_page
from parlink import Candidate, Document, Entity, Link, LinkOptions, Span
from parlink.kb.tables import TYPES

DOCS = ROOT / "docs"
PAGES = [*sorted((DOCS / "tutorials").glob("*.md")), *(DOCS / f"{name}.md" for name in ("index", "spacy"))]
PAGES += [DOCS / "annotate-and-correct.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    for output in run_page(page, tmp_path):
        assert output.is_true or not output.said, f"said:\n{output.said}\nprinted:\n{output.printed}"


def test_the_labeling_interface_has_a_label_for_every_type() -> None:
    text = (DOCS / "annotate-and-correct.md").read_text()
    labels = [*TYPES, "Entity"]
    assert re.findall(r'<Label value="(\w+)"/>', text) == labels
    assert f"--label {','.join(labels)}" in text


def test_the_start_page_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = re.findall(r"^\| `(\w+)` \|", (DOCS / "index.md").read_text(), re.MULTILINE)
    assert sorted(table) == sorted(extras.keys() - {"dev", "docs"})


def test_make_outputs_knows_all_pages_that_are_run() -> None:
    makefile = (ROOT / "Makefile").read_text()
    names = {str(page.relative_to(ROOT)) for page in PAGES if page.parent == DOCS}
    assert all(name in makefile for name in names) and "docs/tutorials/*.md" in makefile


def test_the_site_is_built_without_a_warning_and_asks_no_other_server(tmp_path: Path) -> None:
    command = [
        Path(sys.executable).with_name("mkdocs"),
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        tmp_path / "site",
    ]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for page in (tmp_path / "site").rglob("*.html"):
        assert 'src="http' not in page.read_text(), page
        assert "](" not in re.sub(r"(?s)<(pre|code).*?</\1>", "", page.read_text()), f"{page}: a link that is not one"
    commands = (tmp_path / "site" / "commands.html").read_text()
    assert all(f">parlink {verb}<" in commands for verb in ("link", "serve", "kb lookup", "data convert"))
    assert "--min-confidence" in commands and "here the commands are written" not in commands
    api = (tmp_path / "site" / "api.html").read_text()
    assert "parlink.Linker.stream" in api and "parlink.Document.to_html" in api
    for kind in (Document, Link, Candidate, Entity, Span, LinkOptions):
        for field in inspect.signature(kind).parameters:  # has a comment or a help text, which the reference shows
            assert re.search(rf'<b><code>(<span title="[\w.]*{kind.__name__}\.{field}">)?{field}<', api), (kind, field)
