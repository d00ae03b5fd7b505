# make demo: set up and link a sample text.  make test: set up and run the tests.  make check: all that CI runs.
# make test-slow: the load test and the long fuzzers, some ten minutes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow check wheel clean

demo: $(DEMO)
	$(BIN)/python examples/demo.py

test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

test-slow: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/slow

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

wheel: $(READY)
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Installed again only when what it depends on has changed.
$(DEMO): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) torch
	$(INSTALL) --editable .
	touch $(DEMO)

$(READY): $(DEMO)
	$(INSTALL) --editable '.[dev]'
	touch $(READY)
