# make demo: set up and link a sample text.  make test: set up, and run the tests and all else that CI runs.
# make test-slow: the load test, the long fuzzers and ONNX, some ten minutes.
# make outputs: write into the pages what their examples print now.  make release-check: see docs/release.md.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

PAGES := README.md docs/index.md docs/spacy.md docs/annotate-and-correct.md $(wildcard docs/tutorials/*.md)

.PHONY: demo test test-slow check browser docs outputs wheel release-check clean

demo: $(DEMO)
	$(BIN)/python examples/demo.py

test: $(READY) browser
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

check: test

test-slow: $(READY)
	$(INSTALL) --editable '.[dev,cluster]' || echo "Ray, Spark, Dask and polars could not be installed: their tests are skipped"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/slow

# The tests of pages need a browser: installed where one may, else pytest says in its last line what was not tested.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		export DEBIAN_FRONTEND=noninteractive; \
		{ timeout 600 apt-get update -qq && \
		timeout 600 apt-get install -y -qq --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1 || true; \
	fi

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site

outputs: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python tests/executed_page.py $(PAGES)

wheel: $(BIN)/python
	rm -rf dist
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

release-check: $(READY) wheel
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Installed again only when what it depends on has changed.
$(DEMO): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) torch
	$(INSTALL) --editable .
	touch $(DEMO)

$(READY): $(DEMO)
	$(INSTALL) --editable '.[dev]'
	touch $(READY)
