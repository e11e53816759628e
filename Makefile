# DEEM Studio. Nothing is needed but Python 3.11 or newer: every target makes what it needs in .venv first.

VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

# Tests start hundreds of processes: Python keeps what it compiled for the next one.
unexport PYTHONDONTWRITEBYTECODE

PYTHONS := python3 python python3.14 python3.13 python3.12 python3.11
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# $(call install,FILE,FILES IT READS,STAMPS): pip install -r FILE, unless the first stamp is newer than all it reads.
# The stamps go first and come back last, so a failed or interrupted install is tried again.
install = \
	set -- $(3); \
	if [ ! -f "$$1" ] || [ -n "$$(find $(2) -newer "$$1")" ]; then \
	  rm -f $(VENV)/.installed-*; \
	  $(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip --upgrade || \
	    { echo "$(VENV) has no pip and cannot get one: delete $(VENV) and run make again." >&2; exit 1; }; \
	  echo "Installing $(1) into $(VENV) (the first time takes a few minutes)"; \
	  $(PY) -m pip install --disable-pip-version-check -r $(1) && touch "$$@"; \
	fi

# $(call core,OPTIONS): pytest for all that needs no browser, on all cores.
core = $(PY) -m pytest -n auto --dist loadfile $(1) || [ $$? -eq 5 ]

# $(call browser,OPTIONS): pytest for what watches real trainings in a real browser: three files at a time, since much of
# it is waiting, each with an app and a workspace of its own, the longest first (tests/browser/conftest.py). What fails is
# tried once more, one test at a time, since a page caught between two drawings is no fault. What fails twice fails.
browser = $(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(1) || [ $$? -eq 5 ] || $(PY) -m pytest --last-failed $(1)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help app test test-slow test-ray lint mutants bench paper fuzz faults load docs docs-serve screenshots gpu-check coverage clean venv for-app for-dev \
	for-bench for-ray chromium checks

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

app: for-app ## Start the app and print its address; options: make app ARGS="--server.port 8600"
	@exec $(PY) -m streamlit run app.py $(ARGS)

test test-slow: BESIDE = $(PY) -m tests.warm &

test: for-dev chromium checks ## Run the linters, the type checker and every test that is not slow
	$(call core,-m "not slow and not browser and not ray" $(ARGS))
	$(call browser,-m "not slow and browser" $(ARGS))

test-slow: for-dev chromium checks ## Run all that and the slow tests too
	$(call core,-m "not browser and not ray" $(ARGS))
	$(call browser,-m browser $(ARGS))

test-ray: for-ray ## Install Ray and run the tests on a cluster, simulated on this machine; slow ones too: ARGS="-m ray"
	$(PY) -m pytest -m "ray and not slow" tests/ray $(ARGS) || $(PY) -m pytest --last-failed -m "ray and not slow" tests/ray $(ARGS)

lint: for-dev checks ## Run only the linters and the type checker

mutants: for-dev ## Break one important line after another and see that tests notice; it takes a while
	$(PY) -m tests.mutants $(ARGS)

fuzz: for-dev ## Hand 50,000 generated files to the readers and print what broke; it takes a while
	$(PY) -m tests.fuzz $(ARGS)

faults: for-dev chromium ## Kill workers, servers and browsers, damage files, fill disks; takes hours. One part: ARGS=workers
	$(PY) -m benchmarks.bench_faults $(ARGS)

load: for-dev ## Twenty people at one server for five minutes while trainings wait in line
	$(PY) -m benchmarks.bench_load $(ARGS)

bench: for-bench ## Run every benchmark in benchmarks/
	@for file in benchmarks/bench_*.py; do \
	  [ -f "$$file" ] || { echo "There is no benchmarks/bench_*.py to run." >&2; exit 1; }; \
	  name=$$(basename "$$file" .py); \
	  echo "== $$name"; \
	  $(PY) -m "benchmarks.$$name" $(ARGS) || exit 1; \
	done

paper: for-bench chromium ## Re-make every table and figure of the paper
	$(PY) -m benchmarks.paper all $(ARGS)

docs: for-dev ## Build the documentation as a site in site/
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict $(ARGS)

docs-serve: for-dev ## Show the documentation while it is written; options: make docs-serve ARGS="-a localhost:8600"
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs serve $(ARGS)

screenshots: for-dev chromium ## Take the pictures of README and docs anew from the running app
	$(PY) -m tests.browser.screenshots $(ARGS)

gpu-check: for-dev ## Train on the GPU and on the processor, compare, and print a table for an issue
	$(PY) -m benchmarks.gpu_check $(ARGS)

coverage: for-dev chromium ## Run the tests that are not slow and show which lines they miss
	$(PY) -m pytest -m "not slow" --cov --cov-report=term --cov-report=html $(ARGS)

clean: ## Remove .venv, caches and whatever builds and tests left behind
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* htmlcov test-results build dist site *.egg-info
	find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# A .venv whose Python runs is kept, whoever made it; one that does not run is made anew.
venv:
	@if $(PY) -c '' >/dev/null 2>&1; then \
	  $(PY) -c '$(NEW_ENOUGH)' || \
	    { echo "$(VENV) holds a Python older than 3.11: delete it (make clean) and run make again." >&2; exit 1; }; \
	  exit 0; \
	fi; \
	found=; \
	for python in "$(PYTHON)" $(PYTHONS); do \
	  if [ -n "$$python" ] && "$$python" -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "DEEM Studio needs Python 3.11 or newer and found none: install one, or name it with make PYTHON=..." >&2; \
	  exit 1; \
	fi; \
	if [ -n "$(PYTHON)" ] && [ "$$found" != "$(PYTHON)" ]; then \
	  echo "PYTHON=$(PYTHON) is not a Python 3.11 or newer: using $$found instead." >&2; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	  echo "$$found has no venv module: install it (on Debian and Ubuntu the package python3-venv) and run make again." >&2; \
	  exit 1; \
	fi; \
	rm -rf $(VENV); \
	"$$found" -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$$found could not make $(VENV): its message is above." >&2; exit 1; }

for-app: venv
	@$(call install,requirements.txt,requirements-core.txt requirements.txt,$(VENV)/.installed-app)

for-dev: venv
	@$(call install,requirements-dev.txt,requirements-core.txt requirements.txt requirements-dev.txt,$(VENV)/.installed-dev $(VENV)/.installed-app)

for-bench: venv
	@$(call install,requirements-bench.txt,requirements-core.txt requirements.txt requirements-dev.txt requirements-bench.txt,$(VENV)/.installed-bench $(VENV)/.installed-dev $(VENV)/.installed-app)

for-ray: venv
	@$(call install,requirements-ray.txt,requirements-core.txt requirements.txt requirements-dev.txt requirements-ray.txt,$(VENV)/.installed-ray $(VENV)/.installed-dev $(VENV)/.installed-app)

chromium: for-dev
	@$(PY) -m tests.browser.chromium

checks: for-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(BESIDE) $(PY) -m mypy; found=$$?; wait; exit $$found
