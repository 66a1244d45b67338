# The two commands a newcomer types are `make demo` and `make test`. Both set everything up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo dist docs test test-long check quick-check bench bench-compare clean

demo: $(STAMP)
	@$(BIN)/catchment demo
	@$(BIN)/catchment register demo

# pyright runs beside the tests: of the package here, of everything beside the long ones and in check.
test: $(STAMP) quick-check
	$(BIN)/python tests/run.py

test-long: $(STAMP)
	$(BIN)/python tests/run.py --long

check: $(STAMP) quick-check
	$(BIN)/python docs/check_words.py
	$(BIN)/pyright

quick-check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

# A wheel and a source distribution, in dist/.
dist: $(STAMP)
	$(BIN)/python -m build --no-isolation --outdir dist

# The site, in site/; a broken link is an error.
docs: $(STAMP)
	$(BIN)/zensical build --clean --strict

bench: $(STAMP)
	$(BIN)/python -m bench.engine --quick
	$(BIN)/python -m bench.worker --quick
	$(BIN)/python -m bench.dashboard --quick
	$(BIN)/python -m bench.lake --quick
	$(BIN)/python -m bench.scale --quick
	$(BIN)/python -m bench.register --quick

# A few figures against the stored baseline, as ratios to a bare server; what got slower by more than 15 % ends it with 1.
bench-compare: $(STAMP)
	$(BIN)/python -m bench.compare

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV)
