# Two commands do everything, each in an environment of its own making:
#   make demo   trains on the data that ships in the package and draws the result
#   make test   checks (format, lint, types, architecture) and runs all tests
# Dependencies are pinned in constraints.txt, which needs Python 3.11 or newer; choose it with PYTHON=python3.12.
# What is installed must have a checksum of hashes/, which python -m scripts.hashes makes; but CUDA's libraries, where
# torch wants them, come as torch names them.

PYTHON ?= python3
VENV   ?= .venv
# Bytecode is left to the first import: compiling all of torch takes a minute, and little of it is ever imported.
PIP     = --disable-pip-version-check --no-compile -q -c constraints.txt
HASHED  = --disable-pip-version-check --no-compile -q --no-deps --require-hashes
BIN     = $(VENV)/bin
# It must be kept then, or every process that the tests start would compile torch anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check bench matrix release-check clean help

help:
	@sed -n '2,4s/^# *//p' Makefile
	@echo "make check   format, lint, types and architecture only"
	@echo "make bench   speed and accuracy against peers, as ratios in one run (about 10 minutes)"
	@echo "make matrix  the built wheel on Python 3.10 to 3.13, with the oldest and the newest dependencies"
	@echo "make release-check   whether this may be released, and which figures are older than their code"
	@echo "make clean   remove environments and caches"

# One environment for use, one for development, so that the demo shows what users get.
$(VENV)/.demo: pyproject.toml constraints.txt hashes/demo.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(HASHED) -r hashes/torch-cpu.txt 2>/dev/null || true
	$(BIN)/python -m pip install $(HASHED) -r hashes/demo.txt
	$(BIN)/python -m pip install $(PIP) --no-build-isolation -e '.[plot]'
	@touch $@

$(VENV)-dev/.dev: pyproject.toml constraints.txt hashes/test.txt
	$(PYTHON) -m venv $(VENV)-dev
	$(VENV)-dev/bin/python -m pip install $(HASHED) -r hashes/torch-cpu.txt 2>/dev/null || true
	$(VENV)-dev/bin/python -m pip install $(HASHED) -r hashes/test.txt
	$(VENV)-dev/bin/python -m pip install $(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

$(VENV)-bench/.bench: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install $(PIP) -e '.[bench]'
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/hybonet demo --out runs/demo --overwrite

check: $(VENV)-dev/.dev
	$(VENV)-dev/bin/ruff format --check .
	$(VENV)-dev/bin/ruff check .
	$(VENV)-dev/bin/mypy
	PATH="$(abspath $(VENV)-dev/bin):$$PATH" $(VENV)-dev/bin/lint-imports
	$(VENV)-dev/bin/zizmor --offline --quiet --no-progress .github/workflows

test: check
	$(VENV)-dev/bin/python -m pytest

bench: $(VENV)-bench/.bench
	$(VENV)-bench/bin/python -m benchmarks --out benchmarks/results
	$(VENV)-bench/bin/python -m benchmarks.distance_error --plot docs/images/distance_error.png --json benchmarks/results/distance_error.json

# Not part of `make test`: an hour, and downloads of gigabytes.
matrix:
	$(PYTHON) -m venv $(VENV)-nox
	$(VENV)-nox/bin/python -m pip install --disable-pip-version-check -q nox uv
	PATH="$(abspath $(VENV)-nox/bin):$$PATH" $(VENV)-nox/bin/nox -s build matrix package

release-check: $(VENV)-dev/.dev
	$(VENV)-dev/bin/python -m results.versions --release

clean:
	rm -rf $(VENV) $(VENV)-dev $(VENV)-bench $(VENV)-nox .nox .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build src/*.egg-info
