# `make demo` and `make test` set up everything they need; nothing but Python 3.11+ and make is assumed.
PYTHON ?= python3
BIN := .venv/bin

# `make test` leaves out the tests marked long; `make test-long` runs those alone.
.PHONY: setup demo test test-long lint format bench compare docs figure clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: setup  ## a headline figure, in small, with its verdicts
	$(BIN)/jh figure 2a --preset quick --runs 40 --store out/demo/store --out out/demo

test: setup
	$(BIN)/python -m pytest -n auto --dist loadscope

test-long: setup  ## the tests marked long, which take minutes
	$(BIN)/python -m pytest -m long

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

figure: setup  ## every figure at the paper's size, into out/figures; hours, and it goes on where it was stopped
	$(BIN)/jh figure all --store out/store --out out/figures
	$(BIN)/jh report --store out/store --out out/report.html

bench: setup  ## tables into benchmarks/results; benchmarks/README.md has the other scripts
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/tabular.py

compare: setup  ## this tree beside another commit: make compare REVISION=main
	$(BIN)/python benchmarks/compare.py $(REVISION)

docs: setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf .venv out docs/_build
