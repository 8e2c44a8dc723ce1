# Everything runs inside .venv in this folder; python3 and make are all a machine needs beforehand.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test fast fuzz kills lint types spark pictures benchmarks uses quality reproduce clean

setup: .venv/ready

.venv/ready: pyproject.toml papers/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "coterie needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --editable ./papers
	touch $@

demo: setup
	$(BIN)/coterie demo

# each worker begins with one half of the tests and takes over from the other when it is done
PYTEST := $(BIN)/python -m pytest tests papers/tests src papers/src --numprocesses 2 --dist worksteal

test: setup
	$(PYTEST)

# what to run while working: no browser, no fuzzing, no processes, no papers, nothing else that takes seconds
fast: setup
	$(PYTEST) -m 'not (browser or fuzz or process or papers or slow)'

# new seeds until the time is up; `make fuzz MINUTES=10 SURFACES="readers api"`; the table is in docs/reliability.md
MINUTES ?= 60
fuzz: setup
	$(BIN)/python tests/fuzz_rounds.py --minutes $(MINUTES) $(SURFACES)

# fits killed at random moments and resumed; the outcome is in docs/reliability.md
KILLS ?= 50
kills: setup
	$(BIN)/python tests/killed_fits.py --kills $(KILLS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: setup
	$(BIN)/mypy

# pyspark has 450 MB, so it is not part of the setup; needs Java
spark: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	$(BIN)/python -m pytest tests/test_spark.py

# of the README, from the demo; needs Chromium
pictures: setup
	$(BIN)/python docs/images/make.py

uses: setup
	$(BIN)/python benchmarks/uses.py run
	$(BIN)/python benchmarks/uses.py page

benchmarks: setup
	$(BIN)/python benchmarks/run.py

quality: setup
	$(BIN)/python benchmarks/quality.py run
	$(BIN)/python benchmarks/quality.py page
	$(BIN)/python benchmarks/parts.py run
	$(BIN)/python benchmarks/parts.py page

# results and prepared data stay in the folder, ignored by git: a run that was stopped goes on
reproduce: setup
	$(BIN)/coterie reproduce all --out docs/papers

clean:
	rm -rf .venv build dist
