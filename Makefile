# make run    set everything up and open the bundled sample (without a screen: do the same job headless)
# make test   set everything up and run all tests, those of the window on a virtual X screen, some of them offscreen too
# make fuzz   harm thousands of files, other ones each time, and open them
# make check  the linters: ruff, mypy, import-linter
# make corpus-report   freeze and prove every real graph of the corpus that has values
# make format / make bench / make sample / make clean

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: run test fuzz check format bench corpus-report sample clean system system-test

run: system $(VENV)/.installed
	@scripts/run.sh

test: system-test $(VENV)/.installed-dev
	QT_QPA_PLATFORM=xcb scripts/with_xvfb.sh $(BIN)/python -m pytest tests/gui
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest tests/gui -m screen
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest --ignore=tests/gui

fuzz: system-test $(VENV)/.installed-dev
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/fuzz

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: system-test $(VENV)/.installed-dev
	$(BIN)/python tests/benchmarks

corpus-report: $(VENV)/.installed
	$(BIN)/python scripts/corpus_report.py

sample: $(VENV)/.installed
	$(BIN)/python scripts/make_sample.py

clean:
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

system:
	@scripts/system_packages.sh run

system-test:
	@scripts/system_packages.sh test

$(VENV)/bin/python:
	@scripts/make_venv.sh $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.installed
