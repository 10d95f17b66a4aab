# Everything a contributor or CI runs. `make demo` needs Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo

.PHONY: demo test check unit docs lock mutants faults fuzz oldest load format clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@ $(VENV)/.core

demo: $(VENV)/.core
	rm -rf $(DEMO)
	$(BIN)/jigsawnet shred examples/photo.jpg -o $(DEMO)/pieces --pieces 36 --seed 1
	$(BIN)/jigsawnet solve $(DEMO)/pieces -o $(DEMO)/result
	$(BIN)/jigsawnet eval $(DEMO)/result --truth $(DEMO)/pieces

test: check unit

check: $(VENV)/.dev
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadgroup -q

docs: $(VENV)/.docs
	$(BIN)/python -m jigsawnet.cli.reference > docs/commands.md
	$(BIN)/mkdocs build --strict

# The versions that are installed and tested now; after a change of dependencies, and once in a while.
lock: $(VENV)/.dev
	$(BIN)/python tests/helpers/locked.py > requirements.lock

# Not part of CI: an hour or so. WORDS="compose/ theta" tries those alone.
mutants: $(VENV)/.dev
	PYTHONPATH=tests/helpers nice $(BIN)/python -m mutants.run $(WORDS)

# Not part of CI, which tries a sample: every file operation and every call for memory fails once. WORDS="--scenarios cut"
faults: $(VENV)/.dev
	PYTHONPATH=tests/helpers nice $(BIN)/python -m faults.run $(WORDS)

# Not part of CI, which tries a few inputs. WORDS="--inputs 100000 --seed 7 --readers png tiff"
fuzz: $(VENV)/.dev
	PYTHONPATH=tests/helpers nice $(BIN)/python -m fuzzing.run $(or $(WORDS),--minutes 60)

# Not part of CI: the lowest versions that pyproject.toml asks for, in a folder of their own, and the tests that need no others.
OLDEST := $(VENV)-oldest
oldest: $(VENV)/.core
	$(PYTHON) -m venv $(OLDEST)
	$(BIN)/python tests/helpers/locked.py --oldest > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check -c $(OLDEST)/oldest.txt -e '.[web]' pytest hypothesis httpx packaging
	$(OLDEST)/bin/pytest -q tests/io tests/runs tests/cli tests/viewer/test_server.py

# Not part of CI: fifty clients on one workbench, ten thousand edits. WORDS="--edits 2000"
load: $(VENV)/.dev
	PYTHONPATH=tests/helpers nice $(BIN)/python -m load.run $(WORDS)

format: $(VENV)/.dev
	$(BIN)/ruff format src tests
	$(BIN)/ruff check --fix src tests

clean:
	rm -rf $(VENV) $(DEMO) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
