# `make lab` opens the course, `make test` checks it. Both use one environment, .venv, which `make setup` keeps up to date.

PYTHON   ?= python3
LAB_ARGS ?=
TORCH    ?= auto# auto: the CPU build where there is no NVIDIA GPU; default: whatever pip would take
JOBS     ?= 2

VENV   := .venv
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip --disable-pip-version-check
EXTRAS := student,site,instructor,test
TYPED  := $(wildcard dpcourse autograder tools studies experiments)

# program:package, as Debian and Ubuntu call them
SYSTEM := chromium:chromium bwrap:bubblewrap

.DEFAULT_GOAL := help
.PHONY: help setup lab site slides experiments study mutants quick hooks test testslow test-postgres lint format bench bench-grading system constraints clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## make or update .venv (TORCH=default: do not choose the CPU build)

lab: setup ## open JupyterLab on the lectures (LAB_ARGS="--no-browser --port 8899" for a server)
	$(PY) -m jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/lectures/00_start_here.ipynb \
	    $$([ "$$(id -u)" = 0 ] && echo --allow-root) $(LAB_ARGS)

site: setup ## the lectures as pages with working sliders, for any web server: build/site
	$(PY) -m tools.pages site

slides: setup ## the lectures as reveal.js decks for the classroom: build/slides
	$(PY) -m tools.pages slides

experiments: setup ## compute anew what lectures 4 and 5 show from stored results (about 20 and 35 minutes)
	$(PY) -m experiments.train_grid
	$(PY) -m experiments.adaptive_grid
	$(PY) -m experiments.adaptive_pictures

study: setup ## grade right and wrong homework submissions again and again (hours; the right ones go on where they were)
	$(PY) -m studies.right_submissions
	$(PY) -m studies.wrong_submissions

mutants: setup ## plant 60 random wrong lines and see which of them the tests notice (about an hour)
	$(PY) -m studies.mutants

quick: lint ## style, types, and the tests of what changed (the first time some minutes)
	@# Left out: tests whose work is done by other processes, where nobody sees which lines they need.
	$(PY) -m pytest --testmon-forceselect -n $(JOBS) --dist worksteal -q -m "not slow and not postgres" \
	    $(addprefix --ignore tests/,browser lectures autograder/box autograder/commands autograder/examine); \
	    code=$$?; [ $$code = 5 ] || exit $$code # 5: nothing changed; forceselect: -m alone switches the selection off

hooks: setup ## check style, types and notebooks before every commit (git commit --no-verify leaves them out)
	$(PY) -m pre_commit install

test: lint system ## check everything: style, types, tests
	$(PY) -m pytest -n $(JOBS) --dist worksteal -m "not slow and not postgres"

testslow: setup ## the long random searches and every submission of the banks, which make test leaves out
	$(PY) -m pytest -n $(JOBS) --dist worksteal -m slow
	BANK_THOROUGH=1 $(PY) -m pytest -n $(JOBS) --dist worksteal tests/tasks/test_bank.py

test-postgres: setup system ## play a term with a gradebook in a real PostgreSQL (Debian, as root)
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y postgresql >/dev/null; }
	$(PIP) install -q -c constraints.txt "psycopg[binary]"
	$(PY) -m pytest -m postgres

lint: setup ## ruff and mypy only
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy $(TYPED)

format: setup ## let ruff lay out the code
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

bench: setup $(VENV)/.peers ## measure every figure of the README's table
	$(PY) -m benchmarks

bench-grading: setup system ## grade classes beside stock nbgrader, then try the bank of attacks on it (about 25 minutes)
	$(PY) -m benchmarks --only grading
	$(PY) -m benchmarks.attacks

system: ## install the browser and the sandbox that some tests need (Debian, as root)
	@missing=; for pair in $(SYSTEM); do \
	    command -v $${pair%%:*} >/dev/null || missing="$$missing $${pair#*:}"; \
	done; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "== installing$$missing"; export DEBIAN_FRONTEND=noninteractive; \
	    apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing >/dev/null \
	        || echo "!! could not install$$missing: the tests that need them say so"; \
	else \
	    echo "!! some tests will be skipped. To run them:  sudo apt-get install$$missing"; \
	fi

constraints: ## pin anew what pyproject.toml resolves to today
	$(PYTHON) tools/pin.py "$(EXTRAS),bench"

clean: ## remove .venv and every cache
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .testmondata* build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: each step runs again only when what it depends on has changed.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
	    "dpcourse needs Python 3.11 or newer, but $(PYTHON) is %d.%d. Try: make PYTHON=python3.11" % v[:2])'
	@echo "== 1/3 a fresh environment in $(VENV)"
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --quiet --upgrade "pip>=24"
	@touch $@

$(VENV)/.torch: $(VENV)/.created pyproject.toml constraints.txt tools/install_torch.py
	@echo "== 2/3 PyTorch (the largest part, 200 MB)"
	PIP_CONSTRAINT=constraints.txt UV_CONSTRAINT=constraints.txt $(PY) tools/install_torch.py $(TORCH)
	@touch $@

$(VENV)/.installed: $(VENV)/.torch
	@echo "== 3/3 everything else, at the versions of constraints.txt (a few minutes)"
	$(PIP) install --constraint constraints.txt --editable ".[$(EXTRAS)]"
	@$(PY) -m jupyter labextension disable --level=sys_prefix @jupyterlab/apputils-extension:announcements >/dev/null 2>&1 \
	    || true # no question about Jupyter news on a student's first screen
	@touch $@
	@echo "== ready"

$(VENV)/.peers: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable ".[$(EXTRAS),bench]"
	@touch $@
