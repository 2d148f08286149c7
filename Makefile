# Two commands do all the set-up: `make run` and `make test`.
PYTHON ?= $(shell for p in python3.13 python3.14 python3.12 python3.11 python3; do \
	$$p -c 'import sys, ensurepip, sqlite3; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $$p && break; done)
PORT ?= 8501
ADDRESS ?= 127.0.0.1
CLUSTER_PORT ?= 8080
WORKERS ?= 4
BIN := .venv/bin
NO_BROWSER = --ignore tests/browser --ignore tests/start_up
# $(call tests,ARGUMENTS,WHICH): what failed beside other tests is run once more alone, and both runs are printed. What then
# passes leans on the clock or on its neighbours: mend it all the same.
tests = $(BIN)/python -m pytest $(1) $(2) || { [ $$? -eq 1 ] && echo "Once more, alone:" && \
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rfE $(2); }
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# $(call install,FILE)
install = @echo "Installing the packages of $(1)"; $(BIN)/uv pip install --python $(BIN)/python -r $(1) || \
	{ echo "pip tries it, which takes a few minutes."; $(PIP) -r $(1); }
# Where the environment says that nothing compiled is to be kept, every process of the tests would compile them all anew.
unexport PYTHONDONTWRITEBYTECODE
BENCHES := $(patsubst bench/%.py,%,$(filter-out bench/__init__.py bench/_%,$(wildcard bench/*.py)))

.PHONY: run demo-drive demo-cluster test quick browser start-up check lint types contracts figures collected format docs pictures lock sbom audit bench peers clean

run: .venv/.run ## The app; it prints the address to open (PORT=…, ADDRESS=… for others)
	$(BIN)/streamlit run app.py --server.address $(ADDRESS) --server.port $(PORT)

demo-drive: .venv/.dev ## The app beside a Google on loopback with demo files: try Drive without an account
	$(BIN)/python -m tests.demo_drive --port $(PORT)

demo-cluster: .venv/.dev ## Three Leafs, PostgreSQL, an S3 server and nginx on loopback: try several Leafs without containers
	$(BIN)/python -m tests.demo_cluster --port $(CLUSTER_PORT)

test: check ## Lint, types, import contracts, every test
	$(call tests,-n $(WORKERS) --dist worksteal,$(NO_BROWSER))
	$(MAKE) --no-print-directory browser start-up

quick: .venv/.dev ## The tests that need no browser, no PostgreSQL, no foreign corpora and no environments of their own
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(NO_BROWSER) -m "not postgres and not corpora"

browser: .venv/.dev ## The app in headless Chromium
	$(call tests,-n 2 --dist loadfile,tests/browser)

start-up: .venv/.dev ## The start on Python 3.11 to 3.14, each with an old and a new SQLite, in clean environments
	$(call tests,-n 2 --dist loadgroup,tests/start_up)

check: .venv/.dev ## Lint, types, import contracts, the age of documented figures and whether all tests are found, beside one another
	@$(MAKE) --no-print-directory -j 4 lint types contracts figures collected

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

contracts:
	$(BIN)/lint-imports

figures: ## Whether the pages show what the benches have kept, and of this code
	$(BIN)/python -m bench._results

collected: ## Whether all tests can be found; it compiles them, so that their workers need not
	@$(BIN)/python -m pytest --collect-only -qq tests >.venv/.collected 2>&1 || { cat .venv/.collected; exit 1; }

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.dev ## Tables in the pages, and the catalogs of translations, that come from the code
	PYTHONPATH=. $(BIN)/python docs/tables.py
	PYTHONPATH=. $(BIN)/python docs/catalogs.py

pictures: .venv/.dev ## The pictures of the README and docs/use.md, from scripted chats in headless Chromium
	$(BIN)/python -m tests.take_pictures

bench: .venv/.dev ## Every measurement (BENCHES=tokens: that one), kept in bench/results; each prints its baselines of the same run
	@for b in $(BENCHES); do echo "== $$b"; $(BIN)/python -m bench.$$b || failed="$$failed $$b"; done; \
	test -z "$$failed" || { echo "targets missed in:$$failed"; exit 1; }

peers: .venv/.dev ## Leaf beside Chainlit, Gradio and plain Streamlit, each in an environment of its own, which the first run makes
	$(BIN)/python -m bench.peers

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Leaf needs Python 3.11, 3.12, 3.13 or 3.14 with venv and sqlite3 (Debian: python3 python3-venv);" \
		"none that runs was found on the PATH. PYTHON=/path/to/python3.12 names one."; exit 1; }
	$(PYTHON) -m venv .venv

lock: .venv/.dev ## requirements.lock anew from requirements.txt; `make lock UPGRADE=--upgrade` takes the newest of what that leaves open
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE) \
		-o requirements.lock requirements.txt
	grep -o '^uv==[^ ]*' requirements-dev.txt | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate -o requirements-installer.lock -

sbom: .venv/.dev ## sbom.json: the locked packages as a bill of materials (CycloneDX)
	$(BIN)/uv tool run --quiet --from cyclonedx-bom==7.3.0 cyclonedx-py requirements requirements.lock --output-file sbom.json

audit: .venv/.dev ## Known weaknesses of the locked packages, from PyPI's advisory database
	$(BIN)/uv tool run --quiet --from pip-audit==2.10.0 pip-audit --strict --requirement requirements.lock --disable-pip --require-hashes

# uv installs in a tenth of pip's time and shows how far it is. Where there is none for the machine, or it does not reach the
# packages (it knows nothing of pip's own settings), pip does the same.
.venv/.uv: requirements-installer.lock | .venv/bin/python
	@$(PIP) -r $< || echo "uv cannot be had here."
	@touch $@

.venv/.run: requirements.lock .venv/.uv
	$(call install,requirements.lock)
	@touch $@

.venv/.dev: requirements-dev.txt requirements.txt .venv/.run
	$(call install,requirements-dev.txt)
	@touch $@ .venv/.run

clean: ## Remove the virtual environment and caches; the data in .leaf stays
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .grimp_cache
